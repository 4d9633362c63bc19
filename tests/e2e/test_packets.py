# SPDX-License-Identifier: Apache-2.0
"""Management packets: through the library, through TAP devices in namespaces of their own, and the
MAC addresses of peers that the kernel finds there."""

import contextlib
import os
import pathlib
import re
import subprocess
import threading

import pytest

import e2e
import links
from client import STATUS_OK, STATUS_UNREACHABLE, Client, Packets

RATE = 10_000
TAP = "sue0"


@pytest.fixture
def may_tap(as_root):
    del as_root
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("takes /dev/net/tun")


def tap_config(directory, side, role, **port):
    """With a TAP device and without any MAC address of the peer's."""
    config = e2e.endpoint_config(directory, side, e2e.memif_device(directory, role))
    config["ports"][0].update({"tap": TAP, "tap_prefix": 24, **port})
    for peer in config["peers"]:
        del peer["ports"][0]["mac"]
    return config


@contextlib.contextmanager
def two_namespaces():
    with links.empty_namespaces(2) as names:
        yield [["ip", "netns", "exec", name] for name in names]


def peer_of(daemon):
    return e2e.managed(daemon, "peers", "list")["peers"][0]


def wait_until_learnt(*daemons):
    for daemon in daemons:
        e2e.wait_until(lambda: not peer_of(daemon)["resolving"], e2e.START_S, "the peer's address")


@contextlib.contextmanager
def tap_pair():
    """XPU 9 of the left one's peers is not there."""
    with e2e.work_directory() as directory, two_namespaces() as (near, far):
        config = tap_config(directory, "left", "server")
        config["peers"].append({"xpu": 9, "ports": [{"port": "p0", "ip": e2e.ip_of(9)}]})
        with e2e.daemons(e2e.Daemon(directory, config, prefix=near),
                         e2e.Daemon(directory, tap_config(directory, "right", "client"), prefix=far)) as (left, right):
            for daemon in (left, right):
                daemon.wait_for_link()
            yield directory, (left, near), (right, far)


def run(prefix, *argv, code=0, seconds=30):
    done = subprocess.run([*prefix, *map(str, argv)], capture_output=True, text=True,
                          timeout=seconds, check=False)
    assert done.returncode == code, (argv, done.stdout, done.stderr)
    return done.stdout


def packet(number, bytes_=60, tag=b""):
    """A frame to everybody that is nobody's protocol."""
    head = b"\xff" * 6 + bytes.fromhex("02aabbccddee") + tag + b"\x90\x00"
    return (head + number.to_bytes(4, "big")).ljust(bytes_, bytes([number % 251]))


def sue_frame():
    """A packet that the port takes for SUE's: UDP to port 3333."""
    udp = bytes.fromhex("c0000d05 0020 0000".replace(" ", "")) + bytes(24)
    ip = bytes.fromhex("45000034000040004011") + bytes(2) + bytes([198, 18, 0, 1, 198, 18, 0, 2])
    return b"\xff" * 6 + bytes.fromhex("02aabbccddee") + b"\x08\x00" + ip + udp


@pytest.fixture(scope="module")
def pair():
    with e2e.memif_pair() as (directory, left, right):
        for daemon in (left, right):
            daemon.wait_for_link()
        yield directory, left, right


def grown(daemon, before):
    return {name: value - before[name] for name, value in daemon.counters().items()}


def test_frames_pass_unchanged(pair):
    _, left, right = pair
    before = [left.counters(), right.counters()]
    with Packets(left.socket, receive=False) as sender, Packets(right.socket) as first, \
         Packets(right.socket) as second:
        sent = [packet(1, 14), packet(2, 60), packet(3, 2102),
                packet(4, 64, tag=bytes.fromhex("81000007")),
                packet(5, 64, tag=bytes.fromhex("88a80001 81000007"))]
        for frame in sent:
            assert sender.send(frame) == 0
        got = {first: [], second: []}

        def all_there():
            for receiver, frames in got.items():
                frames += receiver.drain()
            return all(len(frames) >= len(sent) for frames in got.values())

        e2e.wait_until(all_there, e2e.START_S, "the packets")
        assert got[first] == sent == got[second]
        # A packet of SUE's goes neither way.
        assert sender.send(sue_frame()) == 0
        e2e.wait_until(lambda: grown(left, before[0])["mgmt_tx_drop_sue_total"] == 1, e2e.START_S,
                       "the frame to be refused")
        states = [c["state"] for c in e2e.managed(right, "clients", "list")["clients"]]
        assert states == ["packets", "packets"]
    left_grown, right_grown = grown(left, before[0]), grown(right, before[1])
    assert left_grown["mgmt_tx_packets_total"] == len(sent) == right_grown["mgmt_rx_packets_total"]
    assert right_grown["mgmt_rx_copies_total"] == 2 * len(sent)
    assert left_grown["rx_drop_not_sue_total"] == right_grown["rx_drop_not_sue_total"] == 0
    # Nobody receives any more.
    with Packets(left.socket, receive=False) as sender:
        assert sender.send(packet(9)) == 0
        e2e.wait_until(lambda: grown(right, before[1])["rx_drop_not_sue_total"] == 1, e2e.START_S,
                       "the packet to be dropped")


def test_no_such_port(pair):
    _, left, _ = pair
    with pytest.raises(OSError, match="ports list"):
        Packets(left.socket, "p9")


def test_twice_the_rate(pair):
    """20,000 packets a second are offered: 10,000 pass, and the rest are counted."""
    directory, left, right = pair
    before = [left.counters(), right.counters()]
    offered = 40_000
    argv = [e2e.BUILD / "docs/examples/packets_c", left.socket, "p0", "--count", offered, "--rate",
            2 * RATE]
    with Packets(right.socket) as receiver:
        got = 0
        with e2e.Process(directory, "packets", argv) as sender:
            while sender.running():
                got += len(receiver.drain())
        sender.expect(0, e2e.START_S)
        seconds = float(re.search(r"in ([0-9.]+) s", sender.stdout())[1])

        def settled():
            counts = grown(left, before[0])
            return (counts["mgmt_tx_packets_total"] + counts["mgmt_tx_drop_rate_total"] +
                    counts["mgmt_tx_drop_ring_full_total"]) == offered and counts

        sent = e2e.wait_until(settled, e2e.START_S, "all that was offered to be counted")
        passed = sent["mgmt_tx_packets_total"]
        # Packets that were offered late, because the machine is busy, may pass a little later.
        assert passed <= RATE * (seconds + 2) + 64
        assert passed >= RATE * min(seconds, offered / (2 * RATE)) / 2
        assert sent["mgmt_tx_drop_rate_total"] > 0

        def arrived():
            nonlocal got
            got += len(receiver.drain())
            counts = grown(right, before[1])
            return (counts["mgmt_rx_packets_total"] + counts["mgmt_rx_drop_rate_total"] +
                    counts["mgmt_rx_drop_ring_full_total"]) == passed and counts

        received = e2e.wait_until(arrived, e2e.START_S, "all that was sent to be counted")
        e2e.wait_until(lambda: (counts := grown(right, before[1])) and
                       counts["mgmt_rx_copies_total"] + counts["mgmt_rx_copies_lost_total"] ==
                       received["mgmt_rx_packets_total"], e2e.START_S, "the copies")
        got += len(receiver.drain())
        assert got == grown(right, before[1])["mgmt_rx_copies_total"]


def test_hostile_senders_harm_only_themselves(pair):
    directory, left, right = pair
    with contextlib.ExitStack() as stack:
        stop = threading.Event()
        senders = [stack.enter_context(Packets(left.socket, receive=False)) for _ in range(3)]
        sleeper = stack.enter_context(Packets(right.socket))  # which never reads

        def flood():
            number = 0
            while not stop.is_set():
                number += 1
                for sender in senders:
                    sender.send((packet(number, 2000), sue_frame(), packet(1, 14))[number % 3])

        thread = threading.Thread(target=flood)
        thread.start()
        try:
            assert e2e.both_ways(directory, left, right, 1) > 1000
        finally:
            stop.set()
            thread.join()
        assert e2e.managed(right, "version")["name"] == right.name
        e2e.wait_until(lambda: right.counters()["mgmt_rx_copies_lost_total"] > 0, e2e.START_S,
                       "losses of the one that does not read")
        assert sleeper.receive() is not None


def test_neighbours_ping_and_tcp_under_load(may_tap, stack):
    del may_tap
    with tap_pair() as (directory, (left, near), (right, far)):
        wait_until_learnt(left, right)
        assert peer_of(left)["mac"] == e2e.mac_of(1) and peer_of(right)["mac"] == e2e.mac_of(0)
        link = run(near, "ip", "-details", "link", "show", TAP)
        assert e2e.mac_of(0) in link and "mtu 2088" in link
        run(near, "ping", "-c", 3, "-i", 0.2, "-W", 10, e2e.ip_of(1))
        absent = stack.enter_context(Client(left.socket))
        tags = absent.send_all(9, 4)
        delivered = []
        load = threading.Thread(target=lambda: delivered.append(
            e2e.both_ways(directory, left, right, 4)))
        load.start()
        try:
            exchange(near, far)
            run(far, "ping", "-c", 3, "-i", 0.2, "-W", 10, e2e.ip_of(0))
        finally:
            load.join()
        assert delivered and delivered[0] > 10_000
        assert set(absent.complete(tags, 30).values()) == {STATUS_UNREACHABLE}
        assert e2e.managed(left, "peers", "list")["peers"][1]["resolving"]
        for daemon, prefix in ((left, near), (right, far)):
            counters = daemon.counters()
            assert counters["neighbours_learnt_total"] == 1 and counters["mgmt_rx_packets_total"]
            # SUE's own never reach the kernel, which would have said that nobody listens.
            udp = run(prefix, "cat", "/proc/net/snmp")
            names, values = [line.split() for line in udp.splitlines() if line.startswith("Udp:")]
            assert int(values[names.index("NoPorts")]) == 0
            assert daemon.terminate() == 0
            assert TAP not in run(prefix, "ip", "link")


SERVER = """
import socket
listener = socket.create_server(("0.0.0.0", 2222))
print("listening", flush=True)
peer, _ = listener.accept()
while bytes := peer.recv(65536):
    peer.sendall(bytes)
"""

CLIENT = """
import hashlib, os, socket, sys, threading
peer = socket.create_connection((sys.argv[1], 2222), timeout=60)
bytes = os.urandom(int(sys.argv[2]))
def send():
    peer.sendall(bytes)
    peer.shutdown(socket.SHUT_WR)
threading.Thread(target=send).start()
back = hashlib.sha256()
while some := peer.recv(65536):
    back.update(some)
assert back.digest() == hashlib.sha256(bytes).digest()
print("same")
"""


def exchange(near, far, raw=2 << 20):
    """Sends bytes over TCP and has them echoed."""
    with subprocess.Popen([*far, "python3", "-c", SERVER], stdout=subprocess.PIPE,
                          text=True) as server:
        try:
            assert server.stdout.readline() == "listening\n"
            assert run(near, "python3", "-c", CLIENT, e2e.ip_of(1), raw, seconds=90) == "same\n"
            assert server.wait(e2e.START_S) == 0
        finally:
            server.kill()


def test_commands_wait_for_a_peer_that_moves(may_tap, directory, stack):
    """The carrier follows the link; commands wait until the peer is found; a peer that comes back
    with another MAC address is found again."""
    del may_tap
    with two_namespaces() as (near, far):
        def carrier():
            return "LOWER_UP" in run(near, "ip", "link", "show", TAP)

        left_config = tap_config(directory, "left", "server")
        with e2e.Daemon(directory, left_config, prefix=near) as left:
            assert not carrier() and peer_of(left)["resolving"] and not peer_of(left)["mac"]
            early = stack.enter_context(Client(left.socket))
            tags = early.send_all(1, 8)
            e2e.wait_until(lambda: left.counters()["tx_waits_mac_total"] >= 4, e2e.START_S,
                           "the queues to wait")
            assert left.counters()["tx_frames_total"] == 0 and early.completions() == {}
            for mac in (e2e.mac_of(1), e2e.mac_of(7)):
                config = tap_config(directory, "right", "client", mac=mac)
                with e2e.Daemon(directory, config, prefix=far) as right:
                    for daemon in (left, right):
                        daemon.wait_for_link()
                    e2e.wait_until(carrier, e2e.START_S, "the carrier")
                    e2e.wait_until(lambda: peer_of(left)["mac"] == mac, e2e.START_S,
                                   "the peer's address")
                    wait_until_learnt(right)
                    if mac == e2e.mac_of(1):
                        with Client(right.socket) as receiver:
                            receiver.claim(1)
                            assert set(early.complete(tags, 30).values()) == {STATUS_OK}
                            got = [data for vc in range(4) for _, data in receiver.receive(vc)]
                            assert len(got) == len(tags)
                    assert e2e.both_ways(directory, left, right, 0.3) > 0
                    assert right.terminate() == 0
                e2e.wait_until(lambda: not carrier(), e2e.START_S, "the carrier to go")
            assert left.counters()["neighbours_learnt_total"] == 2
            changed = [line for line in left.stderr().splitlines() if "neighbour: " in line]
            assert "learnt port=p0" in changed[0] and "changed port=p0" in changed[1], changed


def test_neighbours_of_udp6(may_tap, directory):
    del may_tap
    configs = []
    for own, (side, role) in enumerate((("left", "server"), ("right", "client"))):
        config = tap_config(directory, side, role, encapsulation="udp6", tap_prefix=64)
        config["instances"][0]["ports"][0]["ip"] = f"fd53:5545::{own + 1}"
        config["peers"][0]["ports"][0]["ip"] = f"fd53:5545::{2 - own}"
        configs.append(config)
    with two_namespaces() as (near, far):
        if not pathlib.Path("/proc/net/if_inet6").exists():
            pytest.skip("no IPv6 here")
        with e2e.daemons(e2e.Daemon(directory, configs[0], prefix=near),
                         e2e.Daemon(directory, configs[1], prefix=far)) as (left, right):
            wait_until_learnt(left, right)
            run(near, "ping", "-6", "-c", 2, "-i", 0.2, "-W", 10, "fd53:5545::2")
            assert e2e.both_ways(directory, left, right, 0.3) > 0


def test_without_the_privilege(may_tap, directory):
    del may_tap
    daemon = e2e.Daemon(directory, tap_config(directory, "left", "server"),
                        prefix=["setpriv", "--bounding-set", "-net_admin"])
    with pytest.raises(e2e.E2eError):
        daemon.start()
    assert daemon.wait(e2e.START_S) == 5
    assert "tap sue0: " in daemon.stderr() and "CAP_NET_ADMIN" in daemon.stderr()


def test_two_taps_of_one_name(may_tap, directory):
    del may_tap
    first, second = (tap_config(directory, side, "server", device="net_null0")
                     for side in ("left", "right"))
    with links.empty_namespaces(1) as (name,):
        near = ["ip", "netns", "exec", name]
        with e2e.Daemon(directory, first, prefix=near):
            second = e2e.Daemon(directory, second, prefix=near)
            with pytest.raises(e2e.E2eError):
                second.start()
        assert second.wait(e2e.START_S) == 5
        assert "choose another for ports[].tap" in second.stderr()
