"""Encryption of messages, streams and files in formats that other software reads.

For example::

    import sealane

    key = sealane.keys.generate("aes-256")
    sealane.encrypt_file("data.csv", "data.csv.sealed", key=key)
    with sealane.open("data.csv.sealed", key=key) as file:
        file.seek(1000)
        part = file.read(100)

    aead = sealane.Aead("aes-256-gcm", key)
    sealed = aead.seal(b"message", aad=b"header")

The submodules are ``keys`` (key files), ``plugins`` (age plugins), ``hybrid`` (messages to a public
key), ``jwe`` (JSON Web Encryption), ``signing`` (signatures), ``fs`` (datasets through fsspec),
``hazmat`` (primitives) and ``compat`` (drop-in replacements for other libraries).
"""

from sealane import exceptions, hazmat, hybrid, jwe, keys, plugins, signing
from sealane._bulk import (
    BulkReport,
    decrypt_many,
    decrypt_tree,
    encrypt_many,
    encrypt_tree,
    rotate_tree,
    verify_tree,
)
from sealane._file import decrypt, decrypt_file, encrypt, encrypt_file, inspect, rewrap, verify_file
from sealane._folder import Folder, FolderEntry
from sealane._inventory import Difference, InventoryReport, verify_inventory, write_inventory
from sealane._native import (
    Aead,
    AlgorithmInfo,
    Buffer,
    Decryptor,
    DeterministicAead,
    FileInfo,
    ProviderInfo,
    __version__,
    algorithms,
    generate_key,
    providers,
)
from sealane._open import EncryptedReader, EncryptedWriter, open
from sealane._salvage import SalvageReport, salvage_file
from sealane.exceptions import (
    AuthenticationError,
    EncryptedFieldError,
    ForkedError,
    FormatError,
    KeyNotFoundError,
    KeyRefusedError,
    KeyServiceError,
    LimitExceededError,
    NoMatchingKeyError,
    PluginError,
    ProviderUnavailableError,
    ReentrantCallError,
    SealaneError,
    TruncatedError,
    UnsupportedVersionError,
)

__all__ = [
    "Aead",
    "AlgorithmInfo",
    "AuthenticationError",
    "Buffer",
    "BulkReport",
    "Decryptor",
    "DeterministicAead",
    "Difference",
    "EncryptedFieldError",
    "EncryptedReader",
    "EncryptedWriter",
    "FileInfo",
    "Folder",
    "FolderEntry",
    "ForkedError",
    "FormatError",
    "InventoryReport",
    "KeyNotFoundError",
    "KeyRefusedError",
    "KeyServiceError",
    "LimitExceededError",
    "NoMatchingKeyError",
    "PluginError",
    "ProviderInfo",
    "ProviderUnavailableError",
    "ReentrantCallError",
    "SalvageReport",
    "SealaneError",
    "TruncatedError",
    "UnsupportedVersionError",
    "__version__",
    "algorithms",
    "decrypt",
    "decrypt_file",
    "decrypt_many",
    "decrypt_tree",
    "encrypt",
    "encrypt_file",
    "encrypt_many",
    "encrypt_tree",
    "exceptions",
    "generate_key",
    "hazmat",
    "hybrid",
    "inspect",
    "jwe",
    "keys",
    "open",
    "plugins",
    "providers",
    "rewrap",
    "rotate_tree",
    "salvage_file",
    "signing",
    "verify_file",
    "verify_inventory",
    "verify_tree",
    "write_inventory",
]
