"""Writes the seeds of the fuzz targets from the fixtures of the tests, see README.md."""

import base64
import re
from collections import defaultdict
from pathlib import Path

import seeds

ROOT = Path(__file__).parents[1]
FIXTURES = (ROOT / "crates/sealane/tests/it/keys/fixtures.rs").read_text()
AGE_KEY = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX"
AGE = ROOT / "crates/sealane/tests/it/age"
made: defaultdict[str, dict[str, bytes]] = defaultdict(dict)


def write(target: str, name: str, content: bytes) -> None:
    if len(content) <= 4096:
        made[target][name] = content


def der(pem: str) -> bytes:
    lines = [line for line in pem[pem.rindex("-----BEGIN") :].splitlines() if not line.startswith("-----")]
    return base64.b64decode("".join(lines))


keys = dict(
    re.findall(
        r'pub\(crate\) const (\w+): &str = "\\?\n?(-----BEGIN.*?-----END [^-]*-----\n?)', FIXTURES, re.S
    )
)
for name, text in keys.items():
    slow = "ENCRYPTED PRIVATE" in text or "AES256" in name
    if not slow:
        write("key_file", name.lower(), text.encode())
    if "OPENSSH" in text:
        write("ssh_key", name.lower(), der(text))
    elif "Proc-Type" not in text:
        # Structured input: the first field takes its length from the end, so plain DER is a
        # beginning only.
        write("pkcs8", name.lower(), der(text))
for path in sorted(AGE.iterdir()):
    content = path.read_bytes()
    # A cut at 100 bytes and pieces of 17 bytes, then the file.
    write("age", path.name, b"\x64\x00\x10" + content)
    if b"OPENSSH" in content:
        write("ssh_key", path.name, der(content.decode()))
for path in sorted((ROOT / "tests/golden/age").glob("*.age")):
    write("age", path.name, b"\x64\x00\x10" + path.read_bytes())
for path in sorted((ROOT / "tests/golden/tink").glob("*.json")):
    write("tink_keyset", path.name, path.read_bytes())
JWK = b'{"kty":"oct","k":"GawgguFyGrWKav7AX4VKUg","kid":"2026-11","alg":"A128GCM","use":"enc"}'
write("jwk", "rfc7517", JWK)
write("jwk_set", "one", b'{"keys":[' + JWK + b"]}")
write("jwk_set", "two", b'{"keys":[' + JWK + b',{"kty":"RSA","n":"AQAB"}]}')
LINE = b'{"source":"a","source_len":5,"source_mtime_ns":1,"target":"b","target_len":77,"target_mtime_ns":2}\n'
write("manifest", "line", b"\x01" + LINE)
write("manifest", "escapes", b"\x01" + LINE.replace(b'"a"', b'"\\udc80\\u00e9"'))
write("manifest", "cut", b"\x01" + LINE + LINE[:40])
MARK = b'"length":72,"hash":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=","since":7'
ENDS = b'"length":72,"head":"AAECAw==","tag":"AAECAwQFBgcICQoLDA0ODw==","since":7'
LINKS = b'"links":[\n{"name":"c","target":"a/b"}\n],\n'
FIRST, SECOND = b"1,", b'2,"folder":"00112233445566778899aabbccddeeff",'
for name, version, mark in ("first", FIRST, ENDS), ("second", SECOND, MARK), ("both", SECOND, ENDS):
    files = b'"files":[\n{"name":"a/b\\udcff",' + mark + b"}\n],\n"
    former = b'"former":[\n{"name":"d",' + mark + b',"until":9}\n]}\n'
    head = b'{"sealane":"inventory","version":' + version + b'"counter":9,\n'
    write("inventory", name, head + files + LINKS + former)
for path in sorted((ROOT / "tests/golden/age").glob("x25519-*")):
    # The format age, and the file once.
    write("inspect", path.name, b"\x01\x00" + path.read_bytes())
write("inspect", "chunked", b"\x00\x01" + bytes(80))
write("inspect", "tink-4kb", b"\x02\x7f" + b"\x18" + bytes(63))
TEXTS = [
    "env:A",
    "file:~/a",
    "keyring:a/b",
    "call:a:b",
    "age",
    "tink-4kb",
    "x-wing",
    AGE_KEY,
    f"# {AGE_KEY}\n{AGE_KEY}",
]
for number, text in enumerate(TEXTS):
    write("reference_text", f"text-{number}", text.encode())
for target, named in made.items():
    seeds.write(target, seeds.read(target) | named)
