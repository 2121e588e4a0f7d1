"""Files for ``age1pq…``, with a reader and a writer made of primitives of pyca cryptography.

Nothing that pip or Debian 12 installs knows this recipient: age does from 1.3 on, pyrage does not. Its
stanza is one HPKE message (RFC 9180) with the KEM MLKEM768-X25519, which ``cryptography`` 50 has; so that
stands in for them. `tests/golden/age` has files that age 1.3.2 wrote, and `make -C tests age` asks that
program itself.
"""

from __future__ import annotations

import base64
from pathlib import Path

import age_format
import pytest
import sealane
from age_format import CHUNK, from_bech32, to_bech32
from programs import run
from support import pattern

LENGTHS = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, (1 << 20) + 1]


def identity_of(key: sealane.keys.Key) -> str:
    """Returns the line with the secret key, after an optional comment."""
    (line,) = (line for line in key.to_text().splitlines() if line.startswith("AGE-SECRET-KEY-PQ-1"))
    return line


def test_keys() -> None:
    key = sealane.keys.generate("age-pq")
    identity, recipient = identity_of(key), str(key.public)
    assert len(recipient) == 1959
    assert age_format.x_wing_public_bytes(from_bech32(identity)) == from_bech32(recipient)
    assert to_bech32("age1pq", from_bech32(recipient)) == recipient
    again = sealane.keys.Key.from_text(to_bech32("age-secret-key-pq-", from_bech32(identity)).upper())
    assert again.kind == "age-pq"
    assert again.public == key.public


def test_a_seed_gives_the_same_key() -> None:
    """A seed gives the same key in pyca and in sealane."""
    key = sealane.keys.Key.from_text(to_bech32("age-secret-key-pq-", pattern(32)).upper())
    assert str(key.public) == to_bech32("age1pq", age_format.x_wing_public_bytes(pattern(32)))


@pytest.mark.parametrize("armor", [False, True], ids=["binary", "armor"])
@pytest.mark.parametrize("length", LENGTHS)
def test_files(tmp_path: Path, length: int, armor: bool) -> None:
    data, key = pattern(length), sealane.keys.generate("age-pq")
    identity, recipient = identity_of(key), str(key.public)
    theirs = age_format.writes(data, [recipient])
    assert sealane.decrypt(theirs, identities=[identity]) == data
    (tmp_path / "theirs").write_bytes(theirs)
    with sealane.open(tmp_path / "theirs", "rb", identities=[key]) as file:
        file.seek(length // 2)
        assert file.read() == data[length // 2 :]
    ours = sealane.encrypt(data, recipients=[key.public], armor=armor)
    if armor:
        ours = base64.b64decode(b"".join(ours.splitlines()[1:-1]))
    assert age_format.reads(ours, identity) == data


def test_several_recipients() -> None:
    keys = [sealane.keys.generate("age-pq") for _ in range(3)]
    recipients = [str(key.public) for key in keys]
    ours, theirs = sealane.encrypt(b"file", recipients=recipients), age_format.writes(b"file", recipients)
    for key in keys:
        assert age_format.reads(ours, identity_of(key)) == b"file"
        assert sealane.decrypt(theirs, identities=[key]) == b"file"
    with pytest.raises(sealane.NoMatchingKeyError):
        sealane.decrypt(theirs, identities=[sealane.keys.generate("age-pq"), sealane.keys.generate("age")])


def test_rejects_mixing_with_classical_recipients(tmp_path: Path) -> None:
    """A quantum computer that breaks one recipient would decrypt the file."""
    run("age-keygen", "-o", tmp_path / "classical")
    classical = run("age-keygen", "-y", tmp_path / "classical").decode().strip()
    with pytest.raises(ValueError, match="post-quantum"):
        sealane.encrypt(b"file", recipients=[sealane.keys.generate("age-pq").public, classical])
