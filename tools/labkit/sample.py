# SPDX-License-Identifier: Apache-2.0
"""Samples of a run: counters and gauges of nodes, intervals of loads, events; as the report's series."""

import datetime
import re
import time

from labkit import rpc, stalls

# With more flows than this, a workload's goodput is summed by destination.
MOST_FLOWS = 1000
MAX_POINTS = 20000   # of a series; the points of a lab that stays up become fewer
MAX_EVENTS = 200000
LEVELS = ("queue_depth", "buffer_used", "paused", "latency_p50", "latency_p99")  # of which the largest value says most
PAUSED = re.compile(r'^suede_port_vc_paused_seconds_total\{(.*)\} (\S+)$', re.M)
DEVICE = re.compile(r'^suede_device_(\w+_total)\{(.*)\} (\S+)$', re.M)
LABEL = re.compile(r'(\w+)="([^"]*)"')


def seconds_of(text):
    """Unix time of an ISO 8601 text in UTC with a fraction of any length."""
    whole, _, fraction = text.rstrip("Z").partition(".")
    base = datetime.datetime.fromisoformat(whole).replace(tzinfo=datetime.timezone.utc).timestamp()
    return base + float("0." + (fraction or "0"))


class Series:
    """By {name, labels}: points in time."""

    UNITS = {"goodput": "bytes/s", "plane_throughput": "bytes/s", "queue_depth": "bytes", "buffer_used": "bytes",
             "retransmissions": "1/s", "paused": "share", "ecn_marks": "1/s", "trims": "1/s", "drops": "1/s",
             "latency_p50": "s", "latency_p99": "s"}

    def __init__(self):
        self.all = {}

    def add(self, name, t, value, **labels):
        labels = {key: str(text) for key, text in labels.items()}
        entry = self.all.setdefault((name, tuple(sorted(labels.items()))), (labels, [], []))
        entry[1].append(round(t, 4))
        entry[2].append(value)
        if len(entry[1]) > MAX_POINTS:
            self._thin(name, *entry[1:])

    @staticmethod
    def _thin(name, times, values):
        """Makes one point of two: their mean, or the larger one."""
        pairs = list(zip(values[0::2], values[1::2]))
        odd = len(values) % 2
        values[:] = [max(pair) if name in LEVELS else sum(pair) / 2 for pair in pairs] + values[len(values) - odd:]
        times[:] = times[1::2] + times[len(times) - odd:]

    def to_list(self):
        """Returns the series. Leaves out series that are 0 throughout, except goodput, throughput and buffer use."""
        return [{"name": name, "unit": self.UNITS[name], "labels": labels, "t": t, "v": v}
                for (name, _), (labels, t, v) in sorted(self.all.items())
                if any(v) or name in ("goodput", "plane_throughput", "buffer_used")]


class Deltas:
    """Growth per second of counters, which begin at 0 again where a process did."""

    def __init__(self):
        self.before = {}

    def rate(self, key, value, t):
        """Returns the growth per second, None the first time."""
        old = self.before.get(key)
        self.before[key] = (value, t)
        if old is None or t <= old[1]:
            return None
        return max(0, value - old[0] if value >= old[0] else value) / (t - old[1])


class Sampler:
    def __init__(self, plan, backend):
        self.plan = plan
        self.backend = backend
        self.connections = rpc.Connections(backend)
        self.series = Series()
        self.deltas = Deltas()
        self.events = []
        self.seen_events = {}  # node -> `next` of the last answer
        self.flows = {}        # process -> flows that were seen
        self.last_line = {}    # process -> time of its last interval
        self.latest = {}       # (process, flow) -> its goodput in the last interval
        self.stalls = stalls.Stalls(plan, self.connections)
        self.epoch = self.zero = None
        self.http = {}
        self.recorded = {}     # node -> parts of its recording
        self.record_since = {}  # node -> `next` of the last answer
        self.plane_of = {(end["node"], end["port"]): link["plane"] for link in plan.links for end in (link["a"], link["b"])}

    def begin(self):
        """Time 0 is now; what came before is no event of the run."""
        self.epoch, self.zero = time.time(), time.monotonic()
        for node in self.plan.nodes:
            self._record(node)
            self.seen_events[node.name] = self.connections.call(node, "events.list", limit=1)["next"]

    def now(self):
        return time.monotonic() - self.zero

    def close(self):
        self.connections.close()

    # ---- Nodes.

    def sample(self, silent=()):
        """Samples all nodes but the silent ones, which would not answer. A node that does not answer is left out."""
        for node in self.plan.nodes:
            if node.name in silent:
                continue
            try:
                (self._endpoint if node.kind == "endpoint" else self._switch)(node)
                self._events(node)
            except rpc.RpcError:
                pass

    def _rate(self, name, key, value, t, **labels):
        rate = self.deltas.rate((name, *key), value, t)
        if rate is not None:
            self.series.add(name, t, rate, **labels)

    def _endpoint(self, node):
        t = self.now()
        total = self.connections.call(node, "counters.get", scope="total", nonzero_only=True)["sets"]
        counters = total[0]["counters"] if total else {}
        self.stalls.counters(node.name, counters, t)
        self._rate("retransmissions", [node.name], counters.get("tx_retransmissions_total", 0), t, node=node.name)
        for counter, value in counters.items():
            if "_drop_" in counter:
                self._drop(node, counter, value, t)
        planes = {}
        for each in self.connections.call(node, "counters.get", scope="port")["sets"]:
            plane = self.plane_of.get((node.name, each["of"]))
            planes[plane] = planes.get(plane, 0) + each["counters"].get("port_rx_bytes_total", 0)
        for plane, value in planes.items():
            self._rate("plane_throughput", [node.name, plane], value, t, node=node.name, plane=plane)
        if any(port.get("pfc") == "software" for port in node.config["ports"]):
            self._paused(node, t)
        self._record(node)

    def _record(self, node):
        """Reads what an endpoint has recorded since the last call; the first call begins its recording."""
        if self.plan.record_us is None or node.kind != "endpoint":
            return
        for _ in range(64):  # a part of an answer's size each
            since = self.record_since.get(node.name)
            answer = self.connections.call(node, "record.read", interval_us=self.plan.record_us, seconds=0,
                                           **({} if since is None else {"since": since}))
            self.record_since[node.name] = answer["next"]
            parts = self.recorded.setdefault(node.name, [answer["header"] + "\n"])
            if answer["lost"]:
                parts.append(f"# {answer['lost']} samples lost\n")
            parts.append(answer["csv"])
            if not answer["csv"]:
                break

    def recordings(self):
        """{node: text of its CSV}."""
        return {node: "".join(parts) for node, parts in self.recorded.items()}

    def _drop(self, node, counter, value, t):
        before = self.deltas.before
        if ("drops", node.name, counter) not in before:
            before["drops", node.name, counter] = (0, max(0, t - self.plan.sample_ms / 1000))
        reason = re.sub(r"^(class_|rx_|tx_)?(.*?)_?drop_(.*)_total$", r"\2\3", counter)
        self._rate("drops", [node.name, counter], value, t, node=node.name, reason=reason)

    def _paused(self, node, t):
        for labels, value in PAUSED.findall(self.backend.metrics(node) or ""):
            labels = dict(LABEL.findall(labels))
            self._rate("paused", [node.name, labels["port"], labels["vc"]], float(value), t, node=node.name,
                       port=labels["port"], vc=labels["vc"])

    def _switch(self, node):
        t = self.now()
        total = self.connections.call(node, "counters.get", scope="total", nonzero_only=True)["sets"]
        counters = total[0]["counters"] if total else {}
        self._rate("ecn_marks", [node.name], counters.get("class_ecn_marked_total", 0), t, node=node.name)
        self._rate("trims", [node.name], counters.get("class_trimmed_total", 0), t, node=node.name)
        for counter, value in counters.items():
            if "_drop_" in counter:
                self._drop(node, counter, value, t)
        for queue in self.connections.call(node, "queues.list", in_use=True)["queues"]:
            where = {"node": node.name, "port": queue["port"], "class": queue["class"]}
            self.series.add("queue_depth", t, queue["bytes"], **where)
            self._rate("paused", where.values(), queue["paused_us"] / 1e6, t, **where)
        self.series.add("buffer_used", t, self.connections.call(node, "buffer.show")["used_bytes"], node=node.name)

    def _events(self, node):
        for _ in range(16):  # 1000 each
            since = self.seen_events.get(node.name)
            answer = self.connections.call(node, "events.list", limit=1000, **({} if since is None else {"since": since}))
            self.seen_events[node.name] = answer["next"]
            for event in answer["events"]:
                self._event(node, event)
            if len(answer["events"]) < 1000:
                break

    def _event(self, node, event):
        fields = {key: value for key, value in event.items() if key not in ("sequence", "time", "severity", "kind")}
        source = f"xpu{fields['xpu']}" if "xpu" in fields else node.name
        self.events.append({"t": round(seconds_of(event["time"]) - self.epoch, 6), "end": None, "source": source,
                            "node": node.name, "severity": event["severity"], "name": event["kind"],
                            "text": " ".join(f"{key}={value}" for key, value in fields.items())})
        if len(self.events) > MAX_EVENTS:
            del self.events[:MAX_EVENTS // 10]

    def restarted(self, node):
        """The node has restarted: its events are numbered from 1 again."""
        self.connections.forget(node)
        self.seen_events[node.name] = 0
        self.record_since.pop(node.name, None)

    def lab_event(self, severity, name, text, end=None):
        event = {"t": round(self.now(), 6), "end": end, "source": "lab", "node": None, "severity": severity, "name": name,
                 "text": text}
        self.events.append(event)
        return event

    # ---- Loads.

    def intervals(self, handle, load):
        """Goodput and latency of the intervals that a process has reported since the last call."""
        process = handle.process
        many = len(process.xpus) * len(load.spec["ranks"] or [0]) > MOST_FLOWS
        for line in handle.intervals():
            t = seconds_of(line["time"]) - self.epoch
            span = t - self.last_line.get(process.name, t - self.plan.sample_ms / 1000)
            self.last_line[process.name] = t
            if span <= 0:
                continue
            sums = dict.fromkeys(self.flows.setdefault(process.name, {}), 0)
            for flow in line["flows"]:
                key = ("*" if many else flow["source"], flow["destination"], flow["vc"])
                self.flows[process.name][key] = True
                sums[key] = sums.get(key, 0) + flow["data_bytes"]
            for (source, destination, vc), data_bytes in sums.items():
                self.latest[process.name, source, destination, vc] = data_bytes / span
                if data_bytes:
                    self.stalls.data((load.name, source, destination, vc), t)
                self.series.add("goodput", t, data_bytes / span, load=load.name, source=source, destination=destination,
                                vc=vc)
            if line["latency"]:
                for each in ("p50", "p99"):
                    self.series.add("latency_" + each, t, line["latency"][each + "_seconds"], load=load.name,
                                    process=process.name, kind=line["latency"]["kind"])

    def goodput(self, processes=None):
        """Bytes per second of all flows in their last intervals, or of those that some processes receive."""
        return sum(value for (process, *_), value in self.latest.items() if processes is None or process in processes)

    def end_of_flows(self, handle):
        """The flows of a process that has ended have no goodput any more."""
        for flow in self.flows.pop(handle.process.name, {}):
            self.latest.pop((handle.process.name, *flow), None)

    # ---- The end.

    def _devices(self, node):
        """{port of a device, M0D4P2, or M0D4 of its instances: its counters}, summed over classes."""
        sums = {}
        for name, labels, value in DEVICE.findall(self.backend.metrics(node) or ""):
            labels = dict(LABEL.findall(labels))
            port = labels["device"] + (labels["port"] if labels["port"].startswith("P") else "")
            counters = sums.setdefault(port, {})
            counters[name] = counters.get(name, 0) + int(float(value))
        return sums

    def final(self):
        """Returns the state that expectations are checked against: by node its counters, ports, buffer and events."""
        result = {}
        for node in self.plan.nodes:
            try:
                self._events(node)
                self._record(node)
                total = self.connections.call(node, "counters.get", scope="total")["sets"]
                ports = self.connections.call(node, "counters.get", scope="port")["sets"]
                result[node.name] = {
                    "counters": total[0]["counters"] if total else {},
                    "ports": {**{each["of"]: each["counters"] for each in ports},
                              **(self._devices(node) if node.config.get("devices") else {})},
                    "buffer": self.connections.call(node, "buffer.show") if node.kind == "switch" else None,
                    "events": [{"kind": event["name"]} for event in self.events if event["node"] == node.name]}
            except rpc.RpcError as error:
                self.lab_event("error", "no_answer", str(error))
        return result
