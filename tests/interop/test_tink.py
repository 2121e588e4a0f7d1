"""sealane and the Python library of Tink read the messages, streams and keysets of each other."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest
import sealane
import tink
from support import pattern
from tink import aead, json_proto_keyset_format, secret_key_access, streaming_aead
from tink import daead as deterministic
from tink.proto.aes_gcm_hkdf_streaming_pb2 import AesGcmHkdfStreamingKey
from tink.proto.aes_siv_pb2 import AesSivKey
from tink.proto.tink_pb2 import RAW
from tink.proto.tink_pb2 import KeyTemplate as Template
from tink.streaming_aead import streaming_aead_key_templates as templates

streaming_aead.register()

KIB, MIB = 1 << 10, 1 << 20
# Length of the key and of a segment in bytes, and the name of the format.
TEMPLATES = {
    "AES128_GCM_HKDF_4KB": (16, 4 * KIB, "tink-4kb"),
    "AES256_GCM_HKDF_4KB": (32, 4 * KIB, "tink-4kb"),
    "AES128_GCM_HKDF_1MB": (16, MIB, "tink-1mb"),
    "AES256_GCM_HKDF_1MB": (32, MIB, "tink-1mb"),
}


def lengths(key_len: int, segment: int) -> list[int]:
    """Lengths around the ends of the first segment, which contains the header, and of later ones."""
    first, other = segment - (1 + key_len + 7) - 16, segment - 16
    ends = [first + n * other for n in (0, 1, 2)] + ([first + 300 * other] if segment < MIB else [])
    return [0, 1, 16, 1000, *(end + d for end in ends for d in (-1, 0, 1))]


CASES = [
    (name, length)
    for name, (key_len, segment, _) in TEMPLATES.items()
    for length in lengths(key_len, segment)
]
CONTEXTS = [b"", b"context", bytes(range(256)) * 5]


class Kept(io.BytesIO):
    """A buffer that stays readable after Tink closes it."""

    def close(self) -> None:
        self.value = self.getvalue()
        super().close()


class Keyset:
    """Returns a Tink keyset of one key."""

    def __init__(self, handle: Any) -> None:
        self.json: str = json_proto_keyset_format.serialize(handle, secret_key_access.TOKEN)
        self.primitive = handle.primitive(streaming_aead.StreamingAead)

    @staticmethod
    def fresh(template: str) -> Keyset:
        return Keyset(tink.new_keyset_handle(getattr(templates, template)))

    @staticmethod
    def read(text: str) -> Keyset:
        return Keyset(json_proto_keyset_format.parse(text, secret_key_access.TOKEN))

    def writes(self, data: bytes, context: bytes) -> bytes:
        out = Kept()
        with self.primitive.new_encrypting_stream(out, context) as stream:
            stream.write(data)
        return out.value

    def reads(self, sealed: bytes, context: bytes) -> bytes:
        with self.primitive.new_decrypting_stream(io.BytesIO(sealed), context) as stream:
            return bytes(stream.read())

    def key_bytes(self) -> bytes:
        value = base64.b64decode(json.loads(self.json)["key"][0]["keyData"]["value"])
        return bytes(AesGcmHkdfStreamingKey.FromString(value).key_value)


# claim: tested-interop
@pytest.mark.parametrize(("template", "length"), CASES)
def test_files_both_ways(tmp_path: Path, template: str, length: int) -> None:
    key_len, _, format_name = TEMPLATES[template]
    data, context = pattern(length), CONTEXTS[length % len(CONTEXTS)]
    theirs = Keyset.fresh(template)
    keyset, raw = sealane.keys.Keyring.from_json(theirs.json), theirs.key_bytes()
    assert len(raw) == key_len

    sealed = theirs.writes(data, context)
    assert sealane.decrypt(sealed, key=keyset, context=context) == data
    assert sealane.decrypt(sealed, key=raw, format=format_name, context=context) == data
    path = tmp_path / "theirs"
    path.write_bytes(sealed)
    sealane.decrypt_file(path, tmp_path / "plain", key=keyset, context=context)
    assert (tmp_path / "plain").read_bytes() == data
    streamed = io.BytesIO()
    sealane.decrypt_file(io.BytesIO(sealed), streamed, key=raw, format=format_name, context=context)
    assert streamed.getvalue() == data
    with sealane.open(path, "rb", key=keyset, context=context) as file:
        for place in {0, length // 2, max(0, length - 1), length}:
            file.seek(place)
            assert file.read(5000) == data[place : place + 5000]

    streamed = io.BytesIO()
    sealane.encrypt_file(io.BytesIO(data), streamed, key=keyset, context=context)
    sealane.encrypt_file(tmp_path / "plain", tmp_path / "ours", key=raw, format=format_name, context=context)
    with sealane.open(tmp_path / "written", "wb", key=keyset, context=context) as file:
        file.write(data[: length // 3])
        file.write(data[length // 3 :])
    for ours in (
        sealane.encrypt(data, key=keyset, context=context),
        sealane.encrypt(data, key=raw, format=format_name, context=context),
        streamed.getvalue(),
        (tmp_path / "ours").read_bytes(),
        (tmp_path / "written").read_bytes(),
    ):
        assert len(ours) == len(sealed)
        assert theirs.reads(ours, context) == data


# claim: tested-interop
@pytest.mark.parametrize("template", TEMPLATES)
def test_keysets_both_ways(template: str) -> None:
    """A sealane key can be used as a Tink keyset."""
    key_len, _, format_name = TEMPLATES[template]
    key = pattern(key_len)
    ours = sealane.keys.Keyring.from_key(key, format_name)
    theirs = Keyset.read(ours.to_json())
    assert theirs.key_bytes() == key
    for text in (theirs.json, ours.to_json()):
        keyset = sealane.keys.Keyring.from_json(text)
        assert theirs.reads(sealane.encrypt(b"message", key=keyset, context=b"aad"), b"aad") == b"message"
        assert sealane.decrypt(theirs.writes(b"message", b"aad"), key=keyset, context=b"aad") == b"message"
    assert key.hex() not in repr(ours)
    # Our JSON equals that of the template, except for the key ID.
    fresh = json.loads(Keyset.fresh(template).json)["key"][0]
    (mine,) = json.loads(ours.to_json())["key"]
    assert mine.keys() == fresh.keys()
    assert all(mine[name] == fresh[name] for name in ("status", "outputPrefixType"))


def test_several_keys() -> None:
    """Files of an older key of the keyset are still readable."""
    old, new = (Keyset.fresh("AES256_GCM_HKDF_4KB") for _ in range(2))
    both = json.loads(new.json)
    both["key"] += json.loads(old.json)["key"]
    text = json.dumps(both)
    keyset, theirs = sealane.keys.Keyring.from_json(text), Keyset.read(text)
    for writer in (old, new, theirs):
        assert sealane.decrypt(writer.writes(b"message", b""), key=keyset) == b"message"
    ours = sealane.encrypt(b"message", key=keyset)
    assert theirs.reads(ours, b"") == new.reads(ours, b"") == b"message"
    with pytest.raises(tink.TinkError):
        old.reads(ours, b"")


@pytest.mark.parametrize("template", TEMPLATES)
def test_both_reject_changed_files(template: str) -> None:
    theirs = Keyset.fresh(template)
    keyset = sealane.keys.Keyring.from_json(theirs.json)
    for sealed in (
        theirs.writes(b"message", b"aad"),
        sealane.encrypt(b"message", key=keyset, context=b"aad"),
    ):
        for place in (1, len(sealed) - 1):
            changed = bytearray(sealed)
            changed[place] ^= 1
            with pytest.raises(sealane.AuthenticationError):
                sealane.decrypt(changed, key=keyset, context=b"aad")
            with pytest.raises(tink.TinkError):
                theirs.reads(bytes(changed), b"aad")
        with pytest.raises(sealane.AuthenticationError):
            sealane.decrypt(sealed, key=keyset, context=b"other")
        with pytest.raises(tink.TinkError):
            theirs.reads(sealed, b"other")


AEADS = [
    "AES128_GCM",
    "AES256_GCM",
    "AES128_GCM_RAW",
    "AES256_GCM_RAW",
    "AES128_GCM_SIV",
    "AES256_GCM_SIV_RAW",
    "XCHACHA20_POLY1305",
    "XCHACHA20_POLY1305_RAW",
    "XAES_256_GCM_192_BIT_NONCE",
    "XAES_256_GCM_192_BIT_NONCE_NO_PREFIX",
    "XAES_256_GCM_160_BIT_NONCE_NO_PREFIX",
]


class Messages:
    """A keyset of AEAD keys in Tink, from each of the two formats of a keyring."""

    def __init__(self, handle: Any) -> None:
        self.json: str = json_proto_keyset_format.serialize(handle, secret_key_access.TOKEN)
        self.binary: bytes = tink.proto_keyset_format.serialize(handle, secret_key_access.TOKEN)
        self.primitive = handle.primitive(aead.Aead)

    @staticmethod
    def of(ring: sealane.keys.Keyring) -> Messages:
        binary = Messages(tink.proto_keyset_format.parse(ring.to_bytes(), secret_key_access.TOKEN))
        text = Messages(json_proto_keyset_format.parse(ring.to_json(), secret_key_access.TOKEN))
        assert sealane.keys.Keyring.from_bytes(binary.binary).to_json() == ring.to_json()
        assert sealane.keys.Keyring.from_json(text.json).to_bytes() == ring.to_bytes()
        return binary


# claim: tested-interop
@pytest.mark.parametrize("template", AEADS)
def test_messages_both_ways(template: str) -> None:
    aead.register()
    theirs = Messages(tink.new_keyset_handle(getattr(aead.aead_key_templates, template)))
    for ring in (
        sealane.keys.Keyring.from_json(theirs.json),
        sealane.keys.Keyring.from_bytes(theirs.binary),
    ):
        ours = sealane.Aead(keyring=ring)
        for length in (0, 1, 16, 64, 1000):
            data, context = pattern(length), pattern(length % 40)
            sealed = theirs.primitive.encrypt(data, context)
            assert ours.open(sealed, context) == data
            mine = ours.seal(data, context)
            assert len(mine) == len(sealed)
            assert theirs.primitive.decrypt(mine, context) == data
            with pytest.raises(sealane.AuthenticationError):
                ours.open(sealed, context + b"x")
            with pytest.raises(tink.TinkError):
                theirs.primitive.decrypt(mine, context + b"x")


@pytest.mark.parametrize("prefix", ["tink", "crunchy", "legacy", "raw"])
@pytest.mark.parametrize(
    "algorithm", ["aes-128-gcm", "aes-256-gcm", "aes-256-gcm-siv", "xchacha20-poly1305", "xaes-256-gcm"]
)
def test_rotated_keyrings_in_tink(algorithm: str, prefix: str) -> None:
    """Tink opens messages of each enabled key of our keyrings, and refuses those of other keys."""
    if algorithm == "xaes-256-gcm" and prefix in ("crunchy", "legacy"):
        with pytest.raises(ValueError, match="has the prefix tink or raw"):
            sealane.keys.Keyring.generate(algorithm, prefix=prefix)
        return
    aead.register()
    ring = sealane.keys.Keyring.generate(algorithm, prefix=prefix)
    sealed = [sealane.Aead(keyring=ring).seal(b"message", b"aad")]
    for _ in range(3):
        ring.rotate()
        sealed.append(sealane.Aead(keyring=ring).seal(b"message", b"aad"))
    theirs, ours = Messages.of(ring), sealane.Aead(keyring=ring)
    for message in sealed:
        assert theirs.primitive.decrypt(message, b"aad") == b"message"
    newest = theirs.primitive.encrypt(b"theirs", b"aad")
    assert ours.open(newest, b"aad") == b"theirs"
    assert newest[: ours.nonce_len - 12][:5] == sealed[-1][:5] or prefix == "raw"
    ring.disable(ring.keys[0].id)
    ring.destroy(ring.keys[1].id)
    theirs = Messages.of(ring)
    for message in sealed[:2]:
        with pytest.raises(tink.TinkError):
            theirs.primitive.decrypt(message, b"aad")
    for message in sealed[2:]:
        assert theirs.primitive.decrypt(message, b"aad") == b"message"


def test_destroyed_keys_in_tink() -> None:
    ring = sealane.keys.Keyring.generate("aes-256-gcm")
    ring.rotate()
    ring.destroy(ring.keys[0].id)
    handle = json_proto_keyset_format.parse(ring.to_json(), secret_key_access.TOKEN)
    assert handle.primitive(aead.Aead).decrypt(sealane.Aead(keyring=ring).seal(b"x"), b"") == b"x"


# claim: tested-interop
@pytest.mark.parametrize("prefix", ["tink", "crunchy", "legacy", "raw"])
def test_deterministic_keyrings_both_ways(prefix: str) -> None:
    """Both compute the same under the primary key, and decrypt what each enabled key encrypted."""
    deterministic.register()
    ring = sealane.keys.Keyring.generate("aes-256-siv", prefix=prefix)
    stored = []
    for length in (0, 1, 16, 1000):
        ring.rotate()
        ours = sealane.DeterministicAead(keyring=ring)
        for text in (False, True):
            handle = (
                json_proto_keyset_format.parse(ring.to_json(), secret_key_access.TOKEN)
                if text
                else tink.proto_keyset_format.parse(ring.to_bytes(), secret_key_access.TOKEN)
            )
            theirs = handle.primitive(deterministic.DeterministicAead)
            encrypted = ours.encrypt(pattern(length), b"aad")
            assert theirs.encrypt_deterministically(pattern(length), b"aad") == encrypted
        stored.append((pattern(length), encrypted))
    for data, encrypted in stored:
        assert ours.decrypt(encrypted, b"aad") == data
        assert theirs.decrypt_deterministically(encrypted, b"aad") == data
        with pytest.raises(sealane.AuthenticationError):
            ours.decrypt(encrypted, b"other")
        with pytest.raises(tink.TinkError):
            theirs.decrypt_deterministically(encrypted, b"other")
    ring.disable(ring.keys[1].id)
    with pytest.raises(sealane.AuthenticationError):
        sealane.DeterministicAead(keyring=ring).decrypt(stored[0][1], b"aad")


def test_deterministic_keysets_of_tink() -> None:
    deterministic.register()
    template = deterministic.deterministic_aead_key_templates.AES256_SIV
    raw = Template(output_prefix_type=RAW, type_url=template.type_url, value=template.value)
    for made, overhead in (template, 21), (raw, 16):
        handle = tink.new_keyset_handle(made)
        theirs = handle.primitive(deterministic.DeterministicAead)
        text = json_proto_keyset_format.serialize(handle, secret_key_access.TOKEN)
        binary = tink.proto_keyset_format.serialize(handle, secret_key_access.TOKEN)
        for ring in sealane.keys.Keyring.from_json(text), sealane.keys.Keyring.from_bytes(binary):
            ours = sealane.DeterministicAead(keyring=ring)
            assert ours.overhead == overhead
            encrypted = theirs.encrypt_deterministically(b"message", b"aad")
            assert ours.encrypt(b"message", b"aad") == encrypted
            assert ours.decrypt(encrypted, b"aad") == b"message"


def test_rejects_other_keysets() -> None:
    """Keysets of types that keyrings do not have, and text that is not JSON."""
    aead.register()
    handle = tink.new_keyset_handle(aead.aead_key_templates.AES256_EAX)
    text = json_proto_keyset_format.serialize(handle, secret_key_access.TOKEN)
    with pytest.raises(sealane.FormatError, match=r"key \d+ of the keyring: .*AesEaxKey"):
        sealane.keys.Keyring.from_json(text)
    for other in ("{}", "", "no JSON"):
        with pytest.raises(sealane.FormatError):
            sealane.keys.Keyring.from_json(other)


@pytest.mark.parametrize("length", [0, 1, 15, 16, 17, 64, 1000])
def test_deterministic_messages_are_those_of_tink(length: int) -> None:
    deterministic.register()
    template = deterministic.deterministic_aead_key_templates.AES256_SIV
    raw = Template(output_prefix_type=RAW, type_url=template.type_url, value=template.value)
    handle = tink.new_keyset_handle(raw)
    keyset = json.loads(json_proto_keyset_format.serialize(handle, secret_key_access.TOKEN))
    key = AesSivKey.FromString(base64.b64decode(keyset["key"][0]["keyData"]["value"])).key_value
    theirs, ours = (
        handle.primitive(deterministic.DeterministicAead),
        sealane.DeterministicAead("aes-256-siv", key),
    )
    for aad in b"", b"column":
        encrypted = theirs.encrypt_deterministically(pattern(length), aad)
        assert ours.encrypt(pattern(length), aad) == encrypted
        assert ours.decrypt(encrypted, aad) == pattern(length)
