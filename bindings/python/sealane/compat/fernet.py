"""The calls and tokens of ``cryptography.fernet``.

An existing program changes one line::

    from sealane.compat.fernet import Fernet, InvalidToken, MultiFernet

Tokens of either library are read by the other one. New programs should use ``sealane.Aead``: its messages are
shorter, can be bound to associated data, and have no size limit of base64 text.
"""

from __future__ import annotations

import base64
import os
import time
from collections.abc import Iterable
from typing import NoReturn, Self

from sealane import _native
from sealane.exceptions import AuthenticationError

__all__ = ["Fernet", "InvalidToken", "MultiFernet"]


class InvalidToken(AuthenticationError):
    """The token is malformed or forged, was made with another key, is too old, or is from the future.

    The error does not say which.
    """


class Fernet(_native.Fernet):
    """A key for Fernet tokens.

    Parameters
    ----------
    key : bytes or str
        32 bytes in URL-safe base64, as ``generate_key`` returns them.
    backend : optional
        Ignored, as in cryptography.

    Raises
    ------
    ValueError
        If the key does not have this form.

    Notes
    -----
    Threads may share an object, and it works after ``os.fork()``. It cannot be pickled or copied, because it
    holds the key.

    Examples
    --------
    >>> fernet = Fernet(Fernet.generate_key())
    >>> fernet.decrypt(fernet.encrypt(b"hello"), ttl=60)
    b'hello'
    """

    def __new__(cls, key: bytes | str, backend: object = None) -> Self:
        return super().__new__(cls, key)

    @classmethod
    def generate_key(cls) -> bytes:
        """Returns a random key, which must be kept confidential."""
        return base64.urlsafe_b64encode(os.urandom(32))

    def encrypt(self, data: bytes) -> bytes:
        """Encrypts ``data`` and returns a token with the current time, which is readable without the key.

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
            The number of seconds after which a token is too old. Without it, the time of the token is
            ignored.

        Raises
        ------
        InvalidToken
            If the token cannot be verified, is older than ``ttl``, or has a time that is more than 60
            seconds ahead.
        TypeError
            If ``token`` is neither ``bytes`` nor ``str``.
        """
        now = None if ttl is None else int(time.time())
        data = self.decrypt_or_none(token, ttl, now)
        return data if data is not None else _invalid()

    def decrypt_at_time(self, token: bytes | str, ttl: int, current_time: int) -> bytes:
        """Verifies a token as ``decrypt`` does at the time ``current_time``, in seconds since 1970."""
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

    # The tests of cryptography call these two methods, and so may programs.

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
    """Several keys for Fernet tokens: the first one encrypts, and all of them decrypt.

    Its methods are those of ``Fernet``. As in the package cryptography, the argument ``msg`` is the data or
    the token, and ``ttl`` is the greatest age of a token in seconds.

    Parameters
    ----------
    fernets : iterable of Fernet
        The keys, the newest first.

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

    def __init__(self, fernets: Iterable[Fernet]) -> None:
        self._fernets = list(fernets)
        if not self._fernets:
            raise ValueError("MultiFernet requires at least one Fernet instance")

    def encrypt(self, msg: bytes) -> bytes:
        """Encrypts ``msg`` with the first key and returns a token with the current time."""
        return self._fernets[0].encrypt(msg)

    def encrypt_at_time(self, msg: bytes, current_time: int) -> bytes:
        """Encrypts ``msg`` with the first key and returns a token with the time ``current_time``."""
        return self._fernets[0].encrypt_at_time(msg, current_time)

    def rotate(self, msg: bytes | str) -> bytes:
        """Encrypts the data of a token again, with the first key. The token keeps its time.

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
        """Verifies a token with the first key that fits and returns its data, as ``Fernet.decrypt`` does."""
        now = None if ttl is None else int(time.time())
        return self._decrypt(msg, ttl, now)

    def decrypt_at_time(self, msg: bytes | str, ttl: int, current_time: int) -> bytes:
        """Verifies a token as ``decrypt`` does at the time ``current_time``, in seconds since 1970."""
        return self._decrypt(msg, _given(ttl), current_time)

    def extract_timestamp(self, msg: bytes | str) -> int:
        """Verifies a token with the first key that fits and returns its time, in seconds since 1970."""
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
