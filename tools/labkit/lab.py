# SPDX-License-Identifier: Apache-2.0
"""A lab that is up: its nodes, loads, faults and samples. One thread calls it."""

import signal
import time

from labkit import backend as backends
from labkit import faults, rpc, sample
from labkit.signals import Interrupted, check_signals

READY_S = 120
END_S = 60        # for loads and nodes to end by themselves
STAYING_END_S = 10
STOP_S = 40       # for the clients of a load to drain
SLICE_S = 0.02
MAX_PINGS = 10
MAX_PROBLEMS = 100  # of a lab that stays
SIGNALS = {"stop": signal.SIGSTOP, "go": signal.SIGCONT, "kill": signal.SIGKILL}


def empty():
    return {"series": [], "events": [], "load": [], "final": {}, "digest": None, "problems": [],
            "recordings": {}, "epoch": None, "stalls": []}


class LoadRun:
    """A load that was started."""

    def __init__(self, load, handles, began_s):
        self.load = load
        self.handles = handles
        self.began_s = began_s
        self.told_s = None    # when its servers were told to end
        self.ended_s = None   # when all of its processes had ended
        self.stopped_s = None  # when its clients were told to end early

    def of_role(self, servers):
        return [handle for handle in self.handles if (handle.process.role == "server") == servers]

    def clients_are_over(self):
        return all(handle.poll() is not None for handle in self.of_role(False))

    def has_ended(self):
        return all(handle.poll() is not None for handle in self.handles)

    def send(self, number, servers):
        for handle in self.of_role(servers):
            if handle.poll() is None:
                handle.signal(signal.SIGCONT)
                handle.signal(number)


class Lab:
    """`stays`: loads and faults come and go; a node that ends, or a fault that fails, is a problem, and no end."""

    def __init__(self, plan, backend, progress, stays=False):
        self.plan = plan
        self.backend = backend
        self.progress = progress
        self.stays = stays
        self.sampler = sample.Sampler(plan, backend)
        self.clock = faults.Clock()
        self.problems = []
        self.loads = []      # LoadRun
        self.waiting = []    # loads of the plan that are to begin
        self.killed = set()  # nodes that a fault has killed, or that have ended
        self.stopped = set()  # nodes that a fault has stopped
        self.calms = {}      # link -> function that ends its storm
        self.active = {}     # number of a fault -> (fault, its event)
        self.final = {}
        self.due_sample = 0.0

    def collected(self):
        return {**empty(), "series": self.sampler.series.to_list(), "events": self.sampler.events,
                "load": [_load_entry(each.load, handle) for each in self.loads for handle in each.handles],
                "final": self.final, "problems": list(self.problems), "recordings": self.sampler.recordings(),
                "epoch": self.sampler.epoch, "stalls": self.sampler.stalls.list}

    # ---- Begin and end.

    def up(self):
        # Switches first: they are the servers of their links.
        nodes = sorted(self.plan.nodes, key=lambda node: node.kind != "switch")
        for node in nodes:
            check_signals()
            self.progress.say(f"starting {node.name}")
            self.backend.start(node)
        for node in nodes:
            self.progress.tell(f"waiting for {node.name}")
            self.backend.wait_ready(node, READY_S)
        self.sampler.begin()

    def schedule(self):
        """Loads and faults of the plan come at their times."""
        self.waiting = sorted(self.plan.load, key=lambda load: load.start_s)
        for fault in self.plan.faults:
            self.clock.add(fault)

    def settle(self):
        """Ends faults and loads, and takes the last sample."""
        missed = [fault.text for fault in self.plan.faults if fault.at_s > self.sampler.now()]
        for text in missed:
            self.problems.append(f"the loads were over before a fault: {text}; let them last longer, or the fault come "
                                 "earlier")
        self._undo()
        for name in self.stopped.copy():
            self._signal_node("go", self.plan.node(name))
        self._end_loads(STAYING_END_S if self.stays else END_S)
        self._sample()

    def down(self):
        self.final = self.sampler.final()
        self.progress.say("ending")
        # Daemons first: what they drain goes through the switches.
        for node in sorted(self.plan.nodes, key=lambda node: node.kind == "switch"):
            if node.name in self.killed:
                continue
            code = self.backend.end(node, END_S)
            if code is None:
                self.problems.append(f"{node.name} did not end within {END_S} s and was killed")
            elif code != 0:
                self.problems.append(f"{node.name} ended with {code}; its log ends with\n" + self._tail(node, 8))

    def salvage(self):
        """After an early end, collects the results that loads give when they are told to end, and counters."""
        if self.sampler.zero is None:
            return
        try:
            self._undo()
            self._end_loads(10)
            self.final = self.sampler.final()
        except (backends.LabError, rpc.RpcError, Interrupted):
            pass

    def _tail(self, node, lines):
        return "\n".join("    " + line for line in self.backend.log(node).splitlines()[-lines:])

    # ---- While it is up.

    def step(self):
        """One turn: everything whose time has come."""
        now = self.sampler.now()
        try:
            while self.waiting and self.waiting[0].start_s <= now:
                self.start_load(self.waiting.pop(0))
            self._run_faults(now)
            if now >= self.due_sample:
                self._sample()
                self.due_sample = max(self.due_sample + self.plan.sample_ms / 1000, self.sampler.now())
            self._check_nodes()
        except (backends.LabError, rpc.RpcError) as error:
            if not self.stays:
                raise
            self._trouble(str(error))
        for each in self.loads:
            self._limit(each, now)
            self._advance(each, now)
        self.progress.tell(self.status_line(now))

    def idle_s(self):
        """The time until the next turn."""
        nexts = [self.due_sample, self.clock.next_s() or self.due_sample,
                 self.waiting[0].start_s if self.waiting else self.due_sample]
        return max(0.001, min(SLICE_S, min(nexts) - self.sampler.now()))

    def is_over(self):
        """Whether the loads of the plan are over, or last for too long."""
        if not self.waiting and self.loads and all(each.clients_are_over() for each in self.loads):
            return True
        if self.sampler.now() <= self.plan.timeout_s:
            return False
        self.problems.append(f"the loads were ended after timeout_s, {self.plan.timeout_s:g} s")
        return True

    def _trouble(self, text):
        self.sampler.lab_event("error", "trouble", text)
        self.problems = [*self.problems, text][-MAX_PROBLEMS:]

    def _sample(self):
        self.sampler.sample(self.stopped | self.killed)
        for each in self.loads:
            for handle in each.handles:
                self.sampler.intervals(handle, each.load)
        running = [each for each in self.loads if each.ended_s is None and not each.clients_are_over()]
        self.sampler.stalls.look(running, self.sampler.flows, self.sampler.now(), self.stopped | self.killed,
                                 [fault.text for fault, _ in self.active.values()])

    def _check_nodes(self):
        for node in self.plan.nodes:
            code = self.backend.poll(node)
            if code is not None and node.name not in self.killed:
                self.killed.add(node.name)
                self.sampler.connections.forget(node)
                raise backends.LabError(f"{node.name} ended with {code} in the run; its log ends with\n" + self._tail(node, 12))

    def status_line(self, now):
        running = sum(1 for each in self.loads for handle in each.of_role(False) if handle.poll() is None)
        return f"{now:.1f} s: {running} loads run, {self.sampler.goodput() * 8 / 1e9:.3f} Gb/s, " \
               f"{len(self.sampler.events)} events"

    # ---- Loads.

    def start_load(self, load):
        each = LoadRun(load, [], self.sampler.now())
        self.loads.append(each)
        for process in load.processes:
            each.handles.append(self.backend.run(process))
        self.sampler.lab_event("info", "load_began", load.name)
        return each

    def stop_load(self, each):
        """The load's clients end early; they drain, and give their results. The second time they are killed."""
        each.send(signal.SIGTERM if each.stopped_s is None else signal.SIGKILL, servers=False)
        each.stopped_s = each.stopped_s or self.sampler.now()

    def _limit(self, each, now):
        """Ends a load of a lab that stays after timeout_s, and one that was told to end in vain."""
        lasts = each.ended_s is None and not each.clients_are_over()
        if not self.stays or not lasts or each.load.spec["mode"] == "command" and each.stopped_s is None:
            return
        if each.stopped_s is None and now > each.began_s + self.plan.timeout_s:
            self._trouble(f"load {each.load.name} was ended after timeout_s, {self.plan.timeout_s:g} s")
            self.stop_load(each)
        elif each.stopped_s is not None and now > each.stopped_s + STOP_S:
            self._trouble(f"load {each.load.name} did not end within {STOP_S} s and was killed")
            self.stop_load(each)

    def _advance(self, each, now):
        """Notes the end of a load. The servers of a lab that stays end with their clients; others at the end of the run."""
        if each.ended_s is not None or not each.clients_are_over():
            return
        if self.stays and each.told_s is None:
            each.told_s = now
            each.send(signal.SIGTERM, servers=True)
        if each.told_s is not None and now > each.told_s + END_S:
            each.send(signal.SIGKILL, servers=True)
        if each.has_ended():
            each.ended_s = now
            self._close_load(each)

    def _close_load(self, each):
        for handle in each.handles:
            self.sampler.intervals(handle, each.load)
            self.sampler.end_of_flows(handle)
        self.sampler.stalls.close(each.load.name, self.sampler.now())
        self.sampler.lab_event("info", "load_ended", each.load.name)

    def _end_loads(self, seconds):
        """Clients first, for servers answer for what came."""
        for servers in (False, True):
            group = [handle for each in self.loads for handle in each.of_role(servers)]
            for each in self.loads:
                each.send(signal.SIGTERM, servers)
            deadline = time.monotonic() + seconds
            while any(handle.poll() is None for handle in group) and time.monotonic() < deadline:
                self.progress.tell("waiting for the loads to end")
                time.sleep(SLICE_S)
            for handle in group:
                if handle.poll() is None:
                    self.problems.append(f"{handle.process.name} did not end within {seconds} s and was killed")
                    handle.signal(signal.SIGKILL)
        for each in self.loads:
            if each.ended_s is None:
                each.ended_s = self.sampler.now()
                self._close_load(each)

    # ---- Faults.

    def begin_fault(self, fault):
        """Begins a fault now, or at the times that it has from now on. Returns its number. Raises LabError, RpcError."""
        number = self.clock.add(fault, self.sampler.now())
        try:
            self._run_faults(self.sampler.now())
        except (backends.LabError, rpc.RpcError):
            self.clock.drop(number)
            self.active.pop(number, None)
            raise
        return number

    def end_fault(self, number):
        """Ends a fault early, for good. Raises KeyError, LabError, RpcError."""
        if number not in self.active and number not in self.clock.waiting():
            raise KeyError(number)
        self.clock.drop(number)
        if number in self.active:
            fault = self.active[number][0]
            self._fault(number, fault, False, fault.end)

    def _run_faults(self, now):
        for number, fault, begins, actions in self.clock.due(now):
            self._fault(number, fault, begins, actions)

    def _fault(self, number, fault, begins, actions):
        if begins:
            self.active[number] = (fault, self.sampler.lab_event("warning", "fault", fault.text))
        elif number in self.active:
            self.active.pop(number)[1]["end"] = round(self.sampler.now(), 6)
        for action in actions:
            self._act(action)
        if not begins:
            self._renew(actions)

    def _renew(self, ended):
        """Faults that last at the places of one that has ended come again, for its end has set these places back."""
        places = {_place_of(action) for action in ended if action["kind"] == "rpc"}
        for fault, _ in self.active.values():
            for action in fault.begin:
                if action["kind"] == "rpc" and _place_of(action) in places:
                    self._act(action)

    def _undo(self):
        """The ends of faults that last yet, so that what is under way can arrive."""
        while self.clock.heap:
            for number, fault, begins, actions in self.clock.due(self.clock.next_s()):
                if not begins and number in self.active:
                    self._fault(number, fault, False, actions)

    def _act(self, action):
        kind = action["kind"]
        if kind == "rpc":
            self.sampler.connections.call(self.plan.node(action["node"]), action["method"], **action["params"])
        elif kind == "pfc_storm":
            link = self.plan.links[action["link"]]
            self.calms[action["link"]] = self.backend.pfc_storm(link, action["classes"], action["quanta"],
                                                                action["interval_us"])
        elif kind == "pfc_calm":
            self.calms.pop(action["link"], lambda: None)()
        elif "process" in action:
            for each in self.loads:
                for handle in each.handles:
                    if handle.process.name == action["process"]:
                        handle.signal(SIGNALS[kind])
        else:
            self._signal_node(kind, self.plan.node(action["node"]))

    def restart(self, node):
        """Starts a node that has ended."""
        self.backend.start(node)
        self.backend.wait_ready(node, READY_S)
        self.killed.discard(node.name)
        self.sampler.restarted(node)
        if self.stays:
            self._introduce(node)

    def _introduce(self, node):
        """Peers hear of the restart at once: else they drop the first commands of the next load. The daemon permits ten pings a
        second of an XPU."""
        for xpu in node.xpus[:MAX_PINGS]:
            others = [each for other in self.plan.of_kind("endpoint") if other is not node for each in other.xpus]
            for peer in others[:MAX_PINGS]:
                try:
                    self.sampler.connections.call(node, "peers.ping", xpu=xpu, peer=peer, timeout_ms=200)
                except rpc.RpcError:
                    pass  # no peer, or one that does not answer

    def _signal_node(self, kind, node):
        if kind == "start":
            self.restart(node)
            return
        if kind == "kill":
            self.killed.add(node.name)
        {"stop": self.stopped.add, "go": self.stopped.discard, "kill": self.stopped.discard}[kind](node.name)
        self.backend.signal(node, SIGNALS[kind])
        if kind == "kill":
            self.sampler.connections.forget(node)


def _place_of(action):
    return (action["node"], action["method"], action["params"]["port"], action["params"].get("direction"))


def _load_entry(load, handle):
    return {"name": handle.process.name, "load": load.name, "role": handle.process.role, "argv": handle.process.argv(),
            "exit": handle.poll(), "result": handle.result(), "log": handle.log()[-4000:]}
