# SPDX-License-Identifier: Apache-2.0
"""A station on the way between two endpoints, which records every frame, and may change, hold and add some.

    namespace of the left daemon -- veth -- namespace of the station -- veth -- namespace of the right one
"""

import contextlib
import ctypes
import os
import queue
import select
import socket
import threading
import time

import e2e
import links

ETH_P_ALL = 3
CLONE_NEWNET = 0x40000000
PACKET_OUTGOING = 4
SOL_PACKET, PACKET_ADD_MEMBERSHIP, PACKET_MR_PROMISC = 263, 1, 1
SO_RCVBUFFORCE = 33
BUFFER_BYTES = 32 << 20
MOST_BYTES = 65536
MTU = 2300  # of the largest sealed PDU

LEFT, RIGHT = 0, 1  # the end that a frame comes from, or goes to


def _packet_socket(namespace, interface):
    """A socket for all frames of an interface in another namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    made = []

    def make():
        with open(f"/run/netns/{namespace}", "rb") as file:
            if libc.setns(file.fileno(), CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")
        one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        one.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
        one.bind((interface, 0))
        number = socket.if_nametoindex(interface)
        one.setsockopt(SOL_PACKET, PACKET_ADD_MEMBERSHIP,
                       number.to_bytes(4, "little") + PACKET_MR_PROMISC.to_bytes(2, "little") + bytes(10))
        made.append(one)

    # The namespace is the thread's own.
    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    if not made:
        raise e2e.E2eError(f"no socket at {interface} of {namespace}")
    return made[0]


class Middle:
    """Hands on all frames, in their order. `records`: pairs of the end that sent one, and the frame."""

    def __init__(self, sockets):
        self.sockets = sockets  # towards the left and the right end
        self.records = []
        self.sent = [0, 0]  # frames that were added or changed, by the end that they go to
        self._hook = None
        self._asked = queue.SimpleQueue()
        self._wake, self._woken = os.pipe()
        self._ended = False
        self.failure = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def close(self):
        self._ended = True
        os.write(self._woken, b"x")
        self._thread.join()
        os.close(self._wake)
        os.close(self._woken)
        for one in self.sockets:
            one.close()

    def set_hook(self, hook):
        """`hook`: called with (the end that it comes from, a frame) in the station's thread; returns frames
        that go on in its place. None: each goes on."""
        self._hook = hook

    def send(self, to, frames):
        """Adds frames to those that go to an end, between two others, and waits until they are sent."""
        frames = list(frames)
        done = threading.Event()
        self._asked.put((to, frames, done))
        os.write(self._woken, b"x")
        if not done.wait(e2e.START_S) or self.failure:
            raise e2e.E2eError(f"the station between the ends: {self.failure}")
        self.sent[to] += len(frames)

    def since(self, place, source, condition=lambda frame: True):
        """Frames of an end behind a place in the records."""
        return [frame for end, frame in self.records[place:] if end == source and condition(frame)]

    def _write(self, to, frame):
        while True:
            try:
                self.sockets[to].send(frame)
                return
            except OSError as error:
                # The end's interface is full for a moment.
                if error.errno not in (105, 11):
                    raise
                time.sleep(0.0005)

    def _pass(self, source):
        frame, address = self.sockets[source].recvfrom(MOST_BYTES)
        if address[2] == PACKET_OUTGOING:
            return
        self.records.append((source, frame))
        hook = self._hook
        for one in (frame,) if hook is None else hook(source, frame):
            self._write(1 - source, one)

    def _run(self):
        try:
            while not self._ended:
                ready, _, _ = select.select([self._wake, *self.sockets], [], [])
                for source, one in enumerate(self.sockets):
                    if one in ready:
                        self._pass(source)
                if self._wake in ready:
                    os.read(self._wake, 1)
                    with contextlib.suppress(queue.Empty):
                        to, frames, done = self._asked.get_nowait()
                        for frame in frames:
                            self._write(to, frame)
                        done.set()
        except Exception as error:  # pylint: disable=broad-except
            self.failure = repr(error)


@contextlib.contextmanager
def station():
    """Yields a Middle, and (prefix, interface) of both ends."""
    with links.empty_namespaces(3, ipv6=False) as names, contextlib.ExitStack() as stack:
        sockets = []
        for own in (LEFT, RIGHT):
            near, far = f"end{own}", f"mid{own}"
            links.ip("-n", names[own], "link", "add", near, "type", "veth", "peer", "name", far, "netns",
                     names[2])
            links.ip("-n", names[own], "link", "set", near, "address", e2e.mac_of(own), "mtu", MTU, "up")
            links.ip("-n", names[2], "link", "set", far, "mtu", MTU, "up")
            sockets.append(_packet_socket(names[2], far))
        middle = Middle(sockets)
        stack.callback(middle.close)
        yield middle, [(["ip", "netns", "exec", names[own]], f"end{own}") for own in (LEFT, RIGHT)]
