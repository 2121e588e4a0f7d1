"""Encrypted payloads of Temporal: a codec for its ``DataConverter``."""

from __future__ import annotations

from collections.abc import Sequence

from temporalio.api.common.v1 import Payload
from temporalio.converter import PayloadCodec

from sealane._fields import KeyringLike, Keys
from sealane._frames import forgetting
from sealane.exceptions import FormatError

__all__ = ["Codec"]


class Codec(PayloadCodec):
    """Encrypts payloads with a keyring.

    Parameters
    ----------
    keyring : Keyring, str or callable
        The keyring, a reference to it, or a function that returns it.
    accept_plaintext : bool
        Whether payloads that are not encrypted are passed on, for example of workflows that began
        before. Everybody who can write to the server can then replace encrypted ones.

    Raises
    ------
    TypeError, ValueError
        If it is no keyring of an AEAD.

    Examples
    --------
    >>> from temporalio.converter import DataConverter
    >>> ring = sealane.keys.Keyring.generate("xaes-256-gcm")
    >>> converter = DataConverter(payload_codec=Codec(ring))
    >>> await converter.decode(await converter.encode(["an order"]))
    ['an order']
    """

    @forgetting
    def __init__(self, keyring: KeyringLike, *, accept_plaintext: bool = False) -> None:
        self._keys = Keys(keyring, searchable=False)
        self._accept_plaintext = accept_plaintext

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Returns encrypted payloads; Temporal calls it."""
        plain = [payload.SerializeToString() for payload in payloads]
        sealed = self._keys.aead().seal_many(plain, [_AAD] * len(plain))
        return [Payload(metadata={"encoding": _ENCODING}, data=data) for data in sealed]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Returns the payloads; Temporal calls it.

        Raises
        ------
        AuthenticationError
            If one was changed, or encrypted with another key.
        FormatError
            If one is not encrypted.
        """
        aead = self._keys.aead()
        found = []
        for payload in payloads:
            if payload.metadata.get("encoding") == _ENCODING:
                found.append(Payload.FromString(aead.open(payload.data, _AAD)))
            elif self._accept_plaintext:
                found.append(payload)
            else:
                raise FormatError("expected an encrypted payload; accept_plaintext=True passes others on")
        return found


_ENCODING = b"binary/sealane"
_AAD = b"temporal"
