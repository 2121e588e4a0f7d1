"""Tests of ``sealane.compat.fernet``: the specification, and both directions with cryptography."""

from __future__ import annotations

import base64
import datetime
import json
import os
import pickle
import time
from typing import Any

import pytest
import sealane
from cryptography import fernet as pyca
from hypothesis import given
from hypothesis import strategies as st
from sealane.compat.fernet import Fernet, InvalidToken, MultiFernet
from support import VECTORS, in_child

KEY = base64.urlsafe_b64encode(bytes(range(32)))
OURS, THEIRS = Fernet(KEY), pyca.Fernet(KEY)


def cases(name: str) -> list[Any]:
    found = json.loads((VECTORS / "fernet" / f"{name}.json").read_text())
    assert found
    for case in found:
        case["now"] = int(datetime.datetime.fromisoformat(case["now"]).timestamp())
    return found


def test_the_specification_generates() -> None:
    for case in cases("generate"):
        token = Fernet(case["secret"]).encrypt_with_iv(case["src"].encode(), case["now"], bytes(case["iv"]))
        assert token == case["token"].encode()


def test_the_specification_verifies() -> None:
    for case in cases("verify"):
        fernet = Fernet(case["secret"])
        for token in case["token"], case["token"].encode():
            data = fernet.decrypt_at_time(token, case["ttl_sec"], case["now"])
            assert data == case["src"].encode()


@pytest.mark.parametrize("case", cases("invalid"), ids=lambda case: case["desc"])
def test_the_specification_refuses(case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fernet = Fernet(case["secret"])
    for one in fernet, MultiFernet([Fernet(Fernet.generate_key()), fernet]):
        with pytest.raises(InvalidToken, match=r"^$"):
            one.decrypt_at_time(case["token"], case["ttl_sec"], case["now"])
        monkeypatch.setattr(time, "time", lambda: float(case["now"]))
        with pytest.raises(InvalidToken, match=r"^$"):
            one.decrypt(case["token"], ttl=case["ttl_sec"])


@given(st.binary(max_size=300), st.integers(0, 2**64 - 1))
def test_both_libraries_read_both(data: bytes, now: int) -> None:
    for one, other in (OURS, THEIRS), (THEIRS, OURS):
        token = one.encrypt_at_time(data, now)
        assert other.decrypt(token) == data
        assert other.decrypt_at_time(token, 0, now) == data
        assert other.extract_timestamp(token.decode()) == now


@given(st.binary(max_size=200) | st.text(max_size=200))
def test_any_token(token: bytes | str) -> None:
    for call in OURS.decrypt, OURS.extract_timestamp, MultiFernet([OURS, OURS]).rotate:
        with pytest.raises(InvalidToken):
            call(token)


@given(st.data())
def test_a_changed_token_is_read_as_by_cryptography(data: st.DataObject) -> None:
    token = THEIRS.encrypt(b"hello")
    at = data.draw(st.integers(0, len(token)))
    change = data.draw(st.binary(max_size=3))
    changed = token[:at] + change + token[at + data.draw(st.integers(0, 3)) :]

    def read(fernet: Any, invalid: type[Exception]) -> bytes | None:
        try:
            return bytes(fernet.decrypt(changed))
        except invalid:
            return None

    assert read(OURS, InvalidToken) == read(THEIRS, pyca.InvalidToken)


@pytest.mark.parametrize(
    "change", [lambda t: t + b"\n", lambda t: b"\n".join([t[:40], t[40:]]), lambda t: t + b"=="]
)
def test_line_breaks_are_skipped_as_in_cryptography(change: Any) -> None:
    token = change(THEIRS.encrypt(b"hello"))
    assert OURS.decrypt(token) == THEIRS.decrypt(token) == b"hello"
    assert OURS.decrypt(token.decode()) == b"hello"


@pytest.mark.parametrize(
    ("ttl", "now", "valid"),
    [
        (0, 100, True),
        (10, 110, True),
        (10, 111, False),
        (10, 40, True),
        (10, 39, False),
        (9.5, 110, False),
        (10**30, 10**20, True),
        (-1, 100, False),
        (-(10**30), 0, False),
        (10**30, -(10**30), False),
    ],
)
def test_ages(ttl: Any, now: int, valid: bool) -> None:
    token = OURS.encrypt_at_time(b"hello", 100)
    for fernet in OURS, MultiFernet([OURS]), THEIRS:
        invalid = pyca.InvalidToken if fernet is THEIRS else InvalidToken
        if valid:
            assert fernet.decrypt_at_time(token, ttl, now) == b"hello"
        else:
            with pytest.raises(invalid):
                fernet.decrypt_at_time(token, ttl, now)


def test_the_clock_of_the_module_time_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1234.9)
    for fernet in OURS, MultiFernet([OURS]):
        token = fernet.encrypt(b"hello")
        assert fernet.extract_timestamp(token) == 1234
        assert fernet.decrypt(token, ttl=1) == b"hello"
        monkeypatch.setattr(time, "time", lambda: 1236.0)
        with pytest.raises(InvalidToken):
            fernet.decrypt(token, ttl=1)
        assert fernet.decrypt(token) == b"hello"
        monkeypatch.setattr(time, "time", lambda: 1234.9)


def test_several_keys() -> None:
    keys = [Fernet.generate_key() for _ in range(5)]
    ours, theirs = MultiFernet(map(Fernet, keys)), pyca.MultiFernet(map(pyca.Fernet, keys))
    for key in keys:
        token = Fernet(key).encrypt_at_time(b"hello", 77)
        assert ours.decrypt(token) == theirs.decrypt(token) == b"hello"
        rotated = ours.rotate(token)
        assert Fernet(keys[0]).decrypt(rotated) == b"hello"
        assert ours.extract_timestamp(rotated) == theirs.extract_timestamp(rotated) == 77
    other = Fernet(Fernet.generate_key()).encrypt(b"hello")
    for call in ours.decrypt, ours.rotate, ours.extract_timestamp:
        with pytest.raises(InvalidToken):
            call(other)
    assert theirs.decrypt(ours.encrypt(b"hello")) == b"hello"
    assert ours.extract_timestamp(ours.encrypt_at_time(b"hello", 5)) == 5


@pytest.mark.parametrize(
    "key",
    [b"", b"abc", KEY[:-2], base64.urlsafe_b64encode(bytes(33)), base64.urlsafe_b64encode(bytes(31)), "\xe9"],
)
def test_other_keys_are_refused(key: Any) -> None:
    with pytest.raises(ValueError, match=r"Fernet key must be 32 url-safe|only ASCII") as e:
        Fernet(key)
    assert not isinstance(e.value, InvalidToken)
    assert e.value.__cause__ is None


def test_mistakes() -> None:
    for call in OURS.encrypt, MultiFernet([OURS]).encrypt:
        for data in "text", bytearray(b"x"), None:
            with pytest.raises(TypeError, match="data must be bytes"):
                call(data)  # type: ignore[arg-type]
    for call in OURS.decrypt, OURS.extract_timestamp, MultiFernet([OURS]).decrypt:
        for token in 12345, bytearray(b"x"), None:
            with pytest.raises(TypeError, match="token must be bytes or str"):
                call(token)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="non-None ttl"):
        OURS.decrypt_at_time(OURS.encrypt(b""), None, 0)  # type: ignore[arg-type]
    for time_, error in (-1, OverflowError), (2**64, OverflowError), ("1", TypeError):
        with pytest.raises(error):
            OURS.encrypt_at_time(b"", time_)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least one"):
        MultiFernet([])
    with pytest.raises(TypeError):
        MultiFernet(None)  # type: ignore[arg-type]


def test_the_exception_is_one_of_sealane() -> None:
    assert issubclass(InvalidToken, sealane.AuthenticationError)
    assert not issubclass(InvalidToken, ValueError)


def test_keys_stay_where_they_are() -> None:
    assert repr(KEY.decode()) not in repr(OURS) + str(vars(OURS))
    for one in OURS, MultiFernet([OURS]):
        with pytest.raises(TypeError, match="never pickled"):
            pickle.dumps(one)


def test_ivs_differ_after_a_fork() -> None:
    OURS.encrypt_at_time(b"hello", 5)
    in_the_child = in_child(lambda: OURS.encrypt_at_time(b"hello", 5))
    assert in_the_child != OURS.encrypt_at_time(b"hello", 5)


def test_long_data() -> None:
    data = os.urandom(1 << 20)
    assert THEIRS.decrypt(OURS.encrypt(data)) == data
    assert OURS.decrypt(THEIRS.encrypt(data)) == data
