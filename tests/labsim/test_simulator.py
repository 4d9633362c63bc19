# SPDX-License-Identifier: Apache-2.0
"""Plans of tools/lab in virtual time: the program lab_sim, and the back end simulator."""

import copy
import json
import os
import pathlib
import re
import subprocess
import time
import types

import pytest
import yaml
from labkit import expect, plan as plans, run, scenario, simulator

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("SUEDE_BUILD", ROOT / "build")).resolve()
PROGRAM = BUILD / simulator.PROGRAM
CONF = ROOT / "conf/lab"
RUN_S = 600

INCAST = """\
version: 1
name: incast
backend: simulator
topology: {xpus: 5, daemons: 5, link: {rate_gbps: 100, delay_us: 0.5}}
switch: {port: {rate_gbps: 100}}
load:
  - {workload: incast, bytes: 1048576, iterations: 1}
"""


def plan_of(text, tmp_path, sets=(), seed=None):
    path = tmp_path / "scenario.yaml"
    path.write_text(text, encoding="utf-8")
    read = scenario.load(path, ["backend=simulator", *sets], seed, BUILD)
    return plans.make(read)


def simulate(plan, tmp_path, name="report"):
    """The report that the program has written, as bytes."""
    (tmp_path / "plan.json").write_text(plan if isinstance(plan, str) else plan.to_json(), encoding="utf-8")
    report = tmp_path / f"{name}.json"
    done = subprocess.run([PROGRAM, tmp_path / "plan.json", report], capture_output=True, text=True, timeout=RUN_S, check=False)
    assert done.returncode == 0, done.stderr
    return report.read_bytes()


def refused(plan, tmp_path):
    """The error for a plan that cannot be run."""
    (tmp_path / "plan.json").write_text(plan if isinstance(plan, str) else json.dumps(plan), encoding="utf-8")
    done = subprocess.run([PROGRAM, tmp_path / "plan.json", tmp_path / "report.json"], capture_output=True, text=True,
                          timeout=RUN_S, check=False)
    assert done.returncode == 2, done.stderr
    assert not (tmp_path / "report.json").exists()
    return done.stderr


def without_wall_clock(report):
    data = json.loads(report)
    assert data["simulator"].pop("wall_seconds") > 0
    return json.dumps(data)


def programs_of(out):
    """The lab_sim that run a plan of this directory, by their ids."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if words[0] == str(PROGRAM) and words[1].startswith(f"{out}/"):
            found.append(int(path.parent.name))
    return found


def wait_for(condition, what):
    end = time.monotonic() + 30
    while not (value := condition()):
        assert time.monotonic() < end, f"waited for {what}"
        time.sleep(0.05)
    return value


def failed(plan, report):
    """Expectations that the run does not meet."""
    return [check for check in expect.run(plan, {**run.empty(), **report}) if not check["pass"]] + report["problems"]


def test_a_plan_gives_the_same_run_twice_and_another_seed_another(tmp_path):
    plan = plan_of(INCAST, tmp_path)
    first, second = (simulate(plan, tmp_path, name) for name in ("first", "second"))
    assert without_wall_clock(first) == without_wall_clock(second)
    assert not failed(plan, json.loads(first))
    other = json.loads(simulate(plan_of(INCAST, tmp_path, seed=2), tmp_path))
    assert other["digest"] != json.loads(first)["digest"]


def test_faults_by_chance_follow_the_seed(tmp_path):
    text = (CONF / "burst-loss.yaml").read_text(encoding="utf-8")
    sets = ["load[0].duration_s=0.2", "topology.xpus=2"]
    try:
        plan = plan_of(text, tmp_path, sets)
    except scenario.ScenarioError as error:
        pytest.fail(str(error))
    first, second = (json.loads(without_wall_clock(simulate(plan, tmp_path, name))) for name in ("first", "second"))
    assert first == second
    assert json.loads(simulate(plan_of(text, tmp_path, sets, seed=9), tmp_path))["digest"] != first["digest"]


def test_times_of_flows_and_depths_of_queues(tmp_path):
    report = json.loads(simulate(plan_of(INCAST, tmp_path), tmp_path))
    flows = report["simulator"]["flows"]
    assert [(f["source"], f["destination"], f["bytes"]) for f in flows] == [(n, 0, 1 << 20) for n in range(1, 5)]
    iteration, = report["simulator"]["iterations"]
    assert iteration["flows"] == 4 and iteration["bytes"] == 4 << 20
    # No more than the link carries, and nearly as much.
    assert 0.9 < iteration["efficiency"] < 4096 / 4150
    assert iteration["fairness"] > 0.99
    last, = (q for q in report["simulator"]["queues"] if q["port"] == "x0p0" and q["class"] == 1)
    assert 0 < last["p50_bytes"] <= last["p99_bytes"] <= last["most_bytes"]
    for series in report["series"]:
        if series["name"] == "plane_throughput":
            assert max(series["v"]) < 1.03 * 100e9 / 8


SHARED_PORTS = """\
version: 1
name: share
backend: simulator
timeout_s: 1
topology: {xpus: 36, daemons: 2, xpus_per_port: 18, link: {rate_gbps: 400, delay_us: 1}}
endpoint: {packing: {packed_pdus: 8192}}
switch: {buffer: {bytes: 67108864}}
load:
  - {workload: all-to-all, bytes: 4096, iterations: 3, stall_s: 1}
"""


def test_many_peers_associate_at_once(tmp_path):
    """All XPUs of a port greet all others in one poll iteration: HELLOs without room there are not lost, to be repeated
    after longer and longer times."""
    report = json.loads(simulate(plan_of(SHARED_PORTS, tmp_path), tmp_path))
    assert len(report["simulator"]["iterations"]) == 3
    assert report["simulator"]["virtual_seconds"] < 0.1


@pytest.mark.parametrize("name", ["incast-pfc", "incast-ecn", "incast-trim", "incast-taildrop"])
def test_incasts(tmp_path, name):
    plan = plan_of((CONF / f"{name}.yaml").read_text(encoding="utf-8"), tmp_path)
    report = json.loads(simulate(plan, tmp_path))
    assert not failed(plan, report)
    final = report["final"]["sw0"]
    drops = sum(value for counter, value in final["counters"].items() if "_drop_" in counter)
    if name == "incast-pfc":
        assert drops == 0 and final["counters"]["tx_pfc_total"] > 0
        assert final["buffer"]["most_used_bytes"] <= 4000000
    if name == "incast-taildrop":
        assert drops > 0


def test_an_incast_of_many_senders_fills_the_link(tmp_path):
    """The receive ring has less room than two PDUs of each sender. The link is 100 Gbit/s, the round trip 3 us."""
    text = INCAST.replace("xpus: 5, daemons: 5", "xpus: 65, daemons: 65").replace("1048576", "262144")
    text = text.replace("switch: {", "endpoint: {packing: {limit_bytes: 4096}}\nswitch: {buffer: {bytes: 16777216}, ")
    report = json.loads(simulate(plan_of(text, tmp_path), tmp_path))
    assert report["simulator"]["iterations"][0]["efficiency"] > 0.85
    senders = [final["counters"] for node, final in report["final"].items() if node not in ("d0", "sw0")]
    assert sum(sender["tx_waits_credit_total"] for sender in senders) > 1000


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_plane_dies_and_nothing_is_lost(tmp_path, seed):
    plan = plan_of((CONF / "plane-dies.yaml").read_text(encoding="utf-8"), tmp_path, [
        "topology.link={rate_gbps: 1}", "load[0].duration_s=0.8", "faults[0].at_s=0.2", "faults[0].for_s=0.4"], seed)
    report = json.loads(simulate(plan, tmp_path))
    assert not failed(plan, report)
    fault, = (event for event in report["events"] if event["name"] == "fault")
    assert (fault["t"], fault["end"]) == (0.2, pytest.approx(0.6))
    assert any(event["name"] == "peer_plane_down" for event in report["events"])


def test_direct_links(tmp_path):
    plan = plan_of((CONF / "direct-4.yaml").read_text(encoding="utf-8"), tmp_path,
                   ["topology.link={rate_gbps: 1, delay_us: 2}", "load[0].duration_s=0.1"])
    assert not plan.of_kind("switch")
    assert not failed(plan, json.loads(simulate(plan, tmp_path)))


def test_each_hop_of_a_mesh_takes_its_time(tmp_path):
    """XPU 1 is 3 links away, XPU 8 is 6, and each has a delay of 5 us each way."""
    text = """\
version: 1
name: hops
topology: {xpus: 9, mesh: {rows: 3, columns: 3}, link: {rate_gbps: 100, delay_us: 5}}
load:
  - {name: near, mode: latency, source: 0, destinations: 1, count: 50, size: 8}
  - {name: far, mode: latency, source: 0, destinations: 8, count: 50, size: 8, vcs: [1]}
"""
    plan = plan_of(text, tmp_path)
    report = json.loads(simulate(plan, tmp_path))
    assert not failed(plan, report)
    near, far = (next(each for each in report["load"] if each["name"] == f"{name}.client")["result"]["results"][0]["latency"]
                 ["p50_seconds"] for name in ("near", "far"))
    assert near > 30e-6 and 29e-6 < far - near < 45e-6


@pytest.mark.parametrize("seed", [1, 2])
def test_a_link_between_switches_is_cut(tmp_path, seed):
    plan = plan_of((CONF / "mesh-9.yaml").read_text(encoding="utf-8"), tmp_path, [
        "topology.link={rate_gbps: 1, delay_us: 2}", "load[0].duration_s=0.2", "faults[0].at_s=0.05", "faults[0].for_s=0.1"], seed)
    assert not failed(plan, json.loads(simulate(plan, tmp_path)))


def test_a_pfc_storm(tmp_path):
    plan = plan_of((CONF / "pfc-storm.yaml").read_text(encoding="utf-8"), tmp_path)
    report = json.loads(simulate(plan, tmp_path))
    assert not failed(plan, report)


def test_fields_are_rewritten_for_a_while(tmp_path):
    plan = plan_of(INCAST + "faults:\n  - {at_s: 0.001, for_s: 0.005, link: all, direction: in, impair: {dscp: 1, ecn: 3}}\n",
                   tmp_path, ["topology.link={rate_gbps: 1}", "switch.port.rate_gbps=1"])
    report = json.loads(simulate(plan, tmp_path))
    assert not failed(plan, report)
    counters = report["final"]["sw0"]["counters"]
    assert 100 < counters["impair_rewritten_total"] < counters["rx_frames_total"] / 2, counters


def test_latency_and_bandwidth_of_clients(tmp_path):
    text = """\
version: 1
name: clients
topology: {xpus: 3, link: {rate_gbps: 100, delay_us: 0.5}}
load:
  - {name: ping, mode: latency, source: 0, destinations: 1, count: 200, size: 8}
  - {name: bulk, mode: bandwidth, source: 2, destinations: 1, duration_s: 0.01, vcs: [1]}
"""
    plan = plan_of(text, tmp_path)
    report = json.loads(simulate(plan, tmp_path))
    assert not failed(plan, report)
    ping, = (each for each in report["load"] if each["name"] == "ping.client")
    assert 2e-6 < ping["result"]["results"][0]["latency"]["min_seconds"] < 20e-6


def test_more_ports_than_a_process_has(tmp_path):
    text = INCAST.replace("xpus: 5, daemons: 5", "xpus: 70, daemons: 70").replace("1048576", "16384")
    text = text.replace("switch: {", "switch: {buffer: {bytes: 16777216}, ")
    plan = plan_of(text, tmp_path)
    report = json.loads(simulate(plan, tmp_path))
    assert not failed(plan, report)
    assert len(report["simulator"]["flows"]) == 69


def test_ports_and_lcores_that_xpus_share(tmp_path):
    text = """\
version: 1
name: shared
topology: {xpus: 16, daemons: 2, lcores: 2, planes: 2, switches: 2, xpus_per_port: 4, link: {rate_gbps: 25, delay_us: 1}}
load:
  - {workload: all-to-all, bytes: 20000, iterations: 3, check: on}
"""
    plan = plan_of(text, tmp_path)
    assert not failed(plan, json.loads(simulate(plan, tmp_path)))


# ---- Plans that it cannot run.

def test_a_malformed_plan_is_named(tmp_path):
    good = plan_of(INCAST, tmp_path).to_dict()
    assert "is no JSON object" in refused("{", tmp_path)
    assert "schema_version: is not 1" in refused({**good, "schema_version": 2}, tmp_path)
    for path, value, message in (
            (("nodes", 0, "kind"), "host", "nodes[0].kind: is neither endpoint nor switch"),
            (("links", 1, "a", "node"), "nobody", "links[1]: there is no node nobody"),
            (("links", 1, "rate_gbps"), "fast", "links[1].rate_gbps: is no number"),
            (("load", 0, "processes", 0, "role"), "guest", "load[0].processes[0].role"),
            (("load", 0, "processes", 0, "flags", "peanuts"), 3, "peanuts"),
            (("nodes", 0, "config", "transport", "window_pdus"), -1, "the configuration of d0:"),
            (("nodes", 5, "config", "buffer"), {"octets": 3}, "the configuration of sw0:")):
        bad = copy.deepcopy(good)
        at = bad
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value
        assert message in refused(bad, tmp_path)
    del good["links"][2]
    assert "no link is at the port x2p0" in refused(good, tmp_path)


@pytest.mark.parametrize("fault, message", [
    ("{at_s: 0.1, daemon: d0, process: kill}", "cannot do kill to a process"),
    ("{at_s: 0.1, switch: sw0, process: stop}", "cannot stop a switch"),
])
def test_a_fault_that_it_cannot_do_is_an_error(tmp_path, fault, message):
    plan = plan_of(INCAST + f"faults:\n  - {fault}\n", tmp_path)
    assert message in refused(plan.to_json(), tmp_path)


def test_devices_that_do_pfc_are_an_error(tmp_path):
    plan = plan_of(INCAST + "endpoint: {port: {pfc: device}}\n", tmp_path)
    assert "the simulator's devices do no PFC" in refused(plan.to_json(), tmp_path)


# ---- The back end.

def test_the_back_end_runs_the_program(tmp_path):
    plan = plan_of(INCAST, tmp_path)
    with simulator.Simulator(plan, tmp_path, build=BUILD) as backend:
        collected = run.run(plan, backend, types.SimpleNamespace(tell=lambda text: None))
    assert not failed(plan, collected)
    assert len(collected["digest"]) == 16


def test_even_sigkill_leaves_no_process(tmp_path):
    scenario_file, out = tmp_path / "long.yaml", tmp_path / "out"
    scenario_file.write_text(INCAST.replace("iterations: 1}", "iterations: 100000}"), encoding="utf-8")
    lab = subprocess.Popen([ROOT / "tools/lab", "--quiet", "--build", BUILD, "--out", out, scenario_file])
    try:
        simulators = wait_for(lambda: programs_of(out), "lab_sim")
    finally:
        lab.kill()
        lab.wait()
    wait_for(lambda: not programs_of(out), f"the end of {simulators}")


def test_the_back_end_says_why_a_plan_cannot_be_run(tmp_path):
    plan = plan_of(INCAST + "faults:\n  - {at_s: 0.1, daemon: d0, process: kill}\n", tmp_path)
    with simulator.Simulator(plan, tmp_path, build=BUILD) as backend:
        with pytest.raises(simulator.backends.LabError, match="cannot do kill to a process"):
            run.run(plan, backend, types.SimpleNamespace(tell=lambda text: None))


def test_without_the_program_its_build_is_named(tmp_path):
    plan = plan_of(INCAST, tmp_path)
    with pytest.raises(simulator.backends.PreflightError, match="ninja -C"):
        with simulator.Simulator(plan, tmp_path, build=tmp_path):
            pass


SQUARE = """\
version: 1
name: square
timeout_s: 3
topology: {xpus: 4, daemons: 4, system: SQUARE, link: {rate_gbps: 100, delay_us: 1}}
# Credit for one of the longest frames, and no watchdog.
switch:
  port: {cbfc: on}
  pfc: {storm_us: 0}
  cbfc: {credits: [17, 17, 17, 17, 17, 17, 17, 17]}
endpoint: {port: {cbfc: on}}
load:
  - {workload: all-to-all, bytes: 65536, iterations: 20, stall_s: 1}
"""
CIRCLE = [f"topology.tables={ROOT}/conf/mesh/square-circle.yaml"]
AGING = ["switch.classes={of: [{class: 1, max_wait_us: 2000}]}"]


@pytest.mark.parametrize("sets, ends", [([], True), (CIRCLE, False), (CIRCLE + AGING, True)],
                         ids=["accepted tables", "a circle", "a circle and a longest wait"])
def test_queues_that_wait_in_a_circle(tmp_path, sets, ends):
    """As suede-mesh says of these tables: nothing moves any more, unless frames that wait for too long are dropped."""
    plan = plan_of(SQUARE.replace("SQUARE", f"{ROOT}/conf/mesh/square.yaml"), tmp_path, sets)
    report = json.loads(simulate(plan, tmp_path))
    assert (failed(plan, report) == []) is ends
    last = [stall for stall in report["stalls"] if stall["end"] is None]
    assert bool(last) is not ends, report["stalls"]
    if not ends:
        causes = {stall["waited_for"].partition(":")[0] for stall in last}
        assert causes <= {"flight", "link_credit", "retransmission", "window"}, causes
        assert all(stall["load"] == plan.load[0].name and stall["t"] < 3 and "for " in stall["evidence"] for stall in last), last
    old = sum(port["class_drop_age_total"] for node in plan.of_kind("switch")
              for port in report["final"][node.name]["ports"].values() if "class_drop_age_total" in port)
    assert (old > 0) is (AGING[0] in sets)
    lost = sum(port.get(name, 0) for node in plan.of_kind("switch") for port in report["final"][node.name]["ports"].values()
               for name in ("class_drop_credit_total", "class_drop_storm_total"))
    assert lost == 0


# ---- Daemons that represent the devices of a mesh.

def drops_of_devices(report):
    """{port of a device: {counter: frames}} of dropped frames."""
    found = {(name, port): {key: value for key, value in counters.items() if "_drop_" in key and value}
             for name, node in report["final"].items() for port, counters in node["ports"].items()}
    return {port: drops for (_, port), drops in found.items() if drops}


@pytest.mark.parametrize("daemons, seed", [(1, 1), (9, 2), (36, 3)])
def test_daemons_forward_frames_of_a_system(tmp_path, daemons, seed):
    """Cables are inside of a daemon, or between two; queues of four frames' credit fill, and no frame is lost."""
    text = (CONF / "devices-36.yaml").read_text(encoding="utf-8").replace("../mesh", f"{ROOT}/conf/mesh")
    plan = plan_of(text, tmp_path, [f"topology.daemons={daemons}", "endpoint.mesh={credit_frames: 4}", "load[0].iterations=1",
                                    "topology.link={rate_gbps: 100, delay_us: 1}"], seed)
    first, second = (json.loads(without_wall_clock(simulate(plan, tmp_path, name))) for name in ("first", "second"))
    assert first == second and not failed(plan, first) and not drops_of_devices(first)
    assert sum(final["counters"]["tx_retransmissions_total"] for final in first["final"].values()) == 0
    assert max(queue["most_bytes"] for queue in first["simulator"]["queues"]) > 30 * 2048
    received = sum(port["port_rx_bytes_total"] for final in first["final"].values() for name, port in final["ports"].items()
                   if name == "plane0")
    assert received > 36 * 35 * 4096


def test_frames_inside_of_a_daemon_follow_the_seed(tmp_path):
    text = OWN_SQUARE.replace("SQUARE", f"{ROOT}/conf/mesh/square.yaml")
    digests = {json.loads(simulate(plan_of(text, tmp_path, ["topology.daemons=1"], seed), tmp_path))["digest"] for seed in (1, 1, 2)}
    assert len(digests) == 2


OWN_SQUARE = """\
version: 1
name: square
timeout_s: 3
topology: {xpus: 4, daemons: 2, system: SQUARE, routers: daemons, link: {rate_gbps: 100, delay_us: 1}}
endpoint: {port: {cbfc: on}, mesh: {credit_frames: 2}}
load:
  - {workload: all-to-all, bytes: 65536, iterations: 20, stall_s: 1, start_s: 0.02}
"""


@pytest.mark.parametrize("sets, ends, seeds", [([], True, 1), (CIRCLE, False, 1),
                                               (CIRCLE + ["endpoint.mesh.max_wait_us=2000"], True, 6)],
                         ids=["accepted tables", "a circle", "a circle and a longest wait"])
@pytest.mark.parametrize("daemons", [1, 2])
def test_daemons_that_wait_in_a_circle(tmp_path, sets, ends, seeds, daemons):
    """The same of daemons that have all cables inside, or two of four. Events name the places of the circle. All devices
    of one daemon act at the same times, so that frames that are too old must not be so everywhere at once."""
    text = OWN_SQUARE.replace("SQUARE", f"{ROOT}/conf/mesh/square.yaml")
    for seed in range(1, 1 + seeds):
        check_circle(tmp_path, plan_of(text, tmp_path, [*sets, f"topology.daemons={daemons}"], seed), sets, ends)


def check_circle(tmp_path, plan, sets, ends):
    report = json.loads(simulate(plan, tmp_path))
    assert (failed(plan, report) == []) is ends
    old = [event["text"] for event in report["events"] if event["name"] == "age_drops"]
    assert bool(old) is (len(sets) == 2)
    assert all(re.match(r"port=M0D[0-3]P[1-4] class=1 destination=M0D[0-3] count=\d+ reason=", text) for text in old), old
    assert not old or any(text.endswith("=credit") for text in old)
    drops = drops_of_devices(report)
    assert {name for counters in drops.values() for name in counters} <= {"class_drop_age_total"}
    assert bool(drops) is bool(old)


def test_a_loop_in_tables_is_named(tmp_path):
    """Frames from XPU 0 to XPU 8 go round four devices until their hops are used up; others do not notice."""
    system = tmp_path / "nine.yaml"
    text = (ROOT / "conf/mesh/square.yaml").read_text(encoding="utf-8")
    system.write_text(text.replace("rows: 2, columns: 2", "rows: 3, columns: 3"), encoding="utf-8")
    tables = subprocess.run([BUILD / "app/mesh/suede-mesh", "tables", system], capture_output=True, text=True, check=True).stdout
    entries = yaml.safe_load(tables)
    for device, port in ((0, 2), (1, 1), (4, 4), (3, 3)):
        entries["tables"][device]["devices"][8] = port
    (tmp_path / "loop.yaml").write_text(yaml.safe_dump(entries), encoding="utf-8")
    text = f"""\
version: 1
name: loop
topology: {{xpus: 9, system: {system}, tables: {tmp_path}/loop.yaml, routers: daemons}}
endpoint: {{port: {{cbfc: on}}}}
load:
  - {{name: lost, mode: latency, source: 0, destinations: 8, count: 10, vcs: [2], connect_timeout_s: 1, start_s: 0.02}}
  - {{name: others, ranks: 0-7, bytes: 1024, iterations: 2, start_s: 0.02}}
"""
    plan = plan_of(text, tmp_path)
    report = json.loads(simulate(plan, tmp_path))
    assert all(each["exit"] == 0 and each["result"]["verdict"]["pass"] for each in report["load"] if each["load"] == "others")
    assert [each["exit"] for each in report["load"] if each["name"] == "lost.client"] != [0]
    texts = [event["text"] for event in report["events"] if event["name"] == "hop_limit_drops"]
    # The device of the source does not count, and after 64 others it is the turn of M0D0.
    assert texts and all(re.match(r"port=M0D0P1 class=\d destination=M0D8 count=\d+$", text) for text in texts), texts
    drops = drops_of_devices(report)
    assert set(drops) == {"M0D0P1"} and set(drops["M0D0P1"]) == {"rx_drop_hop_limit_total"}
