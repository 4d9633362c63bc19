# SPDX-License-Identifier: Apache-2.0
"""tools/lab --check: the programs themselves check all that would be started, and errors name the scenario's line."""

import json

import pytest

import lab
from labkit import check, local, plan, scenario, simulator


def refused(directory, text, *options, code=2):
    path = lab.write(directory, text)
    _, told = lab.run("--check", *options, path, code=code)
    return told.replace(str(path), "FILE")


@pytest.mark.parametrize("text, message", [
    ("endpoint: {transport: {rto_initial_us: soon}}\n", 'FILE:6:24: endpoint.transport.rto_initial_us: "soon" is no'),
    ("endpoint: {transport: {rto_initial: 1}}\n", "FILE:6:24: endpoint.transport.rto_initial: unknown key"),
    ("endpoint: {port: {pfc: maybe}}\n", 'FILE:6:19: endpoint.port.pfc: "maybe" is unknown; use off, software or device'),
    ("endpoint: {instance: {ordering: any}}\n", "FILE:6:23: endpoint.instance.ordering: "),
    ("switch:\n  nonsense: 1\n", "FILE:7:3: switch.nonsense: unknown key"),
    ("switch: {port: {pfc: perhaps}}\n", "FILE:6:17: switch.port.pfc: "),
    ("endpoint: {port: {device: net_null0}}\n", "FILE:6:19: endpoint.port.device: is chosen by the back end; remove it"),
    ("expect: {events: [{nodes: endpoints, kind: peer_plane_dwn, max: 0}]}\n",
     "FILE:6:38: expect.events[0].kind: peer_plane_dwn is no kind of event of endpoints; peer_plane_down may be meant"),
    ("expect: {events: [{nodes: d0, kind: storm_began, max: 0}]}\n",
     "FILE:6:31: expect.events[0].kind: storm_began is no kind of event of d0"),
    ("expect: {counters: [{nodes: switches, name: class_drop_tial_total, max: 0}]}\n",
     "FILE:6:39: expect.counters[0].name: class_drop_tial_total is no counter of switches; class_drop_tail_total may be meant"),
    ("expect: {counters: [{nodes: sw0, port: x0p0, name: class_drop_tail_total, max: 0}]}\n",
     "FILE:6:46: expect.counters[0].name: class_drop_tail_total is no counter of a port of sw0"),
])
def test_what_the_programs_refuse(tmp_path, text, message):
    assert message in refused(tmp_path, lab.LEAST + text)


def test_the_programs_check_loads(tmp_path):
    text = lab.LEAST.replace("{iterations: 3}", "{iterations: 3, workload: incast, target: 7}")
    assert "FILE:5:39: load[0].target: --target: give the number of a rank, from 0" in refused(tmp_path, text)
    text = lab.LEAST.replace("{iterations: 3}", "{iterations: 3, workload: trace, trace: none.csv}")
    assert "FILE:5:38: load[0].trace: --trace: " in refused(tmp_path, text)
    assert "none.csv: cannot be read; name another" in refused(tmp_path, text)
    (tmp_path / "wrong.goal").write_text("num_ranks 2\nrank 0 {\nsend 5 to 1\n}\n")
    assert "wrong.goal:3: size \"5\": give 0b to 1099511627776b" in refused(tmp_path, text.replace("none.csv", "wrong.goal"))


def test_each_error_is_said_once(tmp_path):
    text = lab.LEAST.replace("xpus: 2", "xpus: 8, daemons: 8") + "endpoint: {port: {pfc: maybe}}\nswitch: {x: 1}\n"
    assert len(refused(tmp_path, text).splitlines()) == 2


def test_a_run_refuses_it_too(tmp_path):
    path = lab.write(tmp_path, lab.LEAST + "expect: {events: [{nodes: endpoints, kind: peer_plane_dwn, max: 0}]}\n")
    _, told = lab.run("--out", tmp_path / "out", path, code=2)
    assert "peer_plane_down may be meant" in told and not (tmp_path / "out").exists()


def test_a_build_without_the_programs(tmp_path):
    told = refused(tmp_path, lab.LEAST, "--build", tmp_path, code=5)
    assert f"there is no program {tmp_path}/app/suede/suede" in told and f"ninja -C {tmp_path} app/suede/suede" in told


def test_names_are_those_of_the_daemons(tmp_path):
    """--list_names against what daemons answer."""
    out = tmp_path / "out"
    lab.run("--out", out, lab.write(tmp_path, lab.LEAST))
    final = lab.report(out)["final"]
    for kind, node in (("endpoint", "d0"), ("switch", "sw0")):
        program = lab.BUILD / local.PROGRAMS[kind][0]
        names = [line.split() for line in check.Checker._call(program, "--list_names").stdout.splitlines()]
        assert [name for what, name in names if what == "counter"] == list(final[node]["counters"])
        assert [name for what, name in names if what == "port_counter"] == list(final[node]["ports"]["x0p0"])
        assert "link_up" in [name for what, name in names if what == "event"]


@pytest.mark.skipif(not (lab.BUILD / simulator.PROGRAM).exists(), reason="lab_sim is not built")
def test_the_simulator_checks_its_plans(tmp_path):
    def said(text):
        return refused(tmp_path, lab.LEAST + text, "--backend", "simulator")

    assert 'FILE:6:19: endpoint.port.pfc: "maybe" is unknown' in said("endpoint: {port: {pfc: maybe}}\n")
    assert "FILE:6:10: switch.nonsense: unknown key" in said("switch: {nonsense: 1}\n")
    assert "peer_plane_down may be meant" in said("expect: {events: [{nodes: d0, kind: peer_plane_dwn, max: 0}]}\n")
    assert "the simulator cannot do kill to a process" in said("faults: [{at_s: 1, daemon: d0, process: kill}]\n")
    assert "the simulator has no sealing; take another back end" in said("endpoint: {instance: {sealing: required}}\n")


def test_cpus_of_another_machine(tmp_path):
    made = plan.make(scenario.load(lab.write(tmp_path, lab.LEAST), ["topology.lcores=2"]))
    config = json.loads(json.dumps(made.node("d0").config))
    config["lcores"][0]["cpu"], config["lcores"][1]["cpu"] = 40, 41
    config["instances"][1]["lcore"] = 41
    moved = check._on_this_machine(config)
    assert [lcore["cpu"] for lcore in moved["lcores"]] == [0, 1] and moved["instances"][1]["lcore"] == 1
