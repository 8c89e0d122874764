/* SPDX-License-Identifier: GPL-2.0 */
/* Notifications to the multicast group "events", which aggnet_host_notify() and
 * aggnet_port_notify() raise.
 */
#ifndef _AGGNET_EVENT_H
#define _AGGNET_EVENT_H

/* Events are sent from start, when the family is registered, until stop. */
void aggnet_event_start(void);
void aggnet_event_stop(void);

#endif /* _AGGNET_EVENT_H */
