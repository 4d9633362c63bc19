# SPDX-License-Identifier: Apache-2.0
"""Selective repair between instances over a switch that loses and reorders frames (docs/repair.md)."""

import pytest

import switched


@pytest.mark.parametrize("ordering", ["strict", "unordered"])
def test_what_is_lost_is_sent_again(ordering):
    def selective(config):
        config["transport"] = {"recovery": "selective"}
        for instance in config["instances"]:
            instance["ordering"] = ordering

    def lossy(config):
        config["seed"] = 7
        for port in config["ports"]:
            port["impair_in"] = {"loss": 0.01}
            port["impair_out"] = {"reorder": 0.02}

    with switched.fabric(2, switch=lossy, endpoint=selective) as (directory, _, daemon):
        order = [] if ordering == "strict" else ["--unordered"]
        switched.run_workload(directory, daemon, 2, "all-to-all", "--bytes", 2000000, "--iterations", 5, *order)
        counters = daemon.counters()
        assert counters["rx_early_pdus_total"] > 0 and counters["rx_repairs_total"] > 0, counters
        assert counters["tx_retransmissions_total"] > 0 and counters["rx_nacks_total"] == 0, counters
        assert counters["rx_drop_ahead_total"] == 0, counters
