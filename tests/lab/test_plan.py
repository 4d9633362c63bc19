# SPDX-License-Identifier: Apache-2.0
"""From a scenario to links, configurations, processes and actions."""

import pathlib
import re
import subprocess
import tempfile

import pytest
import yaml

import lab
from labkit import local, plan, scenario, schema, topology


def read(directory, sets=(), text=lab.LEAST):
    return scenario.load(lab.write(directory, text), sets, build=lab.BUILD)


def refused(directory, *sets):
    with pytest.raises(scenario.ScenarioError) as caught:
        plan.make(read(directory, sets))
    return str(caught.value)


def ends(directory, *sets):
    return [link.ends() for link in topology.build(read(directory, sets)).links]


def test_planes_are_spread_over_switches(tmp_path):
    links = ends(tmp_path, "topology.planes=4", "topology.switches=2")
    assert [far[0] for _, far in links] == ["sw0", "sw1", "sw0", "sw1"] * 2
    assert links[3] == (("d0", "x0p3"), ("sw1", "x0p3"))


def test_daemons_and_shared_ports(tmp_path):
    built = topology.build(read(tmp_path, ["topology.xpus=10", "topology.daemons=2", "topology.xpus_per_port=2"]))
    assert built.daemons == {"d0": [0, 1, 2, 3, 4], "d1": [5, 6, 7, 8, 9]}
    assert [port.xpus for port in built.ports] == [[0, 1], [2, 3], [4], [5, 6], [7, 8], [9]]
    made = plan.make(read(tmp_path, ["topology.xpus=10", "topology.daemons=2", "topology.xpus_per_port=2"]))
    assert [port.get("hairpin") for port in made.node("sw0").config["ports"]] == ["on", "on", None] * 2


def test_xpus_alone_in_their_daemons_have_names(tmp_path):
    made = plan.make(read(tmp_path, ["topology.xpus=3", "topology.daemons=2"]))
    named = {node.name: [(peer["xpu"], peer.get("name")) for peer in node.config["peers"]] for node in made.of_kind("endpoint")}
    assert named == {"d0": [(1, None), (2, None)], "d1": [(0, "d0"), (1, None), (2, None)]}


@pytest.mark.parametrize("count, links", [(2, 1), (3, 3), (4, 8), (5, 10)])
def test_direct_links(tmp_path, count, links):
    built = topology.build(read(tmp_path, ["topology.direct=on", f"topology.xpus={count}"]))
    assert len(built.links) == links and not built.switches
    for xpu in range(count):
        reached = {peer for port in built.ports_of(xpu) for far in built.reaches(port) for peer in far.xpus}
        assert reached == set(range(count)) - {xpu}


def test_links_one_by_one(tmp_path):
    sets = ["topology.switches=1", "topology.links=[{between: [xpu0.p0, sw0]}, {between: [sw0, xpu1.p0], delay_us: 3}, "
            "{between: [xpu0.p1, xpu1.p1]}]"]
    built = topology.build(read(tmp_path, sets))
    assert [link.ends() for link in built.links] == [
        (("d0", "x0p0"), ("sw0", "x0p0")), (("d0", "x1p0"), ("sw0", "x1p0")), (("d0", "x0p1"), ("d0", "x1p1"))]
    assert built.links[1].delay_us == 3


def hops(made, source, destination):
    """The switches that a frame from XPU to XPU passes, by the tables of the configurations."""
    far = {(link[a]["node"], link[a]["port"]): link[b] for link in made.links for a, b in ("ab", "ba")}
    at, passed = next(end for (node, port), end in far.items() if node[0] == "d" and port == f"x{source}p0"), []
    while at["node"].startswith("sw"):
        passed.append(at["node"])
        port = next(entry["port"] for entry in made.node(at["node"]).config["addresses"]
                    if entry["forwarding_address"] == destination)
        at = far[at["node"], port]
        assert len(passed) < 40
    xpu = destination if destination < 1024 else (destination >> 16) * 9 + destination % 1024
    assert at["port"] == f"x{xpu}p0"
    return passed


def test_a_mesh_is_dimension_ordered(tmp_path):
    """Columns first; sw4 is in the middle of 3 rows of 3."""
    made = plan.make(read(tmp_path, ["topology.xpus=9", "topology.mesh={rows: 3, columns: 3}"]))
    assert hops(made, 0, 8) == ["sw0", "sw1", "sw2", "sw5", "sw8"]
    assert hops(made, 8, 0) == ["sw8", "sw7", "sw6", "sw3", "sw0"]
    assert [len(hops(made, 4, xpu)) for xpu in range(9) if xpu != 4] == [3, 2, 3, 2, 2, 3, 2, 3]
    made = plan.make(read(tmp_path, ["topology.xpus=8", "topology.mesh={rows: 2, columns: 2, layers: 2}"]))
    assert hops(made, 0, 7) == ["sw0", "sw1", "sw3", "sw7"]


def test_a_system_of_meshes_has_its_tables(tmp_path):
    sets = ["topology.xpus=36", f"topology.system={lab.ROOT}/conf/mesh/four-by-nine.yaml", "topology.daemons=4"]
    made = plan.make(read(tmp_path, sets))
    assert len(made.links) == 36 + 52
    addresses = {peer["xpu"]: peer["ports"][0]["forwarding_address"] for peer in made.node("d0").config["peers"] if peer["xpu"] > 8}
    assert [addresses[xpu] for xpu in (9, 17, 35)] == [0x10000, 0x10008, 0x30008]
    trace = subprocess.run([lab.BUILD / "app/mesh/suede-mesh", "trace", lab.ROOT / "conf/mesh/four-by-nine.yaml", "M0D0", "M3D8"],
                           capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^M(\d)D(\d)", trace, re.MULTILINE)
    assert hops(made, 0, 0x30008) == [f"sw{int(mesh) * 9 + int(device)}" for mesh, device in names]
    for change, message in (("topology.xpus=35", "topology.xpus: is 35, and the system has 36 devices; write 36"),
                            ("encapsulation=afh2c", "encapsulation: afh2c has too few bits"),
                            ("topology.planes=2", "topology.system: no plane 1; give --plane 0 to 0"),
                            ("topology.system=none.yaml", "topology.system: ")):
        assert message in refused(tmp_path, *sets, change)


def test_daemons_have_the_devices_of_a_system(tmp_path):
    """Devices 0 to 17 and 18 to 35, which are two meshes each; a cable between two daemons is a link, all others are inside."""
    sets = ["topology.xpus=36", f"topology.system={lab.ROOT}/conf/mesh/four-by-nine.yaml", "topology.daemons=2",
            "topology.lcores=2", "topology.routers=daemons", "endpoint={port: {cbfc: on, mtu_bytes: 4000}, mesh: {max_wait_us: 7}}"]
    made = plan.make(read(tmp_path, sets))
    assert [node.name for node in made.nodes] == ["d0", "d1"]
    assert [(link["a"], link["b"]) for link in made.links] == [
        ({"node": "d0", "port": near}, {"node": "d1", "port": far}) for near, far in (("M0D7P1", "M2D1P3"), ("M1D7P1", "M3D1P3"))]
    config = made.node("d1").config
    assert config["ports"] == [
        *({"name": name, "encapsulation": "afh2", **plan.DESCRIPTORS, "cbfc": "on", "mtu_bytes": 4000} for name in ("M2D1P3", "M3D1P3")),
        {"name": "plane0", "device": "mesh", "plane": 0, "encapsulation": "afh2", "mtu_bytes": 4000}]
    assert config["mesh"] == {"cbfc": "on", "max_wait_us": 7}
    assert [(each["device"], each["lcore"]) for each in config["devices"]][8:10] == [("M2D8", 0), ("M3D0", 1)]
    assert config["devices"][0]["tables"] == [{"devices": ["D", 2, 2, 1, 2, 2, 1, 2, 2], "meshes": [2, 2, "D", 2]}]
    assert len(config["cables"]) == 27 and {"from": "M2D1P3", "to": "M0D7P1", "port": "M2D1P3"} in config["cables"]
    assert {"from": "M2D0P2", "to": "M2D1P4"} in config["cables"]
    assert config["instances"] == [{"xpus": "18-26", "lcore": 0, "ports": [{"port": "plane0", "forwarding_base": 0x20000 - 18}]},
                                   {"xpus": "27-35", "lcore": 1, "ports": [{"port": "plane0", "forwarding_base": 0x30000 - 27}]}]
    assert config["peers"] == [{"xpus": f"{9 * mesh}-{9 * mesh + 8}", "ports": [
        {"port": "plane0", **({"forwarding_base": 0x10000 * mesh - 9 * mesh} if mesh else {})}]} for mesh in range(4)]
    placed = local.Local(made, tmp_path).configuration(made.node("d1"))
    assert [port["device"].partition(",")[0] for port in placed["ports"]] == ["net_memif0", "net_memif1", "mesh"]
    assert {entry["lcore"] for entry in placed["devices"]} == {entry["cpu"] for entry in placed["lcores"]}
    assert "topology.routers: daemons have devices of a system alone" in refused(tmp_path, "topology.routers=daemons")


def test_planes_of_a_mesh_are_apart(tmp_path):
    built = topology.build(read(tmp_path, ["topology.xpus=4", "topology.planes=2", "topology.mesh={rows: 2, columns: 2}"]))
    assert len(built.switches) == 8 and len(built.links) == 16 and not built.several_at_one
    assert {link.plane for link in built.links if link.is_at("sw6")} == {1}
    assert [link.name for link in built.links if link.is_at("sw6")] == ["x2p1", "sw6-sw7", "sw4-sw6"]


def test_ways_of_one_length_are_spread(tmp_path):
    made = plan.make(read(tmp_path, ["topology.xpus=4", "topology.switches=4", LEAVES_AND_SPINES]))
    assert [hops(made, 0, xpu) for xpu in (1, 2, 3)] == [["sw0"], ["sw0", "sw3", "sw1"], ["sw0", "sw2", "sw1"]]
    assert [port["name"] for port in made.node("sw0").config["ports"]] == ["x0p0", "x1p0", "sw0-sw2", "sw0-sw3", "sw0-sw3.2"]


def test_a_link_between_switches(tmp_path):
    """Has its rate at both outputs and its delay at both inputs; a fault is at the switch that it names."""
    sets = ["topology.mesh={rows: 1, columns: 2}", "topology.link={rate_gbps: 2, delay_us: 7}",
            "faults=[{at_s: 0, for_s: 1, switch: sw1, direction: in, impair: {delay_us: 9}}]"]
    made = plan.make(read(tmp_path, sets))
    port = {"name": "sw0-sw1", **plan.DESCRIPTORS, "rate_gbps": 2, "impair_in": {"delay_us": 7}}
    assert [made.node(name).config["ports"][1] for name in ("sw0", "sw1")] == [port, port]
    assert made.faults[0].end == [{"kind": "rpc", "node": "sw1", "method": "impair.set", "params": {
        "port": port, "direction": "in", "delay_us": 7}} for port in ("x1p0", "sw0-sw1")]


@pytest.mark.parametrize("sets, message", [
    (["topology.xpus=40"], "topology.daemons: d0 has 40 ports, and a process has 32 at most"),
    (["topology.xpus=40", "topology.daemons=2"], "topology.switches: sw0 has 40 ports, and a switch has 2 to 32"),
    (["topology.xpus=100", "topology.xpus_per_port=4"], "topology.lcores: d0 has 100 clients, one for each XPU and load"),
    (["topology.daemons=3"], "topology.daemons: 3 daemons have 2 XPUs; write 2 or less"),
    (["topology.switches=2"], "topology.switches: 2 switches serve 1 planes; write 1 or less"),
    (["topology.switches=0"], "topology.switches: 0 switches join no XPUs"),
    (["topology.xpus=6", "topology.direct=on"], "topology.direct: direct links of 6 XPUs take 5 ports of each"),
    (["topology.links=[{between: [xpu0.p0, xpu1.p0, xpu1.p1]}]"], "topology.links[0].between: a link has 2 ends, not 3"),
    (["topology.links=[{between: [xpu0.p0, sw3]}]"], "there is no sw3; topology.switches is 1"),
    (["topology.links=[{between: [xpu0.p0, xpu7.p0]}]"], "there is no XPU 7; topology.xpus is 2"),
    (["topology.links=[{between: [sw0, sw0]}]"], "joins a switch with itself"),
    (["topology.mesh={rows: 3, columns: 3}"], "topology.mesh: has 9 places, and topology.xpus is 2; write one number"),
    (["topology.mesh=on"], "topology.mesh: is no map of keys and values"),
    (["topology.mesh={rows: 1, columns: 2}", "faults=[{at_s: 0, link: sw1-sw0, down: on}]"],
     "faults[0].link: there is no sw1-sw0; write the port of an XPU, xpu0.p0, two switches that are joined, sw0-sw1, or all"),
    (["topology.mesh={rows: 1, columns: 2}", "faults=[{at_s: 0, link: sw0-sw1, pfc_storm: {classes: [1]}}]"],
     "faults[0].link: sw0-sw1 joins two switches"),
    (["topology.links=[{between: [xpu0.p0, xpu1.p0]}, {between: [xpu0.p0, sw0]}]"], "xpu0.p0 is an end of two links"),
    (["topology.links=[{between: [xpu0.p1, xpu1.p0]}]"], "XPU 0 has the ports [1]; an XPU has 1, 2 or 4, numbered from 0"),
    (["load=[{}, {}]"], "load[1].vcs: VC 0 of XPU 0 is of load load0, and a VC has one receiver"),
    (["faults=[{at_s: 0, link: xpu5.p0, down: on}]"], "faults[0].link: there is no xpu5.p0"),
    (["faults=[{at_s: 0, switch: sw4, process: stop}]"], "faults[0].switch: there is no sw4; there are d0, sw0"),
    (["topology.direct=on", "faults=[{at_s: 0, link: xpu0.p0, down: on}]"], "xpu0.p0 is a direct link"),
    (["expect={counters: [{nodes: d9, name: a}]}"], "expect.counters[0].nodes: d9 is no node"),
    (["expect={received: [{load: x}]}"], "expect.received[0].load: there is no load x"),
    (["expect={received: [{load: load0}]}"], "expect.received[0]: has no bound, and so expects nothing"),
    (["expect={events: [{nodes: d0, kind: link_down, min: 2, max: 1}]}"], "expect.events[0]: has a min above its max"),
    (["expect={counters: [{nodes: sw0, port: p9, name: a, max: 0}]}"],
     "expect.counters[0].port: sw0 has no port p9; there are x0p0, x1p0"),
])
def test_what_cannot_be(tmp_path, sets, message):
    assert message in refused(tmp_path, *sets)


# sw0 and sw1 are the leaves.
LEAVES_AND_SPINES = "topology.links=[" + ", ".join(
    [f"{{between: [xpu{x}.p0, sw{x // 2}]}}" for x in range(4)] +
    [f"{{between: [sw{leaf}, sw{spine}]}}" for leaf in (0, 1) for spine in (2, 3, 3)]) + "]"

SHAPES = {
    "planes": ["topology.planes=2", "topology.switches=2"],
    "planes at one switch": ["topology.planes=2"],
    "four planes, daemons": ["topology.planes=4", "topology.switches=3", "topology.daemons=2"],
    "shared ports": ["topology.xpus_per_port=2"],
    "direct": ["topology.direct=on", "topology.daemons=4"],
    "mesh": ["topology.mesh={rows: 2, columns: 2}", "topology.planes=2"],
    "leaves and spines": ["topology.switches=4", LEAVES_AND_SPINES],
    "links": ["topology.links=[" + ", ".join(f"{{between: [xpu{x}.p{p}, sw{p}]}}" for x in range(4) for p in range(2)) + "]",
              "topology.switches=2"],
}


def check_all(made, directory):
    """Each program takes its configuration. Returns what they warned of."""
    programs = {"endpoint": "app/suede/suede", "switch": "app/suede-switch/suede-switch"}
    back_end = local.Local(made, directory, build=lab.BUILD)
    said = ""
    for node in made.nodes:
        path = directory / f"{node.name}.yaml"
        path.write_text(yaml.safe_dump(back_end.configuration(node)), encoding="utf-8")
        done = subprocess.run([str(lab.BUILD / programs[node.kind]), "--config", str(path), "--check_config"],
                              capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        said += done.stderr
    return said


@pytest.mark.parametrize("encapsulation", schema.ENCAPSULATIONS)
@pytest.mark.parametrize("shape", SHAPES)
def test_generated_configurations_are_taken(tmp_path, shape, encapsulation):
    made = plan.make(read(tmp_path, ["topology.xpus=4", f"encapsulation={encapsulation}", *SHAPES[shape]]))
    assert plan.Plan.from_json(made.to_json()) == made
    said = check_all(made, tmp_path)
    if shape != "direct":
        assert said == ""


@pytest.mark.parametrize("path", lab.SCENARIOS, ids=lambda path: path.stem)
def test_configurations_of_the_scenarios_are_taken(tmp_path, path):
    read_one = scenario.load(path, build=lab.BUILD)
    assert read_one.name == path.stem and read_one["description"]
    check_all(plan.make(read_one), tmp_path)


def test_secrets_of_daemons_that_seal(tmp_path):
    made = plan.make(read(tmp_path, ["endpoint={instance: {sealing: required}}"]))
    back_end = local.Local(made, tmp_path)
    assert back_end.configuration(made.node("d0"))["sealing"] == {"secrets": str(tmp_path / "secrets")}
    back_end.make_secrets()
    assert (tmp_path / "secrets").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "secrets").read_text(encoding="ascii").startswith("0 1 ")
    named = plan.make(read(tmp_path, ["endpoint={instance: {sealing: required}, sealing: {secrets: /etc/suede/s}}"]))
    assert local.Local(named, tmp_path).configuration(named.node("d0"))["sealing"] == {"secrets": "/etc/suede/s"}
    plain = plan.make(read(tmp_path))
    assert "sealing" not in local.Local(plain, tmp_path).configuration(plain.node("d0"))


def test_a_daemon_checks_the_machine_for_it():
    """`suede --check` of what --generate writes. The paths of sockets are short ones."""
    with tempfile.TemporaryDirectory(prefix="lab-", dir="/tmp") as directory:
        made = pathlib.Path(directory)
        lab.run("--backend", "local", "--generate", made, lab.ROOT / "conf/lab/all-to-all.yaml")
        for kind, names in (("suede", ["d0"]), ("suede-switch", ["sw0", "sw1"])):
            for name in names:
                option = "--check" if kind == "suede" else "--check_config"
                done = subprocess.run([str(lab.BUILD / "app" / kind / kind), "--config", str(made / f"{name}.yaml"), option],
                                      capture_output=True, text=True, timeout=60, check=False,
                                      env={"RUNTIME_DIRECTORY": directory})
                assert done.returncode == 0, done.stdout + done.stderr


def test_processes_of_loads(tmp_path):
    made = plan.make(read(tmp_path, ["topology.xpus=4", "topology.daemons=2", "load=[{workload: moe, top_k: 1, vcs: 2-3, "
                                     "ranks: [3, 0, 1]}, {mode: bandwidth, source: 1, destinations: [2, 3], count: 9, "
                                     "take_rate: 5}]"]))
    moe, bandwidth = made.load
    assert [(p.name, p.node, p.xpus) for p in moe.processes] == [("load0.d0", "d0", [0, 1]), ("load0.d1", "d1", [3])]
    assert {"--mode=workload", "--ranks=3,0-1", "--own=0-1", "--vcs=2-3", "--top_k=1", "--check"} <= set(
        moe.processes[0].argv())
    assert [(p.name, p.role, p.node) for p in bandwidth.processes] == [
        ("load1.xpu2", "server", "d1"), ("load1.xpu3", "server", "d1"), ("load1.client", "client", "d0")]
    assert "--take_rate=5" in bandwidth.processes[0].argv() and "--count=9" in bandwidth.processes[2].argv()


def test_faults_are_actions_and_are_undone(tmp_path):
    made = plan.make(read(tmp_path, [
        "topology.link={rate_gbps: 2, delay_us: 7}", "topology.planes=2",
        "faults=[{at_s: 1, for_s: 2, every_s: 4, times: 2, link: xpu1.p1, direction: in, impair: {rate_gbps: 1, "
        "delay_us: 90, hole_xpus: 0, hole_classes: [1, 2]}}, {at_s: 5, plane: 0, down: on}, "
        "{at_s: 0, for_s: 1, daemon: d0, process: kill}]"]))
    one, two, three = made.faults
    assert one.begin == [{"kind": "rpc", "node": "sw0", "method": "impair.set", "params": {
        "port": "x1p1", "direction": "in", "rate_gbps": 1, "delay_us": 90, "hole_classes": "1,2",
        "hole_destinations": "0,1024"}}]
    assert one.end[0]["params"] == {"port": "x1p1", "direction": "in", "rate_gbps": 2, "delay_us": 7, "hole_classes": "none",
                                    "hole_destinations": "none"}
    assert list(one.occasions()) == [(1, 3), (5, 7)]
    assert [action["params"]["port"] for action in two.begin] == ["x0p0", "x0p0", "x1p0", "x1p0"]
    assert list(two.occasions()) == [(5, None)]
    assert three.begin == [{"kind": "kill", "node": "d0"}] and three.end == [{"kind": "start", "node": "d0"}]


def test_rewritten_fields_are_undone(tmp_path):
    made = plan.make(read(tmp_path, [
        "faults=[{at_s: 0, for_s: 1, link: xpu1.p0, direction: out, impair: {dscp: 0, hop_limit: 1, strip_tag: on}}, "
        "{at_s: 3, link: xpu1.p0, direction: out, impair: {strip_tag: off}}]"]))
    where = {"port": "x1p0", "direction": "out"}
    assert made.faults[0].begin[0]["params"] == {**where, "dscp": 0, "hop_limit": 1, "strip_tag": "on"}
    assert made.faults[0].end[0]["params"] == {**where, "dscp": "keep", "hop_limit": "keep", "strip_tag": "off"}
    assert made.faults[1].begin[0]["params"] == {**where, "strip_tag": "off"}
