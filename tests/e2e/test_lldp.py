# SPDX-License-Identifier: Apache-2.0
"""LLDP between endpoints, with a suede-switch and with lldpd (docs/lldp.md)."""

import contextlib
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

import pytest

import e2e
import links
import switched
from client import Packets
from test_cbfc import credit_and_retry, wait_for_credit
from test_llr import links_of, total, wait_for_sessions
from test_metrics import scrape
from test_packets import TAP, may_tap, peer_of, run, tap_pair, two_namespaces, wait_until_learnt  # noqa: F401

GROUP = bytes.fromhex("0180c200000e")
HEAD = GROUP + bytes.fromhex("02aabbccddee") + b"\x88\xcc"
CHASSIS = b"\x02\x04\x07far"
PORT = b"\x04\x03\x05p9"
TTL = b"\x06\x02\x00\x78"
END = b"\x00\x00"
# Frames that are ill-formed, by the counter of each.
MALFORMED = {
    "lldp_rx_drop_order_total": PORT + CHASSIS + TTL + END,
    "lldp_rx_drop_mandatory_total": b"\x02\x01\x07" + PORT + TTL + END,
    "lldp_rx_drop_duplicate_total": CHASSIS + PORT + TTL + TTL + END,
    "lldp_rx_drop_truncated_total": CHASSIS + PORT + TTL + b"\x0b\xff" + bytes(40),
}


def with_lldp(config):
    for port in config["ports"]:
        port["lldp"] = "on"
    return config


def listed(daemon):
    return e2e.managed(daemon, "lldp", "list")


def neighbours(daemon):
    return listed(daemon)["neighbours"]


def counters(daemon, port):
    return next(row["counters"] for row in listed(daemon)["ports"] if row["port"] == port)


def events(daemon, kind):
    return e2e.managed(daemon, "events", "list", "--kind", kind, "--limit", 1000)["events"]


def wait_for_neighbours(*daemons, count=1):
    for daemon in daemons:
        e2e.wait_until(lambda: len(neighbours(daemon)) == count, e2e.START_S,
                       lambda: f"{count} neighbours of {daemon.name}: {neighbours(daemon)}")


def differences(daemon, port):
    """Differences from the only neighbour of the port, as {name: (own, theirs)}. Each of them was an event."""
    row, = [row for row in neighbours(daemon) if row["port"] == port]
    shown = {one["name"]: (one["own"], one["theirs"]) for one in row["differences"]}
    raised = {event["what"]: (event["own"], event["theirs"]) for event in events(daemon, "lldp_differs")
              if event["port"] == port}
    assert shown == raised
    return shown


@contextlib.contextmanager
def pair(left=None, right=None):
    """Two endpoints with LLDP, joined by a memif; `left` and `right` change the only port of each."""
    with e2e.work_directory() as directory:
        configs = []
        for side, role, changes in (("left", "server", left), ("right", "client", right)):
            config = with_lldp(e2e.endpoint_config(directory, side, e2e.memif_device(directory, role)))
            config["ports"][0].update(changes or {})
            config["management"]["http_address"] = "127.0.0.1:0"
            configs.append(config)
        with e2e.daemons(*(e2e.Daemon(directory, config) for config in configs)) as both:
            for daemon in both:
                daemon.wait_for_link()
            yield both


def test_endpoints_know_each_other():
    with pair() as (left, right):
        wait_for_neighbours(left, right)
        for own, other, xpu in ((left, right, 1), (right, left, 0)):
            row, = neighbours(own)
            assert (row["port"], row["chassis"], row["port_id"]) == ("p0", e2e.mac_of(xpu), "p0")
            assert row["system"] == other.name
            assert row["system_description"].startswith("suede ")
            assert (row["ttl_s"], row["llr"], row["cbfc"], row["pfc_classes"]) == (121, "off", "off", "none")
            assert row["age_s"] < 121 and row["differences"] == []
            assert differences(own, "p0") == {}
            new, = events(own, "lldp_neighbour")
            assert (new["port"], new["change"], new["system"]) == ("p0", "new", other.name)
            sent = counters(own, "p0")
            assert sent["lldp_tx_frames_total"] > 0 and sent["lldp_rx_frames_total"] > 0
        shown = {name: value for name, labels, value in scrape(left) if name.startswith("lldp_")}
        assert shown["lldp_neighbours"] == 1 and shown["lldp_differences"] == 0, shown
        assert shown["lldp_tx_frames_total"] > 0, shown
        assert f"lldp_neighbour port=p0 change=new chassis={e2e.mac_of(1)}" in left.stderr()
        right.terminate()
        e2e.wait_until(lambda: not neighbours(left), e2e.START_S, "the neighbour to go")
        gone = events(left, "lldp_neighbour")[-1]
        # The memif goes down behind the last frame.
        assert gone["change"] == "gone" and gone["reason"] in ("shutdown", "link")


def test_without_lldp_nothing_is_sent():
    with pair(right={"lldp": "off"}) as (left, right):
        e2e.wait_until(lambda: counters(left, "p0")["lldp_tx_frames_total"] >= 2, e2e.START_S, "frames")
        assert listed(right) == {"neighbours": [], "ports": []}
        assert right.counters()["mgmt_tx_packets_total"] == 0
        assert neighbours(left) == []


def test_each_difference_of_endpoints_is_named():
    with pair(left={"mtu_bytes": 2150, "pfc": "software", "bandwidth_gbps": 100, "llr": "on", "cbfc": "on"},
              right={"mtu_bytes": 2100}) as (left, right):
        wait_for_neighbours(left, right)
        # Both have one priority for each DSCP that both use.
        assert differences(left, "p0") == {"max_frame_bytes": ("2168", "2118"), "pfc_classes": ("0,1,2,3,6", "none"),
                                           "llr": ("on", "off"), "cbfc": ("on", "off")}
        assert differences(right, "p0")["cbfc"] == ("off", "on")
        row, = neighbours(right)
        assert (row["cbfc"], row["credit_bytes"], len(row["credits"])) == ("on", 128, 8)
        assert "lldp_differs port=p0 what=max_frame_bytes own=\"2168\" theirs=\"2118\"" in left.stderr()


def lossless(*classes):
    return [{"class": one, "lossless": "on"} for one in classes]


def test_switch_and_endpoint_compare_their_ports():
    def switch(config):
        with_lldp(config)
        config["ports"][0].update({"mtu_bytes": 2200, "pfc": "on", "rate_gbps": 100})
        config["ports"][1].update({"cbfc": "on"})
        config["classes"] = {"of": lossless(1, 3)}

    with switched.fabric(2, switch=switch, endpoint=with_lldp) as (_, the_switch, daemon):
        wait_for_neighbours(the_switch, daemon, count=2)
        of = {row["port"]: row for row in neighbours(the_switch)}
        assert sorted(of) == ["s0", "s1"] and {row["system"] for row in of.values()} == {daemon.name}
        port = of["s0"]["port_id"]
        far = next(row for row in neighbours(daemon) if row["port"] == port)
        assert (far["system"], far["port_id"], far["pfc_classes"], far["max_frame_bytes"]) == (
            the_switch.name, "s0", "1,3", 2218)
        assert far["system_description"].startswith("suede-switch ")
        own = differences(the_switch, "s0")
        assert own["pfc_classes"] == ("1,3", "none") and own["max_frame_bytes"][0] == "2218"
        assert "cbfc" not in own
        theirs = differences(daemon, port)
        assert theirs["pfc_classes"] == ("none", "1,3")
        assert differences(the_switch, "s1")["cbfc"] == ("on", "off")
        assert differences(daemon, of["s1"]["port_id"])["cbfc"] == ("off", "on")
        # Frames are neither forwarded nor dropped as link-local ones.
        assert the_switch.counters()["rx_drop_link_local_total"] == 0
        daemon.terminate()
        e2e.wait_until(lambda: not neighbours(the_switch), e2e.START_S, "the neighbours to go")


def test_ports_that_fit_have_no_difference():
    def switch(config):
        with_lldp(config)
        for port in config["ports"]:
            port.update({"pfc": "on", "rate_gbps": 100, "mtu_bytes": 2112})
        # VC v has DSCP 8 * (v + 1), acknowledgements have 48.
        config["classes"] = {"of": lossless(1, 2, 3, 4, 6)}

    def endpoint(config):
        with_lldp(config)
        for port in config["ports"]:
            port.update({"pfc": "software", "bandwidth_gbps": 100, "mtu_bytes": 2112})

    with switched.fabric(2, switch=switch, endpoint=endpoint) as (_, the_switch, daemon):
        wait_for_neighbours(the_switch, daemon, count=2)
        for daemon_ in (the_switch, daemon):
            assert [row["differences"] for row in neighbours(daemon_)] == [[], []]


def test_priority_of_a_dscp_is_compared():
    def switch(config):
        with_lldp(config)
        config["classes"] = {"dscp": [{"dscp": 8, "class": 5}]}

    with switched.fabric(2, switch=switch, endpoint=with_lldp) as (_, the_switch, daemon):
        wait_for_neighbours(the_switch, daemon, count=2)
        assert differences(the_switch, "s0")["application_priority"] == ("dscp 8 priority 5", "dscp 8 priority 1")


def test_frames_pass_link_level_retry_and_credit():
    def change(config):
        with_lldp(config)
        credit_and_retry(config)

    with switched.fabric(2, switch=change, endpoint=change) as (_, the_switch, daemon):
        ends = (the_switch.management, daemon.management)
        wait_for_credit(*ends)
        wait_for_sessions(*ends)
        e2e.wait_until(lambda: all(row["counters"]["lldp_tx_frames_total"] >= 4
                                   for own in (the_switch, daemon) for row in listed(own)["ports"]),
                       e2e.START_S, "the frames of the start")
        wait_for_neighbours(the_switch, daemon, count=2)
        for own in (the_switch, daemon):
            assert all(row["llr"] == row["cbfc"] == "on" and not {one["name"] for one in row["differences"]}
                       & {"llr", "cbfc", "link_ether_type", "class_field"} for row in neighbours(own)), neighbours(own)
        # The receiver counts each frame on the link VC whose credit the sender has spent.
        e2e.wait_until(lambda: all(row["held"] == 0 and row["free"] == row["limit"]
                                   for socket in ends for link in links_of(socket) for row in link["credits"]),
                       e2e.START_S, "credit given back")
        of_all = [link for socket in ends for link in links_of(socket)]
        for name in ("cbfc_rx_exceeded_total", "cbfc_rx_impossible_total", "cbfc_repaired_credits_total"):
            assert total(of_all, name) == 0, of_all
        assert total(of_all, "llr_rx_frames_total") >= 4


def assigned(xpu, **more):
    return {"ip": e2e.ip_of(xpu), "prefix": 16, **more}


def assigning(*addresses):
    """A change of a switch's configuration: port i assigns the address i."""
    def change(config):
        with_lldp(config)
        for port, address in zip(config["ports"], addresses):
            port["lldp_assign"] = address
    return change


def taking(config, wait_s=e2e.START_S):
    """No instance has an ip: each takes the address that the switch assigns."""
    with_lldp(config)
    for port in config["ports"]:
        port.update({"lldp_addresses": "on", "lldp_wait_s": int(wait_s)})
    for instance in config["instances"]:
        for port in instance["ports"]:
            del port["ip"]
    return config


def states(daemon):
    return {row["port"]: (row["assigned"], row["address_state"]) for row in neighbours(daemon)}


def addresses_of(daemon):
    return {row["xpu"]: row["address"] for row in e2e.managed(daemon, "instances", "list")["instances"]}


def test_endpoint_uses_the_addresses_that_the_switch_assigns():
    both = {0: e2e.ip_of(0), 1: e2e.ip_of(1)}
    change = assigning(assigned(0, gateway=e2e.ip_of(99)), assigned(1))
    with switched.fabric(2, switch=change, endpoint=taking) as (directory, the_switch, daemon):
        assert addresses_of(daemon) == both
        # The neighbour is known from the start on, by the frame that assigned the address.
        assert set(states(daemon).values()) == {(f"{ip}/16", "used") for ip in both.values()}, neighbours(daemon)
        assert sorted(row["gateway"] or "" for row in neighbours(daemon)) == ["", e2e.ip_of(99)]
        assert "waiting for an address port=p0" in daemon.stderr() and "took an address port=p1" in daemon.stderr()
        switched.run_workload(directory, daemon, 2, "all-to-all", "--bytes", 20000, "--iterations", 2)
        # A change of the configuration keeps the addresses, which are no settings.
        assert e2e.managed(daemon, "config", "check", daemon.config_path)["changes"] == []
        daemon.config_path.write_text(json.dumps({**daemon.config, "transport": {"ack_delay_us": 21}}))
        change, = e2e.managed(daemon, "config", "load", daemon.config_path)["changes"]
        assert change["key"] == "transport.ack_delay_us", change
        assert addresses_of(daemon) == both

        # Another address changes nothing before a restart.
        the_switch.terminate()
        e2e.wait_until(lambda: not neighbours(daemon), e2e.START_S, "the switch to go")
        config = the_switch.config
        config["ports"][1]["lldp_assign"] = assigned(7)
        with e2e.daemons(switched.Switch(directory, config)) as (other,):
            other.wait_for_link()
            e2e.wait_until(lambda: (f"{e2e.ip_of(7)}/16", "changed") in states(daemon).values(), e2e.START_S,
                           lambda: f"the other address: {neighbours(daemon)}")
            event, = events(daemon, "lldp_address_refused")
            assert (event["port"], event["assigned"], event["reason"]) == ("p1", f"{e2e.ip_of(7)}/16", "changed")
            assert counters(daemon, "p1")["lldp_rx_address_refused_total"] > 0
            assert addresses_of(daemon) == both
            switched.run_workload(directory, daemon, 2, "all-to-all", "--bytes", 20000, "--iterations", 2)


def test_endpoint_without_the_key_only_shows_an_address():
    with switched.fabric(2, switch=assigning(assigned(7), assigned(8)), endpoint=with_lldp) as (_, the_switch, daemon):
        wait_for_neighbours(the_switch, daemon, count=2)
        assert set(states(daemon).values()) == {(f"{e2e.ip_of(7)}/16", "off"), (f"{e2e.ip_of(8)}/16", "off")}
        assert addresses_of(daemon) == {0: e2e.ip_of(0), 1: e2e.ip_of(1)}
        assert events(daemon, "lldp_address_refused") == []
        table = e2e.suedectl(daemon, "--wide", "lldp", "list")
        assert re.search(rf"assigned +address_state .*\n.* {e2e.ip_of(7)}/16 +off ", table), table


def test_tap_has_the_assigned_address_and_its_gateway_leads_to_peers(may_tap):  # noqa: F811
    """Two networks: each end is the other's router."""
    del may_tap
    ips = ("198.18.0.1", "198.18.1.1")
    gateways = ("198.18.0.99", "198.18.1.99")
    with e2e.work_directory() as directory, two_namespaces() as names:
        config = switched.switch_config(directory, 2, "udp4")
        assigning(*({"ip": ip, "prefix": 24, "gateway": gateway} for ip, gateway in zip(ips, gateways)))(config)
        ends = []
        for own, name in enumerate(names):
            of = taking(switched.endpoint_config(directory, [own], "udp4"))
            of["ports"][0]["tap"] = TAP
            of["peers"] = [{"xpu": 1 - own, "ports": [{"port": f"p{own}", "ip": ips[1 - own]}]}]
            ends.append(e2e.Daemon(directory, of, prefix=name))
        with e2e.daemons(switched.Switch(directory, config), *ends) as (_, *daemons):
            for daemon in daemons:
                daemon.wait_for_link()
            for own, name in enumerate(names):
                assert f"inet {ips[own]}/24" in run(name, "ip", "-4", "address", "show", TAP)
                run(name, "ip", "address", "add", f"{gateways[1 - own]}/24", "dev", TAP)
            wait_until_learnt(*daemons)
            assert [peer_of(daemon)["mac"] for daemon in daemons] == [e2e.mac_of(1), e2e.mac_of(0)]
            assert e2e.both_ways(directory, *daemons, 1) > 0


@contextlib.contextmanager
def waiting_endpoint(address, wait_s):
    """An endpoint that waits, at a switch that assigns this address at both ports, if any."""
    with e2e.work_directory() as directory:
        config = switched.switch_config(directory, 2, "udp4")
        (assigning(address) if address else with_lldp)(config)
        endpoint = switched.with_peers(switched.endpoint_config(directory, [0], "udp4"), [0, 1], "udp4")
        taking(endpoint, wait_s)
        daemon = e2e.Daemon(directory, endpoint)
        with e2e.daemons(switched.Switch(directory, config)):
            daemon.launch()
            try:
                yield daemon
            finally:
                daemon.kill()


@pytest.mark.parametrize("address, why", [
    (None, "its frames have none"),
    ({"ip": "2001:db8::5", "prefix": 64}, "refused 2001:db8::5/64: family"),
    (assigned(1), f"refused {e2e.ip_of(1)}/16: taken"),
])
def test_start_without_a_good_address_fails_with_the_cause(address, why):
    with waiting_endpoint(address, 4) as daemon:
        assert daemon.wait(e2e.START_S) == 5, daemon.report()
        assert f"port p0: the neighbour assigned no address within 4 s ({why})" in daemon.stderr(), daemon.report()
        assert "ready name=" not in daemon.stderr()


def test_waiting_endpoint_ends_by_a_signal():
    with waiting_endpoint(None, 3600) as daemon:
        daemon.wait_for_line("waiting for an address port=p0")
        assert daemon.terminate() == 0, daemon.report()
        assert "ended while waiting for an address" in daemon.stderr()


def flood(socket, port, count=3000):
    """Sends LLDP frames through the management packets of a port, as fast as these are taken."""
    sent = 0
    bodies = [HEAD + body.ljust(46, b"\0") for body in MALFORMED.values()]
    bodies.append(HEAD + bytes(46))
    with Packets(socket, port=port, receive=False) as packets:
        end = time.monotonic() + e2e.START_S
        while sent < count and time.monotonic() < end:
            if packets.send(bodies[sent % len(bodies)]) == 0:
                sent += 1
            else:
                time.sleep(0.002)
    assert sent == count


def check_flood(daemon, port, before, sender):
    """All frames were counted, only a few were read, and the neighbour is still known."""
    def grown():
        now = counters(daemon, port)
        return {name: now[name] - before[name] for name in now if now[name] > before[name]}

    def settled():
        first = grown()
        time.sleep(0.1)
        return first == grown() and first

    seen = e2e.wait_until(settled, e2e.START_S, "the flood to end")
    assert seen.get("lldp_rx_drop_rate_total", 0) > 0, seen
    read = sum(seen.get(name, 0) for name in MALFORMED)
    assert 0 < read <= sum(seen.values()) / 2, seen
    row, = [row for row in neighbours(daemon) if row["port"] == port]
    assert row["system"] == sender


def test_flood_of_ill_formed_frames_harms_no_endpoint():
    with pair() as (left, right):
        wait_for_neighbours(left, right)
        before = counters(right, "p0")
        flood(left.socket, "p0")
        check_flood(right, "p0", before, left.name)
        assert left.running() and right.running()
        e2e.suedectl(right, "peers", "ping", "0")


def test_flood_of_ill_formed_frames_harms_no_switch():
    with switched.fabric(2, switch=with_lldp, endpoint=with_lldp) as (directory, the_switch, daemon):
        wait_for_neighbours(the_switch, daemon, count=2)
        of = {row["port_id"]: row["port"] for row in neighbours(the_switch)}
        port = daemon.config["ports"][0]["name"]
        before = counters(the_switch, of[port])
        flood(daemon.socket, port)
        check_flood(the_switch, of[port], before, daemon.name)
        switched.run_workload(directory, daemon, 2, "all-to-all", "--bytes", 20000, "--iterations", 2)


class Lldpd:
    """Debian's lldpd for one interface of a namespace, with a socket of its own."""

    def __init__(self, prefix, interface):
        self._prefix = prefix
        self._directory = pathlib.Path(tempfile.mkdtemp(prefix="lldpd-", dir="/tmp"))
        self._directory.chmod(0o755)
        self.socket = self._directory / "s"
        self._log = (self._directory / "log").open("w")
        self._process = subprocess.Popen(
            [*prefix, "lldpd", "-d", "-u", str(self.socket), "-O", str(self._directory / "none.conf"), "-I", interface,
             "-C", interface], stdout=self._log, stderr=subprocess.STDOUT)

    def __enter__(self):
        e2e.wait_until(lambda: self.socket.exists() and self.ask("show", "configuration"),
                       e2e.START_S, lambda: (self._directory / "log").read_text())
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait(30)
        self._log.close()
        shutil.rmtree(self._directory)

    def ask(self, *words):
        """The answer as JSON; {} as long as there is none."""
        done = subprocess.run([*self._prefix, "lldpcli", "-u", str(self.socket), "-f", "json0", *words],
                              capture_output=True, text=True, timeout=60, check=False)
        return json.loads(done.stdout) if done.returncode == 0 and done.stdout.strip() else {}

    def update(self):
        """Sends a frame now."""
        subprocess.run([*self._prefix, "lldpcli", "-u", str(self.socket), "update"], capture_output=True, timeout=60,
                       check=True)

    def neighbours(self):
        return [row for one in self.ask("show", "neighbors", "details").get("lldp", [])
                for row in one.get("interface", [])]


def test_lldpd_is_a_neighbour(as_root):
    del as_root
    if not shutil.which("lldpd"):
        pytest.skip("takes lldpd")
    with links.namespaces(4000) as (ends, _), e2e.work_directory() as directory:
        (near, interface), (far, far_interface) = ends
        config = with_lldp(e2e.endpoint_config(directory, "left", links.af_packet(interface, framesz=4096)))
        config["ports"][0]["mtu_bytes"] = 3000
        with Lldpd(far, far_interface) as lldpd, \
             e2e.daemons(e2e.Daemon(directory, config, prefix=near)) as (daemon,):
            daemon.wait_for_link()
            # lldpd counts the endpoint's frames, and answers.
            rows = e2e.wait_until(lldpd.neighbours, e2e.START_S, daemon.report)
            text = json.dumps(rows)
            chassis, = rows[0]["chassis"]
            assert chassis["id"][0] == {"type": "mac", "value": e2e.mac_of(0)}
            assert chassis["name"][0]["value"] == daemon.name
            assert chassis["descr"][0]["value"].startswith("suede ")
            port, = rows[0]["port"]
            assert port["id"][0] == {"type": "ifname", "value": "p0"}
            assert port["descr"][0]["value"] == "p0 (net_af_packet)"
            assert port["mfs"][0]["value"] == "3018", text
            assert port["ttl"][0]["value"] == "121"
            lldpd.update()
            wait_for_neighbours(daemon)
            row, = neighbours(daemon)
            assert row["chassis"] == row["port_id"] == e2e.mac_of(1)
            assert row["port_description"] == far_interface
            assert (row["llr"], row["pfc_classes"], row["max_frame_bytes"]) == (None, None, None)
            assert "Linux" in row["system_description"]
            assert differences(daemon, "p0") == {}
            assert counters(daemon, "p0")["lldp_rx_tlv_unknown_total"] > 0
            # The last frame ends it at once, long before its TTL.
            daemon.terminate()
            e2e.wait_until(lambda: not lldpd.neighbours(), 60, "lldpd to forget the endpoint")


def test_lldpd_on_tap_devices_speaks_for_the_ports(may_tap):  # noqa: F811
    """docs/lldp.md, "Where lldpd already runs on the TAP device"."""
    del may_tap
    if not shutil.which("lldpd"):
        pytest.skip("takes lldpd")
    with tap_pair() as (_, (left, near), (right, far)):
        with Lldpd(near, TAP) as here, Lldpd(far, TAP) as there:
            there.update()
            row, = e2e.wait_until(here.neighbours, e2e.START_S, left.report)
            assert row["chassis"][0]["id"][0]["value"] == e2e.mac_of(1)
            here.update()
            row, = e2e.wait_until(there.neighbours, e2e.START_S, right.report)
            assert row["chassis"][0]["id"][0]["value"] == e2e.mac_of(0)
        assert listed(left) == listed(right) == {"neighbours": [], "ports": []}
