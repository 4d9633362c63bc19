# SPDX-License-Identifier: Apache-2.0
"""Planes that die under full load and come back, again and again: nothing is lost, nothing comes twice,
and where it is promised all of it comes in order.

Between the daemons is a fabric of cables (fabric.cc) that can be cut: links down, everything silently
dropped, or one direction only. $SUEDE_FAILOVERS: how often each test does so (50).
$SUEDE_FAILOVER_TIMES: print how long it took until the other planes carried it all, and what the same
clock says where nothing was cut. $SUEDE_FAILOVER_RATE: commands a second each way (full load): where there
are few CPUs, spare CPU time keeps the wait for a CPU out of those times."""

import contextlib
import os
import secrets
import select
import signal
import subprocess
import time

import pytest

import e2e

FABRIC = e2e.BUILD / "tests/e2e/fabric"
FAILOVERS = int(os.environ.get("SUEDE_FAILOVERS", "50"))
RATE = os.environ.get("SUEDE_FAILOVER_RATE", "0")
TIMES = "SUEDE_FAILOVER_TIMES" in os.environ  # measure, too: docs/performance.md
PLANES = {"hello_interval_us": 2000, "hello_idle_us": 50000, "hold_down_us": 20000,
          "hold_down_max_us": 20000, "unreachable_us": 10_000_000}
# The faults of a cable, and their repairs.
FAULTS = (("down", "", "up"), ("cut", "", "heal"), ("cut", " left", "heal"), ("cut", " right", "heal"))


class Fabric:
    """Cables between the daemons' ports, in the order of their numbers."""

    def __init__(self, directory, cables):
        cpu = sorted(os.sched_getaffinity(0))[-1]
        sockets = [str(directory / f"{side}-{n}.memif")
                   for n in range(cables) for side in ("left", "right")]
        self.errors = open(directory / f"fabric-{secrets.token_hex(3)}.err", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [str(FABRIC), f"fabric-{os.path.basename(directory)[-8:]}", str(cpu), "2100", *sockets],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, bufsize=0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(e2e.START_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.errors.close()

    def line(self):
        text = b""
        while not text.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], e2e.START_S)
            byte = self.process.stdout.read(1) if ready else b""
            if not byte:
                self.errors.seek(0)
                raise e2e.E2eError(f"the fabric says no more: {text}\n{self.errors.read()}")
            text += byte
        return text.decode().strip()

    def do(self, command):
        """Returns once it has taken effect, with the fabric's answer."""
        self.process.stdin.write(f"{command}\n".encode())
        said = self.line()
        assert said.endswith(command), said
        return said[:-len(command)].strip()


def endpoint(directory, side, planes, ordering):
    """A daemon's configuration with a port for each cable."""
    config = e2e.endpoint_config(directory, side, "")
    own = {"left": 0, "right": 1}[side]

    def ip(xpu, plane):
        return f"198.18.{plane}.{xpu + 1}"

    def mac(xpu, plane):
        return f"02:00:00:00:{plane:02x}:{xpu + 16:02x}"

    names = [f"p{n}" for n in range(planes)]
    config["ports"] = [
        {"name": name, "mac": mac(own, n),
         "device": f"net_memif{n},role=server,id=0,socket={directory}/{side}-{n}.memif,"
                   "socket-abstract=no,bsize=2112"}
        for n, name in enumerate(names)]
    config["instances"][0]["ports"] = [{"port": name, "ip": ip(own, n)}
                                       for n, name in enumerate(names)]
    config["instances"][0]["ordering"] = ordering
    config["peers"] = [{"xpu": 1 - own,
                        "ports": [{"port": name, "ip": ip(1 - own, n), "mac": mac(1 - own, n)}
                                  for n, name in enumerate(names)]}]
    config["planes"] = PLANES
    config["transport"] = {"rto_min_us": 5000, "rto_initial_us": 20000, "max_tries": 100}
    return config


@contextlib.contextmanager
def two_endpoints(planes, ordering):
    """Yields (directory, left, right, fabric), with all planes up."""
    with e2e.work_directory() as directory:
        with e2e.daemons(e2e.Daemon(directory, endpoint(directory, "left", planes, ordering)),
                         e2e.Daemon(directory, endpoint(directory, "right", planes, ordering))) as (left, right), \
                Fabric(directory, planes) as fabric:
            assert fabric.line() == "ready"
            yield directory, left, right, fabric


def is_up(daemon, plane):
    """None where a lcore that has to share its CPU did not find the time to say."""
    try:
        return e2e.managed(daemon, "planes", "peers")["peers"][plane]["state"] == "up"
    except e2e.E2eError as error:
        if "no answer in time" not in str(error):
            raise
        return None


def wait_for(daemons, plane, up):
    e2e.wait_until(lambda: all(is_up(d, plane) is up for d in daemons), e2e.TRAFFIC_S,
                   f"plane {plane} {'up' if up else 'down'}")


@pytest.mark.parametrize("planes,ordering", [pytest.param(2, "strict", marks=pytest.mark.long), (4, "unordered")])
def test_planes_die_and_return_under_load(planes, ordering):
    with two_endpoints(planes, ordering) as (directory, left, right, fabric), \
            contextlib.ExitStack() as stack:
        server = e2e.perf_server(directory, right, "0-3",
                                 *(["--unordered"] if ordering == "unordered" else []))
        stack.callback(server.kill)
        file = directory / "client.json"
        client = stack.enter_context(e2e.perf(
            directory, "client", left.socket, "--destinations", 1, "--vcs", "0-3", "--duration", 300,
            "--bidirectional", "--check", "--rate", RATE, "--json", file,
            *(["--unordered"] if ordering == "unordered" else [])))
        for plane in range(planes):
            wait_for((left, right), plane, True)
        times, nothing = [], []
        for turn in range(FAILOVERS):
            if TIMES:
                fabric.do("mark")
                time.sleep(0.15)
                nothing.append(int(fabric.do("recovery")))
            plane = turn % planes
            fault, side, cure = FAULTS[turn // planes % len(FAULTS)]
            fabric.do(f"{fault} {plane}{side}")
            wait_for((left, right), plane, False)
            if TIMES:
                time.sleep(0.15)
                times.append(int(fabric.do("recovery")))
            fabric.do(f"{cure} {plane}")
            wait_for((left, right), plane, True)
            if TIMES:
                time.sleep(0.15)
        client.signal(signal.SIGINT)
        client.expect(0, e2e.TRAFFIC_S)
        result = e2e.results_of(file)
        delivered = e2e.check_results(result, FAILOVERS)
        moved = sum(d.counters()["tx_moved_pdus_total"] for d in (left, right))
        deaths = [d.counters()["plane_deaths_total"] for d in (left, right)]
        print(f"{planes} planes, {ordering}: {FAILOVERS} faults, {delivered} commands delivered, "
              f"{moved} PDUs moved, deaths {deaths}")
        if TIMES:
            for what, values in (("nothing cut", nothing), ("full goodput on the rest", times)):
                print(f"{planes} planes, {ordering}: ms to {what}: {sorted(values)}")
        assert moved > 0
        assert min(deaths) >= FAILOVERS
