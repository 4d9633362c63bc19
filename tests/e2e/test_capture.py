# SPDX-License-Identifier: Apache-2.0
"""dpdk-dumpcap on a running daemon, which takes hugepages that two processes share."""

import contextlib
import fcntl
import json
import pathlib
import subprocess

import pytest

import e2e
import links

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
