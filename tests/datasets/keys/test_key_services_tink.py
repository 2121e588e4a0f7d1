"""Encrypted keysets exchanged with Tink's clients of AWS KMS and Vault; hvac beside our Transit server."""

from __future__ import annotations

import base64
from pathlib import Path

import hvac
import pytest
import sealane
import tink
from key_services import Aws, Service, Transit
from sealane.fs import create_dataset_key, rewrap_dataset_key
from sealane.keys import Keyring, resolve
from tink import aead
from tink.integration import awskms, hcvault

aead.register()


# Tink's client of Vault refuses associated data; test_hvac_reads_our_keysets has that case.
CASES = pytest.mark.parametrize(
    ("service", "context"), [("aws", ""), ("aws", "sales"), ("vault", "")], indirect=["service"]
)


def tinks(service: Service, wrapping_key: str) -> aead.Aead:
    """Tink's object for a wrapping key of a key service."""
    name = wrapping_key.partition("?")[0].partition(":")[2]
    if isinstance(service, Aws):
        return awskms.new_client(boto3_client=service.client()).get_aead(f"aws-kms://{name}")
    mount, key = name.split("/")
    return hcvault.new_aead(f"{mount}/keys/{key}", hvac.Client(url=service.url, token=service.token))


@CASES
def test_tink_reads_our_keysets(service: Service, tmp_path: Path, context: str) -> None:
    wrapping_key = service.new_key() + (f"?context={context}" if context else "")
    path = tmp_path / "key.json"
    create_dataset_key(str(path), wrapping_key=wrapping_key)
    ring = resolve(f"{wrapping_key}#{path}")
    assert isinstance(ring, Keyring)
    handle = tink.json_proto_keyset_format.parse_encrypted(
        path.read_text(), tinks(service, wrapping_key), context.encode()
    )
    sealed = sealane.Aead(keyring=ring).seal(b"message", aad=b"header")
    assert handle.primitive(aead.Aead).decrypt(sealed, b"header") == b"message"
    with pytest.raises(tink.TinkError):
        tink.json_proto_keyset_format.parse_encrypted(
            path.read_text(), tinks(service, service.new_key()), b""
        )


@pytest.mark.parametrize("binary", [False, True])
@CASES
def test_we_read_keysets_of_tink(service: Service, tmp_path: Path, context: str, binary: bool) -> None:
    wrapping_key = service.new_key() + (f"?context={context}" if context else "")
    handle = tink.new_keyset_handle(aead.aead_key_templates.AES256_GCM)
    key = tinks(service, wrapping_key)
    if binary:
        content = tink.proto_keyset_format.serialize_encrypted(handle, key, context.encode())
    else:
        content = tink.json_proto_keyset_format.serialize_encrypted(handle, key, context.encode()).encode()
    (path := tmp_path / "tink").write_bytes(content)
    sealed = handle.primitive(aead.Aead).encrypt(b"message", b"header")
    ring = resolve(f"{wrapping_key}#{path}")
    assert isinstance(ring, Keyring)
    assert sealane.Aead(keyring=ring).open(sealed, aad=b"header") == b"message"
    new = service.new_key()
    rewrap_dataset_key(str(path), identity=wrapping_key, wrapping_key=new)
    handle = tink.json_proto_keyset_format.parse_encrypted(path.read_text(), tinks(service, new), b"")
    assert handle.primitive(aead.Aead).decrypt(sealed, b"header") == b"message"


def test_hvac_reads_our_keysets(vault: Transit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in vault.environment.items():
        monkeypatch.setenv(name, value)
    wrapping_key = vault.new_key() + "?context=sales"
    create_dataset_key(str(tmp_path / "key.json"), wrapping_key=wrapping_key)
    ring = resolve(f"{wrapping_key}#{tmp_path}/key.json")
    ciphertext = sealane._native.keyset_ciphertext((tmp_path / "key.json").read_bytes()).decode()
    mount, name = wrapping_key.removeprefix("vault:").partition("?")[0].split("/")
    client = hvac.Client(url=vault.url, token=vault.token)

    def decrypted(context: bytes) -> bytes:
        data = base64.b64encode(context).decode()
        response = client.secrets.transit.decrypt_data(
            name, ciphertext=ciphertext, mount_point=mount, associated_data=data
        )
        return base64.b64decode(response["data"]["plaintext"])

    assert isinstance(ring, Keyring)
    assert decrypted(b"sales") == ring.to_bytes()
    with pytest.raises(hvac.exceptions.InvalidRequest):
        decrypted(b"other")
