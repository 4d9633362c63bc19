# SPDX-License-Identifier: Apache-2.0
"""Windows that the lcore serves (docs/memory.md): XPU 0 is the initiator, XPU 1 has the windows, and no thread."""

import contextlib
import ctypes
import errno
import fcntl
import mmap
import os
import pathlib
import re
import secrets
import subprocess
import sys
import time

import pytest

import client
import e2e
import memory
import switched
from test_capture import hugepages
from test_failover import two_endpoints
from test_memory import client_settles, count_over_cuts, pair, with_a_neighbour

F_SEAL_SHRINK = 2
MFD_HUGETLB = 4
HUGE = 2 << 20


def sealed(count, flags=0, seals=F_SEAL_SHRINK):
    """A memfd."""
    fd = os.memfd_create("window", os.MFD_ALLOW_SEALING | flags)
    os.ftruncate(fd, count)
    fcntl.fcntl(fd, 1033, seals)  # F_ADD_SEALS
    return fd


@contextlib.contextmanager
def window(target, number, count=1 << 20, fd=None, **fields):
    """Yields (a view of the memory, key) of a window that the lcore serves."""
    fd = sealed((count + 4095) // 4096 * 4096) if fd is None else fd
    fields["flags"] = fields.get("flags", 0) | memory.LCORE
    with mmap.mmap(fd, (count + 4095) // 4096 * 4096) as view:  # before it is sealed
        added = target.add(number, count, fd=fd, **fields)
        os.close(fd)
        assert not isinstance(added, int), (added, target.error())
        yield view, added[1]
    assert target.remove(number) == 0


def number_at(view, offset=0):
    return int.from_bytes(view[offset:offset + 8], "little")


def listed(daemon):
    return e2e.managed(daemon, "windows", "list")["windows"]


def maps_windows(daemon):
    with open(f"/proc/{daemon.pid}/maps", encoding="ascii", errors="replace") as maps:
        return "memfd:window" in maps.read()


@pytest.fixture(scope="module")
def served():
    """A pair whose target nobody serves."""
    with pair(thread=False) as (mem, target, left, right):
        yield mem, target, left, right


def test_put_and_get_of_any_length(served):
    mem, target, _, _ = served
    with window(target, 1) as (view, _):
        for count in (0, 1, 7, 8, 255, 256, 257, 4096, 1 << 20):
            data = secrets.token_bytes(count)
            assert mem.wait(mem.put(1, 1, (1 << 20) - count, data)) == memory.OK
            assert view[(1 << 20) - count:] == data
            assert mem.octets(mem.get(1, 1, (1 << 20) - count, count)) == data


@pytest.mark.parametrize("bits", [32, 64])
def test_atomics(served, bits):
    mem, target, _, _ = served
    most = (1 << bits) - 1
    with window(target, 1, 64) as (view, _):
        assert mem.value(mem.atomic("swap", 1, 1, 8, bits, most)) == 0
        assert mem.value(mem.atomic("fetch_add", 1, 1, 8, bits, 6)) == most
        assert mem.value(mem.atomic("compare_swap", 1, 1, 8, bits, 4, 77)) == 5
        assert mem.value(mem.atomic("compare_swap", 1, 1, 8, bits, 5, 30)) == 5
        for value in (30, 31, 0, 1):  # counts from 0 to 31
            assert mem.value(mem.atomic("read_increment", 1, 1, 8, bits, 1, boundary=4)) == value
        assert mem.wait(mem.atomic("increment", 1, 1, 8, bits, 31, boundary=4)) == memory.OK
        assert view[:64] == bytes(8) + (1).to_bytes(8, "little") + bytes(48)


def test_refused_requests_touch_nothing_and_are_counted(served):
    mem, target, _, right = served
    before = right.counters()["memory_refused_total"]
    with window(target, 1, 64, flags=memory.DRAW_KEY) as (view, key), \
            window(target, 2, 64, rights=memory.READ) as (readable, _):
        refused = [
            (mem.put(1, 3, 0, b"x" * 8), memory.NO_WINDOW),
            (mem.put(1, 1, 0, b"x" * 8), memory.KEY),
            (mem.get(1, 1, 0, 8, key=key ^ 1), memory.KEY),
            (mem.put(1, 2, 0, b"x" * 8), memory.RIGHTS),
            (mem.atomic("fetch_add", 1, 2, 0, 64, 1), memory.RIGHTS),
            (mem.put(1, 1, 57, b"x" * 8, key=key), memory.BOUNDS),
            (mem.put(1, 1, (1 << 40) - 8, b"x" * 8, key=key), memory.BOUNDS),
            (mem.atomic("swap", 1, 1, 4, 64, 1, key=key), memory.ALIGNMENT),
        ]
        for result, status in refused:
            assert mem.wait(result) == status
        assert view[:] == bytes(4096) and readable[:] == bytes(4096)
        assert right.counters()["memory_refused_total"] == before + len(refused)
        assert mem.wait(mem.put(1, 1, 56, b"y" * 8, key=key)) == memory.OK
    assert mem.wait(mem.get(1, 2, 0, 8)) == memory.NO_WINDOW
    with window(target, 1, 64, flags=memory.DRAW_KEY) as (view, second):
        assert second != key
        assert mem.wait(mem.put(1, 1, 0, b"late", key=key)) == memory.KEY
        assert view[:] == bytes(4096)


def test_notices_come_behind_their_octets(served):
    mem, target, _, _ = served
    with window(target, 1, 1 << 16) as (view, _):
        for round_ in range(50):
            count = (0, 8, 248, 256, 5000)[round_ % 5]
            data = bytes([round_ + 1]) * count
            result = mem.put_immediate(1, 1, 100, data, round_)
            while not (notices := target.take()):
                mem.poll()
            assert notices == [(0, 1, 100, count, round_)]
            assert view[100:100 + count] == data
            assert mem.wait(result) == memory.OK


def test_a_program_that_takes_no_notices_is_busy():
    with pair(thread=False) as (mem, target, _, _), window(target, 1, 64) as (view, _):
        sent, at_once, done = 0, 64, 64
        while done == at_once:
            puts = [mem.put_immediate(1, 1, 0, b"now", sent + i) for i in range(at_once)]
            statuses = [mem.wait(each) for each in puts]
            done = statuses.count(memory.OK)
            assert statuses == [memory.OK] * done + [memory.BUSY] * (at_once - done)
            sent += done
        assert sent >= 1024
        assert mem.wait(mem.put_immediate(1, 1, 0, b"not", sent)) == memory.BUSY
        assert view[:3] == b"now"
        assert mem.wait(mem.put(1, 1, 0, b"but")) == memory.OK, "others are served"
        taken = []
        while len(taken) < sent:
            taken += [notice[4] for notice in target.take()]
            time.sleep(0.0001)
        assert taken == list(range(sent))
        assert mem.wait(mem.put_immediate(1, 1, 0, b"now", 7)) == memory.OK


def test_windows_of_the_program_beside_those_of_the_lcore():
    """The VC moves to the lcore while requests are under way: none is lost or overtakes another."""
    with pair(thread=True) as (mem, target, _, right):
        own, _ = target.add(2, 64)
        results = [mem.atomic("fetch_add", 1, 2, 0, 64, 1, counter=1) for _ in range(1000)]
        with window(target, 1, 64) as (view, _):
            for _ in range(1000):
                results.append(mem.atomic("fetch_add", 1, 2, 0, 64, 1, counter=1))
                assert mem.wait(mem.atomic("increment", 1, 1, 0, 64, 1, boundary=63)) == memory.OK
            assert mem.barrier("read", 1)[0] == 0
            assert [each.value for each in results] == list(range(2000))
            assert number_at(view) == 1000 and int.from_bytes(own.raw[:8], "little") == 2000
            assert [each["served_by"] for each in listed(right)] == ["lcore", "program"]
            third, _ = target.add(3, 64)
            assert mem.wait(mem.put(1, 3, 0, b"third")) == memory.OK and third.raw[:5] == b"third"
            assert target.remove(3) == 0
            assert mem.wait(mem.put(1, 3, 0, b"third")) == memory.NO_WINDOW
        assert right.counters()["memory_passed_on_total"] >= 1001


def test_what_the_daemon_does_not_take(served):
    _, target, _, right = served
    lcore = memory.LCORE

    def refused(fd, count=4096, **fields):
        error = target.add(9, count, fd=fd, flags=lcore, **fields)
        os.close(fd)
        assert isinstance(error, int)
        return error, target.error()

    plain = os.memfd_create("window", os.MFD_ALLOW_SEALING)
    os.ftruncate(plain, 4096)
    error, text = refused(plain)
    assert error == -errno.EINVAL and "F_SEAL_SHRINK" in text
    with open(__file__, "rb") as page:
        error, text = refused(os.dup(page.fileno()), 64, rights=memory.READ)
    assert error == -errno.EINVAL and "memfd" in text
    assert refused(sealed(4096), 8192)[0] == -errno.EINVAL
    assert refused(sealed(8192), fd_offset=8)[0] == -errno.EINVAL
    assert refused(sealed(4096), rights=0)[0] == -errno.EINVAL
    error, text = refused(sealed(2 << 30), 2 << 30)
    assert error == -errno.EUSERS and "clients.window_mb" in text
    assert target.add(9, 64, flags=lcore) == -errno.EINVAL, "it has no descriptor"
    fds = [sealed(4096) for _ in range(65)]
    added = [target.add(100 + at, 4096, fd=fd, flags=lcore) for at, fd in enumerate(fds)]
    assert all(isinstance(each, tuple) for each in added[:64]) and added[64] == -errno.EUSERS
    assert "64 windows" in target.error() and target.add(100, 64, fd=fds[0], flags=lcore) == -errno.EEXIST
    assert len(listed(right)) == 64
    for at, fd in enumerate(fds):
        os.close(fd)
        assert target.remove(100 + at) == (0 if at < 64 else -errno.ENOENT)
    assert not listed(right) and not maps_windows(right)


def test_an_operator_may_forbid_it():
    with pair({"clients": {"window_mb": 0}}) as (mem, target, _, _):
        fd = sealed(4096)
        assert target.add(1, 4096, fd=fd, flags=memory.LCORE) == -errno.EACCES
        assert "clients.window_mb" in target.error()
        os.close(fd)
        window_, _ = target.add(1, 64)
        assert mem.wait(mem.put(1, 1, 0, b"still")) == memory.OK and window_.raw[:5] == b"still"


def test_memory_that_is_only_read(served):
    mem, target, _, _ = served
    fd = sealed(4096, seals=0)
    os.pwrite(fd, b"constant", 0)
    fcntl.fcntl(fd, 1033, F_SEAL_SHRINK | 8)  # F_SEAL_WRITE
    assert target.add(1, 4096, fd=fd, flags=memory.LCORE) < 0, "nothing can be written there"
    assert not isinstance(target.add(1, 4096, fd=fd, flags=memory.LCORE, rights=memory.READ), int)
    os.close(fd)
    assert mem.octets(mem.get(1, 1, 0, 8)) == b"constant"
    assert mem.wait(mem.put(1, 1, 0, b"x")) == memory.RIGHTS
    assert target.remove(1) == 0


def test_the_list_of_windows(served):
    _, target, _, right = served
    with window(target, 7, 12345, flags=memory.DRAW_KEY, rights=memory.READ | memory.ATOMIC, partition=0):
        row, = listed(right)
        assert row.pop("client") in [each["id"] for each in e2e.managed(right, "clients", "list")["clients"]]
        assert row.pop("numa_node") in (None, *range(64))
        assert row == {"xpu": 1, "instance": 0, "window": 7, "served_by": "lcore",
                       "rights": "read,atomic", "has_key": True, "partition": 0,
                       "size_bytes": 12345, "page_bytes": 4096}
        assert "lcore" in e2e.suedectl(right, "windows", "list")
        owner_, = e2e.managed(right, "clients", "list")["clients"]
        assert owner_["claims"] == "1.0:0"
        queues = e2e.managed(right, "queues", "list")["queues"]
        assert [(each["client"], each["of_lcore"]) for each in queues] == [
            (owner_["id"], False), (owner_["id"], True)]


def test_partitions():
    with pair({"partition": 7}, thread=False) as (mem, target, left, right), \
            window(target, 1, 64, partition=7) as (own, _), \
            window(target, 2, 64, partition=8) as (other, _):
        assert mem.wait(mem.put(1, 1, 0, b"mine")) == memory.OK and own[:4] == b"mine"
        assert mem.wait(mem.put(1, 2, 0, b"theirs")) == memory.PARTITION
        # The endpoints move to another tenant: so do the windows that are open.
        for daemon in (left, right):
            e2e.suedectl(daemon, "reg", "write", "control.partition", 8)
        assert mem.wait(mem.put(1, 2, 0, b"theirs")) == memory.OK and other[:6] == b"theirs"
        assert mem.wait(mem.put(1, 1, 0, b"late")) == memory.PARTITION
        assert own[:4] == b"mine"


@pytest.mark.parametrize("kind", ["memfd", "file"])
def test_hugepages(directory, as_root, kind):
    """A memfd with huge pages is a window. A file cannot be sealed, and is refused."""
    del as_root
    of_others = {"eal": {"hugepages": "off"}, "clients": {"hugepages": "off"}}
    with hugepages(directory, 8), pair(of_others, thread=False) as (mem, target, _, right):
        if kind == "memfd":
            fd = sealed(2 * HUGE, MFD_HUGETLB)
        else:
            fd = os.open(directory / "huge/window", os.O_RDWR | os.O_CREAT)
            os.ftruncate(fd, 2 * HUGE)
        node = place_on_last_node(fd, 2 * HUGE)
        with mmap.mmap(fd, 2 * HUGE) as view:
            added = target.add(1, HUGE, fd=fd, fd_offset=HUGE, flags=memory.LCORE)
            if kind == "file":
                assert added == -errno.EINVAL and "MFD_HUGETLB" in target.error()
                os.close(fd)
                return
            assert not isinstance(added, int), target.error()
            row, = listed(right)
            assert row["page_bytes"] == HUGE and row["numa_node"] == node
            assert mem.wait(mem.put(1, 1, HUGE - 6, b"at end")) == memory.OK
            assert view[2 * HUGE - 6:] == b"at end"
            assert not takes_pages_away(fd, view)
            assert target.remove(1) == 0
        os.close(fd)


def place_on_last_node(fd, count):
    """Binds memory to the machine's last NUMA node that has memory, as a program would; the node."""
    nodes = pathlib.Path("/sys/devices/system/node/has_normal_memory")
    node = int(re.split("[,-]", nodes.read_text().strip())[-1]) if nodes.exists() else 0
    mask = ctypes.c_ulong(1 << node)
    with mmap.mmap(fd, count) as view:
        base = ctypes.c_char.from_buffer(view)
        bound = ctypes.CDLL("libnuma.so.1", use_errno=True).mbind(
            ctypes.byref(base), ctypes.c_ulong(count), 2, ctypes.byref(mask), ctypes.c_ulong(64), 0)
        assert bound == 0, os.strerror(ctypes.get_errno())
        del base
        view[:] = bytes(count)  # the pages come to lie there
    return node


def takes_pages_away(fd, view):
    """The names of the calls that take pages of memory away, of a descriptor or of a mapping."""
    libc = ctypes.CDLL(None, use_errno=True)
    base = ctypes.c_char.from_buffer(view)
    punched = libc.fallocate(fd, 3, ctypes.c_long(0), ctypes.c_long(len(view)))  # KEEP_SIZE, PUNCH_HOLE
    removed = libc.madvise(ctypes.byref(base), ctypes.c_size_t(len(view)), 9)  # MADV_REMOVE
    cut = libc.ftruncate(fd, ctypes.c_long(0))
    del base
    return [name for name, result in (("fallocate", punched), ("madvise", removed), ("ftruncate", cut))
            if result == 0]


def test_no_page_can_be_taken_away(served):
    mem, target, _, _ = served
    for rights in (memory.READ, memory.READ | memory.WRITE):
        fd = sealed(1 << 20)
        kept = os.dup(fd)
        with window(target, 1, 1 << 20, fd=fd, rights=rights) as (view, _):
            view[:6] = b"before"
            assert mem.octets(mem.get(1, 1, 0, 6)) == b"before"
            assert not takes_pages_away(kept, view)
            assert mem.octets(mem.get(1, 1, 0, 6)) == b"before"
        os.close(kept)


def test_the_owner_allocates_the_pages(served):
    _, target, _, _ = served
    fd = sealed(1 << 20)
    assert os.fstat(fd).st_blocks == 0
    with window(target, 1, 1 << 20, fd=os.dup(fd)):
        assert os.fstat(fd).st_blocks * 512 == 1 << 20
    os.close(fd)


def test_several_windows_in_one_memfd(served):
    """They share a mapping: once sealed, it cannot be mapped again."""
    mem, target, _, _ = served
    fd = sealed(8192)
    with mmap.mmap(fd, 8192) as view:
        for at in (0, 1):
            assert not isinstance(target.add(at, 4096, fd=fd, fd_offset=4096 * at, flags=memory.LCORE),
                                  int), target.error()
            assert mem.wait(mem.put(1, at, 0, b"window%d" % at)) == memory.OK
        assert view[:7] == b"window0" and view[4096:4103] == b"window1"
        assert target.remove(0) == 0 and target.remove(1) == 0
    os.close(fd)


def test_memory_that_was_served_before(served):
    """A sealed memfd cannot be mapped for writing again."""
    mem, target, _, _ = served
    fd = sealed(4096)
    with window(target, 1, 4096, fd=os.dup(fd)) as (view, _):
        view[:6] = b"former"
        error = target.remove(1) or target.add(1, 4096, fd=fd, flags=memory.LCORE)
        assert error == -errno.EPERM and "new memfd" in target.error()
        assert not isinstance(target.add(1, 4096, fd=fd, flags=memory.LCORE, rights=memory.READ), int)
        assert mem.octets(mem.get(1, 1, 0, 6)) == b"former"
    os.close(fd)


def test_all_clients_together_have_a_limit():
    with pair({"clients": {"window_mb": 2, "windows_total_mb": 3}}, thread=False) as (_, target, _, right), \
            memory.Target(right.socket, thread=False, request_vcs=1 << 2) as other:
        with window(target, 1, 2 << 20), window(other, 1, 1 << 20):
            fd = sealed(1 << 20)
            assert other.add(2, 1 << 20, fd=fd, flags=memory.LCORE) == -errno.EUSERS
            assert "clients.windows_total_mb" in other.error()
        with window(other, 2, 1 << 20, fd=fd):
            pass


OWNER = """
import sys
sys.path.insert(0, {path!r})
import memory, test_memory_lcore, time
target = memory.Target({socket!r}, thread=False)
fd = test_memory_lcore.sealed(1 << 20)
added = target.add(1, 1 << 20, fd=fd, flags=memory.LCORE | memory.DRAW_KEY)
print(added[1], flush=True)
time.sleep(1000)
"""


@contextlib.contextmanager
def owner(daemon):
    """A process that has a window: yields (process, key)."""
    script = OWNER.format(path=os.path.dirname(__file__), socket=str(daemon.socket))
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        try:
            yield process, int(process.stdout.readline())
        finally:
            process.kill()


def test_an_owner_that_is_killed_in_mid_burst():
    """kill -9: the memory stays until the lcore lets go, then goes; others go on; a successor refuses what was
    for the dead one."""
    with e2e.memif_pair(e2e.GIVEN_UP_SOON) as (_, left, right):
        client.settle(left, right)
        with memory.Memory(left.socket, deadline_ms=3000) as mem, \
                memory.Target(left.socket, thread=False) as undisturbed, \
                memory.Memory(right.socket) as other, window(undisturbed, 5, 64) as (view, _):
            for round_ in range(5):
                with owner(right) as (process, key):
                    assert maps_windows(right)
                    results = [mem.put(1, 1, 0, bytes(1 << 16), key=key) for _ in range(16)]
                    e2e.wait_until(lambda: mem.poll() >= 0 and results[0].status != memory.PENDING,
                                   e2e.START_S, "the first put")
                    process.kill()
                    statuses = [mem.wait(each) for each in results]
                    assert statuses[0] == memory.OK
                    assert set(statuses) <= {memory.OK, memory.TIMED_OUT}
                    e2e.wait_until(lambda: not maps_windows(right), e2e.START_S, "the memory to go")
                assert not listed(right)
                assert other.value(other.atomic("fetch_add", 0, 5, 0, 64, 1)) == round_
            assert number_at(view) == 5
            with owner(right) as (_, new):
                assert new != key
                assert mem.wait(mem.put(1, 1, 0, b"late", key=key)) == memory.KEY
                assert mem.wait(mem.put(1, 1, 0, b"new", key=new)) == memory.OK


def test_a_daemon_that_restarts(stack):
    with e2e.memif_pair(e2e.GIVEN_UP_SOON) as (directory, left, right):
        client.settle(left, right)
        with memory.Target(right.socket, thread=False) as target, memory.Memory(left.socket) as mem, \
                window(target, 1, 64) as (view, _):
            own, _ = target.add(2, 64)
            assert mem.value(mem.atomic("fetch_add", 1, 1, 0, 64, 1)) == 0
            assert right.terminate() == 0
            lost = mem.wait(mem.atomic("fetch_add", 1, 1, 0, 64, 1, deadline_ms=5000))
            assert lost in (memory.UNREACHABLE, memory.IN_DOUBT, memory.TIMED_OUT)
            e2e.wait_until(lambda: target.take() == -errno.ECONNRESET, e2e.START_S, "the loss")
            stack.enter_context(e2e.Daemon(directory, right.config))
            assert target.reconnect() == 0, target.error()
            client_settles(mem)
            assert number_at(view) == 1
            assert mem.value(mem.atomic("fetch_add", 1, 1, 0, 64, 1)) == 1
            assert target.start() == 0
            assert mem.wait(mem.put(1, 2, 0, b"both")) == memory.OK and own.raw[:4] == b"both"


@pytest.mark.parametrize("ordering", ["strict", "unordered"])
def test_exactly_once_over_failover(ordering):
    with two_endpoints(2, ordering) as (_, left, right, fabric):
        with memory.Target(right.socket, thread=False) as target, \
                memory.Memory(left.socket, deadline_ms=60000,
                              unordered=int(ordering == "unordered")) as mem, \
                window(target, 1, 1 << 16) as (view, _):
            count_over_cuts(mem, fabric, ordering, view)


def with_second_instances(config):
    own, peer = config["instances"][0]["xpu"], config["peers"][0]
    config["instances"].append({**config["instances"][0], "instance": 1,
                                "ports": [{"port": "p0", "ip": e2e.ip_of(own, 1)}]})
    peer["ports"][0]["instance"] = 0
    peer["ports"].append({"port": "p0", "instance": 1, "ip": e2e.ip_of(peer["xpu"], 1),
                          "mac": peer["ports"][0]["mac"]})
    return config


def test_several_planes(directory):
    """A window is with the target's client on each plane; one that stays, and one that goes with all of them."""
    configs = {side: with_second_instances(e2e.endpoint_config(directory, side, e2e.memif_device(directory, role)))
               for side, role in (("left", "server"), ("right", "client"))}
    planes = {side: [(own, 0), (own, 1)] for own, side in enumerate(("left", "right"))}
    with e2e.daemons(e2e.Daemon(directory, configs["left"]), e2e.Daemon(directory, configs["right"])) as (left, right):
        for daemon in (left, right):
            daemon.wait_for_link()
        with memory.Target(right.socket, thread=False, planes=planes["right"]) as target, \
                memory.Memory(left.socket, planes=planes["left"]) as mem:
            with window(target, 1, 64) as (view, _):
                assert sorted((each["instance"], each["window"]) for each in listed(right)) == [(0, 1), (1, 1)]
                for plane in (0, 1):
                    e2e.wait_until(lambda plane=plane: mem.wait(mem.get(
                        1, 1, 0, 8, plane=plane, deadline_ms=1000)) == memory.OK, e2e.START_S, "an answer")
                results = [mem.atomic("fetch_add", 1, 1, 0, 64, 1, plane=number % 2, counter=3)
                           for number in range(2000)]
                assert mem.barrier("read", 3)[0] == 0
                assert sorted(each.value for each in results) == list(range(2000))
                assert number_at(view) == 2000
                put = mem.put_immediate(1, 1, 8, b"by 1", 5, plane=1)
                assert mem.wait(put) == memory.OK
                e2e.wait_until(lambda: target.take() == [(0, 1, 8, 4, 5)], e2e.START_S, "the notice")
            assert not listed(right)
            for plane in (0, 1):
                assert mem.wait(mem.get(1, 1, 0, 8, plane=plane)) == memory.NO_WINDOW


@pytest.mark.parametrize("name, arguments", [
    ("memory_cpp", lambda own: ("0,1,2,3,4,5,6,7", 5000, 60, own)),
    ("allreduce_cpp", lambda own: ("0,1,2,3,4,5,6,7", own, 80000, 60))])
def test_examples_over_eight_xpus(name, arguments):
    """A histogram over the memory of all, served by threads; an all-reduce over a ring, served by the lcore."""
    def more_clients(config):
        config["clients"]["max_clients"] = 32

    with switched.fabric(8, endpoint=more_clients) as (directory, _, daemon), \
            contextlib.ExitStack() as programs:
        program = e2e.BUILD / "docs/examples" / name
        all_of_them = [programs.enter_context(
            e2e.Process(directory, f"xpu-{own}", [program, daemon.socket, *arguments(own)]))
            for own in range(8)]
        for process in all_of_them:
            process.expect(0, e2e.TRAFFIC_S)
        if name == "memory_cpp":
            assert sum(int(process.stdout().split()[-2]) for process in all_of_them) == 40000
        else:
            assert [process.stdout() for process in all_of_them] == [
                f"XPU {own}: 80000 sums of 8 XPUs, 0 wrong\n" for own in range(8)]


def test_a_requester_that_reads_nothing_harms_itself(directory):
    """XPU 2 asks XPU 1 for memory at full rate and takes no response; XPU 0 is answered meanwhile, and so is
    another client of the same lcore."""
    configs = {side: with_a_neighbour(
        e2e.endpoint_config(directory, side, e2e.memif_device(directory, role)), side)
        for side, role in (("left", "server"), ("right", "client"))}
    with e2e.daemons(e2e.Daemon(directory, configs["left"]),
                     e2e.Daemon(directory, configs["right"])) as (left, right):
        for daemon in (left, right):
            daemon.wait_for_link()
        with memory.Target(right.socket, thread=False) as target, \
                memory.Memory(left.socket, planes=[(0, 0)]) as mem, \
                client.Client(left.socket, (2, 0)) as hostile, \
                memory.Target(left.socket, thread=False, planes=[(0, 0)]) as bystander, \
                memory.Memory(right.socket) as back, \
                window(target, 1, 4096), window(bystander, 5, 64):
            client_settles(mem)
            hostile.claim(2, 1 << 1)
            sent = counted = 0
            deadline = time.monotonic() + e2e.START_S
            dropped = 0
            while counted < 50 or dropped == 0:
                while hostile.send_control(1, 0, memory.get_request(sent, 1, 0, 256)) == 0:
                    sent += 1
                assert mem.value(mem.atomic("fetch_add", 1, 1, 0, 64, 1)) == counted
                assert back.value(back.atomic("fetch_add", 0, 5, 0, 64, 1)) == counted
                counted += 1
                if counted % 10 == 0:
                    dropped = right.counters()["memory_dropped_total"]
                assert time.monotonic() < deadline, dropped
            assert right.counters()["memory_waited_total"] > 0
            # A client that takes its responses is served again.
            while hostile.send_control(1, 0, memory.get_request(sent, 1, 0, 256)) != 0:
                hostile.receive(1)
            e2e.wait_until(lambda: hostile.receive(1), e2e.START_S, "an answer")
