// SPDX-License-Identifier: GPL-2.0
/* Port: an attached network device. */
#include <linux/if_arp.h>
#include <linux/netdevice.h>
#include <linux/netlink.h>
#include <linux/rculist.h>

#include "event.h"
#include "hook.h"
#include "link.h"
#include "mem.h"
#include "netns.h"
#include "port.h"

static void port_free_rcu(struct rcu_head *rcu)
{
	aggnet_free(container_of(rcu, struct aggnet_port, rcu));
}

static void port_remove(struct aggnet_port *port)
{
	struct aggnet_net *an = port->an;

	aggnet_hook_detach(an, port);
	list_del_rcu(&port->list);
	aggnet_link_del_port(an, port->ifindex);
	call_rcu(&port->rcu, port_free_rcu);
}

static int port_check(struct aggnet_net *an, const struct net_device *dev,
		      struct netlink_ext_ack *extack)
{
	if (!dev) {
		NL_SET_ERR_MSG(extack, "no such device");
		return -ENODEV;
	}
	if (aggnet_port_find(an, dev->ifindex)) {
		NL_SET_ERR_MSG(extack, "device is an attached port already");
		return -EEXIST;
	}
	if (dev->type != ARPHRD_ETHER) {
		NL_SET_ERR_MSG(extack, "only Ethernet devices can be ports");
		return -EINVAL;
	}
	return 0;
}

/*
 * No reference is held. A device leaves its namespace's list before
 * NETDEV_UNREGISTER is told, and the notifier takes @an->lock: so if the
 * device is still listed once the port is, the notifier will find the port.
 */
static bool port_listed(struct aggnet_net *an, const struct aggnet_port *port)
{
	bool listed;

	rcu_read_lock();
	listed = dev_get_by_index_rcu(an->net, port->ifindex) == port->dev;
	rcu_read_unlock();
	return listed;
}

static int port_attach(struct aggnet_net *an, struct aggnet_port *port,
		       struct netlink_ext_ack *extack)
{
	int err;

	err = aggnet_hook_start(an, extack);
	if (err)
		return err;
	err = aggnet_hook_attach(an, port);
	if (err) {
		NL_SET_ERR_MSG(extack, "cannot hook the device's receive path");
		return err;
	}
	list_add_tail_rcu(&port->list, &an->ports);
	if (port_listed(an, port))
		return 0;
	aggnet_hook_detach(an, port);
	list_del_rcu(&port->list);
	NL_SET_ERR_MSG(extack, "device is going away");
	return -ENODEV;
}

int aggnet_port_add(struct aggnet_net *an, u32 ifindex, u8 level, bool transit,
		    struct netlink_ext_ack *extack)
{
	struct aggnet_port *port;
	struct net_device *dev;
	int err;

	lockdep_assert_held(&an->lock);
	dev = dev_get_by_index(an->net, ifindex);
	err = port_check(an, dev, extack);
	if (err)
		goto put;
	port = aggnet_zalloc(sizeof(*port), GFP_KERNEL);
	if (!port) {
		NL_SET_ERR_MSG(extack, "no memory for the port");
		err = -ENOMEM;
		goto put;
	}
	port->an = an;
	port->dev = dev;
	port->ifindex = ifindex;
	port->level = level;
	port->transit = transit;
	err = port_attach(an, port, extack);
	if (err)
		call_rcu(&port->rcu, port_free_rcu);
put:
	dev_put(dev);
	return err;
}

int aggnet_port_del(struct aggnet_net *an, u32 ifindex,
		    struct netlink_ext_ack *extack)
{
	struct aggnet_port *port;

	lockdep_assert_held(&an->lock);
	port = aggnet_port_find(an, ifindex);
	if (!port) {
		NL_SET_ERR_MSG(extack, "device is not an attached port");
		return -ENOENT;
	}
	port_remove(port);
	return 0;
}

struct aggnet_port *aggnet_port_find(struct aggnet_net *an, u32 ifindex)
{
	struct aggnet_port *port;

	list_for_each_entry_rcu(port, &an->ports, list,
				lockdep_is_held(&an->lock))
		if (port->ifindex == ifindex)
			return port;
	return NULL;
}

void aggnet_port_del_all(struct aggnet_net *an)
{
	struct aggnet_port *port, *tmp;

	lockdep_assert_held(&an->lock);
	list_for_each_entry_safe(port, tmp, &an->ports, list)
		port_remove(port);
}

static int port_netdev_event(struct notifier_block *nb, unsigned long event,
			     void *ptr)
{
	const struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct aggnet_net *an = aggnet_net(dev_net(dev));
	struct aggnet_port *port;

	if (event != NETDEV_UNREGISTER)
		return NOTIFY_DONE;
	mutex_lock(&an->lock);
	port = aggnet_port_find(an, dev->ifindex);
	if (port && port->dev == dev) {
		port_remove(port);
		aggnet_changed(an);
		aggnet_event_port(an, dev->ifindex);
	}
	mutex_unlock(&an->lock);
	return NOTIFY_DONE;
}

static struct notifier_block port_notifier = {
	.notifier_call = port_netdev_event,
};

int aggnet_port_init(void)
{
	return register_netdevice_notifier(&port_notifier);
}

void aggnet_port_exit(void)
{
	unregister_netdevice_notifier(&port_notifier);
	/* The module goes next, and port_free_rcu() with it. */
	rcu_barrier();
}
