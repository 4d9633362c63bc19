# SPDX-License-Identifier: Apache-2.0
"""A run: start, load, faults, samples, end; whatever happens, the back end is stopped."""

import signal
import sys
import time

from labkit import backend as backends
from labkit import faults, rpc, sample

READY_S = 120
END_S = 60
SLICE_S = 0.02


class Interrupted(Exception):
    """SIGINT, SIGTERM or SIGHUP."""


_signal = None  # name of the signal that was taken


def on_signals():
    """The first signal raises Interrupted; the others are ignored, for all is being ended.

    Python loses an exception that a handler raises within a destructor or a hook of fork(), so a run that goes on calls
    check_signals().
    """
    def raise_once(number, _frame):
        global _signal
        _signal = signal.Signals(number).name
        for each in backends.SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        raise Interrupted(_signal)

    for number in backends.SIGNALS:
        signal.signal(number, raise_once)


def check_signals():
    """Raises Interrupted if a signal was taken."""
    if _signal is not None:
        raise Interrupted(_signal)


class Progress:
    """A line a second on a pipe, one that is written over on a terminal."""

    def __init__(self, quiet, out=None):
        self.out = out or sys.stderr
        self.quiet = quiet
        self.terminal = self.out.isatty()
        self.last = 0.0
        self.open = False

    def say(self, text):
        """Reports a step, always."""
        if not self.quiet:
            self._write(text)

    def tell(self, text):
        """Reports progress, at most once a second."""
        if not self.quiet and time.monotonic() >= self.last + 1:
            self._write(text)

    def _write(self, text):
        self.last = time.monotonic()
        self.open = self.terminal
        self.out.write(f"\r{text[:118]}\033[K" if self.terminal else f"lab: {text}\n")
        self.out.flush()

    def close(self):
        if self.open:
            self.out.write("\r\033[K")
            self.out.flush()
        self.open = False


def empty():
    return {"series": [], "events": [], "load": [], "final": {}, "digest": None, "problems": [],
            "recordings": {}, "epoch": None}


def run(plan, backend, progress):
    """Carries out the plan on an opened back end. Returns a dict of what was collected, also after an early end."""
    if backend.is_batch:
        def tell(seconds, text):
            check_signals()
            progress.tell(f"{seconds:.1f} s: {text}")
        return {**empty(), **backend.run_batch(tell)}
    return _Run(plan, backend, progress).run()


class _Run:
    def __init__(self, plan, backend, progress):
        self.plan = plan
        self.backend = backend
        self.progress = progress
        self.sampler = sample.Sampler(plan, backend)
        self.clock = faults.Clock(plan.faults)
        self.problems = []
        self.handles = []   # (load, handle)
        self.killed = set()  # nodes that a fault has killed
        self.calms = {}     # link -> function that ends its storm
        self.open_events = {}  # fault -> its event
        self.final = {}

    def run(self):
        try:
            self._start()
            self._load()
            self.final = self.sampler.final()
            self._end()
        except Interrupted as interrupted:
            self.problems.append(f"interrupted by {interrupted}: what follows is the run up to then")
            self._salvage()
        except (backends.LabError, rpc.RpcError) as error:
            self.problems.append(str(error))
            self._salvage()
        finally:
            self.sampler.close()
        return {**empty(), "series": self.sampler.series.to_list(), "events": self.sampler.events,
                "load": [_load_entry(load, handle) for load, handle in self.handles], "final": self.final,
                "problems": self.problems, "recordings": self.sampler.recordings(), "epoch": self.sampler.epoch}

    def _salvage(self):
        """After an early end, collects the results that loads give when they are told to end, and counters."""
        if self.sampler.zero is None:
            return
        try:
            self._undo()
            self._end_loads(10)
            self.final = self.sampler.final()
        except (backends.LabError, rpc.RpcError, Interrupted):
            pass

    # ---- Steps.

    def _start(self):
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

    def _load(self):
        clock = self.clock
        waiting = sorted(self.plan.load, key=lambda load: load.start_s)
        due_sample = 0.0
        while True:
            check_signals()
            now = self.sampler.now()
            while waiting and waiting[0].start_s <= now:
                self._start_load(waiting.pop(0))
            for fault, begins, actions in clock.due(now):
                self._fault(fault, begins, actions)
            if now >= due_sample:
                self._sample()
                due_sample = max(due_sample + self.plan.sample_ms / 1000, self.sampler.now())
            if not waiting and self._loads_are_over():
                break
            if now > self.plan.timeout_s:
                self.problems.append(f"the loads were ended after timeout_s, {self.plan.timeout_s:g} s")
                break
            self._check_nodes()
            self.progress.tell(self._status(now))
            nexts = [due_sample, clock.next_s() or due_sample, waiting[0].start_s if waiting else due_sample]
            time.sleep(max(0.001, min(SLICE_S, min(nexts) - self.sampler.now())))
        missed = [fault.text for fault in self.plan.faults if fault.at_s > self.sampler.now()]
        for text in missed:
            self.problems.append(f"the loads were over before a fault: {text}; let them last longer, or the fault come "
                                 "earlier")
        self._undo()
        self._end_loads(END_S)
        self._sample()

    def _start_load(self, load):
        for process in load.processes:
            self.handles.append((load, self.backend.run(process)))
        self.sampler.lab_event("info", "load_began", load.name)

    def _loads_are_over(self):
        return all(handle.poll() is not None for _, handle in self.handles if handle.process.role != "server")

    def _end_loads(self, seconds):
        """Clients first, for servers answer for what came."""
        for servers in (False, True):
            group = [handle for _, handle in self.handles if (handle.process.role == "server") == servers]
            for handle in group:
                if handle.poll() is None:
                    handle.signal(signal.SIGCONT)
                    handle.signal(signal.SIGTERM)
            deadline = time.monotonic() + seconds
            while any(handle.poll() is None for handle in group) and time.monotonic() < deadline:
                self.progress.tell("waiting for the loads to end")
                time.sleep(SLICE_S)
            for handle in group:
                if handle.poll() is None:
                    self.problems.append(f"{handle.process.name} did not end within {seconds} s and was killed")
                    handle.signal(signal.SIGKILL)
        for load, handle in self.handles:
            self.sampler.intervals(handle, load)

    def _end(self):
        self.progress.say("ending")
        # Daemons first: what they drain goes through the switches.
        for node in sorted(self.plan.nodes, key=lambda node: node.kind == "switch"):
            if node.name in self.killed:
                continue
            code = self.backend.end(node, END_S)
            if code is None:
                self.problems.append(f"{node.name} did not end within {END_S} s and was killed")
            elif code != 0:
                self.problems.append(f"{node.name} ended with {code}; its log ends with\n"
                                     + "\n".join("    " + line for line in self.backend.log(node).splitlines()[-8:]))

    # ---- While it runs.

    def _sample(self):
        self.sampler.sample()
        for load, handle in self.handles:
            self.sampler.intervals(handle, load)

    def _check_nodes(self):
        for node in self.plan.nodes:
            code = self.backend.poll(node)
            if code is not None and node.name not in self.killed:
                raise backends.LabError(f"{node.name} ended with {code} in the run; its log ends with\n" + "\n".join(
                    "    " + line for line in self.backend.log(node).splitlines()[-12:]))

    def _status(self, now):
        running = sum(1 for _, handle in self.handles if handle.poll() is None and handle.process.role != "server")
        goodput = {}
        for (name, key), (_, _, values) in self.sampler.series.all.items():
            if name == "goodput":
                goodput[key] = values[-1]
        return f"{now:.1f} s: {running} loads run, {sum(goodput.values()) * 8 / 1e9:.3f} Gb/s, " \
               f"{len(self.sampler.events)} events"

    # ---- Faults.

    def _fault(self, fault, begins, actions):
        if begins:
            self.open_events[id(fault)] = self.sampler.lab_event("warning", "fault", fault.text)
        else:
            event = self.open_events.pop(id(fault), None)
            if event:
                event["end"] = round(self.sampler.now(), 6)
        for action in actions:
            self._act(action)

    def _undo(self):
        """The ends of faults that last yet, so that what is under way can arrive."""
        while self.clock.heap:
            for fault, begins, actions in self.clock.due(self.clock.next_s()):
                if not begins and id(fault) in self.open_events:
                    self._fault(fault, False, actions)

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
            self._signal_process(kind, action["process"])
        else:
            self._signal_node(kind, self.plan.node(action["node"]))

    def _signal_process(self, kind, name):
        number = {"stop": signal.SIGSTOP, "go": signal.SIGCONT, "kill": signal.SIGKILL}[kind]
        for _, handle in self.handles:
            if handle.process.name == name:
                handle.signal(number)

    def _signal_node(self, kind, node):
        if kind == "start":
            self.backend.start(node)
            self.backend.wait_ready(node, READY_S)
            self.killed.discard(node.name)
            self.sampler.restarted(node)
            return
        if kind == "kill":
            self.killed.add(node.name)
        self.backend.signal(node, {"stop": signal.SIGSTOP, "go": signal.SIGCONT, "kill": signal.SIGKILL}[kind])
        if kind == "kill":
            self.sampler.connections.forget(node)


def _load_entry(load, handle):
    return {"name": handle.process.name, "load": load.name, "role": handle.process.role, "argv": handle.process.argv(),
            "exit": handle.poll(), "result": handle.result(), "log": handle.log()[-4000:]}
