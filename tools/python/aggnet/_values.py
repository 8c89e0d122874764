# SPDX-License-Identifier: GPL-2.0
"""Keys and values: from Python to the records of a transfer, and back."""
from __future__ import annotations

import math
import operator
import struct
from ctypes import c_double, c_float
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational
from typing import Any, Iterable, NamedTuple, Type, Union

from . import _library as lib

Key = Union[bytes, str, int]
KeyType = Union[Type[bytes], Type[str], int]
KEY_MAX = 255
# What memoryview can index, in the order of this machine's bytes.
NATIVE = frozenset("bBhHiIlLqQfd")


class Best(NamedTuple):
    """One of the values that "topk" or "nearest" has kept, and its ID."""
    value: Union[int, float]
    id: int


class Average(float):
    """An average: the number nearest to the exact one. count: of how many values.

    >>> mean = Average(2.5, 4)
    >>> mean, mean.count
    (2.5, 4)
    """
    count: int

    def __new__(cls, value: float, count: int) -> "Average":
        mean = super().__new__(cls, value)
        mean.count = count
        return mean

    def __getnewargs__(self) -> tuple[float, int]:  # type: ignore[override]
        """What pickle and copy give to __new__()."""
        return float(self), self.count


def integer(value: Any, bits: int, signed: bool = True) -> int:
    """Check an integer.

    >>> integer(-2**63, 64)
    -9223372036854775808
    >>> integer(2**31, 32)
    Traceback (most recent call last):
    OverflowError: 2147483648 does not fit int32
    >>> integer(1.5, 64)
    Traceback (most recent call last):
    TypeError: 1.5 is not an integer
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{value!r} is not an integer") from None
    least = -1 << (bits - 1) if signed else 0
    most = (1 << (bits - 1 if signed else bits)) - 1
    if not least <= number <= most:
        raise OverflowError(f"{number} does not fit {'' if signed else 'u'}int{bits}")
    return number


def odd(number: float, exact: Fraction) -> float:
    """Of the two float64 around an exact number the one with an odd mantissa.

    libaggnet rounds it to float32 as it would round the exact one; the nearest float64
    could be in the middle of two float32, where the exact one is not.
    """
    if Fraction(number) == exact or struct.unpack("<q", struct.pack("<d", number))[0] & 1:
        return number
    return math.nextafter(number, math.inf if exact > number else -math.inf)


def real(value: Any, single: bool) -> float:
    """Check a real; libaggnet narrows it to float32 if it is single.

    An integer must be a float exactly, because it would be rounded here and again there.

    >>> real(3, True), real(float("inf"), True)
    (3.0, inf)
    >>> c_float(real(1 + Fraction(1, 2**24) + Fraction(1, 2**80), True)).value - 1 == 2**-23
    True
    >>> real(Decimal("1e-999999999"), True)
    0.0
    >>> real(Decimal("1e400"), False)
    Traceback (most recent call last):
    OverflowError: 1E+400 is not a float64
    >>> real(1e39, True)
    Traceback (most recent call last):
    OverflowError: 1e+39 does not fit float32
    >>> real(2**53 + 1, False)
    Traceback (most recent call last):
    OverflowError: 9007199254740993 is not a float64
    """
    try:
        # float() would read text, too.
        number = c_double(value).value
    except OverflowError:
        raise OverflowError(f"{value} is not a float64") from None
    # Others than Python's integers could be rounded in a comparison.
    if isinstance(value, Integral) and int(number) != int(value):
        raise OverflowError(f"{value} is not a float64")
    if isinstance(value, Decimal) and math.isinf(number) and value.is_finite():
        raise OverflowError(f"{value} is not a float64")
    # Below, float32 has nothing but 0, and an exact Decimal may have any number of digits.
    if single and 2**-151 < abs(number) < math.inf and isinstance(value, (Decimal, Rational)):
        number = odd(number, Fraction(value))
    if single and math.isinf(c_float(number).value) and not math.isinf(number):
        raise OverflowError(f"{value} does not fit float32")
    return number


def fixed(value: Any, scale: int) -> int:
    """A number as an integer times 2^-scale, rounded to the nearest, a half to even.

    >>> fixed(1.5, 8), fixed(Fraction(1, 512), 8), fixed(3 * Fraction(1, 512), 8)
    (384, 0, 2)
    >>> fixed(Decimal("1e-999999999"), 62)
    0
    >>> fixed(2**60, 8)
    Traceback (most recent call last):
    OverflowError: 1152921504606846976 does not fit fixed with 8 fraction bits
    """
    if isinstance(value, Rational):
        # Python's integers, because others could wrap around.
        exact: Any = Fraction(int(value.numerator), int(value.denominator))
    elif isinstance(value, Decimal) and value.is_finite() and value.adjusted() < -40:
        # As an exact fraction, 1e-999999999 would have that many digits.
        exact = 0
    elif isinstance(value, Decimal) and value.is_finite() and value.adjusted() > 40:
        raise OverflowError(f"{value} does not fit fixed with {scale} fraction bits")
    else:
        exact = value if isinstance(value, Decimal) else c_double(value).value
    try:
        return integer(round(Fraction(exact) * (1 << scale)), 64)
    except (OverflowError, ValueError):
        raise OverflowError(f"{value} does not fit fixed with {scale} fraction bits") from None


def elements(values: Iterable) -> Iterable:
    """The items of an iterable, or those of a buffer row by row.

    >>> from array import array
    >>> list(elements(array("i", [1, -2])))
    [1, -2]
    """
    try:
        view = memoryview(values)  # type: ignore[arg-type]
    except TypeError:
        return values
    if view.format not in NATIVE:
        return values
    if view.ndim == 1:
        return view
    if not view.c_contiguous:
        raise ValueError("a buffer of several dimensions must be contiguous")
    return view.cast("B").cast(view.format)  # type: ignore[arg-type]


class Keys:
    """How keys are written: as bytes, as str (UTF-8), or as integers of a number of bytes.

    Integers are unsigned and have their most significant byte first, so that their order
    is that of the bytes.

    >>> Keys(4).encode(258)
    b'\\x00\\x00\\x01\\x02'
    >>> Keys(4).decode(b"\\x00\\x00\\x01\\x02")
    258
    >>> Keys(str).decode(b"word")
    'word'
    """

    def __init__(self, kind: KeyType):
        if kind not in (bytes, str) and not (isinstance(kind, int) and 1 <= kind <= KEY_MAX):
            raise ValueError(f"keys must be bytes, str or a number of bytes from 1 to {KEY_MAX},"
                             f" not {kind!r}")
        self.kind = kind
        self.size = kind if isinstance(kind, int) else 0

    def encode(self, key: Any) -> bytes:
        """The bytes of a key."""
        if self.size:
            return integer(key, 8 * self.size, signed=False).to_bytes(self.size, "big")
        if isinstance(key, str):
            return key.encode()
        if isinstance(key, (bytes, bytearray, memoryview)):
            return bytes(key)
        raise TypeError(f"the key {key!r} is not bytes or str; for integers set keys= to their"
                        " number of bytes")

    def decode(self, raw: bytes) -> Key:
        """The key of these bytes."""
        if self.kind is bytes:
            return raw
        if self.kind is str:
            return raw.decode()
        if len(raw) != self.size:
            raise ValueError(f"the key {raw!r} has {len(raw)} bytes, not {self.size}")
        return int.from_bytes(raw, "big")


class Shape:
    """What a transfer's values are: its function, type and layout."""

    def __init__(self, status: lib.Status):
        def name(names: tuple, number: int) -> str:
            return names[number] if number < len(names) else f"unknown ({number})"

        self.function = name(lib.FUNCTIONS, status.function)
        self.vtype = name(lib.VTYPES, status.vtype)
        self.layout = name(lib.LAYOUTS, status.layout)
        self.scale: int = status.scale
        # Of a vector; of a job of several trees the part of the first one.
        self.elements: int = status.elements
        self.striped = status.stripes > 1
        self.persist = bool(status.persist)
        self.pairs = self.function in ("topk", "nearest")
        # As libaggnet takes them, and as they come out of it.
        self.reals = self.vtype in ("float32", "float64")
        self.real_results = self.vtype not in ("int64", "int32") and self.function != "count"

    def number(self, value: Any) -> Union[int, float]:
        """Check a value, before anything is sent."""
        if self.function == "count":
            return 0
        if self.vtype == "fixed":
            return fixed(value, self.scale)
        if self.reals:
            return real(value, self.vtype == "float32")
        return integer(value, 32 if self.vtype == "int32" else 64)

    def arguments(self, value: Any) -> tuple:
        """What libaggnet takes for a value."""
        if not self.pairs:
            return (self.number(value),)
        try:
            number, identity = value
        except (TypeError, ValueError):
            raise TypeError(f"a value of {self.function} is a pair (value, id), not"
                            f" {value!r}") from None
        return self.number(number), integer(identity, 64, signed=False)

    def value(self, entry: lib.Entry) -> Any:
        """The value of a line of the result."""
        if self.pairs:
            return [Best(best.real if self.real_results else best.value, best.id)
                    for best in entry.best[:entry.n]]
        if self.function == "average":
            return Average(entry.real, entry.count)
        return entry.real if self.real_results else entry.value
