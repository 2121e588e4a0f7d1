"""Tests of ``sealane.rewrap``: other recipients for age files, whose content is not decrypted."""

from __future__ import annotations

import io
import os
import pickle
from pathlib import Path
from typing import Any

import pyrage
import pytest
import sealane
from sealane import _native
from support import leftovers, pattern

OLD, NEW = sealane.keys.generate("age"), sealane.keys.generate("age")
DATA = pattern(300_000)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file.age"
    path.write_bytes(sealane.encrypt(DATA, recipients=[OLD.public]))
    return path


def test_other_recipients(file: Path) -> None:
    before = file.read_bytes()
    copy = file.with_name("copy.age")
    sealane.rewrap(file, copy, identities=[OLD], recipients=[NEW.public])
    assert file.read_bytes() == before
    assert copy.read_bytes()[-len(DATA) :] == before[-len(DATA) :]
    assert sealane.decrypt(copy.read_bytes(), identities=[NEW]) == DATA
    with pytest.raises(sealane.NoMatchingKeyError):
        sealane.decrypt(copy.read_bytes(), identities=[OLD])
    sealane.rewrap(str(file), identities=[OLD], recipients=[str(NEW.public), str(OLD.public)])
    for key in OLD, NEW:
        assert sealane.decrypt(file.read_bytes(), identities=[key]) == DATA
    assert leftovers(file.parent, "file.age", "copy.age") == []


def test_rage_reads_it(file: Path) -> None:
    identity = pyrage.x25519.Identity.generate()
    sealane.rewrap(file, identities=[OLD], recipients=[str(identity.to_public())])
    assert pyrage.decrypt(file.read_bytes(), [identity]) == DATA
    file.write_bytes(pyrage.encrypt(DATA, [identity.to_public()]))
    sealane.rewrap(file, identities=[str(identity)], recipients=[NEW.public])
    assert sealane.decrypt(file.read_bytes(), identities=[NEW]) == DATA


def test_passphrases_and_armor(file: Path) -> None:
    file.write_bytes(sealane.encrypt(DATA, recipients=[OLD.public], armor=True))
    sealane.rewrap(file, identities=[OLD], new_passphrase="one")
    assert file.read_bytes().startswith(b"-----BEGIN AGE")
    assert sealane.decrypt(file.read_bytes(), passphrase="one") == DATA
    with pytest.raises(sealane.NoMatchingKeyError, match="wrong passphrase"):
        sealane.rewrap(file, passphrase="two", recipients=[NEW.public])
    with pytest.raises(sealane.LimitExceededError):
        sealane.rewrap(file, passphrase="one", max_work_factor=10, recipients=[NEW.public])
    sealane.rewrap(file, passphrase="one", recipients=[NEW.public])
    assert sealane.decrypt(file.read_bytes(), identities=[NEW]) == DATA


def test_progress_can_cancel(file: Path) -> None:
    before, reports = file.read_bytes(), []
    sealane.rewrap(
        file,
        identities=[OLD],
        recipients=[OLD.public],
        progress=lambda *report: reports.append(report),
        durable=True,
    )
    assert reports[-1][0] == reports[-1][1] > len(DATA)
    before = file.read_bytes()

    def cancel(*_: object) -> None:
        raise KeyError("stop")

    with pytest.raises(KeyError, match="stop"):
        sealane.rewrap(file, identities=[OLD], recipients=[NEW.public], progress=cancel)
    assert file.read_bytes() == before
    assert leftovers(file.parent, "file.age") == []


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({}, TypeError, "give identities or passphrase; found neither"),
        ({"identities": [OLD]}, TypeError, "give recipients or new_passphrase; found neither"),
        ({"identities": [OLD], "passphrase": "x"}, TypeError, "not both"),
        ({"identities": [OLD], "recipients": [], "new_passphrase": "x"}, TypeError, "not both"),
        ({"identities": [OLD], "recipients": []}, ValueError, "no recipient"),
        ({"identities": [], "recipients": [NEW.public]}, ValueError, "identit"),
        ({"identities": [OLD], "recipients": [OLD]}, TypeError, "give key.public"),
        ({"identities": [OLD], "new_passphrase": ""}, ValueError, "passphrase"),
        ({"identities": [OLD], "recipients": [NEW.public], "max_work_factor": 9}, ValueError, "passphrase"),
        ({"identities": [NEW], "recipients": [NEW.public]}, sealane.NoMatchingKeyError, "no matching key"),
        ({"passphrase": "x", "recipients": [NEW.public]}, sealane.NoMatchingKeyError, "recipients"),
    ],
)
def test_mistakes_change_nothing(file: Path, arguments: Any, error: type[Exception], words: str) -> None:
    before = file.read_bytes()
    with pytest.raises(error, match=words):
        sealane.rewrap(file, **arguments)
    assert file.read_bytes() == before
    assert leftovers(file.parent, "file.age") == []


def test_files_that_are_refused(file: Path) -> None:
    keys: Any = {"identities": [OLD], "recipients": [NEW.public]}
    with pytest.raises(FileNotFoundError) as e:
        sealane.rewrap(file.with_name("missing"), **keys)
    assert e.value.filename == str(file.with_name("missing"))
    with pytest.raises(ValueError, match="regular age file"):
        sealane.rewrap(os.devnull, file, **keys)
    with pytest.raises(TypeError, match="must be paths, not BytesIO"):
        sealane.rewrap(io.BytesIO(), **keys)  # type: ignore[arg-type]
    file.write_bytes(sealane.encrypt(DATA, key=pattern(32)))
    with pytest.raises(sealane.FormatError, match="expected an age file"):
        sealane.rewrap(file, **keys)


def test_no_output_replaces_an_identity_file(file: Path) -> None:
    identity = file.with_name("identity")
    OLD.save(identity)
    before = identity.read_bytes()
    with pytest.raises(ValueError, match="identity"):
        sealane.rewrap(file, identity, identities=[identity], recipients=[NEW.public])
    assert identity.read_bytes() == before


def test_keys_are_not_shown() -> None:
    keys = _native.RewrapWith(passphrase="correct horse", recipients=[NEW.public])
    assert "horse" not in repr(keys)
    with pytest.raises(TypeError, match="never pickled"):
        pickle.dumps(keys)
