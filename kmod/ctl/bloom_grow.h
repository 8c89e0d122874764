/* SPDX-License-Identifier: GPL-2.0 */
/* Growth: Bloom tables with more members than they were made for. */
#ifndef _AGGNET_BLOOM_GROW_H
#define _AGGNET_BLOOM_GROW_H

struct aggnet_net;

/**
 * aggnet_bloom_grow() - give each crowded link a larger Bloom table
 * @an: namespace; its entries in force are what the tables are to have
 *
 * A table with more members than its capacity gets twice the bits for twice the
 * capacity, as often as it needs. Packets are matched all the while: by the old
 * table until the new one is whole. Where memory does not suffice the table
 * stays, with more false positives than were asked for (bloom_crowded), until
 * the next change of the configuration tries again.
 *
 * Process context, an->lock held. Waits for readers if tables were replaced: once
 * for the readers of all of them.
 */
void aggnet_bloom_grow(struct aggnet_net *an);

#endif /* _AGGNET_BLOOM_GROW_H */
