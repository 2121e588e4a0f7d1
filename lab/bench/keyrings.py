"""Keyrings, deterministic encryption, Fernet, files under two keys, Dask under a key service, and rewrapping.

python lab/bench/keyrings.py messages | files [--count N] | kms [--count N] | rewrap [--size BYTES]

Calls of one table alternate. `messages` prints medians in microseconds, of 64 and 1,024 bytes. The key
service of `kms` is that of moto on a loopback port.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sealane
import sealane.fs
from sealane.compat import fernet
from sealane.keys import Keyring

ROUNDS, CALLS = 25, 4000


def medians(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Returns the median time of each call in microseconds, of rounds in which the calls alternate."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(CALLS):
                call()
            times[name].append((time.perf_counter() - start) / CALLS * 1e6)
    return {name: statistics.median(some) for name, some in times.items()}


def show(title: str, rows: dict[str, float], unit: str = "us") -> None:
    print(f"## {title}")
    for name, value in rows.items():
        print(f"{name:42} {value:10.3f} {unit}")


def ring_of(count: int, algorithm: str = "aes-256-gcm") -> Keyring:
    ring = Keyring.generate(algorithm)
    for _ in range(count - 1):
        ring.rotate()
    return ring


def messages(length: int) -> None:
    import tink
    from cryptography import fernet as peer
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV
    from tink import aead, daead, secret_key_access

    aead.register()
    daead.register()
    data = os.urandom(length)
    ring = ring_of(1)
    sealed = sealane.Aead(keyring=ring).seal(data)
    for _ in range(4):
        ring.rotate()
    five = sealane.Aead(keyring=ring)
    key = sealane.generate_key("aes-256-gcm")
    one = sealane.Aead("aes-256-gcm", key)
    own = one.seal(data)
    theirs: Any = tink.new_keyset_handle(aead.aead_key_templates.AES256_GCM).primitive(aead.Aead)
    tinks = theirs.encrypt(data, b"")
    many = peer.MultiFernet([peer.Fernet(peer.Fernet.generate_key()) for _ in range(5)])
    oldest = many._fernets[-1].encrypt(data)
    calls: dict[str, Callable[[], object]] = {
        "open, oldest of 5 keys": lambda: five.open(sealed),
        "open, one key without a ring": lambda: one.open(own),
        "Tink decrypt, one key": lambda: theirs.decrypt(tinks, b""),
        "MultiFernet decrypt, oldest of 5 keys": lambda: many.decrypt(oldest),
    }
    show(f"AES-256-GCM, {length} bytes", medians(calls))

    secret = sealane.generate_key("aes-256-siv")
    siv, ring = sealane.DeterministicAead("aes-256-siv", secret), ring_of(5, "aes-256-siv")
    rings, peers = sealane.DeterministicAead(keyring=ring), AESSIV(secret)
    handle = tink.json_proto_keyset_format.parse(ring.to_json(), secret_key_access.TOKEN)
    theirs = handle.primitive(daead.DeterministicAead)
    ours = siv.encrypt(data, b"column")
    of_ring = rings.encrypt(data, b"column")
    calls = {
        "encrypt": lambda: siv.encrypt(data, b"column"),
        "decrypt": lambda: siv.decrypt(ours, b"column"),
        "encrypt, ring of 5": lambda: rings.encrypt(data, b"column"),
        "decrypt, ring of 5": lambda: rings.decrypt(of_ring, b"column"),
        "encrypt_with_all_keys, ring of 5": lambda: rings.encrypt_with_all_keys(data, b"column"),
        "cryptography encrypt": lambda: peers.encrypt(data, [b"column"]),
        "cryptography decrypt": lambda: peers.decrypt(ours, [b"column"]),
        "Tink encrypt, ring of 5": lambda: theirs.encrypt_deterministically(data, b"column"),
        "Tink decrypt, ring of 5": lambda: theirs.decrypt_deterministically(of_ring, b"column"),
    }
    show(f"AES-SIV, {length} bytes, 6 bytes of associated data", medians(calls))

    token_key = fernet.Fernet.generate_key()
    mine, other = fernet.Fernet(token_key), peer.Fernet(token_key)
    token = mine.encrypt(data)
    calls = {
        "encrypt": lambda: mine.encrypt(data),
        "decrypt": lambda: mine.decrypt(token),
        "cryptography encrypt": lambda: other.encrypt(data),
        "cryptography decrypt": lambda: other.decrypt(token),
    }
    found = medians(calls)
    show(f"Fernet, {length} bytes", found)
    for call in "encrypt", "decrypt":
        print(f"{call}: {found[f'cryptography {call}'] / found[call]:.1f} times as fast")


def files(count: int) -> None:
    """Files of 10 KiB, each other one under the old key."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        ring = Keyring.generate()
        for name in "one", "two", "plain", "out":
            (root / name).mkdir()
        data = os.urandom(10_000)
        before = sealane.encrypt(data, key=ring)
        for number in range(count):
            (root / "one" / f"{number:05}").write_bytes(before)
        ring.rotate()
        after = sealane.encrypt(data, key=ring)
        for number in range(count):
            (root / "two" / f"{number:05}").write_bytes(before if number % 2 else after)
        ring.save(root / "ring.json")

        def state() -> list[tuple[str, int, int]]:
            found = [(path, path.stat()) for path in sorted((root / "two").iterdir())]
            return [(path.name, each.st_mtime_ns, each.st_ino) for path, each in found]

        before_reading = state()
        rows: dict[str, list[float]] = {}
        for _ in range(3):
            for name in "one", "two":
                start = time.perf_counter()
                assert sealane.verify_tree(root / name, key=ring).done == count
                rows.setdefault(f"verify_tree, files under {name} key(s)", []).append(
                    time.perf_counter() - start
                )
                start = time.perf_counter()
                for number in range(count):
                    with sealane.open(root / name / f"{number:05}", key=ring) as file:
                        assert len(file.read()) == len(data)
                rows.setdefault(f"open and read, files under {name} key(s)", []).append(
                    time.perf_counter() - start
                )
        show(f"{count} files of 10 KB", {name: statistics.median(some) for name, some in rows.items()}, "s")
        assert state() == before_reading, "reading changed a file"
        print("no file was written: names, times and inodes are those of before")


def kms(count: int) -> None:
    """A Dask job over files of a dataset on two worker processes. The key service counts its calls."""
    tests = Path(__file__).parents[2]
    sys.path[:0] = [str(tests / "tests" / "datasets"), str(tests / "bindings" / "python" / "tests")]
    import dask.bag
    from distributed import Client, LocalCluster
    from key_services import Aws, decrypts

    service = Aws()
    os.environ.update(service.environment)
    with tempfile.TemporaryDirectory() as folder:
        wrapping_key = service.new_key() + "?context=sales"
        sealane.fs.create_dataset_key(f"{folder}/key.json", wrapping_key=wrapping_key)
        reference = f"{wrapping_key}#{folder}/key.json"
        key = sealane.keys.resolve(reference)
        sealed = sealane.encrypt(b"day,sum\n1,2\n", key=key)
        for number in range(count):
            Path(folder, f"{number:05}.csv").write_bytes(sealed)

        def read(name: str) -> int:
            import fsspec

            fs = fsspec.filesystem("sealane", target_protocol="file", key=reference)
            return len(fs.cat_file(name))

        with (
            LocalCluster(
                n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None
            ) as cluster,
            Client(cluster) as client,
            service.counting() as calls,
        ):
            start = time.perf_counter()
            names = [f"{folder}/{number:05}.csv" for number in range(count)]
            total = client.compute(dask.bag.from_sequence(names, npartitions=200).map(read).sum()).result()
            seconds = time.perf_counter() - start
        assert total == 12 * count
        print(f"{count} files on two workers in {seconds:.1f} s: {decrypts(calls)} calls of Decrypt, {calls}")
    service.close()


def rewrap(size: int) -> None:
    """The program `cp`, and `sealane.rewrap` to another file of the same folder, in turns."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        root = Path(folder)
        alice, bob = sealane.keys.generate("age"), sealane.keys.generate("age")
        with open(root / "plain", "wb") as file:
            for _ in range(size >> 20):
                file.write(os.urandom(1 << 20))
        sealane.encrypt_file(root / "plain", root / "old.age", recipients=[alice.public])
        (root / "plain").unlink()
        times: dict[str, list[float]] = {"cp": [], "rewrap": [], "rewrap, other length of header": []}
        for _ in range(7):
            for name, some in times.items():
                target = root / "new"
                target.unlink(missing_ok=True)
                os.sync()
                start = time.perf_counter()
                if name == "cp":
                    subprocess.run(["cp", root / "old.age", target], check=True)
                else:
                    recipients = [bob.public] + ([alice.public] if "other" in name else [])
                    sealane.rewrap(root / "old.age", target, identities=[alice], recipients=recipients)
                some.append(time.perf_counter() - start)
        found = {name: statistics.median(some) for name, some in times.items()}
        show(
            f"{size >> 20} MiB, from and to the page cache of {shutil.disk_usage(folder).total >> 30} GiB",
            found,
            "s",
        )
        print(f"rewrap / cp: {found['rewrap'] / found['cp']:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["messages", "files", "kms", "rewrap"])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--size", type=int, default=1 << 30)
    asked = parser.parse_args()
    if asked.what == "messages":
        for length in 64, 1024:
            messages(length)
    elif asked.what == "rewrap":
        rewrap(asked.size)
    else:
        {"files": files, "kms": kms}[asked.what](asked.count)


if __name__ == "__main__":
    main()
