# SPDX-License-Identifier: GPL-2.0
# Looks in a log of the guest for complaints of the kernel. Prints the first one
# with what follows it, and how many there are, or what is wrong with the log.
# Exits 1 in both cases.
# Usage: awk [-v whole=1] -f splats.awk LOG
#   whole=1  the log must end with the line that guest.sh writes last

BEGIN {
	splats = "WARNING:|BUG:|BUG |Oops|Call Trace|Kernel panic|UBSAN|KASAN" \
		"|KCSAN|KFENCE|general protection fault|stack segment" \
		"|double fault|unreferenced object|ref_tracker" \
		"|[Ll]eaked reference|refcount_t|unregister_netdevice: waiting" \
		"|rcu.*(stall|detected)|soft lockup|hung_task" \
		"|blocked for more than|scheduling while atomic" \
		"|suspicious RCU|possible (recursive|circular) locking" \
		"|INFO: trying|held lock freed|inconsistent lock state" \
		"|list_(add|del) corruption|Out of memory" \
		"|page allocation failure|Objects remaining" \
		"|kmemleak: Cannot allocate|memory leak detector disabled" \
		"|Attempt to release|aggnet.ko does not load"
}

{
	sub(/\r$/, "")
	last = $0
}

# Messages of the kernel's boot are not the module's.
!start {
	if (/vm: start$/)
		start = NR
	next
}

$0 ~ splats && !found++ { shown = NR + 40 }

NR <= shown

END {
	if (found)
		print found " lines complain; the first is above"
	else if (!NR)
		print "the log is empty"
	else if (!start)
		print "the log has no line 'vm: start'"
	else if (start == 1)
		print "the log has lost what is before 'vm: start'"
	else if (whole && last != "vm: end")
		print "the log ends before 'vm: end'"
	else
		exit 0
	exit 1
}
