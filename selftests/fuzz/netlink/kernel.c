// SPDX-License-Identifier: GPL-2.0
/* The kernel around the module: namespaces, devices, addresses; and the parts
 * of the module that never run here, because there are no packets.
 */
#include <linux/if_arp.h>
#include <linux/netdevice.h>
#include <linux/random.h>
#include <net/netns/generic.h>
#include <net/route.h>

#include "../flow/work.h"
#include "core/packet.h"
#include "core.h"
#include "net/hook.h"
#include "ctl/netlink.h"
#include "netns.h"
#include "net/port.h"
#include "ctl/socket.h"
#include "flow/tree.h"
#include "flow/host.h"

#define HOST_BYTES	(256ull << 20)	/* the ceiling is an eighth of it */
#define DEVICES		6

unsigned long jiffies;
struct net init_net, kernel_net;

static struct pernet_operations *net_ops;
static struct notifier_block *dev_notifier;
static struct net_device devices[DEVICES];
static int hooks;
static bool started;

/* --- namespaces ---------------------------------------------------------------- */

int register_pernet_subsys(struct pernet_operations *ops)
{
	net_ops = ops;
	return 0;
}

void unregister_pernet_subsys(struct pernet_operations *ops)
{
	net_ops = NULL;
}

unsigned long totalram_pages(void)
{
	return HOST_BYTES >> 12;
}

static void net_start(struct net *net)
{
	net->node = kzalloc(net_ops->size, GFP_KERNEL);
	INSIST(!net_ops->init(net), "the namespace does not start");
}

static void net_end(struct net *net)
{
	LIST_HEAD(nets);

	net_ops->pre_exit(net);
	world_work();
	list_add(&net->exit_list, &nets);
	net_ops->exit_batch(&nets);
	kfree(net->node);
}

/* --- devices: the first is the loopback ------------------------------------------ */

struct net_device *dev_get_by_index_rcu(struct net *net, u32 ifindex)
{
	if (!ifindex || ifindex > DEVICES || devices[ifindex - 1].gone)
		return NULL;
	return &devices[ifindex - 1];
}

struct net_device *dev_get_by_index(struct net *net, u32 ifindex)
{
	struct net_device *dev = dev_get_by_index_rcu(net, ifindex);

	if (dev)
		dev->refs++;
	return dev;
}

void dev_put(struct net_device *dev)
{
	if (dev)
		dev->refs--;
}

int register_netdevice_notifier(struct notifier_block *nb)
{
	dev_notifier = nb;
	return 0;
}

/* It is notified that all devices are deleted, although they stay. */
int unregister_netdevice_notifier(struct notifier_block *nb)
{
	u32 i;

	for (i = 0; i < DEVICES; i++)
		if (!devices[i].gone)
			dev_notifier->notifier_call(dev_notifier,
						    NETDEV_UNREGISTER,
						    &devices[i]);
	dev_notifier = NULL;
	return 0;
}

void core_take_device(u32 ifindex)
{
	struct net_device *dev = dev_get_by_index_rcu(&kernel_net, ifindex);
	struct aggnet_net *an = aggnet_net(&kernel_net);

	if (!dev)
		return;
	dev->gone = true;
	dev_notifier->notifier_call(dev_notifier, NETDEV_UNREGISTER, dev);
	/* A command does not wait for the work that follows it. */
	mutex_lock(&an->lock);
	world_work_once();
	mutex_unlock(&an->lock);
}

static void devices_start(void)
{
	u32 i;

	for (i = 0; i < DEVICES; i++)
		devices[i] = (struct net_device) {
			.name = { 'd', '0' + i },
			.ifindex = i + 1,
			.type = i ? ARPHRD_ETHER : ARPHRD_LOOPBACK,
			.net = &kernel_net,
		};
}

/* --- addresses ------------------------------------------------------------------- */

unsigned int inet_addr_type(struct net *net, __be32 addr)
{
	return ntohl(addr) >> 16 == 0x0a00 ? RTN_LOCAL : 0;
}

/*
 * --- the parts of the module that are replaced
 * --------------------------------------
 */

int aggnet_hook_attach(struct aggnet_net *an, struct aggnet_port *port)
{
	hooks++;
	return 0;
}

void aggnet_hook_detach(struct aggnet_net *an, struct aggnet_port *port)
{
	hooks--;
}

void aggnet_hook_init(struct aggnet_net *an)
{
	an->udp_port = htons(AGGNET_UDP_PORT);
}

int aggnet_hook_start(struct aggnet_net *an, __be16 udp_port, bool guard,
		      struct netlink_ext_ack *extack)
{
	u32 i;

	/* It allocates, which the deletion of a device must not wait for. */
	for (i = 0; i < DEVICES; i++)
		INSIST(!devices[i].refs, "a device is held while a socket is made");
	an->udp_port = udp_port;
	started = true;
	return 0;
}

bool aggnet_hook_idle(struct aggnet_net *an)
{
	return started && !an->identity;
}

void aggnet_hook_settle(struct aggnet_net *an)
{
}

void aggnet_hook_stop(struct aggnet_net *an)
{
	started = false;
}

u64 ktime_get_ns(void)
{
	return 0;
}

void aggnet_host_wake(struct aggnet_tree *tree)
{
}

u32 aggnet_host_payload(struct aggnet_net *an, u32 ifindex, __be32 receiver,
			u32 filter)
{
	return AGGNET_PAYLOAD_USUAL;
}

u32 aggnet_host_payload_max(struct aggnet_net *an)
{
	return AGGNET_PAYLOAD_USUAL;
}

void aggnet_host_make(struct aggnet_tree *tree, struct aggnet_run *run,
		      struct aggnet_pkt *pkt, const void *body,
		      const u64 *digest, enum aggnet_way way)
{
	INSIST(started, "a packet leaves, but no hook has been started");
}

void aggnet_host_transmit(struct aggnet_tree *tree, struct aggnet_run *run)
{
}

/* --- insmod and rmmod -------------------------------------------------------------- */

void kernel_start(void)
{
	shim_random_seed(1);
	devices_start();
	aggnet_tree_init();
	aggnet_netns_init();
	net_start(&init_net);
	net_start(&kernel_net);
	aggnet_port_init();
	aggnet_netlink_init();
}

void kernel_end(void)
{
	u32 i;

	aggnet_netlink_exit();
	aggnet_port_exit();
	net_end(&kernel_net);
	net_end(&init_net);
	aggnet_netns_exit();
	aggnet_tree_exit();
	INSIST(!hooks && !started, "a hook is left");
	for (i = 0; i < DEVICES; i++)
		INSIST(!devices[i].refs, "a device is still held");
	INSIST(!shim_alloc_live, "memory is lost");
}
