# SPDX-License-Identifier: Apache-2.0
"""suedectl path: a misconfigured suede-switch has its findings, and a correct one none (docs/path.md)."""

import contextlib
import json
import os
import subprocess

import pytest

import e2e
import switched
from test_cbfc import CBFC, wait_for_credit

LEFT, RIGHT, THIRD = range(3)
VID = 5
CLASSES = {"vc": [{"dscp": 8 * c, "pcp": c} for c in (1, 2, 3, 4)], "ack": {"dscp": 48, "pcp": 6}}
FULL = 2106  # bytes of the longest frame: MTU, Ethernet header, tag


def cpu_of(number):
    cpus = sorted(os.sched_getaffinity(0))
    return cpus[number % len(cpus)]


def endpoint(directory, xpu, changes=None, of_port=None):
    config = switched.with_peers(switched.endpoint_config(directory, [xpu], "udp4"), range(3), "udp4")
    for peer in config["peers"]:
        peer["name"] = f"gpu{peer['xpu']}"
    config["lcores"][0]["cpu"] = cpu_of(xpu)
    config["instances"][0]["lcore"] = cpu_of(xpu)
    config["ports"][0].update({"vlan": {"vid": VID}, "mtu_bytes": 2088, **(of_port or {})})
    return e2e.Daemon(directory, e2e.changed(config, {
        "name": f"e2e-path{xpu}-{str(directory)[-8:]}", "classes": CLASSES, "packing": {"packed_pdus": 1024},
        **(changes or {})}))


def inner(directory, role, number, at):
    """An end of a cable between the two switches."""
    return switched.memif(directory, f"inner{number}", role, at)


def entries(**ports):
    """Static addresses of the XPUs that are behind these ports."""
    of = {"left": LEFT, "right": RIGHT, "third": THIRD}
    return [{"mac": e2e.mac_of(of[name]), "vlan": VID, "port": port} for name, port in ports.items()]


def leaf(directory, number, changes=None):
    """Switch 0 has the ports of XPUs 0 and 2, switch 1 that of XPU 1; two cables between them are a group."""
    own = {0: [LEFT, THIRD], 1: [RIGHT]}[number]
    config = switched.switch_config(directory, 3, "udp4")
    config["name"] = f"e2e-leaf{number}-{str(directory)[-8:]}"
    config["management"]["socket"] = str(directory / f"leaf{number}.sock")
    config["lcores"] = [{"cpu": cpu_of(number + 1), "idle": "sleep"}]
    config["ports"] = [{"name": f"s{xpu}", "device": switched.memif(directory, xpu, "server", xpu)} for xpu in own]
    config["ports"] += [{"name": f"u{i}", "device": inner(directory, ("server", "client")[number], i, 8 + i)}
                        for i in range(2)]
    for port in config["ports"]:
        port.update(lcore=cpu_of(number + 1), mtu_bytes=2088)
    config.update(learning="off", unknown="drop", groups=[{"name": "inner", "ports": ["u0", "u1"]}])
    config["addresses"] = (entries(left="s0", third="s2", right="inner") if number == 0
                           else entries(left="inner", third="inner", right="s1"))
    return switched.Switch(directory, {**config, **(changes or {})})


def path(daemon, *arguments):
    """The object, and the findings that are not ok: {"verdict class check"}."""
    argv = [str(a) for a in (e2e.SUEDECTL, "--json", "--socket", daemon.management, "path", f"gpu{RIGHT}", *arguments)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=e2e.START_S, check=False)
    assert done.stdout, done.stderr
    document = json.loads(done.stdout)
    assert document["peer"] == RIGHT
    found = {f"{f['verdict']} {f['class'] or '-'} {f['check']}": f
             for f in document["findings"] if f["verdict"] != "ok"}
    assert all(f["cause"] and f["remedy"] for f in found.values())
    assert done.returncode == (1 if document["verdict"] in ("warn", "fail") else 0), (done.returncode, found)
    print({name: f["measured"] for name, f in found.items()})
    return document, found


def wait_for_peers(*daemons):
    def associated():
        return all(subprocess.run([str(e2e.SUEDECTL), "--socket", daemon.management, "ping", str(peer), "--count", "1"],
                                  capture_output=True, check=False).returncode == 0
                   for daemon, peer in zip(daemons, (RIGHT, LEFT, RIGHT)))
    e2e.wait_until(associated, e2e.START_S, "answers of the peers")


@pytest.fixture(scope="module")
def leaves():
    """Three endpoints behind two switches."""
    with e2e.work_directory() as directory, contextlib.ExitStack() as stack:
        switches = stack.enter_context(e2e.daemons(leaf(directory, 0), leaf(directory, 1)))
        endpoints = stack.enter_context(e2e.daemons(*(endpoint(directory, xpu) for xpu in range(3))))
        for daemon in (*switches, *endpoints):
            daemon.wait_for_link()
        wait_for_peers(*endpoints)
        yield directory, switches, endpoints


def impaired(switch, port, direction, *settings):
    """Sets an impairment, until the block ends."""
    @contextlib.contextmanager
    def block():
        switched.ctl(switch, "impair", "set", port, "--direction", direction, *settings)
        try:
            yield
        finally:
            switched.ctl(switch, "impair", "clear", port)
    return block()


def test_a_correct_switch_has_no_findings(leaves):
    directory, _, (left, _, third) = leaves
    capture = directory / "path.pcapng"
    document, found = path(left, "--with", third.management, "--capture", capture)
    assert found == {}
    (plane,) = document["planes"]
    assert [c["class"] for c in plane["classes"]] == ["VC 0", "VC 1", "VC 2", "VC 3", "ack"]
    for of in plane["classes"]:
        assert of["answered"] == of["sent"] == 200 and of["reordered"] == of["duplicates"] == 0
        assert of["max_bytes_out"] == of["max_bytes_back"] == FULL
    assert plane["flows"]["sessions"] == 64
    checks = {f["check"]: f for f in document["findings"]}
    assert checks["hop limit out"]["measured"] == "0 less than sent"  # forwarding: mac
    assert checks["unknown address"]["measured"] == "the peer did not receive it"
    assert checks["unknown EtherType"]["measured"] == "forwarded to the peer"
    assert document["frames"] < 4000 and capture.stat().st_size > 100 * document["frames"]


# Port and direction of a switch, settings, arguments, findings. s0 leads to the left endpoint, s1 to the right one.
ONE = ("--class", 0, "--count", 100)
ALL = ()
FAULTS = {
    "mtu_out": (1, "s1", "out", ("--longest_bytes", 1518), ONE, {"fail VC 0 length out"}),
    "mtu_back": (0, "s0", "out", ("--longest_bytes", 1518), ONE, {"fail VC 0 length back"}),
    "class_out": (1, "s1", "out", ("--class", 2, "--loss", 1), ALL, {"fail VC 1 class"}),
    "class_back": (0, "s0", "out", ("--class", 2, "--loss", 1), ALL, {"fail VC 1 class"}),
    "class_slow": (1, "s1", "out", ("--class", 3, "--delay_us", 30000), ALL, {"warn VC 2 delay"}),
    "dscp_out": (1, "s1", "out", ("--dscp", 0), ONE, {"fail VC 0 DSCP out"}),
    "dscp_of_one_class": (0, "s0", "in", ("--class", 4, "--dscp", 33), ALL, {"fail VC 3 DSCP out"}),
    "dscp_back": (0, "s0", "out", ("--dscp", 46), ONE, {"fail VC 0 DSCP back"}),
    "pcp_out": (1, "s1", "out", ("--pcp", 0), ONE, {"fail VC 0 PCP out"}),
    "pcp_back": (0, "s0", "out", ("--pcp", 7), ONE, {"fail VC 0 PCP back"}),
    "ecn_cleared": (1, "s1", "out", ("--ecn", 0), ONE, {"warn VC 0 ECN out"}),
    "ecn_marked": (1, "s1", "out", ("--ecn", 3), ONE, {"fail VC 0 ECN out"}),
    "ecn_set_back": (0, "s0", "out", ("--ecn", 1), ONE, {"fail VC 0 ECN back"}),
    "hop_limit": (1, "s1", "out", ("--hop_limit", 30), ONE, {"fail - hop limit out"}),
    "hop_limit_larger_back": (0, "s0", "out", ("--hop_limit", 255), ONE, {"fail - hop limit back"}),
    "loss_out": (1, "s1", "out", ("--loss", 0.1), ONE, {"fail VC 0 loss out", "* - flows"}),
    "loss_back": (0, "s0", "out", ("--loss", 0.1), ONE, {"fail VC 0 loss back", "* - flows"}),
    "reordering": (1, "s1", "out", ("--reorder", 0.1, "--reorder_delay_us", 20000), ONE,
                   {"fail VC 0 order", "* - order of flows"}),
    "duplicates": (1, "s1", "out", ("--duplicate", 0.1), ONE, {"warn VC 0 duplicates"}),
    "corruption": (1, "s1", "out", ("--flip", 0.2), ONE, {"fail VC 0 corruption", "* VC 0 loss out"}),
    "dead_member": (0, "u0", "out", ("--loss", 1), ONE, {"fail - flows"}),
    "lossy_member": (0, "u1", "out", ("--loss", 0.4), ONE, {"fail - flows"}),
    "slow_member": (0, "u1", "out", ("--delay_us", 20000), ONE, {"warn - slow path out"}),
    "slow_member_back": (1, "u0", "out", ("--delay_us", 20000), ONE, {"warn - slow path back"}),
    "reordering_member": (0, "u0", "out", ("--reorder", 0.5, "--reorder_delay_us", 400000), ONE,
                          {"warn - order of flows"}),
}
# Findings that may, or may not, come with a fault: which session the probes of one flow take decides about those of a
# member, and a corrupt frame has another length, or marks.
CONSEQUENCES = {
    "lossy_member": {"fail VC 0 loss out"},
    "reordering_member": {"fail VC 0 order", "warn VC 0 order", "warn - paths out", "warn - slow path out"},
    "corruption": {"warn - flows", "fail - flows", "fail VC 0 DSCP out", "fail VC 0 ECN out", "fail VC 0 PCP out",
                   "fail VC 0 VLAN out", "fail - hop limit out"},
}


def check(found, wanted, consequences=frozenset()):
    """Every finding is wanted; "*" is any verdict, and the finding may be missing."""
    names = set(found)
    for name in wanted:
        if name.startswith("* "):
            names = {n for n in names if not n.endswith(name[1:])}
        else:
            assert name in names, (name, found)
    assert names <= wanted | consequences, found


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_has_its_finding(leaves, name):
    _, switches, (left, _, _) = leaves
    switch, port, direction, settings, arguments, wanted = FAULTS[name]
    with impaired(switches[switch], port, direction, *settings):
        _, found = path(left, *arguments)
    check(found, wanted, CONSEQUENCES.get(name, frozenset()))


def test_an_asymmetric_hash_is_found(leaves):
    """Both directions of one cable are slow, and each switch hashes in its own way."""
    _, switches, (left, _, _) = leaves
    with contextlib.ExitStack() as stack:
        for switch in switches:
            stack.enter_context(impaired(switch, "u0", "out", "--delay_us", 20000))
        _, found = path(left, *ONE)
    check(found, {"warn - slow path out", "warn - slow path back", "warn - symmetry"})


def lossless_switch(directory, changes, unknown="drop", of_port=None):
    """One switch, whose classes 1 to 4 and 6 have room for all bursts of a slow endpoint; `changes`: of classes."""
    config = switched.switch_config(directory, 3, "udp4")
    of = {c: {"class": c, "lossless": "on", "headroom_bytes": 5 << 20, "reserved_bytes": 8192, "alpha": 0.0625,
              "ecn": {"least_bytes": 65536, "most_bytes": 131072}} for c in (1, 2, 3, 4, 6)}
    for number, change in changes.items():
        of[number] = {key: value for key, value in {**of[number], **change}.items() if value is not None}
    config.update(learning="off", unknown=unknown, addresses=entries(left="s0", right="s1", third="s2"),
                  buffer={"bytes": 96 << 20, "cell_bytes": 2304}, classes={"of": list(of.values())})
    for port in config["ports"]:
        port.update(mtu_bytes=2088, pfc="on", rate_gbps=1, **(of_port or {}))
    return switched.Switch(directory, config)


def test_bursts_and_flooding():
    of_port = {"pfc": "software", "bandwidth_gbps": 1}
    nscc = {"transport": {"psn_scope": "vc"}}
    with e2e.work_directory() as directory, contextlib.ExitStack() as stack:
        endpoints = []
        correct = stack.enter_context(lossless_switch(directory, {}))
        for xpu in range(3):
            daemon = endpoint(directory, xpu, nscc, of_port)
            daemon.config["instances"][0]["congestion"] = "nscc"
            daemon.config_path.write_text(json.dumps(daemon.config))
            endpoints.append(daemon)
        stack.enter_context(e2e.daemons(*endpoints))
        left, _, third = endpoints
        correct.wait_for_link()
        wait_for_peers(*endpoints)
        document, found = path(left, "--class", 1, "--disruptive", "--with", third.management)
        check(found, set())
        bursts = document["planes"][0]["classes"][0]["bursts"]
        assert bursts[-1]["pfc"] > 0 and bursts[-1]["marked"] > 0 and bursts[-1]["lost"] == 0, bursts
        assert correct.terminate() == 0, correct.report()
        wrong = {1: {"lossless": "off", "headroom_bytes": None}, 2: {"ecn": None},
                 3: {"ecn": {"least_bytes": 0, "most_bytes": 0}}}
        deaf = {"impair_in": {"hole_destinations": ["01:80:c2:00:00:01"]}}  # to PFC
        with lossless_switch(directory, wrong, unknown="flood", of_port=deaf) as switch:
            switch.wait_for_link()
            wait_for_peers(*endpoints)
            _, found = path(left, "--disruptive", "--with", third.management, "--seconds", 30)
            check(found, {"fail VC 0 lossless", "fail VC 1 ECN marks", "fail VC 2 ECN out", "warn - unknown address",
                          *(f"fail VC {vc} pauses" for vc in range(4))},
                  {"fail VC 2 ECN back", *(f"fail {of} isolation" for of in ("VC 0", "VC 1", "VC 2", "VC 3", "ack"))})
            # Beside bursts VC 0 loses, as it is not lossless. Then: neither a static address, nor learning.
            switched.ctl(switch, "addresses", "remove", e2e.mac_of(RIGHT), "--vid", VID)
            _, found = path(left, *ONE, "--with", third.management)
            assert "fail - flooding" in found, found


def test_bursts_on_credit():
    """CBFC holds the burst back, and nothing is lost."""
    with e2e.work_directory() as directory, contextlib.ExitStack() as stack:
        config = switched.switch_config(directory, 3, "udp4")
        config.update(learning="off", unknown="drop", addresses=entries(left="s0", right="s1", third="s2"),
                      cbfc={**CBFC, "credits": [1024] * 8}, buffer={"bytes": 16 << 20})
        for port in config["ports"]:
            port.update(mtu_bytes=2088, rate_gbps=1, cbfc="on")
        switch = stack.enter_context(switched.Switch(directory, config))
        endpoints = stack.enter_context(e2e.daemons(*(
            endpoint(directory, xpu, {"cbfc": CBFC}, {"cbfc": "on", "bandwidth_gbps": 1}) for xpu in range(3))))
        switch.wait_for_link()
        wait_for_credit(switch.management, *(daemon.management for daemon in endpoints))
        wait_for_peers(*endpoints)
        document, found = path(endpoints[0], "--class", 1, "--disruptive", "--with", endpoints[2].management)
        check(found, set())
        bursts = document["planes"][0]["classes"][0]["bursts"]
        assert bursts[-1]["credit_waits"] > 0 and bursts[-1]["lost"] == 0, bursts
