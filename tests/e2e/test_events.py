# SPDX-License-Identifier: Apache-2.0
"""Events of an endpoint are in events.list, in the log and with each watcher; ports and
planes that are taken out of service and put back; suedectl top."""

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import termios
import time

import pytest

import client
import e2e
import links


class Watcher(e2e.Process):
    """suedectl watch events on a daemon."""

    def __init__(self, directory, daemon, *arguments):
        super().__init__(directory, f"watch-{daemon.name}", [
            e2e.SUEDECTL, "--socket", daemon.management, "-j", "watch", "events", *arguments])
        self.daemon = daemon

    def start(self):
        super().start()
        e2e.wait_until(lambda: "watching events" in self.stderr(), e2e.START_S, "the watch")
        return self

    def events(self):
        # The last line may be half there.
        return [json.loads(line) for line in self.stdout().split("\n")[:-1]]

    def sees(self, kind, **fields):
        """Waits for an event of the kind with these fields: here, in events.list and in the log."""
        def find(events):
            return [e for e in events if e.get("kind") == kind and fields.items() <= e.items()]

        event = e2e.wait_until(lambda: find(self.events()), e2e.START_S,
                               lambda: f"{kind} {fields} in\n{self.report()}")[-1]
        listed = e2e.managed(self.daemon, "events", "list", "--limit", 1000)["events"]
        assert event in listed, (event, listed)
        self.daemon.wait_for_line(f": {kind} ")
        line, = [l for l in self.daemon.stderr().splitlines()
                 if f": {kind} " in l and l.endswith(f" sequence={event['sequence']}")]
        assert f" {event['severity']} " in line
        for name, value in fields.items():
            assert f" {name}={value} " in line, line
        return event


def test_clients_that_leave_and_die(stack):
    directory, left, _ = stack.enter_context(e2e.memif_pair(e2e.GIVEN_UP_SOON))
    watcher = stack.enter_context(Watcher(directory, left))
    with client.Client(left.socket):
        connected = watcher.sees("client_connected", pid=os.getpid(), queues=1)
    watcher.sees("client_left", client=connected["client"], pid=os.getpid())
    script = ("import sys, time; sys.path.insert(0, sys.argv[1])\n"
              "import client; c = client.Client(sys.argv[2]); time.sleep(60)\n")
    argv = ["/usr/bin/python3", "-c", script, e2e.ROOT / "tests/e2e", left.socket]
    victim = stack.enter_context(e2e.Process(directory, "victim", argv))
    connected = watcher.sees("client_connected", pid=victim.pid)
    victim.signal(signal.SIGKILL)
    watcher.sees("client_died", client=connected["client"], pid=victim.pid)
    # A client that speaks another language.
    subprocess.run(["/usr/bin/python3", "-c",
                    "import socket, sys; s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET);"
                    "s.connect(sys.argv[1]); s.send(b'x' * 100); s.recv(9999); s.recv(9999)",
                    left.socket], check=True, timeout=e2e.START_S)
    watcher.sees("client_error", reason="malformed")
    assert not [e for e in watcher.events() if e["kind"] == "client_left"
                and e["client"] == connected["client"]]
    # A table for people has them, too.
    text = e2e.suedectl(left, "events", "list", "--severity", "warning")
    assert "client_died" in text and "client_left" not in text


def test_a_client_whose_queue_is_nonsense(stack):
    directory, left, _ = stack.enter_context(e2e.memif_pair(e2e.GIVEN_UP_SOON))
    watcher = stack.enter_context(Watcher(directory, left))
    before = set(_segments())
    with client.Client(left.socket) as liar:
        base, = set(_segments()) - before
        # docs/shared-memory.md: tx_ring[0] lies at byte 64, and the ring begins with its head.
        ring = base + ctypes.c_uint64.from_address(base + 64).value
        ctypes.c_uint32.from_address(ring).value += 10_000_000
        event = watcher.sees("client_error", reason="ring", queue=0)
        queue, = e2e.managed(left, "queues", "list")["queues"]
        assert (queue["client"], queue["state"]) == (event["client"], "broken")
        assert liar.status() == 0
    watcher.sees("client_left", client=event["client"])


def _segments():
    """The places at which this process has mapped segments of daemons."""
    for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
        if "memfd:suede" in line:
            yield int(line.split("-")[0], 16)


@pytest.mark.parametrize("by_default", [False, True], ids=["stated", "by pfc"])
def test_a_peer_that_counts_otherwise(stack, by_default):
    directory = stack.enter_context(e2e.work_directory())
    daemons = []
    for side, role, scope in (("left", "server", "vc"), ("right", "client", "port")):
        config = e2e.endpoint_config(directory, side, e2e.memif_device(directory, role))
        config["peers"][0]["name"] = "gpu-far"
        if not by_default:
            config["transport"] = {"psn_scope": scope}
        elif scope == "vc":
            config["ports"][0].update(pfc="software", bandwidth_gbps=100)
        daemons.append(e2e.Daemon(directory, config))
    left, right = stack.enter_context(e2e.daemons(*daemons))
    watcher = stack.enter_context(Watcher(directory, left))
    right.wait_for_link()
    with client.Client(right.socket) as sender:
        sender.send(0, 0, 1, b"hello?")
        event = watcher.sees("hello_mismatch", xpu=0, instance=0, peer=1, key="transport.psn_scope",
                             own="vc", theirs="port")
        assert event["remedy"] == ("give transport.psn_scope one value at both ends: by default it is vc where a "
                                   "port has pfc or cbfc, and port elsewhere")
        # The text has the peer's name, JSON its number alone.
        line = e2e.suedectl(left, "watch", "events", "--since", "0", "--kind", "hello_mismatch", "--count", "1")
        assert " peer=1 (gpu-far) " in line and "gpu-far" not in json.dumps(watcher.events())


def test_an_unreachable_peer_and_its_return(stack):
    directory, left, right = stack.enter_context(e2e.memif_pair(e2e.GIVEN_UP_SOON))
    left.wait_for_link()
    watcher = stack.enter_context(Watcher(directory, left))
    sender = stack.enter_context(client.Client(left.socket))
    assert set(sender.complete(sender.send_all(1, 20), 20).values()) == {client.STATUS_OK}
    right.stop()
    try:
        sender.complete(sender.send_all(1, 4, first=100), 30)
        watcher.sees("peer_unreachable", xpu=0, instance=0, peer=1)
    finally:
        right.signal(signal.SIGCONT)
    watcher.sees("peer_reachable", xpu=0, instance=0, peer=1)


def test_a_peer_that_dies_and_comes_back(stack):
    """Its end of the memif goes with it, and the next daemon is a new life."""
    changes = {"transport": {"max_tries": 255, "rto_max_us": 20000}}
    directory, left, right = stack.enter_context(e2e.memif_pair(changes))
    left.wait_for_link()
    watcher = stack.enter_context(Watcher(directory, left))
    client.settle(left, right)
    right.signal(signal.SIGKILL)
    right.wait(e2e.START_S)
    down = watcher.sees("link_down", port="p0")
    plane = watcher.sees("plane_down", xpu=0, instance=0, plane=0, port="p0", reason="link")
    assert plane["sequence"] > down["sequence"]
    assert e2e.managed(left, "planes", "list")["planes"] == [
        {"xpu": 0, "instance": 0, "plane": 0, "port": "p0", "admin": "up", "link": "down",
         "state": "down", "weight": 100, "peers_up": 0, "peers_down": 0, "peers_slow": 0,
         "inflight_bytes": 0}]
    new = stack.enter_context(e2e.Daemon(directory, right.config))
    watcher.sees("link_up", port="p0")
    watcher.sees("plane_up", xpu=0, instance=0, plane=0, port="p0")
    client.settle(left, new)
    watcher.sees("peer_reset", xpu=0, instance=0, peer=1)
    # The watch ends with its daemon, and says so; a new daemon's events begin with 1.
    since = watcher.events()[-1]["sequence"]
    assert left.terminate() == 0
    assert watcher.wait(e2e.START_S) == 4
    assert "suedectl: the daemon has gone" in watcher.stderr()
    assert "drain_began" in watcher.stdout()
    kinds = [e["kind"] for e in watcher.events()]
    sequences = [e["sequence"] for e in watcher.events()]
    assert sequences == list(range(sequences[0], sequences[0] + len(kinds)))
    reborn = stack.enter_context(e2e.Daemon(directory, left.config))
    assert e2e.managed(reborn, "events", "list")["events"][0]["kind"] == "started"
    said = e2e.suedectl(reborn, "watch", "events", "--since", since + 1000, code=1)
    assert "started anew" in said


def test_a_port_and_a_plane_out_of_service(stack):
    directory, left, right = stack.enter_context(e2e.memif_pair(e2e.GIVEN_UP_SOON))
    left.wait_for_link()
    watcher = stack.enter_context(Watcher(directory, left))
    receiver = stack.enter_context(client.Client(right.socket))
    receiver.claim(1)
    sender = stack.enter_context(client.Client(left.socket))
    sender.claim(0)
    assert set(sender.complete(sender.send_all(1, 8), 20).values()) == {client.STATUS_OK}
    got = [command for vc in range(4) for command in receiver.receive(vc)]
    first = 100
    for what, event in ((["ports", "set_admin", "p0"], "port_admin"),
                        (["planes", "set_admin", "0", "0", "0"], "plane_admin")):
        assert e2e.managed(left, *what, "down")["admin"] == "down"
        watcher.sees(event, port="p0", admin="down")
        watcher.sees("plane_down", plane=0, reason=what[0][:-1])  # port, plane
        plane, = e2e.managed(left, "planes", "list")["planes"]
        port, = e2e.managed(left, "ports", "list")["ports"]
        assert (plane["state"], plane["link"]) == ("down", "up")
        assert (port["admin"], plane["admin"]) == (("down", "up") if "ports" in what
                                                   else ("up", "down"))
        before = left.counters()
        # It is in reset, and so are the VCs claimed there.
        assert sender.states() == (2, 2) and receiver.states() == (1, 1)
        assert sender.send(1, 0, first, b"in reset") == -errno.EBUSY
        with client.Client(right.socket) as other:
            other.send(0, 0, 1, b"nobody listens")
            e2e.wait_until(lambda: left.counters()["rx_drop_admin_down_total"]
                           > before["rx_drop_admin_down_total"], e2e.START_S, "a dropped frame")
        # Much longer than it takes to find a peer unreachable.
        assert left.counters()["tx_frames_total"] == before["tx_frames_total"]
        assert not sender.completions() and left.counters()["peer_unreachable_total"] == 0
        assert e2e.managed(left, *what, "up")["admin"] == "up"
        assert e2e.managed(left, *what, "up")["admin"] == "up"  # once more is no matter
        e2e.wait_until(lambda: sender.states() == (1, 1), e2e.START_S, "the end of the reset")
        statuses = sender.complete(sender.send_all(1, 8, first=first), 30)
        assert set(statuses.values()) == {client.STATUS_OK}, statuses
        watcher.sees(event, port="p0", admin="up")
        watcher.sees("plane_up", plane=0)
        first += 100
    e2e.wait_until(lambda: got.extend(c for vc in range(4) for c in receiver.receive(vc))
                   or len(got) >= 24, 20, "all commands")
    assert len(got) == len(set(got)) == 24
    assert len([e for e in watcher.events() if e["kind"] == "port_admin"]) == 2
    assert "no other plane" in e2e.suedectl(left, "planes", "drain", 0, 0, 0, code=1)
    for wrong in (["ports", "set_admin", "p9", "up"], ["planes", "set_admin", "5", "0", "0", "up"]):
        assert "list names them" in e2e.suedectl(left, *wrong, code=1)
    hint = e2e.managed(left, "ports", "hint", "p0")
    assert hint["dumpcap"] is None and "capture start p0" in hint["capture"]


def test_the_link_of_a_device_is_set_down_with_its_port(stack, directory, as_root):
    """Its driver does so if it can: that of a TAP device does."""
    namespace = f"suede-{directory.name[-8:]}"
    links.ip("netns", "add", namespace)
    stack.callback(links.ip, "netns", "del", namespace)
    config = e2e.changed(e2e.endpoint_config(directory, "left", "net_tap0,iface=tapev"),
                         {"packing": {"limit_bytes": 1024}})
    config["ports"][0]["mtu_bytes"] = 1500
    daemon = stack.enter_context(
        e2e.Daemon(directory, config, prefix=["ip", "netns", "exec", namespace]))
    daemon.wait_for_link()
    watcher = stack.enter_context(Watcher(directory, daemon))

    def is_up():
        return "UP" in links.ip("-n", namespace, "link", "show", "tapev").split(">")[0]

    assert is_up()
    e2e.suedectl(daemon, "ports", "set_admin", "p0", "down")
    watcher.sees("link_down", port="p0")
    watcher.sees("plane_down", reason="port")
    assert not is_up()
    e2e.suedectl(daemon, "ports", "set_admin", "p0", "up")
    watcher.sees("link_up", port="p0")
    watcher.sees("plane_up", port="p0")
    assert is_up()


def test_top(stack):
    directory, left, right = stack.enter_context(e2e.memif_pair())
    for daemon in (left, right):
        daemon.wait_for_link()
    server = e2e.perf_server(directory, right, "0")
    stack.enter_context(contextlib.closing(e2e._Closing(server)))
    with e2e.perf(directory, "load", left.socket, "--destinations", 1, "--duration", 60) as load:
        e2e.wait_until(lambda: left.counters()["tx_commands_total"] > 1000, e2e.START_S, "traffic")
        lines = e2e.suedectl(left, "-j", "--every", "0.3", "--times", "2", "top").splitlines()
        text = e2e.suedectl(left, "--every", "0.2", "--times", "1", "top")
        assert load.running(), load.report()
    # The kernel passes a terminal's output on in a worker thread, which programs that never sleep hold up.
    drawn = _on_a_terminal(left)
    _press_keys(left)
    assert len(lines) == 2
    # On a terminal each refresh clears the picture of the one before.
    assert drawn.startswith(f"\x1b[H\x1b[2J\x1b[1mendpoint {left.name}") and drawn.count("\x1b[2J") >= 2
    top = json.loads(lines[-1])
    assert top["name"] == left.name and top["seconds"] >= 0.3 and top["clients"] == 1
    port, = top["ports"]
    instance, = top["instances"]
    plane, = top["planes"]
    peer, = top["peers"]
    assert port["port"] == "p0" and port["tx_frames_s"] > 0 and port["rx_frames_s"] > 0
    assert instance["tx_commands_s"] > 0 and plane["state"] == "up"
    assert peer["peer"] == 1 and peer["tx_pdus_s"] > 0 and peer["srtt_us"] > 0
    lcore, = top["lcores"]
    assert lcore["lcore"] == str(left.config["lcores"][0]["cpu"]) and 0 < lcore["busy"] < 1
    assert text.startswith(f"endpoint {left.name}  up ") and "\x1b" not in text
    for column in ("tx_frames_s", "tx_commands_s", "busy", "tx_pdus_s"):
        assert column in text


def _on_a_terminal(daemon):
    """The output of top on one, up to its second picture."""
    here, there = pty.openpty()
    argv = [e2e.SUEDECTL, "--socket", daemon.management, "--every", "0.1", "top"]
    with subprocess.Popen(argv, stdout=there, stdin=subprocess.DEVNULL) as process:
        os.close(there)
        try:
            text = ""
            while text.count("\x1b[2J") < 2:
                text += os.read(here, 65536).decode()
            return text
        finally:
            process.kill()
            os.close(here)


def _press_keys(daemon):
    """Keys of top change its next picture; q ends it, and the terminal has its echo again."""
    here, there = pty.openpty()
    fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 90, 0, 0))
    before = termios.tcgetattr(there)
    argv = [e2e.SUEDECTL, "--socket", daemon.management, "--every", "0.1", "top"]
    text = ""

    def drawn():
        return text.split("\x1b[2J")[-1].split("\r\n")

    def read_until(condition):
        nonlocal text
        end = time.monotonic() + e2e.START_S
        while not condition():
            assert time.monotonic() < end, text[-2000:]
            if select.select([here], [], [], 0.5)[0]:
                text += os.read(here, 65536).decode()

    with subprocess.Popen(argv, stdin=there, stdout=there) as process:
        try:
            read_until(lambda: len(drawn()) > 10 and "s sort=load" in drawn()[0])
            assert termios.tcgetattr(there)[3] & termios.ECHO == 0
            assert "\x1b[1mxpu  instance  plane" in "\n".join(drawn()), text
            assert all(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) <= 90 for line in drawn())
            os.write(here, b"sc")
            read_until(lambda: "s sort=retransmissions" in drawn()[0] and "c colour=off" in drawn()[0])
            read_until(lambda: len(drawn()) > 10)
            assert "\x1b[1m" not in "\n".join(drawn())
            os.write(here, b"fstate=down\n")
            read_until(lambda: "f filter=state=down" in drawn()[0] and "no planes" in "\n".join(drawn()))
            os.write(here, b"q")
            assert process.wait(e2e.START_S) == 0
            assert termios.tcgetattr(there) == before
        finally:
            process.kill()
            os.close(there)
            os.close(here)


def test_events_are_members_of_a_json_log(directory):
    config = e2e.changed(e2e.endpoint_config(directory, "left", "net_null0"),
                         {"log": {"format": "json"}})
    with e2e.Daemon(directory, config) as daemon:
        daemon.wait_for_line('"message":"link_up"')
        e2e.suedectl(daemon, "log", "set_level", "warning")
        assert daemon.terminate() == 0
    lines = [json.loads(line) for line in daemon.stderr().splitlines()]
    by_message = {line["message"]: line for line in lines}
    ready = by_message["ready"]
    assert (ready["name"], ready["instances"]) == (config["name"], 1)
    link = by_message["link_up"]
    assert (link["component"], link["level"], link["port"]) == ("port", "info", "p0")
    changed = by_message["config_changed"]
    assert (changed["key"], changed["value"]) == ("log.level", "warning")
    assert changed["sequence"] > link["sequence"] > 0
    started = [line for line in lines if line["message"] == "starting"]
    assert started[0]["dpdk"].startswith("DPDK ")


def test_limits_of_management_are_events(directory):
    config = e2e.changed(e2e.endpoint_config(directory, "left", "net_null0"),
                         {"management": {"max_clients": 2}})
    with e2e.Daemon(directory, config) as daemon, Watcher(directory, daemon) as watcher:
        with socket.socket(socket.AF_UNIX) as full, socket.socket(socket.AF_UNIX) as late:
            for connection in (full, late):
                connection.settimeout(e2e.START_S)
            full.connect(daemon.management)
            assert b"protocol" in full.recv(9999)  # it has the last place
            # And keeps it while it waits for something.
            full.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "events.wait",
                                     "params": {"kind": "drain_began", "seconds": 2}}).encode()
                         + b"\n")
            late.connect(daemon.management)
            assert b"max_clients" in late.recv(9999)
            assert b"result" in full.recv(9999)
            full.sendall(b" " * 70000)
            try:
                while full.recv(9999):
                    pass
            except ConnectionResetError:
                pass
        for limit in ("connections", "line_bytes"):
            watcher.sees("management_limit", limit=limit, pid=os.getpid(), uid=os.geteuid())
        totals = e2e.managed(daemon, "counters", "get")["sets"][0]["counters"]
        assert totals["management_too_long_total"] == 1 == totals["management_refused_total"]
        assert totals["management_throttled_total"] == 0
