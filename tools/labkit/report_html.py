# SPDX-License-Identifier: Apache-2.0
"""report.html: one page that needs nothing else, of what report.json says (docs/lab.md, "report.html").

Verdict, tables and the fabric are there without scripts; Chart.js, which is inside the page, draws the charts.
"""

import datetime
import html
import json
import math
import pathlib

import yaml

from labkit import fabric_picture, record

HERE = pathlib.Path(__file__).parent
CHART_JS = "/usr/share/javascript/chart.js/chart.min.js"  # Debian's libjs-chart.js
MOST_LINES = 12     # of a chart; with more series their distribution is shown
MOST_POINTS = 1000  # of a line
MOST_RECORDED = 4000  # points of a line of a recording
MOST_EVENTS = 2000  # in the table
MAX_HELD = 5        # points for which a value goes on behind the end of its series
PALETTE = [f"c{i}" for i in range(8)]


class PageError(Exception):
    """The page cannot be made; the text says what is missing, and how to get it."""


# ---- Series on one axis of time.

def end_of(report):
    """The last time of a series or an event."""
    ends = [series["t"][-1] for series in report["series"] if series["t"]]
    ends += [event["end"] if event["end"] is not None else event["t"] for event in report["events"]]
    return max([t for t in ends if t > 0], default=0)


def grid_of(report):
    """(step in s, points): the axis that all charts share, but those of recordings."""
    end = end_of(report)
    step = max(report["scenario"]["sample_ms"] / 1000, end / MOST_POINTS, 1e-9)
    return step, int(end / step + 1e-9) + 1


def record_grid(report):
    """grid_of for recordings, whose samples are closer."""
    times = [series["t"] for series in report["series"] if series["name"] in record.TITLES and len(series["t"]) > 1]
    closest = min((b - a for t in times for a, b in zip(t, t[1:]) if b > a), default=0)
    end = end_of(report)
    step = max(closest, end / MOST_RECORDED, 1e-6)
    return step, int(end / step + 1e-9) + 1


def on_grid(series, step, points, largest):
    """A value for each point of the axis, None where there is no sample: the mean of the samples, or the largest."""
    sums, counts = [0.0] * points, [0] * points
    for t, v in zip(series["t"], series["v"]):
        at = min(points - 1, max(0, int(t / step + 0.5)))
        sums[at] = max(sums[at], v) if largest and counts[at] else (v if largest else sums[at] + v)
        counts[at] += 1
    return [None if n == 0 else s if largest else s / n for s, n in zip(sums, counts)]


def held(values):
    """The last value goes on where there is none, so that values of several series can be added; not long after the end of
    the series, though."""
    end = max((i for i, value in enumerate(values) if value is not None), default=-1) + MAX_HELD
    result, last = [], None
    for i, value in enumerate(values):
        last = value if value is not None else last if i <= end else None
        result.append(last)
    return result


def total(lines):
    return [None if all(v is None for v in at) else sum(v or 0 for v in at) for at in zip(*map(held, lines))]


def quantile(values, share):
    values = sorted(v for v in values if v is not None)
    return values[min(len(values) - 1, math.ceil(share * len(values)) - 1 if share > 0 else 0)] if values else None


def distribution(lines):
    """Distribution of the values of many lines at each time."""
    at = list(zip(*map(held, lines)))
    return [(label, [quantile(values, share) for values in at]) for label, share in
            (("largest", 1), ("90th percentile", 0.9), ("median", 0.5), ("10th percentile", 0.1), ("smallest", 0))]


def _label(labels, *keys):
    return " ".join(f"{key} {labels[key]}" if key in ("class", "plane", "vc", "xpu") else labels[key] for key in keys
                    if labels.get(key) not in (None, ""))


def _flow(labels):
    source = "all" if labels["source"] == "*" else labels["source"]
    return f"{source} → {labels['destination']} (VC {labels['vc']})"


# name: (title, explanation, label of a series, what its sum is called; None: a sum means nothing)
KINDS = {
    "goodput": ("Goodput by flow", "data bytes received, source XPU → destination XPU", _flow, "Goodput, all flows"),
    "plane_throughput": ("Throughput by plane", "bytes of frames that the endpoints' ports received",
                         lambda labels: _label(labels, "node", "plane"), None),
    "latency": ("Latency", "of what the load measures, since the last sample",
                lambda labels: f"{labels['which']} {labels['process']} ({labels['kind']})", None),
    "queue_depth": ("Queue depth", "bytes in a switch's queue, by output and class",
                    lambda labels: _label(labels, "node", "port", "class"), None),
    "buffer_used": ("Buffer in use", "bytes in a switch's shared buffer", lambda labels: _label(labels, "node"), None),
    "retransmissions": ("Retransmissions", "PDUs per second that were sent again",
                        lambda labels: _label(labels, "node"), "Retransmissions, all endpoints"),
    "paused": ("Paused", "share of the time in which PFC held the queue, or the VC",
               lambda labels: _label(labels, "node", "port", "class", "vc"), None),
    "ecn_marks": ("ECN marks", "frames per second", lambda labels: _label(labels, "node"), None),
    "trims": ("Trimmed frames", "frames per second", lambda labels: _label(labels, "node"), None),
    "drops": ("Drops by reason", "per second", lambda labels: _label(labels, "node", "reason"), None),
}
KINDS.update({name: (f"{title}, recorded", note, lambda labels: _label(labels, "node", "xpu", "plane", "vc"), None)
              for name, (title, note) in record.TITLES.items()})
UNITS = {"bytes": "B", "bytes/s": "B/s", "share": ""}
LARGEST = ("queue_depth", "buffer_used", "paused", "latency", *record.TITLES)


def _kind_of(series):
    return "latency" if series["name"].startswith("latency_") else series["name"]


def _planes(series):
    """Groups the series, which are of endpoints, by plane: [(plane, [series])]."""
    return [(plane, [each for each in series if each["labels"].get("plane") == plane])
            for plane in sorted({each["labels"].get("plane") for each in series}, key=str)]


def charts_of(report):
    """Charts for the script: [{title, note, unit, t, lines: [{label, v, fill_to}], stepped}]."""
    by_kind = {}
    for series in report["series"]:
        by_kind.setdefault(_kind_of(series), []).append(series)
    charts = []

    def add(title, note, unit, lines, bands=()):
        charts.append({"title": title, "note": note, "unit": UNITS.get(unit, unit), "stepped": False,
                       "t": [round(i * step, 6) for i in range(points)],
                       "lines": [{"label": label, "v": [v if v is None else float(f"{v:.6g}") for v in values],
                                  "fill_to": dict(bands).get(i)} for i, (label, values) in enumerate(lines)]})

    for kind in [*KINDS, *sorted(set(by_kind) - set(KINDS))]:
        series = by_kind.get(kind, [])
        if not series:
            continue
        step, points = (record_grid if kind in record.TITLES else grid_of)(report)
        title, note, label, sum_title = KINDS.get(
            kind, (kind, "", lambda labels: " ".join(labels.values()), None))
        if kind == "latency":
            series = [{**each, "labels": {**each["labels"], "which": each["name"].removeprefix("latency_")}}
                      for each in series]
        lines = [(label(each["labels"]), on_grid(each, step, points, kind in LARGEST)) for each in series]
        unit = series[0]["unit"]
        if kind == "plane_throughput" and len(series) > len(_planes(series)):
            lines = [("no plane" if plane in (None, "None") else f"plane {plane}",
                      total([on_grid(each, step, points, False) for each in of_plane]))
                     for plane, of_plane in _planes(series)]
        if sum_title and len(lines) > 1:
            add(sum_title, f"sum of {len(lines)} series", unit, [("sum", total([values for _, values in lines]))])
        if len(lines) > MOST_LINES:
            add(title, f"{note}; how {len(lines)} series lie", unit, distribution([values for _, values in lines]),
                bands=((0, 4), (1, 3)))
        else:
            add(title, note, unit, lines)
    return charts


# ---- Tables and text.

def _e(value):
    return html.escape(str(value), quote=True)


def _number(value):
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value != int(value):
        return f"{value:.6g}"
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
    return _table(["Expectation", "Value", "Limit", ""],
                  [[check["name"], _number(check["value"]), _limit(check["limit"]),
                    ("met", "good") if check["pass"] else ("missed", "bad")] for check in report["verdict"]["checks"]])


def _ms(seconds):
    return "–" if seconds is None else f"{seconds * 1e3:.4g}"


def _loads(report):
    rows, times = [], []
    for load in report["load"]:
        result = load["result"] or {}
        workload = result.get("workload") or {}
        received = workload.get("received") or result.get("served") or {}
        each = (result.get("results") or [{}])[0]
        name = workload.get("name") or load["role"]
        rows.append([load["name"], name, ("0", "good") if load["exit"] == 0 else (load["exit"], "bad")]
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
    parts = [_table(["Load", "Kind", "Exit", "Received", "Lost", "Wrong", "Doubled", "Out of order", "Flows", "Fairness"],
                    rows, texts=(1,))] if rows else ["<p>None was started.</p>"]
    if times:
        parts.append("<h3>Times</h3>" + _table(["Load", "Of", "Samples", "Least [ms]", "Mean", "p50", "p90", "p99", "Longest"],
                                               times, texts=(1,)))
    return "\n".join(parts)


def _events(report):
    rows = [[f"{event['t']:.4f}", "" if event["end"] is None else f"{event['end']:.4f}", event["source"],
             (event["severity"], {"error": "bad"}.get(event["severity"], "")), event["name"], event["text"]]
            for event in report["events"][:MOST_EVENTS]]
    more = len(report["events"]) - len(rows)
    note = f'<p class="note">{more} later ones are in report.json.</p>' if more > 0 else ""
    return _table(["Time [s]", "End [s]", "Source", "Severity", "Event", ""], rows, texts=(2, 3, 4, 5), tall=True) + note


def _counters(report):
    parts = []
    for node, final in sorted(report.get("final", {}).items()):
        rows = [[name, _number(value)] for name, value in sorted(final["counters"].items()) if value]
        if final.get("buffer"):
            rows += [[f"buffer {name}", _number(value)] for name, value in final["buffer"].items()
                     if isinstance(value, (int, float))]
        parts.append(f"<details><summary>{_e(node)}: {len(rows)} counters that are not 0</summary>"
                     + _table(["Counter", "At the end"], rows, tall=True) + "</details>")
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
    return {"end": end, "charts": charts, "marks": marks, "palette": PALETTE,
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


def make(report):
    """Returns the page as text. Raises PageError if Chart.js is not installed."""
    scenario = report["scenario"]
    passed = report["verdict"]["pass"]
    charts = charts_of(report)
    nodes = report["topology"]["nodes"]
    xpus = sum(len(node["xpus"]) for node in nodes)
    endpoints = [node["name"] for node in nodes if node["kind"] == "endpoint"]
    switches = [node["name"] for node in nodes if node["kind"] != "endpoint"]
    title = f"{scenario['name']}: {'passed' if passed else 'failed'}"
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
{_style()}
</head>
<body>
<h1>{_e(scenario["name"])} <span class="verdict {'good' if passed else 'bad'}">{'passed' if passed else 'failed'}</span></h1>
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
