# SPDX-License-Identifier: Apache-2.0
"""Daemons, links and clients as the end-to-end tests use them.

Each test has a directory of its own under /tmp, with short names because the paths of Unix sockets
are bounded; endpoints' names, and with them their EAL prefixes, are unique in the machine. So any
number of runs may go on side by side. Programs come from $SUEDE_BUILD, or build/.
"""

import contextlib
import copy
import datetime
import json
import os
import pathlib
import re
import secrets
import shutil
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("SUEDE_BUILD", ROOT / "build")).resolve()
SUEDE = BUILD / "app/suede/suede"
PERF = BUILD / "app/perf/suede-perf"
SUEDECTL = BUILD / "app/suedectl/suedectl"
HELLO_C = BUILD / "docs/examples/hello_c"
HELLO_CPP = BUILD / "docs/examples/hello_cpp"

# Times are bounds for a machine with much other work, not expectations. A machine with emulated CPUs takes several
# times as long.
PATIENCE = int(os.environ.get("SUEDE_PATIENCE", 1))
START_S = 90 * PATIENCE
TRAFFIC_S = 120 * PATIENCE


class E2eError(Exception):
    pass


def seconds_of(text):
    """The time of an event, as time.time() counts."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def wait_until(condition, seconds, what):
    """`what`: a text, or a function that makes one of how things stand at the end. A look costs CPU time that the
    programs need, so the pauses grow with what was waited."""
    begun = time.monotonic()
    while True:
        value = condition()
        if value:
            return value
        waited = time.monotonic() - begun
        if waited > seconds:
            raise E2eError(f"not within {seconds} s: {what() if callable(what) else what}")
        time.sleep(min(max(0.01, waited / 8), 0.05))


@contextlib.contextmanager
def work_directory():
    path = tempfile.mkdtemp(prefix="suede-e2e-", dir="/tmp")
    try:
        yield pathlib.Path(path)
    finally:
        shutil.rmtree(path, ignore_errors=True)
        # Runtime directories of daemons that died before they could clean up; names end like the directory's.
        for runtime in pathlib.Path("/var/run/dpdk").glob(f"suede_*{path[-8:]}*"):
            shutil.rmtree(runtime, ignore_errors=True)


def endpoint_config(directory, side, device):
    """The configuration of one of two endpoints: XPU 0 is "left", XPU 1 "right"."""
    own = {"left": 0, "right": 1}[side]
    cpus = sorted(os.sched_getaffinity(0))
    cpu = cpus[own % len(cpus)]
    return {
        "version": 1,
        "name": f"e2e-{side}-{os.path.basename(directory)[-8:]}",
        "eal": {"hugepages": "off"},
        "lcores": [{"cpu": cpu, "idle": "sleep"}],
        "ports": [{"name": "p0", "device": device, "mac": mac_of(own)}],
        "instances": [{"xpu": own, "lcore": cpu, "ports": [{"port": "p0", "ip": ip_of(own)}]}],
        "peers": [{"xpu": 1 - own,
                   "ports": [{"port": "p0", "ip": ip_of(1 - own), "mac": mac_of(1 - own)}]}],
        # The pages of a pool take most of the time of a start.
        "packing": {"packed_pdus": 1024},
        "clients": {"socket": str(directory / f"{side}.sock"), "hugepages": "off"},
        "management": {"socket": str(directory / f"{side}-management.sock")},
    }


def loop_config(directory, lcore_cpu):
    """Both endpoints in one daemon, on one lcore, over a memif."""
    config = endpoint_config(directory, "left", memif_device(directory, "server", 0))
    other = endpoint_config(
        directory, "right", memif_device(directory, "client", 1).replace("id=1", "id=0"))
    other["ports"][0]["name"] = "p1"
    for part in (*other["instances"], *other["peers"]):
        part["ports"][0]["port"] = "p1"
    for key in ("ports", "instances", "peers"):
        config[key] += other[key]
    for instance in config["instances"]:
        instance["lcore"] = lcore_cpu
    config["lcores"] = [{"cpu": lcore_cpu, "idle": "spin"}]
    return config


def ip_of(xpu, port=0):
    return f"198.18.{port}.{xpu + 1}"


def mac_of(xpu, port=0):
    return f"02:00:00:00:{port:02x}:{xpu + 16:02x}"


def memif_device(directory, role, number=0):
    return (f"net_memif{number},role={role},id={number},socket={directory}/memif.sock,"
            "socket-abstract=no,bsize=2112")


def planes_config(directory, side, devices, ordering):
    """endpoint_config with a plane for each device."""
    own = {"left": 0, "right": 1}[side]
    config = endpoint_config(directory, side, "")
    config["ports"] = [{"name": f"p{p}", "device": device, "mac": mac_of(own, p)}
                       for p, device in enumerate(devices)]
    config["instances"][0].update(
        ordering=ordering,
        ports=[{"port": f"p{p}", "ip": ip_of(own, p)} for p in range(len(devices))])
    config["peers"][0]["ports"] = [
        {"port": f"p{p}", "ip": ip_of(1 - own, p), "mac": mac_of(1 - own, p)}
        for p in range(len(devices))]
    # Both daemons and their clients share CPUs with other processes: an end that does not answer
    # within milliseconds is not dead.
    config["planes"] = {"hello_interval_us": 50000, "hold_down_us": 20000,
                        "unreachable_us": 20000000}
    return config


def changed(config, changes):
    """A copy with {"transport": {"max_tries": 3}} laid over it."""
    result = copy.deepcopy(config)
    for key, value in changes.items():
        if isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = changed(result[key], value)
        else:
            result[key] = value
    return result


class Counters(dict):
    """Counters by name. The line that a daemon ends with leaves out those that are 0."""

    declared = frozenset(name for page in sorted((ROOT / "lib/stats").glob("*.h")) + [ROOT / "drivers/shm/server.h"]
                         for name in re.findall(r'"(\w+)"', page.read_text()))

    def __missing__(self, name):
        if name not in self.declared:
            raise KeyError(name)
        return 0


class Process:
    """A program with its output in files. Ends with the block, by force if need be."""

    def __init__(self, directory, label, argv, prefix=()):
        self.label = label
        self.argv = [str(a) for a in (*prefix, *argv)]
        unique = f"{label}-{secrets.token_hex(3)}"
        self.out_path = pathlib.Path(directory) / f"{unique}.out"
        self.err_path = pathlib.Path(directory) / f"{unique}.err"
        self.process = None

    def start(self):
        with open(self.out_path, "wb") as out, open(self.err_path, "wb") as err:
            self.process = subprocess.Popen(self.argv, stdout=out, stderr=err,
                                            stdin=subprocess.DEVNULL)
        return self

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.kill()

    @property
    def pid(self):
        return self.process.pid

    def stdout(self):
        return self.out_path.read_text(errors="replace")

    def stderr(self):
        return self.err_path.read_text(errors="replace")

    def running(self):
        return self.process is not None and self.process.poll() is None

    def wait(self, seconds):
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise E2eError(f"{self.label} still runs after {seconds} s\n{self.report()}") from None

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        """Stops all threads until SIGCONT. The signal alone is not enough: threads on other CPUs go on for a moment."""
        self.signal(signal.SIGSTOP)

        def stopped():
            stats = pathlib.Path(f"/proc/{self.pid}/task").glob("*/stat")
            return all(stat.read_text().rpartition(")")[2].split()[0] == "T" for stat in stats)

        wait_until(stopped, START_S, f"{self.label} to stop")

    def terminate(self, seconds=START_S):
        self.signal(signal.SIGTERM)
        return self.wait(seconds)

    def kill(self):
        self.send_kill()
        if self.process is not None:
            self.process.wait()

    def send_kill(self):
        if self.running():
            self.process.kill()

    def threads(self):
        """Where the threads are, and how long each has run and has waited for a CPU, in seconds."""
        lines = []
        for task in pathlib.Path(f"/proc/{self.pid}/task").glob("*") if self.running() else ():
            with contextlib.suppress(OSError):
                run, waited = (int(n) / 1e9 for n in (task / "schedstat").read_text().split()[:2])
                state = (task / "stat").read_text().rpartition(")")[2].split()[0]
                lines.append(f"{(task / 'comm').read_text().strip()} {state} {(task / 'wchan').read_text()} "
                             f"ran {run:.1f} s, waited {waited:.1f} s\n")
        return "".join(lines)

    def report(self):
        return (f"$ {' '.join(self.argv)}\n{self.threads()}--- stdout\n{self.stdout()[-4000:]}"
                f"--- stderr\n{self.stderr()[-6000:]}")

    def expect(self, code, seconds):
        got = self.wait(seconds)
        if got != code:
            raise E2eError(f"{self.label}: exit code {got}, wanted {code}\n{self.report()}")
        return self


class Daemon(Process):
    """suede, or a program that serves as it does, with a configuration of its own."""

    def __init__(self, directory, config, prefix=(), arguments=(), program=SUEDE):
        self.config = config
        self.name = config["name"]
        self.socket = config["clients"]["socket"]
        self.management = config["management"]["socket"]
        self.config_path = pathlib.Path(directory) / f"{self.name}.yaml"
        # JSON is YAML. "one: 1" lines would be nicer to read, but nobody has to.
        self.config_path.write_text(json.dumps(config, indent=1))
        super().__init__(directory, self.name, [program, "--config", self.config_path, *arguments],
                         prefix)

    def start(self):
        super().start()
        return self.wait_until_ready()

    def launch(self):
        """The start without the wait for its end."""
        super().start()

    def wait_until_ready(self):
        is_json = self.config.get("log", {}).get("format") == "json"
        try:
            self.wait_for_line('"message":"ready"' if is_json else "ready name=")
        except E2eError:
            self.kill()
            raise
        return self

    def wait_for_line(self, text, seconds=START_S):
        def look():
            if text in self.stderr():
                return True
            if not self.running():
                raise E2eError(f"{self.name} ended with {self.process.returncode} before '{text}'\n{self.report()}")
            return False
        wait_until(look, seconds, lambda: f"'{text}' from {self.name}\n{self.report()}")

    def wait_for_link(self):
        """Waits until the links of all ports are up."""
        def is_up():
            last = {}
            for line in self.stderr().splitlines():
                if match := re.search(r" port: link_(up|down) port=(\S+)", line):
                    last[match[2]] = match[1]
            return list(last.values()) == ["up"] * len(self.config["ports"])
        wait_until(is_up, START_S, lambda: f"the links of {self.name}\n{self.report()}")

    def counters(self):
        """All counters by name, of now or, once it has ended, of its end."""
        def written():
            # The last line may be half there.
            return [l for l in self.stderr().split("\n")[:-1] if "counters: counters" in l]
        before = len(written())
        asked = 0.0

        def answered():
            # The log drops lines beyond 50 a second, so the daemon is asked again.
            nonlocal asked
            if len(written()) > before:
                return True
            if not self.running():
                raise E2eError(f"{self.name} ended with {self.process.returncode}\n{self.report()}")
            if time.monotonic() > asked + 1:
                asked = time.monotonic()
                self.signal(signal.SIGUSR1)
            return False
        if self.running():
            wait_until(answered, START_S, lambda: f"counters of {self.name}\n{self.report()}")
        lines = written()
        if not lines:
            raise E2eError(f"no counters\n{self.report()}")
        pairs = lines[-1].split("counters: counters", 1)[1].split()
        return Counters({k: int(v) for k, v in (pair.split("=") for pair in pairs)})


@contextlib.contextmanager
def daemons(*several):
    """Starts daemons at the same time, as most of a start is waiting. They end with the block, by force if need be."""
    try:
        for daemon in several:
            daemon.launch()
        for daemon in several:
            daemon.wait_until_ready()
        yield several
    finally:
        for daemon in several:
            daemon.send_kill()
        for daemon in several:
            daemon.kill()


def suedectl(daemon, *arguments, code=0):
    """The output of suedectl: stderr where an exit code other than 0 is wanted, else stdout."""
    argv = [str(a) for a in (SUEDECTL, "--socket", daemon.management, *arguments)]
    result = subprocess.run(argv, capture_output=True, text=True, timeout=START_S, check=False)
    if result.returncode != code:
        raise E2eError(f"{argv}: exit code {result.returncode}, wanted {code}\n"
                       f"{result.stdout}{result.stderr}\n{daemon.report()}")
    return result.stderr if code else result.stdout


def managed(daemon, *arguments):
    """The result of a command."""
    return json.loads(suedectl(daemon, "-j", *arguments))


# A peer is unreachable after a second and a half without an answer: on a busy machine a daemon may wait
# some tenths for a CPU.
GIVEN_UP_SOON = {"transport": {"max_tries": 4, "rto_min_us": 100000, "rto_initial_us": 100000,
                               "rto_max_us": 400000}}


@contextlib.contextmanager
def memif_pair(changes=None):
    """Two daemons joined by a memif, whose links are up: yields (directory, left, right)."""
    with work_directory() as directory:
        configs = [changed(endpoint_config(directory, side, memif_device(directory, role)),
                           changes or {})
                   for side, role in (("left", "server"), ("right", "client"))]
        with daemons(*(Daemon(directory, config) for config in configs)) as (left, right):
            for daemon in (left, right):
                daemon.wait_for_link()
            yield directory, left, right


@contextlib.contextmanager
def memif_planes(count, ordering, changes=None):
    """Two daemons as of memif_pair, each with `count` planes. `changes`: of both daemons, or a list with one of each."""
    changes = changes if isinstance(changes, list) else [changes or {}] * 2
    with work_directory() as directory:
        configs = [changed(planes_config(directory, side,
                                         [memif_device(directory, role, n) for n in range(count)],
                                         ordering), own)
                   for side, role, own in (("left", "server", changes[0]),
                                           ("right", "client", changes[1]))]
        with daemons(*(Daemon(directory, config) for config in configs)) as (left, right):
            yield directory, left, right


def perf(directory, label, endpoint, *arguments, prefix=()):
    return Process(directory, label, [PERF, "--endpoint", endpoint, *arguments], prefix)


def perf_server(directory, daemon, vcs, *arguments, prefix=()):
    """A server that is ready."""
    server = perf(directory, f"server-{daemon.name}", daemon.socket, "--mode", "server", "--vcs",
                  vcs, *arguments, prefix=prefix).start()
    try:
        wait_until(lambda: "serving XPU" in server.stderr() or not server.running(), START_S,
                   "the server")
        if not server.running():
            raise E2eError(server.report())
    except E2eError:
        server.kill()
        raise
    return server


def results_of(path):
    return json.loads(pathlib.Path(path).read_text())


def check_results(document, least=1):
    """Checks that every run was whole and right. Returns how many commands were delivered, both ways."""
    wrongs = ["lost", "wrong", "duplicated"]
    if not document["config"]["unordered"]:
        wrongs.append("misordered")
    assert document["verdict"]["pass"], document["verdict"]
    delivered = 0
    for result in document["results"]:
        assert result["completed"], result
        for wrong in wrongs:
            assert result[wrong] == 0, (wrong, result)
        delivered += result["delivered"] + result["reverse_delivered"]
    assert delivered >= least, document
    return delivered


def orderly(daemon):
    """The arguments of suede-perf that say whether commands arrive in order."""
    orderings = [instance.get("ordering") for instance in daemon.config["instances"]]
    return ("--unordered",) if "unordered" in orderings else ()


def end_of_load(clients, servers):
    """Waits until the clients end, by themselves or as they were told; then ends the servers."""
    for client in clients:
        client.expect(0, TRAFFIC_S)
    for server in servers:
        server.signal(signal.SIGTERM)
        server.expect(0, START_S)


def check_ends(left, right, never):
    """Both daemons end; all commands that one sent the other handed over, and nothing of `never`
    was counted."""
    for daemon in (left, right):
        assert daemon.terminate() == 0, daemon.report()
    a, b = left.counters(), right.counters()
    # Where suede-perf asks again for a report, as it does on an unordered path, the last question may
    # come when nobody is there any more.
    if not orderly(left):
        assert a["tx_commands_total"] == b["rx_commands_total"], (a, b)
        assert b["tx_commands_total"] == a["rx_commands_total"], (a, b)
    for name in never:
        assert a[name] == b[name] == 0, name


def both_ways(directory, left, right, seconds, *arguments, prefixes=((), ())):
    """Two client processes on each side, which together load all VCs both ways, with the content
    checked. Commands delivered."""
    arguments = (*arguments, *orderly(left))
    jsons = [directory / f"{secrets.token_hex(3)}.json" for _ in range(2)]
    for daemon in (left, right):
        daemon.wait_for_link()
    with contextlib.ExitStack() as stack:
        servers = [
            stack.enter_context(contextlib.closing(_Closing(
                perf_server(directory, daemon, vcs, *orderly(left), prefix=prefix))))
            for daemon, vcs, prefix in ((left, "0,1", prefixes[0]), (right, "2,3", prefixes[1]))]
        clients = [
            stack.enter_context(perf(
                directory, f"client-{daemon.name}", daemon.socket, "--destinations", peer,
                "--vcs", vcs, "--duration", seconds, "--bidirectional", "--check", "--drain", 30,
                "--json", file, *arguments, prefix=prefix))
            for daemon, peer, vcs, file, prefix in (
                (left, 1, "2,3", jsons[0], prefixes[0]), (right, 0, "0,1", jsons[1], prefixes[1]))]
        end_of_load(clients, [server.process for server in servers])
    return sum(check_results(results_of(file)) for file in jsons)


class _Closing:
    """Kills a process that was started already at the end of a block."""

    def __init__(self, process):
        self.process = process

    def close(self):
        self.process.kill()
