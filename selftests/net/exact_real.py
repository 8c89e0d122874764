#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The reference for reals: lines key<TAB>value, summed as integers, which have
no rounding, and rounded once. Usage: exact_real.py sum|average float32|float64
"""
import struct
import sys

UNIT = 1 << 1074  # of a finite number of either type there is no smaller part


def units(number):
    """A float as an integer of 2^-1074."""
    numerator, denominator = number.as_integer_ratio()
    return numerator * (UNIT // denominator)


def single(bits):
    """The float32 of these bits."""
    return struct.unpack("f", struct.pack("I", bits))[0]


def nearest(total, count, vtype):
    """Round total / count units once, to the nearest number of the type."""
    best = total / (UNIT * count)
    if vtype == "float64":
        return best
    # Rounding to 53 bits first could make a tie of what is none.
    bits = struct.unpack("I", struct.pack("f", best))[0]
    around = [(single(b), b) for b in (bits - 1, bits, bits + 1)
              if b >= 0 and b & 0x7f800000 != 0x7f800000]
    return min(around, key=lambda a: (abs(units(a[0]) * count - total), a[1] & 1))[0]


def main():
    function, vtype = sys.argv[1:]
    digits = ".9g" if vtype == "float32" else ".17g"
    sums, counts = {}, {}
    for line in sys.stdin:
        key, value = line.rstrip("\n").split("\t")
        number = float(value)
        if vtype == "float32":
            number = struct.unpack("f", struct.pack("f", number))[0]
        sums[key] = sums.get(key, 0) + units(number)
        counts[key] = counts.get(key, 0) + 1
    for key in sorted(sums):
        count = counts[key] if function == "average" else 1
        result = nearest(sums[key], count, vtype)
        print(f"{key}\t{result:{digits}}")


main()
