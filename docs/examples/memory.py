#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""An all-reduce by puts and counters over the Python package.

    memory.py NAME-OR-SOCKET XPUS LENGTH SECONDS

Started at the endpoints of all XPUS (0,1,2). Each has a vector of LENGTH numbers; at the end each has their sum. It
ends with 0 then; with 1 after SECONDS, 2 on wrong usage, 3 where an operation failed, 4 where the daemon is not
reachable."""

import sys
import time

import numpy

import suede

WINDOW = 3


def find(memory, xpuid, deadline):
    """Waits until an XPU answers: it may not be there yet."""
    while True:
        try:
            return memory.fetch_add(xpuid, WINDOW, 0, deadline=0.5).wait()
        except suede.OperationFailed:
            if time.monotonic() > deadline:
                raise


def all_reduce(memory, rank, xpus, share, vector, deadline):
    """`share`: the own window: counters of those that are here and that have come, then a row for each XPU."""
    others = [place for place in range(len(xpus)) if place != rank]
    row = 8 * (2 + rank * len(vector))
    for place in others:
        find(memory, xpus[place], deadline)
        memory.put(xpus[place], WINDOW, vector, offset=row)
    # The vectors have arrived before the counters count them.
    memory.write_barrier(timeout=deadline - time.monotonic())
    for place in others:
        memory.increment(xpus[place], WINDOW, offset=8)
    memory.write_barrier(timeout=deadline - time.monotonic())
    while share[1] < len(others):
        if time.monotonic() > deadline:
            raise TimeoutError("not all have come")
        time.sleep(0.0001)
    rows = share[2:].reshape(len(xpus), len(vector))
    rows[rank] = vector
    return rows.sum(axis=0)


def main():
    if len(sys.argv) != 5:
        print("usage: memory.py NAME-OR-SOCKET XPUS LENGTH SECONDS", file=sys.stderr)
        return 2
    endpoint, xpus = sys.argv[1], [int(number) for number in sys.argv[2].split(",")]
    length, deadline = int(sys.argv[3]), time.monotonic() + float(sys.argv[4])
    share = numpy.zeros(2 + len(xpus) * length, numpy.uint64)
    try:
        with suede.Target(endpoint) as target, suede.Memory(endpoint) as memory:
            target.window(WINDOW, share)
            target.start()
            rank = xpus.index(memory.xpuid)
            vector = numpy.arange(length, dtype=numpy.uint64) * numpy.uint64(rank + 1)
            total = all_reduce(memory, rank, xpus, share, vector, deadline)
            time.sleep(1)  # others may still be looking for this one
    except suede.Error as error:
        print(f"memory.py: {error.strerror}", file=sys.stderr)
        return 4
    except suede.OperationFailed as error:
        print(f"memory.py: an operation ended as {error}", file=sys.stderr)
        return 3
    except TimeoutError as error:
        print(f"memory.py: {error}", file=sys.stderr)
        return 1
    factor = len(xpus) * (len(xpus) + 1) // 2
    good = bool((total == numpy.arange(length, dtype=numpy.uint64) * numpy.uint64(factor)).all())
    print(f"XPU {xpus[rank]}: the sum of {len(xpus)} vectors is {'right' if good else 'wrong'}")
    return 0 if good else 3


if __name__ == "__main__":
    sys.exit(main())
