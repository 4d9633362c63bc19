# SPDX-License-Identifier: Apache-2.0
"""Sealed PDUs as suede.lua shows them: the vectors of docs/sealing.md, shims that break its rules, and the
plain capture that suedectl writes with the secrets."""

import json
import os
import pathlib
import subprocess

import pytest

from sue_frames import frame, rh, write_pcap
from tshark import ROOT

VECTORS = json.loads((ROOT / "docs/sealing-vectors.json").read_text(encoding="utf-8"))
PORTS = {"udp_port": "3333-3334"}
CIPHERS = {"aes128gcm": 1, "aes256gcm": 2}


@pytest.fixture(scope="session")
def packets(shared_shark):
    return shared_shark.dissect([bytes.fromhex(v["frame"]) for v in VECTORS], prefs=PORTS)


@pytest.mark.parametrize("index", range(len(VECTORS)),
                         ids=lambda i: f"{i}-{VECTORS[i]['encap']}-{VECTORS[i]['form']}")
def test_what_is_readable(packets, index):
    v, packet = VECTORS[index], packets[index]
    assert packet.text("suede.encap") == v["encap"]
    assert packet.number("suede.ver") == (2 if v["control"] else 1)
    assert packet.number("suede.psn") == v["psn"]
    assert packet.number("suede.seal.form") == (v["form"] == "H")
    assert packet.number("suede.seal.secret_id") == v["secret_id"]
    assert packet.number("suede.seal.stream") == v["stream"]
    assert packet.raw("suede.seal.packet_number") == [bytes.fromhex(v["packet_number"])]
    if v["form"] == "H":
        assert packet.number("suede.seal.cipher") == CIPHERS[v["cipher"]]
        assert packet.raw("suede.seal.identity") == [bytes.fromhex(v["sender_identity"])]
        assert "suede.seal.epoch" not in packet
    else:
        assert packet.number("suede.seal.epoch") == v["epoch"] % 4
        assert packet.number("suede.seal.echo") == v["echo"]
        assert "suede.seal.cipher" not in packet
    sealed = bytes.fromhex(v["sealed"])
    shim_bytes = 18 if v["form"] == "H" else 10
    assert packet.raw("suede.seal.text") == [sealed[8 + shim_bytes:-16]]
    assert packet.raw("suede.seal.tag") == [sealed[-16:]]
    assert packet.expert("seal.sealed")
    for name in ("suede.malformed", "suede.rcrc", "suede.commands", "suede.control", "suede.analysis"):
        assert name not in packet, name


def test_info(shark):
    infos = shark.infos([bytes.fromhex(v["frame"]) for v in VECTORS[:5]], prefs=PORTS)
    assert infos[0].endswith("VC=0 sealed HELLO secret=0 identity=0123456789abcdef")
    assert infos[1].endswith("VC=1 sealed secret=37 epoch=1 stream=1 (6 bytes)")
    assert "sealed control secret=20 epoch=0" in infos[4]


def sealed(shim, ver=1, text=4):
    """afh1 frames behind whose RH the shim is; its tag is nothing's."""
    head = rh(5, ver=ver)
    return frame("afh1", head, shim + bytes(text + 12), to=9, pad=False)


@pytest.mark.parametrize("raw", [
    sealed(b"\x10\x01" + bytes(8)),                 # a bit that is 0
    sealed(b"\x00\x01\x40" + bytes(7)),             # stream 64
    sealed(b"\x81\x01" + bytes(16), ver=1),         # a HELLO as data
    sealed(b"\x81\x01" + bytes(8) + b"\1" + bytes(7), ver=2),  # a HELLO with a stream
    sealed(b"\x00\x01" + bytes(7), text=0),         # too short
    sealed(b"\x81\x01" + bytes(15), ver=2, text=0),
    sealed(b"", text=0),
])
def test_malformed_shims(shark, raw):
    packet, = shark.dissect([raw])
    assert packet.text("suede.malformed") == "seal"
    assert packet.expert("malformed.seal")


def test_good_shims(shark):
    good = [sealed(b"\x0f\x7f\x3f" + bytes(7)), sealed(b"\x81\x01" + bytes(16), ver=2)]
    for packet in shark.dissect(good):
        assert "suede.malformed" not in packet


def test_cut_captures(shark):
    raw = sealed(b"\x00\x01" + bytes(8), text=40)
    lengths = range(14, len(raw))
    for length, packet in zip(lengths, shark.dissect([raw] * len(lengths), captured=list(lengths)), strict=True):
        assert "suede.seal.tag" not in packet, length
        assert ("suede.seal.epoch" in packet) == (length >= 14 + 8 + 10), length


def test_plain_capture_of_suedectl(shark, tmp_path):
    hellos = [v for v in VECTORS if v["encap"] == "afh1" and v["form"] == "H"]
    keys = tmp_path / "keys"
    keys.write_text("".join(f"{v['partition']} {v['secret_id']} {v['secret']} - -\n" for v in hellos))
    write_pcap(tmp_path / "sealed.pcap", [bytes.fromhex(v["frame"]) for v in hellos])
    suedectl = pathlib.Path(os.environ["SUEDE_BUILD"]) / "app/suedectl/suedectl"
    subprocess.run([suedectl, "frame", "decode", "--encap", "afh1", "--input", "pcap", "--keys", keys,
                    "--output", "pcap", "-o", tmp_path / "plain.pcap", tmp_path / "sealed.pcap"],
                   check=True, timeout=60)
    packets = shark.read(tmp_path / "plain.pcap")
    assert len(packets) == len(hellos) == 2
    for v, packet in zip(hellos, packets):
        assert packet.number("suede.ver") == 3
        assert packet.number("suede.control.type") == 8
        assert packet.raw("suede.control.identity") == [bytes.fromhex(v["sender_identity"])]
        assert packet.raw("suede.rcrc") == [bytes.fromhex(v["plain"])[-4:]]
