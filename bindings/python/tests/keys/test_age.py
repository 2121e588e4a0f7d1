"""Files for recipients and passphrases: round trips, wrong arguments and damaged files."""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest
import sealane
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from support import ROOT, AgeCase, age_testkit, in_child, leftovers, pattern

AGE, PQ = sealane.keys.generate("age"), sealane.keys.generate("age-pq")
OTHER = sealane.keys.generate("age")
CHUNK = 65536
LENGTH = 2 * CHUNK + 100
DATA = pattern(LENGTH)
SEALED = sealane.encrypt(DATA, recipients=[str(AGE.public)])
TESTKIT = {case.name: case for case in age_testkit()}
QUICK = TESTKIT["scrypt_no_match"]
"""A file with the scrypt work factor 10. Ours use 18, which takes a second."""
SSH = ROOT / "crates" / "sealane" / "tests" / "it" / "age"


def ways_out(tmp_path: Path, file: bytes) -> list[Callable[..., bytes]]:
    """Each of the functions that decrypt a whole file, for tests that apply to all."""
    path, out = tmp_path / "sealed", tmp_path / "out"
    path.write_bytes(file)

    def to_path(**how: object) -> bytes:
        sealane.decrypt_file(path, out, **how)
        data = out.read_bytes()
        out.unlink()
        return data

    def from_object(**how: object) -> bytes:
        sealane.decrypt_file(io.BytesIO(file), out, **how)
        data = out.read_bytes()
        out.unlink()
        return data

    def to_object(**how: object) -> bytes:
        memory = io.BytesIO()
        sealane.decrypt_file(path, memory, **how)
        return memory.getvalue()

    def opened(**how: object) -> bytes:
        with sealane.open(path, "rb", **how) as f:
            return f.read()

    def opened_object(**how: object) -> bytes:
        with sealane.open(io.BytesIO(file), **how) as f:
            return f.read()

    def verified(**how: object) -> bytes:
        sealane.verify_file(path, **how)
        sealane.verify_file(io.BytesIO(file), **how)
        return sealane.decrypt(memoryview(file), **how)

    return [to_path, from_object, to_object, opened, opened_object, verified]


@pytest.mark.parametrize("armor", [False, True])
@pytest.mark.parametrize("key", [AGE, PQ], ids=lambda key: key.kind)
@pytest.mark.parametrize("length", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 1_500_001])
def test_files_round_trip(tmp_path: Path, length: int, key: sealane.keys.Key, armor: bool) -> None:
    data = pattern(length)
    (tmp_path / "plain").write_bytes(data)
    sealane.encrypt_file(tmp_path / "plain", tmp_path / "one", recipients=[key.public], armor=armor)
    memory = io.BytesIO()
    sealane.encrypt_file(io.BytesIO(data), memory, recipients=(str(key.public),), armor=armor)
    with sealane.open(tmp_path / "two", "wb", recipients=[key.public], armor=armor) as f:
        f.write(data[:1000])
        f.write(data[1000:])
    files = [(tmp_path / "one").read_bytes(), memory.getvalue(), (tmp_path / "two").read_bytes()]
    files.append(sealane.encrypt(data, recipients=[key.public], format="age", armor=armor))
    assert len({len(file) for file in files}) == 1
    for file in files:
        assert file.startswith(
            b"-----BEGIN AGE ENCRYPTED FILE-----\n" if armor else b"age-encryption.org/v1\n"
        )
        assert sealane.decrypt(file, identities=[key]) == data
    for way in ways_out(tmp_path, files[0]):
        assert way(identities=[key.to_text()]) == data
    info = sealane.inspect(tmp_path / "one")
    assert (info.format, info.armor, info.file_len) == ("age v1", armor, len(files[0]))
    assert info.recipients == [{"age": "X25519", "age-pq": "mlkem768x25519"}[key.kind]]
    assert (info.plaintext_len, info.chunk_len) == (length, CHUNK)


@pytest.mark.parametrize("armor", [False, True])
def test_random_access(tmp_path: Path, armor: bool) -> None:
    path = tmp_path / "sealed"
    path.write_bytes(sealane.encrypt(DATA, recipients=[AGE.public], armor=armor))
    with sealane.open(path, identities=[AGE]) as f:
        assert f.size == LENGTH
        for start, count in [(LENGTH - 5, 10), (CHUNK - 1, 2), (0, 1), (CHUNK, CHUNK), (77, 100_000)]:
            assert f.seek(start) == start
            assert f.read(count) == DATA[start : start + count]


def test_each_recipient_can_decrypt() -> None:
    file = sealane.encrypt(DATA, recipients=[OTHER.public, str(AGE.public)])
    for identities in [[AGE], [OTHER], [sealane.keys.generate("age"), PQ, AGE], (key for key in [AGE])]:
        assert sealane.decrypt(file, identities=identities) == DATA


def ssh(private: ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey) -> tuple[str, str]:
    """Returns the public and the private key as text."""
    public = private.public_key().public_bytes(
        serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    )
    secret = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
    )
    return public.decode(), secret.decode()


@pytest.mark.parametrize("kind", ["ssh-ed25519", "ssh-rsa"])
def test_ssh_keys(tmp_path: Path, kind: str) -> None:
    make = {
        "ssh-ed25519": ed25519.Ed25519PrivateKey.generate,
        "ssh-rsa": lambda: rsa.generate_private_key(65537, 2048),
    }
    public, secret = ssh(make[kind]())
    path = tmp_path / "id"
    path.write_text(secret)
    key = sealane.keys.PublicKey(public)
    assert key.kind == kind
    for recipient in [public, public + " me@here\n", key, str(key)]:
        file = sealane.encrypt(DATA, recipients=[recipient])
        for identity in [secret, path, sealane.keys.load(path), sealane.keys.Key.from_text(secret)]:
            assert sealane.decrypt(file, identities=[identity]) == DATA
        with pytest.raises(sealane.NoMatchingKeyError):
            sealane.decrypt(file, identities=[AGE])
    loaded = sealane.keys.load(path)
    assert (loaded.kind, loaded.public) == (kind, key)
    with pytest.raises(ValueError, match="SSH"):
        loaded.save(tmp_path / "again")


def test_encrypted_ssh_keys() -> None:
    path = SSH / "ed25519_protected"
    for identity in [path, path.read_text()]:
        with pytest.raises(ValueError, match=r"passphrase: give sealane\.keys\.") as caught:
            sealane.decrypt(SEALED, identities=[identity])
        assert str(path) in str(caught.value) or isinstance(identity, str)
    with pytest.raises(sealane.NoMatchingKeyError, match="wrong passphrase"):
        sealane.keys.load(path, "guess")
    key = sealane.keys.load(path, "open sesame")
    file = sealane.encrypt(DATA, recipients=[key.public])
    assert sealane.decrypt(file, identities=[key]) == DATA


def test_identity_files(tmp_path: Path) -> None:
    path = tmp_path / "identities"
    path.write_text(f"# mine\n{OTHER.to_text()}\n\n{AGE.to_text()}")
    assert sealane.decrypt(SEALED, identities=[path]) == DATA
    assert sealane.decrypt(SEALED, identities=[path.read_text()]) == DATA
    path.write_text("# nothing\n")
    with pytest.raises(sealane.FormatError, match="expected a list of identities, found none"):
        sealane.decrypt(SEALED, identities=[path])
    path.write_text("# a slip\nAGE-SECRET-KEY-1QQ\n")
    with pytest.raises(sealane.FormatError, match="line 2") as caught:
        sealane.decrypt(SEALED, identities=[path])
    assert "1QQ" not in str(caught.value)
    with pytest.raises(FileNotFoundError) as missing:
        sealane.decrypt(SEALED, identities=[tmp_path / "missing"])
    assert missing.value.filename == str(tmp_path / "missing")


def test_an_encrypted_identity_file(tmp_path: Path) -> None:
    AGE.save(tmp_path / "key", "sesame")
    with pytest.raises(ValueError, match="passphrase") as caught:
        sealane.decrypt(SEALED, identities=[tmp_path / "key"])
    assert f'sealane.keys.load("{tmp_path / "key"}", passphrase)' in str(caught.value)
    assert sealane.decrypt(SEALED, identities=[sealane.keys.load(tmp_path / "key", "sesame")]) == DATA


def test_passphrases(tmp_path: Path) -> None:
    words = "Grüße, correct horse"
    (tmp_path / "plain").write_bytes(DATA)
    sealane.encrypt_file(tmp_path / "plain", tmp_path / "sealed", passphrase=words)
    assert sealane.inspect(tmp_path / "sealed").recipients == ["scrypt"]
    given = [words, words.encode(), bytearray(words.encode()), memoryview(words.encode())]
    for way, passphrase in zip(ways_out(tmp_path, (tmp_path / "sealed").read_bytes()), given, strict=False):
        assert way(passphrase=passphrase) == DATA
    with sealane.open(tmp_path / "sealed", "wb", passphrase=words.encode(), armor=True) as f:
        f.write(DATA)
    with sealane.open(tmp_path / "sealed", passphrase=words, max_work_factor=18) as f:
        assert f.read() == DATA
    with pytest.raises(sealane.LimitExceededError, match=r"2\^18"):
        sealane.open(tmp_path / "sealed", passphrase=words, max_work_factor=17)


@pytest.mark.xdist_group("serial")
def test_key_derivation_lets_other_threads_run() -> None:
    ticks, done = 0, threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    before = ticks
    sealane.encrypt(b"", passphrase="x")
    during = ticks - before
    done.set()
    thread.join()
    assert during > 20


# ---- wrong arguments -----------------------------------------------------------------------------

SECRET = AGE.to_text().split()[-1]
LISTED = r"must be a list, as in (recipients=\[\"age1\.\.\.\"\]|identities=\[\"AGE-SECRET-KEY-1.*\])"


@pytest.mark.parametrize(
    ("how", "error", "says"),
    [
        ({}, TypeError, "exactly one of key, recipients and passphrase, found none"),
        ({"key": bytes(32), "passphrase": "x"}, TypeError, "exactly one of .* found key and passphrase"),
        (
            {"recipients": [], "passphrase": "x"},
            TypeError,
            "exactly one of .* found recipients and passphrase",
        ),
        ({"recipients": "age1abc"}, TypeError, LISTED + ", not str"),
        ({"recipients": b"age1abc"}, TypeError, LISTED + ", not bytes"),
        ({"recipients": AGE.public}, TypeError, LISTED + ", not PublicKey"),
        ({"recipients": 7}, TypeError, LISTED + ", not int"),
        ({"recipients": []}, ValueError, "there is no recipient"),
        ({"recipients": [AGE]}, TypeError, r"give key\.public"),
        ({"recipients": [7]}, TypeError, r"str or sealane\.keys\.PublicKey, not int"),
        (
            {"recipients": [sealane.keys.generate("x25519").public]},
            TypeError,
            "found a key of the kind x25519; use it with sealane.hybrid",
        ),
        ({"recipients": ["age1typo"]}, sealane.FormatError, "recipient"),
        ({"recipients": [SECRET]}, sealane.FormatError, "which is secret"),
        ({"recipients": [AGE.public, PQ.public]}, ValueError, "post-quantum"),
        ({"recipients": [AGE.public], "context": b"c"}, ValueError, "no context"),
        ({"recipients": [AGE.public], "format": "chunked"}, ValueError, "chunked requires a key"),
        ({"recipients": [AGE.public], "format": "zip"}, ValueError, "expected one of chunked, age"),
        ({"passphrase": "x", "context": b"c"}, ValueError, "no context"),
        ({"passphrase": "x", "format": "tink-1mb"}, ValueError, "tink-1mb requires a key"),
        ({"passphrase": ""}, ValueError, "passphrase"),
        ({"passphrase": 7}, TypeError, "must be str or bytes in UTF-8, not int"),
        ({"passphrase": b"\xff"}, ValueError, "not UTF-8"),
        ({"passphrase": "\udcff"}, ValueError, "surrogate"),
        ({"key": bytes(32), "armor": True}, ValueError, "armor requires recipients"),
        ({"key": bytes(32), "format": "age"}, ValueError, "age takes no key"),
        ({"key": AGE}, TypeError, r"identities=\[key\]"),
        ({"key": sealane.keys.generate("p-256")}, TypeError, "expected a symmetric key"),
    ],
)
def test_rejects_wrong_arguments_of_encryption(
    tmp_path: Path, how: dict[str, object], error: type[Exception], says: str
) -> None:
    (tmp_path / "plain").write_bytes(DATA)
    for attempt in [
        lambda: sealane.encrypt(DATA, **how),
        lambda: sealane.encrypt_file(tmp_path / "plain", tmp_path / "out", **how),
        lambda: sealane.encrypt_file(io.BytesIO(DATA), tmp_path / "out", **how),
        lambda: sealane.open(tmp_path / "out", "wb", **how),
    ]:
        with pytest.raises(error, match=says) as caught:
            attempt()
        assert SECRET not in str(caught.value)
    assert leftovers(tmp_path, "plain") == []


@pytest.mark.parametrize(
    ("how", "error", "says"),
    [
        ({}, TypeError, "exactly one of key, identities and passphrase, found none"),
        ({"identities": [AGE], "passphrase": "x"}, TypeError, "found identities and passphrase"),
        ({"identities": SECRET}, TypeError, LISTED + ", not str"),
        ({"identities": SECRET.encode()}, TypeError, LISTED + ", not bytes"),
        ({"identities": AGE}, TypeError, LISTED + ", not Key"),
        ({"identities": Path("key")}, TypeError, LISTED + ", not PosixPath"),
        ({"identities": []}, ValueError, "at least one identity"),
        ({"identities": [AGE.public]}, TypeError, "expected a private key as identity, found a public key"),
        (
            {"identities": [sealane.keys.generate("aes-256")]},
            TypeError,
            "found a key of the kind aes-256; use it as key=",
        ),
        ({"identities": ["AGE-SECRET-KEY-1TYPO"]}, sealane.FormatError, "line 1: expected an age identity"),
        ({"identities": [str(AGE.public)]}, sealane.FormatError, "cannot decrypt"),
        ({"identities": [AGE], "context": b"c"}, ValueError, "no context"),
        ({"identities": [AGE], "format": "chunked"}, ValueError, "chunked requires a key"),
        ({"identities": [AGE], "max_work_factor": 10}, ValueError, "max_work_factor requires a passphrase"),
        ({"key": bytes(32), "max_work_factor": 10}, ValueError, "max_work_factor requires a passphrase"),
        ({"passphrase": "x", "max_work_factor": 0}, ValueError, "1 to 30"),
        ({"passphrase": "x", "max_work_factor": 1 << 70}, ValueError, "1 to 30"),
        ({"passphrase": "x", "max_work_factor": "18"}, TypeError, "int"),
    ],
)
def test_rejects_wrong_arguments_of_decryption(
    tmp_path: Path, how: dict[str, object], error: type[Exception], says: str
) -> None:
    for way in ways_out(tmp_path, SEALED):
        with pytest.raises(error, match=says) as caught:
            way(**how)
        assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert leftovers(tmp_path, "sealed") == []


def test_open_rejects_keywords_of_the_other_mode(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="for the modes 'wb' and 'xb'"):
        sealane.open(tmp_path / "f", "rb", recipients=[AGE.public])  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="for mode 'rb'"):
        sealane.open(tmp_path / "f", "wb", identities=[AGE])  # type: ignore[call-overload]


def test_secrets_are_not_shown_or_pickled(tmp_path: Path) -> None:
    with sealane.open(io.BytesIO(SEALED), identities=[AGE]) as f:
        held = [AGE, f, sealane._native.DecryptWith(identities=[SECRET])]
        held.append(sealane._native.EncryptWith(passphrase="open sesame"))
        for thing in held:
            assert SECRET not in repr(thing)
            assert "sesame" not in repr(thing)
            with pytest.raises(TypeError, match="never pickled"):
                pickle.dumps(thing)


# ---- damaged files -------------------------------------------------------------------------------


def attempt(way: Callable[..., bytes], how: dict[str, object]) -> type[BaseException] | None:
    try:
        way(**how)
    except sealane.SealaneError as error:
        return type(error)
    return None


WORDS = "wrong passphrase"


# claim: age-errors
@pytest.mark.parametrize(
    ("file", "how", "error"),
    [
        (SEALED, {"identities": [OTHER]}, sealane.NoMatchingKeyError),
        (SEALED, {"passphrase": WORDS}, sealane.NoMatchingKeyError),
        (QUICK.file, {"passphrase": WORDS}, sealane.NoMatchingKeyError),
        (QUICK.file, {"identities": [AGE]}, sealane.NoMatchingKeyError),
        (b"PK\x03\x04 a foreign file" + bytes(100), {"identities": [AGE]}, sealane.FormatError),
        (pattern(300), {"identities": [AGE]}, sealane.FormatError),
        (SEALED.replace(b"-> X25519", b"-> X25518", 1), {"identities": [AGE]}, sealane.NoMatchingKeyError),
        (SEALED.replace(b"\n---", b"\n--", 1), {"identities": [AGE]}, sealane.FormatError),
        (SEALED.replace(b"/v1", b"/v2", 1), {"identities": [AGE]}, sealane.UnsupportedVersionError),
        (SEALED[:-1], {"identities": [AGE]}, sealane.AuthenticationError),
        (SEALED[: -100 - 16], {"identities": [AGE]}, sealane.AuthenticationError),
        # An id that is not random: the processes of pytest-xdist must collect the same tests.
        pytest.param(SEALED[:50], {"identities": [AGE]}, sealane.TruncatedError, id="truncated header"),
        (SEALED[:-1] + bytes([SEALED[-1] ^ 1]), {"identities": [AGE]}, sealane.AuthenticationError),
        (TESTKIT["scrypt_work_factor_23"].file, {"passphrase": WORDS}, sealane.LimitExceededError),
        (SEALED, {"key": bytes(32)}, sealane.FormatError),
        (b"", {"identities": [AGE]}, sealane.TruncatedError),
    ],
)
def test_each_kind_of_damage_has_its_exception(
    tmp_path: Path, file: bytes, how: dict[str, object], error: type[Exception]
) -> None:
    assert {attempt(way, how) for way in ways_out(tmp_path, file)} == {error}
    assert leftovers(tmp_path, "sealed") == []


@pytest.mark.parametrize("armor", [False, True])
def test_detects_every_changed_byte_and_truncation(armor: bool) -> None:
    file = sealane.encrypt(b"plaintext", recipients=[AGE.public], armor=armor)
    for at, byte in enumerate(file):
        changed = file[:at] + bytes([byte ^ 1 << at % 8]) + file[at + 1 :]
        with pytest.raises(sealane.SealaneError):
            sealane.decrypt(changed, identities=[AGE])
    # The last line of armor may end without a line feed.
    for length in range(len(file) - armor):
        with pytest.raises(sealane.SealaneError):
            sealane.decrypt(file[:length], identities=[AGE])


OUTCOMES: dict[str, tuple[type[Exception], ...]] = {
    "header failure": (sealane.FormatError, sealane.LimitExceededError),
    "armor failure": (sealane.FormatError,),
    "no match": (sealane.NoMatchingKeyError,),
    "payload failure": (sealane.AuthenticationError, sealane.TruncatedError),
}


# claim: tested-age-testkit
@pytest.mark.parametrize("case", TESTKIT.values(), ids=lambda case: case.name)
def test_age_testkit(tmp_path: Path, case: AgeCase) -> None:
    # Exactly one of the two is given. If a case names both or several, its header is wrong.
    how: dict[str, object] = {"passphrase": "none"}
    if case.identities:
        how = {"identities": case.identities}
    elif case.passphrases:
        how = {"passphrase": case.passphrases[0]}
    for way in ways_out(tmp_path, case.file):
        if case.expect == "success":
            assert hashlib.sha256(way(**how)).hexdigest() == case.payload
        else:
            with pytest.raises(OUTCOMES[case.expect]):
                way(**how)
    assert leftovers(tmp_path, "sealed") == []


# claim: tested-age-testkit
def test_the_age_testkit_is_complete() -> None:
    found = {expect: sum(case.expect == expect for case in TESTKIT.values()) for expect in OUTCOMES}
    assert found == {"header failure": 49, "armor failure": 16, "no match": 8, "payload failure": 16}
    assert len(TESTKIT) == 107


@pytest.mark.parametrize("armor", [False, True])
def test_memory_is_bounded_for_long_files(tmp_path: Path, armor: bool) -> None:
    script = """
import resource, sys, sealane
folder, armor, identity, recipient = sys.argv[1], sys.argv[2] == "True", sys.argv[3], sys.argv[4]
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
sealane.decrypt(sealane.encrypt(b"", recipients=[recipient]), identities=[identity])
before = peak()
sealane.encrypt_file(f"{folder}/plain", f"{folder}/sealed", recipients=[recipient], armor=armor)
sealane.decrypt_file(f"{folder}/sealed", f"{folder}/again", identities=[identity])
sealane.verify_file(f"{folder}/sealed", identities=[identity])
print(peak() - before)
"""
    plain, again = tmp_path / "plain", tmp_path / "again"
    with plain.open("wb") as file:
        for _ in range(80):
            file.write(os.urandom(1 << 20))
    command = [sys.executable, "-c", script, str(tmp_path), str(armor), SECRET, str(AGE.public)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert again.read_bytes() == plain.read_bytes()
    assert int(done.stdout) < 64 << 10


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_fork_gives_different_files() -> None:
    """Parent and child generate different keys, files and messages."""
    pairs = [sealane.keys.generate(kind) for kind in ("rsa-2048", "secp256k1", "x25519", "p-256", "x-wing")]

    def made() -> list[bytes]:
        keys = [sealane.keys.generate(kind) for kind in ("age", "age-pq", "x25519", "p-256", "secp256k1")]
        files = [sealane.encrypt(b"", recipients=[key.public]).split(b"\n")[1] for key in (AGE, PQ)]
        messages = [sealane.hybrid.seal(key.public, b"")[:40] for key in pairs if key.public is not None]
        return [*(key.to_text().encode() for key in keys), *files, *messages]

    mine = made()
    theirs = in_child(made)
    mine += made()
    assert len(set(mine + theirs)) == len(mine) + len(theirs) == 3 * 12


# claim: passphrase-refused
@pytest.mark.parametrize(
    "text", ["words\n", "words\r\n", "wo\0rds", "wo\trds", "wo\x7frds", "wo\x85rds", "\ufeffwords"]
)
def test_passphrases_that_other_ways_to_give_them_would_change(tmp_path: Path, text: str) -> None:
    sealane.encrypt_file(io.BytesIO(DATA), tmp_path / "file", passphrase="words")
    sealane.keys.generate("p-256").save(tmp_path / "key", passphrase="words")
    before = leftovers(tmp_path)
    for given in text, text.encode():
        for attempt in [
            lambda given: sealane.encrypt(DATA, passphrase=given),
            lambda given: sealane.encrypt_file(tmp_path / "file", tmp_path / "out", passphrase=given),
            lambda given: sealane.open(tmp_path / "out", "wb", passphrase=given),
            lambda given: sealane.rewrap(tmp_path / "file", passphrase="words", new_passphrase=given),
            lambda given: sealane.Folder.create(tmp_path / "folder", passphrase=given),
            *(
                lambda given, key=key: key.save(tmp_path / "out", passphrase=given)
                for key in (AGE, sealane.keys.generate("p-256"), sealane.keys.Keyring.generate())
            ),
        ]:
            with pytest.raises(ValueError, match=r"control characters|byte order mark") as caught:
                attempt(given)
            assert "words" not in str(caught.value)
        for attempt in [
            lambda given: sealane.decrypt_file(tmp_path / "file", tmp_path / "out", passphrase=given),
            lambda given: sealane.keys.load(tmp_path / "key", given),
        ]:
            with pytest.raises(
                (sealane.NoMatchingKeyError, ValueError), match=r"wrong passphrase|order mark"
            ):
                attempt(given)
    assert leftovers(tmp_path) == before


def test_one_limit_for_the_length_of_passphrases(tmp_path: Path) -> None:
    """A longer passphrase could not be typed: a terminal takes 4094 bytes."""
    (tmp_path / "file").write_bytes(b"data")
    for given in "\u00e4" * 2048, b"x" * 4095:
        for attempt in [
            lambda given: sealane.encrypt(DATA, passphrase=given),
            lambda given: sealane.decrypt(b"data", passphrase=given),
            lambda given: sealane.open(tmp_path / "file", passphrase=given),
            lambda given: sealane.Decryptor(passphrase=given),
            lambda given: sealane.rewrap(tmp_path / "file", passphrase=given, recipients=[AGE.public]),
            lambda given: sealane.keys.load(tmp_path / "file", given),
            lambda given: sealane.Folder(tmp_path, passphrase=given),
        ]:
            with pytest.raises(ValueError, match="at most 4094 bytes"):
                attempt(given)
