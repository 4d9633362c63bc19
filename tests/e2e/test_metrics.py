# SPDX-License-Identifier: Apache-2.0
"""Metrics: that they are the internal counters and the clients' counts, the probes, the page with a
thousand peers, the harm of a hostile reader, DPDK's telemetry."""

import concurrent.futures
import ctypes
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import time

import pytest

import e2e

ON = {"management": {"http_address": "127.0.0.1:0"}}
SERIES = re.compile(r'(suede_\w+)(?:\{(.*)\})? (\S+)')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
DROP = re.compile(r"((?:mgmt_)?[rt]x)_drop_(\w+)_total")
# Commands of suede-perf's own in a run, at most.
TALK = 64
# Counters that grow by looking at them, or by themselves.
RESTLESS = {"busy_cycles_total", "idle_cycles_total", "management_accepted_total",
            "management_gone_total", "management_requests_total"}


@pytest.fixture(scope="module")
def pair():
    with e2e.memif_pair(ON) as (directory, left, right):
        for daemon in (left, right):
            daemon.wait_for_link()
        yield directory, left, right


def address(daemon):
    host, port = e2e.managed(daemon, "version")["http"].split(":")
    return host, int(port)


def get(daemon, path, at=None):
    """(status, text)."""
    connection = http.client.HTTPConnection(*(at or address(daemon)), timeout=e2e.START_S)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def parse(text):
    """[(name without suede_, labels, value)] of a page."""
    series = []
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, labels, value = SERIES.fullmatch(line).groups()
        series.append((name[len("suede_"):], dict(LABEL.findall(labels or "")), float(value)))
    return series


def scrape(daemon, path="/metrics"):
    status, text = get(daemon, path)
    assert status == 200, text
    return parse(text)


def total(series, name, **labels):
    found = [value for n, l, value in series if n == name and labels.items() <= l.items()]
    assert found, name
    return sum(found)


def metric_of(counter):
    """Name and labels of the metric that suedectl calls `counter`."""
    drop = DROP.fullmatch(counter)
    return (f"{drop[1]}_drops_total", {"reason": drop[2]}) if drop else (counter, {})


def test_metrics_are_the_counters_and_what_clients_counted(pair):
    directory, left, right = pair
    before = {daemon: scrape(daemon) for daemon in (left, right)}
    delivered = e2e.both_ways(directory, left, right, 0.3)
    figures = {}
    for daemon in (left, right):
        # At rest every figure is the same in every source; copies are a tenth of a second old.
        def same():
            counters = e2e.managed(daemon, "counters", "get")["sets"][0]["counters"]
            page = scrape(daemon)
            for name, value in counters.items():
                metric, labels = metric_of(name)
                if name not in RESTLESS and total(page, metric, **labels) != value:
                    return None
            return page
        figures[daemon] = e2e.wait_until(same, e2e.START_S, "the figures of " + daemon.name)
        port = e2e.managed(daemon, "counters", "get", "--scope", "port")["sets"][0]
        e2e.wait_until(lambda: total(scrape(daemon), "port_rx_frames_total", port="p0") >=
                       port["counters"]["port_rx_frames_total"], e2e.START_S, "the port's figures")

    def grown(daemon, name):
        return total(figures[daemon], name) - total(before[daemon], name)
    # The commands that suede-perf saw delivered are the received ones, beside the few with which
    # its ends speak to each other; and all received ones were sent.
    received = grown(left, "rx_commands_total") + grown(right, "rx_commands_total")
    assert 0 < delivered <= received <= delivered + TALK
    for one, other in ((left, right), (right, left)):
        assert grown(one, "tx_commands_total") == grown(other, "rx_commands_total") > 0
        # Bytes on the way are those of commands and their padding to an even number.
        assert grown(one, "tx_command_bytes_total") >= grown(other, "rx_command_bytes_total")
        assert grown(one, "tx_pdus_total") == grown(other, "rx_pdus_total")
        # Each PDU and command is in the histograms once.
        assert grown(one, "pdu_commands_sum") == grown(one, "tx_commands_total")
        assert grown(one, "pdu_commands_count") == grown(one, "tx_pdus_total")
        assert grown(one, "command_latency_seconds_count") == grown(one, "tx_commands_total")
        assert 0 < grown(one, "rtt_seconds_count") <= grown(one, "tx_pdus_total")
        # At rest nothing is held.
        e2e.wait_until(lambda: all(total(scrape(one), name) == 0 for name in (
            "inflight_pdus", "inflight_bytes", "queued_pdus", "credit_lines", "unclaimed_pdus")),
            e2e.START_S, "nothing to be held")
        assert grown(one, "busy_cycles_total") > 0


def test_the_endpoint_is_named_in_each_series_and_in_the_page(pair):
    for daemon in pair[1:]:
        for path in ("/metrics", "/metrics?peers=1"):
            series = scrape(daemon, path)
            assert series and {l.get("endpoint") for _, l, _ in series} == {daemon.name}
        html = get(daemon, "/")[1]
        assert f"<title>{daemon.name} – suede</title>" in html
        assert f"<h1>{daemon.name}</h1>" in html and "@NAME@" not in html


def test_bytes_are_those_that_clients_sent(pair):
    directory, left, right = pair
    before = scrape(left), scrape(right)
    server = e2e.perf_server(directory, right, "0")
    try:
        path = directory / "bytes.json"
        with e2e.perf(directory, "bytes", left.socket, "--destinations", 1, "--vcs", "0",
                      "--size", 64, "--duration", 0.2, "--json", path) as client:
            client.expect(0, e2e.TRAFFIC_S)
        delivered = e2e.check_results(e2e.results_of(path))
    finally:
        server.kill()
    after = scrape(left), scrape(right)
    for side, name in ((0, "tx_command_bytes_total"), (1, "rx_command_bytes_total")):
        grown = total(after[side], name) - total(before[side], name)
        commands = name.replace("command_bytes", "commands")
        count = total(after[side], commands) - total(before[side], commands)
        assert delivered <= count <= delivered + TALK
        # 64 bytes of data with 8 of control; at most 274 of the others.
        assert 0 <= grown - 72 * delivered <= 274 * (count - delivered), (name, grown, delivered)


def test_page_is_valid_documented_and_whole_from_the_start(pair):
    _, left, _ = pair
    status, text = get(left, "/metrics")
    assert status == 200
    page = (e2e.ROOT / "docs/metrics.md").read_text()
    documented = set(re.findall(r"^\| `(suede_\w+)` \| ", page, re.M))
    shown = set(re.findall(r"^# TYPE (\S+) ", text, re.M))
    assert shown <= documented, shown - documented
    # All but metrics that only some devices have, or ports with pfc: software, and those that are shown on request.
    optional = {"suede_port_rx_pause_total", "suede_port_tx_pause_total", "suede_port_rx_pfc_total",
                "suede_port_tx_pfc_total", "suede_port_rx_discards_total",
                "suede_port_tx_discards_total", "suede_port_vc_paused_seconds_total",
                "suede_port_vc_paused"}
    # And what a link's mechanisms count, of ports that have them: docs/link.md.
    of_links = ("suede_link_", "suede_llr_", "suede_cbfc_")
    # And of agreements on secrets, of endpoints with sealing.tls: docs/sealing.md.
    of_agreements = ("suede_seal_agreement", "suede_seal_last_agreement", "suede_seal_connections_refused",
                     "suede_seal_certificate")
    # And of devices of a mesh: docs/mesh.md. And of ports with lldp: on: docs/lldp.md.
    of_others = of_links + of_agreements + ("suede_device_", "suede_lldp_")
    optional |= {name for name in documented if name.startswith(of_others)}
    on_request = set(re.findall(r"^\| `(suede_\w+)`", page.split("### Peers")[1], re.M))
    missed = documented - shown - on_request - optional
    assert not missed, missed
    assert text.count("# HELP ") == text.count("# TYPE ") == len(shown)
    tables = re.findall(r"^\| `suede_(\w+_drops_total)` \| Meaning \|\n\|---\|---\|\n((?:\|.*\n)+)",
                        page.split("## The switch")[0], re.M)
    reasons = {(name, reason) for name, rows in tables for reason in re.findall(r"^\| `(\w+)`", rows, re.M)}
    assert reasons
    series = parse(text)
    assert {(n, l["reason"]) for n, l, _ in series if n.endswith("_drops_total")} == reasons
    names = [(n, tuple(sorted(l.items()))) for n, l, _ in series]
    assert len(names) == len(set(names))
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed: tools/setup")
    check = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True,
                           text=True, timeout=60, check=False)
    assert check.returncode == 0 and not check.stdout + check.stderr, check.stdout + check.stderr


def test_probes_follow_the_endpoint(pair):
    directory = pair[0]
    device = f"net_memif0,role=client,id=0,socket={directory}/nobody.sock,socket-abstract=no"
    config = e2e.changed(e2e.endpoint_config(directory, "left", device),
                         {**ON, "name": f"probe-{directory.name[-8:]}"})
    config["clients"]["socket"] += "2"
    config["management"]["socket"] = str(directory / "probe.sock")
    with e2e.Daemon(directory, e2e.changed(config, ON)) as daemon:
        at = address(daemon)
        assert f"web: serving address={at[0]}:{at[1]}" in daemon.stderr()
        # Nobody is at the other end of the memif: alive, and not ready.
        assert get(daemon, "/healthz", at) == (200, "ok\n")
        assert get(daemon, "/readyz", at) == (503, "port p0: link down\n")
        assert total(scrape(daemon), "ready") == 0
    _, left, _ = pair
    assert get(left, "/readyz") == (200, "ready\n")
    e2e.wait_until(lambda: total(scrape(left), "ready") == 1, e2e.START_S, "readiness")


def test_an_instance_without_a_plane_is_not_ready(tmp_path):
    directory = tmp_path
    config = e2e.changed(e2e.endpoint_config(directory, "left", "net_null0"), ON)
    with e2e.Daemon(directory, config) as daemon:
        at = address(daemon)

        def says(text):
            e2e.wait_until(lambda: get(daemon, "/readyz", at)[1] == text, e2e.START_S, text)

        says("ready\n")
        out = "instance 0 of XPU 0: no plane is in service\n"
        for kind, name in (("ports", ["p0"]), ("planes", ["0", "0", "0"])):
            e2e.suedectl(daemon, kind, "set_admin", *name, "down")
            says(out)
            assert get(daemon, "/readyz", at)[0] == 503
            e2e.wait_until(lambda: total(scrape(daemon), "ready") == 0, e2e.START_S, "the metric")
            e2e.suedectl(daemon, kind, "set_admin", *name, "up")
            says("ready\n")


class Held:
    """A thread of another process that stands still for a while (ptrace)."""

    ATTACH, DETACH, ANY_THREAD = 16, 17, 0x40000000

    def __init__(self, thread):
        self.thread = thread
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]

    def __enter__(self):
        if self.libc.ptrace(self.ATTACH, self.thread, None, None) != 0:
            pytest.skip(f"ptrace is not permitted here: {os.strerror(ctypes.get_errno())}")
        os.waitpid(self.thread, self.ANY_THREAD)
        return self

    def __exit__(self, *_):
        self.libc.ptrace(self.DETACH, self.thread, None, None)


def test_what_stands_still_is_unhealthy(directory):
    config = e2e.changed(e2e.endpoint_config(directory, "left", "net_null0"), {
        "management": {"socket": str(directory / "left-management.sock"), **ON["management"]}})
    with e2e.Daemon(directory, config) as daemon:
        at = address(daemon)
        tasks = pathlib.Path(f"/proc/{daemon.pid}/task")
        lcore, = [int(t.name) for t in tasks.iterdir() if "worker" in (t / "comm").read_text()
                  and "suede-web" not in (t / "comm").read_text()]
        cpu = config["lcores"][0]["cpu"]
        for thread, name in ((lcore, f"lcore {cpu}"), (daemon.pid, "control thread")):
            with Held(thread):
                text = e2e.wait_until(
                    lambda: [text for status, text in (get(daemon, "/healthz", at),)
                             if status == 503], e2e.START_S, f"{name} to be missed")
                assert re.fullmatch(rf"{name}: no poll iteration for \d+ s\n", text[0]), text
                assert name in get(daemon, "/readyz", at)[1]
            e2e.wait_until(lambda: get(daemon, "/healthz", at)[0] == 200, e2e.START_S,
                           f"{name} to be well again")


def test_other_methods_and_paths_are_refused(pair):
    _, left, _ = pair
    at = address(left)
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        connection = http.client.HTTPConnection(*at, timeout=e2e.START_S)
        connection.request(method, "/metrics", body=b"x")
        answer = connection.getresponse()
        assert answer.status == 405 and answer.getheader("Allow") == "GET, HEAD"
        connection.close()
    for path in ("/metric", "/metrics/", "/../etc/passwd", "/%2e%2e/etc/passwd", "/status.json?x"):
        assert get(left, path, at)[0] == 404
    connection = http.client.HTTPConnection(*at, timeout=e2e.START_S)
    connection.request("HEAD", "/metrics")
    answer = connection.getresponse()
    assert answer.status == 200 and int(answer.getheader("Content-Length")) > 10_000
    assert answer.getheader("Content-Type").startswith("text/plain; version=0.0.4")
    assert answer.read() == b""
    connection.close()


def test_status_page_needs_nothing_else(pair):
    _, left, _ = pair
    at = address(left)
    status, html = get(left, "/", at)
    assert status == 200
    for path in re.findall(r'(?:href|src)="([^"]*)"', html):
        if path != "data:,":
            # A machine that is busy with other tests may make an endpoint wait.
            assert get(left, "/" + path, at)[0] in ((200, 503) if path == "readyz" else (200,)), path
    script = get(left, "/status.js", at)[1]
    assert not re.search(r"https?://", html + script + get(left, "/status.css", at)[1])
    # Every family that it looks at is there.
    shown = {name for name, _, _ in parse(get(left, "/metrics", at)[1])}
    named = set(re.findall(r"(?:pick|value|rate)\((?:reading, )'(\w+)'", script))
    assert len(named) > 15 and named <= shown, named - shown


def test_status_page_in_a_browser(pair):
    directory, left, _ = pair
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed: tools/setup")
    host, port = address(left)
    # Virtual time: the page believes that four seconds have gone by, and has read more than once.
    run = subprocess.run(
        [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         f"--user-data-dir={directory}/browser", "--virtual-time-budget=4000",
         "--enable-logging=stderr", "--dump-dom", f"http://{host}:{port}/"],
        capture_output=True, text=True, timeout=120, check=False)
    page = run.stdout
    assert run.returncode == 0, run.stderr
    # Nothing was kept back by the page's own policy, and no script failed.
    assert "Content Security Policy" not in run.stderr and "Uncaught" not in run.stderr, run.stderr
    assert int(re.search(r'data-readings="(\d+)"', page)[1]) >= 2, page
    assert re.search(r'<p id="ready" class="good">ready</p>', page), page
    assert not re.search(r"≤ [\d.]+ [kMGT]", page), page  # a unit has one prefix
    rows = {t: re.search(rf'<table id="{t}">(.*?)</table>', page, re.S)[1].count("<tr>")
            for t in ("ports", "instances", "lcores", "clients", "drops")}
    assert rows["ports"] == rows["instances"] == rows["lcores"] == 2 and rows["clients"] == 5, page
    assert "commands/s" in page and "frames/s" in page and " %</td>" in page and "NaN" not in page


def test_a_thousand_peers(directory):
    config = e2e.changed(e2e.endpoint_config(directory, "left", "net_null0"), {
        **e2e.changed({"management": {"socket": str(directory / "left-management.sock")}}, ON),
        "peers": [{"xpu": 1, "name": "gpu-one", "ports": [{"port": "p0", "ip": "198.18.0.3", "mac": "02:00:00:00:01:01"}]},
                  {"xpus": "2-1023", "ports": [{"port": "p0", "ip_base": "198.18.0.2",
                                                 "mac_base": "02:00:00:00:01:00"}]}]})
    with e2e.Daemon(directory, config) as daemon:
        plain = get(daemon, "/metrics")[1]
        assert len(plain) < 100_000 and "suede_peer_srtt" not in plain
        at = address(daemon)
        times = []
        for _ in range(5):
            began = time.monotonic()
            status, text = get(daemon, "/metrics?peers=1", at)
            times.append(time.monotonic() - began)
            assert status == 200, text
        print(f"\nscrapes with 1023 peers: {', '.join(f'{1000 * t:.1f}' for t in times)} ms, "
              f"{len(text)} bytes")
        assert len(text) < len(plain) + 1023 * 900  # eight gauges of a connection, one of its peer
        series = parse(text)
        peers = {l["peer"] for n, l, _ in series if n == "peer_reachable"}
        assert peers == {str(peer) for peer in range(1, 1024)}
        assert {l["peer"]: l["name"] for n, l, _ in series if n == "peer_info"} == {
            **dict.fromkeys(peers, ""), "1": "gpu-one"}
        for name in ("peer_inflight_pdus", "peer_inflight_bytes", "peer_window_used_ratio",
                     "peer_srtt_seconds", "peer_rto_seconds"):
            assert len([1 for n, _, _ in series if n == name]) == 1023, name
        assert total(series, "peers_left_out") == 0
        e2e.wait_until(lambda: total(scrape(daemon), "connections", state="new") == 1023,
                       e2e.START_S, "every connection to be counted")
        # The probes answer while scrapes are under way, and of readers that wait in vain.
        deaf = []
        try:
            for _ in range(12):
                one = socket.create_connection(at)
                one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                one.sendall(b"GET /metrics?peers=1 HTTP/1.1\r\nHost: a\r\n\r\n")
                deaf.append(one)
            for _ in range(20):
                assert get(daemon, "/readyz", at)[0] == 200
                assert get(daemon, "/healthz", at)[0] == 200
        finally:
            for one in deaf:
                one.close()


def test_many_at_a_time_and_nonsense(pair):
    directory, left, right = pair
    at = address(left)
    chance = random.Random(5)
    idle = [socket.create_connection(at) for _ in range(50)]
    for i in range(100):
        with socket.create_connection(at) as one:
            one.sendall(chance.randbytes(chance.randrange(1, 600)) if i % 3 else
                        b"GET /metrics HTTP/1.1\r\n" + b"X: " + b"y" * 20_000 + b"\r\n\r\n")
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: get(left, "/metrics", at), range(100)))
    # Some readers may be told to come again; each page is whole.
    pages = [text for status, text in answers if status == 200]
    assert {status for status, _ in answers} <= {200, 503} and len(pages) > 10
    assert len({len(parse(text)) for text in pages}) == 1
    for one in idle:
        one.close()
    e2e.both_ways(directory, left, right, 0.1)
    assert left.running()


def test_address_that_is_taken_or_wrong(pair):
    directory, left, _ = pair
    host, port = address(left)
    config = e2e.changed(e2e.endpoint_config(directory, "left", "net_null0"),
                         {"name": f"taken-{directory.name[-8:]}",
                          "management": {"socket": str(directory / "taken.sock"),
                                         "http_address": f"{host}:{port}"},
                          "clients": {"socket": str(directory / "taken-xpu.sock")}})
    daemon = e2e.Daemon(directory, config)
    try:
        e2e.Process.start(daemon)  # without waiting until it is ready
        daemon.expect(5, e2e.START_S)
        assert f"management.http_address: cannot listen at {host}:{port}" in daemon.stderr()
        assert "choose another" in daemon.stderr()
    finally:
        daemon.kill()


class Telemetry:
    """DPDK's telemetry socket, as dpdk-telemetry.py speaks to it."""

    def __init__(self, daemon):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(e2e.START_S)
        self.socket.connect(f"/var/run/dpdk/suede_{daemon.name}/dpdk_telemetry.v2")
        self.limit = json.loads(self.socket.recv(1024))["max_output_len"]

    def ask(self, command):
        self.socket.send(command.encode())
        return json.loads(self.socket.recv(self.limit))[command.split(",")[0]]


def test_dpdk_telemetry(pair):
    directory, left, right = pair
    e2e.both_ways(directory, left, right, 0.3)
    telemetry = Telemetry(left)
    try:
        assert {c for c in telemetry.ask("/") if c.startswith("/suede/")} == {
            f"/suede/{c}" for c in
            ("counters", "histograms", "info", "instances", "lcores", "ports")}
        assert telemetry.ask("/suede/info")["name"] == left.name
        assert telemetry.ask("/suede/instances") == ["0.0"]
        assert telemetry.ask("/suede/instances,0.0")["xpu"] == 0
        lcore, = telemetry.ask("/suede/lcores")

        def same():  # between two acknowledgements of an idle peer
            counters = e2e.managed(left, "counters", "get")["sets"][0]["counters"]
            told = telemetry.ask("/suede/counters")
            of_lcore = telemetry.ask(f"/suede/lcores,{lcore}")
            restless = {name for name, value in told.items() if counters[name] != value}
            frames = of_lcore["rx_frames_total"] == counters["rx_frames_total"]
            return counters if frames and restless <= RESTLESS else None
        counters = e2e.wait_until(same, e2e.START_S, "the counters of both")
        assert counters["tx_commands_total"] > 0
        own = telemetry.ask("/suede/counters,0.0")
        assert own["tx_commands_total"] == counters["tx_commands_total"]
        histograms = telemetry.ask("/suede/histograms,0.0")
        assert histograms == telemetry.ask("/suede/histograms")
        assert histograms["command_latency_ns_count"] == counters["tx_commands_total"]
        assert 0 < histograms["rtt_ns_p50"] <= histograms["rtt_ns_p99"] <= histograms["rtt_ns_max"]
        assert telemetry.ask("/suede/ports") == ["p0"]
        assert telemetry.ask("/suede/ports,p0")["link_up"] == 1
        for wrong in ("/suede/counters,9.9", "/suede/ports,p9", "/suede/lcores,x",
                      "/suede/instances,0"):
            assert telemetry.ask(wrong) is None
    finally:
        telemetry.socket.close()


def test_dpdk_telemetry_script(pair):
    _, left, _ = pair
    script = shutil.which("dpdk-telemetry.py")
    if script is None:
        pytest.skip("dpdk-telemetry.py is not installed")
    run = subprocess.run([script, "-f", f"suede_{left.name}"], input="/suede/ports,p0\nquit\n",
                         capture_output=True, text=True, timeout=60, check=False)
    assert '"link_up": 1' in run.stdout or '"link_up":1' in run.stdout, run.stdout + run.stderr
