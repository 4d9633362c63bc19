# SPDX-License-Identifier: Apache-2.0
"""Capabilities of devices as suede --check and ports.capabilities report them, and as docs/dpdk.md has them."""
import contextlib
import json
import subprocess

import pytest

import capabilities
import e2e
import links

NICS_PAGE = e2e.ROOT / "docs/nics.md"


def shown(daemon):
    """The same as capabilities.printed, from the running endpoint."""
    ports = {}
    for row in e2e.managed(daemon, "ports", "capabilities")["capabilities"]:
        of_port = ports.setdefault(row["port"], (row["driver"], {}))[1]
        of_port[row["capability"]] = (row["value"], row["consequence"])
    return ports


def three_ports(directory):
    config = e2e.planes_config(directory, "left", ["net_null0", "net_ring1"], "strict")
    config["ports"].append({"name": "p2", "device": e2e.memif_device(directory, "server", 2)})
    config["instances"].append({"xpu": 2, "lcore": config["lcores"][0]["cpu"],
                                "ports": [{"port": "p2", "ip": "198.18.9.1"}]})
    config["peers"][0]["ports"].append({"port": "p2", "ip": "198.18.9.2", "mac": e2e.mac_of(1, 2)})
    return config


def test_devices_are_as_documented(directory):
    """--check and the running endpoint show the same. --check opens no memif."""
    config = three_ports(directory)
    lines = capabilities.check(directory, config)
    assert lines[-1] == "good"
    checked = capabilities.printed(lines)
    assert list(checked) == ["p0", "p1"], lines
    with e2e.Daemon(directory, config) as daemon:
        running = shown(daemon)
        text = e2e.suedectl(daemon, "ports", "capabilities", "--wide")
        ports = e2e.managed(daemon, "ports", "list")["ports"]
    assert list(running) == ["p0", "p1", "p2"] and {p: running[p] for p in checked} == checked
    for driver, of_port in running.values():
        capabilities.check_documented(driver, of_port)
    for row in capabilities.table(capabilities.PAGE, "capabilities"):
        assert row["capability"] in text, text
    # Their drivers report 10 and 100 Gbit/s, which are constants.
    assert [port["speed_bps"] for port in ports] == [None] * 3, ports


def test_consequences_are_those_of_the_configuration(directory):
    config = e2e.endpoint_config(directory, "left", "net_ring0")
    _, before = capabilities.printed(capabilities.check(directory, config))["p0"]
    assert before["PFC"] == ("no", "for PFC use pfc: software")
    assert before["multicast filter"][1] == "not needed here"
    assert "need bandwidth_gbps" in before["speeds"][1]
    config["ports"][0].update(pfc="software", bandwidth_gbps=100, encapsulation="udp6", vlan={"vid": 5})
    for part in (*config["instances"], *config["peers"]):
        part["ports"][0]["ip"] = f"fd00::{part['xpu'] + 1}"
    lines = capabilities.check(directory, config)
    _, after = capabilities.printed(lines)["p0"]
    assert after["PFC"] == ("no", "pfc: software is in use")
    assert after["multicast filter"] == ("all groups", "receives link frames and PFC frames")
    assert after["flow control"][1].startswith("not asked to hand PFC frames up: rx_pfc_total")
    assert after["VLAN filter"] == ("no", "passes all VLANs")
    assert after["tx checksum"] == ("no", "lcores compute it")
    assert after["speeds"] == ("not reported", "no link_speeds_gbps; bandwidth_gbps is the rate")


def test_a_device_that_cannot_be_opened_is_an_error(directory):
    config = e2e.endpoint_config(directory, "left", "net_null0")
    config["ports"][0]["link_speeds_gbps"] = [100]
    lines = capabilities.check(directory, config, code=5)
    assert lines[-2:] == ["error ports: port p0 (net_null0): its driver reports no speeds of the device, and takes none: "
                          "remove link_speeds_gbps", "1 error"], lines


def test_kernel_interfaces_are_as_documented(directory, as_root):
    """A packet socket, which --check opens, and a TAP device, which it does not make."""
    del as_root
    with links.empty_namespaces(1) as (name,), contextlib.ExitStack() as stack:
        links.ip("-n", name, "link", "add", "cap0", "type", "veth", "peer", "name", "cap2")
        links.ip("-n", name, "link", "set", "cap0", "mtu", "9000", "up")
        prefix = ["ip", "netns", "exec", name]
        config = e2e.planes_config(
            directory, "left",
            ["net_af_packet0,iface=cap0,framesz=8192,blocksz=65536,qpairs=1", "net_tap0,iface=cap1"], "strict")
        config["packing"]["limit_bytes"] = 1024
        daemon = stack.enter_context(e2e.Daemon(directory, config, prefix=prefix))
        running = shown(daemon)
        for driver, of_port in running.values():
            capabilities.check_documented(driver, of_port)
        assert [driver for driver, _ in running.values()] == ["net_af_packet", "net_tap"]


@pytest.mark.parametrize("row", capabilities.table(NICS_PAGE, "arrangements"),
                         ids=lambda row: f"{row['ports of the instance']}x{row['bandwidth_gbps']}")
def test_arrangements_of_ports_are_configurations(directory, row):
    """Each row of the table in docs/nics.md is read as it is, and adds up to what an instance has."""
    count, lanes = int(row["ports of the instance"]), row["lanes of a port"].split()
    assert int(lanes[0]) * int(lanes[2]) == int(row["bandwidth_gbps"])
    config = e2e.planes_config(directory, "left", [f"0000:3b:00.{p}" for p in range(count)], "unordered")
    text = "".join(f"; ports[{p}].{key}={row[key]}" for p in range(count)
                   for key in ("link_speeds_gbps", "bandwidth_gbps", "autoneg", "fec") if row[key] != "-")
    path = directory / "arrangement.yaml"
    path.write_text(json.dumps(config))
    run = subprocess.run([e2e.SUEDE, "--config", path, "--dump_config", "--set", text.removeprefix("; ").replace("; ", ";")],
                             capture_output=True, text=True, timeout=e2e.START_S, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.count(f"bandwidth_gbps: {row['bandwidth_gbps']}") == count
    assert run.stdout.count(f"fec: {row['fec']}") == count
