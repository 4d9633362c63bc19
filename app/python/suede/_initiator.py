# SPDX-License-Identifier: Apache-2.0
"""Initiators: operations on the windows of other XPUs."""

import errno
import math
import os
import time

from ._library import CONSTANTS, Handle, OperationFailed, check, counts_of, ffi, fill_in, lib

PENDING, OK = CONSTANTS["PENDING"], CONSTANTS["OK"]
AUTO = CONSTANTS["AUTO"]
_POLLS, _YIELD_S, _SLEEP_S = 64, 0.01, 0.0001  # of wait(): spins, then yields, then sleeps


def _milliseconds(seconds, forever):
    return forever if seconds is None or math.isinf(seconds) else max(math.ceil(seconds * 1000), 0)


class Operation:
    """A started put, get or atomic."""

    def __init__(self, memory, returns, kept):
        self._memory = memory
        self._result = ffi.new("suede_mem_result *")
        self._returns = returns
        self._kept = kept  # buffer that the library accesses until completion

    @property
    def status(self):
        return self._result.status

    @property
    def plane(self):
        return self._result.plane

    @property
    def vc(self):
        return self._result.vc

    def done(self):
        """Returns whether the operation is complete, successfully or not."""
        if self._result.status == PENDING:
            self._memory.poll()
        return self._result.status != PENDING

    def wait(self, timeout=None):
        """Waits for completion. Returns the previous value of an atomic, otherwise None."""
        start = time.monotonic()
        polls = 0
        while not self.done():
            polls += 1
            if polls < _POLLS:
                continue
            waited = time.monotonic() - start
            if timeout is not None and waited >= timeout:
                raise TimeoutError("the operation is not complete yet")
            if waited < _YIELD_S:
                os.sched_yield()
            else:
                time.sleep(_SLEEP_S)
        if self._result.status != OK:
            raise OperationFailed(self._result.status)
        return self._result.value if self._returns else None


class Memory(Handle):
    """An initiator. Not thread-safe. close() abandons operations that are not complete."""

    _close_call = lib.suede_mem_close

    def __init__(self, endpoint, planes=(), **params):
        self._open = set()  # incomplete operations
        self._opened("suede_mem", lib.suede_mem_open, endpoint,
                     fill_in("suede_mem_params", planes, params))

    @property
    def xpuid(self):
        return lib.suede_mem_xpuid(self._handle())

    def _let_go(self):
        self._open.clear()

    def _start(self, function, xpuid, window, arguments, keywords, returns=False, kept=None):
        operation = Operation(self, returns, kept)
        call = ffi.new("suede_mem_call *")
        call.size = ffi.sizeof("suede_mem_call")
        call.xpuid = xpuid
        call.window = window
        call.plane = call.vc = AUTO
        call.result = operation._result
        deadline = keywords.pop("deadline", None)
        if deadline is not None:
            call.deadline_ms = max(_milliseconds(deadline, CONSTANTS["NO_DEADLINE"]), 1)
        for name in ("offset", "key", "plane", "vc", "counter"):
            if name in keywords:
                setattr(call, name, keywords.pop(name))
        if keywords:
            raise TypeError(f"unknown arguments: {', '.join(keywords)}")
        check(function(self._handle(), call, *arguments))
        if operation.status == PENDING:
            self._open.add(operation)
        lib.suede_mem_flush(self._handle())
        return operation

    def put(self, xpuid, window, source, **keywords):
        octets = ffi.from_buffer(source)
        return self._start(lib.suede_mem_put, xpuid, window, (octets, len(octets)), keywords,
                           kept=octets)

    def put_immediate(self, xpuid, window, source, immediate, **keywords):
        octets = ffi.from_buffer(source)
        return self._start(lib.suede_mem_put_immediate, xpuid, window,
                           (octets, len(octets), immediate), keywords, kept=octets)

    def get(self, xpuid, window, room, **keywords):
        octets = ffi.from_buffer(room, require_writable=True)
        return self._start(lib.suede_mem_get, xpuid, window, (octets, len(octets)), keywords,
                           kept=octets)

    def put_many(self, xpuids, window, source, **keywords):
        octets = ffi.from_buffer(source)
        targets = ffi.new("uint16_t[]", list(xpuids))
        return self._start(lib.suede_mem_put_many, 0, window,
                           (targets, len(targets), octets, len(octets)), keywords, kept=octets)

    def put_mesh(self, origin, window, source, *, first_xpuid, columns, rows, east=0, west=0,
                 north=0, south=0, **keywords):
        octets = ffi.from_buffer(source)
        mesh = ffi.new("suede_mem_mesh *", {
            "size": ffi.sizeof("suede_mem_mesh"), "first_xpuid": first_xpuid, "columns": columns,
            "rows": rows, "east": east, "west": west, "north": north, "south": south})
        return self._start(lib.suede_mem_put_mesh, origin, window, (mesh, octets, len(octets)),
                           keywords, kept=octets)

    def fetch_add(self, xpuid, window, amount, bits=64, **keywords):
        return self._atomic(lib.suede_mem_fetch_add, xpuid, window, bits, (amount,), keywords)

    def compare_swap(self, xpuid, window, expected, desired, bits=64, **keywords):
        return self._atomic(lib.suede_mem_compare_swap, xpuid, window, bits, (expected, desired),
                            keywords)

    def swap(self, xpuid, window, value, bits=64, **keywords):
        return self._atomic(lib.suede_mem_swap, xpuid, window, bits, (value,), keywords)

    def increment(self, xpuid, window, amount=1, boundary=None, bits=64, **keywords):
        boundary = bits - 1 if boundary is None else boundary
        return self._start(lib.suede_mem_increment, xpuid, window,
                           (bits, amount % 2**64, boundary), keywords)

    def read_increment(self, xpuid, window, amount=1, boundary=None, bits=64, **keywords):
        boundary = bits - 1 if boundary is None else boundary
        return self._start(lib.suede_mem_read_increment, xpuid, window,
                           (bits, amount % 2**64, boundary), keywords, returns=True)

    def _atomic(self, function, xpuid, window, bits, operands, keywords):
        return self._start(function, xpuid, window,
                           (bits, *(each % 2**64 for each in operands)), keywords, returns=True)

    def poll(self):
        """Sends, receives and completes operations without waiting. Returns the number completed."""
        completed = lib.suede_mem_poll(self._handle())
        if completed != 0:
            self._open = {each for each in self._open if each.status == PENDING}
        return check(completed)

    def pending(self, counter=0, kinds=CONSTANTS["WRITES"] | CONSTANTS["READS"]):
        return check(lib.suede_mem_pending(self._handle(), counter, kinds))

    def write_barrier(self, counter=0, timeout=None):
        self._barrier(lib.suede_mem_write_barrier, counter, timeout)

    def read_barrier(self, counter=0, timeout=None):
        self._barrier(lib.suede_mem_read_barrier, counter, timeout)

    def _barrier(self, function, counter, timeout):
        # Waits in intervals of 0.1 s, so that Python can handle signals.
        until = None if timeout is None else time.monotonic() + timeout
        failures = ffi.new("suede_mem_failures *")
        while True:
            left = 0.1 if until is None else min(max(until - time.monotonic(), 0), 0.1)
            result = function(self._handle(), counter, _milliseconds(left, 0), failures)
            self._open = {each for each in self._open if each.status == PENDING}
            if failures.count != 0:
                raise OperationFailed(failures.status)
            if result == 0:
                return
            if result != -errno.ETIMEDOUT:
                check(result)
            if until is not None and time.monotonic() >= until:
                raise TimeoutError("operations of the barrier are not complete yet")

    def reconnect(self):
        check(lib.suede_mem_reconnect(self._handle()))

    def counts(self):
        return counts_of("suede_mem_counts", lib.suede_mem_get_counts, self._handle())
