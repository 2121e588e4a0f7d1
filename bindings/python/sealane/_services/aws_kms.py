"""Wrapping keys of AWS KMS.

A keyset's context is bound as the encryption context ``{"associatedData": CONTEXT in
hexadecimal}``, as in Tink, so Tink's client decrypts it. Region and account come from the ARN.
boto3 finds credentials and endpoints, for example in the environment.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final

from sealane import _wrapping_key as wrapping
from sealane._wrapping_key import ResponseError, WrappingKey, error_of, said
from sealane.exceptions import KeyNotFoundError, KeyRefusedError, KeyServiceError, SealaneError

_ARN: Final = re.compile(
    r"arn:aws[a-z-]*:kms:(?P<region>[a-z0-9-]+):[0-9]{12}:(?:key/[A-Za-z0-9-]+|alias/[A-Za-z0-9/_-]+)"
)
_DIFFERENT: Final = ("InvalidCiphertextException", "IncorrectKeyException")
_LOGGERS: Final = ("boto3", "botocore", "urllib3")


def check(key: WrappingKey) -> None:
    """Raises ValueError unless the name is the ARN of a key or an alias."""
    if _ARN.fullmatch(key.name) is None:
        raise ValueError(
            f"{key}: expected aws-kms:ARN, with the ARN of a key or an alias such as "
            "arn:aws:kms:eu-west-1:111122223333:alias/sales"
        )


def encrypt(key: WrappingKey, plaintext: bytes | bytearray) -> bytes:
    """Returns a keyset's ciphertext."""
    request = {"KeyId": key.name, "Plaintext": plaintext, "EncryptionContext": _context(key)}
    # The service's message is not shown: it could quote the request.
    return _ask(key, "encrypt", request, "CiphertextBlob", shown=False)


def decrypt(key: WrappingKey, ciphertext: bytes) -> bytes:
    """Returns the cleartext keyset."""
    request = {"KeyId": key.name, "CiphertextBlob": ciphertext, "EncryptionContext": _context(key)}
    return _ask(key, "decrypt", request, "Plaintext", wrapping.MAX_PLAINTEXT)


def reencrypt(old: WrappingKey, new: WrappingKey, ciphertext: bytes) -> bytes | None:
    """Returns a ciphertext under another key; the keyset does not leave the service. None if the
    keys are in different regions.
    """
    if _region(old) != _region(new):
        return None
    request = {
        "CiphertextBlob": ciphertext,
        "SourceKeyId": old.name,
        "SourceEncryptionContext": _context(old),
        "DestinationKeyId": new.name,
        "DestinationEncryptionContext": _context(new),
    }
    return _ask(new, "re_encrypt", request, "CiphertextBlob", source=old)


def _ask(
    key: WrappingKey,
    operation: str,
    request: dict[str, Any],
    member: str,
    most: int = 1 << 16,
    *,
    shown: bool = True,
    source: WrappingKey | None = None,
) -> bytes:
    """Returns a member of the response to a request, at most ``most`` bytes."""
    from sealane._services.unlogged import unlogged  # `logging` takes longer to import than this module.

    client = _client(key)
    try:
        with unlogged(*_LOGGERS):
            found = getattr(client, operation)(**request)
        failure = None if isinstance(found, dict) else error_of(key, KeyServiceError, "returned no response")
    except Exception as error:
        failure = _failure(key, error, shown=shown, source=source)
    finally:
        client.close()
    # Raised here to have no context: the exceptions of boto3 hold the response.
    if failure is not None:
        raise failure
    # Behind an alias, a key has its own name.
    if ":key/" in key.name and found.get("KeyId") != key.name:
        raise error_of(key, KeyServiceError, "AWS KMS used another key")
    content = found.get(member)
    if not isinstance(content, bytes) or not 0 < len(content) <= most:
        raise error_of(key, KeyServiceError, f"the response of AWS KMS has no usable {member}")
    return content


def _client(key: WrappingKey) -> Any:
    """Returns a new client. Its connections would not be safe to share with a forked child."""
    try:
        import boto3
        import botocore.session
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError
    except ImportError as error:
        raise KeyNotFoundError(
            f"{key}: the package boto3 is not installed; install it with 'pip install sealane[aws-kms]'"
        ) from error
    config = Config(
        connect_timeout=wrapping.CONNECT_SECONDS,
        read_timeout=wrapping.READ_SECONDS,
        retries={"mode": "standard", "total_max_attempts": wrapping.TRIES},
    )
    try:
        session = botocore.session.get_session()
        client = boto3.session.Session(botocore_session=session).client(
            "kms", region_name=_region(key), config=config
        )
        client.meta.events.register("before-send.kms", _sender(session, client.meta.endpoint_url))
        return client
    except (BotoCoreError, ResponseError, ValueError) as error:
        # For example, a missing profile or an invalid endpoint.
        raise error_of(key, KeyRefusedError, f"boto3 cannot be set up: {said(error)}") from None


def _sender(session: Any, address: str) -> Callable[..., Any]:
    """Returns a function that sends requests to one server. boto3 itself would collect any length."""
    from botocore.awsrequest import AWSResponse
    from botocore.httpsession import URLLib3Session
    from botocore.utils import get_environ_proxies

    origin = wrapping.origin_of(address)
    authorities = session.get_config_variable("ca_bundle") or os.environ.get("REQUESTS_CA_BUNDLE")
    http = URLLib3Session(
        verify=authorities or True,
        # Without TLS, a proxy would read the request.
        proxies=get_environ_proxies(address) if origin[0] == "https" else {},
        timeout=(wrapping.CONNECT_SECONDS, wrapping.READ_SECONDS),
        max_pool_connections=1,
    )
    pools = http._pool_classes_by_scheme
    pools.update(wrapping.timed(pools))

    def send(request: Any, **_: Any) -> Any:
        request.stream_output = True
        if wrapping.origin_of(request.url) != origin:
            raise ResponseError("the request has another address than the client")
        found = http.send(request)
        content = wrapping.read_response(found.raw)
        body = SimpleNamespace(stream=lambda: iter([content]))
        return AWSResponse(found.url, found.status_code, found.headers, body)

    return send


def _failure(key: WrappingKey, error: Exception, *, shown: bool, source: WrappingKey | None) -> SealaneError:
    from botocore.exceptions import BotoCoreError, ClientError, CredentialRetrievalError, NoCredentialsError

    if isinstance(error, ClientError):
        code = said(error.response.get("Error", {}).get("Code", "no code"))
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 500)
        why = error.response.get("Error", {}).get("Message") if shown else None
        text = f"AWS KMS said {code}" + (f": {said(why)}" if why else "")
        if code in _DIFFERENT:
            return wrapping.different(source or key)
        if code == "NotFoundException":
            return error_of(key, KeyNotFoundError, text)
        # The service writes the status; anything but a number may come from a proxy in between.
        if isinstance(status, int) and 400 <= status < 500 and "Throttl" not in code:
            return error_of(key, KeyRefusedError, text)
        return error_of(key, KeyServiceError, text)
    if isinstance(error, ResponseError):
        return error_of(key, KeyServiceError, f"no response from AWS KMS that can be used: {error}")
    if isinstance(error, NoCredentialsError | CredentialRetrievalError):
        return error_of(key, KeyRefusedError, f"there are no credentials for AWS: {said(error)}")
    # Other libraries' errors are named without their text: it may quote the response.
    why = (
        f"{type(error).__name__}: {said(error)}" if isinstance(error, BotoCoreError) else type(error).__name__
    )
    return error_of(key, KeyServiceError, f"no response from AWS KMS: {why}")


def _context(key: WrappingKey) -> dict[str, str]:
    return {"associatedData": key.context.hex()} if key.context else {}


def _region(key: WrappingKey) -> str:
    found = _ARN.fullmatch(key.name)
    assert found is not None
    return found["region"]
