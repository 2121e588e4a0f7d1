"""Tokens of JSON Web Encryption exchanged with joserfc and jwcrypto, in both directions."""

from __future__ import annotations

import json
from typing import Any

import jwcrypto.jwa
import jwcrypto.jwe
import jwcrypto.jwk
import pytest
from joserfc import jwe as joserfc
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey
from sealane import jwe

ENCS = {
    "A128GCM": 128,
    "A192GCM": 192,
    "A256GCM": 256,
    "A128CBC-HS256": 256,
    "A192CBC-HS384": 384,
    "A256CBC-HS512": 512,
}
PASSWORDS = ["PBES2-HS256+A128KW", "PBES2-HS384+A192KW", "PBES2-HS512+A256KW"]
WRAPPING = {"A128KW": 128, "A192KW": 192, "A256KW": 256}
WRAPPING |= {"A128GCMKW": 128, "A192GCMKW": 192, "A256GCMKW": 256}
CURVES = {"P-256": ECKey, "X25519": OKPKey}
AGREEMENTS = ["ECDH-ES", "ECDH-ES+A128KW", "ECDH-ES+A192KW", "ECDH-ES+A256KW"]
RSA = RSAKey.generate_key(2048)


def _cases() -> list[Any]:
    cases = []
    for enc, bits in ENCS.items():
        cases.append(("dir", enc, OctKey.generate_key(bits)))
        cases += [(alg, enc, OctKey.generate_key(length)) for alg, length in WRAPPING.items()]
        cases += [(alg, enc, kind.generate_key(crv)) for crv, kind in CURVES.items() for alg in AGREEMENTS]
        cases += [(alg, enc, RSA) for alg in ("RSA-OAEP", "RSA-OAEP-256")]
    cases += [(alg, "A256GCM", OctKey.import_key(b"correct horse battery")) for alg in PASSWORDS]
    return [pytest.param(*case, id=f"{case[0]} {case[1]} {case[2].key_type}") for case in cases]


def texts(key: Any) -> tuple[str, str]:
    """Returns the private and the public key as JSON Web Keys."""
    private = key.as_dict(private=True)
    return json.dumps(private), json.dumps(private if key.key_type == "oct" else key.as_dict(private=False))


@pytest.mark.parametrize(("alg", "enc", "key"), _cases())
def test_joserfc(alg: str, enc: str, key: Any) -> None:
    private, public = texts(key)
    names = [alg, enc]
    registry = joserfc.JWERegistry(algorithms=names)
    parties = {"apu": "QWxpY2U", "apv": "Qm9i"} if alg in AGREEMENTS else {}
    for headers in {}, {"typ": "JWT"} | parties:
        theirs = joserfc.encrypt_compact(
            {"alg": alg, "enc": enc, **headers}, b"theirs", key, registry=registry
        )
        assert jwe.decrypt(theirs, private, algorithms=names) == b"theirs"
        ours = jwe.encrypt(b"ours", public, alg=alg, enc=enc, headers=headers)
        assert joserfc.decrypt_compact(ours, key, registry=registry).plaintext == b"ours"
    for form in "flattened", "general":
        made: Any = jwe.encrypt(b"ours", public, alg=alg, enc=enc, serialization=form)
        assert joserfc.decrypt_json(json.loads(made), key, registry=registry).plaintext == b"ours"


@pytest.mark.parametrize(("alg", "enc", "key"), _cases())
def test_jwcrypto(alg: str, enc: str, key: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jwcrypto.jwa, "default_max_pbkdf2_iterations", 300_000)
    private, public = texts(key)
    if alg in PASSWORDS:
        # It takes a password as text.
        other: Any = "correct horse battery"
    else:
        other = jwcrypto.jwk.JWK.from_json(private)
    for compact in True, False:
        made = jwcrypto.jwe.JWE(
            b"theirs", json.dumps({"alg": alg, "enc": enc}), recipient=other, algs=[alg, enc]
        )
        theirs = made.serialize(compact=compact)
        assert jwe.decrypt(theirs, private, algorithms=[alg, enc]) == b"theirs"
    for form in "compact", "flattened", "general":
        ours = jwe.encrypt(b"ours", public, alg=alg, enc=enc, serialization=form)  # type: ignore[arg-type]
        found = jwcrypto.jwe.JWE(algs=[alg, enc])
        found.deserialize(ours, other)
        assert found.payload == b"ours"


def test_several_recipients_and_additional_data() -> None:
    keys = [ECKey.generate_key("P-256"), OKPKey.generate_key("X25519")]
    private, public = zip(*map(texts, keys), strict=True)
    alg, enc = "ECDH-ES+A256KW", "A256CBC-HS512"
    ours = jwe.encrypt(b"ours", list(public), alg=alg, enc=enc, serialization="general")
    other = jwcrypto.jwe.JWE(b"theirs", json.dumps({"enc": enc}), aad="data", algs=[alg, enc])
    for key in private:
        found = jwcrypto.jwe.JWE(algs=[alg, enc])
        found.deserialize(ours, jwcrypto.jwk.JWK.from_json(key))
        assert found.payload == b"ours"
        other.add_recipient(jwcrypto.jwk.JWK.from_json(key), json.dumps({"alg": alg}))
    theirs = other.serialize()
    for key in private:
        assert jwe.decrypt(theirs, key) == b"theirs"
