# SPDX-License-Identifier: Apache-2.0
"""Endpoints through a suede-switch."""

import random
import struct
import subprocess

import pytest

import e2e
import switched
from encaps import ALL


def check_drained(switch):
    """It ends well, and what came in has gone out, or was dropped under a name."""
    assert switch.terminate() == 0, switch.report()
    assert "drain incomplete" not in switch.stderr(), switch.report()
    return switch.counters()


@pytest.mark.parametrize("encap", ALL)
def test_four_xpus_exchange_everything(encap):
    with switched.fabric(4, encap) as (directory, switch, daemon):
        workload = switched.run_workload(directory, daemon, 4, "all-to-all", "--bytes", 20000,
                                         "--iterations", 5)
        assert workload["received"]["flows"] == 12
        assert workload["received"]["data_bytes"] == 5 * 12 * 20000
        assert daemon.terminate() == 0, daemon.report()
        counters = check_drained(switch)
        assert counters["rx_frames_total"] > 12
        assert counters["rx_drop_runt_total"] == counters["class_drop_tail_total"] == 0
        if switched.FORWARDING[encap] in ("afh2", "esun"):
            assert counters["rx_learnt_total"] == 0
        else:
            assert counters["rx_learnt_total"] >= 4


def test_two_lcores_keep_the_order():
    """A PDU that comes before its predecessor is dropped, and counted: there are none where nothing is lost."""
    def small_windows(config):
        config["transport"] = {"window_pdus": 32, "psn_scope": "vc"}

    with switched.fabric(4, lcores=2, endpoint=small_windows) as (directory, switch, daemon):
        workload = switched.run_workload(directory, daemon, 4, "all-to-all", "--bytes", 200000,
                                         "--iterations", 20, "--vcs", "0-3")
        assert workload["received"]["misordered"] == 0
        counters = switch.counters()
        assert counters["class_drop_tail_total"] == 0 and counters["tx_frames_total"] > 5000, counters
        assert daemon.counters()["rx_drop_ahead_total"] == 0
        check_drained(switch)


def test_impairments_of_the_configuration():
    def impair(config):
        config["seed"] = 7
        for port in config["ports"]:
            port["impair_in"] = {"loss": 0.01, "duplicate": 0.01, "flip": 0.01, "delay_us": 50,
                                 "jitter_us": 20}
            port["impair_out"] = {"reorder": 0.02, "bad_fcs": 0.01, "burst_begins": 0.002,
                                  "burst_ends": 0.2}

    with switched.fabric(3, switch=impair) as (directory, switch, daemon):
        switched.run_workload(directory, daemon, 3, "all-to-all", "--bytes", 200000,
                              "--iterations", 5)
        counters = check_drained(switch)
        for name in ("impair_loss_total", "impair_burst_loss_total", "impair_bad_fcs_total",
                     "impair_flipped_total", "impair_duplicated_total", "impair_reordered_total"):
            assert counters[name] > 0, (name, counters)
        counters = daemon.counters()
        assert counters["rx_drop_rcrc_total"] > 0 and counters["tx_retransmissions_total"] > 0


@pytest.mark.parametrize("encap", ["udp4", "afh2", "esun"])
def test_rewritten_fields_leave_frames_good(encap):
    def rewrite(config):
        for port in config["ports"]:
            port["impair_in"] = {"dscp": 40, "ecn": 1}
            port["impair_out"] = {"hop_limit": 3}

    with switched.fabric(2, encap, switch=rewrite) as (directory, switch, daemon):
        switched.run_workload(directory, daemon, 2, "all-to-all", "--iterations", 3)
        counters = switch.counters()
        # Each frame is changed on its way in, and on its way out.
        assert counters["impair_rewritten_total"] == counters["rx_frames_total"] + counters["tx_frames_total"] > 12
        sent = {one["of"]: one["counters"]["class_frames_total"]
                for one in switched.ctl(switch, "counters", "get", "--scope", "class")["sets"]}
        assert sent["s0.5"] > 0 and all(frames == 0 for of, frames in sent.items() if not of.endswith(".5")), sent
        switched.ctl(switch, "impair", "set", "all", "--dscp", "keep", "--ecn", "keep", "--hop_limit", "keep")
        assert switched.ctl(switch, "impair", "list", "--impaired_only")["impairments"] == []
        assert daemon.counters()["rx_drop_rcrc_total"] == 0
        assert daemon.terminate() == 0, daemon.report()
        check_drained(switch)


def test_an_unknown_destination_is_dropped_where_the_configuration_says_so():
    def closed(config):
        config["unknown"] = "drop"
        config["learning"] = "off"
        config["addresses"] = [{"mac": e2e.mac_of(i), "port": f"s{i}"} for i in range(2)]

    with switched.fabric(3, switch=closed) as (directory, switch, daemon):
        result = directory / "two.json"
        with e2e.perf(directory, "two", daemon.socket, "--mode", "workload", "--ranks", "0,1",
                      "--own", "0,1", "--check", "--json", result, "--iterations", 3) as run:
            run.expect(0, e2e.TRAFFIC_S)
        with e2e.perf(directory, "third", daemon.socket, "--mode", "workload", "--ranks", "0,2",
                      "--own", "0,2", "--connect_timeout", 2) as run:
            run.expect(4, e2e.TRAFFIC_S)
        counters = check_drained(switch)
        assert counters["rx_drop_unknown_destination_total"] > 0
        assert counters["rx_learnt_total"] == 0


def test_the_management_socket():
    with switched.fabric(3) as (directory, switch, daemon):
        ports = switched.ctl(switch, "ports", "list")["ports"]
        assert [port["name"] for port in ports] == ["s0", "s1", "s2"], ports
        assert all(port["link_up"] for port in ports), ports
        switched.run_workload(directory, daemon, 3, "all-to-all", "--iterations", 3)
        assert switched.ctl(switch, "queues", "list")
        # A fault that comes and goes while traffic runs.
        switched.ctl(switch, "impair", "set", "s0", "--direction", "in", "--loss", 0.05)
        switched.run_workload(directory, daemon, 3, "all-reduce-ring", "--iterations", 20)
        assert switch.counters()["impair_loss_total"] > 0
        switched.ctl(switch, "impair", "clear", "s0", "--direction", "in")
        before = switch.counters()["impair_loss_total"]
        switched.run_workload(directory, daemon, 3, "permutation", "--iterations", 20)
        assert switch.counters()["impair_loss_total"] == before
        check_drained(switch)


def test_a_daemon_that_dies_and_comes_back():
    with e2e.work_directory() as directory:
        config = switched.switch_config(directory, 2, "udp4")
        halves = [switched.with_peers(switched.endpoint_config(directory, [xpu], "udp4"), [1 - xpu],
                                      "udp4") for xpu in range(2)]
        arguments = ("--mode", "workload", "--ranks", "0,1", "--check", "--connect_timeout", 60,
                     "--iterations", 5)
        with e2e.daemons(switched.Switch(directory, config), e2e.Daemon(directory, halves[0])) as (switch, left):
            for attempt in range(2):
                with e2e.Daemon(directory, halves[1]) as right:
                    switch.wait_for_link()
                    with e2e.perf(directory, f"l{attempt}", left.socket, "--xpuid", 0,
                                  *arguments) as one, \
                            e2e.perf(directory, f"r{attempt}", right.socket, "--xpuid", 1,
                                     *arguments) as other:
                        one.expect(0, e2e.TRAFFIC_S)
                        other.expect(0, e2e.TRAFFIC_S)
                    right.kill()
            check_drained(switch)


def mutated_frames(seed, count):
    """Frames of UDP with some bytes changed, one of them in the destination, or cut short, or of noise."""
    draw = random.Random(seed)
    good = bytes.fromhex("020000000010" "020000000011" "0800" "45000054000000004011" "0000"
                         "c6120002" "c6120001" "c0000d05" "00400000") + bytes(60)
    for _ in range(count):
        frame = bytearray(good)
        for _ in range(draw.randrange(1, 8)):
            frame[draw.randrange(len(frame))] = draw.randrange(256)
        frame[draw.randrange(1, 5)] ^= 1 << draw.randrange(8)  # never one of the stations
        kind = draw.randrange(4)
        if kind == 0:
            frame = frame[:draw.randrange(1, len(frame))]
        elif kind == 1:
            frame = bytearray(draw.randbytes(draw.randrange(1, 1500)))
            frame[:1] = b"\x52"  # a station that nobody has
        yield bytes(frame)


def write_pcap(path, frames):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for frame in frames:
            file.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)


def test_mutated_frames_at_one_port_disturb_nobody(directory):
    """A device that hands over mutated frames as fast as they are taken, again and again."""
    write_pcap(directory / "mutated.pcap", mutated_frames(1, 2000))

    def hostile(config):
        config.update(unknown="drop", learning="off")
        config["addresses"] = [{"mac": e2e.mac_of(i), "port": f"s{i}"} for i in range(3)]
        config["ports"].append({
            "name": "bad", "device": f"net_pcap9,rx_pcap={directory}/mutated.pcap,infinite_rx=1"})

    with switched.fabric(3, switch=hostile) as (work, switch, daemon):
        workload = switched.run_workload(work, daemon, 3, "all-to-all", "--bytes", 50000,
                                         "--iterations", 20)
        assert workload["received"]["misordered"] == 0
        counters = switch.counters()
        assert counters["bad.rx_frames_total"] > 100000, counters
        assert counters["bad.rx_drop_runt_total"] > 1000, counters
        assert counters["bad.rx_drop_unknown_destination_total"] > 10000, counters
        # Nothing of it has reached anybody, and no good frame was taken for one of them.
        assert daemon.counters()["rx_drop_rcrc_total"] == 0
        assert all(f"s{i}.rx_drop_unknown_destination_total" not in counters for i in range(3))
        assert switch.terminate() == 0, switch.report()


def test_a_wrong_configuration_names_line_key_and_mend(directory):
    path = directory / "switch.yaml"
    path.write_text("version: 1\nname: sw\nlcores: [{cpu: 0}]\nports:\n"
                    "  - {name: a, device: net_null0}\n  - {name: a, device: net_null1}\n")
    done = subprocess.run([str(switched.SWITCH), "--config", str(path), "--check_config"],
                          capture_output=True, text=True, timeout=e2e.START_S, check=False)
    assert done.returncode == 2
    assert f"{path}:6:12: ports[1].name: a is the name of ports[0] already; choose another" in done.stderr
