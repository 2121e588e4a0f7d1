#!/usr/bin/env bash
# Makes an OCI image of a static program, in which there is nothing else but its licences:  oci.sh PROGRAM DESTINATION
#
# The image is an archive of an OCI layout, which docker, podman and skopeo load. No other program than tar, gzip and sha256sum is
# needed, and equal programs give equal bytes.
set -euo pipefail
program=$(realpath "$1")
mkdir -p "$2"
to=$(realpath "$2")
cd "$(dirname "$0")/.."
source release/pack.sh
if readelf --program-headers "$program" | grep --quiet INTERP; then
	echo "oci.sh: $program needs a loader, expected a static program" >&2
	exit 1
fi
field() { sed -n "s/^$1 = \"\(.*\)\".*/\1/p" Cargo.toml | head -1; }
version=$(field version)
case $(readelf --file-header "$program") in
*X86-64*) architecture=amd64 ;;
*AArch64*) architecture=arm64 ;;
*) echo "oci.sh: $program is for another processor than x86-64 and AArch64" >&2 && exit 1 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
blobs=$work/image/blobs/sha256
mkdir -p "$blobs" "$work/root/licenses" "$work/root/data"
digest() { sha256sum | cut -d' ' -f1; }
descriptor() { # descriptor TYPE FILE [MORE]: moves the file to its place and prints what refers to it
	local hash
	hash=$(digest <"$2")
	printf '{"mediaType":"application/vnd.oci.image.%s","digest":"sha256:%s","size":%d%s}' "$1" "$hash" "$(stat -c %s "$2")" "${3:-}"
	mv "$2" "$blobs/$hash"
}

install -m 755 "$program" "$work/root/sealane"
strip "$work/root/sealane" 2>/dev/null || true # one for another processor was stripped by its linker
cp LICENSE-APACHE LICENSE-MIT "$work/root/licenses/"
chmod 1777 "$work/root/data" # the folder of work, also for another user than root
archive "$work/root" . "$work/layer"
content=$(gunzip <"$work/layer" | digest)
layer=$(descriptor layer.v1.tar+gzip "$work/layer")
cat >"$work/config" <<END2
{"architecture":"$architecture","os":"linux","created":"$(date -u -d "@$(git log -1 --format=%ct)" +%Y-%m-%dT%H:%M:%SZ)",
"config":{"Entrypoint":["/sealane"],"Cmd":["--help"],"WorkingDir":"/data","Labels":{"org.opencontainers.image.version":"$version",
"org.opencontainers.image.source":"$(field repository)","org.opencontainers.image.licenses":"$(field license)"}},
"rootfs":{"type":"layers","diff_ids":["sha256:$content"]}}
END2
config=$(descriptor config.v1+json "$work/config")
printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":%s,"layers":[%s]}' "$config" "$layer" >"$work/manifest"
manifest=$(descriptor manifest.v1+json "$work/manifest" \
	",\"platform\":{\"architecture\":\"$architecture\",\"os\":\"linux\"},\"annotations\":{\"org.opencontainers.image.ref.name\":\"$version\"}")
printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[%s]}' "$manifest" >"$work/image/index.json"
printf '{"imageLayoutVersion":"1.0.0"}' >"$work/image/oci-layout"
image=$to/sealane-oci-$version-$architecture.tar.gz
archive "$work/image" . "$image"
ls -l "$image"
size=$(stat -c %s "$image")
# An unoptimised program is larger.
[ -n "${FAST-}" ] || test "$size" -lt 15000000 || { echo "oci.sh: the image has $size bytes, expected less than 15 MB" >&2 && exit 1; }
