# SPDX-License-Identifier: Apache-2.0
"""tools/bench --port: peers and ports that cannot be used are named, with the mend, before anything runs."""

import os
import pathlib
import subprocess

import pytest

BENCH = pathlib.Path(__file__).parent.parent.parent / "tools" / "bench"
MISSING = "0000:ff:1f.7"


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text, encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture(name="bench")
def programs(tmp_path):
    """Runs the tool where programs of these names are: (exit code, what it says)."""
    script(tmp_path / "build/app/perf/suede-perf", "exit 1\n")
    script(tmp_path / "bin/dpdk-testpmd", "exit 1\n")
    # The last argument is the command; the one before it the peer.
    script(tmp_path / "bin/ssh", 'while [ $# -gt 2 ]; do shift; done\n'
           'if [ "$1" = away ]; then echo "ssh: connect to host away: No route to host" >&2; exit 255; fi\n'
           'exec sh -c "$2"\n')

    def run(*arguments):
        done = subprocess.run([BENCH, *arguments, "--build", tmp_path / "build", "--start_s", "0", "--runs", "1"],
                              env={**os.environ, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"},
                              capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stderr
    return run


@pytest.mark.parametrize("arguments, code, says", [
    (["--port", "net_null0", "--peer", "away"], 1,
     "bench: cannot reach away by ssh: ssh: connect to host away: No route to host; make `ssh away true` work"),
    (["--port", MISSING, "--peer", "away"], 1, f"bench: there is no PCI device {MISSING} on this machine; take one"),
    (["--port", "net_null0", "--peer", "there", "--peer_port", MISSING], 1,
     f"bench: there is no PCI device {MISSING} on there; take one that is listed by: dpdk-devbind.py"),
    (["--port", "eth0", "--peer", "away"], 1, "bench: eth0 is no port; give a PCI address"),
    (["--port", "net_null0", "--peer", "there", "--peer_build", "/nowhere"], 1,
     "bench: there is no /nowhere/app/perf/suede-perf on there; build the project there"),
    (["--port", "net_null0", "--peer", "local"], 2, "--peer local needs --peer_port"),
    (["--port", "net_null0"], 2, "--peer"),
    (["--port", "net_null0", "--peer", "there", "--peer_port", "net_null1"], 1, "bench: suede-perf ended with 1"),
], ids=str)
def test_refusals(bench, arguments, code, says):
    done = bench(*arguments)
    assert done[0] == code and says in done[1], done
