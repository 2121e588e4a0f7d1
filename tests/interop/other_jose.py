"""Tokens of JSON Web Encryption exchanged with go-jose, in both directions.

No package of Debian 12 has it: `make -C tests tink` builds `jose_go` beside Tink in Go, and runs this.
"""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from joserfc.jwk import ECKey, OctKey, RSAKey
from sealane import jwe

PROGRAM = Path(__file__).parent.parent.parent / "target" / "tools" / "bin" / "jose_go"
LENGTHS = {"A128KW": 16, "A192KW": 24, "A256KW": 32, "A128GCMKW": 16, "A192GCMKW": 24, "A256GCMKW": 32}
LENGTHS |= {"PBES2-HS256+A128KW": 20, "PBES2-HS384+A192KW": 20, "PBES2-HS512+A256KW": 20}
ENCS = {
    "A128GCM": 16,
    "A192GCM": 24,
    "A256GCM": 32,
    "A128CBC-HS256": 32,
    "A192CBC-HS384": 48,
    "A256CBC-HS512": 64,
}
PAIRS: dict[str, Any] = {
    **dict.fromkeys(
        ["ECDH-ES", "ECDH-ES+A128KW", "ECDH-ES+A192KW", "ECDH-ES+A256KW"], ECKey.generate_key("P-256")
    ),
    **dict.fromkeys(["RSA-OAEP", "RSA-OAEP-256"], RSAKey.generate_key(2048)),
}


class Jose:
    """go-jose, which responds to one request after the other."""

    def __init__(self) -> None:
        self.process = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def call(self, call: str, **request: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"Call": call, **request}) + "\n")
        self.process.stdin.flush()
        response: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert response["Error"] == "", response["Error"]
        return response


@pytest.fixture(scope="module")
def jose() -> Iterator[Jose]:
    found = Jose()
    with found.process:
        yield found
    assert found.process.returncode == 0


def keys(alg: str, enc: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the private and the public key as JSON Web Keys."""
    if alg in PAIRS:
        return PAIRS[alg].as_dict(private=True), PAIRS[alg].as_dict(private=False)
    key = OctKey.generate_key(8 * LENGTHS.get(alg, ENCS[enc])).as_dict(private=True)
    return key, key


@pytest.mark.parametrize("enc", ENCS)
@pytest.mark.parametrize("alg", ["dir", *LENGTHS, *PAIRS])
def test_tokens(jose: Jose, alg: str, enc: str) -> None:
    private, public = keys(alg, enc)
    names = [alg, enc]
    for form in "compact", "flattened":
        data = base64.b64encode(b"theirs").decode()
        compact = form == "compact"
        theirs = jose.call("encrypt", Alg=alg, Enc=enc, Key=public, Data=data, Compact=compact)["Token"]
        assert jwe.decrypt(theirs, json.dumps(private), algorithms=names) == b"theirs"
        ours = jwe.encrypt(b"ours", json.dumps(public), alg=alg, enc=enc, serialization=form)  # type: ignore[arg-type]
        found = jose.call("decrypt", Alg=alg, Enc=enc, Key=private, Token=ours)["Data"]
        assert base64.b64decode(found) == b"ours"


def test_several_recipients(jose: Jose) -> None:
    pair, rest = keys("ECDH-ES+A256KW", "A256GCM"), ECKey.generate_key("P-256").as_dict(private=True)
    public = [json.dumps(rest), json.dumps(pair[1])]
    ours = jwe.encrypt(b"ours", public, alg="ECDH-ES+A256KW", enc="A256GCM", serialization="general")
    for private in pair[0], rest:
        found = jose.call("decrypt", Alg="ECDH-ES+A256KW", Enc="A256GCM", Key=private, Token=ours)
        assert base64.b64decode(found["Data"]) == b"ours"
