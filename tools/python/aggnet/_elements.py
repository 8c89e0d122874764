# SPDX-License-Identifier: GPL-2.0
"""Vectors of elements of one type: from Python to a buffer of the library, and back."""
from __future__ import annotations

import ctypes
from array import array
from typing import Any, Optional

from ._values import elements, integer, real

# Of each type the letter of array.array, what memoryview calls it, and its bytes.
TYPES = {"int64": ("q", "ql", 8), "int32": ("i", "il", 4),
         "float32": ("f", "f", 4), "float64": ("d", "d", 8)}


class Elements:
    """The elements of a group.

    >>> Elements("int16")
    Traceback (most recent call last):
    ValueError: the type of a group's elements is int64, int32, float32 or float64, not 'int16'
    """

    def __init__(self, dtype: str):
        if dtype not in TYPES:
            raise ValueError("the type of a group's elements is int64, int32, float32 or"
                             f" float64, not {dtype!r}")
        self.dtype = dtype
        self._letter, self._formats, self.size = TYPES[dtype]

    def _is_one(self, view: memoryview) -> bool:
        """Are the elements of a buffer of this type?"""
        return view.format in tuple(self._formats) and view.itemsize == self.size

    def _number(self, value: Any) -> Any:
        if self.dtype in ("int64", "int32"):
            return integer(value, 8 * self.size)
        return real(value, self.dtype == "float32")

    def new(self, count: int) -> array:
        """A vector of zeros."""
        return array(self._letter, bytes(count * self.size))

    def given(self, values: Any) -> Any:
        """A buffer of these values: their own, if the library can read it, or a checked copy.

        >>> Elements("int32").given([1, 2**31])
        Traceback (most recent call last):
        OverflowError: 2147483648 does not fit int32
        """
        try:
            view = memoryview(values)
        except TypeError:
            view = None
        if view is None or not self._is_one(view):
            return array(self._letter, map(self._number, elements(values)))
        if view.c_contiguous and not view.readonly:
            return values
        return array(self._letter, view.tobytes())

    def taken(self, out: Any) -> Any:
        """Check a buffer that the library writes.

        >>> Elements("int64").taken(bytes(8))
        Traceback (most recent call last):
        TypeError: the buffer has elements of the format 'B': int64 has 'q'
        """
        view = memoryview(out)
        if not self._is_one(view):
            raise TypeError(f"the buffer has elements of the format {view.format!r}: "
                            f"{self.dtype} has {self._letter!r}")
        if view.readonly or not view.c_contiguous:
            raise ValueError("the buffer is read-only" if view.readonly else
                             "the buffer is not contiguous")
        return out

    def room(self, out: Optional[Any], count: int) -> Any:
        """A buffer for a result: a new one, or the caller's."""
        if out is None:
            return self.new(count)
        if self.count(self.taken(out)) != count:
            raise ValueError(f"the buffer has {self.count(out)} elements: the result has {count}")
        return out

    def count(self, buffer: Any) -> int:
        """How many elements a buffer has."""
        return memoryview(buffer).nbytes // self.size


def pointer(buffer: Any, size: int) -> Any:
    """What the library takes for a buffer of this many bytes, which is then not resized."""
    if buffer is None:
        return None
    # Of an empty buffer no pointer can be taken.
    return (ctypes.c_char * size).from_buffer(buffer) if size else (ctypes.c_char * 1)()
