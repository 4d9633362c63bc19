# SPDX-License-Identifier: Apache-2.0
"""Builds and runs the examples of tools/rtl. SUEDE_RTL_SEEDS sets the number of seeds. Waveforms of failed runs stay in
BUILD/rtl."""

import os
import re
import shutil
import signal
import subprocess

import pytest

import e2e
from test_failover import two_endpoints, wait_for

RTL = e2e.ROOT / "tools/rtl"
SEEDS = range(1, int(os.environ.get("SUEDE_RTL_SEEDS", "12")) + 1)


def compile_bench(*options):
    """The program; the test is skipped where Verilator is missing."""
    if not shutil.which("verilator"):
        pytest.skip("Verilator is not installed: tools/setup")
    result = subprocess.run([RTL / "simulate", "--build", e2e.BUILD, "--compile-only", *options], capture_output=True,
                            text=True, timeout=e2e.START_S * 4, check=False)
    assert result.returncode == 0, result.stderr
    kind = "axi" if "--axi" in options else "fifo"
    width = options[options.index("--width") + 1] if "--width" in options else "256"
    return e2e.BUILD / f"rtl/{kind}_{width}{'_timing' if '--timing' in options else ''}/bench"


def kept_trace(bench, *names):
    return bench.parent.parent / f"failed-{bench.parent.name}-{'-'.join(names)}.fst"


def simulate(bench, *plusargs, code=0):
    """The output of a run in the simulation's network."""
    argv = [bench, *(f"+{each}" for each in plusargs)]
    result = subprocess.run(argv, capture_output=True, text=True, timeout=e2e.TRAFFIC_S, check=False)
    if result.returncode != code:
        kept = kept_trace(bench, *plusargs)
        subprocess.run([*argv, f"+trace={kept}"], capture_output=True, timeout=e2e.TRAFFIC_S, check=False)
        pytest.fail(f"{argv}: exit code {result.returncode}; waveforms in {kept}\n{result.stdout}{result.stderr}")
    return result.stdout


def measure(bench, *plusargs):
    """[operations/s, cycles/s, median round trip in cycles] of single operations in the simulation's network."""
    result = subprocess.run([bench, "+single", *(f"+{each}" for each in plusargs)], capture_output=True, text=True,
                            timeout=e2e.TRAFFIC_S, check=True)
    found = re.search(r": (\d+) \w+/s, (\d+) cycles/s\n\w+: round trip (\d+) cycles, the median of \d+$",
                      result.stderr.strip())
    assert found, result.stderr
    return [int(each) for each in found.groups()]


class Simulation(e2e.Process):
    """A run over two daemons, which are given by the paths of their sockets."""

    def __init__(self, directory, bench, left, right, *plusargs):
        self.trace = directory / "waves.fst"
        self.kept = kept_trace(bench, "daemons", *plusargs)
        super().__init__(directory, "simulation", [bench, f"+left.endpoint={left}", f"+right.endpoint={right}",
                                                   f"+trace={self.trace}", *(f"+{each}" for each in plusargs)])

    def finish(self):
        """The output."""
        if self.wait(e2e.TRAFFIC_S) != 0:
            shutil.copy(self.trace, self.kept)
            raise e2e.E2eError(f"waveforms in {self.kept}\n{self.report()}")
        return self.stdout()


def fail_planes(directory, bench, *plusargs):
    """The output of a run over two daemons with two planes, each of which dies and comes back under traffic."""
    with two_endpoints(2, "strict") as (_, left, right, fabric), \
            Simulation(directory, bench, left.socket, right.socket, *plusargs) as run:
        for plane in (0, 1):
            before = right.counters()["rx_commands_total"]
            e2e.wait_until(lambda before=before: right.counters()["rx_commands_total"] > before + 500, e2e.TRAFFIC_S,
                           lambda: f"traffic\n{run.report()}")
            fabric.do(f"cut {plane}")
            wait_for((left, right), plane, False)
            fabric.do(f"heal {plane}")
            wait_for((left, right), plane, True)
        assert min(each.counters()["plane_deaths_total"] for each in (left, right)) >= 2
        run.signal(signal.SIGINT)
        return run.finish()


def find_checks(*modules):
    """Names of the assertions of modules."""
    return {name for module in modules
            for name in re.findall(r"^ +(\w+): assert\b", (RTL / f"{module}.sv").read_text(), re.MULTILINE)}
