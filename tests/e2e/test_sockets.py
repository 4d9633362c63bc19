# SPDX-License-Identifier: Apache-2.0
"""Message sockets between two daemons (docs/sockets.md): XPU 0 left, XPU 1 right."""

import contextlib
import errno
import secrets
import threading

import pytest

import client
import e2e
import memory
import sockets
from test_failover import two_endpoints
from test_memory import with_a_neighbour


@contextlib.contextmanager
def pair(thread=True, **params):
    """Yields (sockets of XPU 0, of XPU 1, left, right) over two daemons that know each other."""
    with e2e.memif_pair() as (_, left, right):
        client.settle(left, right)
        with sockets.Sockets(left.socket, thread, **params) as one, \
                sockets.Sockets(right.socket, thread, **params) as other:
            yield one, other, left, right


@pytest.fixture(scope="module")
def both():
    with pair() as (one, other, _, _):
        yield one, other


def connected(one, other, number=0, **fields):
    """(sender of XPU 0, receiver of XPU 1)"""
    ring = {"ring_bytes": fields.pop("ring_bytes")} if "ring_bytes" in fields else {}
    sender, receiver = one.sender(1, number, **fields), other.receiver(0, number, **fields, **ring)
    assert sender.connect() == 0 and receiver.connect() == 0, one.error()
    return sender, receiver


def test_a_stream_carries_octets_of_any_number(both):
    sender, receiver = connected(*both)
    for count in (1, 7, 255, 256, 257, 4096, 1000000):
        data = secrets.token_bytes(count)
        assert sender.send(data) == (0, count)
        assert receiver.receive_all(count) == data
    assert sender.drain() == 0
    assert sender.close() == (0, sockets.OK)
    assert receiver.receive() == -errno.ENODATA
    assert receiver.close() == (0, sockets.OK)


def test_datagrams_are_whole_and_in_order(both):
    sender, receiver = connected(*both, type=sockets.DATAGRAM, ring_bytes=65536)
    messages = [secrets.token_bytes(count) for count in (0, 1, 256, 257, 5000, 0, 30000, 3)]
    for message in messages:
        assert sender.send(message) == (0, len(message))
    assert [receiver.receive() for _ in messages] == messages
    assert sender.send(bytes(40000))[0] == -errno.EMSGSIZE
    sender.send(b"four")
    assert receiver.receive(3) == -errno.EMSGSIZE
    assert receiver.receive(4) == b"four"
    assert sender.close()[0] == 0 and receiver.close()[0] == 0


def test_more_than_the_ring_both_ways_at_once(both):
    """Each side sends far more than the other one's ring, while nobody reads for a while."""
    one, other = both
    there, here = connected(one, other, ring_bytes=65536)
    back, home = other.sender(0, 1), one.receiver(1, 1, ring_bytes=65536)
    assert back.connect() == 0 and home.connect() == 0
    data = [secrets.token_bytes(1 << 20), secrets.token_bytes(1 << 20)]
    results = [there.start_send(data[0]), back.start_send(data[1])]
    # The rings are full, and stay so.
    for receiver in (here, home):
        e2e.wait_until(lambda each=receiver: each.info().waiting_bytes > 60000, e2e.START_S,
                       "a full ring")
    assert [each.status for each in results] == [sockets.PENDING] * 2
    assert here.receive_all(1 << 20) == data[0] and home.receive_all(1 << 20) == data[1]
    assert there.drain() == 0 and back.drain() == 0
    assert [each.status for each in results] == [sockets.OK] * 2
    assert [each.pushed_bytes for each in results] == [1 << 20] * 2
    assert one.counts().spilled_bytes > 0 and sum(one.counts().refused[3:]) == 0
    for socket in (there, here, back, home):
        assert socket.close()[0] == 0


def test_a_slow_reader_stops_neither_others_nor_memory_operations():
    with pair() as (one, other, left, right):
        slow, receiver = connected(one, other, 1, ring_bytes=8192)
        stuck = slow.start_send(bytes(1 << 20))
        quick, quick_receiver = connected(one, other, 2)
        with memory.Target(right.socket) as target, memory.Memory(left.socket) as mem:
            window, _ = target.add(1, 4096)
            for count in range(300):
                data = secrets.token_bytes(1000)
                assert quick.send(data) == (0, 1000)
                assert quick_receiver.receive_all(1000) == data
                assert mem.value(mem.atomic("fetch_add", 1, 1, 0, 64, 1)) == count
        assert stuck.status == sockets.PENDING
        assert receiver.info().used_bytes <= 8192
        assert one.counts().starved > 0
        assert slow.close(0)[0] == -errno.ETIMEDOUT
        # The octets that had credit are there; behind them the sender gave up.
        while isinstance(got := receiver.receive(), bytes):
            assert got == bytes(len(got))
        assert got == -errno.EIO and receiver.status == sockets.ABORTED


def test_a_full_ring_has_a_clear_status_and_loses_nothing(both):
    one, other = both
    sender, receiver = connected(one, other, ring_bytes=4096)
    data = secrets.token_bytes(20000)
    result, pushed = sender.send(data, timeout_ms=100)
    assert result == -errno.ETIMEDOUT and 0 < pushed < 4096
    assert receiver.receive_all(pushed) == data[:pushed]
    assert receiver.receive(timeout_ms=0) == -errno.EAGAIN
    assert receiver.receive(timeout_ms=10) == -errno.ETIMEDOUT
    rest = threading.Thread(target=lambda: sender.send(data[pushed:]))
    rest.start()
    assert receiver.receive_all(20000 - pushed) == data[pushed:]
    rest.join()
    assert sender.close()[0] == 0 and receiver.close()[0] == 0


def test_a_send_waits_for_an_operation(both):
    """More sends than operations: each waits until one before it is complete, and not longer than it may."""
    one, other = both
    sender, receiver = one.sender(1, 0, max_operations=1), other.receiver(0, 0, ring_bytes=4096)
    assert sender.connect() == 0 and receiver.connect() == 0
    for i in range(200):
        assert sender.send(bytes([i])) == (0, 1)
    assert sender.drain() == 0
    held = sender.start_send(bytes(8192))
    assert sender.start_send(b"x") == -errno.EAGAIN
    assert sender.send(b"x", timeout_ms=50) == (-errno.ETIMEDOUT, 0)
    assert receiver.receive_all(200 + 8192) == bytes(range(200)) + bytes(8192)
    assert sender.drain() == 0 and held.status == sockets.OK
    assert sender.close()[0] == 0 and receiver.close()[0] == 0


def test_epochs(both):
    one, other = both
    sender = one.sender(1, 5, epoch=1)
    assert sender.connect(50) == -errno.ETIMEDOUT and sender.peer_status() == sockets.NOT_OPEN
    later = other.receiver(0, 5, epoch=2)
    e2e.wait_until(lambda: sender.peer_status() == sockets.EPOCH, e2e.START_S, "the status")
    assert sender.send(b"x")[0] == -errno.ENOTCONN
    refused = other.counts().refused[1]
    assert refused > 0
    now = other.receiver(0, 5, epoch=1)
    assert sender.connect() == 0
    assert sender.send(b"first") == (0, 5) and now.receive_all(5) == b"first"
    following = one.sender(1, 5, epoch=2)
    assert following.connect() == 0
    assert following.send(b"second") == (0, 6) and later.receive_all(6) == b"second"
    assert other.receiver(0, 5, epoch=2) == -errno.EEXIST
    for socket in (sender, following, now, later):
        assert socket.close()[0] == 0


def with_two_receivers(config, side):
    """XPU 2 beside XPU 1 in the right daemon."""
    if side == "right":
        own = config["instances"][0]
        config["instances"].append({**own, "xpu": 2, "ports": [{"port": "p0", "ip": e2e.ip_of(2)}]})
    else:
        config["peers"].append({"xpu": 2, "ports": [{"port": "p0", "ip": e2e.ip_of(2),
                                                     "mac": e2e.mac_of(1)}]})
    return config


def test_multicast_is_complete_when_all_have_it(directory):
    """XPU 0 sends to XPUs 1 and 2. One that does not read holds up the others until the deadline."""
    configs = {side: with_two_receivers(
        e2e.endpoint_config(directory, side, e2e.memif_device(directory, role)), side)
        for side, role in (("left", "server"), ("right", "client"))}
    with e2e.daemons(e2e.Daemon(directory, configs["left"]),
                     e2e.Daemon(directory, configs["right"])) as (left, right):
        for daemon in (left, right):
            daemon.wait_for_link()
        with sockets.Sockets(left.socket) as one, \
                sockets.Sockets(right.socket, planes=[(1, 0)]) as first, \
                sockets.Sockets(right.socket, planes=[(2, 0)]) as second:
            sender = one.sender([1, 2])
            quick = first.receiver(0, ring_bytes=8192)
            assert sender.connect(100) == -errno.ETIMEDOUT
            assert sender.peer_status(0) == sockets.OK
            assert sender.peer_status(1) == sockets.NOT_OPEN
            slow = second.receiver(0, ring_bytes=8192)
            assert sender.connect() == 0, one.error()
            data = secrets.token_bytes(50000)
            result = sender.start_send(data)
            assert quick.receive_all(50000) == data
            assert (result.status, result.pushed_bytes) == (sockets.PENDING, 0)
            assert slow.receive_all(50000) == data
            assert sender.drain() == 0
            assert (result.status, result.pushed_bytes) == (sockets.OK, 50000)
            result = sender.start_send(data, deadline_ms=2000)
            assert quick.receive_all(50000) == data
            assert sender.drain() == -errno.EIO
            assert (result.status, result.pushed_bytes) == (sockets.TIMED_OUT, 50000)
            assert sender.peer_status(0) == sockets.OK
            assert sender.peer_status(1) == sockets.TIMED_OUT
            # The other receiver goes on; the slow one has the beginning of the data.
            sender.start_send(data)
            assert quick.receive_all(50000) == data
            octets = b""
            while isinstance(more := slow.receive(), bytes):
                octets += more
            assert more == -errno.EIO and slow.status == sockets.ABORTED
            assert data.startswith(octets) and len(octets) > 7000


def test_private_streams_have_their_vc(both):
    one, other = both
    sender, receiver = connected(one, other, 7, flags=sockets.PRIVATE)
    assert one.sender(1, 8) == -errno.EBUSY
    assert "private" in one.error()
    assert sender.send(b"alone") == (0, 5) and receiver.receive_all(5) == b"alone"
    assert sender.close()[0] == 0 and receiver.close()[0] == 0
    again = one.sender(1, 8)
    assert again.close(0)[1] == sockets.ABORTED, "nobody was there"


def test_a_receiver_of_any_sender(both):
    one, other = both
    receiver = other.receiver(sockets.ANY, 9)
    assert receiver.info().peer == sockets.ANY
    sender = one.sender(1, 9)
    assert sender.connect() == 0 and receiver.connect() == 0
    assert receiver.info().peer == 0
    assert sender.send(b"hello") == (0, 5) and receiver.receive_all(5) == b"hello"
    # A receiver that closes first fails its sender.
    assert receiver.close() == (0, sockets.OK)
    e2e.wait_until(lambda: sender.status == sockets.CLOSED, e2e.START_S, "the status")
    assert sender.send(b"x")[0] == -errno.EIO
    assert sender.close() == (-errno.EIO, sockets.CLOSED)


def test_calls_out_of_range(both):
    one, _ = both
    for fields in ({"type": 2}, {"vc": 0}, {"vc": 3}, {"flags": 2},
                   {"type": sockets.DATAGRAM, "flags": sockets.PRIVATE}):
        assert one.sender(1, **fields) == -errno.EINVAL, fields
    assert one.sender(1024) == -errno.EINVAL and one.sender([1, 1]) == -errno.EINVAL
    assert one.sender(sockets.ANY) == -errno.EINVAL
    assert one.receiver(1, ring_bytes=4095) == -errno.EINVAL
    receiver = one.receiver(1, 3)
    assert receiver.send(b"x")[0] == -errno.EINVAL and receiver.drain() == -errno.EINVAL
    assert receiver.close() == (0, sockets.OK)
    sender = one.sender(1, 3)
    assert sender.receive(timeout_ms=0) == -errno.EINVAL
    assert sender.close(0)[0] != 0


def test_polled_by_calls_alone():
    with pair(thread=False) as (one, other, _, _):
        sender, receiver = one.sender(1), other.receiver(0)
        while sender.status == sockets.PENDING or receiver.status == sockets.PENDING:
            assert one.poll() == 0 and other.poll() == 0
        result = sender.start_send(b"by calls")
        while not isinstance(got := receiver.receive(timeout_ms=0), bytes):
            assert one.poll() == 0
        assert got == b"by calls"
        while result.status == sockets.PENDING:
            assert other.poll() == 0 and one.poll() == 0
        assert result.status == sockets.OK


def test_a_sender_that_ignores_credit_is_refused(directory):
    """XPU 2 speaks the protocol by hand, and sends more than it was granted; XPU 0 is served meanwhile."""
    configs = {side: with_a_neighbour(
        e2e.endpoint_config(directory, side, e2e.memif_device(directory, role)), side)
        for side, role in (("left", "server"), ("right", "client"))}
    with e2e.daemons(e2e.Daemon(directory, configs["left"]),
                     e2e.Daemon(directory, configs["right"])) as (left, right):
        for daemon in (left, right):
            daemon.wait_for_link()
        with sockets.Sockets(right.socket) as other, \
                sockets.Sockets(left.socket, planes=[(0, 0)]) as one, \
                client.Client(left.socket, (2, 0)) as hostile:
            sender, receiver = connected(one, other)
            victim = other.receiver(2, 1, ring_bytes=4096)
            hostile.claim(2, 1 << 3)
            assert hostile.send_control(1, 3, sockets.connect_command(1, 0, 77, 2 << 4)) == 0
            answers = []
            e2e.wait_until(lambda: answers.extend(hostile.receive_controls(3)) or
                           any(each[2] == 0x30 for each in answers), e2e.START_S, "ACCEPT")
            accept = next(each for each in answers if each[2] == 0x30)
            tag = int.from_bytes(accept[12:16], "big")
            assert int.from_bytes(accept[8:12], "big") == 4096
            for number in range(40):
                control, data = sockets.data_command(tag, number, bytes([number]) * 256, 1)
                e2e.wait_until(lambda c=control, d=data: hostile.send_control(1, 2, c, d) == 0,
                               e2e.START_S, "credit of the daemon")
            e2e.wait_until(lambda: other.counts().refused[3] == 25, e2e.START_S, "the refusals")
            assert victim.receive_all(15 * 256) == b"".join(
                bytes([number]) * 256 for number in range(15))
            assert victim.receive() == -errno.EIO and victim.status == sockets.CREDIT
            e2e.wait_until(lambda: any(each[2:4] == bytes([0x50, sockets.CREDIT])
                                       for each in hostile.receive_controls(3)), e2e.START_S,
                           "REFUSE")
            data = secrets.token_bytes(5000)
            assert sender.send(data) == (0, 5000) and receiver.receive_all(5000) == data


def test_a_process_that_ends_and_comes_back():
    with pair() as (one, other, left, right):
        sender, _ = connected(one, other)
        back = other.sender(0, 1)
        home = one.receiver(1, 1)
        assert home.connect() == 0 and back.connect() == 0
        received = left.counters()["rx_commands_total"]
        back.send(b"before")
        # A process that ends takes along what its daemon has not taken from it yet.
        e2e.wait_until(lambda: left.counters()["rx_commands_total"] > received, e2e.START_S, "the message")
        other.close()
        with sockets.Sockets(right.socket) as again:
            receiver, new = again.receiver(0), again.sender(0, 1)
            # The old stream does not go on with the new life.
            e2e.wait_until(lambda: sender.status in (sockets.RESET, sockets.CLOSED), e2e.START_S,
                           "the reset")
            assert sender.close()[0] == -errno.EIO
            assert home.receive_all(6) == b"before"
            assert home.receive() == -errno.EIO and home.status == sockets.ABORTED
            home.close()
            sender, home = one.sender(1), one.receiver(1, 1)
            for socket in (sender, home, new, receiver):
                assert socket.connect() == 0, one.error()
            sender.send(b"there")
            new.send(b"back")
            assert receiver.receive_all(5) == b"there" and home.receive_all(4) == b"back"
        other.pointer = None


def test_daemons_that_restart(stack):
    with e2e.memif_pair(e2e.GIVEN_UP_SOON) as (directory, left, right):
        client.settle(left, right)
        with sockets.Sockets(left.socket) as one, sockets.Sockets(right.socket) as other:
            sender, receiver = connected(one, other)
            assert sender.send(b"before") == (0, 6) and receiver.receive_all(6) == b"before"
            assert right.terminate() == 0
            e2e.wait_until(lambda: receiver.status == sockets.UNREACHABLE, e2e.START_S, "the loss")
            assert receiver.receive(timeout_ms=0) == -errno.ECONNRESET
            assert other.receiver(0, 1) == -errno.ECONNRESET
            result = sender.start_send(bytes(100), deadline_ms=5000)
            e2e.wait_until(lambda: result.status != sockets.PENDING, e2e.START_S, "the end")
            assert result.status in (sockets.UNREACHABLE, sockets.IN_DOUBT, sockets.TIMED_OUT)
            sender.close(0)
            receiver.close(0)
            stack.enter_context(e2e.Daemon(directory, right.config))
            assert other.reconnect() == 0, other.error()
            sender, receiver = connected(one, other)
            assert sender.send(b"after") == (0, 5) and receiver.receive_all(5) == b"after"


@pytest.mark.parametrize("name, arguments, said", [
    ("socket_c", lambda peer: (peer, 60, 80), "3932160 octets each way"),
    ("socket_cpp", lambda peer: ("0,1", 20, 80), ": 20 rounds of 100 messages")])
def test_examples(name, arguments, said):
    with e2e.memif_pair() as (directory, left, right):
        program = e2e.BUILD / "docs/examples" / name
        with e2e.Process(directory, "a", [program, left.socket, *arguments(1)]) as a, \
                e2e.Process(directory, "b", [program, right.socket, *arguments(0)]) as b:
            for process in (a, b):
                process.expect(0, e2e.START_S)
                assert said in process.stdout()


@pytest.mark.parametrize("kind", [sockets.STREAM, sockets.DATAGRAM])
def test_in_order_and_once_over_failover(kind):
    """Cables are cut while octets are on their way: all arrive once, in order."""
    with two_endpoints(2, "strict") as (_, left, right, fabric):
        with sockets.Sockets(left.socket) as one, sockets.Sockets(right.socket) as other:
            sender, receiver = connected(one, other, type=kind, ring_bytes=65536)
            for cut in range(6):
                cable = cut % 2
                fabric.do(f"cut {cable}" if cut % 3 else f"down {cable}")
                parts = [secrets.token_bytes(20000) for _ in range(10)]
                sending = threading.Thread(target=lambda: [sender.send(part) for part in parts])
                sending.start()
                if kind == sockets.STREAM:
                    assert receiver.receive_all(200000) == b"".join(parts)
                else:
                    assert [receiver.receive() for _ in parts] == parts
                sending.join()
                fabric.do(f"heal {cable}" if cut % 3 else f"up {cable}")
            assert sender.close() == (0, sockets.OK)
            assert receiver.receive() == -errno.ENODATA
