#!/bin/sh
# Installs a Debian package in this system, uses the program, removes the package and looks for files that it left:
#     fresh.sh bookworm-amd64 "" test_deb.sh PACKAGE
# Needs root, and a system that may be changed: fresh.sh makes one.
set -eu
package=$1
[ "$(dirname "$0")" = /given ] || { echo "test_deb: changes the system, so run it with fresh.sh" >&2 && exit 2; }

files() { # everything but the temporary files and the database of packages
	(cd / && find . -xdev \( -path ./tmp -o -path ./proc -o -path ./dev -o -path ./given -o -path ./var/lib/dpkg -o -path ./var/log \
		-o -path ./var/cache -o -path ./root \) -prune -o -print | sort)
}
files >/tmp/before
# The package names no library that a minimal system lacks.
dpkg --install "$package"
dpkg --listfiles sealane
cd /tmp
# A minimal system may refuse manual pages, so we look for them in the package: one per command.
sealane man man1
pages=$(dpkg-deb --contents "$package" | grep -c '/usr/share/man/man1/sealane.*\.1\.gz$')
test "$pages" -eq "$(find man1 -name '*.1' | wc -l)"
sealane --version
sealane keygen -o key.jwk
sealane encrypt -k key.jwk -o os.sealed /etc/os-release
sealane decrypt -k key.jwk -o os.opened os.sealed
cmp os.opened /etc/os-release
sealane doctor key.jwk
test -s /usr/share/bash-completion/completions/sealane
test -s /usr/share/zsh/vendor-completions/_sealane
test -s /usr/share/fish/vendor_completions.d/sealane.fish
dpkg --purge sealane
files >/tmp/after
cmp /tmp/before /tmp/after
echo "test_deb: installed, used and removed; no file is left"
