# SPDX-License-Identifier: Apache-2.0
"""Each scenario of conf/lab in small, really run."""

import os

import pytest

import lab

# Settings that make each scenario small. The expectations stay, and none of them is a time.
SMALL = {
    "all-to-all": ["topology.xpus=4", "load[0].duration_s=1"],
    "burst-loss": ["load[0].duration_s=2"],
    "flapping-link": ["load[0].duration_s=3", "faults[0].times=1"],
    # A port so slow that senders on a slow CPU, too, fill its queue.
    "incast-ecn": ["load[0].iterations=20", "switch.port.rate_gbps=0.5"],
    "esun": ["topology.xpus=5", "load[0].iterations=10", "expect.ecn_marks={min: 1}"],
    "incast-nscc": ["topology.xpus=9", "load[0].iterations=5"],
    "incast-pfc": ["load[0].iterations=10"],
    "incast-rccc": ["topology.xpus=9", "load[0].iterations=5"],
    "incast-taildrop": ["load[0].iterations=10"],
    "incast-trim": ["load[0].iterations=10"],
    "devices-36": ["load[0].iterations=1"],
    "direct-4": ["load[0].duration_s=1"],
    "mesh-9": ["load[0].duration_s=3", "faults[0].at_s=1.5", "faults[0].for_s=1.5"],
    "pfc-storm": ["load[0].duration_s=3", "load[1].duration_s=3", "faults[0].at_s=0.5", "faults[0].for_s=1.5",
                  "expect.pfc_received={min: 10}"],
    "plane-dies": ["topology.xpus=4", "load[0].duration_s=4", "faults[0].at_s=1", "faults[0].for_s=1"],
    "sealed": ["topology.xpus=4", "load[0].duration_s=1"],
    "sessions": ["load[0].duration_s=3", "faults[0].at_s=1"],
    "slow-receiver": ["load[0].duration_s=1", "load[1].duration_s=1", "expect.received=[{load: fast, min: 5000}]"],
    "system-36": ["load[0].iterations=1"],
    "traces": [f"load[{number}].iterations=10" for number in range(3)],
    "xpus-512": ["topology.xpus=128", "topology.lcores=1", "topology.xpus_per_port=4", "load[0].iterations=2"],
    "xpus-64": ["load[0].iterations=1"],
}


def test_every_scenario_has_a_small_form():
    assert set(SMALL) == {path.stem for path in lab.SCENARIOS}


@pytest.mark.parametrize("name", sorted(SMALL))
def test_scenario(tmp_path, name):
    if name == "pfc-storm" and os.geteuid() != 0:
        pytest.skip("takes root")
    out = tmp_path / "out"
    said, told = lab.run("--out", out, lab.ROOT / f"conf/lab/{name}.yaml", sets=SMALL[name])
    report = lab.report(out)
    assert said.startswith(f"{name}: passed\n") and "lab: starting sw0" in told or name in ("devices-36", "direct-4", "system-36")
    assert report["verdict"]["pass"] and not report["problems"]
    names = {series["name"] for series in report["series"]}
    assert {"goodput", "plane_throughput"} <= names, names
    assert all(len(series["t"]) == len(series["v"]) > 0 for series in report["series"])
    goodput = sum(v for series in report["series"] if series["name"] == "goodput" for v in series["v"])
    assert goodput > 0
    if "faults" in report["scenario"] and report["scenario"]["faults"]:
        faults = [event for event in report["events"] if event["name"] == "fault"]
        assert faults and all(event["end"] > event["t"] for event in faults)
    assert lab.processes(out) == {}
    assert {path.name for path in out.iterdir()} >= {"plan.json", "report.html", "report.json", "report.txt"}


def test_veth_joins_nodes_too(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("takes root")
    out = tmp_path / "out"
    lab.run("--backend", "veth", "--out", out, lab.ROOT / "conf/lab/all-to-all.yaml", sets=SMALL["all-to-all"])
    assert lab.report(out)["backend"] == "veth"
