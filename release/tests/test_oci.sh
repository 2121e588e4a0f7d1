#!/usr/bin/env bash
# Checks an OCI image and runs its program on its root alone:  test_oci.sh IMAGE
#
# A runtime does the same: it compares digests, unpacks the layers and starts the entry point there. Where skopeo and umoci are
# installed they read the image too. Needs root or user namespaces. Nothing of the repository is used.
set -euo pipefail
image=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir image root
tar xf "$image" -C image
for blob in image/blobs/sha256/*; do
	test "$(sha256sum "$blob" | cut -d' ' -f1)" = "${blob##*/}"
done
python3 - <<'END2' >layers
import gzip, hashlib, json, pathlib

image = pathlib.Path("image")


def blob(descriptor):
    content = (image / "blobs" / descriptor["digest"].replace(":", "/")).read_bytes()
    assert len(content) == descriptor["size"], descriptor
    return content


(entry,) = json.loads((image / "index.json").read_bytes())["manifests"]
manifest = json.loads(blob(entry))
config = json.loads(blob(manifest["config"]))
assert config["config"]["Entrypoint"] == ["/sealane"], config
assert config["architecture"] == entry["platform"]["architecture"]
for layer, expected in zip(manifest["layers"], config["rootfs"]["diff_ids"], strict=True):
    content = gzip.decompress(blob(layer))
    assert "sha256:" + hashlib.sha256(content).hexdigest() == expected
    print(layer["digest"].replace(":", "/"))
END2
while read -r layer; do tar xzf "image/blobs/$layer" -C root; done <layers
find root -type f | sort

if [ "$(id -u)" = 0 ]; then start=(chroot root); else start=(unshare --map-root-user --root=root); fi
sealane() { "${start[@]}" /sealane "$@"; }
sealane --version
sealane doctor >report
grep --quiet 'self-test passed' report
echo hello >root/data/text
sealane keygen -o /data/key.jwk
sealane encrypt -k /data/key.jwk -o /data/text.sealed /data/text
sealane decrypt -k /data/key.jwk -o /data/back /data/text.sealed
cmp root/data/text root/data/back
sealane keygen -t age -o /data/me.key >root/data/me.pub
test "$(sealane encrypt -R /data/me.pub <root/data/text | sealane decrypt -i /data/me.key)" = hello

run=()
if command -v skopeo >/dev/null; then
	skopeo inspect oci:image >/dev/null
	run+=(skopeo)
fi
if command -v umoci >/dev/null && [ "$(id -u)" = 0 ]; then
	umoci unpack --image "image:$(sed 's/.*ref.name":"\([^"]*\)".*/\1/' image/index.json)" bundle >/dev/null
	test "$(chroot bundle/rootfs /sealane --version)" = "$(sealane --version)"
	run+=(umoci)
fi
for name in docker podman; do
	if ! "$name" info >/dev/null 2>&1; then
		echo "NOT RUN: $name, which is not installed or has no service here"
		continue
	fi
	id=$("$name" load --quiet --input "$image" | sed 's/.*: //')
	test "$("$name" run --rm "$id" --version)" = "$(sealane --version)"
	run+=("$name")
done
echo "test_oci: the digests are right, and the program runs on its root alone; also read by: ${run[*]:-no other program}"
