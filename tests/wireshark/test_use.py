# SPDX-License-Identifier: Apache-2.0
"""suede.lua as it is loaded, set and asked for PSNs over time."""

import re

import pytest

from link import Link, eventful
from sue_frames import PREFIX, fence, fenced, frame, not_ready, plane, ready, rh
from tshark import SCRIPT


# ---- Preferences

def test_udp_port(shark):
    frames = [frame("udp4", rh(5), to=9, dport=port) for port in (3333, 4000, 4001)]
    def sue(packets):
        return ["suede" in p.protocols() for p in packets]
    assert sue(shark.dissect(frames)) == [True, False, False]
    assert sue(shark.dissect(frames, prefs={"udp_port": "3333,4001"})) == [True, False, True]
    assert sue(shark.dissect(frames, prefs={"udp_port": "4000-4001"})) == [False, True, True]
    assert sue(shark.dissect(frames, "-d", "udp.port==4000,suede")) == [True, True, False]


def test_ethertypes(shark):
    frames = [frame(encap, rh(5), to=9) for encap in ("afh1", "afh1s", "afh2", "afh2c")]
    moved = [f.replace(b"\x88\xb5", b"\x90\x01", 1).replace(b"\x88\xb6", b"\x90\x02", 1)
             for f in frames]
    prefs = {"afh_ethertype": "0x9001", "shim_ethertype": "0x9002"}
    for packets in (shark.dissect(frames), shark.dissect(moved, prefs=prefs)):
        assert [p.text("suede.encap") for p in packets] == ["afh1", "afh1s", "afh2", "afh2c"]
    for packets in (shark.dissect(moved), shark.dissect(frames, prefs=prefs)):
        assert not any("suede" in p.protocols() for p in packets)


def test_esun_has_no_usual_ethertype(shark):
    one = frame("esun", rh(5), to=9)
    assert shark.dissect([one])[0].text("suede.encap") == "esun"
    for prefs in ({"esun_ethertype": ""}, {"esun_ethertype": "0x9001"}):
        packet, = shark.dissect([one], prefs=prefs)
        assert "suede" not in packet.protocols()


def test_mac_prefix(shark):
    other = frame("afh1", rh(5), to=9).replace(PREFIX, bytes.fromhex("02aabbcc"))
    assert shark.dissect([other])[0].text("suede.encap") == "afh2"  # 02 is a first byte of Gen 2
    packet, = shark.dissect([other], prefs={"mac_prefix": "02-aa-bb-cc"})
    assert packet.text("suede.encap") == "afh1"
    assert packet.number("suede.afh.dst") == 9


def test_encapsulation_that_is_set(shark):
    frames = [frame(encap, rh(5), to=9) for encap in ("afh1", "afh2", "afh2c")]
    for encap in ("afh1", "afh2", "afh2c"):
        packets = shark.dissect(frames, prefs={"afh_encap": encap})
        assert {p.text("suede.encap") for p in packets} == {encap}
        contradicts = [p.expert("afh.w_mismatch") for p in packets]
        assert contradicts == {"afh1": [False] * 3, "afh2": [False, False, True],
                               "afh2c": [True, True, False]}[encap]


# ---- Loading

def test_as_a_plugin(shark):
    shark.install()
    out = shark.tshark(shark.pcap(eventful()), "-Y", "suede.analysis.nack", script=None)
    assert re.search(r"SUE .* \[NACK\]", out)


# ---- PSN over time

def psn_lines(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "time,connection,psn,kind"
    return [line.split(",") for line in lines[1:]]


EXPECTED_PSNS = [
    ["0.000000000", "0.1>0.2 afh2c", "65534", "data"],
    ["0.000010000", "0.1>0.2 afh2c", "65535", "data"],
    ["0.000020000", "0.1>0.2 afh2c", "2", "gap"],
    ["0.000030000", "0.1>0.2 afh2c", "3", "data"],
    ["0.000040000", "0.1>0.2 afh2c", "0", "nack"],
    ["0.000050000", "0.1>0.2 afh2c", "0", "retransmission"],
    ["0.000060000", "0.1>0.2 afh2c", "1", "retransmission"],
    ["0.000070000", "0.1>0.2 afh2c", "2", "retransmission"],
    ["0.000080000", "0.1>0.2 afh2c", "3", "retransmission"],
    ["0.000090000", "0.1>0.2 afh2c", "4", "data"],
    ["0.000100000", "0.1>0.2 afh2c", "2", "ack"],
    ["0.000110000", "0.1>0.2 afh2c", "4", "ack"],
    ["0.000120000", "0.1>0.2 afh2c", "4", "ack"],
]


@pytest.mark.parametrize("passes", ((), ("-2",), ("-q",)), ids=("one", "two", "quiet"))
def test_psns(shark, passes):
    path = shark.directory / "psn.csv"
    shark.tshark(shark.pcap(eventful()), "-X", f"lua_script1:psn={path}", *passes)
    assert psn_lines(path) == EXPECTED_PSNS


def test_psns_of_a_plugin_that_is_named_as_well(shark):
    shark.install()
    path = shark.directory / "psn.csv"
    shark.tshark(shark.pcap(eventful()), "-X", f"lua_script1:psn={path}", "-q")
    assert psn_lines(path) == EXPECTED_PSNS


def test_psns_of_control_pdus_and_other_order(shark):
    link = Link("udp4")
    for psn in (1, 3, 2):
        link.data(psn)
    link.control(2, not_ready(0, 3))
    link.control(2, ready(0, 3))
    link.control(1, plane(100, 200))
    link.control(1, fence(100, 200, 1))
    link.control(2, fenced(200, 100, 1))
    path = shark.directory / "psn.csv"
    shark.tshark(shark.pcap(link.frames), "-X", f"lua_script1:psn={path}", "-q")
    there = "198.18.0.1>198.18.0.2 session 0"
    assert [line[1:] for line in psn_lines(path)] == [
        [there, "1", "data"], [there, "3", "gap"], [there, "2", "out_of_order"],
        [there, "3", "not_ready"], [there, "3", "ready"]]


def test_unknown_argument(shark):
    result = shark.run("tshark", "-X", f"lua_script:{SCRIPT}", "-X", "lua_script1:pns=x", "-r",
                       shark.pcap(eventful()), complaints=True)
    assert "knows the argument psn=FILE" in result.stderr


# Stands in for the parts of Wireshark that tshark lacks: a menu, a dialog that is answered at once,
# a window, and more looks at the packets. The menu is used when all packets have been seen.
GUI = """
local packets, actions, tap, close = {}, {}, nil, nil
local pcap = Listener.new()
_G.Listener = { new = function()
  tap = { remove = function() print("tap removed") end }
  return tap
end }
function pcap.packet(pinfo)
  packets[#packets + 1] = { number = pinfo.number, rel_ts = pinfo.rel_ts }
end
function pcap.draw()
  actions["SUE/PSN over time"]()
  close()
end
function _G.gui_enabled() return true end
function _G.register_menu(name, action) actions[name] = action end
function _G.new_dialog(title, action, label) action("PATH") end
function _G.retap_packets()
  for _ = 1, 2 do
    tap.reset()
    for _, packet in ipairs(packets) do tap.packet(packet) end
    tap.draw()
  end
end
_G.TextWindow = { new = function(title)
  local window = {}
  function window.set(_, text) print(title .. ": " .. text) end
  function window.set_atclose(_, action) close = action end
  return window
end }
"""


def test_menu(shark):
    path = shark.directory / "psn.csv"
    gui = shark.directory / "gui.lua"
    gui.write_text(GUI.replace("PATH", str(path)), encoding="utf-8")
    out = shark.run("tshark", "-n", "-q", "-X", f"lua_script:{gui}", "-X", f"lua_script:{SCRIPT}",
                    "-r", shark.pcap(eventful())).stdout
    assert out.count(f"SUE: PSN over time: {len(EXPECTED_PSNS)} lines in {path}") == 2
    assert "tap removed" in out
    assert psn_lines(path) == EXPECTED_PSNS
