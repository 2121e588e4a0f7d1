"""Inventories of encrypted folders for ssh-keygen and minisign, and restored folders for rsync."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.cobblestone import Cobblestone256Decryptor
from programs import program, refused, run

SEALANE = str(Path(sys.executable).parent / "sealane")
NAMESPACE = "sealane-inventory"


def hash_of(content: bytes) -> bytes:
    """The hash of a file in an inventory: a tree of SHA-256, as RFC 6962 has it."""

    def sha256(kind: int, *parts: bytes) -> bytes:
        return hashlib.sha256(bytes([kind]) + b"".join(parts)).digest()

    def root(leaves: list[bytes]) -> bytes:
        if len(leaves) == 1:
            return sha256(0, leaves[0])
        left = 1 << (len(leaves) - 1).bit_length() - 1
        return sha256(1, root(leaves[:left]), root(leaves[left:]))

    leaves = [content[at : at + 16384] for at in range(0, len(content), 16384)] or [b""]
    return sha256(2, len(content).to_bytes(8, "big"), root(leaves))


class Vault:
    """A folder that is encrypted with an inventory, with the programs that read it."""

    def __init__(self, folder: Path, kind: str) -> None:
        self.folder = folder
        source = folder / "in"
        (source / "sub").mkdir(parents=True)
        for name in ("a", "b", "sub/c", "A", "dots..", "sub/ü"):
            (source / name).write_bytes(name.encode() * 1000)
        (source / os.fsdecode(b"\xff")).write_bytes(b"bytes")
        (source / "link").symlink_to("a")
        self.run("keygen", "-o", "key.jwk")
        if kind == "ssh":
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "backup", "-f", folder / "sign")
            self.signer, self.suffix = "sign.pub", ".sig"
        else:
            run("minisign", "-G", "-W", "-p", folder / "sign.pub", "-s", folder / "sign")
            self.signer, self.suffix = "sign.pub", ".minisig"

    def run(self, *arguments: str, status: int = 0) -> str:
        done = subprocess.run([SEALANE, *arguments], cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == status, (arguments, done.stdout, done.stderr)
        return done.stdout + done.stderr

    def encrypt(self, *more: str, status: int = 0) -> str:
        options = ["--recursive", "--preserve", "--suffix", ".s", "-k", "key.jwk", "-o", "vault"]
        signed = ["--inventory", "list", "--sign-key", "sign"]
        return self.run("encrypt", *options, *signed, *more, "in", status=status)

    def verify(self, *more: str, status: int = 0) -> str:
        options = ["--recursive", "--suffix", ".s", "-k", "key.jwk", "--inventory", "list"]
        return self.run("verify", *options, "--signer", self.signer, *more, "vault", status=status)


@pytest.fixture(params=["ssh", "minisign"])
def vault(request: pytest.FixtureRequest, tmp_path: Path) -> Vault:
    vault = Vault(tmp_path, request.param)
    vault.encrypt()
    return vault


def test_other_programs_verify_the_signature(vault: Vault) -> None:
    inventory = vault.folder / "list"
    if vault.suffix == ".sig":
        signers = vault.folder / "allowed"
        signers.write_text(f'backup namespaces="{NAMESPACE}" {(vault.folder / "sign.pub").read_text()}')
        verify = ["ssh-keygen", "-Y", "verify", "-f", str(signers), "-I", "backup", "-n", NAMESPACE]
        verify += ["-s", f"{inventory}.sig"]
        assert b"Good" in run(*verify, stdin=inventory.read_bytes())
        assert "verif" in refused(*verify, stdin=inventory.read_bytes() + b"x").lower()
    else:
        verify = ["minisign", "-V", "-p", str(vault.folder / "sign.pub"), "-m", str(inventory)]
        assert b"sealane inventory, counter" in run(*verify)
    # Other software reads the list, which is an ordinary encrypted file.
    key = json.loads((vault.folder / "key.jwk").read_text())["k"]
    reader = Cobblestone256Decryptor(base64.urlsafe_b64decode(key + "=="), b"")
    listed = json.loads(reader.update(inventory.read_bytes()) + reader.finalize())
    assert (listed["sealane"], listed["version"]) == ("inventory", 2)
    assert f"of folder {listed['folder']}: 7 files listed, 0 differences" in vault.verify()
    names = {entry["name"] for entry in listed["files"]}
    assert names == {"a.s", "b.s", "sub/c.s", "A.s", "dots...s", "sub/ü.s", os.fsdecode(b"\xff.s")}
    for entry in listed["files"]:
        content = (vault.folder / "vault" / entry["name"]).read_bytes()
        assert entry["length"] == len(content)
        assert base64.b64decode(entry["hash"]) == hash_of(content)
    assert listed["links"] == [{"name": "link.s", "target": "a"}]


def test_a_signature_of_the_other_program_is_accepted(vault: Vault) -> None:
    inventory = vault.folder / "list"
    Path(f"{inventory}{vault.suffix}").unlink()
    if vault.suffix == ".sig":
        run("ssh-keygen", "-Y", "sign", "-f", vault.folder / "sign", "-n", NAMESPACE, inventory)
    else:
        run("minisign", "-S", "-s", vault.folder / "sign", "-m", inventory)
    vault.verify()
    # A signature for another purpose is refused.
    if vault.suffix == ".sig":
        Path(f"{inventory}.sig").unlink()
        run("ssh-keygen", "-Y", "sign", "-f", vault.folder / "sign", "-n", "file", inventory)
        assert "does not match the signature" in vault.verify(status=1)


# claim: folder-inventory, folder-counter
def test_every_attack_on_the_folder_is_found(vault: Vault) -> None:
    files = vault.folder / "vault"
    shutil.copytree(files, vault.folder / "first", symlinks=True)
    shutil.copy2(vault.folder / "list", vault.folder / "first-list")
    shutil.copy2(vault.folder / f"list{vault.suffix}", vault.folder / f"first-list{vault.suffix}")
    (vault.folder / "in" / "a").write_text("changed")
    vault.encrypt()
    good = vault.folder / "good"
    shutil.copytree(files, good, symlinks=True)
    counter = [line for line in vault.verify().splitlines() if line.startswith("inventory with counter")]
    number = int(counter[0].split()[3].rstrip(":"))

    def after(attack: str) -> str:
        shutil.rmtree(files)
        shutil.copytree(good, files, symlinks=True)
        subprocess.run(["sh", "-euc", attack], cwd=vault.folder, check=True)
        return vault.verify(status=1)

    assert "vault/b.s: missing" in after("rm vault/b.s")
    assert "vault/new.s: added: a copy of the file that the inventory lists as b.s" in after(
        "cp vault/b.s vault/new.s"
    )
    exchanged = after("mv vault/b.s x; mv vault/sub/c.s vault/b.s; mv x vault/sub/c.s")
    assert "vault/b.s: exchanged: the inventory lists this file as sub/c.s" in exchanged
    assert "vault/sub/c.s: exchanged: the inventory lists this file as b.s" in exchanged
    assert "vault/moved.s: renamed: the inventory lists this file as b.s" in after(
        "mv vault/b.s vault/moved.s"
    )
    assert "vault/a.s: old: an earlier version" in after("cp first/a.s vault/a.s")
    assert "vault/link.s: changed" in after("ln -sfn b vault/link.s")
    assert "vault/link.s: missing" in after("rm vault/link.s")
    assert "vault/x.s: added: the inventory does not list it" in after("cp key.jwk vault/x.s")

    # The whole folder of an earlier day, with its inventory: only the counter tells.
    shutil.rmtree(files)
    shutil.copytree(vault.folder / "first", files, symlinks=True)
    shutil.copy2(vault.folder / "first-list", vault.folder / "list")
    shutil.copy2(vault.folder / f"first-list{vault.suffix}", vault.folder / f"list{vault.suffix}")
    vault.verify()
    assert f"expected an inventory with a counter of at least {number}" in vault.verify(
        "--min-counter", str(number), status=1
    )


# claim: folder-signature
def test_a_damaged_inventory(vault: Vault) -> None:
    inventory, signature = vault.folder / "list", vault.folder / f"list{vault.suffix}"
    content, signed = inventory.read_bytes(), signature.read_bytes()
    for cut in (content[:-1], content[:100], b"", content + b"x"):
        inventory.write_bytes(cut)
        assert "does not match the signature" in vault.verify(status=1)
    inventory.write_bytes(content)
    for bad in (signed[:-30], signed[: len(signed) // 2], b"", b"nothing"):
        signature.write_bytes(bad)
        assert "does not match the signature" in vault.verify(status=1)
    signature.unlink()
    assert "expected a signature" in vault.verify(status=1)
    # The next job writes both again, and says what it found.
    assert "a new inventory without former versions begins" in vault.encrypt()
    vault.verify()

    # Another signer is refused, by both commands.
    other = Vault(vault.folder / "other", "ssh" if vault.suffix == ".sig" else "minisign")
    shutil.copy2(other.folder / "sign.pub", vault.folder / "sign.pub")
    assert "was made with another key" in vault.verify(status=1)
    shutil.copy2(other.folder / "sign", vault.folder / "sign")
    before = inventory.read_bytes()
    assert "was made with another key" in vault.encrypt(status=1)
    assert inventory.read_bytes() == before


# claim: folder-inventory
def test_a_job_does_not_list_what_it_did_not_write(tmp_path: Path) -> None:
    vault = Vault(tmp_path, "ssh")
    vault.encrypt("--manifest", "done")
    files = tmp_path / "vault"
    os.rename(files / "a.s", tmp_path / "x")
    os.rename(files / "b.s", files / "a.s")
    os.rename(tmp_path / "x", files / "b.s")
    for name in ("a.s", "b.s"):
        shutil.copystat(tmp_path / "in" / name[0], files / name)
    # The lengths and times that the manifest knows are the same.
    assert "expected the version of the last inventory, found another" in vault.encrypt(
        "--manifest", "done", status=1
    )
    # It has written both again.
    vault.verify()
    vault.encrypt("--manifest", "done")
    vault.verify()


# claim: folder-identifier
def test_an_inventory_of_version_1(tmp_path: Path) -> None:
    vault = Vault(tmp_path, "ssh")
    vault.encrypt()
    files = []
    for path in sorted((tmp_path / "vault").rglob("*.s")):
        if not path.is_symlink():
            content, name = path.read_bytes(), str(path.relative_to(tmp_path / "vault"))
            ends = {"head": content[:56], "tag": content[-16:]}
            texts = {field: base64.b64encode(part).decode() for field, part in ends.items()}
            files.append({"name": name, "length": len(content), **texts, "since": 5})
    links = [{"name": "link.s", "target": "a"}]
    listed = {
        "sealane": "inventory",
        "version": 1,
        "counter": 7,
        "files": files,
        "links": links,
        "former": [],
    }
    (tmp_path / "plain").write_text(json.dumps(listed))
    for old in ("list", "list.sig"):
        (tmp_path / old).unlink()
    vault.run("encrypt", "-k", "key.jwk", "-o", "list", "plain")
    run("ssh-keygen", "-q", "-Y", "sign", "-f", tmp_path / "sign", "-n", NAMESPACE, tmp_path / "list")
    found = vault.verify("--min-counter", "7")
    assert "version 1 does not prove which folder it lists" in found
    assert f"inventory with counter 7: {len(files)} files listed, 0 differences" in found
    assert "names no folder" in vault.verify("--folder", "0" * 32, status=1)
    assert "counter of at least 8" in vault.verify("--min-counter", "8", status=1)
    # The next inventory is of version 2, and knows the same versions.
    vault.encrypt()
    assert "version 1" not in vault.verify()


# claim: folder-content
def test_former_recipients_and_other_folders(tmp_path: Path) -> None:
    """A file that a holder of its key changed in the middle, and a folder with another's inventory."""
    vault = Vault(tmp_path, "ssh")
    said = vault.encrypt()
    (line,) = [line for line in said.splitlines() if line.startswith("inventory with counter")]
    folder = line.split(" of folder ")[1].split(":")[0]
    assert f"of folder {folder}" in vault.verify("--folder", folder)
    assert f"of folder {folder}" in vault.encrypt("--folder", folder)
    other = Vault(tmp_path / "other", "ssh")
    for name in ("sign", "sign.pub", "key.jwk"):
        shutil.copy2(tmp_path / name, tmp_path / "other" / name)
    other.encrypt()
    for name in ("vault", "list", "list.sig"):
        shutil.move(tmp_path / name, tmp_path / f"first-{name}")
        shutil.move(tmp_path / "other" / name, tmp_path / name)
    vault.verify()
    assert f"expected the inventory of folder {folder}" in vault.verify("--folder", folder, status=1)
    before = (tmp_path / "list").read_bytes()
    assert f"expected the inventory of folder {folder}" in vault.encrypt("--folder", folder, status=1)
    assert (tmp_path / "list").read_bytes() == before
    assert "32 digits" in vault.encrypt("--folder", "vault", status=2)
    assert (tmp_path / "list").read_bytes() == before


def test_rsync_finds_no_difference(tmp_path: Path) -> None:
    vault = Vault(tmp_path, "ssh")
    vault.encrypt()
    vault.run(
        "decrypt", "--recursive", "--preserve", "--suffix", ".s", "-k", "key.jwk", "-o", "back", "vault"
    )
    program("rsync")
    compare = ["-a", "--dry-run", "--itemize-changes", "--delete"]
    assert run("rsync", *compare, f"{tmp_path}/in/", f"{tmp_path}/back/") == b""
