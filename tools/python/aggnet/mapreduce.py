# SPDX-License-Identifier: GPL-2.0
"""A shuffle: map records at the sources, reduce in the network, finish at n receivers.

A job has a transfer to each receiver ("aggctl plan --receivers v0,v3"). A mapper calls a
function for each of its records, which gives pairs (key, value); pairs of the same key are
combined before they leave the process if that is exact. Each key belongs to one receiver.
The network and the library of the receiver reduce the values of a key by the function of the
plan, and the reducer gets each of its keys once::

    # on each source
    mapreduce.map(7, ["10.0.0.1", "10.0.0.4"], sys.stdin, mapreduce.words)
    # on each receiver
    counts = mapreduce.reduce(7, dict)

local() computes the same in one process, without a network.
"""
from __future__ import annotations

import operator
import re
import zlib
from contextlib import ExitStack
from typing import Any, Callable, Iterable, Iterator, Optional, Sequence, TypeVar, Union

from ._handle import AddressLike, Restart
from ._sink import Sink
from ._source import Source
from ._values import Keys

Pairs = Iterable[tuple[Any, Any]]
Answer = TypeVar("Answer")
COMBINED_MAX = 1 << 16
PLANNED = "planned"  # combine as the plan's function does it, if that is exact


def words(line: str) -> Iterator[tuple[str, int]]:
    """Map a line of text to its words, each with 1.

    >>> list(words("To be, or not to be"))
    [('to', 1), ('be', 1), ('or', 1), ('not', 1), ('to', 1), ('be', 1)]
    """
    for word in re.findall(r"\w+", line.lower()):
        if len(word.encode()) <= 255:
            yield word, 1


def partition(key: bytes, parts: int) -> int:
    """The part that a key belongs to, the same in every process.

    >>> [partition(key, 3) for key in (b"a", b"b", b"c")]
    [2, 1, 0]
    """
    return zlib.crc32(key) * parts >> 32


class Combiner:
    """Pairs of a part, combined by key, until they are written.

    >>> got = []
    >>> combiner = Combiner(lambda *pair: got.append(pair), operator.add, most=2)
    >>> for word in "a", "b", "a", "c":
    ...     combiner.add(word, 1)
    >>> got
    [('a', 2), ('b', 1)]
    >>> combiner.flush()
    >>> got[2:]
    [('c', 1)]
    """

    def __init__(self, write: Callable[[Any, Any], None],
                 combine: Optional[Callable[[Any, Any], Any]], most: int = COMBINED_MAX):
        """most: the number of keys that are kept; combine: None keeps none.

        If combine() returns None, the two values are written apart.
        """
        self._write = write
        self._combine = combine
        self._most = most
        self._table: dict[Any, Any] = {}

    def add(self, key: Any, value: Any) -> None:
        """Take a pair."""
        if self._combine is None:
            self._write(key, value)
        elif key in self._table:
            merged = self._combine(self._table[key], value)
            if merged is None:
                self._write(key, self._table[key])
                merged = value
            self._table[key] = merged
        else:
            if len(self._table) >= self._most:
                self.flush()
            self._table[key] = value

    def flush(self) -> None:
        """Write the pairs that are kept."""
        table, self._table = self._table, {}
        for key, value in table.items():
            self._write(key, value)


def _combine(source: Source, combine: Any) -> Optional[Callable[[Any, Any], Any]]:
    """What combines two values of a key before they are written to a source."""
    function, vtype = source._shape.function, source._shape.vtype
    if combine != PLANNED:
        if combine and function in ("count", "average", "topk", "nearest"):
            raise ValueError(f"{function} needs all records: give combine=None, or nothing")
        return combine
    merge = {"sum": operator.add, "min": min, "max": max}.get(function)
    if not merge or vtype not in ("int64", "int32"):
        return None
    limit = 1 << (31 if vtype == "int32" else 63)

    def combined(a: Any, b: Any) -> Optional[int]:
        # Integers of other types could wrap around, and a float would be lost in a maximum.
        number = merge(operator.index(a), operator.index(b))
        return number if -limit <= number < limit else None
    return combined


def map(job: int, receivers: Sequence[AddressLike], records: Iterable,
        mapper: Callable[[Any], Pairs],
        combine: Union[None, str, Callable[[Any, Any], Any]] = PLANNED, **options: Any) -> int:
    """Contribute what mapper() gives for each record, and wait for all receivers.

    receivers: addresses, the same ones in the same order at all sources. combine: merges two
    values of a key in this process, and must give what the function of the plan gives, or
    None if it cannot merge these two; combine=None: all pairs are sent. Without it sums,
    minima and maxima of int64 and int32 are combined; no others, because only the network
    computes those of reals exactly. For "count", "average", "topk" and "nearest" there is
    none: ValueError. options: those of Source.

    The transfers end one after the other, that to the last receiver first: options' timeout
    has to cover the stores of all receivers.

    Return: the number of records that were sent. An exception of mapper(), or of records,
    aborts the transfers to all receivers that are not complete.
    """
    keys = Keys(options.get("keys", bytes))
    with ExitStack() as stack:
        # All sources leave these blocks in the same order, so none waits for another one.
        sources = [stack.enter_context(Source(job, receiver, **options))
                   for receiver in receivers]
        combiners = [Combiner(source.write, _combine(source, combine)) for source in sources]
        for record in records:
            for key, value in mapper(record):
                part = partition(keys.encode(key), len(sources))
                combiners[part].add(key, value)
        for combiner in combiners:
            combiner.flush()
        return sum(source.records for source in sources)


def reduce(job: int, store: Callable[[Pairs], Answer], *, top: Optional[int] = None,
           **options: Any) -> Answer:
    """Receive the keys of this receiver, and return what store() returns.

    store: is called with the lines (key, value), in the order of the bytes of their keys or,
    with top, the best values first, and only so many. When it returns, the lines are stored:
    the sources are told so. If a newer epoch has begun before, it is called again, and what
    it returned is discarded. options: those of Sink.
    """
    with Sink(job, **options) as sink:
        while True:
            if top is None:
                sink.sort()
            else:
                sink.top(top)
            answer = store(sink)
            try:
                sink.commit()
            except Restart:
                continue
            return answer


def local(records: Iterable, mapper: Callable[[Any], Pairs],
          combine: Callable[[Any, Any], Any] = operator.add) -> dict[Any, Any]:
    """What one receiver gets of these records, computed without a network.

    >>> local(["to be", "or not to be"], words)
    {'to': 2, 'be': 2, 'or': 1, 'not': 1}
    """
    table: dict[Any, Any] = {}
    for record in records:
        for key, value in mapper(record):
            table[key] = combine(table[key], value) if key in table else value
    return table
