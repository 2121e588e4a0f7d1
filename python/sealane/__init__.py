"""Encryption at the speed of the hardware: messages, streams and files in formats that others read."""

from sealane import exceptions, hazmat, hybrid, keys
from sealane._file import decrypt, decrypt_file, encrypt, encrypt_file, inspect, verify_file
from sealane._native import (
    Aead,
    AlgorithmInfo,
    Buffer,
    FileInfo,
    ProviderInfo,
    __version__,
    algorithms,
    generate_key,
    providers,
)
from sealane._open import EncryptedReader, EncryptedWriter, open
from sealane.exceptions import (
    AuthenticationError,
    FormatError,
    KeyNotFoundError,
    LimitExceededError,
    NoMatchingKeyError,
    ProviderUnavailableError,
    SealaneError,
    TruncatedError,
    UnsupportedVersionError,
)

__all__ = [
    "Aead",
    "AlgorithmInfo",
    "AuthenticationError",
    "Buffer",
    "EncryptedReader",
    "EncryptedWriter",
    "FileInfo",
    "FormatError",
    "KeyNotFoundError",
    "LimitExceededError",
    "NoMatchingKeyError",
    "ProviderInfo",
    "ProviderUnavailableError",
    "SealaneError",
    "TruncatedError",
    "UnsupportedVersionError",
    "__version__",
    "algorithms",
    "decrypt",
    "decrypt_file",
    "encrypt",
    "encrypt_file",
    "exceptions",
    "generate_key",
    "hazmat",
    "hybrid",
    "inspect",
    "keys",
    "open",
    "providers",
    "verify_file",
]
