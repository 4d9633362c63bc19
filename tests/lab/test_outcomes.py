# SPDX-License-Identifier: Apache-2.0
"""Runs of small topologies and what comes of them: frames that are forwarded or dropped, daemons that are killed, loads
that fail or end too late."""

import lab


def test_daemons_forward_each_others_frames(tmp_path):
    """Nine daemons have four devices each, and frames pass up to nine of them."""
    out = tmp_path / "out"
    lab.run("--backend", "local", "--out", out, lab.ROOT / "conf/lab/devices-36.yaml",
            sets=["topology.daemons=9", "load[0].iterations=1"])
    report = lab.report(out)
    assert report["verdict"]["pass"] and len(report["topology"]["nodes"]) == 9 and len(report["topology"]["links"]) == 28


def test_a_killed_daemon_is_started_again(tmp_path):
    """Loads of the daemon end with it; those of the other one wait for theirs."""
    text = lab.LEAST.replace("xpus: 2", "xpus: 4, daemons: 2").replace(
        "{iterations: 3}", "{ranks: 0-1, duration_s: 5}")
    text += "faults:\n  - {at_s: 1, for_s: 0.5, daemon: d1, process: kill}\n"
    out = tmp_path / "out"
    lab.run("--keep", "--out", out, lab.write(tmp_path, text))
    assert (out / "logs/d1.log").read_text(encoding="utf-8").count("ready name=") == 2


def test_an_expectation_that_fails_is_the_exit_code(tmp_path):
    out = tmp_path / "out"
    said, _ = lab.run("--quiet", "--out", out, lab.write(tmp_path, lab.LEAST), sets=["expect={trims: {min: 1}}"], code=3)
    assert said == "least: FAILED\n"
    assert [check["name"] for check in lab.report(out)["verdict"]["checks"] if not check["pass"]] == ["trims"]


def test_a_fault_that_never_came_is_a_problem(tmp_path):
    text = lab.LEAST + "faults: [{at_s: 100, link: all, down: on}]\n"
    said, _ = lab.run("--quiet", "--out", tmp_path / "out", lab.write(tmp_path, text), code=1)
    assert "the loads were over before a fault: all is down" in said


def test_a_load_that_takes_too_long_is_ended(tmp_path):
    out = tmp_path / "out"
    said, _ = lab.run("--quiet", "--out", out, lab.write(tmp_path, lab.LEAST),
                      sets=["load[0].iterations=1000000000", "timeout_s=2"], code=1)
    assert "the loads were ended after timeout_s, 2 s" in said
    assert lab.processes(out) == {}


def test_frames_without_hops_are_named(tmp_path):
    """XPU 2 is too far for XPU 0, so that the load fails; XPU 1 is not."""
    path = lab.write(tmp_path, """\
version: 1
name: hops
topology: {xpus: 3, mesh: {rows: 1, columns: 3}}
endpoint: {port: {hop_limit: 3}}
load:
  - {mode: bandwidth, source: 0, destinations: 1, duration_s: 1}
  - {mode: bandwidth, source: 0, destinations: 2, duration_s: 1, vcs: [1], connect_timeout_s: 2}
""")
    lab.run("--out", tmp_path / "out", path, code=3)
    events = [each for each in lab.report(tmp_path / "out")["events"] if each["name"] == "hop_limit_drops"]
    assert {each["node"] for each in events} in ({"sw2"}, {"sw0", "sw2"})
    assert all("destination=2" in each["text"] for each in events if each["node"] == "sw2")


def test_frames_that_waited_too_long_are_named(tmp_path):
    path = lab.write(tmp_path, """\
version: 1
name: old
topology: {xpus: 2}
switch:
  classes: {of: [{class: 1, max_wait_us: 500}]}
  port: {rate_gbps: 0.1}
load:
  - {mode: bandwidth, source: 0, destinations: 1, duration_s: 1}
expect:
  events:
    - {nodes: sw0, kind: age_drops, min: 1}
""")
    lab.run("--out", tmp_path / "out", path)
    assert any(each["name"] == "age_drops" and "reason=rate" in each["text"] for each in lab.report(tmp_path / "out")["events"])
