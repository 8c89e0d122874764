#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Train a small model together with other processes: gradient descent, one step a round.

Usage: sgd.py RANK RANKS [ROOT UP DOWN] [--steps N]
Each rank has a share of the samples. The losses that rank 0 prints are the same, bit by bit,
for any number of ranks with the same Python and libm, because a sample's gradient is rounded to an integer before it is
added, and sums of integers do not depend on their order. The plan's type is int64, its
function sum. A single rank needs no trees.
"""
import argparse
import math
import random
import sys

import aggnet

FEATURES = 8
SAMPLES = 480
RATE = 2.0
ONE = 1 << 32  # 1.0 as an integer


def dot(a: list, b: list) -> float:
    return sum(p * q for p, q in zip(a, b))


def samples() -> list:
    """What is learned: features, and whether a hidden rule holds for most like them."""
    draw = random.Random(7)
    rule = [draw.gauss(0, 1) for _ in range(FEATURES)]
    made = []
    for _ in range(SAMPLES):
        x = [draw.gauss(0, 1) for _ in range(FEATURES)]
        made.append((x, dot(x, rule) + draw.gauss(0, 0.5) > 0))
    return made


def gradient(weights: list, x: list, y: bool) -> list:
    """The gradient of a sample's loss by each weight, and the loss, as integers."""
    guess = 1 / (1 + math.exp(-dot(weights, x)))
    loss = -math.log(guess if y else 1 - guess)
    return [round((guess - y) * value * ONE) for value in x] + [round(loss * ONE)]


def train(group: aggnet.Group, steps: int) -> None:
    mine = samples()[group.rank::group.ranks]
    weights = [0.0] * FEATURES
    for step in range(steps):
        # A rank without samples adds nothing.
        parts = [gradient(weights, x, y) for x, y in mine] or [[0] * (FEATURES + 1)]
        total = group.allreduce(map(sum, zip(*parts)))
        if group.rank == 0:
            print(step, (total[FEATURES] / ONE / SAMPLES).hex())
        weights = [w - RATE * g / ONE / SAMPLES for w, g in zip(weights, total)]


def main() -> int:
    parser = argparse.ArgumentParser(description="train a small model together")
    parser.add_argument("rank", type=int)
    parser.add_argument("ranks", type=int)
    parser.add_argument("root", nargs="?", default="0.0.0.0", help="address of rank 0")
    parser.add_argument("up", nargs="?", type=int, default=0, help="job of the tree up")
    parser.add_argument("down", nargs="?", type=int, default=0, help="job of the tree down")
    parser.add_argument("--steps", type=int, default=20)
    args = parser.parse_args()
    try:
        with aggnet.Group(args.root, args.up, args.down, args.rank, args.ranks) as group:
            train(group, args.steps)
    except aggnet.Error as err:
        print(f"sgd: {err.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
