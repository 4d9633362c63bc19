# SPDX-License-Identifier: Apache-2.0
"""suede.lua on commands of AXI4: those of docs/axi-vectors.json, in PDUs."""

import json

import pytest

from sue_frames import frame, rh
from tshark import ROOT

VECTORS = json.loads((ROOT / "docs/axi-vectors.json").read_text(encoding="utf-8"))
BURSTS = ("FIXED", "INCR", "WRAP")
RESPONSES = ("OKAY", "EXOKAY", "SLVERR", "DECERR")
STATUSES = {"OK": 0, "BUSY": 16, "MALFORMED": 17, "RESET": 18}
# Rules that a receiver sees in the whole body, or that several commands break.
NOT_IN_ONE = {
    "write with a part that is twice there", "write with one part more",
    "write with a last part that is too long", "write with strobes that are not filled with 0",
    "write with an octet whose strobe is 0", "write with strobes that are all 1",
    "answer whose response is not the largest of its beats",
    "answer with responses of beats that are not filled with 0",
    "answer with responses of beats that are all the same", "answer that is too short",
}


def octets(commands):
    packed = b""
    for command in commands:
        packed += bytes.fromhex(command["control"] + command["data"])
        packed += bytes(len(packed) % 2)
    return packed


@pytest.fixture(scope="module", name="packets")
def dissect_vectors(shared_shark):
    """By name, each vector and a packet with all of its commands."""
    frames = [frame("udp4", rh(5), octets(vector["commands"]), to=9) for vector in VECTORS]
    packets = shared_shark.dissect(frames)
    return {vector["name"]: (vector, packet) for vector, packet in zip(VECTORS, packets, strict=True)}


def numbers(packet, name):
    return [int(show, 0) for show in packet.shows(f"suede.axi.{name}")]


def of_kind(packets, *kinds):
    good = [pair for pair in packets.values() if pair[0]["expected"] == "transaction" and pair[0]["kind"] in kinds]
    assert len(good) >= 5
    return good


def test_kinds_and_parts(packets):
    for vector, packet in packets.values():
        if vector["expected"] != "transaction":
            continue
        controls = [bytes.fromhex(command["control"]) for command in vector["commands"]]
        assert numbers(packet, "kind") == [control[2] >> 4 for control in controls], vector["name"]
        assert numbers(packet, "number") == [vector["number"]] * len(controls), vector["name"]
        assert numbers(packet, "part") == list(range(1, len(controls))), vector["name"]
        assert not packet.expert("axi.malformed"), vector["name"]


def test_requests(packets):
    for vector, packet in of_kind(packets, "read", "write"):
        request = vector["request"]
        assert numbers(packet, "address") == [int(request["address"], 16)], vector["name"]
        for name in ("id", "len", "size", "cache", "prot"):
            assert numbers(packet, name) == [request[name]], (vector["name"], name)
        assert numbers(packet, "burst") == [BURSTS.index(request["burst"])], vector["name"]
        for name in ("status", "response", "direction", "beat_responses"):
            assert f"suede.axi.{name}" not in packet, vector["name"]


def test_attributes(packets):
    plain = 0
    for vector, packet in of_kind(packets, "read", "write"):
        request = vector["request"]
        has_attributes = vector["commands"][0]["control"][4] == "c" or \
            vector["kind"] == "read" and vector["commands"][0]["data"] != ""
        if not has_attributes:
            assert "suede.axi.qos" not in packet, vector["name"]
            plain += 1
            continue
        user = bytes.fromhex(request["user"]).lstrip(b"\0")
        for name in ("lock", "qos", "region"):
            assert numbers(packet, name) == [request[name]], (vector["name"], name)
        assert numbers(packet, "user_octets") == [len(user)], vector["name"]
        assert packet.raw("suede.axi.user") == ([user] if user else []), vector["name"]
        assert numbers(packet, "beat_user_octets") == [vector.get("beat_user_octets", 0)], vector["name"]
        has_strobes = vector["name"].startswith(("write with strobes", "write without any strobe", "write with all",
                                                 "write of the longest"))
        assert numbers(packet, "strobes") == [has_strobes], vector["name"]
    assert plain > 10


def test_answers(packets):
    for vector, packet in of_kind(packets, "read_answer", "write_answer"):
        is_read = vector["kind"] == "read_answer"
        user = bytes.fromhex(vector.get("user", "")).lstrip(b"\0")
        responses = {beat["response"] for beat in vector.get("beats", [])}
        assert numbers(packet, "status") == [STATUSES[vector["status"]]], vector["name"]
        assert numbers(packet, "response") == [RESPONSES.index(vector["response"])], vector["name"]
        assert numbers(packet, "direction") == [is_read], vector["name"]
        assert numbers(packet, "beat_responses") == [len(responses) > 1], vector["name"]
        assert numbers(packet, "beat_user_octets") == [vector.get("beat_user_octets", 0)], vector["name"]
        assert packet.raw("suede.axi.user") == ([user] if user else []), vector["name"]


def test_malformed(packets):
    found = 0
    for vector, packet in packets.values():
        if vector["expected"] != "malformed":
            continue
        assert packet.expert("axi.malformed") == (vector["name"] not in NOT_IN_ONE), vector["name"]
        assert "suede.malformed" not in packet, vector["name"]  # the PDU is none
        found += packet.expert("axi.malformed")
    assert found > 25
    assert NOT_IN_ONE <= packets.keys()


def test_foreign(packets):
    for vector, packet in packets.values():
        if vector["expected"] == "foreign":
            assert "suede.axi" not in packet, vector["name"]
            assert "suede.command" in packet, vector["name"]


def test_sockets_are_others(shark):
    controls = [bytes([0xc9, 0, kind << 4]) + bytes(15) for kind in range(10)]
    for packet in shark.dissect([frame("udp4", rh(5), control, to=9) for control in controls]):
        assert packet.number("suede.command.class") == 6
        assert "suede.axi" not in packet


def frames_of(*names):
    vectors = {vector["name"]: vector for vector in VECTORS}
    return [frame("udp4", rh(5), octets(vectors[name]["commands"]), to=9) for name in names]


def test_text(shark):
    names = ("read, WRAP from the middle", "write with strobes", "write of 257 octets: two commands", "RESET to a read",
             "read with AxBURST 3")
    out = shark.tshark(shark.pcap(frames_of(*names)), "-O", "suede")
    for text in ("AXI4 read request 0x00000000000020b0 WRAP 8 x 16, number 0x",
                 "AXI4 write request with attributes 0x0000000000001000 INCR 2 x 8, number 0x",
                 "AXI4 continuation of a write request, part 1, number 0x",
                 "AXI4 answer to a read, RESET SLVERR, number 0x",
                 "AXI4 read request 0x0000000000001000 AxBURST 3 2 x 4, number 0x", "Malformed AXI4: AxBURST is 3"):
        assert text in out, text


def test_filters(shark):
    frames = frames_of("read of one beat", "write, exclusive", "RESET to a read", "read across 4 KiB")
    for display_filter, expected in (("suede.axi.kind == 10", [1, 4]), ("suede.axi.lock == 1", [2]),
                                     ("suede.axi.address == 0x1040", [2]), ('suede.axi.status == "RESET"', [3]),
                                     ('suede.axi.status != "OK" || suede.axi.response >= 2', [3]),
                                     ("suede.axi.number == 0xffffffff", [1]),
                                     ('suede.axi.response == "SLVERR"', [3]), ("suede.axi.malformed", [4]),
                                     ("suede.axi.burst == \"INCR\" && suede.axi.len > 0", [2, 4])):
        assert shark.numbers(frames, display_filter) == expected, display_filter


def exchange():
    """A read and a write in parts, their answers, retransmissions, and answers of other numbers, partitions, XPUs."""
    def with_number(name, number):
        commands = [bytearray.fromhex(c["control"] + c["data"]) for v in VECTORS if v["name"] == name
                    for c in v["commands"]]
        for command in commands:
            command[3:7] = number.to_bytes(4, "big")
        return [bytes(c) + bytes(len(c) % 2) for c in commands]
    read, = with_number("read of one beat", 0x51)
    first, more = with_number("write of 257 octets: two commands", 0x52)
    answer, = with_number("answer to a read of one beat", 0x51)
    written, = with_number("answer to a write, OKAY", 0x52)
    other, = with_number("answer to a write, OKAY", 0x53)
    sent = [(5, {}, read), (5, {}, first), (5, {}, more), (9, {}, other), (9, {"partition": 3}, answer),
            (5, {}, answer), (9, {"vc": 1}, answer), (9, {"vc": 1}, answer), (9, {"vc": 1}, written), (5, {}, first)]
    return [frame("udp4", rh(xpuid, psn=psn, **fields), octets_of, to=14 - xpuid)
            for psn, (xpuid, fields, octets_of) in enumerate(sent)]


def test_requests_and_answers(shark):
    packets = shark.dissect(exchange(), "-2")
    def frames(name):
        return [numbers(packet, name) for packet in packets]
    assert frames("answer_in") == [[7], [9], [9], [], [], [], [], [], [], [9]]
    assert frames("request_in") == [[], [], [], [], [], [], [1], [1], [2], []]
    # Frames come 10 us apart.
    assert packets[6].text("suede.axi.time") == "0.000060000"
    assert packets[8].text("suede.axi.time") == "0.000070000"
    assert "suede.axi.time" not in packets[4]
    one_pass = shark.dissect(exchange())
    assert [numbers(packet, "request_in") for packet in one_pass] == frames("request_in")


def test_experts_without_a_tree(shark):
    out = shark.tshark(shark.pcap(frames_of("read across 4 KiB", "read of one beat")), "-q", "-z", "expert")
    assert "Malformed AXI4: a burst crosses a 4 KiB boundary" in out


def test_cut_captures(shark):
    raw, = frames_of("write with all")
    for length, packet in zip(range(42, len(raw)), shark.dissect([raw] * (len(raw) - 42),
                                                                 captured=list(range(42, len(raw)))), strict=True):
        assert not packet.expert("axi.malformed"), length
