# SPDX-License-Identifier: Apache-2.0
"""Several instances of an XPU, on lcores and ports of their own, and traffic that is balanced over
them."""

import contextlib
import os

import pytest

import client
import e2e


def two_instances(directory, side, role):
    """An endpoint whose XPU has instance 0 on port p0 and instance 1 on p1, each with an lcore of
    its own where the machine has two CPUs."""
    config = e2e.endpoint_config(directory, side, e2e.memif_device(directory, role))
    own = config["instances"][0]["xpu"]
    cpus = sorted(os.sched_getaffinity(0))[:2]
    config["lcores"] = [{"cpu": cpu, "idle": "sleep"} for cpu in cpus]
    device = config["ports"][0]["device"].replace("memif0", "memif1").replace("id=0", "id=1")
    config["ports"].append({"name": "p1", "device": device, "mac": e2e.mac_of(own + 100)})
    config["instances"] = [
        {"xpu": own, "instance": number, "lcore": cpus[number % len(cpus)],
         "ports": [{"port": f"p{number}", "ip": e2e.ip_of(own + 100 * number)}]}
        for number in (0, 1)]
    config["peers"] = [
        {"xpu": 1 - own,
         "ports": [{"port": f"p{number}", "ip": e2e.ip_of(1 - own + 100 * number),
                    "mac": e2e.mac_of(1 - own + 100 * number)} for number in (0, 1)]}]
    return config


@contextlib.contextmanager
def pair(changes=None):
    """Two daemons with two instances each: yields (directory, left, right)."""
    with e2e.work_directory() as directory:
        configs = [e2e.changed(two_instances(directory, side, role), changes or {})
                   for side, role in (("left", "server"), ("right", "client"))]
        with e2e.daemons(e2e.Daemon(directory, configs[0]), e2e.Daemon(directory, configs[1])) as (left, right):
            yield directory, left, right


def run_perf(directory, left, right, *arguments, server=()):
    """One run of a client on all of the left's instances; its JSON."""
    process = e2e.perf_server(directory, right, "0,1", "--xpuid", 1, "--instances", "0,1", *server)
    with contextlib.closing(e2e._Closing(process)):
        file = directory / "balance.json"
        with e2e.perf(directory, "balance", left.socket, "--destinations", 1, "--vcs", "0,1",
                      "--xpuid", 0, "--instances", "0,1", "--json", file, *arguments) as run:
            run.expect(0, e2e.TRAFFIC_S)
        document = e2e.results_of(file)
        e2e.check_results(document)
        result = document["results"][0]
        taken = [i["sent"] for i in result["sent_by_instance"]]
        assert [i["instance"] for i in result["sent_by_instance"]] == [0, 1]
        assert sum(taken) == result["sent"]
        return taken, document


@pytest.mark.parametrize("policy", ["round_robin", "least_loaded", "hash"])
def test_perf_over_two_instances(policy):
    with pair() as (directory, left, right):
        # Fewer commands than there is credit, so that none is refused.
        taken, document = run_perf(directory, left, right, "--balance", policy, "--count", 400,
                                   "--warmup", 0, "--size", 16, "--check")
        assert document["config"]["balance"] == policy
        if policy == "round_robin":
            assert taken == [200, 200]
        elif policy == "least_loaded":
            assert min(taken) >= 1, taken  # both are idle at first
        else:
            assert sorted(taken) == [0, 400]  # there is one destination
        a = left.counters()
        assert a["tx_drop_unreachable_total"] == a["tx_drop_in_doubt_total"] == 0
        assert a["tx_drop_no_credit_total"] == 0


@pytest.mark.parametrize("policy", ["round_robin", "least_loaded"])
def test_full_load_both_ways(policy):
    with pair() as (directory, left, right):
        taken, _ = run_perf(directory, left, right, "--balance", policy, "--duration", 1,
                            "--bidirectional", "--check")
        assert min(taken) >= 1 and sum(taken) > 1000, taken


def test_latency_over_two_instances():
    with pair() as (directory, left, right):
        taken, document = run_perf(directory, left, right, "--mode", "latency", "--balance",
                                   "round_robin", "--count", 100, "--warmup", 0, "--check",
                                   server=("--reaction", "echo"))
        assert taken == [50, 50]
        assert document["results"][0]["latency"]["samples"] == 100


def send_balanced(balancer, first, second, count, first_tag):
    """Sends one after the other, waiting for each that instance 0 takes. Returns the number that
    each took."""
    taken = [0, 0]
    for tag in range(first_tag, first_tag + count):
        index = balancer.send(1, 0, tag, b"balanced")
        assert index in (0, 1), (index, first.error(), second.error())
        taken[index] += 1
        if index == 0:
            assert first.complete([tag], 20)[tag] == client.STATUS_OK
    return taken


@pytest.mark.parametrize("policy, expected", [("least_loaded", [200, 0]),
                                              ("round_robin", [100, 100])])
def test_an_instance_whose_peer_takes_nothing(policy, expected):
    """Nobody has claimed the commands that arrive at the far side's instance 1, and nothing is kept
    there."""
    with pair({"clients": {"unclaimed_pdus": 0}}) as (_, left, right), \
            contextlib.ExitStack() as stack:
        receiver = stack.enter_context(client.Client(right.socket, (1, 0)))
        receiver.claim(1)
        first, second = (stack.enter_context(client.Client(left.socket, (0, i))) for i in (0, 1))
        balancer = stack.enter_context(client.Balancer([first, second], policy))
        assert second.watch(1) == 0
        before = [second.send(1, 0, tag, b"it does not take this") for tag in range(100)]
        assert before == [0] * 100
        e2e.wait_until(lambda: second.load().paused_destinations == 1, e2e.START_S, "a pause")
        e2e.wait_until(lambda: (d := second.destination(1)) is not None and d.is_paused, e2e.START_S,
                       "the destination's pause")
        assert second.destination(1).is_known == 1
        state = second.load()
        assert state.queued_pdus > 0 and state.load > 0 and state.unreachable_destinations == 0
        assert send_balanced(balancer, first, second, 200, 1000) == expected
        assert first.load().paused_destinations == 0
        assert sum(iter(lambda: len(receiver.receive(0)), 0)) == expected[0]
        # Once it does take them, all arrive.
        late = stack.enter_context(client.Client(right.socket, (1, 1)))
        late.claim(1)
        tags = [*range(100), *range(1200 - 2 * expected[1] + 1, 1200, 2)]
        assert set(second.complete(tags, 20).values()) == {client.STATUS_OK}
        e2e.wait_until(lambda: second.load().load == 0, e2e.START_S, "an empty instance")
        assert second.load().paused_destinations == 0


def test_an_instance_without_a_way_is_no_black_hole():
    """Commands to an unreachable peer are discarded at once, so that its instance is never busy."""
    with e2e.work_directory() as directory, contextlib.ExitStack() as stack:
        left_config, right_config = (
            e2e.changed(two_instances(directory, side, role), e2e.GIVEN_UP_SOON)
            for side, role in (("left", "server"), ("right", "client")))
        for part in ("ports", "instances"):
            del right_config[part][1]
        del right_config["peers"][0]["ports"][1]
        left, right = stack.enter_context(e2e.daemons(e2e.Daemon(directory, left_config), e2e.Daemon(directory, right_config)))
        receiver = stack.enter_context(client.Client(right.socket, (1, 0)))
        receiver.claim(1)
        first, second = (stack.enter_context(client.Client(left.socket, (0, i))) for i in (0, 1))
        assert second.send(1, 0, 1, b"nobody is there") == 0
        assert second.complete([1], 20)[1] in (client.STATUS_UNREACHABLE, client.STATUS_IN_DOUBT)
        e2e.wait_until(lambda: second.load().unreachable_destinations == 1, e2e.START_S,
                       "an unreachable destination")
        balancer = stack.enter_context(client.Balancer([first, second], "least_loaded"))
        assert send_balanced(balancer, first, second, 100, 1000) == [100, 0]
        assert second.load().load == 0
