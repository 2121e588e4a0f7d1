"""The speed of files for recipients: age files against age, rage and pyrage, and Tink streams against Tink.

Every round runs each command once as a whole process, in a random order; the tables have medians of the
rounds and of the rounds' ratios. The file is in the page cache, and the target is new each time. `cp` shows
the time of reading and writing alone. The peak memory is the kernel's figure for the process, read a hundred
times a second. CPU is the time of all processors.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

from files import Process, measure, sealane_program, timed, write_random

TOOLS = pathlib.Path(__file__).parents[2] / "target" / "tools" / "bin"
# The least factor by which sealane should be faster than the peer.
TARGETS = {"age": 4, "rage": 6, "pyrage": 6, "tink": 5}
MEMORY = 64 << 20

FROM_PYTHON = {
    "sealane encrypt": "sealane.encrypt_file(src, dst, recipients=[key])",
    "sealane decrypt": "sealane.decrypt_file(src, dst, identities=[pathlib.Path(key)])",
    "pyrage encrypt": "pyrage.encrypt_file(src, dst, [pyrage.x25519.Recipient.from_str(key)])",
    "pyrage decrypt": (
        "lines = pathlib.Path(key).read_text().split();"
        "pyrage.decrypt_file(src, dst, [pyrage.x25519.Identity.from_str(lines[-1])])"
    ),
    "sealane tink encrypt": (
        "sealane.encrypt_file(src, dst, key=sealane.keys.Keyring.from_json(pathlib.Path(key).read_text()))"
    ),
    "sealane tink decrypt": (
        "sealane.decrypt_file(src, dst, key=sealane.keys.Keyring.from_json(pathlib.Path(key).read_text()))"
    ),
}

NEW_KEYSET = """
import pathlib, sys, tink
from tink import json_proto_keyset_format, secret_key_access, streaming_aead
streaming_aead.register()
handle = tink.new_keyset_handle(streaming_aead.streaming_aead_key_templates.AES256_GCM_HKDF_1MB)
pathlib.Path(sys.argv[1]).write_text(json_proto_keyset_format.serialize(handle, secret_key_access.TOKEN))
"""

# Copies pieces of one segment through an encrypting or decrypting stream of Tink.
TINK = """
import pathlib, shutil, sys
from tink import json_proto_keyset_format, secret_key_access, streaming_aead
what, key, src, dst = sys.argv[1:]
streaming_aead.register()
handle = json_proto_keyset_format.parse(pathlib.Path(key).read_text(), secret_key_access.TOKEN)
primitive = handle.primitive(streaming_aead.StreamingAead)
source, target = open(src, "rb"), open(dst, "wb")
if what == "encrypt":
    target = primitive.new_encrypting_stream(target, b"")
else:
    source = primitive.new_decrypting_stream(source, b"")
with source, target:
    shutil.copyfileobj(source, target, 1 << 20)
"""


def python(what: str, key: pathlib.Path | str, src: pathlib.Path, dst: pathlib.Path) -> list[str]:
    package = what.split()[0]
    script = f"import pathlib, sys, {package}; key, src, dst = sys.argv[1:]; {FROM_PYTHON[what]}"
    return [sys.executable, "-c", script, str(key), str(src), str(dst)]


def tink(what: str, key: pathlib.Path, src: pathlib.Path, dst: pathlib.Path) -> list[str]:
    return [sys.executable, "-c", TINK, what, str(key), str(src), str(dst)]


def show(
    title: str, processes: dict[str, Process], size: int, ours: list[str], theirs: dict[str, list[str]]
) -> None:
    """Prints each process, and then each of sealane with each peer process of the same direction."""
    print(f"\n{title}\n\n{'command':32} {'median s':>9} {'GB/s':>6} {'CPU s':>7} {'peak MiB':>9}")
    for name, process in processes.items():
        rate, cpu, peak = (
            size / process.median / 1e9,
            statistics.median(process.cpu),
            process.memory / (1 << 20),
        )
        print(f"{name:32} {process.median:9.3f} {rate:6.2f} {cpu:7.3f} {peak:9.1f}")
    print(f"\n{'sealane':32} {'peer':24} {'faster':>7}   target")
    for mine in ours:
        for peer, names in theirs.items():
            for name in names:
                if processes[name].restores == processes[mine].restores:
                    pairs = zip(processes[name].seconds, processes[mine].seconds, strict=True)
                    ratio, least = statistics.median(t / o for t, o in pairs), TARGETS[peer]
                    verdict = "OK" if ratio >= least else "SHORT"
                    print(f"{mine:32} {name:24} {ratio:6.2f}x   >= {least}x: {verdict}")
        peak, limit = processes[mine].memory / (1 << 20), MEMORY >> 20
        print(f"{mine:32} {'':24} {peak:5.1f} MiB   < {limit} MiB: {'OK' if peak < limit else 'SHORT'}")


def age(folder: pathlib.Path, size: int, rounds: int, peers: list[str]) -> None:
    plain, sealed, out, key = (folder / name for name in ("plain", "sealed", "out", "key"))
    write_random(plain, size)
    subprocess.run(["age-keygen", "-o", key], check=True, stderr=subprocess.DEVNULL)
    recipient = subprocess.run(
        ["age-keygen", "-y", key], check=True, capture_output=True, text=True
    ).stdout.strip()
    programs = {"age": "age", "sealane program": sealane_program()}
    rage = shutil.which("rage", path=f"{TOOLS}{os.pathsep}{os.environ['PATH']}")
    if rage is not None and "rage" in peers:
        programs["rage"] = rage
    processes = {"cp": Process(["cp", str(plain), str(out)], restores=True)}
    for name, program in programs.items():
        encrypt, decrypt = (["encrypt"], ["decrypt"]) if name.startswith("sealane") else ([], ["-d"])
        command = [program, *encrypt, "-r", recipient, "-o", str(out), str(plain)]
        processes[f"{name}, encrypt"] = Process(command, restores=False)
        command = [program, *decrypt, "-i", str(key), "-o", str(out), str(sealed)]
        processes[f"{name}, decrypt"] = Process(command, restores=True)
    from_python = (("pyrage", "pyrage"), ("sealane", "sealane from Python")) if "pyrage" in peers else ()
    for name, label in from_python:
        processes[f"{label}, encrypt"] = Process(
            python(f"{name} encrypt", recipient, plain, out), restores=False
        )
        processes[f"{label}, decrypt"] = Process(python(f"{name} decrypt", key, sealed, out), restores=True)
    subprocess.run(["age", "-r", recipient, "-o", sealed, plain], check=True)
    measure(processes, plain, out, rounds)
    measured = [peer for peer in ("age", "rage", "pyrage") if f"{peer}, encrypt" in processes]
    version = subprocess.run(["age", "--version"], check=True, capture_output=True, text=True).stdout.strip()
    show(
        f"age files, X25519, {size / (1 << 30):g} GiB, {rounds} rounds, whole processes (age {version})",
        processes,
        size,
        [name for name in processes if name.startswith("sealane")],
        {peer: [f"{peer}, encrypt", f"{peer}, decrypt"] for peer in measured},
    )
    if rage is None and "rage" in peers:
        print("\nNOT RUN: rage, which `make bench` installs with cargo")


def tink_streams(folder: pathlib.Path, size: int, rounds: int, peers: list[str]) -> None:
    plain, sealed, out, key = (folder / name for name in ("plain", "sealed", "out", "keyset.json"))
    write_random(plain, size)
    timed([sys.executable, "-c", NEW_KEYSET, str(key)])
    processes = {
        "cp": Process(["cp", str(plain), str(out)], restores=True),
        "tink, encrypt": Process(tink("encrypt", key, plain, out), restores=False),
        "sealane from Python, encrypt": Process(
            python("sealane tink encrypt", key, plain, out), restores=False
        ),
        "tink, decrypt": Process(tink("decrypt", key, sealed, out), restores=True),
        "sealane from Python, decrypt": Process(
            python("sealane tink decrypt", key, sealed, out), restores=True
        ),
    }
    timed(tink("encrypt", key, plain, sealed))
    measure(processes, plain, out, rounds)
    show(
        f"Tink's AES256_GCM_HKDF_1MB, {size >> 20} MiB, {rounds} rounds, whole processes",
        processes,
        size,
        [name for name in processes if name.startswith("sealane")],
        {"tink": ["tink, encrypt", "tink, decrypt"]},
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1 << 30, help="bytes of a file (default 1 GiB)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", help="where to write (default: a new folder here)")
    parser.add_argument("--peers", nargs="*", choices=list(TARGETS), default=list(TARGETS))
    options = parser.parse_args()
    if shutil.which("age") is None:
        sys.exit("the program age is not on PATH: apt-get install age")
    for work in (age, tink_streams) if "tink" in options.peers else (age,):
        with tempfile.TemporaryDirectory(dir=options.folder or ".", prefix=".bench-") as name:
            work(pathlib.Path(name), options.size, options.rounds, options.peers)


if __name__ == "__main__":
    main()
