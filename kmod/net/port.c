// SPDX-License-Identifier: GPL-2.0
/* Port: an attached network device. */
#include <linux/if_arp.h>
#include <linux/netdevice.h>
#include <linux/netlink.h>
#include <linux/rculist.h>
#include <linux/stringify.h>

#include "net/hook.h"
#include "net/link.h"
#include "net/port.h"
#include "mem.h"
#include "netns.h"

static void port_free_rcu(struct rcu_head *rcu)
{
	struct aggnet_port *port = container_of(rcu, struct aggnet_port, rcu);

	free_percpu(port->stats);
	aggnet_free(port);
}

struct aggnet_port_stats aggnet_port_sum(const struct aggnet_port *port)
{
	struct aggnet_port_stats sum = {};
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct aggnet_port_stats *one;

		one = per_cpu_ptr(port->stats, cpu);
		sum.rx += READ_ONCE(one->rx);
		sum.forwarded += READ_ONCE(one->forwarded);
	}
	return sum;
}

/*
 * While a port is listed its device stays: the device's removal waits for the
 * notifier, which removes the port. So unregister the hook first.
 */
static void port_unlist(struct aggnet_port *port)
{
	lockdep_assert_held(&port->an->ports_lock);
	aggnet_hook_detach(port->an, port);
	list_del_rcu(&port->list);
}

/*
 * Is the device in a VRF, or a VRF itself? The VRF's table routes packets of the
 * device; links and the fallback to plain IP use the main table.
 */
static bool port_in_vrf(const struct net_device *dev)
{
	return netif_is_l3_slave(dev) || netif_is_l3_master(dev);
}

/* Checks that may fail later, when the device changes: then the port is detached. */
static int port_check_kind(const struct net_device *dev,
			   struct netlink_ext_ack *extack)
{
	/* Bond, team and TAP devices may change their type. */
	if (dev->type != ARPHRD_ETHER) {
		NL_SET_ERR_MSG(extack, "only Ethernet devices can be ports");
		return -EINVAL;
	}
	if (port_in_vrf(dev)) {
		NL_SET_ERR_MSG(extack, "devices of a VRF cannot be ports");
		return -EOPNOTSUPP;
	}
	return 0;
}

static int port_check(struct aggnet_net *an, const struct net_device *dev,
		      struct netlink_ext_ack *extack)
{
	if (!dev) {
		NL_SET_ERR_MSG(extack, "no such device");
		return -ENODEV;
	}
	if (aggnet_port_level(an, dev->ifindex) >= 0) {
		NL_SET_ERR_MSG(extack, "device is an attached port already");
		return -EEXIST;
	}
	return port_check_kind(dev, extack);
}

/*
 * Attach without a reference on the device. A device leaves the list of its
 * namespace before NETDEV_UNREGISTER, with a grace period between. So if the device
 * is still listed after the port has been listed, the notifier will find the port
 * and wait for
 * @an->ports_lock.
 */
static bool port_listed(struct aggnet_net *an, struct aggnet_port *port)
{
	bool listed;

	rcu_read_lock();
	listed = dev_get_by_index_rcu(an->net, port->ifindex) == port->dev;
	/* The same holds for the name: it is final, or NETDEV_CHANGENAME follows. */
	strscpy(port->name, port->dev->name, sizeof(port->name));
	rcu_read_unlock();
	return listed;
}

static int port_attach(struct aggnet_net *an, struct aggnet_port *port,
		       struct netlink_ext_ack *extack)
{
	int err;

	lockdep_assert_held(&an->ports_lock);
	list_add_tail_rcu(&port->list, &an->ports);
	if (!port_listed(an, port)) {
		NL_SET_ERR_MSG(extack, "device is going away");
		err = -ENODEV;
		goto unlist;
	}
	/* Check again: only from now on the notifier finds the port. */
	err = port_check_kind(port->dev, extack);
	if (err)
		goto unlist;
	err = aggnet_hook_attach(an, port);
	if (!err)
		return 0;
	NL_SET_ERR_MSG(extack, "cannot hook the device's receive path");
unlist:
	list_del_rcu(&port->list);
	return err;
}

static bool port_room(const struct aggnet_net *an)
{
	const struct list_head *pos;
	u32 n = 0;

	list_for_each(pos, &an->ports)
		n++;
	return n < AGGNET_PORTS_MAX;
}

static struct aggnet_port *port_alloc(struct aggnet_net *an, u32 ifindex,
				      struct netlink_ext_ack *extack)
{
	struct aggnet_port *port = aggnet_zalloc(sizeof(*port),
						 GFP_KERNEL_ACCOUNT);

	if (port && !aggnet_mem_fails())
		port->stats = alloc_percpu_gfp(struct aggnet_port_stats,
					       GFP_KERNEL_ACCOUNT);
	if (!port || !port->stats) {
		NL_SET_ERR_MSG(extack, "no memory for the port");
		aggnet_free(port);
		return NULL;
	}
	port->an = an;
	port->ifindex = ifindex;
	port->udp_port = an->udp_port;
	return port;
}

/* Check before the allocation; no reference on the device is kept. */
static int port_look(struct aggnet_net *an, u32 ifindex,
		     struct netlink_ext_ack *extack)
{
	int err;

	rcu_read_lock();
	err = port_check(an, dev_get_by_index_rcu(an->net, ifindex), extack);
	rcu_read_unlock();
	return err;
}

/*
 * Hold the device after the allocation, which may take long in
 * a control group at its limit: the removal of a device waits
 * for its references.
 */
static int port_hold_attach(struct aggnet_net *an, struct aggnet_port *port,
			    struct netlink_ext_ack *extack)
{
	int err;

	port->dev = dev_get_by_index(an->net, port->ifindex);
	err = port_check(an, port->dev, extack);
	if (!err) {
		mutex_lock(&an->ports_lock);
		if (port_room(an)) {
			err = port_attach(an, port, extack);
		} else {
			NL_SET_ERR_MSG(extack, "a node has "
				       __stringify(AGGNET_PORTS_MAX)
				       " ports at most: delete one before");
			err = -ENOSPC;
		}
		mutex_unlock(&an->ports_lock);
	}
	dev_put(port->dev);
	return err;
}

int aggnet_port_add(struct aggnet_net *an, u32 ifindex, u8 level, bool transit,
		    struct netlink_ext_ack *extack)
{
	struct aggnet_port *port;
	int err;

	lockdep_assert_held(&an->lock);
	err = port_look(an, ifindex, extack);
	if (!err)
		err = aggnet_hook_start(an, an->udp_port, false, extack);
	if (err)
		return err;
	port = port_alloc(an, ifindex, extack);
	if (!port)
		return -ENOMEM;
	port->level = level;
	port->transit = transit;
	err = port_hold_attach(an, port, extack);
	if (err)
		call_rcu(&port->rcu, port_free_rcu);
	return err;
}

int aggnet_port_del(struct aggnet_net *an, u32 ifindex,
		    struct netlink_ext_ack *extack)
{
	struct aggnet_port *port;

	lockdep_assert_held(&an->lock);
	mutex_lock(&an->ports_lock);
	port = aggnet_port_find(an, ifindex);
	if (port)
		port_unlist(port);
	mutex_unlock(&an->ports_lock);
	if (!port) {
		NL_SET_ERR_MSG(extack, "device is not an attached port");
		return -ENOENT;
	}
	aggnet_link_del_port(an, ifindex);
	call_rcu(&port->rcu, port_free_rcu);
	return 0;
}

struct aggnet_port *aggnet_port_find(struct aggnet_net *an, u32 ifindex)
{
	struct aggnet_port *port;

	list_for_each_entry_rcu(port, &an->ports, list,
				lockdep_is_held(&an->ports_lock))
		if (port->ifindex == ifindex)
			return port;
	return NULL;
}

int aggnet_port_level(struct aggnet_net *an, u32 ifindex)
{
	const struct aggnet_port *port;
	int level = -ENODEV;

	rcu_read_lock();
	port = aggnet_port_find(an, ifindex);
	if (port)
		level = port->level;
	rcu_read_unlock();
	return level;
}

/* --- removal of devices ----------------------------------------------------- */

void aggnet_port_settle(struct aggnet_net *an)
{
	struct aggnet_port *port;

	lockdep_assert_held(&an->lock);
	for (;;) {
		mutex_lock(&an->ports_lock);
		port = list_first_entry_or_null(&an->ports_gone,
						struct aggnet_port, gone);
		if (port)
			list_del(&port->gone);
		mutex_unlock(&an->ports_lock);
		if (!port)
			return;
		aggnet_link_del_port(an, port->ifindex);
		aggnet_changed(an);
		aggnet_port_notify(an, port->ifindex);
		call_rcu(&port->rcu, port_free_rcu);
	}
}

/*
 * Stop using the port; a work item does the rest, so that RTNL does not wait for
 * an->lock.
 */
static void port_device_gone(struct aggnet_port *port)
{
	struct aggnet_net *an = port->an;

	port_unlist(port);
	list_add_tail(&port->gone, &an->ports_gone);
	aggnet_settle_later(an);
}

/* Is the device a port? Checked without a lock, as hardly any device is. */
static bool port_is(struct aggnet_net *an, const struct net_device *dev)
{
	const struct aggnet_port *port;
	bool is;

	rcu_read_lock();
	port = aggnet_port_find(an, dev->ifindex);
	is = port && port->dev == dev;
	rcu_read_unlock();
	return is;
}

/* Detach a device that joins a VRF, or is not Ethernet any more. */
static bool port_ends(unsigned long event, const struct net_device *dev)
{
	return event == NETDEV_UNREGISTER ||
	       ((event == NETDEV_CHANGEUPPER ||
		 event == NETDEV_POST_TYPE_CHANGE) &&
		port_check_kind(dev, NULL));
}

static int port_netdev_event(struct notifier_block *nb, unsigned long event,
			     void *ptr)
{
	const struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct aggnet_net *an = aggnet_net(dev_net(dev));
	struct aggnet_port *port;

	if ((event != NETDEV_CHANGENAME && !port_ends(event, dev)) ||
	    !port_is(an, dev))
		return NOTIFY_DONE;
	mutex_lock(&an->ports_lock);
	port = aggnet_port_find(an, dev->ifindex);
	if (port && event == NETDEV_CHANGENAME)
		strscpy(port->name, dev->name, sizeof(port->name));
	else if (port)
		port_device_gone(port);
	mutex_unlock(&an->ports_lock);
	return NOTIFY_DONE;
}

static struct notifier_block port_notifier = {
	.notifier_call = port_netdev_event,
};

/* --- life ------------------------------------------------------------------ */

void aggnet_port_start(struct aggnet_net *an)
{
	mutex_init(&an->ports_lock);
	INIT_LIST_HEAD(&an->ports);
	INIT_LIST_HEAD(&an->ports_gone);
}

void aggnet_port_stop(struct aggnet_net *an)
{
	struct aggnet_port *port, *tmp;

	lockdep_assert_held(&an->lock);
	mutex_lock(&an->ports_lock);
	list_for_each_entry_safe(port, tmp, &an->ports, list) {
		port_unlist(port);
		call_rcu(&port->rcu, port_free_rcu);
	}
	mutex_unlock(&an->ports_lock);
	/* From here on no notifier finds a port. */
	aggnet_port_settle(an);
}

int aggnet_port_init(void)
{
	return register_netdevice_notifier(&port_notifier);
}

void aggnet_port_exit(void)
{
	/* This calls the notifier for each device, which detaches all ports. */
	unregister_netdevice_notifier(&port_notifier);
}
