# SPDX-License-Identifier: Apache-2.0
"""FRR in network namespaces: two servers, leaves that route between them, and the configurations of conf/frr."""

import contextlib
import json
import pathlib
import re
import shutil
import subprocess

import e2e
import links

CONF = e2e.ROOT / "conf/frr"
DAEMONS = pathlib.Path("/usr/lib/frr")
RUN = pathlib.Path("/var/run/frr")
TEMPORARY = pathlib.Path("/var/tmp/frr")
MTU = 2200  # SUE's frames fit


def hop_weights(mbps):
    """The weights of next hops that FRR gives to the kernel: percentages, or 254 at most (FRR 10). Fractions are cut off."""
    scale, whole = (254, max(mbps)) if (DAEMONS / "mgmtd").exists() else (100, sum(mbps))
    return [value * scale // whole for value in mbps]


def loopback(host):
    return f"192.0.2.{host + 1}"


SOCKETS = {"mgmtd": ("mgmtd.vty", "mgmtd_fe.sock", "mgmtd_be.sock"), "zebra": ("zebra.vty", "zserv.api"), "bgpd": ("bgpd.vty",)}


class Router:
    """zebra and bgpd in a namespace, whose name is FRR's too; and mgmtd, which configures zebra where FRR has it (10).
    Ends with the block."""

    def __init__(self, directory, namespace, configuration):
        self.name = namespace
        self.file = pathlib.Path(directory) / f"{namespace}.conf"
        self.file.write_text(configuration)
        prefix = ("ip", "netns", "exec", namespace)
        self.daemons = [daemon for daemon in SOCKETS if (DAEMONS / daemon).exists()]
        self.processes = [e2e.Process(directory, f"{namespace}-{daemon}",
                                      [DAEMONS / daemon, "-N", namespace, "--log", "stdout"], prefix)
                          for daemon in self.daemons]

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            stack.callback(self.clean)
            for process, daemon in zip(self.processes, self.daemons):
                stack.enter_context(process)
                e2e.wait_until(lambda w=SOCKETS[daemon]: all((RUN / self.name / s).exists() for s in w), e2e.START_S,
                               lambda p=process: f"FRR in {self.name}\n{p.report()}")
            self.vtysh("-f", self.file)
            self._end = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._end.close()

    def clean(self):
        shutil.rmtree(RUN / self.name, ignore_errors=True)
        for process in self.processes:
            if getattr(process, "process", None):
                for path in TEMPORARY.glob(f"*.{process.pid}"):
                    shutil.rmtree(path, ignore_errors=True)

    def vtysh(self, *arguments):
        result = subprocess.run(["vtysh", "-N", self.name, *map(str, arguments)], check=False, timeout=60,
                                capture_output=True, text=True)
        assert result.returncode == 0, (arguments, result.stdout, result.stderr)
        return result.stdout

    def configure(self, *lines):
        self.vtysh(*(word for line in ("configure terminal", *lines) for word in ("-c", line)))

    def hops(self, prefix):
        """The kernel's next hops of a route: interface to weight."""
        routes = json.loads(links.ip("-n", self.name, "-j", "route", "show", prefix) or "[]")
        if not routes:
            return {}
        return {hop["dev"]: hop.get("weight", 1) for hop in routes[0].get("nexthops", routes)}


def host_conf(host, planes):
    """conf/frr/host.conf, of a server with another number of planes."""
    text = (CONF / "host.conf").read_text().replace("192.0.2.1", loopback(host)).replace("65001", f"{65001 + host}")
    text = re.sub(r"10\.(\d)\.0\.", rf"10.\1.{host}.", text)
    more = "".join(f"interface p{p}\n ip address 10.{p}.{host}.1/30\nexit\n"
                   f"router bgp {65001 + host}\n neighbor 10.{p}.{host}.2 remote-as {65101 + p}\n"
                   f" neighbor 10.{p}.{host}.2 peer-group LEAVES\nexit\n" for p in range(2, planes))
    return text + more


def leaf_conf(plane, bandwidth):
    """conf/frr/leaf.conf, of another plane."""
    text = (CONF / "leaf.conf").read_text().replace("65101", f"{65101 + plane}").replace("bandwidth 8000", f"bandwidth {bandwidth}")
    return re.sub(r"\b10\.0\.", f"10.{plane}.", text).replace("203.0.113.1", f"203.0.113.{plane + 1}")


class Fabric:
    """Namespaces of two hosts and a leaf for each plane. Host h has interface pP to leaf P, which has hH to host H. Leaves
    route SUE's addresses, which are not the hosts' own, to the hosts' ports."""

    def __init__(self, stack, directory, bandwidths):
        self.planes = len(bandwidths)
        names = stack.enter_context(links.empty_namespaces(2 + self.planes))
        self.host_names, self.leaf_names = names[:2], names[2:]
        for plane, leaf in enumerate(self.leaf_names):
            for host, name in enumerate(self.host_names):
                self.join(host, name, plane, leaf)
            subprocess.run(["ip", "netns", "exec", leaf, "sysctl", "-qw", "net.ipv4.ip_forward=1"], check=True,
                           timeout=60)
        self.hosts = [stack.enter_context(Router(directory, name, host_conf(host, self.planes)))
                      for host, name in enumerate(self.host_names)]
        self.leaves = [stack.enter_context(Router(directory, name, leaf_conf(plane, bandwidths[plane])))
                       for plane, name in enumerate(self.leaf_names)]

    def join(self, host, name, plane, leaf):
        links.ip("-n", name, "link", "add", f"p{plane}", "type", "veth", "peer", "name", f"h{host}", "netns", leaf)
        links.ip("-n", name, "link", "set", f"p{plane}", "address", e2e.mac_of(host, plane), "mtu", MTU, "up")
        links.ip("-n", leaf, "link", "set", f"h{host}", "address", self.leaf_mac(host, plane), "mtu", MTU, "up")
        self.forward(host, plane)

    @staticmethod
    def leaf_mac(host, plane):
        return f"02:00:00:01:{plane:02x}:{host:02x}"

    def forward(self, host, plane):
        """The leaf of a plane knows the way to a host's SUE port."""
        leaf, interface, address = self.leaf_names[plane], f"h{host}", e2e.ip_of(host, plane)
        links.ip("-n", leaf, "neigh", "replace", address, "lladdr", e2e.mac_of(host, plane), "dev", interface)
        links.ip("-n", leaf, "route", "replace", address, "dev", interface)

    def lose(self, host, plane):
        """The leaf drops SUE's frames to the host, and BGP sees nothing of it."""
        links.ip("-n", self.leaf_names[plane], "route", "replace", "blackhole", e2e.ip_of(host, plane))

    def endpoint(self, directory, host, ordering):
        """Configuration of the host's suede."""
        devices = [links.af_packet(f"p{p}", 4096).replace("packet0", f"packet{p}") for p in range(self.planes)]
        config = e2e.planes_config(directory, ("left", "right")[host], devices, ordering)
        del config["planes"]["hello_interval_us"]
        for plane, port in enumerate(config["ports"]):
            port["mtu_bytes"] = MTU
            config["peers"][0]["ports"][plane]["mac"] = self.leaf_mac(host, plane)
        return config

    def set_bandwidth(self, plane, mbps):
        self.leaves[plane].configure("route-map TO-HOSTS permit 10", f"set extcommunity bandwidth {mbps}")

    def set_sessions(self, plane, up):
        """Sets the sessions of the leaf with both hosts up or down."""
        self.leaves[plane].configure(f"router bgp {65101 + plane}", *(
            f"{'no ' if up else ''}neighbor 10.{plane}.{host}.1 shutdown" for host in range(2)))
