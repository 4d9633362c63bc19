# SPDX-License-Identifier: Apache-2.0
"""Back end on several hosts over ssh (docs/lab-servers.md).

Ansible makes the hosts ready and cleans them; each process of the run is the child of an ssh connection of its own, so
that it ends with that, and each management socket is forwarded to this machine. All connections of a host share one.
"""

import http.client
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import time

import yaml

from labkit import backend as backends
from labkit import local, rpc

HERE = pathlib.Path(__file__).parent
INSTALLED = {kind: f"/usr/bin/{name}" for kind, (_, name) in local.PROGRAMS.items()}
ANSIBLE_S = 900
SSH_S = 30
REMOTE = "/tmp/suede-labhost-"
LAUNCHERS = ("barrier", "mpirun", "srun")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


class Host:
    """A host of the inventory. `variables` are Ansible's."""

    def __init__(self, name, variables):
        self.name = name
        self.variables = variables
        self.nodes = []
        self.master = None

    def program(self, kind):
        build = self.variables.get("suede_build")
        return f"{build}/{local.PROGRAMS[kind][0]}" if build else INSTALLED[kind]

    def ssh_config(self, control):
        """Returns the host's part of a configuration of ssh, from Ansible's variables of the host."""
        names = {"ansible_host": "HostName", "ansible_port": "Port", "ansible_user": "User",
                 "ansible_ssh_private_key_file": "IdentityFile"}
        lines = [f"Host {self.name}"]
        lines += [f"  {option} {self.variables[name]}" for name, option in names.items() if name in self.variables]
        words = shlex.split(str(self.variables.get("ansible_ssh_common_args", "")))
        lines += [f"  {option.replace('=', ' ', 1)}" for flag, option in zip(words, words[1:]) if flag == "-o"]
        lines += ["  BatchMode yes", f"  ConnectTimeout {SSH_S}", "  ServerAliveInterval 5", "  ServerAliveCountMax 3",
                  f"  ControlPath {control}"]
        return "\n".join(lines) + "\n"


def read_inventory(path, plan):
    """The hosts, each with its nodes. Raises PreflightError."""
    if path is None:
        raise backends.PreflightError("the back end servers needs hosts; name their inventory by --inventory FILE "
                                      "(docs/lab-servers.md)")
    for tool in ("ansible-playbook", "ssh"):
        if not shutil.which(tool):
            raise backends.PreflightError(f"there is no program {tool}; apt-get install ansible-core openssh-client")
    done = subprocess.run(["ansible-inventory", "--inventory", str(path), "--list"], capture_output=True, text=True,
                          timeout=ANSIBLE_S, check=False)
    try:
        variables = json.loads(done.stdout)["_meta"]["hostvars"]
    except (ValueError, KeyError):
        variables = {}
    if done.returncode or not variables:
        raise backends.PreflightError(f"{path}: no hosts in it: {done.stderr.strip() or 'it is empty'}")
    hosts = [Host(name, values) for name, values in variables.items()]
    for host in hosts:
        if not NAME.fullmatch(host.name):
            raise backends.PreflightError(f"{path}: {host.name!r} is no name of a host; use letters, digits, _, - and .")
    _place(path, plan, hosts)
    return [host for host in hosts if host.nodes]


def _place(path, plan, hosts):
    """Places nodes by suede_nodes; daemons without a host go to the hosts without suede_nodes, in turn. Switches without a
    host are the fabric's own: they are no part of the run."""
    names = {node.name: node for node in plan.nodes}
    placed = {}
    for host in hosts:
        for name in host.variables.get("suede_nodes", []):
            if name not in names:
                continue  # of another scenario
            if name in placed:
                raise backends.PreflightError(f"{path}: {host.name}: suede_nodes: {name} is at {placed[name].name} already")
            placed[name] = host
    free = [host for host in hosts if "suede_nodes" not in host.variables]
    left = [node for node in plan.nodes if node.kind == "endpoint" and node.name not in placed]
    if left and not free:
        raise backends.PreflightError(f"{path}: no host has {left[0].name}; write it in a host's suede_nodes")
    placed.update({node.name: free[number % len(free)] for number, node in enumerate(left)})
    plan.nodes = [node for node in plan.nodes if node.name in placed]
    for node in plan.nodes:
        placed[node.name].nodes.append(node)


class RemoteProcess(local.Process):
    """The ssh of a process; signals go to the process, and its end is that of both."""

    def __init__(self, servers, host, name, argv, log):
        self.servers, self.host, self.name = servers, host, name
        super().__init__([*servers.ssh(host), f"{servers.remote}/lab-node run {name} {shlex.join(map(str, argv))}"], log,
                         stdin=subprocess.PIPE)

    def send(self, number):
        if self.poll() is None:
            self.servers.on(self.host, f"{self.servers.remote}/lab-node signal {self.name} {int(number)}")

    def kill(self):
        try:
            self.send(signal.SIGKILL)
            self.popen.wait(SSH_S)
        except (backends.LabError, subprocess.TimeoutExpired):
            self.popen.kill()
            self.popen.wait()


class MpiProcess:
    """A process that mpirun or srun has started: it ends with the launcher."""

    def __init__(self, launcher):
        self.launcher = launcher

    def poll(self):
        return self.launcher.poll()

    def send(self, number):
        self.launcher.send(number)

    def log(self):
        return self.launcher.log()


class RemoteHandle(local.PerfHandle):
    def __init__(self, process, child, servers, host, intervals):
        super().__init__(process, child, servers.out / "load" / f"{process.name}.json", intervals)
        self.servers, self.host = servers, host

    def result(self):
        if not self.result_path.exists() and self.poll() is not None:
            done = self.servers.on(self.host, f"cat {self.servers.remote}/{self.process.name}.json")
            if done.returncode == 0:
                self.result_path.write_text(done.stdout, encoding="utf-8")
        return super().result()


class Servers(local.Local):
    name = "servers"

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.hosts = []
        self.host_of = {}
        self.remote = None     # directory of the run on each host
        self.prepared = False
        self.forwards = {}     # node -> socket on this machine that reaches its web server
        self.launched = {}     # load -> MpiProcess
        self.launcher = "barrier"

    # ---- Begin and end.

    def read(self):
        """The inventory, once: launcher, hosts and their nodes."""
        if not self.hosts:
            self.hosts = read_inventory(self.inventory, self.plan)
            self.host_of = {node.name: host for host in self.hosts for node in host.nodes}
            self.launcher = str(self.hosts[0].variables.get("suede_launcher", "barrier"))
        if self.launcher not in LAUNCHERS:
            raise backends.PreflightError(f"{self.inventory}: suede_launcher: {self.launcher} is none; write "
                                          + ", ".join(LAUNCHERS))

    def open(self):
        self.read()
        super().open()
        self.remote = f"{REMOTE}{socket.gethostname()[:16]}-{os.getpid()}"
        for node in self.plan.nodes:
            path = self.out / "config" / f"{node.name}.yaml"
            path.write_text(yaml.safe_dump(self.configuration(node), sort_keys=False), encoding="utf-8")
        (self.directory / "ssh_config").write_text(
            "\n".join(host.ssh_config(self.directory / f"{number}.ssh") for number, host in enumerate(self.hosts)),
            encoding="utf-8")
        for host in self.hosts:
            self._connect(host)
        self.prepared = True
        self.play("prepare.yml")

    def stop(self):
        for child in self.children:
            if isinstance(child, RemoteProcess) and child.poll() is None:
                child.popen.stdin.close()  # which ends it where the network is gone, too
        deadline = time.monotonic() + SSH_S
        while any(isinstance(c, RemoteProcess) and c.poll() is None for c in self.children) and time.monotonic() < deadline:
            time.sleep(0.02)
        if self.prepared:
            self.prepared = False
            try:
                self.play("clean.yml")
            except (backends.LabError, OSError, subprocess.SubprocessError):
                pass
        # The remaining children are connections; a signal to a dead process has no effect.
        for child in self.children:
            local.Process.send(child, signal.SIGKILL)
            child.popen.wait()
        self.children.clear()
        super().stop()

    def _check_programs(self):
        """Checks nothing: the programs are on the hosts."""

    def ssh(self, host):
        return ["ssh", "-F", str(self.directory / "ssh_config"), host.name]

    def on(self, host, command, seconds=SSH_S):
        """Runs a command of the shell on the host."""
        try:
            return subprocess.run([*self.ssh(host), command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=seconds, check=False)
        except subprocess.TimeoutExpired as error:
            raise backends.LabError(f"{host.name} does not answer within {seconds} s") from error

    def _connect(self, host):
        """The connection that all others to the host share."""
        host.master = local.Process([*self.ssh(host)[:-1], "-M", "-N", host.name], self.logs / f"{host.name}.ssh.log")
        self.adopt(host.master)
        deadline = time.monotonic() + SSH_S + 5
        while time.monotonic() < deadline and host.master.poll() is None:
            if self._control(host, "check").returncode == 0:
                return
            time.sleep(0.02)
        raise backends.PreflightError(f"{self.inventory}: {host.name} cannot be reached: "
                                      + (host.master.log().strip() or "no answer")
                                      + f"; ssh {host.variables.get('ansible_host', host.name)} has to work without a password")

    def _control(self, host, *words):
        return subprocess.run([*self.ssh(host)[:-1], "-O", *words, host.name], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=SSH_S, check=False)

    def play(self, playbook, *arguments):
        """Runs a playbook on the hosts of the run; its output."""
        variables = {"suede_lab_directory": self.remote, "suede_lab_files": str(self.out / "config"), "suede_packages": []}
        inventory = {"all": {"hosts": {host.name: {**host.variables, "suede_nodes": [node.name for node in host.nodes]}
                                       for host in self.hosts}}}
        (self.directory / "inventory.yaml").write_text(yaml.safe_dump(inventory), encoding="utf-8")
        packages = {host.variables["suede_packages"] for host in self.hosts
                    if isinstance(host.variables.get("suede_packages"), str)}
        if packages:
            raise backends.PreflightError(f"{self.inventory}: suede_packages: {packages.pop()} is no list; write [FILE.deb, …]")
        done = subprocess.run(
            ["ansible-playbook", "--inventory", str(self.directory / "inventory.yaml"), *arguments,
             "--extra-vars", f"@{self._defaults(variables)}", str(HERE / "ansible" / playbook)],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=ANSIBLE_S, check=False,
            env={**os.environ, "ANSIBLE_SSH_ARGS": f"-F {self.directory / 'ssh_config'}", "ANSIBLE_NOCOLOR": "1",
                 "ANSIBLE_SSH_CONTROL_PATH": "", "ANSIBLE_RETRY_FILES_ENABLED": "0", "ANSIBLE_PIPELINING": "1", "ANSIBLE_FORKS": "32", "ANSIBLE_LOCALHOST_WARNING": "0",
                 "ANSIBLE_LOCAL_TEMP": str(self.directory / "ansible"), "ANSIBLE_STDOUT_CALLBACK": "default"})
        (self.logs / f"{playbook.removesuffix('.yml')}.log").write_text(done.stdout + done.stderr, encoding="utf-8")
        if done.returncode:
            failed = [line for line in done.stdout.splitlines() if re.match(r"(fatal|failed):", line)]
            raise backends.PreflightError(f"{playbook} failed:\n" + local.tail("\n".join(failed) or done.stdout + done.stderr))
        return done.stdout

    def _defaults(self, variables):
        """A file with the variables that no host has."""
        given = {name for host in self.hosts for name in host.variables}
        path = self.directory / "variables.yaml"
        path.write_text(yaml.safe_dump({name: value for name, value in variables.items() if name not in given}),
                        encoding="utf-8")
        return path

    # ---- Nodes.

    def configuration(self, node):
        self.read()
        config = super().configuration(node)
        near = pathlib.Path(config["management"]["socket"]).name
        config["management"]["socket"] = f"{self.remote_directory()}/{near}"
        if node.kind == "endpoint":
            config["clients"]["socket"] = f"{self.remote_directory()}/{node.name}.xpu"
        host = self.host_of.get(node.name)
        if host and "suede_hugepages_2m" in host.variables:
            config["eal"]["hugepages"] = "auto"
            if node.kind == "endpoint":
                config["clients"]["hugepages"] = "auto"
        return config

    def make_secrets(self):
        """Makes none: the secrets are on the hosts."""

    def secrets_path(self):
        raise backends.PreflightError("instances seal, and their hosts need a file of secrets (docs/sealing.md); put one on each "
                                      "host, and name it by endpoint.sealing.secrets")

    def remote_directory(self):
        return self.remote or f"{REMOTE}{socket.gethostname()[:16]}-{os.getpid()}"

    def _place(self, node, config):
        """CPUs of the host's suede_cpus, by turns."""
        host = self.host_of.get(node.name)
        cpus = (host.variables.get("suede_cpus") if host else None) or list(range(len(config["lcores"])))
        if len(config["lcores"]) > len(cpus):
            raise backends.PreflightError(f"{self.inventory}: {host.name}: suede_cpus has {len(cpus)} CPUs, and {node.name} "
                                          f"{len(config['lcores'])} lcores")
        first = sum(len(each.config["lcores"]) for each in host.nodes[:host.nodes.index(node)]) if host else 0
        backends.place(config, cpus, first)

    def device(self, node, port, number, _config):
        host = self.host_of.get(node.name)
        devices = host.variables.get("suede_devices", {}) if host else {}
        device = devices.get(port["name"], devices.get("default"))
        if device is None:
            raise backends.PreflightError(
                f"{self.inventory}: {host.name if host else 'no host'} has no device for the port {port['name']} of "
                f"{node.name}; write suede_devices: {{{port['name']}: PCI address or vdev}}")
        return str(device).format(number=number, port=port["name"])

    def start(self, node):
        host = self.host_of[node.name]
        child = RemoteProcess(self, host, node.name,
                              [host.program(node.kind), "--config", f"{self.remote}/{node.name}.yaml"],
                              self.logs / f"{node.name}.log")
        self.adopt(child)
        self.nodes[node.name] = child
        self.killed.discard(node.name)
        self._forward(host, self.socket(node), f"{self.remote}/{node.name}.ctl")

    def _forward(self, host, near, far):
        if pathlib.Path(near).exists():  # of a node that was started before
            self._control(host, "cancel", "-L", f"{near}:{far}")
            pathlib.Path(near).unlink(missing_ok=True)
        done = self._control(host, "forward", "-L", f"{near}:{far}")
        if done.returncode:
            raise backends.LabError(f"{host.name}: {far} cannot be forwarded: {done.stderr.strip()}")

    def metrics(self, node):
        if node.name not in self.forwards:
            connection = rpc.Connection(self.socket(node))
            try:
                address = connection.call("version")["http"]
            finally:
                connection.close()
            near = self.directory / f"{node.name}.http"
            if address:
                self._forward(self.host_of[node.name], near, address)
            self.forwards[node.name] = near if address else None
        if self.forwards[node.name] is None:
            return None
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stream:
                stream.settimeout(5)
                stream.connect(str(self.forwards[node.name]))
                stream.sendall(b"GET /metrics HTTP/1.0\r\nHost: lab\r\n\r\n")
                answer = http.client.HTTPResponse(stream)
                answer.begin()
                return answer.read().decode()
        except (OSError, http.client.HTTPException):
            self.forwards.pop(node.name, None)
            return None

    # ---- Loads.

    def _perf(self, process):
        """The command line on the host."""
        host = self.host_of[process.node]
        return [host.program("perf"), "--endpoint", f"{self.remote}/{process.node}.xpu", *process.argv(),
                "--json", f"{self.remote}/{process.name}.json", "--interval_json", f"{self.remote}/{process.name}.intervals",
                "--interval", max(0.02, self.plan.sample_ms / 1000), "--quiet"]

    def run(self, process):
        host = self.host_of[process.node]
        intervals = self.out / "load" / f"{process.name}.intervals"
        (self.out / "load" / f"{process.name}.json").unlink(missing_ok=True)
        load = next(each for each in self.plan.load if process in each.processes)
        far = f"{self.remote}/{process.name}.intervals"
        tail = RemoteProcess(self, host, f"{process.name}.tail",
                             ["sh", "-c", f"touch {far}; exec tail -n +1 -f {far} 2>/dev/null"], intervals)
        self.adopt(tail)
        if self.launcher == "barrier" or process.role != "workload":
            child = RemoteProcess(self, host, process.name, self._perf(process), self.out / "load" / f"{process.name}.log")
            self.adopt(child)
        else:
            child = self.launched.get(load.name) or self._launch(load)
        return RemoteHandle(process, child, self, host, intervals)

    def launch_command(self, load):
        """mpirun's or srun's command line, which starts all processes of a workload together, and srun's file."""
        lines = [[f"{self.remote}/lab-node", "run", process.name, *map(str, self._perf(process))] for process in load.processes]
        hosts = [self.host_of[process.node].name for process in load.processes]
        if self.launcher == "mpirun":
            # One program for all ranks: Open MPI 5.0.7 (Debian 13) crashes where there are several. Ranks fill one host
            # after the other.
            order = sorted(range(len(lines)), key=lambda number: hosts.index(hosts[number]))
            script = "".join(f"{rank}) exec {shlex.join(lines[number])};; " for rank, number in enumerate(order))
            slots = ",".join(f"{host}:{hosts.count(host)}" for host in dict.fromkeys(hosts))
            options = shlex.split(str(self.hosts[0].variables.get("suede_mpirun_options", "")))
            return ["mpirun", "--allow-run-as-root", "--mca", "plm_rsh_agent", f"ssh -F {self.directory / 'ssh_config'}",
                    "--mca", "btl", "self,tcp", "--stdin", "all", *options, "-np", str(len(lines)), "--host", slots,
                    "sh", "-c", f"case $OMPI_COMM_WORLD_RANK in {script}esac"]
        file = self.directory / f"{load.name}.{self.launcher}"
        file.write_text("".join(f"{number} {shlex.join(line)}\n" for number, line in enumerate(lines)), encoding="utf-8")
        options = shlex.split(str(self.hosts[0].variables.get("suede_srun_options", "")))
        return ["srun", f"--ntasks={len(lines)}", f"--nodelist={','.join(hosts)}", "--distribution=arbitrary", *options,
                "--multi-prog", str(file)]

    def _launch(self, load):
        command = self.launch_command(load)
        if not shutil.which(command[0]):
            package = {"mpirun": "openmpi-bin", "srun": "slurm-client"}[command[0]]
            raise backends.PreflightError(f"there is no program {command[0]}; apt-get install {package}")
        child = local.Process(command, self.out / "load" / f"{load.name}.{self.launcher}.log", stdin=subprocess.PIPE)
        self.adopt(child)
        self.launched[load.name] = MpiProcess(child)
        return self.launched[load.name]
