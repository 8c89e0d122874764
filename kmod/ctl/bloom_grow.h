/* SPDX-License-Identifier: GPL-2.0 */
/* Growth of Bloom tables that have more members than their capacity. */
#ifndef _AGGNET_BLOOM_GROW_H
#define _AGGNET_BLOOM_GROW_H

struct aggnet_net;

/**
 * aggnet_bloom_grow() - give each crowded link a larger Bloom table
 * @an: namespace; the tables get the IDs of its entries in force
 *
 * A table with more members than its capacity is replaced by one with two, four or
 * more times the bits and the capacity. Packets are matched by the old table until
 * the new one is complete. If there is no memory, the table stays and has more false
 * positives than were asked for (bloom_crowded); the next change of the
 * configuration tries again.
 *
 * Process context, an->lock held. Waits for readers if tables were replaced: once
 * for the readers of all of them.
 */
void aggnet_bloom_grow(struct aggnet_net *an);

#endif /* _AGGNET_BLOOM_GROW_H */
