# SPDX-License-Identifier: Apache-2.0
"""Congestion control of endpoints behind a suede-switch: several senders into one (docs/congestion.md)."""

import http.client
import re

import e2e
import switched

XPUS = 4
GBPS = 1  # of the switch's ports: with one rate for all, each receiver's port is the bottleneck
TRIMMED_DSCP = 56
# Processes share CPUs here, and do not answer in microseconds.
CONGESTION = {"base_rtt_us": 200, "repeat_max_us": 20000}
STATES = {"rccc": {"idle", "granted", "asking", "speculating"}, "nscc": {"open", "paced"}}


def fabric_of(config):
    """ECN at a fifth of a BDP, a small buffer, and trimming of what finds no room there."""
    for port in config["ports"]:
        port["rate_gbps"] = GBPS
    config["buffer"] = {"bytes": 262144}
    config["classes"] = {"of": [{"class": c, "reserved_bytes": 4096,
                                 "ecn": {"least_bytes": 5000, "most_bytes": 50000}}
                                for c in range(1, 5)]}
    config["trim"] = {"dscps": [8, 16, 24, 32], "trimmed_dscp": TRIMMED_DSCP, "class": 7}


def endpoint_of(law):
    def change(config):
        config["congestion"] = CONGESTION
        for vc in config["classes"]["vc"]:
            vc["ecn"] = 2
        for port in config["ports"]:
            port |= {"bandwidth_gbps": GBPS, "trimmed_dscp": TRIMMED_DSCP}
        for instance in config["instances"]:
            instance["congestion"] = law
        config["management"]["http_address"] = "127.0.0.1:0"
    return change


def page(daemon, path):
    host, port = e2e.managed(daemon, "version")["http"].split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=e2e.START_S)
    try:
        connection.request("GET", path)
        return connection.getresponse().read().decode()
    finally:
        connection.close()


def run_incast(directory, daemon):
    switched.run_workload(directory, daemon, XPUS, "incast", "--bytes", 300000, "--iterations", 5)


def connections(daemon):
    found = e2e.managed(daemon, "connections", "list")["connections"]
    assert found
    return found


def expect_state_of(daemon, law):
    for connection in connections(daemon):
        assert connection["congestion"] in STATES[law], connection
        assert connection["congestion_window_octets"] is not None, connection
        assert connection["base_rtt_us"] > 0, connection
    for path, name in (("/metrics", "congestion_window_octets"),
                       ("/metrics?peers=1", "peer_congestion_window_octets")):
        assert re.search(rf"^suede_{name}\b.* [1-9]", page(daemon, path), re.MULTILINE), name


def orderly(switch, daemon):
    assert daemon.terminate() == 0, daemon.report()
    assert switch.terminate() == 0, switch.report()


def test_credit_that_is_granted_carries_several_senders():
    with switched.fabric(XPUS, switch=fabric_of, endpoint=endpoint_of("rccc")) as (
            directory, switch, daemon):
        run_incast(directory, daemon)
        expect_state_of(daemon, "rccc")
        counters = daemon.counters()
        assert counters["tx_congestion_requests_total"] > 0, counters
        assert counters["tx_congestion_grants_total"] > 0, counters
        assert counters["rx_congestion_grants_total"] > 0, counters
        assert counters["tx_waits_congestion_total"] > 0, counters
        orderly(switch, daemon)


def test_marks_and_trimmed_frames_carry_several_senders():
    with switched.fabric(XPUS, switch=fabric_of, endpoint=endpoint_of("nscc")) as (
            directory, switch, daemon):
        run_incast(directory, daemon)
        expect_state_of(daemon, "nscc")
        counters = daemon.counters()
        assert counters["rx_ecn_marked_total"] > 0, counters
        assert counters["tx_congestion_echoes_total"] > 0, counters
        assert counters["rx_congestion_echoes_total"] > 0, counters
        assert counters["tx_congestion_requests_total"] == 0, counters
        # Frames that the switch has trimmed are told from broken ones.
        assert counters["rx_drop_truncated_total"] == 0, counters
        orderly(switch, daemon)


def test_windows_alone_say_nothing_of_it():
    with switched.fabric(XPUS, switch=fabric_of, endpoint=endpoint_of("fixed")) as (
            directory, switch, daemon):
        run_incast(directory, daemon)
        for connection in connections(daemon):
            assert connection["congestion"] == "fixed", connection
            assert connection["congestion_window_octets"] is None, connection
            assert connection["base_rtt_us"] is None, connection
        counters = daemon.counters()
        for name in ("requests", "grants", "echoes"):
            assert counters[f"tx_congestion_{name}_total"] == 0, counters
        orderly(switch, daemon)
