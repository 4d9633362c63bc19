# SPDX-License-Identifier: Apache-2.0
"""Daemons as boards of a mesh (docs/mesh.md): two of two devices each, joined by memifs as cables.

    M0D0 -- M0D1      left: XPUs 0 and 1
     |       |
    M0D2 -- M0D3      right: XPUs 3 and 2

Port 1 leads south, 2 east, 3 north, 4 west; on plane 1 each number is 4 more. Frames go along X first, so from XPU 0 to
XPU 3 by way of M0D1.
"""

import contextlib
import json
import os
import re
import secrets
import subprocess

import pytest

import e2e
import memory
import sockets
import switched
from test_sealing import Keys, secret_line

SUEDE_MESH = e2e.BUILD / "app/mesh/suede-mesh"
SQUARE = e2e.ROOT / "conf/mesh/square.yaml"
# By device: the port toward each device.
TABLES = {0: ["D", 2, 1, 2], 1: [4, "D", 4, 1], 2: [3, 2, "D", 2], 3: [4, 3, 4, "D"]}
BOARDS = {"left": (0, 1), "right": (3, 2)}  # XPUs in the order of instances


def on_plane(plane, port):
    return port if isinstance(port, str) else port + 4 * plane


def end(plane, device, port):
    return f"M0D{device}P{on_plane(plane, port)}"


def suede_mesh(*arguments, code=0):
    done = subprocess.run([SUEDE_MESH, *map(str, arguments)], capture_output=True, text=True, timeout=e2e.START_S,
                          check=False)
    assert done.returncode == code, (done.stdout, done.stderr)
    return done.stdout


def board(directory, side, planes=1, tables=None, crossed=False):
    """The configuration of a board. `crossed`: of the right one, with the two cables to the left one exchanged."""
    role = {"left": "server", "right": "client"}[side]
    config = e2e.endpoint_config(directory, side, "")
    cpu = config["lcores"][0]["cpu"]
    config["ports"] = [{"name": f"plane{k}", "device": "mesh", "plane": k, "encapsulation": "afh2"}
                       for k in range(planes)]
    config["instances"] = [{"xpu": xpu, "lcore": cpu, "ports": [{"port": f"plane{k}"} for k in range(planes)]}
                           for xpu in BOARDS[side]]
    config["peers"] = [{"xpus": "0-3", "ports": [{"port": f"plane{k}"} for k in range(planes)]}]
    tables = tables or TABLES
    config["devices"] = [
        {"device": f"M0D{d}", "lcore": cpu,
         "tables": [{"devices": [on_plane(k, port) for port in tables[d]], "meshes": ["D"]} for k in range(planes)]}
        for d in BOARDS[side]]
    specification = re.search(r"0x[0-9a-f]{12}", suede_mesh("check", SQUARE))[0]
    config["mesh"] = {"cbfc": "on", "specification": int(specification, 16)}
    config["cables"] = []
    for k in range(planes):
        west, east = sorted(BOARDS[side])
        config["cables"].append({"from": end(k, west, 2), "to": end(k, east, 4), "plane": k})
        for column, (north, south) in enumerate(((0, 2), (1, 3))):
            at = {"left": (end(k, north, 1), end(k, south, 3)), "right": (end(k, south, 3), end(k, north, 1))}[side]
            name = f"cable{2 * k + column}"
            wire = 2 * k + (1 - column if crossed else column)
            device = e2e.memif_device(directory, role, len(config["ports"])).replace(
                f"id={len(config['ports'])}", f"id={wire}")
            config["ports"].append({"name": name, "device": device, "encapsulation": "afh2", "cbfc": "on"})
            config["cables"].append({"from": at[0], "to": at[1], "port": name, "plane": k})
    return config


@contextlib.contextmanager
def boards(change=None, crossed=False, **fields):
    """Yields (directory, left, right), whose links are up. `change`: of each configuration, with the side."""
    with e2e.work_directory() as directory, contextlib.ExitStack() as stack:
        daemons = []
        for side in ("left", "right"):
            config = board(directory, side, crossed=crossed and side == "right", **fields)
            if change:
                config = change(side, config)
            daemons.append(e2e.Daemon(directory, config))
        stack.enter_context(e2e.daemons(*daemons))
        for daemon in daemons:
            daemon.wait_for_link()
        yield directory, *daemons


def cables(daemon, state=None):
    rows = e2e.managed(daemon, "cables", "list")["cables"]
    return {row["from"]: row for row in rows if state in (None, row["state"])}


def wait_for_cables(*daemons):
    for daemon in daemons:
        e2e.wait_until(lambda d=daemon: cables(d) == cables(d, "up"), e2e.START_S, lambda d=daemon: cables(d))


def all_to_all(directory, left, right, *arguments):
    """All-to-all of the four XPUs, in a process for each board; the content is checked."""
    with contextlib.ExitStack() as stack:
        runs = []
        for daemon, own in ((left, "0-1"), (right, "2-3")):
            file = directory / f"{secrets.token_hex(3)}.json"
            runs.append((file, stack.enter_context(e2e.perf(
                directory, f"ranks{own}", daemon.socket, "--mode", "workload", "--workload", "all-to-all", "--ranks",
                "0-3", "--own", own, "--bytes", 20000, "--iterations", 10, "--check", "--warmup", 0,
                "--connect_timeout", 60, "--stall", 60, "--json", file, *arguments))))
        for file, run in runs:
            run.expect(0, e2e.TRAFFIC_S)
            assert e2e.results_of(file)["verdict"]["pass"]


def drops(daemon):
    """Frames that routers and the endpoint dropped, by name, as far as there are any."""
    host, port = e2e.managed(daemon, "version")["http"].split(":")
    page = subprocess.run(["curl", "-sS", f"http://{host}:{port}/metrics"], capture_output=True, text=True,
                          timeout=e2e.START_S, check=True).stdout
    return [line for line in page.splitlines()
            if line.startswith(("suede_device_rx_drops", "suede_device_class_drops")) and not line.endswith(" 0")]


def with_page(_, config):
    return e2e.changed(config, {"management": {"http_address": "127.0.0.1:0"}})


def decoded(file):
    """PDUs of a capture."""
    text = subprocess.run([e2e.SUEDECTL, "frame", "decode", "--encap", "afh2", "--input", "pcap", file],
                          capture_output=True, text=True, timeout=60, check=True).stdout
    return [frame for frame in map(json.loads, text.splitlines()) if "error" not in frame]


@pytest.mark.parametrize("planes", [1, 2])
def test_frames_take_the_ways_of_the_tables(planes):
    """Hop counts and addresses in captures are those of the tables, and no frame is on another plane's cables."""
    with boards(with_page, planes=planes) as (directory, left, right):
        wait_for_cables(left, right)
        names = [f"cable{n}" for n in range(2 * planes)]
        inside = [name for k in range(planes) for name in (end(k, 0, 2), f"plane{k}")]  # a cable of M0D0, its centre
        files = {name: directory / f"{name}.pcapng" for name in names + inside}
        for name, file in files.items():
            e2e.managed(left, "capture", "start", name, "--file", file)
        before = drops(left) + drops(right)  # what came before the cables were verified
        all_to_all(directory, left, right)
        for name in files:
            e2e.managed(left, "capture", "stop", "--port", name)
        assert drops(left) + drops(right) == before
        # Cables of a plane: column 0 leads from XPU 0 to 2, column 1 from 1 to 3. By X first, frames from XPU 0 to 3
        # and from 2 to 1 change the column in front of the cable, and have used a hop.
        hops = {(0, 2): 64, (2, 0): 64, (1, 3): 64, (3, 1): 64, (0, 3): 63, (3, 0): 63, (1, 2): 63, (2, 1): 63}
        for number, file in enumerate(files[name] for name in names):
            seen = set()
            for frame in decoded(file):
                source, destination = frame["src_fwd"], frame["dst_fwd"]
                assert source >> 26 == destination >> 26 == number // 2, frame
                way = source & 0x3FF, destination & 0x3FF
                # The last device before the cable has decremented the count, if it is not the source.
                assert frame["hop_limit"] == hops[way], frame
                seen.add(way)
            column = number % 2
            assert seen == {way for way in hops if way[1] % 2 == column}, seen
        # No device in front of these has used a hop, but on the way to the own XPUs.
        beside = {(0, 1), (1, 0), (0, 3), (1, 2)}
        of_left = beside | {way for way in hops if min(way) < 2}
        for k in range(planes):
            for name, ways in ((end(k, 0, 2), beside), (f"plane{k}", of_left)):
                frames = decoded(files[name])
                assert {(frame["src_fwd"] & 0x3FF, frame["dst_fwd"] & 0x3FF) for frame in frames} == ways, name
                for frame in frames:
                    assert frame["src_fwd"] >> 26 == frame["dst_fwd"] >> 26 == k, frame
                    source, destination = frame["src_fwd"] & 0x3FF, frame["dst_fwd"] & 0x3FF
                    used = name.startswith("plane") and destination < 2 and (source, destination) in ((3, 0), (2, 1))
                    assert frame["hop_limit"] == 64 - used, (name, frame)
        assert "ports.list" in e2e.suedectl(left, "capture", "start", "M0D0P9", "--file", directory / "none", code=1)


def test_an_exchanged_pair_of_cables():
    """Frames go over neither, the events and cables.list name both ends, and so does suede-mesh."""
    with boards(crossed=True) as (directory, left, right):
        e2e.wait_until(lambda: len(cables(left, "wrong")) == 2, e2e.START_S, lambda: cables(left))
        rows = cables(left)
        assert rows["M0D0P1"]["to"] == "M0D2P3" and rows["M0D0P1"]["neighbour"] == "M0D3P3", rows
        assert rows["M0D1P1"]["to"] == "M0D3P3" and rows["M0D1P1"]["neighbour"] == "M0D2P3", rows
        left.wait_for_line("cable_wrong cable=M0D0P1 expected=M0D2P3")
        right.wait_for_line("M0D3P3 is cabled to M0D0P1, not to M0D1P1")
        # The devices' own tool says so in a line, of both hosts and of one.
        for hosts in ([left, right], [left]):
            said = suede_mesh("validate", SQUARE, "--endpoint", *(daemon.management for daemon in hosts), code=3)
            assert re.match("swapped: M0D0P1 - M0D2P3 and M0D1P1 - M0D3P3 are exchanged\n", said), said
        # Nothing gets over: XPU 2 is not reached, XPU 1 is.
        for daemon, xpu, code in ((left, 1, 0), (right, 2, 4)):
            server = e2e.perf_server(directory, daemon, "0", "--xpuid", xpu)
            try:
                with e2e.perf(directory, f"to{xpu}", left.socket, "--destinations", xpu, "--vcs", 0, "--count", 100,
                              "--connect_timeout", 60 if code == 0 else 2) as client_of:
                    client_of.expect(code, e2e.TRAFFIC_S)
            finally:
                server.kill()


def test_another_specification():
    with boards(lambda side, config: config if side == "left" else
                e2e.changed(config, {"mesh": {"specification": 1}})) as (_, left, right):
        left.wait_for_line("M0D2P3 000000000001")
        right.wait_for_line("cable_wrong")
        assert len(cables(left, "wrong")) == 2


def test_a_cable_that_comes_up_again_elsewhere():
    """The right board restarts with its cables exchanged, and then as before."""
    with boards() as (directory, left, right):
        wait_for_cables(left, right)
        right.terminate()
        with e2e.Daemon(directory, board(directory, "right", crossed=True)):
            e2e.wait_until(lambda: len(cables(left, "wrong")) == 2, e2e.START_S, lambda: cables(left))
        with e2e.Daemon(directory, board(directory, "right")) as again:
            wait_for_cables(left, again)
            assert "4 of 4 cables are good" in suede_mesh("validate", SQUARE, "--endpoint", left.management,
                                                          again.management)
            all_to_all(directory, left, again)


def test_tables_change_at_run_time():
    """From X first to Y first, under load: `config load` applies tables alone at once, as the next epoch."""
    def epochs(daemon):
        return {row["epoch"] for row in e2e.managed(daemon, "devices", "list")["devices"]}

    y_first = {0: ["D", 2, 1, 1], 1: [4, "D", 1, 1], 2: [3, 3, "D", 2], 3: [3, 3, 4, "D"]}
    with boards() as (directory, left, right):
        wait_for_cables(left, right)
        for daemon, side in ((left, "left"), (right, "right")):
            assert epochs(daemon) == {1}
            file = directory / f"{side}-next.yaml"
            file.write_text(json.dumps(board(directory, side, tables=y_first)))
            changes = e2e.managed(daemon, "config", "load", file)["changes"]
            assert {change["key"]: change["effect"] for change in changes} == \
                {"devices[0]": "at once", "devices[1]": "at once"}, changes
            e2e.wait_until(lambda d=daemon: epochs(d) == {2}, e2e.START_S, "the epoch")
        file = directory / "cable0.pcapng"
        e2e.managed(left, "capture", "start", "cable0", "--file", file)
        all_to_all(directory, left, right)
        e2e.managed(left, "capture", "stop", "--port", "cable0")
        # Column 0 has the frames of its own sources now.
        assert {frame["src_fwd"] & 0x3FF for frame in decoded(file)} == {0, 2}


def test_a_loop_of_tables():
    """Frames from XPU 0 to device 5, which is none, go round M0D0, M0D1, M0D3, M0D2. With hop count 64 the device that
    may not forward them is M0D0, where they come from M0D2: the events name its port alone, and other traffic goes
    on."""
    tables = {device: [*row, ".", {0: 2, 1: 1, 2: 3, 3: 4}[device]] for device, row in TABLES.items()}

    def change(side, config):
        config["peers"].append({"xpu": 5, "ports": [{"port": "plane0"}]})
        return with_page(side, config)
    with boards(change, tables=tables) as (directory, left, right):
        wait_for_cables(left, right)
        with e2e.perf(directory, "lost", left.socket, "--destinations", 5, "--vcs", 3, "--count", 10,
                      "--connect_timeout", 2) as lost:
            all_to_all(directory, left, right)
            lost.wait(e2e.TRAFFIC_S)
        e2e.wait_until(lambda: "hop_limit_drops" in left.stderr() + right.stderr(), e2e.START_S, left.report)
        named = set(re.findall(r" hop_limit_drops port=(\S+)", left.stderr() + right.stderr()))
        # XPU 1 is one device further, so its frames end there.
        assert named <= {"M0D0P1", "M0D1P4"} and "M0D0P1" in named, named


def test_sealed_pdus_pass_several_devices():
    with e2e.work_directory() as at:
        path = Keys(at).write("both", secret_line(1, secrets.token_hex(32)))

        def sealed(_, config):
            for instance in config["instances"]:
                instance["sealing"] = "required"
            return e2e.changed(config, {"sealing": {"secrets": str(path)}})

        with boards(sealed) as (directory, left, right):
            wait_for_cables(left, right)
            all_to_all(directory, left, right)
            keys = e2e.managed(left, "keys", "list")["keys"]
            assert {(row["xpu"], row["peer"]) for row in keys if row["sealed"]} >= {(0, 3), (1, 2)}, keys


def test_credit_of_the_destination_passes_several_devices():
    def rccc(_, config):
        for instance in config["instances"]:
            instance["congestion"] = "rccc"
        for port in config["ports"]:
            if port["device"] == "mesh":
                port["bandwidth_gbps"] = 10
        return config

    with boards(rccc) as (directory, left, right):
        wait_for_cables(left, right)
        all_to_all(directory, left, right)
        rows = [row for row in e2e.managed(left, "connections", "list")["connections"] if row["peer"] == 3]
        assert rows and all(row["congestion_window_octets"] is not None for row in rows), rows


def test_memory_and_sockets_over_several_devices():
    """XPU 0 writes to windows of XPU 3, two hops away, and sends it a stream."""
    with boards() as (_, left, right):
        wait_for_cables(left, right)
        with memory.Target(right.socket) as target, memory.Memory(left.socket) as initiator:
            window, _ = target.add(1, 4096)
            data = secrets.token_bytes(1000)
            assert initiator.wait(initiator.put(3, 1, 64, data)) == 0, initiator.error()
            assert bytes(window[64:1064]) == data
            result = initiator.get(3, 1, 64, 1000)
            assert initiator.wait(result) == 0 and initiator.octets(result) == data
        with sockets.Sockets(left.socket) as one, sockets.Sockets(right.socket) as other:
            sender, receiver = one.sender(3), other.receiver(0)
            assert sender.connect() == 0 and receiver.connect() == 0, one.error()
            data = secrets.token_bytes(100000)
            assert sender.send(data) == (0, len(data))
            assert receiver.receive_all(len(data)) == data
            assert sender.drain() == 0


def test_the_caller_chooses_a_plane():
    """With an instance on each plane an operation goes by the plane that its caller names, or by one that the library
    chooses."""
    def split(_, config):
        config["instances"] = [{**one, "instance": k, "ports": [{"port": f"plane{k}"}]}
                               for one in config["instances"] for k in range(2)]
        return config

    with boards(split, planes=2) as (directory, left, right):
        wait_for_cables(left, right)
        planes = [(3, 0), (3, 1)]
        with memory.Target(right.socket, planes=planes) as target, \
                memory.Memory(left.socket, planes=[(0, 0), (0, 1)]) as initiator:
            window, _ = target.add(1, 4096)
            assert initiator.wait(initiator.put(3, 1, 0, b"by any", plane=-1)) == 0
            for plane in range(2):
                # XPU 3 is in column 1: cable 1 on plane 0, cable 3 on plane 1.
                file = directory / f"plane{plane}.pcapng"
                other = directory / f"other{plane}.pcapng"
                e2e.managed(left, "capture", "start", f"cable{2 * plane + 1}", "--file", file)
                e2e.managed(left, "capture", "start", f"cable{3 - 2 * plane}", "--file", other)
                data = secrets.token_bytes(500)
                assert initiator.wait(initiator.put(3, 1, 64, data, plane=plane)) == 0, initiator.error()
                assert bytes(window[64:564]) == data
                for name in (f"cable{2 * plane + 1}", f"cable{3 - 2 * plane}"):
                    e2e.managed(left, "capture", "stop", "--port", name)
                assert any(frame.get("commands") for frame in decoded(file)), decoded(file)
                assert not any(frame.get("commands") for frame in decoded(other)), decoded(other)


def test_a_board_on_two_lcores():
    """All four devices in one daemon, two on each lcore: cables inside it, also between lcores, and no ports."""
    with e2e.work_directory() as directory:
        config, right = board(directory, "left"), board(directory, "right")
        cpus = sorted(os.sched_getaffinity(0))
        other = cpus[1 % len(cpus)]
        if len(cpus) > 1:
            config["lcores"] = [{"cpu": cpu, "idle": "sleep"} for cpu in (cpus[0], other)]
        for part in (*config["devices"], *config["instances"]):
            part["lcore"] = cpus[0]
        for part in (*right["devices"], *right["instances"]):
            part["lcore"] = other
        config["ports"] = config["ports"][:1]
        for key in ("devices", "instances", "cables"):
            config[key] += right[key]
        config["cables"] = [{key: value for key, value in cable.items() if key != "port"} for cable in config["cables"]
                            if cable["from"] < cable["to"]]
        with e2e.Daemon(directory, with_page("left", config)) as daemon:
            wait_for_cables(daemon)
            assert len(cables(daemon)) == 8
            switched.run_workload(directory, daemon, 4, "all-to-all", "--bytes", 20000, "--iterations", 10)
            assert not drops(daemon)
