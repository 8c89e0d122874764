# SPDX-License-Identifier: GPL-2.0
"""The functions and structures of libaggnet: what aggnet_data.h and aggnet_coll.h declare."""
from __future__ import annotations

import ctypes
from ctypes import (POINTER, Structure, c_bool, c_char_p, c_double, c_int, c_int64, c_short,
                    c_size_t, c_ssize_t, c_uint, c_uint8, c_uint32, c_uint64, c_void_p)

NAMES_MAX = 16  # AGGNET_NAMES_MAX
PLAN_ID_LEN = 8  # AGGNET_PLAN_ID_LEN
FALLBACKS = 5  # __AGGNET_FALLBACK_MAX
COLL_FDS = 3  # AGGNET_COLL_FDS

OPT_REPLAY = 0x0002
OPT_NO_REPLAY = 0x0004
R_USER = 10

FUNCTIONS = ("sum", "min", "max", "count", "average", "product", "band", "bor", "bxor",
             "land", "lor", "lxor", "topk", "nearest")
VTYPES = ("int64", "int32", "fixed", "float32", "float64")
LAYOUTS = ("keyed", "dense", "sorted", "bytes")


class Address(Structure):
    """struct in_addr: four bytes in network order."""
    _fields_ = [("bytes", c_uint8 * 4)]


class Options(Structure):
    """struct aggnet_options"""
    _fields_ = [("flags", c_uint), ("timeout_ms", c_uint), ("repair_ms", c_uint),
                ("spool_dir", c_char_p), ("spool_max", c_uint64)]


class Status(Structure):
    """struct aggnet_status"""
    _fields_ = [("state", c_uint32), ("reason", c_uint32), ("origin", Address),
                ("about", Address), ("missing", c_uint32), ("function", c_uint32),
                ("vtype", c_uint32), ("instance", c_uint32), ("attempt", c_uint32),
                ("layout", c_uint32), ("scale", c_uint32), ("k", c_uint32),
                ("elements", c_uint64), ("names", c_uint32), ("name", Address * NAMES_MAX),
                ("pad", c_uint32), ("plan", c_uint8 * PLAN_ID_LEN), ("persist", c_uint32),
                ("round", c_uint32), ("stripe", c_uint32), ("stripes", c_uint32),
                ("direction", c_uint32), ("pad2", c_uint32),
                ("records_in", c_uint64), ("records_out", c_uint64), ("packets_in", c_uint64),
                ("packets_out", c_uint64), ("bytes_in", c_uint64), ("bytes_out", c_uint64),
                ("rexmits", c_uint64), ("contributors", c_uint32), ("writers", c_uint32),
                ("channels", c_uint32), ("unplanned", c_uint32), ("acceptor", Address),
                ("fallback_link", c_uint32), ("fallback_bloom", c_uint32),
                ("fallback_policy", c_uint32), ("fallback_round", c_uint32),
                ("partials", c_uint32), ("nunbound", c_uint32),
                ("unbound", Address * NAMES_MAX), ("below", c_uint32 * FALLBACKS)]


class Best(Structure):
    """struct aggnet_best"""
    _fields_ = [("value", c_int64), ("real", c_double), ("id", c_uint64)]


class Entry(Structure):
    """struct aggnet_entry"""
    _fields_ = [("key", c_void_p), ("klen", c_size_t), ("value", c_int64),
                ("real", c_double), ("count", c_uint64), ("best", POINTER(Best)),
                ("n", c_size_t), ("offset", c_uint64)]


class Result(Structure):
    """struct aggnet_result"""
    _fields_ = [("sources", c_uint32), ("of", c_uint32), ("partials", c_uint32),
                ("absent", c_uint32), ("records", c_uint64), ("keys", c_uint64),
                ("instance", c_uint32), ("attempt", c_uint32),
                ("plan", c_uint8 * PLAN_ID_LEN), ("round", c_uint32), ("last", c_uint32)]


class GroupConf(Structure):
    """struct aggnet_group_conf"""
    _fields_ = [("root", Address), ("up", c_uint32), ("down", c_uint32), ("rank", c_uint32),
                ("ranks", c_uint32), ("function", c_uint32), ("vtype", c_uint32),
                ("timeout_ms", c_uint32), ("flags", c_uint32), ("reserved", c_uint32 * 6)]


class PollFd(Structure):
    """struct pollfd"""
    _fields_ = [("fd", c_int), ("events", c_short), ("revents", c_short)]


HANDLE = c_void_p
# What each function takes; it returns an int unless RETURNS has another type.
TAKES = {
    "aggnet_source_open": (POINTER(HANDLE), Address, c_uint32, POINTER(Options)),
    "aggnet_source_add": (HANDLE, c_char_p, c_size_t, c_int64),
    "aggnet_source_add_real": (HANDLE, c_char_p, c_size_t, c_double),
    "aggnet_source_add_pair": (HANDLE, c_char_p, c_size_t, c_int64, c_uint64),
    "aggnet_source_add_pair_real": (HANDLE, c_char_p, c_size_t, c_double, c_uint64),
    "aggnet_source_add_element": (HANDLE, c_int64),
    "aggnet_source_add_element_real": (HANDLE, c_double),
    "aggnet_source_finish": (HANDLE,),
    "aggnet_source_round": (HANDLE,),
    "aggnet_source_abort": (HANDLE, c_uint),
    "aggnet_source_close": (HANDLE,),
    "aggnet_source_error": (HANDLE,),
    "aggnet_source_status": (HANDLE, POINTER(Status)),
    "aggnet_source_records": (HANDLE,),
    "aggnet_source_replays": (HANDLE,),
    "aggnet_sink_open": (POINTER(HANDLE), Address, c_uint32, POINTER(Options)),
    "aggnet_sink_run": (HANDLE,),
    "aggnet_sink_stream": (HANDLE, POINTER(Entry)),
    "aggnet_sink_next": (HANDLE, POINTER(Entry)),
    "aggnet_sink_sort": (HANDLE,),
    "aggnet_sink_top": (HANDLE, c_size_t),
    "aggnet_sink_result": (HANDLE,),
    "aggnet_sink_absent": (HANDLE, POINTER(c_size_t)),
    "aggnet_sink_commit": (HANDLE,),
    "aggnet_sink_round": (HANDLE,),
    "aggnet_sink_abort": (HANDLE, c_uint),
    "aggnet_sink_close": (HANDLE,),
    "aggnet_sink_error": (HANDLE,),
    "aggnet_sink_status": (HANDLE, POINTER(Status)),
    "aggnet_sink_replays": (HANDLE,),
    "aggnet_cast_root": (POINTER(HANDLE), c_uint32, POINTER(Options)),
    "aggnet_cast_join": (POINTER(HANDLE), Address, c_uint32, POINTER(Options)),
    "aggnet_cast_write": (HANDLE, c_void_p, c_size_t),
    "aggnet_cast_finish": (HANDLE,),
    "aggnet_cast_read": (HANDLE, c_void_p, c_size_t),
    "aggnet_cast_commit": (HANDLE,),
    "aggnet_cast_close": (HANDLE,),
    "aggnet_cast_round": (HANDLE,),
    "aggnet_cast_error": (HANDLE,),
    "aggnet_cast_status": (HANDLE, POINTER(Status)),
    "aggnet_group_open_start": (POINTER(HANDLE), POINTER(GroupConf), POINTER(HANDLE)),
    "aggnet_group_finish_start": (HANDLE, POINTER(HANDLE)),
    "aggnet_group_max": (HANDLE, c_uint),
    "aggnet_group_close": (HANDLE,),
    "aggnet_group_error": (HANDLE,),
    "aggnet_coll_start": (HANDLE, c_uint, c_void_p, c_void_p, c_size_t, c_uint32,
                          POINTER(HANDLE)),
    "aggnet_coll_test": (HANDLE,),
    "aggnet_coll_poll": (HANDLE, POINTER(PollFd), c_uint),
    "aggnet_coll_timeout": (HANDLE,),
}
RETURNS = {
    "aggnet_source_close": None,
    "aggnet_source_error": c_char_p,
    "aggnet_source_records": c_uint64,
    "aggnet_source_replays": c_uint,
    "aggnet_sink_next": c_bool,
    "aggnet_sink_sort": None,
    "aggnet_sink_top": None,
    "aggnet_sink_result": POINTER(Result),
    "aggnet_sink_absent": POINTER(Address),
    "aggnet_sink_close": None,
    "aggnet_sink_error": c_char_p,
    "aggnet_sink_replays": c_uint,
    "aggnet_cast_write": c_ssize_t,
    "aggnet_cast_read": c_ssize_t,
    "aggnet_cast_close": None,
    "aggnet_cast_error": c_char_p,
    "aggnet_group_max": c_size_t,
    "aggnet_group_close": None,
    "aggnet_group_error": c_char_p,
    "aggnet_coll_poll": c_uint,
}


def _load() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL("libaggnet.so.0")
    except OSError as err:
        raise ImportError(f"aggnet needs libaggnet0: {err}") from None
    for name, takes in TAKES.items():
        function = getattr(library, name)
        function.argtypes = takes
        function.restype = RETURNS.get(name, c_int)
    return library


library = _load()
