/* SPDX-License-Identifier: GPL-2.0 */
/* The functions that libFuzzer calls, and its function for custom mutators. */
#ifndef FUZZER_H
#define FUZZER_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t room,
			       unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t len, size_t room);

#endif
