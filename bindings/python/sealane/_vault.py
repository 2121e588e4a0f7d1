"""Wrapping keys of a Transit engine of HashiCorp Vault, and of servers with its interface such as OpenBao.

The context of a keyset is sent both as ``associated_data``, which keys of AES-GCM and ChaCha20-Poly1305
authenticate, and as ``context``, from which Vault derives the key if it was created with ``derived``. A
Vault that does neither would ignore both, so a new keyset is checked. The address is in ``VAULT_ADDR``, the
token in ``VAULT_TOKEN`` or ``~/.vault-token``, a namespace in ``VAULT_NAMESPACE``.
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

from sealane._wrapping_key import (
    CONNECT_SECONDS,
    MAX_PLAINTEXT,
    READ_SECONDS,
    TRIES,
    ResponseError,
    WrappingKey,
    different,
    error_of,
    read_response,
    said,
)
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
"""Statuses after which the request is sent again."""


def check(key: WrappingKey) -> None:
    """Raises ValueError if the name is not that of a mount and a key."""
    if _NAME.fullmatch(key.name) is None:
        raise ValueError(f"{key}: expected vault:MOUNT/KEY, for example vault:transit/sales")


def encrypt(key: WrappingKey, plaintext: bytes) -> bytes:
    """Returns the ciphertext of a keyset, a text such as ``vault:v1:…``. Checks that the context is bound."""
    ciphertext = _encrypt(key, plaintext)
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
    """Returns the keyset in cleartext."""
    if _CIPHERTEXT.fullmatch(ciphertext) is None:
        raise different(key)
    found = _ask(key, "decrypt_data", {"ciphertext": ciphertext.decode()}, "plaintext")
    try:
        plaintext = base64.b64decode(found, validate=True)
    except (binascii.Error, ValueError):
        plaintext = b""
    if not 0 < len(plaintext) <= MAX_PLAINTEXT:
        raise error_of(key, KeyServiceError, "the response of Vault has no usable plaintext")
    return plaintext


def reencrypt(old: WrappingKey, new: WrappingKey, ciphertext: bytes) -> None:
    """Returns None: Vault changes the version of a key only, and not for ciphertexts with associated data."""


def _encrypt(key: WrappingKey, plaintext: bytes) -> bytes:
    request = {"plaintext": base64.b64encode(plaintext).decode()}
    # The message of the service is not shown for this request, because it could quote the request.
    found = _ask(key, "encrypt_data", request, "ciphertext", shown=False)
    ciphertext = found.encode(errors="replace")
    if len(ciphertext) > 1 << 16 or _CIPHERTEXT.fullmatch(ciphertext) is None:
        raise error_of(key, KeyServiceError, "the response of Vault has no usable ciphertext")
    return ciphertext


def _ask(
    key: WrappingKey, operation: str, request: dict[str, str], member: str, *, shown: bool = True
) -> str:
    """Returns a member of the response to a request."""
    mount, _, name = key.name.rpartition("/")
    if key.context:
        context = base64.b64encode(key.context).decode()
        request = request | {"associated_data": context, "context": context}
    from sealane._unlogged import unlogged  # `logging` takes longer to import than this module.

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
    # Raised here, so that the error has no context: the exceptions of hvac hold the response.
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
    if not os.environ.get("VAULT_ADDR"):
        raise error_of(key, KeyRefusedError, "the environment variable VAULT_ADDR has no address of a Vault")
    session = requests.Session()
    for scheme in "http://", "https://":
        session.mount(scheme, _adapter())
    timeout = (CONNECT_SECONDS, READ_SECONDS)
    return hvac.Client(timeout=timeout, session=session, namespace=os.environ.get("VAULT_NAMESPACE"))


def _adapter() -> Any:
    """Returns an adapter of requests that limits the length of responses, and repeats a request that failed.

    The retries of urllib3 read the rest of each response, which can have any length.
    """
    import requests

    class Limited(requests.adapters.HTTPAdapter):
        def send(self, request: Any, *arguments: Any, **options: Any) -> Any:
            # Both operations can be repeated, because neither changes anything in Vault.
            for left in reversed(range(TRIES)):
                try:
                    found = super().send(request, *arguments, **options | {"stream": True})
                except (requests.ConnectionError, requests.Timeout):
                    if left == 0:
                        raise
                else:
                    if left == 0 or found.status_code not in _BUSY:
                        break
                    found.raw.close()
                time.sleep(0.2 * 2 ** (TRIES - 1 - left))
            content = read_response(found.raw, READ_SECONDS, decode_content=True)
            found.raw = io.BytesIO(content)
            return found

    return Limited()


def _failure(key: WrappingKey, error: Exception, *, shown: bool) -> SealaneError:
    from hvac import exceptions

    if isinstance(error, ResponseError):
        return error_of(key, KeyServiceError, f"no response from Vault that can be used: {error}")
    if not isinstance(error, exceptions.VaultError):
        # Errors of other libraries are named without their text, which may quote the response.
        return error_of(key, KeyServiceError, f"no response from Vault: {type(error).__name__}")
    errors = error.errors if isinstance(error.errors, list) else []
    why = " ".join(str(one) for one in errors)
    text = f"Vault said {type(error).__name__}" + (f": {said(why)}" if shown and why else "")
    if isinstance(error, exceptions.InvalidRequest):
        if "authentication failed" in why or "invalid ciphertext" in why:
            return different(key)
        if "key not found" in why:
            return error_of(key, KeyNotFoundError, text)
        return error_of(key, KeyRefusedError, text)
    if isinstance(error, exceptions.InvalidPath):
        return error_of(key, KeyNotFoundError, text)
    if isinstance(error, exceptions.Unauthorized | exceptions.Forbidden):
        return error_of(key, KeyRefusedError, text)
    return error_of(key, KeyServiceError, text)
