# SPDX-License-Identifier: Apache-2.0
"""Back ends on this machine: processes joined by memif, or by veth between network namespaces.

All sockets and EAL's files are in the lab's directory (labkit.state), and namespaces have no names: they end with the
processes in them. Each process ends when the one that keeps the lab does, however that ends.
"""

import copy
import ctypes
import json
import os
import pathlib
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request

import yaml

from labkit import backend as backends
from labkit import rpc, state

SECRETS = "secrets"  # file of sealing in the directory of sockets
PR_SET_PDEATHSIG = 1
PROGRAMS = {"endpoint": ("app/suede/suede", "suede"), "switch": ("app/suede-switch/suede-switch", "suede-switch"),
            "perf": ("app/perf/suede-perf", "suede-perf")}
# The interfaces of a namespace are in the /sys that is mounted inside.
HOLD = "mount -t sysfs none /sys && ip link set lo up && echo held && exec sleep infinity"
_libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent():
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def tail(text, lines=12):
    return "\n".join("    " + line for line in text.splitlines()[-lines:]) or "    (nothing)"


def _needs_secrets(config):
    """Whether instances seal, and the scenario does not say by which secrets."""
    given = config.get("sealing") or {}
    return any(instance.get("sealing", "off") != "off" for instance in config.get("instances", [])) and not (
        given.get("secrets") or given.get("tls"))


class Process:
    """A child with its output in a file."""

    def __init__(self, argv, log, environment=None, stdin=subprocess.DEVNULL):
        self.argv = [str(word) for word in argv]
        self.log_path = pathlib.Path(log)
        with open(log, "ab") as file:
            self.popen = subprocess.Popen(self.argv, stdin=stdin, stdout=file, stderr=file,
                                          env={**os.environ, **(environment or {})}, start_new_session=True,
                                          preexec_fn=die_with_parent)

    @property
    def pid(self):
        return self.popen.pid

    def poll(self):
        return self.popen.poll()

    def send(self, number):
        if self.popen.poll() is None:
            self.popen.send_signal(number)

    def end(self, seconds, number=signal.SIGTERM):
        """Ends the process. Returns its exit code, or None if it had to be killed."""
        self.send(signal.SIGCONT)
        self.send(number)
        try:
            return self.popen.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return None

    def kill(self):
        if self.popen.poll() is None:
            self.popen.kill()
        self.popen.wait()

    def log(self):
        return self.log_path.read_text(encoding="utf-8", errors="replace")


class PerfHandle(backends.Handle):
    def __init__(self, process, child, result_path, interval_path):
        self.process = process
        self.child = child
        self.result_path = result_path
        self.interval_path = interval_path
        self.offset = 0

    def poll(self):
        return self.child.poll()

    def signal(self, number):
        self.child.send(number)

    def result(self):
        try:
            return json.loads(self.result_path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def intervals(self):
        try:
            with open(self.interval_path, "rb") as file:
                file.seek(self.offset)
                data = file.read()
        except OSError:
            return []
        whole = data.rfind(b"\n") + 1
        self.offset += whole
        return [json.loads(line) for line in data[:whole].splitlines()]

    def log(self):
        return self.child.log()


class Local(backends.Backend):
    """memif."""

    name = "local"

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.directory = self.out  # of sockets
        self.tag = self.plan.name   # in names of nodes
        self.nodes = {}  # name -> Process
        self.children = []
        self.killed = set()  # nodes that are dead on purpose
        self.http = {}  # node -> address of its web server
        self.logs = self.out / "logs"

    # ---- Begin and end.

    def open(self):
        state.remove_leftovers()
        self._check_programs()
        for link in self.plan.links:
            direct = all(self.plan.node(end["node"]).kind == "endpoint" for end in (link["a"], link["b"]))
            if direct and (link["rate_gbps"] or link["delay_us"]):
                raise backends.LabError(f"the direct link {link['a']['port']}-{link['b']['port']} has a rate or delay, "
                                        f"which the back end {self.name} cannot give it; take the simulator, or a switch")
        for path in (self.logs, self.out / "config", self.out / "load"):
            path.mkdir(parents=True, exist_ok=True)
        for path in [*self.logs.iterdir(), *(self.out / "load").iterdir()]:
            path.unlink()
        self.tag = str(os.getpid())
        self.lab = state.claim(self.lab_name or f"run-{os.getpid()}")
        self.directory = self.lab.path
        # EAL's files of hugepages, should the scenario take any.
        self.lab.data.update(backend=self.name, out=str(self.out), build=str(self.build) if self.build else None,
                             prefixes=[f"suede_lab-{self.tag}-"])
        self.lab.save()
        self.make_secrets()

    def stop(self):
        for child in self.children:
            child.send(signal.SIGCONT)
            child.send(signal.SIGKILL)
        for child in self.children:
            child.popen.wait()
        self.children.clear()
        self.nodes.clear()
        if self.lab:
            self.lab.remove()
            self.lab = None

    def publish(self):
        """Writes nodes and links into the lab's state, for programs that come to it."""
        if not self.lab:
            return
        self.lab.data["nodes"] = [self._published(node) for node in self.plan.nodes]
        self.lab.data["links"] = [{key: link[key] for key in ("a", "b", "plane", "xpus")} for link in self.plan.links]
        self.lab.save()

    def _published(self, node):
        child = self.nodes.get(node.name)
        return {"name": node.name, "kind": node.kind, "xpus": node.xpus, "pid": child.pid if child else None,
                "control": str(self.socket(node)),
                "clients": str(self.directory / f"{node.name}.xpu") if node.kind == "endpoint" else None,
                "namespace": self.namespace(node)}

    def namespace(self, _node):
        """{"pid", "start"} of the process whose namespaces the node has, or None."""
        return None

    def adopt(self, child):
        """Notes a process that `stop` has to end, and that is a leftover if this process is killed."""
        self.children = [each for each in self.children if each.poll() is None] + [child]
        if self.lab:
            self.lab.add_process(child.pid, child.log_path.stem)

    def _check_programs(self):
        for kind in PROGRAMS:
            program = self.program(kind)
            if not program or not os.access(program, os.X_OK):
                mend = f"ninja -C {self.build} {PROGRAMS[kind][0]}" if self.build else \
                    "install the package suede, or name a build directory by --build"
                raise backends.PreflightError(f"there is no program {program or PROGRAMS[kind][1]}; {mend}")

    def program(self, kind):
        return pathlib.Path(self.build) / PROGRAMS[kind][0] if self.build else shutil.which(PROGRAMS[kind][1])

    # ---- Nodes.

    def make_secrets(self):
        partitions = {node.config.get("partition", 0) for node in self.plan.nodes if _needs_secrets(node.config)}
        if partitions:
            path = self.secrets_path()
            path.unlink(missing_ok=True)
            path.touch(mode=0o600)
            path.write_text("".join(f"{partition} 1 {secrets.token_hex(32)} - -\n" for partition in sorted(partitions)),
                            encoding="ascii")

    def secrets_path(self):
        return self.directory / SECRETS

    def configuration(self, node):
        config = copy.deepcopy(node.config)
        directory = self.directory
        config["name"] = f"lab-{self.tag}-{node.name}"
        config.setdefault("eal", {}).setdefault("hugepages", "off")
        config.setdefault("management", {})["socket"] = str(directory / f"{node.name}.ctl")
        if node.kind == "endpoint":
            config.setdefault("clients", {})["socket"] = str(directory / f"{node.name}.xpu")
            config["clients"].setdefault("hugepages", "off")
        if _needs_secrets(node.config):
            config.setdefault("sealing", {})["secrets"] = str(self.secrets_path())
        # Times of pauses and counters of devices are metrics alone.
        if any(port.get("pfc") == "software" for port in config["ports"]) or config.get("devices"):
            config["management"].setdefault("http_address", "127.0.0.1:0")
        self._place(node, config)
        for number, port in enumerate(config["ports"]):
            if "device" not in port:
                port["device"] = self.device(node, port, number, config)
        return config

    def _place(self, node, config):
        """CPUs of this machine, by turns; keys that name an lcore follow."""
        cpus = sorted(os.sched_getaffinity(0))
        if len(config["lcores"]) > len(cpus):
            raise backends.PreflightError(f"{node.name} has {len(config['lcores'])} lcores, and this machine {len(cpus)} CPUs; "
                                          "lower topology.lcores and take more daemons")
        first = [each.name for each in self.plan.nodes].index(node.name)
        backends.place(config, cpus, first)

    def frame_bytes(self):
        """Room for the longest frame of all nodes."""
        limits = [node.config.get("packing", {}).get("limit_bytes") for node in self.plan.nodes]
        return max(limit if isinstance(limit, int) else 2048 for limit in limits) + 256

    def device(self, node, port, number, _config):
        """The memif of a port. A switch is the server of an endpoint; of two of a kind the end a is."""
        index, link, end = self.link_at(node.name, port["name"])
        ends = [self.plan.node(link[each]["node"]).kind for each in "ab"]
        serves = end == "a" if ends[0] == ends[1] else node.kind == "switch"
        directory = self.directory
        return (f"net_memif{number},role={'server' if serves else 'client'},id=0,socket={directory}/{index}.memif,"
                f"socket-abstract=no,bsize={max(2304, self.frame_bytes())}")

    def link_at(self, node, port):
        for index, link in enumerate(self.plan.links):
            for end in "ab":
                if link[end] == {"node": node, "port": port}:
                    return index, link, end
        raise KeyError(port)

    def prefix(self, _node):
        """Words in front of the command line of a node's processes."""
        return []

    def start(self, node):
        path = self.out / "config" / f"{node.name}.yaml"
        path.write_text(yaml.safe_dump(self.configuration(node), sort_keys=False), encoding="utf-8")
        runtime = self.directory / node.name
        runtime.mkdir(exist_ok=True)
        child = Process([*self.prefix(node), self.program(node.kind), "--config", path],
                        self.logs / f"{node.name}.log", {"RUNTIME_DIRECTORY": str(runtime)})
        self.adopt(child)
        self.nodes[node.name] = child
        self.killed.discard(node.name)
        self.publish()

    def wait_ready(self, node, seconds):
        deadline = time.monotonic() + seconds
        missing = "its management socket"
        while time.monotonic() < deadline:
            # The node's links may wait for another node that is dead.
            for each in self.plan.nodes:
                code = self.poll(each)
                if code is not None and each.name not in self.killed:
                    raise backends.LabError(f"{each.name} ended at its start with {code}; its log "
                                            f"({self.logs}/{each.name}.log) ends with\n{tail(self.log(each))}")
            try:
                connection = rpc.Connection(self.socket(node), 5)
                try:
                    ports = connection.call("ports.list")["ports"]
                    cables = connection.call("cables.list")["cables"] if node.config.get("devices") else []
                finally:
                    connection.close()
                down = [port["name"] for port in ports if not port["link_up"]]
                down += [cable["from"] for cable in cables if cable["state"] != "up"]
                if not down:
                    return
                missing = "the links of " + ", ".join(down)
            except (OSError, ValueError, rpc.RpcError):
                pass
            time.sleep(0.05)
        raise backends.LabError(f"{node.name} is not ready after {seconds} s: it lacks {missing}; its log ends with\n"
                                + tail(self.log(node)))

    def poll(self, node):
        return self.nodes[node.name].poll() if node.name in self.nodes else None

    def signal(self, node, number):
        if number == signal.SIGKILL:
            self.killed.add(node.name)
        self.nodes[node.name].send(number)

    def end(self, node, seconds):
        return self.nodes[node.name].end(seconds)

    def socket(self, node):
        return self.directory / f"{node.name}.ctl"

    def log(self, node):
        return self.nodes[node.name].log()

    def metrics(self, node):
        if node.name not in self.http:
            connection = rpc.Connection(self.socket(node))
            try:
                self.http[node.name] = connection.call("version")["http"]
            finally:
                connection.close()
        address = self.http[node.name]
        if not address:
            return None
        try:
            with urllib.request.urlopen(f"http://{address}/metrics", timeout=5) as answer:
                return answer.read().decode()
        except OSError:
            self.http.pop(node.name, None)
            return None

    # ---- Loads.

    def run(self, process):
        node = self.plan.node(process.node)
        result, intervals = (self.out / "load" / f"{process.name}.{end}" for end in ("json", "intervals"))
        for path in (result, intervals):
            path.unlink(missing_ok=True)
        argv = [self.program("perf"), "--endpoint", self.directory / f"{node.name}.xpu", *process.argv(), "--json", result,
                "--interval_json", intervals, "--interval", max(0.02, self.plan.sample_ms / 1000), "--quiet"]
        child = Process([*self.prefix(node), *argv], self.out / "load" / f"{process.name}.log")
        self.adopt(child)
        return PerfHandle(process, child, result, intervals)


class Veth(Local):
    """veth between network namespaces, one for each node, driven by af_packet. Takes root."""

    name = "veth"

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.holders = {}  # node -> Process that keeps the namespace

    def open(self):
        if os.geteuid() != 0:
            raise backends.PreflightError("the back end veth makes network namespaces, which takes root; run "
                                          f"sudo {' '.join(sys.argv)}, or take --backend local")
        for tool in ("ip", "nsenter", "unshare"):
            if not shutil.which(tool):
                raise backends.PreflightError(f"there is no program {tool}; apt-get install iproute2 util-linux")
        super().open()
        for node in self.plan.nodes:
            holder = Process(["unshare", "--net", "--mount", "sh", "-c", HOLD], self.logs / f"{node.name}.namespace.log")
            self.adopt(holder)
            self.holders[node.name] = holder
        for node in self.plan.nodes:
            self._wait_for_namespace(self.holders[node.name])
            # Interfaces without addresses of IPv6 send nothing by themselves.
            self._inside(node.name, "sh", "-c", "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6 2>/dev/null; true")
        for link in self.plan.links:
            self._join(link)

    @staticmethod
    def _wait_for_namespace(holder):
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and holder.poll() is None:
            if "held" in holder.log():
                return
            time.sleep(0.01)
        raise backends.PreflightError("a network namespace cannot be made: unshare --net says\n" + tail(holder.log()))

    def _inside(self, node, *argv):
        self._run(*self._enter(node), *argv)

    def _enter(self, node):
        return ["nsenter", "--target", str(self.holders[node].pid), "--net", "--mount"]

    @staticmethod
    def _run(*argv):
        done = subprocess.run([str(word) for word in argv], capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            raise backends.LabError(f"{' '.join(map(str, argv))}: {done.stderr.strip()}")

    def _join(self, link):
        a, b = link["a"], link["b"]
        self._run("ip", "link", "add", a["port"], "netns", self.holders[a["node"]].pid, "type", "veth", "peer", "name",
                  b["port"], "netns", self.holders[b["node"]].pid)
        for end in (a, b):
            self._inside(end["node"], "ip", "link", "set", end["port"], "mtu", self.frame_bytes(), "up")

    def prefix(self, node):
        return self._enter(node.name)

    def namespace(self, node):
        pid = self.holders[node.name].pid
        return {"pid": pid, "start": state.start_of(pid)}

    def device(self, _node, port, number, _config):
        frame = 1 << (self.frame_bytes() + 128 - 1).bit_length()
        return f"net_af_packet{number},iface={port['name']},framesz={frame},blocksz={max(65536, frame)},framecnt=512"

    def metrics(self, node):
        """Reads the metrics in a thread that enters the node's namespace."""
        result = []

        def ask():
            with open(f"/proc/{self.holders[node.name].pid}/ns/net", encoding="ascii") as file:
                if _libc.setns(file.fileno(), 0) == 0:
                    result.append(super(Veth, self).metrics(node))

        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
        return result[0] if result else None

    def pfc_storm(self, link, classes, quanta, interval_us):
        end = next(each for each in (link["a"], link["b"]) if self.plan.node(each["node"]).kind == "endpoint")
        program = pathlib.Path(__file__).with_name("pfc_storm.py")
        child = Process([*self._enter(end["node"]), sys.executable, program, end["port"], ",".join(map(str, classes)),
                         quanta, interval_us], self.logs / f"{end['port']}.pfc_storm.log")
        self.adopt(child)
        return child.kill
