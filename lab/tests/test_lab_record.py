"""Tests of the record: what it reads from the benchmarks, when it refuses, and how sections are replaced."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from sealane_lab import record, rows
from sealane_lab.cli import main
from sealane_lab.rows import Row

OUTPUTS = (Path(__file__).parent / "record_outputs.txt").read_text()
"""What each benchmark prints: ``$`` and its command, then the lines that count, some with other numbers."""

AEAD = """Core clock 4.00 GHz; medians of 401 interleaved rounds.

| variant | 14 + 0 | 14 + 3 | 10 + 0 |
|---|--:|--:|--:|
| vaes512 | 16.00 | 8.00 | 20.00 |
| vaes256 | 8.00 | 4.00 | 10.00 |

xchacha20-poly1305, native (avx512) and the best of RustCrypto:

| | bytes | native | B/cycle | best other | | times as fast | target | |
|---|--:|--:|--:|---|--:|--:|--:|---|
| seal in place | 64 B | 1.0 ns | 1.00 | RustCrypto | 2.0 ns | 2.00 | | |

aes-256-gcm, native (vaes256) and the best of aws-lc, ring:

| | bytes | native | B/cycle | best other | | times as fast | target | |
|---|--:|--:|--:|---|--:|--:|--:|---|
| seal in place | 64 B | 20.0 ns | 0.80 | aws-lc | 50.0 ns | 2.50 | 2.5 | OK |
| seal in place | 16 KiB | 8.00 GB/s | 2.00 | ring | 6.40 GB/s | 1.25 | 1.25 | OK |
| seal apart | 16 KiB | 8.00 GB/s | 2.00 | ring | 6.40 GB/s | 1.25 | 1.25 | OK |
| open apart | 16 KiB | 8.00 GB/s | 2.00 | ring | 7.00 GB/s | 1.14 | 1.25 | SHORT |
"""


def test_rows_of_the_rust_benchmark() -> None:
    goals = {("aes-256-gcm", "16 KiB"): 1.25}
    seal, opened = rows.aead_rows(AEAD, goals, rows.aes_bound)
    assert seal == Row("aes-256-gcm, seal in place, 16 KiB", 1.25, 2048.0, 2560.0, "ring", 1024.0)
    assert (seal.reached, opened.reached) == (True, False)
    work = "aes-256-gcm, seal in place, 16 KiB"
    assert (
        seal.line("no") == f"| {work} | no | >= 1.25 | 2,048 ns | 2,560 (ring) | 1.25 | 1,024 (0.50) | OK |"
    )


def test_bounds_of_aegis_count_its_rounds() -> None:
    assert rows.aes_bound(AEAD, "aegis-128x4", "vaes512", 1024) == pytest.approx(1024 / 64 * 4 / 14)
    assert rows.aes_bound(AEAD, "aegis-256", "vaes256", 1024) == pytest.approx(1024 / 32 * 6 / 14)
    assert rows.aes_bound(AEAD, "aegis-256", "portable", 1024) is None


def test_figures_of_the_scripts() -> None:
    line = f"{'ChaCha20, 16 KiB':<46} {'5.1 us':>10} {'987 ns':>10} {5.17:>7.2f}x   >= 1.35x OpenSSL: OK"
    assert rows.judged(f"ChaCha20, 1 KiB\n{line}\n", "ChaCha20, 16 KiB") == pytest.approx((5100, 987))
    assert rows.column("cp              0.261   4.11\ncat 0.1", "cp", 1) == 4.11
    for read in (lambda: rows.judged("", "x"), lambda: rows.column("", "x", 0)):
        with pytest.raises(ValueError, match="printed no line 'x'"):
            read()


def test_goals() -> None:
    assert Row("a", 22, 22.0, 130.0, "each", None, absolute=True).reached
    assert not Row("a", 22, 22.1, 130.0, "each", None, absolute=True).reached
    assert Row("a", 0.9, 10.0, 5.0, "plain", 9.0, of_bound=True).reached
    assert not Row("a", 0.9, 10.0, 5.0, "plain", 8.9, of_bound=True).reached


def test_a_second_run_replaces_its_section_and_keeps_the_rest() -> None:
    first = record.merged("", "# Title\n", {"rsa": "## rsa\n\nold\n"})
    whole = record.merged(first + "\n## Causes\n\nwritten by hand\n", "# Title\n", {"gcm": "## gcm\n\nnew\n"})
    again = record.merged(whole, "# Title 2\n", {"rsa": "## rsa\n\nnew\n"})
    assert again == ("# Title 2\n\n## gcm\n\nnew\n\n## rsa\n\nnew\n\n## Causes\n\nwritten by hand\n")


def stat(folder: Path, used: int, idle: int) -> None:
    (folder / "stat").write_text(f"cpu  {used} 0 0 {idle} 0 0 0 0 0 0\ncpu0 1 1\n")


def test_the_load_is_the_part_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stat(tmp_path, 100, 100)
    monkeypatch.setattr("time.sleep", lambda _: stat(tmp_path, 130, 170))
    assert record.load(stat=tmp_path / "stat") == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("family", "model", "short"), [(25, 1, "zen3"), (25, 17, "zen4"), (25, 97, "zen4"), (26, 2, "zen5")]
)
def test_the_name_of_the_processor(tmp_path: Path, family: int, model: int, short: str) -> None:
    info = tmp_path / "cpuinfo"
    info.write_text(
        f"processor : 0\nvendor_id : AuthenticAMD\ncpu family : {family}\nmodel : {model}\n"
        "model name : AMD EPYC\nflags : fpu avx2\n\nprocessor : 1\n"
    )
    name, where, wide = record.processor(info)
    assert (name, wide) == (short, False)
    assert f"AMD EPYC ({short}: family {family}, model {model})" in where


def test_the_name_of_granite_rapids(tmp_path: Path) -> None:
    info, cache = tmp_path / "cpuinfo", tmp_path / "size"
    cache.write_text("64K\n")
    info.write_text(
        "processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 167\n"
        "model name : Intel(R) Xeon(R) Processor\nflags : fpu avx2 avx512f amx_tile\n\nprocessor : 1\n"
    )
    assert record.processor(info, cache)[::2] == ("granite-rapids", True)


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one group of rows in place of the benchmarks, which take minutes."""
    (tmp_path / "lab" / "rust").mkdir(parents=True)
    (tmp_path / "lab" / "rust" / "Cargo.toml").touch()

    def some(run: rows.Run, wide: bool) -> Iterator[Row]:
        # Only the groups of WIDTHS are measured without AVX-512.
        assert ("SEALANE_CPU=-avx512f" in run("env")) is not wide
        yield Row("made up", 1, 2.0, 4.0, "peer", None)

    monkeypatch.setattr(record, "GROUPS", {"rsa": some, "gcm": some})
    monkeypatch.setattr(record, "WIDTHS", frozenset({"gcm"}))
    monkeypatch.setattr(record, "processor", lambda: ("made-up", "a processor", True))
    monkeypatch.delenv("SEALANE_CPU", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command_refuses_on_a_busy_machine(
    clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(record, "load", lambda: 0.4)
    assert main(["record", "--rows", "gcm"]) == 1
    assert "other programs use 40% of the processors" in capsys.readouterr().err
    assert not (clone / "lab" / "record").exists()
    assert main(["record", "--rows", "gcm", "--busy"]) == 0
    path = Path(capsys.readouterr().out.splitlines()[-1])
    text = path.read_text()
    assert path.parent == clone / "lab" / "record"
    assert path.name.startswith("made-up-20")
    assert "40% of the processors were in use before" in text
    for features in ("yes", "no"):
        assert f"| made up | {features} | >= 1 | 2.00 ns | 4.00 (peer) | 2.00 |  | OK |" in text


def test_short_messages_show_the_run_with_the_median_ratio(
    clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = iter((1.0, 40.0, 4.0) * 2)

    def uneven(run: rows.Run, wide: bool) -> Iterator[Row]:
        yield Row("uneven", 1, 2.0, next(runs), "peer", None)

    monkeypatch.setattr(record, "load", lambda: 0.0)
    for name in ("gcm", "rsa"):
        monkeypatch.setitem(record.GROUPS, name, uneven)
    assert main(["record", "--rows", "gcm"]) == 0
    shown = [line for line in capsys.readouterr().out.splitlines() if "uneven" in line]
    assert len(shown) == 2
    assert all("4.00 (peer) | 2.00" in line for line in shown)
    # What takes longer runs once.
    runs = iter((1.0, 40.0, 4.0))
    assert main(["record", "--rows", "rsa"]) == 0
    assert "1.00 (peer) | 0.50" in capsys.readouterr().out


def test_a_group_that_fails_does_not_stop_the_others(
    clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(run: rows.Run, wide: bool) -> Iterator[Row]:
        raise ValueError("the program age is not on PATH")

    monkeypatch.setitem(record.GROUPS, "rsa", broken)
    monkeypatch.setattr(record, "load", lambda: 0.0)
    assert main(["record", "--rows", "rsa,gcm"]) == 1
    printed = capsys.readouterr()
    assert "rsa failed: the program age is not on PATH" in printed.out
    assert "rsa: the program age is not on PATH; measure again with --rows rsa" in printed.err
    (path,) = (clone / "lab" / "record").iterdir()
    assert re.findall("^## (.*)$", path.read_text(), re.MULTILINE) == ["gcm"]


def test_the_command_rejects_other_rows_and_folders(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["record", "--rows", "gcm,nonsense"]) == 2
    assert "no rows nonsense" in capsys.readouterr().err
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert main(["record"]) == 1
    assert "no clone of sealane's repository" in capsys.readouterr().err


def test_every_group_says_what_its_bound_is() -> None:
    assert all("bound" in (group.__doc__ or "") for group in rows.GROUPS.values())
    assert set(rows.GROUPS) >= rows.WIDTHS | rows.REPEATED


def replay(command: str, pinned: bool = True) -> str:
    """Returns what a benchmark printed, in place of running it."""
    outputs = dict(re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", OUTPUTS, re.MULTILINE))
    command = command.removesuffix(" --skip-utils").replace("/dev/shm", ".")
    words = re.split(" --bench |lab/bench/", command)[-1]
    return str(outputs[words]).rstrip("\n") + "\n"


@pytest.fixture(scope="module")
def speed() -> ModuleType:
    """The script that writes the tables of README and guide."""
    path = Path(__file__).parents[2] / "docs" / "site" / "speed.py"
    spec = importlib.util.spec_from_file_location("speed", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def measured() -> dict[tuple[str, str], Row]:
    """All rows of all groups, from what the benchmarks printed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shutil.which", lambda program: program)
        found = [(name, row) for name, group in rows.GROUPS.items() for row in group(replay, True)]
    assert len(found) == len({(name, row.work) for name, row in found}), "a work is named twice"
    return {(name, row.work): row for name, row in found}


def test_rows_of_what_the_benchmarks_printed(measured: dict[tuple[str, str], Row]) -> None:
    for row in measured.values():
        assert row.ours > 0
        assert row.other > 0
        assert len(rows.cells(row.line("yes"))) == 8


def test_every_row_of_the_pages_is_measured(measured: dict[tuple[str, str], Row], speed: ModuleType) -> None:
    shown = {(row.group, work) for row in speed.rows() for work in row.works}
    assert shown <= set(measured), shown - set(measured)
    in_bound = {(row.group, work) for row in speed.rows() if row.shows == "bound" for work in row.works}
    assert all(measured[name].bound for name in in_bound)


def test_the_table_of_a_small_record(
    speed: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = "AES-256-CTR in place, 16 KiB"
    fast = Row(work, None, 1000.0, 12_500.0, "aws-lc", 910.0).line("yes")
    slow = Row(work, 1, 2000.0, 1500.0, "aws-lc").line("no")
    only = Row("4 KiB at a random place of a file of 1 GiB", 15, 6.5, 9.1, "a plain file", None, "us", True)
    why = "## Why rows are short\n\nBecause.\n"
    sections = {
        "calls": record.section("calls", [only.line("yes")], 0.01, False),
        "ctr": record.section("ctr", [fast, slow], 0.5, True),
    }
    title = "# Rows of processors with and without AVX-512, 2026-01-02, A CPU (zen4: x), 2 cores\n"
    text = record.merged(f"# old\n\n{why}", title, sections)
    (tmp_path / "zen4-2026-01-02.md").write_text(text)
    (tmp_path / "zen4-2026-01-01.md").write_text(text.replace("1.00", "9.99"))
    (tmp_path / "zen4-2026-01-03.md").write_text("# Another topic\n")
    assert "Because." in text
    assert "Measured with `--busy`." in sections["ctr"]
    assert "busy" not in sections["calls"]
    page = tmp_path / "README.md"
    page.write_text("a\n<!-- from the record -->\nold\n<!-- end -->\nb\n")
    monkeypatch.setattr(speed, "PAGES", {page: True})
    assert speed.written(page, tmp_path) == (
        "a\n<!-- from the record -->\n"
        "A CPU (zen4: x), 2 cores, while other programs ran ([record](zen4-2026-01-02.md)).\n\n"
        "| what | Zen 4 | Zen 4 without AVX-512 |\n|---|---|---|\n"
        f"| {work}, beside aws-lc | 12 x | 0.75 x |\n"
        "| the same, of what the processor's AES units can do | 91 % |  |\n"
        "| 4 KiB at a random place of a 1 GiB file, from Python | 6.50 us |  |\n"
        "<!-- end -->\nb\n"
    )


def test_the_pages_have_the_tables_of_the_records(speed: ModuleType) -> None:
    assert speed.stale() == [], "write them again: docs/site/speed.py"
