# SPDX-License-Identifier: GPL-2.0
"""Sinks: receive the result of a transfer."""
from __future__ import annotations

import ctypes
from array import array
from typing import Any, Iterator, NamedTuple, Optional

from . import _library as lib
from ._handle import AddressLike, Handle, Restart, address, name, options
from ._values import Keys, KeyType, integer


class Result(NamedTuple):
    """The end mark of a transfer, or of a round, and the size of the result.

    absent: addresses of the sources that the plan left out, as far as they are named.
    plan: with the job the key under which a result is stored once, in hexadecimal digits.
    The other numbers are those of struct aggnet_result in libaggnet(3).
    """
    sources: int
    of: int
    partials: int
    absent_count: int
    absent: tuple[str, ...]
    records: int
    keys: int
    instance: int
    attempt: int
    plan: str
    round: int
    last: bool


class Sink(Handle):
    """The receiver of a transfer, and an iterator of the lines (key, value) of its result.

    The first line comes when the whole result is there and checked. Leaving the "with" block
    normally calls commit(), which tells the sources that the result is stored; so store it
    inside. Leaving it with an exception, or before the last round of a persistent tree,
    aborts the transfer at every member::

        with aggnet.Sink(7) as sink:
            table = dict(sink)

    commit() raises Restart if a newer epoch has begun since the result came: discard it and
    read again. A line comes once, as from a file; sort() starts at the first line again. Of
    a dense vector lines are (index, value), and read_vector() is faster.

    keys: what keys are: bytes, str (UTF-8), or the number of bytes of integers. timeout and
    repair are as for Source.
    """
    _kind = "sink"

    def __init__(self, job: int, receiver: AddressLike = "0.0.0.0", *, keys: KeyType = bytes,
                 timeout: Optional[float] = None, repair: Optional[float] = None):
        self._keys = Keys(keys)
        self._entry = lib.Entry()
        self._whole = False
        # How the lines of this result are read: "" (not yet), "kept" by the library,
        # "streaming", or "streamed" to their end.
        self._lines = ""
        super().__init__(options(timeout, repair), "open", address(receiver),
                         integer(job, 32, signed=False))

    def run(self) -> None:
        """Wait until the result is complete and checked."""
        if self._lines == "streaming":
            raise ValueError("stream() reads this transfer, and has not come to its end")
        # Whatever ends the call below, the library may have merged lines.
        self._lines = self._lines or "kept"
        if not self._whole:
            self._call(self._function("run"))
            self._whole = True

    def __iter__(self) -> "Sink":
        return self

    def _run_for_lines(self) -> None:
        self.run()
        if self._lines == "streamed":
            raise ValueError("stream() has given the lines of this result, and kept none")

    def __next__(self) -> tuple[Any, Any]:
        self._run_for_lines()
        line = self._line("next")
        if not line:
            raise StopIteration
        return line

    def _line(self, verb: str) -> Any:
        item = self._call(self._function(verb), ctypes.byref(self._entry), then=self._item)
        if not item:
            return None
        key, value = item
        return (key if isinstance(key, int) else self._keys.decode(key)), value

    def _item(self, _: Any) -> tuple[Any, Any]:
        """Copy a line: its key and pairs belong to the handle."""
        entry = self._entry
        if self._shape.layout == "dense":
            return entry.offset, self._shape.value(entry)
        return ctypes.string_at(entry.key, entry.klen), self._shape.value(entry)

    def stream(self) -> Iterator[tuple[Any, Any]]:
        """The lines of a sorted transfer, each as soon as it is final.

        The result may be larger than memory. It is complete and checked only when the
        iteration ends without an exception. Restart: a newer epoch has begun; discard all
        lines and call stream() again. ValueError: the result has been read in another way,
        or streamed to its end.
        """
        if self._lines in ("kept", "streamed") and not self.closed:
            raise ValueError("the result has been read, so stream() has no lines of it")
        self._lines = "streaming"
        try:
            line = self._line("stream")
            while line:
                yield line
                line = self._line("stream")
            self._lines = "streamed"
        except Restart:
            self._lines = ""
            raise

    def read_vector(self, buffer: Any = None) -> Any:
        """Read the whole dense vector into a buffer, and return the buffer.

        buffer: array.array, a numpy array or another buffer that can be written, of integers
        or reals of a size that holds every element; without one the result is an array.array.
        EOFError: there is none, because the sources have ended the round without a vector.
        """
        count = self.result().keys
        if self._shape.layout != "dense":
            raise ValueError("this transfer is of keys and values: iterate over the sink")
        if not count:
            raise EOFError("no vector came: the sources have ended without another one")
        if buffer is None:
            code = "d" if self._shape.real_results else "q"
            buffer = array(code, bytes(8 * count))
        view = self._view(buffer, count)
        self.sort()
        self._call(self._fill, view)
        return buffer

    def _fill(self, handle: Any, view: memoryview) -> int:
        following, value = self._function("next"), self._shape.value
        while following(handle, ctypes.byref(self._entry)):
            view[self._entry.offset] = value(self._entry)
        return 0

    def _view(self, buffer: Any, count: int) -> memoryview:
        view = memoryview(buffer)
        if view.readonly:
            raise TypeError("the buffer cannot be written")
        size = 4 if self._shape.vtype in ("int32", "float32") else 8
        formats = "df" if self._shape.real_results else "qli"
        if view.format not in formats or view.itemsize < size:
            raise TypeError(f"a buffer of format '{view.format}' does not hold"
                            f" {self._shape.vtype} exactly")
        if view.ndim != 1:
            view = view.cast("B").cast(view.format)  # type: ignore[call-overload]
        if len(view) != count:
            raise ValueError(f"the buffer has {len(view)} elements, and the vector {count}")
        return view

    def sort(self) -> None:
        """Sort the lines by the bytes of their keys, and start at the first."""
        self._run_for_lines()
        self._call(self._function("sort"))

    def top(self, count: int) -> None:
        """Keep the lines with the best values, the best first, and start there."""
        self._run_for_lines()
        self._call(self._function("top"), integer(count, 64, signed=False))

    def result(self) -> Result:
        """The end mark, and the size of the result, once it is complete."""
        self.run()
        named = ctypes.c_size_t()
        absent = self._call(self._function("absent"), ctypes.byref(named),
                            then=lambda at: tuple(map(name, at[:named.value])))
        return self._call(self._function("result"), then=lambda at: Result(
            at[0].sources, at[0].of, at[0].partials, at[0].absent, absent, at[0].records,
            at[0].keys, at[0].instance, at[0].attempt, bytes(at[0].plan).hex(), at[0].round,
            bool(at[0].last)))

    def commit(self) -> None:
        """Tell the sources that the result is stored.

        Restart: a newer epoch began before; discard the result and read it again.
        """
        # Whatever ends this call, the library knows whether it still has the result.
        whole, self._whole = self._whole, False
        try:
            self._call(self._function("commit"))
        except Restart:
            self._lines = ""
            raise
        self._whole = whole
        self._over = not self._shape.persist or self.result().last

    def round(self) -> bool:
        """Begin to read the next round of a persistent tree, after commit().

        Return: True: it begins; False: the round before was the last one.
        """
        if self.result().last:
            return False
        self._whole = False
        self._call(self._function("round"))
        self._lines = ""
        self._over = False
        return True

    def abort(self) -> None:
        """End the transfer with an error (ECANCELED) at every member, and close."""
        try:
            self._call(self._function("abort"), lib.R_USER)
        finally:
            self._over = True
            self.close()

    @property
    def replays(self) -> int:
        """How many epochs were joined after the first."""
        return self._call(self._function("replays"))

    def _leave(self) -> None:
        self.commit()
        if not self._over:
            raise ValueError("another round follows: call round()")
