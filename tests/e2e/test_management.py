# SPDX-License-Identifier: Apache-2.0
"""The management socket: every method through suedectl, counters that match what clients sent, and
connections that send nonsense while others go on."""

import contextlib
import json
import os
import pathlib
import random
import re
import signal
import socket
import stat
import subprocess
import time

import jsonschema
import pytest

import e2e
from client import Client

# Methods that have a test of their own below, or end the daemon.
CHANGES = {"drain", "log.set_level", "capture.start", "capture.stop", "ports.set_admin",
           "ports.hint", "planes.drain", "planes.set_admin", "planes.set_weight", "events.wait",
           "peers.ping", "peers.probe_path", "reg.read", "reg.write", "keys.rotate", "keys.reload"}
SCOPES = ["total", "instance", "lcore", "port"]


@pytest.fixture(scope="module")
def pair():
    with e2e.memif_pair() as (directory, left, right):
        for daemon in (left, right):
            daemon.wait_for_link()
        yield directory, left, right


# Methods whose result is one text, whatever its width.
DOCUMENTS = {"config.get", "record.read"}
# Methods that wait, or need one of several parameters.
NEEDING = {"events.wait", "config.check"}


def test_no_table_is_wider_than_a_page(pair):
    """Runs each command that changes nothing, under load; with --wide the rows are whole."""
    directory, left, right = pair
    methods = e2e.managed(left, "rpc", "describe")["methods"]
    commands = [m["name"].split(".") for m in methods
                if not m["changes"] and m["name"] not in DOCUMENTS | NEEDING
                and not any(p["required"] for p in m["params"])
                and not (m["descriptor"] and m["descriptor"]["required"])]
    assert len(commands) > 20
    commands += [["counters", "get", "--scope", scope] for scope in SCOPES]
    commands += [["ping", "0", "--count", "1"], ["--every", "0.1", "--times", "1", "top"], ["endpoints"]]
    server = e2e.perf_server(directory, left, "0")
    with e2e.perf(directory, "load", right.socket, "--destinations", 0, "--duration", 60) as load:
        e2e.wait_until(lambda: right.counters()["tx_commands_total"] > 0, e2e.START_S, "traffic")
        for command in commands:
            for line in e2e.suedectl(right, *command).splitlines():
                assert len(line) <= 100, (command, line)
        assert load.running(), load.report()
    server.kill()
    hidden = e2e.suedectl(right, "connections", "list")
    wide = e2e.suedectl(right, "--wide", "connections", "list")
    assert "(--wide shows, too:" in hidden and "(--wide" not in wide
    assert max(map(len, wide.splitlines())) > 100


def test_tables_name_xpus():
    """Peers with a name have it beside their number; JSON is as the daemon sent it."""
    with e2e.work_directory() as directory:
        left, right = (e2e.endpoint_config(directory, side, e2e.memif_device(directory, role))
                       for side, role in (("left", "server"), ("right", "client")))
        left["peers"][0]["name"] = "gpu-one"
        with e2e.daemons(e2e.Daemon(directory, left), e2e.Daemon(directory, right)) as (one, other):
            for daemon in (one, other):
                daemon.wait_for_link()
            with Client(one.socket) as sender, Client(other.socket) as receiver:
                receiver.claim(1)
                sender.complete(sender.send_all(1, 4), 20)
            assert [peer["name"] for peer in e2e.managed(one, "peers", "list")["peers"]] == ["gpu-one"]
            for command in (("connections", "list"), ("--every", "0.1", "--times", "1", "top")):
                text = e2e.suedectl(one, *command)
                assert "peer_name" in text and "gpu-one" in text, text
                assert "peer_name" not in e2e.suedectl(one, "-j", *command)
            assert "peer_name" not in e2e.suedectl(other, "connections", "list")
            # A name may stand for the number.
            for command in (("ping", "gpu-one", "--count", "1"), ("why", "gpu-one", "--samples", "2"),
                            ("peers", "ping", "--peer", "gpu-one"), ("trace", "add", "--peer", "gpu-one")):
                e2e.suedectl(one, *command)
            assert "XPU 1 (gpu-one)" in e2e.suedectl(one, "ping", "gpu-one", "--count", "1")
            assert "XPU 1 (gpu-one)" in e2e.suedectl(one, "why", "1", "--samples", "2")
            assert "did you mean gpu-one?" in e2e.suedectl(one, "ping", "gpu-on", code=2)
            assert "names none" in e2e.suedectl(other, "ping", "gpu-one", code=2)


def test_completion_knows_names_and_xpus(pair):
    _, left, _ = pair

    def completed(*words):
        script = ('source <("$0" completion); COMP_WORDS=(suedectl "$@"); COMP_CWORD=$#; _suedectl\n'
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        path = {**os.environ, "PATH": f"{pathlib.Path(e2e.SUEDECTL).parent}:{os.environ['PATH']}"}
        run = subprocess.run(["bash", "-c", script, e2e.SUEDECTL, *words], capture_output=True, text=True,
                             timeout=e2e.START_S, check=True, env=path)
        return run.stdout.split()

    here = ("--socket", left.management)
    assert completed(*map(str, here), "ping", "1") == ["1"]
    assert completed(*map(str, here), "path", "--peer", "") == ["1"]
    assert completed(*map(str, here), "ping", "1", "--xpu", "") == ["0"]
    # As if the daemon had its sockets where daemons of this user have them.
    root = pathlib.Path("/run" if os.geteuid() == 0 else os.environ.get("XDG_RUNTIME_DIR", "/nowhere"))
    if not os.access(root, os.W_OK):
        pytest.skip("no runtime directory of the user")
    place = root / "suede" / left.name
    place.mkdir(parents=True)
    try:
        (place / "management.sock").symlink_to(left.management)
        assert completed("--endpoint", left.name[:5]) == [left.name]
    finally:
        (place / "management.sock").unlink()
        place.rmdir()


class Raw:
    """A connection that sends any bytes."""

    def __init__(self, daemon):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(e2e.START_S)
        self.socket.connect(daemon.management)
        self.file = self.socket.makefile("rb")
        self.greeting = json.loads(self.file.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        self.socket.close()

    def ask(self, line):
        self.socket.sendall(line + b"\n")
        return json.loads(self.file.readline())

    def wait(self):
        """Has a request under way from now on, for a minute."""
        request = {"jsonrpc": "2.0", "id": 1, "method": "events.wait",
                   "params": {"kind": "drain_began", "seconds": 60}}
        self.socket.sendall(json.dumps(request).encode() + b"\n")

    def call(self, method, **params):
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = self.ask(json.dumps(request).encode())
        assert "result" in answer, answer
        return answer["result"]


def test_greeting_and_permissions(pair):
    _, left, _ = pair
    with Raw(left) as connection:
        assert connection.greeting["protocol"] == 1
        assert connection.greeting["name"] == left.name
        assert connection.greeting["suede"] == connection.call("version")["suede"]
    mode = os.stat(left.management).st_mode
    assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o660


def test_every_method_through_suedectl(pair):
    _, left, _ = pair
    methods = e2e.managed(left, "rpc", "describe")["methods"]
    assert len(methods) >= 12
    for method in methods:
        assert method["sentence"] and method["result"] and method["result_schema"]["required"]
        if method["name"] in CHANGES or method["descriptor"]:
            continue
        assert not any(p["required"] for p in method["params"]), "give it a test of its own"
        command = method["name"].split(".")
        result = e2e.managed(left, *command)
        assert isinstance(result, dict) and result
        text = e2e.suedectl(left, *command)
        assert text.strip() and not text.lstrip().startswith("{")


def test_results_are_as_described(directory):
    """The answer of each method that only reads fits the schema that rpc.describe gives of it: of
    two endpoints with two planes, a client, traffic behind them and a capture under way."""
    given = {"ports.hint": [{"port": "p0"}], "reg.read": [{"register": "0x0", "count": 1024}],
             "events.wait": [{"since": 0}, {"seconds": 0}],
             "events.list": [{}, {"since": 0, "limit": 1000}],
             "connections.list": [{}, {"unused": True, "limit": 1}],
             "sessions.list": [{}, {"idle": True, "limit": 1}],
             "planes.peers": [{}, {"limit": 1}], "config.check": [{"yaml": "name: x"}],
             "counters.get": [{"scope": scope} for scope in SCOPES],
             "counters.delta": [{"scope": scope} for scope in SCOPES * 2],
             "peers.ping": None, "peers.probe_path": None}  # of the other
    with e2e.memif_planes(2, "strict") as (directory, left, right):
        e2e.both_ways(directory, left, right, 0.2)
        server = e2e.perf_server(directory, left, "0")
        e2e.managed(left, "capture", "start", "p0", "--file", directory / "p0.pcapng")
        for daemon, peer in ((left, 1), (right, 0)):
            given["peers.ping"] = [{"peer": peer}, {"peer": peer, "plane": 1, "timeout_ms": 100}]
            given["peers.probe_path"] = [{"peer": peer, "count": 2, "timeout_ms": 100}]
            given["config.check"] = [{"yaml": json.dumps(daemon.config)},
                                     {"yaml": json.dumps(e2e.changed(
                                         daemon.config, {"log": {"level": "debug"}}))}]
            with Raw(daemon) as connection:
                methods = connection.call("rpc.describe")["methods"]
                for method in methods:
                    schema = method["result_schema"]
                    jsonschema.Draft202012Validator.check_schema(schema)
                    jsonschema.Draft202012Validator.check_schema(method["schema"])
                    if method["changes"] or (method["descriptor"] or {}).get("required"):
                        continue
                    for params in given.get(method["name"], [{}]):
                        jsonschema.validate(params, method["schema"])
                        result = connection.call(method["name"], **params)
                        jsonschema.validate(result, schema,
                                            cls=jsonschema.Draft202012Validator)
                        # None of it may be left out, and there is nothing else.
                        for member in schema["required"]:
                            less = {k: v for k, v in result.items() if k != member}
                            with pytest.raises(jsonschema.ValidationError):
                                jsonschema.validate(less, schema)
                        with pytest.raises(jsonschema.ValidationError):
                            jsonschema.validate({**result, "undeclared": 1}, schema)
        server.kill()


def test_what_the_lists_say(pair):
    _, left, right = pair
    assert e2e.managed(left, "version")["name"] == left.name
    assert e2e.managed(left, "version")["pid"] == left.pid
    assert e2e.managed(left, "instances", "list")["instances"] == [
        {"xpu": 0, "instance": 0, "partition": 0, "lcore": left.config["lcores"][0]["cpu"], "port": "p0",
         "address": e2e.ip_of(0)}]
    assert e2e.managed(left, "peers", "list")["peers"] == [
        {"xpu": 1, "port": "p0", "address": e2e.ip_of(1), "mac": e2e.mac_of(1),
         "resolving": False, "name": ""}]
    port, = e2e.managed(right, "ports", "list")["ports"]
    assert port["mac"] == e2e.mac_of(1) and port["link_up"] and port["driver"] == "net_memif"
    assert 0 < port["pool_free"] <= port["pool_frames"]
    assert "no instance seals" in e2e.suedectl(left, "keys", "reload", code=1)
    assert e2e.managed(left, "keys", "rotate") == {"peers": 0}
    assert "link_up" in e2e.suedectl(right, "ports", "list").splitlines()[0]


def test_configuration_loads_again(pair):
    directory, left, _ = pair
    path = directory / "effective.yaml"
    path.write_text(e2e.suedectl(left, "config", "get"))
    check = e2e.Process(directory, "check", [e2e.SUEDE, "--config", path, "--dump_config"])
    with check:
        check.expect(0, e2e.START_S)
    assert check.stdout() == path.read_text()


def test_what_is_wrong_with_a_configuration_is_in_its_file(pair):
    """The daemon gets a descriptor, and messages name the file as the user did."""
    directory, left, _ = pair
    path = directory / "wrong.yaml"
    path.write_text("version: 1\nname: left\nnonsense: 7\n")
    for verb in ("check", "load"):
        assert f"{path}:3:1: nonsense: " in e2e.suedectl(left, "config", verb, path, code=1)
        assert f"{path}:3:1: nonsense: " in e2e.suedectl(left, "config", verb, "--file", path, code=1)


def test_capture(pair):
    """A port's frames in a file that suedectl frame decode reads."""
    directory, left, right = pair
    file = directory / "frames.pcapng"
    for daemon in (left, right):
        daemon.wait_for_link()
    assert e2e.managed(left, "capture", "start", "--port", "p0", "--file", file) == {"port": "p0"}
    assert "captured already" in e2e.suedectl(left, "capture", "start", "p0", "--file",
                                              directory / "again.pcapng", code=1)
    server = e2e.perf_server(directory, right, "0")
    try:
        with e2e.perf(directory, "client", left.socket, "--destinations", 1, "--size", 32, "--count",
                      500, "--warmup", 0) as run:
            run.expect(0, e2e.TRAFFIC_S)
    finally:
        server.kill()
    under_way, = e2e.managed(left, "capture", "list")["captures"]
    assert under_way["port"] == "p0"
    result = e2e.managed(left, "capture", "stop", "--port", "p0")
    assert result["written"] > 0 and e2e.managed(left, "capture", "list") == {"captures": []}
    decoded = subprocess.run([e2e.SUEDECTL, "frame", "decode", "--encap", "udp4", "--input", "pcap",
                              file], capture_output=True, timeout=60, check=True, text=True).stdout
    frames = [json.loads(line) for line in decoded.splitlines()]
    assert len(frames) == result["written"]
    assert not [frame for frame in frames if "error" in frame]
    if not result["dropped"]:
        commands = {(f["psn"], i) for f in frames if f["xpuid"] == 0 and f["ver"] == 0
                    for i, _ in enumerate(f["commands"])}
        assert len(commands) >= 500


def test_capture_of_no_port(pair):
    directory, left, _ = pair
    for command in (["start", "--port", "p9", "--file", directory / "x"], ["stop", "--port", "p0"]):
        said = e2e.suedectl(left, "capture", *command, code=1)
        assert "ports.list" in said or "capture.list" in said


def test_clients(pair):
    directory, left, _ = pair
    assert e2e.managed(left, "clients", "list") == {"clients": []}
    assert e2e.suedectl(left, "clients", "list") == "no clients\n"
    server = e2e.perf_server(directory, left, "0")
    try:
        client, = e2e.managed(left, "clients", "list")["clients"]
        assert client["pid"] == server.pid and client["uid"] == os.geteuid()
        assert client["state"] == "open" and client["queues"] >= 1
        assert client["claims"] == "0.0:0"
        queues = e2e.managed(left, "queues", "list")["queues"]
        assert [q["queue"] for q in queues] == list(range(client["queues"]))
        for queue in queues:
            assert (queue["client"], queue["xpu"], queue["instance"]) == (client["id"], 0, 0)
            assert queue["state"] == "open" and queue["discarded"] == 0 == queue["credit_used"]
            assert 0 < queue["credit_lines"] <= queue["ring_lines"]
    finally:
        server.kill()
    e2e.wait_until(lambda: not e2e.managed(left, "clients", "list")["clients"], e2e.START_S,
                   "the client to be gone")


def counters(daemon, scope="total"):
    return e2e.managed(daemon, "counters", "get", "--scope", scope)["sets"]


def test_counters_match_what_was_sent(pair):
    directory, left, right = pair
    sent = 2000
    before = [counters(daemon)[0]["counters"] for daemon in (left, right)]
    with Raw(left) as connection:
        connection.call("counters.delta")
        server = e2e.perf_server(directory, right, "1")
        try:
            path = directory / "perf.json"
            client = e2e.perf(directory, "client", left.socket, "--destinations", 1, "--vcs", 1,
                              "--count", sent, "--warmup", 0, "--check", "--json", path)
            with client:
                client.expect(0, e2e.TRAFFIC_S)
        finally:
            server.kill()
        delta = connection.call("counters.delta")
    after = [counters(daemon)[0]["counters"] for daemon in (left, right)]
    grown = [{k: a[k] - b[k] for k in a} for a, b in zip(after, before)]
    # suede-perf says hello and goodbye to its server, in commands too.
    assert sent <= grown[0]["tx_commands_total"] <= sent + 50
    assert grown[1]["rx_commands_total"] == grown[0]["tx_commands_total"]
    assert delta["sets"][0]["counters"]["tx_commands_total"] == grown[0]["tx_commands_total"]
    assert delta["seconds"] > 0
    # The parts make the whole, and the log's figures are the same.
    before = counters(left)[0]["counters"]
    parts = counters(left, "instance") + counters(left, "lcore")
    logged = left.counters()
    after = counters(left)[0]["counters"]
    for name in ("tx_commands_total", "rx_frames_total", "tx_pdus_total"):
        assert before[name] <= sum(part["counters"][name] for part in parts) <= after[name], name
        assert after[name] >= logged[name] > 0
    port, = counters(left, "port")
    assert port["of"] == "p0" and port["counters"]["port_tx_frames_total"] >= sent / 200
    text = e2e.suedectl(left, "counters", "get", "--nonzero_only")
    assert "tx_commands_total" in text and "rx_drop_rcrc_total" not in text


def test_connections(pair):
    directory, left, right = pair
    # Connections of the traffic before; with nothing under way the windows are empty.
    e2e.both_ways(directory, left, right, 0.2)
    one, = e2e.managed(left, "connections", "list")["connections"]
    other, = e2e.managed(right, "connections", "list")["connections"]
    assert (one["xpu"], one["peer"], one["vc"], one["state"]) == (0, 1, None, "open")
    assert one["unacked_pdus"] == 0 == one["tries"] and not one["peer_waits"]
    assert one["srtt_us"] > 0 and one["rto_us"] >= 1000
    # Each side has received the PDUs that the other has sent; nothing was lost on the way.
    assert one["tx_pdus"] == other["rx_pdus"] > 0 and other["tx_pdus"] == one["rx_pdus"] > 0
    assert one["retransmissions"] == counters(left)[0]["counters"]["tx_retransmissions_total"]
    # Each side expects the other's next PSN.
    assert one["next_psn"] == other["expected_psn"] and other["next_psn"] == one["expected_psn"]
    for none in (("--xpu", 5), ("--instance", 1)):
        result = e2e.managed(left, "connections", "list", *none)
        assert result == {"connections": [], "more": False}


def test_an_xpu_that_is_no_peer(pair):
    _, left, _ = pair
    for command in (("connections", "list", "--peer", 7), ("planes", "peers", "--peer", 7),
                    ("planes", "set_weight", 0, 0, 0, 3, "--peer", 7), ("ping", 7)):
        assert e2e.suedectl(left, *command, code=1) == (
            "suedectl: no peer with XPU id 7; peers are: 1\n")


def test_ping(pair):
    """That a peer answers, or why it does not; and that asking disturbs nothing."""
    directory, left, right = pair
    before = [counters(daemon)[0]["counters"] for daemon in (left, right)]
    text = e2e.suedectl(left, "ping", 1, "--count", 3, "--interval", 0.2)
    lines = text.splitlines()
    assert [re.sub(r"[\d.]+ us", "T", line) for line in lines[:3]] == [
        f"XPU 1 from 0.0 plane 0 (p0): seq={i} time=T" for i in (1, 2, 3)], text
    assert lines[3:5] == ["--- XPU 1 ---", "3 asked, 3 answered, 0% lost"], text
    assert re.fullmatch(r"rtt min/avg/max = [\d.]+/[\d.]+/[\d.]+ us", lines[5]), text
    answer, summary = map(json.loads, e2e.suedectl(right, "-j", "ping", 0, "--count",
                                                   1).splitlines())
    assert answer["planes"][0]["state"] == "answered" and summary["answered"] == 1
    assert e2e.both_ways(directory, left, right, 0.3) > 100
    for daemon, old in zip((left, right), before):
        now = counters(daemon)[0]["counters"]
        for name in ("peer_reset_total", "desynchronized_total", "hello_mismatch_total"):
            assert now[name] == old[name], name
    assert "--interval" in e2e.suedectl(left, "ping", "--help")
    assert "interval: is not" in e2e.suedectl(left, "ping", 1, "--interval", 0, code=2)
    e2e.suedectl(left, "ports", "set_admin", "p0", "down")
    try:
        assert "set down" in e2e.suedectl(left, "ping", 1, "--count", 1, code=4)
        assert "no answer in time" in e2e.suedectl(right, "ping", 0, "--count", 1, "--timeout_ms",
                                                   200, code=4)
    finally:
        e2e.suedectl(left, "ports", "set_admin", "p0", "up")
    e2e.suedectl(left, "ping", 1, "--count", 1)


def test_pings_are_no_flood(pair):
    """However many ask: ten a second of an instance. And nobody else waits for them."""
    _, left, _ = pair
    before = counters(left)[0]["counters"]["tx_control_pdus_total"]
    begun = time.monotonic()
    with contextlib.ExitStack() as stack:
        askers = [stack.enter_context(Raw(left)) for _ in range(8)]
        line = json.dumps({"jsonrpc": "2.0", "method": "peers.ping", "id": 1,
                           "params": {"peer": 1}}).encode() + b"\n"
        for asker in askers:
            asker.socket.sendall(line * 50)
        while time.monotonic() < begun + 2:
            asked = time.monotonic()
            e2e.managed(left, "version")
            assert time.monotonic() - asked < 1
            time.sleep(0.1)
        sent = counters(left)[0]["counters"]["tx_control_pdus_total"] - before
    took = time.monotonic() - begun
    assert 10 <= sent <= 10 * took + 5, (sent, took)


def test_ping_of_a_peer_that_does_not_agree():
    with e2e.work_directory() as directory, contextlib.ExitStack() as stack:
        configs = [e2e.changed(e2e.endpoint_config(directory, side,
                                                   e2e.memif_device(directory, role)),
                               {"transport": {"psn_scope": scope}})
                   for side, role, scope in (("left", "server", "port"), ("right", "client", "vc"))]
        left, right = stack.enter_context(e2e.daemons(*(e2e.Daemon(directory, config) for config in configs)))
        for daemon in (left, right):
            daemon.wait_for_link()
        error = e2e.suedectl(left, "ping", 1, "--count", 1, code=1)
        assert "answers, but does not agree: transport.psn_scope is port here and vc there" in error
        right.stop()
        assert "no answer in time" in e2e.suedectl(left, "ping", 1, "--count", 1, code=4)
        right.signal(signal.SIGCONT)


def test_connections_of_many_peers(directory):
    config = e2e.changed(e2e.endpoint_config(directory, "left", "net_null0"), {
        "transport": {"psn_scope": "vc"},
        "instances": [{"xpus": "0-1", "ports": [{"port": "p0", "ip_base": "198.18.0.1"}]}],
        "peers": [{"xpus": "0-299", "ports": [{"port": "p0", "ip_base": "198.18.0.1",
                                                "mac_base": "02:00:00:00:01:00"}]}]})
    with e2e.Daemon(directory, config) as daemon:
        assert e2e.managed(daemon, "connections", "list")["connections"] == []
        result = e2e.managed(daemon, "connections", "list", "--unused", "--limit", 10000)
        keys = [(c["xpu"], c["peer"], c["vc"]) for c in result["connections"]]
        # An instance is not a peer of its own.
        assert keys == [(x, p, v) for x in (0, 1) for p in range(300) if p != x for v in range(4)]
        assert {c["state"] for c in result["connections"]} == {"new"} and not result["more"]
        some = e2e.managed(daemon, "connections", "list", "--unused", "--limit", 1300)
        assert len(some["connections"]) == 1300 and some["more"]
        peer = e2e.managed(daemon, "connections", "list", "--unused", "--peer", 299)["connections"]
        assert [(c["xpu"], c["vc"]) for c in peer] == [(x, v) for x in (0, 1) for v in range(4)]
        # Several requests at once wait for each other, and a client that leaves before its answer hurts nobody.
        request = (b'{"jsonrpc":"2.0","id":1,"method":"connections.list",'
                   b'"params":{"unused":true,"limit":10000}}')
        connections = [Raw(daemon) for _ in range(8)]
        for connection in connections:
            connection.socket.sendall(request + b"\n")
        for connection in connections[::2]:
            connection.__exit__()
        for connection in connections[1::2]:
            with connection:
                answer = json.loads(connection.file.readline())
                assert len(answer["result"]["connections"]) == len(keys)


def test_repeated_on_one_connection(pair):
    _, left, _ = pair
    lines = e2e.suedectl(left, "-j", "--every", "0.05", "--times", "3", "counters", "delta",
                         "--nonzero_only").splitlines()
    results = [json.loads(line) for line in lines]
    assert [r["seconds"] is None for r in results] == [True, False, False]
    assert results[2]["sets"][0]["counters"]["management_requests_total"] == 1


def test_log_level(pair):
    _, left, _ = pair
    assert e2e.managed(left, "log", "get_level") == {"level": "info"}
    assert e2e.suedectl(left, "log", "set_level", "error") == "level: error\n"
    assert e2e.managed(left, "log", "set_level", "warning") == {"level": "warning"}
    # Neither the second change nor the counters are logged: both are information.
    lines = left.stderr().splitlines()
    left.signal(10)
    time.sleep(0.2)
    assert left.stderr().splitlines() == lines
    assert "management: log.set_level by pid=" in lines[-2]
    assert "control: config_changed key=log.level value=error" in lines[-1]
    assert e2e.managed(left, "log", "set_level", "info") == {"level": "info"}
    assert left.counters()


def test_exit_codes(pair, directory):
    _, left, _ = pair
    assert "did you mean ports list" in e2e.suedectl(left, "ports", "lst", code=2)
    assert "use debug, info" in e2e.suedectl(left, "log", "set_level", "loud", code=2)
    with e2e.Daemon(directory, e2e.endpoint_config(directory, "left", "net_null0")) as daemon:
        daemon.kill()
        assert "no daemon" in e2e.suedectl(daemon, "version", code=4)


def test_nonsense_disturbs_nobody(pair):
    _, left, _ = pair
    rng = random.Random(7)
    with Raw(left) as witness:
        for i in range(200):
            with Raw(left) as connection:
                content = rng.randbytes(rng.randrange(1, 3000))
                try:
                    connection.socket.sendall(content + b"\n" * (i % 2))
                    if i % 3 and b"\n" in content:
                        connection.socket.recv(100)
                except (BrokenPipeError, ConnectionResetError):
                    pass
            assert witness.call("log.get_level") == {"level": "info"}
        with Raw(left) as flood:
            flood.socket.settimeout(0.5)
            try:
                while True:
                    flood.socket.send(b'{"jsonrpc":"2.0","id":1,"method":"rpc.describe"}\n' * 100)
            except TimeoutError:
                pass
            start = time.monotonic()
            assert witness.call("version")["name"] == left.name
            assert time.monotonic() - start < 5
    assert left.running()


def test_too_many_connections(directory):
    config = e2e.changed(e2e.endpoint_config(directory, "left", "net_null0"),
                         {"management": {"max_clients": 2}})
    path = pathlib.Path(config["management"]["socket"])
    with e2e.Daemon(directory, config) as daemon:
        with Raw(daemon) as first, Raw(daemon) as second:
            # Connections that wait for something stay; an idle one makes room for another of its user.
            for raw in (first, second):
                raw.wait()
            assert "raise management.max_clients" in e2e.suedectl(daemon, "version", code=4)
        e2e.wait_until(lambda: "error" not in Raw(daemon).greeting, e2e.START_S, "room again")
        with Raw(daemon), Raw(daemon):
            time.sleep(0.3)
            assert e2e.managed(daemon, "version")["pid"] == daemon.pid
        totals = e2e.managed(daemon, "counters", "get")["sets"][0]["counters"]
        assert totals["management_displaced_total"] > 0
        # The socket of a daemon that died is taken over.
        daemon.kill()
        assert path.exists()
    with e2e.Daemon(directory, config) as daemon:
        assert e2e.managed(daemon, "version")["pid"] == daemon.pid
        assert daemon.terminate() == 0
        assert not path.exists()


def test_socket_where_another_file_is(directory):
    config = e2e.endpoint_config(directory, "left", "net_null0")
    pathlib.Path(config["management"]["socket"]).write_text("precious")
    daemon = e2e.Daemon(directory, config)
    with pytest.raises(e2e.E2eError):
        daemon.start()
    assert daemon.wait(e2e.START_S) == 5
    assert "management: socket" in daemon.stderr() and "remove it" in daemon.stderr()


def test_drain_ends_the_daemon(directory):
    config = e2e.endpoint_config(directory, "left", "net_null0")
    with e2e.Daemon(directory, config) as daemon:
        assert e2e.managed(daemon, "drain") == {"began": True}
        assert daemon.wait(e2e.START_S) == 0
        assert "drain by pid=" in daemon.stderr()
        assert "control: drain_began reason=request seconds=2 " in daemon.stderr()
