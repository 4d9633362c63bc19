# SPDX-License-Identifier: Apache-2.0
"""Whatever happens, everything is stopped, and the report says so."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

import lab

LONG = ["load[0].iterations=1000000000", "timeout_s=100"]


@pytest.fixture(params=["local", "veth"])
def running(request, tmp_path):
    """(process of tools/lab, its --out) with a load under way."""
    if request.param == "veth" and os.geteuid() != 0:
        pytest.skip("takes root")
    out = tmp_path / "out"
    path = lab.write(tmp_path, lab.LEAST)
    process = lab.start("--backend", request.param, "--out", out, path, sets=LONG)
    try:
        lab.wait_for(lambda: process.poll() is not None or any("suede-perf" in words for words in lab.processes(out).values()),
                     120, "a load")
        yield process, out
    finally:
        process.kill()
        process.communicate()


def ended(process, out):
    """(exit code, standard output), with nothing left."""
    said, _ = process.communicate(timeout=120)
    lab.wait_for(lambda: not lab.processes(out), 10, f"the end of {lab.processes(out)}")
    assert lab.runtime_of(process.pid) == []
    return process.returncode, said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals(running, number):
    process, out = running
    process.send_signal(number)
    code, said = ended(process, out)
    assert code == 1 and f"problem: interrupted by {number.name}" in said
    assert lab.report(out)["verdict"]["pass"] is False


@pytest.mark.parametrize("wait_s", [0.2, 0.4, 0.7, 1.0, 1.4])
def test_a_signal_at_any_moment(tmp_path, wait_s):
    """While namespaces are made, daemons start, links come up, or loads run."""
    out = tmp_path / "out"
    back_end = "veth" if os.geteuid() == 0 else "local"
    process = lab.start("--backend", back_end, "--out", out, lab.write(tmp_path, lab.LEAST), sets=LONG)
    time.sleep(wait_s)
    process.send_signal(signal.SIGTERM)
    code, said = ended(process, out)
    # The first moments are Python's own, before there is anything to end.
    assert code == 1 and "problem: interrupted by SIGTERM" in said or code == -signal.SIGTERM


LOST = """\
import os, signal, sys
from labkit import main, run, sample

class Last:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)

begin = sample.Sampler.begin
def begin_and_lose(self):
    begin(self)
    Last()

sample.Sampler.begin = begin_and_lose
sys.exit(main.main(sys.argv[1:]))
"""


def test_a_signal_whose_exception_python_loses(tmp_path):
    out = tmp_path / "out"
    argv = lab.argv("--backend", "local", "--out", out, lab.write(tmp_path, lab.LEAST), sets=LONG)[1:]
    done = subprocess.run([sys.executable, "-c", LOST, *argv], capture_output=True, text=True, timeout=90, check=False,
                          env={**lab.ENVIRONMENT, "PYTHONPATH": str(lab.ROOT / "tools")})
    assert "Exception ignored in" in done.stderr
    assert done.returncode == 1 and "problem: interrupted by SIGTERM" in done.stdout, done.stdout
    assert lab.processes(out) == {}


def test_a_daemon_that_is_killed(running):
    process, out = running
    victim = next(pid for pid, words in lab.processes(out).items() if "d0.yaml" in words and "nsenter" not in words)
    os.kill(victim, signal.SIGKILL)
    code, said = ended(process, out)
    assert code == 1 and "problem: d0 ended with -9" in said


def test_a_load_that_is_killed(running):
    process, out = running
    victim = next(pid for pid, words in lab.processes(out).items() if "suede-perf" in words)
    os.kill(victim, signal.SIGKILL)
    code, said = ended(process, out)
    assert code == 3 and "FAIL load0 completed" in said


def test_even_sigkill_leaves_no_process(running, tmp_path):
    process, out = running
    assert len(lab.runtime_of(process.pid)) == 1
    process.kill()
    process.wait()
    lab.wait_for(lambda: not lab.processes(out), 10, "the end of all")
    # The next run removes the sockets of the dead one; a test beside this one may have been the next.
    lab.run("--quiet", "--out", tmp_path / "next", lab.write(tmp_path, lab.LEAST))
    assert lab.runtime_of(process.pid) == []


def test_a_daemon_that_fails_at_its_start(tmp_path):
    said, _ = lab.run("--out", tmp_path / "out", lab.write(tmp_path, lab.LEAST),
                      sets=["endpoint={management: {http_address: '192.0.2.1:9'}}"], code=1)
    assert "problem: d0 ended at its start with 5" in said
    assert "192.0.2.1:9" in said
    assert lab.processes(tmp_path / "out") == {}


def test_a_configuration_that_a_program_refuses_is_an_error_of_the_scenario(tmp_path):
    _, told = lab.run("--out", tmp_path / "out", lab.write(tmp_path, lab.LEAST),
                      sets=["endpoint={transport: {window_pdus: 0}}"], code=2)
    assert told == "lab: flag --set: endpoint.transport.window_pdus: 0 is out of range; use 1 to 16384\n"


def test_programs_that_are_not_there(tmp_path):
    _, told = lab.run("--build", tmp_path, "--out", tmp_path / "out", lab.write(tmp_path, lab.LEAST), code=5)
    assert f"there is no program {tmp_path}/app/suede/suede; ninja -C {tmp_path} app/suede/suede" in told


def test_a_directory_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    _, told = lab.run("--out", tmp_path / "file/x", lab.write(tmp_path, lab.LEAST), code=1)
    assert f"lab: {tmp_path}/file/x: Not a directory" in told


def test_a_full_disk(tmp_path):
    full = tmp_path / "full"
    full.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40k", "none", str(full)], check=False, capture_output=True)
    if mounted.returncode:
        pytest.skip("takes root")
    try:
        _, told = lab.run("--quiet", "--out", full, lab.write(tmp_path, lab.LEAST), code=1)
        assert "No space left on device" in told
        assert lab.processes(full) == {}
    finally:
        subprocess.run(["umount", str(full)], check=False)


def test_a_direct_link_has_no_rate(tmp_path):
    said, _ = lab.run("--out", tmp_path / "out", lab.write(tmp_path, lab.LEAST),
                      sets=["topology.direct=on", "topology.link.rate_gbps=1"], code=1)
    assert "the direct link x0p0-x1p0 has a rate or delay" in said


def test_check_and_generate(tmp_path):
    path = lab.write(tmp_path, lab.LEAST)
    assert lab.run("--check", path)[0] == f"{path}: 2 processes, 2 links, 1 loads, 0 faults\n"
    lab.run("--generate", tmp_path / "made", path)
    assert sorted(each.name for each in pathlib.Path(tmp_path / "made").iterdir()) == ["d0.yaml", "plan.json", "sw0.yaml"]
    _, told = lab.run("--check", path, sets=["topology.xpus=1"], code=2)
    assert told == "lab: flag --set: topology.xpus: 1 is out of range; write 2 to 1024\n"


def test_progress_is_lines_on_a_pipe(tmp_path):
    _, told = lab.run("--out", tmp_path / "out", lab.write(tmp_path, lab.LEAST), sets=["load[0].iterations=300"])
    lines = told.splitlines()
    assert lines[0] == "lab: starting sw0" and lines[-1] == "lab: ending" and "\r" not in told
    assert lab.run("--quiet", "--out", tmp_path / "out", lab.write(tmp_path, lab.LEAST))[1] == ""


def test_a_load_whose_peer_dies_ends_when_the_endpoint_gives_it_up(tmp_path):
    text = lab.LEAST.replace("xpus: 2", "xpus: 2, daemons: 2").replace(
        "{iterations: 3}", "{mode: bandwidth, source: 0, destinations: 1, duration_s: 60, completions: 1000000000, drain_s: 60}")
    text += """\
endpoint: {planes: {unreachable_us: 1000000}, transport: {max_tries: 8}}
faults: [{at_s: 1, daemon: d1, process: kill}]
expect: {oracle: off, completed: off}
"""
    out = tmp_path / "out"
    lab.run("--quiet", "--out", out, lab.write(tmp_path, text), code=3)  # a run that expects nothing
    report = lab.report(out)
    client = next(load for load in report["load"] if load["role"] == "client")
    assert client["exit"] == 4 and "XPU 1 is unreachable: it does not acknowledge" in client["log"]
    assert max(event["t"] for event in report["events"]) < 30
