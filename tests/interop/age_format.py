"""The format age v1 (https://c2sp.org/age) once more, slowly, from the parts of pyca's ``cryptography``."""

from __future__ import annotations

import base64
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes, hmac
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey, MLKEM768PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hpke import (
    AEAD,
    KDF,
    KEM,
    MLKEM768X25519PrivateKey,
    MLKEM768X25519PublicKey,
    Suite,
)
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

CHUNK = 65536
SUITE = Suite(KEM.MLKEM768_X25519, KDF.HKDF_SHA256, AEAD.CHACHA20_POLY1305)
INFO = b"age-encryption.org/mlkem768x25519"
ENC = 1120
BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"


def polymod(values: list[int]) -> int:
    """Returns the checksum of BIP 173."""
    check = 1
    for value in values:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for bit, generator in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            check ^= generator if top >> bit & 1 else 0
    return check


def expand(prefix: str) -> list[int]:
    return [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix]


def to_bech32(prefix: str, data: bytes) -> str:
    bits = "".join(f"{byte:08b}" for byte in data)
    values = [int(bits[at : at + 5].ljust(5, "0"), 2) for at in range(0, len(bits), 5)]
    check = polymod([*expand(prefix), *values, *[0] * 6]) ^ 1
    values += [check >> 5 * (5 - place) & 31 for place in range(6)]
    return prefix + "1" + "".join(BECH32[value] for value in values)


def from_bech32(text: str) -> bytes:
    prefix, _, data = text.lower().rpartition("1")
    values = [BECH32.index(c) for c in data]
    assert polymod(expand(prefix) + values) == 1
    bits = "".join(f"{value:05b}" for value in values[:-6])
    return bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) // 8 * 8, 8))


def x_wing_halves(seed: bytes) -> tuple[MLKEM768PrivateKey, X25519PrivateKey]:
    """Expands the 32-byte seed of X-Wing."""
    shake = hashes.Hash(hashes.SHAKE256(96))
    shake.update(seed)
    expanded = shake.finalize()
    return MLKEM768PrivateKey.from_seed_bytes(expanded[:64]), X25519PrivateKey.from_private_bytes(
        expanded[64:]
    )


def x_wing_private(seed: bytes) -> MLKEM768X25519PrivateKey:
    return MLKEM768X25519PrivateKey(*x_wing_halves(seed))


def x_wing_public_bytes(seed: bytes) -> bytes:
    return b"".join(half.public_key().public_bytes_raw() for half in x_wing_halves(seed))


def x_wing_public(data: bytes) -> MLKEM768X25519PublicKey:
    return MLKEM768X25519PublicKey(
        MLKEM768PublicKey.from_public_bytes(data[:1184]), X25519PublicKey.from_public_bytes(data[1184:])
    )


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode().rstrip("=")


def unb64(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def derived(file_key: bytes, salt: bytes, info: bytes) -> bytes:
    return HKDF(hashes.SHA256(), 32, salt, info).derive(file_key)


def mac(file_key: bytes, header: bytes) -> bytes:
    code = hmac.HMAC(derived(file_key, b"", b"header"), hashes.SHA256())
    code.update(header)
    return code.finalize()


def writes(data: bytes, recipients: list[str]) -> bytes:
    file_key, nonce = os.urandom(16), os.urandom(16)
    lines = ["age-encryption.org/v1"]
    for recipient in recipients:
        message = SUITE.encrypt(file_key, x_wing_public(from_bech32(recipient)), INFO)
        lines += [f"-> mlkem768x25519 {b64(message[:ENC])}", b64(message[ENC:])]
    header = "\n".join([*lines, "---"]).encode()
    aead = ChaCha20Poly1305(derived(file_key, nonce, b"payload"))
    pieces = [data[at : at + CHUNK] for at in range(0, len(data), CHUNK)] or [b""]
    chunks = [
        aead.encrypt(number.to_bytes(11, "big") + bytes([number == len(pieces) - 1]), piece, None)
        for number, piece in enumerate(pieces)
    ]
    return header + b" " + b64(mac(file_key, header)).encode() + b"\n" + nonce + b"".join(chunks)


def stanzas(header: bytes) -> list[tuple[list[str], bytes]]:
    """The arguments and the body of a stanza."""
    found: list[tuple[list[str], str]] = []
    for line in header.decode().split("\n")[1:-1]:
        if line.startswith("-> "):
            found.append((line.split(" ")[1:], ""))
        else:
            found[-1] = (found[-1][0], found[-1][1] + line)
    return [(arguments, unb64(body)) for arguments, body in found]


def opened_payload(sealed: bytes, payload: int, file_key: bytes) -> bytes:
    nonce, first = sealed[payload : payload + 16], payload + 16
    aead = ChaCha20Poly1305(derived(file_key, nonce, b"payload"))
    places = range(first, len(sealed), CHUNK + 16)
    return b"".join(
        aead.decrypt(number_of(place, places), sealed[place : place + CHUNK + 16], None) for place in places
    )


def number_of(place: int, places: range) -> bytes:
    return places.index(place).to_bytes(11, "big") + bytes([place == places[-1]])


def split(sealed: bytes) -> tuple[bytes, bytes, int]:
    """Returns the header up to its three dashes, its MAC, and the position of the payload."""
    end = sealed.index(b"\n--- ") + 4
    payload = sealed.index(b"\n", end) + 1
    return sealed[:end], unb64(sealed[end + 1 : payload - 1].decode()), payload


def reads(sealed: bytes, identity: str) -> bytes:
    header, code, payload = split(sealed)
    key = x_wing_private(from_bech32(identity))
    messages = [
        unb64(arguments[1]) + body for arguments, body in stanzas(header) if arguments[0] == "mlkem768x25519"
    ]
    (file_key,) = (opened for message in messages if (opened := attempt(message, key)) is not None)
    assert len(file_key) == 16
    assert code == mac(file_key, header)
    return opened_payload(sealed, payload, file_key)


def reads_with_passphrase(sealed: bytes, passphrase: bytes) -> bytes:
    header, code, payload = split(sealed)
    (((kind, salt, work_factor), body),) = stanzas(header)
    assert kind == "scrypt"
    key = Scrypt(b"age-encryption.org/v1/scrypt" + unb64(salt), 32, 1 << int(work_factor), 8, 1).derive(
        passphrase
    )
    file_key = ChaCha20Poly1305(key).decrypt(bytes(12), body, None)
    assert code == mac(file_key, header)
    return opened_payload(sealed, payload, file_key)


def attempt(message: bytes, key: MLKEM768X25519PrivateKey) -> bytes | None:
    try:
        return SUITE.decrypt(message, key, INFO)
    except InvalidTag:
        return None
