# SPDX-License-Identifier: Apache-2.0
"""suede-perf beside its load: peers, progress, the places of its results, its refusals."""

import json
import os
import pty
import re
import signal
import stat
import subprocess
import threading

import pytest

import e2e


def test_peers_send_and_serve_at_once():
    """All-to-all: one process at each end, content checked both ways."""
    with e2e.memif_pair() as (directory, left, right):
        files = [directory / "left.json", directory / "right.json"]
        arguments = ("--mode", "peer", "--vcs", "0,2", "--queues", 2, "--sizes", "8,200", "--check",
                     "--duration", 0.5, "--control", 16, "--drain", 30, "--connect_timeout", 30)
        with e2e.perf(directory, "peer-left", left.socket, "--destinations", 1, "--json", files[0],
                      *arguments) as one, \
             e2e.perf(directory, "peer-right", right.socket, "--destinations", 0, "--json",
                      files[1], *arguments) as other:
            one.expect(0, e2e.TRAFFIC_S)
            other.expect(0, e2e.TRAFFIC_S)
        documents = [e2e.results_of(file) for file in files]
        for document, peer in zip(documents, reversed(documents)):
            assert e2e.check_results(document) > 0
            assert document["config"]["mode"] == "peer"
            served = document["served"]
            assert served["received"] == sum(r["sent"] for r in peer["results"])
            assert served["wrong"] == served["lost"] == served["duplicated"] == 0
            assert {"served_wrong", "wrong"} <= {c["name"] for c in document["verdict"]["checks"]}


@pytest.mark.parametrize("served", [(), ("--lcore",)], ids=["client", "lcore"])
def test_memory_operations(served):
    """Puts, gets and atomics with their content checked, and what a client says without a server."""
    with e2e.memif_pair() as (directory, left, right):
        with e2e.perf(directory, "nobody", left.socket, "--mode", "get", "--destinations", 1,
                      "--connect_timeout", 0.5) as run:
            run.expect(4, e2e.START_S)
            assert "--reaction memory" in run.stderr(), run.stderr()
        results = directory / "server.json"
        with e2e.perf(directory, "server", right.socket, "--mode", "server", "--reaction", "memory",
                      *served, "--window", 1 << 20, "--vcs", "0,2", "--json", results) as server:
            e2e.wait_until(lambda: "serving memory operations" in server.stderr(), e2e.START_S,
                           "the server")
            for number, (sizes, load) in enumerate([
                    ("8,256,5000", ("--mode", "put", "--inflight", 16)),
                    ("8,256,5000", ("--mode", "get", "--inflight", 16, "--vcs", "0,2",
                                    "--unordered")),
                    ("4,8", ("--mode", "atomic", "--inflight", 4)),
                    ("8", ("--mode", "atomic", "--atomic", "swap")),
                    ("4,8", ("--mode", "atomic", "--atomic", "increment", "--inflight", 4))]):
                file = directory / f"{number}.json"
                with e2e.perf(directory, f"load{number}", left.socket, "--destinations", 1,
                              "--sizes", sizes, "--duration", 0.3, "--check", "--json", file,
                              *load) as run:
                    run.expect(0, e2e.TRAFFIC_S)
                document = e2e.results_of(file)
                assert len(document["results"]) == len(sizes.split(","))
                for result in document["results"]:
                    assert result["completed"] and result["delivered"] == result["sent"] > 0
                    assert result["lost"] == result["wrong"] == 0, result
                    latency = result["latency"]
                    assert latency["kind"] == "rtt"
                    assert 0 < latency["min_seconds"] <= latency["p50_seconds"]
            with e2e.perf(directory, "large", left.socket, "--mode", "put", "--destinations", 1,
                          "--size", 1 << 20) as run:
                run.expect(1, e2e.TRAFFIC_S)
                assert "--window" in run.stderr(), run.stderr()
            server.signal(signal.SIGTERM)
            server.expect(0, e2e.START_S)
            executed = right.counters()["memory_requests_total"]
        document = e2e.results_of(results)
        assert document["config"]["window_bytes"] == 1 << 20
        if served:
            assert executed > 100 and document["served"] is None
        else:
            assert executed == 0
            assert document["served"]["received"] > 100 and document["served"]["lost"] == 0


def test_axi():
    """Writes and reads on buses of several widths with their content checked; wrong options."""
    with e2e.memif_pair() as (directory, left, right):
        with e2e.perf(directory, "nobody", left.socket, "--mode", "axi", "--destinations", 1,
                      "--connect_timeout", 0.5) as run:
            run.expect(4, e2e.START_S)
            assert "--reaction axi" in run.stderr(), run.stderr()
        results = directory / "server.json"
        with e2e.perf(directory, "server", right.socket, "--mode", "server", "--reaction", "axi",
                      "--bus", 512, "--window", 1 << 20, "--json", results) as server:
            e2e.wait_until(lambda: "serving AXI4" in server.stderr(), e2e.START_S, "the server")
            sent = 0
            for number, (access, sizes, bus) in enumerate([
                    ("write", "1,64,1000,4096", 256), ("read", "1,64,1000,4096", 256),
                    ("write", "4,1024", 32), ("read", "4096", 1024)]):
                file = directory / f"{number}.json"
                with e2e.perf(directory, f"load{number}", left.socket, "--mode", "axi", "--access", access,
                              "--destinations", 1, "--sizes", sizes, "--bus", bus, "--inflight", 16,
                              "--count", 500, "--check", "--json", file) as run:
                    run.expect(0, e2e.TRAFFIC_S)
                for result in e2e.results_of(file)["results"]:
                    assert result["completed"] and result["delivered"] == result["sent"] >= 500
                    assert result["lost"] == result["wrong"] == 0, result
                    assert 0 < result["latency"]["min_seconds"] <= result["latency"]["p50_seconds"]
                    sent += result["sent"]
            server.signal(signal.SIGTERM)
            server.expect(0, e2e.START_S)
        served = e2e.results_of(results)["served"]
        assert served["received"] >= sent and served["lost"] == 0 and served["data_bytes"] > 0
        for arguments in (("--bus", 48), ("--size", 8192), ("--bus", 32, "--size", 2048), ("--vcs", "0,1")):
            with e2e.perf(directory, "wrong", left.socket, "--mode", "axi", "--destinations", 1, *arguments) as run:
                run.expect(2, e2e.START_S)
                assert arguments[-2] in run.stderr()


def test_memory_operations_on_the_lcore(directory):
    """suede-perf hosts the endpoint that starts them; the far lcore has the window."""
    left, right = (e2e.endpoint_config(directory, side, e2e.memif_device(directory, role))
                   for side, role in (("left", "server"), ("right", "client")))
    config = directory / "left.yaml"
    config.write_text(json.dumps(left))

    def load(number, code, *arguments):
        file = directory / f"{number}.json"
        with e2e.Process(directory, f"load{number}", [
                e2e.PERF, "--embed", "--config", config, "--destinations", "1", "--duration", "0.3",
                "--check", "--json", file, *arguments]) as run:
            run.expect(code, e2e.TRAFFIC_S)
        return run.stderr() if code else e2e.results_of(file)["results"]

    with e2e.Daemon(directory, right) as daemon:
        silence = load("nobody", 4, "--mode", "get", "--connect_timeout", "0.5")
        assert "--reaction memory" in silence, silence
        with e2e.perf(directory, "server", daemon.socket, "--mode", "server", "--reaction", "memory",
                      "--lcore", "--window", 1 << 20) as server:
            e2e.wait_until(lambda: "serving memory operations" in server.stderr(), e2e.START_S,
                           "the server")
            operations = 0
            for number, (sizes, mode) in enumerate([
                    ("8,256,5000", ("put", "--inflight", "16")),
                    ("8,256,5000", ("get", "--inflight", "16", "--unordered")),
                    ("4,8", ("atomic", "--inflight", "4")),
                    ("4,8", ("atomic", "--atomic", "read_increment"))]):
                results = load(number, 0, "--sizes", sizes, "--mode", *mode)
                assert len(results) == len(sizes.split(","))
                for result in results:
                    assert result["completed"] and result["delivered"] == result["sent"] > 0
                    assert result["lost"] == result["wrong"] == 0, result
                    operations += result["sent"]
            assert daemon.counters()["memory_requests_total"] >= operations
            assert "--window" in load("large", 1, "--mode", "put", "--size", 1 << 20)


def test_message_sockets():
    """Streams of messages one way and there and back, with their content checked, to one server."""
    with e2e.memif_pair() as (directory, left, right):
        with e2e.perf(directory, "nobody", left.socket, "--mode", "message", "--destinations", 1,
                      "--connect_timeout", 0.5) as run:
            run.expect(4, e2e.START_S)
            assert "--reaction message" in run.stderr(), run.stderr()
            assert "NOT_OPEN" in run.stderr() or "PENDING" in run.stderr()
        results = directory / "server.json"
        with e2e.perf(directory, "server", right.socket, "--mode", "server", "--reaction", "message",
                      "--json", results) as server:
            e2e.wait_until(lambda: "serving message sockets" in server.stderr(), e2e.START_S,
                           "the server")
            for number, (sizes, load) in enumerate([
                    ("8,256,5000", ("--inflight", 16, "--duration", 0.3, "--check")),
                    ("3000000", ("--inflight", 2, "--count", 10, "--check")),
                    ("8,300", ("--pingpong", "--duration", 0.3, "--check")),
                    ("64", ("--pingpong", "--inflight", 8, "--count", 500, "--check")),
                    ("4096", ("--inflight", 64, "--duration", 0.3))]):
                file = directory / f"{number}.json"
                with e2e.perf(directory, f"load{number}", left.socket, "--mode", "message",
                              "--destinations", 1, "--sizes", sizes, "--json", file, *load) as run:
                    run.expect(0, e2e.TRAFFIC_S)
                    assert "iterations" in run.stdout() and "p99" in run.stdout()
                document = e2e.results_of(file)
                assert document["config"]["pingpong"] == ("--pingpong" in load)
                assert len(document["results"]) == len(sizes.split(","))
                for result in document["results"]:
                    assert result["completed"] and result["delivered"] == result["sent"] > 0
                    assert result["lost"] == result["wrong"] == 0, result
                    latency = result["latency"]
                    assert latency["kind"] == "rtt"
                    assert 0 < latency["min_seconds"] <= latency["p50_seconds"]
                if "--count" in load:
                    assert document["results"][0]["measured"] >= load[load.index("--count") + 1]
            server.signal(signal.SIGTERM)
            server.expect(0, e2e.START_S)
        served = e2e.results_of(results)
        assert served["served"]["received"] > 100 and served["served"]["wrong"] == 0


def test_no_peer_is_said_at_once_and_the_peers_are_named(directory):
    config = e2e.changed(e2e.endpoint_config(directory, "left", "net_null0"),
                         {"management": {"socket": str(directory / "management.sock")}})
    with e2e.Daemon(directory, config) as left:
        with e2e.perf(directory, "nobody", left.socket, "--destinations", "7", "--vcs", 1) as run:
            run.expect(2, e2e.START_S)
            assert "XPU 7 is no peer" in run.stderr(), run.stderr()
            assert f"its peers are XPU 1 ({left.config_path})" in run.stderr(), run.stderr()


def test_results_go_to_fifos_and_the_standard_output():
    with e2e.memif_pair() as (directory, left, right):
        server = e2e.perf_server(directory, right, "0")
        try:
            fifo = directory / "fifo"
            os.mkfifo(fifo)
            texts = []
            reader = threading.Thread(target=lambda: texts.append(fifo.read_text()))
            reader.start()
            load = ("--destinations", 1, "--count", 100)
            with e2e.perf(directory, "fifo", left.socket, *load, "--json", fifo) as run:
                run.expect(0, e2e.TRAFFIC_S)
            reader.join()
            assert json.loads(texts[0])["verdict"]["pass"]
            assert stat.S_ISFIFO(fifo.stat().st_mode)
            run = subprocess.run(
                [str(a) for a in (e2e.PERF, "--endpoint", left.socket, *load, "--json", "-")],
                capture_output=True, text=True, timeout=e2e.TRAFFIC_S)
            assert run.returncode == 0, run.stderr
            assert json.loads(run.stdout)["results"][0]["measured"] == 100
            assert "#bytes" in run.stderr  # the table
            run = subprocess.run(
                [str(a) for a in (e2e.PERF, "--endpoint", left.socket, *load, "--json",
                                  "/no/such/file")],
                capture_output=True, text=True, timeout=e2e.TRAFFIC_S)
            assert run.returncode == 1 and run.stdout == "" and "/no/such/file" in run.stderr
        finally:
            server.kill()


def test_progress_and_the_results_of_a_run_that_is_cut_short():
    with e2e.memif_pair() as (directory, left, right):
        server = e2e.perf_server(directory, right, "0", "--interval", "0.1")
        try:
            file = directory / "cut.json"
            arguments = ("--destinations", 1, "--duration", 600, "--rate", 5000, "--json", file)
            with e2e.perf(directory, "cut", left.socket, *arguments, "--interval", 0.1) as run:
                lines = re.compile(r"^suede-perf: [0-9.]+ s: 64 bytes, load, .* sent \d+$", re.M)
                e2e.wait_until(lambda: len(lines.findall(run.stderr())) >= 3, e2e.TRAFFIC_S,
                               "lines of progress")
                run.signal(signal.SIGINT)
                run.expect(0, e2e.TRAFFIC_S)
                assert "\r" not in run.stderr()
            cut = e2e.results_of(file)["results"][0]
            assert cut["interrupted"] and cut["completed"] and cut["delivered"] == cut["sent"] > 0
            assert re.search(r"s: serving, received [0-9.]+ M/s, \d+$", server.stderr(), re.M)
            with e2e.perf(directory, "quiet", left.socket, "--destinations", 1, "--interval", 0.05,
                          "--duration", 0.5, "--quiet") as run:
                run.expect(0, e2e.TRAFFIC_S)
                assert "bytes, load" not in run.stderr()
        finally:
            server.kill()


def test_progress_on_a_terminal_is_one_line():
    with e2e.memif_pair() as (directory, left, right):
        server = e2e.perf_server(directory, right, "0")
        ours, theirs = pty.openpty()
        try:
            run = subprocess.Popen(
                [str(a) for a in (e2e.PERF, "--endpoint", left.socket, "--destinations", 1,
                                  "--duration", 0.5, "--interval", 0.1)],
                stdout=subprocess.DEVNULL, stderr=theirs)
            os.close(theirs)
            text = b""
            while True:
                try:
                    part = os.read(ours, 4096)
                except OSError:  # its last user has gone
                    break
                if not part:
                    break
                text += part
            assert run.wait(e2e.TRAFFIC_S) == 0, text
            assert text.count(b"bytes, load") >= 2 and b"\n" not in text, text
            assert text.endswith(b"\r\x1b[K"), text  # and nothing of it is left
        finally:
            os.close(ours)
            server.kill()


WORKLOADS = ("permutation", "all-to-all", "all-reduce-ring", "all-reduce-direct", "incast", "moe",
             "hot-spot", "request-response")


def workload_of(file):
    document = e2e.results_of(file)
    assert document["verdict"]["pass"], document["verdict"]
    return document["workload"]


def test_ranks_of_several_processes():
    """Two processes that start at different times and know each other by SUE alone."""
    with e2e.memif_pair() as (directory, left, right):
        for name in WORKLOADS:
            files = [directory / f"left-{name}.json", directory / f"right-{name}.json"]
            arguments = ("--mode", "workload", "--workload", name, "--ranks", "0,1", "--bytes", 20000,
                         "--messages", 8, "--top_k", 1, "--vcs", "0,1", "--check", "--warmup", 0,
                         "--connect_timeout", 60, "--stall", 60)
            arguments += (("--duration", 0.3, "--inflight", 4) if name == "request-response"
                          else ("--iterations", 20))
            with e2e.perf(directory, f"other-{name}", right.socket, "--xpuid", 1, "--json", files[1],
                          *arguments) as other, \
                 e2e.perf(directory, f"leader-{name}", left.socket, "--xpuid", 0, "--json", files[0],
                          *arguments) as leader:
                leader.expect(0, e2e.TRAFFIC_S)
                other.expect(0, e2e.TRAFFIC_S)
            led, followed = map(workload_of, files)
            assert led["name"] == name
            sent = sum(part["of_rank"][0]["sent_commands"] for part in (led, followed))
            assert sent > 0 and led["received"]["received"] == sent
            if name == "request-response":
                assert led["of_rank"][0]["response"]["samples"] > 10
            else:
                assert led["iteration"]["samples"] == 20
                assert followed["of_rank"][0]["iterations"] == 20


def test_ranks_of_one_process_and_a_trace(directory):
    """Both endpoints of one daemon; a transfer for each row of the trace."""
    trace = directory / "trace.csv"
    trace.write_text("time_us,source,destination,bytes\n0,0,1,5000\n20000,1,0,300\n30000,0,1,1\n")
    result = directory / "result.json"
    with e2e.Daemon(directory, e2e.loop_config(directory, 0)) as daemon:
        daemon.wait_for_link()
        with e2e.perf(directory, "trace", daemon.socket, "--mode", "workload", "--workload", "trace",
                      "--trace", trace, "--ranks", "0,1", "--own", "0,1", "--check", "--json",
                      result, "--connect_timeout", 60) as run:
            run.expect(0, e2e.TRAFFIC_S)
        workload = workload_of(result)
        assert workload["received"]["data_bytes"] == 5301
        assert workload["received"]["flows"] == 2
        assert workload["iteration"]["min_seconds"] >= 0.03
        ranks = workload["of_rank"]
        assert [rank["sent_bytes"] for rank in ranks] == [5001, 300]
        assert sum(rank["transfer"]["samples"] for rank in ranks) == 3
        # A row that is wrong is named.
        trace.write_text("0,0,1,5000\n1,0,9,5\n")
        with e2e.perf(directory, "bad", daemon.socket, "--mode", "workload", "--workload", "trace",
                      "--trace", trace, "--ranks", "0,1", "--own", "0,1") as run:
            run.expect(2, e2e.TRAFFIC_S)
            assert f'{trace}:2: rank "9": give 0 to 1' in run.stderr()


def test_a_rank_that_does_not_come_is_named():
    with e2e.memif_pair() as (directory, left, _):
        with e2e.perf(directory, "alone", left.socket, "--mode", "workload", "--ranks", "0,1",
                      "--xpuid", 0, "--connect_timeout", 1) as run:
            run.expect(4, e2e.TRAFFIC_S)
            assert "hears nothing of rank 1 (XPU 1) at barrier 0" in run.stderr(), run.stderr()


def test_one_way_load():
    """A sender and a receiver that exchange no messages: all arrives, and both know how much."""
    with e2e.memif_pair() as (directory, left, right):
        served = directory / "served.json"
        sent = directory / "sent.json"
        server = e2e.perf_server(directory, right, "0,1", "--receive_only", "--json", served)
        with e2e.perf(directory, "alone", left.socket, "--destinations", 1, "--vcs", "0,1", "--send_only",
                      "--queues", 2, "--duration", 0.5, "-s", 128, "--completions", 10, "--json", sent) as run:
            run.expect(0, e2e.TRAFFIC_S)
            assert "(send only)" in run.stdout(), run.stdout()
        with e2e.perf(directory, "asks", left.socket, "--destinations", 1, "--connect_timeout", 0.5) as run:
            run.expect(4, e2e.START_S)
        server.signal(signal.SIGTERM)
        server.expect(0, e2e.START_S)
        assert "rate[M/s]" in server.stdout(), server.stdout()
        (result,) = e2e.results_of(sent)["results"]
        counts = e2e.results_of(served)["served"]
        assert result["delivered"] == result["sent"] > 0 and result["latency"]["kind"] == "completion"
        assert counts["received"] > result["sent"], "with the unanswered messages of the second client"
        assert counts["lost"] == counts["duplicated"] == 0
        assert counts["received_data_bytes_per_second"] > 0 and counts["receiving_seconds"] > 0


def test_sweep_to_csv():
    """Sizes and numbers in flight, each with a row, a histogram and its samples; the text appended."""
    with e2e.memif_pair() as (directory, left, right):
        server = e2e.perf_server(directory, right, "0", "--reaction", "echo")
        files = {name: directory / f"{name}.csv" for name in ("csv", "histogram_csv", "samples")}
        arguments = [word for name, file in files.items() for word in (f"--{name}", file)]
        with e2e.perf(directory, "sweep", left.socket, "--mode", "latency", "--destinations", 1, "--sizes", "8,64",
                      "--inflights", "1,4", "-n", 200, "--warmup", 0, "-H", "--units", "auto", *arguments) as run:
            run.expect(0, e2e.TRAFFIC_S)
            assert all(len(line) <= 100 for line in run.stdout().splitlines()), run.stdout()
            assert run.stdout().count("from[us]") == 4 and "inflight" in run.stdout()
        rows = {name: [dict(zip(lines[0].split(","), line.split(",")))
                       for lines in [file.read_text().splitlines()] for line in lines[1:]]
                for name, file in files.items()}
        runs = [(row["data_bytes"], row["inflight"]) for row in rows["csv"]]
        assert runs == [("8", "1"), ("8", "4"), ("64", "1"), ("64", "4")]
        assert len(rows["samples"]) == 800
        for row in rows["csv"]:
            mine = [float(s["latency_seconds"]) for s in rows["samples"]
                    if (s["data_bytes"], s["inflight"]) == (row["data_bytes"], row["inflight"])]
            buckets = [int(b["samples"]) for b in rows["histogram_csv"]
                       if (b["data_bytes"], b["inflight"]) == (row["data_bytes"], row["inflight"])]
            assert len(mine) == sum(buckets) == int(row["latency_samples"]) == 200
            assert abs(min(mine) - float(row["latency_min_seconds"])) < 2e-9
            assert float(row["latency_stdev_seconds"]) > 0
        lines = []
        for number in range(2):
            with e2e.perf(directory, f"brief{number}", left.socket, "--mode", "latency", "--destinations", 1,
                          "-n", 10, "--warmup", 0, "--brief") as run:
                run.expect(0, e2e.TRAFFIC_S)
                lines += run.stdout().splitlines()
        assert len(lines) == 2 and all(line.split()[0] == "64" for line in lines), lines
        server.signal(signal.SIGTERM)
        server.expect(0, e2e.START_S)
