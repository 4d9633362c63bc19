# SPDX-License-Identifier: Apache-2.0
"""Traffic between two daemons, with its content checked at the other end."""

import contextlib
import threading
import time

import pytest

import client
import e2e
import links

# Counters that must stay 0 in both daemons of a pair on a link without faults.
NEVER = ("tx_drop_malformed_total", "tx_drop_unknown_xpu_total", "tx_drop_no_credit_total",
         "tx_drop_unreachable_total", "tx_drop_in_doubt_total", "rx_drop_rcrc_total",
        "rx_drop_malformed_total",
         "rx_drop_source_total", "rx_drop_partition_total", "rx_rpsn_invalid_total",
         "hello_mismatch_total", "completions_lost_total")


def check_counters(left, right):
    e2e.check_ends(left, right, NEVER)


@pytest.mark.parametrize("psn_scope", ["port", "vc"])
def test_memif_both_ways_on_all_vcs(psn_scope):
    with e2e.memif_pair({"transport": {"psn_scope": psn_scope}}) as (directory, left, right):
        assert e2e.both_ways(directory, left, right, 2) > 1000
        check_counters(left, right)


@pytest.mark.parametrize("size", [0, 1, 256])
def test_memif_sizes(size):
    with e2e.memif_pair() as (directory, left, right):
        assert e2e.both_ways(directory, left, right, 1, "--size", size) > 1000


def test_tagged_ports_with_large_pdus():
    changes = {"packing": {"limit_bytes": 4096},
               "classes": {"vc": [{"pcp": 1}, {"pcp": 2, "dscp": 18}, {"pcp": 3}, {"ecn": 1}]}}
    with e2e.work_directory() as directory:
        configs = []
        for side, role in (("left", "server"), ("right", "client")):
            device = e2e.memif_device(directory, role).replace("bsize=2112", "bsize=4224")
            config = e2e.changed(e2e.endpoint_config(directory, side, device), changes)
            config["ports"][0].update(mtu_bytes=4136, vlan={"vid": 100})
            configs.append(config)
        with e2e.daemons(e2e.Daemon(directory, configs[0]), e2e.Daemon(directory, configs[1])) as (left, right):
            assert e2e.both_ways(directory, left, right, 1) > 1000
            check_counters(left, right)


def test_latency_echo():
    with e2e.memif_pair() as (directory, left, right):
        server = e2e.perf_server(directory, right, "0", "--reaction", "echo")
        with contextlib.closing(e2e._Closing(server)):
            file = directory / "latency.json"
            with e2e.perf(directory, "latency", left.socket, "--mode", "latency", "--destinations",
                          1, "--size", 32, "--duration", 1, "--check", "--json", file) as run:
                run.expect(0, e2e.TRAFFIC_S)
            document = e2e.results_of(file)
            e2e.check_results(document)
            latency = document["results"][0]["latency"]
            assert 0 < latency["min_seconds"] <= latency["p50_seconds"] <= latency["max_seconds"]


@pytest.mark.parametrize("first", ["left", "right"])
def test_daemons_start_in_either_order(directory, first):
    configs = {"left": e2e.endpoint_config(directory, "left", e2e.memif_device(directory, "server")),
               "right": e2e.endpoint_config(directory, "right",
                                            e2e.memif_device(directory, "client"))}
    second = "right" if first == "left" else "left"
    with e2e.Daemon(directory, configs[first]) as a:
        time.sleep(1)
        with e2e.Daemon(directory, configs[second]) as b:
            left, right = (a, b) if first == "left" else (b, a)
            assert e2e.both_ways(directory, left, right, 0.5) > 100


@pytest.mark.parametrize("restarted", ["left", "right"])
def test_memif_end_restarts(restarted):
    """The left daemon is the memif's server, the right one its client."""
    with e2e.memif_pair() as (directory, left, right), contextlib.ExitStack() as stack:
        assert e2e.both_ways(directory, left, right, 0.5) > 100
        old = left if restarted == "left" else right
        assert old.terminate() == 0, old.report()
        new = stack.enter_context(e2e.Daemon(directory, old.config))
        pair = (new, right) if restarted == "left" else (left, new)
        client.settle(*pair)
        assert e2e.both_ways(directory, *pair, 0.5) > 100


def test_late_claim():
    """Commands that arrive before anybody has claimed them wait."""
    with e2e.memif_pair() as (_, left, right):
        with client.Client(left.socket) as sender:
            tags = sender.send_all(1, 40)
            assert set(sender.complete(tags, 20).values()) == {client.STATUS_OK}
            assert right.counters()["rx_unclaimed_pdus_total"] > 0
            with client.Client(right.socket) as receiver:
                receiver.claim(1)
                got = {vc: [] for vc in range(4)}

                def poll():
                    for vc, list_of_vc in got.items():
                        list_of_vc += receiver.receive(vc)
                    return sum(map(len, got.values())) >= 40

                e2e.wait_until(poll, e2e.START_S, "40 commands")
                for vc, commands in got.items():
                    assert commands == [(0, f"command {t}".encode()) for t in range(vc, 40, 4)]


def test_a_sleeping_client_is_woken_by_its_lcore():
    """While it sleeps no thread of the daemon looks after it."""
    with e2e.memif_pair() as (_, left, right):
        with client.Client(left.socket) as sender, client.Client(right.socket) as receiver:
            receiver.claim(1)
            count = lambda name: right.counters()[f"client_wait_{name}_total"]
            before = count("checks")
            assert receiver.wait_to_receive(1000) == 0
            # The library says ten times a second that it waits; a timer of 500 us or less would look thousands of times.
            assert count("checks") - before < 200

            def is_called():
                later = threading.Timer(0.05, sender.send_all, (1, 4))
                later.start()
                woken = receiver.wait_to_receive(20000)
                later.join()
                assert woken == 1
                e2e.wait_until(lambda: sum(len(receiver.receive(vc)) for vc in range(4)) != 0, e2e.START_S, "the commands")
                return count("calls") != 0

            e2e.wait_until(is_called, e2e.START_S, "a call of the lcore")


def test_term_drains():
    """Commands handed over before SIGTERM are delivered."""
    with e2e.memif_pair() as (directory, left, right), client.Client(right.socket) as receiver:
        receiver.claim(1)
        with client.Client(left.socket) as sender:
            sender.send_all(1, 100)
            assert left.terminate() == 0, left.report()
        got = []

        def poll():
            for vc in range(4):
                got.extend(receiver.receive(vc))
            return len(got) >= 100

        e2e.wait_until(poll, e2e.START_S, "100 commands")
        assert "drain incomplete" not in left.stderr()
        assert right.terminate() == 0


def test_term_without_a_peer_ends_in_time(directory):
    config = e2e.endpoint_config(directory, "left", e2e.memif_device(directory, "server"))
    with e2e.Daemon(directory, config, arguments=["--drain_seconds", "0.5"]) as daemon:
        with client.Client(daemon.socket) as sender:
            sender.send(1, 0, 1, b"to nobody")
            assert daemon.terminate(10) == 0, daemon.report()


# ---- Examples of docs/.

@pytest.mark.parametrize("pair", [("hello_c", "hello_cpp"), ("hello_cpp", "hello_c")])
def test_examples(pair):
    with e2e.memif_pair() as (directory, left, right):
        programs = [e2e.BUILD / "docs/examples" / name for name in pair]
        with e2e.Process(directory, "a", [programs[0], left.socket, 0, 1, 20, "--receive", 20]) as a:
            with e2e.Process(directory, "b",
                             [programs[1], right.socket, 1, 0, 20, "--receive", 20]) as b:
                a.expect(0, 30)
                b.expect(0, 30)
                assert "hello 19 from XPU 0" in b.stdout() and "hello 19 from XPU 1" in a.stdout()


def test_example_of_a_bridge():
    """Two XPUs behind bridges: order, contents and credit of all commands, and none that carries tx_err arrives."""
    with e2e.memif_pair() as (directory, left, right):
        program = e2e.BUILD / "docs/examples/attach_c"
        with e2e.Process(directory, "a", [program, left.socket, 0, 1, 5000]) as a, \
                e2e.Process(directory, "b", [program, right.socket, 1, 0, 5000]) as b:
            for process in (a, b):
                process.expect(0, 30)
                assert "sent 5000, discarded 100, received 4900, failed or wrong 0" in process.stdout()


def test_example_without_a_daemon(directory):
    for name in ("hello_c", "hello_cpp", "attach_c"):
        with e2e.Process(directory, name,
                         [e2e.BUILD / "docs/examples" / name, directory / "no.sock", 0, 1, 1]) as p:
            p.expect(4, 10)
            assert "no.sock" in p.stderr()


# ---- A veth pair between two network namespaces, with the kernel's packet sockets.

@pytest.mark.parametrize("limit_bytes", [1400, 4096])
def test_veth_both_ways_on_all_vcs(directory, as_root, limit_bytes):
    del as_root
    mtu = max(1500, limit_bytes + 40)
    framesz = 2048 if limit_bytes <= 1400 else 8192
    with links.namespaces(mtu) as (ends, _):
        configs = []
        for side, (_, interface) in zip(("left", "right"), ends):
            device = links.af_packet(interface, framesz)
            config = e2e.endpoint_config(directory, side, device)
            config["ports"][0]["mtu_bytes"] = mtu
            configs.append(e2e.changed(config, {"packing": {"limit_bytes": limit_bytes}}))
        prefixes = (ends[0][0], ends[1][0])
        with e2e.daemons(e2e.Daemon(directory, configs[0], prefix=prefixes[0]),
                         e2e.Daemon(directory, configs[1], prefix=prefixes[1])) as (left, right):
            assert e2e.both_ways(directory, left, right, 2, "--size", 64) > 1000
            check_counters(left, right)
