# SPDX-License-Identifier: Apache-2.0
"""Stalls: which flows stall, and what each waits for."""

import types

import pytest
from labkit import rpc, stalls


def connection(**changes):
    return {"peer": 1, "plane": 0, "vc": 0, "state": "open", "unacked_pdus": 0, "window_pdus": 8, "tries": 0, "peer_waits": 0,
            "congestion": "fixed", "congestion_window_octets": None, **changes}


def plane(number, is_usable):
    return {"peer": 1, "plane": number, "state": "up" if is_usable else "down", "usable": is_usable}


def queue(**changes):
    return {"xpu": 0, "paused": "", "credit_used": 0, "waiting_lines": 0, **changes}


@pytest.mark.parametrize("connections, planes, queues, wanted", [
    ([connection()], [plane(0, True)], [queue()], None),
    ([connection(unacked_pdus=3)], [plane(0, True)], [], ([0], "acknowledgements of XPU 1", "3 of 8 PDUs in flight")),
    ([connection(unacked_pdus=8, tries=2, plane=1)], [], [], ([1], "acknowledgements of XPU 1", "8 of 8 PDUs in flight, 2 timeouts in a row")),
    ([connection(unacked_pdus=3, vc=1), connection(unacked_pdus=3, peer=2)], [], [], None),
    ([connection(unacked_pdus=3, vc=None)], [], [], ([0], "acknowledgements of XPU 1", "3 of 8 PDUs in flight")),
    ([connection(unacked_pdus=3)], [plane(0, False), plane(1, False)], [], ([0, 1], "a plane to XPU 1", "plane 0 down, plane 1 down")),
    ([connection(unacked_pdus=3)], [plane(0, False), plane(1, True)], [], ([0], "acknowledgements of XPU 1", "3 of 8 PDUs in flight")),
    ([connection(state="lost", unacked_pdus=3)], [], [], ([0], "XPU 1, which was given up as unreachable", "state lost, 0 refusals")),
    ([connection(state="frozen")], [], [], ([0], "the end of a FENCE", "state frozen, 0 refusals")),
    ([connection(state="paused", peer_waits=7)], [], [],
     ([0], "XPU 1 to be ready, which refused PDUs: no receiver or no room", "state paused, 7 refusals")),
    ([connection(unacked_pdus=3)], [], [queue(paused="0,3")], ([0], "the end of a pause (PFC) of its VC", "all planes are paused")),
    ([connection(unacked_pdus=3)], [], [queue(paused="3")], ([0], "acknowledgements of XPU 1", "3 of 8 PDUs in flight")),
    ([connection(congestion="asking", congestion_window_octets=0)], [], [],
     ([0], "congestion credit of XPU 1", "window 0 bytes")),
])
def test_reasons(connections, planes, queues, wanted):
    assert stalls.classify(1, 0, connections, planes, queues) == wanted


class Endpoint:
    """Answers as the daemon d0 of XPU 0; XPU 1 is of d1."""

    def __init__(self):
        self.rows, self.queues, self.planes, self.calls = [connection(unacked_pdus=3)], [queue()], [plane(0, True)], 0

    def call(self, node, method, **_):
        if node.name != "d0":
            raise rpc.RpcError("no answer")
        self.calls += 1
        return {"connections.list": {"connections": self.rows}, "queues.list": {"queues": self.queues},
                "planes.peers": {"peers": self.planes}, "planes.list": {"planes": []}}[method]


@pytest.fixture(name="parts")
def fixture_parts():
    plan = types.SimpleNamespace(nodes=[types.SimpleNamespace(name=f"d{i}", xpus=[i]) for i in range(2)])
    endpoint = Endpoint()
    load = types.SimpleNamespace(name="ring", spec={"mode": "workload", "ranks": [0, 1], "vcs": [0]})
    run = types.SimpleNamespace(load=load, began_s=10.0, handles=[types.SimpleNamespace(process=types.SimpleNamespace(name="ring.d1"))])
    return stalls.Stalls(plan, endpoint), endpoint, run


FLOW = ("ring", 0, 1, 0)
FLOWS = {"ring.d1": {(0, 1, 0): True}}


def test_a_stall_from_its_begin_to_its_end(parts):
    found, endpoint, run = parts
    found.data(FLOW, 11.0)
    found.look([run], FLOWS, 11.9, set(), [])
    assert found.list == [] and endpoint.calls == 0
    found.look([run], FLOWS, 12.1, set(), ["all is down"])
    found.look([run], FLOWS, 12.3, set(), [])  # not again so soon
    assert endpoint.calls == 3
    assert found.list == [{"load": "ring", "source": 0, "destination": 1, "vc": 0, "t": 11.0, "end": None, "plane": "0",
                           "waited_for": "acknowledgements of XPU 1", "evidence": "3 of 8 PDUs in flight", "faults": ["all is down"]}]
    endpoint.planes = [plane(0, False)]
    found.look([run], FLOWS, 13.2, set(), [])
    assert [(each["t"], each["end"], each["waited_for"]) for each in found.list] == [
        (11.0, 13.2, "acknowledgements of XPU 1"), (13.2, None, "a plane to XPU 1")]
    found.data(FLOW, 14.0)
    found.look([run], FLOWS, 14.2, set(), [])
    assert found.list[1]["end"] == 14.0 and found.open == {}


def test_a_flow_without_data_to_send_does_not_stall(parts):
    found, endpoint, run = parts
    endpoint.rows = [connection()]
    found.look([run], FLOWS, 20.0, set(), [])
    assert found.list == [] and endpoint.calls == 3


def test_what_waits_in_queues_waits_for_what_was_counted_last(parts):
    found, endpoint, run = parts
    endpoint.rows, endpoint.queues = [connection()], [queue(credit_used=9)]
    found.counters("d0", {"tx_waits_mac_total": 1}, 5.0)
    found.counters("d0", {"tx_waits_mac_total": 1, "tx_waits_credit_total": 4}, 12.0)
    found.data(FLOW, 12.5)
    found.look([run], FLOWS, 14.0, set(), [])
    assert [(each["waited_for"], each["evidence"]) for each in found.list] == [
        ("receive credit of XPU 1", "tx_waits_credit_total grew, 9 lines have not left")]


def test_nodes_that_are_stopped_are_the_reason(parts):
    found, endpoint, run = parts
    found.look([run], FLOWS, 12.0, {"d1"}, [])
    assert found.list[0]["waited_for"] == "d1, the daemon of XPU 1"
    found.look([run], FLOWS, 13.1, {"d0"}, [])
    assert found.list[1]["waited_for"] == "d0, the daemon of XPU 0" and endpoint.calls == 3
    found.close("ring", 15.0)
    assert [each["end"] for each in found.list] == [13.1, 15.0]


def test_all_pairs_may_stall_where_no_flow_is_known_yet(parts):
    found, _, run = parts
    found.look([run], {}, 12.0, set(), [])
    assert [(each["source"], each["destination"], each["t"]) for each in found.list] == [(0, 1, 10.0)]
