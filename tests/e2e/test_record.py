# SPDX-License-Identifier: Apache-2.0
"""Recordings of the load (docs/record.md): their sums are the counters', and readers disturb nobody."""

import contextlib
import csv
import io
import re
import signal
import subprocess
import time

import pytest

import e2e


def rows_of(text):
    return list(csv.DictReader(io.StringIO("".join(line for line in text.splitlines(True) if not line.startswith("#")))))


def samples_in(file):
    """A sample has a time, and as many rows as there is load."""
    return len({line.partition(",")[0] for line in file.read_text().splitlines()})


def total(rows, column):
    return sum(int(row[column]) for row in rows if row[column] != "")


@contextlib.contextmanager
def recorded(directory, daemon, *arguments):
    """Records the daemon for the time of the block; yields a function that ends it and returns its rows and text."""
    file = directory / f"{daemon.name}.csv"
    with e2e.Process(directory, "record", [e2e.SUEDECTL, "--socket", daemon.management, "record", "--output", file,
                                           *arguments]) as process:
        e2e.wait_until(lambda: not process.running() or (file.exists() and file.read_text().count("\n") > 5), e2e.START_S,
                       "the first samples")
        assert process.running(), process.report()

        def end():
            now = time.time_ns()
            e2e.wait_until(lambda: int(file.read_text().splitlines()[-1].split(",")[0]) > now, e2e.START_S, "a later sample")
            process.signal(signal.SIGINT)
            process.wait(e2e.START_S)
            text = file.read_text()
            return rows_of(text), text
        yield end


def check_sums(rows, before, after, names):
    for column, counter in names.items():
        grown = after[counter] - before[counter]
        assert total(rows, column) == grown, (column, total(rows, column), grown)


SENT = {"tx_pdus": "tx_pdus_total", "tx_bytes": "tx_command_bytes_total", "retransmissions": "tx_retransmissions_total"}
RECEIVED = {"rx_pdus": "rx_pdus_total", "rx_bytes": "rx_command_bytes_total", "ecn_marked": "rx_ecn_marked_total"}


@pytest.mark.parametrize("scope", ("vc", "port"))
def test_sums_are_those_of_the_counters(scope):
    with e2e.memif_pair({"transport": {"psn_scope": scope}}) as (directory, left, right):
        with recorded(directory, left, "--interval", "1ms") as end_left, recorded(directory, right) as end_right:
            before = [daemon.counters() for daemon in (left, right)]
            server = e2e.perf_server(directory, right, "0-3")
            with contextlib.closing(e2e._Closing(server)):
                with e2e.perf(directory, "client", left.socket, "--destinations", 1, "--vcs", "0-3", "--size", 200,
                              "--count", 40000) as run:
                    run.expect(0, e2e.TRAFFIC_S)
            after = [daemon.counters() for daemon in (left, right)]
            (sent, text), (received, _) = end_left(), end_right()
        check_sums(sent, before[0], after[0], SENT)
        check_sums(received, before[1], after[1], RECEIVED)
        assert total(sent, "tx_bytes") > 200 * 40000
        vcs = {row["vc"] for row in sent if row["tx_pdus"] not in ("", "0")}
        assert vcs == ({"0", "1", "2", "3"} if scope == "vc" else {""}), vcs
        # Bytes in flight are seen, and are gone at the end.
        inflight = [int(row["inflight_bytes"]) for row in sent if row["inflight_bytes"] != ""]
        assert max(inflight) > 0 and inflight[-1] == 0
        # An instance's row is in each sample, with the time of the others.
        times = {row["time_ns"] for row in sent}
        assert len(times) > 50 and times == {row["time_ns"] for row in sent if row["plane"] == row["vc"] == ""}, text[:500]
        for daemon in (left, right):
            assert daemon.terminate() == 0, daemon.report()


def test_a_stall_is_seen():
    """The receiver takes few commands, so its ring fills, credit runs out, and the sender's queues and rings fill."""
    with e2e.memif_pair() as (directory, left, right):
        with recorded(directory, left) as end_left, recorded(directory, right) as end_right:
            server = e2e.perf_server(directory, right, "0", "--take_rate", 500)
            with contextlib.closing(e2e._Closing(server)):
                with e2e.perf(directory, "client", left.socket, "--destinations", 1, "--size", 256, "--duration", 1,
                              "--warmup", 0, "--drain", 60) as run:
                    run.expect(0, e2e.TRAFFIC_S)
            (sent, _), (received, _) = end_left(), end_right()
        full = max(int(row["rx_ring_lines"]) for row in received if row["rx_ring_lines"] != "")
        queued = max(int(row["queued_octets"]) for row in sent if row["queued_octets"] != "")
        assert full > 100 and queued > 0 and total(sent, "waits_credit") > 0, (full, queued)
        for daemon in (left, right):
            assert daemon.terminate() == 0, daemon.report()


def test_a_reader_that_stops_loses_samples_and_harms_nobody():
    with e2e.memif_pair() as (directory, left, right):
        with recorded(directory, left, "--interval", "200us") as end, recorded(directory, right) as end_right:
            before = left.counters()
            file = directory / "slow.csv"
            with e2e.Process(directory, "slow", [e2e.SUEDECTL, "--socket", left.management, "record", "--interval", "200us",
                                                 "--output", file]) as slow:
                e2e.wait_until(lambda: file.exists() and file.read_text().count("\n") > 5, e2e.START_S, "the first samples")
                slow.stop()
                server = e2e.perf_server(directory, right, "0")
                with contextlib.closing(e2e._Closing(server)):
                    with e2e.perf(directory, "client", left.socket, "--destinations", 1, "--duration", 2) as run:
                        run.expect(0, e2e.TRAFFIC_S)
                kept = 16384
                e2e.wait_until(lambda: samples_in(directory / f"{left.name}.csv") > 2 * kept, 120, "more samples than are kept")
                slow.signal(signal.SIGCONT)
                lost = re.compile(r"^# (\d+) samples lost$", re.M)
                e2e.wait_until(lambda: max(map(int, lost.findall(file.read_text())), default=0) > 1000, e2e.START_S,
                               "the line of the samples that the slow reader has lost")
            after = left.counters()
            rows, _ = end()
            end_right()
        check_sums(rows, before, after, SENT)
        for daemon in (left, right):
            assert daemon.terminate() == 0, daemon.report()


def test_the_recording_ends_behind_its_last_reader():
    with e2e.memif_pair() as (directory, left, _):
        first = e2e.suedectl(left, "record", "--duration", "300ms")
        assert first.startswith("time_ns,xpu,instance,plane,vc,tx_pdus,") and first.count("\n") > 50
        told = e2e.suedectl(left, "record", "--interval", "2ms", "--duration", "300ms", code=1)
        assert "another reader records every 1000 us; use that interval" in told, told
        deadline = time.monotonic() + 30
        while True:  # 5 s
            done = subprocess.run([e2e.SUEDECTL, "--socket", left.management, "record", "--interval", "2ms", "--duration",
                                   "300ms"], capture_output=True, text=True, timeout=e2e.START_S, check=False)
            if done.returncode == 0:
                break
            assert time.monotonic() < deadline, done.stderr
            time.sleep(0.5)
        told = e2e.suedectl(left, "record", "--interval", "1", code=2)
        assert "--interval 1 is no time from 100 us to 10 s; use a number and us, ms or s, as in 1ms" in told, told
        assert left.terminate() == 0, left.report()
