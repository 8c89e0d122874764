# SPDX-License-Identifier: GPL-2.0
"""Groups: collectives of a number of processes, the ranks."""
from __future__ import annotations

import errno
import os
import select
from ctypes import byref
from typing import Any, Optional

from . import _library as lib
from ._elements import Elements, pointer
from ._handle import AddressLike, Error, Handle, address, milliseconds
from ._values import integer

BARRIER, BROADCAST, SCATTER, GATHER, ALLGATHER, REDUCE, REDUCE_SCATTER, ALLREDUCE = range(8)
KINDS = ("barrier", "broadcast", "scatter", "gather", "allgather", "reduce", "reduce_scatter",
         "allreduce")
MEMBERS = ("root", "up", "down", "ranks")


def variable(name: str) -> str:
    """A variable of the environment, which must be there."""
    try:
        return os.environ[name]
    except KeyError:
        raise ValueError(f"the variable {name} is not set") from None


def decimal(what: str, text: str) -> int:
    """
    >>> decimal("AGGNET_RANK", "-1")
    Traceback (most recent call last):
    ValueError: AGGNET_RANK: '-1' is not a number
    """
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"{what}: {text!r} is not a number")
    return int(text)


def members(text: str) -> dict[str, str]:
    """The members of AGGNET_GROUP.

    >>> members("root=10.0.0.1,up=7,down=8,ranks=4")
    {'root': '10.0.0.1', 'up': '7', 'down': '8', 'ranks': '4'}
    >>> members("root=10.0.0.1,up=7")
    Traceback (most recent call last):
    ValueError: AGGNET_GROUP has no down and no ranks: 'root=10.0.0.1,up=7'
    """
    pairs = [pair.split("=", 1) for pair in text.split(",")]
    known = [pair for pair in pairs if len(pair) == 2 and pair[0] in MEMBERS]
    found = dict(known)
    if len(found) < len(known):
        raise ValueError(f"AGGNET_GROUP has a member twice: {text!r}")
    if len(found) < len(MEMBERS):
        missing = " and no ".join(name for name in MEMBERS if name not in found)
        raise ValueError(f"AGGNET_GROUP has no {missing}: {text!r}")
    return found


class Group(Handle):
    """A rank of a group, whose ranks make the same calls in the same order.

    Opening it waits until all ranks have come. Leaving the "with" block normally calls
    finish(), as all ranks do; leaving it with an exception, or an exception within a call that
    waits, ends the group at all ranks::

        with aggnet.Group("10.0.0.1", up=7, down=8, rank=rank, ranks=4) as group:
            for gradient in steps:
                total = group.allreduce(gradient)

    root: address of the node of rank 0. up, down: job IDs of the two trees. dtype, function:
    those of the tree up: int64, int32, float32 or float64; sum, min or max. timeout: seconds
    that a call waits for the other ranks; None: without a limit. Opening it never waits longer
    than the plan's --give-up after the first rank. A group of one rank needs no
    trees.

    A vector is a buffer of the group's type (array.array, a numpy array) or an iterable of
    numbers, which are checked. A result is a new array.array, or what out= names, which may
    be the vector that is sent.
    """
    _kind = "group"

    def __init__(self, root: AddressLike, up: int, down: int, rank: int, ranks: int,
                 dtype: str = "int64", function: str = "sum", *,
                 timeout: Optional[float] = None):
        self._elements = Elements(dtype)
        if function not in ("sum", "min", "max"):
            raise ValueError(f"the function of a group is sum, min or max, not {function!r}")
        self.rank = integer(rank, 32, signed=False)
        self.ranks = integer(ranks, 32, signed=False)
        self._opening = lib.HANDLE()
        super().__init__(lib.GroupConf(
            address(root), integer(up, 32, signed=False), integer(down, 32, signed=False),
            self.rank, self.ranks, lib.FUNCTIONS.index(function), lib.VTYPES.index(dtype),
            milliseconds("timeout", timeout)), "open_start", then=(byref(self._opening),))

    @classmethod
    def from_environment(cls, dtype: str = "int64", function: str = "sum", *,
                         rank: Optional[int] = None,
                         timeout: Optional[float] = None) -> "Group":
        """Join the group of the variable AGGNET_GROUP, as "aggctl job submit" prints it.

        rank: that of this process; None: the variable AGGNET_RANK has it.
        """
        where = members(variable("AGGNET_GROUP"))
        if rank is None:
            rank = decimal("AGGNET_RANK", variable("AGGNET_RANK"))
        return cls(where.pop("root"), rank=rank, dtype=dtype, function=function, timeout=timeout,
                   **{name: decimal(f"AGGNET_GROUP: {name}", text)
                      for name, text in where.items()})

    def _opened(self) -> None:
        error = self._wait(self._opening)
        if error:
            raise error

    def _error(self, got: int) -> Error:
        return Error(-got, self._text())

    def _step(self, coll: Any) -> list:
        """Go on with a collective, without waiting.

        Return: nothing: it is over; or what to wait for, and how long at most
        """
        got = lib.library.aggnet_coll_test(coll)
        if got != -errno.EAGAIN:
            return got
        wanted = (lib.PollFd * lib.COLL_FDS)()
        n = lib.library.aggnet_coll_poll(coll, wanted, len(wanted))
        return [lib.library.aggnet_coll_timeout(coll), *wanted[:n]]

    def _wait(self, coll: Any) -> Optional[Error]:
        """Go on with a collective to its end. Return: its error"""
        while True:
            got = self._once(self._step, (), coll)
            if isinstance(got, Error):
                return got
            if not got:
                return None
            poll = select.poll()
            for wanted in got[1:]:
                poll.register(wanted.fd, wanted.events)
            poll.poll(got[0] if got[0] >= 0 else None)

    def _start(self, function: str, *args: Any) -> None:
        """Start a collective, and wait for it. If the call is refused, the group goes on.

        The library has the buffers until the end. So whatever else ends this function, as an
        exception of a signal handler does, closes the handle.
        """
        coll = lib.HANDLE()
        try:
            got = self._once(getattr(lib.library, function), (*args, byref(coll)))
            if not isinstance(got, Error):
                got = self._wait(coll)
        except BaseException:
            if coll:
                self.close()
            raise
        if got:
            raise got

    def _run(self, kind: int, send: Any, recv: Any, count: int, root: int = 0) -> None:
        given = count * (self.ranks if kind in (SCATTER, REDUCE_SCATTER) else 1)
        taken = count * (self.ranks if kind in (GATHER, ALLGATHER) else 1)
        # A buffer that has become shorter since it was checked raises ValueError here.
        self._start("aggnet_coll_start", kind, pointer(send, given * self._elements.size),
                    pointer(recv, taken * self._elements.size), count,
                    integer(root, 32, signed=False))

    def _parts(self, values: Any) -> tuple[Any, int]:
        """A vector with a part for each rank, and how many elements a part has."""
        send = self._elements.given(values)
        count, rest = divmod(self._elements.count(send), self.ranks)
        if rest:
            raise ValueError(f"{self._elements.count(send)} elements are no equal parts for"
                             f" {self.ranks} ranks")
        return send, count

    def limit(self, kind: str) -> int:
        """The most elements that one rank gives or gets in a collective of this kind."""
        if kind not in KINDS:
            raise ValueError(f"a collective is one of {', '.join(KINDS)}, not {kind!r}")
        return self._once(self._function("max"), (KINDS.index(kind),))

    def barrier(self) -> None:
        """Return after all ranks have called."""
        self._run(BARRIER, None, None, 0)

    def broadcast(self, buffer: Any, *, root: int = 0) -> Any:
        """Give the root's elements to all ranks, in this buffer. Return: the buffer"""
        buffer = self._elements.taken(buffer)
        self._run(BROADCAST, None, buffer, self._elements.count(buffer), root)
        return buffer

    def scatter(self, values: Any = None, *, count: Optional[int] = None, out: Any = None,
                root: int = 0) -> Any:
        """Give part r of the root's vector to rank r.

        values: at the root, the vector, which has equal parts. count: the elements of a part;
        ranks that are not the root need it unless out tells it. Return: the part
        """
        send = None
        if self.rank == root:
            send, part = self._parts(values)
            if count not in (None, part):
                raise ValueError(f"a part of this vector has {part} elements, not {count}")
            count = part
        elif count is None and out is None:
            raise TypeError("a rank that is not the root needs count= or out=")
        elif count is None:
            count = self._elements.count(self._elements.taken(out))
        recv = self._elements.room(out, count)
        self._run(SCATTER, send, recv, count, root)
        return recv

    def _collect(self, kind: int, values: Any, out: Any, times: int, root: int = 0,
                 all_ranks: bool = True) -> Any:
        """A collective whose result has the length of this vector, or more times."""
        send = self._elements.given(values)
        count = self._elements.count(send)
        recv = None
        if all_ranks or self.rank == root:
            recv = self._elements.room(out, times * count)
        self._run(kind, send, recv, count, root)
        return recv

    def gather(self, values: Any, *, out: Any = None, root: int = 0) -> Any:
        """Return: the vectors of all ranks, in their order, at the root; else None"""
        return self._collect(GATHER, values, out, self.ranks, root, False)

    def allgather(self, values: Any, *, out: Any = None) -> Any:
        """Return: the vectors of all ranks, in their order"""
        return self._collect(ALLGATHER, values, out, self.ranks)

    def reduce(self, values: Any, *, out: Any = None, root: int = 0) -> Any:
        """Return: all vectors merged element by element, at the root; else None"""
        return self._collect(REDUCE, values, out, 1, root, False)

    def allreduce(self, values: Any, *, out: Any = None) -> Any:
        """Return: all vectors merged element by element"""
        return self._collect(ALLREDUCE, values, out, 1)

    def reduce_scatter(self, values: Any, *, out: Any = None) -> Any:
        """Return: this rank's part of all vectors, merged element by element"""
        send, count = self._parts(values)
        recv = self._elements.room(out, count)
        self._run(REDUCE_SCATTER, send, recv, count)
        return recv

    def finish(self) -> None:
        """End the group, as all ranks do after the last collective."""
        self._start("aggnet_group_finish_start")
        self._over = True

    def _leave(self) -> None:
        self.finish()
