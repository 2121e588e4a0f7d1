"""sealane's own exceptions.

An invalid argument raises TypeError or ValueError, and a failing disk raises OSError. Every other
error is a subclass of SealaneError.
"""

__all__ = [
    "AuthenticationError",
    "EncryptedFieldError",
    "ForkedError",
    "FormatError",
    "KeyNotFoundError",
    "KeyRefusedError",
    "KeyServiceError",
    "LimitExceededError",
    "NoMatchingKeyError",
    "PluginError",
    "ProviderUnavailableError",
    "ReentrantCallError",
    "SealaneError",
    "TruncatedError",
    "UnsupportedVersionError",
    "UsageLimitWarning",
]


class SealaneError(Exception):
    """The base class of all errors specific to sealane."""

    index: int | None = None
    """Index of the failed message, for calls on several messages such as ``Aead.open_many``."""

    def __str__(self) -> str:
        """Returns the text with control characters escaped: a terminal would obey those in a file's
        name.
        """
        return escaped(super().__str__())


def escaped(text: str) -> str:
    """Returns a text with control characters escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class AuthenticationError(SealaneError):
    """The data is not authentic: wrong key, nonce, associated data or context, or modified data.

    The error does not say which, because the difference would help an attacker. If a file's header
    has verified the key, the error names the modified chunk.
    """


class EncryptedFieldError(AuthenticationError):
    """A value of a database does not open: another key, changed, or moved from another place.

    The message names the table, the column and, where it is known, the primary key. It shows
    neither the value nor a key.
    """

    table: str = ""
    """Name of the table."""
    column: str = ""
    """Name of the column."""
    primary_key: object = None
    """The primary key of the row; None if it is not known."""


class FormatError(SealaneError):
    """The data does not have the expected format, for example because a header is damaged."""


class TruncatedError(FormatError):
    """The end of the data is missing, for example after an interrupted download."""


class UnsupportedVersionError(FormatError):
    """This release does not support the data's format version."""


class NoMatchingKeyError(SealaneError):
    """No identity matches any recipient of the file, or the passphrase is wrong."""


class KeyNotFoundError(SealaneError, LookupError):
    """A key reference leads to no key on this machine. The message contains the reference."""


class KeyServiceError(SealaneError):
    """A key service or a token failed: it is unreachable or returned an invalid answer.

    The message contains the reference of the key. A later call may succeed.
    """


class KeyRefusedError(KeyServiceError):
    """A key service or a token refuses to use the key: no permission, or a wrong PIN.

    The message contains the key's reference and what the service said, never the PIN.
    """


class PluginError(SealaneError):
    """An age plugin is missing, not enabled, failed, or was silent for too long."""

    plugin: str = ""
    """Name of the plugin, without ``age-plugin-``."""


class ProviderUnavailableError(SealaneError):
    """The provider cannot compute the algorithm here; the message lists the available ones."""


class ForkedError(SealaneError, RuntimeError):
    """An object was used in a forked child, but only its creating process can continue it.

    For example, an EncryptedWriter counts nonces. If parent and child both continued, they would
    seal data under the same nonces. The parent can continue; create a new object in the child.
    """


class ReentrantCallError(SealaneError, RuntimeError):
    """An object was called during another call of the same thread to it.

    For example, a signal handler closes a file in the middle of a write. The call in progress
    continues.
    """


class LimitExceededError(SealaneError):
    """A limit of the algorithm or the format is exceeded, such as the maximum message length."""


class UsageLimitWarning(UserWarning):
    """An AES-GCM or ChaCha20-Poly1305 key is at 75 % of its message limit.

    Rotate the key: after 2^32 messages, sealing raises LimitExceededError. The warning is given
    once per object. Messages of other objects and processes are not counted.
    """
