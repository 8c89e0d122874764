# SPDX-License-Identifier: GPL-2.0
"""In-network aggregation: contribute to a transfer, receive its result, broadcast bytes.

Source contributes records or vectors, Sink receives the result, Broadcast sends bytes to all
members; mapreduce is a shuffle on them. A failure raises Error, with the errno, the sentence
and the node. libaggnet(3) has the rules of the calls, and aggnet(7) the meaning of errors.

Each handle belongs to one thread at a time: threads may each have their own.
"""
from ._broadcast import Broadcast
from ._handle import Error, Restart
from ._sink import Result, Sink
from ._source import Source
from ._values import Average, Best

__all__ = ["Average", "Best", "Broadcast", "Error", "Restart", "Result", "Sink", "Source"]
