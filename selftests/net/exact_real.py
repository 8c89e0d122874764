#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The reference for reals: lines key<TAB>value, summed as fractions, which have
no rounding, and rounded once. Usage: exact_real.py sum|average float32|float64
"""
import fractions
import struct
import sys


def nearest(value, vtype):
    """Round a fraction once, to the nearest number of the type."""
    if vtype == "float64":
        return float(value)
    # Rounding to 53 bits first could make a tie of what is none.
    best = struct.unpack("f", struct.pack("f", float(value)))[0]
    bits = struct.unpack("I", struct.pack("f", best))[0]
    around = [struct.unpack("f", struct.pack("I", bits + d))[0]
              for d in (-1, 0, 1) if 0 <= bits + d < 1 << 32]
    return min((a for a in around if a == a and abs(a) != float("inf")),
               key=lambda a: (abs(fractions.Fraction(a) - value),
                              struct.unpack("I", struct.pack("f", a))[0] & 1))


def main():
    function, vtype = sys.argv[1:]
    digits = ".9g" if vtype == "float32" else ".17g"
    sums, counts = {}, {}
    for line in sys.stdin:
        key, value = line.rstrip("\n").split("\t")
        number = float(value)
        if vtype == "float32":
            number = struct.unpack("f", struct.pack("f", number))[0]
        sums[key] = sums.get(key, 0) + fractions.Fraction(number)
        counts[key] = counts.get(key, 0) + 1
    for key in sorted(sums):
        result = nearest(sums[key], vtype)
        if function == "average":
            result /= counts[key]
        print(f"{key}\t{result:{digits}}")


main()
