"""Key references: strings that tell where a key is stored.

=================================  =======================================================================
reference                          the key
=================================  =======================================================================
``env:NAME``                       the text in this environment variable
``file:PATH``                      a key file; a leading ``~/`` is the home directory
``keyring:SERVICE/USER``           the text in the keyring of the system (package ``keyring``)
``call:package.module:function``   the result of this function: a ``Key`` or ``Keyring``, or 16 or 32 bytes
``aws-kms:ARN#PATH``               the encrypted keyset in this file, which AWS KMS decrypts (package boto3)
``vault:MOUNT/KEY#PATH``           the encrypted keyset in this file, which Vault decrypts (package hvac)
``pkcs11:URI#PATH``                the encrypted keyset in this file, which a token decrypts (RFC 7512)
=================================  =======================================================================

For a key service or a token, ``?context=TEXT`` before the ``#`` is the context the keyset is bound
to, and PATH may be the URL of an fsspec filesystem. ``sealane.fs.create_dataset_key`` makes such a
file.

Any reference can end in the fingerprint of the key that it must lead to, as in
``aws-kms:ARN#PATH#key-sha256:…``. Another key is an AuthenticationError. If a service or a token
decrypts the key, and there is no fingerprint, the user's file of known keys takes its place.

A reference is not secret. You can pickle it, log it and send it to other machines; each machine
resolves it for itself. ``call:`` runs code, as unpickling does, so take references from trusted
sources only.
"""

from __future__ import annotations

import importlib
import os
import pathlib
import re
from collections.abc import Callable
from typing import Any, Final

from sealane import _kms, _native
from sealane._error_paths import asking
from sealane._frames import forgetting
from sealane._native import Key, Keyring, PublicKey
from sealane._wrapping_key import WrappingKey, shown
from sealane.exceptions import FormatError, KeyNotFoundError, SealaneError


@forgetting
def resolve(reference: str) -> Key | Keyring:
    """Returns the private key, symmetric key or keyring that a reference names on this machine.

    For a keyset, a process asks the key service once in five minutes and caches the keyring.

    Parameters
    ----------
    reference : str
        ``"env:NAME"``, ``"file:PATH"``, ``"keyring:SERVICE/USER"``,
        ``"call:package.module:function"``, ``"aws-kms:ARN#PATH"``, ``"vault:MOUNT/KEY#PATH"`` or
        ``"pkcs11:URI#PATH"``. A variable and a keyring entry hold the text of a key, as
        ``Key.to_text()`` returns it, or the JSON of a ``Keyring``. At the end, ``"#"`` and a
        ``fingerprint`` pin the key.

    Raises
    ------
    KeyNotFoundError
        If the variable, entry or function does not exist.
    FormatError
        If the text is not a private key, a symmetric key or a keyring.
    AuthenticationError
        If a keyset is encrypted with another service key or for another context, or was modified;
        or if the key has another fingerprint than the reference or the file of known keys says.
    KeyServiceError
        If a key service or a token cannot be reached; KeyRefusedError if it refuses.
    OSError
        If a file cannot be read.
    TypeError, ValueError
        If it is not a reference, or a function does not return a key.

    Examples
    --------
    >>> os.environ["BACKUP_KEY"] = sealane.keys.generate("aes-256").to_text()
    >>> key = sealane.keys.resolve("env:BACKUP_KEY")
    """
    found, place, fingerprint = found_at(reference)
    _native.check_key(found, place, fingerprint)
    return found


def found_at(reference: str) -> tuple[Key | Keyring, str | None, str | None]:
    """Returns the key that a reference leads to, unchecked, and the place and fingerprint to check
    it with. The place is None if nobody else can write there.
    """
    _parts(reference)
    reference, fingerprint = _native.split_reference(reference)
    scheme, rest = _parts(reference)
    if scheme not in _kms.SCHEMES:
        return _own(reference, scheme, rest), fingerprint and reference, fingerprint
    key, place = _service_key(reference)
    file = place if "://" not in place else None
    found = _kms.unwrapped(key, _keyset_at(place), file)[0]
    return found, f"{key}#{place if file is None else os.path.abspath(file)}", fingerprint


def is_pinned(reference: str) -> bool:
    """Returns whether nobody else chooses the key: by a fingerprint, or by where it is."""
    rest, fingerprint = _native.split_reference(reference)
    return fingerprint is not None or _parts(rest)[0] not in _kms.SCHEMES


def fingerprint_at(reference: str) -> tuple[str | None, str]:
    """Returns the place and the fingerprint of the key that a reference leads to, unchecked."""
    found, place, _ = found_at(reference)
    return place, found.fingerprint


@forgetting
def _own(reference: str, scheme: str, rest: str) -> Key | Keyring:
    """Returns the key of a variable, a file, an entry of the OS keyring or a function."""
    if scheme == "call":
        return call(reference, rest)
    text = _keyring(reference, rest) if scheme == "keyring" else None
    try:
        found = _native.load_reference(reference) if text is None else _native.parse_key(text)
    except (SealaneError, ValueError) as error:
        kind = type(error) if isinstance(error, SealaneError) else ValueError
        place, said = shown(reference).removeprefix("file:"), str(error)
        raise kind(said if place in said else f"{place}: {said}") from None
    if isinstance(found, PublicKey):
        raise FormatError(f"{reference}: expected a private or symmetric key, found a public key")
    return found


def keyset(reference: str) -> bytes | bytearray:
    """Returns the cleartext keyset behind a reference to a key service. The program parses it."""
    key, place = _service_key(reference)
    return _kms.cleartext(key, _keyset_at(place))


def wrapping_key(reference: str) -> tuple[WrappingKey, str] | None:
    """Returns the wrapping key and the keyset's location; None for other references.

    The reference has no fingerprint.
    """
    return _service_key(reference) if _parts(reference)[0] in _kms.SCHEMES else None


@forgetting
def identity(reference: str) -> str | Key | pathlib.Path:
    """Returns the identity that a reference names, in the form ``identities=[…]`` accepts."""
    scheme, rest = _parts(reference)
    if _native.split_reference(reference)[1] is not None:
        raise ValueError(f"{shown(reference)}: expected no fingerprint: an identity has none")
    match scheme:
        case "file":
            return pathlib.Path(rest).expanduser()
        case "keyring":
            return _keyring(reference, rest)
        case "env":
            # Invalid UTF-8 is replaced, because the decoder's exception would contain the secret.
            return _native.read_reference(reference).decode(errors="replace")
    if scheme in _kms.SCHEMES:
        text = "expected an identity, found the wrapping key of a key service"
        raise ValueError(f"{shown(reference)}: {text}")
    found = _function(reference, rest)()
    if not isinstance(found, str | Key | os.PathLike):
        raise TypeError(f"{reference}: expected an identity, found {type(found).__name__}")
    return found if isinstance(found, str | Key) else pathlib.Path(found)


@forgetting
def passphrase(reference: str) -> str | bytes:
    """Returns the passphrase that a reference names: of a file or a variable the first line, as the
    program reads it.
    """
    if _parts(reference)[0] in ("file", "env"):
        return _native.read_reference(reference).partition(b"\n")[0].removesuffix(b"\r")
    found = identity(reference)
    if not isinstance(found, str):
        raise TypeError(f"{shown(reference)}: expected a passphrase, found {type(found).__name__}")
    return found


def is_reference(value: object) -> bool:
    """Returns whether ``value`` is a str in the form of a key reference."""
    return isinstance(value, str) and value.partition(":")[0] in _SCHEMES


def check(reference: str) -> None:
    """Raises TypeError or ValueError unless it is a picklable reference. Does not resolve it."""
    _parts(reference)
    reference, _ = _native.split_reference(reference)
    if _parts(reference)[0] in _kms.SCHEMES and (key := _service_key(reference)[0]).has_pin():
        raise ValueError(
            f"{key}: a reference that is pickled and logged must not contain a PIN; use pin-source=FILE or "
            "the environment variable SEALANE_PKCS11_PIN"
        )


@forgetting
def call(reference: str, name: str, *arguments: object) -> Key | Keyring:
    """Calls the function ``package.module:function``, which must return a key or a keyring."""
    found = _function(reference, name)(*arguments)
    if isinstance(found, Key | Keyring):
        return found
    if not isinstance(found, bytes | bytearray | memoryview):
        raise TypeError(f"{reference}: expected a key, found {type(found).__name__}")
    return Key.from_bytes(found)


def keyring_text(service: str, user: str) -> str:
    """Returns the text of an OS keyring entry. The command line calls it too."""
    try:
        import keyring
    except ImportError as error:
        raise KeyNotFoundError(
            "the package keyring is not installed; install it with 'pip install sealane[keyring]'"
        ) from error
    try:
        found: str | None = keyring.get_password(service, user)
    except keyring.errors.KeyringError as error:
        raise KeyNotFoundError(str(error)) from error
    if found is None:
        raise KeyNotFoundError("there is no such keyring entry")
    return found


def _function(reference: str, name: str) -> Callable[..., Any]:
    """Imports the function that a reference names as ``package.module:function``."""
    check_function(reference, name)
    module, _, path = name.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise KeyNotFoundError(f"{reference}: {error}") from error
    if not callable(found):
        raise ValueError(f"{reference}: expected a function, found {type(found).__name__}")
    return found  # type: ignore[no-any-return]


def check_function(reference: str, name: str) -> None:
    """Raises ValueError unless ``name`` has the form ``package.module:function``."""
    if not all(name.partition(":")):
        raise ValueError(f"{shown(reference)}: expected a function in the form package.module:function")


def _parts(reference: str) -> tuple[str, str]:
    if not isinstance(reference, str):
        # The value is not shown: it can be the key itself.
        raise TypeError(
            "expected a key reference, a str such as 'env:NAME' or 'file:PATH', found "
            f"{type(reference).__name__}; references are pickled and logged, keys never are"
        )
    scheme, colon, rest = reference.partition(":")
    if not colon or scheme not in _SCHEMES or not rest:
        raise ValueError(f"a key reference begins with one of {', '.join(f'{name}:' for name in _SCHEMES)}")
    # Not shown: a terminal would obey them. A path can have them.
    if scheme != "file" and re.search("[\\x00-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069]", reference):
        raise ValueError(f"expected a key reference {scheme}:… without control characters, found some")
    return scheme, rest


def _keyring(reference: str, name: str) -> str:
    service, _, user = name.partition("/")
    if not (service and user):
        raise ValueError(f"{reference}: expected keyring:SERVICE/USER")
    try:
        return keyring_text(service, user)
    except KeyNotFoundError as error:
        raise KeyNotFoundError(f"{reference}: {error}") from error.__cause__


def _service_key(reference: str) -> tuple[WrappingKey, str]:
    key, place = _kms.parse(reference)
    if not place:
        raise ValueError(f"{key}: expected {key}#PATH, where PATH is the file of the encrypted keyset")
    if "#" in place and key.has_pin():
        raise ValueError(f"{key}: expected one '#', before the path, found another; write %23 in a PIN")
    return key, place


def _keyset_at(place: str) -> bytes:
    """Reads the file of an encrypted keyset."""
    if "://" not in place:
        return _native.read_reference(f"file:{place}")
    try:
        from sealane.fs._store import filesystem_of
    except ImportError as error:
        raise KeyNotFoundError(f"{place}: a URL needs fsspec: pip install 'sealane[fs]'") from error
    with asking(place):
        fs, path = filesystem_of(place, {})
        # A service encrypts at most 4 KiB, so refusing the beginning of a longer file is enough.
        return bytes(fs.cat_file(path, start=0, end=_MAX_KEYSET))


_MAX_KEYSET: Final = 1 << 18
_SCHEMES: Final = ("env", "file", "keyring", "call", *_kms.SCHEMES)
