# SPDX-License-Identifier: Apache-2.0
"""libsuede through ctypes: a client whose every step a test decides (include/suede/suede.h)."""

import ctypes
import errno
import time

import e2e

FLAG_COMPLETION = 4
STATUS_OK, STATUS_UNREACHABLE, STATUS_PEER_RESET, STATUS_IN_DOUBT = 0, 1, 6, 8


class Command(ctypes.Structure):
    _fields_ = [("xpuid", ctypes.c_uint16), ("vc", ctypes.c_uint8), ("flags", ctypes.c_uint8),
                ("reserved", ctypes.c_uint32), ("tag", ctypes.c_uint64),
                ("control", ctypes.c_char_p), ("data", ctypes.c_char_p)]


class Completion(ctypes.Structure):
    _fields_ = [("tag", ctypes.c_uint64), ("xpuid", ctypes.c_uint16), ("vc", ctypes.c_uint8),
                ("status", ctypes.c_uint8), ("reserved", ctypes.c_uint32)]


class Received(ctypes.Structure):
    _fields_ = [("control", ctypes.c_void_p), ("data", ctypes.c_void_p),
                ("control_bytes", ctypes.c_uint16), ("data_bytes", ctypes.c_uint16),
                ("source_xpuid", ctypes.c_uint16), ("own_xpuid", ctypes.c_uint16),
                ("instance", ctypes.c_uint8), ("vc", ctypes.c_uint8),
                ("reserved", ctypes.c_uint8 * 6)]


class Instance(ctypes.Structure):
    _fields_ = [("xpuid", ctypes.c_uint16), ("instance", ctypes.c_uint8),
                ("reserved", ctypes.c_uint8)]


class OpenParams(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("queue_count", ctypes.c_uint32),
                ("instance_count", ctypes.c_uint32), ("timeout_ms", ctypes.c_uint32),
                ("instances", Instance * 16)]


class Load(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in (
        "size", "updates", "is_down", "load", "queued_pdus", "inflight_pdus", "inflight_bytes",
        "credit_lines", "paused_destinations", "unreachable_destinations")]


class Destination(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in (
        "size", "updates", "is_known", "is_paused", "is_unreachable", "queued_lines",
        "inflight_pdus", "inflight_bytes")]


class PacketsParams(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("receive", ctypes.c_uint32),
                ("timeout_ms", ctypes.c_uint32), ("port_index", ctypes.c_uint32),
                ("port", ctypes.c_char_p)]


def _library():
    library = ctypes.CDLL(str(e2e.BUILD / "app/libsuede/libsuede.so.1"))
    library.suede_error_text.restype = ctypes.c_char_p
    library.suede_get_queue.restype = ctypes.c_void_p
    library.suede_packets_lost.restype = ctypes.c_uint64
    for name in ("suede_close", "suede_flush", "suede_packets_close", "suede_balancer_destroy",
                 "suede_balancer_flush"):
        getattr(library, name).restype = None
    return library


def command_of(xpuid, vc, tag, data):
    return Command(xpuid=xpuid, vc=vc, flags=FLAG_COMPLETION, tag=tag,
                   control=bytes([0x11, len(data) - 1]), data=data)


class Client:
    """A client with one queue, of `own`, an XPU and an instance of it, or of the first there is.
    Errors come back as negative errno values, as in C."""

    def __init__(self, socket, own=None):
        self._library = _library()
        self._client = ctypes.c_void_p()
        self._instance = own[1] if own else 0
        params = OpenParams(size=ctypes.sizeof(OpenParams), queue_count=1)
        if own:
            params.instance_count = 1
            params.instances[0] = Instance(xpuid=own[0], instance=own[1])
        result = self._library.suede_connect(str(socket).encode(), ctypes.byref(params),
                                             ctypes.byref(self._client))
        if result != 0:
            raise OSError(-result, self.error())
        self._queue = ctypes.c_void_p(
            self._library.suede_get_queue(self._client, ctypes.c_uint32(0)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._library.suede_close(self._client)

    def error(self):
        return self._library.suede_error_text().decode()

    def read_register(self, address, width):
        """The value of the register, or a negative errno."""
        value = ctypes.c_uint64()
        result = self._library.suede_register_read(self._client, ctypes.c_uint32(address),
                                                   ctypes.c_uint32(width), ctypes.byref(value))
        return value.value if result == 0 else result

    def write_register(self, address, width, value):
        return self._library.suede_register_write(self._client, ctypes.c_uint32(address),
                                                  ctypes.c_uint32(width), ctypes.c_uint64(value))

    def status(self):
        return self._library.suede_status(self._client)

    def states(self):
        """States of the queue and of VC 0's receive ring: READY is 1, IN_RESET 2."""
        return (self._library.suede_queue_state(self._queue),
                self._library.suede_receive_state(self._client, ctypes.c_uint8(0)))

    def wait_for_events(self, timeout_ms):
        """1 where an interrupt of the registers is pending, or comes in time."""
        want = (ctypes.c_uint32 * 3)(0, 0, 0x80000000)
        return self._library.suede_wait(self._client, ctypes.byref(want), None,
                                        ctypes.c_int(timeout_ms))

    def wait_to_receive(self, timeout_ms):
        """1 where a command arrives on VC 0 in time, 0 otherwise."""
        want = (ctypes.c_uint32 * 3)(0, 0, 1)
        return self._library.suede_wait(self._client, ctypes.byref(want), None,
                                        ctypes.c_int(timeout_ms))

    def reconnect(self):
        return self._library.suede_reconnect(self._client)

    def claim(self, xpuid, mask=0xF):
        result = self._library.suede_claim(self._client, ctypes.c_uint16(xpuid),
                                           ctypes.c_uint8(self._instance), ctypes.c_uint32(mask))
        assert result == 0, self.error()

    def load(self):
        load = Load(size=ctypes.sizeof(Load))
        while (result := self._library.suede_get_load(
                self._queue, ctypes.byref(load))) == -errno.EAGAIN:
            time.sleep(0.001)
        assert result == 0, self.error()
        return load

    def watch(self, xpuid):
        return self._library.suede_watch_destination(self._queue, ctypes.c_uint16(xpuid))

    def destination(self, xpuid):
        """The known state of a watched destination; None where nothing is known yet."""
        destination = Destination(size=ctypes.sizeof(Destination))
        result = self._library.suede_get_destination(self._queue, ctypes.c_uint16(xpuid),
                                                     ctypes.byref(destination))
        assert result in (0, -errno.EAGAIN), self.error()
        return destination if result == 0 else None

    def send(self, xpuid, vc, tag, data):
        command = command_of(xpuid, vc, tag, data)
        result = self._library.suede_send(self._queue, ctypes.byref(command))
        self._library.suede_flush(self._queue)
        return result

    def send_control(self, xpuid, vc, control, data=None):
        """A command whose control has the lengths in its first bytes. No completion."""
        command = Command(xpuid=xpuid, vc=vc, control=control, data=data)
        result = self._library.suede_send(self._queue, ctypes.byref(command))
        self._library.suede_flush(self._queue)
        return result

    def reset(self):
        return self._library.suede_reset_queue(self._queue)

    def completions(self):
        """{tag: status} of the completions that have arrived; a negative errno where none will come."""
        out = (Completion * 64)()
        count = self._library.suede_poll_completions(self._queue, out, ctypes.c_uint32(64))
        return count if count < 0 else {out[i].tag: out[i].status for i in range(count)}

    def receive(self, vc):
        """[(source, data)] of the commands that have arrived."""
        out = (Received * 64)()
        count = self._library.suede_receive(self._client, ctypes.c_uint8(vc), out,
                                            ctypes.c_uint32(64))
        if count < 0:
            return count
        got = [(r.source_xpuid, ctypes.string_at(r.data, r.data_bytes)) for r in out[:count]]
        self._library.suede_release(self._client, ctypes.c_uint8(vc))
        return got

    def receive_controls(self, vc):
        """The controls of the commands that have arrived."""
        out = (Received * 64)()
        count = self._library.suede_receive(self._client, ctypes.c_uint8(vc), out,
                                            ctypes.c_uint32(64))
        got = [ctypes.string_at(r.control, r.control_bytes) for r in out[:max(count, 0)]]
        self._library.suede_release(self._client, ctypes.c_uint8(vc))
        return got

    def complete(self, tags, seconds):
        """Waits until all of `tags` are completed; their statuses."""
        left = set(tags)
        statuses = {}

        def poll():
            got = self.completions()
            assert not isinstance(got, int), self.error()
            statuses.update(got)
            left.difference_update(got)
            return not left

        e2e.wait_until(poll, seconds, "completions")
        return statuses

    def send_all(self, xpuid, count, first=0, seconds=20):
        """Sends `count` commands on all VCs in turn, waiting for credit. Their tags."""
        deadline = time.monotonic() + seconds
        for tag in range(first, first + count):
            while (result := self.send(xpuid, tag % 4, tag, f"command {tag}".encode())) != 0:
                assert result == -errno.EAGAIN, (result, self.error())
                assert time.monotonic() < deadline, "no credit"
                time.sleep(0.001)
        return range(first, first + count)


class Balancer:
    """A balancer over the queues of several clients. `send` returns the place of the one that took it."""

    def __init__(self, clients, policy):
        self._library = _library()
        self._balancer = ctypes.c_void_p()
        queues = (ctypes.c_void_p * len(clients))(*(c._queue for c in clients))
        number = {"round_robin": 1, "least_loaded": 2, "hash": 3}[policy]
        result = self._library.suede_balancer_create(
            queues, ctypes.c_uint32(len(clients)), ctypes.c_uint32(number),
            ctypes.byref(self._balancer))
        assert result == 0, self._library.suede_error_text()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._library.suede_balancer_destroy(self._balancer)

    def send(self, xpuid, vc, tag, data):
        command = command_of(xpuid, vc, tag, data)
        result = self._library.suede_balancer_send(self._balancer, ctypes.byref(command))
        self._library.suede_balancer_flush(self._balancer)
        return result


class Packets:
    """The management packets of a port."""

    def __init__(self, socket, port="p0", receive=True):
        self._library = _library()
        self._packets = ctypes.c_void_p()
        params = PacketsParams(size=ctypes.sizeof(PacketsParams), receive=int(receive),
                               port=port.encode())
        result = self._library.suede_packets_open(str(socket).encode(), ctypes.byref(params),
                                                  ctypes.byref(self._packets))
        if result != 0:
            raise OSError(-result, self._library.suede_error_text().decode())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._library.suede_packets_close(self._packets)

    def send(self, frame):
        return self._library.suede_packets_send(self._packets, frame, ctypes.c_uint32(len(frame)))

    def receive(self):
        """A frame, or None where there is none."""
        room = ctypes.create_string_buffer(9618)
        count = self._library.suede_packets_receive(self._packets, room, ctypes.c_uint32(len(room)))
        return room.raw[:count] if count >= 0 else None

    def drain(self):
        frames = []
        while (frame := self.receive()) is not None:
            frames.append(frame)
        return frames

    def lost(self):
        return self._library.suede_packets_lost(self._packets)


def settle(left, right):
    """Waits until each of two daemons knows which life of the other it speaks to: commands under
    way while it learns that are completed as "peer reset"."""
    for daemon, peer in ((left, 1), (right, 0)):
        with Client(daemon.socket) as sender:
            tag = 0

            def delivered():
                nonlocal tag
                tag += 1
                assert sender.send(peer, 0, tag, b"hello") == 0, sender.error()
                return sender.complete([tag], 10)[tag] == STATUS_OK

            e2e.wait_until(delivered, e2e.START_S, "the peer to be known")
