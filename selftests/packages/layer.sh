#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Installs the Debian packages on a copy of this host, and prints the directory that has
# what this adds to the host's root: a guest has it on top of that root (run.sh, VM_LAYER).
# It is made again only if the tree or a kernel has changed.
#
# dpkg, the packages' scripts and DKMS run on this host's CPU. An emulated CPU, which needs
# a fifth of a second to start a program, would need minutes for each machine and each boot.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

LAYER=$BUILD/packages/layer

# digest: of all that decides what is installed; the packages have no tests
digest()
{
	{
		(cd "$TOP" && git ls-files -co --exclude-standard -z -- ':!selftests' |
			xargs -0 sha256sum)
		cat "$0" "$(dirname "$0")/lib.sh"
		for kernel in $KERNELS; do
			kernel_release "$kernel"
		done
	} | sha256sum
}

# kernels: those of the guests, with their headers, as a server has them
kernels()
{
	local kernel rel tree

	for kernel in $KERNELS; do
		rel=$(kernel_release "$kernel")
		tree=$ROOT/lib/modules/$rel
		mkdir -p "$tree"
		cp -r "$BUILD/vm/$kernel/lib/modules/$rel"/{kernel,modules.*} "$tree"
		ln -s "$(kernel_kdir "$kernel")" "$tree/build"
	done
	# These headers have links to others by the host's path.
	mkdir -p "$ROOT$BUILD"
	mount --bind "$BUILD" "$ROOT$BUILD"
	sed -i '/autoinstall_all_kernels/d' "$ROOT/etc/dkms/framework.conf"
	echo 'autoinstall_all_kernels="yes"' >> "$ROOT/etc/dkms/framework.conf"
}

# save: keep what was written, and share the kernels' own modules
save()
{
	local kernel rel

	for kernel in $KERNELS; do
		rel=$(kernel_release "$kernel")
		rm -r "$TMP/tmpfs/upper/usr/lib/modules/$rel/kernel"
	done
	cp -a "$TMP/tmpfs/upper" "$LAYER"
	for kernel in $KERNELS; do
		rel=$(kernel_release "$kernel")
		cp -al "$BUILD/vm/$kernel/lib/modules/$rel/kernel" \
			"$LAYER/usr/lib/modules/$rel"
	done
}

make_layer()
{
	say "building the packages and installing them on a copy of this host (two minutes)"
	packages "$TMP"
	overlays "$TMP"
	host_copy "$TMP"
	kernels
	inside sh -c 'dpkg -i /tmp/debs/*.deb && dpkg --audit'
	for kernel in $KERNELS; do
		ls "$ROOT/lib/modules/$(kernel_release "$kernel")/updates/dkms/aggnet.ko"
	done
	rm -rf "$LAYER" "$LAYER.digest"
	save
	digest > "$LAYER.digest"
}

if [ -z "${LAYER_INSIDE:-}" ]; then
	mkdir -p "${LAYER%/*}"
	LAYER_INSIDE=1 exec flock "${LAYER%/*}" unshare --mount --propagation private "$0"
fi
if ! digest | cmp -s - "$LAYER.digest"; then
	TMP=$(mktemp -d)
	trap 'umount -R -l "$TMP/root" "$TMP/tmpfs" 2> /dev/null || :
		rm -rf --one-file-system "$TMP"' EXIT
	make_layer > "$LAYER.log" 2>&1 < /dev/null || {
		tail -n 40 "$LAYER.log" >&2
		die "the packages cannot be installed"
	}
fi
echo "$LAYER"
