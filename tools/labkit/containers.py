# SPDX-License-Identifier: Apache-2.0
"""Back end in containers of this machine, by podman, and manifests for `podman play kube` and Kubernetes (docs/lab-servers.md)."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import yaml

from labkit import backend as backends
from labkit import local, plan as plans

IMAGE = "localhost/suede"
LABEL = "suede-lab"
PODMAN_S = 120
HUGEPAGES_MB = 1024  # of a daemon in Kubernetes
# Keys of the file of --inventory: (key, type, default).
KEYS = (("image", str, IMAGE), ("podman_options", list, []), ("run_options", list, []), ("kubernetes_nodes", dict, {}),
        ("kubernetes_devices", dict, {}), ("hugepages_mb", int, HUGEPAGES_MB))


def read_settings(path):
    """The file of --inventory, or all defaults. Raises PreflightError."""
    settings = {key: default for key, _, default in KEYS}
    if path is None:
        return settings
    try:
        data = yaml.safe_load(pathlib.Path(path).read_text(encoding="utf-8")) or {}
    except (OSError, yaml.YAMLError) as error:
        raise backends.PreflightError(f"{path}: {error}") from error
    kinds = {key: kind for key, kind, _ in KEYS}
    if not isinstance(data, dict):
        raise backends.PreflightError(f"{path}: it is no map; write keys such as image: {IMAGE}")
    for key, value in data.items():
        if key not in kinds:
            raise backends.PreflightError(f"{path}: {key} is no key; there are {', '.join(kinds)}")
        if not isinstance(value, kinds[key]):
            raise backends.PreflightError(f"{path}: {key}: {value!r} is no {kinds[key].__name__}")
    return {**settings, **data}


class ContainerProcess(local.Process):
    """`podman run` in the foreground. Signals go to the container."""

    def __init__(self, backend, name, argv, log, environment=None):
        self.backend, self.name = backend, name
        super().__init__(argv, log, environment)

    def send(self, number):
        if self.poll() is None:
            self.backend.podman("kill", "--signal", str(int(number)), self.name)

    def kill(self):
        self.backend.podman("rm", "--force", "--time", "0", self.name)
        self.popen.kill()
        self.popen.wait()


class Containers(local.Local):
    """A container for each process; memifs and sockets are in a directory that all of them mount."""

    name = "containers"

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.settings = read_settings(self.inventory)

    def podman(self, *words):
        return subprocess.run(["podman", *self.settings["podman_options"], *words], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PODMAN_S, check=False)

    def open(self):
        super().open()
        self._remove_leftovers()

    def _check_programs(self):
        if not shutil.which("podman"):
            raise backends.PreflightError("there is no program podman; apt-get install podman")
        image = self.settings["image"]
        done = self.podman("image", "exists", image)
        if done.returncode:
            raise backends.PreflightError(f"podman has no image {image}: {done.stderr.strip() or 'it is not there'}; "
                                          "tools/package && podman build -t suede -f conf/container/Containerfile .")

    def _remove_leftovers(self):
        """Containers of runs whose tools/lab is dead."""
        done = self.podman("ps", "--all", "--filter", f"label={LABEL}", "--format", "{{.Names}} {{index .Labels \"suede-lab\"}}")
        for line in done.stdout.splitlines():
            name, _, pid = line.partition(" ")
            if pid.isdigit() and not pathlib.Path(f"/proc/{pid}").exists():
                self.podman("rm", "--force", "--time", "0", name)

    def stop(self):
        names = [child.name for child in self.children if isinstance(child, ContainerProcess)]
        if names:
            self.podman("rm", "--force", "--ignore", "--time", "0", *names)
        for child in self.children:
            local.Process.send(child, signal.SIGKILL)
            child.popen.wait()
        self.children.clear()
        super().stop()

    def program(self, kind):
        return local.PROGRAMS[kind][1]

    def _container(self, name):
        return f"suede-lab-{self.tag}-{name}"

    def _run_words(self, name, environment):
        """podman's command line up to the image's program. All runs as this user: the directory is this user's."""
        directories = [word for path in (self.directory, self.out) for word in ("--volume", f"{path}:{path}")]
        variables = [word for key, value in environment.items() for word in ("--env", f"{key}={value}")]
        return ["podman", *self.settings["podman_options"], "run", "--rm", "--name", self._container(name), "--label",
                f"{LABEL}={os.getpid()}", "--network", "host", "--user", f"{os.getuid()}:{os.getgid()}",
                "--timeout", str(int(self.plan.timeout_s) + 600), *directories, *variables, *self.settings["run_options"],
                self.settings["image"]]

    def start(self, node):
        path = self.out / "config" / f"{node.name}.yaml"
        path.write_text(yaml.safe_dump(self.configuration(node), sort_keys=False), encoding="utf-8")
        runtime = self.directory / node.name
        runtime.mkdir(exist_ok=True)
        argv = [*self._run_words(node.name, {"RUNTIME_DIRECTORY": runtime}), self.program(node.kind), "--config", path]
        child = ContainerProcess(self, self._container(node.name), argv, self.logs / f"{node.name}.log")
        self.adopt(child)
        self.nodes[node.name] = child
        self.killed.discard(node.name)

    def run(self, process):
        result, intervals = (self.out / "load" / f"{process.name}.{end}" for end in ("json", "intervals"))
        for path in (result, intervals):
            path.unlink(missing_ok=True)
        argv = [*self._run_words(process.name, {}), self.program("perf"), "--endpoint", self.directory / f"{process.node}.xpu",
                *process.argv(), "--json", result, "--interval_json", intervals, "--interval",
                max(0.02, self.plan.sample_ms / 1000), "--quiet"]
        child = ContainerProcess(self, self._container(process.name), argv, self.out / "load" / f"{process.name}.log")
        self.adopt(child)
        return local.PerfHandle(process, child, result, intervals)

    # ---- Manifests.

    def manifests(self):
        """{file name: text} of --generate."""
        return {"pod.yaml": _documents(self._pod()), "daemonset.yaml": _documents(*self._daemonset())}

    def _meta(self, name):
        return {"name": f"{re.sub(r'[^a-z0-9-]', '-', self.plan.name.lower())}-{name}",
                "labels": {"app": "suede", "scenario": self.plan.name}}

    def _pod(self):
        """All nodes of the scenario in one pod of this machine: podman play kube pod.yaml. The configurations lie beside it."""
        directory = "/run/suede-lab"
        mounts = [{"name": "lab", "mountPath": directory}, {"name": "config", "mountPath": "/etc/suede-lab"}]
        containers = [{
            "name": node.name, "image": self.settings["image"], "volumeMounts": mounts,
            "env": [{"name": "RUNTIME_DIRECTORY", "value": f"{directory}/{node.name}"}],
            "command": ["sh", "-c", f"mkdir -p {directory}/{node.name} && "
                        f"exec {self.program(node.kind)} --config /etc/suede-lab/{node.name}.yaml"],
        } for node in sorted(self.plan.nodes, key=lambda node: node.kind != "switch")]
        volumes = [{"name": "lab", "emptyDir": {}},
                   {"name": "config", "hostPath": {"path": str(self.out), "type": "Directory"}}]
        return {"apiVersion": "v1", "kind": "Pod", "metadata": self._meta("pod"),
                "spec": {"hostNetwork": True, "restartPolicy": "Never", "containers": containers, "volumes": volumes}}

    def _daemonset(self):
        """An endpoint on each labelled machine of a cluster; its configuration is that of the machine's name."""
        config, files = self._meta("config"), {}
        devices = self.settings["kubernetes_devices"]
        for node in self.plan.of_kind("endpoint"):
            made = self.configuration(node)
            made["name"] = node.name
            made["eal"]["hugepages"] = "on"
            made["management"]["socket"] = f"/run/suede/{node.name}/management.sock"
            made["clients"].update(socket=f"/run/suede/{node.name}/xpu.sock", hugepages="auto")
            for number, port in enumerate(port for port in made["ports"] if port["device"] != plans.MESH):
                device = devices.get(port["name"], devices.get("default"))
                if device is None:
                    device = "net_af_packet{number},iface={port},framesz=4096,blocksz=65536"
                port["device"] = str(device).format(number=number, port=port["name"])
            machine = self.settings["kubernetes_nodes"].get(node.name, node.name)
            files[f"{machine}.yaml"] = yaml.safe_dump(made, sort_keys=False)
        labels = {"app": "suede", "scenario": self.plan.name}
        huge = f"{self.settings['hugepages_mb']}Mi"
        limits = {"hugepages-2Mi": huge, "memory": "2Gi", "cpu": str(max(len(n.config["lcores"]) for n in
                                                                        self.plan.of_kind("endpoint")) + 1)}
        paths = {"vfio": "/dev/vfio", "sys": "/sys", "clients": "/run/suede"}
        container = {
            "name": "suede", "image": self.settings["image"],
            "command": ["sh", "-c", 'mkdir -p "/run/suede/$NODE_NAME" && exec suede --config "/etc/suede-lab/$NODE_NAME.yaml"'],
            "env": [{"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
            "securityContext": {"runAsUser": 0, "capabilities": {"add": ["IPC_LOCK", "NET_ADMIN", "NET_RAW", "SYS_NICE"]},
                                "privileged": True},  # /dev/vfio
            "resources": {"limits": limits, "requests": limits},
            "volumeMounts": [{"name": "config", "mountPath": "/etc/suede-lab"}, {"name": "hugepages", "mountPath": "/dev/hugepages"},
                             *({"name": name, "mountPath": path} for name, path in paths.items())],
        }
        spec = {"hostNetwork": True, "nodeSelector": {"suede": "endpoint"}, "containers": [container], "volumes": [
            {"name": "config", "configMap": {"name": config["name"]}},
            {"name": "hugepages", "emptyDir": {"medium": "HugePages"}},
            *({"name": name, "hostPath": {"path": path, "type": "DirectoryOrCreate" if name == "clients" else "Directory"}}
              for name, path in paths.items())]}
        return ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": config, "data": files},
                {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": self._meta("endpoint"), "spec": {
                    "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}}})


def _documents(*documents):
    head = f"# Made by {os.path.basename(sys.argv[0])} of a scenario.\n"
    return head + "---\n".join(yaml.safe_dump(document, sort_keys=False, width=110) for document in documents)
