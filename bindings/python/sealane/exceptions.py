"""What goes wrong, and whose fault it is.

Misuse of an argument is TypeError or ValueError, a failing disk is OSError. Everything else is below
SealaneError.
"""

__all__ = [
    "AuthenticationError",
    "FormatError",
    "KeyNotFoundError",
    "LimitExceededError",
    "NoMatchingKeyError",
    "ProviderUnavailableError",
    "SealaneError",
    "TruncatedError",
    "UnsupportedVersionError",
]


class SealaneError(Exception):
    """The base of every error of sealane's own."""


class AuthenticationError(SealaneError):
    """Wrong key, wrong nonce, wrong context or changed data; which one is not known, nor would it be said."""


class FormatError(SealaneError):
    """The data is not what it should be."""


class TruncatedError(FormatError):
    """The data ends too early."""


class UnsupportedVersionError(FormatError):
    """The data is of a version that this release does not know."""


class NoMatchingKeyError(SealaneError):
    """None of the given keys is one that the data was encrypted for, or the passphrase is another one."""


class KeyNotFoundError(SealaneError, LookupError):
    """A key reference leads to nothing here; the message has the reference."""


class ProviderUnavailableError(SealaneError):
    """Nobody here can compute what was asked for; the message lists who can compute what."""


class LimitExceededError(SealaneError):
    """More than the algorithm or the format can carry."""
