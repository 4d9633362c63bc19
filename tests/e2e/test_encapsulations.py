# SPDX-License-Identifier: Apache-2.0
"""Each encapsulation between two daemons: over a memif, over a veth pair, through a Linux bridge."""

import subprocess

import pytest

import e2e
import links
from encaps import ALL, OF_PORT, ROWS, TAGGED

FORMATS = [(encap, False) for encap in ALL] + [(encap, True) for encap in TAGGED]
formats = pytest.mark.parametrize("encap,tagged", FORMATS,
                                  ids=[e + ("-tagged" if t else "") for e, t in FORMATS])

# Classes that every header can carry, and that give AFH Gen 2 frames a source that a bridge takes
# for a station's: not all zero, and without the bit of a group.
CLASSES = {"vc": [{"pcp": 1, "dscp": 8}, {"pcp": 2, "dscp": 16, "ecn": 2}, {"pcp": 3, "dscp": 24},
                  {"pcp": 4, "dscp": 32, "ecn": 2}],
           "ack": {"pcp": 6, "dscp": 48}}


def config_of(directory, side, device, encap, tagged, first_xpu=0):
    """XPU 0 or 1 (from `first_xpu` on), reached as the encapsulation does it."""
    config = e2e.endpoint_config(directory, side, device)
    own = first_xpu + {"left": 0, "right": 1}[side]
    peer = 2 * first_xpu + 1 - own
    port = config["ports"][0]
    port.update(encapsulation=encap, **OF_PORT[encap])
    if tagged:
        port["vlan"] = {"vid": 100}
    config["classes"] = CLASSES if tagged else {
        "vc": [{k: v for k, v in c.items() if k != "pcp"} for c in CLASSES["vc"]],
        "ack": {"dscp": 48}}
    near, far = {"port": "p0"}, {"port": "p0"}
    if encap == "udp6":
        near["ip"], far["ip"] = f"fd53:5545::{own + 1:x}", f"fd53:5545::{peer + 1:x}"
    elif encap == "udp4":
        near["ip"], far["ip"] = e2e.ip_of(own), e2e.ip_of(peer)
    if encap.startswith("udp"):
        port["mac"], far["mac"] = e2e.mac_of(own), e2e.mac_of(peer)
    config["instances"][0].update(xpu=own, ports=[near])
    config["peers"] = [{"xpu": peer, "ports": [far]}]
    return config


def run_pair(directory, devices, encap, tagged, mtu=None, prefixes=((), ()), check=None):
    configs = [config_of(directory, side, device, encap, tagged)
               for side, device in zip(("left", "right"), devices)]
    for config in configs:
        if mtu:
            config["ports"][0]["mtu_bytes"] = mtu
            config["packing"] = {"limit_bytes": 1024}
    with e2e.daemons(e2e.Daemon(directory, configs[0], prefix=prefixes[0]),
                     e2e.Daemon(directory, configs[1], prefix=prefixes[1])) as (left, right):
        assert e2e.both_ways(directory, left, right, 1, "--size", 64) > 1000
        if check:
            check()
        for daemon in (left, right):
            assert daemon.terminate() == 0, daemon.report()
        a, b = left.counters(), right.counters()
        assert a["tx_commands_total"] == b["rx_commands_total"], (a, b)
        assert b["tx_commands_total"] == a["rx_commands_total"], (a, b)
        return a, b


@formats
def test_memif(directory, encap, tagged):
    devices = [e2e.memif_device(directory, role).replace("bsize=2112", "bsize=2176")
               for role in ("server", "client")]
    for counters in run_pair(directory, devices, encap, tagged):
        wrong = {name: value for name, value in counters.items()
                 if name.startswith("rx_drop") and value and
                 name not in ("rx_drop_duplicate_total", "rx_drop_ahead_total",
                              "rx_drop_not_ready_total")}
        assert not wrong


def test_one_side_speaks_another(directory):
    """Nothing is delivered, and the frames are counted as nobody's."""
    devices = [e2e.memif_device(directory, role) for role in ("server", "client")]
    configs = [config_of(directory, "left", devices[0], "afh1", False),
               config_of(directory, "right", devices[1], "udp4", False)]
    with e2e.daemons(e2e.Daemon(directory, configs[0]), e2e.Daemon(directory, configs[1])) as (left, right):
        for daemon in (left, right):
            daemon.wait_for_link()
        with e2e.perf(directory, "client", left.socket, "--destinations", 1, "--duration", 0.5,
                      "--connect_timeout", 2) as run:
            run.expect(4, e2e.TRAFFIC_S)
        assert right.counters()["rx_drop_not_sue_total"] > 0
        assert right.counters()["rx_commands_total"] == 0


# ---- The kernel's links.

@formats
def test_veth(directory, as_root, encap, tagged):
    del as_root
    with links.namespaces(1500, bridge=False) as (ends, _):
        run_pair(directory, [links.af_packet(i) for _, i in ends], encap, tagged, 1400,
                 tuple(prefix for prefix, _ in ends))


def learnt(namespace):
    """Addresses that the bridge has learnt."""
    rows = subprocess.run(["bridge", "-n", namespace, "fdb", "show", "br", "br0", "dynamic"],
                          check=True, capture_output=True, timeout=10, text=True).stdout
    return {row.split()[0] for row in rows.splitlines()}


@formats
def test_bridge(directory, as_root, encap, tagged):
    """A standard switch's treatment of each: docs/switches.md says why."""
    del as_root
    with links.namespaces(1500, bridge=True) as (ends, middle):
        def check():
            addresses = learnt(middle)
            if ROWS[encap]["Ethernet header holds"].startswith("prefix"):
                # The stations are the forwarding addresses under the prefix.
                assert {"02:53:55:45:00:00", "02:53:55:45:00:01"} <= addresses, addresses
            elif encap == "afh2":
                # Class and source take the place of a station: one for each class of each XPU.
                assert {"c0:00:00:00:00:00", "c0:00:00:00:00:01"} <= addresses, addresses
            elif encap == "afh2c":
                # A part of the RH is in it too, so there is no end of them.
                assert len(addresses) > 100
            else:
                assert {e2e.mac_of(0), e2e.mac_of(1)} <= addresses, addresses

        run_pair(directory, [links.af_packet(i) for _, i in ends], encap, tagged, 1400,
                 tuple(prefix for prefix, _ in ends), check)
