#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Count words together with other servers. The plan's function is sum.

Usage: wordcount.py JOB [RECEIVER...] [--top N]
Each source names all receivers, in the same order, and reads text from standard input; each
receiver names none, and prints its words.
"""
import argparse
import sys

import aggnet
from aggnet import mapreduce


def main() -> int:
    parser = argparse.ArgumentParser(description="count words together with other servers")
    parser.add_argument("job", type=int)
    parser.add_argument("receiver", nargs="*", help="address; none: be one")
    parser.add_argument("--top", type=int, help="print the most frequent words only")
    args = parser.parse_args()
    try:
        if args.receiver:
            mapreduce.map(args.job, args.receiver, sys.stdin, mapreduce.words)
        else:
            show(mapreduce.reduce(args.job, list, top=args.top, keys=str))
    except aggnet.Error as err:
        print(f"wordcount: {err.strerror}", file=sys.stderr)
        return 1
    return 0


def show(lines: mapreduce.Pairs) -> None:
    """Print the words of this receiver.

    After a restart reduce() calls its function again, and what is printed cannot be taken
    back; so they are printed when it has returned. The sources are told before, and may
    delete their input: a program that must not lose the result if it fails here gives
    reduce() a function that writes a file, which a second call replaces.
    """
    for word, count in lines:
        print(f"{word}\t{count}")


if __name__ == "__main__":
    sys.exit(main())
