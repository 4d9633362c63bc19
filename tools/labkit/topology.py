# SPDX-License-Identifier: Apache-2.0
"""A scenario's topology: daemons with ports, switches with ports, and the links between them."""

import dataclasses
import itertools
import os
import re
import shutil
import subprocess

import yaml

PORTS_OF_PROCESS = 32  # DPDK of Debian has RTE_MAX_ETHPORTS=32
PORTS_IN_SIMULATOR = 1024
DAEMONS_ON_MACHINE = 64
CLIENTS_OF_LCORE = 64
END = re.compile(r"xpu(\d{1,4})\.p(\d)|sw(\d{1,4})")


@dataclasses.dataclass
class Port:
    """A port of a daemon: the end of a link. `index` numbers the ports of an XPU, its planes."""
    daemon: str
    name: str
    index: int
    xpus: list
    link: "Link" = None

    @property
    def mac(self):
        return f"02:00:00:{self.index:02x}:{self.xpus[0] >> 8:02x}:{self.xpus[0] & 255:02x}"


@dataclasses.dataclass
class Link:
    """From a daemon's port to a switch's port of the same name, or to another daemon's port; or from switch to switch."""
    number: int
    port: Port = None
    switch: str = None
    other: Port = None
    far_switch: str = None
    rate_gbps: float = 0
    delay_us: float = 0
    plane: int = 0
    name: str = ""  # of its ports

    def ends(self):
        """(node, port) of both."""
        near = self.port.daemon if self.port else self.far_switch
        far = (self.switch, self.name) if self.switch else (self.other.daemon, self.other.name)
        return (near, self.name), far

    def is_at(self, switch):
        return switch in (self.switch, self.far_switch)


@dataclasses.dataclass
class Topology:
    daemons: dict   # name -> its XPUs
    switches: list  # names
    ports: list
    links: list
    is_mesh: bool = False  # of switches: the dimension decides between ways of one length
    tables: dict = None    # of a system of meshes: (switch, XPU) -> link
    bases: dict = None     # of a system of meshes: XPU -> its forwarding address on plane 0
    boards: dict = None    # daemon -> what it has of a system whose devices the daemons represent

    def __post_init__(self):
        self.trunks = {name: [] for name in self.switches}  # switch -> (neighbour, link) of its links to other switches
        for link in self.links:
            if link.far_switch:
                self.trunks[link.switch].append((link.far_switch, link))
                self.trunks[link.far_switch].append((link.switch, link))
        self.distances = {name: self._distances(name) for name in self.switches}
        # XPUs have several ports at joined switches, so addresses tell ports apart.
        self.several_at_one = any(
            self.joins(a, b) for xpus in self.daemons.values() for xpu in xpus
            for a, b in itertools.combinations([p for p in self.ports_of(xpu) if p.link.switch], 2))

    def _distances(self, switch):
        """{name: hops} of the switches that it is joined with."""
        result, edge = {switch: 0}, [switch]
        for hops in itertools.count(1):
            edge = [far for far in dict.fromkeys(far for name in edge for far, _ in self.trunks[name]) if far not in result]
            if not edge:
                return result
            result.update(dict.fromkeys(edge, hops))

    def joins(self, a, b):
        """Whether two ports are at one switch, or at switches with a way between them."""
        return bool(b.link.switch) and b.link.switch in self.distances.get(a.link.switch, ())

    def way(self, switch, port):
        """The link by which frames for a daemon's port leave a switch, on a shortest way; None: there is none. Destinations
        spread over ways of one length, but for a mesh, where the first dimension comes first."""
        if port.link.switch == switch:
            return port.link
        if self.tables is not None:
            return self.tables.get((switch, port.xpus[0])) if port.link.switch in self.distances[switch] else None
        left = self.distances[switch].get(port.link.switch)
        if left is None:
            return None
        ways = [link for far, link in self.trunks[switch] if self.distances[far].get(port.link.switch) == left - 1]
        return ways[0 if self.is_mesh else port.xpus[0] % len(ways)]

    def ports_of(self, xpu):
        return [port for port in self.ports if xpu in port.xpus]

    def port_count(self, daemon):
        """Ports of a daemon's configuration."""
        board = self.boards[daemon] if self.boards else None
        return len(board.ports) + board.planes if board else sum(1 for port in self.ports if port.daemon == daemon)

    def daemon_of(self, xpu):
        return next(name for name, xpus in self.daemons.items() if xpu in xpus)

    def port_of(self, text):
        """The port xpu3.p0, or None."""
        match = END.fullmatch(text)
        if not match or match[1] is None:
            return None
        found = [p for p in self.ports_of(int(match[1])) if p.index == int(match[2])]
        return found[0] if found else None

    def link_of(self, text):
        """The link of the port xpu3.p0, or between the switches sw0-sw1, or None."""
        port = self.port_of(text)
        return port.link if port else next((link for link in self.links if link.far_switch and link.name == text), None)

    def reaches(self, own):
        """The ports that the own one sends to, one for each XPU or group of XPUs."""
        link = own.link
        if link.other:
            return [link.other if link.port is own else link.port]
        at = [p for p in self.ports if self.joins(own, p)]
        result = {}
        for port in at:
            key = tuple(port.xpus)
            if key not in result or port.index == own.index:
                result[key] = port
        # A port is no way to itself, unless several XPUs share it.
        return [p for p in result.values() if p is not own and p.xpus != own.xpus or p is own and len(p.xpus) > 1]


def build(scenario):
    """Raises ScenarioError."""
    spec = scenario["topology"]
    count, daemons = spec["xpus"], spec["daemons"]
    if daemons > count:
        raise scenario.error("topology.daemons", f"{daemons} daemons have {count} XPUs; write {count} or less")
    if spec["routers"] == "daemons" and not spec["system"]:
        raise scenario.error("topology.routers", "daemons have devices of a system alone; name one by topology.system")
    names = {f"d{i}": list(range(i * count // daemons, (i + 1) * count // daemons)) for i in range(daemons)}
    if spec["links"]:
        topology = _one_by_one(scenario, names)
    elif spec["direct"]:
        topology = _direct(scenario, names)
    elif spec["mesh"]:
        topology = _mesh(scenario, names)
    elif spec["system"]:
        topology = (_system if spec["routers"] == "switches" else _boards)(scenario, names)
    else:
        topology = _planes(scenario, names)
    _check_limits(scenario, topology)
    return topology


def _planes(scenario, daemons):
    spec = scenario["topology"]
    if spec["switches"] == 0:
        raise scenario.error("topology.switches", "0 switches join no XPUs; write 1 or more, direct: on, mesh, or links")
    if spec["switches"] > spec["planes"]:
        raise scenario.error("topology.switches", f"{spec['switches']} switches serve {spec['planes']} planes; write "
                             f"{spec['planes']} or less")
    ports, links = [], []
    share = spec["xpus_per_port"]
    for daemon, xpus in daemons.items():
        for first in range(0, len(xpus), share):
            for plane in range(spec["planes"]):
                port = Port(daemon, f"x{xpus[first]}p{plane}", plane, xpus[first:first + share])
                port.link = _link_to_switch(links, port, f"sw{plane % spec['switches']}", spec["link"])
                ports.append(port)
                links.append(port.link)
    return Topology(daemons, [f"sw{i}" for i in range(spec["switches"])], ports, links)


def _link_to_switch(links, port, switch, values):
    return Link(len(links), port, switch=switch, plane=port.index, name=port.name, **values)


def _trunk(links, near, far, plane, values):
    """A link between two switches; further ones between the same two are named sw0-sw1.2, ..."""
    name = f"{near}-{far}"
    count = sum(1 for each in links if each.far_switch and each.name.partition(".")[0] == name)
    return Link(len(links), switch=near, far_switch=far, plane=plane, name=f"{name}.{count + 1}" if count else name, **values)


def _mesh(scenario, daemons):
    """A switch for each XPU and plane: sw0 to swN-1 of plane 0 in rows, the next N of plane 1. Links of a dimension have
    lower numbers than those of the next one: columns, rows, layers."""
    spec = scenario["topology"]
    sides = [spec["mesh"][key] for key in ("columns", "rows", "layers")]
    count = sides[0] * sides[1] * sides[2]
    if count != spec["xpus"]:
        raise scenario.error("topology.mesh", f"has {count} places, and topology.xpus is {spec['xpus']}; write one number")
    if spec["xpus_per_port"] != 1:
        raise scenario.error("topology.xpus_per_port", "XPUs of a mesh share no ports; remove it")
    ports, links = [], []
    for daemon, xpus in daemons.items():
        for xpu in xpus:
            for plane in range(spec["planes"]):
                port = Port(daemon, f"x{xpu}p{plane}", plane, [xpu])
                port.link = _link_to_switch(links, port, f"sw{plane * count + xpu}", spec["link"])
                ports.append(port)
                links.append(port.link)
    for plane in range(spec["planes"]):
        for side, step in zip(sides, (1, sides[0], sides[0] * sides[1])):
            for at in (each for each in range(count) if each // step % side < side - 1):
                links.append(_trunk(links, f"sw{plane * count + at}", f"sw{plane * count + at + step}", plane, spec["link"]))
    return Topology(daemons, [f"sw{i}" for i in range(count * spec["planes"])], ports, links, is_mesh=True)


DEVICE = re.compile(r"M(\d+)D(\d+)(?:P(\d+))?")


def _of_system(scenario, command, plane):
    """A list that suede-mesh prints."""
    program = scenario.build / "app/mesh/suede-mesh" if scenario.build else shutil.which("suede-mesh")
    if not program or not os.access(program, os.X_OK):
        raise scenario.error("topology.system", f"there is no program {program or 'suede-mesh'}, which reads it; ninja -C BUILD "
                             "app/mesh/suede-mesh, or install the package suede")
    path = scenario.path.parent / scenario["topology"]["system"]
    words = [program, command, path, "--plane", str(plane)]
    if scenario["topology"]["tables"] and plane == 0:
        words += ["--tables", scenario.path.parent / scenario["topology"]["tables"]]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise scenario.error("topology.system", done.stderr.strip().removeprefix("suede-mesh: "))
    return yaml.load(done.stdout, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) or []


def _read_system(scenario):
    """(names, planes): the (mesh, device) of each XPU, for XPU ids count the devices of all meshes; and of each plane the
    tables of all devices, and the cables, pairs of (XPU, name of the port)."""
    spec = scenario["topology"]
    if spec["xpus_per_port"] != 1:
        raise scenario.error("topology.xpus_per_port", "XPUs of a system share no ports; remove it")
    if scenario["encapsulation"] in ("afh1", "afh1s", "afh2c", "esun"):
        raise scenario.error("encapsulation", f"{scenario['encapsulation']} has too few bits for addresses of a system; write afh2")
    names, planes = [], []
    for plane in range(spec["planes"]):
        tables = _of_system(scenario, "tables", plane)["tables"]
        names = [tuple(map(int, DEVICE.fullmatch(each["device"]).groups()[:2])) for each in tables]
        if len(names) != spec["xpus"]:
            raise scenario.error("topology.xpus", f"is {spec['xpus']}, and the system has {len(names)} devices; write {len(names)}")
        numbers = {name: xpu for xpu, name in enumerate(names)}
        cables = [[(numbers[tuple(map(int, DEVICE.fullmatch(end).groups()[:2]))], end) for end in ends]
                  for ends in _of_system(scenario, "cables", plane)]
        planes.append((tables, cables))
    return names, planes


def _entry_of(names, tables, own, xpu):
    """The entry for an XPU's device in the table of another one: a port, D or a dot."""
    mesh, device = names[xpu]
    return tables[own]["devices"][device] if mesh == names[own][0] else tables[own]["meshes"][mesh]


def _bases_of(names):
    return {xpu: mesh << 16 | device for xpu, (mesh, device) in enumerate(names)}


def _system(scenario, daemons):
    """A switch for each device and plane of a system of meshes, with its tables."""
    spec = scenario["topology"]
    names, planes = _read_system(scenario)
    ports, links, routes = {}, [], {}
    for plane, (tables, cables) in enumerate(planes):
        switch = [f"sw{plane * len(names) + xpu}" for xpu in range(len(names))]
        for daemon, xpus in daemons.items():
            for xpu in xpus:
                port = ports[xpu, plane] = Port(daemon, f"x{xpu}p{plane}", plane, [xpu])
                port.link = _link_to_switch(links, port, switch[xpu], spec["link"])
                links.append(port.link)
        at = {}  # (XPU, number of a port) -> link
        for ends in cables:
            (near, _), (far, _) = ends
            links.append(_trunk(links, switch[near], switch[far], plane, spec["link"]))
            at.update({(xpu, int(DEVICE.fullmatch(end)[3])): links[-1] for xpu, end in ends})
        for own in range(len(names)):
            for xpu in range(len(names)):
                entry = _entry_of(names, tables, own, xpu)
                if isinstance(entry, int):
                    routes[switch[own], xpu] = at[own, entry]
    ordered = [ports[key] for key in sorted(ports)]
    switches = [f"sw{number}" for number in range(spec["planes"] * spec["xpus"])]
    return Topology(daemons, switches, ordered, links, tables=routes, bases=_bases_of(names))


@dataclasses.dataclass
class Board:
    """A daemon's part of a system whose devices the daemons represent: keys of its configuration."""
    planes: int
    ports: list    # of cables to other daemons: names
    devices: list  # (XPU, entry of `devices`)
    cables: list   # entries of `cables`
    ways: dict     # XPU -> planes on which all own devices have a route to it


def _boards(scenario, daemons):
    """Daemons that represent the devices of their XPUs; a link is a cable between two of them."""
    spec = scenario["topology"]
    names, planes = _read_system(scenario)
    daemon_of = {xpu: daemon for daemon, xpus in daemons.items() for xpu in xpus}
    boards = {daemon: Board(len(planes), [], [], [], {
        xpu: tuple(plane for plane, (tables, _) in enumerate(planes)
                   if all(_entry_of(names, tables, own, xpu) != "." for own in xpus)) for xpu in range(len(names))
    }) for daemon, xpus in daemons.items()}
    for xpu, daemon in daemon_of.items():
        entries = [tables[xpu] for tables, _ in planes]
        boards[daemon].devices.append((xpu, {"device": entries[0]["device"], "tables": [
            {key: entry[key] for key in ("devices", "meshes")} for entry in entries]}))
    links = []
    for plane, (_, cables) in enumerate(planes):
        key = {"plane": plane} if plane else {}
        for ends in cables:
            (near, near_end), (far, far_end) = ends
            if daemon_of[near] == daemon_of[far]:
                boards[daemon_of[near]].cables.append({"from": near_end, "to": far_end, **key})
                continue
            near_port, far_port = (Port(daemon_of[xpu], end, plane, [xpu]) for xpu, end in ends)
            link = Link(len(links), near_port, other=far_port, plane=plane, name=near_end, **spec["link"])
            links.append(link)
            for port, to in ((near_port, far_end), (far_port, near_end)):
                port.link = link
                boards[port.daemon].ports.append(port.name)
                boards[port.daemon].cables.append({"from": port.name, "to": to, "port": port.name, **key})
    return Topology(daemons, [], [], links, bases=_bases_of(names), boards=boards)


def _direct(scenario, daemons):
    spec = scenario["topology"]
    count = spec["xpus"]
    if spec["xpus_per_port"] != 1:
        raise scenario.error("topology.xpus_per_port", "XPUs with direct links share no ports; remove it")
    if count > 5:
        raise scenario.error("topology.direct", f"direct links of {count} XPUs take {count - 1} ports of each, and an XPU has 4 "
                             "at most; take switches, a mesh, or 5 XPUs or less")
    pairs = list(itertools.combinations(range(count), 2))
    if count == 2:
        pairs *= spec["planes"]
    if count == 4:
        pairs += [(0, 1), (2, 3)]
    return _joined(scenario, daemons, [((a, None), (b, None), spec["link"]) for a, b in pairs])


def _one_by_one(scenario, daemons):
    spec = scenario["topology"]
    ends = []
    for number, link in enumerate(spec["links"]):
        path = f"topology.links[{number}]"
        if len(link["between"]) != 2:
            raise scenario.error(path + ".between", f"a link has 2 ends, not {len(link['between'])}")
        sides = []
        for text in link["between"]:
            match = END.fullmatch(text)
            if not match:
                raise scenario.error(path + ".between", f"{text} is no end; write xpu0.p1 or sw0")
            if match[1] is not None and int(match[1]) >= spec["xpus"]:
                raise scenario.error(path + ".between", f"there is no XPU {match[1]}; topology.xpus is {spec['xpus']}")
            if match[3] is not None and int(match[3]) >= spec["switches"]:
                raise scenario.error(path + ".between", f"there is no {text}; topology.switches is {spec['switches']}")
            sides.append(text if match[3] is not None else (int(match[1]), int(match[2])))
        if sides[0] == sides[1]:
            raise scenario.error(path + ".between", "joins a switch with itself; name two ends")
        if isinstance(sides[0], str) and not isinstance(sides[1], str):
            sides.reverse()
        values = {k: link[k] if link[k] is not None else spec["link"][k] for k in ("rate_gbps", "delay_us")}
        ends.append((*sides, values))
    return _joined(scenario, daemons, ends)


def _joined(scenario, daemons, ends):
    """Ports by (xpu, index); without an index the next one of the XPU."""
    ports, links = {}, []
    where = "topology.links" if scenario["topology"]["links"] else "topology.direct"

    def port_at(xpu, index):
        if index is None:
            index = sum(1 for each, _ in ports if each == xpu)
        if (xpu, index) in ports:
            raise scenario.error(where, f"xpu{xpu}.p{index} is an end of two links")
        daemon = next(name for name, xpus in daemons.items() if xpu in xpus)
        ports[xpu, index] = Port(daemon, f"x{xpu}p{index}", index, [xpu])
        return ports[xpu, index]

    for near, far, values in ends:
        if isinstance(near, str):
            links.append(_trunk(links, near, far, 0, values))
            continue
        port = port_at(*near)
        if isinstance(far, str):
            port.link = _link_to_switch(links, port, far, values)
        else:
            other = port_at(*far)
            port.link = other.link = Link(len(links), port, other=other, plane=port.index, name=port.name, **values)
        links.append(port.link)
    for xpu in range(scenario["topology"]["xpus"]):
        own = sorted(index for each, index in ports if each == xpu)
        if own != list(range(len(own))) or len(own) not in (1, 2, 4):
            raise scenario.error(where, f"XPU {xpu} has the ports {own}; an XPU has 1, 2 or 4, numbered from 0")
    switches = sorted({name for link in links for name in (link.switch, link.far_switch) if name}, key=lambda name: int(name[2:]))
    topology = Topology(daemons, switches, [ports[key] for key in sorted(ports)], links)
    for link in links:
        if link.far_switch:
            link.plane = min((p.index for p in topology.ports if topology.distances[link.switch].get(p.link.switch) is not None),
                             default=0)
    return topology


def _most_clients(scenario, xpus):
    own = set(xpus)
    return sum(len(own.intersection(load["ranks"] or [*load["destinations"], load["source"]])) for load in scenario["load"])


def _check_limits(scenario, topology):
    simulated = scenario["backend"] == "simulator"
    most = PORTS_IN_SIMULATOR if simulated else PORTS_OF_PROCESS
    if len(topology.daemons) > DAEMONS_ON_MACHINE and not simulated:
        raise scenario.error("topology.daemons", f"{len(topology.daemons)} are more than {DAEMONS_ON_MACHINE}, which only the "
                             f"back end simulator runs; write {DAEMONS_ON_MACHINE} or less")
    for daemon in topology.daemons:
        count = topology.port_count(daemon)
        clients = _most_clients(scenario, topology.daemons[daemon])
        if clients > CLIENTS_OF_LCORE * scenario["topology"]["lcores"]:
            raise scenario.error("topology.lcores", f"{daemon} has {clients} clients, one for each XPU and load, and an lcore "
                                 f"serves {CLIENTS_OF_LCORE}; write {-(-clients // CLIENTS_OF_LCORE)} or more, or spread the "
                                 "XPUs over more daemons")
        if count > most:
            raise scenario.error("topology.daemons", f"{daemon} has {count} ports, and a process has {most} at most; "
                                 "spread the XPUs over more daemons, or let them share ports (xpus_per_port)")
    for switch in topology.switches:
        count = sum(1 for link in topology.links if link.is_at(switch))
        if not 2 <= count <= most:
            raise scenario.error("topology.switches", f"{switch} has {count} ports, and a switch has 2 to {most}; "
                                 "take more switches, or let XPUs share ports (xpus_per_port)")


