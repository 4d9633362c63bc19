# SPDX-License-Identifier: Apache-2.0
"""PDUs that two XPUs exchange, as frames."""

from sue_frames import ACK, CONTROL, NACK, command, frame, rh

COMMAND = command(b"", b"1234")


class Link:
    """Two XPUs of which each sends PDUs in the order of the calls."""

    def __init__(self, encap="afh2", vc=0, session=0):
        self.encap, self.vc, self.session = encap, vc, session
        self.frames = []

    def send(self, xpuid, commands, **fields):
        fields.setdefault("vc", self.vc)
        self.frames.append(frame(self.encap, rh(xpuid, **fields), commands, to=3 - xpuid,
                                 session=self.session))
        return len(self.frames)

    def data(self, psn, **fields):
        return self.send(1, COMMAND, psn=psn, **fields)

    def ack(self, rpsn, **fields):
        return self.send(2, b"", **{"op": ACK, "rpsn": rpsn, **fields})

    def control(self, xpuid, body):
        return self.send(xpuid, body, ver=CONTROL, vc=0)


def eventful(encap="afh2c"):
    link = Link(encap)
    for psn in (65534, 65535, 2, 3):
        link.data(psn)
    link.ack(0, op=NACK)
    for psn in (0, 1, 2, 3, 4):
        link.data(psn)
    for rpsn in (2, 4, 4):
        link.ack(rpsn)
    return link.frames
