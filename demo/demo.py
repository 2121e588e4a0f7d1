"""`make demo`: encrypt a real file, read a range out of it, decrypt it, compare, and show the speed."""

import argparse
import filecmp
import os
import pathlib
import shutil
import subprocess
import sys
import time

import sealane

SEALANE = os.path.join(os.path.dirname(sys.executable), "sealane")


def step(title: str, command: list[str], size: int) -> float:
    """Runs a command, shows it, and returns how long it took."""
    touch_memory(pathlib.Path(".demo"), size)
    shown = " ".join("sealane" if part == SEALANE else part for part in command)
    began = time.perf_counter()
    subprocess.run(command, check=True)
    seconds = time.perf_counter() - began
    print(f"  {title:9} {seconds:6.2f} s  {size / seconds / 1e9:5.2f} GB/s   $ {shown}", flush=True)
    return seconds


def write_noise(path: pathlib.Path, size: int) -> None:
    noise = os.urandom(1 << 22)
    with open(path, "wb", buffering=0) as file:
        for at in range(0, size, len(noise)):
            file.write(at.to_bytes(8) + noise[8 : min(len(noise), size - at)])


def touch_memory(folder: pathlib.Path, size: int) -> None:
    """Writes and removes a file of this size, so that a virtual machine has the memory before the timing."""
    write_noise(folder / "touched", size)
    (folder / "touched").unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", help="the file to encrypt (default: random bytes)")
    parser.add_argument("--size-mib", type=int, default=1024)
    options = parser.parse_args()

    folder = pathlib.Path(".demo")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    plain = pathlib.Path(options.file) if options.file else folder / "plain"
    if not options.file:
        print(f"Writing {options.size_mib} MiB of random bytes to {plain} ...", flush=True)
        write_noise(plain, options.size_mib << 20)
    size = plain.stat().st_size
    key, sealed, back, copy = folder / "key.jwk", folder / "sealed", folder / "back", folder / "copy"
    print(f"sealane {sealane.__version__}, a file of {size / (1 << 20):.0f} MiB, {os.cpu_count()} cores\n")

    subprocess.run([SEALANE, "keygen", "-o", str(key)], check=True)
    cp = step("cp", ["cp", str(plain), str(copy)], size)
    copy.unlink()
    encrypt = step("encrypt", [SEALANE, "encrypt", "-k", str(key), "-o", str(sealed), str(plain)], size)
    decrypt = step("decrypt", [SEALANE, "decrypt", "-k", str(key), "-o", str(back), str(sealed)], size)
    print(f"\n  as fast as cp times: encrypt {cp / encrypt:.2f}, decrypt {cp / decrypt:.2f}", end="")
    print(" (one run; `make bench` has medians)")
    if not filecmp.cmp(plain, back, shallow=False):
        sys.exit("decrypt gave other bytes back")
    print("  the decrypted file equals the original")

    start, end = size // 2, min(size // 2 + 100, size)
    with open(plain, "rb") as file:
        file.seek(start)
        expected = file.read(end - start)
    command = [SEALANE, "cat", "-k", str(key), "--range", f"{start}:{end}", str(sealed)]
    if subprocess.run(command, check=True, capture_output=True).stdout != expected:
        sys.exit("the range is not what the file has there")
    with sealane.open(sealed, "rb", key=sealane.keys.load(key)) as file:
        began = time.perf_counter()
        file.seek(start)
        got = file.read(end - start)
        took = time.perf_counter() - began
    if got != expected:
        sys.exit("the range is not what the file has there")
    print(f"  {end - start} bytes out of the middle, verified: {took * 1e6:.0f} us from Python")

    with open(sealed, "r+b") as file:
        file.seek(sealed.stat().st_size // 2)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))
    back.unlink()
    refused = subprocess.run(
        [SEALANE, "decrypt", "-k", str(key), "-o", str(back), str(sealed)], capture_output=True
    )
    print(f"  one bit changed: exit status {refused.returncode}, {refused.stderr.decode().strip()}")
    if refused.returncode != 1 or back.exists():
        sys.exit("a changed file was not refused")
    shutil.rmtree(folder)
    print("\nNext: README.md, or `sealane --help` in .venv/bin.")


if __name__ == "__main__":
    main()
