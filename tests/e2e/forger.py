# SPDX-License-Identifier: Apache-2.0
"""Frames as a station on the path can make them: sealed and plain PDUs by tests/seal/make_vectors.py, which is made
from the pages alone, behind the network headers of frames that were recorded (udp4, untagged)."""

import importlib.util
import ipaddress
import struct

import e2e

HEADER = 42  # Ethernet, IPv4, UDP
RH = 8
SHIM_S, SHIM_H = 10, 18
TAG = 16
RCRC = 4


def _load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


maker = _load(e2e.ROOT / "tests/seal/make_vectors.py")


def is_sue(frame):
    return len(frame) > HEADER + RH and frame[12:14] == b"\x08\x00" and frame[36:38] == (3333).to_bytes(2, "big")


def version(frame):
    return frame[HEADER] >> 6


def is_sealed(frame):
    return is_sue(frame) and version(frame) in (1, 2)


def is_hello(frame):
    return is_sealed(frame) and version(frame) == 2 and frame[HEADER + RH] & 0x80 != 0


def is_control(frame):
    return is_sealed(frame) and version(frame) == 2 and not is_hello(frame)


def is_data(frame, least=150):
    return is_sealed(frame) and version(frame) == 1 and len(frame) >= least


def is_answer(frame):
    """An acknowledgement without commands."""
    return is_sealed(frame) and version(frame) == 1 and len(frame) < 100


def shim_bytes(frame):
    return SHIM_H if is_hello(frame) else SHIM_S


def with_pdu(frame, pdu):
    """The network header of a frame, with its lengths and its checksum right, and another PDU."""
    head = bytearray(frame[:HEADER])
    head[16:18] = struct.pack(">H", 28 + len(pdu))
    head[38:40] = struct.pack(">H", 8 + len(pdu))
    head[24:26] = bytes(2)
    head[24:26] = struct.pack(">H", maker.ones_sum(bytes(head[14:34])))
    return bytes(head) + pdu


def pdu_of(frame):
    length, = struct.unpack(">H", frame[38:40])
    return frame[HEADER:HEADER + length - 8]


def reflected(frame):
    """To its sender, as if it came from the other end."""
    back = frame[6:12] + frame[:6] + frame[12:26] + frame[30:34] + frame[26:30] + frame[34:]
    return with_pdu(back, pdu_of(frame))


class Forger:
    """Seals as the end `sender` (0 or 1) would, but for what it is told to do otherwise. Knows the identities as
    everybody on the path does: they are in the shims of HELLOs."""

    def __init__(self, middle, sender, secret, secret_id=1, epoch=0):
        self.sample = middle.since(0, sender, is_data)[-1]
        identities = []
        for end in (0, 1):
            hello = middle.since(0, end, is_hello)[-1]
            identities.append(hello[HEADER + RH + 2:HEADER + RH + 10].hex())
        self.values = {
            "encap": "udp4", "cipher": "aes128gcm", "form": "S", "control": False, "partition": 0,
            "secret_id": secret_id, "secret": secret, "sender": sender, "receiver": 1 - sender,
            "sender_identity": identities[sender], "receiver_identity": identities[1 - sender],
            "epoch": epoch, "echo": 0, "stream": 40, "count": 0, "op": 0, "psn": 0, "vc": 0, "rpsn": 0,
            "sip": str(ipaddress.IPv4Address(self.sample[26:30])),
            "dip": str(ipaddress.IPv4Address(self.sample[30:34])),
            "session": struct.unpack(">H", self.sample[34:36])[0] - 49152,
            "dmac": self.sample[:6].hex(), "smac": self.sample[6:12].hex(), "dport": 3333, "dscp": 8, "ecn": 0}

    def plain(self, commands=b"", control=False, **others):
        v = {**self.values, "control": control, **others}
        if control:
            v.update(op=2, psn=0, rpsn=0, vc=0)
        return with_pdu(self.sample, maker.plain_pdu(v, commands))

    def sealed(self, commands=b"", control=False, **others):
        """`others`: values that it has otherwise; a partition that begins with key_ is that of the key alone."""
        v = {**self.values, "control": control, **others}
        if control:
            v.update(op=2, psn=0, rpsn=0, vc=0)
        plain = maker.plain_pdu(v, commands)
        in_key = {**v, "partition": v.get("key_partition", v["partition"])}
        _, key, iv = maker.keys_of(in_key)
        return with_pdu(self.sample, maker.seal(plain, maker.rh(2 if control else 1, v), v, key, iv))

    def hello(self, plain=False, **others):
        v = {**self.values, "form": "H", "stream": 0, **others}
        commands = maker.hello(v)
        make = self.plain if plain else self.sealed
        return make(commands, control=True, **{**others, "form": "H", "stream": 0})
