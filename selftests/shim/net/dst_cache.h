/* SPDX-License-Identifier: GPL-2.0 */
/* Routes: the simulation's network has none. */
#ifndef _SHIM_NET_DST_CACHE_H
#define _SHIM_NET_DST_CACHE_H

#include <linux/types.h>

struct dst_cache {
	char nothing;
};

static inline int dst_cache_init(struct dst_cache *cache, gfp_t gfp)
{
	return 0;
}

static inline void dst_cache_destroy(struct dst_cache *cache)
{
}

#endif /* _SHIM_NET_DST_CACHE_H */
