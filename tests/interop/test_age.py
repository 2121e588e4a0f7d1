"""sealane, the program age and pyrage (which is rage) read each other's files."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyrage
import pytest
import sealane
from programs import refused, run, typed
from support import pattern

CHUNK = 65536
LENGTHS = [
    *(0, 1, 15, 16, 1000),
    *(n * CHUNK + d for n in (1, 2, 4) for d in (-1, 0, 1)),
    *((1 << 20) + d for d in (-1, 0, 1)),
    (3 << 20) + 7,
]
SHORT = b"attack at dawn"
# Not ASCII, because age uses the UTF-8 bytes without normalisation.
PASSPHRASE = "correct hörse battery staple"
ARMOR = b"-----BEGIN AGE ENCRYPTED FILE-----"


@dataclass(frozen=True)
class KeyHolder:
    """A recipient and its private key, as text."""

    recipient: str
    identity: str

    def pyrage_recipient(self) -> object:
        if self.recipient.startswith("age1"):
            return pyrage.x25519.Recipient.from_str(self.recipient)
        return pyrage.ssh.Recipient.from_str(self.recipient)

    def pyrage_identity(self) -> object:
        if self.identity.startswith("AGE-SECRET-KEY-1"):
            return pyrage.x25519.Identity.from_str(self.identity)
        return pyrage.ssh.Identity.from_buffer(self.identity.encode())


def with_ssh(folder: Path, *kind: str) -> KeyHolder:
    path = folder / kind[0]
    run("ssh-keygen", "-q", "-t", *kind, "-N", "", "-C", "somebody@example", "-f", path)
    return KeyHolder(path.with_suffix(".pub").read_text().strip(), path.read_text())


KINDS = ["x25519", "ssh-ed25519", "ssh-rsa"]


@pytest.fixture(scope="module")
def holders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, KeyHolder]:
    folder = tmp_path_factory.mktemp("ssh")
    theirs = pyrage.x25519.Identity.generate()
    return {
        "x25519": KeyHolder(str(theirs.to_public()), str(theirs)),
        "ssh-ed25519": with_ssh(folder, "ed25519"),
        "ssh-rsa": with_ssh(folder, "rsa", "-b", "3072"),
    }


def age_writes(folder: Path, data: bytes, holders: list[KeyHolder], armor: bool) -> bytes:
    recipients = [argument for holder in holders for argument in ("-r", holder.recipient)]
    return run("age", *(["-a"] if armor else []), *recipients, stdin=data)


def age_reads(folder: Path, sealed: bytes, holder: KeyHolder) -> bytes:
    identity = folder / "identity"
    identity.write_text(holder.identity)
    return run("age", "-d", "-i", identity, stdin=sealed)


def pyrage_writes(folder: Path, data: bytes, holders: list[KeyHolder], armor: bool) -> bytes:
    return bytes(pyrage.encrypt(data, [holder.pyrage_recipient() for holder in holders], armored=armor))


def pyrage_reads(folder: Path, sealed: bytes, holder: KeyHolder) -> bytes:
    return bytes(pyrage.decrypt(sealed, [holder.pyrage_identity()]))


Writes = Callable[[Path, bytes, list[KeyHolder], bool], bytes]
Reads = Callable[[Path, bytes, KeyHolder], bytes]
PROGRAMS: dict[str, tuple[Writes, Reads]] = {
    "age": (age_writes, age_reads),
    "pyrage": (pyrage_writes, pyrage_reads),
}


def opens_in_every_way(folder: Path, sealed: bytes, data: bytes, identity: str) -> None:
    """Decrypts in memory, from file to file, as a stream, and at a position."""
    assert sealane.decrypt(sealed, identities=[identity]) == data
    path = folder / "theirs"
    path.write_bytes(sealed)
    sealane.decrypt_file(path, folder / "plain", identities=[identity])
    assert (folder / "plain").read_bytes() == data
    streamed = io.BytesIO()
    sealane.decrypt_file(io.BytesIO(sealed), streamed, identities=[identity])
    assert streamed.getvalue() == data
    with sealane.open(path, "rb", identities=[identity]) as file:
        for place in {0, len(data) // 2, max(0, len(data) - 1), len(data)}:
            file.seek(place)
            assert file.read(CHUNK + 1) == data[place : place + CHUNK + 1]
        file.seek(0, 2)
        assert file.tell() == len(data)


def written_in_every_way(folder: Path, data: bytes, recipients: list[str], armor: bool) -> list[bytes]:
    (folder / "source").write_bytes(data)
    sealane.encrypt_file(folder / "source", folder / "ours", recipients=recipients, armor=armor)
    streamed = io.BytesIO()
    sealane.encrypt_file(io.BytesIO(data), streamed, recipients=recipients, armor=armor)
    with sealane.open(folder / "written", "wb", recipients=recipients, armor=armor) as file:
        file.write(data[: len(data) // 3])
        file.write(data[len(data) // 3 :])
    return [
        sealane.encrypt(data, recipients=recipients, armor=armor),
        (folder / "ours").read_bytes(),
        streamed.getvalue(),
        (folder / "written").read_bytes(),
    ]


# claim: tested-interop
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("armor", [False, True], ids=["binary", "armor"])
@pytest.mark.parametrize("length", LENGTHS)
def test_files_of_every_length(
    tmp_path: Path, holders: dict[str, KeyHolder], length: int, armor: bool, program: str
) -> None:
    writes, reads = PROGRAMS[program]
    holder, data = holders["x25519"], pattern(length)
    theirs = writes(tmp_path, data, [holder], armor)
    assert theirs.startswith(ARMOR) == armor
    opens_in_every_way(tmp_path, theirs, data, holder.identity)
    for ours in written_in_every_way(tmp_path, data, [holder.recipient], armor):
        assert ours.startswith(ARMOR) == armor
        assert reads(tmp_path, ours, holder) == data


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("armor", [False, True], ids=["binary", "armor"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", [0, CHUNK + 1])
def test_every_kind_of_key(
    tmp_path: Path, holders: dict[str, KeyHolder], kind: str, length: int, armor: bool, program: str
) -> None:
    writes, reads = PROGRAMS[program]
    holder, data = holders[kind], pattern(length)
    opens_in_every_way(tmp_path, writes(tmp_path, data, [holder], armor), data, holder.identity)
    ours = sealane.encrypt(data, recipients=[holder.recipient], armor=armor)
    assert reads(tmp_path, ours, holder) == data


@pytest.mark.parametrize("kind", [("ed25519",), ("rsa", "-b", "2048")], ids=["ssh-ed25519", "ssh-rsa"])
def test_encrypted_ssh_keys(tmp_path: Path, kind: tuple[str, ...]) -> None:
    """The keys have a passphrase, for which the program asks."""
    path = tmp_path / "locked"
    run("ssh-keygen", "-q", "-t", *kind, "-N", PASSPHRASE, "-f", path)
    recipient = path.with_suffix(".pub").read_text().strip()
    (tmp_path / "ours").write_bytes(sealane.encrypt(SHORT, recipients=[recipient]))
    status, shown = typed([PASSPHRASE], "age", "-d", "-i", path, "-o", tmp_path / "back", tmp_path / "ours")
    assert status == 0, shown
    assert (tmp_path / "back").read_bytes() == SHORT
    with pytest.raises(ValueError, match="passphrase"):
        sealane.decrypt(run("age", "-r", recipient, stdin=SHORT), identities=[path])
    key = sealane.keys.load(path, PASSPHRASE)
    assert sealane.decrypt(run("age", "-r", recipient, stdin=SHORT), identities=[key]) == SHORT
    with pytest.raises(sealane.NoMatchingKeyError):
        sealane.keys.load(path, "another")


@pytest.mark.parametrize("program", PROGRAMS)
def test_several_recipients(tmp_path: Path, holders: dict[str, KeyHolder], program: str) -> None:
    writes, reads = PROGRAMS[program]
    all_holders = [*holders.values()]
    for _ in range(20):
        key = sealane.keys.generate("age")
        all_holders.append(KeyHolder(str(key.public), key.to_text().strip().splitlines()[-1]))
    data = pattern(1000)
    theirs = writes(tmp_path, data, all_holders, False)
    ours = sealane.encrypt(data, recipients=[holder.recipient for holder in all_holders])
    for holder in all_holders:
        assert sealane.decrypt(theirs, identities=[holder.identity]) == data
        assert reads(tmp_path, ours, holder) == data
    # The matching identity may be at any position.
    others = [sealane.keys.generate("age") for _ in range(3)]
    assert sealane.decrypt(theirs, identities=[*others, holders["ssh-rsa"].identity, *others]) == data


@pytest.mark.parametrize("program", PROGRAMS)
def test_rejects_an_identity_without_recipient(
    tmp_path: Path, holders: dict[str, KeyHolder], program: str
) -> None:
    writes, _ = PROGRAMS[program]
    theirs = writes(tmp_path, SHORT, [holders["x25519"]], False)
    for identity in (
        holders["ssh-ed25519"].identity,
        holders["ssh-rsa"].identity,
        sealane.keys.generate("age"),
    ):
        with pytest.raises(sealane.NoMatchingKeyError):
            sealane.decrypt(theirs, identities=[identity])
    ours = sealane.encrypt(SHORT, recipients=[holders["x25519"].recipient])
    with pytest.raises(pyrage.DecryptError, match="No matching keys"):
        pyrage.decrypt(ours, [pyrage.x25519.Identity.generate()])
    run("age-keygen", "-o", tmp_path / "other")
    assert "no identity matched" in refused("age", "-d", "-i", tmp_path / "other", stdin=ours)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("armor", [False, True], ids=["binary", "armor"])
def test_both_reject_changed_files(
    tmp_path: Path, holders: dict[str, KeyHolder], armor: bool, program: str
) -> None:
    """Each kind of damage has its own error, and the other implementations reject the file as well."""
    writes, _ = PROGRAMS[program]
    holder = holders["x25519"]
    for sealed in (
        writes(tmp_path, SHORT, [holder], False),
        sealane.encrypt(SHORT, recipients=[holder.recipient]),
    ):
        mac = sealed.index(b"\n--- ") + 5
        payload = sealed.index(b"\n", mac) + 1
        for place, error in (
            (0, sealane.FormatError),
            (mac + 5, sealane.FormatError),
            (len(sealed) - 20, sealane.AuthenticationError),
        ):
            changed = bytearray(sealed)
            changed[place] ^= 1 if place < payload else 0x80
            with pytest.raises(error):
                sealane.decrypt(changed, identities=[holder.identity])
            with pytest.raises(pyrage.DecryptError):
                pyrage.decrypt(bytes(changed), [holder.pyrage_identity()])
        for end in (10, mac, payload + 8, len(sealed) - 1):
            with pytest.raises(sealane.SealaneError):
                sealane.decrypt(sealed[:end], identities=[holder.identity])


@pytest.mark.parametrize("armor", [False, True], ids=["binary", "armor"])
def test_passphrases_of_pyrage(tmp_path: Path, armor: bool) -> None:
    data = pattern(CHUNK + 1)
    theirs = pyrage.passphrase.encrypt(data, PASSPHRASE, armored=armor)
    # pyrage picks the work factor for one second on this machine, which may exceed the default
    # limit.
    assert sealane.decrypt(theirs, passphrase=PASSPHRASE, max_work_factor=24) == data
    with pytest.raises(sealane.NoMatchingKeyError):
        sealane.decrypt(theirs, passphrase=PASSPHRASE + "?", max_work_factor=24)
    ours = sealane.encrypt(data, passphrase=PASSPHRASE, armor=armor)
    assert pyrage.passphrase.decrypt(ours, PASSPHRASE) == data
    with pytest.raises(pyrage.DecryptError):
        pyrage.passphrase.decrypt(ours, PASSPHRASE + "?")


@pytest.mark.parametrize("armor", [False, True], ids=["binary", "armor"])
def test_passphrases_of_age(tmp_path: Path, armor: bool) -> None:
    """The program reads passphrases only from a terminal."""
    data = pattern(CHUNK + 1)
    plain, theirs, ours, back = (tmp_path / name for name in ("plain", "theirs", "ours", "back"))
    plain.write_bytes(data)
    options = ["-a"] if armor else []
    status, shown = typed([PASSPHRASE, PASSPHRASE], "age", "-p", *options, "-o", theirs, plain)
    assert status == 0, shown
    assert theirs.read_bytes().startswith(ARMOR) == armor
    assert sealane.decrypt(theirs.read_bytes(), passphrase=PASSPHRASE) == data
    with sealane.open(theirs, "rb", passphrase=PASSPHRASE) as file:
        file.seek(CHUNK - 1)
        assert file.read() == data[CHUNK - 1 :]
    with pytest.raises(sealane.NoMatchingKeyError):
        sealane.decrypt_file(theirs, back, passphrase="another")

    sealane.encrypt_file(plain, ours, passphrase=PASSPHRASE, armor=armor)
    status, shown = typed([PASSPHRASE], "age", "-d", "-o", back, ours)
    assert status == 0, shown
    assert back.read_bytes() == data
    status, shown = typed(["another"], "age", "-d", "-o", back, ours)
    assert status == 1
    assert "incorrect passphrase" in shown


def test_key_files(tmp_path: Path) -> None:
    """sealane reads the files of age-keygen, and age reads ours."""
    run("age-keygen", "-o", tmp_path / "theirs")
    theirs = sealane.keys.load(tmp_path / "theirs")
    assert theirs.kind == "age"
    assert run("age-keygen", "-y", tmp_path / "theirs").decode().strip() == str(theirs.public)

    ours = sealane.keys.generate("age")
    ours.save(tmp_path / "ours")
    assert run("age-keygen", "-y", tmp_path / "ours").decode().strip() == str(ours.public)
    ours.public.save(tmp_path / "ours.pub")

    for key, name in ((theirs, "theirs"), (ours, "ours")):
        sealed = run("age", "-r", str(key.public), stdin=SHORT)
        for identity in (key, tmp_path / name, (tmp_path / name).read_text()):
            assert sealane.decrypt(sealed, identities=[identity]) == SHORT
        for recipient in (key.public, str(key.public)):
            sealed = sealane.encrypt(SHORT, recipients=[recipient])
            assert run("age", "-d", "-i", tmp_path / name, stdin=sealed) == SHORT
    sealed = run("age", "-R", tmp_path / "ours.pub", stdin=SHORT)
    assert sealane.decrypt(sealed, identities=[ours]) == SHORT


def test_encrypted_key_files(tmp_path: Path) -> None:
    ours = sealane.keys.generate("age")
    ours.save(tmp_path / "ours", PASSPHRASE)
    sealed = tmp_path / "sealed"
    sealane.encrypt_file(io.BytesIO(SHORT), sealed, recipients=[ours.public])
    status, shown = typed([PASSPHRASE], "age", "-d", "-i", tmp_path / "ours", "-o", tmp_path / "back", sealed)
    assert status == 0, shown
    assert (tmp_path / "back").read_bytes() == SHORT

    run("age-keygen", "-o", tmp_path / "plain")
    status, shown = typed([PASSPHRASE] * 2, "age", "-p", "-a", "-o", tmp_path / "theirs", tmp_path / "plain")
    assert status == 0, shown
    theirs = sealane.keys.load(tmp_path / "theirs", PASSPHRASE)
    assert theirs.public == sealane.keys.load(tmp_path / "plain").public
    with pytest.raises(sealane.NoMatchingKeyError):
        sealane.keys.load(tmp_path / "theirs", "another")


def test_symmetric_keys_for_recipients(tmp_path: Path, holders: dict[str, KeyHolder]) -> None:
    """A symmetric key for recipients is its JWK in an age file."""
    key = sealane.keys.generate("aes-256")
    recipients = [holder.recipient for holder in holders.values()]
    key.save(tmp_path / "key.age", recipients=recipients)
    for holder in holders.values():
        for _, reads in PROGRAMS.values():
            text = reads(tmp_path, (tmp_path / "key.age").read_bytes(), holder).decode()
            assert bytes(sealane.keys.Key.from_text(text)) == bytes(key)
        assert bytes(sealane.keys.load(tmp_path / "key.age", identities=[holder.identity])) == bytes(key)
    for writes, _ in PROGRAMS.values():
        (tmp_path / "theirs.age").write_bytes(
            writes(tmp_path, key.to_text().encode(), [holders["x25519"]], True)
        )
        identities = [holders["x25519"].identity]
        assert bytes(sealane.keys.load(tmp_path / "theirs.age", identities=identities)) == bytes(key)


def test_rejects_what_age_cannot_read(holders: dict[str, KeyHolder]) -> None:
    """An empty list of recipients, or recipients together with a passphrase, is an error in both."""
    with pytest.raises((TypeError, ValueError)):
        sealane.encrypt(SHORT, recipients=[])
    with pytest.raises(TypeError):
        sealane.encrypt(SHORT, recipients=[holders["x25519"].recipient], passphrase=PASSPHRASE)
    with pytest.raises(TypeError):
        sealane.encrypt(SHORT, recipients=holders["x25519"].recipient)
    with pytest.raises(ValueError, match="context"):
        sealane.encrypt(SHORT, recipients=[holders["x25519"].recipient], context=b"context")
