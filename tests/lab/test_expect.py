# SPDX-License-Identifier: Apache-2.0
"""Expectations, series and reports from figures that are known."""

import lab
from labkit import expect, faults, plan, report_json, report_text, run, sample, scenario


def made(directory, *sets):
    return plan.make(scenario.load(lab.write(directory, lab.LEAST), list(sets)))


def collected(**changes):
    verdict = {"pass": True, "checks": [{"name": name, "value": 0.0, "limit": 0.0, "pass": True}
                                        for name in ("lost", "wrong", "duplicated", "misordered")]}
    workload = {"name": "all-to-all", "iteration": {"samples": 1, "mean_seconds": 0.001, "p99_seconds": 0.002,
                                                    "max_seconds": 0.003},
                "received": {"received": 6, "flows": 2, "fairness": 0.5}, "of_rank": [{"received": {"received": 6}}]}
    result = {"verdict": verdict, "workload": workload, "results": []}
    base = {**run.empty(), "load": [{"name": "load0.d0", "load": "load0", "exit": 0, "result": result, "log": ""}],
            "final": {"d0": {"counters": {"tx_retransmissions_total": 4}, "ports": {"x0p0": {"port_rx_frames_total": 7}},
                             "buffer": None, "events": [{"kind": "peer_plane_down"}]},
                      "sw0": {"counters": {"class_drop_tail_total": 2, "rx_drop_runt_total": 1, "tx_pfc_total": 3},
                              "ports": {}, "buffer": {"most_used_bytes": 100, "most_headroom_used_bytes": 1},
                              "events": []}}}
    return {**base, **changes}


def failed(checks):
    return [each["name"] for each in checks if not each["pass"]]


def test_bounds(tmp_path):
    plans = made(tmp_path, "expect={switch_drops: {max: 2}, retransmissions: {min: 4, max: 4}, pfc_sent: {max: 2}, "
                 "buffer_high_water_bytes: {max: 100}, fairness: {min: 0.6}, iteration_p99_ms: {max: 2}, "
                 "counters: [{nodes: d0, port: x0p0, name: port_rx_frames_total, min: 8}, "
                 "{nodes: endpoints, name: no_such_total, max: 0}], received: [{load: load0, min: 6}], "
                 "events: [{nodes: endpoints, kind: peer_plane_down, min: 1}]}")
    checks = expect.run(plans, collected())
    assert failed(checks) == ["pfc_sent", "switch_drops", "fairness", "port_rx_frames_total of d0 x0p0",
                              "no_such_total of endpoints"]
    assert next(each["value"] for each in checks if each["name"] == "switch_drops") == 3


def test_drops_of_devices_count_like_those_of_switches(tmp_path):
    plans = made(tmp_path, "expect={switch_drops: {max: 3}}")
    plans.node("d0").config["devices"] = [{"device": "M0D0"}]
    data = collected()
    assert failed(expect.run(plans, data)) == ["switch_drops"]  # it says nothing about its devices
    ports = data["final"]["d0"]["ports"]
    ports["M0D0P2"] = {"rx_frames_total": 9, "rx_drop_hop_limit_total": 0}
    assert failed(expect.run(plans, data)) == []
    ports["M0D0"] = {"rx_frames_total": 9, "class_drop_age_total": 1}
    assert failed(expect.run(plans, data)) == ["switch_drops"]


def test_a_load_that_failed_or_lost(tmp_path):
    plans = made(tmp_path)
    assert failed(expect.run(plans, collected())) == []
    broken = collected()
    broken["load"][0].update(exit=1, result=None)
    assert failed(expect.run(plans, broken)) == ["load0 completed", "load0 lost", "load0 wrong", "load0 duplicated"]
    lossy = collected()
    lossy["load"][0]["result"]["verdict"]["checks"][0]["value"] = 5
    assert failed(expect.run(plans, lossy)) == ["load0 lost"]
    assert failed(expect.run(made(tmp_path, "expect={oracle: 'off', completed: off}"), broken)) == []


def test_a_node_that_says_nothing_fails_what_it_should_say(tmp_path):
    silent = collected(final={})
    assert failed(expect.run(made(tmp_path, "expect={switch_drops: {max: 0}, ecn_marks: {max: 0}}"), silent)) == [
        "ecn_marks", "switch_drops"]


def test_reports(tmp_path):
    plans = made(tmp_path)
    data = collected()
    series = sample.Series()
    for t in range(3):
        series.add("queue_depth", t, 10 * t, node="sw0", port="x0p0")
        series.add("trims", t, 0, node="sw0")
    data["series"] = series.to_list()
    data["events"] = [{"t": 2.0, "end": None, "source": "lab", "node": None, "severity": "warning", "name": "fault",
                       "text": "a link is down"},
                      {"t": 1.0, "end": None, "source": "sw0", "node": "sw0", "severity": "info", "name": "x", "text": ""}]
    report = report_json.make(plans, data, expect.run(plans, data), version="1", revision="r", start="a", end="b",
                              argv=["lab"], backend="local")
    assert [event["t"] for event in report["events"]] == [1.0, 2.0]
    assert report["series"] == [{"name": "queue_depth", "unit": "bytes", "labels": {"node": "sw0", "port": "x0p0"},
                                 "t": [0, 1, 2], "v": [0, 10, 20]}]
    report_json.write(report, tmp_path / "report.json")
    assert lab.report(tmp_path) == report
    text = report_text.make(report)
    assert text.startswith("least: passed\n") and "a link is down" in text and "queue_depth" in text
    assert max(map(len, text.splitlines())) <= 100


def test_rates_survive_a_restart():
    deltas = sample.Deltas()
    assert deltas.rate("a", 100, 1.0) is None
    assert deltas.rate("a", 150, 2.0) == 50
    assert deltas.rate("a", 30, 4.0) == 15


def test_times_of_events():
    assert sample.seconds_of("1970-01-01T00:00:01.500000001Z") == 1.500000001
    assert sample.seconds_of("1970-01-01T00:00:02Z") == 2


def test_the_clock_of_faults():
    fault = faults.Fault(at_s=1, for_s=1, every_s=2, times=2, text="f", begin=["b"], end=["e"])
    last = faults.Fault(at_s=2, for_s=None, every_s=None, times=1, text="g", begin=["x"], end=["y"])
    clock = faults.Clock([fault, last])
    assert clock.next_s() == 1
    assert [(f.text, begins) for _, f, begins, _ in clock.due(2)] == [("f", True), ("f", False), ("g", True)]
    assert [(f.text, begins) for _, f, begins, _ in clock.due(9)] == [("f", True), ("f", False)]
    assert clock.next_s() is None
