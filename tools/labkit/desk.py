# SPDX-License-Identifier: Apache-2.0
"""The desk of a lab: answers the commands that come to a lab that is up, and writes its page.

Commands come over the Unix socket lab.sock of the lab's directory: an object of JSON a line, {"command", ...}; the answer is
one, too: {"result"}, or {"errors": texts, "code": exit code}.
"""

import dataclasses
import json
import os
import selectors
import socket
import time

from labkit import backend as backends
from labkit import expect, faults, plan as plans, rpc, run, scenario, state
from labkit import topology as topologies

MAX_LINE = 1 << 20
SEND_S = 5
IDLE_S = 0.2  # between turns of a lab without loads


class Desk(run.Attendant):
    """`notify` is called once all nodes are up. Errors of commands go to the client; the lab goes on."""

    def __init__(self, read, plan, backend, reporter, stays=False, notify=None):
        self.scenario = read
        self.plan = plan
        self.backend = backend
        self.reporter = reporter
        self.stays = stays
        self.notify = notify
        self.topology = topologies.build(read)
        self.lab = None
        self.is_ending = False
        self.selector = selectors.DefaultSelector()
        self.buffers = {}  # connection -> bytes of a line that has begun
        self.waiting = []  # connections that wait for the end
        self.links = [_names_of(link) for link in self.topology.links]
        backend.lab.data.update(scenario=str(read.path.resolve()), stays=stays, names=self.links, began=time.time())
        backend.publish()

    # ---- As an attendant.

    def on_ready(self, lab):
        self.lab = lab
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        server.bind(str(self.backend.lab.path / state.SOCKET))
        server.listen(16)
        server.setblocking(False)
        self.selector.register(server, selectors.EVENT_READ)
        self.server = server
        if self.notify:
            self.notify(lab)

    def is_over(self, lab):
        if self.is_ending and not self.stays:
            raise run.Interrupted("the command down")
        return self.is_ending or (not self.stays and lab.is_over())

    def turn(self, lab, seconds):
        self.reporter.refresh(lab)
        if self.stays and not any(each.ended_s is None for each in lab.loads) and not lab.clock.heap:
            seconds = max(seconds, min(IDLE_S, lab.due_sample - lab.sampler.now()))
        for key, _ in self.selector.select(max(0, seconds)):
            if key.fileobj is self.server:
                self._accept()
            else:
                self._receive(key.fileobj)

    def finish(self, report):
        """Tells those who wait for the end what came of the lab."""
        answer = {"result": {"out": str(self.reporter.out), "verdict": report["verdict"], "problems": report["problems"]}}
        for connection in self.waiting:
            self._send(connection, answer)
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()
        self.selector.close()

    # ---- Connections.

    def _accept(self):
        try:
            connection, _ = self.server.accept()
        except OSError:
            return
        connection.settimeout(SEND_S)
        self.buffers[connection] = b""
        self.selector.register(connection, selectors.EVENT_READ)

    def _close(self, connection):
        self.selector.unregister(connection)
        del self.buffers[connection]
        self.waiting = [each for each in self.waiting if each is not connection]
        connection.close()

    def _receive(self, connection):
        try:
            data = connection.recv(65536)
        except OSError:
            data = b""
        self.buffers[connection] += data
        if not data or len(self.buffers[connection]) > MAX_LINE:
            self._close(connection)
            return
        while b"\n" in self.buffers.get(connection, b""):
            line, _, self.buffers[connection] = self.buffers[connection].partition(b"\n")
            answer = self._answer(line, connection)
            if answer is not None and not self._send(connection, answer):
                self._close(connection)

    @staticmethod
    def _send(connection, answer):
        try:
            connection.sendall(json.dumps(answer).encode() + b"\n")
            return True
        except OSError:
            return False

    def _answer(self, line, connection):
        try:
            request = json.loads(line)
            command = request.get("command")
            if command == "down":
                self.is_ending = True
                self.waiting.append(connection)
                return None
            function = getattr(self, f"do_{command}", None)
            if function is None:
                return {"errors": [f"{command} is no command of this lab"], "code": 2}
            return {"result": function(request)}
        except scenario.ScenarioError as error:
            return {"errors": error.messages, "code": 2}
        except (backends.LabError, rpc.RpcError, OSError) as error:
            return {"errors": [str(error)], "code": 1}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return {"errors": [f"the request is malformed: {error!r}"], "code": 2}

    # ---- State.

    def do_status(self, _request):
        lab, now = self.lab, self.lab.sampler.now()
        return {"name": self.backend.lab.path.name, "stays": self.stays, "seconds": now, "backend": self.backend.name,
                "scenario": str(self.scenario.path), "out": str(self.reporter.out), "goodput": lab.sampler.goodput(),
                "nodes": [self._node(node) for node in self.plan.nodes],
                "links": self._links(),
                "faults": [{"number": number, "text": fault.text, "seconds": now - event["t"]}
                           for number, (fault, event) in sorted(lab.active.items())]
                          + [{"number": number, "text": fault.text, "seconds": now - begin}
                             for number, (begin, fault) in sorted(lab.clock.waiting().items()) if number not in lab.active],
                "loads": [self._load(each, now) for each in lab.loads], "problems": lab.problems}

    def _node(self, node):
        code = self.backend.poll(node)
        shown = "paused" if node.name in self.lab.stopped else "up" if code is None else f"ended ({code})"
        published = next(each for each in self.backend.lab.data["nodes"] if each["name"] == node.name)
        return {"name": node.name, "kind": node.kind, "state": shown, "pid": published["pid"], "xpus": node.xpus,
                "control": published["control"]}

    def _links(self):
        down = {}  # (node, port) -> why
        for node in self.plan.nodes:
            if node.name in self.lab.stopped | self.lab.killed:
                state_of = {port["name"]: "unknown" for port in node.config["ports"]}
            else:
                try:
                    ports = self.lab.sampler.connections.call(node, "ports.list")["ports"]
                    state_of = {port["name"]: "set down" if port["admin"] == "down" else "up" if port["link_up"] else "down"
                                for port in ports}
                except rpc.RpcError:
                    state_of = {port["name"]: "unknown" for port in node.config["ports"]}
            down.update({(node.name, port): text for port, text in state_of.items()})
        return [{"name": names[0], "names": names, "a": link["a"], "b": link["b"], "plane": link["plane"],
                 "state": [down.get((link[end]["node"], link[end]["port"]), "unknown") for end in "ab"]}
                for link, names in zip(self.plan.links, self.links)]

    def _load(self, each, now):
        kind = each.load.spec["workload"] if each.load.spec["mode"] == "workload" else each.load.spec["mode"]
        shown = "runs" if each.ended_s is None else "stopped" if each.stopped_s is not None else "ended"
        return {"name": each.load.name, "kind": kind, "state": shown, "seconds": (each.ended_s or now) - each.began_s,
                "goodput": self.lab.sampler.goodput({handle.process.name for handle in each.handles}),
                "exits": [handle.poll() for handle in each.handles]}

    # ---- Loads.

    def _find_load(self, request):
        for each in self.lab.loads:
            if each.load.name == request["load"]:
                return each
        raise backends.LabError(f"no load {request['load']} was started; there are "
                                + (", ".join(each.load.name for each in self.lab.loads) or "none"))

    def do_load(self, request):
        """Starts a load of the scenario by name, `load`, with `words` KEY=VALUE laid over it, or one of `words` alone; or with `flags`
        a command line of suede-perf at the node `node`. Its name is told, which differs where one has it already."""
        running = [each.load for each in self.lab.loads if each.ended_s is None]
        if request.get("flags") is not None:
            load = self._command(request)
        else:
            base, words = self._base_of(request), request.get("words", [])
            if any(word.partition("=")[0] in ("iterations", "count") for word in words):
                base.pop("duration_s", None)
            base["name"] = self._free_name(base.get("name") or "load")
            spec, here = scenario.added(self.scenario, "load", base, words, "load", request.get("directory", "/"))
            spec["name"] = self._free_name(spec["name"])
            load = plans.make_load(here, self.topology, spec, "vcs", running)
        self.plan.load.append(load)
        self.lab.start_load(load)
        return {"name": load.name}

    def _base_of(self, request):
        name = request.get("load")
        if name is None:
            return {}
        for spec in self.scenario["load"]:
            if spec["name"] == name:
                return {key: value for key, value in spec.items() if key != "start_s"}
        raise scenario.ScenarioError([f"load: the scenario has no load {name}; there are "
                                      + ", ".join(spec["name"] for spec in self.scenario["load"])
                                      + "; KEY=VALUE makes another one"])

    def _free_name(self, name):
        taken = {load.name for load in self.plan.load}
        if name not in taken:
            return name
        return next(f"{name[:28]}-{number}" for number in range(2, 1000000) if f"{name[:28]}-{number}" not in taken)

    def _command(self, request):
        words = [str(word) for word in request["flags"]]
        name = request.get("node") or self._node_of(words)
        if name not in self.topology.daemons:
            raise backends.LabError(f"no daemon {name}; name one by --on: " + ", ".join(self.topology.daemons))
        return plans.make_command(self._free_name("perf"), name, self.topology.daemons[name], words)

    def _node_of(self, words):
        """The daemon of the XPU that --xpuid or --own names first."""
        for flag, word in zip(words, [*words[1:], ""]):
            name, _, value = flag.lstrip("-").partition("=")
            value = value or word
            if flag.startswith("-") and name in ("xpuid", "own"):
                xpu = value.partition(",")[0].partition("-")[0]
                if xpu.isdigit() and int(xpu) < self.scenario["topology"]["xpus"]:
                    return self.topology.daemon_of(int(xpu))
        return None

    def do_load_status(self, request):
        """How far a load is; once it has ended also its results and checks."""
        each = self._find_load(request)
        status = self._load(each, self.lab.sampler.now())
        if each.ended_s is not None:
            collected = self.lab.collected()
            entries = [entry for entry in collected["load"] if entry["load"] == each.load.name]
            alone = dataclasses.replace(self.plan, load=[each.load], expect=expect.of_loads_alone(self.plan.expect))
            status.update(entries=entries, checks=expect.run(alone, {**collected, "load": entries}))
        return status

    def do_stop_load(self, request):
        self.lab.stop_load(self._find_load(request))
        return {}

    # ---- Faults.

    def do_fault(self, request):
        """Begins the fault of `words`, or the one of the scenario with the index `index`."""
        if request.get("index") is not None:
            known = self.scenario["faults"]
            if not 0 <= request["index"] < len(known):
                raise scenario.ScenarioError([f"fault: the scenario has {len(known)} faults, numbered from 0; write KEY=VALUE for "
                                              "another one"])
            base = {**known[request["index"]], "at_s": 0}
        else:
            base = {"at_s": 0}
        loads = [each.load.name for each in self.lab.loads]
        spec, here = scenario.added(self.scenario, "faults", base, request.get("words", []), "fault",
                                    request.get("directory", "/"), loads)
        fault = faults.make_one(here, self.topology, self.plan, spec, "")
        return {"number": self.lab.begin_fault(fault), "text": fault.text}

    def do_clear(self, request):
        """Ends the fault `number`, or all."""
        number = request["number"]
        known = sorted(set(self.lab.active) | set(self.lab.clock.waiting()))
        if number != "all" and number not in known:
            raise backends.LabError(f"there is no fault {number}; there are {', '.join(map(str, known)) or 'none'}")
        numbers = known if number == "all" else [number]
        for each in numbers:
            self.lab.end_fault(each)
        return {"numbers": numbers}

    def _process_faults(self, name):
        """The numbers of faults that hold the process of a node."""
        return [number for number, (fault, _) in sorted(self.lab.active.items())
                if any(action["kind"] in ("stop", "kill") and action.get("node") == name for action in fault.begin)]

    def do_pause(self, request):
        name = request["node"]
        key = "daemon" if name in self.topology.daemons else "switch"
        if name in self.lab.stopped:
            raise backends.LabError(f"{name} is paused already")
        return self.do_fault({"words": [f"{key}={name}", "process=stop"]})

    def do_resume(self, request):
        """Ends the faults that stop or kill a node's process; starts one that has ended by itself."""
        name = request["node"]
        numbers = self._process_faults(name)
        for number in numbers:
            self.lab.end_fault(number)
        if not numbers and name in self.lab.killed:
            self.lab.restart(self.plan.node(name))
        elif not numbers:
            raise backends.LabError(f"{name} is not paused")
        return {}


def _names_of(link):
    """Names of a link: that of its port, those by XPUs, and that of the port at its other end."""
    names = [link.name]
    for port in (link.port, link.other):
        if port:
            names += [port.name, *(f"xpu{xpu}.p{port.index}" for xpu in port.xpus)]
    return list(dict.fromkeys(names))


def call(name, command, seconds=None, **request):
    """The result of a command to a lab that is up. Raises LabError, ScenarioError."""
    path = state.base() / name / state.SOCKET
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(seconds)
        try:
            connection.connect(str(path))
            connection.sendall(json.dumps({"command": command, "directory": os.getcwd(), **request}).encode() + b"\n")
            with connection.makefile("r", encoding="utf-8") as lines:
                line = lines.readline()
        except OSError as error:
            raise backends.LabError(f"cannot reach the lab {name}: {error.strerror or error}; {backends.PROGRAM} status shows the "
                                    "labs") from None
    if not line:
        raise backends.LabError(f"the lab {name} ended; its log is lab.log in the directory of its report")
    answer = json.loads(line)
    if "errors" in answer:
        if answer["code"] == 2:
            raise scenario.ScenarioError(answer["errors"])
        raise backends.LabError("\n".join(answer["errors"]))
    return answer["result"]
