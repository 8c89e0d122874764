/* SPDX-License-Identifier: GPL-2.0 */
/* CRC32C of bytes that come in parts. */
#ifndef AGGNET_CRC32C_H
#define AGGNET_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/**
 * crc32c_add() - CRC32C of some bytes and more behind them
 * @crc: of the bytes before, 0: there are none
 * @data: the next ones
 * @len: their number
 *
 * Return: the CRC of all
 */
uint32_t crc32c_add(uint32_t crc, const void *data, size_t len);

#endif /* AGGNET_CRC32C_H */
