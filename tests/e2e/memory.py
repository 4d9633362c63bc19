# SPDX-License-Identifier: Apache-2.0
"""libsuede-mem through ctypes (include/suede/mem.h)."""

import ctypes
import time

import client
import e2e

OK, PENDING = 0, 1
NO_WINDOW, KEY, PARTITION, RIGHTS, BOUNDS, ALIGNMENT, MALFORMED, BUSY = range(16, 24)
UNREACHABLE, IN_DOUBT, TIMED_OUT = 32, 33, 34
READ, WRITE, ATOMIC = 1, 2, 4
DRAW_KEY, LCORE = 1, 2
AUTO = -1


class Params(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("plane_count", ctypes.c_uint32),
                ("planes", client.Instance * 16)] + [(name, ctypes.c_uint32) for name in (
                    "timeout_ms", "request_vcs", "response_vcs", "max_requests",
                    "max_requests_to_target", "max_operations", "deadline_ms", "unordered")]


class TargetParams(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("plane_count", ctypes.c_uint32),
                ("planes", client.Instance * 16)] + [(name, ctypes.c_uint32) for name in (
                    "timeout_ms", "request_vcs", "response_places", "notice_places")]


class Result(ctypes.Structure):
    _fields_ = [("status", ctypes.c_uint32), ("plane", ctypes.c_uint8), ("vc", ctypes.c_uint8),
                ("reserved", ctypes.c_uint16), ("value", ctypes.c_uint64)]


class Call(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("xpuid", ctypes.c_uint16), ("window", ctypes.c_uint16),
                ("offset", ctypes.c_uint64), ("key", ctypes.c_uint32), ("plane", ctypes.c_int8),
                ("vc", ctypes.c_int8), ("counter", ctypes.c_uint8), ("reserved", ctypes.c_uint8),
                ("deadline_ms", ctypes.c_uint32), ("reserved2", ctypes.c_uint32),
                ("result", ctypes.POINTER(Result)), ("handle", ctypes.POINTER(ctypes.c_uint64))]


class Mesh(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32)] + [(name, ctypes.c_uint16) for name in (
        "first_xpuid", "columns", "rows", "east", "west", "north", "south")]


class Failures(ctypes.Structure):
    _fields_ = [("count", ctypes.c_uint32), ("status", ctypes.c_uint32)]


class Window(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("id", ctypes.c_uint16), ("reserved", ctypes.c_uint16),
                ("rights", ctypes.c_uint32), ("flags", ctypes.c_uint32), ("key", ctypes.c_uint32),
                ("partition", ctypes.c_int32), ("bytes", ctypes.c_uint64),
                ("base", ctypes.c_void_p), ("fd", ctypes.c_int32), ("reserved2", ctypes.c_uint32),
                ("fd_offset", ctypes.c_uint64)]


class Notice(ctypes.Structure):
    _fields_ = [("source_xpuid", ctypes.c_uint16), ("window", ctypes.c_uint16),
                ("bytes", ctypes.c_uint32), ("offset", ctypes.c_uint64),
                ("immediate", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]


class TargetCounts(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("reserved", ctypes.c_uint32)] + [
        (name, ctypes.c_uint64) for name in ("puts", "puts_with_immediate", "gets", "atomics",
                                             "written_bytes", "read_bytes")] + [
        ("refused", ctypes.c_uint64 * 8)] + [
        (name, ctypes.c_uint64) for name in ("dropped", "foreign_commands", "waited")]


def get_request(number, window, offset, count, key=0):
    """The control of a get, by docs/memory.md."""
    return (bytes([0x89, count - 1, 0x31]) + (number & 0xffffffff).to_bytes(4, "big") +
            window.to_bytes(2, "big") + key.to_bytes(4, "big") + offset.to_bytes(5, "big"))


def _library():
    library = ctypes.CDLL(str(e2e.BUILD / "app/libsuede-mem/libsuede-mem.so.1"))
    library.suede_mem_error_text.restype = ctypes.c_char_p
    library.suede_mem_xpuid.restype = ctypes.c_uint16
    for name in ("suede_mem_close", "suede_mem_flush", "suede_mem_target_close"):
        getattr(library, name).restype = None
    return library


def _fill_in(params, planes):
    params.size = ctypes.sizeof(params)
    params.plane_count = len(planes)
    for place, (xpuid, instance) in enumerate(planes):
        params.planes[place] = client.Instance(xpuid=xpuid, instance=instance)
    return params


class Memory:
    """An initiator. Calls that start operations return the result, which is pending then; errors
    are negative errno values, as in C."""

    def __init__(self, socket, planes=(), **params):
        self._library = _library()
        self._mem = ctypes.c_void_p()
        self._open = []  # what the library may still write to
        params = _fill_in(Params(**params), planes)
        error = self._library.suede_mem_open(str(socket).encode(), ctypes.byref(params),
                                             ctypes.byref(self._mem))
        if error != 0:
            raise OSError(-error, self.error())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._library.suede_mem_close(self._mem)

    def error(self):
        return self._library.suede_mem_error_text().decode()

    def start(self, name, xpuid, window, offset, *arguments, **fields):
        """Starts suede_mem_NAME; `fields`: more of suede_mem_call."""
        result = Result()
        fields = {"plane": AUTO, "vc": AUTO, **fields}
        call = Call(size=ctypes.sizeof(Call), xpuid=xpuid, window=window, offset=offset,
                    result=ctypes.pointer(result), **fields)
        error = getattr(self._library, f"suede_mem_{name}")(self._mem, ctypes.byref(call),
                                                            *arguments)
        if error != 0:
            return error
        self._open = [each for each in self._open if each.status == PENDING
                      ] if len(self._open) > 10000 else self._open
        self._open.append(result)
        return result

    def put(self, xpuid, window, offset, data, **fields):
        result = self.start("put", xpuid, window, offset, data, ctypes.c_uint64(len(data)),
                            **fields)
        if isinstance(result, Result):
            result.data = data  # lives until the end of the operation
        return result

    def put_immediate(self, xpuid, window, offset, data, immediate, **fields):
        result = self.start("put_immediate", xpuid, window, offset, data,
                            ctypes.c_uint64(len(data)), ctypes.c_uint32(immediate), **fields)
        if isinstance(result, Result):
            result.data = data
        return result

    def put_many(self, xpuids, window, offset, data, **fields):
        result = self.start("put_many", 0, window, offset,
                            (ctypes.c_uint16 * len(xpuids))(*xpuids), ctypes.c_uint32(len(xpuids)),
                            data, ctypes.c_uint64(len(data)), **fields)
        if isinstance(result, Result):
            result.data = data
        return result

    def put_mesh(self, origin, mesh, window, offset, data, **fields):
        mesh.size = ctypes.sizeof(Mesh)
        result = self.start("put_mesh", origin, window, offset, ctypes.byref(mesh), data,
                            ctypes.c_uint64(len(data)), **fields)
        if isinstance(result, Result):
            result.data = data
        return result

    def get(self, xpuid, window, offset, count, **fields):
        room = ctypes.create_string_buffer(count)
        result = self.start("get", xpuid, window, offset, room, ctypes.c_uint64(count), **fields)
        if isinstance(result, Result):
            result.room = room
        return result

    def atomic(self, name, xpuid, window, offset, bits, *operands, boundary=None, **fields):
        arguments = [ctypes.c_uint32(bits), *(ctypes.c_uint64(each) for each in operands)]
        if boundary is not None:
            arguments.append(ctypes.c_uint32(boundary))
        return self.start(name, xpuid, window, offset, *arguments, **fields)

    def poll(self):
        return self._library.suede_mem_poll(self._mem)

    def wait(self, result, seconds=e2e.START_S):
        """Polls until the operation is complete; its status."""
        assert isinstance(result, Result), (result, self.error())
        deadline = time.monotonic() + seconds
        while result.status == PENDING:
            self.poll()
            assert time.monotonic() < deadline, "an operation is not complete in time"
            if result.status == PENDING:
                time.sleep(0.0001)  # the lcores share the CPUs with this process
        return result.status

    def value(self, result):
        assert self.wait(result) == OK, result.status
        return result.value

    def octets(self, result):
        assert self.wait(result) == OK, result.status
        return result.room.raw

    def pending(self, counter, kinds=3):
        return self._library.suede_mem_pending(self._mem, ctypes.c_uint32(counter),
                                               ctypes.c_uint32(kinds))

    def barrier(self, kind, counter=0, timeout_ms=30000):
        """(result, failures)"""
        failures = Failures()
        result = getattr(self._library, f"suede_mem_{kind}_barrier")(
            self._mem, ctypes.c_uint32(counter), ctypes.c_int(timeout_ms), ctypes.byref(failures))
        return result, failures

    def reconnect(self):
        return self._library.suede_mem_reconnect(self._mem)


class Target:
    """A target; `thread`: it serves by itself."""

    def __init__(self, socket, thread=True, planes=(), **params):
        self._library = _library()
        self._target = ctypes.c_void_p()
        self._windows = {}  # their memory
        params = _fill_in(TargetParams(**params), planes)
        error = self._library.suede_mem_target_open(str(socket).encode(), ctypes.byref(params),
                                                    ctypes.byref(self._target))
        if error != 0:
            raise OSError(-error, self.error())
        if thread:
            assert self._library.suede_mem_target_start(self._target) == 0, self.error()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._library.suede_mem_target_close(self._target)
        self._target = None

    def error(self):
        return self._library.suede_mem_error_text().decode()

    def add(self, number, count=4096, rights=READ | WRITE | ATOMIC, fd=None, memory=None, **fields):
        """A window over new memory, or of a descriptor: (memory, key), or a negative errno."""
        window = Window(size=ctypes.sizeof(Window), id=number, rights=rights, partition=-1,
                        bytes=count)
        for name, value in fields.items():
            setattr(window, name, value)
        if fd is None:
            if memory is None:
                words = (ctypes.c_uint64 * ((count + 7) // 8))()
                memory = (ctypes.c_char * count).from_buffer(words)
            window.base = ctypes.addressof(memory)
        else:
            window.fd = fd
        error = self._library.suede_mem_target_add_window(self._target, ctypes.byref(window))
        if error != 0:
            return error
        self._windows[number] = memory
        return memory, window.key

    def remove(self, number):
        return self._library.suede_mem_target_remove_window(self._target, ctypes.c_uint32(number))

    def serve(self, most=1024):
        return self._library.suede_mem_target_serve(self._target, ctypes.c_uint32(most))

    def wait(self, timeout_ms):
        return self._library.suede_mem_target_wait(self._target, ctypes.c_int(timeout_ms))

    def stop(self):
        return self._library.suede_mem_target_stop(self._target)

    def start(self):
        return self._library.suede_mem_target_start(self._target)

    def reconnect(self):
        return self._library.suede_mem_target_reconnect(self._target)

    def take(self):
        """The notices that there are, as tuples {source, window, offset, bytes, immediate}."""
        room = (Notice * 64)()
        count = self._library.suede_mem_target_take(self._target, room, ctypes.c_uint32(64))
        if count < 0:
            return count
        return [(n.source_xpuid, n.window, n.offset, n.bytes, n.immediate) for n in room[:count]]

    def counts(self):
        counts = TargetCounts(size=ctypes.sizeof(TargetCounts))
        assert self._library.suede_mem_target_get_counts(self._target, ctypes.byref(counts)) == 0
        return counts
