# SPDX-License-Identifier: Apache-2.0
"""Message sockets: streams and datagrams between XPUs."""

import errno
import math
import time

from ._library import CONSTANTS, Handle, SocketFailed, check, counts_of, ffi, fill_in, lib

OK, PENDING = CONSTANTS["SOCKET_OK"], CONSTANTS["SOCKET_PENDING"]
ANY = CONSTANTS["SOCKET_ANY"]
_TYPES = {"stream": CONSTANTS["SOCKET_STREAM"], "datagram": CONSTANTS["SOCKET_DATAGRAM"]}
_PIECE_S = 0.1  # of a wait; Python handles signals in between


class EndOfStream(EOFError):
    """The sender has closed, and all data was received."""


def _in_pieces(call, timeout):
    """Repeats call(milliseconds) until it succeeds, fails or `timeout` elapses. Returns its result."""
    endless = timeout is None or math.isinf(timeout)
    until = None if endless else time.monotonic() + timeout
    while True:
        left = _PIECE_S if endless else min(max(until - time.monotonic(), 0), _PIECE_S)
        result = call(math.ceil(left * 1000))
        is_over = not endless and time.monotonic() >= until
        if result not in (-errno.ETIMEDOUT, -errno.EAGAIN) or is_over:
            return result


class Sending:
    """A started send operation."""

    def __init__(self, octets):
        self._kept = octets  # buffer that the library reads until it is pushed
        self._result = ffi.new("suede_socket_result *")

    @property
    def status(self):
        return self._result.status

    @property
    def pushed_bytes(self):
        return self._result.pushed_bytes

    def done(self):
        """Returns whether the operation is complete: received by all targets, or failed."""
        return self._result.status != PENDING


class Socket:
    """One end of a socket, opened by Sockets.sender or Sockets.receiver."""

    def __init__(self, sockets, pointer):
        self._sockets = sockets
        self._pointer = pointer
        self._open = []  # incomplete operations

    def _handle(self):
        if self._pointer is None or self._sockets._pointer is None:
            raise ValueError("the Socket is closed")
        return self._pointer

    def _check(self, result):
        if result == -errno.EIO:
            raise SocketFailed(self.status)
        if result in (-errno.ETIMEDOUT, -errno.EAGAIN):
            raise TimeoutError(ffi.string(lib.suede_mem_error_text()).decode())
        return check(result)

    @property
    def status(self):
        return lib.suede_socket_status(self._handle())

    def peer_status(self, index=0):
        return lib.suede_socket_peer_status(self._handle(), index)

    def connect(self, timeout=None):
        """Waits until the peer, or each target, has opened its side."""
        pointer = self._handle()
        self._check(_in_pieces(lambda ms: lib.suede_socket_connect(pointer, ms), timeout))

    def send(self, data, timeout=None):
        """Blocks until the data is pushed. A TimeoutError has the number pushed as `pushed_bytes`."""
        octets = ffi.from_buffer(data)
        pushed = ffi.new("uint64_t *")
        milliseconds = -1 if timeout is None or math.isinf(timeout) else math.ceil(timeout * 1000)
        result = lib.suede_socket_send(self._handle(), octets, len(octets), milliseconds, pushed)
        if result == -errno.EIO:
            raise SocketFailed(self.status or CONSTANTS["SOCKET_TIMED_OUT"])
        try:
            self._check(result)
        except TimeoutError as error:
            error.pushed_bytes = pushed[0]
            raise

    def start_send(self, data, deadline=None):
        """Starts to send. Returns the operation."""
        sending = Sending(ffi.from_buffer(data))
        milliseconds = 0 if deadline is None or math.isinf(deadline) else max(
            math.ceil(deadline * 1000), 1)
        self._check(lib.suede_socket_start_send(self._handle(), sending._kept,
                                                len(sending._kept), milliseconds,
                                                sending._result))
        self._open = [each for each in self._open if not each.done()] + [sending]
        return sending

    def drain(self, timeout=None):
        """Waits until all targets have received everything."""
        pointer = self._handle()
        result = _in_pieces(lambda ms: lib.suede_socket_drain(pointer, ms), timeout)
        if result == -errno.EIO:
            text = ffi.string(lib.suede_mem_error_text()).decode()
            raise SocketFailed(CONSTANTS.get(f"SOCKET_{text}", self.status))
        self._check(result)

    def receive_into(self, room, timeout=None):
        """Receives stream data or a datagram into a writable buffer. Returns its length; raises EndOfStream."""
        octets = ffi.from_buffer(room, require_writable=True)
        pointer = self._handle()
        result = _in_pieces(
            lambda ms: lib.suede_socket_receive(pointer, octets, len(octets), ms), timeout)
        if result == -errno.ENODATA:
            raise EndOfStream("the sender has closed")
        return self._check(result)

    def receive(self, most=65536, timeout=None):
        """Receives stream data or a datagram of up to `most` bytes. Returns it as bytes."""
        room = bytearray(most)
        return bytes(room[:self.receive_into(room, timeout)])

    def receive_exactly(self, count, timeout=None):
        """Receives exactly `count` bytes of a stream."""
        room = bytearray(count)
        view = memoryview(room)
        done = 0
        while done < count:
            done += self.receive_into(view[done:], timeout)
        return bytes(room)

    def info(self):
        return counts_of("suede_socket_info", lib.suede_socket_get_info, self._handle())

    def close(self, timeout=None):
        """Closes. A sender waits until all targets have received everything; a timeout of 0 aborts."""
        if self._pointer is None or self._sockets._pointer is None:
            return
        pointer, self._pointer = self._pointer, None
        self._sockets._sockets.discard(self)
        status = ffi.new("uint32_t *")
        endless = timeout is None or math.isinf(timeout)
        result = lib.suede_socket_close(pointer, -1 if endless else math.ceil(timeout * 1000),
                                        status)
        self._open.clear()
        if result == -errno.EIO:
            raise SocketFailed(status[0])
        if result == -errno.ETIMEDOUT and timeout != 0:
            raise TimeoutError("not all targets know the end")

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.close(None if kind is None else 0)


class Sockets(Handle):
    """The sockets of a program. `thread`: a background thread serves them."""

    _close_call = lib.suede_sockets_close

    def __init__(self, endpoint, planes=(), thread=True, **params):
        self._sockets = set()
        self._opened("suede_sockets", lib.suede_sockets_open, endpoint,
                     fill_in("suede_sockets_params", planes, params))
        if thread:
            check(lib.suede_sockets_start(self._handle()))

    def _let_go(self):
        for socket in self._sockets:
            socket._pointer = None
            socket._open.clear()
        self._sockets.clear()

    @property
    def xpuid(self):
        return lib.suede_sockets_xpuid(self._handle())

    def _socket(self, direction, peers, number, epoch, kind, private, fields):
        params = ffi.new("suede_socket_params *")
        params.size = ffi.sizeof("suede_socket_params")
        params.id, params.epoch = number, epoch
        params.type, params.direction = _TYPES[kind], CONSTANTS[f"SOCKET_{direction}"]
        params.flags = CONSTANTS["SOCKET_PRIVATE"] if private else 0
        params.plane = params.vc = CONSTANTS["AUTO"]
        if isinstance(peers, int):
            params.peer = peers
        else:
            targets = ffi.new("uint16_t[]", list(peers))
            params.targets, params.target_count = targets, len(targets)
        for name, value in fields.items():
            setattr(params, name, value)
        pointer = ffi.new("suede_socket **")
        check(lib.suede_socket_open(self._handle(), params, pointer))
        socket = Socket(self, pointer[0])
        self._sockets.add(socket)
        return socket

    def sender(self, peers, number, epoch=0, kind="stream", private=False, **fields):
        """Opens a socket that sends to an XPU, or to each of a list. `fields`: other fields of suede_socket_params."""
        return self._socket("SEND", peers, number, epoch, kind, private, fields)

    def receiver(self, peer, number, epoch=0, kind="stream", private=False, **fields):
        """Opens a socket that receives from an XPU, or from suede.ANY."""
        return self._socket("RECEIVE", peer, number, epoch, kind, private, fields)

    def poll(self):
        """Sends and receives for all sockets without waiting."""
        check(lib.suede_sockets_poll(self._handle()))

    def reconnect(self):
        check(lib.suede_sockets_reconnect(self._handle()))

    def counts(self):
        return counts_of("suede_sockets_counts", lib.suede_sockets_get_counts, self._handle())
