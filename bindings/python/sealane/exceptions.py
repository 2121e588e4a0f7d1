"""The exceptions that sealane raises in addition to those of Python.

An invalid argument raises TypeError or ValueError, and a failing disk raises OSError. Every other error is a
subclass of SealaneError.
"""

__all__ = [
    "AuthenticationError",
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
    """The base class of all errors that are specific to sealane."""

    index: int | None = None
    """Index of the message that failed, for calls on several messages, for example ``Aead.open_many``."""


class AuthenticationError(SealaneError):
    """The data is not authentic: another key, nonce, associated data or context, or changed data.

    The error does not say which, because the difference would help an attacker. For a file whose header has
    verified the key, it names the chunk that was changed.
    """


class FormatError(SealaneError):
    """The data does not have the expected format, for example because a header is damaged."""


class TruncatedError(FormatError):
    """The end of the data is missing, for example after an interrupted download."""


class UnsupportedVersionError(FormatError):
    """The data has a version of the format that this release does not support."""


class NoMatchingKeyError(SealaneError):
    """No identity matches any recipient of the file, or the passphrase is another one."""


class KeyNotFoundError(SealaneError, LookupError):
    """A key reference leads to no key on this machine. The message contains the reference."""


class KeyServiceError(SealaneError):
    """A key service or a token failed: it cannot be reached, or returns what is not an answer.

    The message contains the reference of the key. A later call may succeed.
    """


class KeyRefusedError(KeyServiceError):
    """A key service or a token refuses to use the key, for example without a permission or with a wrong PIN.

    The message contains the reference of the key and what the service said. It never contains the PIN.
    """


class PluginError(SealaneError):
    """An age plugin is missing, was not enabled, failed or was ended because it was silent for too long."""

    plugin: str = ""
    """Name of the plugin, without ``age-plugin-``."""


class ProviderUnavailableError(SealaneError):
    """The provider does not have the algorithm on this machine. The message lists the available ones."""


class ForkedError(SealaneError, RuntimeError):
    """An object is used in a forked child that only the process that created it can continue.

    For example, an EncryptedWriter counts nonces. If parent and child continued, both would seal data under
    the same nonces. The parent can continue; create a new object in the child.
    """


class ReentrantCallError(SealaneError, RuntimeError):
    """An object is called while a call of the same thread to it is in progress.

    For example, a signal handler closes a file in the middle of a write. The call in progress continues.
    """


class LimitExceededError(SealaneError):
    """A limit of the algorithm or the format is exceeded, for example the largest length of a message."""


class UsageLimitWarning(UserWarning):
    """A key of AES-GCM or ChaCha20-Poly1305 has sealed three quarters of the messages that it may seal.

    Rotate the key: after 2^32 messages, sealing raises LimitExceededError. The warning is given once for each
    object. Messages of other objects and other processes are not counted.
    """
