# SPDX-License-Identifier: Apache-2.0
"""tools/rtl --axi: two XPUs in SystemVerilog with AXI4, checked by assertions and scoreboards, over a network in the
simulation and over two daemons."""

import re
import signal
import subprocess
import time

import pytest

import e2e
from rtl import RTL, SEEDS, Simulation, compile_bench, fail_planes, find_checks, measure, simulate

VERDICT = re.compile(r"axi_bench: PASS seed \d+: (\d+) and (\d+) transactions, (\d+) and (\d+) failed, "
                     r"(\d+) octets compared, (\d+) exclusive, (\d+) resets, (\d+) cycles")
# Each fault breaks one rule, and the check, or two, that may notice it first. "xpu_": the XPU's faults (axi_xpu.sv); "soc_": its
# memory's (axi_memory.sv); "sue_": SUE's (axi_faults.sv).
FAULTS = {
    "xpu_aw_dropped": "aw_stable",
    "xpu_aw_changes": "aw_stable",
    "xpu_w_changes": "w_stable",
    "xpu_ar_dropped": "ar_stable",
    "xpu_wlast_early": "w_last",
    "xpu_wlast_late": "w_last",
    "xpu_aw_crosses_page": "aw_page",
    "xpu_ar_crosses_page": "ar_page",
    "xpu_wrap_unaligned": "ar_legal",
    "xpu_size_too_large": "aw_legal",
    "xpu_strobe_outside": "w_lanes",
    "xpu_exclusive_unaligned": "ar_exclusive",
    "xpu_exclusive_too_long": "aw_exclusive",
    "xpu_valid_in_reset": "requests_in_reset",
    "xpu_credit_overrun": "credit_is_kept",
    "soc_b_before_wlast": "b_has_write",
    "soc_b_to_nobody": "b_has_write",
    "soc_b_twice": "b_has_write",
    "soc_rlast_early": "r_last",
    "soc_rlast_late": "r_last",
    "soc_beat_lost": "r_last",
    "soc_beat_twice": "r_last",
    "soc_r_wrong_id": "r_has_read",
    "soc_valid_in_reset": "answers_in_reset",
    "soc_wrong_lane": "data",
    "soc_strobe_ignored": "data",
    "soc_write_lost": "data",
    "soc_error_hidden": "response",
    "sue_b_dropped": "b_stable",
    "sue_b_wrong_id": "b_has_write",
    "sue_b_twice": "b_has_write|attributes",
    "sue_b_lost": "all_answered",
    "sue_b_response": "response",
    "sue_buser_altered": "attributes",
    "sue_r_changes": "r_stable",
    "sue_rlast_early": "r_last",
    "sue_rlast_late": "r_last",
    "sue_r_wrong_id": "r_has_read",
    "sue_r_beat_lost": "r_last|data",
    "sue_data_altered": "data",
    "sue_ruser_altered": "attributes",
    "sue_error_altered": "response",
    "sue_answer_in_reset": "answers_in_reset",
    "sue_strobe_ignored": "data",
    "sue_wdata_altered": "data",
    "sue_exclusive_granted": "exclusive",
    "sue_exclusive_executed": "data",
    "sue_exclusive_ignored": "exclusive",
    "sue_exokay_to_normal": "exclusive",
    "sue_aw_changes": "aw_stable",
    "sue_aw_dropped": "aw_stable",
    "sue_aw_crosses_page": "aw_page",
    "sue_ar_crosses_page": "ar_page",
    "sue_cache_altered": "attributes",
    "sue_w_changes": "w_stable",
    "sue_wlast_early": "w_last",
    "sue_wlast_late": "w_last",
    "sue_w_beat_lost": "w_lanes|w_last",
    "sue_strobe_outside": "w_lanes",
    "sue_request_in_reset": "requests_in_reset",
}


@pytest.fixture(scope="module", name="bench")
def bench_fixture():
    return compile_bench("--axi")


def verdict(output):
    """[transactions of left, of right, failed ones of left, of right, octets compared, exclusive writes that succeed,
    resets, cycles]"""
    found = VERDICT.search(output)
    assert found, output
    return [int(each) for each in found.groups()]


@pytest.mark.parametrize("seed", SEEDS)
def test_seeds_in_the_simulation(bench, seed):
    left, right, left_failed, right_failed, compared, exclusive, *_ = verdict(
        simulate(bench, f"seed={seed}", "transactions=2000"))
    assert left == right == 2000 and compared > 50_000 and exclusive > 30
    # These have an address that leads nowhere.
    assert 0 < left_failed < 100 and 0 < right_failed < 100
    plusargs = ("transactions=2000", "resets=3000", "faults=10")
    left, right, *_, compared, exclusive, resets, _ = verdict(simulate(bench, f"seed={seed}", *plusargs))
    assert min(left, right) > 500 and compared > 1000 and exclusive > 10 and resets > 5


def test_a_seed_repeats_exactly(bench):
    plusargs = ("seed=7", "resets=3000", "faults=10", "transactions=1000")
    assert simulate(bench, *plusargs) == simulate(bench, *plusargs)
    assert verdict(simulate(bench, "seed=7")) != verdict(simulate(bench, "seed=8"))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_noticed(bench, fault):
    resets = ["resets=400"] if "in_reset" in fault else []
    # An exclusive write may fail then, but has to change no memory.
    lenient = ["lenient"] if fault == "sue_exclusive_executed" else []
    output = simulate(bench, f"fault={fault}", "transactions=2000", *resets, *lenient, code=3)
    assert re.search(f" ({FAULTS[fault]}): ", output), output


def test_figures(bench):
    operations, cycles, round_trip = measure(bench, "transactions=500")
    assert operations > 0 and cycles > round_trip * operations / 2
    assert 20 < round_trip < 100 and measure(bench, "transactions=500")[2] == round_trip


@pytest.mark.parametrize("module", ["suede_axi_subordinate", "suede_axi_manager", "suede_axi_check", "suede_axi_credit_send",
                                    "suede_axi_credit_receive"])
def test_modules_have_no_warnings(bench, module):
    del bench
    subprocess.run(["verilator", "--lint-only", "-Wall", "--assert", RTL / f"{module}.sv"], check=True, timeout=e2e.START_S)


def test_each_check_is_broken_once():
    checks = find_checks("suede_axi_check", "suede_axi_credit_receive")
    assert len(checks) >= 15
    assert checks | {"data", "attributes", "response", "exclusive"} == {each for names in FAULTS.values() for each in names.split("|")}
    page = (e2e.ROOT / "docs/rtl.md").read_text()
    assert [check for check in checks if f"`{check}`" not in page] == []


@pytest.mark.parametrize("options", [("--timing",), *(pytest.param(("--width", width), marks=pytest.mark.long)
                                                       for width in ("32", "64", "128", "512", "1024"))])
def test_other_builds(bench, options):
    del bench
    program = compile_bench("--axi", *options)
    for seed in (1, 2):
        assert verdict(simulate(program, f"seed={seed}", "transactions=2000"))[:2] == [2000, 2000]


@pytest.fixture(scope="module", name="pair")
def pair_fixture():
    with e2e.memif_pair() as (directory, left, right):
        yield directory, left, right
        assert left.terminate() == 0 and right.terminate() == 0


@pytest.mark.parametrize("seed", SEEDS[:len(SEEDS) // 6])
def test_seeds_with_daemons(bench, pair, seed):
    directory, left, right = pair
    with Simulation(directory, bench, left.socket, right.socket, f"seed={seed}", "transactions=1000") as run:
        transactions = verdict(run.finish())
        assert transactions[:2] == [1000, 1000] and max(transactions[2:4]) < 60
        assert "ignored" not in run.stderr()


@pytest.mark.parametrize("seed", SEEDS[:len(SEEDS) // 4])
def test_resets_with_daemons(bench, pair, seed):
    """Both ports of both XPUs are reset in bursts; nothing of a cut transaction reaches the next one."""
    directory, left, right = pair
    with Simulation(directory, bench, left.socket, right.socket, f"seed={seed}", "transactions=2000",
                    "resets=5000") as run:
        *transactions, _, _, compared, _, resets, _ = verdict(run.finish())
        assert min(transactions) > 300 and compared > 1000 and resets > 5
        assert "ignored" not in run.stderr()


def test_a_failing_plane(bench, directory):
    """Costs no transaction: those that fail have an address that leads nowhere."""
    # Longer than unreachable_us of these endpoints, as axi.md asks.
    deadlines = ("left.deadline_ms=12000", "right.deadline_ms=12000")
    left, right, left_failed, right_failed, compared, *_ = verdict(fail_planes(directory, bench, "transactions=0",
                                                                               *deadlines))
    assert left_failed < 0.1 * left and right_failed < 0.1 * right and compared > 1000


def test_daemons_that_are_killed_and_restarted(bench):
    """Each transaction ends, with an error where its outcome is unknown; the simulation begins before the daemons."""
    with e2e.work_directory() as directory:
        daemons = [e2e.Daemon(directory, e2e.endpoint_config(directory, side, e2e.memif_device(directory, role)))
                   for side, role in (("left", "server"), ("right", "client"))]
        left, right = daemons
        with Simulation(directory, bench, left.socket, right.socket, "transactions=0", "lenient") as run, left, right:
            for victim in (right, left):
                before = right.counters()["rx_commands_total"], left.counters()["rx_commands_total"]
                e2e.wait_until(lambda: min(right.counters()["rx_commands_total"] - before[0],
                                           left.counters()["rx_commands_total"] - before[1]) > 500,
                               e2e.START_S, lambda: f"traffic\n{run.report()}")
                victim.signal(signal.SIGKILL)
                victim.wait(e2e.START_S)
                time.sleep(0.2)
                victim.start()
            left.wait_for_link()
            before = right.counters()["rx_commands_total"]
            e2e.wait_until(lambda: right.counters()["rx_commands_total"] > before + 500, e2e.START_S, "traffic")
            assert run.running(), run.report()
            run.signal(signal.SIGINT)
            left_ended, right_ended, left_failed, right_failed, *_ = verdict(run.finish())
            assert min(left_ended, right_ended) > 500 and min(left_failed, right_failed) > 0
            assert run.stderr().count("connected to") >= 4, run.stderr()
