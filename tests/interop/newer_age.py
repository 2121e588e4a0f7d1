"""The program age knows ``age1pq…`` from 1.3 on.

No package of Debian 12 has it: `make -C tests age` builds it and runs this.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import sealane
from programs import refused, run
from support import pattern

CHUNK = 65536


@pytest.mark.parametrize("armor", [False, True], ids=["binary", "armor"])
@pytest.mark.parametrize("length", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, (1 << 20) + 1])
def test_files(tmp_path: Path, length: int, armor: bool) -> None:
    data, options = pattern(length), ["-a"] if armor else []
    run("age-keygen", "-pq", "-o", tmp_path / "theirs")
    ours = sealane.keys.generate("age-pq")
    assert ours.public is not None
    ours.save(tmp_path / "ours")
    ours.public.save(tmp_path / "ours.pub")
    theirs = sealane.keys.load(tmp_path / "theirs")
    assert theirs.kind == "age-pq"
    for name, key in (("theirs", theirs), ("ours", ours)):
        recipient = run("age-keygen", "-y", tmp_path / name).decode().strip()
        assert recipient == str(key.public)
        sealed = run("age", *options, "-r", recipient, stdin=data)
        assert sealane.decrypt(sealed, identities=[tmp_path / name]) == data
        sealed = sealane.encrypt(data, recipients=[recipient], armor=armor)
        assert run("age", "-d", "-i", tmp_path / name, stdin=sealed) == data
    sealed = run("age", "-R", tmp_path / "ours.pub", stdin=data)
    assert sealane.decrypt(sealed, identities=[ours]) == data


def test_several_recipients(tmp_path: Path) -> None:
    keys = [sealane.keys.generate("age-pq") for _ in range(3)]
    theirs = run("age", *(argument for key in keys for argument in ("-r", str(key.public))), stdin=b"file")
    ours = sealane.encrypt(b"file", recipients=[str(key.public) for key in keys])
    for number, key in enumerate(keys):
        key.save(tmp_path / str(number))
        assert sealane.decrypt(theirs, identities=[key]) == b"file"
        assert run("age", "-d", "-i", tmp_path / str(number), stdin=ours) == b"file"
    run("age-keygen", "-pq", "-o", tmp_path / "other")
    assert "no identity matched" in refused("age", "-d", "-i", tmp_path / "other", stdin=ours)


def test_both_reject_mixed_recipients(tmp_path: Path) -> None:
    run("age-keygen", "-o", tmp_path / "classical")
    classical = run("age-keygen", "-y", tmp_path / "classical").decode().strip()
    quantum = str(sealane.keys.generate("age-pq").public)
    refused("age", "-r", classical, "-r", quantum, stdin=b"file")
    with pytest.raises(ValueError, match="post-quantum"):
        sealane.encrypt(b"file", recipients=[classical, quantum])
