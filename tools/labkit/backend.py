# SPDX-License-Identifier: Apache-2.0
"""The interface between run.py and local, servers, containers and simulator.

A back end is opened by `with`, and its `stop` runs whatever happens. `make` finds it by name.
"""

import importlib
import importlib.util
import pathlib
import signal
import sys

# The name by which this program was called, for messages.
PROGRAM = "suede-lab" if pathlib.Path(sys.argv[0]).name == "suede-lab" else "tools/lab"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class LabError(Exception):
    """The run cannot go on: exit code 1."""


class PreflightError(LabError):
    """Something is missing on the machine; the message has the command that provides it: exit code 5."""


def place(config, cpus, first=0):
    """Gives lcores the CPUs of a list by turns, from number `first` on; keys that name an lcore follow."""
    moved = {}
    for number, lcore in enumerate(config["lcores"]):
        moved[lcore["cpu"]] = lcore["cpu"] = cpus[(first + number) % len(cpus)]
    for entry in [*config.get("instances", []), *config["ports"], *config.get("devices", [])]:
        if "lcore" in entry:
            entry["lcore"] = moved.get(entry["lcore"], entry["lcore"])


class Handle:
    """A process of suede-perf that runs."""

    process = None  # plan.Process

    def poll(self):
        """Its exit code, or None."""
        raise NotImplementedError

    def signal(self, number):
        raise NotImplementedError

    def result(self):
        """The object of --json once it has ended, or None."""
        raise NotImplementedError

    def intervals(self):
        """The objects of --interval_json that have come since the last call."""
        raise NotImplementedError

    def log(self):
        """Its standard error so far."""
        raise NotImplementedError


class Backend:
    """`out` is the directory of the report. Each run has one back end, which `open` prepares and `stop` ends."""

    name = ""
    # A batch does it all by itself in `run_batch`, and no other method but open and stop is called.
    is_batch = False

    lab = None  # labkit.state.Directory, while the back end is open and has one

    def __init__(self, plan, out, build=None, inventory=None, keep=False, lab_name=None):
        self.plan = plan
        self.out = out
        self.build = build          # directory of the programs, None: the installed ones
        self.inventory = inventory  # of servers
        self.keep = keep
        self.lab_name = lab_name    # of the directory; None: a run's

    def __enter__(self):
        try:
            self.open()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        """Stops the back end; signals are ignored meanwhile."""
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        self.stop()

    def open(self):
        """Checks the machine, and prepares what all nodes share. Raises PreflightError."""
        raise NotImplementedError

    def stop(self):
        """Ends all that runs and removes all that was made but for the files of `out`. Never raises; may be called twice."""
        raise NotImplementedError

    def configuration(self, node):
        """The whole configuration of a node: its `config` with devices, CPUs, sockets."""
        raise NotImplementedError

    def make_secrets(self):
        """Writes the file of secrets, where daemons seal and the scenario names none."""

    def manifests(self):
        """Further files of --generate: {name: text}."""
        return {}

    def start(self, node):
        raise NotImplementedError

    def wait_ready(self, node, seconds):
        """Waits until the node is ready and its links are up. Raises LabError with the last lines of its log."""
        raise NotImplementedError

    def poll(self, node):
        """Returns the exit code of a node that has ended, else None."""
        raise NotImplementedError

    def signal(self, node, number):
        raise NotImplementedError

    def end(self, node, seconds):
        """Sends SIGTERM. Returns the exit code, or None if the node did not end in time and was killed."""
        raise NotImplementedError

    def socket(self, node):
        """Path of a Unix socket on this machine that reaches the node's management socket."""
        raise NotImplementedError

    def log(self, node):
        """Returns the node's log so far."""
        raise NotImplementedError

    def metrics(self, node):
        """Text of the node's /metrics, or None where it serves none."""
        return None

    def run(self, process):
        """Starts a process of suede-perf. Returns a Handle."""
        raise NotImplementedError

    def pfc_storm(self, link, classes, quanta, interval_us):
        """The XPU's end of the link (of plan.links) sends PFC frames. Returns a function that ends it."""
        raise LabError(f"the back end {self.name} has no broken peer; take veth or simulator")

    def run_batch(self, tell):
        """Runs the whole plan; `tell(seconds, text)` shows progress. Returns what run.Collected has as a dict:
        {"series", "events", "load", "final", "digest", "problems"} (docs/lab.md, "report.json"; `final` is
        {node: {"counters": {name: value}, "ports": {port: {name: value}}, "buffer": the result of
        buffer.show, "events": [{"kind": …}]}})."""
        raise NotImplementedError


# Name -> module, class. Back ends veth and local share a module.
BACKENDS = {
    "local": ("labkit.local", "Local"),
    "veth": ("labkit.local", "Veth"),
    "simulator": ("labkit.simulator", "Simulator"),
    "servers": ("labkit.servers", "Servers"),
    "containers": ("labkit.containers", "Containers"),
}


def find(name):
    """The class of a back end."""
    module, kind = BACKENDS[name]
    try:
        return getattr(importlib.import_module(module), kind)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise LabError(f"this tools/lab has no back end {name}; there are "
                       + ", ".join(n for n in BACKENDS if importlib.util.find_spec(BACKENDS[n][0]))) from None
