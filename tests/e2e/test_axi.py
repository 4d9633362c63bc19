# SPDX-License-Identifier: Apache-2.0
"""AXI4 between two daemons (docs/axi.md): XPU 0 reads and writes the memory of XPU 1."""

import contextlib
import ctypes
import errno
import secrets
import time

import pytest

import axi
import client
import e2e
import memory
from axi import ReadBeat, WriteResponse, run_until
from test_memory_lcore import with_second_instances

ROUTES = [(0, 0xffff, 1), (0x10000, 0x1ffff, 9)]  # no peer is XPU 9


@contextlib.contextmanager
def pair(changes=None, **params):
    """Yields (port pair of XPU 0, memory of XPU 1, left, right) over two daemons that know each other."""
    with e2e.memif_pair(changes) as (_, left, right):
        client.settle(left, right)
        with axi.Axi(left.socket, ROUTES, **params) as near, axi.Axi(right.socket, **params) as far:
            near.peer = far
            yield near, axi.Memory(far), left, right


def read(near, parts, beats):
    """Takes a read's beats: their octets, and the set of their responses."""
    taken = []
    run_until(lambda: (beat := near.take("r", ReadBeat)) and (taken.append(beat) or beat.last), *parts)
    assert len(taken) == beats and all(beat.last == (number == beats) for number, beat in enumerate(taken, 1))
    return b"".join(bytes(beat.data[:axi.Axi.BUS]) for beat in taken), {beat.response for beat in taken}


def write(near, parts, address, data, **fields):
    """Writes and returns the response."""
    near.send_write(address, data, **fields)
    return run_until(lambda: near.take("b", WriteResponse), *parts).response


def test_writes_and_reads():
    with pair() as (near, soc, _, _):
        parts = (near, soc.axi, soc)
        for number, beats in enumerate((1, 2, 8, 9, 16, 32)):
            data = secrets.token_bytes(beats * axi.Axi.BUS)
            near.send_write(4096 * number, data, id=number)
            response = run_until(lambda: near.take("b", WriteResponse), *parts)
            assert (response.id, response.response) == (number, axi.OKAY)
            assert soc.octets[4096 * number:][:len(data)] == data
            near.send_read(4096 * number, beats, id=number + 100)
            assert read(near, parts, beats) == (data, {axi.OKAY})
        # A burst of 4 KiB goes through channels of fewer places.
        near.send_read(0, 128)
        assert read(near, parts, 128)[0] == soc.octets[:4096]
        assert near.ended() == {axi.OK: 13}
        assert soc.axi.counters().served_writes == 6 and soc.axi.counters().served_reads == 7


def test_what_leads_nowhere_ends():
    with pair() as (near, soc, _, _):
        parts = (near, soc.axi, soc)
        near.send_read(0x20000, 4)
        assert read(near, parts, 4) == (bytes(128), {axi.DECERR})
        near.send_read(0x10000, 4)
        assert read(near, parts, 4) == (bytes(128), {axi.DECERR})
        near.send_write(0xff0, bytes(64))  # crosses a boundary of 4 KiB
        assert run_until(lambda: near.take("b", WriteResponse), *parts).response == axi.SLVERR
        assert near.ended() == {axi.NO_ROUTE: 1, axi.UNREACHABLE: 1, axi.INVALID: 1}


def test_a_target_that_does_not_answer():
    with pair(deadline_ms=200) as (near, soc, _, _):
        parts = (near, soc.axi, soc)
        soc.stopped = True
        near.send_read(0, 2)
        near.send_write(0, bytes(512))
        assert read(near, parts, 2) == (bytes(64), {axi.SLVERR})
        assert run_until(lambda: near.take("b", WriteResponse), *parts).response == axi.SLVERR
        assert near.ended() == {axi.TIMED_OUT: 2}
        # Late answers find no transaction. The port goes on.
        soc.stopped = False
        run_until(lambda: near.counters().stray >= 2, *parts)
        near.send_read(0, 2)
        assert read(near, parts, 2) == (bytes(64), {axi.OKAY})


def test_a_stopped_program_does_not_cost_its_transactions():
    """The time in which it does not poll hardly counts."""
    with pair(deadline_ms=200) as (near, soc, _, _):
        parts = (near, soc.axi, soc)
        soc.stopped = True
        near.send_read(0, 2)
        run_until(lambda: soc.axi.counters().served_reads == 1, *parts)
        time.sleep(0.5)
        soc.stopped = False
        assert read(near, parts, 2) == (bytes(64), {axi.OKAY})


def test_a_reset_at_either_end():
    with pair() as (near, soc, _, _):
        parts = (near, soc.axi, soc)
        soc.stopped = True
        near.send_read(0, 2, id=1)
        near.send_write(0, bytes(512), id=2)
        run_until(lambda: soc.axi.counters().served_writes + soc.axi.counters().served_reads == 2, *parts)
        soc.axi.call("reset_manager", 1)
        assert read(near, parts, 2) == (bytes(64), {axi.SLVERR})
        assert run_until(lambda: near.take("b", WriteResponse), *parts).response == axi.SLVERR
        assert near.ended() == {axi.RESET: 2}
        soc.axi.call("reset_manager", 0)
        near.send_read(0, 2, id=1)
        run_until(lambda: soc.axi.counters().served_reads == 2, *parts)
        near.call("reset_subordinate")
        soc.stopped = False
        run_until(lambda: near.counters().stray == 1, *parts)
        assert near.take("r", ReadBeat) is None and near.counters().abandoned == 1
        near.send_read(0, 2, id=1)
        assert read(near, parts, 2) == (bytes(64), {axi.OKAY})


def test_two_interfaces(directory):
    """Addresses lead to interfaces; each transaction is answered on its own."""
    configs = {side: with_second_instances(e2e.endpoint_config(directory, side, e2e.memif_device(directory, role)))
               for side, role in (("left", "server"), ("right", "client"))}
    with e2e.daemons(e2e.Daemon(directory, configs["left"]), e2e.Daemon(directory, configs["right"])) as (left, right):
        for daemon in (left, right):
            daemon.wait_for_link()
        routes = [(0, 0x7fff, 1, 0), (0x8000, 0xffff, 1, 1)]
        with axi.Axi(left.socket, routes, [(0, 0), (0, 1)]) as near, \
                axi.Axi(right.socket, interfaces=[(1, 0), (1, 1)]) as far:
            parts = (near, far, soc := axi.Memory(far))
            # Commands of the first moments may be lost while the endpoints learn of each other.
            e2e.wait_until(lambda: [write(near, parts, at, bytes(32)) for at in (0, 0x8000)] == [axi.OKAY] * 2,
                           e2e.START_S, "both interfaces")
            for number in range(40):
                at = (number % 2) * 0x8000 + number * 64
                data = secrets.token_bytes(512)
                assert write(near, parts, at, data, id=number % 3) == axi.OKAY
                assert soc.octets[at:at + 512] == data
                near.send_read(at, 16, id=number % 3)
                assert read(near, parts, 16) == (data, {axi.OKAY})
            right.kill()
            near.send_read(0, 1)
            assert read(near, parts, 1)[1] <= {axi.SLVERR, axi.DECERR}


def test_a_killed_daemon():
    with pair() as (near, soc, left, _):
        parts = (near, soc.axi, soc)
        soc.stopped = True
        near.send_read(0, 2)
        run_until(lambda: soc.axi.counters().served_reads == 1, *parts)
        left.kill()
        assert read(near, parts, 2) == (bytes(64), {axi.SLVERR})
        near.send_read(0, 2)
        assert read(near, parts, 2) == (bytes(64), {axi.DECERR})
        assert near.ended() == {axi.IN_DOUBT: 1, axi.UNREACHABLE: 1}
        assert near.poll() == -errno.ECONNRESET and "gone" in near.error()


@pytest.mark.parametrize("params, text", [
    ({"bus_bytes": 24}, "bus_bytes"), ({"transactions": 100}, "power of 2"), ({"request_vc": 2, "answer_vc": 2}, "two VCs"),
    ({"transactions": 16, "transactions_to_target": 17}, "transactions_to_target"), ({"beat_places": 1000}, "places")])
def test_wrong_parameters(params, text):
    with pytest.raises(OSError, match=text):
        axi.Axi("/no/such/socket", **params)


def test_a_window_of_memory_operations():
    """AXI4 and memory operations reach the same octets, on different VCs."""
    with pair(request_vc=2, answer_vc=3) as (near, _, left, right), \
            memory.Target(right.socket, True) as target, memory.Memory(left.socket) as mem:
        window, _ = target.add(1, 65536)
        far = near.peer

        class Window:
            @staticmethod
            def serve():
                far.call("serve_memory", window, ctypes.c_uint64(65536), 64)

        data = secrets.token_bytes(1024)
        near.send_write(2048, data)
        assert run_until(lambda: near.take("b", WriteResponse), near, far, Window).response == axi.OKAY
        assert mem.octets(mem.get(1, 1, 2048, 1024)) == data
        assert mem.wait(mem.put(1, 1, 4096, data[::-1])) == memory.OK
        near.send_read(4096, 32)
        assert read(near, (near, far, Window), 32) == (data[::-1], {axi.OKAY})
        near.send_read(0xfff0 - 16, 1)
        assert read(near, (near, far, Window), 1)[1] == {axi.OKAY}


def test_example():
    with e2e.memif_pair() as (directory, left, right):
        program = e2e.BUILD / "docs/examples/axi_c"
        with e2e.Process(directory, "a", [program, left.socket, 1, 200, 30]) as a, \
                e2e.Process(directory, "b", [program, right.socket, 0, 200, 30]) as b:
            for process in (a, b):
                process.expect(0, e2e.START_S)
                assert "200 bursts written and read back" in process.stdout()
