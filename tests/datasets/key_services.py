"""Key services on loopback ports: moto's AWS KMS, and a small server of Vault's Transit interface.

No Vault can be had on the machines of the project. The Transit server below computes real AES-GCM and answers
as Vault's documentation says. ``test_key_services.py`` checks it with two other clients, hvac and Tink's.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import secrets
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import boto3
import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from moto.server import DomainDispatcherApplication, create_backend_app
from parts import Quiet
from sealane.fs import create_dataset_key
from werkzeug.serving import make_server

REGION = "eu-west-1"
Answer = tuple[int, bytes]
"""The status and the body of an answer."""


class Aws:
    """The KMS of moto. It counts the calls by their names, and gives other answers if told to."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.calls: list[str] = []
        self.plaintexts: list[bytes] = []
        """The plaintexts that it returned for Decrypt."""
        self._instead: Callable[[str, dict[str, Any]], Answer | None] = lambda name, request: None
        self._app = DomainDispatcherApplication(create_backend_app)
        self._server = make_server(
            "127.0.0.1", 0, self, threaded=True, request_handler=Quiet, ssl_context=tls
        )
        self._thread = threading.Thread(target=self._server.serve_forever, args=[0.05])
        self._thread.start()
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self._server.server_port}"
        self.environment = {
            "AWS_ENDPOINT_URL_KMS": self.url,
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        name = environ.get("HTTP_X_AMZ_TARGET", "").rpartition(".")[2]
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        self.calls.append(name)
        if (response := self._instead(name, json.loads(body or b"{}"))) is not None:
            start_response(f"{response[0]} Told", [("Content-Type", "application/x-amz-json-1.1")])
            return [response[1]]
        environ["wsgi.input"] = io.BytesIO(body)
        found = b"".join(self._app(environ, start_response))
        if name == "Decrypt" and b"Plaintext" in found:
            self.plaintexts.append(base64.b64decode(json.loads(found)["Plaintext"]))
        return [found]

    def client(self, region: str = REGION) -> Any:
        return boto3.client(
            "kms",
            region_name=region,
            endpoint_url=self.url,
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
        )

    def new_key(self, region: str = REGION) -> str:
        """Creates a wrapping key and returns its reference."""
        return "aws-kms:" + self.client(region).create_key()["KeyMetadata"]["Arn"]

    @contextlib.contextmanager
    def answering(self, instead: Callable[[str, dict[str, Any]], Answer | None]) -> Iterator[None]:
        """Gives other answers during the block. None stands for the right answer."""
        self._instead, before = instead, self._instead
        try:
            yield
        finally:
            self._instead = before

    @contextlib.contextmanager
    def counting(self) -> Iterator[list[str]]:
        """Yields the list of the calls during the block."""
        counted: list[str] = []
        before = len(self.calls)
        yield counted
        counted += self.calls[before:]

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class Transit:
    """A server with the operations encrypt and decrypt of Vault's Transit engine, for AES-256-GCM keys."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.calls: list[str] = []
        self.token = secrets.token_hex()
        self.knows_associated_data = True
        """Whether it is as new as Vault 1.13. Older ones ignore this field, as all unknown fields."""
        self._keys: dict[str, tuple[bytes, bool]] = {}
        self._instead: Callable[[str, dict[str, Any]], Answer | None] = lambda name, request: None
        transit = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, body = transit._answer(self.path, self.headers.get("X-Vault-Token", ""), request)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if tls:
            self._server.socket = tls.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self._thread = threading.Thread(target=self._server.serve_forever, args=[0.05])
        self._thread.start()
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self._server.server_port}"
        self.environment = {"VAULT_ADDR": self.url, "VAULT_TOKEN": self.token}

    def new_key(self, name: str | None = None, *, derived: bool = False) -> str:
        """Creates a wrapping key and returns its reference."""
        name = name or f"transit/key-{len(self._keys)}"
        self._keys[name] = secrets.token_bytes(32), derived
        return f"vault:{name}"

    def _answer(self, path: str, token: str, request: dict[str, Any]) -> Answer:
        mount, operation, key = path.removeprefix("/v1/").rsplit("/", 2)
        self.calls.append(operation)
        if (response := self._instead(operation, request)) is not None:
            return response
        if token != self.token:
            return 403, errors("permission denied")
        if operation not in ("encrypt", "decrypt"):
            return 404, errors()
        if (found := self._keys.get(f"{mount}/{key}")) is None:
            return 400, errors("encryption key not found")
        raw, derived = found
        context = base64.b64decode(request.get("context") or "")
        if derived and not context:
            return 400, errors(
                "missing 'context' for key derivation; the key was created using a derived key"
            )
        if derived:
            raw = HKDF(SHA256(), 32, None, context).derive(raw)
        data = base64.b64decode(request.get("associated_data") or "") if self.knows_associated_data else b""
        if operation == "encrypt":
            nonce = secrets.token_bytes(12)
            sealed = nonce + AESGCM(raw).encrypt(nonce, base64.b64decode(request["plaintext"]), data)
            return 200, answer_of(ciphertext="vault:v1:" + base64.b64encode(sealed).decode())
        sealed = base64.b64decode(request["ciphertext"].removeprefix("vault:v1:"))
        try:
            plaintext = AESGCM(raw).decrypt(sealed[:12], sealed[12:], data)
        except (InvalidTag, ValueError):
            return 400, errors("cipher: message authentication failed")
        return 200, answer_of(plaintext=base64.b64encode(plaintext).decode())

    answering = Aws.answering
    counting = Aws.counting

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def answer_of(**data: str) -> bytes:
    """Returns the body of an answer of Vault."""
    return json.dumps({"request_id": "1", "lease_id": "", "renewable": False, "data": data}).encode()


def errors(*texts: str) -> bytes:
    """Returns the body of a refusal of Vault."""
    return json.dumps({"errors": list(texts)}).encode()


Service = Aws | Transit
DECRYPT = {"aws": "Decrypt", "vault": "decrypt"}


def name_of(service: Service) -> str:
    return "aws" if isinstance(service, Aws) else "vault"


def decrypts(calls: list[str]) -> int:
    return sum(call in DECRYPT.values() for call in calls)


def made(service: Service, path: Path, context: str = "sales") -> str:
    """Makes an encrypted keyset and returns the reference to it."""
    wrapping_key = service.new_key() + (f"?context={context}" if context else "")
    create_dataset_key(str(path), wrapping_key=wrapping_key)
    return f"{wrapping_key}#{path}"


def garbage(name: str, request: dict[str, Any]) -> Answer:
    return 200, b"<html>not an answer</html>"


def refusal(service: Service) -> Callable[[str, dict[str, Any]], Answer]:
    """Every call is refused for a missing permission."""
    said = {"__type": "AccessDeniedException", "message": "no permission, said the test"}
    body = json.dumps(said).encode() if isinstance(service, Aws) else errors("no permission, said the test")
    return lambda name, request: (400 if isinstance(service, Aws) else 403, body)


def plaintext(service: Service, content: bytes, arn: str) -> Answer:
    """The answer to Decrypt with this cleartext."""
    text = base64.b64encode(content).decode()
    if isinstance(service, Aws):
        return 200, json.dumps({"KeyId": arn, "Plaintext": text}).encode()
    return 200, answer_of(plaintext=text)


@contextlib.contextmanager
def nothing_there(service: Service) -> Iterator[str]:
    """Moves the address of the service to a port that is closed."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL_KMS" if isinstance(service, Aws) else "VAULT_ADDR", url)
        yield url


@contextlib.contextmanager
def silence(service: Service) -> Iterator[str]:
    """Moves the address of the service to a port that accepts connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener, pytest.MonkeyPatch.context() as patch:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        patch.setenv("AWS_ENDPOINT_URL_KMS" if isinstance(service, Aws) else "VAULT_ADDR", url)
        yield url


def shortened(ring: bytes) -> bytes:
    """Removes the last byte of the only key of a keyset, with its lengths: still Tink's messages."""
    at = ring.index(b"\x1a\x20") + 1
    out = bytearray(ring)
    del out[at + 32]
    out[at] = 31
    for place in range(at):
        # The lengths of the three messages around it.
        if out[place] + place + 1 in range(at + 33, len(ring) + 1) and ring[place - 1] in (0x12, 0x0A):
            out[place] -= 1
    return bytes(out)
