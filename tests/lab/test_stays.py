# SPDX-License-Identifier: Apache-2.0
"""Labs that stay up: their commands, their directories, and the leftovers of killed ones."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import types

import lab
import pytest
from labkit import backend, commands, desk, faults, inside, nodes, plan as plans, scenario, state, tables, templates, units
from labkit import lab as labs
from labkit import topology as topologies

TEXT = """\
version: 1
name: two
topology: {xpus: 2, daemons: 2}
load:
  - {name: ring, workload: all-reduce-ring, bytes: 4096, iterations: 20}
faults:
  - {at_s: 3, for_s: 100, link: xpu1.p0, impair: {loss: 1}}
"""


@pytest.fixture(name="base")
def fixture_base(monkeypatch):
    """A directory of labs for one test: addresses of sockets are short."""
    with tempfile.TemporaryDirectory(prefix="labs-", dir="/tmp") as directory:
        monkeypatch.setenv(state.ENVIRONMENT, directory)
        monkeypatch.setitem(lab.ENVIRONMENT, state.ENVIRONMENT, directory)
        yield pathlib.Path(directory)
        if state.names():
            lab.run("down", "--all")


@pytest.fixture(name="say")
def fixture_say(capsys):
    """Calls a command in this process. Returns (standard output, standard error)."""
    def call(*words, code=0):
        capsys.readouterr()
        assert commands.main([str(word) for word in words]) == code
        return capsys.readouterr()
    return call


def test_labs_stay_up_side_by_side(base, tmp_path, say):
    """up, exec, load, fault, capture, pause, down; then a lab is killed, and its leftovers are removed."""
    path = lab.write(tmp_path, TEXT)
    back_end = "veth" if os.geteuid() == 0 else "local"
    said, _ = lab.run("up", "--backend", back_end, "--name", "a", "--out", tmp_path / "a", path)
    assert said.startswith("lab a is up: 3 nodes")
    lab.run("up", "--quiet", "--name", "b", "--out", tmp_path / "b", path)
    assert [line.split()[0] for line in say("status")[0].splitlines()] == ["lab", "a", "b"]
    _, told = lab.run("up", "--name", "b", path, code=1)
    assert "the lab b is up already; end it by tools/lab down b" in told
    _, told = say("pause", "d0", code=1)
    assert "which lab? There are a, b" in told

    said, _ = lab.run("exec", "--name", "a", "d1", "suedectl", "--json", "version")
    assert json.loads(said)["name"].endswith("-d1")
    if back_end == "veth":
        assert "x1p0" in lab.run("exec", "--name", "a", "sw0", "ip", "-brief", "link")[0]
    lab.run("exec", "--name", "a", "d0", "sh", "-c", 'test -S "$SUEDE_PERF_ENDPOINT" && test "$PWD" = "$1" && exit 7', "-", os.getcwd(),
            code=7)

    capture = lab.start("capture", "--name", "a", "xpu0.p0", "-o", tmp_path / "frames.pcapng")
    assert "capturing x0p0 at sw0, both directions" in capture.stdout.readline()
    said, _ = say("load", "--name", "a", "ring")
    assert "ring.d0: exit code 0" in said and "ok   ring lost" in said
    said, _ = say("load", "--name", "a", "--on", "d1", "--", "--mode=latency", "--xpuid=1", "--destinations=0",
                      "--connect_timeout=0.5", code=3)
    assert "no answer from a suede-perf server at XPU 0" in said and "FAIL perf completed" in said
    capture.send_signal(signal.SIGINT)
    assert capture.communicate(timeout=60)[0].startswith("port: x0p0") and capture.returncode == 0
    directions = subprocess.run(["tshark", "-r", tmp_path / "frames.pcapng", "-T", "fields", "-e", "frame.packet_flags_direction"],
                                capture_output=True, text=True, check=True, timeout=60).stdout.split()
    assert min(directions.count(each) for each in ("0x00000001", "0x00000002")) > 20

    assert say("fault", "--name", "a", "0")[0] == "fault 1: xpu1.p0 has loss 1\n"
    assert say("load", "--name", "a", "ring", "stall_s=1", "connect_timeout_s=1", code=3)
    say("fault", "--name", "a", "--clear", "1")
    say("pause", "--name", "a", "d0")
    now = json.loads(say("status", "--json", "a")[0])
    assert [node["state"] for node in now["nodes"]] == ["paused", "up", "up"] and len(now["faults"]) == 1
    say("resume", "--name", "a", "d0")
    now = json.loads(say("status", "--json", "a")[0])
    assert [(each["name"], each["state"]) for each in now["loads"]] == [("ring", "ended"), ("perf", "ended"), ("ring-2", "ended")]

    assert ">running</span>" in (tmp_path / "a/report.html").read_text(encoding="utf-8")
    said, _ = say("down", "a")
    assert "expectations that were missed: perf completed" in said and not (base / "a").exists()
    assert ">failed</span>" in (tmp_path / "a/report.html").read_text(encoding="utf-8")
    report = lab.report(tmp_path / "a")
    assert [event["name"] for event in report["events"] if event["source"] == "lab"].count("fault") == 2
    assert {load["load"] for load in report["load"]} == {"ring", "perf", "ring-2"} and report["final"]["d0"]["counters"]
    assert lab.processes(tmp_path / "a") == {}

    os.kill(state.read("b")["keeper"]["pid"], signal.SIGKILL)
    lab.wait_for(lambda: not lab.processes(tmp_path / "b"), 10, "the end of all processes")
    assert "killed" in say("status")[0]
    said, _ = say("down", "--all")
    assert said.startswith("b: removed ") and list(base.iterdir()) == []


def test_a_lab_that_cannot_start_leaves_nothing(base, tmp_path):
    wrong = TEXT + "endpoint: {management: {http_address: '192.0.2.1:9'}}\n"
    said, _ = lab.run("up", "--out", tmp_path / "out", lab.write(tmp_path, wrong), code=1)
    assert " ended at its start with 5" in said
    assert list(base.iterdir()) == [] and lab.processes(tmp_path / "out") == {}


# ---- Directories and processes.

def test_a_directory_is_held_by_one_lab(base):
    held = state.claim("one")
    assert state.is_kept("one") and state.names() == ["one"]
    with pytest.raises(backend.LabError, match="it is up; end it by tools/lab down one"):
        state.claim("one")
    assert state.remove_leftovers() == []
    held.remove()
    assert not state.is_kept("one") and state.names() == []


def _leftover(base, name, processes):
    """The directory of a lab whose process is gone."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    (base / name).mkdir()
    (base / name / "d0.ctl").write_text("")
    (base / name / state.STATE).write_text(json.dumps({"boot": state.boot_id(), "keeper": {"pid": gone.pid, "start": 1},
                                                       "processes": processes, "prefixes": []}))


def test_no_foreign_process_is_ended(base):
    """A process is named by its id and the time of its start: another one may have got the id."""
    with subprocess.Popen(["sleep", "100"]) as own, subprocess.Popen(["sleep", "100"]) as foreign:
        start = state.start_of(own.pid)
        assert start is not None and state.is_process({"pid": own.pid, "start": start})
        _leftover(base, "dead", [{"pid": own.pid, "start": start}, {"pid": foreign.pid, "start": state.start_of(foreign.pid) - 1},
                                 {"pid": 2 ** 22 + 1, "start": 5}])
        assert state.remove_leftovers() == [f"dead: removed 1 process, {base / 'dead'}"]
        assert own.wait(10) == -signal.SIGKILL and foreign.poll() is None and list(base.iterdir()) == []
        foreign.kill()


def test_a_process_that_nobody_waited_for_has_ended():
    with subprocess.Popen(["true"]) as child:
        lab.wait_for(lambda: state.start_of(child.pid) is None, 10, "its end")
        assert pathlib.Path(f"/proc/{child.pid}/stat").exists()


def test_processes_before_a_boot_are_others(base):
    with subprocess.Popen(["sleep", "100"]) as other:
        _leftover(base, "dead", [{"pid": other.pid, "start": state.start_of(other.pid)}])
        text = (base / "dead" / state.STATE).read_text().replace(state.boot_id(), "another boot")
        (base / "dead" / state.STATE).write_text(text)
        state.remove_leftovers()
        assert other.poll() is None and state.names() == []
        other.kill()


def test_files_of_hugepages_are_leftovers(base, monkeypatch):
    """Finds files of the lab's own EAL prefixes alone."""
    huge = base / "huge"
    huge.mkdir()
    for name in ("suede_lab-77-d0map_0", "suede_lab-777-d0map_0", "suede_othermap_0"):
        (huge / name).write_text("")
    mounts = base / "mounts"
    mounts.write_text(f"none {huge} hugetlbfs rw 0 0\nnone /tmp tmpfs rw 0 0\n")
    monkeypatch.setattr(state, "MOUNTS", mounts)
    assert [path.name for path in state.hugepage_files("suede_lab-77-")] == ["suede_lab-77-d0map_0"]


def test_a_name_whose_lab_was_killed_is_free(base):
    _leftover(base, "again", [])
    held = state.claim("again")
    assert sorted(path.name for path in held.path.iterdir()) == [state.STATE]
    held.remove()


def test_other_directories_are_left_alone(base):
    """$SUEDE_LAB_DIR may name a directory that has more."""
    (base / "mine").mkdir()
    (base / "mine" / "work").write_text("")
    assert state.remove_leftovers() == [] and state.names() == []
    with pytest.raises(backend.LabError, match="it is no directory of a lab; name another directory by"):
        state.claim("mine")
    assert (base / "mine" / "work").exists()


def test_paths_that_sockets_cannot_have(monkeypatch):
    monkeypatch.setenv(state.ENVIRONMENT, "/tmp/" + "x" * 80)
    with pytest.raises(backend.LabError, match=r"characters are too many for addresses of sockets; name a shorter directory by \$SUEDE"):
        state.claim("one")


# ---- Loads and faults that commands add.

@pytest.fixture(name="read")
def fixture_read(tmp_path):
    return scenario.load(lab.write(tmp_path, TEXT))


@pytest.mark.parametrize("section, words, message", [
    ("load", ["byte=3"], "load: byte: is no key; bytes may be meant"),
    ("load", ["bytes=0"], "load: bytes: 0 is out of range; write 1 to 1.09951e+12"),
    ("load", ["bytes"], "load: bytes: is no key=value"),
    ("load", ["ranks=0-5"], "load: ranks: there is no XPU 2; topology.xpus is 2"),
    ("load", ["mode=latency"], "load: source: is missing; mode latency has one"),
    ("faults", ["link=xpu0.p0"], "load: says what by one of impair, down, admin_down, process and pfc_storm; add one"),
    ("faults", ["load=x", "process=stop"], "load: load: there is no load x; there are ring"),
])
def test_wrong_words_are_named(read, section, words, message):
    with pytest.raises(nodes.ScenarioError) as error:
        scenario.added(read, section, {"name": "new"} if section == "load" else {"at_s": 0}, words, "load", "/", ["ring"])
    assert error.value.messages[0] == message


def test_a_load_of_the_scenario_with_other_keys(read):
    spec, here = scenario.added(read, "load", read["load"][0], ["bytes=9", "trace=t.csv"], "load", "/somewhere")
    assert spec == {**read["load"][0], "bytes": 9, "trace": "/somewhere/t.csv"}
    topology = topologies.build(read)
    load = plans.make_load(here, topology, spec, "vcs", [])
    with pytest.raises(nodes.ScenarioError, match="load: vcs: VC 0 of XPU 0 is of load ring, and a VC has one receiver"):
        plans.make_load(here, topology, {**spec, "name": "other"}, "vcs", [load])
    command = plans.make_command("perf", "d1", [1], ["--mode", "server"])
    assert command.processes[0].argv() == ["--mode", "server"] and command.receivers() == set()


class Calls:
    """A back end and a sampler that note what is done."""

    def __init__(self, plan):
        self.plan, self.done, self.events = plan, [], []
        self.connections = types.SimpleNamespace(call=self.call, forget=lambda node: None)
        self.series = types.SimpleNamespace(all={})
        self.epoch, self.zero = 0, 0

    def call(self, node, method, **params):
        if params.get("port") == "broken":
            raise labs.rpc.RpcError("no such port")
        self.done.append((node.name, params["direction"], params["loss"]))

    def now(self):
        return 1.0

    def lab_event(self, severity, name, text, end=None):
        self.events.append({"t": 1.0, "end": end, "severity": severity, "name": name, "text": text})
        return self.events[-1]


def _lab(read):
    plan = plans.make(read)
    result = labs.Lab(plan, None, None, stays=True)
    result.sampler = Calls(plan)
    return result


def _fault(read, *words):
    spec, here = scenario.added(read, "faults", {"at_s": 0}, words, "fault", "/")
    return faults.make_one(here, topologies.build(read), plans.make(read), spec, "")


def test_a_fault_that_lasts_comes_again_where_another_one_ends(read):
    made = _lab(read)
    first = made.begin_fault(_fault(read, "link=xpu0.p0", "impair.loss=0.5", "direction=in"))
    second = made.begin_fault(_fault(read, "link=xpu0.p0", "impair.loss=0.1"))
    made.end_fault(second)
    assert made.sampler.done == [("sw0", "in", 0.5), ("sw0", "in", 0.1), ("sw0", "out", 0.1), ("sw0", "in", 0), ("sw0", "out", 0),
                                 ("sw0", "in", 0.5)]
    assert list(made.active) == [first] and made.sampler.events[1]["end"] == 1.0
    with pytest.raises(KeyError):
        made.end_fault(second)


def test_a_fault_that_cannot_begin_does_not_last(read):
    made = _lab(read)
    broken = _fault(read, "link=xpu0.p0", "impair.loss=0.5", "for_s=3")
    for action in broken.begin:
        action["params"]["port"] = "broken"
    with pytest.raises(labs.rpc.RpcError):
        made.begin_fault(broken)
    assert made.active == {} and made.clock.heap == []


class Client:
    """A process of suede-perf that takes no notice of SIGTERM."""

    def __init__(self):
        self.process = types.SimpleNamespace(name="ring.d0", role="workload")
        self.signals = []

    def poll(self):
        return -9 if signal.SIGKILL in self.signals else None

    def signal(self, number):
        self.signals.append(number)


def test_a_load_that_does_not_end_is_ended(read):
    made = _lab(read)
    load = types.SimpleNamespace(name="ring", spec={"mode": "workload"})
    run = labs.LoadRun(load, [Client()], 0.0)
    made.plan.timeout_s = 100
    for now in (99, 101, 139):
        made.sampler.now = lambda now=now: now
        made._limit(run, now)
    assert run.handles[0].signals == [signal.SIGCONT, signal.SIGTERM]
    made._limit(run, 142)
    assert run.handles[0].signals[-1] == signal.SIGKILL and run.clients_are_over()
    assert made.problems == ["load ring was ended after timeout_s, 100 s", "load ring did not end within 40 s and was killed"]
    endless = labs.LoadRun(types.SimpleNamespace(name="perf", spec={"mode": "command"}), [Client()], 0.0)
    made._limit(endless, 1000)
    assert endless.handles[0].signals == []


def test_peers_hear_of_a_restart_at_once(read):
    made, pings = _lab(read), []
    made.sampler.restarted = lambda node: None
    made.sampler.connections.call = lambda node, method, **params: pings.append((node.name, method, params["xpu"], params["peer"]))
    made.backend = types.SimpleNamespace(start=lambda node: None, wait_ready=lambda node, seconds: None)
    made.killed = {"d1"}
    made.restart(made.plan.node("d1"))
    assert pings == [("d1", "peers.ping", 1, 0)] and made.killed == set()


# ---- Links, tables, scenarios.

def told(**states):
    links = [{"name": "x0p0", "names": ["x0p0", "xpu0.p0"], "a": {"node": "d0", "port": "x0p0"}, "b": {"node": "sw0", "port": "x0p0"},
              "plane": 0, "state": ["up", "down"]}]
    nodes_ = [{"name": name, "kind": "switch" if name == "sw0" else "endpoint", "state": states.get(name, "up"), "pid": 5,
               "xpus": [] if name == "sw0" else [0, 1], "control": f"/{name}.ctl"} for name in ("d0", "sw0")]
    return {"name": "two", "stays": True, "seconds": 3.2, "backend": "local", "scenario": "/s.yaml", "out": "/out", "goodput": 125e6,
            "nodes": nodes_, "links": links, "faults": [{"number": 1, "text": "all is down", "seconds": 2}, {"number": 2, "text": "sw0 is stopped", "seconds": -3}],
            "loads": [{"name": "ring", "kind": "moe", "state": "runs", "seconds": 1, "goodput": 125e6, "exits": [None, 0]}],
            "problems": ["d1 ended\nmore"]}


def test_links_are_found_by_each_of_their_names():
    for name in ("x0p0", "xpu0.p0"):
        assert inside.link_of(told(), name)["name"] == "x0p0"
    with pytest.raises(backend.LabError, match="there is no link x9p0; there are x0p0"):
        inside.link_of(told(), "x9p0")


def test_a_link_is_captured_at_an_end_that_runs():
    link = told()["links"][0]
    assert inside.end_of(told(), link, None) == ("sw0", "x0p0")
    assert inside.end_of(told(sw0="paused"), link, None) == ("d0", "x0p0")
    assert inside.end_of(told(), link, "d0") == ("d0", "x0p0")
    with pytest.raises(backend.LabError, match="cannot capture x0p0: sw0 and d0 are not running"):
        inside.end_of(told(sw0="paused", d0="ended (1)"), link, None)
    with pytest.raises(backend.LabError, match="d7 is no end of x0p0; there are d0 and sw0"):
        inside.end_of(told(), link, "d7")


def test_the_tables_of_status():
    text = tables.status(told())
    for line in ("lab two: stays up, 3 s, back end local, goodput 1.000 Gbit/s", "d0    endpoint  up     5    0-1   /d0.ctl",
                 "x0p0  d0:x0p0  sw0:x0p0  0      up at d0, down at sw0", "1      lasts for 2.0 s  all is down", "2      comes in 3.0 s   sw0 is stopped",
                 "ring  moe   runs   1.0      1.000 Gbit/s  - 0", "problem: d1 ended"):
        assert line in text.splitlines(), text


@pytest.mark.parametrize("value, unit, text", [
    (0, "bit/s", "0 bit/s"), (1234567, "bit/s", "1.235 Mbit/s"), (999999, "B", "1.000 MB"), (0.5, "B", "0.5000 B"),
    (0.00123456, "s", "1.235 ms"), (12, "s", "12.00 s"), (123456, "", "123.5 k")])
def test_quantities_have_four_digits(value, unit, text):
    assert units.quantity(value, unit) == text


def test_init_writes_each_scenario(tmp_path):
    assert {line.split()[0] for line in templates.listing().splitlines()} == {path.stem for path in lab.SCENARIOS}
    for name in templates.names():
        path = tmp_path / f"{name}.yaml"
        assert str(path) in templates.write(name, path)
        assert scenario.load(path)["name"] == name
    with pytest.raises(backend.LabError, match="File exists; name another file by --output"):
        templates.write("sealed", tmp_path / "sealed.yaml")
    with pytest.raises(nodes.ScenarioError, match="there is no scenario seald; sealed may be meant"):
        templates.write("seald")


def test_a_run_has_a_desk_too(base, tmp_path):
    """status and faults of a run that is under way."""
    path = lab.write(tmp_path, TEXT.replace("iterations: 20", "duration_s: 60"))
    process = lab.start("--out", tmp_path / "out", path)
    try:
        name = f"run-{process.pid}"
        lab.wait_for(lambda: (base / name / state.SOCKET).exists(), 60, "the desk")
        assert desk.call(name, "status", 60)["stays"] is False
        lab.wait_for(lambda: desk.call(name, "status", 60)["goodput"] > 0, 60, "its load")
        desk.call(name, "down", 60)
        said, _ = process.communicate(timeout=60)
        assert process.returncode == 1 and "problem: interrupted by the command down" in said
    finally:
        process.kill()
        process.communicate()
