#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""pfc_storm INTERFACE CLASSES QUANTA INTERVAL_US: a broken peer, which sends PFC frames until it is killed."""

import socket
import struct
import sys
import time


def frame(classes, quanta):
    """IEEE 802.1Qbb: MAC control 0x0101, a mask of classes, a time for each."""
    mask = sum(1 << each for each in classes)
    times = [quanta if mask >> each & 1 else 0 for each in range(8)]
    body = struct.pack(">HHH8H", 0x8808, 0x0101, mask, *times)
    return (bytes.fromhex("0180c2000001" "020000000bad") + body).ljust(60, b"\0")


def main():
    interface, classes, quanta, interval_us = sys.argv[1:]
    data = frame([int(each) for each in classes.split(",")], int(quanta))
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
        sender.bind((interface, 0))
        while True:
            try:
                sender.send(data)
            except OSError:  # the queue of the interface is full
                pass
            time.sleep(int(interval_us) / 1e6)


if __name__ == "__main__":
    main()
