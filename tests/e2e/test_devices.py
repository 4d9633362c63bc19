# SPDX-License-Identifier: Apache-2.0
"""Resources that devices take of a machine, and access to an endpoint that they give away."""

import contextlib
import json
import os
import signal
import socket
import stat
import struct
import subprocess

import pytest

import e2e
import links
from client import Client


def start(directory, config, *arguments, prefix=()):
    """Runs the daemon until it ends by itself: (code, its output)."""
    path = directory / "start.yaml"
    path.write_text(json.dumps(config))
    done = subprocess.run([*map(str, prefix), str(e2e.SUEDE), "--config", str(path), *map(str, arguments)],
                          capture_output=True, timeout=e2e.START_S, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("mode", [None, 0o660])
def test_memif_socket_is_of_its_user_alone(directory, mode):
    """A process that connects shares memory with the endpoint, whose driver trusts it: the unit's
    UMask=0007 would let the whole group in."""
    config = e2e.endpoint_config(directory, "left", e2e.memif_device(directory, "server"))
    arguments = [] if mode is None else ["--set", f"ports[0].socket_mode={mode:04o}"]
    before = os.umask(0o007)
    try:
        with e2e.Daemon(directory, config, arguments=arguments) as daemon:
            assert stat.S_IMODE((directory / "memif.sock").stat().st_mode) == (mode or 0o600)
            assert daemon.terminate() == 0
    finally:
        os.umask(before)


def with_secret(directory, side, role, secret):
    return e2e.endpoint_config(directory, side, f"{e2e.memif_device(directory, role)},secret={secret}")


def test_secret_of_a_memif(directory):
    """Ends with the same one connect, and nothing that the daemon writes shows it."""
    config = with_secret(directory, "left", "server", "topsy-turvy")
    with e2e.daemons(e2e.Daemon(directory, config),
                     e2e.Daemon(directory, with_secret(directory, "right", "client", "topsy-turvy"))) as (left, right):
        right.wait_for_link()
        for verb in (("config", "get"), ("ports", "list", "--wide"), ("--json", "ports", "list")):
            said = e2e.suedectl(left, *verb)
            assert "topsy" not in said and "secret=***" in said, said
        assert right.terminate() == 0
        assert left.terminate() == 0
        assert "secret=***" in left.stderr() and "topsy" not in left.stderr() + right.stderr()
    code, said = start(directory, config, "--dump_config")
    assert code == 0 and "secret=***" in said and "topsy" not in said


def test_another_secret_does_not_connect(directory):
    with e2e.daemons(e2e.Daemon(directory, with_secret(directory, "left", "server", "topsy")),
                     e2e.Daemon(directory, with_secret(directory, "right", "client", "turvy"))) as (left, right):
        right.wait_for_line("Incorrect secret")
        assert e2e.managed(right, "ports", "list")["ports"][0]["link_up"] is False
        assert right.terminate() == 0
        assert left.terminate() == 0


def test_too_few_descriptors_are_a_failed_preflight(directory):
    """DPDK would end the process with a panic."""
    config = e2e.endpoint_config(directory, "left", e2e.memif_device(directory, "server"))
    code, said = start(directory, config, prefix=["prlimit", "--nofile=16:16"])
    assert code == 5, said
    assert "DPDK takes" in said and "ulimit -n" in said and "error descriptors: " in said
    code, said = start(directory, config, "--check", prefix=["prlimit", "--nofile=16:16"])
    assert code == 5 and "error descriptors: " in said


def test_check_finds_what_the_start_would(directory):
    """The web server's port, and a place where a memif server's socket cannot be."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        device = (f"net_memif0,role=server,socket={directory}/none/memif.sock,socket-abstract=no")
        config = e2e.endpoint_config(directory, "left", device)
        code, said = start(directory, config, "--check", "--set", f"management.http_address={port}")
    assert code == 5
    assert f"error http: management.http_address: 127.0.0.1:{port}: Address already in use" in said
    assert f"the directory {directory}/none is not there" in said
    code, said = start(directory, e2e.endpoint_config(directory, "left", "net_memif0,role"), "--check")
    assert code == 2 and "ports[0].device: 'role' is no argument" in said


# Takes the group number that net_af_packet computes for this process and the interface, for another
# interface, and becomes the program that it is to run.
HOLD_GROUP = """
import os, socket, struct, sys
group = (os.getpid() ^ socket.if_nametoindex(sys.argv[1])) & 0xffff
held = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
held.bind(("lo", 3))
held.setsockopt(263, 18, struct.pack("I", group | 0x9000 << 16))  # SOL_PACKET, PACKET_FANOUT
os.set_inheritable(held.fileno(), True)
os.execvp(sys.argv[2], sys.argv[2:])
"""


def test_fanout_groups_do_not_meet(directory):
    """net_af_packet numbers the group of a port's sockets by pid ^ interface, for the whole namespace."""
    with links.namespaces(mtu=4000) as (((left, interface), _), _):
        config = e2e.endpoint_config(directory, "left", links.af_packet(interface, 4096))
        hold = [*left, "/usr/bin/python3", "-c", HOLD_GROUP, interface]
        with e2e.Daemon(directory, config, hold) as daemon:
            daemon.wait_for_link()
            assert daemon.terminate() == 0


# Sends over the loopback interface until it is ended, and says that it does.
FLOOD = """
import socket
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
print("begun", flush=True)
while True:
    sender.sendto(bytes(1000), ("127.0.0.1", 9))
"""


def test_a_port_receives_from_its_interface_alone(directory):
    """Also at its start: until a packet socket is bound to an interface it may receive from all of them."""
    with links.namespaces(mtu=4000) as (((left, interface), _), _):
        links.ip("-n", left[-1], "link", "set", "lo", "up")
        config = e2e.endpoint_config(directory, "left", links.af_packet(interface, 4096))
        flood = subprocess.Popen([*left, "/usr/bin/python3", "-c", FLOOD], stdout=subprocess.PIPE)
        try:
            flood.stdout.readline()
            # The flood need not have a CPU while a socket is not bound yet.
            for _ in range(5):
                with e2e.Daemon(directory, config, left) as daemon:
                    daemon.wait_for_link()
                    # The kernel's own on that interface are of some 90 octets.
                    assert daemon.counters()["rx_frame_bytes_total"] < 5000
                    assert daemon.terminate() == 0
        finally:
            flood.kill()
            flood.wait()


def test_a_pair_that_works_warns_of_nothing():
    """The configuration of the README's example, but for its paths. Warnings that always come hide the others."""
    with e2e.memif_pair({"eal": {"hugepages": "auto"}}) as (directory, left, right):
        for daemon in (left, right):
            bad = [line for line in daemon.stderr().splitlines() if " warning " in line or " error " in line]
            assert not bad, bad
        assert e2e.both_ways(directory, left, right, 0.5) > 0
        # The last line has the counters that are not 0.
        e2e.check_ends(left, right, ["rx_drop_rcrc_total"])
        last = [line for line in left.stderr().splitlines() if "counters: counters" in line][-1]
        assert " tx_commands_total=" in last, last
        assert not [pair for pair in last.split() if pair.endswith("=0")], last


# ---- A preflight and a second start beside a running endpoint.

def check_beside(directory, daemon, prefix=()):
    """Checks the running daemon's configuration and starts it again, under its own name and under
    another one: a device that is in use is refused, or is no obstacle, and the daemon goes on."""
    name = daemon.name + "-b"
    other = e2e.changed(daemon.config, {
        "name": name, "clients": {"socket": f"{directory}/{name}.sock"},
        "management": {"socket": f"{directory}/{name}-management.sock"}})
    code, said = start(directory, daemon.config, "--check", prefix=prefix)
    assert code == 5 and "error prefix: " in said and "error sockets: " in said, said
    code, said = start(directory, daemon.config, prefix=prefix)
    assert code == 5 and "runs with the EAL file prefix" in said, said
    code, said = start(directory, other, "--check", prefix=prefix)
    serves_memif = "role=server" in daemon.config["ports"][0]["device"]
    assert code == (5 if serves_memif else 0), said
    if serves_memif:
        assert "error memif: " in said and "a program listens at" in said, said
        code, said = start(directory, other, prefix=prefix)
        assert code == 5, said
    assert daemon.running(), daemon.report()


def check_under_traffic(directory, left, right, prefixes=((), ())):
    for daemon in (left, right):
        daemon.wait_for_link()
    with contextlib.ExitStack() as stack:
        server = e2e.perf_server(directory, right, "0", prefix=prefixes[1])
        stack.callback(server.kill)
        results = directory / "beside.json"
        with e2e.perf(directory, "client", left.socket, "--destinations", 1, "--vcs", 0, "--duration", 600,
                      "--bidirectional", "--check", "--drain", 30, "--json", results, prefix=prefixes[0]) as client:
            for daemon, prefix in zip((left, right), prefixes):
                check_beside(directory, daemon, prefix)
            client.signal(signal.SIGINT)
            e2e.end_of_load([client], [server])
        assert e2e.check_results(e2e.results_of(results), 1000)
    # The link is the same as before.
    for daemon in (left, right):
        assert "link_down" not in daemon.stderr(), daemon.report()
    e2e.check_ends(left, right, [])


def test_a_check_beside_memifs_under_traffic():
    """The server of a memif does not survive a connection that is closed at once."""
    with e2e.memif_pair() as (directory, left, right):
        check_under_traffic(directory, left, right)


def test_a_check_beside_a_memif_server_in_another_network_namespace(as_root, directory):
    """The kernel's list of sockets is that of one namespace, and a file's socket is open to all."""
    del as_root
    with links.empty_namespaces(1) as (name,):
        prefix = ["ip", "netns", "exec", name]
        config = e2e.endpoint_config(directory, "left", e2e.memif_device(directory, "server"))
        with e2e.Daemon(directory, config, prefix) as left:
            check_beside(directory, left)
            with e2e.Daemon(directory, e2e.endpoint_config(directory, "right",
                                                           e2e.memif_device(directory, "client"))) as right:
                right.wait_for_link()
                assert right.terminate() == 0
            assert left.terminate() == 0


def test_a_check_beside_an_abstract_memif(directory):
    device = f"net_memif0,role=server,socket={os.path.basename(directory)}"
    with e2e.Daemon(directory, e2e.endpoint_config(directory, "left", device)) as left:
        other = e2e.changed(left.config, {"name": left.name + "-b"})
        code, said = start(directory, other, "--check")
        assert code == 5 and "error memif: " in said and "has bound the abstract socket" in said, said
        assert left.running(), left.report()
        assert left.terminate() == 0


@pytest.mark.long
def test_a_check_beside_af_packet_under_traffic(directory):
    with links.namespaces(mtu=4000) as (sides, _), contextlib.ExitStack() as stack:
        daemons = stack.enter_context(e2e.daemons(*(e2e.Daemon(
            directory, e2e.endpoint_config(directory, side, links.af_packet(interface, 4096)), prefix)
            for side, (prefix, interface) in zip(("left", "right"), sides))))
        check_under_traffic(directory, *daemons, prefixes=[prefix for prefix, _ in sides])


@pytest.mark.long
def test_a_check_beside_taps_under_traffic(as_root, directory):
    """net_tap: two TAP devices of a namespace on one bridge."""
    del as_root
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("takes /dev/net/tun")
    with links.empty_namespaces(1) as (name,), contextlib.ExitStack() as stack:
        prefix = ["ip", "netns", "exec", name]
        links.ip("-n", name, "link", "add", "br0", "type", "bridge")
        links.ip("-n", name, "link", "set", "br0", "up")
        daemons = []
        for side in ("left", "right"):
            # The driver's MTU is 1504 at most.
            config = e2e.changed(e2e.endpoint_config(directory, side, f"net_tap0,iface=tap{side}"),
                                 {"packing": {"limit_bytes": 1024}})
            daemons.append(stack.enter_context(e2e.Daemon(directory, config, prefix)))
            # A bridge keeps frames to its ports' own addresses, which the driver has made the port's.
            links.ip("-n", name, "link", "set", f"tap{side}", "address", f"02:00:00:00:01:0{len(daemons)}")
            links.ip("-n", name, "link", "set", f"tap{side}", "master", "br0")
        check_under_traffic(directory, *daemons, prefixes=[prefix, prefix])


def pcap_file(directory):
    """A file with one frame, for net_pcap."""
    path = directory / "frames.pcap"
    frame = bytes.fromhex("020000000010020000000011") + bytes(60)
    path.write_bytes(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1) +
                     struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)
    return path


@pytest.mark.parametrize("device", ["net_ring0", "net_null0,copy=0", "net_pcap0,rx_pcap={pcap},infinite_rx=1"])
def test_a_check_beside_other_devices(directory, device):
    """Without a peer: net_null and net_pcap deliver frames without end, net_ring the port's own ones."""
    config = e2e.endpoint_config(directory, "left", device.format(pcap=pcap_file(directory)))
    with e2e.Daemon(directory, config) as daemon, Client(daemon.socket) as client:
        client.send(1, 0, 1, bytes(32))  # HELLOs go on until it is answered
        e2e.wait_until(lambda: daemon.counters()["rx_frames_total"] > 0, e2e.START_S, "frames")
        check_beside(directory, daemon)
        before = daemon.counters()["rx_frames_total"]
        e2e.wait_until(lambda: daemon.counters()["rx_frames_total"] > before, e2e.START_S, "more frames")
        assert daemon.terminate() == 0
