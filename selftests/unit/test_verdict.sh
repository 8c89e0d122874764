#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The verdict on a run of the guest, with made-up logs: one complaint or
# thousands, and logs that are missing, empty or cut, each fail the run. And a guest
# whose kernel ends before the first program is booted once more.
set -u

verdict=$(cd "$(dirname "$0")/../vm" && pwd)/verdict.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
n=0 failed=0

# run_of DMESG...: make the files of a good run, with these lines in the guest's
# log
run_of()
{
	rm -rf "$tmp/run"
	mkdir "$tmp/run"
	echo "0 0" > "$tmp/run/status"
	: > "$tmp/run/qemu"
	{
		echo "[    0.000000] Linux version 6.12"
		echo "[    1.000000] WARNING: of the stock kernel, at boot"
		echo "[    2.000000] vm: start"
	} | tee "$tmp/run/dmesg" > "$tmp/run/console"
	printf '%s\n' "$@" "vm: end" >> "$tmp/run/dmesg"
}

# says NAME STATUS TEXT [QEMU_STATUS]: the verdict on $tmp/run
says()
{
	local status=0

	n=$((n + 1))
	"$verdict" "$tmp/run" "${4:-0}" > "$tmp/log" 2>&1 || status=$?
	if [ $status = "$2" ] && { [ -z "$3" ] || grep -q "$3" "$tmp/log"; }
	then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1: status $status"
		head -n 5 "$tmp/log" | sed 's/^/# /'
		failed=$((failed + 1))
	fi
}

# lines COUNT TEXT: print so many numbered lines
lines()
{
	seq -f "$2 %.0f" "$1"
}

# boots NAME STATUS TIMES CONSOLE...: a guest with a made-up emulator, whose console has
# these lines at each boot in turn; the command succeeds if it is reached
boots()
{
	local name=$1 want=$2 times=$3 status=0

	shift 3
	n=$((n + 1))
	printf '%s\n' "$@" > "$tmp/consoles"
	: > "$tmp/boots"
	PATH=$tmp/bin:$PATH TMP=$tmp KERNEL=6.12 "$tmp/tree/selftests/vm/run.sh" true \
		> "$tmp/log" 2>&1 || status=$?
	if [ $status = "$want" ] && [ "$(wc -l < "$tmp/boots")" = "$times" ]; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name: status $status"
		sed 's/^/# /' "$tmp/boots" "$tmp/log"
		failed=$((failed + 1))
	fi
}

mkdir -p "$tmp/bin" "$tmp/tree/selftests" "$tmp/tree/build/vm/6.12"
cp -r "$(dirname "$verdict")" "$tmp/tree/selftests/vm"
echo 6.12 > "$tmp/tree/build/vm/6.12/release"
: > "$tmp/tree/build/vm/6.12/initramfs"
cat > "$tmp/bin/qemu-system-x86_64" << 'END'
#!/bin/bash
console=$(grep -o 'file:[^ ]*/console' <<< "$*")
run=$(dirname "${console#file:}")
echo boot >> "$TMP/boots"
{
	echo '[    0.0] tsc'
	sed -n "$(wc -l < "$TMP/boots")p" "$TMP/consoles"
} > "$run/console"
! grep -q 'no memory' "$run/console" || exit 1
grep -q 'vm: start' "$run/console" || exit 0
printf '[    0.0] Linux version 6.12\n[    2.0] vm: start\nvm: end\n' > "$run/dmesg"
grep -q panic "$run/console" || echo "0 0" > "$run/status"
END
chmod +x "$tmp/bin/qemu-system-x86_64"
start='[    2.000000] vm: start'

echo 1..27
boots "a boot" 0 1 "$start"
boots "a kernel that ends before the first program is booted again" 0 2 "panic" "$start"
boots "but once only" 1 2 "panic" "panic" "$start"
boots "a guest that ends later is not" 1 1 "$start panic" "$start"
boots "an emulator that fails is not" 1 1 "no memory" "$start"
run_of "[    3.000000] aggnet: loaded"
says "a run without a complaint" 0 ""
for count in 1 60 200 1000 20000; do
	run_of "$(lines $count '[    3.0] WARNING: CPU: 0 at kmod')"
	says "$count warnings" 1 "^$count lines complain"
done
for count in 1 1000 20000; do
	run_of "$(lines $count 'unreferenced object 0xffff (size 64):')"
	says "$count leaks" 1 "^$count lines complain"
done
run_of "[    3.0] Attempt to release alive inet socket 00000000d0b5c1a7"
says "a socket that is freed too early" 1 "^1 lines complain"
run_of "fine" "$(lines 200000 '[    3.0] aggnet: something')" \
	"[    9.0] BUG: KASAN: slab-out-of-bounds" "$(lines 100000 more)"
says "a complaint in a large log" 1 "^1 lines complain"
run_of "fine"
echo "[    9.0] Kernel panic - not syncing" >> "$tmp/run/console"
says "a complaint on the console only" 1 "Kernel panic"
run_of "fine"
sed -i '/vm: start/d' "$tmp/run/dmesg"
says "a log without its first mark" 1 "no line 'vm: start'"
{ echo "[    2.0] vm: start"; echo "vm: end"; } > "$tmp/run/dmesg"
says "a log that begins with its mark" 1 "has lost"
run_of "fine"
sed -i '$d' "$tmp/run/dmesg"
says "a log without its last mark" 1 "ends before"
: > "$tmp/run/dmesg"
says "an empty log" 1 "log is empty"
rm "$tmp/run/dmesg"
says "no log" 1 "dmesg"
run_of "fine"
echo "0 1" > "$tmp/run/status"
says "a module that does not unload" 1 "does not unload"
echo "7 0" > "$tmp/run/status"
says "the status of the command" 7 ""
says "QEMU fails after the command" 7 "QEMU ended" 1
rm "$tmp/run/status"
says "no status" 1 "without a status"
says "no status in time" 124 "without a status" 124
[ $failed = 0 ]
