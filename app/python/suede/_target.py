# SPDX-License-Identifier: Apache-2.0
"""Targets: windows of memory that serve the requests of other XPUs."""

import collections
import fcntl
import math
import mmap
import os

import numpy

from ._library import CONSTANTS, Handle, check, counts_of, ffi, fill_in, lib

Notice = collections.namedtuple("Notice", "source_xpuid window offset bytes immediate")
Window = collections.namedtuple("Window", "id array key")
ALL_RIGHTS = (CONSTANTS["RIGHT_READ"] | CONSTANTS["RIGHT_WRITE"] | CONSTANTS["RIGHT_ATOMIC"])
DRAWN = "drawn"


class Target(Handle):
    """A target. Thread-safe. Once closed it serves no requests, and the arrays of its windows keep their contents."""

    _close_call = lib.suede_mem_target_close

    def __init__(self, endpoint, planes=(), **params):
        self._windows = {}  # memory of windows by id
        self._opened("suede_mem_target", lib.suede_mem_target_open, endpoint,
                     fill_in("suede_mem_target_params", planes, params))

    def _let_go(self):
        self._windows.clear()

    def window(self, number, array, *, rights=ALL_RIGHTS, key=0, partition=-1):
        """Adds a window on a numpy array, or another writable buffer of 8 bytes or more that is aligned
        to 8. `key`: a number, 0 for none, or suede.DRAWN for a random one. Returns the Window."""
        if isinstance(array, numpy.ndarray) and not array.flags.c_contiguous:
            raise ValueError("the array is not C-contiguous")
        octets = ffi.from_buffer(array, require_writable=True)
        drawn = self._add(number, key, octets, rights=rights, partition=partition,
                          bytes=len(octets), base=octets)
        return Window(number, array, drawn)

    def lcore_window(self, number, shape, dtype=numpy.uint8, *, rights=ALL_RIGHTS, key=0, partition=-1):
        """Adds a window on a new array. The daemon's lcore executes its requests, without a thread or calls
        of this process. `key` as of `window`. Returns the Window."""
        octets = math.prod(numpy.atleast_1d(shape).tolist()) * numpy.dtype(dtype).itemsize
        fd = os.memfd_create("suede-window", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(fd, octets)
            fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
            array = numpy.frombuffer(mmap.mmap(fd, octets), dtype).reshape(shape)
            drawn = self._add(number, key, array, rights=rights, partition=partition, bytes=octets,
                              fd=fd, flags=CONSTANTS["SERVED_BY_LCORE"])
        finally:
            os.close(fd)
        return Window(number, array, drawn)

    def _add(self, number, key, memory, **fields):
        """Adds a window, and keeps its memory until it is removed. Returns its key."""
        window = ffi.new("suede_mem_window *", {
            "size": ffi.sizeof("suede_mem_window"), "id": number, **fields})
        if key == DRAWN:
            window.flags |= CONSTANTS["DRAW_KEY"]
        else:
            window.key = key
        check(lib.suede_mem_target_add_window(self._handle(), window))
        self._windows[number] = memory
        return window.key

    def remove(self, number):
        """Removes a window. Requests do not access its memory once this returns."""
        check(lib.suede_mem_target_remove_window(self._handle(), number))
        del self._windows[number]

    def start(self):
        """Starts a thread that serves requests."""
        check(lib.suede_mem_target_start(self._handle()))

    def stop(self):
        check(lib.suede_mem_target_stop(self._handle()))

    def serve(self, most=1024):
        """Executes received requests. Returns their number."""
        return check(lib.suede_mem_target_serve(self._handle(), most))

    def wait(self, timeout=None):
        """Waits for requests. Returns whether there are any."""
        endless = timeout is None or math.isinf(timeout)
        milliseconds = -1 if endless else max(math.ceil(timeout * 1000), 0)
        return check(lib.suede_mem_target_wait(self._handle(), milliseconds)) == 1

    def notices(self, most=64):
        """Returns up to `most` notices of puts with immediate, the oldest first."""
        room = ffi.new("suede_mem_notice[]", most)
        count = check(lib.suede_mem_target_take(self._handle(), room, most))
        return [Notice(*(getattr(room[i], name) for name in Notice._fields)) for i in range(count)]

    def reconnect(self):
        check(lib.suede_mem_target_reconnect(self._handle()))

    def counts(self):
        return counts_of("suede_mem_target_counts", lib.suede_mem_target_get_counts,
                         self._handle())
