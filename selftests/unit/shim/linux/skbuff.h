/* SPDX-License-Identifier: GPL-2.0 */
/* Pure cores see no packet buffer; headers may name one. */
struct sk_buff;
