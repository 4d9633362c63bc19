# SPDX-License-Identifier: Apache-2.0
"""Captures of dropped frames; dpdk-dumpcap on a running daemon, which takes hugepages that two processes share."""

import collections
import contextlib
import fcntl
import json
import pathlib
import subprocess
import sys

import pytest

import e2e
import links
import switched

sys.path.append(str(e2e.ROOT / "tests/wireshark"))
import tshark  # noqa: E402

STREAMS = 2 + 2 * 2  # one each way of socket_c, and of each of two rounds of socket_cpp
PAGES = pathlib.Path("/proc/sys/vm/nr_hugepages")
WANTED = 512  # of 2 MiB


@contextlib.contextmanager
def hugepages(directory, wanted=WANTED):
    """Some more hugepages than there were, and a hugetlbfs."""
    with open("/tmp/suede-hugepages.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = int(PAGES.read_text())
        mount = directory / "huge"
        mount.mkdir()
        try:
            PAGES.write_text(str(before + wanted))
            if int(PAGES.read_text()) < before + wanted:
                pytest.skip("the machine gives no hugepages")
            if subprocess.run(["mount", "-t", "hugetlbfs", "nodev", mount], check=False).returncode:
                pytest.skip("no hugetlbfs can be mounted here")
            yield
        finally:
            subprocess.run(["umount", mount], check=False, capture_output=True)
            PAGES.write_text(str(before))


def comments_of(file):
    """The number of packets with each comment, by tshark."""
    lines = subprocess.run(["tshark", "-r", file, "-T", "fields", "-e", "frame.comment"], capture_output=True, text=True,
                           timeout=60, check=True).stdout.splitlines()
    return collections.Counter(lines)


def check_drops(daemon, port, file, before, only):
    """Stops the capture: its frames are as many for each reason as the counters have grown by."""
    stopped = json.loads(e2e.suedectl(daemon, "-j", "capture", "stop", port, "--drops"))
    assert stopped["dropped"] == 0 and stopped["drops"], stopped
    now = daemon.counters()
    grown = {name: now[name] - before[name] for name in now if only(name) and now[name] != before[name]}
    comments = comments_of(file)
    assert comments == grown and stopped["written"] == sum(grown.values()), (comments, grown, stopped)
    return grown


def test_dropped_frames_and_their_reasons():
    """Bits that the switch flips damage any field; the frames are found with the counters that counted them."""
    def flip(config):
        config["seed"] = 5
        for port in config["ports"]:
            port["impair_out"] = {"flip": 0.05, "duplicate": 0.02}

    with switched.fabric(2, switch=flip) as (directory, _, daemon):
        files = [directory / f"drops{port}.pcapng" for port in range(2)]
        before = daemon.counters()
        for port, file in enumerate(files):
            e2e.suedectl(daemon, "capture", "start", f"p{port}", "--drops", "--frames_per_s", "0", "--frames", "65536",
                         "--snap_bytes", "256", "--file", file)
        listed = json.loads(e2e.suedectl(daemon, "-j", "capture", "list"))["captures"]
        assert [each["drops"] for each in listed] == [True, True]
        switched.run_workload(directory, daemon, 2, "all-to-all", "--bytes", 100000, "--iterations", 20)
        comments = collections.Counter()
        written = 0
        for port, file in enumerate(files):
            stopped = json.loads(e2e.suedectl(daemon, "-j", "capture", "stop", f"p{port}", "--drops"))
            assert stopped["dropped"] == 0, stopped
            written += stopped["written"]
            comments += comments_of(file)
        now = daemon.counters()
        grown = {name: now[name] - before[name] for name in now
                 if name.startswith("rx_drop_") and now[name] != before[name]}
        # Frames may be dropped behind the end of the captures.
        assert written == sum(comments.values()) > 20, (comments, grown)
        assert not [name for name in comments if comments[name] > grown.get(name, 0)], (comments, grown)
        assert comments["rx_drop_rcrc_total"] > 5 and len(comments) >= 3, comments


def test_dropped_frames_of_another_partition():
    with contextlib.ExitStack() as stack:
        directory = stack.enter_context(e2e.work_directory())
        left, right = stack.enter_context(e2e.daemons(*(
            e2e.Daemon(directory, {**e2e.endpoint_config(directory, side, e2e.memif_device(directory, role)),
                                   "partition": partition})
            for side, role, partition in (("left", "server", 8), ("right", "client", 9)))))
        for daemon in (left, right):
            daemon.wait_for_link()
        file = directory / "drops.pcapng"
        before = right.counters()
        e2e.suedectl(right, "capture", "start", "p0", "--drops", "--file", file)
        code = e2e.suedectl(right, "capture", "start", "p0", "--drops", "--file", directory / "other.pcapng", code=1)
        assert "being captured already" in code, code
        e2e.suedectl(left, "ping", "1", "--count", "3", "--interval", "0.1", code=4)
        # Neither end sends anything more without traffic: HELLOs end with their tries.
        e2e.wait_until(lambda: right.counters()["rx_drop_partition_total"] > before["rx_drop_partition_total"], 10,
                       "a drop")
        grown = check_drops(right, "p0", file, before, lambda name: name.startswith("rx_drop_"))
        assert list(grown) == ["rx_drop_partition_total"], grown
        decoded = subprocess.run([e2e.SUEDECTL, "frame", "decode", "--encap", "udp4", "--input", "pcap", file],
                                 capture_output=True, text=True, timeout=60, check=True).stdout.splitlines()
        assert len(decoded) == sum(grown.values())
        for frame in map(json.loads, decoded):
            assert frame["partition"] == 8 and frame["comment"] == "rx_drop_partition_total", frame
        for daemon in (left, right):
            assert daemon.terminate() == 0, daemon.report()


def test_dropped_frames_of_a_switch():
    def closed(config):
        config["unknown"] = "drop"
        config["learning"] = "off"
        config["addresses"] = [{"mac": e2e.mac_of(i), "port": f"s{i}"} for i in range(2)]

    with switched.fabric(3, switch=closed) as (directory, switch, daemon):
        file = directory / "drops.pcapng"
        before = switch.counters()
        e2e.suedectl(switch, "capture", "start", "s0", "--drops", "--file", file)
        e2e.suedectl(daemon, "ping", "2", "--xpu", "0", "--count", "3", "--interval", "0.1", code=4)
        e2e.wait_until(lambda: switch.counters()["rx_drop_unknown_destination_total"] >
                       before["rx_drop_unknown_destination_total"], 10, "a drop")
        stopped = json.loads(e2e.suedectl(switch, "-j", "capture", "stop", "s0", "--drops"))
        ports = json.loads(e2e.suedectl(switch, "-j", "counters", "get", "--scope", "port", "--port", "s0"))["sets"]
        comments = comments_of(file)
        assert list(comments) == ["rx_drop_unknown_destination_total"], comments
        assert 0 < stopped["written"] == sum(comments.values())
        assert stopped["written"] <= ports[0]["counters"]["rx_drop_unknown_destination_total"]


def test_services_in_a_capture():
    """The dissector pairs all requests of memory operations, and follows the streams of sockets, of real programs."""
    with e2e.memif_pair() as (directory, left, right):
        file = directory / "services.pcapng"
        e2e.suedectl(left, "capture", "start", "p0", file)
        for name, peers in (("memory_c", ((1, 100, 30), (0, 100, 30))), ("socket_c", ((1, 2, 80), (0, 2, 80))),
                            ("socket_cpp", (("0,1", 2, 80), ("0,1", 2, 80)))):
            program = e2e.BUILD / "docs/examples" / name
            with e2e.Process(directory, f"{name}-a", [program, left.socket, *peers[0]]) as a, \
                    e2e.Process(directory, f"{name}-b", [program, right.socket, *peers[1]]) as b:
                a.expect(0, e2e.START_S)
                b.expect(0, e2e.START_S)
        assert json.loads(e2e.suedectl(left, "-j", "capture", "stop", "p0"))["dropped"] == 0
        columns = [f"suede.{name}" for name in (
            "mem.operation", "mem.response_in", "mem.response", "mem.request_in", "socket.kind", "socket.stream",
            "socket.offset", "socket.answer_in", "malformed", "mem.malformed", "socket.malformed")]
        out = tshark.Shark(directory).tshark(file, "-2", "-T", "fields", *(w for c in columns for w in ("-e", c)))
        kinds, streams = collections.Counter(), set()
        for line in out.splitlines():
            (requests, response_in, responses, request_in, commands, stream, offset, answer_in,
             *malformed) = ([n for n in text.split(",") if n] for text in line.split("\t"))
            assert malformed == [[], [], []], line
            assert len(response_in) == len(requests) and len(request_in) >= len(responses), line
            assert len(offset) == commands.count("8") and len(answer_in) >= commands.count("9"), line
            kinds.update(commands, requests=len(requests), responses=len(responses))
            streams.update(map(int, stream))
        assert kinds["requests"] >= 4 and kinds["responses"] >= 2 and kinds["8"] > 500 and kinds["9"] >= 6, kinds
        assert streams == set(range(STREAMS)), streams


def test_dumpcap(directory, as_root):
    """On a port of DPDK's, which a memif is not."""
    del as_root
    with hugepages(directory), links.namespaces(mtu=4000) as (ends, _), contextlib.ExitStack() as stack:
        prefixes = [prefix for prefix, _ in ends]
        left, right = stack.enter_context(e2e.daemons(*(e2e.Daemon(
            directory, e2e.changed(e2e.endpoint_config(directory, side, links.af_packet(interface, 4096)),
                                   {"eal": {"hugepages": "on"}}), prefix)
            for side, (prefix, interface) in zip(("left", "right"), ends))))
        for daemon in (left, right):
            daemon.wait_for_link()
        file = directory / "frames.pcapng"
        with e2e.Process(directory, "dumpcap",
                         ["dpdk-dumpcap", f"--file-prefix=suede_{left.name}", "-i", "0", "-c",
                          "50", "-w", file]) as dumpcap:
            e2e.wait_until(lambda: "Capturing on" in dumpcap.stdout() + dumpcap.stderr() or
                           not dumpcap.running() or file.exists(), e2e.START_S, "dpdk-dumpcap")
            # dpdk-dumpcap does not say when it has begun, so there is traffic until it has
            # enough.
            server = e2e.perf_server(directory, right, "0", prefix=prefixes[1])
            with contextlib.closing(e2e._Closing(server)):
                while dumpcap.running():
                    with e2e.perf(directory, "client", left.socket, "--destinations", 1,
                                  "--count", 2000, prefix=prefixes[0]) as run:
                        run.expect(0, e2e.TRAFFIC_S)
            dumpcap.expect(0, e2e.START_S)
        decoded = subprocess.run(
            [e2e.SUEDECTL, "frame", "decode", "--encap", "udp4", "--input", "pcap", file],
            capture_output=True, text=True, timeout=60, check=True).stdout
        frames = [json.loads(line) for line in decoded.splitlines()]
        assert len(frames) >= 50 and not [f for f in frames if "error" in f]
        for daemon in (left, right):
            assert daemon.terminate() == 0, daemon.report()
