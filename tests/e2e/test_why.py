# SPDX-License-Identifier: Apache-2.0
"""suedectl why: each cause is named while it holds, and the reader or client behind it (docs/why.md)."""

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
    with e2e.perf(directory, "refused", left.socket, "--destinations", 1, "--why", "/nobody") as refused:
        refused.expect(4, e2e.START_S)
    assert "give --why off" in refused.stderr()
