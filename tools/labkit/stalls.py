# SPDX-License-Identifier: Apache-2.0
"""Stalls: flows of a load that carried no data for a while although they had some to send, each with its reason.

The reason is that of the source: the state of its connections, planes and queues, and the counters of waits (docs/management.md,
docs/metrics.md), read while the flow stalls.
"""

from labkit import rpc

STALL_S = 1.0      # without data, from which a flow stalls
LOOK_S = 1.0       # between two looks at a source
MAX_SOURCES = 4    # that are looked at in a sample
MAX_STALLS = 2000
MAX_RANKS = 16     # of a workload whose flows are not known yet: all pairs may have data to send
WAITS = {"tx_waits_credit_total": "receive credit of XPU {peer}", "tx_waits_congestion_total": "congestion credit of XPU {peer}",
         "tx_waits_mac_total": "the MAC address of XPU {peer}", "tx_waits_share_total": "its share of PDUs in flight"}


def _planes(rows):
    return sorted({row["plane"] for row in rows if row["plane"] is not None})


def classify(peer, vc, connections, planes, queues):
    """(planes, what the flow waits for, evidence) by the rows of its source's connections.list, planes.list or planes.peers, and
    queues.list; None: no connection to the peer waits for anything."""
    unusable = [row for row in planes if not row["usable"]]
    if planes and len(unusable) == len(planes):
        return _planes(planes), f"a plane to XPU {peer}", ", ".join(f"plane {row['plane']} {row['state']}" for row in planes)
    rows = [row for row in connections if row["peer"] == peer and row["vc"] in (vc, None)]
    busy = [row for row in rows if row["unacked_pdus"]]
    for state, waited in (("lost", f"XPU {peer}, which was given up as unreachable"), ("frozen", "the end of a FENCE"),
                          ("paused", f"XPU {peer} to be ready, which refused PDUs: no receiver or no room")):
        found = [row for row in rows if row["state"] == state]
        if found:
            return _planes(found), waited, f"state {state}, {sum(row['peer_waits'] for row in found)} refusals"
    if any(str(vc) in str(queue["paused"]).split(",") for queue in queues):
        return _planes(rows), "the end of a pause (PFC) of its VC", "all planes are paused"
    asking = [row for row in rows if row["congestion"] == "asking" and not row["unacked_pdus"]]
    if asking:
        return _planes(asking), f"congestion credit of XPU {peer}", f"window {asking[0]['congestion_window_octets']} bytes"
    if busy:
        pdus, window = (sum(row[key] for row in busy) for key in ("unacked_pdus", "window_pdus"))
        evidence = f"{pdus} of {window} PDUs in flight"
        tries = max(row["tries"] for row in busy)
        return _planes(busy), f"acknowledgements of XPU {peer}", evidence + (f", {tries} timeouts in a row" if tries else "")
    return None


def unsent(queues):
    """Lines of commands that have not left."""
    return sum(queue["credit_used"] + queue["waiting_lines"] for queue in queues)


class Stalls:
    """`list`: {load, source, destination, vc, t, end (null: until the end of the load), plane (a text, null: none), waited_for,
    evidence, faults}."""

    def __init__(self, plan, connections):
        self.plan = plan
        self.connections = connections
        self.list = []
        self.open = {}    # (load, source, destination, VC) -> entry
        self.last = {}    # the same -> time of its last data
        self.looked = {}  # source -> time of the last look
        self.grown = {}   # (node, counter of waits) -> (value, time of its last growth)

    def data(self, flow, t):
        """A flow received data in an interval that ended at t."""
        self.last[flow] = max(t, self.last.get(flow, t))

    def counters(self, node, counters, t):
        for name in WAITS:
            value = counters.get(name, 0)
            if value != self.grown.get((node, name), (0, None))[0]:
                self.grown[node, name] = (value, t)

    def look(self, runs, flows, now, silent, faults):
        """`runs`: loads that run, as labkit.lab has them; `flows`: by process; `silent`: names of nodes that do not answer."""
        stalled = {}
        for each in runs:
            for source, destination, vc in self._flows(each, flows):
                flow = (each.load.name, source, destination, vc)
                begin = max(self.last.get(flow, each.began_s), each.began_s)
                if now - begin >= STALL_S:
                    stalled.setdefault(source, []).append((flow, begin))
                elif flow in self.open:
                    self.open.pop(flow)["end"] = round(begin, 3)
        due = [source for source in stalled if now - self.looked.get(source, -LOOK_S) >= LOOK_S]
        for source in sorted(due, key=lambda each: self.looked.get(each, -1))[:MAX_SOURCES]:
            self.looked[source] = now
            self._look_at(source, stalled[source], silent, faults)

    def close(self, name, now):
        """The load has ended."""
        for flow in [flow for flow in self.open if flow[0] == name]:
            self.open.pop(flow)["end"] = round(now, 3)

    @staticmethod
    def _flows(each, flows):
        """The flows that processes of a load have seen, else all that there may be."""
        found = {flow for handle in each.handles for flow in flows.get(handle.process.name, ()) if flow[0] != "*"}
        spec = each.load.spec
        if spec["mode"] in ("bandwidth", "latency"):
            found |= {(spec["source"], destination, vc) for destination in spec["destinations"] for vc in spec["vcs"]}
        elif not found and spec["mode"] == "workload" and len(spec["ranks"]) <= MAX_RANKS:
            found = {(a, b, spec["vcs"][i % len(spec["vcs"])]) for a in spec["ranks"] for i, b in enumerate(spec["ranks"]) if a != b}
        return found

    def _node_of(self, xpu):
        return next((node for node in self.plan.nodes if xpu in node.xpus), None)

    def _look_at(self, source, flows, silent, faults):
        node = self._node_of(source)
        if node is None:
            return
        if node.name in silent:
            for flow, begin in flows:
                self._note(flow, begin, ([], f"{node.name}, the daemon of XPU {source}", "its process is stopped or has ended"), faults)
            return
        try:
            connections = self.connections.call(node, "connections.list", xpu=source)["connections"]
            queues = [row for row in self.connections.call(node, "queues.list")["queues"] if row["xpu"] == source]
            planes = self._planes_of(node, source)
        except rpc.RpcError:
            return
        reasons = {}
        for flow, begin in flows:
            reason = classify(flow[2], flow[3], connections, planes.get(flow[2], planes.get(None, [])), queues)
            other = self._node_of(flow[2])
            if reason and other and other.name in silent:
                reason = (reason[0], f"{other.name}, the daemon of XPU {flow[2]}", "its process is stopped or has ended")
            reasons[flow] = reason
        # Commands of a queue do not say for whom they are: they wait with those of a flow that is known to wait.
        if unsent(queues) and not any(reasons.values()):
            for flow, begin in flows:
                reasons[flow] = self._by_counters(node.name, flow, begin, unsent(queues))
        for flow, begin in flows:
            if reasons[flow]:
                self._note(flow, begin, reasons[flow], faults)
            elif flow in self.open:
                self.open.pop(flow)["end"] = round(max(begin, self.looked[source]), 3)

    def _planes_of(self, node, source):
        """{peer: rows of planes.peers}, or {None: rows of planes.list} where there is one plane."""
        rows = self.connections.call(node, "planes.peers", xpu=source)["peers"]
        result = {}
        for row in rows:
            result.setdefault(row["peer"], []).append(row)
        if not rows:
            own = self.connections.call(node, "planes.list")["planes"]
            result[None] = [{"plane": row["plane"], "state": row["state"], "usable": row["state"] == "up"} for row in own
                            if row["xpu"] == source]
        return result

    def _by_counters(self, node, flow, begin, lines):
        """The counter of waits that grew last since the flow's last data says what the queue waits for."""
        grown = [(t, name) for (of, name), (_, t) in self.grown.items() if of == node and t is not None and t >= begin - STALL_S]
        if not grown:
            return None
        name = max(grown)[1]
        return [], WAITS[name].format(peer=flow[2]), f"{name} grew, {lines} lines have not left"

    def _note(self, flow, begin, reason, faults):
        planes, waited, evidence = reason
        entry = self.open.get(flow)
        if entry is not None and entry["waited_for"] != waited:
            begin = entry["end"] = round(self.looked[flow[1]], 3)
            entry = None
        if entry is None:
            if len(self.list) >= MAX_STALLS:
                return
            load, source, destination, vc = flow
            entry = self.open[flow] = {"load": load, "source": source, "destination": destination, "vc": vc, "t": round(begin, 3),
                                       "end": None}
            self.list.append(entry)
        entry.update(plane=",".join(map(str, planes)) or None, waited_for=waited, evidence=evidence, faults=list(faults))
