"""Tests of the bulk calls that process whole folders."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import sealane
from executors import EXECUTORS, KEY, opened
from support import CHUNK, pattern

# As in test_bulk.py.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


@pytest.fixture(autouse=True)
def reference(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("SEALANE_TEST_KEY", KEY.to_text())
    return "env:SEALANE_TEST_KEY"


TREE = {
    "a.csv": 10,
    "deep/er/b": CHUNK,
    "deep/er/empty file": 0,
    "deep/c.sealed": 5,
    "other/\udcff\udcfe": 7,
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    for name, length in TREE.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pattern(length))
    (folder / "empty" / "folder").mkdir(parents=True)
    return folder


def contents(folder: Path) -> dict[str, bytes | None]:
    """Files and folders below ``folder``; None for a folder."""
    return {
        str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes()
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize("kind", ["its own threads", "forked"])
@pytest.mark.parametrize("suffix", ["", ".sealed"])
def test_encrypt_tree_and_decrypt_tree_round_trip(
    source: Path, tmp_path: Path, suffix: str, kind: str, reference: str
) -> None:
    sealed, back = tmp_path / "to" / "sealed", tmp_path / "back"
    with EXECUTORS[kind]() as executor:
        report = sealane.encrypt_tree(
            source, str(sealed), suffix=suffix, key=reference, verify=True, executor=executor
        )
        assert (report.done, report.failed) == (len(TREE), {})
        assert {name for name, data in contents(sealed).items() if data is not None} == {
            name + suffix for name in TREE
        }
        for name in TREE:
            assert opened(sealed / (name + suffix)) == (source / name).read_bytes()
        assert sealane.verify_tree(sealed, suffix=suffix, key=reference, executor=executor).done == len(TREE)
        sealane.decrypt_tree(sealed, back, suffix=suffix, key=reference, executor=executor)
    assert contents(back) == contents(source)


def test_a_tree_in_place(source: Path) -> None:
    before = contents(source)
    del before["deep/c.sealed"]
    (source / "deep" / "c.sealed").unlink()
    for _ in range(2):
        assert sealane.encrypt_tree(source, source, suffix=".sealed", key=KEY).done == len(TREE) - 1
    for name, data in before.items():
        if data is not None:
            (source / name).unlink()
    assert sealane.verify_tree(source, suffix=".sealed", key=KEY).done == len(TREE) - 1
    sealane.decrypt_tree(source, source, suffix=".sealed", key=KEY)
    for path in source.rglob("*.sealed"):
        path.unlink()
    assert contents(source) == before


def test_special_files_and_links_in_a_tree(source: Path, tmp_path: Path) -> None:
    (source / "link to a file").symlink_to("a.csv")
    (source / "link to a folder").symlink_to("deep", target_is_directory=True)
    (source / "link to nothing").symlink_to("nothing")
    os.mkfifo(source / "pipe")
    report = sealane.encrypt_tree(source, tmp_path / "sealed", key=KEY, errors="return")
    assert report.done == len(TREE) + 1
    assert {Path(path).name: type(error) for path, error in report.failed.items()} == {
        "link to a folder": OSError,
        "link to nothing": FileNotFoundError,
        "pipe": OSError,
    }
    for path, error in report.failed.items():
        assert path in str(error)
    assert opened(tmp_path / "sealed" / "link to a file") == pattern(10)
    with pytest.raises(ExceptionGroup, match=r"^3 of 9 files failed"):
        sealane.encrypt_tree(source, tmp_path / "sealed", key=KEY)
    report = sealane.decrypt_tree(source, tmp_path / "out", suffix=".sealed", key=KEY, errors="return")
    assert (report.done, len(report.failed)) == (0, len(TREE) + 4)


def test_overlapping_trees_are_refused(source: Path, tmp_path: Path) -> None:
    before = contents(tmp_path)
    (tmp_path / "link").symlink_to(source)
    for error, src, dst, suffix in (
        (ValueError, source, source / "sealed", ""),
        (ValueError, source, tmp_path / "link" / "sealed", ""),
        (ValueError, source, source, ""),
        (ValueError, source, tmp_path / "link", ""),
        (ValueError, source, tmp_path / "out", "/up"),
        (FileNotFoundError, tmp_path / "none", tmp_path / "out", ""),
        (NotADirectoryError, source / "a.csv", tmp_path / "out", ""),
        (NotADirectoryError, source, tmp_path / "source" / "a.csv", ""),
    ):
        with pytest.raises(error):
            sealane.encrypt_tree(src, dst, suffix=suffix, key=KEY)
    (tmp_path / "link").unlink()
    with pytest.raises(NotADirectoryError):
        sealane.verify_tree(source / "a.csv", key=KEY)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("where", ["source", "sealed", "."])
def test_a_manifest_inside_the_tree_is_not_encrypted(source: Path, tmp_path: Path, where: str) -> None:
    manifest = tmp_path / where / "manifest"
    (tmp_path / "sealed").mkdir()
    again = {"key": KEY, "suffix": ".sealed", "manifest": manifest}
    for skipped in 0, len(TREE):
        report = sealane.encrypt_tree(source, tmp_path / "sealed", **again)
        assert (report.skipped, report.done) == (skipped, len(TREE) - skipped)
    assert not (tmp_path / "sealed" / "manifest.sealed").exists()
    (source / "a.csv").write_bytes(b"changed")
    report = sealane.encrypt_tree(source, tmp_path / "sealed", **again)
    assert (report.skipped, report.done) == (len(TREE) - 1, 1)
    if where == "sealed":
        with pytest.raises(ExceptionGroup, match=r"^1 of 6 files failed"):
            sealane.decrypt_tree(tmp_path / "sealed", tmp_path / "back", key=KEY, suffix=".sealed")
        report = sealane.decrypt_tree(tmp_path / "sealed", tmp_path / "back", **again)
        assert report.done == len(TREE)


def test_a_folder_that_cannot_be_created(source: Path, tmp_path: Path) -> None:
    (tmp_path / "sealed").mkdir()
    (tmp_path / "sealed" / "deep").touch()
    report = sealane.encrypt_tree(source, tmp_path / "sealed", key=KEY, errors="return")
    assert report.done == 2
    # Told once, for the folder, and not for each of its files.
    assert list(report.failed) == [str(source / "deep")]
    error = report.failed[str(source / "deep")]
    assert isinstance(error, FileExistsError)
    assert str(tmp_path / "sealed" / "deep") in str(error)
    # The file is not ours, so it stays.
    report = sealane.encrypt_tree(source, tmp_path / "sealed", key=KEY, errors="return", delete=True)
    assert (list(report.failed), report.removed) == ([str(source / "deep")], ())
    assert (tmp_path / "sealed" / "deep").read_bytes() == b""


@pytest.mark.parametrize("kind", ["its own threads", "forked"])
@pytest.mark.parametrize("with_manifest", [False, True])
def test_a_file_and_a_folder_change_places(
    source: Path, tmp_path: Path, kind: str, reference: str, with_manifest: bool
) -> None:
    job = {"key": reference, "manifest": tmp_path / "notes" if with_manifest else None}
    target = tmp_path / "target"
    with EXECUTORS[kind]() as executor:
        assert sealane.encrypt_tree(source, target, **job, executor=executor).done == len(TREE)
        (source / "a.csv").unlink()
        (source / "a.csv").mkdir()
        (source / "a.csv" / "new").write_bytes(b"new")
        shutil.rmtree(source / "deep")
        (source / "deep").write_bytes(b"file")
        report = sealane.encrypt_tree(source, target, **job, executor=executor, delete=True)
    assert report.failed == {}
    assert {str(target / "a.csv"), str(target / "deep" / "er" / "b")} <= set(report.removed)
    assert (opened(target / "deep"), opened(target / "a.csv" / "new")) == (b"file", b"new")


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def test_excluded_files(source: Path, tmp_path: Path) -> None:
    target, rules = tmp_path / "target", tmp_path / "rules"
    rules.write_text("# comment\n\u2028\x0c*\n!deep/c.sealed\n", encoding="utf-8-sig")
    report = sealane.encrypt_tree(
        source, target, key=KEY, exclude=["*.sealed", "/other/", "empty*"], exclude_from=rules
    )
    assert (report.done, names(target)) == (3, {"a.csv", "deep/er/b", "deep/c.sealed"})
    assert report.excluded == 3
    assert not (target / "empty").exists(), "a folder that matches is left out"
    assert sealane.verify_tree(target, key=KEY, exclude=["deep"]).done == 1
    back = tmp_path / "back"
    assert sealane.decrypt_tree(target, back, key=KEY, exclude=["*.csv"]).done == 2
    assert names(back) == {"deep/er/b", "deep/c.sealed"}
    with pytest.raises(ValueError, match="pattern"):
        sealane.encrypt_tree(source, target, key=KEY, exclude=["{a"])
    with pytest.raises(TypeError, match="list of patterns"):
        sealane.encrypt_tree(source, target, key=KEY, exclude="*.csv")
    rules.write_bytes(b"*\xff")
    with pytest.raises(ValueError, match="rules: expected patterns in UTF-8"):
        sealane.encrypt_tree(source, target, key=KEY, exclude_from=rules)
    with pytest.raises(FileNotFoundError):
        sealane.encrypt_tree(source, target, key=KEY, exclude_from=tmp_path / "none")


def test_a_dry_run_writes_nothing(source: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    report = sealane.encrypt_tree(
        source, tmp_path / "target", key=KEY, manifest=tmp_path / "notes", dry_run=True
    )
    assert (report.done, report.bytes, report.failed) == (len(TREE), sum(TREE.values()), {})
    assert sorted(tmp_path.rglob("*")) == before
    target = tmp_path / "target"
    sealane.encrypt_tree(source, target, key=KEY, manifest=tmp_path / "notes")
    again = sealane.encrypt_tree(source, target, key=KEY, manifest=tmp_path / "notes", dry_run=True)
    assert (again.done, again.skipped) == (0, len(TREE))
    assert sealane.decrypt_tree(target, tmp_path / "back", key=KEY, dry_run=True).done == len(TREE)
    assert not (tmp_path / "back").exists()


# claim: folder-manifest
@pytest.mark.parametrize("at", [0, 1, 2, -1])
def test_a_bad_line_of_a_manifest_stops_the_call(source: Path, tmp_path: Path, at: int) -> None:
    """The error names the manifest and the line. Nothing is written or removed."""
    manifest, target = tmp_path / "notes", tmp_path / "target"

    def again(**options: object) -> sealane.BulkReport:
        return sealane.encrypt_tree(source, target, key=KEY, manifest=manifest, delete=True, **options)  # type: ignore[arg-type]

    again()
    (source / "a.csv").unlink()
    (source / "new").write_bytes(b"new")
    lines = manifest.read_text().splitlines()
    lines[at] = "nonsense"
    manifest.write_text("\n".join(lines) + "\n")
    before = contents(target), manifest.read_text()
    words = (
        f"{manifest}: line {at % len(lines) + 1}: not a line" if at else f"{manifest}: expected a manifest"
    )
    for options in {}, {"dry_run": True}, {"executor": EXECUTORS["here"]()}:
        with pytest.raises(sealane.FormatError, match=re.escape(words)):
            again(**options)
    assert (contents(target), manifest.read_text()) == before


@pytest.mark.parametrize("with_manifest", [False, True])
def test_files_whose_source_is_gone(source: Path, tmp_path: Path, with_manifest: bool) -> None:
    target = tmp_path / "target"
    manifest = tmp_path / "notes" if with_manifest else None

    def again(dry_run: bool = False, **options: object) -> sealane.BulkReport:
        return sealane.encrypt_tree(
            source,
            target,
            key=KEY,
            suffix=".s",
            manifest=manifest,
            exclude=["kept"],
            delete=True,
            dry_run=dry_run,
            **options,  # type: ignore[arg-type]
        )

    (source / "kept").write_bytes(b"")
    assert again().removed == ()
    (source / "a.csv").unlink()
    (target / "foreign.s").write_bytes(b"not ours")
    (target / "kept.s").write_bytes(b"of an excluded source")
    gone, foreign = str(target / "a.csv.s"), str(target / "foreign.s")
    report = again(dry_run=True)
    assert (report.removed, report.unproven) == ((gone,), (foreign,))
    assert Path(gone).exists(), "nothing is removed"
    report = again()
    assert (report.removed, report.unproven) == ((gone,), (foreign,))
    assert not Path(gone).exists()
    assert {"foreign.s", "kept.s"} <= names(target)
    (source / "link").symlink_to(source)
    (source / "deep/c.sealed").unlink()
    report = again(errors="return")
    assert len(report.failed) == 1
    assert report.removed == (str(target / "deep/c.sealed.s"),), "the problem is elsewhere"


def test_a_source_without_files_removes_nothing(source: Path, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    sealane.encrypt_tree(source, tmp_path / "target", key=KEY)
    with pytest.raises(ValueError, match=r"source|file"):
        sealane.encrypt_tree(tmp_path / "nothing", tmp_path / "target", key=KEY, delete=True)
    assert names(tmp_path / "target") == names(source)


@pytest.mark.parametrize("kind", ["its own threads", "forked"])
@pytest.mark.parametrize("with_manifest", [False, True])
def test_a_wrong_source_removes_nothing(
    source: Path, tmp_path: Path, kind: str, reference: str, with_manifest: bool
) -> None:
    job = {"key": reference, "manifest": tmp_path / "notes" if with_manifest else None}
    target, wrong = tmp_path / "target", tmp_path / "wrong"
    with EXECUTORS[kind]() as executor:
        sealane.encrypt_tree(source, target, **job, executor=executor)
        wrong.mkdir()
        (wrong / "unrelated").write_bytes(b"other")
        before = contents(target)
        for dry_run in True, False:
            with pytest.raises(ValueError, match=f"{len(TREE)} of the {len(TREE)} files.*delete='all'"):
                sealane.encrypt_tree(wrong, target, **job, executor=executor, delete=True, dry_run=dry_run)
        assert contents(target) == before
        report = sealane.encrypt_tree(wrong, target, **job, executor=executor, delete="all")
    assert (report.done, len(report.removed)) == (1, len(TREE))
    assert names(target) == {"unrelated"}
    with pytest.raises(ValueError, match="delete must be True, False or 'all', not 'most'"):
        sealane.encrypt_tree(wrong, target, key=KEY, delete="most")  # type: ignore[arg-type]


def attributes(folder: Path, suffix: str = "") -> dict[str, tuple[int, int, str | None]]:
    """Modes, modification times and the paths in links, of ``folder`` and everything below it."""
    found = {}
    for path in [folder, *folder.rglob("*")]:
        state = path.lstat()
        text = os.readlink(path) if path.is_symlink() else None
        name = str(path.relative_to(folder))
        is_folder = path.is_dir() and text is None
        found[name if is_folder else name.removesuffix(suffix)] = (state.st_mode, state.st_mtime_ns, text)
    return found


@pytest.mark.parametrize("kind", ["its own threads", "forked"])
def test_attributes_and_links_are_preserved(source: Path, tmp_path: Path, kind: str, reference: str) -> None:
    (source / "link").symlink_to("deep")
    (source / "dangling").symlink_to("../nowhere")
    for number, path in enumerate([*source.rglob("*"), source]):
        if not path.is_symlink():
            path.chmod([0o640, 0o600, 0o444][number % 3] if path.is_file() else 0o750)
        os.utime(path, ns=(1, 1_500_000_000_123_456_789 + number), follow_symlinks=False)
    (source / "empty").chmod(0o550)
    sealed, back, notes = tmp_path / "sealed", tmp_path / "back", tmp_path / "notes"
    job = {"key": reference, "suffix": ".s", "preserve": True}
    expected = attributes(source)
    with EXECUTORS[kind]() as executor:
        shown = sealane.encrypt_tree(source, sealed, **job, dry_run=True)
        assert (shown.done, shown.links) == (len(TREE), 2)
        assert not sealed.exists()
        for done, skipped in (len(TREE), 0), (0, len(TREE)):
            report = sealane.encrypt_tree(source, sealed, **job, executor=executor, manifest=notes)
            assert (report.done, report.skipped, report.links) == (done, skipped, 2)
            assert attributes(sealed, ".s") == expected
        assert opened(sealed / "a.csv.s") == pattern(10)
        assert sealane.verify_tree(sealed, **job).done == len(TREE)
        for _ in range(2):  # The second run replaces read-only files and links.
            everything = {**job, "preserve": "all"}
            report = sealane.decrypt_tree(sealed, back, **everything, executor=executor)
            assert (report.done, report.links) == (len(TREE), 2)
            assert attributes(back) == expected
        (sealed / "a.csv.s").chmod(0o6777)
        report = sealane.decrypt_tree(sealed, tmp_path / "safe", **job, executor=executor, errors="return")
        assert (list(report.failed), report.links) == ([str(sealed / "dangling.s")], 1)
        assert (tmp_path / "safe" / "a.csv").stat().st_mode & 0o7022 == 0
        with pytest.raises(ValueError, match="preserve must be"):
            sealane.decrypt_tree(sealed, back, **{**job, "preserve": "safe"})
    for name in TREE:
        assert (back / name).read_bytes() == (source / name).read_bytes()


def test_preserved_links_whose_source_is_gone(source: Path, tmp_path: Path) -> None:
    (source / "link").symlink_to("deep")
    sealed, notes = tmp_path / "sealed", tmp_path / "notes"
    job = {"key": KEY, "preserve": True, "delete": True, "manifest": notes}
    assert sealane.encrypt_tree(source, sealed, **job).links == 1
    (source / "link").unlink()
    report = sealane.encrypt_tree(source, sealed, **job)
    assert (report.links, report.removed) == (0, (str(sealed / "link"),))
    assert not (sealed / "link").is_symlink()
    (source / "a.csv").unlink()
    (source / "a.csv").symlink_to("deep")
    (sealed / "deep" / "kept").mkdir()
    (sealed / "deep" / "kept" / "foreign").touch()
    (source / "deep" / "kept").symlink_to("..")
    report = sealane.encrypt_tree(source, sealed, **job, errors="return")
    assert (report.links, list(report.failed)) == (1, [str(source / "deep" / "kept")])
    assert os.readlink(sealed / "a.csv") == "deep", "a link replaces the file of its name"


@pytest.mark.parametrize("preserve", [False, True])
@pytest.mark.parametrize("url", ["s3://bucket/out", "gs://bucket", "memory://x"])
def test_a_url_is_no_folder_to_write_to(
    preserve: bool, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A local folder "s3:" would look like a backup that arrived."""
    monkeypatch.chdir(tmp_path)
    key = sealane.keys.generate("aes-256")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_bytes(b"a")
    sealane.encrypt_tree("in", "sealed", key=key)
    folder = sealane.Folder.create("own", key=key, preserve=preserve)
    folder.encrypt_from("in")
    calls: list[Callable[[], object]] = [
        lambda: sealane.encrypt_tree("in", url, key=key, preserve=preserve),
        lambda: sealane.decrypt_tree("sealed", url, key=key, preserve=preserve),
        lambda: sealane.encrypt_many([("in/a", f"{url}/a")], key=key),
        lambda: sealane.decrypt_many([("sealed/a", url)], key=key),
        lambda: folder.decrypt_to(url),
    ]
    before = sorted(os.listdir())
    for call in calls:
        with pytest.raises((ValueError, ExceptionGroup)) as caught:
            call()
        assert "found a URL" in "".join(map(str, [caught.value, *getattr(caught.value, "exceptions", [])]))
        assert sorted(os.listdir()) == before
