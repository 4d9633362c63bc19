# SPDX-License-Identifier: Apache-2.0
"""Message sockets of libsuede-mem through ctypes (include/suede/socket.h)."""

import ctypes

import client
import e2e

OK, PENDING = 0, 1
NOT_OPEN, EPOCH, MISMATCH, CREDIT, ORDER, MALFORMED, CLOSED, ABORTED = range(16, 24)
UNREACHABLE, IN_DOUBT, TIMED_OUT, RESET = range(32, 36)
STREAM, DATAGRAM = 0, 1
SEND, RECEIVE = 0, 1
PRIVATE = 1
ANY = 0xffff
AUTO = -1
WAIT_MS = int(e2e.START_S * 1000)


class Params(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("plane_count", ctypes.c_uint32),
                ("planes", client.Instance * 16)] + [(name, ctypes.c_uint32) for name in (
                    "timeout_ms", "data_vcs", "control_vcs", "max_channels")]


class SocketParams(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("id", ctypes.c_uint16), ("type", ctypes.c_uint8),
                ("direction", ctypes.c_uint8), ("epoch", ctypes.c_uint32),
                ("flags", ctypes.c_uint32), ("plane", ctypes.c_int8), ("vc", ctypes.c_int8),
                ("peer", ctypes.c_uint16), ("target_count", ctypes.c_uint32),
                ("targets", ctypes.POINTER(ctypes.c_uint16)), ("ring_bytes", ctypes.c_uint32),
                ("max_operations", ctypes.c_uint32)]


class Result(ctypes.Structure):
    _fields_ = [("status", ctypes.c_uint32), ("reserved", ctypes.c_uint32),
                ("pushed_bytes", ctypes.c_uint64)]


class Counts(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("reserved", ctypes.c_uint32)] + [
        (name, ctypes.c_uint64) for name in ("sent_bytes", "sent_commands", "received_bytes",
                                             "received_commands", "spilled_bytes")] + [
        ("refused", ctypes.c_uint64 * 8)] + [
        (name, ctypes.c_uint64) for name in ("stray_answers", "foreign_commands", "unanswered",
                                             "torn_datagrams", "starved", "blocked")]


class Info(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("peer", ctypes.c_uint16), ("plane", ctypes.c_uint8),
                ("vc", ctypes.c_uint8), ("waiting_bytes", ctypes.c_uint64),
                ("ring_bytes", ctypes.c_uint32), ("used_bytes", ctypes.c_uint32),
                ("open_operations", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]


def data_command(tag, number, data, number_of_socket=0, epoch=0, flags=0):
    """(control, data) of DATA, by docs/sockets.md."""
    return (bytes([0xd9, len(data) - 1, 0x80 | flags, 0]) + tag.to_bytes(4, "big") +
            epoch.to_bytes(4, "big") + number.to_bytes(4, "big") +
            number_of_socket.to_bytes(2, "big"), data)


def connect_command(number_of_socket, epoch, tag, traits):
    """The control of CONNECT."""
    return (bytes([0xc9, 0, 0x10, traits]) + bytes(4) + epoch.to_bytes(4, "big") +
            tag.to_bytes(4, "big") + number_of_socket.to_bytes(2, "big"))


def _library():
    library = ctypes.CDLL(str(e2e.BUILD / "app/libsuede-mem/libsuede-mem.so.1"))
    library.suede_mem_error_text.restype = ctypes.c_char_p
    library.suede_sockets_xpuid.restype = ctypes.c_uint16
    library.suede_socket_status.restype = ctypes.c_uint32
    library.suede_socket_peer_status.restype = ctypes.c_uint32
    library.suede_sockets_close.restype = None
    return library


class Sockets:
    """The access of a program; `thread`: it is polled by itself."""

    def __init__(self, socket, thread=True, planes=(), **params):
        self.library = _library()
        self.pointer = ctypes.c_void_p()
        params = Params(size=ctypes.sizeof(Params), plane_count=len(planes), **params)
        for place, (xpuid, instance) in enumerate(planes):
            params.planes[place] = client.Instance(xpuid=xpuid, instance=instance)
        error = self.library.suede_sockets_open(str(socket).encode(), ctypes.byref(params),
                                                ctypes.byref(self.pointer))
        if error != 0:
            raise OSError(-error, self.error())
        if thread:
            assert self.library.suede_sockets_start(self.pointer) == 0, self.error()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.library.suede_sockets_close(self.pointer)
        self.pointer = None

    def error(self):
        return self.library.suede_mem_error_text().decode()

    def poll(self):
        return self.library.suede_sockets_poll(self.pointer)

    def reconnect(self):
        return self.library.suede_sockets_reconnect(self.pointer)

    def counts(self):
        counts = Counts(size=ctypes.sizeof(Counts))
        assert self.library.suede_sockets_get_counts(self.pointer, ctypes.byref(counts)) == 0
        return counts

    def open(self, direction, peers, number=0, epoch=0, **fields):
        """A socket, or a negative errno."""
        params = SocketParams(size=ctypes.sizeof(SocketParams), id=number, direction=direction,
                              epoch=epoch, plane=AUTO, vc=fields.pop("vc", AUTO), **fields)
        if isinstance(peers, int):
            params.peer = peers
        else:
            params.targets = (ctypes.c_uint16 * len(peers))(*peers)
            params.target_count = len(peers)
        pointer = ctypes.c_void_p()
        error = self.library.suede_socket_open(self.pointer, ctypes.byref(params),
                                               ctypes.byref(pointer))
        return error if error != 0 else Socket(self, pointer)

    def sender(self, peers, number=0, epoch=0, **fields):
        return self.open(SEND, peers, number, epoch, **fields)

    def receiver(self, peer, number=0, epoch=0, **fields):
        return self.open(RECEIVE, peer, number, epoch, **fields)


class Socket:
    def __init__(self, sockets, pointer):
        self._sockets = sockets
        self._library = sockets.library
        self._pointer = pointer
        self._kept = []  # what the library may still read or write

    def connect(self, timeout_ms=WAIT_MS):
        return self._library.suede_socket_connect(self._pointer, ctypes.c_int(timeout_ms))

    def send(self, data, timeout_ms=WAIT_MS):
        """(result, octets that were pushed)"""
        pushed = ctypes.c_uint64()
        result = self._library.suede_socket_send(self._pointer, data, ctypes.c_uint64(len(data)),
                                                 ctypes.c_int(timeout_ms), ctypes.byref(pushed))
        return result, pushed.value

    def start_send(self, data, deadline_ms=0):
        """The result, or a negative errno."""
        result = Result()
        room = ctypes.create_string_buffer(data, len(data))
        error = self._library.suede_socket_start_send(
            self._pointer, room, ctypes.c_uint64(len(data)), ctypes.c_uint32(deadline_ms),
            ctypes.byref(result))
        self._kept.append((room, result))
        return error if error != 0 else result

    def drain(self, timeout_ms=WAIT_MS):
        return self._library.suede_socket_drain(self._pointer, ctypes.c_int(timeout_ms))

    def receive(self, most=1 << 20, timeout_ms=WAIT_MS):
        """The octets that came, or a negative errno."""
        room = ctypes.create_string_buffer(most)
        count = self._library.suede_socket_receive(self._pointer, room, ctypes.c_uint32(most),
                                                   ctypes.c_int(timeout_ms))
        return count if count < 0 else room.raw[:count]

    def receive_all(self, count):
        octets = b""
        while len(octets) < count:
            more = self.receive(count - len(octets))
            assert isinstance(more, bytes), (more, self._sockets.error())
            octets += more
        return octets

    def close(self, timeout_ms=WAIT_MS):
        """(result, status)"""
        status = ctypes.c_uint32()
        pointer, self._pointer = self._pointer, None
        result = self._library.suede_socket_close(pointer, ctypes.c_int(timeout_ms),
                                                  ctypes.byref(status))
        return result, status.value

    @property
    def status(self):
        return self._library.suede_socket_status(self._pointer)

    def peer_status(self, index=0):
        return self._library.suede_socket_peer_status(self._pointer, ctypes.c_uint32(index))

    def info(self):
        info = Info(size=ctypes.sizeof(Info))
        assert self._library.suede_socket_get_info(self._pointer, ctypes.byref(info)) == 0
        return info
