# SPDX-License-Identifier: Apache-2.0
"""The report as text, of 100 columns at most unless it is to be wide."""

from labkit import figures, units

MOST_EVENTS = 60
COLUMNS = 100


def _limit(bound):
    parts = [f"at least {units.number(bound['min'])}"] if "min" in bound else []
    parts += [f"at most {units.number(bound['max'])}"] if "max" in bound else []
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
    lines += _cut([*_stalls(report), *_series(report["series"]), *_events(report["events"])], wide)
    return "\n".join(lines) + "\n"


def _cut(lines, wide):
    return lines if wide else [line if len(line) <= COLUMNS else line[:COLUMNS - 1].rstrip() + "…" for line in lines]


def _head(report):
    scenario = report["scenario"]
    kinds = [node["kind"] for node in report["topology"]["nodes"]]
    lines = [f"{scenario['name']}: {'passed' if report['verdict']['pass'] else 'FAILED'}", f"  {figures.sentence(report)}"]
    if scenario["description"]:
        lines.append("  " + scenario["description"])
    lines.append(f"  {scenario['topology']['xpus']} XPUs in {kinds.count('endpoint')} daemons, {kinds.count('switch')} switches, "
                 f"{len(report['topology']['links'])} links, {scenario['encapsulation']}, back end {report['backend']}, "
                 f"seed {report['seed']}")
    lines.append(f"  {report['start']} to {report['end']}, suede {report['version']} ({report['git']})")
    return lines


def check_lines(checks):
    """A row for each expectation."""
    lines = [f"       {'expectation':<44} {'value':>12} {'unit':<10} limit"] if checks else []
    return lines + [f"  {'ok  ' if check['pass'] else 'FAIL'} {check['name']:<44} {units.number(check['value']):>12} "
                    f"{check.get('unit', ''):<10} {_limit(check['limit'])}" for check in checks]


def load_lines(load):
    """A process of a load, and its results."""
    result = load["result"]
    lines = [f"  {load['name']}: exit code {load['exit']}"]
    workload = result and result.get("workload")
    if workload and workload["iteration"] and workload["iteration"]["samples"]:
        it = workload["iteration"]
        lines.append(f"    {workload['name']}: {it['samples']} iterations, mean {_time(it['mean_seconds'])}, "
                     f"p99 {_time(it['p99_seconds'])}, longest {_time(it['max_seconds'])}")
    if workload and workload["received"]:
        received = workload["received"]
        lines.append(f"    {received['received']} commands of {received['flows']} flows received, fairness "
                     f"{units.number(received['fairness'])}")
    for each in (result or {}).get("results") or []:
        lines.append(f"    commands: sent {each['sent']}, delivered {units.number(each['delivered'])}, lost "
                     f"{units.number(each['lost'])}")
        latency = each.get("latency")
        if latency and latency.get("samples"):
            lines.append(f"    {latency['kind']}: p50 {_time(latency['p50_seconds'])}, p99 "
                         f"{_time(latency['p99_seconds'])}, max {_time(latency['max_seconds'])}")
    if load["exit"] not in (0, None):
        lines += ["    " + line for line in load["log"].splitlines()[-6:]]
    return lines


def _time(seconds):
    return units.quantity(seconds, "s")


MAX_STALLS = 40


def _stalls(report):
    stalls = report.get("stalls", [])
    if not stalls:
        return []
    names = figures.xpu_names(report)
    flows = [figures.flow(names, each["source"], each["destination"]) for each in stalls[:MAX_STALLS]]
    width = max(12, *map(len, flows))
    lines = ["", f"Stalls (flows that had data to send, and {report.get('stall_s', figures.STALL_S):g} s or more without any)",
             f"  {'begin [s]':>9} {'for [s]':>8} {'flow (XPUs)':<{width}} {'plane':<6} {'VC':<3} waited for"]
    for each, flow in zip(stalls, flows):
        lasted = "to end" if each["end"] is None else f"{each['end'] - each['t']:.2f}"
        lines.append(f"  {each['t']:>9.2f} {lasted:>8} {flow:<{width}} "
                     f"{each['plane'] or '-':<6} {each['vc']:<3} {each['waited_for']} ({each['evidence']})")
    if len(stalls) > MAX_STALLS:
        lines.append(f"  and {len(stalls) - MAX_STALLS} more in report.json")
    return lines


def _series(series):
    lines = ["", f"  {'over time':<31} {'series':>6} {'unit':<8} {'mean':>11} {'largest':>11}  of"]
    sums = {}
    for each in series:
        sums.setdefault(each["name"], []).append(each)
    for name, all_of_it in sums.items():
        largest = max(all_of_it, key=lambda each: max(each["v"], default=0))
        labels = " ".join(f"{k}={v}" for k, v in largest["labels"].items())
        mean = sum(map(_mean, all_of_it)) / len(all_of_it)
        lines.append(f"  {name:<31} {len(all_of_it):>6} {all_of_it[0]['unit']:<8} {units.short(mean):>11} "
                     f"{units.short(max(largest['v'], default=0)):>11}  {labels}")
    return lines


def _events(events):
    lines = ["", f"  {'event [s]':>9} {'source':<8} {'severity':<8}"]
    shown = [event for event in events if event["severity"] != "info" or event["source"] == "lab"]
    for event in shown[:MOST_EVENTS]:
        lines.append(f"  {event['t']:>9.2f} {event['source']:<8} {event['severity']:<8} {event['name']} {event['text']}")
    if len(shown) > MOST_EVENTS:
        lines.append(f"  and {len(shown) - MOST_EVENTS} more in report.json")
    lines.append(f"  ({len(events) - len(shown)} of severity info in report.json)")
    return lines
