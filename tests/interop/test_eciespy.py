"""sealane and eciespy read each other's messages, in all of its configurations."""

from __future__ import annotations

import itertools
from typing import Any

import ecies
import pytest
import sealane
from ecies.config import Config
from ecies.keys import PrivateKey
from ecies.utils import to_eth_address
from support import pattern

CONFIGURATIONS = [
    {
        "elliptic_curve": curve,
        "is_ephemeral_key_compressed": ephemeral,
        "is_hkdf_key_compressed": hkdf,
        "symmetric_algorithm": algorithm,
        "symmetric_nonce_length": nonce,
    }
    for curve, ephemeral, hkdf, (algorithm, nonce) in itertools.product(
        ("secp256k1", "x25519", "ed25519"),
        (False, True),
        (False, True),
        (("aes-256-gcm", 12), ("aes-256-gcm", 16), ("xchacha20", 12), ("xchacha20", 16)),
    )
]
LENGTHS = [0, 1, 15, 16, 17, 140, 4096, 65537, (1 << 20) + 3]


def name(configuration: dict[str, Any]) -> str:
    curve, *compressed, algorithm, nonce = configuration.values()
    return "-".join([curve, *("compressed" if c else "whole" for c in compressed), algorithm, str(nonce)])


# claim: tested-interop
@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=name)
def test_every_configuration(configuration: dict[str, Any]) -> None:
    config, key = Config(**configuration), PrivateKey(configuration["elliptic_curve"])
    private, public = key.to_hex(), key.public_key.to_hex()
    for length in LENGTHS:
        data = pattern(length)
        theirs = ecies.encrypt(public, data, config)
        ours = sealane.hybrid.ecies_encrypt(public, data, **configuration)
        assert len(ours) == len(theirs)
        assert sealane.hybrid.ecies_decrypt(private, theirs, **configuration) == data
        assert ecies.decrypt(private, ours, config) == data
    for place in (1, -1, -20):
        changed = bytearray(sealane.hybrid.ecies_encrypt(public, b"message", **configuration))
        changed[place] ^= 1
        with pytest.raises(sealane.SealaneError):
            sealane.hybrid.ecies_decrypt(private, changed, **configuration)
        with pytest.raises(ValueError, match=r"."):
            ecies.decrypt(private, bytes(changed), config)


@pytest.mark.parametrize("curve", ["secp256k1", "x25519", "ed25519"])
def test_spellings_of_keys(curve: str) -> None:
    """Keys are hexadecimal with or without 0x, in upper or lower case, or bytes."""
    key, config = PrivateKey(curve), Config(elliptic_curve=curve)  # type: ignore[arg-type]
    publics: list[str | bytes] = [key.public_key.to_hex(), key.public_key.to_bytes()]
    if curve == "secp256k1":
        publics += [key.public_key.to_hex(True), key.public_key.to_bytes(True)]
        # Ethereum omits the prefix 04.
        publics += [key.public_key.to_hex()[2:], key.public_key.to_bytes()[1:]]
    privates: list[str | bytes] = [key.to_hex(), key.secret]
    for keys in (publics, privates):
        texts = [text for text in keys if isinstance(text, str)]
        keys += ["0x" + text for text in texts] + [text.upper() for text in texts]
    for public in publics:
        ours = sealane.hybrid.ecies_encrypt(public, b"message", elliptic_curve=curve)
        assert ecies.decrypt(key.to_hex(), ours, config) == b"message"
    theirs = ecies.encrypt(key.public_key.to_hex(), b"message", config)
    for private in privates:
        assert sealane.hybrid.ecies_decrypt(private, theirs, elliptic_curve=curve) == b"message"


def test_seal_and_open_are_the_default_configuration() -> None:
    theirs = PrivateKey("secp256k1")
    blob = sealane.hybrid.seal(theirs.public_key.to_hex(), b"message")
    assert ecies.decrypt(theirs.to_hex(), blob) == b"message"
    assert (
        sealane.hybrid.open(theirs.to_hex(), ecies.encrypt(theirs.public_key.to_hex(), b"message"))
        == b"message"
    )

    ours = sealane.keys.generate("secp256k1")
    assert ours.public is not None
    private, public = ours.to_hex(), ours.public.to_hex()
    assert PrivateKey.from_hex("secp256k1", private).public_key.to_hex() == public
    assert sealane.hybrid.open(ours, ecies.encrypt(public, b"message")) == b"message"
    assert ecies.decrypt(private, sealane.hybrid.seal(ours.public, b"message")) == b"message"
    with pytest.raises(ValueError, match="info"):
        sealane.hybrid.seal(ours.public, b"message", info=b"info")


def test_text_and_address() -> None:
    key = sealane.keys.generate("secp256k1")
    assert key.public is not None
    theirs = PrivateKey.from_hex("secp256k1", key.to_hex()).public_key
    assert key.public.to_hex() == theirs.to_hex()
    assert key.public.to_hex(compressed=True) == theirs.to_hex(True)
    assert key.public.ethereum_address == to_eth_address(theirs.to_bytes()[1:])
    for text in (theirs.to_hex(), theirs.to_hex(True), "0x" + theirs.to_hex()[2:]):
        assert sealane.keys.PublicKey(text) == key.public


def test_unusual_keys_that_eciespy_accepts() -> None:
    """Points with the prefixes 06 and 07, x25519 keys with the ignored bit set, and empty keys."""
    key = PrivateKey("secp256k1")
    hybrid = bytearray(ecies.encrypt(key.public_key.to_hex(), b"message"))
    hybrid[0] = 6 + (hybrid[64] & 1)
    assert ecies.decrypt(key.to_hex(), bytes(hybrid)) == b"message"
    with pytest.raises(sealane.SealaneError):
        sealane.hybrid.ecies_decrypt(key.to_hex(), hybrid)

    config, other = Config(elliptic_curve="x25519"), PrivateKey("x25519")
    flipped = bytearray(ecies.encrypt(other.public_key.to_hex(), b"message", config))
    flipped[31] ^= 0x80
    assert ecies.decrypt(other.to_hex(), bytes(flipped), config) == b"message"
    with pytest.raises(sealane.SealaneError):
        sealane.hybrid.ecies_decrypt(other.to_hex(), flipped, elliptic_curve="x25519")

    for empty in ("", b""):
        with pytest.raises((ValueError, sealane.FormatError)):
            sealane.hybrid.ecies_decrypt(empty, hybrid)
