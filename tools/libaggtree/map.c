// SPDX-License-Identifier: GPL-2.0
/* Hash map of 64-bit keys to 32-bit values: open addressing, no deletion. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define FREE UINT64_MAX

static uint32_t home(const struct aggt_map *map, uint64_t key)
{
	key ^= key >> 32;
	key *= 0x9e3779b97f4a7c15ULL;
	return (key >> 32) & map->mask;
}

static int alloc_slots(struct aggt_map *map, size_t slots)
{
	map->key = malloc(slots * sizeof(*map->key));
	map->val = malloc(slots * sizeof(*map->val));
	if (!map->key || !map->val) {
		aggt_map_free(map);
		return -1;
	}
	map->mask = slots - 1;
	aggt_map_clear(map);
	return 0;
}

int aggt_map_init(struct aggt_map *map, size_t expect)
{
	size_t slots = 16;

	while (slots < expect * 2)
		slots *= 2;
	return alloc_slots(map, slots);
}

int aggt_map_copy(struct aggt_map *to, const struct aggt_map *from)
{
	size_t slots = (size_t)from->mask + 1;

	if (alloc_slots(to, slots))
		return -1;
	memcpy(to->key, from->key, slots * sizeof(*to->key));
	memcpy(to->val, from->val, slots * sizeof(*to->val));
	to->n = from->n;
	return 0;
}

void aggt_map_free(struct aggt_map *map)
{
	free(map->key);
	free(map->val);
	memset(map, 0, sizeof(*map));
}

void aggt_map_clear(struct aggt_map *map)
{
	memset(map->key, 0xff, ((size_t)map->mask + 1) * sizeof(*map->key));
	map->n = 0;
}

static uint32_t probe(const struct aggt_map *map, uint64_t key)
{
	uint32_t slot = home(map, key);

	while (map->key[slot] != key && map->key[slot] != FREE)
		slot = (slot + 1) & map->mask;
	return slot;
}

uint32_t aggt_map_get(const struct aggt_map *map, uint64_t key)
{
	uint32_t slot = probe(map, key);

	return map->key[slot] == key ? map->val[slot] : AGGT_NONE;
}

static int grow(struct aggt_map *map)
{
	struct aggt_map old = *map;
	size_t i;

	if (alloc_slots(map, ((size_t)old.mask + 1) * 2)) {
		*map = old;
		return -1;
	}
	for (i = 0; i <= old.mask; i++) {
		uint32_t slot;

		if (old.key[i] == FREE)
			continue;
		slot = probe(map, old.key[i]);
		map->key[slot] = old.key[i];
		map->val[slot] = old.val[i];
	}
	map->n = old.n;
	aggt_map_free(&old);
	return 0;
}

uint32_t *aggt_map_slot(struct aggt_map *map, uint64_t key)
{
	uint32_t slot = probe(map, key);

	if (map->key[slot] == key)
		return &map->val[slot];
	if (map->n >= map->mask / 4 * 3) {
		if (grow(map))
			return NULL;
		slot = probe(map, key);
	}
	map->key[slot] = key;
	map->val[slot] = AGGT_NONE;
	map->n++;
	return &map->val[slot];
}
