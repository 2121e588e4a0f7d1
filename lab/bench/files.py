"""The speed of encrypting and decrypting a whole file, as a ratio to `cp` of the same file in the same run.

Every round runs each command once as a whole process, in a random order, after one round that warms the
caches; the table has medians of the rounds. The CPU time is that of all processors together, with the
kernel's. The file is in the page cache, and the target is new each time. Before each run, memory of the
file's size is touched and freed, because the host of a virtual machine takes free memory back, and the next
process would pay for that; and what waits for the disk is written, because the kernel slows down a process
that writes while too much waits. The peak memory is the kernel's figure for the process, read a hundred
times a second.
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
from dataclasses import dataclass, field
from typing import NamedTuple

import sealane


class Cost(NamedTuple):
    """The cost of a process: seconds, KiB at its peak, and seconds of all processors together."""

    seconds: float
    peak: int
    cpu: float


def timed(command: list[str]) -> Cost:
    """Runs a process to its end."""
    began = time.perf_counter()
    child = os.posix_spawnp(command[0], command, os.environ)
    peak, ended, watched = 0, select.poll(), os.pidfd_open(child)
    ended.register(watched, select.POLLIN)
    # `ru_maxrss` cannot be used: it starts with the memory of the parent, more than some commands
    # ever need.
    while not ended.poll(10):
        peak = max(peak, peak_of(child))
    seconds = time.perf_counter() - began
    os.close(watched)
    _, status, usage = os.wait4(child, 0)
    if status != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return Cost(seconds, peak, usage.ru_utime + usage.ru_stime)


def peak_of(child: int) -> int:
    """Returns `VmHWM` in KiB, or 0 if the process has just ended."""
    lines = pathlib.Path(f"/proc/{child}/status").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)


def touch_memory(folder: pathlib.Path, size: int) -> None:
    with open(folder / "touched", "wb", buffering=0) as file:
        for _ in range((size >> 22) + 1):
            file.write(bytes(1 << 22))
    (folder / "touched").unlink()


@dataclass
class Process:
    """A command and its measurements. ``restores`` is True if its output has to equal the plain file."""

    command: list[str]
    restores: bool
    seconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    memory: int = 0

    @property
    def median(self) -> float:
        """Median seconds."""
        return statistics.median(self.seconds)

    @property
    def cpu_median(self) -> float:
        """Median seconds of all processors together."""
        return statistics.median(self.cpu)


def measure(processes: dict[str, Process], plain: pathlib.Path, out: pathlib.Path, rounds: int) -> None:
    """Runs every process once per round."""
    for number in range(rounds + 1):
        # The order is random, because a process slows down the one that follows it.
        for process in random.sample(list(processes.values()), len(processes)):
            os.sync()
            touch_memory(plain.parent, plain.stat().st_size)
            took, peak, cpu = timed(process.command)
            if number == 0:  # The first round warms the caches, and its outputs are checked.
                if process.restores and not filecmp.cmp(out, plain, shallow=False):
                    sys.exit(f"other bytes came back from {' '.join(process.command)}")
            else:
                process.seconds.append(took)
                process.cpu.append(cpu)
                process.memory = max(process.memory, peak << 10)
            out.unlink()


def write_random(path: pathlib.Path, size: int) -> None:
    """Writes a file of random bytes."""
    with open(path, "wb") as file:
        for _ in range(size >> 20):
            file.write(os.urandom(1 << 20))


def sealane_program() -> str:
    """Returns the program to measure: SEALANE_BINARY, or the one next to this Python."""
    installed = shutil.which("sealane", path=os.path.dirname(sys.executable)) or "sealane"
    return os.environ.get("SEALANE_BINARY", installed)


def whole_files(folder: pathlib.Path, size: int, rounds: int) -> None:
    plain, key, out = folder / "plain", folder / "key.jwk", folder / "out"
    write_random(plain, size)
    native = sealane_program()
    timed([native, "keygen", "-o", str(key)])
    script = (
        "import sealane, sys; key = sealane.keys.load(sys.argv[2]);"
        "getattr(sealane, sys.argv[1])(sys.argv[3], sys.argv[4], key=key)"
    )
    from_python = [sys.executable, "-c", script]
    sealed, target = str(folder / "sealed"), str(out)
    commands = {
        "cp": ["cp", str(plain), target],
        # Reading alone; the target is made because each command has one.
        "cat": ["sh", "-c", 'cat "$0" > /dev/null; : > "$1"', str(plain), target],
        "sealane encrypt": [native, "encrypt", "-k", str(key), "-o", target, str(plain)],
        "sealane decrypt": [native, "decrypt", "-k", str(key), "-o", target, sealed],
        "encrypt_file from Python": [*from_python, "encrypt_file", str(key), str(plain), target],
        "decrypt_file from Python": [*from_python, "decrypt_file", str(key), sealed, target],
    }
    processes = {
        name: Process(command, restores="encrypt" not in name and name != "cat")
        for name, command in commands.items()
    }
    timed([native, "encrypt", "-k", str(key), "-o", sealed, str(plain)])
    measure(processes, plain, out, rounds)
    print(f"\nwhole files, {size / (1 << 30):g} GiB, {rounds} interleaved rounds, whole processes\n")
    columns = f"{'median s':>9} {'GB/s':>6} {'x cp':>6} {'CPU s':>7} {'CPU ps/B':>9} {'CPU x cp':>9}"
    print(f"{'command':26} {columns} {'peak MiB':>9}")
    for name, one in processes.items():
        ratio = statistics.median(c / s for c, s in zip(processes["cp"].seconds, one.seconds, strict=True))
        rate, peak = size / one.median / 1e9, one.memory / (1 << 20)
        cpu, per_byte = one.cpu_median, one.cpu_median / size * 1e12
        figures = f"{one.median:9.3f} {rate:6.2f} {ratio:6.2f} {cpu:7.3f} {per_byte:9.0f}"
        print(f"{name:26} {figures} {cpu / processes['cp'].cpu_median:9.2f} {peak:9.1f}")


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
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--folder", help="where to write (default: a new folder here)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder or ".", prefix=".bench-") as name:
        folder = pathlib.Path(name)
        whole_files(folder, options.size, options.rounds)
        ranges(folder)


if __name__ == "__main__":
    main()
