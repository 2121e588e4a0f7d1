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
import os
import re
from typing import Any, Final

from sealane._kms import (
    CONNECT_SECONDS,
    MAX_PLAINTEXT,
    READ_SECONDS,
    TRIES,
    WrappingKey,
    different,
    error_of,
    said,
)
from sealane._unlogged import unlogged
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
        from urllib3.util import Retry
    except ImportError as error:
        raise KeyNotFoundError(
            f"{key}: the package hvac is not installed; install it with 'pip install sealane[vault]'"
        ) from error
    if not os.environ.get("VAULT_ADDR"):
        raise error_of(key, KeyRefusedError, "the environment variable VAULT_ADDR has no address of a Vault")
    retry = Retry(
        total=TRIES - 1,
        backoff_factor=0.2,
        status_forcelist=(429, 500, 502, 503, 504),
        # Also POST: neither operation changes anything in Vault.
        allowed_methods=None,
        raise_on_status=False,
        # A server decides how long that is.
        respect_retry_after_header=False,
    )
    session = requests.Session()
    for scheme in "http://", "https://":
        session.mount(scheme, requests.adapters.HTTPAdapter(max_retries=retry))
    timeout = (CONNECT_SECONDS, READ_SECONDS)
    return hvac.Client(timeout=timeout, session=session, namespace=os.environ.get("VAULT_NAMESPACE"))


def _failure(key: WrappingKey, error: Exception, *, shown: bool) -> SealaneError:
    from hvac import exceptions

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
