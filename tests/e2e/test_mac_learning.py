# SPDX-License-Identifier: Apache-2.0
"""An endpoint whose MAC address a switch learns on another port (docs/planes.md, "Where no PLANEs are exchanged")."""

import e2e
import switched
from client import STATUS_OK, Client, Packets
from test_switch_frames import ETHERTYPE_IPV4


def port_of(switch, xpu):
    """The port behind which the switch has learnt the XPU's address."""
    listed = switched.ctl(switch, "addresses", "list", "--origin", "learnt")["addresses"]
    return next((row["port"] for row in listed if row["address"] == e2e.mac_of(xpu)), None)


def test_a_receiver_whose_address_was_stolen_is_reached_again():
    with switched.fabric(3) as (directory, switch, daemon), \
            Client(daemon.socket, own=(0, 0)) as sender, \
            Client(daemon.socket, own=(1, 0)) as receiver, \
            Packets(daemon.socket, "p2", receive=False) as thief:
        receiver.claim(1)

        def delivered(tag):
            assert sender.send(1, vc=0, tag=tag, data=b"data") == 0
            return sender.complete([tag], e2e.START_S)[tag]

        assert delivered(1) == STATUS_OK
        source = bytes.fromhex(e2e.mac_of(1).replace(":", ""))
        stolen = bytes(6 * [0xff]) + source + ETHERTYPE_IPV4.to_bytes(2, "big") + bytes(46)
        for tag in range(2, 6):
            # From then on nothing reaches XPU 1, which has nothing to say.
            assert thief.send(stolen) == 0
            e2e.wait_until(lambda: port_of(switch, 1) in ("s1", "s2"), e2e.START_S, "the theft")
            assert delivered(tag) == STATUS_OK, (tag, port_of(switch, 1))
            e2e.wait_until(lambda: port_of(switch, 1) == "s1", e2e.START_S, "the address's return")
        assert daemon.terminate() == 0, daemon.report()
        assert switch.terminate() == 0, switch.report()
