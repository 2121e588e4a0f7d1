"""Types of the native module of sealane. mypy.stubtest compares them with the binary."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import (
    IO,
    Any,
    ClassVar,
    Final,
    Literal,
    Self,
    SupportsIndex,
    TypeAlias,
    final,
    overload,
)

from typing_extensions import Buffer as _Buffer

_Path: TypeAlias = str | PathLike[str]
_KeyLike: TypeAlias = _Buffer | Key
_FileKey: TypeAlias = _Buffer | Key | Keyring | str
_Text: TypeAlias = str | _Buffer
_PublicLike: TypeAlias = PublicKey | _Text
_PrivateLike: TypeAlias = Key | _Text
_Suite: TypeAlias = Literal["aes-128-gcm", "aes-256-gcm", "chacha20-poly1305"]
_TokenKey: TypeAlias = Key | PublicKey | Keyring | _Text
_Serialization: TypeAlias = Literal["compact", "flattened", "general"]
_Curve: TypeAlias = Literal["secp256k1", "x25519", "ed25519"]
_Symmetric: TypeAlias = Literal["aes-256-gcm", "xchacha20"]
_Recipients: TypeAlias = Iterable[str | PublicKey | Key]
_Identities: TypeAlias = Iterable[str | Key | PathLike[str]]
_Progress: TypeAlias = Callable[[int, int | None], object] | None
_Difference: TypeAlias = Literal[
    "missing", "added", "renamed", "copied", "exchanged", "old", "changed", "unreadable"
]

__version__: Final[str]
HEADER_LEN: Final[int]
CHUNK_LEN: Final[int]

# The classes whose names begin with an underscore exist in this stub only.

class _AeadMethods:
    def seal(self, plaintext: _Buffer, aad: _Buffer | None = b"") -> bytes: ...
    def open(self, sealed: _Buffer, aad: _Buffer | None = b"") -> bytes: ...
    def seal_into(self, plaintext: _Buffer, out: _Buffer, aad: _Buffer | None = b"") -> int: ...
    def open_into(self, sealed: _Buffer, out: _Buffer, aad: _Buffer | None = b"") -> int: ...
    def encrypt(
        self,
        nonce: _Buffer,
        data: _Buffer,
        aad: _Buffer | None = None,
        *,
        associated_data: _Buffer | None = None,
    ) -> bytes: ...
    def encrypt_into(
        self,
        nonce: _Buffer,
        data: _Buffer,
        aad: _Buffer | None = None,
        out: _Buffer | None = None,
        *,
        associated_data: _Buffer | None = None,
        buf: _Buffer | None = None,
    ) -> int: ...
    decrypt = encrypt
    decrypt_into = encrypt_into
    algorithm: Final[str]
    variant: Final[str]
    key_len: Final[int]
    nonce_len: Final[int]
    tag_len: Final[int]
    overhead: Final[int]
    max_plaintext_len: Final[int]

@final
class Aead(_AeadMethods):
    @overload
    def __new__(
        cls,
        algorithm: str,
        key: _KeyLike,
        provider: str | None = None,
        *,
        keyring: None = None,
        threads: int | None = None,
    ) -> Aead: ...
    @overload
    def __new__(
        cls,
        algorithm: None = None,
        key: None = None,
        provider: str | None = None,
        *,
        keyring: Keyring,
        threads: int | None = None,
    ) -> Aead: ...
    def count_messages(self, messages: int) -> None: ...
    sealed_messages: Final[int | None]
    def seal_many(
        self, messages: Iterable[_Buffer], aads: Iterable[_Buffer | None] | None = None
    ) -> list[bytes]: ...
    def open_many(
        self, sealed: Iterable[_Buffer], aads: Iterable[_Buffer | None] | None = None
    ) -> list[bytes]: ...
    def seal_packed(
        self, data: _Buffer, offsets: _Buffer, aad: _Buffer | None = b""
    ) -> tuple[bytes, memoryview[int]]: ...
    open_packed = seal_packed
    def buffer(self, n: int) -> Buffer: ...
    provider: Final[str]

@final
class Buffer:
    plaintext: Final[memoryview]
    def seal(self, n: int, aad: _Buffer | None = b"") -> memoryview: ...
    def __len__(self) -> int: ...

@final
class DeterministicAead:
    @overload
    def __new__(
        cls, algorithm: str, key: _KeyLike, *, keyring: None = None, threads: int | None = None
    ) -> DeterministicAead: ...
    @overload
    def __new__(
        cls,
        algorithm: None = None,
        key: None = None,
        *,
        keyring: Keyring,
        threads: int | None = None,
    ) -> DeterministicAead: ...
    def encrypt(self, data: _Buffer, aad: _Buffer | None = b"") -> bytes: ...
    def encrypt_with_all_keys(self, data: _Buffer, aad: _Buffer | None = b"") -> list[bytes]: ...
    def decrypt(self, data: _Buffer, aad: _Buffer | None = b"") -> bytes: ...
    def encrypt_packed(
        self, data: _Buffer, offsets: _Buffer, aad: _Buffer | None = b""
    ) -> tuple[bytes, memoryview[int]]: ...
    decrypt_packed = encrypt_packed
    algorithm: Final[str]
    variant: Final[str]
    key_len: Final[int]
    overhead: Final[int]

class Fernet:
    def __new__(cls, key: _Text) -> Self: ...
    def encrypt_at_time(self, data: bytes, current_time: int) -> bytes: ...
    def encrypt_with_iv(self, data: bytes, current_time: int, iv: bytes) -> bytes: ...
    def decrypt_or_none(
        self, token: bytes | str, ttl: float | None = None, now: float | None = None
    ) -> bytes | None: ...
    def time_or_none(self, token: bytes | str) -> int | None: ...

class _Keystream:
    def xor_at(self, offset: int, data: _Buffer) -> bytes: ...
    def xor_into(self, offset: int, src: _Buffer, out: _Buffer) -> int: ...
    def xor_in_place(self, offset: int, buf: _Buffer) -> None: ...
    variant: Final[str]

@final
class AesCtr(_Keystream):
    def __new__(cls, key: _KeyLike, iv: _Buffer) -> AesCtr: ...

@final
class ChaCha20(_Keystream):
    def __new__(cls, key: _KeyLike, nonce: _Buffer, counter: int = 0) -> ChaCha20: ...

@final
class XChaCha20(_Keystream):
    def __new__(cls, key: _KeyLike, nonce: _Buffer, counter: int = 0) -> XChaCha20: ...

@final
class SpeckCtr(_Keystream):
    def __new__(cls, variant: str, key: _KeyLike, iv: _Buffer, byte_order: str = "big") -> SpeckCtr: ...

@final
class Speck:
    def __new__(cls, variant: str, key: _KeyLike, byte_order: str = "big") -> Speck: ...
    def encrypt_blocks(self, data: _Buffer) -> bytes: ...
    def decrypt_blocks(self, data: _Buffer) -> bytes: ...
    block_len: Final[int]
    variant: Final[str]

@final
class Poly1305:
    def __new__(cls, key: _KeyLike) -> Poly1305: ...
    @staticmethod
    def from_chacha20(key: _KeyLike, nonce: _Buffer) -> Poly1305: ...
    def update(self, data: _Buffer) -> Poly1305: ...
    def finalize(self) -> bytes: ...
    def verify(self, tag: _Buffer) -> None: ...
    variant: Final[str]

class _AeadStream:
    def __new__(cls, algorithm: str, key: _KeyLike, nonce: _Buffer) -> Self: ...
    def aad(self, piece: _Buffer) -> Self: ...
    def update(self, data: _Buffer) -> bytes: ...
    def update_into(self, data: _Buffer, out: _Buffer) -> int: ...
    algorithm: Final[str]

@final
class AeadEncryptor(_AeadStream):
    def finalize(self) -> bytes: ...

@final
class AeadDecryptor(_AeadStream):
    def finalize(self, tag: _Buffer) -> None: ...

@final
class SpeckAead(_AeadMethods):
    def __new__(cls, algorithm: str, key: _KeyLike) -> SpeckAead: ...
    @staticmethod
    def new_small_block(algorithm: str, key: _KeyLike) -> SpeckAead: ...

@final
class FieldOpener:
    def __new__(cls, keys: Any, aad: bytes | None, decode: Any, refuse: Any) -> FieldOpener: ...
    def open(self, sealed: Any, *rest: Any) -> Any: ...

class _SecretFile:
    def save(
        self,
        path: _Path,
        passphrase: _Text | None = None,
        *,
        recipients: _Recipients | None = None,
        overwrite: bool = False,
    ) -> None: ...

@final
class Key(_SecretFile):
    @staticmethod
    def from_bytes(
        data: _Buffer, *, kid: str | None = None, alg: str | None = None, use: str | None = None
    ) -> Key: ...
    @staticmethod
    def from_text(text: _Text, passphrase: _Text | None = None) -> Key: ...
    def to_text(self, passphrase: _Text | None = None) -> str: ...
    def to_hex(self) -> str: ...
    def __bytes__(self) -> bytes: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    kind: Final[str]
    public: Final[PublicKey | None]
    kid: Final[str | None]
    alg: Final[str | None]
    use: Final[str | None]
    fingerprint: Final[str]

@final
class PublicKey:
    def __new__(cls, text: _Text) -> PublicKey: ...
    @staticmethod
    def load(path: _Path) -> PublicKey: ...
    def save(self, path: _Path, *, overwrite: bool = False) -> None: ...
    def to_hex(self, compressed: bool = False) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    kind: Final[str]
    ethereum_address: Final[str]

@final
class Keyring(_SecretFile):
    @staticmethod
    def generate(algorithm: str = "aes-256-gcm", *, prefix: str | None = None) -> Keyring: ...
    @staticmethod
    def from_key(key: _KeyLike, algorithm: str, *, prefix: str | None = None) -> Keyring: ...
    @staticmethod
    def from_json(text: _Text) -> Keyring: ...
    @staticmethod
    def from_bytes(data: _Buffer) -> Keyring: ...
    @staticmethod
    def from_jwk_set(text: _Text) -> Keyring: ...
    def to_json(self) -> str: ...
    def to_bytes(self) -> bytes: ...
    def to_jwk_set(self) -> str: ...
    def add(
        self, key: _KeyLike | None = None, algorithm: str | None = None, *, prefix: str | None = None
    ) -> int: ...
    def promote(self, id: int) -> None: ...
    def disable(self, id: int) -> None: ...
    def enable(self, id: int) -> None: ...
    def destroy(self, id: int) -> None: ...
    def delete(self, id: int) -> None: ...
    def rotate(self) -> int: ...
    primary: Final[int]
    keys: Final[tuple[KeyringKey, ...]]
    fingerprint: Final[str]

@final
class KeyringKey:
    id: Final[int]
    state: Final[str]
    algorithm: Final[str | None]
    prefix: Final[str]
    primary: Final[bool]

@final
class EncryptWith:
    def __new__(
        cls,
        key: _FileKey | None = None,
        recipients: _Recipients | None = None,
        passphrase: _Text | None = None,
        context: _Buffer = ...,
        format: str | None = None,
        armor: bool = False,
    ) -> EncryptWith: ...

@final
class DecryptWith:
    def __new__(
        cls,
        key: _FileKey | None = None,
        identities: _Identities | None = None,
        passphrase: _Text | None = None,
        context: _Buffer = ...,
        format: str | None = None,
        max_work_factor: int | None = None,
    ) -> DecryptWith: ...

@final
class RewrapWith:
    def __new__(
        cls,
        identities: _Identities | None = None,
        passphrase: _Text | None = None,
        max_work_factor: int | None = None,
        recipients: _Recipients | None = None,
        new_passphrase: _Text | None = None,
    ) -> RewrapWith: ...
    def decryption(self) -> DecryptWith: ...
    def new_header(self, prefix: bytes, len: int) -> tuple[bytes, int] | None: ...

class REncrypt:
    def __new__(cls, algorithm: str, key: _KeyLike) -> Self: ...
    def encrypt(
        self, buf: _Buffer, plaintext_len: SupportsIndex, block_index: SupportsIndex, aad: _Buffer
    ) -> int: ...
    def decrypt(
        self, buf: _Buffer, ciphertext_len: SupportsIndex, block_index: SupportsIndex, aad: _Buffer
    ) -> int: ...
    def encrypt_into_buf(
        self, plaintext: _Buffer, buf: _Buffer, block_index: SupportsIndex, aad: _Buffer
    ) -> int: ...
    def decrypt_into_buf(
        self, ciphertext: _Buffer, buf: _Buffer, block_index: SupportsIndex, aad: _Buffer
    ) -> int: ...
    def encrypt_from(self, plaintext: _Buffer, block_index: SupportsIndex, aad: _Buffer) -> bytearray: ...
    def decrypt_from(self, ciphertext: _Buffer, block_index: SupportsIndex, aad: _Buffer) -> bytearray: ...
    @staticmethod
    def copy_slice(src: _Buffer, buf: _Buffer) -> None: ...
    @staticmethod
    def zeroize(arr: _Buffer) -> None: ...

@final
class AlgorithmInfo:
    name: Final[str]
    key_len: Final[int]
    nonce_len: Final[int]
    tag_len: Final[int]
    max_plaintext_len: Final[int]
    max_aad_len: Final[int]
    source: Final[str]

@final
class ProviderInfo:
    algorithm: Final[str]
    provider: Final[str]
    variant: Final[str]
    available: Final[bool]
    reason: Final[str]
    chosen: Final[bool]

@final
class FileInfo:
    format: Final[str]
    armor: Final[bool]
    recipients: Final[list[str]]
    file_len: Final[int]
    plaintext_len: Final[int]
    chunks: Final[int]
    chunk_len: Final[int]

@final
class Reader:
    def __new__(cls, src: str | IO[bytes], decryption: DecryptWith) -> Reader: ...
    def read_at(self, offset: int, n: int) -> bytes: ...
    def readinto_at(self, offset: int, into: _Buffer) -> int: ...
    size: Final[int]

@final
class Vault:
    @staticmethod
    def create(
        path: str,
        *,
        key: _FileKey | None = None,
        recipients: _Recipients | None = None,
        passphrase: _Text | None = None,
        suffix: str = ".sealed",
        encrypt_names: bool = False,
        preserve: bool = False,
        write_only: bool = False,
        sign_key: str | None = None,
        sign_passphrase: _Text | None = None,
    ) -> Vault: ...
    @staticmethod
    def open(
        path: str,
        *,
        storage: object | None = None,
        description: str | None = None,
        key: _FileKey | None = None,
        identities: _Identities | None = None,
        passphrase: _Text | None = None,
        fingerprint: str | None = None,
    ) -> Vault: ...
    @staticmethod
    def rclone(path: str, storage: object | None, remote: str) -> Vault: ...
    described: Final[DescribedFolder | None]
    def entries(
        self, path: str
    ) -> list[tuple[str, Literal["file", "folder", "link"], int, float | None]]: ...
    def find(self, path: str) -> tuple[str, Literal["file", "folder", "link"], int, float | None]: ...
    def open_file(self, path: str) -> Reader: ...
    def read_link(self, path: str) -> str: ...
    def run(
        self,
        out: str | None,
        *,
        exclude: list[str],
        preserve: bool | Literal["all"] = ...,
        durable: bool = False,
        dry_run: bool = False,
        progress: Callable[[int, int], object] | None = None,
    ) -> dict[str, Any]: ...

@final
class DescribedFolder:
    identifier: Final[str]
    suffix: Final[str]
    encrypts_names: Final[bool]
    preserves: Final[bool]
    fingerprint: Final[str]
    def manifest(self) -> str: ...
    def operation(self, verb: str) -> Operation: ...

@final
class Ranges:
    def __new__(cls, header: _Buffer, decryption: DecryptWith) -> Ranges: ...
    def open(self, start: int, end: int, sealed: _Buffer) -> bytes: ...

@final
class Writer:
    @staticmethod
    def encrypt(dst: str | IO[bytes], encryption: EncryptWith, exclusive: bool) -> Writer: ...
    @staticmethod
    def decrypt(dst: str | IO[bytes] | None, decryption: DecryptWith) -> Writer: ...
    @staticmethod
    def plain(path: str, exclusive: bool) -> Writer: ...
    def write(self, piece: _Buffer) -> int: ...
    def finish(self, durable: bool) -> None: ...
    def discard(self) -> None: ...

class Decryptor:
    def __new__(
        cls,
        *,
        key: _FileKey | None = None,
        identities: _Identities | None = None,
        passphrase: _Text | None = None,
        context: _Buffer = b"",
        format: str | None = None,
        max_work_factor: int | None = None,
    ) -> Self: ...
    def update(self, data: _Buffer, /) -> bytes: ...
    def finalize(self) -> bytes: ...

@final
class Signature:
    @staticmethod
    def sign(
        key: str | _Buffer, passphrase: _Text | None, format: str | None, namespace: str, comment: str | None
    ) -> Signature: ...
    @staticmethod
    def verify(
        signature: str | _Buffer,
        signer: str | _Buffer,
        namespace: str,
        revoked: str | _Buffer | None,
        at: float | None,
    ) -> Signature: ...
    def update(self, data: _Buffer, /) -> int: ...
    def finish(self) -> tuple[str, str]: ...

@final
class Operation:
    @staticmethod
    def encrypt(with_: EncryptWith, /) -> Operation: ...
    @staticmethod
    def decrypt(with_: DecryptWith, /) -> Operation: ...
    @staticmethod
    def verify(with_: DecryptWith, /) -> Operation: ...
    @staticmethod
    def rotate(key: Keyring, /, context: _Buffer = b"") -> Operation: ...
    def run(
        self,
        files: list[tuple[str, str]],
        durable: bool,
        root: str | None = None,
        replicas: bool | Literal["all"] = ...,
    ) -> list[BaseException | None]: ...
    def read_back(self, targets: list[str]) -> list[BaseException | None]: ...
    def check_finished(self, manifest: str, target: str) -> None: ...

@final
class CallLock:
    def __new__(cls) -> CallLock: ...
    def __enter__(self) -> None: ...
    def __exit__(self, _kind: object, _error: object, _traceback: object) -> None: ...

@final
class Job:
    @staticmethod
    def pairs(
        pairs: list[tuple[str, str]],
        *,
        batch: int,
        removes_suffix: bool = False,
        manifest: str | None = None,
        verify: bool = False,
        durable: bool = False,
    ) -> Job: ...
    @staticmethod
    def tree(
        src: str,
        dst: str | None = None,
        *,
        batch: int,
        suffix: str = ...,
        removes_suffix: bool = False,
        in_place: bool = False,
        manifest: str | None = None,
        verify: bool = False,
        durable: bool = False,
        exclude: list[str] = ...,
        preserve: bool | Literal["all"] = ...,
        names: _FileKey | None = None,
        delete: bool | Literal["all"] = ...,
        dry_run: bool = False,
        keeps_names: bool = False,
        described: DescribedFolder | None = None,
    ) -> Job: ...
    def run(self, operation: Operation, progress: Callable[[int, int], object] | None = None) -> None: ...
    def plan(self) -> str | None: ...
    def start(self, operation: Operation | None) -> None: ...
    def next_batch(self) -> tuple[list[int], list[tuple[str, str]]] | None: ...
    def record(self, batch: list[int], failures: dict[int, Exception]) -> None: ...
    def progress(self) -> tuple[int, int]: ...
    def finish_needs_operation(self) -> bool: ...
    def finish(self, operation: Operation | None) -> None: ...
    def report(self) -> dict[str, Any]: ...
    def close(self) -> None: ...

def algorithms() -> list[AlgorithmInfo]: ...
def providers() -> list[ProviderInfo]: ...
def generate_key(algorithm: str) -> bytes: ...
def generate(kind: str) -> Key: ...
def kinds() -> tuple[str, ...]: ...
def enable_plugins(
    *,
    message: Callable[[str, str], object] | None = None,
    request: Callable[[str, str, bool], str | None] | None = None,
    confirm: Callable[[str, str, str, str | None], bool | None] | None = None,
    timeout: float = 120.0,
    path: _Path | None = None,
) -> None: ...
def disable_plugins() -> None: ...
def plugin_identity(name: str) -> Key: ...
def load(
    path: _Path,
    passphrase: _Text | None = None,
    *,
    identities: _Identities | None = None,
    kid: str | None = None,
) -> Key | Any: ...  # PublicKey and Keyring too: Any spares most callers an isinstance.
def parse_key(
    content: _Text,
    passphrase: _Text | None = None,
    *,
    identities: _Identities | None = None,
    kid: str | None = None,
    file: _Path | None = None,
) -> Key | PublicKey | Keyring: ...
def is_secret(text: str, /) -> bool: ...
def load_reference(reference: str) -> Key | PublicKey | Keyring: ...
def read_reference(reference: str) -> bytes: ...
def split_reference(reference: str) -> tuple[str, str | None]: ...
def check_key(key: Key | Keyring | str, place: str | None, fingerprint: str | None) -> None: ...
def accept_key(place: str, fingerprint: str) -> None: ...
def remember_key(place: str, fingerprint: str) -> None: ...
def new_dataset_key(kind: str, recipients: _Recipients) -> tuple[bytes, str]: ...
def rewrap_dataset_key(
    content: bytes,
    identity: _Identities,
    recipients: _Recipients,
    place: str | None,
    fingerprint: str | None,
) -> tuple[bytes, str]: ...
def cleartext_keyset(ring: Keyring) -> bytearray: ...
def duplicate_keyring(ring: Keyring) -> Keyring: ...
def encrypted_keyset(ring: Keyring, ciphertext: _Buffer) -> bytes: ...
def keyset_ciphertext(content: _Buffer) -> bytes: ...
def replace_keyset_ciphertext(content: _Buffer, ciphertext: _Buffer) -> bytes: ...
def shown_token_key(reference: str) -> str: ...
def check_token_key(uri: str) -> None: ...
def token_encrypt(uri: str, keyset: _Buffer) -> bytes: ...
def token_decrypt(uri: str, ciphertext: _Buffer) -> bytearray: ...
def derive(
    passphrase: _Text,
    salt: _Buffer,
    *,
    length: int = 32,
    memory_kib: int = 65536,
    passes: int = 3,
    lanes: int = 4,
) -> bytes: ...
def encrypt(
    plaintext: _Buffer,
    key: _TokenKey | Sequence[_TokenKey],
    *,
    alg: str,
    enc: str,
    headers: Mapping[str, object] | None = None,
    serialization: _Serialization = "compact",
) -> str: ...
def decrypt(
    token: _Text, key: _TokenKey | Sequence[_TokenKey], *, algorithms: Sequence[str] | None = None
) -> bytes: ...
def seal(
    public: _PublicLike,
    data: _Buffer,
    aad: _Buffer | None = b"",
    info: _Buffer | None = b"",
    *,
    suite: _Suite | None = None,
) -> bytes: ...
def open(
    private: _PrivateLike,
    blob: _Buffer,
    aad: _Buffer | None = b"",
    info: _Buffer | None = b"",
    *,
    suite: _Suite | None = None,
) -> bytes: ...
def hpke_seal(
    public: _PublicLike,
    data: _Buffer,
    aad: _Buffer | None = b"",
    info: _Buffer | None = b"",
    *,
    suite: _Suite | None = None,
    psk: _Buffer | None = None,
    psk_id: _Buffer | None = None,
    sender: _PrivateLike | None = None,
) -> bytes: ...
def hpke_open(
    private: _PrivateLike,
    blob: _Buffer,
    aad: _Buffer | None = b"",
    info: _Buffer | None = b"",
    *,
    suite: _Suite | None = None,
    psk: _Buffer | None = None,
    psk_id: _Buffer | None = None,
    sender: _PublicLike | None = None,
) -> bytes: ...
def ecies_encrypt(
    pk_hex: _Text,
    data: _Buffer,
    *,
    elliptic_curve: _Curve = "secp256k1",
    is_ephemeral_key_compressed: bool = False,
    is_hkdf_key_compressed: bool = False,
    symmetric_algorithm: _Symmetric = "aes-256-gcm",
    symmetric_nonce_length: int = 16,
) -> bytes: ...
def ecies_decrypt(
    sk_hex: _Text,
    data: _Buffer,
    *,
    elliptic_curve: _Curve = "secp256k1",
    is_ephemeral_key_compressed: bool = False,
    is_hkdf_key_compressed: bool = False,
    symmetric_algorithm: _Symmetric = "aes-256-gcm",
    symmetric_nonce_length: int = 16,
) -> bytes: ...
def rsa_open_parts(
    private: _PrivateLike,
    wrapped_key: _Buffer,
    ciphertext: _Buffer,
    nonce: _Buffer,
    tag: _Buffer,
    *,
    oaep: Literal["sha1", "sha256", "sha384", "sha512"] = "sha1",
    aad: _Buffer | None = b"",
) -> bytes: ...
def encrypt_bytes(data: _Buffer, encryption: EncryptWith) -> bytes: ...
def decrypt_bytes(data: _Buffer, decryption: DecryptWith) -> bytes: ...
def check_target(path: str) -> None: ...
def encrypt_path(
    src: str, dst: str, encryption: EncryptWith, threads: int | None, progress: _Progress, durable: bool
) -> None: ...
def decrypt_path(
    src: str, dst: str, decryption: DecryptWith, threads: int | None, progress: _Progress, durable: bool
) -> None: ...
def salvage_path(
    src: str, dst: str, decryption: DecryptWith, threads: int | None, progress: _Progress, durable: bool
) -> tuple[int, list[list[int]], Literal["verified", "damaged"], Literal["verified", "damaged", "cut"]]: ...
def rewrap_path(
    src: str, dst: str, rewrap: RewrapWith, threads: int | None, progress: _Progress, durable: bool
) -> None: ...
def verify_path(src: str, decryption: DecryptWith, threads: int | None, progress: _Progress) -> None: ...
def write_inventory_path(
    folder: str,
    path: str,
    encryption: EncryptWith,
    sign_key: str,
    sign_passphrase: _Text | None,
    durable: bool,
    identifier: str | None,
) -> tuple[int, int, str | None]: ...
def compare_inventory_path(
    folder: str, path: str, decryption: DecryptWith, signer: str, min_counter: int, identifier: str | None
) -> tuple[int, int, str | None, list[tuple[str, _Difference, str]]]: ...
def sealed_len(plain_len: int) -> int: ...
def parquet_footer(
    footer: bytes, encrypted: bool
) -> tuple[tuple[bytes, bool] | None, bytes | None, list[tuple[str, str, bytes | None]], int]: ...
def plain_len(sealed_len: int) -> int: ...
def sealed_range(start: int, end: int) -> tuple[int, int]: ...
def inspect_path(src: str, format: str | None) -> FileInfo: ...
def run_cli(args: list[str]) -> int: ...
