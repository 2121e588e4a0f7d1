"""The cost of an inventory, of one flipped bit in salvage, and the state of a folder after `--preserve`.

Every round encrypts one folder of many files with and without `--inventory`, each as a whole process, in a
random order. The ratios are those of the medians, of the minima, and the median of the ratios of the rounds.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import tempfile
import time

from files import sealane_program, write_random

GOAL = 1.05
HOLE = 64 << 10


def run(folder: pathlib.Path, *words: str, status: int = 0) -> tuple[float, str]:
    """Returns the time of a command and what it printed."""
    began = time.perf_counter()
    done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True)
    seconds = time.perf_counter() - began
    assert done.returncode == status, done.stderr
    return seconds, done.stdout


def inventory(folder: pathlib.Path, program: str, files: int, size: int, rounds: int) -> None:
    for number in range(files):
        path = folder / "data" / f"{number // 100:03}" / f"file-{number:05}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(size))
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / "sign"], check=True)
    plain = [program, "encrypt", "--recursive", "-q", "-k", "key.jwk", "-o", "vault", "data"]
    ways = {"without": plain, "with": [*plain, "--inventory", "list", "--sign-key", "sign"]}
    times: dict[str, list[float]] = {way: [] for way in ways}
    for number in range(rounds + 1):
        for way in random.sample(list(ways), len(ways)):
            shutil.rmtree(folder / "vault", ignore_errors=True)
            for old in folder.glob("list*"):
                old.unlink()
            os.sync()
            seconds, _ = run(folder, *ways[way])
            if number:
                times[way].append(seconds)
    for way, found in times.items():
        median, least = statistics.median(found), min(found)
        print(f"{way:8} inventory: median {median * 1e3:.0f} ms, minimum {least * 1e3:.0f} ms")
    pairs = [b / a for a, b in zip(times["without"], times["with"], strict=True)]
    ratios = {
        "medians": statistics.median(times["with"]) / statistics.median(times["without"]),
        "minima": min(times["with"]) / min(times["without"]),
        "rounds": statistics.median(pairs),
    }
    print(f"{files} files of {size} bytes, {rounds} rounds:", end=" ")
    print(
        ", ".join(
            f"{name} {ratio:.3f} {'OK' if ratio <= GOAL else 'SHORT'}" for name, ratio in ratios.items()
        )
    )


def salvage(folder: pathlib.Path, program: str, size: int) -> None:
    write_random(folder / "large", size)
    run(folder, program, "encrypt", "-q", "-k", "key.jwk", "-o", "sealed", "large")
    at = random.randrange(56, size)
    with open(folder / "sealed", "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1 << random.randrange(8)]))
    _, said = run(
        folder, program, "decrypt", "--salvage", "--json", "-k", "key.jwk", "-o", "back", "sealed", status=1
    )
    holes = [json.loads(line) for line in said.splitlines() if "hole" in line]
    with open(folder / "large", "rb") as a, open(folder / "back", "rb") as b:
        lost = 0
        while piece := a.read(1 << 14):
            lost += len(piece) if piece != b.read(1 << 14) else 0
    verdict = "OK" if lost <= HOLE else "SHORT"
    print(f"one bit at byte {at} of {size}: {lost} bytes lost {verdict}; said: {holes}")


def preserve(folder: pathlib.Path, program: str) -> None:
    (folder / "data" / "link").symlink_to("000")
    options = ("--recursive", "--preserve", "-q", "-k", "key.jwk")
    run(folder, program, "encrypt", *options, "-o", "kept", "data")
    run(folder, program, "decrypt", *options, "-o", "restored", "kept")
    _, said = run(folder, "rsync", "-a", "--dry-run", "--itemize-changes", "data/", "restored/")
    print(f"rsync after --preserve prints {said!r} {'OK' if not said else 'SHORT'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--large", type=int, default=1 << 30)
    parser.add_argument("--folder", type=pathlib.Path, help="where the files are written")
    options = parser.parse_args()
    program = str(sealane_program())
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = pathlib.Path(name)
        run(folder, program, "keygen", "-q", "-o", "key.jwk")
        inventory(folder, program, options.files, options.size, options.rounds)
        preserve(folder, program)
        salvage(folder, program, options.large)


if __name__ == "__main__":
    main()
