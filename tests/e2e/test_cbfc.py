# SPDX-License-Identifier: Apache-2.0
"""Credit-based flow control between endpoints and a suede-switch (docs/link.md)."""

import contextlib
import json
import subprocess

import pytest

import e2e
import switched
from test_llr import LLR, links_of, total, wait_for_sessions
from test_metrics import scrape

TX_STATES = ["off", "init", "advance", "replay", "flush"]
RX_STATES = ["off", "send_acks", "send_nack", "nack_sent"]
# Processes share CPUs here, and do not answer in microseconds.
CBFC = {"cc_interval_us": 20000, "cf_wait_us": 100}


def credit(config):
    config["cbfc"] = CBFC
    config["llr"] = LLR
    config["management"]["http_address"] = "127.0.0.1:0"
    for port in config["ports"]:
        port["cbfc"] = "on"


def credit_and_retry(config):
    credit(config)
    for port in config["ports"]:
        port["llr"] = "on"


def wait_for_credit(*sockets):
    e2e.wait_until(lambda: all(link["cbfc"] == "on" and all(row["free"] > 0 for row in link["credits"])
                               for socket in sockets for link in links_of(socket)),
                   e2e.START_S, "credit on all links")


def _events(socket):
    argv = [str(a) for a in (e2e.SUEDECTL, "-j", "--socket", socket, "events", "list")]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=e2e.START_S, check=True)
    return [event["kind"] for event in json.loads(done.stdout)["events"]]


def check_page(daemon, prefix):
    """Metrics of links are the figures of `links list`, which go on meanwhile."""
    def same():
        before, page, after = links_of(daemon.management), scrape(daemon), links_of(daemon.management)
        shown = {(name, labels["port"], labels.get("vc")): value for name, labels, value in page
                 if "port" in labels}
        for old, new in zip(before, after):
            def value(name, vc=None):
                return shown.pop((prefix + name, old["port"], vc))
            differ = [name for name, count in old["counters"].items()
                      if not count <= value(name) <= new["counters"][name]]
            gauges = {"link_session_up": old["session"] == "up", "cbfc_on": old["cbfc"] == "on",
                      "llr_held_frames": old["held_frames"], "llr_held_bytes": old["held_bytes"],
                      "llr_tx_state": TX_STATES.index(old["llr_tx"]),
                      "llr_rx_state": RX_STATES.index(old["llr_rx"])}
            differ += [name for name, count in gauges.items() if value(name) != count]
            for row in old["credits"]:
                differ += [(name, row) for name in ("limit", "free", "granted", "held")
                           if value(f"cbfc_{name}_credits", str(row["vc"])) != row[name]]
            if differ:
                return False
        rest = [key for key in shown if key[0].removeprefix(prefix).startswith(("llr_", "cbfc_"))]
        assert not rest, rest
        return True
    e2e.wait_until(same, e2e.START_S, "figures of links that are the same in all sources")


@pytest.mark.parametrize("change", [credit, credit_and_retry])
def test_traffic_goes_on_credit_and_the_switch_drops_nothing(change):
    with switched.fabric(2, switch=change, endpoint=change) as (directory, switch, daemon):
        wait_for_credit(switch.management, daemon.management)
        if change is credit_and_retry:
            wait_for_sessions(switch.management, daemon.management)
        switched.run_workload(directory, daemon, 2, "all-to-all", "--bytes", 1000000,
                              "--iterations", 5)
        e2e.wait_until(lambda: all(row["held"] == 0 and row["free"] == row["limit"]
                                   for link in links_of(daemon.management) for row in link["credits"]),
                       e2e.START_S, "credit given back")
        ends = links_of(switch.management) + links_of(daemon.management)
        assert len(ends) == 4, ends
        for link in ends:
            assert [row["vc"] for row in link["credits"]] == list(range(8)), link
            counters = link["counters"]
            assert counters["cbfc_tx_cf_updates_total"] > 0, link
            assert counters["cbfc_tx_cc_updates_total"] > 0, link
            assert counters["cbfc_rx_exceeded_total"] == 0, link
            assert counters["cbfc_rx_impossible_total"] == 0, link
            assert counters["cbfc_refused_total"] == 0, link
        numbered = total(ends, "llr_tx_frames_total")
        assert (numbered > 0) == (change is credit_and_retry), ends
        check_page(daemon, "")
        check_page(switch, "switch_")
        for socket in (switch.management, daemon.management):
            assert _events(socket).count("link_credit_on") == 2, _events(socket)
        drops = {name: value for name, value in switch.counters().items() if "class_drop_" in name}
        assert drops and not any(drops.values()), drops
        assert daemon.terminate() == 0, daemon.report()
        assert switch.terminate() == 0, switch.report()


def test_one_vc_with_a_slow_receiver_leaves_the_other_its_way():
    with switched.fabric(2, switch=credit, endpoint=credit) as (directory, switch, daemon):
        wait_for_credit(switch.management, daemon.management)
        jsons = [directory / f"vc{vc}.json" for vc in (0, 1)]
        slow = e2e.perf_server(directory, daemon, "0", "--xpuid", 1, "--take_rate", 2000)
        fast = e2e.perf_server(directory, daemon, "1", "--xpuid", 1)
        with contextlib.closing(e2e._Closing(slow)), contextlib.closing(e2e._Closing(fast)):
            with contextlib.ExitStack() as stack:
                clients = [stack.enter_context(e2e.perf(
                    directory, f"client-{vc}", daemon.socket, "--xpuid", 0, "--destinations", 1,
                    "--vcs", vc, "--duration", 3, "--check", "--drain", 60, "--json", jsons[vc]))
                    for vc in (0, 1)]
                e2e.end_of_load(clients, (slow, fast))
        delivered = [e2e.check_results(e2e.results_of(file)) for file in jsons]
        assert delivered[1] > delivered[0], delivered
        counters = switch.counters()
        assert not any(n for name, n in counters.items() if name.startswith("class_drop_")), counters
        ends = links_of(switch.management) + links_of(daemon.management)
        assert total(ends, "cbfc_rx_exceeded_total") == total(ends, "cbfc_refused_total") == 0, ends
        assert daemon.terminate() == 0, daemon.report()
        assert switch.terminate() == 0, switch.report()


def test_an_endpoint_without_it_is_served_as_ever():
    with switched.fabric(2, switch=credit) as (directory, switch, daemon):
        switched.run_workload(directory, daemon, 2, "all-to-all", "--iterations", 5)
        assert all(link["cbfc"] == "off" and link["credits"] == []
                   for link in links_of(switch.management))
        assert links_of(daemon.management) == []
        assert daemon.terminate() == 0, daemon.report()
        assert switch.terminate() == 0, switch.report()
