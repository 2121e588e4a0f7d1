"""Tests of sealane.keys.Keyring, and of messages and files under several keys."""

from __future__ import annotations

import array
import copy
import io
import json
import os
import pickle
import threading
import warnings
from pathlib import Path

import pytest
import sealane
from sealane.keys import Keyring
from support import in_child, pattern

ALGORITHMS = [
    "aes-256-gcm",
    "aes-128-gcm",
    "aes-256-gcm-siv",
    "aes-128-gcm-siv",
    "chacha20-poly1305",
    "xchacha20-poly1305",
    "xaes-256-gcm",
]
FOR_FILES = ["tink-4kb", "tink-1mb"]


def states(ring: Keyring) -> list[tuple[str, bool]]:
    return [(key.state, key.primary) for key in ring.keys]


def test_states_and_their_mistakes() -> None:
    ring = Keyring.generate()
    first = ring.primary
    second, third = ring.rotate(), ring.add()
    assert ring.primary == second
    assert states(ring) == [("enabled", False), ("enabled", True), ("enabled", False)]
    ring.disable(first)
    ring.destroy(third)
    assert states(ring) == [("disabled", False), ("enabled", True), ("destroyed", False)]
    assert [key.algorithm for key in ring.keys] == ["aes-256-gcm", "aes-256-gcm", None]
    unknown = next(id for id in range(1, 5) if id not in (first, second, third))
    for call, id, text in [
        (ring.promote, first, "disabled"),
        (ring.promote, third, "destroyed"),
        (ring.enable, third, "destroyed"),
        (ring.disable, second, "promote another key first"),
        (ring.destroy, second, "promote another key first"),
        (ring.destroy, third, "destroyed"),
        (ring.promote, unknown, "no key with this identifier"),
    ]:
        with pytest.raises(ValueError, match=f"key {id} of the keyring: .*{text}"):
            call(id)
    ring.enable(first)
    ring.promote(first)
    assert ring.primary == first
    for wrong in -1, 1 << 32:
        with pytest.raises(OverflowError):
            ring.promote(wrong)
    for id, text in (first, "promote another key first"), (unknown, "no key with this identifier"):
        with pytest.raises(ValueError, match=f"key {id} of the keyring: .*{text}"):
            ring.delete(id)
    ring.disable(second)
    for id, left in (second, ["enabled", "destroyed"]), (third, ["enabled"]):
        ring.delete(id)
        assert [key.state for key in Keyring.from_json(ring.to_json()).keys] == left
    assert ring.primary == first


def test_nothing_shows_or_pickles_a_secret(tmp_path: Path) -> None:
    secret = b"\xab" * 32
    ring = Keyring.from_key(secret, "aes-256-gcm")
    shown = f"{ring!r} {ring.keys!r} {sealane.Aead(keyring=ring)!r}"
    assert f"primary key {ring.primary}" in shown
    assert "abab" not in shown
    assert "q6ur" not in shown
    for call in pickle.dumps, copy.copy, copy.deepcopy:
        with pytest.raises(TypeError, match="never pickled"):
            call(ring)
    ring.save(tmp_path / "ring")
    text = (tmp_path / "ring").read_text()
    for broken in text.replace("ENABLED", "X"), text.replace("AesGcmKey", "AesEaxKey"), text[:-5]:
        with pytest.raises(sealane.FormatError) as caught:
            Keyring.from_json(broken)
        assert "q6ur" not in str(caught.value)
    with pytest.raises(sealane.FormatError, match=f"key {ring.primary} of the keyring: .*AesEaxKey"):
        Keyring.from_json(text.replace("AesGcmKey", "AesEaxKey"))


@pytest.mark.parametrize("algorithm", [*ALGORITHMS, "aes-256-siv", *FOR_FILES])
def test_formats_round_trip(tmp_path: Path, algorithm: str) -> None:
    ring = Keyring.generate(algorithm)
    ring.disable(ring.keys[0].id) if ring.rotate() != ring.keys[0].id else None
    for again in Keyring.from_json(ring.to_json()), Keyring.from_bytes(ring.to_bytes()):
        assert again.to_bytes() == ring.to_bytes()
        assert (again.primary, states(again)) == (ring.primary, states(ring))
        assert [key.prefix for key in again.keys] == ["raw" if algorithm in FOR_FILES else "tink"] * 2
    owner = sealane.keys.generate("age")
    for number, options in enumerate(({}, {"passphrase": "p"}, {"recipients": [owner.public]})):
        path = tmp_path / str(number)
        ring.save(path, **options)  # type: ignore[arg-type]
        assert path.stat().st_mode & 0o777 == 0o600
        found = sealane.keys.load(
            path, options.get("passphrase"), identities=[owner] if "recipients" in options else None
        )
        assert isinstance(found, Keyring)
        assert found.to_json() == ring.to_json()
        with pytest.raises(FileExistsError):
            ring.save(path)
    (tmp_path / "binary").write_bytes(ring.to_bytes())
    assert sealane.keys.load(tmp_path / "binary").to_json() == ring.to_json()
    with pytest.raises(sealane.FormatError):
        Keyring.from_bytes(ring.to_bytes()[:-1])


def test_jwk_sets() -> None:
    key = sealane.keys.generate("aes-256")
    old = sealane.Aead("aes-256-gcm", key).seal(b"old")
    ring = Keyring.from_jwk_set('{"keys":[' + key.to_text() + "]}")
    new = ring.add(prefix="tink")
    ring.promote(new)
    aead = sealane.Aead(keyring=ring)
    assert aead.open(old) == b"old"
    assert aead.seal(b"new")[:5] == b"\x01" + new.to_bytes(4, "big")
    found = json.loads(ring.to_jwk_set())["keys"]
    assert [jwk["kid"] for jwk in found] == [str(new), str(ring.keys[0].id)]
    assert [jwk["alg"] for jwk in found] == ["A256GCM"] * 2
    assert Keyring.from_jwk_set(ring.to_jwk_set()).primary == new
    with pytest.raises(ValueError, match="AES-GCM keys only"):
        Keyring.generate("xaes-256-gcm").to_jwk_set()
    with pytest.raises(sealane.FormatError):
        Keyring.from_jwk_set("{}")


@pytest.mark.parametrize("prefix", ["tink", "raw", "crunchy", "legacy"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_messages(algorithm: str, prefix: str) -> None:
    if algorithm == "xaes-256-gcm" and prefix in ("crunchy", "legacy"):
        with pytest.raises(ValueError, match="has the prefix tink or raw"):
            Keyring.generate(algorithm, prefix=prefix)
        return
    ring = Keyring.generate(algorithm, prefix=prefix)
    old = sealane.Aead(keyring=ring)
    first = {"tink": b"\x01", "raw": b"", "crunchy": b"\0", "legacy": b"\0"}[prefix]
    begin = first + ring.primary.to_bytes(4, "big") if first else b""
    sealed = old.seal(b"hello", aad=b"header")
    assert sealed.startswith(begin)
    assert len(sealed) == 5 + old.overhead
    assert old.nonce_len + old.tag_len == old.overhead
    ring.rotate()
    ring.add(algorithm="xchacha20-poly1305", prefix="raw")
    aead = sealane.Aead(keyring=ring)
    assert aead.open(sealed, aad=b"header") == b"hello"
    out = bytearray(100)
    assert aead.open_into(sealed, out, b"header") == 5
    assert out[:5] == b"hello"
    n = old.seal_into(b"hello", out, b"header")
    assert aead.open(out[:n], b"header") == b"hello"
    # In place: the plaintext is behind prefix and nonce.
    out[old.nonce_len :][:5] = b"hello"
    view = memoryview(out)
    view[old.nonce_len : old.nonce_len + 5] = b"place"
    n = old.seal_into(view[old.nonce_len : old.nonce_len + 5], out)
    assert aead.open(out[:n]) == b"place"
    buffer = aead.buffer(10)
    buffer.plaintext[:3] = b"abc"
    assert aead.open(buffer.seal(3, b"x"), b"x") == b"abc"
    for at in range(len(sealed)):
        changed = bytearray(sealed)
        changed[at] ^= 1
        with pytest.raises(sealane.AuthenticationError):
            aead.open(changed, b"header")
    for cut in range(len(sealed)):
        with pytest.raises(sealane.AuthenticationError):
            aead.open(sealed[:cut], b"header")
    ring.disable(ring.keys[0].id)
    with pytest.raises(sealane.AuthenticationError):
        sealane.Aead(keyring=ring).open(sealed, b"header")
    assert aead.open(sealed, b"header") == b"hello"  # The keys of its time.


def test_batches() -> None:
    ring = Keyring.generate()
    old = sealane.Aead(keyring=ring)
    messages = [pattern(n) for n in range(200)]
    mixed = old.seal_many(messages[:100])
    ring.rotate()
    ring.add(prefix="raw")
    aead = sealane.Aead(keyring=ring)
    mixed += aead.seal_many([bytearray(m) for m in messages[100:]], [None] * 100)
    assert aead.open_many(mixed) == messages
    assert old.open_many(mixed[:100]) == messages[:100]
    mixed[70] = b"damaged"
    with pytest.raises(sealane.AuthenticationError) as caught:
        aead.open_many(mixed)
    assert caught.value.index == 70
    for kind in "iq":
        offsets = array.array(kind, [0, 3, 6, 6])
        for aad in b"", b"column":
            data, ends = aead.seal_packed(b"onetwo", offsets, aad)
            plain, again = aead.open_packed(data, ends, aad)
            assert (plain, list(again), again.format) == (b"onetwo", [0, 3, 6, 6], kind)


def test_mistakes() -> None:
    ring = Keyring.generate()
    aead = sealane.Aead(keyring=ring)
    for call in aead.encrypt, aead.decrypt:
        with pytest.raises(ValueError, match="seals under fresh nonces"):
            call(bytes(12), bytes(32), None)
    for call in aead.encrypt_into, aead.decrypt_into:
        with pytest.raises(ValueError, match="seals under fresh nonces"):
            call(bytes(12), bytes(32), None, bytearray(100))
    new: type = sealane.Aead
    for arguments, names in [
        ((), {}),
        (("aes-256-gcm",), {}),
        (("aes-256-gcm", bytes(32)), {"keyring": ring}),
        (("aes-256-gcm",), {"keyring": ring}),
    ]:
        with pytest.raises(TypeError, match="expected an algorithm and a key, or a keyring alone"):
            new(*arguments, **names)
    for wrong in bytes(32), sealane.keys.generate("aes-256"):
        with pytest.raises(TypeError):
            new(keyring=wrong)
    with pytest.raises(TypeError):
        new("aes-256-gcm", ring)
    for name in "aes-256-siv", "tink-4kb":
        with pytest.raises(ValueError, match="keyring of AEAD keys"):
            sealane.Aead(keyring=Keyring.generate(name))
    with pytest.raises(ValueError, match="another use"):
        ring.add(algorithm="aes-256-siv")
    with pytest.raises(ValueError, match="expected the prefix tink, raw"):
        ring.add(prefix="x")
    with pytest.raises(ValueError, match="key"):
        ring.add(bytes(16))
    with pytest.raises(ValueError, match="aes-256-gcm"):
        Keyring.generate("aegis-256")
    with pytest.raises(ValueError, match="no prefix"):
        Keyring.generate("tink-4kb", prefix="tink")


# claim: message-limit
def test_the_limit_of_a_key() -> None:
    aead = sealane.Aead("aes-256-gcm", bytes(32))
    aead.seal(b"")
    assert aead.sealed_messages == 1
    for unlimited in "xaes-256-gcm", "aes-256-gcm-siv":
        other = sealane.Aead(unlimited, bytes(32))
        other.count_messages(2**40)
        other.seal(b"")
        assert other.sealed_messages is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        aead.count_messages(3 * 2**30 - 10)
        aead.open(aead.seal(b""))
    aead.count_messages(1000)
    with pytest.warns(sealane.exceptions.UsageLimitWarning, match="rotate it"):
        aead.seal(b"")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        aead.seal(b"")
    aead = sealane.Aead("aes-256-gcm", bytes(32))
    aead.count_messages(2**32)
    refused = [
        lambda: aead.seal(b""),
        lambda: aead.seal_into(b"", bytearray(100)),
        lambda: aead.seal_many([b""]),
        lambda: aead.seal_packed(b"", array.array("i", [0, 0])),
        lambda: aead.buffer(0).seal(0),
        lambda: aead.count_messages(1),
    ]
    for call in refused:
        with pytest.raises(sealane.LimitExceededError, match=r"2\^32"):
            call()
    assert aead.decrypt(bytes(12), aead.encrypt(bytes(12), b"x", None), None) == b"x"
    ring = Keyring.generate()
    several = sealane.Aead(keyring=ring)
    several.count_messages(2**32)
    with pytest.raises(sealane.LimitExceededError):
        several.seal(b"")
    ring.rotate()
    sealane.Aead(keyring=ring).seal(b"")


def test_each_call_that_seals_warns() -> None:
    for call in (
        lambda aead: aead.seal_into(b"", bytearray(100)),
        lambda aead: aead.seal_many([b""]),
        lambda aead: aead.seal_packed(b"", array.array("i", [0, 0])),
        lambda aead: aead.buffer(0).seal(0),
    ):
        aead = sealane.Aead("aes-128-gcm", bytes(16))
        aead.count_messages(3 * 2**30)
        with pytest.warns(sealane.exceptions.UsageLimitWarning):
            call(aead)


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_has_other_nonces_and_the_same_keys() -> None:
    ring = Keyring.generate()
    aead = sealane.Aead(keyring=ring)
    before = aead.seal(b"before")
    reading, writing = os.pipe()

    def child() -> None:
        assert aead.open(before) == b"before"
        ring.rotate()
        os.write(writing, sealane.Aead(keyring=ring).seal(b"x") + aead.seal(b"child"))

    in_child(child)
    os.close(writing)
    with open(reading, "rb") as pipe:
        sealed = pipe.read()[5 + 12 + 1 + 16 :]
    assert aead.open(sealed) == b"child"
    ours = {aead.seal(b"child")[5:17] for _ in range(1000)}
    assert sealed[5:17] not in ours
    assert len(ring.keys) == 1


def test_threads_share_a_keyring() -> None:
    ring = Keyring.generate()

    def work() -> None:
        for _ in range(50):
            ring.rotate()
            aead = sealane.Aead(keyring=ring)
            assert aead.open(aead.seal(b"x")) == b"x"

    threads = [threading.Thread(target=work) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(ring.keys) == 201


@pytest.mark.parametrize("algorithm", [*ALGORITHMS, *FOR_FILES])
def test_files(tmp_path: Path, algorithm: str) -> None:
    ring, data = Keyring.generate(algorithm), pattern(100_000)
    (tmp_path / "plain").write_bytes(data)
    sealane.encrypt_file(tmp_path / "plain", tmp_path / "old", key=ring, context=b"c")
    ring.rotate()
    with sealane.open(tmp_path / "new", "wb", key=ring, context=b"c") as file:
        file.write(data)
    memory = sealane.encrypt(data, key=ring, context=b"c")
    for name in "old", "new":
        sealane.decrypt_file(tmp_path / name, tmp_path / "out", key=ring, context=b"c")
        assert (tmp_path / "out").read_bytes() == data
        sealane.verify_file(tmp_path / name, key=ring, context=b"c")
        with sealane.open(tmp_path / name, key=ring, context=b"c") as file:
            file.seek(70_000)
            assert file.read(10) == data[70_000:70_010]
        streamed = io.BytesIO()
        sealane.decrypt_file(io.BytesIO((tmp_path / name).read_bytes()), streamed, key=ring, context=b"c")
        assert streamed.getvalue() == data
    assert sealane.decrypt(memory, key=ring, context=b"c") == data
    ring.disable(ring.keys[0].id)
    with pytest.raises(sealane.AuthenticationError):
        sealane.decrypt_file(tmp_path / "old", tmp_path / "failed", key=ring, context=b"c")
    assert not (tmp_path / "failed").exists()


def test_an_output_never_replaces_the_file_of_the_keyring(tmp_path: Path) -> None:
    Keyring.generate().save(tmp_path / "ring")
    ring = sealane.keys.load(tmp_path / "ring")
    (tmp_path / "plain").write_bytes(b"x")
    with pytest.raises(ValueError, match="would replace"):
        sealane.encrypt_file(tmp_path / "plain", tmp_path / "ring", key=ring)
    assert sealane.keys.load(tmp_path / "ring").primary == ring.primary
