#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""make_vectors.py [--check] FILE: writes docs/sealing-vectors.json, or fails where FILE differs.

Made from docs/sealing.md, docs/wire-format.md and docs/control-pdus.md alone, without the project's code.
"""

import ipaddress
import itertools
import json
import struct
import sys
import zlib

from cryptography.hazmat.primitives import hashes, hmac
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

KEY_BYTES = {"aes128gcm": 16, "aes256gcm": 32}
CIPHER_NUMBER = {"aes128gcm": 1, "aes256gcm": 2}
SECRETS = [bytes(range(32)), bytes.fromhex("1f0e" * 16), bytes(255 - 7 * i for i in range(32))]
ENCAPS = ("udp4", "udp6", "afh1", "afh1s", "afh2", "afh2c")
LATER = ("esun",)    # behind all others, whose vectors stay
ESUN_TYPE = 0x9e5a  # ESUN has no usual EtherType


def extract(secret):
    """HKDF-Extract is HMAC with the salt as the key."""
    code = hmac.HMAC(b"suede seal v1", hashes.SHA256())
    code.update(secret)
    return code.finalize()


def expand(key, info, length):
    return HKDFExpand(algorithm=hashes.SHA256(), length=length, info=info).derive(key)


def keys_of(v):
    """prk, key and iv."""
    key_bytes = KEY_BYTES[v["cipher"]]
    context = struct.pack(">BHHH", CIPHER_NUMBER[v["cipher"]], v["partition"], v["sender"], v["receiver"])
    prk = extract(bytes.fromhex(v["secret"]))
    own = bytes.fromhex(v["sender_identity"])
    peer = bytes.fromhex(v["receiver_identity"])
    info = b"hello" + context + own if v["form"] == "H" else \
        b"session" + context + own + peer + struct.pack(">I", v["epoch"])
    both = expand(prk, info, key_bytes + 12)
    return prk, both[:key_bytes], both[key_bytes:]


def rh(ver, v):
    first = ver << 14 | v["op"] << 12 | v["sender"]
    return struct.pack(">HHHH", first, v["psn"], v["vc"] << 14 | v["partition"], v["rpsn"])


def packet_number(v):
    return v["stream"] << 56 | v["count"]


def shim(v):
    if v["form"] == "H":
        return struct.pack(">BB8sQ", 0x80 | CIPHER_NUMBER[v["cipher"]], v["secret_id"],
                           bytes.fromhex(v["sender_identity"]), packet_number(v))
    return struct.pack(">BBQ", v["epoch"] % 4 << 2 | v["echo"] % 4, v["secret_id"], packet_number(v))


def seal(plain, sealed_rh, v, key, iv):
    number = struct.pack(">Q", packet_number(v))
    nonce = iv[:4] + bytes(a ^ b for a, b in zip(iv[4:], number))
    clear = sealed_rh + shim(v)
    return clear + AESGCM(key).encrypt(nonce, plain[8:], clear + path(v))


def path(v):
    """The part of the network header that is authenticated."""
    if v["encap"] == "udp4":
        ends = (int(ipaddress.IPv4Address(v[way])) for way in ("sip", "dip"))
    elif v["encap"] == "udp6":
        ends = (int(ipaddress.IPv6Address(v[way])) for way in ("sip", "dip"))
    else:
        ends = (v[way] for way in ("src_fwd", "dst_fwd"))
    return b"".join(end.to_bytes(16, "big") for end in ends) + struct.pack(">H", v["session"])


def ones_sum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total ^ 0xffff


def ethernet(v, ether_type):
    tag = struct.pack(">HH", 0x8100, v["pcp"] << 13 | v["vid"]) if "vid" in v else b""
    macs = bytes.fromhex((v["dmac"] + v["smac"]).replace(":", "")) if "dmac" in v else \
        b"".join(bytes.fromhex("02535545") + struct.pack(">H", v[way]) for way in ("dst_fwd", "src_fwd"))
    return macs + tag + struct.pack(">H", ether_type)


def udp(v, pseudo, payload):
    """`pseudo` is the head of IPv6 that the checksum covers, or None."""
    length = 8 + len(payload)
    ports = struct.pack(">HHH", 49152 + v["session"], v["dport"], length)
    checksum = 0
    if pseudo is not None:
        checksum = ones_sum(pseudo + struct.pack(">II", length, 17) + ports + b"\0\0" + payload) or 0xffff
    return ports + struct.pack(">H", checksum) + payload


def frame(v, pdu):
    """The network header with a PDU, sealed or plain, behind it."""
    ds = v["dscp"] << 2 | v["ecn"]
    encap = v["encap"]
    if encap == "udp4":
        source, destination = (ipaddress.IPv4Address(v[way]).packed for way in ("sip", "dip"))
        datagram = udp(v, None, pdu)
        head = struct.pack(">BBHHHBBH", 0x45, ds, 20 + len(datagram), 0, 0x4000, 64, 17, 0) + source + destination
        head = head[:10] + struct.pack(">H", ones_sum(head)) + head[12:]
        return ethernet(v, 0x0800) + head + datagram
    if encap == "udp6":
        source, destination = (ipaddress.IPv6Address(v[way]).packed for way in ("sip", "dip"))
        datagram = udp(v, source + destination, pdu)
        head = struct.pack(">IHBB", 6 << 28 | ds << 20, len(datagram), 17, 64)
        return ethernet(v, 0x86dd) + head + source + destination + datagram
    if encap == "afh1":
        return ethernet(v, 0x88b5) + pdu
    if encap == "afh1s":
        return ethernet(v, 0x88b6) + struct.pack(">BBBBHH", 0, ds, 64, 1, v["session"], len(pdu)) + pdu
    if encap == "esun":
        return ethernet(v, ESUN_TYPE) + struct.pack(">BHB", 1 << 5 | ds >> 5 << 2 | v["ecn"], v["session"], 15 << 4) + pdu
    if encap == "afh2":
        return struct.pack(">BBIBBIH", 0x02, 64, v["dst_fwd"], ds, v["session"], v["src_fwd"], 0x88b5) + pdu
    word = int.from_bytes(pdu[:8], "big")
    compressed = (word >> 60) << 44 | (word >> 32 & 0xffff) << 28 | (word >> 30 & 3) << 26 | \
        (word >> 16 & 0x3ff) << 16 | word & 0xffff
    c = compressed.to_bytes(6, "big")
    return bytes([0x82]) + c[:3] + struct.pack(">HB", v["dst_fwd"], ds) + c[3:] + \
        struct.pack(">HH", v["src_fwd"], 0x88b5) + pdu[8:]


def plain_pdu(v, commands):
    """With the padding that a plain frame needs to be 60 bytes long."""
    ver = 3 if v["control"] else 0
    body = rh(ver, v) + commands
    bare = len(frame(v, body + bytes(4)))
    body += bytes(max(0, 60 - bare))
    return body + struct.pack("<I", zlib.crc32(body))


def hello(v):
    identities = bytes.fromhex(v["sender_identity"] + v["receiver_identity"])
    body = identities + struct.pack(">QQBBHHHHH", 0x0102030405060708, 0x1112131415161718, 1, 1, 256, 2048, 4096,
                                    59, 1) + struct.pack(">HHHH", 9, 8, 7, 65535) + bytes(16)
    return struct.pack(">BBH", 8, 1, len(body)) + body


def not_ready(v):
    # One of the types that a form S carries.
    body = bytes.fromhex(v["sender_identity"] + v["receiver_identity"]) + struct.pack(">BBHI", 2, 0, 77, 50)
    return struct.pack(">BBH", 9, 0, len(body)) + body


def data_commands(index):
    """None, a small one, one with data of odd length, or as many as make a long PDU."""
    if index % 4 == 0:
        return b""
    one = bytes([0x62, 0x5a, 0xab, 0xcd])
    two = bytes([0x13, 4]) + bytes([index] * 4) + bytes([1, 2, 3, 4, 5, 0])
    if index % 4 == 1:
        return one
    if index % 4 == 2:
        return two + one
    return (bytes([0x91 & 0xf0 | 1, 255]) + bytes(range(256))) * 8


def addresses(v, index):
    instance = index % 3
    source, destination = (instance << 10 | v["sender"], instance << 10 | v["receiver"])
    if v["encap"].startswith("udp"):
        net = "198.18.%d.%d" if v["encap"] == "udp4" else "fd00::%x:%x"
        v.update(dmac="02:00:00:00:00:02", smac="02:00:00:00:00:01", dport=3333 + index % 2,
                 sip=net % (1, v["sender"] % 256), dip=net % (2, v["receiver"] % 256))
    else:
        v.update(src_fwd=source, dst_fwd=destination)
    if v["encap"] == "esun":
        v["ether_type"] = ESUN_TYPE
    if v["encap"] in ("udp4", "udp6", "afh1", "afh1s", "esun") and index % 2:
        v.update(pcp=index % 8, vid=index % 4095)
    v["session"] = index % 3 if v["encap"] in ("udp4", "udp6", "afh1s", "afh2", "esun") else 0


def vector(index, encap, cipher, form, control):
    v = {"encap": encap, "cipher": cipher, "form": form, "control": control,
         "secret_id": (index * 37) % 128, "secret": SECRETS[index % len(SECRETS)].hex(),
         "partition": (index * 101) % 1024, "sender": (index * 7) % 1024, "receiver": (1023 - index * 5) % 1024,
         "sender_identity": f"{0x0123456789abcdef ^ index << 32:016x}",
         "receiver_identity": f"{0xfedcba9876543210 + index:016x}",
         "op": index % 3, "psn": (index * 4099) % 65536, "vc": index % 4, "rpsn": (65535 - index) % 65536,
         "dscp": (index * 11) % 64, "ecn": index % 4}
    if form == "H":
        # The first HELLO knows no identity of the peer.
        if index % 2:
            v["receiver_identity"] = "0" * 16
        v.update(epoch=0, echo=0, stream=0, count=index)
    else:
        counts = (0, 1, 2047, 2**32 + 5, 2**56 - 1)
        v.update(epoch=index % 4 if index % 9 else (6, 0x01020304)[index % 2], echo=(index + 3) % 4,
                 stream=(0, 1, 17, 63)[index % 4], count=counts[index % len(counts)])
    if control:
        v.update(op=2, psn=0, rpsn=0, vc=0)
    addresses(v, index)
    commands = hello(v) if form == "H" else not_ready(v) if control else data_commands(index // 3)
    plain = plain_pdu(v, commands)
    prk, key, iv = keys_of(v)
    sealed_rh = rh(2 if control else 1, v)
    sealed = seal(plain, sealed_rh, v, key, iv)
    v.update(packet_number=f"{packet_number(v):016x}", prk=prk.hex(), session=v["session"], key=key.hex(),
             iv=iv.hex(), plain=plain.hex(), sealed=sealed.hex(), plain_frame=frame(v, plain).hex(),
             frame=frame(v, sealed).hex())
    del v["count"]
    return v


def vectors():
    index = 0
    for encaps in (ENCAPS, LATER):
        for cipher, encap in itertools.product(KEY_BYTES, encaps):
            for form, control in (("H", True), ("S", False), ("S", False), ("S", False), ("S", True)):
                yield vector(index, encap, cipher, form, control)
                index += 1


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    text = "[\n" + ",\n".join(json.dumps(v) for v in vectors()) + "\n]\n"
    if "--check" not in sys.argv:
        with open(arguments[0], "w", encoding="utf-8") as file:
            file.write(text)
        return
    with open(arguments[0], encoding="utf-8") as file:
        if file.read() != text:
            sys.exit(f"{arguments[0]} is not what {sys.argv[0]} makes: run it without --check")


if __name__ == "__main__":
    main()
