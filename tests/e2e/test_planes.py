# SPDX-License-Identifier: Apache-2.0
"""Two daemons with several planes: traffic over all of them in both orderings, and planes that are
drained, set down and weighed, or die, under load: no command is lost, doubled or damaged."""

import contextlib
import errno
import json
import os
import signal

import pytest

import client
import e2e
import links
from test_events import Watcher

orderings = pytest.mark.parametrize("ordering", ["strict", "unordered"])


def check_ends(left, right):
    e2e.check_ends(left, right, (
        "tx_drop_unreachable_total", "tx_drop_in_doubt_total", "rx_drop_rcrc_total",
        "rx_drop_malformed_total",
        "hello_mismatch_total", "completions_lost_total"))


def peers(daemon, **wanted):
    """Rows of planes.peers, by plane."""
    flags = [word for name, value in wanted.items() for word in (f"--{name}", value)]
    rows = e2e.managed(daemon, "planes", "peers", *flags)["peers"]
    return {row["plane"]: row for row in rows}


def planes(daemon):
    return {row["plane"]: row for row in e2e.managed(daemon, "planes", "list")["planes"]}


def sent(daemon):
    """PDUs sent on each plane."""
    counts = {}
    for row in e2e.managed(daemon, "connections", "list")["connections"]:
        counts[row["plane"]] = counts.get(row["plane"], 0) + row["tx_pdus"]
    return counts


def received(daemon):
    """Commands, so far."""
    total, = e2e.managed(daemon, "counters", "get")["sets"]
    return total["counters"]["rx_commands_total"]


def wait_for_planes(daemon, count, condition=lambda row: row["usable"]):
    return e2e.wait_until(
        lambda: (rows := peers(daemon)) and len(rows) == count and all(map(condition, rows.values()))
        and rows, e2e.START_S, lambda: f"the planes of {daemon.name}: {peers(daemon)}")


class Load:
    """suede-perf over both daemons, both ways, with its content checked, until the end of the block."""

    def __init__(self, stack, directory, left, right, prefixes=((), ()), rate=20000):
        self.left, self.right = left, right
        for daemon in (left, right):
            daemon.wait_for_link()
        self.servers = []
        self.clients = []
        self.files = []
        for daemon, vcs, prefix in ((left, "0,1", prefixes[0]), (right, "2,3", prefixes[1])):
            server = e2e.perf_server(directory, daemon, vcs, *e2e.orderly(left), prefix=prefix)
            stack.callback(server.kill)
            self.servers.append(server)
        for daemon, peer, vcs, prefix in ((left, 1, "2,3", prefixes[0]),
                                          (right, 0, "0,1", prefixes[1])):
            self.files.append(directory / f"load-{peer}.json")
            # Slower than the machine can: a queue that never ends would make every step take long.
            self.clients.append(stack.enter_context(e2e.perf(
                directory, f"load-{daemon.name}", daemon.socket, "--destinations", peer, "--vcs", vcs,
                "--duration", 600, "--rate", rate, "--bidirectional", "--check", "--drain", 30,
                "--json", self.files[-1], *e2e.orderly(left), prefix=prefix)))
        self.goes_on(1000)

    def goes_on(self, commands=2000):
        """Waits until so many more have been delivered, both ways."""
        before = [received(daemon) for daemon in (self.left, self.right)]
        for daemon, count in zip((self.left, self.right), before):
            e2e.wait_until(lambda d=daemon, c=count: received(d) >= c + commands, e2e.TRAFFIC_S,
                           lambda d=daemon: f"traffic to {d.name}\n{d.report()}")

    def end(self):
        """Ends it, and checks what became of every command."""
        for process in self.clients:
            # Its first line of progress: it is there, and ends in an orderly way.
            e2e.wait_until(process.stderr, e2e.START_S, "a client that has begun")
            process.signal(signal.SIGINT)
        e2e.end_of_load(self.clients, self.servers)
        for file in self.files:
            assert e2e.check_results(e2e.results_of(file)) > 1000


# ---- Traffic.

@orderings
@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("psn_scope", ["port", "vc"])
def test_memif_both_ways_on_all_vcs(count, ordering, psn_scope):
    changes = {"transport": {"psn_scope": psn_scope}}
    with e2e.memif_planes(count, ordering, changes) as (directory, left, right):
        assert e2e.both_ways(directory, left, right, 0.5) > 1000
        for daemon in (left, right):
            wait_for_planes(daemon, count)
            used = {plane for plane, pdus in sent(daemon).items() if pdus}
            assert len(used) == count or ordering == "strict", used
        check_ends(left, right)


@orderings
def test_planes_in_another_order_and_with_other_encapsulations(directory, ordering):
    """Plane 0 of the one is plane 3 of the other, and so on."""
    configs = []
    for side, role in (("left", "server"), ("right", "client")):
        own = {"left": 0, "right": 1}[side]
        devices = [e2e.memif_device(directory, role, n).replace("bsize=2112", "bsize=2176")
                   for n in range(4)]
        config = e2e.planes_config(directory, side, devices, ordering)
        near, far = config["instances"][0]["ports"], config["peers"][0]["ports"]
        for p, encapsulation in enumerate(("udp4", "udp6", "afh1s", "afh2c")):
            config["ports"][p]["encapsulation"] = encapsulation
            if encapsulation == "udp6":
                near[p]["ip"], far[p]["ip"] = f"fd53:5545::{own + 1}", f"fd53:5545::{2 - own}"
            elif encapsulation != "udp4":
                del near[p]["ip"], far[p]["ip"], far[p]["mac"]
        if side == "right":
            near.reverse()
        configs.append(config)
    with e2e.daemons(e2e.Daemon(directory, configs[0]), e2e.Daemon(directory, configs[1])) as (left, right):
        assert e2e.both_ways(directory, left, right, 0.5) > 1000
        rows = wait_for_planes(left, 4)
        assert {plane: row["peer_plane"] for plane, row in rows.items()} == {0: 3, 1: 2, 2: 1, 3: 0}
        ports = {plane: row["port"] for plane, row in planes(right).items()}
        assert ports == {0: "p3", 1: "p2", 2: "p1", 3: "p0"}
        check_ends(left, right)


def test_a_peer_that_some_planes_lead_to(directory):
    """The peer has one port, and sends as ever. The plane that leads nowhere keeps nobody from
    anything."""
    left_config = e2e.planes_config(
        directory, "left", [e2e.memif_device(directory, "server"), "net_memif1,role=client,id=1,"
                            f"socket={directory}/nobody.sock,socket-abstract=no,bsize=2112"],
        "unordered")
    del left_config["peers"][0]["ports"][1]
    left_config["management"]["http_address"] = "127.0.0.1:0"
    right_config = e2e.endpoint_config(directory, "right", e2e.memif_device(directory, "client"))
    with e2e.daemons(e2e.Daemon(directory, left_config), e2e.Daemon(directory, right_config)) as (left, right):
        assert "no peer is reached through port p1" in left.stderr()
        right.wait_for_link()
        server = e2e.perf_server(directory, right, "0")
        with contextlib.closing(e2e._Closing(server)):
            file = directory / "load.json"
            with e2e.perf(directory, "load", left.socket, "--destinations", 1, "--bidirectional",
                          "--check", "--json", file) as run:
                run.expect(0, e2e.TRAFFIC_S)
        assert e2e.check_results(e2e.results_of(file)) > 1000
        row, = peers(left).values()
        assert (row["plane"], row["state"], row["peer_plane"]) == (0, "up", 0), row
        assert [row["state"] for row in planes(left).values()] == ["up", "down"]


def test_the_addresses_of_peers_are_learnt_on_each_plane(directory, stack, as_root):
    del as_root
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("takes /dev/net/tun")
    daemons = []
    for name, (side, role) in zip(stack.enter_context(links.empty_namespaces(2)),
                                  (("left", "server"), ("right", "client"))):
        devices = [e2e.memif_device(directory, role, n).replace("bsize=2112", "bsize=2176")
                   for n in range(2)]
        config = e2e.planes_config(directory, side, devices, "unordered")
        for p, port in enumerate(config["ports"]):
            port.update(tap=f"sue{p}", tap_prefix=24)
            del config["peers"][0]["ports"][p]["mac"]
        daemons.append(stack.enter_context(
            e2e.Daemon(directory, config, prefix=("ip", "netns", "exec", name))))
    left, right = daemons
    # An address that is found late makes a plane that is up late: the second load has both.
    assert e2e.both_ways(directory, left, right, 0.2) > 100
    for daemon in daemons:
        wait_for_planes(daemon, 2)
    assert e2e.both_ways(directory, left, right, 1) > 1000
    for own, daemon in enumerate(daemons):
        assert [row["mac"] for row in e2e.managed(daemon, "peers", "list")["peers"]] == [
            e2e.mac_of(1 - own, p) for p in range(2)]
        assert all(sent(daemon).values())


# ---- The view of planes.

def test_what_is_seen_of_planes(stack):
    directory, left, right = stack.enter_context(e2e.memif_planes(4, "unordered"))
    watcher = stack.enter_context(Watcher(directory, left))
    assert [row["peers_up"] for row in planes(left).values()] == [0] * 4
    assert {row["state"] for row in peers(left).values()} == {"static"}
    load = Load(stack, directory, left, right)
    for plane in range(4):
        watcher.sees("peer_plane_up", xpu=0, instance=0, peer=1, plane=plane, port=f"p{plane}")
    rows = wait_for_planes(left, 4, lambda row: row["state"] == "up")
    for plane, row in rows.items():
        assert (row["xpu"], row["instance"], row["peer"], row["peer_plane"]) == (0, 0, 1, plane)
        assert row["tx_generation"] >= 1 and row["rx_generation"] >= 1 and row["weight"] == 100
        assert row["heard_ago_us"] is not None and not row["home"]
    listed = e2e.wait_until(lambda: all(row["peers_up"] == 1 for row in planes(left).values())
                            and planes(left), e2e.START_S, "all planes")
    assert [(row["port"], row["admin"], row["state"], row["weight"]) for row in listed.values()] == [
        (f"p{p}", "up", "up", 100) for p in range(4)]
    e2e.wait_until(lambda: sum(row["inflight_bytes"] for row in planes(left).values()) > 0,
                   e2e.START_S, "something in flight")
    assert {row["port"] for row in e2e.managed(left, "instances", "list")["instances"]} == {
        f"p{p}" for p in range(4)}
    connections = e2e.managed(left, "connections", "list")["connections"]
    assert [row["plane"] for row in connections] == [0, 1, 2, 3]
    top = json.loads(e2e.suedectl(left, "-j", "--times", "1", "--every", "0.2", "top"))
    assert [row["plane"] for row in top["planes"]] == [0, 1, 2, 3]
    assert {row["plane"] for row in top["peers"]} == {0, 1, 2, 3}
    # A peer, a plane, both; and absent ones.
    assert peers(left, peer=1).keys() == {0, 1, 2, 3} and peers(left, plane=2).keys() == {2}
    assert not peers(left, xpu=5) and not peers(left, instance=1)
    assert ("no peer with XPU id 7; peers are: 1" in
            e2e.suedectl(left, "planes", "peers", "--peer", "7", code=1))
    page = e2e.managed(left, "planes", "peers", "--limit", 3)
    assert len(page["peers"]) == 3 and page["more"] is True

    def register(name):
        found, = e2e.managed(left, "reg", "read", name)["registers"]
        return found["value"]

    assert register("instance.0.planes") == 4 and register("instance.0.ordering") == 1
    for p in range(4):
        assert (register(f"plane.{p}.port"), register(f"plane.{p}.up"),
                register(f"plane.{p}.weight")) == (p, 1, 100)
    assert register("plane.2.address_low") == 0xc6120201
    assert e2e.managed(left, "reg", "write", "planes.hello_multiplier", 7)["value"] == 7
    load.goes_on()
    load.end()
    check_ends(left, right)


# ---- Planes out of service.

@orderings
def test_planes_are_drained_and_set_down_under_load(stack, ordering):
    directory, left, right = stack.enter_context(e2e.memif_planes(2, ordering))
    watcher = stack.enter_context(Watcher(directory, left))
    far = stack.enter_context(Watcher(directory, right))
    load = Load(stack, directory, left, right)
    wait_for_planes(left, 2)
    for plane in (0, 1, 0):
        # The spelling of docs/planes.md.
        drained = e2e.managed(left, "plane", "drain", 0, 0, plane)
        assert drained["drained"] and drained["inflight_bytes"] == 0
        watcher.sees("plane_admin", plane=plane, port=f"p{plane}", admin="drain")
        assert planes(left)[plane]["admin"] == "drain"
        quiet = sent(left)[plane]
        load.goes_on()
        assert sent(left)[plane] == quiet and not peers(left)[plane]["usable"]
        assert e2e.managed(left, "planes", "set_admin", 0, 0, plane, "up")["admin"] == "up"
        wait_for_planes(left, 2)

        assert e2e.managed(left, "planes", "set_admin", 0, 0, plane, "down")["admin"] == "down"
        watcher.sees("plane_down", plane=plane, reason="plane")
        watcher.sees("peer_plane_down", peer=1, plane=plane, port=f"p{plane}", reason="admin")
        far.sees("peer_plane_down", peer=0, plane=plane)
        quiet = sent(left)[plane]
        load.goes_on()
        assert sent(left)[plane] == quiet and peers(left)[plane]["state"] == "down"
        assert planes(left)[plane]["peers_up"] == 0
        assert e2e.managed(left, "planes", "set_admin", 0, 0, plane, "up")["admin"] == "up"
        watcher.sees("plane_up", plane=plane)
        watcher.sees("peer_plane_up", peer=1, plane=plane)
        wait_for_planes(left, 2)
        load.goes_on()
    load.end()
    check_ends(left, right)


@orderings
def test_ports_are_set_down_under_load(stack, ordering):
    directory, left, right = stack.enter_context(e2e.memif_planes(4, ordering))
    watcher = stack.enter_context(Watcher(directory, left))
    load = Load(stack, directory, left, right)
    wait_for_planes(left, 4)
    for plane in range(4):
        e2e.managed(left, "ports", "set_admin", f"p{plane}", "down")
        watcher.sees("peer_plane_down", plane=plane, reason="link")
        load.goes_on()
        e2e.managed(left, "ports", "set_admin", f"p{plane}", "up")
        wait_for_planes(left, 4)
    load.goes_on()
    load.end()
    check_ends(left, right)


def test_all_planes_down_and_up_again(stack):
    """Meanwhile queues are in reset; commands handed over before wait, and are delivered."""
    directory, left, right = stack.enter_context(e2e.memif_planes(2, "strict"))
    for daemon in (left, right):
        daemon.wait_for_link()
    receiver = stack.enter_context(client.Client(right.socket))
    receiver.claim(1)
    sender = stack.enter_context(client.Client(left.socket))
    assert set(sender.complete(sender.send_all(1, 8), 20).values()) == {client.STATUS_OK}
    for plane in (0, 1):
        e2e.managed(left, "planes", "set_admin", 0, 0, plane, "down")
    assert sender.send(1, 0, 100, b"in reset") == -errno.EBUSY
    assert not any(row["usable"] for row in peers(left).values())
    assert not sender.completions()
    e2e.managed(left, "planes", "set_admin", 0, 0, 1, "up")
    e2e.wait_until(lambda: sender.states()[0] == 1, e2e.START_S, "the end of the reset")
    assert set(sender.complete(sender.send_all(1, 8, first=100), 30).values()) == {client.STATUS_OK}
    got = []
    e2e.wait_until(lambda: got.extend(c for vc in range(4) for c in receiver.receive(vc))
                   or len(got) >= 16, 20, "all commands")
    assert len(got) == len(set(got)) == 16


def test_a_drain_that_is_not_over_in_time_and_one_that_is_called_off(stack):
    """To a peer that stands still nothing can end."""
    directory, left, right = stack.enter_context(
        e2e.memif_planes(2, "strict", {"transport": {"max_tries": 255}}))
    for daemon in (left, right):
        daemon.wait_for_link()
    receiver = stack.enter_context(client.Client(right.socket))
    receiver.claim(1)
    sender = stack.enter_context(client.Client(left.socket))
    assert set(sender.complete(sender.send_all(1, 8), 20).values()) == {client.STATUS_OK}
    wait_for_planes(left, 2)
    right.stop()
    stack.callback(os.kill, right.pid, signal.SIGCONT)
    tags = sender.send_all(1, 8, first=100)
    busy = e2e.wait_until(
        lambda: [plane for plane, row in planes(left).items() if row["inflight_bytes"]],
        e2e.START_S, lambda: f"something in flight\n{left.report()}")
    result = e2e.managed(left, "planes", "drain", 0, 0, busy[0], "--seconds", 0)
    assert result["drained"] is False
    waiting = stack.enter_context(e2e.Process(directory, "drain", [
        e2e.SUEDECTL, "--socket", left.management, "planes", "drain", 0, 0, busy[0]]))
    e2e.wait_until(lambda: left.stderr().count("planes.drain") == 2 or not waiting.running(),
                   e2e.START_S, "the drain")
    e2e.managed(left, "planes", "set_admin", 0, 0, busy[0], "up")
    assert waiting.wait(e2e.START_S) == 1 and "meanwhile" in waiting.stderr()
    right.signal(signal.SIGCONT)
    assert set(sender.complete(tags, 60).values()) == {client.STATUS_OK}


# ---- Weights.

def test_weights_under_load(stack):
    directory, left, right = stack.enter_context(e2e.memif_planes(4, "unordered"))
    load = Load(stack, directory, left, right)
    wait_for_planes(left, 4)
    for plane in range(3):
        assert e2e.managed(left, "planes", "set_weight", 0, 0, plane, 50000) == {
            "xpu": 0, "instance": 0, "plane": plane, "peer": None, "weight": 50000}
    assert e2e.managed(left, "planes", "set_weight", 0, 0, 3, 1, "--peer", 1)["peer"] == 1
    assert [row["weight"] for row in planes(left).values()] == [50000, 50000, 50000, 100]
    assert [row["weight"] for row in peers(left).values()] == [50000, 50000, 50000, 1]
    before = sent(left)
    load.goes_on(10000)
    after = sent(left)
    grown = [after[plane] - before[plane] for plane in range(4)]
    assert grown[3] < min(grown[:3]), grown
    # Back to the weight that it would have if none had been set.
    assert e2e.managed(left, "planes", "set_weight", 0, 0, 3, "default", "--peer", 1)["weight"] == 100
    assert e2e.managed(left, "planes", "set_weight", 0, 0, 2, 7, "--peer", 1)["weight"] == 7
    assert e2e.managed(left, "planes", "set_weight", 0, 0, 2, "default") == {
        "xpu": 0, "instance": 0, "plane": 2, "peer": None, "weight": 100}
    assert [row["weight"] for row in peers(left).values()] == [50000, 50000, 100, 100]
    for wrong, said in ((["0", "0", "4", "1"], "use 0 to 3"),
                        (["0", "0", "1", "65536"], "use 0 to 65535, or default")):
        assert said in e2e.suedectl(left, "planes", "set_weight", *wrong, code=2)
    for wrong, said in ((["3", "0", "1", "1"], "planes.list names them"),
                        (["0", "0", "1", "0"], "weight 0 is for one peer"),
                        (["0", "0", "1", "1", "--peer", "9"], "no peer with XPU id 9; peers are: 1")):
        assert said in e2e.suedectl(left, "planes", "set_weight", *wrong, code=1)
    load.end()
    check_ends(left, right)


@pytest.mark.parametrize("ordering", ["strict", "unordered"])
def test_a_withdrawn_route_under_load(stack, ordering):
    directory, left, right = stack.enter_context(e2e.memif_planes(2, ordering))
    load = Load(stack, directory, left, right)
    wait_for_planes(left, 2)
    for plane in (0, 1, 0):
        assert e2e.managed(left, "planes", "set_weight", 0, 0, plane, 0, "--peer", 1)["weight"] == 0
        row = peers(left)[plane]
        assert (row["weight"], row["usable"], row["state"]) == (0, False, "up"), row
        e2e.wait_until(lambda: peers(left)[plane]["inflight_bytes"] == 0, e2e.START_S, "its PDUs")
        before = sent(left)[plane]
        load.goes_on(5000)
        assert sent(left)[plane] == before, "PDUs took a plane that has no route"
        e2e.managed(left, "planes", "set_weight", 0, 0, plane, "default", "--peer", 1)
        assert peers(left)[plane]["usable"]
        load.goes_on(1000)
    load.end()
    check_ends(left, right)


def test_a_peer_without_any_route_is_unreachable(stack):
    directory, left, right = stack.enter_context(e2e.memif_planes(
        2, "unordered", {"planes": {"unreachable_us": 5000000}}))
    for daemon in (left, right):
        daemon.wait_for_link()
    receiver = stack.enter_context(client.Client(right.socket))
    receiver.claim(1)
    sender = stack.enter_context(client.Client(left.socket))
    assert set(sender.complete(sender.send_all(1, 8), 20).values()) == {client.STATUS_OK}
    for plane in range(2):
        e2e.managed(left, "planes", "set_weight", 0, 0, plane, 0, "--peer", 1)
    tags = sender.send_all(1, 8, first=100)
    assert set(sender.complete(tags, 30).values()) == {client.STATUS_UNREACHABLE}
    e2e.managed(left, "planes", "set_weight", 0, 0, 1, "default", "--peer", 1)
    tags = sender.send_all(1, 8, first=200)
    assert set(sender.complete(tags, 30).values()) == {client.STATUS_OK}
    assert len([c for vc in range(4) for c in receiver.receive(vc)]) == 2 * 8


def test_the_bandwidth_of_a_port_is_the_weight_of_its_planes(directory):
    config = e2e.planes_config(directory, "left",
                               [e2e.memif_device(directory, "server", n) for n in range(2)], "strict")
    for port, gbps in zip(config["ports"], (100, 400)):
        port["bandwidth_gbps"] = gbps
    with e2e.Daemon(directory, config) as daemon:
        assert [row["weight"] for row in planes(daemon).values()] == [100, 400]
        assert [row["weight"] for row in peers(daemon).values()] == [100, 400]


# ---- The kernel's links.

@contextlib.contextmanager
def veth_planes(directory, ordering, arguments="", changes=None, **port_keys):
    """Two daemons with two planes over veth pairs between namespaces: yields them with their prefixes
    and the names of the namespaces. `arguments`: more of each device; `changes` of the configuration;
    `port_keys`: more of each port."""
    with links.empty_namespaces(2) as names:
        interfaces = [[f"pl{side}{p}" for p in range(2)] for side in "ab"]
        for p in range(2):
            links.ip("-n", names[0], "link", "add", interfaces[0][p], "type", "veth", "peer", "name",
                     interfaces[1][p], "netns", names[1])
            for own, name in enumerate(names):
                links.ip("-n", name, "link", "set", interfaces[own][p], "address",
                         e2e.mac_of(own, p), "mtu", 2200, "up")
        prefixes = [("ip", "netns", "exec", name) for name in names]
        configs = []
        for own, side in enumerate(("left", "right")):
            devices = [links.af_packet(interface, 4096).replace("packet0", f"packet{p}") + arguments
                       for p, interface in enumerate(interfaces[own])]
            config = e2e.planes_config(directory, side, devices, ordering)
            for port in config["ports"]:
                port.update({"mtu_bytes": 2200, **port_keys})
            configs.append(e2e.changed(config, changes or {}))
        with e2e.daemons(e2e.Daemon(directory, configs[0], prefix=prefixes[0]),
                         e2e.Daemon(directory, configs[1], prefix=prefixes[1])) as (left, right):
            yield left, right, prefixes, names, interfaces


@orderings
def test_a_veth_that_goes_down_and_comes_back(stack, directory, as_root, ordering):
    del as_root
    left, right, prefixes, names, interfaces = stack.enter_context(
        veth_planes(directory, ordering))
    watcher = stack.enter_context(Watcher(directory, left))
    load = Load(stack, directory, left, right, prefixes)
    wait_for_planes(left, 2)
    for plane in (0, 1):
        links.ip("-n", names[1], "link", "set", interfaces[1][plane], "down")
        watcher.sees("peer_plane_down", peer=1, plane=plane)
        load.goes_on()
        links.ip("-n", names[1], "link", "set", interfaces[1][plane], "up")
        wait_for_planes(left, 2)
        load.goes_on()
    load.end()
    check_ends(left, right)
