"""Signatures of every binding in Python and the program, with ssh-keygen and minisign both ways."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import sealane
from programs import program, refused, run
from sealane.signing import sign, verify

SEALANE = str(Path(sys.executable).parent / "sealane")
MESSAGES = [b"", b"message", bytes(range(256)) * 5000]


@pytest.fixture
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", "ssh")
    Path("allowed").write_text(f'me@example.com namespaces="file,release" {Path("ssh.pub").read_text()}')
    return tmp_path


@pytest.fixture
def minisign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    run("minisign", "-G", "-W", "-p", "mini.pub", "-s", "mini")
    return tmp_path


@pytest.mark.parametrize("message", MESSAGES, ids=len)
@pytest.mark.parametrize("namespace", ["file", "release"])
def test_ssh_keygen(ssh: Path, message: bytes, namespace: str) -> None:
    Path("data").write_bytes(message)
    check = ["-Y", "verify", "-f", "allowed", "-I", "me@example.com", "-n", namespace, "-s", "ours.sig"]
    Path("ours.sig").write_bytes(sign("data", "ssh", namespace=namespace))
    assert b"Good" in run("ssh-keygen", *check, stdin=message)
    assert "verif" in refused("ssh-keygen", *check, stdin=message + b"x").lower()
    for hash_name in ("sha256", "sha512"):
        options = ["-f", "ssh", "-n", namespace, "-O", f"hashalg={hash_name}"]
        signature = run("ssh-keygen", "-Y", "sign", *options, stdin=message)
        assert verify("data", signature, "allowed", namespace=namespace) == ("me@example.com", "")
        with pytest.raises(sealane.AuthenticationError, match="does not match"):
            verify(message + b"x", signature, "allowed", namespace=namespace)
    # The fingerprint is that of ssh-keygen.
    fingerprint = run("ssh-keygen", "-l", "-f", "ssh.pub").split()[1].decode()
    assert verify(message, "ours.sig", "ssh.pub", namespace=namespace).signer == fingerprint


@pytest.mark.parametrize(
    "options",
    [
        "",
        'namespaces="file"',
        'namespaces="git"',
        'namespaces="f*"',
        'namespaces="*,!file"',
        'namespaces="git,fi?e"',
        'valid-before="20200101"',
        'valid-before="20990101"',
        'valid-before="20990101Z"',
        'valid-after="20990101"',
        'valid-after="20200101",valid-before="209901010000"',
        'VALID-AFTER="20200101235959"',
        'valid-after="2020"',
        "valid-after=20200101",
        "unknown",
        "cert-authority",
        "cert-authority=",
        'cert-authority,namespaces="file"',
        ",",
        'namespaces="file",',
        ',namespaces="file"',
        'namespaces="file",,valid-after="20200101"',
        'namespaces=" file"',
        'namespaces="file, git"',
        'namespaces="git, file"',
        'namespaces="a b,file"',
        'namespaces = "file"',
        'namespaces="file"x',
        'namespaces="file',
        '"namespaces=file"',
        'namespaces="FILE"',
        'namespaces="!git,*"',
        "valid-before='20990101'",
        'valid-before="20990101" valid-after="20200101"',
        'valid-after="20200101z"',
        'valid-after="2020010112"',
        'valid-after="20200101T120000"',
        'valid-after="always"',
        'valid-after="20990101",valid-before="20200101"',
        'valid-after="",namespaces="file"',
        "touch-required",
    ],
)
def test_both_accept_the_same_allowed_signers(ssh: Path, options: str) -> None:
    signature = sign(b"message", "ssh")
    Path("m.sig").write_bytes(signature)
    Path("list").write_text(f"me@example.com {options} {Path('ssh.pub').read_text()}")
    check = ["-Y", "verify", "-f", "list", "-I", "me@example.com", "-n", "file", "-s", "m.sig"]
    done = subprocess.run([program("ssh-keygen"), *check], input=b"message", capture_output=True)
    theirs = done.returncode == 0
    try:
        ours = verify(b"message", signature, "list").signer == "me@example.com"
    except (sealane.AuthenticationError, sealane.FormatError, ValueError):
        ours = False
    assert ours == theirs, done.stderr


def test_certificates_are_refused(ssh: Path) -> None:
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", "authority")
    run("ssh-keygen", "-q", "-s", "authority", "-I", "id", "-n", "me@example.com", "ssh.pub")
    signature = run("ssh-keygen", "-Y", "sign", "-f", "ssh-cert.pub", "-n", "file", stdin=b"message")
    authority = f"me@example.com cert-authority {Path('authority.pub').read_text()}"
    for text in authority, f"me@example.com {Path('ssh-cert.pub').read_text()}":
        Path("list").write_text(text)
        for each in signature, sign(b"message", "ssh"):
            with pytest.raises(ValueError, match="certificate authorities, which are not supported"):
                verify(b"message", each, "list")
    with pytest.raises(sealane.AuthenticationError, match="made with another key"):
        verify(b"message", signature, "allowed")
    with pytest.raises(sealane.FormatError, match="expected an OpenSSH private key"):
        sign(b"message", "ssh-cert.pub")


def test_ssh_keygen_refuses_the_same_revoked_keys(ssh: Path) -> None:
    signature = sign(b"message", "ssh")
    Path("m.sig").write_bytes(signature)
    check = ["-Y", "verify", "-f", "allowed", "-I", "me@example.com", "-n", "file", "-s", "m.sig"]
    check += ["-r", "gone"]
    Path("gone").write_text("# nobody\n")
    run("ssh-keygen", *check, stdin=b"message")
    assert verify(b"message", signature, "allowed", revoked="gone")
    Path("gone").write_text(Path("ssh.pub").read_text())
    refused("ssh-keygen", *check, stdin=b"message")
    with pytest.raises(sealane.AuthenticationError, match="revoked"):
        verify(b"message", signature, "allowed", revoked="gone")
    # A binary list is refused, and not read as an empty one.
    run("ssh-keygen", "-q", "-k", "-f", "krl", "ssh.pub")
    with pytest.raises(sealane.FormatError, match="found a binary list of ssh-keygen -k"):
        verify(b"message", signature, "allowed", revoked="krl")


@pytest.mark.parametrize("message", MESSAGES, ids=len)
def test_minisign(minisign: Path, message: bytes) -> None:
    Path("data").write_bytes(message)
    for comment in (None, "version 1.2 ü", "  blanks  ", "x" * 8000):
        Path("data.minisig").write_bytes(sign("data", "mini", format="minisign", comment=comment))
        shown = run("minisign", "-V", "-Q", "-p", "mini.pub", "-m", "data").decode()
        found = verify("data", "data.minisig", "mini.pub")
        assert shown.removesuffix("\n") == found.comment
        assert comment is None or comment == found.comment
    assert found.signer in Path("mini.pub").read_text()
    run("minisign", "-S", "-s", "mini", "-t", "  theirs ", "-m", "data")
    assert verify("data", "data.minisig", "mini.pub").comment == "  theirs "
    signature = Path("data.minisig").read_bytes()
    for changed in (message + b"x", message[:-1] + b"y" if message else b"y"):
        with pytest.raises(sealane.AuthenticationError, match="does not match"):
            verify(changed, signature, "mini.pub")
    with pytest.raises(sealane.AuthenticationError, match="does not match"):
        verify(message, signature.replace(b"theirs", b"Theirs"), "mini.pub")
    run("minisign", "-S", "-l", "-s", "mini", "-m", "data")
    with pytest.raises(sealane.UnsupportedVersionError, match="without prehashing"):
        verify("data", "data.minisig", "mini.pub")
    with pytest.raises(ValueError, match="minisign has no namespaces"):
        sign("data", "mini", namespace="git")
    with pytest.raises(ValueError, match="minisign has no namespaces"):
        verify("data", signature, "mini.pub", namespace="git")


# claim: signature-stream
@pytest.mark.parametrize("command", ["sign", "verify-signature"])
def test_a_large_file_takes_little_memory(ssh: Path, command: str) -> None:
    with open("large", "wb") as file:
        file.truncate(1 << 30)
    run("ssh-keygen", "-q", "-Y", "sign", "-f", "ssh", "-n", "file", "large")

    def peak(*arguments: str) -> int:
        child = os.posix_spawn(SEALANE, [SEALANE, *arguments], os.environ)
        _, status, usage = os.wait4(child, 0)
        assert status == 0
        return usage.ru_maxrss << 10

    options = {"sign": ["-k", "ssh", "-o", "other"], "verify-signature": ["--signer", "ssh.pub"]}[command]
    small = peak("keygen", "--quiet", "-o", "key")
    assert peak(command, *options, "large") - small < 20 << 20
