# SPDX-License-Identifier: Apache-2.0
"""A scenario's topology: daemons with ports, switches with ports, and the links between them."""

import dataclasses
import itertools
import re

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
    """From a daemon's port to a switch's port of the same name, or to another daemon's port."""
    number: int
    port: Port
    switch: str = None
    other: Port = None
    rate_gbps: float = 0
    delay_us: float = 0

    @property
    def plane(self):
        return self.port.index

    def ends(self):
        """(node, port) of both."""
        far = (self.switch, self.port.name) if self.switch else (self.other.daemon, self.other.name)
        return (self.port.daemon, self.port.name), far


@dataclasses.dataclass
class Topology:
    daemons: dict   # name -> its XPUs
    switches: list  # names
    ports: list
    links: list
    several_at_one: bool  # XPUs have several ports at one switch, so addresses tell ports apart

    def ports_of(self, xpu):
        return [port for port in self.ports if xpu in port.xpus]

    def daemon_of(self, xpu):
        return next(name for name, xpus in self.daemons.items() if xpu in xpus)

    def port_of(self, text):
        """The port xpu3.p0, or None."""
        match = END.fullmatch(text)
        if not match or match[1] is None:
            return None
        found = [p for p in self.ports_of(int(match[1])) if p.index == int(match[2])]
        return found[0] if found else None

    def reaches(self, own):
        """The ports that the own one sends to, one for each XPU or group of XPUs."""
        link = own.link
        if link.other:
            return [link.other if link.port is own else link.port]
        at = [p for p in self.ports if p.link.switch == link.switch]
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
    names = {f"d{i}": list(range(i * count // daemons, (i + 1) * count // daemons)) for i in range(daemons)}
    if spec["links"]:
        topology = _one_by_one(scenario, names)
    elif spec["mesh"]:
        topology = _mesh(scenario, names)
    else:
        topology = _planes(scenario, names)
    _check_limits(scenario, topology)
    return topology


def _planes(scenario, daemons):
    spec = scenario["topology"]
    if spec["switches"] == 0:
        raise scenario.error("topology.switches", "0 switches join no XPUs; write 1 or more, mesh: on, or links")
    if spec["switches"] > spec["planes"]:
        raise scenario.error("topology.switches", f"{spec['switches']} switches serve {spec['planes']} planes; write "
                             f"{spec['planes']} or less")
    ports, links = [], []
    share = spec["xpus_per_port"]
    for daemon, xpus in daemons.items():
        for first in range(0, len(xpus), share):
            for plane in range(spec["planes"]):
                port = Port(daemon, f"x{xpus[first]}p{plane}", plane, xpus[first:first + share])
                port.link = Link(len(links), port, switch=f"sw{plane % spec['switches']}", **spec["link"])
                ports.append(port)
                links.append(port.link)
    return Topology(daemons, [f"sw{i}" for i in range(spec["switches"])], ports, links,
                    spec["switches"] < spec["planes"])


def _mesh(scenario, daemons):
    spec = scenario["topology"]
    count = spec["xpus"]
    if spec["xpus_per_port"] != 1:
        raise scenario.error("topology.xpus_per_port", "XPUs of a mesh share no ports; remove it")
    if count > 5:
        raise scenario.error("topology.mesh", f"a mesh of {count} XPUs takes {count - 1} ports of each, and an XPU has 4 "
                             "at most; take switches, or 5 XPUs or less")
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
        if all(isinstance(side, str) for side in sides):
            raise scenario.error(path + ".between", "joins two switches; a fabric has one hop, so an end is an XPU's")
        if isinstance(sides[0], str):
            sides.reverse()
        values = {k: link[k] if link[k] is not None else spec["link"][k] for k in ("rate_gbps", "delay_us")}
        ends.append((*sides, values))
    return _joined(scenario, daemons, ends)


def _joined(scenario, daemons, ends):
    """Ports by (xpu, index); without an index the next one of the XPU."""
    ports, links = {}, []
    where = "topology.links" if scenario["topology"]["links"] else "topology.mesh"

    def port_at(xpu, index):
        if index is None:
            index = sum(1 for each, _ in ports if each == xpu)
        if (xpu, index) in ports:
            raise scenario.error(where, f"xpu{xpu}.p{index} is an end of two links")
        daemon = next(name for name, xpus in daemons.items() if xpu in xpus)
        ports[xpu, index] = Port(daemon, f"x{xpu}p{index}", index, [xpu])
        return ports[xpu, index]

    for near, far, values in ends:
        link = Link(len(links), port_at(*near), **values)
        link.port.link = link
        if isinstance(far, str):
            link.switch = far
        else:
            link.other = port_at(*far)
            link.other.link = link
        links.append(link)
    for xpu in range(scenario["topology"]["xpus"]):
        own = sorted(index for each, index in ports if each == xpu)
        if own != list(range(len(own))) or len(own) not in (1, 2, 4):
            raise scenario.error(where, f"XPU {xpu} has the ports {own}; an XPU has 1, 2 or 4, numbered from 0")
    switches = sorted({link.switch for link in links if link.switch})
    several = any(len({p.link.switch for p in each}) < len(each) for each in (
        [p for (x, _), p in ports.items() if x == xpu and p.link.switch] for xpu in range(scenario["topology"]["xpus"])))
    ordered = [ports[key] for key in sorted(ports)]
    return Topology(daemons, switches, ordered, links, several)


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
        count = sum(1 for port in topology.ports if port.daemon == daemon)
        clients = _most_clients(scenario, topology.daemons[daemon])
        if clients > CLIENTS_OF_LCORE * scenario["topology"]["lcores"]:
            raise scenario.error("topology.lcores", f"{daemon} has {clients} clients, one for each XPU and load, and an lcore "
                                 f"serves {CLIENTS_OF_LCORE}; write {-(-clients // CLIENTS_OF_LCORE)} or more, or spread the "
                                 "XPUs over more daemons")
        if count > most:
            raise scenario.error("topology.daemons", f"{daemon} has {count} ports, and a process has {most} at most; "
                                 "spread the XPUs over more daemons, or let them share ports (xpus_per_port)")
    for switch in topology.switches:
        count = sum(1 for link in topology.links if link.switch == switch)
        if not 2 <= count <= most:
            raise scenario.error("topology.switches", f"{switch} has {count} ports, and a switch has 2 to {most}; "
                                 "take more switches, or let XPUs share ports (xpus_per_port)")


