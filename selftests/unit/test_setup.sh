#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Make does not change more than its targets state: "clean" removes nothing
# outside build/, "uninstall" removes what "install" installed, no package of
# set-up needs a kernel, and plain "make" neither installs nor downloads
# anything.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
vm=$top/selftests/vm
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
unset MAKEFLAGS MAKELEVEL MFLAGS
n=0 failed=0

# check NAME COMMAND...: a row, which passes if the command succeeds
check()
{
	local name=$1

	shift
	n=$((n + 1))
	if "$@" > "$tmp/log" 2>&1; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		tail -n 20 "$tmp/log" | sed 's/^/# /'
		failed=$((failed + 1))
	fi
}

# tree DIRECTORY: make a built tree, with other directories beside it
tree()
{
	mkdir -p "$1/selftests" "$1/tools/aggctl" "$1"/build/{unit,cache} \
		"$1"/build/vm/{6.12,run.x} "$1/../build/unit" "$1/kmod"
	cp "$top/Makefile" "$1"
	cp -r "$vm" "$1/selftests"
	touch "$1"/{aggnet.ko,kmod/flow/tree.c} "$1"/build/{unit,cache,vm/6.12}/x \
		"$1/../build/unit/x" "$1/tools/aggctl/aggctl"
}

listing()
{
	(cd "$1" && find . | sort)
}

clean()
{
	tree "$tmp/clean/tree"
	listing "$tmp/clean" | grep -v -e '/build/unit' -e '/run.x' \
		-e '/aggnet.ko' -e '/aggctl/aggctl' > "$tmp/expected"
	listing "$tmp/clean" | grep '^./build/unit' >> "$tmp/expected"
	make -C "$tmp/clean/tree" clean &&
		listing "$tmp/clean" | diff <(sort "$tmp/expected") -
}

distclean()
{
	tree "$tmp/dist/tree"
	listing "$tmp/dist" | grep -v -e '^./tree/build' -e '/aggnet.ko' \
		-e '/aggctl/aggctl' > "$tmp/expected"
	make -C "$tmp/dist/tree" distclean &&
		listing "$tmp/dist" | diff "$tmp/expected" -
}

# With an unquoted path make would remove $tmp/a.
space()
{
	local target

	tree "$tmp/a/x"
	tree "$tmp/a b/tree"
	listing "$tmp" > "$tmp.expected"
	for target in clean distclean all; do
		make -C "$tmp/a b/tree" $target && return 1
	done
	listing "$tmp" | diff "$tmp.expected" - || return
	rm "$tmp.expected"
	make -C "$tmp/a b/tree" clean 2>&1 | grep 'has white space'
}

# installed_nothing: run plain make on a host without the packages
installed_nothing()
{
	local name

	tree "$tmp/plain/tree"
	mkdir "$tmp/bin"
	printf '#!/bin/sh\nexit 1\n' > "$tmp/bin/dpkg-query"
	for name in apt-get apt sudo; do
		printf '#!/bin/sh\ntouch %s\n' "$tmp/called" > "$tmp/bin/$name"
	done
	chmod +x "$tmp"/bin/*
	PATH=$tmp/bin:$PATH make -C "$tmp/plain/tree" > "$tmp/said" 2>&1 &&
		return 1
	cat "$tmp/said"
	grep "apt-get install gcc make" "$tmp/said" && [ ! -e "$tmp/called" ]
}

# apt: make a host that has all packages, with a program in place of apt that
# logs its arguments, and one that provides the contents of packages
apt()
{
	mkdir "$tmp/apt"
	echo 'echo installed' > "$tmp/apt/dpkg-query"
	printf 'echo linux-%s-6.12.9-amd64\n' image headers > "$tmp/apt/apt-cache"
	cat > "$tmp/apt/apt-get" <<-'END'
	echo "$@" >> "$LOG"
	while [ $# -gt 0 ] && [ "$1" != download ]; do
		shift
	done
	[ $# = 0 ] || echo > "$2.deb"
	END
	cat > "$tmp/apt/dpkg-deb" <<-'END'
	case $1-$2 in
	-f-*) echo linux-headers-6.12.9-common, linux-kbuild-6.12.9 ;;
	-x-*/linux-image-*)
		mkdir -p "$3/boot" "$3/lib/modules/6.12.9-amd64/kernel"
		touch "$3/boot/vmlinuz-6.12.9-amd64" \
			"$3/boot/config-6.12.9-amd64" \
			"$3/lib/modules/6.12.9-amd64/modules.builtin" \
			"$3/lib/modules/6.12.9-amd64/modules.order" ;;
	-x-*/linux-headers-*-amd64.deb)
		kernel=$3/usr/src/linux-headers-6.12.9-amd64
		mkdir -p "$kernel/include/generated"
		printf '\nmodules:\n\ttouch $(M)/aggnet.ko\n' > "$kernel/Makefile"
		echo '#define UTS_RELEASE "6.12.9-amd64"' \
			> "$kernel/include/generated/utsrelease.h" ;;
	esac
	END
	echo 'exec "$@"' > "$tmp/apt/sudo"
	sed -i '1i #!/bin/sh' "$tmp"/apt/*
	chmod +x "$tmp"/apt/*
}

# with_apt TREE TARGET: run make on it, without headers of the running kernel
with_apt()
{
	rm -f "$tmp/asked"
	LOG=$tmp/asked PATH=$tmp/apt:$PATH AGGNET_CACHE=$1/build/cache \
		make -C "$1" "$2" KDIR= > "$tmp/said" 2>&1
}

# downloaded PACKAGE...: apt has downloaded exactly these
downloaded()
{
	sed -n 's/.* download //p' "$tmp/asked" | diff - <(printf '%s\n' "$@")
}

# The tree has no headers, and neither has the host.
fetched_nothing()
{
	tree "$tmp/fetch/tree"
	! with_apt "$tmp/fetch/tree" modules || return
	cat "$tmp/said"
	[ ! -e "$tmp/asked" ] && grep 'make headers' "$tmp/said"
}

fetched_headers()
{
	with_apt "$tmp/fetch/tree" headers || { cat "$tmp/said"; return 1; }
	downloaded linux-headers-6.12.9-amd64 linux-headers-6.12.9-common \
		linux-kbuild-6.12.9
}

# The tree has the headers that make headers has downloaded.
said_kernel()
{
	with_apt "$tmp/fetch/tree" modules || { cat "$tmp/said"; return 1; }
	cat "$tmp/said"
	[ ! -e "$tmp/asked" ] &&
		grep 'no headers of the running kernel' "$tmp/said" &&
		grep 'built aggnet.ko for kernel 6.12.9-amd64' "$tmp/said"
}

# The build ends at the tools, whose sources this tree does not have.
fetched_one_kernel()
{
	tree "$tmp/demo/tree"
	! with_apt "$tmp/demo/tree" demo || return
	cat "$tmp/said"
	downloaded linux-image-6.12.9-amd64 linux-headers-6.12.9-amd64 \
		linux-headers-6.12.9-common linux-kbuild-6.12.9 &&
		! grep install "$tmp/asked" &&
		[ -e "$tmp/demo/tree/build/vm/6.12/vmlinuz" ]
}

# make tools does not ask for packages of kernels and modules.
tools_alone()
{
	PATH=$tmp/bin:$PATH make -C "$tmp/plain/tree" tools > "$tmp/said" 2>&1 &&
		return 1
	cat "$tmp/said"
	grep "apt-get install gcc make" "$tmp/said" &&
		grep libjansson-dev "$tmp/said" && ! grep flex "$tmp/said"
}

# Another distribution may have all that the build needs.
without_dpkg()
{
	cp -rs /usr/bin "$tmp/nodpkg"
	rm "$tmp"/nodpkg/dpkg*
	PATH=$tmp/nodpkg "$tmp/plain/tree/selftests/vm/setup.sh" check-modules \
		check-tools 2> "$tmp/said" || return
	cat "$tmp/said"
	grep 'no dpkg: .*flex' "$tmp/said" && grep libjansson-dev "$tmp/said"
}

# Tools and modules are installed, for the running kernel and for another one.
without_headers()
{
	local root=$tmp/bare release

	for release in "$(uname -r)" 0.0-other; do
		mkdir -p "$root/lib/modules/$release/updates"
		touch "$root/lib/modules/$release/updates/aggnet.ko"
	done
	mkdir -p "$root"/usr/{bin,lib/pkgconfig,share/man/man3}
	touch "$root"/usr/{bin/aggctl,lib/libaggnet.a,share/man/man3/libaggnet.3}
	make -s -C "$top" uninstall KDIR= PREFIX=/usr DESTDIR="$root" \
		2> "$tmp/said" || { cat "$tmp/said"; return 1; }
	cat "$tmp/said"
	find "$root" ! -type d ! -name 'modules.*' > "$tmp/left"
	diff "$tmp/left" - <<< "$root/lib/modules/0.0-other/updates/aggnet.ko" &&
		grep "left $root/lib/modules/0.0-other" "$tmp/said"
}

# uninstalled PART DIRECTORY: no file is left after install and uninstall
uninstalled()
{
	local target

	for target in install uninstall; do
		make -s -C "$top/tools/$1" O="$2" DESTDIR="$tmp/root" $target ||
			return
		[ $target = uninstall ] || find "$tmp/root" ! -type d |
			grep . || return
	done
	! find "$tmp/root" ! -type d | grep .
}

# Only depmod's files are left.
module_uninstalled()
{
	local kdir

	kdir=$("$vm/module.sh" kdir "${KERNELS##* }") &&
		"$vm/module.sh" install "$kdir" "$tmp/mod" &&
		find "$tmp/mod" -name aggnet.ko | grep . &&
		"$vm/module.sh" uninstall "$kdir" "$tmp/mod" &&
		! find "$tmp/mod" ! -type d ! -name 'modules.*' | grep .
}

# simulated PACKAGE...: print what apt would install on a host without packages
simulated()
{
	: > "$tmp/status"
	apt-get -s -q -o Dir::State::status="$tmp/status" \
		--no-install-recommends install "$@" > "$tmp/inst" 2>&1 || {
		cat "$tmp/inst"
		return 1
	}
	grep '^Inst' "$tmp/inst"
}

# shellcheck disable=SC2046 # words
no_kernel()
{
	simulated $("$vm/setup.sh" list) > "$tmp/list" || {
		cat "$tmp/list"
		return 1
	}
	! grep -E '^Inst linux-(image|headers|modules)' "$tmp/list"
}

# The same test finds a kernel if there is one.
kernel_found()
{
	simulated linux-image-amd64 | grep '^Inst linux-image'
}

KERNELS=${KERNELS:-6.1 6.12}
echo 1..18
check "clean removes only what was built" clean
check "distclean removes only build/" distclean
check "a path with a space is refused" space
check "plain make installs no package" installed_nothing
apt
check "plain make without headers fetches nothing" fetched_nothing
check "make headers fetches no kernel" fetched_headers
check "make prints for which kernel it builds" said_kernel
check "make demo fetches one kernel and no source" fetched_one_kernel
check "make tools asks only for packages that tools need" tools_alone
check "make does not refuse a host without dpkg" without_dpkg
check "libaggnet can be uninstalled" uninstalled libaggnet \
	"$top/build/tools/libaggnet"
check "libaggtree can be uninstalled" uninstalled libaggtree \
	"$top/build/tools/libaggtree"
check "aggctl can be uninstalled" uninstalled aggctl "$top/build/tools"
check "the Python package can be uninstalled" uninstalled python .
check "the module can be uninstalled" module_uninstalled
check "without headers uninstall names what it leaves" without_headers
check "no package of set-up needs a kernel" no_kernel
check "the previous test finds a kernel where there is one" kernel_found
[ $failed = 0 ]
