# SPDX-License-Identifier: Apache-2.0
"""Faults: what is done at which time, as actions that a back end carries out, and their clock."""

import dataclasses
import heapq

# Values of impairments without a fault.
NEUTRAL = {"burst_ends": 1, "burst_loss": 1, "reorder_delay_us": 20, "hole_classes": "none", "hole_destinations": "none",
           "dscp": "keep", "ecn": "keep", "pcp": "keep", "hop_limit": "keep", "strip_tag": "off", "down": "off"}


@dataclasses.dataclass
class Fault:
    """Actions at the begin and at the end (for_s later; None: never), `times` times every `every_s`.

    An action is one of
      {"kind": "rpc", "node", "method", "params"}      a method of the node's management socket
      {"kind": "stop" | "go" | "kill" | "start", "node"}     SIGSTOP, SIGCONT, SIGKILL, started again
      {"kind": "stop" | "go" | "kill", "process"}            likewise a process of a load
      {"kind": "pfc_storm" | "pfc_calm", "link": number in the plan's links, "classes", "quanta", "interval_us"}
    """
    at_s: float
    for_s: float
    every_s: float
    times: int
    text: str
    begin: list
    end: list

    def occasions(self):
        """(begin, end or None) of each time, in seconds."""
        for number in range(self.times):
            begin = self.at_s + number * (self.every_s or 0)
            yield begin, None if self.for_s is None else begin + self.for_s


def make(scenario, topology, plan):
    return [make_one(scenario, topology, plan, spec, f"faults[{number}].")
            for number, spec in enumerate(scenario["faults"])]


def make_one(scenario, topology, plan, spec, path):
    if spec["process"]:
        begin, end, where = _of_process(scenario, topology, plan, spec, path)
        what = {"stop": "is stopped", "kill": "is killed"}[spec["process"]]
    elif spec["pfc_storm"]:
        link = _links(scenario, topology, spec, path)[0]
        if link.port is None:
            raise scenario.error(f"{path}link", f"{spec['link']} joins two switches, and an XPU sends PFC frames; name its port")
        storm = {"link": link.number, **spec["pfc_storm"]}
        begin, end = [{"kind": "pfc_storm", **storm}], [{"kind": "pfc_calm", **storm}]
        where = spec["link"]
        what = f"sends PFC frames without end (classes {', '.join(map(str, storm['classes']))})"
    else:
        links = _links(scenario, topology, spec, path)
        begin, end = [], []
        for link in links:
            on, off = _of_link(scenario, topology, link, spec)
            begin += on
            end += off
        where = spec["link"] or spec["switch"] or f"plane {spec['plane']}"
        what = ("is down" if spec["down"] else "is set down" if spec["admin_down"] else
                "has " + ", ".join(f"{k} {v}" for k, v in spec["impair"].items()))
        if spec["direction"] != "both":
            what += f" ({spec['direction']} alone)"
    return Fault(at_s=spec["at_s"], for_s=spec["for_s"], every_s=spec["every_s"], times=spec["times"],
                 text=f"{where} {what}", begin=begin, end=end)


def _of_process(scenario, topology, plan, spec, path):
    """The process of a node, or those of a load: its servers, or all where it has none."""
    name = spec["switch"] or spec["daemon"]
    if name:
        if name not in topology.daemons and name not in topology.switches:
            key = "switch" if spec["switch"] else "daemon"
            raise scenario.error(f"{path}{key}", f"there is no {name}; there are "
                                 + ", ".join([*topology.daemons, *topology.switches]))
        targets = [{"node": name}]
    else:
        load = next(load for load in plan.load if load.name == spec["load"])
        servers = [p for p in load.processes if p.role == "server"]
        targets = [{"process": process.name} for process in servers or load.processes]
        name = f"load {load.name}"
    undo = {"stop": "go", "kill": "start"}[spec["process"]]
    begin = [{"kind": spec["process"], **target} for target in targets]
    end = [{"kind": undo, **target} for target in targets if undo == "go" or "node" in target]
    return begin, end, name


def _links(scenario, topology, spec, path):
    """Returns the links that the fault is about; raises an error if one of them is not at a switch."""
    if spec["link"] == "all":
        links = [link for link in topology.links if link.switch]
    elif spec["link"]:
        link = topology.link_of(spec["link"])
        if link is None:
            raise scenario.error(f"{path}link", f"there is no {spec['link']}; write the port of an XPU, xpu0.p0, two switches "
                                 "that are joined, sw0-sw1, or all")
        links = [link]
    elif spec["switch"]:
        links = [link for link in topology.links if link.is_at(spec["switch"])]
    else:
        links = [link for link in topology.links if link.plane == spec["plane"] and link.switch]
    key = next(k for k in ("link", "switch", "plane") if spec[k] is not None)
    if not links:
        raise scenario.error(f"{path}{key}", f"{spec[key]} has no link; there are the switches "
                             + (", ".join(topology.switches) or "none"))
    if any(link.switch is None for link in links):
        raise scenario.error(f"{path}{key}", f"{spec[key]} is a direct link, and links are impaired by switches; give it "
                             "a switch, or stop a process")
    return links


def _of_link(scenario, topology, link, spec):
    """(actions, actions that undo them) at the switch's port; at that of the named switch, where the link joins two."""
    node = spec["switch"] or link.switch
    if spec["admin_down"]:
        return tuple([{"kind": "rpc", "node": node, "method": "ports.set_admin",
                       "params": {"port": link.name, "admin": admin}}] for admin in ("down", "up"))
    values = {"down": "on"} if spec["down"] else dict(spec["impair"])
    if "hole_classes" in values:
        values["hole_classes"] = ",".join(map(str, values["hole_classes"]))
    if "strip_tag" in values:
        values["strip_tag"] = "on" if values["strip_tag"] else "off"
    if "hole_xpus" in values:
        values["hole_destinations"] = _holes(scenario, topology, link, values.pop("hole_xpus"))
    begin, end = [], []
    for direction in ("in", "out") if spec["direction"] == "both" else (spec["direction"],):
        before = {"rate_gbps": link.rate_gbps if direction == "in" and link.port else 0,
                  "delay_us": link.delay_us if direction == "in" or link.port else 0}
        undo = {key: before.get(key, NEUTRAL.get(key, 0)) for key in values}
        for actions, params in ((begin, values), (end, undo)):
            actions.append({"kind": "rpc", "node": node, "method": "impair.set",
                            "params": {"port": link.name, "direction": direction, **params}})
    return begin, end


def _holes(scenario, topology, link, xpus):
    from labkit import plan as plans
    result = []
    for xpu in xpus:
        for port in topology.ports_of(xpu):
            if port.link.switch in topology.distances[link.switch]:
                result.append(str(plans.address_at_switch(scenario["encapsulation"], topology, port, xpu)))
    return ",".join(dict.fromkeys(result)) or "none"


class Clock:
    """The begins and ends of faults in the order of their times."""

    def __init__(self, faults=()):
        self.heap = []
        self.count = 0
        for fault in faults:
            self.add(fault)

    def add(self, fault, base_s=0.0):
        """Adds a fault whose times count from base_s. Returns its number, from 1."""
        self.count += 1
        for begin, end in fault.occasions():
            heapq.heappush(self.heap, (base_s + begin, self.count, 1, fault, fault.begin))
            if end is not None:
                heapq.heappush(self.heap, (base_s + end, self.count, 0, fault, fault.end))
        return self.count

    def drop(self, number):
        """Forgets the coming begins and ends of a fault."""
        self.heap = [each for each in self.heap if each[1] != number]
        heapq.heapify(self.heap)

    def waiting(self):
        """{number: (time, fault)} of the faults that are to begin or end: the next time of each."""
        result = {}
        for at, number, _, fault, _ in sorted(self.heap, key=lambda each: each[:3]):
            result.setdefault(number, (at, fault))
        return result

    def next_s(self):
        """Returns the time of the next fault's begin or end, or None."""
        return self.heap[0][0] if self.heap else None

    def due(self, now_s):
        """Yields (number, fault, begins, actions) for each begin or end whose time has come."""
        while self.heap and self.heap[0][0] <= now_s:
            _, number, begins, fault, actions = heapq.heappop(self.heap)
            yield number, fault, bool(begins), actions
