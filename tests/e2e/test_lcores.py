# SPDX-License-Identifier: Apache-2.0
"""Several lcores on one port: each has a queue pair of its own there, or a part in the only one."""

import contextlib
import os
import signal
import subprocess
import time

import pytest

import client
import e2e
import links
import test_command_line
import test_metrics
import test_packets

SIDES = {"left": (0, 2), "right": (1, 3)}  # XPUs
VCS = "0", "1"


def own_address(encapsulation, xpu):
    return {"ip": e2e.ip_of(xpu)} if encapsulation == "udp4" else {}


def config_of(directory, side, device, lcores, encapsulation="udp4"):
    """Two XPUs on port p0, each on an lcore of its own where there are two. The XPUs of the other
    side are peers."""
    own, peers = (SIDES[s] for s in (("left", "right") if side == "left" else ("right", "left")))
    cpus = (sorted(os.sched_getaffinity(0)) * 2)[:2]
    if side == "right" and lcores == 1:
        cpus.reverse()
    cpus = cpus[:lcores]
    if len(set(cpus)) < lcores:
        pytest.skip("takes two CPUs")
    config = e2e.endpoint_config(directory, side, device)
    config["lcores"] = [{"cpu": cpu, "idle": "sleep"} for cpu in cpus]
    config["ports"][0]["encapsulation"] = encapsulation
    if encapsulation != "udp4":
        del config["ports"][0]["mac"]
    config["instances"] = [
        {"xpu": xpu, "lcore": cpus[number % lcores],
         "ports": [{"port": "p0", **own_address(encapsulation, xpu)}]}
        for number, xpu in enumerate(own)]
    far = {"mac": e2e.mac_of(peers[0])} if encapsulation == "udp4" else {}
    config["peers"] = [
        {"xpu": xpu, "ports": [{"port": "p0", **own_address(encapsulation, xpu), **far}]}
        for xpu in peers]
    return config


@contextlib.contextmanager
def pair(directory, lcores, devices=None, encapsulation="udp4", prefixes=((), ()), changes=None):
    devices = devices or [e2e.memif_device(directory, role).replace("bsize=2112", "bsize=2176")
                          for role in ("server", "client")]
    configs = [e2e.changed(config_of(directory, side, device, count, encapsulation), changes or {})
               for side, device, count in zip(SIDES, devices, lcores)]
    with run_pair(directory, configs, prefixes) as daemons:
        yield daemons


@contextlib.contextmanager
def run_pair(directory, configs, prefixes=((), ())):
    left, right = configs
    with e2e.daemons(e2e.Daemon(directory, left, prefix=prefixes[0]),
                     e2e.Daemon(directory, right, prefix=prefixes[1])) as (left, right):
        for daemon in (left, right):
            daemon.wait_for_link()
        yield left, right


def test_an_lcore_that_shares_its_cpu_is_reported(stack):
    directory = stack.enter_context(e2e.work_directory())
    config = e2e.endpoint_config(directory, "left", e2e.memif_device(directory, "server"))
    config["lcores"][0]["idle"] = "spin"
    cpu = str(config["lcores"][0]["cpu"])
    daemon = stack.enter_context(e2e.Daemon(directory, config))
    stack.enter_context(e2e.Process(directory, "other", ["taskset", "-c", cpu, "sh", "-c", "while :; do :; done"]))
    daemon.wait_for_line(f"lcore: lcore_shares_cpu lcore={cpu} percent=")


class Load:
    """From each XPU on the left to both on the right and back, with the content checked."""

    def __init__(self, stack, directory, left, right, *arguments, prefixes=((), ())):
        self.servers = []
        for xpu in SIDES["right"]:
            for vc in VCS:
                server = e2e.perf_server(directory, right, vc, "--xpuid", xpu, prefix=prefixes[1])
                stack.callback(server.kill)
                self.servers.append(server)
        self.files = [directory / f"load-{xpu}.json" for xpu in SIDES["left"]]
        self.clients = [
            stack.enter_context(e2e.perf(
                directory, f"load-{xpu}", left.socket, "--xpuid", xpu, "--destinations", "1,3",
                "--vcs", vc, "--bidirectional", "--check", "--drain", 30, "--json", file, *arguments,
                prefix=prefixes[0]))
            for xpu, vc, file in zip(SIDES["left"], VCS, self.files)]

    def end(self, interrupt=False):
        """Commands delivered, none of which was lost, doubled or out of order."""
        for process in self.clients:
            if interrupt:
                process.signal(signal.SIGINT)
        e2e.end_of_load(self.clients, self.servers)
        return sum(e2e.check_results(e2e.results_of(file)) for file in self.files)


# On any link, and on one where no kernel sends anything.
NEVER = ("tx_drop_unreachable_total", "tx_drop_in_doubt_total", "rx_drop_rcrc_total",
         "rx_drop_destination_total",
         "rx_drop_malformed_total", "hello_mismatch_total")
NEVER_ALONE = *NEVER, "rx_drop_not_sue_total"


def sets_of(daemon, scope):
    sets = e2e.managed(daemon, "counters", "get", "--scope", scope)["sets"]
    return [counters["counters"] for counters in sets]


def port_of(daemon):
    port, = e2e.managed(daemon, "ports", "list")["ports"]
    return port


def lcores_of(daemon):
    return port_of(daemon)["lcores"]


def test_memif_with_queues_of_each_lcore(directory, stack):
    """A frame arrives on the queue of the lcore that has the number of the sender's, which forwards it."""
    devices = [e2e.memif_device(directory, role).replace("bsize=2112", "bsize=2176") + ",queues=2"
               for role in ("server", "client")]
    with pair(directory, (2, 2), devices) as (left, right):
        load = Load(stack, directory, left, right, "--duration", 1)
        assert load.end() > 1000
        for daemon in (left, right):
            assert port_of(daemon)["queue_pairs"] == 2
            assert port_of(daemon)["steering"] == "software"
            assert all(counters["rx_handed_over_total"] for counters in sets_of(daemon, "lcore"))
        e2e.check_ends(left, right, NEVER_ALONE)


# A parsed frame of afh2c is not as it was before: the lcore that hands it over has to put it back.
@pytest.mark.parametrize("lcores,encapsulation", [
    ((2, 2), "udp4"), ((2, 2), "afh2c"), ((2, 1), "udp4"), ((1, 2), "udp4")])
def test_memif(directory, stack, lcores, encapsulation):
    """Its ends need not have the same number of lcores: a memif has one queue pair."""
    with pair(directory, lcores, encapsulation=encapsulation) as (left, right):
        for daemon, count in zip((left, right), lcores):
            assert lcores_of(daemon) == [row["cpu"] for row in daemon.config["lcores"]]
            assert len(lcores_of(daemon)) == count
        load = Load(stack, directory, left, right, "--duration", 1)
        assert load.end() > 1000
        for daemon, count in zip((left, right), lcores):
            for counters in sets_of(daemon, "instance"):
                assert counters["tx_pdus_total"] and counters["rx_pdus_total"]
            handed = [counters["rx_handed_over_total"] for counters in sets_of(daemon, "lcore")]
            # The first lcore receives for both.
            assert handed[0] > 0 if count == 2 else handed == [0], handed
            assert handed[1:] in ([], [0])
        e2e.check_ends(left, right, NEVER_ALONE)


def af_packet(interface, queues):
    return links.af_packet(interface) + (f",qpairs={queues}" if queues else "")


def test_af_packet(directory, as_root, stack):
    """The kernel chooses the queue that a frame comes by; frames that are not SUE's come by any,
    too."""
    del as_root
    with links.namespaces(2088) as (ends, _):
        prefixes = [prefix for prefix, _ in ends]
        devices = [links.af_packet(interface, 4096) + ",qpairs=2" for _, interface in ends]
        with pair(directory, (2, 2), devices, prefixes=prefixes) as (left, right):
            load = Load(stack, directory, left, right, "--duration", 1, prefixes=prefixes)
            with client.Packets(left.socket, receive=False) as sender, \
                 client.Packets(right.socket) as receiver:
                # From many stations: a queue is chosen by them.
                packets = [test_packets.packet(i)[:6] + bytes([2, 0, 0, 0, 1, i]) +
                           test_packets.packet(i)[12:] for i in range(64)]
                missing = set(packets)

                def all_there():
                    # Nobody sends a packet again that a full ring has lost.
                    for frame in missing:
                        sender.send(frame)
                    time.sleep(0.1)
                    missing.difference_update(receiver.drain())
                    return not missing

                e2e.wait_until(all_there, e2e.START_S, lambda: f"{len(missing)} packets")
            assert load.end() > 1000
            for daemon in (left, right):
                taken = [counters["rx_frames_total"] for counters in sets_of(daemon, "lcore")]
                assert sum(taken) > 1000, taken
                # Reads the lcores first: they go on to send HELLOs between the two answers.
                sent = sum(counters["tx_frames_total"] for counters in sets_of(daemon, "lcore"))
                port, = sets_of(daemon, "port")
                assert port["port_tx_frames_total"] >= sent
            e2e.check_ends(left, right, NEVER)


def sent_by_queue(daemon):
    """Frames that have left by each queue of the only port."""
    telemetry = test_metrics.Telemetry(daemon)
    with contextlib.closing(telemetry.socket):
        counters = telemetry.ask("/ethdev/xstats,0")
    return [counters[f"tx_q{queue}_packets"] for queue in range(port_of(daemon)["queue_pairs"])]


@pytest.mark.parametrize("lcores", [(1, 1), (1, 2)])
def test_instances_have_queues_of_their_own(directory, as_root, stack, lcores):
    """Instances have them where the port says so. With an lcore each they have them anyway."""
    del as_root
    with links.namespaces(2088) as (ends, _):
        prefixes = [prefix for prefix, _ in ends]
        configs = []
        for side, count, (_, interface) in zip(SIDES, lcores, ends):
            device = links.af_packet(interface, 4096) + ",qpairs=2"
            configs.append(config_of(directory, side, device, count))
            configs[-1]["ports"][0]["queues"] = "instance"
        with run_pair(directory, configs, prefixes) as (left, right):
            for daemon, count in zip((left, right), lcores):
                port = port_of(daemon)
                assert len(port["lcores"]) == count and port["queue_pairs"] == 2
            load = Load(stack, directory, left, right, "--duration", 1, prefixes=prefixes)
            assert load.end() > 1000
            for daemon in (left, right):
                frames = sent_by_queue(daemon)
                pdus = [row["tx_pdus_total"] for row in sets_of(daemon, "instance")]
                assert all(f >= p > 100 for f, p in zip(frames, pdus)), (frames, pdus)
            e2e.check_ends(left, right, NEVER)


@pytest.mark.parametrize("lcores,queues,wants,says", [
    (2, None, "lcore", "2 lcores serve it, and the device has 1 pair of queues: give it qpairs=2 "),
    (1, 2, "lcore", "1 lcore serves it, and the device has 2 pairs of queues: give it qpairs=1 "),
    (1, None, "instance", "2 instances are to have queues of their own, and the device has 1 pair of "
     "queues: give it qpairs=2 in ports[].device, or leave out ports[].queues")])
def test_queues_that_do_not_fit(directory, as_root, lcores, queues, wants, says):
    del as_root
    config = config_of(directory, "left", af_packet("lo", queues), lcores)
    config["ports"][0].update({"mtu_bytes": 1500, "queues": wants})
    config["packing"] = {"limit_bytes": 1024}
    message = test_command_line.refused(directory, config)
    assert "port p0 (net_af_packet0,iface=lo" in message and says in message, message


def test_a_port_is_set_down_and_up_on_all_its_lcores(directory, stack):
    patient = {"transport": {"max_tries": 60, "rto_max_us": 100000}}
    with pair(directory, (2, 2), changes=patient) as (left, right):
        load = Load(stack, directory, left, right, "--duration", 600, "--rate", 5000)

        def received():
            return [row["rx_pdus_total"] for d in (left, right) for row in sets_of(d, "instance")]

        def goes_on():
            before = received()
            e2e.wait_until(lambda: all(now >= then + 20 for now, then in zip(received(), before)),
                           e2e.TRAFFIC_S, "traffic")

        goes_on()
        for _ in range(2):
            # For less than it takes to find a peer unreachable.
            e2e.suedectl(left, "ports", "set_admin", "p0", "down")
            assert port_of(left)["admin"] == "down"
            sent = [row["tx_frames_total"] for row in sets_of(left, "lcore")]
            time.sleep(0.01)
            assert [row["tx_frames_total"] for row in sets_of(left, "lcore")] == sent
            e2e.suedectl(left, "ports", "set_admin", "p0", "up")
            goes_on()
        assert load.end(interrupt=True) > 100
        e2e.check_ends(left, right, NEVER_ALONE)


def test_peers_are_learnt_for_all_lcores(directory, as_root, stack):
    """Through one TAP device, whose packets the first lcore carries."""
    del as_root
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("takes /dev/net/tun")
    with links.empty_namespaces(2) as names:
        prefixes = [["ip", "netns", "exec", name] for name in names]
        configs = []
        for side, role in (("left", "server"), ("right", "client")):
            config = config_of(directory, side, e2e.memif_device(directory, role), 2)
            config["ports"][0].update({"tap": "sue0", "tap_prefix": 24})
            for peer in config["peers"]:
                del peer["ports"][0]["mac"]
            configs.append(config)
        with e2e.daemons(e2e.Daemon(directory, configs[0], prefix=prefixes[0]),
                         e2e.Daemon(directory, configs[1], prefix=prefixes[1])) as (left, right):
            for daemon in (left, right):
                daemon.wait_for_link()
                e2e.wait_until(
                    lambda d=daemon: not any(p["resolving"] for p in
                                             e2e.managed(d, "peers", "list")["peers"]),
                    e2e.START_S, "the peers' addresses")
            subprocess.run([*prefixes[0], "ping", "-c", "2", "-i", "0.2", "-W", "10", e2e.ip_of(3)],
                           check=True, capture_output=True, timeout=60)
            load = Load(stack, directory, left, right, "--duration", 0.5, prefixes=prefixes)
            assert load.end() > 100
            e2e.check_ends(left, right, NEVER_ALONE)
