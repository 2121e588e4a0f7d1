"""The calls and tokens of ``cryptography.fernet``.

An existing program changes one line::

    from sealane.compat.fernet import Fernet, InvalidToken, MultiFernet

Each library reads the other's tokens. New programs should use ``sealane.Aead``: its messages are
shorter, can be bound to associated data, and have no size limit of base64 text.
"""

from __future__ import annotations

import base64
import os
import time
from collections.abc import Iterable
from typing import NoReturn, Self

from sealane import _native
from sealane._frames import forgetting
from sealane.exceptions import AuthenticationError

__all__ = ["Fernet", "InvalidToken", "MultiFernet"]


class InvalidToken(AuthenticationError):
    """The token is malformed or forged, too old, from the future, or made with another key.

    The error does not say which.
    """


class Fernet(_native.Fernet):
    """A key for Fernet tokens.

    Parameters
    ----------
    key : bytes or str
        32 bytes in URL-safe base64, as from ``generate_key``.
    backend : optional
        Ignored, as in pyca/cryptography.

    Raises
    ------
    ValueError
        If the key is malformed.

    Notes
    -----
    Threads may share an object, and it works after ``os.fork()``. It holds the key, so it cannot be
    pickled or copied.

    Examples
    --------
    >>> fernet = Fernet(Fernet.generate_key())
    >>> fernet.decrypt(fernet.encrypt(b"hello"), ttl=60)
    b'hello'
    """

    @forgetting
    def __new__(cls, key: bytes | str, backend: object = None) -> Self:
        return super().__new__(cls, key)

    @classmethod
    def generate_key(cls) -> bytes:
        """Returns a random key. Keep it confidential."""
        return base64.urlsafe_b64encode(os.urandom(32))

    def encrypt(self, data: bytes) -> bytes:
        """Encrypts ``data`` and returns a token with the current time, readable without the key.

        Raises
        ------
        TypeError
            If ``data`` is not ``bytes``.
        """
        return self.encrypt_at_time(data, int(time.time()))

    def decrypt(self, token: bytes | str, ttl: int | None = None) -> bytes:
        """Verifies a token and returns its data.

        Parameters
        ----------
        token : bytes or str
            The result of ``encrypt``.
        ttl : int, optional
            Maximum age of a token in seconds. Without it, the token's time is ignored.

        Raises
        ------
        InvalidToken
            If the token cannot be verified, is older than ``ttl``, or has a time more than 60
            seconds ahead.
        TypeError
            If ``token`` is neither ``bytes`` nor ``str``.
        """
        now = None if ttl is None else int(time.time())
        data = self.decrypt_or_none(token, ttl, now)
        return data if data is not None else _invalid()

    def decrypt_at_time(self, token: bytes | str, ttl: int, current_time: int) -> bytes:
        """Verifies a token like ``decrypt``, at ``current_time`` in seconds since 1970."""
        data = self.decrypt_or_none(token, _given(ttl), current_time)
        return data if data is not None else _invalid()

    def extract_timestamp(self, token: bytes | str) -> int:
        """Verifies a token and returns its time, in seconds since 1970.

        Raises
        ------
        InvalidToken
            If the token cannot be verified.
        """
        found = self.time_or_none(token)
        return found if found is not None else _invalid()

    # cryptography's tests call these two methods, and so may programs.

    @staticmethod
    def _get_unverified_token_data(token: bytes | str) -> tuple[int, bytes]:
        try:
            data = base64.urlsafe_b64decode(token)
        except ValueError:
            data = b""
        if len(data) < 9 or data[0] != 0x80:
            _invalid()
        return int.from_bytes(data[1:9], "big"), data

    def _encrypt_from_parts(self, data: bytes, current_time: int, iv: bytes) -> bytes:
        return self.encrypt_with_iv(data, current_time, iv)


class MultiFernet:
    """Several Fernet keys: the first encrypts, and all of them decrypt.

    The methods are those of ``Fernet``. As in pyca/cryptography, ``msg`` is the data or the token,
    and ``ttl`` is a token's maximum age in seconds.

    Parameters
    ----------
    fernets : iterable of Fernet
        The keys, newest first.

    Raises
    ------
    ValueError
        If there is no key.

    Examples
    --------
    >>> new, old = Fernet(Fernet.generate_key()), Fernet(Fernet.generate_key())
    >>> both = MultiFernet([new, old])
    >>> new.decrypt(both.rotate(old.encrypt(b"hello")))
    b'hello'
    """

    @forgetting
    def __init__(self, fernets: Iterable[Fernet]) -> None:
        self._fernets = list(fernets)
        if not self._fernets:
            raise ValueError("MultiFernet requires at least one Fernet instance")

    def encrypt(self, msg: bytes) -> bytes:
        """Encrypts ``msg`` with the first key and returns a token with the current time."""
        return self._fernets[0].encrypt(msg)

    def encrypt_at_time(self, msg: bytes, current_time: int) -> bytes:
        """Encrypts ``msg`` with the first key. The token has the time ``current_time``."""
        return self._fernets[0].encrypt_at_time(msg, current_time)

    def rotate(self, msg: bytes | str) -> bytes:
        """Re-encrypts a token's data with the first key. The token keeps its time.

        Raises
        ------
        InvalidToken
            If no key verifies the token.
        """
        for fernet in self._fernets:
            data = fernet.decrypt_or_none(msg)
            if data is not None:
                return self._fernets[0].encrypt_at_time(data, fernet.extract_timestamp(msg))
        _invalid()

    def decrypt(self, msg: bytes | str, ttl: int | None = None) -> bytes:
        """Verifies a token with the first matching key. Returns its data."""
        now = None if ttl is None else int(time.time())
        return self._decrypt(msg, ttl, now)

    def decrypt_at_time(self, msg: bytes | str, ttl: int, current_time: int) -> bytes:
        """Verifies a token like ``decrypt``, at ``current_time`` in seconds since 1970."""
        return self._decrypt(msg, _given(ttl), current_time)

    def extract_timestamp(self, msg: bytes | str) -> int:
        """Verifies a token with the first matching key. Returns its time in seconds since 1970."""
        for fernet in self._fernets:
            found = fernet.time_or_none(msg)
            if found is not None:
                return found
        _invalid()

    def _decrypt(self, msg: bytes | str, ttl: int | None, now: int | None) -> bytes:
        for fernet in self._fernets:
            data = fernet.decrypt_or_none(msg, ttl, now)
            if data is not None:
                return data
        _invalid()


def _given(ttl: int) -> int:
    if ttl is None:
        raise ValueError("decrypt_at_time() can only be used with a non-None ttl")
    return ttl


def _invalid() -> NoReturn:
    raise InvalidToken
