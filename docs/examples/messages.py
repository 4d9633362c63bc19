#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Datagrams over the Python package: two XPUs send numpy arrays to each other.

    messages.py NAME-OR-SOCKET PEER-XPU MESSAGES SECONDS

Started at two endpoints, each with the other's XPU. It ends with 0 once all messages of the peer have come, in order; with 1
after SECONDS or where one is wrong, 2 on wrong usage, 3 where a socket failed, 4 where the daemon is not reachable."""

import sys

import numpy

import suede

ID, EPOCH = 4, 1


def exchange(sockets, peer, messages, seconds):
    """How many messages came, in order."""
    with sockets.receiver(peer, ID, EPOCH, kind="datagram") as receiver, \
            sockets.sender(peer, ID, EPOCH, kind="datagram") as sender:
        sender.connect(seconds)
        came = 0
        for number in range(messages):
            sender.send(numpy.full(1 + number % 100, number, numpy.uint32), seconds)
            array = numpy.frombuffer(receiver.receive(timeout=seconds), numpy.uint32)
            came += len(array) == 1 + number % 100 and bool((array == number).all())
        sender.drain(seconds)
        sender.close(seconds)
        try:
            receiver.receive(timeout=seconds)
        except suede.EndOfStream:
            return came
    raise ValueError("more came than was sent")


def main():
    if len(sys.argv) != 5:
        print("usage: messages.py NAME-OR-SOCKET PEER-XPU MESSAGES SECONDS", file=sys.stderr)
        return 2
    endpoint, peer, messages, seconds = sys.argv[1], *(int(each) for each in sys.argv[2:])
    try:
        with suede.Sockets(endpoint) as sockets:
            came = exchange(sockets, peer, messages, seconds)
    except suede.Error as error:
        print(f"messages.py: {error.strerror}", file=sys.stderr)
        return 4
    except suede.SocketFailed as error:
        print(f"messages.py: the socket has failed: {error}", file=sys.stderr)
        return 3
    except (TimeoutError, ValueError) as error:
        print(f"messages.py: {error}", file=sys.stderr)
        return 1
    print(f"{came} messages, all in order" if came == messages else f"{came} messages of {messages}")
    return 0 if came == messages else 1


if __name__ == "__main__":
    sys.exit(main())
