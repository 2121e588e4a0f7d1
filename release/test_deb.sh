#!/bin/sh
# Installs a Debian package in a new system, uses the program, removes the package and looks for
# files that it left:
#     test_deb.sh PACKAGE [FOLDER OF THE SYSTEM]
# Needs root and debootstrap.
set -eu
package=$(realpath "$1") root=${2:-$(dirname "$0")/../target/debian}
if [ ! -x "$root/usr/bin/dpkg" ]; then
	debootstrap --variant=minbase bookworm "$root"
fi
cp "$package" "$root/tmp/sealane.deb"

files() { # everything but the temporary files and the database of packages
	(cd "$root" && find . -xdev \( -path ./tmp -o -path ./proc -o -path ./sys -o -path ./dev -o -path ./var/lib/dpkg -o -path ./var/log \
		-o -path ./var/cache -o -path ./root \) -prune -o -print | sort)
}
files >"$root/tmp/before"
# The package names no library that a minimal system lacks.
chroot "$root" dpkg --install /tmp/sealane.deb
chroot "$root" dpkg --listfiles sealane
# A minimal system may refuse manual pages, so we look for them in the package: one per command.
chroot "$root" sealane man /tmp/man1
pages=$(dpkg-deb --contents "$package" | grep -c '/usr/share/man/man1/sealane.*\.1\.gz$')
test "$pages" -eq "$(find "$root/tmp/man1" -name '*.1' | wc -l)"
chroot "$root" sh -euc '
	cd /tmp
	sealane --version
	sealane keygen -o key.jwk
	sealane encrypt -k key.jwk -o os.sealed /etc/os-release
	sealane decrypt -k key.jwk -o os.opened os.sealed
	cmp os.opened /etc/os-release
	sealane doctor key.jwk
	test -s /usr/share/bash-completion/completions/sealane
	test -s /usr/share/zsh/vendor-completions/_sealane
	test -s /usr/share/fish/vendor_completions.d/sealane.fish
	rm key.jwk os.sealed os.opened
'
chroot "$root" dpkg --purge sealane
files >"$root/tmp/after"
cmp "$root/tmp/before" "$root/tmp/after"
echo "test_deb: installed, used and removed; no file is left"
