# SPDX-License-Identifier: Apache-2.0
"""Checks everything that a plan will start by the programs themselves, and says errors by the scenario's lines."""

import concurrent.futures
import copy
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import yaml

from labkit import backend as backends
from labkit import local, schema, state
from labkit.scenario import MADE, ScenarioError, nearest

CHECK_S = 60
SECTIONS = {"endpoint": "endpoint", "switch": "switch"}  # kind of a node -> section of the scenario
PLACED = re.compile(r"^.*?:\d+:\d+: ([\w.\[\]-]+): (.*)$")
FLAG = re.compile(r"--([a-z_0-9]+)")


class Checker:
    """`errors` and `warnings` are lines for the user, each once."""

    def __init__(self, scenario, plan, backend):
        self.scenario = scenario
        self.plan = plan
        self.backend = backend
        self.errors = {}
        self.warnings = {}

    def run(self):
        """Raises ScenarioError, or PreflightError. Returns the warnings."""
        if self.backend.is_batch:
            self._plan()
        else:
            self._configurations()
            self._flags()
        for kind in SECTIONS:
            self._names(kind)
        if self.errors:
            raise ScenarioError(list(self.errors))
        return list(self.warnings)

    def _say(self, lines, path, message):
        lines[f"{self.scenario.where(path)}: {path}: {message}"] = None

    def _program(self, kind):
        """Returns the path of a program on this machine. Raises PreflightError."""
        build = self.backend.build
        path, name = local.PROGRAMS[kind]
        program = str(pathlib.Path(build) / path) if build else shutil.which(name)
        if not program or not os.access(program, os.X_OK):
            mend = f"ninja -C {build} {path}" if build else "install the package suede, or name a build directory by --build"
            raise backends.PreflightError(f"there is no program {program or name}, which checks its part of the scenario; "
                                          + mend)
        return program

    @staticmethod
    def _call(*argv, **environment):
        try:
            return subprocess.run([str(word) for word in argv], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=CHECK_S, check=False, errors="replace", env={**os.environ, **environment})
        except subprocess.TimeoutExpired:
            raise backends.LabError(f"{argv[0]} did not end its check within {CHECK_S} s") from None

    # ---- Configurations.

    def _configurations(self):
        with tempfile.TemporaryDirectory(prefix=f"{state.TEMPORARY}{os.getpid()}-check-", dir="/tmp") as directory, \
                concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            list(pool.map(lambda node: self._configuration(node, pathlib.Path(directory)), self.plan.nodes))

    def _configuration(self, node, directory):
        path = directory / f"{node.name}.yaml"
        config = self.backend.configuration(node)
        if self.backend.name == "servers":
            config = _on_this_machine(config)
        path.write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
        done = self._call(self._program(node.kind), "--config", path, "--check_config",
                          RUNTIME_DIRECTORY=str(directory))
        lines = self.errors if done.returncode else self.warnings
        for line in done.stderr.splitlines():
            self._of_node(lines, node.kind, line)
        if done.returncode and not done.stderr:
            self._say(self.errors, SECTIONS[node.kind], f"{node.name}: the check of its configuration ended with "
                      f"{done.returncode}")

    def _of_node(self, lines, kind, line):
        """A line of a program about a configuration that was made of the scenario."""
        line = re.sub(r"^(suede|suede-switch|lab_sim): ", "", line)
        match = PLACED.match(line)
        if not match:
            self._say(lines, SECTIONS[kind], line)
            return
        self._say(lines, self._path_of(kind, match[1]), match[2])

    def _path_of(self, kind, key):
        """The scenario's key that a key of a configuration comes from: endpoint.port.pfc of ports[3].pfc."""
        section = SECTIONS[kind]
        entry = re.match(r"(\w+)\[\d+\](.*)$", key)
        return f"{section}.{MADE[entry[1]]}{entry[2]}" if entry and entry[1] in MADE else f"{section}.{key}"

    # ---- Loads.

    def _flags(self):
        for number, load in enumerate(self.plan.load):
            for process in {process.role: process for process in load.processes}.values():
                done = self._call(self._program("perf"), *process.argv(), "--check_flags")
                if done.returncode:
                    self._of_load(number, done.stderr)

    def _of_load(self, number, said):
        """An error of suede-perf names a flag, which a key of the load has become."""
        text = said.strip().splitlines()[-1] if said.strip() else "suede-perf refuses its flags"
        flag = FLAG.search(text)
        names = {key.flag: key.name for key in schema.LOAD if key.flag}
        key = names.get(flag[1]) if flag else None
        self._say(self.errors, f"load[{number}]" + (f".{key}" if key else ""), text.removeprefix("suede-perf: "))

    # ---- The simulator.

    def _plan(self):
        with tempfile.TemporaryDirectory(prefix=f"{state.TEMPORARY}{os.getpid()}-check-", dir="/tmp") as directory:
            path = pathlib.Path(directory) / "plan.json"
            path.write_text(self.plan.to_json(), encoding="utf-8")
            self.backend.check_program()
            done = self._call(self.backend.program(), "--check", path)
        if done.returncode == 0:
            return
        text = done.stderr.strip()
        node = re.match(r"lab_sim: the configuration of (\w+):", text)
        load = next((number for number, each in enumerate(self.plan.load) for process in each.processes
                     if f" {process.name}: " in text), None)
        if node:
            self._of_node(self.errors, self.plan.node(node[1]).kind, text)
        elif load is not None:
            self._of_load(load, text.splitlines()[0] if "see above" in text else text)
        else:
            self._say(self.errors, "backend", text.removeprefix("lab_sim: ").removeprefix(f"{path}: "))

    # ---- Names.

    def _names(self, kind):
        """Counters and events of `expect` are those that the program has."""
        wanted = [(f"expect.{key}[{number}]", key, entry) for key in ("counters", "events")
                  for number, entry in enumerate(self.scenario["expect"][key])
                  if kind in {node.kind for node in self.plan.named(entry["nodes"])}]
        if not wanted:
            return
        try:
            program = self._program(kind)
        except backends.PreflightError:
            if not self.backend.is_batch:
                raise
            # Only the tests' own program is needed to simulate.
            self.warnings[f"names of counters and events are not checked: there is no program {local.PROGRAMS[kind][0]}"] = None
            return
        known = {}
        for line in self._call(program, "--list_names").stdout.splitlines():
            what, _, name = line.partition(" ")
            known.setdefault(what, []).append(name)
        for path, key, entry in wanted:
            what = "event" if key == "events" else "port_counter" if entry["port"] else "counter"
            name_key = "kind" if key == "events" else "name"
            name = entry[name_key]
            if name in known.get(what, []):
                continue
            thing = {"event": "kind of event", "port_counter": "counter of a port", "counter": "counter"}[what]
            near = nearest(name, known.get(what, []))
            page = "docs/events.md" if key == "events" else "docs/metrics.md"
            self._say(self.errors, f"{path}.{name_key}", f"{name} is no {thing} of {entry['nodes']}; "
                      + (near if near.endswith("meant") else f"{page} has them"))


def _on_this_machine(config):
    """The same with CPUs that any machine has: the host's are not known here."""
    config = copy.deepcopy(config)
    numbers = {lcore["cpu"]: number for number, lcore in enumerate(config["lcores"])}
    backends.place(config, [numbers[lcore["cpu"]] for lcore in config["lcores"]])
    return config
