# SPDX-License-Identifier: Apache-2.0
"""Two daemons in one virtual machine, each with NICs of its own: run by tools/nics.

NICs 0 and 1 are on one wire, 2 and 3 on another.
"""
import contextlib
import json
import pathlib
import re
import subprocess

import pytest

import capabilities
import e2e
import test_cbfc
import test_lcores
import test_llr
import test_pfc
import test_planes
from test_events import Watcher

PCI = pathlib.Path("/sys/bus/pci")
NICS = [f"0000:00:1{number}.0" for number in range(4)]

pytestmark = pytest.mark.skipif(not all((PCI / "devices" / nic).exists() for nic in NICS),
                                reason="there are no such NICs: use tools/nics")


def cables(state, *nics):
    """Pulls or plugs in the cables of NICs: "off" or "on"."""
    with open("/dev/ttyS1", "r+b", buffering=0) as serial:
        subprocess.run(["stty", "raw", "-echo"], stdin=serial, check=True)
        for nic in nics:
            serial.write(f"{state} {nic}\n".encode())
            answer = b""
            while not answer.endswith(b"done\n"):
                answer += serial.read(1)


def check(directory, config):
    path = directory / "check.yaml"
    path.write_text(json.dumps(config))
    return subprocess.run([e2e.SUEDE, "--config", path, "--check"], capture_output=True, text=True,
                          timeout=e2e.START_S, check=False)


def test_a_nic_without_a_driver_is_named(directory):
    config = e2e.endpoint_config(directory, "left", NICS[0])
    result = check(directory, config)
    assert result.returncode == 5
    driver = PCI / "devices" / NICS[0] / "driver"
    bound = driver.resolve().name if driver.exists() else "no driver"  # virtio has the kernel's
    said = f"{NICS[0]} is bound to {bound}; mend: modprobe vfio-pci && dpdk-devbind.py"
    assert said in result.stdout


@pytest.fixture(scope="module")
def nics():
    for nic in NICS:
        device = PCI / "devices" / nic
        (device / "driver_override").write_text("vfio-pci")
        driver = device / "driver"
        if driver.exists() and driver.resolve().name != "vfio-pci":
            (driver / "unbind").write_text(nic)
        if not driver.exists():
            (PCI / "drivers/vfio-pci/bind").write_text(nic)
    return NICS


def on_hugepages(config):
    """Other memory has addresses of more bits than QEMU's IOMMU has."""
    return e2e.changed(config, {"eal": {"hugepages": "on"}})


def config_of(directory, side, nic, encapsulation="udp4", **port):
    config = on_hugepages(e2e.endpoint_config(directory, side, nic))
    config["ports"][0].update(port, encapsulation=encapsulation)
    if encapsulation.startswith("afh"):
        del config["ports"][0]["mac"]
        for part in (*config["instances"], *config["peers"]):
            part["ports"] = [{"port": "p0"}]
    return config


def test_speeds_are_those_of_the_device(directory, nics):
    """A speed that it has not is refused with those that it has; one that it has, alone, comes up."""
    path = directory / "speeds.yaml"
    path.write_text(json.dumps(config_of(directory, "left", nics[0], link_speeds_gbps=[200])))
    result = subprocess.run([e2e.SUEDE, "--config", path], capture_output=True, text=True, timeout=e2e.START_S,
                            check=False)
    assert result.returncode == 2, result.stderr
    said = re.search("the device has no 200 Gbit/s, but (.*): change link_speeds_gbps", result.stderr)
    if said is None:
        assert "its driver reports no speeds of the device, and takes none: remove link_speeds_gbps" in result.stderr
        return
    speed = int(said[1].split(", ")[-1])
    with daemons(directory, [config_of(directory, side, nic, link_speeds_gbps=[speed])
                             for side, nic in (("left", nics[0]), ("right", nics[1]))]) as pair:
        for daemon in pair:
            port, = e2e.managed(daemon, "ports", "list")["ports"]
            assert port["speed_bps"] == speed * 10**9 and port["fec"] == "", port


def test_capabilities_are_those_of_the_page(directory, nics):
    """Values that --check prints are those that docs/dpdk.md has for the driver; the endpoint has the same."""
    config = config_of(directory, "left", nics[0])
    lines = capabilities.check(directory, config)
    print(*lines, sep="\n")
    driver, values = capabilities.printed(lines)["p0"]
    capabilities.check_documented(driver, values)
    with e2e.Daemon(directory, config) as daemon:
        rows = e2e.managed(daemon, "ports", "capabilities")["capabilities"]
        assert {row["capability"]: (row["value"], row["consequence"]) for row in rows} == values


def test_a_rate_that_the_device_does_not_report_is_required(directory, nics):
    """Devices that report a speed start without one; others name the key."""
    config = config_of(directory, "left", nics[0], pfc="software")
    _, values = capabilities.printed(capabilities.check(directory, config))["p0"]
    if values["speeds"][0] == "not reported":
        path = directory / "rate.yaml"
        path.write_text(json.dumps(config))
        result = subprocess.run([e2e.SUEDE, "--config", path], capture_output=True, text=True, timeout=e2e.START_S,
                                check=False)
        assert result.returncode == 2, result.stderr
        assert f"the rate of {nics[0]} is not known, but needed for pfc: software" in result.stderr
        config["ports"][0]["bandwidth_gbps"] = 10
    with e2e.Daemon(directory, config) as daemon:
        assert daemon.running()


@contextlib.contextmanager
def daemons(directory, configs):
    with contextlib.ExitStack() as stack:
        pair = [stack.enter_context(e2e.Daemon(directory, config)) for config in configs]
        for daemon in pair:
            daemon.wait_for_link()
        yield pair


@pytest.mark.parametrize("encapsulation,port,changes", [
    ("udp4", {}, {}),
    ("udp4", {}, {"packing": {"limit_bytes": 4096}}),
    ("udp4", {"vlan": {"vid": 100}}, {}),
    ("udp6", {}, {}),
    ("afh1", {"vlan": {"vid": 100}}, {}),
    ("afh2c", {}, {})], ids=["udp4", "jumbo", "vlan", "udp6", "afh1-vlan", "afh2c"])
def test_traffic(directory, nics, encapsulation, port, changes):
    configs = [e2e.changed(config_of(directory, side, nic, encapsulation, **port), changes)
               for side, nic in zip(("left", "right"), nics)]
    if encapsulation == "udp6":
        for config in configs:
            for part in (*config["instances"], *config["peers"]):
                part["ports"][0]["ip"] = f"fd00::{part['xpu'] + 1}"
    assert check(directory, configs[0]).returncode == 0
    with daemons(directory, configs) as (left, right):
        assert e2e.both_ways(directory, left, right, 2) > 1000
        # Frames that are not SUE's: a kernel may be on the other port of a wire.
        e2e.check_ends(left, right, test_lcores.NEVER)
        for daemon in (left, right):
            assert "Z error " not in daemon.stderr(), daemon.report()


def test_a_pulled_cable(directory, nics):
    configs = [config_of(directory, side, nic) for side, nic in zip(("left", "right"), nics)]
    with daemons(directory, configs) as (left, right):
        with Watcher(directory, left) as watcher:
            cables("off", 0, 1)
            watcher.sees("link_down", port="p0")
            watcher.sees("plane_down", reason="link")
            cables("on", 0, 1)
        for daemon in (left, right):
            daemon.wait_for_link()
        assert e2e.both_ways(directory, left, right, 1) > 1000


@pytest.mark.parametrize("layers", [("llr",), ("cbfc",), ("llr", "cbfc")], ids="-".join)
def test_the_neighbour_is_heard(directory, nics, layers):
    """Link frames go to a group, which a NIC receives where it was asked to."""
    configs = [config_of(directory, side, nic, **dict.fromkeys(layers, "on"))
               for side, nic in zip(("left", "right"), nics)]
    for config in configs:
        config.update(llr=test_llr.LLR, cbfc=test_cbfc.CBFC)
    with daemons(directory, configs) as (left, right):
        ends = (left.management, right.management)
        if "llr" in layers:
            test_llr.wait_for_sessions(*ends)
        if "cbfc" in layers:
            test_cbfc.wait_for_credit(*ends)
        assert e2e.both_ways(directory, left, right, 2) > 100
        for daemon in (left, right):
            counters = test_llr.links_of(daemon.management)[0]["counters"]
            assert counters["link_rx_hellos_total"] > 0, counters
            if "llr" in layers:
                assert counters["llr_rx_frames_total"] > 100, counters
            if "cbfc" in layers:
                assert counters["cbfc_rx_cf_updates_total"] > 0, counters


def test_pauses_are_heard(directory, nics):
    configs = [config_of(directory, side, nic) for side, nic in zip(("left", "right"), nics)]
    for config in configs:
        # A pause lasts 33 ms at most. Each VC has its own class, and its own sequence at both ends.
        config["ports"][0].update(pfc="software", bandwidth_gbps=1)
    with daemons(directory, configs) as (left, right):
        assert test_pfc.paused(right)[0] == ""
        with test_pfc.Pause(left.socket, 1 << 2):
            e2e.wait_until(lambda: test_pfc.paused(right)[0] == "2", e2e.START_S, "the pause")
        assert right.counters()["rx_pfc_total"] > 0
        e2e.wait_until(lambda: test_pfc.paused(right)[0] == "", e2e.START_S, "its end")
        assert e2e.both_ways(directory, left, right, 2) > 100


@pytest.mark.parametrize("ordering", ["strict", "unordered"])
def test_a_plane_survives_anothers_pulled_cable(directory, stack, nics, ordering):
    configs = [on_hugepages(e2e.planes_config(directory, side, [nics[i], nics[i + 2]], ordering))
               for i, side in enumerate(("left", "right"))]
    with daemons(directory, configs) as (left, right):
        # Endpoints greet each other on their planes when they have PDUs to send.
        load = test_planes.Load(stack, directory, left, right)
        for daemon in (left, right):
            test_planes.wait_for_planes(daemon, 2)
        cables("off", 0, 1)
        for daemon in (left, right):
            test_planes.wait_for_planes(daemon, 2, lambda row: row["usable"] == (row["plane"] == 1))
        load.goes_on()
        cables("on", 0, 1)
        for daemon in (left, right):
            test_planes.wait_for_planes(daemon, 2)
        load.goes_on()
        load.end()
        test_planes.check_ends(left, right)


@pytest.mark.parametrize("queues,lcores", [("lcore", 2), ("instance", 1)])
def test_queues(directory, stack, nics, queues, lcores):
    """A pair of queues for each lcore or instance, or a plain word."""
    configs = [on_hugepages(test_lcores.config_of(directory, side, nic, lcores))
               for side, nic in zip(test_lcores.SIDES, nics)]
    for config in configs:
        config["ports"][0]["queues"] = queues
    if (PCI / "devices" / nics[0] / "vendor").read_text().strip() != "0x15ad":
        with pytest.raises(e2e.E2eError, match="the device has 1 pair of queues"):
            with e2e.Daemon(directory, configs[0]):
                pass
        return
    with test_lcores.run_pair(directory, configs) as (left, right):
        load = test_lcores.Load(stack, directory, left, right, "--duration", 1)
        assert load.end() > 1000
        for daemon in (left, right):
            assert test_lcores.port_of(daemon)["queue_pairs"] == 2
            assert min(test_lcores.sent_by_queue(daemon)) > 10
        e2e.check_ends(left, right, test_lcores.NEVER)
