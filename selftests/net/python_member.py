#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A member of a transfer in Python, for python.sh. Usage: python_member.py ROLE JOB ..."""
import errno
import os
import random
import signal
import sys
from array import array

import aggnet
from aggnet import mapreduce

ELEMENTS = 1000


def vector(seed, number=0):
    """Integers that a source contributes to a round, the same for the same seed."""
    source = random.Random(f"{seed} {number}")
    return [source.randrange(-2**40, 2**40) for _ in range(ELEMENTS)]


def total(seeds, number=0):
    return array("q", map(sum, zip(*(vector(seed, number) for seed in seeds))))


def vector_bytes(number):
    return array("q", vector("stream", number)).tobytes()


def send(job, receiver, path):
    """Contribute lines "key TAB value"."""
    with open(path, encoding="utf-8") as lines, aggnet.Source(job, receiver) as source:
        for line in lines:
            key, value = line.split("\t")
            source.write(key, int(value))


def recv(job):
    with aggnet.Sink(job, keys=str) as sink:
        for key, value in sink:
            print(f"{key}\t{value}")
        sys.stdout.flush()


def fail(job, receiver):
    """A source that fails after some of its records."""
    with aggnet.Source(job, receiver) as source:
        source.write_many((str(n), n) for n in range(100))
        raise SystemExit(3)


def error(job):
    """The errno that the receiver gets, and the node."""
    try:
        with aggnet.Sink(job) as sink:
            list(sink)
    except aggnet.Error as err:
        print(errno.errorcode[err.errno], err.node)


def vector_send(job, receiver, seed):
    with aggnet.Source(job, receiver) as source:
        source.write_vector(array("q", vector(seed)))


def vector_recv(job, *seeds):
    buffer = array("q", bytes(8 * ELEMENTS))
    with aggnet.Sink(job) as sink:
        assert sink.read_vector(buffer) == total(seeds), "another vector"
        assert sink.result().sources == len(seeds), sink.result()


def rounds_send(job, receiver, seed, rounds):
    with aggnet.Source(job, receiver) as source:
        for number in range(int(rounds)):
            source.write_vector(vector(seed, number))
            source.round()


def rounds_recv(job, rounds, *seeds):
    """Each round has its vector; the sources end without another one."""
    with aggnet.Sink(job) as sink:
        for number in range(int(rounds)):
            assert sink.read_vector() == total(seeds, number), f"round {number}"
            assert sink.result().round == number and not sink.result().last, sink.result()
            sink.commit()
            assert sink.round()
        try:
            sink.read_vector()
        except EOFError:
            sink.commit()
            assert not sink.round()
            return
        raise AssertionError("another vector came")


def root(job, path):
    with open(path, "rb") as file, aggnet.Broadcast.root(job) as broadcast:
        while chunk := file.read(100000):
            broadcast.write(chunk)


def member(job, address, path):
    with open(path, "wb") as file, aggnet.Broadcast.member(job, address) as broadcast:
        for chunk in broadcast:
            file.write(chunk)
        file.flush()


def root_rounds(job, rounds):
    """A stream for each round, the last one of them by leaving the block."""
    with aggnet.Broadcast.root(job) as broadcast:
        for number in range(int(rounds)):
            if number:
                broadcast.round()
            broadcast.write(vector_bytes(number))


def member_rounds(job, address, rounds):
    with aggnet.Broadcast.member(job, address) as broadcast:
        for number in range(int(rounds)):
            assert broadcast.read() == vector_bytes(number), f"round {number}"
            broadcast.commit()
            assert broadcast.round() == (number + 1 < int(rounds)), f"after {number}"


def interrupted(job):
    """Print the ID of this process, and wait for a result until SIGINT comes."""
    # A shell's background process ignores it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with aggnet.Sink(job) as sink:
            print(os.getpid(), flush=True)
            sink.run()
    except KeyboardInterrupt:
        print("interrupted")


def collectives(job, address, rank, ranks, dtype):
    """Each collective, with each rank as root: what plain Python computes."""
    rank, ranks = int(rank), int(ranks)
    kind = float if dtype.startswith("float") else int
    # Row r is what rank r gives: a part for each rank.
    rows = [[kind(1000 * r + 7 * i - 500) for i in range(5 * ranks)] for r in range(ranks)]
    part = slice(5 * rank, 5 * rank + 5)
    mine, joined = rows[rank], [x for row in rows for x in row]
    sums = [sum(column) for column in zip(*rows)]
    with aggnet.Group(address, job, job + 1, rank, ranks, dtype, timeout=300) as group:
        letter = group.allreduce([]).typecode
        for root in range(ranks):
            here = rank == root
            got = group.broadcast(array(letter, mine), root=root)
            assert list(got) == rows[root], ("broadcast", root, got)
            got = group.scatter(mine if here else None, count=5, root=root)
            assert list(got) == rows[root][part], ("scatter", root, got)
            for name, call, want in (("gather", group.gather, joined),
                                     ("reduce", group.reduce, sums)):
                got = call(mine, root=root)
                assert list(got) == want if here else got is None, (name, root, got)
        assert list(group.allgather(mine)) == joined, "allgather"
        assert list(group.reduce_scatter(mine)) == sums[part], "reduce_scatter"
        buffer = array(letter, mine)
        assert list(group.allreduce(buffer, out=buffer)) == sums, "allreduce"
        group.barrier()


def waits_for_all(job, address, rank, ranks):
    """Print the ID of this process, and wait for the other ranks until SIGINT comes."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print(os.getpid(), flush=True)
    try:
        aggnet.Group(address, job, job + 1, int(rank), int(ranks))
    except KeyboardInterrupt:
        print("interrupted")
    except aggnet.Error as err:
        print(errno.errorcode[err.errno])


def count(*paths):
    """Print the words of files, counted by Python alone."""
    lines = (line for path in paths for line in open(path, encoding="utf-8"))
    for word, number in mapreduce.local(lines, mapreduce.words).items():
        print(f"{word}\t{number}")


def average(job, receiver, *values):
    with aggnet.Source(job, receiver, keys=2) as source:
        for value in values:
            source.write(7, float(value))


def average_recv(job):
    with aggnet.Sink(job, keys=2) as sink:
        for key, mean in sink:
            print(key, mean, mean.count)


def main():
    role, *arguments = sys.argv[1:]
    if role != "count":
        arguments[0] = int(arguments[0])
    globals()[role](*arguments)


if __name__ == "__main__":
    main()
