# SPDX-License-Identifier: Apache-2.0
"""The Python package between two daemons (docs/python.md), from the build directory and from its wheel."""

import os
import sys
import threading

import numpy
import pytest

import client
import e2e
import installed

LIBRARY = e2e.BUILD / "app/libsuede-mem/libsuede-mem.so.1"
os.environ["SUEDE_MEM_LIBRARY"] = str(LIBRARY)
sys.path.insert(0, str(e2e.BUILD / "app/python"))

import suede  # noqa: E402  pylint: disable=wrong-import-position


@pytest.fixture(scope="module")
def pair():
    """(initiator at XPU 0, target of XPU 1 that a thread serves)"""
    with e2e.memif_pair() as (_, left, right):
        client.settle(left, right)
        with suede.Target(right.socket) as target, suede.Memory(left.socket) as memory:
            target.start()
            yield memory, target


def test_arrays_go_and_come(pair):
    memory, target = pair
    window = target.window(1, numpy.zeros((64, 8)))
    sent = numpy.arange(512, dtype=numpy.float64).reshape(64, 8)
    assert memory.put(1, 1, sent).wait() is None
    assert (window.array == sent).all()
    back = numpy.empty((2, 8))
    operation = memory.get(1, 1, back, offset=64)
    memory.read_barrier(timeout=e2e.START_S)
    assert operation.done() and operation.status == suede.OK and (back == sent[1:3]).all()
    with pytest.raises((BufferError, ValueError)):
        memory.put(1, 1, sent[:, ::2])
    target.remove(1)


def test_atomics(pair):
    memory, target = pair
    window = target.window(1, numpy.zeros(8, numpy.uint64))
    assert memory.fetch_add(1, 1, 5).wait() == 0
    assert memory.fetch_add(1, 1, -2).wait() == 5
    assert memory.swap(1, 1, 9).wait() == 3
    assert memory.compare_swap(1, 1, 9, 31).wait() == 9
    assert memory.read_increment(1, 1, boundary=4).wait() == 31
    assert memory.increment(1, 1, 7, counter=2).wait() is None
    assert window.array[0] == 7
    assert memory.fetch_add(1, 1, 2**32 + 1, bits=32, offset=8).wait() == 0
    assert window.array[1] == 1
    target.remove(1)


def test_a_window_of_the_lcore():
    with e2e.memif_pair() as (_, left, right):
        client.settle(left, right)
        with suede.Target(right.socket) as target, suede.Memory(left.socket) as memory:
            window = target.lcore_window(3, (4, 8), numpy.uint64, key=suede.DRAWN)
            sent = numpy.arange(32, dtype=numpy.uint64).reshape(4, 8)
            assert memory.put(1, 3, sent, key=window.key).wait() is None
            assert (window.array == sent).all()
            assert memory.fetch_add(1, 3, 5, offset=8, key=window.key).wait() == 1
            assert window.array[0, 1] == 6
            memory.put_immediate(1, 3, sent[0], 9, key=window.key).wait()
            assert [notice.immediate for notice in target.notices()] == [9]
            target.remove(3)
            with pytest.raises(suede.OperationFailed) as failure:
                memory.put(1, 3, sent, key=window.key).wait()
            assert failure.value.status == suede.NO_WINDOW
            with pytest.raises(suede.Error):
                target.lcore_window(3, 1 << 31)


def test_errors(pair):
    memory, target = pair
    window = target.window(1, numpy.zeros(8), key=suede.DRAWN)
    assert window.key != 0
    with pytest.raises(suede.OperationFailed) as failed:
        memory.put(1, 1, b"x").wait()
    assert failed.value.status == suede.KEY
    assert str(failed.value) == f"KEY: {suede.status_text(suede.KEY)}"
    memory.put(1, 1, bytes(65), key=window.key, counter=3)
    with pytest.raises(suede.OperationFailed, match="BOUNDS"):
        memory.write_barrier(3, timeout=e2e.START_S)
    memory.write_barrier(3, timeout=e2e.START_S)
    with pytest.raises(suede.Error, match="out of range") as error:
        memory.put(1, 5000, b"x")
    assert error.value.errno == 22
    with pytest.raises(TypeError, match="no_such"):
        memory.put(1, 1, b"x", no_such=1)
    with pytest.raises(suede.Error, match="id"):
        target.window(1, numpy.zeros(8))
    with pytest.raises(ValueError):
        target.window(2, numpy.zeros((8, 8))[:, ::2])
    with pytest.raises(suede.Error, match="no.sock"):
        suede.Memory("/no/no.sock")
    target.remove(1)
    with pytest.raises(suede.OperationFailed, match="NO_WINDOW"):
        memory.get(1, 1, bytearray(1)).wait()


def test_what_is_on_its_way_lives_until_the_end(pair):
    memory, target = pair
    window = target.window(1, numpy.zeros(1 << 16, numpy.uint8))
    for value in range(1, 60):
        memory.put(1, 1, bytes([value]) * 1000, offset=1000 * value, counter=4)  # nobody keeps it
    memory.write_barrier(4, timeout=e2e.START_S)
    rows = window.array[1000:60000].reshape(59, 1000)
    assert (rows == numpy.arange(1, 60, dtype=numpy.uint8)[:, None]).all()
    assert not memory._open
    target.remove(1)


def test_notices_and_counts(pair):
    memory, target = pair
    target.window(1, numpy.zeros(64, numpy.uint8))
    memory.put_immediate(1, 1, b"hello", 77, offset=3).wait()
    assert target.notices() == [(0, 1, 3, 5, 77)]
    memory.put_mesh(1, 1, b"m", first_xpuid=1, columns=1, rows=1).wait()
    memory.put_many([1], 1, b"n").wait()
    assert target.counts()["puts_with_immediate"] == 1 and len(target.counts()["refused"]) == 8
    assert memory.counts()["open_operations"] == 0 and memory.pending() == 0
    target.remove(1)


def test_served_by_calls_while_another_thread_waits():
    with e2e.memif_pair() as (_, left, right):
        client.settle(left, right)
        with suede.Target(right.socket) as target, suede.Memory(left.socket) as memory:
            window = target.window(1, numpy.zeros(8, numpy.uint8))
            operation = memory.put(1, 1, b"12345678")
            with pytest.raises(TimeoutError):
                operation.wait(timeout=0.05)
            waiting = threading.Thread(target=operation.wait)
            waiting.start()
            while operation.status == suede.PENDING:
                if target.wait(1):
                    target.serve()
            waiting.join()
            assert bytes(window.array) == b"12345678"
        with pytest.raises(ValueError, match="closed"):
            memory.poll()


def test_a_receiver_that_leaves_once_it_has_everything():
    """Both ends in `with` blocks, in a loop: whichever of them ends first, nothing has failed."""
    with e2e.memif_pair() as (_, left, right):
        client.settle(left, right)
        with suede.Sockets(left.socket) as here, suede.Sockets(right.socket) as there:
            got = []

            def receive():
                for number in range(100):
                    with there.receiver(0, 3, epoch=number) as receiver:
                        got.append(receiver.receive_exactly(5000, e2e.START_S))

            receiving = threading.Thread(target=receive)
            receiving.start()
            for number in range(100):
                with here.sender(1, 3, epoch=number) as sender:
                    sender.connect(e2e.START_S)
                    sender.send(bytes([number]) * 5000, e2e.START_S)
                    if number % 2:
                        sender.drain(e2e.START_S)
            receiving.join(e2e.START_S)
            assert got == [bytes([number]) * 5000 for number in range(100)]


def test_statuses_have_texts():
    assert suede.status_text(suede.UNREACHABLE) in str(suede.OperationFailed(suede.UNREACHABLE))
    assert suede.socket_status_text(suede.SOCKET_CLOSED) in str(suede.SocketFailed(suede.SOCKET_CLOSED))
    assert len({suede.status_text(each) for each in (*range(2), *range(16, 24), *range(32, 35))}) == 13


def test_sockets():
    with e2e.memif_pair() as (_, left, right):
        client.settle(left, right)
        with suede.Sockets(left.socket) as here, suede.Sockets(right.socket) as there:
            assert (here.xpuid, there.xpuid) == (0, 1)
            sender, receiver = here.sender(1, 3, epoch=9), there.receiver(0, 3, epoch=9)
            sender.connect(e2e.START_S)
            vector = numpy.arange(100000, dtype=numpy.float64)
            sending = sender.start_send(vector)
            back = numpy.frombuffer(receiver.receive_exactly(800000, e2e.START_S))
            assert (back == vector).all()
            sender.drain(e2e.START_S)
            assert sending.done() and sending.status == suede.SOCKET_OK
            assert sending.pushed_bytes == 800000
            with pytest.raises(TimeoutError):
                receiver.receive(timeout=0.01)
            with pytest.raises(suede.Error) as error:
                here.sender(1, 3, epoch=9)
            assert error.value.errno == 17
            sender.close(e2e.START_S)
            with pytest.raises(suede.EndOfStream):
                receiver.receive(timeout=e2e.START_S)
            receiver.close()

            waiting = here.sender(1, 4)
            with pytest.raises(TimeoutError):
                waiting.connect(0.05)
            assert waiting.peer_status() == suede.SOCKET_NOT_OPEN
            with there.receiver(suede.ANY, 4) as anybody:
                waiting.connect(e2e.START_S)
                assert anybody.info()["peer"] == 0
            with pytest.raises(suede.SocketFailed) as failed:
                while True:
                    waiting.send(b"nobody reads it", e2e.START_S)
            assert failed.value.status == suede.SOCKET_CLOSED
            assert str(failed.value) == f"CLOSED: {suede.socket_status_text(suede.SOCKET_CLOSED)}"
            with pytest.raises(suede.SocketFailed):
                waiting.close()

            with there.receiver(0, 5, kind="datagram", ring_bytes=8192) as box, \
                    here.sender([1], 5, kind="datagram") as messages:
                messages.connect(e2e.START_S)
                for message in (b"", b"one", bytes(3900)):
                    messages.send(message)
                    assert box.receive(timeout=e2e.START_S) == message
                with pytest.raises(suede.Error) as error:
                    messages.send(bytes(5000))
                assert error.value.errno == 90
                with pytest.raises(TimeoutError) as late:
                    for _ in range(4):
                        messages.send(bytes(3900), timeout=0.05)
                assert late.value.pushed_bytes < 3900
                with pytest.raises(suede.SocketFailed, match="TIMED_OUT"):
                    messages.drain(e2e.START_S)
            assert here.counts()["sent_bytes"] > 800000 and len(there.counts()["refused"]) == 8
        with pytest.raises(ValueError, match="closed"):
            here.poll()


def test_example_of_sockets():
    with e2e.memif_pair() as (directory, left, right):
        argv = [sys.executable, e2e.ROOT / "docs/examples/messages.py"]
        prefix = ["env", f"PYTHONPATH={e2e.BUILD / 'app/python'}"]
        with e2e.Process(directory, "a", [*argv, left.socket, 1, 200, 60], prefix) as a, \
                e2e.Process(directory, "b", [*argv, right.socket, 0, 200, 60], prefix) as b:
            for process in (a, b):
                process.expect(0, e2e.START_S)
                assert "200 messages, all in order" in process.stdout()


def all_reduce(python, environment):
    with e2e.memif_pair() as (directory, left, right):
        argv = [python, e2e.ROOT / "docs/examples/memory.py"]
        prefix = ["env", *(f"{name}={value}" for name, value in environment.items())]
        with e2e.Process(directory, "a", [*argv, left.socket, "0,1", 500, 60], prefix) as a, \
                e2e.Process(directory, "b", [*argv, right.socket, "0,1", 500, 60], prefix) as b:
            for process in (a, b):
                process.expect(0, e2e.START_S)
                assert "the sum of 2 vectors is right" in process.stdout()


def test_example():
    all_reduce(sys.executable, {"PYTHONPATH": e2e.BUILD / "app/python"})


@pytest.mark.long
def test_the_wheel_in_a_fresh_environment(directory):
    """With the system's packages and nothing from a network."""
    installed.run(e2e.ROOT / "tools/wheel", "--output", directory)
    installed.run(sys.executable, "-m", "venv", "--system-site-packages", directory / "venv")
    wheel, = directory.glob("*.whl")
    python = directory / "venv/bin/python3"
    installed.run(python, "-m", "pip", "install", "--no-index", "--no-deps", wheel,
                  env={"PATH": os.environ["PATH"]})
    where = installed.run(python, "-c", "import suede; print(suede.__file__)",
                          env={"SUEDE_MEM_LIBRARY": str(LIBRARY)})
    assert where.startswith(str(directory)), where
    all_reduce(python, {"PYTHONPATH": ""})
