# SPDX-License-Identifier: Apache-2.0
"""The charts of a report: its series on one axis of time, as the page's script draws them."""

import math

from labkit import figures, record

MOST_LINES = 12     # of a chart; with more series their distribution is shown
MOST_POINTS = 1000  # of a line
MOST_RECORDED = 4000  # points of a line of a recording
MOST_OVERLAID = 6   # lines of each run in a chart of two
MAX_HELD = 5        # points for which a value goes on at least, where a series has none


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
    """The last value goes on where there is none, so that values of several series can be added; but not long after the end of
    the series, or while its node gave no answer."""
    places = [i for i, value in enumerate(values) if value is not None]
    gaps = sorted(b - a for a, b in zip(places, places[1:]))
    longest = max(MAX_HELD, 3 * gaps[len(gaps) // 2] if gaps else 0)
    result, last, since = [], None, 0
    for value in values:
        since = 0 if value is not None else since + 1
        last = value if value is not None else last if since <= longest else None
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


# name: (title, explanation, label of a series, what its sum is called; None: a sum means nothing)
KINDS = {
    "goodput": ("Goodput by flow", "data bytes received, source XPU → destination XPU",
                lambda labels: f"{labels['flow']} (VC {labels['vc']})", "Goodput, all flows"),
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
    names = figures.xpu_names(report)

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
        if kind == "goodput":
            series = [{**each, "labels": {**each["labels"], "flow": figures.flow(
                names, each["labels"]["source"], each["labels"]["destination"])}} for each in series]
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


def _few(chart):
    """At most MOST_OVERLAID lines of a chart: its lines, or the largest, median and smallest of their values at each time."""
    if len(chart["lines"]) <= MOST_OVERLAID:
        return [(line["label"], line["v"]) for line in chart["lines"]]
    lines = [line["v"] for line in chart["lines"]]
    return [(label, values) for label, values in distribution(lines) if "percentile" not in label]


def overlaid(a, b):
    """Charts of two reports, one over the other: A's lines in full, B's dashed and in the same colours."""
    charts = []
    by_title = [{chart["title"]: chart for chart in charts_of(report)} for report in (a, b)]
    for title in dict.fromkeys([*by_title[0], *by_title[1]]):
        of = [charts_of_one.get(title) for charts_of_one in by_title]
        known = [chart for chart in of if chart]
        t = sorted({at for chart in known for at in chart["t"]})
        place = {at: i for i, at in enumerate(t)}
        few = [_few(chart) if chart else [] for chart in of]
        colours = {label: i for i, label in enumerate(dict.fromkeys(label for lines in few for label, _ in lines))}
        lines = []
        for letter, chart, own in zip("AB", of, few):
            for label, values in own:
                spread = [None] * len(t)
                for at, value in zip(chart["t"], values):
                    spread[place[at]] = value
                lines.append({"label": f"{letter}: {label}", "v": spread, "fill_to": None, "colour": colours[label],
                              "dashed": letter == "B"})
        charts.append({"title": title, "note": known[0]["note"] + ("" if len(known) == 2 else "; of one run alone"),
                       "unit": known[0]["unit"], "stepped": False, "t": t, "lines": lines})
    return charts
