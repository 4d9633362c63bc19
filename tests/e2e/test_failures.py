# SPDX-License-Identifier: Apache-2.0
"""Clients and daemons that die or mean ill, while others go on."""

import contextlib
import errno
import os
import pathlib
import re
import secrets
import signal
import subprocess
import threading
import time

import pytest

import client
import e2e
import links

HOSTILE_S = float(os.environ.get("SUEDE_HOSTILE_SECONDS", "2"))


@pytest.fixture(scope="module")
def hostile_client(tmp_path_factory):
    program = tmp_path_factory.mktemp("hostile") / "hostile_client"
    include = [f"-I{e2e.ROOT / d}" for d in ("include", "drivers", "lib")]
    sources = [e2e.ROOT / "tests/e2e/hostile_client.cc",
               *(e2e.ROOT / "lib/local" / f for f in ("call_limit.cc", "fd.cc", "passing.cc"))]
    subprocess.run(["g++", "-std=c++20", "-O2", *include, *sources, "-o", program],
                   check=True, timeout=120)
    return program


def wait_for_more(daemon, commands=1000):
    """Waits until its clients were given so many more."""
    before = daemon.counters()["rx_commands_total"]
    e2e.wait_until(lambda: daemon.counters()["rx_commands_total"] >= before + commands, e2e.TRAFFIC_S,
                   lambda: f"{commands} commands\n{daemon.report()}")


@contextlib.contextmanager
def undisturbed_traffic(directory, left, right):
    """Load on VC 0 and 1 from left to right and back for as long as the block takes, which has to be whole and right at
    the end."""
    file = directory / f"{secrets.token_hex(3)}.json"
    for daemon in (left, right):
        daemon.wait_for_link()
    server = e2e.perf_server(directory, right, "0,1")
    with contextlib.closing(e2e._Closing(server)):
        with e2e.perf(directory, "undisturbed", left.socket, "--destinations", 1, "--vcs", "0,1",
                      "--duration", 3600, "--bidirectional", "--check", "--drain", 30,
                      "--json", file) as load:
            wait_for_more(right)
            yield
            wait_for_more(right)
            time.sleep(0.3)  # what the block did may have its effect later
            assert load.running(), load.report()
            load.signal(signal.SIGINT)
            load.expect(0, e2e.TRAFFIC_S)
            e2e.check_results(e2e.results_of(file), 1000)


@contextlib.contextmanager
def victim_in_mid_burst(directory, left):
    with e2e.perf(directory, "victim", left.socket, "--destinations", 1, "--vcs", "2,3",
                  "--duration", 30, "--check") as victim:
        time.sleep(0.8)
        assert victim.running(), victim.report()
        yield
        victim.signal(signal.SIGKILL)
        victim.wait(e2e.START_S)


def kill_receiver(server, sender):
    """While there is more to come for its VCs, from the sender's daemon, than waits unclaimed."""
    server.signal(signal.SIGKILL)
    server.wait(e2e.START_S)
    before = sender.counters()["tx_waits_credit_total"]
    e2e.wait_until(lambda: sender.counters()["tx_waits_credit_total"] > before, e2e.START_S,
                   "a VC to be full")


def rate_of(daemon, seconds=0.5):
    """Commands a second that its clients are given."""
    before, began = daemon.counters()["rx_commands_total"], time.monotonic()
    time.sleep(seconds)
    return (daemon.counters()["rx_commands_total"] - before) / (time.monotonic() - began)


@pytest.mark.parametrize("scope", ["port", "vc"])
def test_kill_of_clients_in_mid_burst(scope):
    # VCs that nobody serves any more leave the others alone.
    with e2e.memif_pair({"transport": {"psn_scope": scope}}) as (directory, left, right):
        with undisturbed_traffic(directory, left, right):
            sink = e2e.perf_server(directory, right, "2,3")
            with contextlib.closing(e2e._Closing(sink)):
                for _ in range(2):
                    with victim_in_mid_burst(directory, left):
                        pass
                with victim_in_mid_burst(directory, left):
                    kill_receiver(sink, left)
        # Their resources are free again.
        e2e.wait_until(lambda: left.counters()["clients_gone_total"] >= 3, e2e.START_S, "clients to go")
        assert e2e.both_ways(directory, left, right, 0.5) > 100
        assert left.terminate() == 0 and right.terminate() == 0


def test_a_killed_receiver_holds_up_its_own_vcs_alone_until_another_claims():
    with e2e.memif_pair() as (directory, left, right):
        with contextlib.ExitStack() as stack, undisturbed_traffic(directory, left, right):
            sink = e2e.perf_server(directory, right, "2,3")
            stack.callback(sink.kill)
            with victim_in_mid_burst(directory, left):
                kill_receiver(sink, left)
                # The others' commands pass meanwhile.
                assert rate_of(right) > 100
                heir = e2e.perf_server(directory, right, "2,3")
                stack.callback(heir.kill)
                assert rate_of(right) > 100
        assert left.terminate() == 0 and right.terminate() == 0


@pytest.mark.parametrize("claims", [(), (2,)], ids=["unclaimed", "never read"])
def test_a_vc_without_reader_leaves_the_rate_of_others_alone(claims):
    """Also where one sequence spans all VCs."""
    with e2e.memif_pair({"transport": {"psn_scope": "port"}}) as (directory, left, right):
        with undisturbed_traffic(directory, left, right), \
                client.Client(right.socket) as idle, client.Client(left.socket) as sender:
            for vc in claims:
                idle.claim(1, 1 << vc)
            before = rate_of(right)
            # As much as its own credit lets it: far more than waits unclaimed.
            taken = 0
            while taken < 5000 and sender.send(1, 2, taken, b"nobody reads this") == 0:
                taken += 1
            assert taken > 100
            time.sleep(0.5)
            after = rate_of(right)
            assert after > before / 50, (before, after)  # other loads share the CPUs
            assert right.counters()["rx_drop_not_ready_total"] == 0
        assert left.terminate() == 0 and right.terminate() == 0


def test_what_a_killed_client_handed_over_is_delivered():
    script = ("import sys; sys.path.insert(0, sys.argv[1])\n"
              "import client, os, signal\n"
              "c = client.Client(sys.argv[2]); c.send_all(1, 200)\n"
              "os.kill(os.getpid(), signal.SIGKILL)\n")
    with e2e.memif_pair() as (directory, left, right), client.Client(right.socket) as receiver:
        receiver.claim(1)
        with e2e.Process(directory, "victim", ["/usr/bin/python3", "-c", script,
                                               e2e.ROOT / "tests/e2e", left.socket]) as victim:
            victim.expect(-signal.SIGKILL, 20)
        got = []

        def poll():
            for vc in range(4):
                got.extend(receiver.receive(vc))
            return len(got) >= 200

        e2e.wait_until(poll, e2e.START_S, "200 commands")
        assert sorted(got) == sorted((0, f"command {t}".encode()) for t in range(200))


def test_kill_of_the_senders_daemon():
    """Its clients see a clear status and come back; the peer goes on with the new life."""
    with e2e.memif_pair() as (directory, left, right), contextlib.ExitStack() as stack:
        receiver = stack.enter_context(client.Client(right.socket))
        receiver.claim(1)
        sender = stack.enter_context(client.Client(left.socket))
        assert set(sender.complete(sender.send_all(1, 20), 20).values()) == {client.STATUS_OK}
        left.signal(signal.SIGKILL)
        left.wait(e2e.START_S)
        e2e.wait_until(lambda: sender.status() == -errno.ECONNRESET, e2e.START_S, "the clear status")
        # Sends say so at the latest when their credit has run out.
        results = {sender.send(1, 0, 99, b"x") for _ in range(20_000)}
        assert -errno.ECONNRESET in results, results
        assert sender.reconnect() in (-errno.ECONNREFUSED, -errno.ENOENT)
        assert sender.error()
        stack.enter_context(e2e.Daemon(directory, left.config))
        assert sender.reconnect() == 0, sender.error()
        assert sender.status() == 0
        statuses = sender.complete(sender.send_all(1, 20, first=1000), 30)
        assert set(statuses.values()) == {client.STATUS_OK}, statuses
        # The other way, to the daemon that is new.
        sender.claim(0)
        statuses = receiver.complete(receiver.send_all(0, 20), 30)
        assert set(statuses.values()) == {client.STATUS_OK}, statuses


def test_upgrade_of_a_daemon_with_clients():
    """Drain, restart with the same configuration, again: what was sent before arrives, clients attach again with their
    claims, and the peer's clients, which stay, are served on. docs/service.md, "Upgrade"."""
    with e2e.memif_pair() as (directory, left, right), contextlib.ExitStack() as stack:
        far = stack.enter_context(client.Client(right.socket))
        far.claim(1)
        near = [stack.enter_context(client.Client(left.socket)) for _ in range(2)]
        near[0].claim(0)
        daemon = left
        for first in (0, 1000):
            sent = near[1].send_all(1, 40, first=first)
            assert e2e.managed(daemon, "drain")["began"]
            assert daemon.wait(e2e.START_S) == 0
            # The daemon has seen the last command acknowledged, and the program its status, before it ended.
            assert set(near[1].complete(sent, 20).values()) == {client.STATUS_OK}
            for one in near:
                e2e.wait_until(lambda one=one: one.status() == -errno.ECONNRESET, e2e.START_S, "the end")
            daemon = stack.enter_context(e2e.Daemon(directory, left.config))
            assert [one.reconnect() for one in near] == [0, 0]
            again = near[1].send_all(1, 20, first=first + 100)
            assert set(near[1].complete(again, 30).values()) == {client.STATUS_OK}
            # The claim of the first client holds without another call.
            back = far.send_all(0, 20, first=first + 200)
            statuses = far.complete(back, 30)
            assert set(statuses.values()) <= {client.STATUS_OK, client.STATUS_PEER_RESET}
            got = [data for vc in range(4) for _, data in near[0].receive(vc)]
            assert set(got) == {f"command {tag}".encode() for tag, status in statuses.items()
                                if status == client.STATUS_OK} and got
            assert sum(len(far.receive(vc)) for vc in range(4)) == 60


def test_kill_of_the_receivers_daemon():
    """Commands under way are completed with a status; then the peer is there again."""
    # Long enough to restart within: not unreachable, but reset.
    changes = {"transport": {"max_tries": 255, "rto_max_us": 200000}}
    with e2e.memif_pair(changes) as (directory, left, right), contextlib.ExitStack() as stack:
        sender = stack.enter_context(client.Client(left.socket))
        assert set(sender.complete(sender.send_all(1, 20), 20).values()) == {client.STATUS_OK}
        right.signal(signal.SIGKILL)
        right.wait(e2e.START_S)
        in_flight = sender.send_all(1, 20, first=100)
        new = stack.enter_context(e2e.Daemon(directory, right.config))
        statuses = sender.complete(in_flight, 30)
        assert set(statuses.values()) <= {client.STATUS_OK, client.STATUS_PEER_RESET}, statuses
        receiver = stack.enter_context(client.Client(new.socket))
        receiver.claim(1)
        statuses = sender.complete(sender.send_all(1, 20, first=200), 30)
        assert set(statuses.values()) == {client.STATUS_OK}, statuses


def test_unreachable_and_back():
    with e2e.memif_pair(e2e.GIVEN_UP_SOON) as (directory, left, right), \
            contextlib.ExitStack() as stack:
        sender = stack.enter_context(client.Client(left.socket))
        assert set(sender.complete(sender.send_all(1, 20), 20).values()) == {client.STATUS_OK}
        right.stop()
        try:
            statuses = sender.complete(sender.send_all(1, 20, first=100), 30)
            assert set(statuses.values()) <= {client.STATUS_UNREACHABLE,
                                              client.STATUS_IN_DOUBT}, statuses
            assert left.counters()["peer_unreachable_total"] >= 1
        finally:
            right.signal(signal.SIGCONT)
        tag = 1000

        def reachable():
            nonlocal tag
            tag += 1
            sender.send(1, 0, tag, b"are you there")
            return sender.complete([tag], 10)[tag] == client.STATUS_OK

        e2e.wait_until(reachable, e2e.START_S, "the peer to be reachable again")


def test_perf_waits_for_a_server_that_comes_back():
    """Its requests to the server were given up as unreachable before the server was there again."""
    with e2e.memif_pair(e2e.GIVEN_UP_SOON) as (directory, left, right), \
            contextlib.ExitStack() as stack:
        with client.Client(left.socket) as sender:
            assert set(sender.complete(sender.send_all(1, 4), 20).values()) == {client.STATUS_OK}
        right.signal(signal.SIGKILL)
        right.wait(e2e.START_S)
        load = stack.enter_context(e2e.perf(
            directory, "load", left.socket, "--destinations", 1, "--count", 1000, "--check",
            "--connect_timeout", e2e.TRAFFIC_S))

        def given_up():
            total, = e2e.managed(left, "counters", "get")["sets"]
            return (total["counters"]["tx_drop_unreachable_total"] > 0 or
                    total["counters"]["tx_drop_in_doubt_total"] > 0)

        e2e.wait_until(given_up, e2e.START_S, "the daemon to give up what it was handed")
        new = stack.enter_context(e2e.Daemon(directory, right.config))
        stack.enter_context(contextlib.closing(e2e._Closing(
            e2e.perf_server(directory, new, "0"))))
        load.expect(0, e2e.TRAFFIC_S)


def test_clients_of_a_killed_daemon_are_told():
    """Also where another one has taken its place at once, and by calls that are made seldom."""
    with e2e.memif_pair() as (directory, left, right):
        with contextlib.ExitStack() as stack:
            own, polls, receives = [stack.enter_context(client.Client(left.socket))
                                    for _ in range(3)]
            assert own.send(1, 0, 1, b"before") == 0
            left.kill()
            left.start()
            for call in (lambda: own.send(1, 0, 2, b"after"), polls.completions,
                         lambda: receives.receive(0)):
                for _ in range(10):
                    if call() == -errno.ECONNRESET:
                        break
                    time.sleep(0.1)
                else:
                    pytest.fail("not told within a second")
            for one in (own, polls, receives):
                assert one.reconnect() == 0, one.error()
            assert own.send(1, 0, 3, b"again") == 0


def test_perf_says_that_the_daemon_died():
    with e2e.memif_pair() as (directory, left, right):
        server = e2e.perf_server(directory, right, "0")
        with contextlib.closing(e2e._Closing(server)):
            with e2e.perf(directory, "load", left.socket, "--destinations", 1, "--duration",
                          30) as load:
                time.sleep(1)
                left.signal(signal.SIGKILL)
                load.expect(4, 30)
                assert "suede-perf: " in load.stderr()


@pytest.mark.limit(240)
def test_hostile_client(hostile_client):
    """A client that scribbles its segment in a loop harms nobody, on the sending side or the
    receiving."""
    with e2e.memif_pair() as (directory, left, right), contextlib.ExitStack() as stack:
        with undisturbed_traffic(directory, left, right):
            villains = [
                stack.enter_context(e2e.Process(
                    directory, f"hostile-{i}",
                    [hostile_client, daemon.socket, HOSTILE_S, 1000 * i + 1, 1 + i]))
                for i, daemon in enumerate((left, left, right))]
            while any(villain.running() for villain in villains):
                for daemon in (left, right):
                    daemon.counters()  # its control thread answers throughout
                time.sleep(0.2)
            for villain in villains:
                villain.expect(0, HOSTILE_S + 30)
        for daemon in (left, right):
            assert daemon.running(), daemon.report()
        assert e2e.both_ways(directory, left, right, 0.5) > 100
        assert left.terminate() == 0 and right.terminate() == 0


def attack(directory, program, daemon, act, count=2):
    """Villains that do one thing only, until their time is over: returns the counts of each."""
    villains = [e2e.Process(directory, f"{act}-{i}",
                            [program, daemon.socket, HOSTILE_S, 1000 * i + 1, 1 + i, act]).start()
                for i in range(count)]
    try:
        while any(villain.running() for villain in villains):
            daemon.counters()  # its control thread answers throughout
            time.sleep(0.2)
        for villain in villains:
            villain.expect(0, HOSTILE_S + 30)
        return [{name: int(count) for name, count in (each.split("=") for each in villain.stdout().split())}
                for villain in villains]
    finally:
        for villain in villains:
            villain.kill()


@pytest.mark.limit(240)
def test_client_that_misuses_windows(hostile_client):
    """It takes pages away from memory that the lcore serves, and offers memory that lacks pages: neither the lcore nor
    the daemon's memory notices."""
    with e2e.memif_pair() as (directory, left, right):
        with undisturbed_traffic(directory, left, right):
            before = shared_kb(left)
            most = before
            villains = [e2e.Process(directory, f"window-{i}",
                                    [hostile_client, left.socket, HOSTILE_S, 1, 1 + i, "window"]).start()
                        for i in range(2)]
            try:
                while any(villain.running() for villain in villains):
                    left.counters()  # its control thread answers throughout
                    most = max(most, shared_kb(left))
                    time.sleep(0.05)
                for villain in villains:
                    villain.expect(0, HOSTILE_S + 30)
                    counts = dict(each.split("=") for each in villain.stdout().split())
                    assert int(counts["served"]) > 0, counts
                    assert counts["sparse_served"] == "0" and counts["punched"] == "0", counts
            finally:
                for villain in villains:
                    villain.kill()
            # Two segments, and one window each that has its pages.
            assert most - before < 2 * (64 << 10) + (64 << 10), (before, most)
        assert left.terminate() == 0 and right.terminate() == 0


@pytest.mark.limit(240)
def test_client_that_takes_pages_of_its_segment_away(hostile_client):
    """The lcore, which looks into the segment in each poll iteration, has to bring none of them back."""
    with e2e.memif_pair() as (directory, left, right):
        with undisturbed_traffic(directory, left, right):
            before = lcore_faults(left)
            counts = attack(directory, hostile_client, left, "punch")
            faults = lcore_faults(left) - before
        connections, punched, served = (sum(each[name] for each in counts)
                                        for name in ("connections", "punched", "holed_served"))
        # Each segment is new to the lcore once, page by page; pages brought back are as many as the acts.
        assert connections > 2 and punched == 0 and served == 0 and faults < 100 * connections, (counts, faults)
        assert left.counters()["clients_punched_total"] == 0
        assert left.terminate() == 0 and right.terminate() == 0


def lcore_faults(daemon):
    """Page faults of the daemon's lcores so far."""
    tasks = pathlib.Path(f"/proc/{daemon.pid}/task")
    names = ("rte-worker", "dpdk-worker")  # of DPDK 22.11, and of 24.11
    lcores = [task for task in tasks.iterdir() if (task / "comm").read_text().startswith(names)]
    assert lcores
    return sum(int((task / "stat").read_text().rpartition(")")[2].split()[7]) for task in lcores)


def shared_kb(daemon):
    """Memory of files and memfds that the daemon has mapped."""
    with open(f"/proc/{daemon.pid}/status", encoding="ascii") as status:
        return int(re.search(r"RssShmem:\s+(\d+)", status.read())[1])


@pytest.mark.limit(240)
def test_client_that_stops_up_what_wakes_it(hostile_client):
    """The client makes the descriptor block by which the daemon wakes it, fills that, and asks to be
    woken."""
    with e2e.memif_pair() as (directory, left, right), \
            client.Client(left.socket) as other:
        with undisturbed_traffic(directory, left, right):
            attack(directory, hostile_client, left, "gag")
        # Other clients are woken still, and at once.
        begun = time.monotonic()
        assert other.complete(other.send_all(1, 4, first=1), 10)
        assert time.monotonic() - begun < 5
        assert left.terminate() == 0 and right.terminate() == 0


@pytest.mark.limit(240)
def test_client_that_resets_in_a_loop(hostile_client):
    """Its queues have nonsense in them each time; or commands that are on their way."""
    script = ("import sys, time; sys.path.insert(0, sys.argv[1])\n"
              "import client, errno\n"
              "c = client.Client(sys.argv[2]); end = time.monotonic() + float(sys.argv[3])\n"
              "count = 0\n"
              "while time.monotonic() < end:\n"
              "    for tag in range(50): c.send(1, 3, tag, b'x' * 64)\n"
              "    assert c.reset() == 0, c.error()\n"
              "    while c.completions(): pass\n"
              "    count += 1\n"
              "assert count > 5, count\n"
              "tag = 1000\n"
              "while (result := c.send(1, 3, tag, b'last')) == -errno.EAGAIN:\n"
              "    c.completions(), time.sleep(0.001)\n"
              "assert result == 0, (result, c.states(), c.error())\n"
              "assert c.complete([tag], 20)[tag] == 0\n")
    with e2e.memif_pair() as (directory, left, right), \
            contextlib.ExitStack() as stack:
        receiver = stack.enter_context(client.Client(right.socket))
        receiver.claim(1, 1 << 3)
        stop = threading.Event()
        taker = threading.Thread(target=take_all, args=(receiver, 3, stop))
        taker.start()
        stack.callback(taker.join)
        stack.callback(stop.set)
        with undisturbed_traffic(directory, left, right):
            with e2e.Process(directory, "resetting", ["/usr/bin/python3", "-c", script,
                                                      e2e.ROOT / "tests/e2e", left.socket,
                                                      HOSTILE_S]) as resetting:
                attack(directory, hostile_client, left, "reset")
                resetting.expect(0, HOSTILE_S + 30)
        # Nothing of its queues is left anywhere: no credit, and no frames.
        e2e.wait_until(lambda: e2e.managed(left, "queues", "list")["queues"] == [], e2e.START_S,
                       "no queue to be left")
        port, = e2e.managed(left, "ports", "list")["ports"]
        assert port["pool_free"] > port["pool_frames"] / 2, port
        stop.set()
        taker.join()


def take_all(receiver, vc, stop):
    while not stop.is_set():
        if not receiver.receive(vc):
            time.sleep(0.001)


@pytest.mark.limit(240)
def test_flood_to_a_vc_that_nobody_claims():
    """The flood costs the receiver the PDUs that may wait unclaimed, and the others nothing."""
    most = 64
    changes = {"clients": {"unclaimed_pdus": most},
               "management": {"http_address": "127.0.0.1:0"}}
    with e2e.memif_pair(changes) as (directory, left, right), contextlib.ExitStack() as stack:
        floods = [stack.enter_context(client.Client(left.socket)) for _ in range(3)]
        with undisturbed_traffic(directory, left, right):
            end = time.monotonic() + HOSTILE_S
            tag = 0
            while time.monotonic() < end:
                for flood in floods:
                    for _ in range(100):
                        tag += 1
                        flood.send(1, 3, tag, bytes(200))
                assert right.running(), right.report()
                time.sleep(0.01)
            gauges = [line for line in metrics_of(right)
                      if line.startswith("suede_unclaimed_pdus{")]
            assert gauges and sum(float(line.split()[-1]) for line in gauges) <= most, gauges
            assert left.counters()["tx_waits_credit_total"] > 0
            assert right.counters()["rx_drop_not_ready_total"] == 0
        # A client that claims it gets the waiting commands, and later ones.
        receiver = stack.enter_context(client.Client(right.socket))
        receiver.claim(1, 1 << 3)
        got = []
        e2e.wait_until(lambda: got.extend(receiver.receive(3)) or len(got) > 2 * most, e2e.START_S,
                       "what was sent before the claim")


def metrics_of(daemon):
    import urllib.request
    address = e2e.managed(daemon, "version")["http"]
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as page:
        return page.read().decode().splitlines()


def delivered(sender, peer, tag):
    assert sender.send(peer, 0, tag, b"are you there") == 0, sender.error()
    return sender.complete([tag], 20)[tag] == client.STATUS_OK


@pytest.mark.limit(240)
def test_two_daemons_with_one_xpu_id():
    """For a moment there is another with the genuine one's configuration, addresses and all. Then the
    genuine one goes on, and neither it nor its peer was restarted."""
    with links.segment(3, 2088) as ends, e2e.work_directory() as directory, \
            contextlib.ExitStack() as stack:
        daemons = []
        for (prefix, interface), side, name in zip(ends, ("left", "right", "right"),
                                                   ("left", "right", "twin")):
            config = e2e.endpoint_config(directory, side, links.af_packet(interface, 4096))
            config["name"] = config["name"].replace(side, name)
            config["clients"]["socket"] = str(directory / f"{name}.sock")
            config["management"]["socket"] = str(directory / f"{name}-management.sock")
            config["transport"] = {"rto_initial_us": 20000, "rto_min_us": 20000}
            daemons.append(e2e.Daemon(directory, config, prefix))
        left, right, twin = daemons
        for daemon in (left, right):
            stack.enter_context(daemon)
        a, b = [stack.enter_context(client.Client(d.socket)) for d in (left, right)]
        a.claim(0)
        b.claim(1)
        assert delivered(a, 1, 1) and delivered(b, 0, 1)
        with twin:
            c = stack.enter_context(client.Client(twin.socket))
            c.claim(1)
            end = time.monotonic() + HOSTILE_S
            tag = 10
            while time.monotonic() < end:
                # All three speak: every outcome has a status.
                for sender, peer in ((a, 1), (b, 0), (c, 0)):
                    sender.send(peer, 0, tag, b"who are you")
                tag += 1
                for one in (a, b, c):
                    one.completions()
                    one.receive(0)
                time.sleep(0.02)
        pids = [daemon.pid for daemon in (left, right)]
        tag = 1_000_000

        def agree_again():
            nonlocal tag
            tag += 1
            # Both speak in any case: the bridge learns only then that the genuine one is not where
            # the twin was.
            return all([delivered(a, 1, tag), delivered(b, 0, tag)])

        # Frames of the twin, and answers to it, may be on their way for a moment.
        e2e.wait_until(lambda: all(agree_again() for _ in range(50)), 100,
                       "the genuine ones to be in step, and to stay so")
        assert pids == [daemon.pid for daemon in (left, right)]
        assert left.running() and right.running()
        got = b.receive(0)
        assert (0, b"are you there") in got


CLOCK_SHIM = r"""
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static long Shift(void) { const char* text = getenv("SHIFT_S"); return text ? atol(text) : 0; }
int clock_gettime(clockid_t id, struct timespec* now) {
  const int result = (int)syscall(SYS_clock_gettime, id, now);
  if (result == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) now->tv_sec += Shift();
  return result;
}
time_t time(time_t* out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}
int gettimeofday(struct timeval* out, void* zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  out->tv_sec = now.tv_sec;
  out->tv_usec = now.tv_nsec / 1000;
  return 0;
}
"""


@pytest.mark.limit(240)
def test_clock_that_was_set_back_before_a_restart(tmp_path):
    """A boot is told from another by being another, not by being later."""
    (tmp_path / "shim.c").write_text(CLOCK_SHIM)
    shim = tmp_path / "shim.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", tmp_path / "shim.c", "-o", shim], check=True,
                   timeout=60)
    with e2e.memif_pair() as (directory, left, right), contextlib.ExitStack() as stack:
        sender = stack.enter_context(client.Client(left.socket))
        assert delivered(sender, 1, 1)
        daemon = right
        for restart, shift in enumerate((-60, -86400, 3600, 0)):
            # Some of it is under way.
            under_way = sender.send_all(1, 8, first=1000 * (restart + 1))
            daemon.kill()
            daemon = stack.enter_context(e2e.Daemon(
                directory, right.config,
                ["/usr/bin/env", f"LD_PRELOAD={shim}", f"SHIFT_S={shift}"]))
            if shift:
                year = time.strftime("%Y-%m-%dT%H", time.gmtime(time.time() + shift))
                event = e2e.managed(daemon, "events", "list")["events"][0]["time"]
                assert abs(time.time() + shift - e2e.seconds_of(event)) < 30, (year, event)
            sender.complete(under_way, 30)
            begun = time.monotonic()
            e2e.wait_until(lambda: delivered(sender, 1, secrets.randbits(40)), e2e.START_S,
                           f"the peer whose clock was moved by {shift} s")
            assert time.monotonic() - begun < 5
            back = stack.enter_context(client.Client(daemon.socket))
            assert delivered(back, 0, 5)
        assert left.running()


def test_peer_that_sends_garbage_is_ignored():
    """A client of the socket that does not speak the protocol."""
    with e2e.memif_pair() as (directory, left, right):
        with undisturbed_traffic(directory, left, right):
            stop = threading.Event()
            answered = []
            thread = threading.Thread(target=_babble, args=(left.socket, stop, answered))
            thread.start()
            e2e.wait_until(lambda: len(answered) > 100 and malformed(left) > 20, e2e.START_S, "messages that are refused")
            stop.set()
            thread.join()
        assert malformed(left) > 20


def malformed(daemon):
    """How many clients were turned away for what they sent."""
    counters = daemon.counters()
    return counters["clients_malformed_total"] + counters["clients_oversized_total"]


def _babble(path, stop, answered):
    import socket
    while not stop.is_set():
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
            try:
                s.settimeout(1)
                s.connect(path)
                s.send(os.urandom(secrets.randbelow(4000) + 1))
                answered.append(s.recv(4096))
            except OSError:
                pass
