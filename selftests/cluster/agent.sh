#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A service of a machine with an init of its own: it executes the commands that
# machines.sh leaves in the shared directory, and goes on after a reboot.
cd /root || exit
echo ready > /share/ready
for ((n = 1; ; n++)); do
	until [ -e "/share/command.$n" ]; do
		sleep 0.1
	done
	[ ! -e "/share/status.$n" ] || continue
	bash -e "/share/command.$n" > "/share/output.$n" 2>&1 < /dev/null
	echo $? > "/share/status.$n.new"
	mv "/share/status.$n.new" "/share/status.$n"
	[ ! -e /share/end ] || systemctl poweroff
done
