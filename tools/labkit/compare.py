# SPDX-License-Identifier: Apache-2.0
"""tools/lab --compare A B: two reports side by side, and whether the second one is worse (docs/lab.md)."""

import json
import pathlib

from labkit import units

HIGHER, LOWER, NEITHER = 1, -1, 0  # which value is better
COLUMNS = 100
MOST_COUNTERS = 40


class CompareError(Exception):
    """A report that cannot be read."""


def read(path):
    """The object of a report.json, named by itself or by its directory."""
    path = pathlib.Path(path)
    path = path / "report.json" if path.is_dir() else path
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CompareError(f"cannot read {path}: {error.strerror}; name a report.json of tools/lab, or its directory") from None
    except ValueError:
        raise CompareError(f"cannot read {path}: it is no JSON; name a report.json of tools/lab") from None
    if not isinstance(report, dict) or report.get("tool") != "lab" or report.get("schema_version") != 1:
        raise CompareError(f"cannot compare {path}: it is no report of tools/lab, schema_version 1")
    return report


def figures(report):
    """{name: (value, unit, which is better)} of all loads, and the means of series."""
    result = {}
    for load in report["load"]:
        _of_load(load["name"], load["result"] or {}, result)
    sums = {}
    for series in report["series"]:
        if series["v"]:
            sums.setdefault((series["name"], series["unit"]), []).append(sum(series["v"]) / len(series["v"]))
    for (name, unit), means in sums.items():
        # Goodput is summed over the series; for other series the mean says more.
        total = name in ("goodput", "plane_throughput")
        value = sum(means) if total else sum(means) / len(means)
        result[f"{name}, {'sum' if total else 'mean'}"] = (value, unit, HIGHER if name == "goodput" else NEITHER)
    return result


def _of_load(name, result, into):
    workload = result.get("workload") or {}
    for key, text in (("mean_seconds", "mean"), ("p99_seconds", "p99"), ("max_seconds", "max")):
        if (workload.get("iteration") or {}).get("samples"):
            into[f"{name}: iteration {text}"] = (workload["iteration"][key] * 1e3, "ms", LOWER if text != "max" else NEITHER)
    if workload.get("received"):
        into[f"{name}: fairness"] = (workload["received"]["fairness"], "", HIGHER)
    for each in result.get("results") or []:
        size = f"{name}, {each['data_bytes']} bytes"
        into[f"{size}: rate"] = (each["achieved_per_second"], "1/s", HIGHER)
        if (each.get("latency") or {}).get("samples"):
            for key in ("p50", "p99"):
                into[f"{size}: {key}"] = (each["latency"][key + "_seconds"] * 1e6, "us", LOWER)


def counters(report):
    """Sums over the nodes of a kind: {(kind, counter): value}; those that are 0 are left out."""
    kinds = {node["name"]: node["kind"] for node in report["topology"]["nodes"]}
    sums = {}
    for node, final in report["final"].items():
        for name, value in final["counters"].items():
            if value:
                key = (kinds.get(node, "endpoint"), name)
                sums[key] = sums.get(key, 0) + value
    return sums


def compare(a, b, tolerance, wide=False):
    """(text, whether B is no worse than A): each expectation that A met is met by B, and no figure that has a better side is
    worse by more than `tolerance` percent."""
    bad = []
    lines = [f"A: {_title(a)}", f"B: {_title(b)}"]
    if a["scenario"] != b["scenario"] or a["seed"] != b["seed"]:
        lines.append("The scenarios differ: " + ", ".join(_differences(a["scenario"], b["scenario"])[:8] or ["seed"]))
    lines += ["", *_checks(a, b, bad), "", *_figures(a, b, tolerance, bad), "", *_counters(a, b, wide)]
    lines += ["", f"B is worse: {', '.join(bad)}" if bad else f"B is no worse than A, within {tolerance:g} %"]
    width = None if wide else COLUMNS
    return "".join(line[:width].rstrip() + "\n" for line in lines[:-1]) + lines[-1] + "\n", not bad


def _title(report):
    state = "passed" if report["verdict"]["pass"] else "FAILED"
    return (f"{report['scenario']['name']}, {state}, {report['start']}, suede {report['version']} ({report['git']}), back end "
            f"{report['backend']}, seed {report['seed']}")


def _differences(a, b, path=""):
    """Keys whose values differ."""
    if isinstance(a, dict) and isinstance(b, dict):
        return [each for key in dict.fromkeys([*a, *b])
                for each in _differences(a.get(key), b.get(key), f"{path}.{key}" if path else key)]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [each for i, (x, y) in enumerate(zip(a, b)) for each in _differences(x, y, f"{path}[{i}]")]
    return [] if a == b else [path]


def _row(name, unit, values, note=""):
    return f"  {name:<36} {unit:<9} {_number(values[0]):>11} {_number(values[1]):>11} {_change(*values):>10}  {note}"


def _number(value):
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else units.short(value)


def _change(a, b):
    if a is None or b is None or a == b:
        return "" if a == b else "-"
    return f"{(b - a) / a * 100:+.1f} %" if a else "from 0"


def _head(name):
    return f"{name:<38} {'Unit':<9} {'A':>11} {'B':>11} {'Change':>10}"


def _checks(a, b, bad):
    of_a, of_b = ({check["name"]: check for check in report["verdict"]["checks"]} for report in (a, b))
    lines = [_head("Expectations")]
    for name in dict.fromkeys([*of_a, *of_b]):
        one, two = of_a.get(name), of_b.get(name)
        states = ["-" if check is None else "ok" if check["pass"] else "FAIL" for check in (one, two)]
        if states[0] == "ok" and states[1] == "FAIL":
            bad.append(name)
        values = [check["value"] if check else None for check in (one, two)]
        lines.append(_row(name, (one or two).get("unit", ""), values, states[0] if states[0] == states[1] else f"{states[0]}, then {states[1]}"))
    for name, report in (("A", a), ("B", b)):
        lines += [f"  problem of {name}: {problem.splitlines()[0]}" for problem in report["problems"]]
    if b["problems"] and not a["problems"]:
        bad.append("problems")
    return lines


def _figures(a, b, tolerance, bad):
    of_a, of_b = figures(a), figures(b)
    lines = [_head("Figures")]
    for name in dict.fromkeys([*of_a, *of_b]):
        _, unit, better = of_a.get(name) or of_b.get(name)
        values = [of[name][0] if name in of else None for of in (of_a, of_b)]
        worse = None not in values and better and values[0] and better * (values[1] - values[0]) / abs(values[0]) * 100 < -tolerance
        if worse:
            bad.append(name)
        lines.append(_row(name, unit, values, "worse" if worse else ""))
    return lines


def _counters(a, b, wide):
    """The counters that differ, those with the largest relative difference first."""
    of_a, of_b = counters(a), counters(b)
    rows = [(key, of_a.get(key, 0), of_b.get(key, 0)) for key in dict.fromkeys([*of_a, *of_b])]
    rows = sorted((row for row in rows if row[1] != row[2]), key=lambda row: -abs(row[1] - row[2]) / max(row[1], row[2]))
    shown = rows if wide else rows[:MOST_COUNTERS]
    lines = [_head("Counters that differ")]
    lines += [_row(f"{kind}: {name}", units.of_counter(name), (x, y)) for (kind, name), x, y in shown]
    if len(rows) > len(shown):
        lines.append(f"  and {len(rows) - len(shown)} more; --wide shows all")
    return lines
