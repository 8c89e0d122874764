#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The Debian packages are built only for architectures with integers of 128
# bits, which compilers have on 64-bit machines only. Their unit waits for firewalls, and
# their dissector is where Wireshark looks for it.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
cputable=/usr/share/dpkg/cputable
n=0 failed=0

# bits ARCHITECTURE: print the width of its registers, as dpkg knows it
bits()
{
	awk -v name="$1" '$1 == name { print $4 }' $cputable
}

mapfile -t names < <(sed -n 's/^Architecture: //p' "$top/debian/control" |
	tr ' ' '\n' | sort -u | grep -v '^all$')
for name in "${names[@]}"; do
	n=$((n + 1))
	if [ "$(bits "$name")" = 64 ]; then
		echo "ok $n - $name has 64 bits"
	else
		echo "not ok $n - $name is not known to have 64 bits"
		failed=1
	fi
done
[ $n -gt 0 ] || failed=1
n=$((n + 1))
# "host init" adds a rule: a firewall that begins later would remove it.
firewalls="nftables.service firewalld.service ufw.service docker.service"
if grep -qx "After=$firewalls" "$top/tools/aggctl/aggnet.service"; then
	echo "ok $n - the unit begins after firewalls"
else
	echo "not ok $n - the unit does not begin after each of $firewalls"
	failed=1
fi
n=$((n + 1))
# The address of a NIC may come after a network is online without it.
if grep -qx "Restart=on-failure" "$top/tools/aggctl/aggnet.service"; then
	echo "ok $n - the unit tries again"
else
	echo "not ok $n - the unit does not try again"
	failed=1
fi
n=$((n + 1))
plugins=$(sed -n 's,^tools/wireshark/aggnet.lua ,/,p' "$top/debian/aggnet.install")
# shellcheck disable=SC2016 # debhelper's variable
plugins=${plugins/'${DEB_HOST_MULTIARCH}'/$(dpkg-architecture -qDEB_HOST_MULTIARCH)}
if ! command -v tshark > /dev/null; then
	echo "ok $n - Wireshark's directory of plugins # SKIP no tshark here"
elif tshark -G folders 2> /dev/null | grep -qP "^Global Lua Plugins:\s*\Q$plugins\E$"; then
	echo "ok $n - the dissector is in Wireshark's directory of plugins"
else
	echo "not ok $n - $plugins is not Wireshark's directory of plugins"
	failed=1
fi
echo "1..$n"
exit $failed
