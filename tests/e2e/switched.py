# SPDX-License-Identifier: Apache-2.0
"""Endpoints behind a suede-switch: XPUs 0 to N - 1 of one daemon, each on a memif of its own to the switch."""

import contextlib
import json
import pathlib
import subprocess

import e2e
from encaps import OF_PORT

SWITCH = e2e.BUILD / "app/suede-switch/suede-switch"
FORWARDING = {"udp4": "mac", "udp6": "mac", "afh1": "afh1", "afh1s": "afh1", "afh2": "afh2",
              "afh2c": "afh2", "esun": "esun"}


class Switch(e2e.Daemon):
    def __init__(self, directory, config, arguments=()):
        super().__init__(directory, {**config, "clients": {"socket": "none"}}, program=SWITCH,
                         arguments=arguments)
        self.config = config
        self.config_path.write_text(json.dumps(config, indent=1))


def memif(directory, port, role, number):
    return (f"net_memif{number},role={role},id=0,socket={directory}/switch-{port}.sock,"
            "socket-abstract=no,bsize=2304")


def switch_config(directory, ports, encap, lcores=1):
    """The second lcore, where there is one, has the second half of the ports."""
    return {
        "version": 1,
        "name": f"e2e-switch-{str(directory)[-8:]}",
        "eal": {"hugepages": "off"},
        "forwarding": FORWARDING[encap],
        **{f"esun_{key}": value for key, value in OF_PORT[encap].items()},
        "lcores": [{"cpu": cpu, "idle": "sleep"} for cpu in range(lcores)],
        "ports": [{"name": f"s{i}", "device": memif(directory, i, "server", i),
                   "lcore": i * lcores // ports} for i in range(ports)],
        "management": {"socket": str(directory / "switch.sock")},
    }


def _addresses(encap, xpu):
    if encap == "udp4":
        return {"ip": e2e.ip_of(xpu)}
    if encap == "udp6":
        return {"ip": f"fd53:5545::{xpu + 1:x}"}
    return {}


def endpoint_config(directory, xpus, encap, port_of=lambda xpu: xpu):
    """A daemon with these XPUs, whose peers are all of `xpus`."""
    name = f"e2e-xpus-{xpus[0]}-{str(directory)[-8:]}"
    ports, instances = [], []
    for number, xpu in enumerate(xpus):
        port = {"name": f"p{xpu}", "device": memif(directory, port_of(xpu), "client", number),
                "encapsulation": encap, **OF_PORT[encap]}
        if encap.startswith("udp"):
            port["mac"] = e2e.mac_of(xpu)
        ports.append(port)
        instances.append({"xpu": xpu, "lcore": 0, "ports": [{"port": port["name"],
                                                             **_addresses(encap, xpu)}]})
    return {
        "version": 1,
        "name": name,
        "eal": {"hugepages": "off"},
        "lcores": [{"cpu": 0, "idle": "sleep"}],
        "ports": ports,
        "instances": instances,
        "classes": {"vc": [{"dscp": 8}, {"dscp": 16}, {"dscp": 24}, {"dscp": 32}],
                    "ack": {"dscp": 48}},
        "clients": {"socket": str(directory / f"{name}.sock"), "hugepages": "off"},
        "management": {"socket": str(directory / f"{name}-management.sock")},
    }


def with_peers(config, peers, encap):
    """All of these XPUs are peers, over each own port whose XPU is another."""
    entries = []
    for xpu in peers:
        ports = []
        for port in config["ports"]:
            if port["name"] == f"p{xpu}":
                continue
            entry = {"port": port["name"], **_addresses(encap, xpu)}
            if encap.startswith("udp"):
                entry["mac"] = e2e.mac_of(xpu)
            ports.append(entry)
        if ports:
            entries.append({"xpu": xpu, "ports": ports})
    return {**config, "peers": entries}


@contextlib.contextmanager
def fabric(count, encap="udp4", lcores=1, switch=None, endpoint=None, arguments=()):
    """Yields (directory, the switch, the daemon of all XPUs), links up. `switch` and `endpoint` change the
    configurations."""
    with e2e.work_directory() as directory:
        config = switch_config(directory, count, encap, lcores)
        if switch:
            switch(config)
        xpus = list(range(count))
        endpoints = with_peers(endpoint_config(directory, xpus, encap), xpus, encap)
        if endpoint:
            endpoint(endpoints)
        with e2e.daemons(Switch(directory, config, arguments), e2e.Daemon(directory, endpoints)) as (the_switch, daemon):
            the_switch.wait_for_link()
            daemon.wait_for_link()
            yield directory, the_switch, daemon


def run_workload(directory, daemon, count, name="all-to-all", *arguments):
    """Each XPU is a rank, content checked. Returns the JSON of the workload."""
    result = pathlib.Path(directory) / f"{name}.json"
    ranks = f"0-{count - 1}"
    with e2e.perf(directory, name, daemon.socket, "--mode", "workload", "--workload", name,
                  "--ranks", ranks, "--own", ranks, "--check", "--json", result, "--warmup", 0,
                  "--connect_timeout", 60, "--stall", 60, *arguments) as run:
        run.expect(0, e2e.TRAFFIC_S)
    document = e2e.results_of(result)
    assert document["verdict"]["pass"], document["verdict"]
    return document["workload"]


def ctl(switch, *arguments, code=0):
    """The result of a command of the switch."""
    argv = [str(a) for a in (e2e.SUEDECTL, "-j", "--socket", switch.management, *arguments)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=e2e.START_S, check=False)
    if done.returncode != code:
        raise e2e.E2eError(f"{argv}: {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout) if code == 0 else done.stderr
