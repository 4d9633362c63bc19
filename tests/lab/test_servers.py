# SPDX-License-Identifier: Apache-2.0
"""The back end `servers`, with three namespaces as hosts: two daemons and a switch."""

import json
import pathlib
import re
import shutil
import subprocess

import lab
import pytest
import servers
import yaml
from labkit import backend, plan, scenario
from labkit import servers as kit

pytestmark = pytest.mark.skipif(servers.have() is not None, reason=str(servers.have()))

SCENARIO = """\
version: 1
name: three
backend: servers
topology: {xpus: 2, daemons: 2}
load:
  - {workload: all-to-all, bytes: 20000, iterations: 3, check: on}
expect: {switch_drops: {max: 0}}
"""
AF_PACKET = "net_af_packet{number},iface={port},framesz=4096,blocksz=65536,framecnt=512"


def inventory(found, directory, **changes):
    hosts = {name: server.inventory() for name, server in found.items()}
    for name, node in (("alpha", "d0"), ("beta", "d1"), ("gamma", "sw0")):
        hosts[name] |= {"suede_nodes": [node], "suede_devices": {"default": AF_PACKET}}
        hosts[name] |= changes.get(name, {})
    path = directory / "inventory.yaml"
    path.write_text(yaml.safe_dump({"all": {"hosts": hosts}}), encoding="utf-8")
    return path


@pytest.fixture(name="hosts", scope="module")
def fixture_hosts(tmp_path_factory):
    directory = tmp_path_factory.mktemp("servers")
    with servers.servers(directory, ["alpha", "beta", "gamma"],
                         [("alpha", "gamma", "x0p0"), ("beta", "gamma", "x1p0")]) as found:
        yield found


def directories():
    return set(pathlib.Path("/tmp").glob("suede-labhost-*"))


def left_behind():
    done = subprocess.run(["pgrep", "-af", "suede-labhost-.*/(d0|d1|sw0)"], capture_output=True, text=True, check=False)
    return done.stdout


def test_a_workload_over_three_hosts(hosts, tmp_path):
    out = tmp_path / "out"
    before = directories()
    lab.run(lab.write(tmp_path, SCENARIO), "--inventory", inventory(hosts, tmp_path), "--out", out, "--keep")
    report = lab.report(out)
    assert report["verdict"]["pass"] and report["backend"] == "servers"
    assert {name for name in report["final"]} == {"d0", "d1", "sw0"}
    assert report["final"]["sw0"]["counters"]["rx_frames_total"] > 0
    received = [load["result"]["workload"]["received"]["received"] for load in report["load"]
                if load["result"]["workload"]["received"]]
    assert received == [2 * 3 * 79]
    assert not left_behind()
    # The play says what it has done, and the hosts have no directory any more.
    assert "failed=0" in (out / "logs/prepare.log").read_text(encoding="utf-8")
    assert not directories() - before


def opened(hosts, tmp_path, **changes):
    read = scenario.load(lab.write(tmp_path, SCENARIO), [])
    out = tmp_path / "play"
    out.mkdir()
    return kit.Servers(plan.make(read), out, build=None, inventory=inventory(hosts, tmp_path, **changes))


@pytest.mark.long
def test_the_playbook_changes_nothing_the_second_time_and_has_a_check_mode(hosts, tmp_path):
    with opened(hosts, tmp_path) as backend_:
        again = backend_.play("prepare.yml", "--limit", "alpha")
        assert re.findall(r"changed=(\d+)", again) == ["0"], again
        backend_.on(backend_.hosts[0], f"rm {backend_.remote}/d0.yaml")
        check = backend_.play("prepare.yml", "--limit", "alpha", "--check")
        assert re.findall(r"changed=(\d+)", check) == ["1"], check
        assert backend_.on(backend_.hosts[0], f"test -e {backend_.remote}/d0.yaml").returncode == 1


def test_all_playbooks_are_valid():
    for path in sorted((lab.ROOT / "tools/labkit/ansible").glob("*.yml")):
        done = subprocess.run(["ansible-playbook", "--syntax-check", "--inventory", "localhost,", str(path)],
                              capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_host_that_is_down_is_named(hosts, tmp_path):
    path = inventory(hosts, tmp_path, beta={"ansible_port": 1})
    _, error = lab.run(lab.write(tmp_path, SCENARIO), "--inventory", path, "--out", tmp_path / "out", code=5)
    assert "beta cannot be reached" in error and "Connection refused" in error
    assert not left_behind()


@pytest.mark.parametrize("changes, message", [
    ({"beta": {"suede_nodes": ["d0"]}}, "beta: suede_nodes: d0 is at alpha already"),
    ({"beta": {"suede_nodes": []}}, "no host has d1; write it in a host's suede_nodes"),
    ({"alpha": {"suede_devices": {}}}, "alpha has no device for the port x0p0 of d0; write suede_devices: {x0p0: "),
    ({"alpha": {"suede_launcher": "hand"}}, "suede_launcher: hand is none; write barrier, mpirun, srun"),
])
def test_wrong_inventories(hosts, tmp_path, changes, message):
    _, error = lab.run(lab.write(tmp_path, SCENARIO), "--inventory", inventory(hosts, tmp_path, **changes), "--out",
                       tmp_path / "out", code=5)
    assert message in error


@pytest.mark.long
def test_a_program_that_is_missing_on_a_host(hosts, tmp_path):
    path = inventory(hosts, tmp_path, beta={"suede_build": "/nowhere"})
    out = tmp_path / "out"
    text, _ = lab.run(lab.write(tmp_path, SCENARIO), "--inventory", path, "--out", out, code=1)
    assert "d1 ended at its start" in text and "/nowhere" in text
    assert not left_behind()


@pytest.mark.long
def test_processes_end_with_the_connection(hosts, tmp_path):
    """Also where tools/lab is killed."""
    before = directories()
    endless = SCENARIO.replace("iterations: 3", "duration_s: 300")
    child = lab.start(lab.write(tmp_path, endless), "--inventory", inventory(hosts, tmp_path), "--out", tmp_path / "out")
    try:
        lab.wait_for(lambda: "suede-perf" in left_behind(), 120, "a load")
    finally:
        child.kill()
        child.communicate()
    lab.wait_for(lambda: not left_behind(), 60, "the end of all processes")
    # The next run on the hosts removes what is older.
    for directory in directories() - before:
        shutil.rmtree(directory)


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("mpirun"), reason="openmpi-bin not installed")
def test_mpirun_starts_the_processes_of_a_workload_together(hosts, tmp_path):
    network = hosts["alpha"].network
    options = f"--mca oob_tcp_if_include {network}.0/24 --mca btl_tcp_if_include {network}.0/24"
    launched = {"suede_launcher": "mpirun", "suede_mpirun_options": options}
    path = inventory(hosts, tmp_path, alpha=launched, beta=launched, gamma=launched)
    out = tmp_path / "out"
    lab.run(lab.write(tmp_path, SCENARIO), "--inventory", path, "--out", out, "--keep")
    assert lab.report(out)["verdict"]["pass"]
    assert (out / "load/load0.mpirun.log").exists()
    assert not left_behind()


def test_sruns_file_has_a_line_for_each_process(hosts, tmp_path):
    """srun itself takes a cluster of Slurm, which no test has."""
    launched = {"suede_launcher": "srun", "suede_srun_options": "--partition=lab"}
    backend_ = opened(hosts, tmp_path, alpha=launched, beta=launched, gamma=launched)
    backend_.read()
    command = backend_.launch_command(backend_.plan.load[0])
    assert command[:5] == ["srun", "--ntasks=2", "--nodelist=alpha,beta", "--distribution=arbitrary", "--partition=lab"]
    lines = pathlib.Path(command[-1]).read_text(encoding="utf-8").splitlines()
    assert [line.split()[0] for line in lines] == ["0", "1"]
    assert "--own=0" in lines[0] and "--own=1" in lines[1]


def test_the_inventory_of_conf(tmp_path):
    made = plan.make(scenario.load(lab.ROOT / "conf/lab/all-to-all.yaml", ["topology.daemons=2"]))
    hosts = kit.read_inventory(lab.ROOT / "conf/lab/hosts/servers.yaml", made)
    assert [(host.name, [node.name for node in host.nodes]) for host in hosts] == [
        ("server-a", ["d0"]), ("server-b", ["d1"]), ("server-c", ["sw1"])]
    # The other switch is the fabric's own.
    assert [node.name for node in made.nodes] == ["d0", "d1", "sw1"]


def test_json_of_an_inventory_is_one_too(hosts, tmp_path):
    path = inventory(hosts, tmp_path)
    as_json = tmp_path / "inventory.json"
    as_json.write_text(json.dumps(yaml.safe_load(path.read_text(encoding="utf-8"))), encoding="utf-8")
    made = plan.make(scenario.load(lab.write(tmp_path, SCENARIO), []))
    assert [host.name for host in kit.read_inventory(as_json, made)] == ["alpha", "beta", "gamma"]


def test_without_an_inventory_the_error_says_how_to_name_one(tmp_path):
    with pytest.raises(backend.PreflightError, match="--inventory FILE"):
        kit.read_inventory(None, plan.make(scenario.load(lab.write(tmp_path, SCENARIO), [])))
