# SPDX-License-Identifier: Apache-2.0
"""Simulators with SimBricks' interfaces, written from docs/simbricks.md alone."""

import contextlib
import mmap
import os
import socket
import struct
import threading

import e2e

PROGRAM = e2e.BUILD / "app/simbricks/suede-simbricks"
NETWORK, MEMORY = 1, 3
SYNC, TERMINATE = 0x00, 0x01
READ_DONE, WRITE_DONE, PACKET, READ, WRITE, WRITE_POSTED = 0x40, 0x41, 0x40, 0x60, 0x61, 0x62
HEADER, OWNER, CONSUMER = 64, 63, 0x80


class Queue:
    """An end of a queue: (offset, bytes of an entry, entries) in a mapping."""

    def __init__(self, memory, offset, entry_bytes, entries):
        self.memory, self.offset, self.entry_bytes, self.entries = memory, offset, entry_bytes, entries
        self.at = 0

    def entry(self):
        return self.offset + self.at % self.entries * self.entry_bytes

    def pass_on(self, kind):
        self.memory[self.entry() + OWNER] = kind
        self.at += 1

    def receive(self):
        """(type, entry without byte 63) of the next message, or None."""
        at = self.entry()
        kind = self.memory[at + OWNER]
        if not kind & CONSUMER:
            return None
        message = self.memory[at:at + self.entry_bytes]
        self.pass_on(kind & ~CONSUMER)
        return kind & ~CONSUMER, message

    def send(self, kind, header, data=b""):
        at = self.entry()
        e2e.wait_until(lambda: not self.memory[at + OWNER] & CONSUMER, e2e.START_S, "a place in the queue")
        self.memory[at:at + OWNER] = header.ljust(OWNER, b"\0")
        self.memory[at + HEADER:at + HEADER + len(data)] = data
        self.pass_on(kind | CONSUMER)


class Peer:
    """A connection of either role; ends with the block."""

    def __init__(self, connection, upper):
        self.connection, self.upper = connection, upper
        connection.settimeout(e2e.START_S)

    @classmethod
    def connect(cls, path, upper, flags=0, version=1):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.connect(str(path))
        peer = cls(connection, upper)
        connection.sendall(struct.pack("<4QI", version, flags, upper, 32, 0))
        intro, fds, _, _ = socket.recv_fds(connection, 2048, 1)
        assert len(fds) == 1
        fields = struct.unpack_from("<10Q", intro)
        assert fields[:2] == (1, 0) and fields[8:] == (upper, 80) and len(intro) == 84
        peer._map(fds[0])
        peer.inbound, peer.outbound = Queue(peer.memory, *fields[2:5]), Queue(peer.memory, *fields[5:8])
        return peer

    @classmethod
    def accept(cls, listener, upper, shm, entries=64, entry_bytes=8192 + 64, flags=0):
        listener.settimeout(e2e.START_S)
        peer = cls(listener.accept()[0], upper)
        size = entries * entry_bytes
        fd = os.open(shm, os.O_CREAT | os.O_RDWR | os.O_TRUNC, 0o600)
        os.ftruncate(fd, 2 * size)
        intro = struct.pack("<10QI", 1, flags, 0, entry_bytes, entries, size, entry_bytes, entries, upper, 80, 0)
        socket.send_fds(peer.connection, [intro], [fd])
        peer._map(fd)
        peer.outbound, peer.inbound = Queue(peer.memory, 0, entry_bytes, entries), \
            Queue(peer.memory, size, entry_bytes, entries)
        assert struct.unpack("<4QI", peer.connection.recv(2048)) == (1, 0, upper, 32, 0)
        return peer

    def _map(self, fd):
        self.memory = mmap.mmap(fd, os.fstat(fd).st_size)
        os.close(fd)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def receive(self, what="a message"):
        return e2e.wait_until(self.inbound.receive, e2e.START_S, what)

    def is_ended(self):
        """Whether the other end has closed."""
        self.connection.settimeout(0.01)
        with contextlib.suppress(TimeoutError):
            return self.connection.recv(1) == b""
        return False


def listen(path):
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    listener.listen()
    return listener


class Host:
    """A host simulator."""

    def __init__(self, path, **options):
        self.peer = Peer.connect(path, MEMORY, **options)
        self.number = 0
        self.done = {}

    def start(self, kind, address, size, data=b"", space=0):
        """Sends a request. Returns its number."""
        self.number += 1
        self.peer.outbound.send(kind, struct.pack("<3QH", self.number, space, address, size), data)
        return self.number

    def finish(self, number):
        """(type, data entry) of the request's completion."""
        def arrived():
            while message := self.peer.inbound.receive():
                kind, entry = message
                self.done[struct.unpack_from("<Q", entry)[0]] = kind, entry[HEADER:]
            return self.done.pop(number, None)
        return e2e.wait_until(arrived, e2e.START_S, f"the completion of request {number}")

    def read(self, address, size):
        kind, data = self.finish(self.start(READ, address, size))
        assert kind == READ_DONE
        return data[:size]

    def write(self, address, data):
        assert self.finish(self.start(WRITE, address, len(data), data))[0] == WRITE_DONE


class Memory:
    """A memory simulator on a thread of the caller's: serve() executes what has come."""

    def __init__(self, peer, size):
        self.peer, self.octets = peer, bytearray(size)
        self.requests = []

    def serve(self):
        while message := self.peer.inbound.receive():
            kind, entry = message
            number, space, address, size = struct.unpack_from("<3QH", entry)
            self.requests.append((kind, space, address, size))
            header = struct.pack("<Q", number)
            if kind == READ:
                self.peer.outbound.send(READ_DONE, header, self.octets[address:address + size])
            else:
                assert kind == WRITE
                self.octets[address:address + size] = entry[HEADER:HEADER + size]
                self.peer.outbound.send(WRITE_DONE, header)


class Adapter(e2e.Process):
    """suede-simbricks, ready."""

    def __init__(self, directory, label, *arguments, prefix=()):
        super().__init__(directory, label, [PROGRAM, *arguments], prefix)

    def start(self):
        super().start()
        e2e.wait_until(lambda: "suede-simbricks: ready" in self.stderr() or not self.running(), e2e.START_S, self.report)
        assert self.running(), self.report()
        return self

    def counters(self):
        """Its counters that are not 0, at its end."""
        assert self.terminate() == 0, self.report()
        line = self.stderr().rpartition("suede-simbricks: counters")[2].split("\n")[0]
        return {name: int(value) for name, value in (pair.split("=") for pair in line.split())}


class Network:
    """A simulated network of two NICs: passes each frame to the other."""

    def __init__(self, peers):
        self.peers = peers
        self.frames = 0

    def serve(self):
        for own, other in (self.peers, reversed(self.peers)):
            while message := own.inbound.receive():
                kind, entry = message
                assert kind == PACKET
                size = struct.unpack_from("<H", entry)[0]
                other.outbound.send(PACKET, entry[:2], entry[HEADER:HEADER + size])
                self.frames += 1


@contextlib.contextmanager
def served(*parts):
    """Serves simulators by a thread, as long as the block lasts."""
    stop = threading.Event()

    def serve():
        while not stop.wait(0.0005):
            for part in parts:
                part.serve()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
