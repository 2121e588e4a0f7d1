"""Plugins of age 1.3: ``age-plugin-batchpass`` for passphrases, ``age-plugin-tagtest`` for tagged keys.

No package of Debian 12 has them: `make -C tests age` builds them and runs this.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import sealane
from programs import refused, run

DATA = b"attack at dawn"
# The recipients of age-plugin-tagtest, whose private keys are in its source code.
TAG = "age1tag1qwe0kafsjrar4txm6heqnhpfuggzr0gvznz7fvygxrlq90u5mq2pysxtw6h"


@pytest.fixture(autouse=True)
def enabled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AGE_PASSPHRASE", "correct horse battery staple")
    monkeypatch.setenv("AGE_PASSPHRASE_WORK_FACTOR", "10")
    sealane.plugins.enable()
    yield
    sealane.plugins.disable()


def program(*arguments: str | Path) -> None:
    done = subprocess.run([sys.executable, "-m", "sealane", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_batchpass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = sealane.plugins.identity("batchpass")
    plain, sealed, back = tmp_path / "plain", tmp_path / "sealed", tmp_path / "back"
    plain.write_bytes(DATA)
    program("-e", "-j", "batchpass", "-o", sealed, plain)
    assert sealane.inspect(sealed).recipients == ["scrypt"]
    program("-d", "-j", "batchpass", "-o", back, sealed)
    assert back.read_bytes() == DATA
    theirs = run("age", "-e", "-j", "batchpass", stdin=DATA)
    for file in theirs, sealed.read_bytes(), sealane.encrypt(DATA, recipients=[plugin]):
        assert sealane.decrypt(file, identities=[plugin]) == DATA
        assert sealane.decrypt(file, passphrase="correct horse battery staple") == DATA
        assert run("age", "-d", "-j", "batchpass", stdin=file) == DATA
    # The stanza of a passphrase has a label of its own, so nothing is combined with it.
    other = sealane.keys.generate("age")
    with pytest.raises(ValueError, match="cannot be combined"):
        sealane.encrypt(DATA, recipients=[plugin, other.public])
    refused("age", "-e", "-j", "batchpass", "-r", str(other.public), stdin=DATA)
    monkeypatch.setenv("AGE_PASSPHRASE", "another")
    with pytest.raises(sealane.SealaneError) as caught:
        sealane.decrypt(theirs, identities=[plugin])
    assert "another" not in str(caught.value)
    monkeypatch.delenv("AGE_PASSPHRASE")
    with pytest.raises(sealane.PluginError, match="age plugin batchpass: it reports an error"):
        sealane.encrypt(DATA, recipients=[plugin])


def test_recipients_with_a_tag(tmp_path: Path) -> None:
    plugin = sealane.plugins.identity("tagtest")
    other = sealane.keys.generate("age")
    ours = sealane.encrypt(DATA, recipients=[TAG, other.public])
    theirs = run("age", "-r", TAG, stdin=DATA)
    for file in ours, theirs:
        (tmp_path / "file").write_bytes(file)
        assert sealane.inspect(tmp_path / "file").recipients[0] == "p256tag"
        assert run("age", "-d", "-j", "tagtest", stdin=file) == DATA
        assert sealane.decrypt(file, identities=[plugin]) == DATA
    assert sealane.decrypt(ours, identities=[other]) == DATA
    assert sealane.keys.PublicKey(TAG).kind == "age-tag"


def test_post_quantum_recipients_with_a_tag(tmp_path: Path) -> None:
    plugin = sealane.plugins.identity("tagtest")
    text = (Path(__file__).parent / "tagpq_recipient.txt").read_text().split()[-1]
    ours = sealane.encrypt(DATA, recipients=[text, sealane.keys.generate("age-pq").public])
    theirs = run("age", "-r", text, stdin=DATA)
    for file in ours, theirs:
        (tmp_path / "file").write_bytes(file)
        assert sealane.inspect(tmp_path / "file").recipients[0] == "mlkem768p256tag"
        assert run("age", "-d", "-j", "tagtest", stdin=file) == DATA
        assert sealane.decrypt(file, identities=[plugin]) == DATA
    assert str(sealane.keys.PublicKey(text)) == text
    for classical in TAG, sealane.keys.generate("age").public:
        with pytest.raises(ValueError, match="post-quantum"):
            sealane.encrypt(DATA, recipients=[text, classical])
