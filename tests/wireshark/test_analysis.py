# SPDX-License-Identifier: Apache-2.0
"""suede.lua's analysis of the sequence of PDUs, and the filters that find it."""

import json
import re

import pytest
from scapy.all import ICMP, IP, Ether, Raw

from link import COMMAND, Link, eventful
from sue_frames import (ACK, CONTROL, ENCAPS, INIT, NACK, fence, fenced, frame, hello, not_ready,
                        plane, rcrc, ready, rh)
from tshark import ROOT

PORT, VC = "port", "vc"


def flags(packet):
    """The flags of analysis on a frame."""
    names = ("retransmission", "out_of_order", "gap", "tail_gap", "outside_window",
             "duplicate_ack", "acks_unseen", "nack", "duplicate_nack", "not_ready", "restart")
    return {name for name in names if f"suede.analysis.{name}" in packet}


def all_flags(packets):
    return {number: flags(packet) for number, packet in enumerate(packets, 1) if flags(packet)}


def test_in_order_across_the_wrap(shark):
    link = Link()
    for psn in range(65530, 65546):
        link.data(psn)
        link.ack(psn)
    assert not all_flags(shark.dissect(link.frames))


def test_gap_nack_and_retransmission(shark):
    link = Link()
    for psn in (65533, 65534):
        link.data(psn)
    ahead = link.data(1)  # 65535 and 0 were lost
    nack = link.ack(65535, op=NACK)
    again = [link.data(psn) for psn in (65535, 0, 1)]
    new = link.data(2)
    ack = link.ack(2)
    packets = shark.dissect(link.frames)
    assert all_flags(packets) == {ahead: {"gap"}, nack: {"nack"},
                                  **{number: {"retransmission"} for number in again}}
    assert packets[ahead - 1].number("suede.analysis.gap") == 2
    assert packets[ahead - 1].expert("expert.gap")
    assert packets[nack - 1].expert("expert.nack")
    assert packets[nack - 1].number("suede.analysis.acks_to") == 65534
    assert packets[nack - 1].number("suede.analysis.acks_frame") == 2
    for number in again:
        assert packets[number - 1].expert("expert.retransmission")
        assert packets[number - 1].number("suede.analysis.cause_frame") == nack
    assert "suede.analysis.original_frame" not in packets[again[0] - 1]
    assert packets[again[2] - 1].number("suede.analysis.original_frame") == ahead
    assert packets[ack - 1].number("suede.analysis.acks_frame") == new


def test_retransmission_after_a_timeout(shark):
    link = Link("udp4")
    first = link.data(10)
    later = link.data(11)
    again = [link.data(10), link.data(11)]
    packets = shark.dissect(link.frames)
    assert all_flags(packets) == {number: {"retransmission"} for number in again}
    originals = [packets[n - 1].number("suede.analysis.original_frame") for n in again]
    assert originals == [first, later]
    assert "suede.analysis.cause_frame" not in packets[again[0] - 1]


def test_a_cause_does_not_explain_a_later_retransmission(shark):
    link = Link()
    link.data(1)
    link.ack(1, op=NACK)
    link.data(1)
    link.data(2)
    again = link.data(2)
    packets = shark.dissect(link.frames)
    assert flags(packets[again - 1]) == {"retransmission"}
    assert "suede.analysis.cause_frame" not in packets[again - 1]


def test_out_of_order(shark):
    link = Link()
    for psn in (1, 3, 2, 4):
        link.data(psn)
    assert all_flags(shark.dissect(link.frames)) == {2: {"gap"}, 3: {"out_of_order"}}


def test_a_lap_of_psns_leaves_nothing_behind(shark):
    link = Link()
    for psn in range(0, 65536 + 100, 50):  # gaps all the way round
        link.data(psn)
    last = link.data(65536 + 50)  # came in the first lap, and was skipped in this one
    assert shark.numbers(link.frames, "suede.analysis.out_of_order") == [last]
    assert shark.numbers(link.frames, "suede.analysis.retransmission") == []


def test_unsequenced_pdus(shark):
    link = Link()
    link.data(5)
    link.send(1, b"", psn=6)
    ahead = link.send(1, b"", psn=8)
    behind = link.data(6)
    packets = shark.dissect(link.frames)
    assert all_flags(packets) == {ahead: {"gap", "tail_gap"}}
    assert packets[ahead - 1].number("suede.analysis.gap") == 2
    assert packets[behind - 1].text("suede.analysis.sequenced") == "1"
    assert "suede.analysis.sequenced" not in packets[ahead - 1]


def test_acks(shark):
    link = Link("afh1")
    sent = [link.data(psn) for psn in range(3)]
    first = link.ack(1)
    piggyback = link.send(2, COMMAND, psn=0, op=ACK, rpsn=1)
    repeated = [link.ack(1, psn=1), link.ack(1, psn=1)]
    beyond = link.ack(9, psn=1)
    packets = shark.dissect(link.frames, "-2")
    assert all_flags(packets) == {**{number: {"duplicate_ack"} for number in repeated},
                                  beyond: {"acks_unseen"}}
    assert flags(packets[piggyback - 1]) == set()  # says it once more because it must say something
    counts = [packets[n - 1].number("suede.analysis.duplicate_ack") for n in repeated]
    assert counts == [1, 2]
    assert packets[repeated[1] - 1].number("suede.analysis.duplicate_of_frame") == first
    assert packets[first - 1].number("suede.analysis.acks_frame") == sent[1]
    assert float(packets[first - 1].text("suede.analysis.ack_time")) == pytest.approx(20e-6)
    acked = [packets[n - 1].number("suede.analysis.acked_frame") for n in sent]
    assert acked == [first, first, beyond]


def test_repeated_nack(shark):
    link = Link()
    link.data(5)
    link.ack(5, op=NACK)
    again = link.ack(5, op=NACK)
    packets = shark.dissect(link.frames)
    assert flags(packets[again - 1]) == {"nack", "duplicate_nack"}
    assert packets[again - 1].number("suede.analysis.duplicate_nack") == 1


def test_not_ready_explains_a_retransmission(shark):
    link = Link()
    link.data(5, vc=1)
    refusal = link.control(2, not_ready(1, 5))
    room = link.control(2, ready(1, 5))
    again = link.data(5, vc=1)
    packets = shark.dissect(link.frames)
    assert all_flags(packets) == {refusal: {"not_ready"}, again: {"retransmission"}}
    assert packets[refusal - 1].number("suede.analysis.acks_to") == 4
    assert packets[again - 1].number("suede.analysis.cause_frame") == room


def test_a_psn_from_nowhere(shark):
    link = Link()
    for psn in (1, 2, 30000, 30001):
        link.data(psn)
    packets = shark.dissect(link.frames)
    assert all_flags(packets) == {3: {"outside_window"}}
    assert packets[2].expert("expert.outside_window")


def meet(link, a, b, first_a=(0, 0, 0, 0), first_b=(0, 0, 0, 0), features=0):
    """The four HELLOs of an association between XPU 1 as `a` and XPU 2 as `b`; the last two's frames."""
    link.control(1, hello(a, nonce=a + 1, flags=1, features=features))
    link.control(2, hello(b, nonce=b + 1, echo=a + 1, flags=1, features=features))
    return (link.control(1, hello(a, b, nonce=a + 2, echo=b + 1, flags=1, first=first_a,
                                  features=features)),
            link.control(2, hello(b, a, nonce=b + 2, echo=a + 2, first=first_b, features=features)))


def test_an_association_begins_at_the_psns_of_its_hellos(shark):
    link = Link()
    meet(link, 100, 200, (40000, 0, 0, 0), (7, 0, 0, 0))
    first = link.data(40001)  # 40000 was lost
    late = link.send(2, COMMAND, psn=8)
    assert all_flags(shark.dissect(link.frames)) == {first: {"gap"}, late: {"gap"}}


def test_a_new_boot_starts_over(shark):
    link = Link()
    meet(link, 100, 200)
    first = link.data(1)  # 0 was lost
    link.data(2)
    link.send(2, COMMAND, psn=0)
    # Messages that prove nothing do nothing: a guess, and HELLOs of an earlier exchange.
    link.control(1, hello(99, 200, echo=77, first=(9, 9, 9, 9)))
    link.control(1, hello(100, 200, nonce=102, echo=201, flags=1))
    link.data(3)
    restart, answer = meet(link, 101, 200, (500, 0, 0, 0), (600, 0, 0, 0))
    link.control(1, hello(100, 200, nonce=103, echo=201))  # of the association that has ended
    link.data(500)
    link.ack(500, psn=600)
    link.data(501)
    packets = shark.dissect(link.frames)
    assert all_flags(packets) == {first: {"gap"}, restart: {"restart"}, answer: {"restart"}}
    assert packets[restart - 1].expert("expert.restart")


def test_a_hello_in_the_middle(shark):
    link = Link()
    link.data(500)
    link.send(2, COMMAND, psn=700)
    link.control(1, hello(100, 200, nonce=5, flags=1))  # asks, and both know each other
    link.control(2, hello(200, 100, nonce=6, echo=5))
    link.data(501)
    link.send(2, COMMAND, psn=701)
    answer, reset = meet(link, 100, 201, (3000, 0, 0, 0), (0, 0, 0, 0))
    link.data(3000)
    link.send(2, COMMAND, psn=0)
    lost = link.data(3002)
    packets = shark.dissect(link.frames)
    assert all_flags(packets) == {answer: {"restart"}, reset: {"restart"}, lost: {"gap"}}


IN_GENERATIONS = 3  # features of HELLO


def test_a_generation_begins_at_the_psns_of_its_plane(shark):
    link = Link()
    meet(link, 100, 200, features=IN_GENERATIONS)
    link.control(1, plane(100, 200, INIT, (1, 0), (500, 0, 0, 0)))
    link.control(2, plane(200, 100, INIT, (1, 1), (600, 0, 0, 0)))
    link.data(500)
    lost = link.data(502)
    link.control(1, plane(100, 200, generations=(1, 1), first=(500, 0, 0, 0), sequence=2))
    link.data(503)
    late = link.send(2, COMMAND, psn=601)  # 600 was lost
    link.control(1, fence(100, 200, 1, (501, 0, 0, 0)))
    link.control(2, fenced(200, 100, 1, (501, 0, 0, 0)))
    restart = link.control(1, plane(100, 200, INIT, (2, 1), (33272, 0, 0, 0), sequence=3))
    link.control(1, plane(100, 200, INIT, (1, 1), (500, 0, 0, 0), sequence=2))  # a straggler
    link.data(33272)
    gap = link.data(33274)
    packets = shark.dissect(link.frames)
    assert all_flags(packets) == {lost: {"gap"}, late: {"gap"}, restart: {"restart"}, gap: {"gap"}}
    assert packets[gap - 1].number("suede.analysis.gap") == 1
    assert "Generation 2" in shark.tshark(shark.pcap(link.frames), "-V", "-Y",
                                          "suede.analysis.restart")


def test_a_generation_that_began_before_the_capture(shark):
    link = Link()
    link.control(1, plane(100, 200, generations=(4, 4), first=(500, 0, 0, 0)))
    link.data(503)  # 500 to 502 are before the capture
    restart = link.control(1, plane(100, 200, INIT, (5, 4), (33272, 0, 0, 0), sequence=2))
    link.data(33272)
    link.send(2, COMMAND, psn=700)
    far = link.control(2, plane(200, 100, INIT, (9, 4), (33468, 0, 0, 0)))
    gap = link.send(2, COMMAND, psn=33469)
    assert all_flags(shark.dissect(link.frames)) == {restart: {"restart"}, far: {"restart"},
                                                     gap: {"gap"}}


def test_a_boot_that_said_hello_on_another_plane(shark):
    link = Link()
    link.control(1, plane(100, 200, generations=(4, 4)))
    link.control(2, plane(200, 100, generations=(4, 4)))
    link.data(5)
    link.send(2, COMMAND, psn=6)
    restart = link.control(1, plane(101, 200, INIT, (1, 0), (0, 0, 0, 0)))
    old = link.control(1, plane(100, 200, INIT, (5, 4), (7, 0, 0, 0), sequence=2))
    answer = link.control(2, plane(200, 101, INIT, (5, 1), (32775, 0, 0, 0), sequence=2))
    link.data(0)
    link.send(2, COMMAND, psn=32775)
    packets = shark.dissect(link.frames)
    assert all_flags(packets) == {restart: {"restart"}, answer: {"restart"}}
    assert not flags(packets[old - 1])


def test_a_boot_of_the_far_end_on_another_plane(shark):
    link = Link()
    link.control(1, plane(100, 0x90000000, generations=(4, 4)))
    link.control(2, plane(0x90000000, 100, generations=(4, 4)))
    link.send(2, COMMAND, psn=40000)
    link.control(1, plane(100, 0, INIT, (5, 4), (9, 0, 0, 0)))  # knows no boot: does nothing
    link.control(1, plane(100, 0x90000001, INIT, (5, 0), (7, 0, 0, 0)))
    restart = link.control(2, plane(0x90000001, 100, INIT, (1, 5), (2, 0, 0, 0)))
    gaps = [link.data(8), link.send(2, COMMAND, psn=3)]
    assert all_flags(shark.dissect(link.frames)) == {restart: {"restart"},
                                                     **{number: {"gap"} for number in gaps}}


def test_a_generation_without_a_pdu(shark):
    link = Link()
    link.control(1, plane(100, 200, generations=(4, 4), first=(500, 0, 0, 0)))
    link.control(1, plane(100, 200, INIT, (5, 4), (33268, 0, 0, 0), sequence=2))
    gap = link.data(33269)
    assert all_flags(shark.dissect(link.frames)) == {gap: {"gap"}}


def test_generations_per_vc(shark):
    link = Link()
    link.data(1, vc=0)
    link.data(40000, vc=3)
    restart = link.control(1, plane(100, 200, INIT, (2, 1), (32770, 0, 0, 7233)))
    link.data(32770, vc=0)
    gap = link.data(7234, vc=3)
    packets = shark.dissect(link.frames, prefs={"psn_scope": "vc"})
    assert all_flags(packets) == {restart: {"restart"}, gap: {"gap"}}


def test_a_fence_leaves_the_plane_that_it_travels_on_alone(shark):
    link = Link()
    link.data(5)
    link.control(1, fence(100, 200, 1, (9, 0, 0, 0), number=1))
    link.control(2, fenced(200, 100, 1, (20, 0, 0, 0), number=1))
    link.data(6)
    packets = shark.dissect(link.frames)
    assert not all_flags(packets)
    assert [p.expert("control.plane_dead") for p in packets] == [False, True, False, False]
    assert len({p.text("suede.connection") for p in packets}) == 1


def two_vcs():
    link = Link()
    for psn in (1, 2):
        for vc in (0, 3):
            link.data(psn, vc=vc)
    link.control(2, not_ready(3, 2))
    link.data(2, vc=3)
    return link.frames


def test_connections_per_vc(shark):
    packets = shark.dissect(two_vcs(), prefs={"psn_scope": "vc"})
    assert all_flags(packets) == {5: {"not_ready"}, 6: {"retransmission"}}
    assert packets[5].number("suede.analysis.cause_frame") == 5
    assert len({p.text("suede.connection") for p in packets}) == 2
    packets = shark.dissect(two_vcs())
    assert all_flags(packets)[2] == {"retransmission"}
    assert len({p.text("suede.connection") for p in packets}) == 1


def test_hello_contradicts_psn_scope(shark):
    frames = [frame("afh2", rh(1, ver=CONTROL), hello(1, scope=scope), to=2) for scope in (0, 1)]
    for scope, contradicts in ((PORT, [False, True]), (VC, [True, False])):
        packets = shark.dissect(frames, prefs={"psn_scope": scope})
        assert [p.expert("control.psn_scope_mismatch") for p in packets] == contradicts


@pytest.mark.parametrize("encap", ENCAPS)
def test_connections_are_told_apart(shark, encap):
    frames = [frame(encap, rh(xpuid, psn=7), COMMAND, to=to, instance=instance)
              for xpuid, to, instance in ((1, 2, 0), (1, 3, 0), (2, 3, 0), (1, 2, 1))]
    packets = shark.dissect(frames)
    assert not all_flags(packets)
    assert [p.number("suede.connection") for p in packets] == [0, 1, 2, 3]
    back = frame(encap, rh(2, op=ACK, rpsn=7), to=1, instance=0)
    packets = shark.dissect(frames + [back])
    assert packets[4].number("suede.connection") == 0
    assert packets[4].number("suede.analysis.acks_frame") == 1


def test_each_session_of_udp_is_a_connection(shark):
    frames = [frame(encap, rh(1, psn=7), COMMAND, to=2, session=session)
              for encap in ("udp4", "udp6") for session in (0, 1)]
    packets = shark.dissect(frames)
    assert not all_flags(packets)
    assert len({p.text("suede.connection") for p in packets}) == 4


def test_another_xpu_behind_an_address(shark):
    first = frame("udp4", rh(1, psn=7), COMMAND, to=2)
    head = rh(600, psn=7)
    other = first[:42] + head + COMMAND + bytes(60 - 42 - 8 - len(COMMAND) - 4)
    other += rcrc(other[42:])
    packets = shark.dissect([first, other, first])
    assert all_flags(packets) == {3: {"retransmission"}}


def test_dropped_pdus_are_no_part_of_a_sequence(shark):
    good = [frame("afh1", rh(1, psn=psn), COMMAND, to=2) for psn in (1, 2)]
    bad = [frame("afh1", rh(1, psn=9), COMMAND, to=2, spoil=1),
           frame("afh1", rh(1, psn=9), b"\x0a\0" + bytes(30), to=2),
           frame("afh1", rh(1, psn=9, ver=1), COMMAND, to=2)]
    packets = shark.dissect([good[0], *bad, good[1]])
    assert not all_flags(packets)


def test_a_pdu_that_icmp_quotes(shark):
    raw = frame("udp4", rh(1, psn=1), COMMAND, to=2)
    quote = bytes(Ether() / IP(src="198.18.0.2", dst="198.18.0.1") / ICMP(type=3, code=3)
                  / Raw(raw[14:]))
    quote_packet = shark.dissect([raw, quote, frame("udp4", rh(1, psn=2), COMMAND, to=2)])
    assert not all_flags(quote_packet)
    assert "suede.analysis" not in quote_packet[1]


EVENTS = {3: {"gap"}, 5: {"nack"}, **{n: {"retransmission"} for n in (6, 7, 8, 9)},
          13: {"duplicate_ack"}}


@pytest.mark.parametrize("encap", ENCAPS)
def test_two_passes_say_the_same(shark, encap):
    """Wireshark knows no fields on its first pass, and tshark does where it makes only one."""
    frames = eventful(encap)
    once, twice = shark.dissect(frames), shark.dissect(frames, "-2")
    assert all_flags(once) == all_flags(twice) == EVENTS
    assert twice[9].number("suede.analysis.acked_frame") == 12


def test_a_filter_on_the_first_pass(shark):
    filtered = shark.dissect(eventful(), "-2", "-R", "suede.analysis.retransmission")
    assert [p.number("suede.psn") for p in filtered] == [0, 1, 2, 3]


def labels_of(tree):
    for node in tree:
        yield node["l"]
        yield from labels_of(node.get("n", []))


def test_any_order_of_dissection_says_the_same(shark):
    shark.install()
    pcap = shark.pcap(eventful())
    order = [9, 3, 13, 1, 6, 5, 3, 9, 8, 13, 12, 7, 1, 10, 2, 4, 11, 6]
    calls = [{"method": "load", "params": {"file": str(pcap)}}]
    calls += [{"method": "frame", "params": {"frame": n, "proto": True}} for n in order]
    lines = [json.dumps({"jsonrpc": "2.0", "id": i, **call}) for i, call in enumerate(calls, 1)]
    out = shark.run("sharkd", "-", stdin="\n".join(lines) + "\n").stdout
    answers = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    trees = {answer["id"]: answer["result"].get("tree") for answer in answers}
    assert len(trees) == len(calls)
    seen = {}
    marks = {"Retransmission: True": "retransmission", "NACK: True": "nack",
             "PDUs missing before this one: 2": "gap", "Duplicate ACK: 1": "duplicate_ack"}
    for position, number in enumerate(order, 2):
        labels = [label.strip("[]") for label in labels_of(trees[position])]
        assert {marks[label] for label in labels if label in marks} == EVENTS.get(number, set())
        assert labels == seen.setdefault(number, labels)


def test_filters(shark):
    frames = eventful()
    expected = {
        "suede": list(range(1, 14)),
        "suede.analysis.retransmission": [6, 7, 8, 9],
        "suede.analysis.gap >= 2": [3],
        "suede.analysis.nack": [5],
        "suede.expert.duplicate_ack": [13],
        "suede.afh.dst == 1 && suede.op == 1": [5],
        "suede.psn == 65535": [2],
        "suede.rcrc.status == \"Good\"": list(range(1, 14)),
        "suede.rcrc.status == 0": [],
    }
    for display_filter, numbers in expected.items():
        assert shark.numbers(frames, display_filter) == numbers, display_filter


README = (ROOT / "tools/wireshark/README.md").read_text(encoding="utf-8")


def test_filters_of_the_readme(shark):
    table = README.split("## Filters")[1].split("## PSN over time")[0]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    filters = [row.split("`")[1].replace("\\|", "|") for row in rows]
    assert len(filters) > 5
    for display_filter in filters:
        shark.numbers([], display_filter)  # tshark refuses filters that it does not know


def test_fields_and_preferences_of_the_readme(shark):
    shark.install()
    fields = {line.split("\t")[2] for line in
              shark.run("tshark", "-G", "fields", complaints=True).stdout.splitlines() if "\tsuede." in line}
    named = set(re.findall(r"`(suede\.[a-z_.]*[a-z])`", README))
    assert named - {"suede.lua"} <= fields
    analysis = README.split("## Analysis")[1].split("## Filters")[0]
    rows = [line.split("|")[1] for line in analysis.splitlines() if line.startswith("| `")]
    rows = {f"suede.analysis.{name}" for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert rows == {field for field in fields if field.startswith("suede.analysis.")}

    defaults = shark.run("tshark", "-G", "defaultprefs").stdout
    known = set(re.findall(r"^#?suede\.(\w+):", defaults, re.MULTILINE))
    table = README.split("## Preferences")[1].split("## Fields")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == known


def test_info_column(shark):
    infos = shark.infos(eventful())
    assert infos[2] == "0.1 > 0.2 PSN=2 VC=0 commands=1 (6 bytes) [gap of 2]"
    assert infos[4] == "0.2 > 0.1 PSN=0 NACK=0 VC=0 commands=0 (0 bytes) [NACK]"
    assert infos[5].endswith("[retransmission]")
