# SPDX-License-Identifier: Apache-2.0
"""tools/rtl: two XPUs in SystemVerilog, checked by assertions and scoreboards, over a network in the simulation and over
two daemons."""

import re
import signal
import subprocess
import time

import pytest

import e2e
from rtl import RTL, SEEDS, Simulation, compile_bench, fail_planes, find_checks, measure, simulate

VERDICT = re.compile(r"fifo_bench: PASS seed \d+: (\d+) and (\d+) commands, (\d+) and (\d+) lost, (\d+) cycles")

# Each fault breaks one rule, and the check that has to notice it. "tx_" and "rx_": the XPU's faults (fifo_xpu.sv);
# "sue_": SUE's (fifo_faults.sv).
FAULTS = {
    "tx_overrun": "tx_has_credit",
    "tx_keeps_credit_in_reset": "tx_has_credit",
    "tx_valid_unknown": "tx_valid_known",
    "tx_cycle_skipped": "tx_cycle_order",
    "tx_cycle_repeated": "tx_cycle_order",
    "tx_beat_missing": "tx_cycle_order",
    "tx_interleaves": "tx_cycle_order",
    "tx_resumes_after_reset": "tx_cycle_order",
    "tx_vc_changes": "tx_stable",
    "tx_xpuid_changes": "tx_stable",
    "tx_control_changes": "tx_stable",
    "tx_d_bit_wrong": "tx_lengths",
    "tx_beat_in_reset": "tx_idle_in_reset",
    "rx_credit_in_reset": "rx_no_credit_in_reset",
    "rx_credit_unbounded": "rx_credit_bound",
    "rx_credit_encoding": "rx_credit_encoding",
    "sue_credit_in_reset": "tx_no_credit_in_reset",
    "sue_credit_twice": "tx_slots",
    "sue_credit_lost": "tx_credit_home",
    "sue_credit_encoding": "tx_credit_encoding",
    "sue_tx_reset_in_lost": "tx_reset_answered",
    "sue_tx_err_lost": "content",
    "sue_tx_data_altered": "content",
    "sue_command_lost": "missing",
    "sue_rx_overrun": "rx_has_credit",
    "sue_wrong_vc": "rx_has_credit",
    "sue_rx_valid_unknown": "rx_valid_known",
    "sue_rx_cycle_skipped": "rx_cycle_order",
    "sue_pauses": "rx_cycle_order",
    "sue_vc_changes": "rx_stable",
    "sue_d_bit_wrong": "rx_lengths",
    "sue_padding": "rx_lengths",
    "sue_beat_in_reset": "rx_idle_in_reset",
    "sue_rx_reset_in_lost": "rx_reset_answered",
    "sue_stale_beat": "content",
    "sue_wrong_source": "content",
    "sue_rx_command_lost": "missing",
}
# The same of the network in the simulation: violations of LoopParams by their number.
VIOLATIONS = {1: "missing", 2: "content", 3: "content", 4: "content"}


@pytest.fixture(scope="module", name="bench")
def bench_fixture():
    return compile_bench()


def verdict(output):
    """[commands of left, of right, lost ones of left, of right, cycles]"""
    found = VERDICT.search(output)
    assert found, output
    return [int(each) for each in found.groups()]


@pytest.mark.parametrize("seed", SEEDS)
def test_seeds_in_the_simulation(bench, seed):
    *commands, left_lost, right_lost, _ = verdict(simulate(bench, f"seed={seed}", "commands=3000"))
    assert min(commands) >= 3000 and left_lost == right_lost == 0
    commands = verdict(simulate(bench, f"seed={seed}", "commands=3000", "resets=300", "faults=10"))
    assert min(commands[:2]) >= 3000 and sum(commands[2:4]) > 0


def test_a_seed_repeats_exactly(bench):
    plusargs = ("seed=7", "resets=300", "faults=10", "commands=1000", "verbose")
    assert simulate(bench, *plusargs) == simulate(bench, *plusargs)
    assert verdict(simulate(bench, "seed=7")) != verdict(simulate(bench, "seed=8"))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_noticed(bench, fault):
    # A reset would bring lost credit back.
    resets = [] if fault == "sue_credit_lost" else ["resets=400"]
    output = simulate(bench, f"fault={fault}", "commands=2000", *resets, code=3)
    assert f" {FAULTS[fault]}: " in output, output


@pytest.mark.parametrize("violation", VIOLATIONS)
def test_a_fault_of_the_network_is_noticed(bench, violation):
    output = simulate(bench, f"violation={violation}", "commands=2000", code=3)
    assert f" {VIOLATIONS[violation]}: " in output, output


def test_figures(bench):
    operations, cycles, round_trip = measure(bench, "commands=500")
    assert operations > 0 and cycles > round_trip * operations / 2
    assert 20 < round_trip < 100 and measure(bench, "commands=500")[2] == round_trip


@pytest.mark.parametrize("module", ["suede_tx", "suede_rx", "suede_tx_check", "suede_rx_check"])
def test_modules_have_no_warnings(bench, module):
    del bench
    subprocess.run(["verilator", "--lint-only", "-Wall", "--assert", RTL / f"{module}.sv"], check=True, timeout=e2e.START_S)


def test_each_check_is_broken_once():
    checks = find_checks("suede_tx_check", "suede_rx_check")
    assert len(checks) >= 20
    assert checks | {"content", "missing"} == {*FAULTS.values(), *VIOLATIONS.values()}
    page = (e2e.ROOT / "docs/rtl.md").read_text()
    assert [check for check in checks if f"`{check}`" not in page] == []


@pytest.mark.parametrize("options", [("--timing",), *(pytest.param(("--width", width), marks=pytest.mark.long)
                                                       for width in ("128", "512", "1024", "2048"))])
def test_other_builds(bench, options):
    del bench
    program = compile_bench(*options)
    for seed in (1, 2):
        commands = verdict(simulate(program, f"seed={seed}", "commands=2000", "resets=300", "faults=10"))
        assert min(commands[:2]) >= 2000


@pytest.fixture(scope="module")
def pair():
    with e2e.memif_pair() as (directory, left, right):
        yield directory, left, right
        assert left.terminate() == 0 and right.terminate() == 0
        for daemon in (left, right):
            counters = daemon.counters()
            assert counters["tx_drop_error_mark_total"] > 0
            for name in ("tx_drop_malformed_total", "tx_drop_no_credit_total", "tx_drop_unknown_xpu_total"):
                assert counters[name] == 0, counters


@pytest.mark.parametrize("seed", SEEDS)
def test_seeds_with_daemons(bench, pair, seed):
    directory, left, right = pair
    resets = 10 ** (seed % 3 + 3)  # 1,000 to 100,000 cycles between resets of a kind
    with Simulation(directory, bench, left.socket, right.socket, f"seed={seed}", "commands=2000",
                    f"resets={resets}") as run:
        assert min(verdict(run.finish())[:2]) >= 2000


def test_nothing_is_lost_without_resets(bench, pair):
    directory, left, right = pair
    with Simulation(directory, bench, left.socket, right.socket, "commands=5000") as run:
        *_, left_lost, right_lost, _ = verdict(run.finish())
        assert left_lost == right_lost == 0


def resets_of(run, side, text):
    """Lines in which `text` begins to hold: the two interfaces of an XPU enter and leave a reset one by one."""
    lines = [line for line in run.stdout().splitlines() if f" {side}: " in line]
    return [line for before, line in zip(["", *lines], lines) if text in line and text not in before]


def test_an_instance_out_of_service_resets_its_xpu(bench):
    """tx_reset_out and rx_reset_out; only commands in slots are lost."""
    with e2e.memif_pair() as (directory, left, right):
        with Simulation(directory, bench, left.socket, right.socket, "commands=0", "verbose") as run:
            e2e.wait_until(lambda: right.counters()["rx_commands_total"] > 500, e2e.START_S, "traffic")
            for admin in ("down", "up"):
                e2e.managed(left, "ports", "set_admin", "p0", admin)
                time.sleep(0.3)
            before = right.counters()["rx_commands_total"]
            e2e.wait_until(lambda: right.counters()["rx_commands_total"] > before + 500, e2e.START_S, "traffic")
            run.signal(signal.SIGINT)
            _, _, left_lost, right_lost, _ = verdict(run.finish())
        assert left_lost <= 64 and right_lost == 0
        # A reset at the beginning, and one more.
        assert len(resets_of(run, "left", "tx_reset in 0, out 1; rx_reset in 0, out 1")) == 2, run.report()
        assert len(resets_of(run, "right", "out 1")) == 1, run.report()


def test_a_failing_plane(bench, directory):
    """Costs no command."""
    *commands, left_lost, right_lost, _ = verdict(fail_planes(directory, bench, "commands=0"))
    assert min(commands) > 500 and left_lost == right_lost == 0


def test_daemons_that_are_killed_and_restarted(bench):
    """Also while the XPUs reset their interfaces; and the simulation begins before the daemons."""
    with e2e.work_directory() as directory:
        daemons = [e2e.Daemon(directory, e2e.endpoint_config(directory, side, e2e.memif_device(directory, role)))
                   for side, role in (("left", "server"), ("right", "client"))]
        left, right = daemons
        with Simulation(directory, bench, left.socket, right.socket, "commands=0", "resets=50000") as run, left, right:
            for victim, end in ((right, signal.SIGKILL), (left, signal.SIGKILL), (right, signal.SIGTERM)):
                before = right.counters()["rx_commands_total"], left.counters()["rx_commands_total"]
                e2e.wait_until(lambda: min(right.counters()["rx_commands_total"] - before[0],
                                           left.counters()["rx_commands_total"] - before[1]) > 500,
                               e2e.START_S, lambda: f"traffic\n{run.report()}")
                victim.signal(end)
                victim.wait(e2e.START_S)
                time.sleep(0.2)
                victim.start()
            left.wait_for_link()
            assert run.running(), run.report()
            run.signal(signal.SIGINT)
            commands = verdict(run.finish())
            assert min(commands[:2]) > 1500 and min(commands[2:4]) > 0
            assert "connected to" in run.stderr()
