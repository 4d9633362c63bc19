# SPDX-License-Identifier: Apache-2.0
"""The daemon's messages to the service manager: that it is ready, that it lives, that it ends."""

import contextlib
import ctypes
import os
import pathlib
import signal
import socket
import threading
import time

import pytest

import e2e


class Manager:
    """The end of $NOTIFY_SOCKET that systemd has."""

    def __init__(self, directory):
        self.path = str(directory / "notify.sock")
        self.messages = []  # (time, variables)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(self.path)
        os.chmod(self.path, 0o666)
        self._thread = threading.Thread(target=self._receive, daemon=True)
        self._thread.start()

    def _receive(self):
        while True:
            data = self._socket.recv(4096)
            if not data:
                return
            lines = data.decode().splitlines()
            self.messages.append((time.monotonic(), dict(line.split("=", 1) for line in lines)))

    def close(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
            end.sendto(b"", self.path)
        self._thread.join()
        self._socket.close()

    def environment(self, watchdog_s=None):
        """Words for env(1)."""
        words = ["env", f"NOTIFY_SOCKET={self.path}"]
        if watchdog_s is not None:
            words.append(f"WATCHDOG_USEC={int(watchdog_s * 1e6)}")
        return words

    def said(self, name, value, since=0.0):
        return sum(1 for when, said in list(self.messages)
                   if when >= since and said.get(name) == value)

    def wait_for(self, name, value, since=0.0):
        e2e.wait_until(lambda: self.said(name, value, since), e2e.START_S,
                       f"{name}={value} among {self.messages}")


@pytest.fixture
def manager(directory):
    with contextlib.closing(Manager(directory)) as manager:
        yield manager


@contextlib.contextmanager
def stopped_thread(pid, name):
    """Stops one thread of a process of ours, as a hanging one would."""
    libc = ctypes.CDLL(None, use_errno=True)
    seize, interrupt, detach = 0x4206, 0x4207, 17

    def ptrace(request, tid):
        none = ctypes.c_void_p(0)
        if libc.ptrace(request, tid, none, none) != 0:
            raise OSError(ctypes.get_errno(), f"ptrace of thread {tid}")

    threads = {task.name: (task / "comm").read_text().strip()
               for task in pathlib.Path(f"/proc/{pid}/task").iterdir()}
    matching = [int(tid) for tid, comm in threads.items() if name in comm]
    assert len(matching) == 1, threads
    ptrace(seize, matching[0])
    ptrace(interrupt, matching[0])
    os.waitpid(matching[0], 0x40000000)  # __WALL
    try:
        yield
    finally:
        ptrace(detach, matching[0])


def test_ready_watchdog_and_end(directory, manager):
    config = e2e.endpoint_config(directory, "left", "net_null0,copy=0")
    watchdog_s = 0.6
    with e2e.Daemon(directory, config, manager.environment(watchdog_s)) as daemon:
        manager.wait_for("READY", "1")
        e2e.wait_until(lambda: manager.said("WATCHDOG", "1") >= 3, e2e.START_S, "watchdog")
        daemon.signal(signal.SIGTERM)
        manager.wait_for("STOPPING", "1")
        assert daemon.wait(e2e.START_S) == 0
    ready = [said for _, said in manager.messages if said.get("READY") == "1"]
    assert len(ready) == 1 and ready[0]["STATUS"].startswith("serving 1 instances")
    stopping = [said for _, said in manager.messages if said.get("STOPPING") == "1"]
    assert len(stopping) == 1 and int(stopping[0]["EXTEND_TIMEOUT_USEC"]) > 2_000_000


def test_watchdog_of_an_lcore_that_hangs(directory, manager):
    config = e2e.endpoint_config(directory, "left", "net_null0,copy=0")
    watchdog_s = 0.6
    with e2e.Daemon(directory, config, manager.environment(watchdog_s)) as daemon:
        manager.wait_for("WATCHDOG", "1")
        with stopped_thread(daemon.pid, "worker"):
            daemon.wait_for_line("lcore stalled")
            since = time.monotonic()
            time.sleep(2 * watchdog_s)
            # The control thread lives, and keeps quiet.
            assert e2e.managed(daemon, "version")["name"] == daemon.name
            assert manager.said("WATCHDOG", "1", since) == 0
        manager.wait_for("WATCHDOG", "1", time.monotonic())
        assert daemon.terminate() == 0
        assert daemon.stderr().count("lcore stalled") == 1


def test_status_follows_the_link(directory, manager):
    configs = [e2e.endpoint_config(directory, side, e2e.memif_device(directory, role))
               for side, role in (("left", "server"), ("right", "client"))]
    with e2e.Daemon(directory, configs[0], manager.environment()) as left:
        manager.wait_for("STATUS", "serving 1 instances; links up: 0 of 1")
        with e2e.Daemon(directory, configs[1]):
            manager.wait_for("STATUS", "serving 1 instances; links up: 1 of 1")
        assert manager.said("WATCHDOG", "1") == 0
        assert left.terminate() == 0
