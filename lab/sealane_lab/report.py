"""One HTML file with the plots, sentences, tables and the machine. It loads no other file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from sealane_lab import findings, plots, style
from sealane_lab.experiments import NAMES, experiment
from sealane_lab.model import LIMIT, Experiment, Plot
from sealane_lab.results import Results, Sample, Skipped, contenders_of
from sealane_lab.text import calls_text, digits, memory_text, rate_text, size_text, time_text


def write(folder: Path, results: Results) -> Path:
    """Writes ``report.html`` and the folder ``plots``; returns the report's path."""
    for name in NAMES:
        if samples := results.of(name):
            plots.save(experiment(name), samples, folder / "plots")
    path = folder / "report.html"
    path.write_text(html(results), encoding="utf-8")
    return path


def html(results: Results) -> str:
    """Returns the whole HTML page of the report as one string."""
    measured = [experiment(name) for name in NAMES if results.of(name)]
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8"/>',
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>',
        f"<title>sealane-lab, {escape(str(results.machine.get('taken', ''))[:10])}</title>",
        f"<style>{style.css()}{_CSS}</style></head><body><main>",
        "<h1>sealane-lab</h1>",
        f'<p class="lead">{escape(_lead(results))}</p>',
        _contents(measured),
        *(_experiment(one, results) for one in measured),
        _machine(results),
        _method(results),
        "</main></body></html>\n",
    ]
    return "\n".join(parts)


def _lead(results: Results) -> str:
    about = results.machine
    memory = about.get("memory")
    return ", ".join(
        str(part)
        for part in (
            about.get("cpu", "an unknown processor"),
            f"{about.get('cores', '?')} cores",
            f"{memory / (1 << 30):.0f} GiB" if memory else "",
            about.get("os", ""),
            about.get("python", ""),
            f"sealane {about.get('sealane', '?')}",
            str(about.get("taken", ""))[:10],
        )
        if part
    )


def _contents(measured: Sequence[Experiment]) -> str:
    links = [f'<a href="#{one.name}">{escape(one.title)}</a>' for one in measured]
    links.append('<a href="#machine">The machine</a>')
    return f"<nav>{' '.join(links)}</nav>"


def _experiment(one: Experiment, results: Results) -> str:
    samples = results.of(one.name)
    skipped = [skip for skip in results.skipped if skip.experiment == one.name]
    parts = [f'<section id="{one.name}"><h2>{escape(one.title)}</h2><p>{escape(one.about)}</p>']
    for index, plot in enumerate(one.plots):
        parts.append(_figure(one, index, plot, samples))
    parts += [f'<p class="finding">{escape(line)}</p>' for line in findings.of(one, samples)]
    parts.append("<details><summary>All figures</summary>")
    parts += [_table(one, task, samples) for task in dict.fromkeys(sample.task for sample in samples)]
    parts.append("</details>")
    if skipped:
        parts.append(_skipped(skipped))
    return "\n".join([*parts, "</section>"])


def _figure(one: Experiment, index: int, plot: Plot, samples: Sequence[Sample]) -> str:
    both = []
    for name, width in (("wide", plots.WIDE), ("narrow", plots.NARROW)):
        picture = plots.svg(plot, samples, width, f"{one.name}{index}{name}")
        if picture is None:
            return ""
        both.append(f'<div class="{name}">{picture}</div>')
    said = "".join(f"<p>{escape(line)}</p>" for line in findings.below(plot, samples))
    return f"<figure><h3>{escape(plot.title)}</h3>{''.join(both)}<figcaption>{said}</figcaption></figure>"


def _table(one: Experiment, task: str, samples: Sequence[Sample]) -> str:
    """Returns a table of contenders by sizes or threads."""
    mine = [sample for sample in samples if sample.task == task]
    plot = next((plot for plot in one.plots if task in plot.tasks), one.plots[0])
    places = sorted({(sample.size, sample.threads) for sample in mine})
    found = {(s.contender, s.size, s.threads): s for s in mine}
    fastest = {
        place: min(
            (s for s in mine if (s.size, s.threads) == place and s.peer != LIMIT),
            key=lambda sample: sample.median,
            default=None,
        )
        for place in places
    }
    unit = plots.UNITS[plot.value]
    head = "".join(f'<th scope="col">{escape(_place(*place))}</th>' for place in places)
    rows = []
    for contender in contenders_of(mine):
        cells = []
        for place in places:
            sample = found.get((contender, *place))
            if sample is None:
                cells.append('<td class="none">-</td>')
                continue
            first = fastest[place]
            ahead = first is not None and sample.peer != LIMIT and findings.tied(sample, first)
            best = ' class="best"' if ahead else ""
            cells.append(f"<td{best}>{_cell(plot, sample)}</td>")
        some = next(sample for sample in mine if sample.contender == contender)
        kind = ' class="limit"' if some.peer == LIMIT else ""
        checked = some.checked or ("" if some.peer == LIMIT else "no library")
        rows.append(
            f'<tr{kind}><th scope="row">{escape(contender)}</th>'
            f"{''.join(cells)}<td>{escape(checked)}</td></tr>"
        )
    caption = f"{task}, {unit}: medians, quartiles below; bold: the fastest, and those that overlap with it"
    return (
        f'<div class="scroll"><table><caption>{escape(caption)}</caption>'
        f'<thead><tr><th></th>{head}<th scope="col">checked by</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _place(size: int, threads: int) -> str:
    parts = (size_text(size) if size else "", f"{threads} threads" if threads > 1 else "")
    return ", ".join(part for part in parts if part) or "a call"


def _cell(plot: Plot, sample: Sample) -> str:
    if plot.value == "rate" and sample.size:
        amount = sample.size / 1e9
        middle, low, high = digits(sample.rate), digits(amount / sample.high), digits(amount / sample.low)
    elif plot.value == "memory":
        return escape(memory_text(sample.median))
    elif plot.value == "cost":
        middle, low, high = (digits(t / sample.size * 1e9) for t in (sample.median, sample.low, sample.high))
    elif plot.value == "calls":
        middle, low, high = (calls_text(1 / t) for t in (sample.median, sample.high, sample.low))
    else:
        middle, low, high = (time_text(t) for t in (sample.median, sample.low, sample.high))
    return f"{escape(middle)}<small>{escape(low)} to {escape(high)}</small>"


def _skipped(skipped: Sequence[Skipped]) -> str:
    """Returns the list of skipped contenders; each reason appears once for all sizes."""
    whys = list(dict.fromkeys((one.contender, one.why) for one in skipped))
    items = "".join(f"<li><b>{escape(contender)}</b>: {escape(why)}</li>" for contender, why in whys)
    return f"<details><summary>Not measured: {len(whys)}</summary><ul>{items}</ul></details>"


def _machine(results: Results) -> str:
    about = results.machine
    peers = "".join(
        f'<tr><th scope="row">{escape(peer["name"])}</th><td>{escape(peer["version"] or "-")}</td>'
        f"<td>{escape(peer['reason'])}</td></tr>"
        for peer in about.get("peers", [])
    )
    facts = {
        "processor": about.get("cpu"),
        "cores": about.get("cores"),
        "system": about.get("os"),
        "Python": about.get("python"),
        "AES-256-GCM by": about.get("variants", {}).get("aes-256-gcm"),
        "environment": ", ".join(f"{k}={v}" for k, v in about.get("environment", {}).items()),
        "taken": about.get("taken"),
        "seconds": about.get("seconds"),
        "effort": about.get("scale"),
    }
    lines = "".join(f"<dt>{escape(k)}</dt><dd>{escape(str(v))}</dd>" for k, v in facts.items() if v)
    limits = _list(
        f"{one['name']}: not measured, {one['reason']}" for one in about.get("limits", []) if "reason" in one
    )
    copies = [s for s in results.samples if s.peer == LIMIT and s.contender == "copy in memory"]
    if copies:
        largest = max(copies, key=lambda sample: sample.size)
        limits = f"<p>Memory copies {size_text(largest.size)} at {rate_text(largest.rate)}.</p>" + limits
    return (
        f'<section id="machine"><h2>The machine</h2><dl>{lines}</dl>{limits}'
        '<div class="scroll"><table><caption>Libraries and programs</caption>'
        f"<tbody>{peers}</tbody></table></div></section>"
    )


def _method(results: Results) -> str:
    unchecked = contenders_of(s for s in results.samples if s.peer != LIMIT and not s.checked)
    lines = [
        "All contenders of a cell are timed in interleaved rounds, in a random order. A figure is the median "
        "of the rounds. If the quartiles of two contenders overlap, neither is called faster.",
        "Before a contender is timed, another library decrypts its output. Contenders with wrong output are "
        "not timed.",
        "Every call is made by an empty Python function, whose cost is part of all figures.",
        "GB is 10^9 bytes, KiB is 1024.",
    ]
    if unchecked:
        lines.append("Not checked, for lack of another library: " + ", ".join(unchecked) + ".")
    return f'<section id="method"><h2>How it was measured</h2>{_list(lines)}</section>'


def _list(lines: Iterable[Any]) -> str:
    items = "".join(f"<li>{escape(str(line))}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""


_CSS = """
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,sans-serif;
-webkit-text-size-adjust:100%}
main{max-width:60rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.6rem;margin:0 0 .25rem}h2{font-size:1.25rem;margin:3rem 0 .25rem}
h3{font-size:1rem;font-weight:600;margin:1.5rem 0 .5rem}
p{max-width:44rem;margin:.4rem 0}.lead,nav,summary,dt{color:var(--soft)}
nav{display:flex;flex-wrap:wrap;gap:.2rem 1rem;margin:1rem 0}
a{color:var(--sealane)}
figure{margin:0}figure svg{display:block;width:100%;height:auto;overflow:visible}
figcaption p,.finding{border-left:2px solid var(--faint);padding-left:.7rem;font-size:.95rem}
.narrow{display:none}
@media(max-width:640px){.wide{display:none}.narrow{display:block}}
details{margin:.8rem 0}summary{cursor:pointer}
.scroll{overflow-x:auto;margin:.8rem 0}
table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--soft);padding:.3rem 0;white-space:nowrap}
th,td{padding:.25rem .6rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--faint);
vertical-align:top;font-weight:400}
th[scope=row]{text-align:left;position:sticky;left:0;background:var(--page)}
#machine td{text-align:left}
td small{display:block;color:var(--soft);font-size:.72rem}
td.best{font-weight:650}td.best small{font-weight:400}td.none,tr.limit{color:var(--soft)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:.6rem 0}dd{margin:0}
"""
