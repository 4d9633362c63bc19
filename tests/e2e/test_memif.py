# SPDX-License-Identifier: Apache-2.0
"""drivers/memif against DPDK's net_memif in testpmd, in both roles, also while strangers connect and leave."""

import contextlib
import pathlib
import re
import shutil
import socket
import subprocess
import threading

import pytest

import e2e
import test_metrics

PEER = e2e.BUILD / "tests/memif/memif_peer"
QUEUES = 2
FRAMES = 100_000  # that each queue receives at least

needs_testpmd = pytest.mark.skipif(not shutil.which("dpdk-testpmd"), reason="dpdk-testpmd is not installed")


def device(role, path):
    return f"net_memif0,role={role},id=0,secret=abc,socket={path},socket-abstract=no,bsize=2048"


class Pmd:
    """Sends and receives flows of UDP packets on all queues."""

    def __init__(self, directory, role, path):
        self.log = directory / "testpmd.log"
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                ["dpdk-testpmd", f"--file-prefix={directory.name}", "--lcores=(0)@(0,1),(1)@(0,1)", "--main-lcore=0",
                 "--no-huge", "-m", "256", "--no-pci", "--no-telemetry", f"--vdev={device(role, path)}", "--", "-i",
                 "--forward-mode=flowgen", "--port-topology=loop", "--no-mlockall", "--total-num-mbufs=8192",
                 f"--rxq={QUEUES}", f"--txq={QUEUES}", "--disable-link-check", "--flowgen-flows=16"],
                stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT, text=True)

    def tell(self, *commands):
        for command in commands:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()

    def finish(self):
        """Frames received and sent."""
        self.tell("stop", "show port stats all", "quit")
        self.process.stdin.close()
        self.process.wait(timeout=20)
        text = self.log.read_text(encoding="utf-8")
        counts = [int(re.findall(rf"{which}-packets:\s+(\d+)", text)[-1]) for which in ("RX", "TX")]
        assert "PANIC" not in text
        return counts


class Peer(e2e.Process):
    """memif_peer. Ends with the block."""

    def __init__(self, directory, role, path):
        super().__init__(directory, "peer", [PEER, device(role, path), QUEUES, FRAMES])

    def wait_for(self, line):
        e2e.wait_until(lambda: line in self.stdout().splitlines() or not self.running(), e2e.START_S,
                       lambda: f"{line}\n{self.report()}")


def counters_of(text):
    """Counters of each queue."""
    return [{name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", line)}
            for line in text.splitlines() if line.startswith("queue ")]


@contextlib.contextmanager
def strangers(path):
    """Connects and leaves 1,000 times a second; sends bad messages first in three of four cases."""
    stop = threading.Event()
    attempts = [0]

    def run():
        while not stop.wait(0.001):
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as one:
                one.connect(str(path))
                attempts[0] += 1
                if attempts[0] % 2:
                    one.send(b"\x03\x00\x00\x02" + bytes(124) if attempts[0] % 4 == 1 else b"x")

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield attempts
    finally:
        stop.set()
        thread.join()


def check(text, received, sent):
    counters = counters_of(text)
    assert len(counters) == QUEUES
    for queue in counters:
        assert queue["rx_frames"] > FRAMES
        assert queue["rx_bytes"] == 60 * queue["rx_frames"]
        assert not [name for name, value in queue.items() if value and ("bad" in name or "oversize" in name)]
    # Frames that testpmd left in the rings when it stopped.
    rings = QUEUES * 1024
    assert sum(queue["rx_frames"] for queue in counters) >= sent - rings
    assert received >= sum(queue["tx_frames"] for queue in counters) - rings


@needs_testpmd
@pytest.mark.parametrize("strange", [False, True])
def test_server(tmp_path, strange):
    path = pathlib.Path(f"/tmp/{tmp_path.name}.sock")
    with Peer(tmp_path, "server", path) as peer, contextlib.ExitStack() as stack:
        e2e.wait_until(path.exists, e2e.START_S, peer.report)
        attempts = stack.enter_context(strangers(path)) if strange else [0]
        testpmd = Pmd(tmp_path, "client", path)
        peer.wait_for("connected")
        testpmd.tell("start")
        peer.wait_for("busy")
        e2e.wait_until(lambda: not strange or attempts[0] > 1000, e2e.START_S, "strangers")
        received, sent = testpmd.finish()
        assert peer.terminate() == 0, peer.report()
    text = peer.stdout()
    assert "connections=1" in text
    check(text, received, sent)
    if strange:
        assert attempts[0] > 1000
        assert re.search(r"refused \d+: Incorrect secret", text)
        assert re.search(r"refused \d+: Invalid message size", text)
    assert not path.exists()
    assert not path.with_name(path.name + ".lock").exists()


@needs_testpmd
def test_client(tmp_path):
    path = pathlib.Path(f"/tmp/{tmp_path.name}.sock")
    with Peer(tmp_path, "client", path) as peer:
        testpmd = Pmd(tmp_path, "server", path)
        peer.wait_for("connected")
        testpmd.tell("start")
        peer.wait_for("busy")
        received, sent = testpmd.finish()
        assert peer.terminate() == 0, peer.report()
    text = peer.stdout()
    assert "connections=1" in text
    check(text, received, sent)


def test_strangers_do_not_stop_a_daemon():
    """Under traffic, for which they have no place; counted, and reported."""
    with e2e.memif_pair({"management": {"http_address": "127.0.0.1:0"}}) as (directory, left, right):
        with strangers(directory / "memif.sock") as attempts:
            assert e2e.both_ways(directory, left, right, 2) > 1000
        assert attempts[0] > 500
        for daemon in (left, right):
            assert "link_down" not in daemon.stderr(), daemon.report()
        assert 'memif_ended port=p0 reason="Invalid message size"' in left.stderr(), left.report()
        series = test_metrics.scrape(left)
        for reason in ("message_size", "taken"):
            assert test_metrics.total(series, "port_memif_endings_total", port="p0", reason=reason) > 0
        assert test_metrics.total(series, "port_memif_connections_total", port="p0") == 1
        e2e.check_ends(left, right, [])


def message(kind, *parts):
    return (kind.to_bytes(2, "little") + b"".join(parts)).ljust(128, b"\0")


def number(value, size=2):
    return value.to_bytes(size, "little")


def test_memory_that_cannot_be_sealed_is_refused(directory):
    """A DPDK client with zero-copy=yes offers hugepage files; this one offers an ordinary file."""
    path = directory / "memif.sock"
    config = e2e.endpoint_config(directory, "left", e2e.memif_device(directory, "server"))
    with e2e.Daemon(directory, config) as daemon, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as peer, \
         open(directory / "memory", "w+b") as memory:
        memory.truncate(1 << 20)
        peer.settimeout(e2e.START_S)
        peer.connect(str(path))
        assert peer.recv(128)[0] == 2  # HELLO
        region = message(4, number(0), number(1 << 20, 8))
        rings = [message(5, number(flags), number(0), number(0), number(flags * 65536, 4), bytes([6]), number(0))
                 for flags in (0, 1)]
        for sent, descriptors in ((message(3, number(0x200)), []), (region, [memory.fileno()]),
                                  *((ring, [memory.fileno()]) for ring in rings)):
            socket.send_fds(peer, [sent], descriptors)
            assert peer.recv(128)[0] == 1  # ACK
        peer.send(message(6))
        answer = peer.recv(128)
        assert answer[0] == 8 and b"no memory that can be sealed" in answer
        daemon.wait_for_line("memif_ended")
        assert "zero-copy=no" in daemon.stderr()
        assert daemon.terminate() == 0
