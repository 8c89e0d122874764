# SPDX-License-Identifier: GPL-2.0
# The four servers of the page "Your cluster" are those of BCube(2,1): its description of
# them as a labelled topology.
1i topology bcube:2,1
/^address/!d
s/node1/v0/
s/node2/v1/
s/node3/v2/
s/node4/v3/
s/-a0/-w0/
s/-a1/-w1/
s/-b0/-w2/
s/-b1/-w3/
