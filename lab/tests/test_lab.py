"""Tests of the arithmetic, files and sentences of the lab, and a tiny run of every experiment."""

from __future__ import annotations

import dataclasses
import io
import itertools
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from pathlib import Path

import pytest
from sealane_lab import findings, machine, peers, plots, referee, runner, timing
from sealane_lab.cli import main
from sealane_lab.experiments import NAMES, experiment
from sealane_lab.model import (
    LIMIT,
    OURS,
    Absent,
    Cell,
    Contender,
    Experiment,
    Plot,
    Ready,
    Workspace,
    WrongOutput,
)
from sealane_lab.progress import Bar
from sealane_lab.report import write
from sealane_lab.results import Change, Results, Sample, Skipped, compare, load, only_in
from sealane_lab.text import digits, rate_text, size_text, time_text, times_text

# ---- timing


class Machine:
    """A clock that advances only with the work."""

    def __init__(self) -> None:
        self.now = 0.0
        self.done: list[str] = []

    def clock(self) -> float:
        return self.now

    def work(self, name: str, seconds: float) -> timing.Timed:
        def call() -> None:
            self.now += seconds
            self.done.append(name)

        return timing.timed(call, clock=self.clock)


def test_medians_and_quartiles() -> None:
    assert timing.summary([3.0, 1.0, 2.0, 5.0, 4.0]) == timing.Summary(3.0, 2.0, 4.0, 5)
    assert timing.summary([7.0]) == timing.Summary(7.0, 7.0, 7.0, 1)


def test_a_round_repeats_a_call_until_it_is_long_enough() -> None:
    it = Machine()
    assert timing.calls_for(it.work("slow", 0.5), 0.002) == 1
    assert len(it.done) == 1
    calls = timing.calls_for(it.work("fast", 1e-6), 0.002)
    assert 2000 <= calls <= 3000


def test_samples_are_the_seconds_of_one_call() -> None:
    it = Machine()
    contenders = {"a": it.work("a", 1e-6), "b": it.work("b", 3e-4), "c": it.work("c", 0.1)}
    samples = timing.measure(contenders, timing.Effort(100.0, 0.002, (5, 9)), it.clock)
    assert {name: len(them) for name, them in samples.items()} == {"a": 9, "b": 9, "c": 9}
    for name, seconds in (("a", 1e-6), ("b", 3e-4), ("c", 0.1)):
        assert samples[name] == pytest.approx([seconds] * 9)


def test_the_budget_ends_a_measurement_after_the_minimum_of_rounds() -> None:
    it = Machine()
    samples = timing.measure({"a": it.work("a", 1.0)}, timing.Effort(10.0, 0.001, (3, 100)), it.clock)
    assert 7 <= len(samples["a"]) <= 9
    samples = timing.measure({"a": it.work("a", 1.0)}, timing.Effort(0.0, 0.001, (3, 100)), it.clock)
    assert len(samples["a"]) == 3


def test_the_order_of_contenders_is_shuffled_and_reproducible() -> None:
    names = [*"abcdefgh"]
    orders = [timing.order(names, number) for number in range(5)]
    assert orders == [timing.order(names, number) for number in range(5)]
    assert all(sorted(order) == names for order in orders)
    for name in names:
        before = {order[order.index(name) - 1] for order in orders if order[0] != name}
        assert len(before) > 2


def test_a_reset_is_not_timed() -> None:
    it = Machine()

    def reset() -> None:
        it.now += 100.0

    def work() -> None:
        it.now += 2.0

    assert timing.timed(work, reset, it.clock)(3) == 6.0


# ---- the bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_shows_the_time_left_on_a_terminal_and_nothing_elsewhere() -> None:
    it, terminal, pipe = Machine(), Terminal(), io.StringIO()
    for stream in terminal, pipe:
        it.now = 0.0
        bar = Bar(100.0, stream, it.clock)
        it.now = 30.0
        bar.step(25.0, "buffers")
        bar.close()
    assert pipe.getvalue() == ""
    assert " 25%" in terminal.getvalue()
    assert "90 s left  buffers" in terminal.getvalue()


# ---- text


def test_figures_have_three_digits_and_a_unit() -> None:
    assert [digits(v) for v in (0.0123, 0.5, 9.999, 12.34, 99.99, 123456.0)] == [
        *("0.0123", "0.50", "10.0", "12.3", "100", "123,456")
    ]
    assert [size_text(n) for n in (16, 1024, 1 << 20, 3 << 30, 1500)] == [
        *("16 B", "1 KiB", "1 MiB", "3 GiB", "1500 B")
    ]
    assert [time_text(t) for t in (2.0, 0.5, 3e-6, 2e-8)] == ["2.00 s", "500 ms", "3.00 µs", "20.0 ns"]
    assert [rate_text(21.6), rate_text(0.8)] == ["21.6 GB/s", "800 MB/s"]
    assert [times_text(1.4), times_text(1800)] == ["1.40x", "1,800x"]


# ---- results


def sample(contender: str = "sealane into", median: float = 1e-3, **other: object) -> Sample:
    """Returns a sample with quartiles 2 % from the median."""
    peer = contender.split()[0] if contender != "copy in memory" else LIMIT
    made = Sample(
        "buffers",
        "encrypt",
        contender,
        peer,
        1 << 20,
        1,
        median,
        round(median * 0.98, 12),
        round(median * 1.02, 12),
        9,
        "s",
        "cryptography",
    )
    return dataclasses.replace(made, **other)  # type: ignore[arg-type]


def test_results_round_trip_through_files(tmp_path: Path) -> None:
    made = Results(
        {"cpu": "made up", "peers": [{"name": "cryptography,", "version": "50.0", "reason": ""}]},
        [sample(), sample("cryptography, with «signs»", 1.5e-3), sample(size=0, threads=8, checked="")],
        [Skipped("buffers", "encrypt", "tink new bytes", 32, "tink: not installed")],
    )
    made.save(tmp_path / "out")
    again = load(tmp_path / "out")
    assert again == made
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["machine.json", "results.csv"]
    head, _, line, _ = (tmp_path / "out" / "results.csv").read_text().splitlines()
    assert head == (
        "experiment,task,contender,peer,size,threads,median,low,high,n,unit,checked,version,cpu,cores,os,python"
    )
    assert line.endswith(",cryptography,50.0,made up,,,"), "a line has the version and the machine"


def test_rejects_folders_and_files_of_another_format(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"machine\.json"):
        load(tmp_path)
    (tmp_path / "machine.json").write_text("{}")
    (tmp_path / "results.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="lacks the columns checked, contender"):
        load(tmp_path)


def test_rates() -> None:
    assert sample(median=1e-3).rate == pytest.approx(1.048576)
    assert sample(median=1e-3).calls == pytest.approx(1000)


def changes(old: Sequence[Sample], new: Sequence[Sample]) -> list[Change]:
    return compare(Results({}, list(old)), Results({}, list(new)))


def test_compare_finds_changes_beyond_the_noise() -> None:
    (change,) = changes([sample()], [sample(median=1.3e-3)])
    assert change.ratio == pytest.approx(1.3)
    assert change.low == pytest.approx(1.3 * 0.98 / 1.02)
    assert change.high == pytest.approx(1.3 * 1.02 / 0.98)
    assert change.beyond_noise
    assert not changes([sample()], [sample(median=1.01e-3)])[0].beyond_noise, "less than the noise"
    wide = sample(median=1.3e-3, low=0.9e-3)
    assert not changes([sample()], [wide])[0].beyond_noise, "the quartiles overlap"
    few = sample(median=1.3e-3, n=3)
    assert not changes([sample()], [few])[0].beyond_noise, "too few rounds for quartiles"
    assert changes([sample()], [sample("another")]) == []
    assert only_in(Results({}, [sample()]), Results({}, [sample("another")])) == [sample()]


def test_a_slower_machine_counts_as_noise() -> None:
    limit = sample("copy in memory", 1e-4)
    slower = dataclasses.replace(limit, median=1.4e-4)
    change, _ = changes([sample(), limit], [sample(median=1.3e-3), slower])
    assert change.noise == pytest.approx(0.4)
    assert not change.beyond_noise


# ---- findings

RATE = Plot("made up", ("encrypt",), "rate")


def sentences(*samples: Sample, plot: Plot = RATE) -> str:
    return " ".join(findings.below(plot, samples))


def test_findings_name_the_faster_contender_and_the_factor() -> None:
    text = sentences(sample(), sample("cryptography into", 2e-3))
    assert text == (
        "encrypt at 1 MiB: sealane into (1.05 GB/s) is 2.00x as fast as cryptography into (524 MB/s)."
    )
    text = sentences(sample(), sample("cryptography into", 0.5e-3))
    assert "cryptography into (2.10 GB/s) is 2.00x as fast as sealane into" in text


def test_overlapping_quartiles_are_a_tie() -> None:
    text = sentences(sample(), sample("cryptography into", 1.01e-3))
    assert "cannot be told apart" in text
    assert "as fast as" not in text
    both = [sample(size=size) for size in (1 << 10, 1 << 20)]
    text = sentences(*both, *(sample("cryptography into", 1.01e-3, size=one.size) for one in both))
    assert text == "encrypt: sealane and the best peer cannot be told apart at any of 2 points."


def test_findings_count_the_sizes_ahead_and_behind() -> None:
    small = {"size": 1 << 10}
    text = sentences(
        *(sample(), sample("cryptography into", 2e-3)),
        *(sample(median=1e-6, **small), sample("cryptography into", 0.5e-6, **small)),
    )
    assert "ahead of every peer at 1 of 2 points" in text
    assert "behind at 1" in text
    assert "least at 1 KiB" in text


def test_the_widest_lead_is_no_tie() -> None:
    """A peer with a far slower median but overlapping quartiles is not the widest lead."""
    loose = dataclasses.replace(sample("cryptography into", 9e-3, size=1 << 10), low=0.5e-3)
    text = sentences(sample(), sample("cryptography into", 2e-3), sample(size=1 << 10), loose)
    assert "ahead of every peer at 1 of 2 points, level with the best of them at 1; most at 1 MiB" in text
    assert "cannot be told apart" not in text


def test_findings_give_the_share_of_the_nearest_limit() -> None:
    text = sentences(sample(), sample("cryptography into", 2e-3), sample("copy in memory", 0.25e-3))
    assert "sealane into reaches 25% of «copy in memory» (4.19 GB/s)." in text
    limits = [sample(way, s, peer=LIMIT) for way, s in (("far", 0.1e-3), ("near", 0.9e-3), ("passed", 2e-3))]
    text = sentences(sample(), sample("cryptography into", 2e-3), *limits)
    assert "sealane into reaches 90% of «near» (1.17 GB/s)." in text


def test_families_are_compared_separately() -> None:
    plot = Plot("made up", ("encrypt",), "time", over="contender", families=True)
    contenders = [
        ("RSA sealane", 2.0),
        ("RSA cryptography", 1.0),
        ("ECIES sealane", 0.1),
        ("ECIES eciespy", 0.3),
    ]
    text = sentences(*(sample(way, s, peer=way.split()[1]) for way, s in contenders), plot=plot)
    assert "RSA: cryptography (1.00 s) is 2.00x as fast as sealane (2.00 s)" in text
    assert "ECIES: sealane (100 ms) is 3.00x as fast as eciespy (300 ms)" in text


def test_findings_without_a_peer() -> None:
    assert "no one to compare with" in sentences(sample())
    assert sentences() == ""


def test_findings_on_the_notebook() -> None:
    contenders = [("making a key", 0, 0.9), ("sealing", 140, 150e-6)]
    made = [
        sample("RSA-3072 pycryptodome", t, peer="pycryptodome", task=task, size=size)
        for task, size, t in contenders
    ]
    made.append(sample("ECIES eciespy", 140e-6, peer="eciespy", task="sealing", size=140))
    text = " ".join(findings.of(experiment("hybrid"), made))
    assert "making a key takes 900 ms, sending 140 B with one that exists 150 µs" in text
    assert "1.07x the time of ECIES" in text


# ---- peers and contenders


def test_missing_peers_are_listed_with_the_reason() -> None:
    missing = peers.Peer("missing", "made up", module="sealane_missing")
    program = peers.Peer("no-such-program", "made up", program=("sealane-no-such-program", "--version"))
    assert [(one.version, one.reason) for one in peers.presences((missing, program))] == [
        (None, "not installed"),
        (None, "no such program"),
    ]


class Broken(Exception):
    pass


def made_up(*contenders: Contender, cell: Cell | None = None) -> Experiment:
    return Experiment(
        name="buffers",
        title="",
        about="",
        cells=lambda _: [cell or Cell("encrypt", 64)],
        contenders=lambda: list(contenders),
        plots=(RATE,),
        budget={"full": 0.1, "quick": 0.1, "tiny": 0.01},
    )


def ran(*contenders: Contender, cell: Cell | None = None) -> Results:
    results = Results()
    runner.run(made_up(*contenders, cell=cell), "tiny", results, Bar(1.0))
    return results


def fine(_: Workspace) -> Ready:
    return Ready(lambda: None, lambda: "another")


def raising(error: Exception) -> Callable[[Workspace], Ready]:
    def prepare(_: Workspace) -> Ready:
        raise error

    return prepare


def test_wrong_or_missing_contenders_are_skipped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def wrong() -> str:
        raise WrongOutput("other bytes")

    gone = peers.Peer("gone", "made up", module="sealane_gone")
    monkeypatch.setattr(peers, "find", lambda name: peers.presence(gone) if name == "gone" else HERE)
    results = ran(
        Contender(OURS, "fine", "encrypt", fine),
        Contender(OURS, "wrong", "encrypt", lambda _: Ready(lambda: None, wrong)),
        Contender(OURS, "absent", "encrypt", raising(Absent("not today"))),
        Contender(OURS, "broken", "encrypt", raising(Broken("down"))),
        Contender(OURS, "too large", "encrypt", fine, largest=63),
        Contender("gone", "gone", "encrypt", fine),
        Contender(OURS, "of another task", "decrypt", fine),
    )
    assert [(one.contender, one.checked, one.n) for one in results.samples] == [("fine", "another", 2)]
    assert {one.contender: one.why for one in results.skipped} == {
        "wrong": "other bytes",
        "absent": "not today",
        "broken": "Broken: down",
        "too large": "not above 0 MiB",
        "gone": "gone: not installed",
    }


HERE = peers.Presence("here", "1")


def test_a_contender_that_fails_later_is_skipped() -> None:
    calls = iter(range(7))

    def run() -> None:
        if next(calls, None) is None:
            raise Broken("after a while")

    results = ran(
        Contender(OURS, "breaks", "encrypt", lambda _: Ready(run, lambda: "another")),
        Contender(OURS, "fine", "encrypt", fine),
    )
    assert [one.contender for one in results.samples] == ["fine"]
    assert [(one.contender, one.why) for one in results.skipped] == [("breaks", "Broken: after a while")]
    with pytest.raises(Broken):
        timing.measure({"breaks": timing.timed(run)}, timing.Effort(0.0))


def test_cells_larger_than_memory_are_skipped() -> None:
    results = ran(Contender(OURS, "fine", "encrypt", fine), cell=Cell("encrypt", 1 << 50))
    assert results.samples == []
    assert "memory" in results.skipped[0].why


def test_a_workspace_removes_its_files(tmp_path: Path) -> None:
    closed: list[int] = []
    workspace = Workspace(Cell("encrypt", 16), tmp_path)
    assert workspace.folder.is_dir()
    workspace.on_close(lambda: closed.append(1))
    workspace.on_close(lambda: closed.append(2))
    workspace.close()
    assert closed == [2, 1]
    assert list(tmp_path.iterdir()) == []


def test_a_referee_detects_a_changed_byte() -> None:
    workspace = Workspace(Cell("encrypt", 100))
    wire = bytearray(referee.sealed(workspace, "aes-256-gcm"))
    assert referee.opened(workspace, "aes-256-gcm", wire, by_other_than="another") == OURS
    assert referee.opened(workspace, "aes-256-gcm", wire, by_other_than=OURS) == "cryptography"
    wire[5] ^= 1
    for other in OURS, "another":
        with pytest.raises(WrongOutput, match="cannot open"):
            referee.opened(workspace, "aes-256-gcm", wire, by_other_than=other)
    with pytest.raises(WrongOutput, match="other bytes"):
        referee.same(b"this", b"that", "another")


# ---- experiments


@pytest.mark.parametrize("name", NAMES)
def test_every_experiment(
    name: str,
    tmp_path: Path,
    aes_limit: Callable[[int, int], float | None] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Installed peers run or give a reason, and another library checks every output."""
    if aes_limit is not None:
        monkeypatch.setattr(machine, "measure_aes", aes_limit)
    results = Results()
    runner.run(experiment(name), "tiny", results, Bar(1.0), tmp_path)
    reasons = re.compile(
        r"not installed|no such program|no AES instructions|is not built|not above|no reset_nonce"
    )
    assert [one for one in results.skipped if not reasons.search(one.why)] == []
    assert {one.task for one in results.samples} == {cell.task for cell in experiment(name).cells("tiny")}
    assert {one.peer for one in results.samples} >= {OURS, "cryptography"}
    others = peers.find("pyaegis").version is not None  # The only other library with AEGIS.
    unchecked = {
        one.contender
        for one in results.samples
        if one.peer != LIMIT and not one.checked and (others or not one.task.startswith("aegis"))
    }
    assert unchecked <= {"ECIES sealane", "X-Wing sealane"}
    assert all(0 < one.low <= one.median <= one.high for one in results.samples)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", NAMES)
def test_the_parts_of_an_experiment_are_consistent(name: str) -> None:
    one = experiment(name)
    tasks = {cell.task for cell in one.cells("full")}
    assert one.name == name
    assert one.about.endswith(".")
    assert {cell.task for cell in one.cells("quick")} == tasks
    drawn = {task for plot in one.plots for task in plot.tasks}
    assert drawn == tasks
    assert {c.task for c in one.contenders()} == tasks
    known = {peer.name for peer in peers.PEERS} | {LIMIT}
    assert {c.peer for c in one.contenders()} <= known
    names = [(c.task, c.name) for c in one.contenders()]
    assert len(names) == len(set(names)), "two contenders of one name"


def test_quick_is_under_two_minutes() -> None:
    # Plots take more time, and so does the minimum number of rounds of slow contenders.
    assert sum(experiment(name).budget["quick"] for name in NAMES) < 85


# ---- plots, the report, the command line


def test_overlapping_names_move_apart() -> None:
    assert plots.spread([1.0, 5.0], 1.0, 0.0, 10.0) == [1.0, 5.0]
    assert plots.spread([5.0, 5.0, 5.0], 1.0, 0.0, 10.0) == [4.0, 5.0, 6.0]
    for wanted in ([0.0, 0.1, 0.2], [9.8, 9.9, 10.0], [0.0, 5.0, 5.1, 10.0]):
        places = plots.spread(wanted, 1.0, 0.0, 10.0)
        assert all(b - a >= 1 - 1e-9 for a, b in itertools.pairwise(places))
        assert places[0] >= 0
        assert places[-1] <= 10


def test_the_figure_after_the_last_dot_is_in_the_plot() -> None:
    """Matplotlib silently omits text whose position is outside of the axes."""
    plot = Plot("made up", ("encrypt",), "rate", over="contender")
    far = sample("cryptography new bytes", 1.1e-3, low=0.2e-3)
    drawn = plots.figure(plot, [sample(), far, sample("copy in memory", 2e-3)], plots.WIDE)
    (axes,) = drawn.axes
    ends = [text.xy[0] for text in axes.texts]
    assert len(ends) == 3
    assert max(ends) < axes.get_xlim()[1]


def test_labels_of_an_axis_do_not_touch() -> None:
    assert plots._apart([140, 15_820, 121 << 10, 1 << 20], 4) == [140, 15_820, 1 << 20]
    assert plots._apart([1 << shift for shift in range(15, 31)], 6) == [
        1 << s for s in (15, 18, 21, 24, 27, 30)
    ]
    assert plots._apart([1, 2], 3) == [1, 2]
    assert plots._apart([64], 3) == [64]


class Page(HTMLParser):
    """Parses a page: unclosed tags, ids, and the targets of links and loads."""

    VOID = frozenset({"meta", "br", "path", "use", "rect", "line", "circle"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loads: list[str] = []
        self.ids: list[str] = []
        self.tags: set[str] = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.open.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "xlink:href", "srcset", "data"):
                self.loads.append(value or "")
            if name == "id":
                self.ids.append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_report(tmp_path: Path) -> None:
    samples = [
        dataclasses.replace(
            sample(way, size * slow * 1e-10 + 1e-7), size=size, task=task, experiment="buffers"
        )
        for way, slow in (("sealane into", 1), ("cryptography into", 1.5), ("copy in memory", 0.7))
        for size in (1 << 15, 1 << 20, 1 << 25)
        for task in ("encrypt", "decrypt")
    ]
    evil = '<script>alert("1")</script>'
    results = Results(
        {**machine.describe(), "cpu": evil},
        samples,
        [Skipped("buffers", "encrypt", evil, 1, "not installed")],
    )
    page = write(tmp_path, results).read_text()
    seen = Page(page)
    assert seen.open == []
    assert not seen.tags & {"script", "link", "img", "iframe", "object"}
    assert all(target.startswith("#") for target in seen.loads), "loads something"
    assert not re.search(r"url\((?!#)|@import", page)
    assert len(seen.ids) == len(set(seen.ids)), "two plots share an id"
    assert {target[1:] for target in seen.loads} <= set(seen.ids)
    assert "sealane is ahead of every peer at 3 of 3 points" in page
    assert "Not measured: 1" in page
    assert "prefers-color-scheme:dark" in page
    for light in ("#0069ab", "#1b1b1a"):
        assert light not in page.split("</style>", 1)[1], "a colour that the dark page cannot change"
    for kind in ("png", "svg"):
        assert (tmp_path / "plots" / f"buffers-1.{kind}").stat().st_size > 1000
    ElementTree.parse(tmp_path / "plots" / "buffers-1.svg")


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = str(tmp_path / "old"), str(tmp_path / "new")
    for out in old, new:
        assert main(["run", "small", "--scale", "tiny", "--out", out]) == 0
    shown = capsys.readouterr()
    assert shown.err == "", "a bar without a terminal"
    assert sorted(path.name for path in (tmp_path / "old").iterdir() if path.is_file())[-1] == "results.csv"
    assert main(["compare", old, new, "--all"]) == 0
    assert "beyond the noise" in capsys.readouterr().out
    assert main(["run", "nonsense"]) == 2
    assert "no experiment nonsense" in capsys.readouterr().err
    assert main(["compare", old, str(tmp_path / "nowhere")]) == 1
    assert "nowhere" in capsys.readouterr().err
    assert main(["run", "--list"]) == 0
    shown = capsys.readouterr()
    assert all(word in shown.out for word in (*NAMES, *(peer.name for peer in peers.PEERS)))
