/* SPDX-License-Identifier: GPL-2.0 */
/* The sentence of control and data calls in a kernel that does not know aggnet. */
#ifndef AGGNET_NOT_LOADED_H
#define AGGNET_NOT_LOADED_H

#define NOT_LOADED	"the aggnet module is not loaded: 'modprobe aggnet' loads it"

#endif /* AGGNET_NOT_LOADED_H */
