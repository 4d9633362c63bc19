# SPDX-License-Identifier: Apache-2.0
"""AXI4 ports of libsuede-axi through ctypes (include/suede/axi.h)."""

import ctypes
import time

import client
import e2e

OKAY, EXOKAY, SLVERR, DECERR = range(4)
FIXED, INCR, WRAP = range(3)
OK, BUSY, MALFORMED, RESET = 0, 16, 17, 18
UNREACHABLE, IN_DOUBT, TIMED_OUT, NO_ROUTE, INVALID = range(32, 37)


class Address(ctypes.Structure):
    _fields_ = [("address", ctypes.c_uint64), ("user", ctypes.c_uint64 * 2), ("id", ctypes.c_uint32)] + [
        (name, ctypes.c_uint8) for name in ("len", "size", "burst", "lock", "cache", "prot", "qos", "region")] + [
        ("reserved", ctypes.c_uint8 * 4)]


class WriteBeat(ctypes.Structure):
    _fields_ = [("data", ctypes.c_uint8 * 128), ("strobes", ctypes.c_uint64 * 2), ("user", ctypes.c_uint32),
                ("last", ctypes.c_uint8), ("reserved", ctypes.c_uint8 * 3)]


class WriteResponse(ctypes.Structure):
    _fields_ = [("user", ctypes.c_uint64 * 2), ("id", ctypes.c_uint32), ("response", ctypes.c_uint8),
                ("reserved", ctypes.c_uint8 * 3)]


class ReadBeat(ctypes.Structure):
    _fields_ = [("data", ctypes.c_uint8 * 128), ("id", ctypes.c_uint32), ("user", ctypes.c_uint32),
                ("response", ctypes.c_uint8), ("last", ctypes.c_uint8), ("reserved", ctypes.c_uint8 * 2)]


class Route(ctypes.Structure):
    _fields_ = [("first", ctypes.c_uint64), ("last", ctypes.c_uint64), ("remote_base", ctypes.c_uint64),
                ("xpuid", ctypes.c_uint16), ("interface", ctypes.c_uint8), ("by", ctypes.c_uint8),
                ("reserved", ctypes.c_uint32)]


class Params(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in (
        "size", "bus_bytes", "interface_count", "route_count", "timeout_ms", "deadline_ms", "transactions",
        "transactions_to_target", "manager_transactions", "transactions_per_source", "manager_ids",
        "address_places", "beat_places", "write_user_bytes", "read_user_bytes")] + [
        (name, ctypes.c_uint8) for name in ("exclusive", "unordered", "request_vc", "answer_vc")] + [
        ("reserved", ctypes.c_uint32), ("interfaces", ctypes.POINTER(client.Instance)),
        ("routes", ctypes.POINTER(Route))]


class Counters(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("reserved", ctypes.c_uint32), ("writes", ctypes.c_uint64),
                ("reads", ctypes.c_uint64), ("ended", ctypes.c_uint64 * 37)] + [
        (name, ctypes.c_uint64) for name in (
            "stray", "abandoned", "served_writes", "served_reads", "served_bytes", "busy", "dropped", "reset", "expired",
            "truncated", "exclusive_failed", "unexpected", "malformed", "foreign")]


def burst(address, beats=1, size=5, **fields):
    return Address(address=address, len=beats - 1, size=size, **{"burst": INCR, **fields})


class Axi:
    """A port pair. Routes are tuples (first, last, XPU[, interface]), interfaces (XPU, instance)."""

    BUS = 32

    def __init__(self, socket, routes=(), interfaces=(), **params):
        self._library = ctypes.CDLL(str(e2e.BUILD / "app/libsuede-axi/libsuede-axi.so.1"))
        self._library.suede_axi_error_text.restype = ctypes.c_char_p
        self._axi = ctypes.c_void_p()
        table = (Route * max(len(routes), 1))(*[
            Route(first=first, last=last, xpuid=xpuid, remote_base=first, interface=interface[0] if interface else 0)
            for first, last, xpuid, *interface in routes])
        own = (client.Instance * 16)(*[client.Instance(xpuid=xpuid, instance=instance) for xpuid, instance in interfaces])
        params = Params(size=ctypes.sizeof(Params), route_count=len(routes), routes=table,
                        interface_count=len(interfaces), interfaces=own, **params)
        error = self._library.suede_axi_open(str(socket).encode(), ctypes.byref(params), ctypes.byref(self._axi))
        if error != 0:
            raise OSError(-error, self.error())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._library.suede_axi_close(self._axi)

    def error(self):
        return self._library.suede_axi_error_text().decode()

    def call(self, name, *arguments):
        return getattr(self._library, f"suede_axi_{name}")(self._axi, *arguments)

    def poll(self):
        return self.call("poll")

    def send(self, channel, transfer):
        return self.call(f"send_{channel}", ctypes.byref(transfer))

    def take(self, channel, kind):
        """The next transfer of a channel; None: it is empty."""
        transfer = kind()
        return transfer if self.call(f"take_{channel}", ctypes.byref(transfer)) == 1 else None

    def counters(self):
        counters = Counters(size=ctypes.sizeof(Counters))
        assert self.call("get_counters", ctypes.byref(counters)) == 0
        return counters

    def ended(self):
        """Numbers of transactions by status, without those of none."""
        return {status: count for status, count in enumerate(self.counters().ended) if count}

    def send_write(self, address, data, **fields):
        """Sends a write of whole beats."""
        beats = len(data) // self.BUS
        assert self.send("aw", burst(address, beats, **fields)) == 0
        for beat in range(beats):
            octets = data[beat * self.BUS:(beat + 1) * self.BUS]
            transfer = WriteBeat(strobes=(ctypes.c_uint64 * 2)((1 << self.BUS) - 1, 0), last=beat + 1 == beats)
            transfer.data[:self.BUS] = octets
            assert self.send("w", transfer) == 0

    def send_read(self, address, beats, **fields):
        assert self.send("ar", burst(address, beats, **fields)) == 0


class Memory:
    """The subordinate of a SoC: executes what a port pair issues, in order."""

    def __init__(self, axi, count=65536):
        self.axi = axi
        self.octets = bytearray(count)
        self.stopped = False  # takes transfers, but does not answer
        self._write = None

    def serve(self):
        if self.stopped:
            return
        if self._write is None:
            self._write = self.axi.take("aw", Address)
            self._at = self._write.address if self._write else 0
        while self._write is not None and (beat := self.axi.take("w", WriteBeat)) is not None:
            for lane in range(Axi.BUS):
                if beat.strobes[0] >> lane & 1:
                    self.octets[self._at + lane] = beat.data[lane]
            self._at += Axi.BUS
            if beat.last:
                assert self.axi.send("b", WriteResponse(id=self._write.id)) == 0
                self._write = None
        while (read := self.axi.take("ar", Address)) is not None:
            for beat in range(read.len + 1):
                at = read.address + beat * Axi.BUS
                transfer = ReadBeat(id=read.id, last=beat == read.len)
                transfer.data[:Axi.BUS] = self.octets[at:at + Axi.BUS]
                assert self.axi.send("r", transfer) == 0


def run_until(done, *parts, timeout_s=e2e.START_S):
    """Polls port pairs, serves memories, until done() returns something; returns that."""
    end = time.monotonic() + timeout_s
    while not (result := done()):
        assert time.monotonic() < end, "nothing happens"
        for part in parts:
            part.poll() if isinstance(part, Axi) else part.serve()
    return result
