# SPDX-License-Identifier: GPL-2.0
"""A shuffle: map records at the sources, reduce in the network, finish at n receivers.

A job has a transfer to each receiver ("aggctl plan --receivers v0,v3"). A mapper calls a
function for each of its records, which gives pairs (key, value); pairs of the same key are
combined before they leave the process. Each key belongs to one receiver. The network and the
library of the receiver reduce the values of a key by the function of the plan, and
the reducer gets each of its keys once::

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
from typing import Any, Callable, Iterable, Iterator, Optional, Sequence, TypeVar

from ._handle import AddressLike, Restart
from ._sink import Sink
from ._source import Source
from ._values import Keys

Pairs = Iterable[tuple[Any, Any]]
Answer = TypeVar("Answer")
COMBINED_MAX = 1 << 16


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
        """most: the number of keys that are kept; combine: None keeps none."""
        self._write = write
        self._combine = combine
        self._most = most
        self._table: dict[Any, Any] = {}

    def add(self, key: Any, value: Any) -> None:
        """Take a pair."""
        if self._combine is None:
            self._write(key, value)
        elif key in self._table:
            self._table[key] = self._combine(self._table[key], value)
        else:
            if len(self._table) >= self._most:
                self.flush()
            self._table[key] = value

    def flush(self) -> None:
        """Write the pairs that are kept."""
        table, self._table = self._table, {}
        for key, value in table.items():
            self._write(key, value)


def map(job: int, receivers: Sequence[AddressLike], records: Iterable,
        mapper: Callable[[Any], Pairs],
        combine: Optional[Callable[[Any, Any], Any]] = operator.add, **options: Any) -> int:
    """Contribute what mapper() gives for each record, and wait for all receivers.

    receivers: addresses, the same ones in the same order at all sources. combine: merges two
    values of a key in this process, as the function of the plan does it (operator.add for
    "sum", min, max); None: there is no such operation ("average", "topk", "nearest", "count",
    and sums of reals, which only the network adds exactly). options: those of Source.

    Return: the number of records that were sent. An exception of mapper(), or of records,
    aborts the transfers to all receivers that are not complete.
    """
    keys = Keys(options.get("keys", bytes))
    with ExitStack() as stack:
        # All sources leave these blocks in the same order, so none waits for another one.
        sources = [stack.enter_context(Source(job, receiver, **options))
                   for receiver in receivers]
        combiners = [Combiner(source.write, combine) for source in sources]
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
