# SPDX-License-Identifier: Apache-2.0
"""Memory operations between two daemons (docs/memory.md): XPU 0 is the initiator, XPU 1 the target."""

import contextlib
import errno
import mmap
import os
import random
import secrets
import time

import pytest

import client
import e2e
import memory
from test_failover import two_endpoints


@contextlib.contextmanager
def pair(changes=None, thread=True, **params):
    """Yields (memory of XPU 0, target of XPU 1, left, right) over two daemons that know each other."""
    with e2e.memif_pair(changes) as (_, left, right):
        client.settle(left, right)
        with memory.Target(right.socket, thread) as target, \
                memory.Memory(left.socket, **params) as mem:
            yield mem, target, left, right


@pytest.fixture(scope="module")
def served():
    """A pair whose target a thread serves."""
    with pair() as (mem, target, _, _):
        yield mem, target


def test_put_and_get_of_any_length(served):
    mem, target = served
    window, _ = target.add(1, 1 << 20)
    for count in (0, 1, 7, 8, 255, 256, 257, 4096, 1 << 20):
        data = secrets.token_bytes(count)
        assert mem.wait(mem.put(1, 1, (1 << 20) - count, data)) == memory.OK
        assert window.raw[(1 << 20) - count:] == data
        assert mem.octets(mem.get(1, 1, (1 << 20) - count, count)) == data
    target.remove(1)


def test_many_operations_in_flight(served):
    mem, target = served
    window, _ = target.add(1, 1 << 16)
    before = [mem.put(1, 1, 8 * place, place.to_bytes(8, "little"), counter=3)
              for place in range(4000)]
    assert mem.barrier("write", 3)[0] == 0
    assert mem.pending(3) == 0
    assert {each.status for each in before} == {memory.OK}
    assert window.raw[:32000] == b"".join(place.to_bytes(8, "little") for place in range(4000))
    gets = [mem.get(1, 1, 8 * place, 8, counter=4) for place in range(4000)]
    assert mem.barrier("read", 4)[0] == 0
    assert [int.from_bytes(each.room.raw, "little") for each in gets] == list(range(4000))
    target.remove(1)


@pytest.mark.parametrize("bits", [32, 64])
def test_atomics(served, bits):
    mem, target = served
    window, _ = target.add(1, 64)
    most = (1 << bits) - 1

    def now():
        return int.from_bytes(window.raw[8:8 + bits // 8], "little")

    assert mem.value(mem.atomic("swap", 1, 1, 8, bits, most)) == 0
    assert mem.value(mem.atomic("fetch_add", 1, 1, 8, bits, 6)) == most
    assert now() == 5
    assert mem.value(mem.atomic("compare_swap", 1, 1, 8, bits, 4, 77)) == 5
    assert now() == 5
    assert mem.value(mem.atomic("compare_swap", 1, 1, 8, bits, 5, 77)) == 5
    assert now() == 77
    mem.value(mem.atomic("swap", 1, 1, 8, bits, 30))
    for value in (30, 31, 0, 1):  # counts from 0 to 31
        assert mem.value(mem.atomic("read_increment", 1, 1, 8, bits, 1, boundary=4)) == value
    assert mem.wait(mem.atomic("increment", 1, 1, 8, bits, 31, boundary=4)) == memory.OK
    assert now() == 1
    assert window.raw[:8] == bytes(8) and window.raw[16:] == bytes(48)
    target.remove(1)


def test_refused_requests_touch_nothing_and_say_why(served):
    mem, target = served
    window, key = target.add(1, 64, flags=memory.DRAW_KEY)
    readable, _ = target.add(2, 64, rights=memory.READ)
    before = list(target.counts().refused)
    refused = [
        (mem.put(1, 3, 0, b"x" * 8), memory.NO_WINDOW),
        (mem.put(1, 1, 0, b"x" * 8), memory.KEY),
        (mem.get(1, 1, 0, 8, key=key ^ 1), memory.KEY),
        (mem.put(1, 2, 0, b"x" * 8), memory.RIGHTS),
        (mem.atomic("fetch_add", 1, 2, 0, 64, 1), memory.RIGHTS),
        (mem.put(1, 1, 57, b"x" * 8, key=key), memory.BOUNDS),
        (mem.get(1, 1, 64, 1, key=key), memory.BOUNDS),
        (mem.put(1, 1, (1 << 40) - 8, b"x" * 8, key=key), memory.BOUNDS),
        (mem.atomic("swap", 1, 1, 4, 64, 1, key=key), memory.ALIGNMENT),
        (mem.atomic("increment", 1, 1, 2, 32, 1, boundary=31, key=key), memory.ALIGNMENT),
    ]
    for result, status in refused:
        assert mem.wait(result) == status
    assert window.raw == bytes(64) and readable.raw == bytes(64)
    after = [now - then for now, then in zip(target.counts().refused, before)]
    assert after == [1, 2, 0, 2, 3, 2, 0, 0]
    result, failures = mem.barrier("write")
    assert result == -errno.EIO and failures.count >= 5
    assert mem.barrier("write")[0] == 0, "each failure is told once"
    assert mem.wait(mem.put(1, 1, 56, b"y" * 8, key=key)) == memory.OK
    for number in (1, 2):
        assert target.remove(number) == 0
    assert mem.wait(mem.get(1, 2, 0, 8)) == memory.NO_WINDOW
    assert target.remove(2) == -errno.ENOENT


def test_a_window_with_a_new_key_refuses_the_former_one(served):
    mem, target = served
    window, first = target.add(1, 64, flags=memory.DRAW_KEY)
    target.remove(1)
    window, second = target.add(1, 64, flags=memory.DRAW_KEY, memory=window)
    assert first != second and target.add(1, 64) == -errno.EEXIST
    assert mem.wait(mem.put(1, 1, 0, b"late", key=first)) == memory.KEY
    assert window.raw == bytes(64)
    target.remove(1)


def test_immediates_arrive_behind_their_octets(served):
    mem, target = served
    window, _ = target.add(1, 1 << 16)
    for round_ in range(50):
        count = random.choice((0, 8, 248, 256, 5000))
        data = bytes([round_ + 1]) * count
        result = mem.put_immediate(1, 1, 100, data, round_)
        while not (notices := target.take()):
            mem.poll()
        assert notices == [(0, 1, 100, count, round_)]
        assert window.raw[100:100 + count] == data
        assert mem.wait(result) == memory.OK
    target.remove(1)


def test_many_targets_and_a_mesh(served):
    mem, target = served
    window, _ = target.add(1, 64)
    assert mem.wait(mem.put_many([1, 1], 1, 0, b"both")) == memory.OK
    assert window.raw[:4] == b"both"
    mesh = memory.Mesh(first_xpuid=0, columns=2, rows=1)
    assert mem.wait(mem.put_mesh(1, mesh, 1, 8, b"mesh")) == memory.OK
    assert window.raw[8:12] == b"mesh"
    mesh.west = 2
    assert mem.put_mesh(1, mesh, 1, 8, b"mesh") == -errno.EINVAL
    mesh.west, mesh.south = 0, 1
    assert mem.put_mesh(1, mesh, 1, 8, b"mesh") == -errno.EINVAL
    assert mem.wait(mem.put_many([1, 9], 1, 16, b"nobody")) == memory.UNREACHABLE
    assert window.raw[16:22] == b"nobody", "those that are there have it"
    target.remove(1)


def test_a_window_of_a_descriptor_is_shared(served):
    mem, target = served
    fd = os.memfd_create("window")
    os.ftruncate(fd, 8192)
    assert target.add(1, 8193, fd=fd) == -errno.EINVAL
    assert not isinstance(target.add(1, 4096, fd=fd, fd_offset=4096), int)
    with mmap.mmap(fd, 8192) as view:
        assert mem.wait(mem.put(1, 1, 0, b"through")) == memory.OK
        assert view[4096:4103] == b"through"
        view[4096:4103] = b"changed"
        assert mem.octets(mem.get(1, 1, 0, 7)) == b"changed"
    os.close(fd)
    target.remove(1)


def test_values_of_many_atomics_are_all_different(served):
    mem, target = served
    window, _ = target.add(1, 64)
    results = [mem.atomic("fetch_add", 1, 1, 0, 64, 1, counter=9) for _ in range(2000)]
    assert mem.barrier("read", 9)[0] == 0
    assert [each.value for each in results] == list(range(2000)), "one VC is in order"
    assert int.from_bytes(window.raw[:8], "little") == 2000
    target.remove(1)


def test_without_a_daemon(directory):
    for kind in (memory.Memory, memory.Target):
        with pytest.raises(OSError, match="no.sock") as failure:
            kind(directory / "no.sock")
        assert failure.value.errno == errno.ENOENT


def test_calls_out_of_range(served):
    mem, _ = served
    assert mem.put(1024, 1, 0, b"x") == -errno.EINVAL
    assert mem.put(1, 4096, 0, b"x") == -errno.EINVAL
    assert mem.put(1, 1, 0, b"x", vc=1) == -errno.EINVAL
    assert mem.put(1, 1, 0, b"x", counter=16) == -errno.EINVAL
    assert mem.put(1, 1, 1 << 40, b"x") == -errno.EINVAL
    assert mem.atomic("fetch_add", 1, 1, 0, 16, 1) == -errno.EINVAL
    assert mem.atomic("increment", 1, 1, 0, 32, 1, boundary=32) == -errno.EINVAL
    assert "boundary" in mem.error()
    assert mem.pending(16) == -errno.EINVAL


def test_a_target_served_by_calls():
    with pair(thread=False) as (mem, target, _, _):
        window, _ = target.add(1, 64)
        result = mem.put(1, 1, 0, b"later")
        for _ in range(100):
            mem.poll()
        assert target.wait(int(e2e.START_S * 1000)) == 1
        assert result.status == memory.PENDING and window.raw == bytes(64)
        # The commands by which the daemons got to know each other come first.
        e2e.wait_until(lambda: target.serve() >= 0 and mem.poll() >= 0 and result.status == 0,
                       e2e.START_S, "the put")
        assert window.raw[:5] == b"later"
        assert target.serve() == 0 and target.wait(0) == 0 and target.stop() == -errno.EALREADY
        assert target.start() == 0 and target.serve() == -errno.EBUSY
        assert mem.octets(mem.get(1, 1, 0, 5)) == b"later"
        assert target.stop() == 0


def test_partitions():
    with pair({"partition": 7}) as (mem, target, _, right):
        own, _ = target.add(1, 64, partition=7)
        other, _ = target.add(2, 64, partition=8)
        assert mem.wait(mem.put(1, 1, 0, b"mine")) == memory.OK and own.raw[:4] == b"mine"
        assert mem.wait(mem.put(1, 2, 0, b"theirs")) == memory.PARTITION
        assert other.raw == bytes(64)


def test_an_xpu_that_is_no_peer_is_unreachable():
    with pair() as (mem, _, _, _):
        for count in (1, 256, 257, 10000):
            assert mem.wait(mem.put(9, 1, 0, bytes(count))) == memory.UNREACHABLE


def test_deadlines():
    with pair(thread=False) as (mem, target, _, _):
        target.add(1, 64)
        result = mem.put(1, 1, 0, b"x", deadline_ms=50)
        assert mem.wait(result) == memory.TIMED_OUT
        other = mem.put(1, 1, 0, b"x", deadline_ms=0xffffffff)
        e2e.wait_until(lambda: target.serve() >= 0 and mem.poll() >= 0 and other.status == 0,
                       e2e.START_S, "the second put")


def test_a_target_process_that_ends_and_comes_back():
    with pair() as (mem, target, _, right):
        _, key = target.add(1, 64, flags=memory.DRAW_KEY)
        assert mem.wait(mem.put(1, 1, 0, b"x", key=key)) == memory.OK
        target.close()
        assert mem.wait(mem.put(1, 1, 0, b"x", key=key, deadline_ms=200)) == memory.TIMED_OUT
        with memory.Target(right.socket) as again:
            window, new = again.add(1, 64, flags=memory.DRAW_KEY)
            assert mem.wait(mem.put(1, 1, 0, b"late", key=key)) == memory.KEY
            assert mem.wait(mem.put(1, 1, 0, b"new", key=new)) == memory.OK
            # The put that timed out had waited in the daemon, and was refused.
            assert window.raw[:4] == b"new\0"
        # pair() closes the target once more.
        target._target = None


def test_daemons_that_restart(stack):
    with e2e.memif_pair(e2e.GIVEN_UP_SOON) as (directory, left, right):
        client.settle(left, right)
        with memory.Target(right.socket) as target, memory.Memory(left.socket) as mem:
            window, _ = target.add(1, 64)
            for _ in range(10):
                assert mem.value(mem.atomic("fetch_add", 1, 1, 0, 64, 1)) >= 0
            assert right.terminate() == 0
            lost = mem.wait(mem.atomic("fetch_add", 1, 1, 0, 64, 1, deadline_ms=5000))
            assert lost in (memory.UNREACHABLE, memory.IN_DOUBT, memory.TIMED_OUT)
            e2e.wait_until(lambda: target.take() == -errno.ECONNRESET, e2e.START_S, "the loss")
            new = stack.enter_context(e2e.Daemon(directory, right.config))
            assert target.reconnect() == -errno.EBUSY and target.stop() == 0
            assert target.reconnect() == 0 and target.start() == 0, target.error()
            client_settles(mem)
            before = int.from_bytes(window.raw[:8], "little")
            for _ in range(10):
                mem.value(mem.atomic("fetch_add", 1, 1, 0, 64, 1))
            assert int.from_bytes(window.raw[:8], "little") == before + 10

            left.terminate()
            result = mem.put(1, 1, 8, b"x")
            if isinstance(result, int):
                assert result == -errno.ECONNRESET
            else:
                assert mem.wait(result) in (memory.IN_DOUBT, memory.UNREACHABLE)
            assert mem.put(1, 1, 8, b"x") == -errno.ECONNRESET
            stack.enter_context(e2e.Daemon(directory, left.config))
            assert mem.reconnect() == 0, mem.error()
            client_settles(mem)
            assert mem.wait(mem.put(1, 1, 8, b"x")) == memory.OK
            del new


def client_settles(mem):
    """Until the daemons know each other again."""
    e2e.wait_until(lambda: mem.wait(mem.get(1, 1, 0, 8, deadline_ms=1000)) == memory.OK,
                   e2e.START_S, "an answer")


def count_over_cuts(mem, fabric, ordering, window):
    """Counts at the target while cables are cut: what was counted is what was asked for."""
    client_settles(mem)
    expected = 0
    for cut in range(6):
        cable = cut % 2
        fabric.do(f"cut {cable}" if cut % 3 else f"down {cable}")
        results = [mem.atomic("read_increment", 1, 1, 0, 64, 1, boundary=63, counter=5)
                   for _ in range(300)]
        data = secrets.token_bytes(20000)
        put = mem.put(1, 1, 64, data)
        assert mem.barrier("read", 5, timeout_ms=60000)[0] == 0
        values = [each.value for each in results]
        assert sorted(values) == list(range(expected, expected + 300))
        assert ordering != "strict" or values == sorted(values)
        expected += 300
        assert mem.wait(put) == memory.OK and window[64:20064] == data
        fabric.do(f"heal {cable}" if cut % 3 else f"up {cable}")
    assert int.from_bytes(window[:8], "little") == expected


@pytest.mark.parametrize("ordering", ["strict", "unordered"])
def test_exactly_once_over_failover(ordering):
    with two_endpoints(2, ordering) as (_, left, right, fabric):
        with memory.Target(right.socket) as target, \
                memory.Memory(left.socket, deadline_ms=60000,
                              unordered=int(ordering == "unordered")) as mem:
            window, _ = target.add(1, 1 << 16)
            count_over_cuts(mem, fabric, ordering, window)


def test_a_slow_target_stops_no_responses():
    """XPU 1 serves nothing, so requests of XPU 0 fill VC 0; what XPU 1 asks XPU 0 is answered on VC 1."""
    with pair(thread=False, deadline_ms=0xffffffff) as (mem, slow, left, right):
        window, _ = slow.add(1, 1 << 16)
        with memory.Target(left.socket) as served, memory.Memory(right.socket) as other:
            served.add(2, 64)
            puts = [mem.put(1, 1, 0, bytes(16384)) for _ in range(100)]
            for _ in range(1000):
                mem.poll()
            assert all(put.status == memory.PENDING for put in puts)
            for count in range(500):
                assert other.value(other.atomic("fetch_add", 0, 2, 0, 64, 1)) == count
            assert all(put.status == memory.PENDING for put in puts)
        # The slow target has lost nothing.
        slow.start()
        assert mem.barrier("write", timeout_ms=60000)[0] == 0
        assert slow.counts().puts == 100 * 64 and slow.counts().dropped == 0


def with_a_neighbour(config, side):
    """XPU 2 beside XPU 0 in the left daemon."""
    if side == "left":
        own = config["instances"][0]
        config["instances"].append({**own, "xpu": 2, "ports": [{"port": "p0", "ip": e2e.ip_of(2)}]})
    else:
        config["peers"].append({"xpu": 2, "ports": [{"port": "p0", "ip": e2e.ip_of(2),
                                                     "mac": e2e.mac_of(0)}]})
    return config


def test_a_requester_that_reads_nothing_harms_itself(directory):
    """XPU 2 asks XPU 1 for memory at full rate and takes no response; XPU 0 is answered meanwhile."""
    configs = {side: with_a_neighbour(
        e2e.endpoint_config(directory, side, e2e.memif_device(directory, role)), side)
        for side, role in (("left", "server"), ("right", "client"))}
    with e2e.daemons(e2e.Daemon(directory, configs["left"]),
                     e2e.Daemon(directory, configs["right"])) as (left, right):
        for daemon in (left, right):
            daemon.wait_for_link()
        with memory.Target(right.socket, response_places=256) as target, \
                memory.Memory(left.socket, planes=[(0, 0)]) as mem, \
                client.Client(left.socket, (2, 0)) as hostile:
            target.add(1, 4096)
            client_settles(mem)
            hostile.claim(2, 1 << 1)
            sent = 0

            def flood():
                nonlocal sent
                while hostile.send_control(1, 0, memory.get_request(sent, 1, 0, 256)) == 0:
                    sent += 1

            counted = 0
            deadline = time.monotonic() + e2e.START_S
            while counted < 50 or target.counts().dropped < 100:
                flood()
                result = mem.atomic("fetch_add", 1, 1, 0, 64, 1)
                assert mem.value(result) == counted
                counted += 1
                assert time.monotonic() < deadline, target.counts().dropped
            counts = target.counts()
            assert counts.waited > 0 and counts.atomics == counted
            # A client that takes its responses is served again.
            e2e.wait_until(lambda: isinstance(hostile.receive(1), list) and
                           target.counts().gets + target.counts().dropped >= sent,
                           e2e.START_S, "the rest")
            before = target.counts().gets

            def is_served():
                while isinstance(answers := hostile.receive(1), list) and answers:
                    pass
                hostile.send_control(1, 0, memory.get_request(sent, 1, 0, 256))
                return target.counts().gets > before

            e2e.wait_until(is_served, e2e.START_S, "an answer")


@pytest.mark.parametrize("name, arguments", [
    ("memory_c", lambda peer, both: (peer, 1000, 30)),
    ("memory_cpp", lambda peer, both: (both, 2000, 30))])
def test_examples(name, arguments):
    with e2e.memif_pair() as (directory, left, right):
        program = e2e.BUILD / "docs/examples" / name
        with e2e.Process(directory, "a", [program, left.socket, *arguments(1, "0,1")]) as a, \
                e2e.Process(directory, "b", [program, right.socket, *arguments(0, "0,1")]) as b:
            a.expect(0, e2e.START_S)
            b.expect(0, e2e.START_S)
            if name == "memory_c":
                assert "notice 42 from XPU 1: hello from XPU 1" in a.stdout()
                assert "the peer has: hello from XPU 0" in a.stdout()
                assert "counted to 1000" in b.stdout()
            else:
                sums = [int(p.stdout().split()[-2]) for p in (a, b)]
                assert sum(sums) == 4000
