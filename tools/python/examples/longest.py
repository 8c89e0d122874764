#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The longest requests of each page, over all servers. The plan's function is topk.

Usage: longest.py JOB [RECEIVER...]
Each source names all receivers, in the same order, and reads lines "ID PAGE MILLISECONDS"
from standard input; each receiver names none, and prints for each of its pages the k longest
requests.
"""
import argparse
import sys

import aggnet
from aggnet import mapreduce


def request(line: str) -> mapreduce.Pairs:
    """The page of a line, and how long which request took."""
    identity, page, milliseconds = line.split()
    yield page, (int(milliseconds), int(identity))


def show(lines: mapreduce.Pairs) -> None:
    """Print the pages of this receiver.

    After a restart reduce() calls its function again, and what is printed cannot be taken
    back; so they are printed when it has returned. The sources are told before, and may
    delete their input: a program that must not lose the result if it fails here gives
    reduce() a function that writes a file, which a second call replaces.
    """
    for page, requests in lines:
        print(page, *(f"{best.value}:{best.id}" for best in requests))


def main() -> int:
    parser = argparse.ArgumentParser(description="the longest requests of each page")
    parser.add_argument("job", type=int)
    parser.add_argument("receiver", nargs="*", help="address; none: be one")
    args = parser.parse_args()
    try:
        if args.receiver:
            mapreduce.map(args.job, args.receiver, sys.stdin, request)
        else:
            show(mapreduce.reduce(args.job, list, keys=str))
    except aggnet.Error as err:
        print(f"longest: {err.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
