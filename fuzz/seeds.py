"""Packs the seeds of a fuzz target into one file and unpacks them: `seeds.py unpack|pack TARGET FOLDER`.

A file `seeds/TARGET.seeds` is a sequence of seeds, ordered by name. Each is a line `NAME LENGTH`, LENGTH
bytes, and a line feed.
"""

import sys
from pathlib import Path

SEEDS = Path(__file__).parent / "seeds"


def read(target: str) -> dict[str, bytes]:
    """Returns the seeds of a target by name; none if it has no file yet."""
    path = SEEDS / f"{target}.seeds"
    packed = path.read_bytes() if path.exists() else b""
    seeds, position = {}, 0
    while position < len(packed):
        line_end = packed.index(b"\n", position)
        name, length = packed[position:line_end].decode().split(" ")
        position = line_end + 1 + int(length)
        seeds[name] = packed[line_end + 1 : position]
        if packed[position : position + 1] != b"\n":
            raise ValueError(f"{path}: no line feed after seed {name}")
        position += 1
    return seeds


def write(target: str, seeds: dict[str, bytes]) -> None:
    """Replaces the seeds of a target."""
    records = (b"%s %d\n%s\n" % (name.encode(), len(seed), seed) for name, seed in sorted(seeds.items()))
    (SEEDS / f"{target}.seeds").write_bytes(b"".join(records))


if __name__ == "__main__":
    command, target, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    if command == "unpack":
        folder.mkdir(parents=True, exist_ok=True)
        for name, seed in read(target).items():
            (folder / name).write_bytes(seed)
    elif command == "pack":
        write(target, {path.name: path.read_bytes() for path in folder.iterdir()})
    else:
        sys.exit(__doc__)
