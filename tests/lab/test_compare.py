# SPDX-License-Identifier: Apache-2.0
"""tools/lab --compare: two reports side by side."""

import copy
import json

import lab
from labkit import compare


def report(mean_s=0.010, **changes):
    result = {"workload": {"iteration": {"samples": 5, "mean_seconds": mean_s, "p99_seconds": 0.02, "max_seconds": 0.03},
                           "received": {"fairness": 0.99}},
              "results": [{"data_bytes": 64, "achieved_per_second": 1e6,
                           "latency": {"samples": 9, "p50_seconds": 5e-6, "p99_seconds": 9e-6}}]}
    base = {"schema_version": 1, "tool": "lab", "version": "1", "git": "r", "start": "2026-01-01T00:00:00Z", "backend": "local",
            "scenario": {"name": "s", "topology": {"xpus": 2}}, "seed": 1,
            "topology": {"nodes": [{"name": "d0", "kind": "endpoint"}, {"name": "sw0", "kind": "switch"}]},
            "load": [{"name": "load0.d0", "result": result}],
            "series": [{"name": "goodput", "unit": "bytes/s", "labels": {}, "t": [0, 1], "v": [100, 200]}],
            "final": {"d0": {"counters": {"tx_pdus_total": 100, "rx_pdus_total": 7}},
                      "sw0": {"counters": {"class_drop_tail_total": 0}}},
            "problems": [], "verdict": {"pass": True, "checks": [{"name": "load0 lost", "value": 0, "pass": True}]}}
    return {**base, **changes}


def write(directory, name, data):
    out = directory / name
    out.mkdir()
    (out / "report.json").write_text(json.dumps(data), encoding="utf-8")
    return out


def test_the_same_twice():
    text, good = compare.compare(report(), report(), 10)
    assert good and text.endswith("B is no worse than A, within 10 %\n")
    assert "tx_pdus_total" not in text  # counters that do not differ


def test_a_slower_load_is_worse():
    text, good = compare.compare(report(), report(mean_s=0.012), 10)
    assert not good and "B is worse: load0.d0: iteration mean" in text and "+20.0 %" in text
    assert compare.compare(report(), report(mean_s=0.012), 25)[1]
    assert compare.compare(report(mean_s=0.012), report(), 10)[1]  # faster is not worse


def test_an_expectation_that_fails_only_in_b():
    failed = report(verdict={"pass": False, "checks": [{"name": "load0 lost", "value": 3, "pass": False}]})
    text, good = compare.compare(report(), failed, 10)
    assert not good and "ok, then FAIL" in text and "B is worse: load0 lost" in text
    assert compare.compare(failed, failed, 10)[1]
    text, good = compare.compare(report(), report(problems=["d0 ended with 1\nmore"]), 10)
    assert not good and "problem of B: d0 ended with 1" in text


def test_differences_of_scenarios_and_counters():
    other = report(scenario={"name": "s", "topology": {"xpus": 4}})
    other["final"]["sw0"]["counters"]["class_drop_tail_total"] = 9
    text, good = compare.compare(report(), other, 10)
    assert good and "The scenarios differ: topology.xpus" in text
    assert "switch: class_drop_tail_total" in text and "from 0" in text


def test_lines_have_at_most_100_columns():
    many = report()
    for number in range(60):
        many["final"]["d0"]["counters"][f"a_counter_with_a_rather_long_name_{number}_total"] = number + 1
    many["verdict"]["checks"].append({"name": "x" * 90, "value": 1, "pass": True})
    text, _ = compare.compare(report(), many, 10)
    assert max(map(len, text.splitlines())) <= 100 and "more; --wide shows all" in text
    assert "_59_total" in compare.compare(report(), many, 10, wide=True)[0]


def test_the_command(tmp_path):
    a, b = write(tmp_path, "a", report()), write(tmp_path, "b", report(mean_s=0.05))
    said, _ = lab.run("--compare", a, b, code=3)
    assert said.startswith("A: s, passed") and "Figures" in said
    assert lab.run("--quiet", "--compare", a, b / "report.json", code=3)[0] == "B is worse: load0.d0: iteration mean\n"
    assert lab.run("--compare", a, a)[0].endswith("B is no worse than A, within 10 %\n")
    _, told = lab.run("--compare", a, tmp_path / "none", code=2)
    assert "cannot read" in told and "none" in told
    broken = copy.deepcopy(report())
    broken["schema_version"] = 2
    _, told = lab.run("--compare", a, write(tmp_path, "c", broken), code=2)
    assert "is no report of tools/lab" in told
