# SPDX-License-Identifier: Apache-2.0
"""suedectl switch-config with traffic: its script for a Linux bridge, its leaves for suede-fare, its suede-switch, and the
walk of docs/switches.md as it is printed."""

import contextlib
import json
import re
import secrets
import signal
import subprocess

import pytest

import e2e
import frr
import links
import switched
from test_encapsulations import config_of, formats
from test_fare import Pair, weights

MTU = 1400
PAGE = e2e.ROOT / "docs/switches.md"


def switch_config(directory, target, configs, *options):
    """The configuration of a switch between endpoints."""
    paths = []
    for config in configs:
        paths.append(directory / f"{config['name']}-{target}.yaml")
        paths[-1].write_text(json.dumps(config))
    done = subprocess.run([str(a) for a in (e2e.SUEDECTL, "switch-config", "--for", target, *options, *paths)],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def places(configs, names):
    return [word for config, name in zip(configs, names) for word in ("--port", f"{config['name']}={name}")]


class Switch:
    """A namespace with a port to each of three others: two endpoints and a spy, which is an endpoint whose daemon does
    not run."""

    def __init__(self, stack, directory, encap, tagged, vid=100):
        *self.ends, self.name = stack.enter_context(links.empty_namespaces(4, ipv6=False))
        # Names of devices in the switch are unique in the machine, as they begin in its first namespace.
        self.ports = [f"sw{secrets.token_hex(3)}{i}" for i in range(3)]
        for end, port in zip(self.ends, self.ports):
            links.ip("-n", end, "link", "add", "sue0", "type", "veth", "peer", "name", port, "netns", self.name)
            links.ip("-n", end, "link", "set", "sue0", "mtu", MTU, "up")
        self.configs = [config_of(directory, side, links.af_packet("sue0"), encap, tagged) for side in ("left", "right")]
        spy = config_of(directory, "left", links.af_packet("sue0"), encap, tagged, first_xpu=1)
        spy["name"] = spy["name"].replace("left", "spy")
        spy["instances"][0]["xpu"] = 2
        spy["peers"] = self.configs[1]["peers"]
        if encap.startswith("udp"):
            spy["ports"][0]["mac"] = e2e.mac_of(2)
            spy["instances"][0]["ports"][0]["ip"] = {"udp4": e2e.ip_of(2), "udp6": "fd53:5545::3"}[encap]
        self.configs.append(spy)
        for config in self.configs:
            config["ports"][0]["mtu_bytes"] = MTU
            config["packing"] = {"limit_bytes": 1024}
            if tagged:
                config["ports"][0]["vlan"] = {"vid": vid}
        self.script = directory / "bridge.sh"
        self.script.write_text(switch_config(directory, "linux", self.configs, *places(self.configs, self.ports)))

    def apply(self):
        done = subprocess.run(["ip", "netns", "exec", self.name, "sh", str(self.script)], capture_output=True, text=True,
                              timeout=60, check=False)
        assert done.returncode == 0, done.stderr

    def run(self, *words):
        return subprocess.run(["ip", "netns", "exec", self.name, *words], capture_output=True, text=True, timeout=60,
                              check=True).stdout

    def learnt(self):
        return [line for line in self.run("bridge", "fdb", "show", "br", "suede0").splitlines()
                if not re.search(r" (static|permanent|self)\b", line)]

    def static(self):
        return {line.split()[0]: line.split()[2] for line in self.run("bridge", "fdb", "show", "br", "suede0").splitlines()
                if line.split()[-1] == "static"}

    def sent_by_class(self, port):
        """Packets of each class that left by the port."""
        text = self.run("tc", "-s", "class", "show", "dev", port)
        rows = re.findall(r"class htb 1:(\w+) parent 1:1 .*?\n Sent \d+ bytes (\d+) pkt", text)
        return {int(handle, 16) - 0x10: int(count) for handle, count in rows}

    def spied(self):
        """Frames that have reached the spy."""
        row, = json.loads(links.ip("-n", self.ends[2], "-s", "-j", "link", "show", "sue0"))
        return row["stats64"]["rx"]["packets"]

    def send(self, end, destination):
        """Sends a frame of an EtherType that nobody knows."""
        frame = destination.replace(":", "") + "02000000cafe" + "88b7" + "00" * 46
        code = ("import socket; s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW); s.bind(('sue0', 0)); "
                f"s.send(bytes.fromhex('{frame}'))")
        subprocess.run(["ip", "netns", "exec", self.ends[end], "python3", "-c", code], check=True, timeout=60)


@contextlib.contextmanager
def running(directory, switch):
    """The daemons of both endpoints."""
    prefixes = [("ip", "netns", "exec", name) for name in switch.ends[:2]]
    with e2e.daemons(*(e2e.Daemon(directory, config, prefix=prefix)
                       for config, prefix in zip(switch.configs, prefixes))) as daemons:
        yield daemons, prefixes


@formats
def test_linux_bridge(stack, directory, as_root, encap, tagged):
    """Traffic arrives, nothing is learnt, nothing reaches a third port, and each class has its queue."""
    del as_root
    switch = Switch(stack, directory, encap, tagged)
    switch.apply()
    switch.apply()  # again changes nothing
    static = switch.static()
    has_macs = not encap.startswith("afh2")
    assert sorted(static.values()) == sorted(switch.ports if has_macs else []), static
    spied = switch.spied()
    with running(directory, switch) as ((left, right), prefixes):
        assert e2e.both_ways(directory, left, right, 1, "--size", 64, prefixes=prefixes) > 1000
        e2e.check_ends(left, right, ())
    assert switch.learnt() == []
    if has_macs:
        switch.send(0, "02:00:00:00:00:fe")
        assert switch.spied() == spied
        # The spy does receive frames to its own address.
        own = next(mac for mac, port in static.items() if port == switch.ports[2])
        switch.send(0, own)
        e2e.wait_until(lambda: switch.spied() == spied + 1, e2e.START_S, "a frame at the spy")
        switch.send(2, own)
    else:
        assert switch.spied() > spied  # no table has its addresses: they are flooded
    assert switch.learnt() == []
    classes = {1, 2, 3, 4, 6} if tagged or encap != "afh1" else {0}
    for port in switch.ports[:2]:
        used = {c for c, count in switch.sent_by_class(port).items() if count}
        assert classes <= used, (port, used)


def test_priority_tags(stack, directory, as_root):
    """A tag without a VLAN keeps its PCP through the bridge."""
    del as_root
    switch = Switch(stack, directory, "afh1", True, vid=0)
    switch.apply()
    with running(directory, switch) as ((left, right), prefixes):
        assert e2e.both_ways(directory, left, right, 1, "--size", 64, prefixes=prefixes) > 1000
        e2e.check_ends(left, right, ())
    for port in switch.ports[:2]:
        assert {1, 2, 3, 4, 6} <= {c for c, count in switch.sent_by_class(port).items() if count}


def test_a_bridge_without_the_script_floods(stack, directory, as_root):
    """The spy of the test above does see unknown frames where nothing stops them."""
    del as_root
    switch = Switch(stack, directory, "afh1", False)
    switch.apply()
    for port in switch.ports:
        switch.run("bridge", "link", "set", "dev", port, "learning", "on", "flood", "on")
    spied = switch.spied()
    switch.send(0, "02:00:00:00:00:fe")
    e2e.wait_until(lambda: switch.spied() == spied + 1, e2e.START_S, "the flooded frame")
    assert len(switch.learnt()) == 1


@formats
def test_suede_switch_takes_its_configuration(directory, encap, tagged):
    configs = [config_of(directory, side, "net_null0", encap, tagged) for side in ("left", "right")]
    path = directory / "switch.yaml"
    path.write_text(switch_config(directory, "suede", configs))
    done = subprocess.run([str(switched.SWITCH), "--config", str(path), "--check_config"], capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("port", [{"pfc": "software", "bandwidth_gbps": 100}, {"llr": "on", "cbfc": "on"}, {"trimmed_dscp": 60}],
                         ids=["lossless", "links", "trimmed"])
def test_suede_switch_has_the_settings_of_ports(directory, port):
    configs = [config_of(directory, side, "net_null0", "udp4", False) for side in ("left", "right")]
    for config in configs:
        config["ports"][0].update(port)
    text = switch_config(directory, "suede", configs)
    path = directory / "switch.yaml"
    path.write_text(text)
    done = subprocess.run([str(switched.SWITCH), "--config", str(path), "--dump_config"], capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    if "pfc" in port:
        assert done.stdout.count("lossless: on") == 5 and done.stdout.count("pfc: on") == 2
        assert done.stdout.count("rate_gbps: 100\n") == 2
    if "llr" in port:
        assert done.stdout.count("llr: on") == 2 and done.stdout.count("cbfc: on") == 2
    if "trimmed_dscp" in port:
        assert re.search(r"trimmed_dscp: 60", done.stdout) and re.search(r"dscps: *(\[8, 16, 24, 32\]|\n\s*- 8)", done.stdout)


def test_leaves_of_suede_fare(stack, directory, as_root, monkeypatch):
    """FRR takes the leaves' configurations, and the weights are the bandwidths of the servers' ports."""
    del as_root
    configs = []
    for side in ("left", "right"):
        config = e2e.planes_config(directory, side, ["net_null0", "net_null1"], "strict")
        for port, gbps in zip(config["ports"], (8, 4)):
            port["bandwidth_gbps"] = gbps
        configs.append(config)

    def leaf_conf(plane, _):
        ends = [(f"{config['name']}.p{plane}", f"h{host}") for host, config in enumerate(configs)]
        ends += [(f"{config['name']}.p{1 - plane}", "none") for config in configs]
        options = [word for end, name in ends for word in ("--port", f"{end}={name}")]
        return switch_config(directory, "frr", configs, *options, "--link_base", f"10.{plane}.0.0", "--leaf_as", 65101 + plane)

    monkeypatch.setattr(frr, "leaf_conf", leaf_conf)
    pair = Pair(stack, directory, "strict", [8000, 4000])
    pair.follows([8000, 4000], "generated leaves")
    pair.load.goes_on()
    for fare, daemon in zip(pair.fares, pair.daemons):
        fare.signal(signal.SIGTERM)
        assert fare.wait(e2e.START_S) == 0, fare.report()
        assert weights(daemon) == pair.usual
    pair.end()


# ---- The page.

def commands_of(page, heading):
    """The commands of a page's section, in their order."""
    section = page.split(f"\n{heading}\n")[1].split("\n## ")[0]
    return [line[4:] for line in section.splitlines() if line.startswith("    ")]


@pytest.mark.limit(600)
def test_walk_of_the_page(directory, as_root):
    """The printed commands, in namespaces and files of their own."""
    del as_root
    commands = commands_of(PAGE.read_text(), "## Walk: two endpoints and a Linux bridge")
    assert len(commands) > 20
    script = directory / "walk.sh"
    # The names of namespaces and runtime files would be those of others who walk on this machine.
    script.write_text("\n".join(["set -e", "mkdir -p /run/netns /run/suede /var/run/dpdk", "mount -t tmpfs none /run/netns",
                                 "mount -t tmpfs none /run/suede", "mount -t tmpfs none /var/run/dpdk", *commands, "exit 0"]))
    (directory / "build").symlink_to(e2e.BUILD)
    (directory / "conf").symlink_to(e2e.ROOT / "conf")
    log = directory / "walk.log"
    with open(log, "wb") as out:
        walk = subprocess.Popen(["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "bash", str(script)],
                                cwd=directory, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        try:
            code = walk.wait(e2e.TRAFFIC_S * 3)
        finally:
            walk.kill()
            walk.wait()
    text = log.read_text(errors="replace")
    assert code == 0, text[-6000:]
    for name in ("bridge", "switch"):
        assert e2e.check_results(e2e.results_of(directory / f"{name}.json"), 1000), name
    # Nothing was learnt, and acknowledgements were of their own class.
    stations = set(re.findall(r"^(\S+) dev swp\d master suede0 static$", text, re.M))
    assert stations == {"02:53:55:45:00:00", "02:53:55:45:00:01"}, text[-6000:]
    assert not re.search(r"^(?!33:33)\S+ dev swp\d master suede0 *$", text, re.M), text[-6000:]
    acks = re.search(r"class htb 1:16 .*\n Sent \d+ bytes (\d+) pkt", text)
    assert acks and int(acks[1]) > 100, text[-6000:]
    # The kernel's own packets to groups are flooded, and no others.
    counters = text.split("scope: total")[-1]
    assert re.search(r"^tx_frames_total +\d{4,}", counters, re.M) and "rx_learnt_total" not in counters, text[-6000:]
    flooded = re.search(r"^rx_flooded_total +(\d+)", counters, re.M)
    assert not flooded or int(flooded[1]) < 100, text[-6000:]
