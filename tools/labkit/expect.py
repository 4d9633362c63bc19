# SPDX-License-Identifier: Apache-2.0
"""Expectations of a scenario against what a run has collected: a list of checks."""

import re

from labkit import schema, units

UNITS = {key.name: key.unit for key in schema.EXPECT}
# Counters of switches that are summed for a key of `expect`.
SUMS = {
    "trims": ("class_trimmed_total",),
    "ecn_marks": ("class_ecn_marked_total",),
    "pfc_sent": ("tx_pfc_total",),
    "pfc_received": ("rx_pfc_total",),
    "impaired": ("impair_loss_total", "impair_burst_loss_total", "impair_long_total", "impair_down_total",
                 "impair_hole_total", "impair_bad_fcs_total", "impair_full_total"),
}
WRONGS = ("lost", "wrong", "duplicated", "misordered", "served_lost", "served_wrong", "served_duplicated",
          "served_misordered")


def check(name, value, bound, unit=""):
    """Within {min, max}. A value of None fails: it is not known."""
    low, high = bound.get("min"), bound.get("max")
    good = value is not None and (low is None or value >= low) and (high is None or value <= high)
    return {"name": name, "value": value, "unit": unit, "limit": bound, "pass": good}


def run(plan, collected):
    """`collected`: run.Collected, or what a batch has returned."""
    expect = plan.expect
    checks = []
    if expect["completed"]:
        checks += _completed(plan, collected)
    if expect["oracle"] == "clean":
        checks += _oracle(plan, collected)
    switches = [collected["final"].get(node.name) for node in plan.of_kind("switch")]
    endpoints = [collected["final"].get(node.name) for node in plan.of_kind("endpoint")]
    for key, names in SUMS.items():
        if expect[key]:
            checks.append(check(key, _sum(switches, names), expect[key], UNITS[key]))
    if expect["switch_drops"]:
        checks.append(check("switch_drops", _drops(plan, collected), expect["switch_drops"], UNITS["switch_drops"]))
    if expect["retransmissions"]:
        checks.append(check("retransmissions", _sum(endpoints, ("tx_retransmissions_total",)), expect["retransmissions"],
                            UNITS["retransmissions"]))
    for key, member in (("buffer_high_water_bytes", "most_used_bytes"),
                        ("headroom_high_water_bytes", "most_headroom_used_bytes")):
        if expect[key]:
            values = [final["buffer"][member] for final in switches if final and final.get("buffer")]
            checks.append(check(key, max(values, default=None), expect[key], UNITS[key]))
    checks += _of_workloads(expect, collected)
    for entry in expect["counters"]:
        checks.append(_counter(plan, collected, entry))
    for entry in expect["received"]:
        checks.append(check(f"received of {entry['load']}", _received(entry["load"], collected), _bound(entry),
                            "commands"))
    for entry in expect["events"]:
        names = [node.name for node in plan.named(entry["nodes"])]
        count = sum(1 for name in names for event in collected["final"].get(name, {}).get("events", ())
                    if event["kind"] == entry["kind"])
        checks.append(check(f"events {entry['kind']} of {entry['nodes']}", count, _bound(entry), "events"))
    return checks


def of_loads_alone(expect):
    """The expectations of a lab that stays: the others are of its run."""
    kept = ("oracle", "completed")
    return {key: value if key in kept else [] if isinstance(value, list) else None for key, value in expect.items()}


def _bound(entry):
    return {key: entry[key] for key in ("min", "max") if entry[key] is not None}


def _sum(finals, names):
    if not finals or any(final is None for final in finals):
        return None
    return sum(final["counters"].get(name, 0) for final in finals for name in names)


DEVICE_PORT = re.compile(r"M\d+D\d+(P\d+)?")


def _drops(plan, collected):
    """Frames dropped by switches, and by the devices that daemons represent."""
    sets = []
    for node in plan.nodes:
        final = collected["final"].get(node.name)
        if node.kind == "switch":
            sets.append(final and final["counters"])
        elif node.config.get("devices"):
            of_devices = [counters for port, counters in (final or {"ports": {}})["ports"].items() if DEVICE_PORT.fullmatch(port)
                          and "rx_frames_total" in counters]
            sets += of_devices or [None]
    if any(counters is None for counters in sets):
        return None
    return sum(value for counters in sets for name, value in counters.items() if "_drop_" in name)


def _counter(plan, collected, entry):
    finals = [collected["final"].get(node.name) for node in plan.named(entry["nodes"])]
    where = entry["nodes"] + (" " + entry["port"] if entry["port"] else "")
    if any(final is None for final in finals):
        value = None
    elif entry["port"]:
        found = [final["ports"][entry["port"]] for final in finals if entry["port"] in final["ports"]]
        value = sum(each.get(entry["name"], 0) for each in found) if found else None
    else:
        known = [final["counters"][entry["name"]] for final in finals if entry["name"] in final["counters"]]
        value = sum(known) if known else None
    return check(f"{entry['name']} of {where}", value, _bound(entry), units.of_counter(entry["name"]))


def _completed(plan, collected):
    """Each process of a load has ended well, or has only missed a limit."""
    checks = []
    for load in plan.load:
        wanted = [p.name for p in load.processes]
        ended = [each for each in collected["load"] if each["name"] in wanted and each.get("exit") in (0, 3)
                 and each["result"] is not None]
        checks.append(check(f"{load.name} completed", len(ended), {"min": len(wanted)}, "processes"))
    return checks


def _oracle(plan, collected):
    checks = []
    for load in plan.load:
        names = {p.name for p in load.processes}
        results = [each["result"] for each in collected["load"] if each["name"] in names and each["result"]]
        if load.spec["mode"] == "command":
            missed = sum(not each["pass"] for result in results for each in result["verdict"]["checks"])
            checks.append(check(f"{load.name} limits missed", missed if results else None, {"max": 0}, "limits"))
            continue
        sums = {}
        for result in results:
            for each in result["verdict"]["checks"]:
                if each["name"] in WRONGS:
                    key = each["name"].removeprefix("served_")
                    old = sums.get(key, 0)
                    sums[key] = None if each["value"] is None or old is None else old + each["value"]
        for key in ("lost", "wrong", "duplicated", "misordered"):
            if key != "misordered" or key in sums:
                checks.append(check(f"{load.name} {key}", sums.get(key), {"max": 0}, "commands"))
    return checks


def _received(load, collected):
    """Commands that all ranks of a workload received, else the servers. None: no process has reported a count."""
    counts = []
    for each in collected["load"]:
        result = each["result"]
        if each["load"] != load or not result:
            continue
        if result.get("workload"):
            counts += [rank["received"]["received"] for rank in result["workload"]["of_rank"] if rank["received"]]
        elif result.get("served"):
            counts.append(result["served"]["received"])
    return sum(counts) if counts else None


def _of_workloads(expect, collected):
    workloads = [each["result"]["workload"] for each in collected["load"]
                 if each["result"] and each["result"].get("workload")]
    checks = []
    if expect["fairness"]:
        values = [w["received"]["fairness"] for w in workloads if w["received"]]
        checks.append(check("fairness", min((v for v in values if v is not None), default=None), expect["fairness"]))
    if expect["iteration_p99_ms"]:
        values = [w["iteration"]["p99_seconds"] * 1000 for w in workloads if w["iteration"] and w["iteration"]["samples"]]
        checks.append(check("iteration_p99_ms", max(values, default=None), expect["iteration_p99_ms"], "ms"))
    return checks
