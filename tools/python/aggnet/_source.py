# SPDX-License-Identifier: GPL-2.0
"""Sources: contribute records, or a vector, to a transfer."""
from __future__ import annotations

import os
from array import array
from collections.abc import Mapping
from typing import Any, Iterable, Iterator, Optional, Union

from . import _library as lib
from ._handle import AddressLike, Error, Handle, address, options
from ._values import Keys, KeyType, elements, integer

REPLAY = {"spool": 0, "caller": lib.OPT_REPLAY, "none": lib.OPT_NO_REPLAY}


class Source(Handle):
    """A source of a transfer: one of the writers that the entry of this node expects.

    Leaving the "with" block normally calls finish(), which waits until the receiver has
    stored the result. Leaving it with an exception, or closing the source in any other way
    before finish(), aborts the transfer at every member::

        with aggnet.Source(7, "10.0.0.1") as source:
            for word in words:
                source.write(word, 1)

    keys: what keys are: bytes (or str, as UTF-8), or a number of bytes if they are integers;
    the sink must have the same. timeout, repair: seconds; timeout ends the transfer if it is
    not over by then, repair waits so long for a newer epoch after an abort. replay: what
    gives the records again in a newer epoch: "spool", a file of this library in spool_dir
    with spool_max bytes at most; "caller": calls raise Restart, and the caller adds
    everything again; "none": a newer epoch is an error.
    """
    _kind = "source"

    def __init__(self, job: int, receiver: AddressLike, *, keys: KeyType = bytes,
                 timeout: Optional[float] = None, repair: Optional[float] = None,
                 replay: str = "spool", spool_dir: Union[str, os.PathLike, None] = None,
                 spool_max: Optional[int] = None):
        if replay not in REPLAY:
            raise ValueError(f"replay must be spool, caller or none, not {replay!r}")
        self._keys = Keys(keys)
        super().__init__(options(timeout, repair, REPLAY[replay], spool_dir, spool_max),
                         "open", address(receiver), integer(job, 32, signed=False))
        real = "_real" if self._shape.reals else ""
        self._add = self._function(("add_pair" if self._shape.pairs else "add") + real)
        self._add_element = self._function("add_element" + real)

    def write(self, key: Any, value: Any = None) -> None:
        """Contribute a record.

        value: an integer, a real, or for "topk" and "nearest" a pair (value, id), as the
        plan says; for "count" none. One that does not fit raises OverflowError and is not
        taken.
        """
        raw = self._keys.encode(key)
        self._call(self._add, raw, len(raw), *self._shape.arguments(value))

    def write_many(self, keys: Iterable, values: Optional[Iterable] = None) -> None:
        """Contribute records: pairs (key, value) or a dictionary, or keys and their values.

        Keys and values may be buffers (array.array, a numpy array). They are all checked
        before one is sent; pairs are checked one by one. Of "count" pairs are (key, None).
        An error, apart from Restart, after some were taken closes the source.
        """
        taken = False
        for raw, arguments in self._records(keys, values):
            try:
                self._call(self._add, raw, len(raw), *arguments)
            except Error as err:
                self._give_up(err, taken)
                raise
            taken = True

    def _records(self, keys: Iterable, values: Optional[Iterable]) -> Iterator:
        """The records of write_many(), as the library takes them."""
        if values is None:
            for pair in keys.items() if isinstance(keys, Mapping) else keys:
                # A key of two letters is no pair of them.
                if isinstance(pair, (str, bytes, bytearray, memoryview)):
                    raise TypeError(f"{pair!r} is not a pair (key, value)")
                key, value = pair
                yield self._keys.encode(key), self._shape.arguments(value)
            return
        raws = [self._keys.encode(key) for key in elements(keys)]
        arguments = [self._shape.arguments(value) for value in elements(values)]
        if len(raws) != len(arguments):
            raise ValueError(f"there are {len(raws)} keys and {len(arguments)} values")
        yield from zip(raws, arguments)

    def write_vector(self, values: Iterable) -> None:
        """Contribute the next elements of a dense vector, in order: all of them, or a part.

        values: a buffer (array.array, a numpy array) or an iterable. They are all checked
        before one is sent. An error, apart from Restart, after some were taken closes the
        source.
        """
        code = "d" if self._shape.reals else "q"
        numbers = array(code, map(self._shape.number, elements(values)))
        if self._shape.layout == "dense" and not self._shape.striped and \
                len(numbers) > self._shape.elements:
            raise ValueError(f"{len(numbers)} elements were given, and the vector has"
                             f" {self._shape.elements}")
        at = 0

        def add(handle: Any) -> int:
            """Many elements in one call of the handle; the one that fails is not taken."""
            nonlocal at
            got = 0
            while not got and at < len(numbers) and not self._closed:
                got = self._add_element(handle, numbers[at])
                at += not got
            return got
        try:
            while at < len(numbers):
                self._call(add)
        except Error as err:
            self._give_up(err, at > 0)
            raise

    def round(self) -> None:
        """End a round of a persistent tree, and wait until the receiver has its result."""
        self._call(self._function("round"))

    def finish(self) -> None:
        """Send the rest and the end, and wait until the receiver has stored the result."""
        self._call(self._function("finish"))
        self._over = True

    def abort(self) -> None:
        """End the transfer with an error (ECANCELED) at every member, and close."""
        try:
            self._call(self._function("abort"), lib.R_USER)
        finally:
            self._over = True
            self.close()

    @property
    def records(self) -> int:
        """How many records were taken."""
        return self._call(self._function("records"))

    @property
    def replays(self) -> int:
        """How many epochs were joined after the first."""
        return self._call(self._function("replays"))

    def _leave(self) -> None:
        self.finish()
