# SPDX-License-Identifier: Apache-2.0
"""report.html: one page that needs nothing else, of what report.json says (docs/lab.md, "report.html").

Verdict, tables and the fabric are there without scripts; Chart.js, which is inside the page, draws the charts.
"""

import datetime
import html
import json
import pathlib

import yaml

from labkit import fabric_picture, figures, record, units
from labkit.charts import charts_of, grid_of, overlaid

HERE = pathlib.Path(__file__).parent
CHART_JS = "/usr/share/javascript/chart.js/chart.min.js"  # Debian's libjs-chart.js
MOST_EVENTS = 2000  # in the table
PALETTE = [f"c{i}" for i in range(8)]


class PageError(Exception):
    """The page cannot be made; the text says what is missing, and how to get it."""


# ---- Tables and text.

def _e(value):
    return html.escape(str(value), quote=True)


def _number(value):
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value != int(value):
        return units.digits(value)
    return f"{int(value):,}".replace(",", " ")


def _table(heads, rows, texts=(), tall=False):
    """`rows`: lists of cells, each text or (text, class). `texts`: columns that are prose."""
    def cell(i, each):
        text, mark = each if isinstance(each, tuple) else (each, "")
        mark = " ".join(filter(None, (mark, "text" if i in texts else "")))
        return f'<td class="{mark}">{_e(text)}</td>' if mark else f"<td>{_e(text)}</td>"
    head = "".join(f'<th class="left">{_e(h)}</th>' if i in texts else f"<th>{_e(h)}</th>" for i, h in enumerate(heads))
    body = "\n".join("<tr>" + "".join(cell(i, each) for i, each in enumerate(row)) + "</tr>" for row in rows)
    return f'<div class="scroll{" tall" if tall else ""}"><table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n' \
           "</tbody></table></div>"


def _limit(bound):
    parts = [f"at least {_number(bound['min'])}"] if bound.get("min") is not None else []
    parts += [f"at most {_number(bound['max'])}"] if bound.get("max") is not None else []
    return " and ".join(parts)


def _checks(report):
    return _table(["Expectation", "Value", "Unit", "Limit", ""],
                  [[check["name"], _number(check["value"]), check.get("unit", ""), _limit(check["limit"]),
                    ("met", "good") if check["pass"] else ("missed", "bad")] for check in report["verdict"]["checks"]], texts=(2,))


def _headline(report):
    found = figures.headline(report)
    if found is None:
        return '<p class="muted">No load was measured.</p>'
    return (f'<p class="headline">{_e(units.quantity(found["goodput"] * 8, "bit/s"))} <small>goodput '
            f'({_e(units.quantity(found["goodput"], "B/s"))}), peak {_e(units.quantity(found["peak"] * 8, "bit/s"))}; '
            f'{_e(units.quantity(found["bytes"], "B"))} of data in {_e(units.quantity(found["seconds"], "s"))} of load</small></p>')


def _stalls(report):
    stalls = report.get("stalls", [])
    if not stalls:
        return f"<p>No flow that had data to send went without any for {report.get('stall_s', figures.STALL_S):g} s.</p>"
    names = figures.xpu_names(report)
    rows = [[f"{each['t']:.2f}", "to the end" if each["end"] is None else f"{each['end'] - each['t']:.2f}", each["load"],
             figures.flow(names, each["source"], each["destination"]), each["plane"] or "–", each["vc"], each["waited_for"], each["evidence"],
             "; ".join(each["faults"])] for each in stalls[:MOST_EVENTS]]
    return _table(["Begin [s]", "For [s]", "Load", "Flow (XPUs)", "Plane", "VC", "Waited for", "Evidence", "Faults that lasted"], rows,
                  texts=(2, 3, 6, 7, 8), tall=True)


def _ms(seconds):
    return "–" if seconds is None else units.digits(seconds * 1e3)


def _loads(report):
    rows, times = [], []
    for load in report["load"]:
        result = load["result"] or {}
        workload = result.get("workload") or {}
        received = workload.get("received") or result.get("served") or {}
        each = (result.get("results") or [{}])[0]
        name = workload.get("name") or load["role"]
        rows.append([load["name"], (name, "nowrap"), ("0", "good") if load["exit"] == 0 else (load["exit"], "bad")]
                    + [_number(received.get(a, each.get(b))) for a, b in
                       (("received", "delivered"), ("lost", "lost"), ("wrong", "wrong"), ("duplicated", "duplicated"),
                        ("misordered", "misordered"), ("flows", ""), ("fairness", ""))])
        measured = {"iteration": workload.get("iteration"), "command": each.get("latency")}
        for rank in workload.get("of_rank") or []:
            for what in ("transfer", "response"):
                if rank.get(what) and len(workload["of_rank"]) == 1:
                    measured[what] = rank[what]
        for what, of in measured.items():
            if of and of.get("samples"):
                times.append([load["name"], what, _number(of["samples"])]
                             + [_ms(of.get(f"{key}_seconds")) for key in ("min", "mean", "p50", "p90", "p99", "max")])
    parts = [_table(["Load", "Kind", "Exit code", "Received [cmds]", "Lost [cmds]", "Wrong [cmds]", "Doubled [cmds]",
                     "Reordered [cmds]", "Flows [count]", "Fairness [0–1]"], rows, texts=(1,))] if rows else ["<p>None was started.</p>"]
    if times:
        parts.append("<h3>Times</h3>" + _table(["Load", "Of", "Samples [count]", "Least [ms]", "Mean [ms]", "p50 [ms]", "p90 [ms]",
                                                "p99 [ms]", "Longest [ms]"],
                                               times, texts=(1,)))
    return "\n".join(parts)


def _events(report):
    rows = [[f"{event['t']:.3f}", "" if event["end"] is None else f"{event['end']:.3f}", event["source"],
             (event["severity"], {"error": "bad"}.get(event["severity"], "")), event["name"], event["text"]]
            for event in report["events"][:MOST_EVENTS]]
    more = len(report["events"]) - len(rows)
    note = f'<p class="note">{more} later ones are in report.json.</p>' if more > 0 else ""
    return _table(["Time [s]", "End [s]", "Source", "Severity", "Event", ""], rows, texts=(2, 3, 4, 5), tall=True) + note


def _counters(report):
    parts = []
    for node, final in sorted(report.get("final", {}).items()):
        rows = [[name, units.of_counter(name), _number(value)] for name, value in sorted(final["counters"].items()) if value]
        if final.get("buffer"):
            rows += [[f"buffer {name}", units.of_counter(name), _number(value)] for name, value in final["buffer"].items()
                     if isinstance(value, (int, float))]
        parts.append(f"<details><summary>{_e(node)}: {len(rows)} counters that are not 0</summary>"
                     + _table(["Counter", "Unit", "At the end"], rows, texts=(1,), tall=True) + "</details>")
    return "\n".join(parts)


# ---- The page.

def _event_rows(report):
    """A row of the events' chart for the lab and each node."""
    return ["lab", *(node["name"] for node in report["topology"]["nodes"])]


def _script_data(report, charts):
    rows = _event_rows(report)
    events = [{"t": event["t"], "severity": event["severity"], "row": event.get("node") or "lab",
               "text": f"{event['source']} {event['name']} {event['text']}"[:160]} for event in report["events"]]
    marks = [{"t": event["t"], "end": event["end"], "severity": event["severity"], "source": event["source"]}
             for event in report["events"] if event["severity"] != "info" and (event["source"] == "lab"
                                                                              or event["severity"] == "error")]
    step, points = grid_of(report)
    end = max([step * (points - 1)] + [event["end"] or event["t"] for event in report["events"]] + [step])
    return {"end": end, "charts": charts, "marks": marks, "palette": PALETTE, "refresh_s": report.get("refresh_s"),
            "events": [event for event in events if event["row"] in rows and event["t"] >= 0], "event_rows": rows}


def _json(value):
    """Returns the value as text of a script element."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c").replace("\u2028", "\\u2028")


def _chart_js():
    try:
        return pathlib.Path(CHART_JS).read_text(encoding="utf-8").replace("</script", "<\\/script")
    except OSError as error:
        raise PageError(f"{CHART_JS}: {error.strerror}; apt-get install libjs-chart.js") from error


def _chart_parts(report, charts):
    parts = []
    if report["events"]:
        rows = len(_event_rows(report))
        parts.append(f'<h3>Events</h3><p class="note">faults of the scenario are bands, or full lines, in all charts</p>'
                     f'<div class="chart" style="height:{min(420, 110 + 26 * rows)}px">'
                     '<canvas id="chart-events" role="img" aria-label="events"></canvas></div>')
    for i, chart in enumerate(charts):
        tall = " tall" if len(chart["lines"]) > 6 else ""
        parts.append(f'<h3>{_e(chart["title"])}</h3><p class="note">{_e(chart["note"])}</p><div class="chart{tall}">'
                     f'<canvas id="chart-{i}" role="img" aria-label="{_e(chart["title"])}"></canvas></div>')
    return parts or ["<p>No sample was taken.</p>"]


def _style():
    return f"""<style>
{(HERE / "report_page.css").read_text(encoding="utf-8")}</style>"""


def _scripts(report, charts):
    return f"""<script type="application/json" id="data">{_json(_script_data(report, charts))}</script>
<script>{_chart_js()}</script>
<script>
{(HERE / "report_page.js").read_text(encoding="utf-8")}</script>"""


def _state(report):
    """(word, class) of a report's verdict; a lab that is up has none."""
    if report.get("refresh_s"):
        return "running", "muted"
    return ("passed", "good") if report["verdict"]["pass"] else ("failed", "bad")


def _refresh(report):
    """The page of a lab that is up is read again and again: by its script, or by the browser where scripts are off."""
    wait_s = report.get("refresh_s")
    return f'<noscript><meta http-equiv="refresh" content="{int(wait_s)}"></noscript>\n' if wait_s else ""


def make(report):
    """Returns the page as text. Raises PageError if Chart.js is not installed."""
    scenario = report["scenario"]
    state, mark = _state(report)
    charts = charts_of(report)
    nodes = report["topology"]["nodes"]
    xpus = sum(len(node["xpus"]) for node in nodes)
    endpoints = [node["name"] for node in nodes if node["kind"] == "endpoint"]
    switches = [node["name"] for node in nodes if node["kind"] != "endpoint"]
    title = f"{scenario['name']}: {state}"
    host = report["host"]
    chart_parts = _chart_parts(report, charts)
    problems = "".join(f'<p class="problems bad">{_e(problem)}</p>' for problem in report.get("problems", []))
    digest = f'<p class="note">Digest of all frames: {_e(report["digest"])}</p>' if report.get("digest") else ""
    names = f"{', '.join(endpoints[:8])}{' …' if len(endpoints) > 8 else ''}"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{_e(title)} – {_e(names)}</title>
{_refresh(report)}{_style()}
</head>
<body>
<h1>{_e(scenario["name"])} <span class="verdict {mark}">{state}</span></h1>
{_headline(report)}
<p>{_e(scenario.get("description") or "")}</p>
<p class="muted">{xpus} XPUs in {_e(names)}; {_e(', '.join(switches[:8]) + (' …' if len(switches) > 8 else '')) or 'no switch'};
{len(report["topology"]["links"])} links, {_e(scenario.get("encapsulation", ""))}, back end {_e(report["backend"])}, seed {_e(report["seed"])}<br>
{_e(report["start"])} to {_e(report["end"])}; suede {_e(report["version"])} ({_e(report["git"])});
{_e(host["cpu"])}, {_e(host["cpus"])} CPUs, Linux {_e(host["kernel"])}</p>
{digest}{problems}
<h2>Expectations</h2>
{_checks(report)}
<h2>Fabric</h2>
<figure>{fabric_picture.svg(report["topology"])}</figure>
<h2>Loads</h2>
{_loads(report)}
<h2>Stalls</h2>
{_stalls(report)}
<h2>Over time</h2>
<noscript><p class="note">The charts need scripts; report.json has their values.</p></noscript>
{"".join(chart_parts)}
<h2>Events</h2>
{_events(report)}
<h2>Counters</h2>
{_counters(report)}
<h2>Scenario</h2>
<details><summary>as it was run, defaults included</summary>
<pre>{_e(yaml.safe_dump(scenario, sort_keys=False, allow_unicode=True, width=110))}</pre></details>
{_scripts(report, charts)}
</body>
</html>
"""


def make_recordings(texts):
    """Returns the page of recordings alone. `texts`: {endpoint: CSV}. Raises PageError, record.RecordError."""
    zero_ns = min((int(rows[0]["time_ns"]) for rows in map(record.rows_of, texts.values()) if rows), default=0)
    report = {"series": [series for node, text in texts.items() for series in record.series_of(text, node, zero_ns)],
              "events": [], "topology": {"nodes": []}, "scenario": {"sample_ms": 1}}
    charts = charts_of(report)
    lost = sum(text.count("\n# ") for text in texts.values())
    note = f'<p class="problems bad">samples are missing at {lost} places</p>' if lost else ""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Recording of {_e(', '.join(texts))}</title>
{_style()}
</head>
<body>
<h1>Recording of {_e(', '.join(texts))}</h1>
<p class="muted">from {_e(datetime.datetime.fromtimestamp(zero_ns / 1e9, datetime.timezone.utc).isoformat())}</p>
{note}
{"".join(_chart_parts(report, charts))}
{_scripts(report, charts)}
</body>
</html>
"""


def make_comparison(a, b, text):
    """Returns the page of two reports: `text`, the comparison in words, and the charts of both, one over the other. Raises
    PageError."""
    charts = overlaid(a, b)
    both = {"events": [], "series": [*a["series"], *b["series"]], "topology": {"nodes": []}, "scenario": a["scenario"]}
    names = [f"{report['scenario']['name']}, {report['start']}" for report in (a, b)]
    rows = [[f"{letter}: {name}", *_figures_of(report)] for letter, name, report in zip("AB", names, (a, b))]
    table = _table(["Run", "Verdict", "Goodput [Mbit/s]", "Peak [Mbit/s]", "Data [MB]", "Load [s]", "Stalls [count]"], rows, texts=(1,))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{_e(names[0])} and {_e(names[1])}</title>
{_style()}
</head>
<body>
<h1>Two runs</h1>
{table}
<h2>Over time</h2>
<p class="note">A is drawn in full lines, B in dashed ones; time 0 is the begin of each run.</p>
<noscript><p class="note">The charts need scripts; report.json of each run has their values.</p></noscript>
{"".join(_chart_parts(both, charts))}
<h2>In words</h2>
<pre>{_e(text)}</pre>
{_scripts(both, charts)}
</body>
</html>
"""


def _figures_of(report):
    found = figures.headline(report)
    cells = [units.digits(value) for value in (found["goodput"] * 8e-6, found["peak"] * 8e-6, found["bytes"] * 1e-6,
                                               found["seconds"])] if found else ["–"] * 4
    return [_state(report), *cells, _number(len(report.get("stalls", [])))]


def write_comparison(a, b, text, path):
    """Writes the page of make_comparison. Raises PageError, OSError."""
    _write(make_comparison(a, b, text), path)


def write(report, path):
    """Writes the page. Raises PageError, OSError."""
    _write(make(report), path)


def write_recordings(texts, path):
    """Writes the page of make_recordings. Raises PageError, OSError, record.RecordError."""
    _write(make_recordings(texts), path)


def _write(text, path):
    """Writes a page under another name, then renames it."""
    path = pathlib.Path(path)
    part = path.with_suffix(".part")
    try:
        part.write_text(text, encoding="utf-8")
        part.rename(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
