"""Sentences that are computed from the figures. No result is assumed in advance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sealane_lab.model import LIMIT, OURS, Experiment, Plot
from sealane_lab.results import Sample
from sealane_lab.text import calls_text, cost_text, memory_text, rate_text, size_text, time_text, times_text

Found = Callable[[Sequence[Sample]], list[str]]


def below(plot: Plot, samples: Sequence[Sample]) -> list[str]:
    """Returns the sentences below a plot: the fastest contender, by which factor, and the distance to the
    limits.
    """
    mine = shown(plot, samples)
    if plot.value == "memory":  # It is not a race.
        return []
    return [line for task in plot.tasks for line in _task(task, plot, [s for s in mine if s.task == task])]


def shown(plot: Plot, samples: Sequence[Sample]) -> list[Sample]:
    """Returns the samples of a plot. A bar chart shows one size: its own, or the largest of each task."""
    mine = [
        sample for sample in samples if sample.task in plot.tasks and sample.contender not in plot.undrawn
    ]
    if plot.over != "contender" or not mine:
        return mine
    largest = {task: max((s.size for s in mine if s.task == task), default=0) for task in plot.tasks}
    return [sample for sample in mine if sample.size == (plot.size or largest[sample.task])]


def of(experiment: Experiment, samples: Sequence[Sample]) -> list[str]:
    """Returns the sentences that only this experiment has."""
    return experiment.findings(samples) if experiment.findings is not None and samples else []


def tied(first: Sample, second: Sample) -> bool:
    """Returns whether the quartiles overlap, so that neither is called faster."""
    return first.low <= second.high and second.low <= first.high


def value_text(plot: Plot, sample: Sample) -> str:
    """Returns the median in the unit of the plot."""
    if plot.value == "rate":
        return rate_text(sample.rate)
    if plot.value == "cost":
        return cost_text(sample)
    if plot.value == "memory":
        return memory_text(sample.median)
    return calls_text(sample.calls) if plot.value == "calls" else time_text(sample.median)


def best(samples: Iterable[Sample], ours: bool) -> Sample | None:
    """Returns the fastest sample of sealane or of its peers, or None."""
    them = [s for s in samples if s.peer != LIMIT and (s.peer == OURS) == ours]
    return min(them, key=lambda sample: sample.median, default=None)


def _task(task: str, plot: Plot, samples: Sequence[Sample]) -> list[str]:
    if plot.families:
        return _families(task, plot, samples)
    places = sorted({(sample.size, sample.threads) for sample in samples})
    duels = []
    for place in places:
        find = [s for s in samples if (s.size, s.threads) == place]
        ours, theirs = best(find, True), best(find, False)
        if ours is not None and theirs is not None:
            duels.append((ours, theirs))
    if not duels:
        fastest = best(samples, True) or best(samples, False)
        return [f"{task}: no one to compare with was measured."] if fastest is not None else []
    lines = [_score(task, plot, duels)]
    if plot.value == "rate" and (line := _headroom(task, [ours for ours, _ in duels], samples)):
        lines.append(line)
    if plot.value == "time" and (line := _call_overhead(task, [ours for ours, _ in duels], samples)):
        lines.append(line)
    return lines


def family(sample: Sample) -> str:
    """Returns the name of a contender without the peer, for example "RSA-3072" of "RSA-3072 sealane"."""
    return " ".join(sample.contender.replace(sample.peer, "").split())


def _families(task: str, plot: Plot, samples: Sequence[Sample]) -> list[str]:
    """Compares the contenders of each family at its largest size."""
    parts = []
    for name in dict.fromkeys(family(s) for s in samples if s.peer != LIMIT):
        mine = [s for s in samples if s.peer != LIMIT and family(s) == name]
        size = max(s.size for s in mine)
        ours = best([s for s in mine if s.size == size], True)
        theirs = best([s for s in mine if s.size == size], False)
        if ours is not None and theirs is not None:
            parts.append(f"{name}: {_versus(plot, ours, theirs)}")
    if not parts:
        return [f"{task}: no one to compare with was measured."]
    where = f" at {size_text(max(s.size for s in samples))}" if plot.over == "size" else ""
    return [f"{task}{where}. {'; '.join(parts)}."]


def _versus(plot: Plot, ours: Sample, theirs: Sample) -> str:
    mine, other = value_text(plot, ours), value_text(plot, theirs)
    if tied(ours, theirs):
        return f"sealane ({mine}) and {theirs.peer} ({other}) cannot be told apart"
    ratio = times_text(max(ours.median, theirs.median) / min(ours.median, theirs.median))
    if ours.median < theirs.median:
        return f"sealane ({mine}) is {ratio} as fast as {theirs.peer} ({other})"
    return f"{theirs.peer} ({other}) is {ratio} as fast as sealane ({mine})"


def _score(task: str, plot: Plot, duels: Sequence[tuple[Sample, Sample]]) -> str:
    won = [d for d in duels if not tied(*d) and d[0].median < d[1].median]
    lost = [d for d in duels if not tied(*d) and d[0].median > d[1].median]
    widest = max(won or duels, key=lambda duel: duel[1].median / duel[0].median)
    if len(duels) == 1:
        head = f"{task}{_at(plot, duels[0][0])}: "
        return head + _duel(plot, *duels[0]) + "."
    if not won and not lost:
        return f"{task}: sealane and the best peer cannot be told apart at any of {len(duels)} points."
    parts = []
    unknown = len(duels) - len(won) - len(lost)
    if won:
        parts.append(f"sealane is ahead of every peer at {len(won)} of {len(duels)} points")
    if unknown:
        level = "level with the best of them" if won else "sealane is level with the best peer"
        parts.append(f"{level} at {unknown}")
    if lost:
        parts.append(f"{'behind' if won or unknown else 'sealane is behind the best peer'} at {len(lost)}")
    text = f"{task}: {', '.join(parts)}; most{_at(plot, widest[0])}, where {_duel(plot, *widest)}"
    if lost:
        worst = max(lost, key=lambda duel: duel[0].median / duel[1].median)
        text += f"; least{_at(plot, worst[0])}, where {_duel(plot, *worst)}"
    return text + "."


def _duel(plot: Plot, ours: Sample, theirs: Sample) -> str:
    mine, other = value_text(plot, ours), value_text(plot, theirs)
    if tied(ours, theirs):
        return f"{ours.contender} ({mine}) and {theirs.contender} ({other}) cannot be told apart"
    first, second = (ours, theirs) if ours.median < theirs.median else (theirs, ours)
    ratio = times_text(second.median / first.median)
    # "1.00x as fast" would read as no difference.
    how = f"{ratio} as fast as" if ratio != "1.00x" else "faster by less than 1 % than"
    fast, slow = value_text(plot, first), value_text(plot, second)
    return f"{first.contender} ({fast}) is {how} {second.contender} ({slow})"


def _at(plot: Plot, sample: Sample) -> str:
    if plot.over == "threads":
        return f" with {sample.threads} thread{'s' * (sample.threads != 1)}"
    return f" at {size_text(sample.size)}" if sample.size else ""


def _headroom(task: str, ours: Sequence[Sample], samples: Sequence[Sample]) -> str | None:
    """Returns which share of the next limit sealane reaches at the largest size."""
    sample = max(ours, key=lambda one: (one.size, one.threads))
    place = (sample.size, sample.threads)
    limits = [s for s in samples if s.peer == LIMIT and (s.size, s.threads) == place]
    if not limits:
        return None
    # The nearest faster limit applies: contenders that work in place may be faster than other
    # limits.
    above = [limit for limit in limits if limit.median <= sample.median]
    limit = max(above, key=lambda one: one.median) if above else min(limits, key=lambda one: one.median)
    share = limit.median / sample.median
    where = f"{size_text(sample.size)}" + (f" and {sample.threads} threads" if sample.threads > 1 else "")
    reached = f"{share:.0%} of «{limit.contender}» ({rate_text(limit.rate)})"
    return f"{task}: at {where} {sample.contender} reaches {reached}."


def _call_overhead(task: str, ours: Sequence[Sample], samples: Sequence[Sample]) -> str | None:
    """Returns which part of a call at the smallest size is the cost of an empty call."""
    smallest = min(ours, key=lambda sample: sample.size)
    limits = [s for s in samples if s.peer == LIMIT and s.size == smallest.size]
    if not limits:
        return None
    limit = max(limits, key=lambda sample: sample.median)
    beyond = smallest.median - limit.median
    return (
        f"{task}: of the {time_text(smallest.median)} of {smallest.contender} at {size_text(smallest.size)}, "
        f"{time_text(limit.median)} are «{limit.contender}»; {time_text(max(beyond, 0))} are the work."
    )
