#!/usr/bin/env bash
# Runs a script in a new Debian system that has nothing of the repository but the script and the files named:
#     fresh.sh SUITE-ARCHITECTURE PACKAGES SCRIPT FILE...
# PACKAGES are installed in it before, such as "gcc make". Another processor than this machine's is emulated. What is written is
# lost at the end. Needs root, debootstrap, and for another processor qemu-user-static. SYSTEMS is a folder for the systems.
set -euo pipefail
system=$1 packages=$2 script=$3
shift 3
for file; do
	[ -e "$file" ] || { echo "NOT RUN: $(basename "$script") in $system: there is no $file" && exit 0; }
done
suite=${system%-*} architecture=${system#*-}
for tool in debootstrap chroot unshare; do command -v "$tool" >/dev/null || { echo "fresh.sh needs $tool" >&2 && exit 1; }; done
if [ "$architecture" != "$(dpkg --print-architecture)" ]; then
	test -e /usr/bin/qemu-aarch64-static || { echo "fresh.sh: $system needs qemu-user-static" >&2 && exit 1; }
	# The kernel starts the emulator for the system's programs; the system itself does not contain it.
	registered=/proc/sys/fs/binfmt_misc
	test -e $registered/register || mount -t binfmt_misc none $registered
	test -e $registered/qemu-aarch64 || cat /usr/lib/binfmt.d/qemu-aarch64.conf >$registered/register
fi
base=${SYSTEMS:-$(dirname "$0")/../target/fresh}
mkdir -p "$base"
base=$(realpath "$base")
if [ ! -e "$base/$system.complete" ]; then
	rm -rf "${base:?}/$system"
	unshare --mount --propagation private debootstrap --arch="$architecture" --variant=minbase "$suite" "$base/$system" >"$base/$system.log"
	touch "$base/$system.complete"
fi
work=$(mktemp -d)
trap 'rmdir "$work"' EXIT
export work base system packages script
# In its own name space, so that nothing stays mounted.
unshare --mount --propagation private bash -euo pipefail -s "$@" <<'END2' || status=$?
mount -t tmpfs -o size=3g none "$work"
mkdir "$work"/{upper,more,root}
mount -t overlay none -o "lowerdir=$base/$system,upperdir=$work/upper,workdir=$work/more" "$work/root"
mount -t proc none "$work/root/proc"
mount --bind /dev "$work/root/dev"
cp /etc/resolv.conf "$work/root/etc/"
mkdir "$work/root/given"
cp "$script" "$work/root/given/"
files=()
for file; do
	cp -r "$file" "$work/root/given/"
	files+=("/given/$(basename "$file")")
done
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 HOME=/root
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
if [ -n "$packages" ]; then
	# shellcheck disable=SC2086 # one word per package
	chroot "$work/root" sh -ec 'apt-get update -qq; apt-get install -qqy --no-install-recommends "$@" >/tmp/apt.log 2>&1 || { tail /tmp/apt.log; exit 1; }' sh $packages </dev/null
fi
chroot "$work/root" "/given/$(basename "$script")" "${files[@]}" </dev/null
END2
[ "${status-0}" = 0 ] || { echo "fresh.sh: $(basename "$script") failed in $system" >&2 && exit 1; }
echo "fresh.sh: $(basename "$script") passed in $system with ${packages:-no more package}"
