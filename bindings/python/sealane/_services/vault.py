"""Wrapping keys of HashiCorp Vault's Transit engine, and of compatible servers such as OpenBao.

We send a keyset's context both as ``associated_data``, which AES-GCM and ChaCha20-Poly1305 keys
authenticate, and as ``context``, from which Vault derives the key if it was created with
``derived``. A Vault that supports neither would ignore both, so we check every new keyset. The
address is in ``VAULT_ADDR``, the token in ``VAULT_TOKEN`` or ``~/.vault-token``, a namespace in
``VAULT_NAMESPACE``, certificate authorities in ``VAULT_CACERT`` (a file) or ``VAULT_CAPATH`` (a
folder). Every request goes to this address, encrypted or on this machine: redirects are not
followed to another scheme, host or port.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import io
import os
import re
import time
from typing import Any, Final

from sealane import _wrapping_key as wrapping
from sealane._wrapping_key import ResponseError, WrappingKey, error_of, said
from sealane.exceptions import (
    AuthenticationError,
    KeyNotFoundError,
    KeyRefusedError,
    KeyServiceError,
    SealaneError,
)

_NAME: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_-][A-Za-z0-9_.-]*)+")
_CIPHERTEXT: Final = re.compile(rb"vault:v[0-9]+:[A-Za-z0-9+/=]+")
_LOGGERS: Final = ("hvac", "requests", "urllib3")
_BUSY: Final = (429, 500, 502, 503, 504)
"""Statuses that cause a retry."""


def check(key: WrappingKey) -> None:
    """Raises ValueError unless the name is a mount and a key."""
    if _NAME.fullmatch(key.name) is None:
        raise ValueError(f"{key}: expected vault:MOUNT/KEY, for example vault:transit/sales")


def encrypt(key: WrappingKey, plaintext: bytes | bytearray) -> bytes:
    """Returns a keyset's ciphertext (``vault:v1:…``). Checks that the context is bound."""
    request = {"plaintext": base64.b64encode(plaintext).decode()}
    # The service's message is not shown: it could quote the request.
    found = _ask(key, "encrypt_data", request, "ciphertext", shown=False)
    ciphertext = found.encode(errors="replace")
    if len(ciphertext) > 1 << 16 or _CIPHERTEXT.fullmatch(ciphertext) is None:
        raise error_of(key, KeyServiceError, "the response of Vault has no usable ciphertext")
    if key.context:
        other = dataclasses.replace(key, context=key.context + b"?")
        try:
            decrypt(other, ciphertext)
        except AuthenticationError:
            return ciphertext
        raise error_of(
            key,
            KeyServiceError,
            "this Vault does not bind the context. Its version has no associated_data, so create the key "
            "with derived=true",
        )
    return ciphertext


def decrypt(key: WrappingKey, ciphertext: bytes) -> bytes:
    """Returns the cleartext keyset."""
    if _CIPHERTEXT.fullmatch(ciphertext) is None:
        raise wrapping.different(key)
    found = _ask(key, "decrypt_data", {"ciphertext": ciphertext.decode()}, "plaintext")
    try:
        plaintext = base64.b64decode(found, validate=True)
    except (binascii.Error, ValueError):
        plaintext = b""
    if not 0 < len(plaintext) <= wrapping.MAX_PLAINTEXT:
        raise error_of(key, KeyServiceError, "the response of Vault has no usable plaintext")
    return plaintext


def reencrypt(old: WrappingKey, new: WrappingKey, ciphertext: bytes) -> None:
    """Returns None: Vault only changes a key's version, and not with associated data."""


def _ask(
    key: WrappingKey, operation: str, request: dict[str, str], member: str, *, shown: bool = True
) -> str:
    """Returns a member of the response to a request."""
    mount, _, name = key.name.rpartition("/")
    if key.context:
        context = base64.b64encode(key.context).decode()
        request = request | {"associated_data": context, "context": context}
    from sealane._services.unlogged import unlogged  # `logging` takes longer to import than this module.

    client = _client(key)
    found: Any = None
    failure: SealaneError | None = None
    try:
        with unlogged(*_LOGGERS):
            response = getattr(client.secrets.transit, operation)(name=name, mount_point=mount, **request)
        found = response["data"][member]
    except Exception as error:
        failure = _failure(key, error, shown=shown)
    finally:
        client.adapter.close()
    # Raised here to have no context: the exceptions of hvac hold the response.
    if failure is not None:
        raise failure
    if not isinstance(found, str):
        raise error_of(key, KeyServiceError, f"the response of Vault has no usable {member}")
    return found


def _client(key: WrappingKey) -> Any:
    """Returns a new client. Its connections would not be safe to share with a forked child."""
    try:
        import hvac
        import requests
    except ImportError as error:
        raise KeyNotFoundError(
            f"{key}: the package hvac is not installed; install it with 'pip install sealane[vault]'"
        ) from error
    if not (address := os.environ.get("VAULT_ADDR")):
        raise error_of(key, KeyRefusedError, "the environment variable VAULT_ADDR has no address of a Vault")
    try:
        origin = wrapping.origin_of(address)
    except ResponseError as error:
        text = f"VAULT_ADDR: {error}"
    else:
        text = "VAULT_ADDR: an address has no '?' and no '#'" if set(address) & set("?#") else ""
    # As the program vault, and hvac unless it gets a session.
    authorities = os.environ.get("VAULT_CACERT") or os.environ.get("VAULT_CAPATH")
    if not text and authorities and not os.path.exists(authorities):
        text = f"VAULT_CACERT or VAULT_CAPATH: {authorities} does not exist"
    if text:
        raise error_of(key, KeyRefusedError, text)
    session = requests.Session()
    session.verify = authorities or True
    for scheme in "http://", "https://":
        session.mount(scheme, _adapter(origin))
    timeout = (wrapping.CONNECT_SECONDS, wrapping.READ_SECONDS)
    return hvac.Client(
        url=address, timeout=timeout, session=session, namespace=os.environ.get("VAULT_NAMESPACE")
    )


def _adapter(origin: tuple[str, str, int]) -> Any:
    """Returns a requests adapter for one server. It limits length and time of a response, and
    retries failed requests.

    urllib3's retries read the rest of each response, which can have any length.
    """
    import requests

    def timed(manager: Any) -> Any:
        manager.pool_classes_by_scheme = wrapping.timed(manager.pool_classes_by_scheme)
        return manager

    class Limited(requests.adapters.HTTPAdapter):
        def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
            super().init_poolmanager(*arguments, **options)
            timed(self.poolmanager)

        def proxy_manager_for(self, *arguments: Any, **options: Any) -> Any:
            return timed(super().proxy_manager_for(*arguments, **options))

        def send(self, request: Any, *arguments: Any, **options: Any) -> Any:
            if wrapping.origin_of(request.url) != origin:
                raise ResponseError("it redirects to another scheme, host or port")
            if origin[0] == "http":
                # A proxy would read the request.
                options["proxies"] = {}
            # Both operations can be repeated: neither changes anything in Vault.
            for left in reversed(range(wrapping.TRIES)):
                try:
                    found = super().send(request, *arguments, **options | {"stream": True})
                except (requests.ConnectionError, requests.Timeout):
                    if left == 0:
                        raise
                else:
                    if left == 0 or found.status_code not in _BUSY:
                        break
                    found.raw.close()
                time.sleep(0.2 * 2 ** (wrapping.TRIES - 1 - left))
            content = wrapping.read_response(found.raw, decode_content=True)
            found.raw = io.BytesIO(content)
            return found

    return Limited()


def _failure(key: WrappingKey, error: Exception, *, shown: bool) -> SealaneError:
    from hvac import exceptions

    if isinstance(error, ResponseError):
        return error_of(key, KeyServiceError, f"no response from Vault that can be used: {error}")
    if not isinstance(error, exceptions.VaultError):
        # Other libraries' errors are named without their text: it may quote the response.
        return error_of(key, KeyServiceError, f"no response from Vault: {type(error).__name__}")
    errors = error.errors if isinstance(error.errors, list) else []
    why = " ".join(str(one) for one in errors)
    text = f"Vault said {type(error).__name__}" + (f": {said(why)}" if shown and why else "")
    if isinstance(error, exceptions.InvalidRequest):
        if "authentication failed" in why or "invalid ciphertext" in why:
            return wrapping.different(key)
        if "key not found" in why:
            return error_of(key, KeyNotFoundError, text)
        return error_of(key, KeyRefusedError, text)
    if isinstance(error, exceptions.InvalidPath):
        return error_of(key, KeyNotFoundError, text)
    if isinstance(error, exceptions.Unauthorized | exceptions.Forbidden):
        return error_of(key, KeyRefusedError, text)
    return error_of(key, KeyServiceError, text)
