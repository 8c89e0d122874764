# SPDX-License-Identifier: GPL-2.0
"""In-network aggregation: contribute to a transfer, receive its result, broadcast bytes.

Source contributes records or vectors, Sink receives the result, Broadcast sends bytes to all
members, Group has the collectives; mapreduce is a shuffle on sources and sinks. A failure raises Error, with the errno, the sentence
and the node. libaggnet(3) has the rules of the calls, and aggnet(7) the meaning of errors.

Each handle belongs to one thread at a time: threads may each have their own.
"""
from ._broadcast import Broadcast
from ._group import Group
from ._handle import Error, Restart
from ._sink import Result, Sink
from ._source import Source
from ._values import Average, Best

__all__ = ["Average", "Best", "Broadcast", "Error", "Group", "Restart", "Result", "Sink", "Source"]
