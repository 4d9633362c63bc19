# SPDX-License-Identifier: Apache-2.0
"""suede.lua on memory operations and message sockets, built from docs/memory.md and docs/sockets.md alone."""

import random
import struct

import pytest

from sue_frames import HEADER_BYTES, frame, rh

PUT, PUT_IMMEDIATE, GET, FETCH_ADD, COMPARE_SWAP, SWAP, INCREMENT, READ_INCREMENT = range(1, 9)
CONNECT, ANNOUNCE, ACCEPT, CREDIT, REFUSE, CLOSED, DATA, END = 1, 2, 3, 4, 5, 6, 8, 9
FIRST, LAST, WANTS_CREDIT = 1, 2, 4
NOT_OPEN, ABORTED = 16, 23
HOST, TARGET, OTHER = 5, 9, 7  # XPUs
EMPTY_DATAGRAM = FIRST | LAST


def padded(raw):
    return raw + bytes(len(raw) % 2)


def request(operation, number, data=b"", window=3, offset=0x1000, key=0, wide=False, vc=1, octets=None, reserved=0):
    second = len(data) - 1 if data else (octets or 1) - 1
    control = struct.pack(">BBBIHI", 0x99 if data else 0x89, second, operation << 4 | wide << 3 | reserved << 2 | vc,
                          number, window, key)
    return padded(control + offset.to_bytes(5, "big") + data)


def immediate(number, data, value=0xabcd, whole=None, **fields):
    whole = len(data) if whole is None else whole
    return request(PUT_IMMEDIATE, number, struct.pack(">II", value, whole) + data, **fields)


def acknowledgement(number, count=1, status=0):
    return struct.pack(">BBBBIH", 0xa5, 0, 0x10, status, number, count)


def data_response(number, data):
    return padded(struct.pack(">BBBBI", 0xb4, len(data) - 1, 0x20, 0, number) + data)


def value_response(number, value):
    return struct.pack(">BBBBIQ", 0xa8, 0, 0x30, 0, number, value)


def socket(kind, tag=0, third=0, fourth=0, number=7, data=b"", flags=0, octet_3=0):
    return padded(struct.pack(">BBBBIIIH", 0xd9 if data else 0xc9, len(data) - 1 if data else 0, kind << 4 | flags,
                              octet_3, tag, third, fourth, number) + data)


def pdus(*sent, encap="udp4"):
    """Frames of (from, to, commands, fields of the RH)."""
    return [frame(encap, rh(xpuid, psn=psn, **(rest[0] if rest else {})), commands, to=to)
            for psn, (xpuid, to, commands, *rest) in enumerate(sent)]


def numbers(packet, name):
    return [int(show, 0) for show in packet.shows(f"suede.{name}")]


def column(packets, name):
    return [numbers(packet, name) for packet in packets]


# ---- Memory operations: fields

REQUESTS = {
    "put": (request(PUT, 0x11223344, b"octets", window=4095, offset=0xfedcba9876, key=0xdeadbeef, vc=3),
            {"operation": PUT, "number": 0x11223344, "window": 4095, "offset": 0xfedcba9876, "key": 0xdeadbeef,
             "response_vc": 3, "wide": 0, "length": 6}),
    "longest put": (request(PUT, 1, bytes(256)), {"length": 256, "window": 3, "offset": 0x1000}),
    "put with immediate": (immediate(2, b"12345", whole=261, offset=0x100),
                           {"operation": PUT_IMMEDIATE, "immediate": 0xabcd, "put_length": 261, "length": 5}),
    "notice alone": (immediate(2, b"", offset=0), {"length": 0, "put_length": 0}),
    "get": (request(GET, 3, octets=256), {"operation": GET, "length": 256}),
    "fetch-and-add": (request(FETCH_ADD, 4, struct.pack(">I", 7)),
                      {"operation": FETCH_ADD, "amount": 7, "length": 4, "wide": 0}),
    "wide fetch-and-add": (request(FETCH_ADD, 4, struct.pack(">Q", 1 << 63), wide=True),
                           {"amount": 1 << 63, "length": 8, "wide": 1}),
    "compare-and-swap": (request(COMPARE_SWAP, 5, struct.pack(">QQ", 1, 2), wide=True),
                         {"operation": COMPARE_SWAP, "expected": 1, "desired": 2, "length": 8}),
    "swap": (request(SWAP, 6, struct.pack(">I", 9)), {"operation": SWAP, "desired": 9, "length": 4}),
    "increment": (request(INCREMENT, 7, struct.pack(">IB", 3, 31)),
                  {"operation": INCREMENT, "amount": 3, "boundary": 31, "length": 4}),
    "wide read-increment": (request(READ_INCREMENT, 8, struct.pack(">QB", 3, 63), wide=True),
                            {"operation": READ_INCREMENT, "amount": 3, "boundary": 63, "length": 8}),
    "acknowledgement": (acknowledgement(0xfffffffe, 65535), {"response": 1, "status": 0, "number": 0xfffffffe,
                                                            "count": 65535}),
    "data": (data_response(3, bytes(255)), {"response": 2, "status": 0, "number": 3, "length": 255}),
    "value": (value_response(4, 2**64 - 1), {"response": 3, "status": 0, "old_value": 2**64 - 1}),
}
MALFORMED = {
    "there is no such operation": request(9, 1, b"12"),
    "a reserved bit is set": request(PUT, 1, b"12", reserved=1),
    "W is set": request(PUT, 1, b"12", wide=True),
    "a put has no data": request(PUT, 1),
    "the immediate is not whole": request(PUT_IMMEDIATE, 1, b"1234567"),
    "the whole put is shorter than this request": immediate(1, b"123", whole=2),
    "the whole put begins below offset 0": immediate(1, b"123", whole=260, offset=256),
    "a get has data": request(GET, 1, b"12"),
    "the operands do not have their length": request(SWAP, 1, bytes(8)),
    "the boundary is not within the operand": request(INCREMENT, 1, struct.pack(">IB", 1, 32)),
    "count is 0": acknowledgement(1, 0),
    "targets do not give this status": acknowledgement(1, 1, 32),
    "a refusal is an acknowledgement": b"\xa8\0\x30\x10" + bytes(12),
    "there is no data": b"\xa4\0\x20\0" + bytes(4),
    "there is data": b"\xb5\x01\x10\0" + bytes(5) + b"\1" + bytes(2),
    "reserved bits are set": b"\xa5\0\x11\0" + bytes(5) + b"\1",
}
SOCKETS_MALFORMED = {
    "there is no such kind": socket(7),
    "reserved traits are set": socket(CONNECT, octet_3=4),
    "no peer gives this status": socket(REFUSE, octet_3=32),
    "the status is neither OK nor ABORTED": socket(END, octet_3=22),
    "octet 3 is not 0": socket(CREDIT, octet_3=1),
    "flags are set": socket(END, flags=1),
    "there is data": socket(CREDIT, data=b"12"),
    "no ring has this size": socket(ACCEPT, third=4095),
    "a reserved flag is set": socket(DATA, data=b"12", flags=8),
    "there is no data": socket(DATA, flags=FIRST),
}
GOOD_SOCKETS = [socket(CONNECT, 0, 3, 0x5001, octet_3=0x33), socket(ANNOUNCE, 0, 3, 0x9001, octet_3=1),
                socket(ACCEPT, 0x5001, 1 << 30, 0x9001), socket(CREDIT, 0x5001, 4096, 264),
                socket(REFUSE, 0x5001, 3, 8, octet_3=NOT_OPEN), socket(CLOSED, 0x5001, 0, 0x9001),
                socket(DATA, 0x9001, 3, 5, data=b"123", flags=7), socket(DATA, 0x9001, 3, 5, flags=EMPTY_DATAGRAM),
                socket(END, 0x9001, 3, 6, octet_3=ABORTED)]


def test_fields_of_memory_operations(shark):
    packets = shark.dissect(pdus(*((HOST, TARGET, commands) for commands, _ in REQUESTS.values())))
    for (name, (_, expected)), packet in zip(REQUESTS.items(), packets, strict=True):
        assert not packet.expert("mem.malformed") and not packet.expert("mem.refused"), name
        for field, value in expected.items():
            assert numbers(packet, f"mem.{field}") == [value], (name, field)
        assert ("suede.mem.operation" in packet) != ("suede.mem.response" in packet), name
    assert "suede.mem.immediate" not in packets[0] and "suede.mem.amount" not in packets[0]


@pytest.mark.parametrize("service, malformed", [("mem", MALFORMED), ("socket", SOCKETS_MALFORMED)])
def test_malformed_commands(shark, service, malformed):
    good = [commands for commands, _ in REQUESTS.values()] + GOOD_SOCKETS
    frames = pdus(*((HOST, TARGET, commands) for commands in (*malformed.values(), *good)))
    out = shark.tshark(shark.pcap(frames), "-O", "suede", "-Y", f"suede.{service}.malformed")
    shown = out.split("Frame ")[1:]
    assert len(shown) == len(malformed)
    for reason, text in zip(malformed, shown):
        assert f": {reason}\n" in text or f": {reason}]" in text, reason


def test_other_commands_of_these_classes(shark):
    """Other lengths of control are nobody's; without the preference no command is a service's."""
    others = [bytes([c << 5 | 1, 0]) for c in (4, 5, 6)] + [b"\xb1\0\1\0", b"\xa2\0\x20\0"]
    others += [b"\x88\0\x10" + bytes(13), b"\xa6\0\x10" + bytes(9), b"\xa5\0\x20" + bytes(7), b"\xc8\0\x10" + bytes(13)]
    frames = pdus(*((HOST, TARGET, commands) for commands in (*others, request(GET, 1), GOOD_SOCKETS[0])))
    assert shark.numbers(frames, "suede.mem || suede.socket") == [10, 11]
    assert shark.numbers(frames, "suede.mem || suede.socket", prefs={"services": "FALSE"}) == []


# ---- Memory operations: requests and responses

def test_requests_and_their_responses(shark):
    packed = request(PUT, 10, b"ab") + request(PUT, 11, b"c") + request(GET, 12, octets=2)
    frames = pdus((HOST, TARGET, packed), (HOST, TARGET, request(PUT, 13, b"d")),
                  (HOST, TARGET, request(SWAP, 14, bytes(4))),
                  (TARGET, HOST, acknowledgement(12, status=20)),  # of the get: BOUNDS
                  (HOST, TARGET, packed),                          # once more
                  (TARGET, HOST, acknowledgement(10, 2) + acknowledgement(13), {"vc": 1}),
                  (TARGET, HOST, acknowledgement(10, 2), {"vc": 1}),  # once more
                  (TARGET, HOST, value_response(14, 5), {"partition": 2}),
                  (TARGET, HOST, value_response(14, 5)), (TARGET, HOST, acknowledgement(99)))
    packets = shark.dissect(frames, "-2")
    assert column(packets, "mem.response_in") == [[6, 6, 4], [6], [9], [], [6, 6, 4], [], [], [], [], []]
    assert column(packets, "mem.request_in") == [[], [], [], [1], [], [1, 2], [1], [], [3], []]
    # Frames come 10 us apart.
    assert [packet.shows("suede.mem.time") for packet in packets] == [
        [], [], [], ["0.000030000"], [], ["0.000050000", "0.000040000"], [], [], ["0.000060000"], []]
    assert [number for number, packet in enumerate(packets, 1) if packet.expert("mem.refused")] == [4]
    assert column(shark.dissect(frames), "mem.request_in") == column(packets, "mem.request_in")


def test_a_number_of_several_initiators(shark):
    """Numbers are an initiator's own. Where two have the same, the addresses tell."""
    frames = pdus((HOST, TARGET, request(GET, 1)), (OTHER, TARGET, request(GET, 1)), (TARGET, HOST, request(GET, 1)),
                  (TARGET, OTHER, data_response(1, b"a")), (TARGET, HOST, data_response(1, b"b")),
                  (HOST, TARGET, data_response(1, b"c")), (20, 21, data_response(1, b"d")))
    packets = shark.dissect(frames, "-2")
    assert column(packets, "mem.response_in") == [[5], [4], [6], [], [], [], []]
    assert column(packets, "mem.request_in") == [[], [], [], [2], [1], [3], []]


def test_an_acknowledgement_of_a_wide_range(shark):
    """Across the wrap of numbers, with requests that are not in the capture."""
    frames = pdus((HOST, TARGET, request(PUT, 2**32 - 1, b"ab")), (HOST, TARGET, request(PUT, 3, b"ab")),
                  (HOST, TARGET, request(PUT, 60001, b"ab")), (TARGET, HOST, acknowledgement(2**32 - 5, 60000)))
    assert column(shark.dissect(frames, "-2"), "mem.response_in") == [[4], [4], [], []]
    assert numbers(shark.dissect(frames)[3], "mem.request_in") == [1, 2]


def test_pdus_that_are_dropped_ask_nothing(shark):
    bad = frame("udp4", rh(HOST), request(GET, 1), to=TARGET, spoil=1)
    good, answer = pdus((HOST, TARGET, request(GET, 1)), (TARGET, HOST, data_response(1, b"a")))
    packets = shark.dissect([bad, good, answer], "-2")
    assert column(packets, "mem.response_in") == [[], [3], []]
    assert column(packets, "mem.operation") == [[GET], [GET], []]


# ---- Message sockets

def test_fields_of_sockets(shark):
    packets = shark.dissect(pdus(*((HOST, TARGET, commands) for commands in GOOD_SOCKETS)))
    assert column(packets, "socket.kind") == [[k] for k in (1, 2, 3, 4, 5, 6, 8, 8, 9)]
    assert all(numbers(packet, "socket.id") == [7] for packet in packets)
    expected = [{"datagram": 1, "private": 1, "vc": 3, "epoch": 3, "own_tag": 0x5001, "tag": 0},
                {"datagram": 1, "private": 0, "vc": 0, "own_tag": 0x9001}, {"limit": 1 << 30, "own_tag": 0x9001},
                {"limit": 4096, "received": 264, "tag": 0x5001}, {"status": NOT_OPEN, "released": 8},
                {"own_tag": 0x9001}, {"number": 5, "epoch": 3, "first": 1, "last": 1, "wants_credit": 1, "length": 3},
                {"length": 0, "wants_credit": 0}, {"status": ABORTED, "number": 6}]
    for fields, packet in zip(expected, packets, strict=True):
        for name, value in fields.items():
            assert numbers(packet, f"socket.{name}") == [value], name
    assert [packet.expert("socket.refused") for packet in packets] == [k == 4 for k in range(9)]
    assert not any(packet.expert("socket.malformed") for packet in packets)


def data(number, octets=b"x" * 10, tag=0x9001, flags=0):
    return socket(DATA, tag, 3, number, data=octets, flags=flags)


def test_a_stream_from_its_beginning(shark):
    frames = pdus((HOST, TARGET, socket(CONNECT, 0, 3, 0x5001)),
                  (TARGET, HOST, socket(REFUSE, 0x5001, 3, octet_3=NOT_OPEN)),
                  (TARGET, HOST, socket(ANNOUNCE, 0, 3, 0x9001)),
                  (HOST, TARGET, socket(CONNECT, 0, 3, 0x5001)),
                  (TARGET, HOST, socket(ACCEPT, 0x5001, 4096, 0x9001)),
                  (HOST, TARGET, data(0) + data(1, bytes(256))), (HOST, TARGET, data(3)),
                  (TARGET, HOST, socket(CREDIT, 0x5001, 5000, 300)), (HOST, TARGET, data(2) + data(3)),
                  (HOST, TARGET, socket(END, 0x9001, 3, 4)),
                  (TARGET, HOST, socket(CLOSED, 0x5001, 0, 0x9001)),
                  # Another life of the sender, and another socket beside it in one PDU.
                  (HOST, TARGET, socket(CONNECT, 0, 3, 0x5002) + socket(CONNECT, 0, 3, 0x6001, number=8)),
                  (TARGET, HOST, socket(ACCEPT, 0x6001, 4096, 0x9009, number=8) +
                   socket(ACCEPT, 0x5002, 4096, 0x9001)))
    packets = shark.dissect(frames, "-2")
    assert column(packets, "socket.stream") == [[0], [0], [], [0], [0], [0, 0], [0], [0], [0, 0], [0], [0], [1, 2],
                                                [2, 1]]
    assert column(packets, "socket.offset") == [[], [], [], [], [], [0, 10], [276], [], [266, 276], [], [], [], []]
    assert column(packets, "socket.answer_in") == [[2], [], [], [5], [], [], [], [], [], [11], [], [13, 13], []]
    assert column(packets, "socket.request_in") == [[], [1], [], [], [4], [], [], [], [], [], [10], [], [12, 12]]
    assert packets[4].text("suede.socket.time") == "0.000010000"
    assert shark.numbers(frames, "suede.socket.stream == 2") == [12, 13]


def test_a_repeated_end(shark):
    frames = pdus((HOST, TARGET, data(0)), (HOST, TARGET, socket(END, 0x9001, 3, 1)),
                  (HOST, TARGET, socket(END, 0x9001, 3, 1)), (TARGET, HOST, socket(CLOSED, 0x5001, 0, 0x9001)))
    packets = shark.dissect(frames, "-2")
    assert column(packets, "socket.answer_in") == [[], [4], [4], []]
    assert packets[3].text("suede.socket.time") == "0.000020000"


def test_streams_whose_beginning_was_not_captured(shark):
    """DATA and CREDIT have one tag each: those of one id between the same ends belong together."""
    frames = pdus((HOST, TARGET, data(100)), (TARGET, HOST, socket(CREDIT, 0x5001, 5000, 300)),
                  (OTHER, TARGET, data(7, tag=0x9002)), (HOST, TARGET, data(101)),
                  (TARGET, OTHER, socket(CREDIT, 0x7001, 5000, 300)),
                  (TARGET, HOST, data(0, tag=0x5777)),  # the other way
                  (HOST, TARGET, socket(CONNECT, 0x9001, 3, 0x5001)), (TARGET, HOST, socket(CLOSED, 0x5001, 0, 0x9001)),
                  # Two without the sender's tag: nothing tells to which of them a CREDIT belongs.
                  (HOST, TARGET, data(0, tag=0x9003)), (HOST, TARGET, data(0, tag=0x9004)),
                  (TARGET, HOST, socket(CREDIT, 0x5009, 5000, 300)))
    packets = shark.dissect(frames)
    assert column(packets, "socket.stream") == [[0], [0], [1], [0], [1], [2], [0], [0], [3], [4], [5]]
    assert column(packets, "socket.offset") == [[0], [], [0], [10], [], [0], [], [], [0], [0], []]


def test_datagrams(shark):
    """One that fits, one of three commands, one that is torn, an empty one."""
    frames = pdus((HOST, TARGET, data(0, b"1", flags=FIRST | LAST) + data(1, bytes(256), flags=FIRST)),
                  (HOST, TARGET, data(2, bytes(256))), (HOST, TARGET, data(3, b"end", flags=LAST)),
                  (HOST, TARGET, data(4, flags=FIRST)),
                  (HOST, TARGET, data(5, b"", flags=EMPTY_DATAGRAM | WANTS_CREDIT)))
    packets = shark.dissect(frames, "-2")
    assert column(packets, "socket.message") == [[0, 1], [1], [1], [2], [3]]
    assert column(packets, "socket.message_offset") == [[0, 0], [256], [512], [0], [0]]
    assert column(packets, "socket.message_length") == [[1, 515], [515], [515], [], [0]]
    assert column(packets, "socket.first_in") == [[1, 1], [1], [1], [4], [5]]
    assert column(packets, "socket.last_in") == [[1, 3], [3], [3], [], [5]]


def test_offsets_across_the_wrap(shark):
    frames = pdus(*((HOST, TARGET, data(n % 2**32)) for n in range(2**32 - 2, 2**32 + 2)))
    assert column(shark.dissect(frames), "socket.offset") == [[0], [10], [20], [30]]


# ---- Captures that are cut or damaged

def test_cut_captures(shark):
    """As soon as the control is there, the command is shown, and its exchange followed."""
    put, answer = pdus((HOST, TARGET, immediate(1, bytes(200))), (TARGET, HOST, acknowledgement(1)))
    sent, = pdus((HOST, TARGET, data(0, bytes(200))))
    begin = HEADER_BYTES["udp4"] + 8
    lengths = [begin + 17, begin + 18, begin + 25, begin + 26, begin + 100]
    for raw, service in ((put, "mem"), (sent, "socket")):
        packets = shark.dissect([raw] * len(lengths), captured=lengths)
        assert [f"suede.{service}" in packet for packet in packets] == [False, True, True, True, True]
        assert column(packets, f"{service}.length") == [[], [200], [200], [200], [200]]
        assert not any(packet.expert(f"{service}.malformed") for packet in packets)
        if service == "mem":
            assert column(packets, "mem.put_length") == [[], [], [], [200], [200]]
    packets = shark.dissect([put, answer], "-2", captured=[begin + 20, len(answer)])
    assert column(packets, "mem.response_in") == [[2], []]


def test_damaged_commands(shark):
    """Neither octets nor their number make the script fail, which tshark would tell in its output."""
    chance = random.Random(4567)
    sources = [commands for commands, _ in REQUESTS.values()] + list(MALFORMED.values()) + GOOD_SOCKETS
    sources += [bytes([c << 5 | units]) + bytes(2 * units - 1) for c in (4, 5, 6) for units in range(1, 10)]
    sources += [data(n, flags=n % 8) for n in range(4)] + list(SOCKETS_MALFORMED.values())
    sent = []
    for _ in range(2000):
        raw = bytearray(b"".join(chance.choice(sources) for _ in range(chance.randrange(1, 4))))
        for _ in range(chance.randrange(3)):
            raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
        if chance.randrange(4) == 0:
            del raw[chance.randrange(len(raw)):]
        sent.append((chance.choice((HOST, TARGET, OTHER)), chance.choice((HOST, TARGET)), bytes(raw)))
    frames = pdus(*sent, encap="afh2") + pdus(*sent[:300], encap="afh1")
    captured = [len(f) if n % 3 else max(14, len(f) - n % 60) for n, f in enumerate(frames)]
    out = shark.tshark(shark.pcap(frames, captured=captured), "-V", "-2")
    assert out.count("Memory ") > 500 and out.count("Stream: ") > 200
