# SPDX-License-Identifier: Apache-2.0
"""suedectl frame decode and encode as programs: over the wire profile's vectors, hex and pcap."""

import json
import subprocess

import pytest
from scapy.all import IP, UDP, Dot1Q, Ether, IPv6, PcapReader, rdpcap, wrpcap
from scapy.utils import PcapNgWriter

import e2e
from encaps import ALL as ENCAPS

VECTORS = json.loads((e2e.ROOT / "tests/wire/vectors.json").read_text())


def run(*arguments, text="", code=0):
    """Standard output; with the exit code that is wanted, and nothing on standard error at 0."""
    data = text if isinstance(text, bytes) else text.encode()
    result = subprocess.run([str(e2e.SUEDECTL), "frame", *map(str, arguments)], input=data,
                            capture_output=True, timeout=60, check=False)
    assert result.returncode == code, (result.returncode, result.stderr)
    assert (result.stderr == b"") == (code == 0), result.stderr
    return result.stdout


def objects(output):
    return [json.loads(line) for line in output.decode().splitlines()]


def of(encap):
    return [vector for vector in VECTORS if vector["encap"] == encap]


def rules_of(vectors):
    ether_type = vectors[0].get("ether_type")
    return ["--encap", vectors[0]["encap"], *([f"--ether_type={ether_type}"] if ether_type else [])]


def test_encode_makes_the_vectors():
    want = [vector["frame"] for vector in VECTORS]
    assert run("encode", e2e.ROOT / "tests/wire/vectors.json").decode().split() == want
    lines = "\n".join(json.dumps(vector) for vector in VECTORS)
    assert run("encode", text=lines).decode().split() == want


@pytest.mark.parametrize("encap", ENCAPS)
def test_decode_reads_the_vectors(encap):
    vectors = of(encap)
    assert vectors
    output = run("decode", *rules_of(vectors), text="\n".join(v["frame"] for v in vectors))
    assert len(objects(output)) == len(vectors)
    for got, vector in zip(objects(output), vectors):
        assert "error" not in got
        assert got["commands"] == vector["commands"]
        for field in ("ver", "op", "xpuid", "psn", "vc", "partition", "rpsn"):
            assert got[field] == vector[field], field
        for field in ("dmac", "smac", "sip", "dip", "dport", "pcp", "vid"):
            if field in vector and (encap.startswith("udp") or field in ("pcp", "vid")):
                assert got[field] == vector[field], field
    assert run("encode", text=output).decode().split() == [v["frame"] for v in vectors]


@pytest.mark.parametrize("encap", ENCAPS)
def test_captures(directory, encap):
    vectors = of(encap)
    pcap = directory / "frames.pcap"
    run("encode", "--output", "pcap", "-o", pcap, text=json.dumps(vectors))
    assert [bytes(p) for p in rdpcap(str(pcap))] == [bytes.fromhex(v["frame"]) for v in vectors]
    output = run("decode", *rules_of(vectors), "--input", "pcap", pcap)
    assert run("encode", text=output).decode().split() == [v["frame"] for v in vectors]
    assert run("decode", *rules_of(vectors), "--output", "pcap",
               text="\n".join(v["frame"] for v in vectors)) == pcap.read_bytes()


def test_scapy_reads_the_same_fields(directory):
    pcap = directory / "frames.pcap"
    run("encode", "--output", "pcap", "-o", pcap, e2e.ROOT / "tests/wire/vectors.json")
    seen = 0
    for packet, vector in zip(PcapReader(str(pcap)), VECTORS):
        if not vector["encap"].startswith("udp"):
            continue
        seen += 1
        network = packet[IP] if vector["encap"] == "udp4" else packet[IPv6]
        assert packet[Ether].dst == vector["dmac"] and packet[Ether].src == vector["smac"]
        assert network.src == vector["sip"] and network.dst == vector["dip"]
        assert packet[UDP].dport == vector["dport"]
        assert packet[UDP].sport == 49152 + vector["session"]
        assert (Dot1Q in packet) == ("vid" in vector)
        if Dot1Q in packet:
            assert (packet[Dot1Q].prio, packet[Dot1Q].vlan) == (vector["pcp"], vector["vid"])
    assert seen == len(of("udp4")) + len(of("udp6"))


def test_scapy_captures_with_times_to_the_nanosecond(directory):
    source, copy = directory / "source.pcap", directory / "copy.pcap"
    packets = [Ether(bytes.fromhex(v["frame"])) for v in of("udp4")]
    for number, packet in enumerate(packets):
        packet.time = 1700000000 + number
    wrpcap(str(source), packets, nano=True)
    got = objects(run("decode", "--encap", "udp4", "--input", "pcap", source))
    assert [o["time_ns"] for o in got] == [(1700000000 + n) * 10**9 for n in range(len(packets))]
    got[0]["time_ns"] += 7
    run("encode", "--output", "pcap", "-o", copy, text="\n".join(map(json.dumps, got)))
    reader = PcapReader(str(copy))
    assert reader.nano
    assert [int(p.time * 10**9) for p in reader] == [o["time_ns"] for o in got]


def test_pcapng(directory):
    path = directory / "frames.pcapng"
    writer = PcapNgWriter(str(path))
    writer.write([Ether(bytes.fromhex(v["frame"])) for v in of("udp6")])
    writer.close()
    output = run("decode", "--encap", "udp6", "--input", "pcap", path)
    assert run("encode", text=output).decode().split() == [v["frame"] for v in of("udp6")]


def test_a_frame_that_is_dropped_is_a_result():
    good = of("udp4")[0]["frame"]
    bad = good[:-2] + ("00" if good[-2:] != "00" else "01")
    got = objects(run("decode", "--encap", "udp4", text=f"{bad}\n{good}\n{good[:60]}\n"))
    assert [o.get("error") for o in got] == ["rcrc", None, "truncated"]
    assert got[0]["xpuid"] == got[1]["xpuid"] and "commands" not in got[0]


def test_exit_codes(directory):
    good = of("afh1")[0]["frame"]
    assert b"usage: suedectl frame decode" in run("decode", "--help")
    assert b"usage: suedectl frame encode" in run("encode", "--help")
    run("decode", code=2)
    run("decode", "--encap", "vxlan", code=2)
    run("encode", "--no_such_flag", code=2)
    run("encode", directory / "none.json", code=2)
    run("transcode", code=2)
    assert len(objects(run("decode", "--encap", "afh1", text=f"{good}\nxyz\n{good}", code=2))) == 2
    lines = '{"encap": "afh1"}\n{"encap": "afh1", "vc": 4}\n{"encap": "afh1"}\n'
    assert len(run("encode", text=lines, code=2).split()) == 2
    run("encode", "-o", "/dev/full", text='{"encap": "afh1"}', code=1)


def test_help_names_the_commands():
    result = subprocess.run([str(e2e.SUEDECTL), "--help"], capture_output=True, text=True,
                            timeout=60, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert "frame decode" in result.stdout and "frame encode" in result.stdout


def test_links_no_dpdk():
    libraries = subprocess.run(["ldd", str(e2e.SUEDECTL)], capture_output=True, text=True,
                               timeout=60, check=True).stdout
    assert "libpcap" in libraries and "librte" not in libraries
