"""Every table of the five projects that the lab comes from has its counterpart."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path

import pytest
from sealane import hybrid, keys
from sealane_lab import findings, hybrid_contenders, rencrypt_contenders, runner, sealed_box
from sealane_lab.experiments import experiment
from sealane_lab.experiments.hybrid import AS_SENT, TEXT
from sealane_lab.hybrid_schemes import der
from sealane_lab.model import OURS, Cell, Contender, Experiment, Workspace, WrongOutput
from sealane_lab.peers import find
from sealane_lab.progress import Bar
from sealane_lab.results import Results, Sample

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "lab.md"


@dataclasses.dataclass(frozen=True)
class Table:
    """A table of a project: every contender has to be measured in every task at every size."""

    project: str
    title: str
    where: str
    tasks: tuple[str, ...]
    sizes: tuple[int, ...]
    contenders: tuple[str, ...]


BOTH = ("encrypt", "decrypt")
MEMORY = tuple(1 << shift for shift in range(15, 31))
RENCRYPT = ("rencrypt in place", "rencrypt into", *rencrypt_contenders.NAMES)
BLOCKS = ("a block encrypted", "a block decrypted", "a key and a block")
LONG = ("CTR of 16 KiB with a key", "AEAD of 16 KiB with a key")
SPECKS = ("32-64", "48-72", "48-96", "64-96", "64-128", "96-96", "96-144", "128-128", "128-192", "128-256")
NOTEBOOK = ("RSA-2048 pycryptodome", "RSA-3072 pycryptodome", "ECIES eciespy")
OURS_TOO = ("RSA-2048 sealane", "RSA-3072 sealane", "ECIES sealane")
STREAMS = ("sealane into", "cryptography into", "sealane GCM")

TABLES = (
    Table(
        "REncrypt",
        "Buffer in memory, and two charts",
        "buffers",
        BOTH,
        MEMORY,
        ("sealane in place", "rencrypt in place", "PyFLocker into"),
    ),
    Table(
        "REncrypt",
        "Different ways to use the lib, and two charts",
        "buffers",
        BOTH,
        MEMORY,
        (*RENCRYPT, "PyFLocker into", "PyFLocker new bytes"),
    ),
    Table(
        "REncrypt",
        "Speed throughput, and a chart",
        "buffers",
        ("encrypt",),
        tuple(1 << shift for shift in range(16, 24)),
        ("rencrypt in place",),
    ),
    Table(
        "REncrypt",
        "File",
        "files",
        BOTH,
        (round(938.2 * 2**20),),
        ("sealane", "rencrypt loop", "PyFLocker loop", "cp"),
    ),
    Table("rfc8439", "Benchmarks, Throughput", "backends", ("chacha20",), (1 << 30,), ("cryptography",)),
    Table("rfc8439", "Benchmarks, Throughput", "backends", ("poly1305",), (64 << 20,), ("cryptography",)),
    Table(
        "rfc8439",
        "Benchmarks, Throughput",
        "backends",
        ("chacha20-poly1305",),
        (64 << 20,),
        ("cryptography", "rencrypt Ring"),
    ),
    Table(
        "notebook",
        "AES Speed vs Message Size and Key Size, a chart",
        "aes-keys",
        ("the notebook's",),
        (1 << 10, 17 << 10, 1009 << 10),
        tuple(f"{peer} {bits}" for peer in ("pycryptodome", OURS) for bits in (128, 192, 256)),
    ),
    Table(
        "notebook",
        "Encryption speed vs Message size, two charts",
        "hybrid",
        ("sealing", "opening"),
        (1 << 10, 121 << 10, 1 << 20, 17 << 20, 113 << 20),
        (*NOTEBOOK, *OURS_TOO),
    ),
    Table(
        "notebook",
        "Encryption speed vs Message size, two charts",
        "hybrid",
        ("a new key and a message",),
        (121 << 10, 113 << 20),
        (*NOTEBOOK, *OURS_TOO),
    ),
    Table(
        "notebook",
        "Encryption speed vs Message size, two charts",
        "hybrid",
        ("making a key",),
        (0,),
        (*NOTEBOOK, *OURS_TOO),
    ),
    Table(
        "notebook",
        "Encryption speed vs Message size, two charts",
        "hybrid",
        ("wrapping a key",),
        (32,),
        (*NOTEBOOK, *OURS_TOO),
    ),
    Table(
        "notebook",
        "Encryption speed vs Message size, two charts",
        "hybrid",
        ("the AES part alone",),
        (1 << 10, 121 << 10, 113 << 20),
        ("AES-256-GCM pycryptodome", "AES-256-GCM sealane"),
    ),
    Table(
        "notebook",
        "Average latency, Performance factor",
        "hybrid",
        ("sealing",),
        (140, 15_820),
        ("RSA-3072 pycryptodome", "ECIES eciespy"),
    ),
    Table(
        "notebook",
        "Average latency, Performance factor",
        "hybrid",
        ("a new key and a message",),
        (15_820,),
        ("RSA-3072 pycryptodome", "ECIES eciespy"),
    ),
    Table(
        "SpeckEx",
        "Supported Variants",
        "speck",
        BLOCKS,
        (0,),
        tuple(f"Speck {name} sealane" for name in SPECKS),
    ),
    Table(
        "SpeckEx",
        "Performance, on two machines",
        "speck",
        BLOCKS,
        (0,),
        ("AES-256 cryptography", "Blowfish cryptography", "AES-256 pycryptodome", "Blowfish pycryptodome"),
    ),
    Table(
        "SpeckEx",
        "Performance, on two machines",
        "speck",
        LONG[:1],
        (16 << 10,),
        (*(f"Speck {name} sealane" for name in SPECKS), "AES-256 cryptography", "AES-256 sealane"),
    ),
    Table(
        "SpeckEx",
        "Performance, on two machines",
        "speck",
        LONG[1:],
        (16 << 10,),
        (*(f"Speck {name}-Poly1305 sealane" for name in SPECKS), "AES-256-GCM cryptography"),
    ),
    Table(
        "aesctrat",
        "Benchmarks, a table and a chart",
        "ctr",
        ("AES-128-CTR by instruction set",),
        (1350, 8 << 10, 32 << 20),
        STREAMS,
    ),
    Table(
        "aesctrat",
        "Raw output of its benches",
        "ctr",
        ("AES-128-CTR", "AES-192-CTR", "AES-256-CTR"),
        (1350, 8 << 10, 32 << 20),
        STREAMS,
    ),
)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table.project}-{table.tasks[0]}")
def test_every_table_has_its_counterpart(table: Table) -> None:
    one = experiment(table.where)
    cells = {(cell.task, cell.size) for cell in one.cells("full")}
    contenders = {(c.task, c.name): c for c in one.contenders()}
    for task in table.tasks:
        assert {(task, size) for size in table.sizes} <= cells
        for name in table.contenders:
            largest = contenders[task, name].largest
            assert largest is None or largest >= max(table.sizes), "not at every size"


def test_the_guide_lists_every_table() -> None:
    listed = [line for line in GUIDE.read_text().splitlines() if line.startswith("| ")]
    in_guide = {tuple(part.strip(" `") for part in line.split("|")[1:4]) for line in listed}
    projects = {table.project for table in TABLES}
    tables = {(table.project, table.title, table.where) for table in TABLES}
    assert {line for line in in_guide if line[0] in projects} == tables


def test_the_slow_columns_correspond_to_the_portable_variants() -> None:
    """The portable variant is measured unless it is the chosen one."""
    for name, tasks in {
        "ctr": ("AES-128-CTR by instruction set",),
        "backends": ("chacha20", "poly1305", "chacha20-poly1305", "aes-256-gcm"),
    }.items():
        found = {(c.task, c.name) for c in experiment(name).contenders() if c.peer == OURS}
        for task in tasks:
            mine = {contender for found_task, contender in found if found_task == task}
            assert "sealane native portable" in mine or not any("native" in contender for contender in mine)


# ---- contenders that test_lab does not run, or whose referee is part of the lab


def ran(where: str, cell: Cell, contenders: Iterable[Contender]) -> Results:
    chosen = list(contenders)
    one: Experiment = dataclasses.replace(
        experiment(where), cells=lambda _: [cell], contenders=lambda: chosen, budget={"tiny": 0.01}
    )
    results = Results()
    runner.run(one, "tiny", results, Bar(1.0))
    return results


def test_a_new_key_for_each_message() -> None:
    """RSA-2048 stands for RSA-3072, which has the same code but whose keys take too long for a test."""
    short = [
        c
        for c in hybrid_contenders.contenders()
        if c.task == hybrid_contenders.WHOLE and "RSA-3072" not in c.name
    ]
    assert len(short) == 5
    results = ran("hybrid", Cell(hybrid_contenders.WHOLE, AS_SENT), short)
    assert results.skipped == [one for one in results.skipped if "not installed" in one.why]
    assert {one.checked for one in results.samples} <= {OURS, "cryptography", "eciespy"}
    assert len(results.samples) + len(results.skipped) == 5


def test_the_performance_factor_of_the_notebook() -> None:
    def sample(contender: str, task: str, size: int, seconds: float) -> Sample:
        return Sample("hybrid", task, contender, contender.split()[1], size, 1, seconds, seconds, seconds, 9)

    made = [
        sample("RSA-3072 pycryptodome", hybrid_contenders.WHOLE, AS_SENT, 0.9),
        sample("ECIES eciespy", hybrid_contenders.WHOLE, AS_SENT, 0.3e-3),
        sample("RSA-3072 pycryptodome", hybrid_contenders.SEAL, TEXT, 0.2e-3),
        sample("ECIES eciespy", hybrid_contenders.SEAL, TEXT, 0.4e-3),
    ]
    first, second = findings.of(experiment("hybrid"), made)[-2:]
    assert "as the notebook timed it, RSA-3072 by pycryptodome is 3,000x the time of ECIES" in first
    assert (
        "With keys that exist, RSA-3072 by pycryptodome is 2.00x as fast as ECIES by eciespy for 140 B"
        in second
    )
    assert AS_SENT == 15_820


def test_the_parts_of_other_libraries_open_a_sealed_box() -> None:
    import nacl.public
    from cryptography.exceptions import InvalidSignature

    key = keys.generate("x25519")
    to = nacl.public.PrivateKey(der(key.to_text())[-32:]).public_key
    for size in 0, 1, 31, 32, 33, 63, 64, 65, 1000:
        plain = bytes(range(256)) * 4
        blob = bytearray(nacl.public.SealedBox(to).encrypt(plain[:size]))
        assert sealed_box.opened(key, bytes(blob)) == plain[:size]
        for at in 32, len(blob) - 1:
            wrong = bytearray(blob)
            wrong[at] ^= 1
            with pytest.raises(InvalidSignature):
                sealed_box.opened(key, bytes(wrong))


def test_tink_and_sealane_decrypt_each_other() -> None:
    scheme = next(one for one in hybrid_contenders.IMPLEMENTATIONS if one.peer == "tink").scheme()
    to = scheme.key.public
    assert to is not None
    assert scheme.open(hybrid.seal(to, b"for tink")) == b"for tink"
    assert hybrid.open(scheme.key, scheme.seal(b"by tink")) == b"by tink"
    assert keys.Key.from_text(scheme.text(scheme.make())).kind == "x25519"


def test_the_rencrypt_calls_are_checked() -> None:
    workspace = Workspace(Cell("encrypt", 1000))
    wire = bytearray(rencrypt_contenders._wire(workspace))
    library = "cryptography" if find("rencrypt").version is None else "rencrypt"
    assert rencrypt_contenders._confirmed(workspace, wire) == library
    assert bytes(rencrypt_contenders._cryptography(wire)) == workspace.plain
    wire[5] ^= 1
    with pytest.raises(WrongOutput, match=f"{library} cannot open"):
        rencrypt_contenders._confirmed(workspace, wire)
