# SPDX-License-Identifier: Apache-2.0
"""All that a scenario runs, for any back end: `Plan`, and its form in plan.json (docs/lab.md)."""

import copy
import dataclasses
import itertools
import json

from labkit import faults as fault_plans
from labkit import record, schema
from labkit import topology as topologies

SCHEMA_VERSION = 1

# Daemons, clients and switches of a lab share few CPUs: a process silent for some milliseconds is not dead.
PATIENT = {
    "transport": {"rto_initial_us": 50000, "rto_min_us": 20000, "rto_max_us": 400000, "max_tries": 40,
                  "inflight_pdus": 1024},
    "planes": {"hello_interval_us": 50000, "hold_down_us": 20000, "unreachable_us": 20000000},
    "packing": {"packed_pdus": 1024},
    "congestion": {"base_rtt_us": 500, "repeat_us": 20000, "repeat_max_us": 400000},
}
MESH = "mesh"  # device of the port by which a daemon's XPUs reach their own devices
MAC_PREFIX = "02:53:55:45"  # ports[].mac_prefix

DESCRIPTORS = {"rx_descriptors": 256, "tx_descriptors": 256}
CLASSES = {"vc": [{"dscp": 8}, {"dscp": 16}, {"dscp": 24}, {"dscp": 32}], "ack": {"dscp": 48}}


@dataclasses.dataclass
class Node:
    """A process of suede or suede-switch. `config` is its configuration but for what the back end adds:
    ports[].device other than mesh, the CPUs of lcores, eal, the sockets, and a prefix of `name`."""
    name: str
    kind: str  # endpoint or switch
    host: int  # number of the server that it belongs on
    xpus: list
    config: dict


@dataclasses.dataclass
class Process:
    """A process of suede-perf beside a node. `flags` are its flags without dashes, but for --endpoint,
    --json and --interval_json, which the back end adds."""
    name: str
    node: str
    role: str  # workload, client or server
    xpus: list
    flags: dict

    def argv(self):
        """The flags as words."""
        return [f"--{name}" if value is True else f"--no{name}" if value is False else f"--{name}={value}"
                for name, value in self.flags.items()]


@dataclasses.dataclass
class Command(Process):
    """A process of suede-perf whose words a user gives."""
    words: list

    def argv(self):
        return list(self.words)


@dataclasses.dataclass
class Load:
    """`spec` is the scenario's entry, with all keys. Servers end when the others have ended."""
    name: str
    start_s: float
    processes: list
    spec: dict

    def receivers(self):
        """The {(XPU, VC)} that its processes take."""
        return {(xpu, vc) for process in self.processes for xpu in process.xpus for vc in self.spec["vcs"]}


@dataclasses.dataclass
class Plan:
    name: str
    seed: int
    encapsulation: str
    timeout_s: float
    sample_ms: int
    record_us: int | None  # interval of recordings; None: none is made
    nodes: list
    links: list   # {"a": {"node", "port"}, "b": {"node", "port"}, "plane", "xpus", "rate_gbps", "delay_us"}
    load: list
    faults: list  # labkit.faults.Fault
    expect: dict
    scenario: dict

    def node(self, name):
        return next(node for node in self.nodes if node.name == name)

    def of_kind(self, kind):
        return [node for node in self.nodes if node.kind == kind]

    def named(self, text):
        """The nodes that `switches`, `endpoints` or a name stands for."""
        kinds = {"switches": "switch", "endpoints": "endpoint"}
        return [node for node in self.nodes if node.kind == kinds.get(text) or node.name == text]

    def to_dict(self):
        return {"schema_version": SCHEMA_VERSION, **dataclasses.asdict(self)}

    def to_json(self):
        return json.dumps(self.to_dict(), indent=1) + "\n"

    @staticmethod
    def from_json(text):
        data = json.loads(text)
        if data.pop("schema_version") != SCHEMA_VERSION:
            raise ValueError("a plan of another version")
        data["nodes"] = [Node(**node) for node in data["nodes"]]
        data["load"] = [Load(**{**load, "processes": [Process(**p) for p in load["processes"]]})
                        for load in data["load"]]
        data["faults"] = [fault_plans.Fault(**fault) for fault in data["faults"]]
        return Plan(**data)


def make(scenario):
    """The plan of a scenario. Raises ScenarioError."""
    return make_of(scenario, topologies.build(scenario))


def make_of(scenario, topology):
    """The plan of a scenario whose topology is built. Raises ScenarioError."""
    nodes = [Node(name, "endpoint", number, xpus, _endpoint(scenario, topology, name, xpus))
             for number, (name, xpus) in enumerate(topology.daemons.items())]
    nodes += [Node(name, "switch", number, [], _switch(scenario, topology, name, number))
              for number, name in enumerate(topology.switches)]
    links = []
    for link in topology.links:
        near, far = ({"node": node, "port": port} for node, port in link.ends())
        links.append({"a": near, "b": far, "plane": link.plane, "xpus": link.port.xpus if link.port else [],
                      "rate_gbps": link.rate_gbps, "delay_us": link.delay_us})
    plan = Plan(name=scenario.name, seed=scenario["seed"], encapsulation=scenario["encapsulation"],
                timeout_s=scenario["timeout_s"], sample_ms=scenario["sample_ms"], record_us=_record(scenario), nodes=nodes, links=links,
                load=_loads(scenario, topology), faults=[], expect=scenario["expect"], scenario=scenario.data)
    plan.faults = fault_plans.make(scenario, topology, plan)
    _check_expectations(scenario, plan)
    return plan


def _record(scenario):
    if scenario["record"] is None:
        return None
    interval = record.interval_us(scenario["record"])
    if interval is None:
        raise scenario.error("record", f"{scenario['record']} is no interval from 100us to 10s; use a number and us, ms or s, "
                             "as in 1ms")
    if scenario["backend"] == "simulator":
        raise scenario.error("record", "the back end simulator makes no recordings; remove record, or take another back end")
    return interval


def _check_expectations(scenario, plan):
    """Each entry names what there is, and says what it expects."""
    for key in ("counters", "received", "events"):
        for number, entry in enumerate(scenario["expect"][key]):
            path = f"expect.{key}[{number}]"
            if key == "received":
                _check_load(scenario, plan, entry, path)
            else:
                _check_node(scenario, plan, entry, path)
            if entry["min"] is None and entry["max"] is None:
                raise scenario.error(path, "has no bound, and so expects nothing; add min, max or both")
            if None not in (entry["min"], entry["max"]) and entry["min"] > entry["max"]:
                raise scenario.error(path, "has a min above its max")


def _check_node(scenario, plan, entry, path):
    nodes = plan.named(entry["nodes"])
    if not nodes:
        raise scenario.error(path + ".nodes", f"{entry['nodes']} is no node; write switches, endpoints or one of "
                             + ", ".join(node.name for node in plan.nodes))
    ports = [port["name"] for node in nodes for port in node.config["ports"]]
    if entry.get("port") is not None and entry["port"] not in ports:
        raise scenario.error(path + ".port", f"{entry['nodes']} has no port {entry['port']}; there are " + ", ".join(ports))


def _check_load(scenario, plan, entry, path):
    if entry["load"] not in [load.name for load in plan.load]:
        raise scenario.error(path + ".load", f"there is no load {entry['load']}; there are "
                             + ", ".join(load.name for load in plan.load))


def merged(base, over):
    """`over` laid over a copy of `base`: maps by key, all else replaced."""
    result = copy.deepcopy(base)
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merged(result[key], value)
        else:
            result[key] = copy.deepcopy(value)
    return result


def _base(topology, port):
    """Forwarding addresses tell an XPU's ports apart where one switch has several of them; those of a system of meshes are
    as docs/mesh.md has them."""
    if topology.bases:
        return (port.index << 26) + topology.bases[port.xpus[0]] - port.xpus[0]
    return port.index << 10 if topology.several_at_one else 0


def _ip(encap, index, xpu):
    return f"198.18.{index * 8 + (xpu + 1) // 256}.{(xpu + 1) % 256}" if encap == "udp4" else \
        f"fd53:5545:0:{index}::{xpu + 1:x}"


def forwarding_address(topology, port, xpu):
    return _base(topology, port) + xpu


def address_at_switch(encap, topology, port, xpu):
    """The address of an XPU's port by which the lab's switches forward."""
    if encap.startswith("udp"):
        return port.mac
    number = forwarding_address(topology, port, xpu)
    return f"{MAC_PREFIX}:{number >> 8:02x}:{number & 0xff:02x}" if encap == "esun" else number


def _address(encap, topology, port, xpus):
    """Keys of the configuration with the addresses of XPUs on the port."""
    several = "_base" if len(xpus) > 1 else ""
    first = 0 if several else xpus[0]
    if encap.startswith("udp"):
        return {"ip" + several: _ip(encap, port.index, first)}
    if not _base(topology, port):
        return {}
    return {"forwarding_base" if several else "forwarding_address": _base(topology, port) + first}


def _ids(xpus):
    return {"xpu": xpus[0]} if len(xpus) == 1 else {"xpus": f"{xpus[0]}-{xpus[-1]}"}


def _name(topology, xpus):
    """An XPU alone in its daemon has the daemon's name."""
    daemon = topology.daemon_of(xpus[0])
    return {"name": daemon} if list(topology.daemons[daemon]) == list(xpus) == [xpus[0]] else {}


def ranges(numbers):
    """[0, 1, 2, 5] as 0-2,5."""
    parts = []
    for number in numbers:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def _endpoint(scenario, topology, name, xpus):
    extra = copy.deepcopy(scenario["endpoint"])
    of_port, of_instance = extra.pop("port", {}) or {}, extra.pop("instance", {}) or {}
    parts = (_parts_of_board if topology.boards else _parts_of_ports)(scenario, topology, name, xpus, of_port)
    config = {
        "version": 1,
        "name": name,
        "lcores": [{"cpu": cpu, "idle": "sleep"} for cpu in range(scenario["topology"]["lcores"])],
        **parts,
        "instances": [merged(instance, of_instance) for instance in parts["instances"]],
        # A client for each XPU and load, and its answers.
        "clients": {"max_clients": min(1000, len(xpus) * len(scenario["load"]) + 16)},
        **PATIENT,
    }
    if scenario["encapsulation"] != "afh1":
        config["classes"] = CLASSES
    return merged(config, extra)


def _parts_of_ports(scenario, topology, name, _xpus, of_port):
    """Ports, instances and peers of a daemon whose ports are the planes of its XPUs."""
    encap = scenario["encapsulation"]
    lcores = scenario["topology"]["lcores"]
    ports, instances, peers = [], {}, {}
    for port in (each for each in topology.ports if each.daemon == name):
        entry = {"name": port.name, "encapsulation": encap, **DESCRIPTORS}
        if encap.startswith("udp"):
            entry["mac"] = port.mac
        if encap == "esun":
            entry["ether_type"] = schema.ESUN_TYPE
        ports.append(merged(entry, of_port))
        entry = {"port": port.name, **_address(encap, topology, port, port.xpus)}
        instances.setdefault(tuple(port.xpus), []).append(entry)
        for far in topology.reaches(port):
            entry = {"port": port.name, **_address(encap, topology, far, far.xpus)}
            if encap.startswith("udp"):
                entry["mac"] = far.mac
            peers.setdefault(tuple(far.xpus), []).append(entry)
    return {"ports": ports,
            "instances": [{**_ids(ids), "lcore": number % lcores, "ports": entries}
                          for number, (ids, entries) in enumerate(instances.items())],
            "peers": [{**_ids(ids), **_name(topology, ids), "ports": entries} for ids, entries in sorted(peers.items())]}


# Keys of a port that are about its link: those of cables have them.
OF_LINK = ("cbfc", "llr", "link_ether_type")


def _parts_of_board(scenario, topology, name, xpus, of_port):
    """The same of a daemon that represents the devices of its XPUs, with the devices and their cables."""
    board, lcores = topology.boards[name], scenario["topology"]["lcores"]
    encap = {"encapsulation": scenario["encapsulation"]}
    of_mesh = {key: value for key, value in of_port.items() if key not in OF_LINK}
    # Ports of devices have one pool, which the first one makes: a real device may want large buffers.
    ports = [merged({"name": port, **encap, **DESCRIPTORS}, of_port) for port in board.ports]
    ports += [merged({"name": f"plane{plane}", "device": MESH, "plane": plane, **encap}, of_mesh) for plane in range(board.planes)]
    lcore_of = {xpu: number * lcores // len(xpus) for number, xpu in enumerate(xpus)}

    def entry(run, planes):
        """XPUs of one mesh, whose ids and addresses grow together."""
        key, first = ("forwarding_base", 0) if len(run) > 1 else ("forwarding_address", run[0])
        bases = {plane: (plane << 26) + topology.bases[run[0]] - run[0] for plane in planes}
        return {**_ids(run), "ports": [{"port": f"plane{plane}", **({key: base + first} if base else {})}
                                       for plane, base in bases.items()]}

    def runs(ids, key):
        return [list(group) for _, group in itertools.groupby(ids, key)]

    mesh_of = {xpu: base >> 16 for xpu, base in topology.bases.items()}
    return {"ports": ports,
            "devices": [{**device, "lcore": lcore_of[xpu]} for xpu, device in board.devices],
            "cables": board.cables,
            "mesh": {"cbfc": of_port["cbfc"]} if "cbfc" in of_port else {},
            "pfc": {"storm_us": 0},  # a neighbour without CPU time returns no credit
            "instances": [{**entry(run, range(board.planes)), "lcore": lcore_of[run[0]]}
                          for run in runs(xpus, lambda xpu: (mesh_of[xpu], lcore_of[xpu]))],
            "peers": [entry(run, board.ways[run[0]])
                      for run in runs(filter(board.ways.get, sorted(mesh_of)), lambda xpu: (mesh_of[xpu], board.ways[xpu]))]}


def _switch(scenario, topology, name, number):
    encap = scenario["encapsulation"]
    extra = copy.deepcopy(scenario["switch"])
    of_port = extra.pop("port", {}) or {}
    ports, addresses = [], []
    for link in topology.links:
        if not link.is_at(name):
            continue
        entry = {"name": link.name, **DESCRIPTORS}
        if link.rate_gbps:
            entry["rate_gbps"] = link.rate_gbps
        if link.port and len(link.port.xpus) > 1:
            entry["hairpin"] = "on"
        # Between switches each direction has the rate of the output, and the delay at the input.
        for key, limits in (("impair_in", ("rate_gbps", "delay_us") if link.port else ("delay_us",)),
                            ("impair_out", ("delay_us",) if link.port else ())):
            values = {limit: getattr(link, limit) for limit in limits if getattr(link, limit)}
            if values:
                entry[key] = values
        ports.append(merged(entry, of_port))
    for port in topology.ports:
        way = topology.way(name, port) if port.link.switch else None
        if way is None:
            continue
        kind = "mac" if encap.startswith("udp") or encap == "esun" else "forwarding_address"
        xpus = port.xpus[:1] if encap.startswith("udp") else port.xpus
        addresses += [{kind: address_at_switch(encap, topology, port, xpu), "port": way.name} for xpu in xpus]
    return merged({
        "version": 1,
        "name": name,
        "seed": (scenario["seed"] + number) % (1 << 32),
        "forwarding": schema.FORWARDING[encap],
        **({"esun_ether_type": schema.ESUN_TYPE} if encap == "esun" else {}),
        "learning": "off",
        "unknown": "drop",
        "lcores": [{"cpu": 0, "idle": "sleep"}],
        "classes": {"of": [{"class": 6, "strict": "on"}]},  # acknowledgements
        "ports": ports,
        "addresses": addresses,
    }, extra)


# Keys of a load that are flags of both modes, of workloads, and of clients.
_ALL = ("size", "duration_s", "warmup_s", "vcs", "rate", "inflight", "check", "connect_timeout_s", "drain_s")
_WORKLOAD = ("workload", "bytes", "iterations", "target", "messages", "skew", "top_k", "think_us", "response_bytes",
             "trace", "barrier", "seed", "stall_s")
_CLIENT = ("count", "completions")


def _flags(spec, keys):
    names = {key.name: key.flag for key in schema.LOAD}
    return {names[key]: ranges(spec[key]) if isinstance(spec[key], list) else spec[key] for key in keys
            if spec[key] is not None}


def _loads(scenario, topology):
    loads = []
    for number, spec in enumerate(scenario["load"]):
        loads.append(make_load(scenario, topology, spec, f"load[{number}].vcs", loads))
    return loads


def make_load(scenario, topology, spec, path, others):
    """A load beside `others`. Raises ScenarioError at `path` where one of these has a VC of its XPUs."""
    unordered = {"unordered": True} if (scenario["endpoint"].get("instance") or {}).get("ordering") == "unordered" else {}
    make_processes = _workload if spec["mode"] == "workload" else _client_and_servers
    load = Load(spec["name"], spec["start_s"], make_processes(spec, topology, unordered), spec)
    for other in others:
        shared = load.receivers() & other.receivers()
        if shared:
            xpu, vc = min(shared)
            raise scenario.error(path, f"VC {vc} of XPU {xpu} is of load {other.name}, and a VC has one receiver; take other VCs "
                                 "or XPUs")
    return load


def make_command(name, node, xpus, words):
    """A load of one command line of suede-perf."""
    spec = {**{key.name: None for key in schema.LOAD}, "name": name, "mode": "command", "vcs": [], "start_s": 0}
    return Load(name, 0, [Command(name, node, "command", xpus, {}, words)], spec)


def _workload(spec, topology, unordered):
    processes = []
    flags = {"mode": "workload", "ranks": ranges(spec["ranks"]), **_flags(spec, _ALL + _WORKLOAD), **unordered}
    for daemon, xpus in topology.daemons.items():
        own = [xpu for xpu in xpus if xpu in spec["ranks"]]
        if own:
            processes.append(Process(f"{spec['name']}.{daemon}", daemon, "workload", own,
                                     {**flags, "own": ranges(own)}))
    return processes


def _client_and_servers(spec, topology, unordered):
    vcs = ranges(spec["vcs"])
    reaction = "echo" if spec["mode"] == "latency" else "sink"
    processes = []
    for xpu in spec["destinations"]:
        flags = {"mode": "server", "duration": 0, "reaction": reaction, "vcs": vcs, "xpuid": xpu, **unordered}
        if spec["take_rate"]:
            flags["take_rate"] = spec["take_rate"]
        processes.append(Process(f"{spec['name']}.xpu{xpu}", topology.daemon_of(xpu), "server", [xpu], flags))
    completions = {"completions": 1000} if spec["mode"] == "bandwidth" else {}
    processes.append(Process(f"{spec['name']}.client", topology.daemon_of(spec["source"]), "client", [spec["source"]], {
        "mode": spec["mode"], "xpuid": spec["source"], "destinations": ranges(spec["destinations"]), **completions,
        **_flags(spec, _ALL + _CLIENT), **unordered}))
    return processes
