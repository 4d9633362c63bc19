# SPDX-License-Identifier: Apache-2.0
"""drivers/memif against DPDK's net_memif in testpmd, in both roles, also while strangers connect and leave."""

import contextlib
import pathlib
import re
import shutil
import socket
import subprocess
import threading
import time

import pytest

import e2e

PEER = e2e.BUILD / "tests/memif/memif_peer"
QUEUES = 2

pytestmark = pytest.mark.skipif(not shutil.which("dpdk-testpmd"), reason="dpdk-testpmd is not installed")


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


def run_peer(role, path, seconds):
    return subprocess.Popen([PEER, device(role, path), str(QUEUES), str(seconds)], stdout=subprocess.PIPE, text=True)


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
        assert queue["rx_frames"] > 10_000
        assert queue["rx_bytes"] == 60 * queue["rx_frames"]
        assert not [name for name, value in queue.items() if value and ("bad" in name or "oversize" in name)]
    # Frames that testpmd left in the rings when it stopped.
    rings = QUEUES * 1024
    assert sum(queue["rx_frames"] for queue in counters) >= sent - rings
    assert received >= sum(queue["tx_frames"] for queue in counters) - rings


@pytest.mark.parametrize("strange", [False, True])
def test_server(tmp_path, strange):
    path = pathlib.Path(f"/tmp/{tmp_path.name}.sock")
    with run_peer("server", path, 9) as peer, contextlib.ExitStack() as stack:
        time.sleep(0.5)
        attempts = stack.enter_context(strangers(path)) if strange else [0]
        testpmd = Pmd(tmp_path, "client", path)
        time.sleep(2.5)
        testpmd.tell("start")
        time.sleep(3)
        received, sent = testpmd.finish()
        text = peer.communicate(timeout=20)[0]
    assert peer.returncode == 0
    assert "connections=1" in text
    check(text, received, sent)
    if strange:
        assert attempts[0] > 1000
        assert re.search(r"refused \d+: Incorrect secret", text)
        assert re.search(r"refused \d+: Invalid message size", text)
    assert not path.exists()
    path.with_name(path.name + ".lock").unlink()


def test_client(tmp_path):
    path = pathlib.Path(f"/tmp/{tmp_path.name}.sock")
    with run_peer("client", path, 10) as peer:
        testpmd = Pmd(tmp_path, "server", path)
        time.sleep(3.5)
        testpmd.tell("start")
        time.sleep(3)
        received, sent = testpmd.finish()
        text = peer.communicate(timeout=20)[0]
    assert "connections=1" in text
    check(text, received, sent)
