# SPDX-License-Identifier: Apache-2.0
"""suede-simbricks between daemons and simulators (docs/simbricks.md)."""

import contextlib
import os
import random
import re
import secrets
import threading

import pytest

import axi
import client
import e2e
import links
import simbricks
from simbricks import READ, READ_DONE, WRITE, WRITE_DONE, WRITE_POSTED, Adapter, Host

ROUTES = "0-fffff:1,100000-1fffff:9"  # no peer is XPU 9


@contextlib.contextmanager
def host_at_left(*arguments):
    """Yields (directory, adapter, host, left, right)."""
    with e2e.memif_pair() as (directory, left, right):
        client.settle(left, right)
        path = directory / "host.sock"
        with Adapter(directory, "adapter", "--endpoint", left.socket, "--host_socket", path, "--routes", ROUTES,
                     *arguments) as adapter:
            yield directory, adapter, Host(path), left, right


class Served:
    """A memory of suede_axi_serve_memory at an endpoint, served by a thread."""

    def __init__(self, daemon, size=65536):
        self.octets = (axi.ctypes.c_uint8 * size)()
        self.axi = axi.Axi(daemon.socket)
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._serve)

    def _serve(self):
        while not self.stop.is_set():
            self.axi.call("wait", 10)
            self.axi.poll()
            self.axi.call("serve_memory", self.octets, axi.ctypes.c_uint64(len(self.octets)), 64)
            self.axi.poll()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()
        self.axi.__exit__()


def test_reads_and_writes_of_a_host():
    """Random requests, many under way, against a model that executes them in order."""
    with host_at_left() as (_, adapter, host, _, right), Served(right) as memory:
        generator = random.Random(1)
        model = bytearray(len(memory.octets))
        under_way = {}
        for _ in range(600):
            size = generator.choice((1, 2, 4, 8, 16, 32, 64, generator.randint(1, 300), generator.randint(1, 8192)))
            address = generator.randrange(0, 4096 if size < 300 else len(model) - size)
            kind = generator.choice((READ, WRITE, WRITE_POSTED))
            data = generator.randbytes(size) if kind != READ else b""
            number = host.start(kind, address, size, data)
            if kind == READ:
                under_way[number] = READ_DONE, bytes(model[address:address + size])
            else:
                model[address:address + size] = data
            if kind == WRITE:
                under_way[number] = WRITE_DONE, b""
            if len(under_way) >= 40:
                number = generator.choice(list(under_way))
                kind, expected = under_way.pop(number)
                got, data = host.finish(number)
                assert got == kind and data[:len(expected)] == expected
        for number, (kind, expected) in under_way.items():
            got, data = host.finish(number)
            assert got == kind and data[:len(expected)] == expected
        assert host.read(0, 8192) == model[:8192]
        assert bytes(memory.octets) == model
        counters = adapter.counters()
        assert counters["host_reads"] + counters["host_writes"] == 601
        assert counters["axi_status_0"] >= 601 and "host_slverr" not in counters


def test_requests_that_end_with_errors():
    with host_at_left() as (_, adapter, host, _, right), Served(right):
        host.write(0, b"\xff" * 64)
        assert host.read(0x100000, 64) == bytes(64)  # no XPU
        assert host.read(0x200000, 64) == bytes(64)  # no route
        host.write(0x100000, b"\xff")
        # The memory has 64 KiB: the second burst leads beyond it.
        assert host.read(0xfff0, 32) == bytes(32)
        counters = adapter.counters()
        assert counters["host_decerr"] == 4, counters
        assert "ended with DECERR; it returns 0" in adapter.stderr()


def test_a_memory_simulator(directory):
    """A host at the left, a memory simulator at the right: both by suede-simbricks."""
    with host_at_left() as (directory, near, host, _, right), simbricks.listen(directory / "memory.sock") as listener, \
            Adapter(directory, "far", "--endpoint", right.socket, "--memory_socket", directory / "memory.sock",
                    "--memory", "0-7fff", "--host_socket", directory / "far.sock", "--routes", "0-ffff:0") as far, \
            simbricks.Peer.accept(listener, simbricks.MEMORY, directory / "memory.shm") as peer:
        memory = simbricks.Memory(peer, 0x8000)
        with simbricks.served(memory):
            for address, size in ((0, 64), (0x10, 4), (0xffd, 7), (0x1001, 4096), (0x2003, 8192)):
                data = secrets.token_bytes(size)
                host.write(address, data)
                assert memory.octets[address:address + size] == data
                assert host.read(address, size) == data
            assert (READ, 0, 0x10, 4) in memory.requests and (WRITE, 0, 0x10, 4) in memory.requests
            # Address spaces are carried.
            host.finish(host.start(READ, 0, 8, space=77))
            assert memory.requests[-1] == (READ, 77, 0, 8)
            # Beyond --memory nothing reaches the simulator.
            assert host.read(0x8000, 4) == bytes(4)
            assert all(address < 0x8000 for _, _, address, _ in memory.requests)
        # The far adapter has a host, too, and the near one no memory.
        assert Host(directory / "far.sock").read(0, 4) == bytes(4)
        # The simulator goes: transactions end, and the host goes on.
        number = host.start(READ, 0, 64)
        e2e.wait_until(lambda: peer.inbound.receive(), e2e.START_S, "the request")
        peer.connection.close()
        assert host.finish(number)[1][:64] == bytes(64)
        assert host.read(0, 64) == bytes(64)
        counters = far.counters()
        assert counters["memory_outside"] == 1 and counters["memory_unserved"] == 2
        assert counters["host_decerr"] == 1
        counters = near.counters()
        assert counters["host_slverr"] == 2 and counters["memory_outside"] == 1


def test_a_daemon_that_comes_back():
    with host_at_left() as (directory, adapter, host, left, right), Served(right):
        host.write(0, b"\x55" * 64)
        left.kill()
        assert host.read(0, 64) == bytes(64)
        with e2e.Daemon(directory, left.config) as again:
            e2e.wait_until(lambda: "the endpoint is back" in adapter.stderr(), e2e.START_S, adapter.report)
            again.wait_for_link()
            e2e.wait_until(lambda: host.read(0, 64) == b"\x55" * 64, e2e.START_S, adapter.report)


@pytest.mark.parametrize("arguments, code, text", [
    ("", 2, "no socket"), ("--host_socket h --routes 0-f:1", 2, "--endpoint goes with"),
    ("--endpoint e --host_socket h", 2, "--routes"), ("--endpoint e --host_socket h --routes 0-f:1024", 2, "--routes"),
    ("--endpoint e --host_socket h --routes 0-f:1;", 2, "--routes"),
    ("--endpoint e --memory_socket m --memory f-0", 2, "--memory"), ("--net_listen n", 2, "--tap"),
    ("--endpoint e --host_socket h --routes 0-f:1 --outstanding 65", 2, "--outstanding"),
    ("--endpoint e --host_socket h --routes 10-f:1", 2, "ends before it begins"), ("--no_such", 2, "--no_such"),
    ("--endpoint /no/such --memory_socket m --memory 0-ff", 4, "/no/such"), ("--help", 0, "")])
def test_command_line(directory, arguments, code, text):
    program = Adapter(directory, "program", *arguments.split())
    e2e.Process.start(program)
    program.expect(code, e2e.START_S)
    assert text in program.stderr()
    page = (e2e.ROOT / "docs/simbricks.md").read_text()
    flags = set(re.findall(r"^  (--\w+)", program.stdout(), re.M)) - {"--help", "--version"}
    assert all(f"`{flag} " in page for flag in flags) and (flags or code)


@contextlib.contextmanager
def tap_daemons(directory, names):
    """Daemons with a port at a TAP device each."""
    with e2e.daemons(*(e2e.Daemon(directory, e2e.changed(
            e2e.endpoint_config(directory, side, "net_af_packet0,iface=sb0"), {"packing": {"limit_bytes": 1024}}),
            ["ip", "netns", "exec", name]) for side, name in zip(("left", "right"), names))) as daemons:
        yield daemons


def test_a_simulated_network(as_root, directory):
    """Two endpoints in namespaces of their own, over a network that only exchanges PACKETs."""
    del as_root
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("takes /dev/net/tun")
    with links.empty_namespaces(2, ipv6=False) as names, contextlib.ExitStack() as stack:
        listener = stack.enter_context(simbricks.listen(directory / "switch.sock"))
        arguments = [("--net_listen", directory / "nic.sock"), ("--net_connect", directory / "switch.sock")]
        adapters = [stack.enter_context(Adapter(directory, f"net-{name}", *own, "--tap", "sb0",
                                                prefix=["ip", "netns", "exec", name]))
                    for name, own in zip(names, arguments)]
        network = simbricks.Network([
            stack.enter_context(simbricks.Peer.connect(directory / "nic.sock", simbricks.NETWORK)),
            stack.enter_context(simbricks.Peer.accept(listener, simbricks.NETWORK, directory / "net.shm",
                                                      entry_bytes=1536 + 64))])
        left, right = stack.enter_context(tap_daemons(directory, names))
        with simbricks.served(network):
            client.settle(left, right)
            memory = stack.enter_context(Served(right))
            path = directory / "host.sock"
            stack.enter_context(Adapter(directory, "host", "--endpoint", left.socket, "--host_socket", path,
                                        "--routes", ROUTES))
            host = Host(path)
            data = secrets.token_bytes(len(memory.octets))
            for address in range(0, len(data), 4096):
                host.write(address, data[address:address + 4096])
                assert host.read(address, 4096) == data[address:address + 4096]
        assert network.frames > 100
        # A frame that is too short.
        network.peers[0].outbound.send(simbricks.PACKET, (13).to_bytes(2, "little"))
        e2e.wait_until(network.peers[0].is_ended, e2e.START_S, "the end of the connection")
        assert adapters[0].counters()["net_bad_length"] == 1
        assert adapters[1].counters()["net_received"] > 100
