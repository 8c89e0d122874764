#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The peer: networkx's Steiner tree on the whole graph of servers.

Usage: bench_trees.py N K < members (receiver first); one JSON line. Cost is
twice the hops, as a hop crosses two links."""
import json
import resource
import sys
import time

import networkx
from networkx.algorithms.approximation import steiner_tree


def hypercube(radix, dims):
    graph = networkx.Graph()
    for node in range(radix ** dims):
        for dim in range(dims):
            stride = radix ** dim
            digit = node // stride % radix
            for other in range(digit + 1, radix):
                graph.add_edge(node, node + (other - digit) * stride)
    return graph


def main():
    radix, dims = int(sys.argv[1]), int(sys.argv[2]) + 1
    members = [int(word) for word in sys.stdin.read().split()]
    start = time.process_time()
    graph = hypercube(radix, dims)
    built = time.process_time()
    tree = steiner_tree(graph, members)
    end = time.process_time()
    print(json.dumps({
        "topology": f"bcube:{radix},{dims - 1}", "senders": len(members) - 1,
        "receivers": 1, "method": "networkx", "ms": (end - built) * 1e3,
        "graph_ms": (built - start) * 1e3,
        "cost": 2 * tree.number_of_edges(), "depth": None,
        "kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))


main()
