# SPDX-License-Identifier: Apache-2.0
"""suedectl why and trace: the cause is named while it holds, and single PDUs are followed (docs/why.md, docs/trace.md)."""

import contextlib
import json
import subprocess
import time

import pytest

import e2e
from client import Client


def why(daemon, *arguments):
    """The object, and {cause: percent} of the busiest flow."""
    argv = [str(a) for a in (e2e.SUEDECTL, "-j", "--socket", daemon.management, "why", *arguments)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=e2e.START_S, check=True)
    document = json.loads(done.stdout)
    rows = document["waits"]
    causes = {c["cause"]: c["percent"] for c in rows[0]["causes"]} if rows else {}
    return document, causes


def findings(document):
    return [f"{row['of']}: {row['finding']}" for row in document["conclusions"]]


@pytest.fixture(name="pair")
def fixture_pair():
    with e2e.memif_pair() as (directory, left, right):
        for daemon in (left, right):
            daemon.wait_for_link()
        yield directory, left, right


def test_idle_client_slow_reader_and_dead_peer(pair):
    _, left, right = pair
    document, _ = why(left, "--samples", 3)
    assert findings(document) == ["all commands: no client is attached"]
    with Client(left.socket):
        document, _ = why(left, "1", "--samples", 3)
        assert "nothing waits" in findings(document)[0] and document["queues"], document

    with Client(left.socket) as sender, Client(right.socket) as reader:
        reader.claim(1)  # and never reads
        tag = 0
        end = time.monotonic() + e2e.START_S
        document, causes, sent = {}, {}, 1
        while sent or causes != {"credit": 100}:  # no room at the sender and none at the reader: nothing moves any more
            assert time.monotonic() < end, document
            document, causes = why(left, "1", "--samples", 10, "--with", right.management)
            sent = 0
            while sender.send(1, 0, tag, bytes(256)) == 0:
                tag, sent = tag + 1, sent + 1
        assert document["waits"][0]["queued_us"] > 0 and document["waits"][0]["tx_pdus"] == 0, document
        assert findings(document)[0].startswith("XPU 0.0 to XPU 1, VC 0: credit in 100 % of the samples: the peer's")
        assert any(" reads there more slowly than commands arrive" in text for text in findings(document)), document
        assert document["far_readers"][0]["filled_percent"] >= 50, document
        text = e2e.suedectl(left, "why", "1", "--samples", 3)
        assert "remedy: the reader at the peer" in text, text
        assert "reads here more slowly" in e2e.suedectl(right, "why", "--samples", 3)

        right.kill()
        e2e.wait_until(lambda: why(left, "1", "--samples", 3)[1].keys() & {"unreachable", "no_link"},
                       e2e.START_S, "the dead peer as the cause")


def test_a_trace_follows_pdus_from_ring_to_reader(pair):
    _, left, right = pair
    for daemon, peer, count in ((left, 1, 4), (right, 0, 64)):  # a duplicate has a row, too
        assert e2e.managed(daemon, "trace", "add", "--peer", peer, "--count", count)["instances"] == 1
    with Client(left.socket) as sender, Client(right.socket) as reader:
        reader.claim(1)
        for tag in range(6):
            assert sender.send(1, 0, tag, bytes(64)) == 0
            e2e.wait_until(lambda: reader.receive(0), e2e.START_S, "the command")

        def ways():
            trace = e2e.managed(left, "trace", "show", "--with", right.management)
            return len(trace["ways"]) == 4 and all(w["program_us"] is not None for w in trace["ways"]) and trace
        trace = e2e.wait_until(ways, e2e.START_S, "four PDUs that were read")
        assert [row["state"] for row in trace["rows"] if row["direction"] == "tx"] == ["acked"] * 4, trace
        for way in trace["ways"]:
            assert 0 <= way["network_us"] <= way["ring_to_ring_us"], way
            assert way["sender_us"] + way["network_us"] + way["receiver_us"] == pytest.approx(way["ring_to_ring_us"]), way
    text = e2e.suedectl(left, "trace", "show")
    assert "acked_us" in text and max(map(len, text.splitlines())) <= 100, text
    assert e2e.managed(left, "trace", "clear")["instances"] == 1
    assert e2e.suedectl(left, "trace", "show").startswith("no PDU was traced")


def test_suede_perf_ends_with_it(pair):
    directory, left, right = pair
    with contextlib.closing(e2e._Closing(e2e.perf_server(directory, right, "0"))):
        result = directory / "why.json"
        with e2e.perf(directory, "load", left.socket, "--destinations", 1, "--vcs", 0, "--duration", 1,
                      "--why", left.management, "--json", result) as load:
            load.expect(0, e2e.TRAFFIC_S)
    document = e2e.results_of(result)["why"]
    assert document["samples"] > 0 and document["waits"][0]["peer"] == 1, document
    lines = [line for line in load.stdout().splitlines() if line.startswith("why: ")]
    assert any(line.startswith("why: XPU 0.0 to XPU 1, VC 0: ") for line in lines), load.report()
    assert any("idle: sleep" in line for line in lines), load.report()
    assert any(line.startswith("why: latency: endpoints and network") for line in lines), load.report()
    assert e2e.managed(left, "trace", "list")["rows"] == [], "suede-perf leaves none"
    with e2e.perf(directory, "refused", left.socket, "--destinations", 1, "--why", "/nobody") as refused:
        refused.expect(4, e2e.START_S)
    assert "give --why off" in refused.stderr()
