# SPDX-License-Identifier: GPL-2.0
# What cores.sh measured, in words: medians, and in brackets the least and the most.
def two: . * 100 | round / 100;
def rate: "\(.median | round) [\(.least | round), \(.most | round)]";
def times: "\(.median | two) [\(.least | two), \(.most | two)] times";

"Two CPUs, packets a second, medians of \(.rounds) rounds [least, most]:",
"  dropped at once: from one child \(.drop | rate), from two \(.drops | rate): " +
"\(.dropped_scale | times)",
"  merged: from one child \(.alone | rate), from two in a tree each " +
"\(.apart | rate): \(.apart_scale | times)",
"  merged in one tree, whose lock they share: \(.one | rate): " +
"\(.one_scale | times); what the lock costs: \(.contention | times) what they " +
"get through in a tree each"
