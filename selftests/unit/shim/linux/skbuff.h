/* SPDX-License-Identifier: GPL-2.0 */
/* Pure cores use no packet buffers; headers may name the type. */
struct sk_buff;
