# SPDX-License-Identifier: Apache-2.0
"""The report as text, of 100 columns at most unless it is to be wide."""

import math

MOST_EVENTS = 60
COLUMNS = 100


def _value(value):
    if value is None:
        return "not known"
    return f"{value:.6g}" if isinstance(value, float) and value != int(value) else f"{int(value)}"


PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))


def digits(value, count=4):
    """A number of so many significant digits, without an exponent."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    return f"{value:.{max(0, count - 1 - math.floor(math.log10(abs(float(f'{value:.{count - 1}e}')))))}f}"


def quantity(value, unit):
    """A value with its unit, of four significant digits. Only times have parts of their unit: there are no millibytes."""
    fit = PREFIXES if unit == "s" else [each for each in PREFIXES if each[0] >= 1]
    by, letter = next((each for each in fit if abs(value) >= each[0] * 0.99995), fit[-1]) if value else (1, "")
    return f"{digits(value / by)} {letter}{unit}".rstrip()


def _limit(bound):
    parts = [f"at least {_value(bound['min'])}"] if "min" in bound else []
    parts += [f"at most {_value(bound['max'])}"] if "max" in bound else []
    return " and ".join(parts)


def _mean(series):
    return sum(series["v"]) / len(series["v"]) if series["v"] else 0


def make(report, wide=False):
    """Rows of tables are cut where they are longer; problems and logs are not."""
    lines = _cut(_head(report), wide)
    for problem in report["problems"]:
        lines += ["", "problem: " + problem]
    lines += _cut(["", "Expectations", *check_lines(report["verdict"]["checks"])], wide)
    lines += ["", "Loads"]
    for load in report["load"]:
        lines += load_lines(load)
    lines += _cut([*_series(report["series"]), *_events(report["events"])], wide)
    return "\n".join(lines) + "\n"


def _cut(lines, wide):
    return lines if wide else [line if len(line) <= COLUMNS else line[:COLUMNS - 1].rstrip() + "…" for line in lines]


def _head(report):
    scenario = report["scenario"]
    kinds = [node["kind"] for node in report["topology"]["nodes"]]
    lines = [f"{scenario['name']}: {'passed' if report['verdict']['pass'] else 'FAILED'}"]
    if scenario["description"]:
        lines.append("  " + scenario["description"])
    lines.append(f"  {scenario['topology']['xpus']} XPUs in {kinds.count('endpoint')} daemons, {kinds.count('switch')} switches, "
                 f"{len(report['topology']['links'])} links, {scenario['encapsulation']}, back end {report['backend']}, "
                 f"seed {report['seed']}")
    lines.append(f"  {report['start']} to {report['end']}, suede {report['version']} ({report['git']})")
    return lines


def check_lines(checks):
    return [f"  {'ok  ' if check['pass'] else 'FAIL'} {check['name']:<44} {_value(check['value']):>14}  ({_limit(check['limit'])})"
            for check in checks]


def load_lines(load):
    """A process of a load, and its results."""
    result = load["result"]
    lines = [f"  {load['name']}: exit code {load['exit']}"]
    workload = result and result.get("workload")
    if workload and workload["iteration"] and workload["iteration"]["samples"]:
        it = workload["iteration"]
        lines.append(f"    {workload['name']}: {it['samples']} iterations, mean {it['mean_seconds'] * 1e3:.3f} ms, "
                     f"p99 {it['p99_seconds'] * 1e3:.3f} ms, longest {it['max_seconds'] * 1e3:.3f} ms")
    if workload and workload["received"]:
        received = workload["received"]
        lines.append(f"    {received['received']} commands of {received['flows']} flows received, fairness "
                     f"{_value(received['fairness'])}")
    for each in (result or {}).get("results") or []:
        lines.append(f"    sent {each['sent']}, delivered {each['delivered']}, lost {each['lost']}")
        latency = each.get("latency")
        if latency and latency.get("samples"):
            lines.append(f"    {latency['kind']}: p50 {latency['p50_seconds'] * 1e6:.1f} us, p99 "
                         f"{latency['p99_seconds'] * 1e6:.1f} us, max {latency['max_seconds'] * 1e6:.1f} us")
    if load["exit"] not in (0, None):
        lines += ["    " + line for line in load["log"].splitlines()[-6:]]
    return lines


def _series(series):
    lines = ["", f"Over time {'mean':>46} {'largest':>14}"]
    sums = {}
    for each in series:
        sums.setdefault(each["name"], []).append(each)
    for name, all_of_it in sums.items():
        unit = all_of_it[0]["unit"]
        largest = max(all_of_it, key=lambda each: max(each["v"], default=0))
        labels = " ".join(f"{k}={v}" for k, v in largest["labels"].items())
        lines.append(f"  {name + ' (' + unit + '), ' + str(len(all_of_it)) + ' series':<40} "
                     f"{_value(sum(map(_mean, all_of_it)) / len(all_of_it)):>13} {_value(max(largest['v'], default=0)):>14}  "
                     f"{labels}")
    return lines


def _events(events):
    lines = ["", "Events (s since the begin)"]
    shown = [event for event in events if event["severity"] != "info" or event["source"] == "lab"]
    for event in shown[:MOST_EVENTS]:
        lines.append(f"  {event['t']:>9.3f} {event['source']:<8} {event['severity']:<8} {event['name']} {event['text']}")
    if len(shown) > MOST_EVENTS:
        lines.append(f"  and {len(shown) - MOST_EVENTS} more in report.json")
    lines.append(f"  ({len(events) - len(shown)} of severity info in report.json)")
    return lines
