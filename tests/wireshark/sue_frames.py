# SPDX-License-Identifier: Apache-2.0
"""Frames of all encapsulations, built from docs/wire-format.md alone: nothing here is shared with
the programs under test."""

import struct
import zlib

ACK, NACK, NOTHING = 0, 1, 2
DATA, CONTROL = 0, 3
HELLO, NOT_READY, READY, PLANE, FENCE, FENCED, CREDIT, CONGESTION = 8, 9, 10, 11, 12, 13, 14, 15
SESSION = 16
PATH = 17
REPAIR = 18
DOWN, INIT, UP = 0, 1, 2
PREFIX = bytes.fromhex("02535545")
DSCP_ECN = (10 << 2) | 2

# The bytes that the untagged header adds to the PDU.
HEADER_BYTES = {"udp4": 42, "udp6": 62, "afh1": 14, "afh1s": 22, "afh2": 14, "afh2c": 6, "esun": 18}
ESUN_TYPE = 0x9e5a  # ESUN has no usual EtherType
ENCAPS = tuple(HEADER_BYTES)


def command(rest=b"", data=None, opcode_class=0):
    """`rest` is the control behind its first two bytes."""
    control = bytes(2) + rest
    assert len(control) % 2 == 0
    first = opcode_class << 5 | (data is not None) << 4 | len(control) // 2
    second = len(data) - 1 if data is not None else 0
    packed = bytes([first, second]) + rest + (data or b"")
    return packed + bytes(len(packed) % 2)


def rh(xpuid, psn=0, op=NOTHING, rpsn=0, vc=0, partition=0, ver=DATA):
    return struct.pack(">HHHH", ver << 14 | op << 12 | xpuid, psn % 65536, vc << 14 | partition,
                       rpsn % 65536)


def rcrc(raw):
    return struct.pack("<I", zlib.crc32(raw))


def control(kind, flags, body, length=None):
    return struct.pack(">BBH", kind, flags, len(body) if length is None else length) + body


def hello(identity, peer=0, nonce=None, echo=0, scope=0, flags=0, features=0, window=1024, receive=0,
          lines=0, sessions=1, first=(0, 0, 0, 0), credit=(0, 0, 0, 0)):
    nonce = identity + 1000 if nonce is None else nonce
    return control(HELLO, flags, struct.pack(">QQQQBBHHHHH4H4I", identity, peer, nonce, echo, scope,
                                             features, window, 4096, receive, lines, sessions,
                                             *first, *credit))


def not_ready(vc, expected, backoff_us=100, identity=1, peer=2):
    return control(NOT_READY, 0, struct.pack(">QQBxHI", identity, peer, vc, expected, backoff_us))


def ready(vc, expected, identity=1, peer=2):
    return control(READY, 0, struct.pack(">QQBxH", identity, peer, vc, expected))


def credit(vc, limit, flags=0, number=0, accepted=0, sent=0, wanted=0, identity=1, peer=2):
    return control(CREDIT, flags, struct.pack(">QQBxHIIII", identity, peer, vc, number, limit,
                                              accepted, sent, wanted))


def congestion(flags, target=0, sent=0, limit=0, granted=0, received=0, marked=0, trimmed=0,
               sessions=0, reserved=0, identity=1, peer=2):
    credits = (reserved << 24 | number for number in (target, sent, limit, granted))
    return control(CONGESTION, flags, struct.pack(">QQ4I3IQ", identity, peer, *credits, received,
                                                  marked, trimmed, sessions))


def session(slot, number, in_use, turn, flags=0, identity=1, peer=7, psns=(0, 0, 0, 0)):
    return control(SESSION, flags, struct.pack(">QQBxHHxxI4H", identity, peer, slot, number, in_use, turn, *psns))


def path(number, traffic_class, flags=0, frame_bytes=0, sent_ns=5, received_ns=0, order=0, presence=0, there=(0, 0, 0),
         sent=(0, 0, 0), counters=(0, 0, 0, 0, 0), identity=1, peer=7):
    return control(PATH, flags, struct.pack(">QQBBHIQQIBBHBBH5I", identity, peer, traffic_class, presence, frame_bytes,
                                            number, sent_ns, received_ns, order, *there, *sent, *counters))


def repair(expected, vc=0, slot=0, plane_number=0, generation=0, words=(), flags=0, identity=1, peer=7):
    return control(REPAIR, flags, struct.pack(f">QQBBHBBH{len(words)}Q", identity, peer, vc, slot, expected,
                                              plane_number, 0, generation, *words))


def plane(identity, peer, state=UP, generations=(1, 1), first=(0, 0, 0, 0), number=0,
          sequence=1, heard=0, flags=0, failed=0, hops=0, heard_plane=0):
    return control(PLANE, flags, struct.pack(">QQBBHHBBII4H", identity, peer, state, number, *generations,
                                             failed | heard_plane << 4, hops, sequence, heard, *first))


def fence(identity, peer, generation, oldest=(0, 0, 0, 0), number=0, own=0):
    return control(FENCE, 0, struct.pack(">QQBBH4H", identity, peer, number, own, generation,
                                         *oldest))


def fenced(identity, peer, generation, expected=(0, 0, 0, 0), number=0):
    return control(FENCED, 0, struct.pack(">QQBxH4H", identity, peer, number, generation,
                                          *expected))


def address(xpuid, instance):
    return instance << 10 | xpuid


def frame(encap, head, commands=b"", *, to, instance=0, tag=None, session=0, spoil=0, trailer=b"",
          hops=64, pad=True, short=0, dport=3333):
    """A frame with the RH `head` from its XPU to XPU `to` of the same instance.

    spoil: exclusive-or of the last byte of the R-CRC. short: bytes cut off the end of the PDU.
    """
    xpuid = struct.unpack(">H", head[:2])[0] & 0x3ff
    source, destination = address(xpuid, instance), address(to, instance)
    vlan = b"" if tag is None else struct.pack(">HH", 0x8100, tag)
    macs = PREFIX + struct.pack(">H", destination) + PREFIX + struct.pack(">H", source) + vlan

    padding = bytes(max(0, 60 - HEADER_BYTES[encap] - len(vlan) - len(head) - len(commands) - 4))
    if not pad:
        padding = b""
    crc = rcrc(head + commands + padding)
    crc = crc[:3] + bytes([crc[3] ^ spoil])
    pdu = head + commands + padding + crc
    pdu = pdu[:len(pdu) - short]

    if encap == "afh1":
        return macs + b"\x88\xb5" + pdu + trailer
    if encap == "afh1s":
        return (macs + b"\x88\xb6" + struct.pack(">BBBBHH", 0, DSCP_ECN, hops, 1, session, len(pdu))
                + pdu + trailer)
    if encap == "esun":
        first = 1 << 5 | DSCP_ECN >> 5 << 2 | DSCP_ECN & 3
        return macs + struct.pack(">HBHB", ESUN_TYPE, first, session, min(hops, 15) << 4) + pdu
    if encap == "afh2":
        return (struct.pack(">BBIBBI", 0x02, hops, destination, DSCP_ECN, session, source)
                + b"\x88\xb5" + pdu + trailer)
    if encap == "afh2c":
        first, psn, second, rpsn = struct.unpack(">HHHH", head)
        c = (first >> 12) << 44 | psn << 28 | (second >> 14) << 26 | (second & 0x3ff) << 16 | rpsn
        return (b"\x82" + (c >> 24).to_bytes(3, "big") + struct.pack(">HB", destination, DSCP_ECN)
                + (c & 0xffffff).to_bytes(3, "big") + struct.pack(">H", source)
                + b"\x88\xb5" + pdu[8:] + trailer)
    return udp(encap, source, destination, vlan, pdu, session, dport) + trailer


def checksum(raw):
    raw += bytes(len(raw) % 2)
    total = sum(struct.unpack(f">{len(raw) // 2}H", raw))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total ^ 0xffff


def udp(encap, source, destination, vlan, pdu, session, dport):
    macs = struct.pack(">HIHI", 0x0200, destination, 0x0200, source)
    ports = struct.pack(">HHH", 49152 + session, dport, 8 + len(pdu))
    if encap == "udp4":
        ends = struct.pack(">II", 0xc6120000 + source, 0xc6120000 + destination)
        head = struct.pack(">BBHHHBB", 0x45, DSCP_ECN, 28 + len(pdu), 0, 0x4000, 64, 17)
        ip = head + struct.pack(">H", checksum(head + ends)) + ends
        return macs + vlan + b"\x08\x00" + ip + ports + b"\0\0" + pdu
    ends = b"".join(bytes.fromhex("fd535545") + bytes(8) + struct.pack(">I", end)
                    for end in (source, destination))
    sum_ = checksum(ends + struct.pack(">II", 8 + len(pdu), 17) + ports + b"\0\0" + pdu)
    return (macs + vlan + b"\x86\xdd" + struct.pack(">IHBB", 6 << 28 | DSCP_ECN << 20,
                                                    8 + len(pdu), 17, 64)
            + ends + ports + struct.pack(">H", sum_ or 0xffff) + pdu)


def write_pcap(path, frames, captured=None, step_us=10):
    """Ethernet frames, `step_us` apart. captured: how many bytes are kept of each."""
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for number, raw in enumerate(frames):
            kept = raw if captured is None else raw[:captured[number]]
            file.write(struct.pack("<IIII", 1, number * step_us, len(kept), len(raw)) + kept)
