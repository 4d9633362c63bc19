# SPDX-License-Identifier: Apache-2.0
"""A log whose reader stops: the output of a daemon is a full pipe, and the daemon goes on."""

import fcntl
import json
import os
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import time

import pytest

import e2e
import links
import switched
from client import STATUS_OK, Client
from test_fare import FARE
from test_metrics import ON, get

PIPE_BYTES = 4096
SET_PIPE_SIZE = 1031  # F_SETPIPE_SZ
ANSWER_S = 5 * e2e.PATIENCE


class Piped(e2e.Process):
    """A process whose stdout and stderr are a small pipe. A thread copies it to err_path while `reads` is set."""

    def start(self):
        self.reads = threading.Event()
        self.reads.set()
        self.read_end, self.write_end = os.pipe()
        fcntl.fcntl(self.write_end, SET_PIPE_SIZE, PIPE_BYTES)
        self.out_path.touch()
        self.err_path.touch()
        self.process = subprocess.Popen(self.argv, stdout=self.write_end, stderr=self.write_end, stdin=subprocess.DEVNULL)
        self.ended = False
        self.reader = threading.Thread(target=self.copy)
        self.reader.start()
        return self

    def copy(self):
        with open(self.err_path, "ab", buffering=0) as file:
            while not self.ended:
                if self.reads.wait(0.05) and select.select([self.read_end], [], [], 0.05)[0]:
                    file.write(os.read(self.read_end, 65536))

    def kill(self):
        super().kill()
        if self.process is not None and not self.ended:
            self.ended = True
            self.reader.join()
            os.close(self.read_end)
            os.close(self.write_end)

    def unread(self):
        return struct.unpack("i", fcntl.ioctl(self.read_end, termios.FIONREAD, bytes(4)))[0]

    def fill(self, is_full):
        """Stops reading, and has the process log until `is_full` says so.

        A line of all counters is about as long as the pipe: it waits while any other line is unread.
        """
        self.reads.clear()
        time.sleep(0.2)

        def ask_for_lines():
            for _ in range(5):
                self.signal(signal.SIGUSR1)
                time.sleep(0.02)

        def full():
            if not self.running():
                raise e2e.E2eError(self.report())
            ask_for_lines()
            return is_full()
        e2e.wait_until(full, e2e.START_S, f"a full pipe of {self.label}")
        ask_for_lines()  # the signals that still wait are served with the pipe full
        assert fcntl.fcntl(self.write_end, fcntl.F_GETFL) & os.O_NONBLOCK == 0, "others share the flags"


class PipedDaemon(e2e.Daemon, Piped):
    pass


class PipedSwitch(switched.Switch, Piped):
    pass


def metric(daemon, name):
    for line in get(daemon, "/metrics")[1].splitlines():
        if line.startswith(f"suede_{name}{{"):
            return float(line.split()[-1])
    raise e2e.E2eError(f"no {name}")


def timed(what, action):
    begun = time.monotonic()
    result = action()
    assert time.monotonic() - begun < ANSWER_S, f"{what} took {time.monotonic() - begun:.1f} s"
    return result


@pytest.mark.parametrize("log", ["text", "json"])
def test_an_endpoint_whose_log_nobody_reads(directory, log):
    """suedectl is answered, clients attach, commands flow, lines that were dropped are counted and reported, and SIGTERM ends it."""
    config = e2e.changed(e2e.loop_config(directory, 0), {**ON, "log": {"format": log}})
    config["lcores"][0]["idle"] = "sleep"
    with PipedDaemon(directory, config) as daemon:
        with Client(daemon.socket) as sender, Client(daemon.socket) as receiver:
            receiver.claim(1)
            daemon.fill(lambda: metric(daemon, "log_lines_dropped_total") > 10)
            timed("suedectl", lambda: e2e.suedectl(daemon, "version"))
            timed("attaching", lambda: Client(daemon.socket).__exit__())
            sender.send_all(1, 100)
            assert metric(daemon, "log_lines_dropped_total") < metric(daemon, "log_lines_total")
        daemon.reads.set()
        daemon.wait_for_line("lines dropped: the reader of the log was too slow")
        line = next(l for l in daemon.stderr().splitlines() if "lines dropped" in l)
        if log == "json":
            report = json.loads(line)
            assert report["level"] == "warning" and report["component"] == "log" and report["dropped"] > 10, line
        else:
            assert " warning log: lines dropped" in line and int(line.rpartition("dropped=")[2]) > 10, line
        dropped = metric(daemon, "log_lines_dropped_total")
        time.sleep(0.5)
        assert metric(daemon, "log_lines_dropped_total") == dropped
        daemon.fill(lambda: metric(daemon, "log_lines_dropped_total") > dropped)
        assert daemon.terminate(ANSWER_S + 5) == 0


def test_a_switch_whose_log_nobody_reads(directory):
    config = e2e.changed(switched.switch_config(directory, 2, "udp4"), ON)
    with PipedSwitch(directory, config) as switch:
        switch.fill(lambda: metric(switch, "log_lines_dropped_total") > 10)
        timed("suedectl", lambda: e2e.suedectl(switch, "version"))
        assert switch.terminate(ANSWER_S + 5) == 0


def test_suede_fare_whose_log_nobody_reads(as_root, directory):
    """It has no endpoint, and 20 peers, each with lines for SIGUSR1."""
    del as_root
    with links.namespaces(mtu=1500) as (((prefix, interface), _), _):
        config = {"version": 1, "socket": str(directory / "none.sock"), "xpu": 0, "source": "kernel", "retry_ms": 100,
                  "planes": [{"plane": 0, "interfaces": ["lo"]}, {"plane": 1, "interfaces": [interface]}],
                  "peers": [{"xpu": 1 + i, "prefix": f"192.0.2.{i}/32"} for i in range(20)]}
        for i in range(20):
            links.ip("-n", prefix[-1], "route", "add", f"192.0.2.{i}/32", "dev", interface)
        path = directory / "fare.yaml"
        path.write_text(json.dumps(config))
        check_suede_fare(Piped(directory, "fare", [FARE, "--config", path], prefix))


def check_suede_fare(piped):
    with piped as fare:
        e2e.wait_until(lambda: "starting version" in fare.stderr() or not fare.running(), e2e.START_S, fare.report)
        fare.fill(lambda: fare.unread() > PIPE_BYTES // 2)
        begun = time.monotonic()
        while time.monotonic() < begun + 3:
            fare.signal(signal.SIGUSR1)
            time.sleep(0.02)
        assert fare.terminate(ANSWER_S + 5) == 0


def test_a_run_without_trouble_logs_no_trouble():
    """Checks a run from its start to SIGTERM: no warning, and of the counters those that have counted."""
    with e2e.memif_pair() as (_, left, right):
        for daemon in (left, right):
            daemon.wait_for_link()
        with Client(right.socket) as receiver, Client(left.socket) as sender:
            receiver.claim(1)
            assert set(sender.complete(sender.send_all(1, 100), 20).values()) == {STATUS_OK}
        assert left.terminate() == 0
        # The other one has lost its peer, which is worth a warning.
        assert right.terminate() == 0
        lines = left.stderr().splitlines()
        levels = {line.split()[1] for line in lines if re.match(r"\d{4}-\d\d-\d\dT", line)}
        assert levels <= {"info", "debug"}, [line for line in lines if " info " not in line]
        (counters,) = [line for line in lines if " info counters: counters " in line]
        values = dict(word.split("=") for word in counters.split("counters: counters ")[1].split())
        assert int(values["tx_commands_total"]) == 100 and "0" not in values.values(), counters
