"""The command ``sealane-lab``, which measures, writes reports and compares runs."""

from __future__ import annotations

import argparse
import functools
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from sealane_lab import machine, runner
from sealane_lab import record as records
from sealane_lab.experiments import NAMES, experiment
from sealane_lab.model import LIMIT, Experiment, Scale
from sealane_lab.progress import Bar
from sealane_lab.results import Change, Results, compare, load, only_in
from sealane_lab.text import size_text, time_text

DONE, FAILED, MISUSED = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs ``sealane-lab ARGUMENTS`` and returns the exit status. None means the arguments of the process."""
    options = _parser().parse_args(arguments)
    try:
        status: int = options.run(options)
    except KeyboardInterrupt:
        print("sealane-lab: interrupted", file=sys.stderr)
        return 130
    except (OSError, ValueError, _Missing) as error:
        print(f"sealane-lab: {error}", file=sys.stderr)
        return FAILED
    return status


class _Missing(Exception):
    """A package is missing; the message says how to install it."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sealane-lab",
        description="Measures sealane against the encryption libraries that are installed.",
    )
    verbs = parser.add_subparsers(required=True, metavar="run|report|compare|record")

    run = verbs.add_parser("run", help="measure, and write a CSV, plots and a report")
    run.add_argument(
        "names", nargs="*", metavar="NAME", help=f"experiments to run (default: all): {', '.join(NAMES)}"
    )
    run.add_argument("--quick", action="store_true", help="fewer sizes and rounds: under two minutes in all")
    run.add_argument("--scale", choices=["full", "quick", "tiny"], help=argparse.SUPPRESS)
    run.add_argument(
        "--out", type=Path, metavar="DIR", help="folder for the results (default: lab-DATE-TIME)"
    )
    run.add_argument("--list", action="store_true", help="list the experiments and the installed libraries")
    run.set_defaults(run=_run)

    report = verbs.add_parser("report", help="write the plots and the report of a run again")
    report.add_argument("folder", type=Path, metavar="DIR")
    report.set_defaults(run=_report)

    both = verbs.add_parser(
        "compare", help="compare two runs: what became faster or slower, beyond the noise"
    )
    both.add_argument("old", type=Path, metavar="OLD")
    both.add_argument("new", type=Path, metavar="NEW")
    both.add_argument("--all", action="store_true", help="also print what did not change")
    both.set_defaults(run=_compare)

    record = verbs.add_parser(
        "record",
        help="measure the rows of README and guide beside the best peers, in a clone of the repository",
    )
    groups = ",".join(records.GROUPS)
    record.add_argument(
        "--rows", metavar="GROUPS", default=groups, help=f"groups of rows (default: {groups})"
    )
    record.add_argument("--out", type=Path, metavar="DIR", help="folder of the record (default: lab/record)")
    record.add_argument("--busy", action="store_true", help="measure even if other programs run")
    record.set_defaults(run=_record)
    return parser


def _run(options: argparse.Namespace) -> int:
    unknown = [name for name in options.names if name not in NAMES]
    if unknown:
        print(f"sealane-lab: no experiment {unknown[0]}; expected one of {', '.join(NAMES)}", file=sys.stderr)
        return MISUSED
    scale: Scale = options.scale or ("quick" if options.quick else "full")
    chosen = [experiment(name) for name in NAMES if not options.names or name in options.names]
    if options.list:
        return _list(chosen)
    folder = options.out or Path(f"lab-{datetime.now():%Y%m%d-%H%M%S}")
    results = Results({**machine.describe(), "scale": scale})
    began = time.monotonic()
    bar = Bar(sum(one.budget[scale] for one in chosen))
    # Files are measured in the results folder, because /tmp is often a filesystem in memory.
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix="files-") as scratch:
            for one in chosen:
                runner.run(one, scale, results, bar, Path(scratch))
                results.machine["seconds"] = round(time.monotonic() - began, 1)
                results.save(folder)  # An interrupted run leaves the experiments that were completed.
    finally:
        bar.close()
    print(f"{len(results.samples)} figures in {results.machine['seconds']} s: {folder / 'results.csv'}")
    try:
        print(_written(folder, results))
    except _Missing as error:
        print(error)
    return DONE


def _list(chosen: Sequence[Experiment]) -> int:
    for one in chosen:
        print(f"{one.name:<10} {one.title}")
    print()
    for peer in machine.describe()["peers"]:
        print(f"{peer['name']:<14} {peer['version'] or '-- ' + peer['reason']}")
    return DONE


def _report(options: argparse.Namespace) -> int:
    print(_written(options.folder, load(options.folder)))
    return DONE


def _written(folder: Path, results: Results) -> Path:
    try:
        import matplotlib  # noqa: F401 - fails before anything is written
    except ImportError as error:
        raise _Missing(
            "matplotlib is missing, which draws the plots and the report; pip install matplotlib"
        ) from error
    from sealane_lab.report import write

    return write(folder, results)


def _record(options: argparse.Namespace) -> int:
    names, root = options.rows.split(","), Path.cwd()
    unknown = [name for name in names if name not in records.GROUPS]
    if unknown:
        known = ", ".join(records.GROUPS)
        print(f"sealane-lab: no rows {unknown[0]}; expected some of {known}", file=sys.stderr)
        return MISUSED
    said = functools.partial(print, flush=True)
    print(records.record(root, names, options.out or root / "lab" / "record", options.busy, said))
    return DONE


def _compare(options: argparse.Namespace) -> int:
    old, new = load(options.old), load(options.new)
    changes = compare(old, new)
    if not changes:
        raise ValueError("the two runs have no measurement in common")
    for what in ("cpu", "python", "sealane"):
        if old.machine.get(what) != new.machine.get(what):
            print(f"{what}: {old.machine.get(what)} -> {new.machine.get(what)}")
    limits = [change for change in changes if change.new.peer == LIMIT]
    if limits:
        drift = sorted(change.ratio for change in limits)
        print(f"the machine itself (median of {len(limits)} limits): {drift[len(drift) // 2]:.2f}x the time")
    others = [change for change in changes if change.new.peer != LIMIT]
    shown = [change for change in others if options.all or change.beyond_noise]
    print(
        f"{sum(change.beyond_noise for change in others)} of {len(others)} figures differ beyond the noise\n"
    )
    if shown:
        print(f"{'':<58} {'old':>9} {'new':>9}  time")
    for change in shown:
        print(_line(change))
    for title, lone in (("only in OLD", only_in(old, new)), ("only in NEW", only_in(new, old))):
        if lone:
            print(f"\n{title}: {len(lone)} figures")
    return DONE


def _line(change: Change) -> str:
    new = change.new
    size = size_text(new.size) if new.size else ""
    threads = f"{new.threads} threads" if new.threads > 1 else ""
    what = " ".join(part for part in (new.experiment, new.task, size, threads, new.contender) if part)
    word = ("slower" if change.ratio > 1 else "faster") if change.beyond_noise else ""
    return (
        f"{what:<58} {time_text(change.old.median):>9} {time_text(new.median):>9}  "
        f"{change.ratio:.2f}x ({change.low:.2f} to {change.high:.2f}) {word}"
    ).rstrip()
