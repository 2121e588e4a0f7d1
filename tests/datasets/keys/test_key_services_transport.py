"""Where requests to key services go: servers with a private authority, redirects, proxies, and HTTP."""

from __future__ import annotations

import base64
import datetime
import ipaddress
import json
import os
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from key_services import Aws, Service, Transit
from sealane import KeyRefusedError, KeyServiceError, _kms
from sealane._wrapping_key import ResponseError, origin_of
from sealane.fs import create_dataset_key
from sealane.keys import Keyring, resolve

ARN = "aws-kms:arn:aws:kms:eu-west-1:111122223333:key/one"
KEYS = {"vault": "vault:transit/sales", "aws": ARN}
ADDRESS = {"vault": "VAULT_ADDR", "aws": "AWS_ENDPOINT_URL_KMS"}
AUTHORITIES = ("VAULT_CACERT", "VAULT_CAPATH", "AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


class Authority:
    """A private authority in a file, as ``openssl rehash`` names it in a folder, and a server's context."""

    def __init__(self, folder: Path) -> None:
        now, key = datetime.datetime.now(datetime.UTC), ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "an authority of the tests")])
        here = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        made = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName(here), critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(key, hashes.SHA256())
        )
        (folder / "ca").mkdir()
        self.file, self.folder = folder / "ca.pem", folder / "ca"
        self.file.write_bytes(made.public_bytes(Encoding.PEM))
        secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        (folder / "key.pem").write_bytes(secret)
        self.server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.server.load_cert_chain(self.file, folder / "key.pem")
        (self.folder / f"{hash_of_name(made):08x}.0").write_bytes(self.file.read_bytes())


def hash_of_name(certificate: x509.Certificate) -> int:
    """Returns OpenSSL's hash of a subject: SHA-1 of its canonical form (RFC 5280, 7.1, in lower case)."""
    (attribute,) = certificate.subject
    value = attribute.value.lower().encode()  # type: ignore[union-attr]
    inner = bytes([0x06, 3, 0x55, 4, 3, 0x0C, len(value)]) + value
    sequence = bytes([0x30, len(inner)]) + inner
    digest = hashes.Hash(hashes.SHA1())
    digest.update(bytes([0x31, len(sequence)]) + sequence)
    return int.from_bytes(digest.finalize()[:4], "little")


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(params=["vault", "aws"])
def secure(
    request: Any, authority: Authority, hasty: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Service]:
    """A key service behind TLS, with a certificate of the private authority."""
    found: Service = (Transit if request.param == "vault" else Aws)(authority.server)
    for name in AUTHORITIES:
        monkeypatch.delenv(name, raising=False)
    for name, value in found.environment.items():
        monkeypatch.setenv(name, value)
    yield found
    found.close()


def a_key(service: Service) -> str:
    if isinstance(service, Transit):
        return service.new_key()
    # All servers of moto have the same keys.
    plain = Aws()
    try:
        return plain.new_key()
    finally:
        plain.close()


# claim: service-transport
def test_private_authorities(
    secure: Service, authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each variable that the service's own client knows is used, and no other."""
    wrapping_key = a_key(secure)
    with pytest.raises(KeyServiceError, match="SSL"):
        create_dataset_key(str(tmp_path / "0"), wrapping_key=wrapping_key)
    assert secure.calls == []
    own, other = ("VAULT_CACERT", "AWS_CA_BUNDLE")[:: 1 if isinstance(secure, Transit) else -1]
    places = [(own, authority.file), ("REQUESTS_CA_BUNDLE", authority.file)]
    if isinstance(secure, Transit):
        places.append(("VAULT_CAPATH", authority.folder))
    for number, (name, value) in enumerate(places):
        with monkeypatch.context() as patch:
            patch.setenv(name, str(value))
            path = tmp_path / f"key-{number}"
            create_dataset_key(str(path), wrapping_key=wrapping_key)
            _kms._forget()
            assert isinstance(resolve(f"{wrapping_key}#{path}"), Keyring)
            _kms._forget()
    with monkeypatch.context() as patch:
        patch.setenv(other, str(authority.file))
        with pytest.raises(KeyServiceError, match="SSL"):
            create_dataset_key(str(tmp_path / "0"), wrapping_key=wrapping_key)
    monkeypatch.setenv(own, str(tmp_path / "missing.pem"))
    with pytest.raises(KeyServiceError):
        create_dataset_key(str(tmp_path / "0"), wrapping_key=wrapping_key)
    assert not (tmp_path / "0").exists()


class Server:
    """Answers every request as told, and keeps what it got."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.got: list[tuple[str, dict[str, str], bytes]] = []
        self.redirect = ""
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                server.got.append((self.path, dict(self.headers), body))
                if server.redirect and not self.path.startswith("/again"):
                    self.send_response(307)
                    self.send_header("Location", server.redirect + "/again" + self.path)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                said = json.loads(body or b"{}")
                aws = {"KeyId": ARN.partition(":")[2]}
                if "plaintext" in said or "Plaintext" in said:
                    text = base64.b64decode(said.get("plaintext") or said["Plaintext"])
                    sealed = base64.b64encode(text).decode()
                    answer = {"data": {"ciphertext": f"vault:v1:{sealed}"}, **aws, "CiphertextBlob": sealed}
                else:
                    text = (said.get("ciphertext") or said["CiphertextBlob"]).removeprefix("vault:v1:")
                    answer = {"data": {"plaintext": text}, **aws, "Plaintext": text}
                content = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_PUT = do_CONNECT = do_POST

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
        self.host = f"127.0.0.1:{self._server.server_port}"
        self.url = f"http{'s' if tls else ''}://{self.host}"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture(params=["vault", "aws"])
def name(request: Any, hasty: None, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a service; its variables lead nowhere yet."""
    for variable in (*AUTHORITIES, "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_KMS", "VAULT_ADDR"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in {
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_EC2_METADATA_DISABLED": "true",
        "VAULT_TOKEN": "a-token",
    }.items():
        monkeypatch.setenv(variable, value)
    return str(request.param)


@pytest.fixture
def servers(authority: Authority) -> Iterator[tuple[Server, Server, Server]]:
    """A server behind TLS, another one, and one without."""
    found = Server(authority.server), Server(authority.server), Server()
    yield found
    for server in found:
        server.close()


# claim: service-transport
def test_redirects(
    name: str,
    servers: tuple[Server, Server, Server],
    authority: Authority,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second, plain = servers
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(authority.file))
    monkeypatch.setenv(ADDRESS[name], first.url)
    for target in plain.url, second.url, f"https://localhost:{first.host.rpartition(':')[2]}", "file:///etc":
        first.redirect = target
        with pytest.raises(KeyServiceError) as caught:
            create_dataset_key(str(tmp_path / "key"), wrapping_key=KEYS[name])
        if name == "vault" and target.startswith("http"):
            assert "redirects" in str(caught.value) or "is refused" in str(caught.value)
    assert second.got == plain.got == []
    assert not any(path.startswith("/again") for path, *_ in first.got)
    assert os.listdir(tmp_path) == []
    if name == "vault":
        # hvac follows those on the same server.
        first.redirect = first.url
        create_dataset_key(str(tmp_path / "key"), wrapping_key=KEYS[name])
        assert any(path.startswith("/again") for path, *_ in first.got)


REFUSED = [
    "http://192.0.2.1:8200",
    "http://vault.example:8200",
    "http://127.0.0.1.example",
    "http://localhost.example",
    "http://127.0.0.1@vault.example",
    "http://vault.example\\@127.0.0.1",
    "http://[::ffff:192.0.2.1]",
    "http://0.0.0.0:8200",
    "HTTP://vault.example",
    "ftp://127.0.0.1",
    "file:///etc/passwd",
    "vault.example:8200",
    "//127.0.0.1",
    "https://",
]


# claim: service-transport
@pytest.mark.parametrize("address", REFUSED)
def test_addresses(name: str, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """HTTP leads to this machine only, however the address is written and wherever it is set."""
    with pytest.raises(ResponseError):
        origin_of(address)
    variables = ["VAULT_ADDR"] if name == "vault" else ["AWS_ENDPOINT_URL_KMS", "AWS_ENDPOINT_URL", "file"]
    for variable in variables:
        with monkeypatch.context() as patch:
            if variable == "file":
                (tmp_path / "config").write_text(f"[default]\nendpoint_url = {address}\n")
                patch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
            else:
                patch.setenv(variable, address)
            with pytest.raises(KeyRefusedError) as caught:
                create_dataset_key(str(tmp_path / "key"), wrapping_key=KEYS[name])
            assert KEYS[name] in str(caught.value)
    assert not (tmp_path / "key").exists()


# claim: service-transport
def test_loopback_addresses() -> None:
    for address, port in {
        "http://127.0.0.1:8200": 8200,
        "http://127.8.8.8": 80,
        "http://[::1]:1": 1,
        "http://localhost/path": 80,
        "https://vault.example": 443,
        "HTTPS://VAULT.example:1": 1,
    }.items():
        assert origin_of(address)[2] == port
    assert origin_of("https://VAULT.example") == origin_of("https://vault.example:443/v1/x")


# claim: service-transport
def test_an_address_with_more_than_a_server(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """hvac appends its path; what follows '?' and '#' would swallow it."""
    for address in "https://127.0.0.1:1/?a=b", "https://127.0.0.1:1#", "https://127.0.0.1:1/x?":
        monkeypatch.setenv("VAULT_ADDR", address)
        with pytest.raises(KeyRefusedError, match="VAULT_ADDR"):
            create_dataset_key(str(tmp_path / "key"), wrapping_key=KEYS["vault"])


# claim: service-transport
def test_a_proxy_gets_no_request_in_clear(
    name: str, servers: tuple[Server, Server, Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, proxy = servers[2], Server()
    try:
        monkeypatch.setenv(ADDRESS[name], plain.url)
        for variable in "http_proxy", "HTTP_PROXY", "all_proxy":
            monkeypatch.setenv(variable, proxy.url)
        for variable in "no_proxy", "NO_PROXY":
            monkeypatch.delenv(variable, raising=False)
        create_dataset_key(str(tmp_path / "key"), wrapping_key=KEYS[name])
        assert plain.got
        assert proxy.got == []
        # HTTPS goes through a tunnel, which the proxy cannot read.
        monkeypatch.setenv("https_proxy", proxy.url)
        monkeypatch.setenv(ADDRESS[name], "https://service.example")
        with pytest.raises(KeyServiceError):
            create_dataset_key(str(tmp_path / "other"), wrapping_key=KEYS[name])
        assert {path for path, *_ in proxy.got} <= {"service.example:443"}
        assert not any(b"laintext" in body for *_, body in proxy.got)
    finally:
        proxy.close()


BAD_NAMES = [
    "..",
    ".",
    "a/../b",
    "a//b",
    "%2e%2e",
    "a%2fb",
    "a?b",
    "a b",
    "a\n",
    "\u00e9",
    "a\\b",
    "a\0b",
    "",
]


# claim: service-errors
@pytest.mark.parametrize("bad", BAD_NAMES)
def test_names_that_a_url_would_change(bad: str, service: Service, tmp_path: Path) -> None:
    """A name is a part of a URL of Vault, and of the host's name of AWS; no request is made."""
    arn = "arn:aws:kms:{}:111122223333:{}/{}"
    references = [f"vault:{bad}/key", f"vault:transit/{bad}", f"vault:a/{bad}/key"]
    references += ["aws-kms:" + arn.format("eu-west-1", "key", bad)]
    if bad != "a//b":
        # An alias may contain slashes. It is not part of a URL.
        references += ["aws-kms:" + arn.format("eu-west-1", "alias", bad)]
    references += ["aws-kms:" + arn.format(bad, "key", "a")]
    with service.counting() as calls:
        for reference in references:
            with pytest.raises(ValueError, match="expected"):
                create_dataset_key(str(tmp_path / "key"), wrapping_key=reference)
    assert calls == []
