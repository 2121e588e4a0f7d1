"""How fast a whole file is encrypted and decrypted, as a ratio to `cp` of the same file in the same run.

Every round times each way once, in turn, as a whole process; the table shows medians of the rounds. The file
is in the page cache, the target is new each time. Before each run as much memory is touched and freed again,
because the host of a virtual machine takes free memory back, and whoever comes first would pay for it.
Peak memory is what the kernel counted for the process, looked at a hundred times a second.
"""

import argparse
import filecmp
import os
import pathlib
import random
import select
import shutil
import statistics
import sys
import tempfile
import time
from typing import NamedTuple

import sealane


class Cost(NamedTuple):
    """What a process took: seconds, KiB at its peak, and seconds of all processors together."""

    seconds: float
    peak: int
    cpu: float


def timed(command: list[str]) -> Cost:
    """Runs a process and waits for its end."""
    began = time.perf_counter()
    child = os.posix_spawnp(command[0], command, os.environ)
    peak, ended, watched = 0, select.poll(), os.pidfd_open(child)
    ended.register(watched, select.POLLIN)
    # Looked up meanwhile: `ru_maxrss` begins at what the parent had, more than some of them ever need.
    while not ended.poll(10):
        peak = max(peak, peak_of(child))
    seconds = time.perf_counter() - began
    os.close(watched)
    _, status, usage = os.wait4(child, 0)
    if status != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return Cost(seconds, peak, usage.ru_utime + usage.ru_stime)


def peak_of(child: int) -> int:
    """`VmHWM` in KiB; 0 when it has just ended."""
    lines = pathlib.Path(f"/proc/{child}/status").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)


def touch_memory(folder: pathlib.Path, size: int) -> None:
    with open(folder / "touched", "wb", buffering=0) as file:
        for _ in range((size >> 22) + 1):
            file.write(bytes(1 << 22))
    (folder / "touched").unlink()


def check(out: pathlib.Path, plain: pathlib.Path | None) -> None:
    if plain is not None and not filecmp.cmp(out, plain, shallow=False):
        sys.exit("other bytes came back")


def whole_files(folder: pathlib.Path, size: int, rounds: int) -> None:
    plain, key = folder / "plain", folder / "key.jwk"
    with open(plain, "wb") as file:
        for _ in range(size >> 20):
            file.write(os.urandom(1 << 20))
    program = shutil.which("sealane", path=os.path.dirname(sys.executable)) or "sealane"
    native = os.environ.get("SEALANE_BINARY", program)
    timed([program, "keygen", "-o", str(key)])
    script = (
        "import sealane, sys; key = sealane.keys.load(sys.argv[2]);"
        "getattr(sealane, sys.argv[1])(sys.argv[3], sys.argv[4], key=key)"
    )
    from_python = [sys.executable, "-c", script]
    sealed, out = str(folder / "sealed"), str(folder / "out")
    ways = {
        "cp": ["cp", str(plain), out],
        "sealane encrypt": [native, "encrypt", "-k", str(key), "-o", out, str(plain)],
        "sealane decrypt": [native, "decrypt", "-k", str(key), "-o", out, sealed],
        "encrypt_file from Python": [*from_python, "encrypt_file", str(key), str(plain), out],
        "decrypt_file from Python": [*from_python, "decrypt_file", str(key), sealed, out],
    }
    timed([native, "encrypt", "-k", str(key), "-o", sealed, str(plain)])
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    memory: dict[str, int] = dict.fromkeys(ways, 0)
    for round_number in range(rounds + 1):
        for way, command in ways.items():
            touch_memory(folder, size)
            took, peak, _ = timed(command)
            if round_number == 0:  # The first one warms the caches, and is looked at.
                check(pathlib.Path(out), plain if "encrypt" not in way else None)
            else:
                seconds[way].append(took)
                memory[way] = max(memory[way], peak)
            os.unlink(out)
    print(f"\nwhole files, {size / (1 << 30):g} GiB, {rounds} rounds in turn, whole processes\n")
    print(f"{'what':26} {'median s':>9} {'GB/s':>6} {'x cp':>6} {'peak MiB':>9}")
    for way in ways:
        median = statistics.median(seconds[way])
        ratio = statistics.median(c / s for c, s in zip(seconds["cp"], seconds[way], strict=True))
        print(f"{way:26} {median:9.3f} {size / median / 1e9:6.2f} {ratio:6.2f} {memory[way] / 1024:9.1f}")


def ranges(folder: pathlib.Path, count: int = 20000) -> None:
    key = sealane.keys.load(folder / "key.jwk")
    with sealane.open(folder / "sealed", "rb", key=key) as file:
        places = [random.randrange(file.size - 4096) for _ in range(count)]
        began = time.perf_counter()
        for place in places:
            file.seek(place)
            file.read(4096)
        each = (time.perf_counter() - began) / count
    print(f"\nseek + read(4096) at {count} random places of that file: {each * 1e6:.1f} us each")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1 << 30, help="bytes (default 1 GiB)")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--folder", help="where to write (default: a new folder here)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder or ".", prefix=".bench-") as name:
        folder = pathlib.Path(name)
        whole_files(folder, options.size, options.rounds)
        ranges(folder)


if __name__ == "__main__":
    main()
