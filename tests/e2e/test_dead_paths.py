# SPDX-License-Identifier: Apache-2.0
"""Planes over veth pairs that forward nothing while their links are up: both directions, or the path of the answers
alone. The planes' own hellos find them dead, commands go over the other plane, and nothing is lost or doubled.

$SUEDE_PATH_TIMES: cut so often, and print how long it took until the endpoint's event of the plane that is
down; $SUEDE_PATH_HELLO_US: with that planes.hello_interval_us (docs/planes.md, "Tests")."""

import contextlib
import datetime
import os
import time

import pytest

import e2e
import links
from test_events import Watcher
from test_planes import Load, check_ends, orderings, veth_planes, wait_for_planes

CUTS = int(os.environ.get("SUEDE_PATH_TIMES", "1"))
TIMES = "SUEDE_PATH_TIMES" in os.environ
HELLO = {"planes": {"hello_interval_us": int(os.environ["SUEDE_PATH_HELLO_US"])}} \
    if "SUEDE_PATH_HELLO_US" in os.environ else {}
ENDS = (0, 1)


class Cable:
    """One plane's veth pair. A token bucket that is smaller than any frame drops all that its end sends."""

    def __init__(self, names, interfaces, plane):
        self.ends = [(names[end], interfaces[end][plane]) for end in ENDS]

    def cut(self, ends):
        """Returns between which times the first end was cut."""
        begun, times = time.time(), []
        for name, interface in (self.ends[end] for end in ends):
            links.ip("netns", "exec", name, "tc", "qdisc", "add", "dev", interface, "root", "tbf",
                     "rate", "8bit", "burst", "10", "limit", "10")
            times.append(time.time())
        return begun, times[0]

    def heal(self, ends):
        for name, interface in (self.ends[end] for end in ends):
            links.ip("netns", "exec", name, "tc", "qdisc", "del", "dev", interface, "root")


def seconds_of(event):
    return datetime.datetime.fromisoformat(event["time"].replace("Z", "+00:00")).timestamp()


@contextlib.contextmanager
def watched_load(stack, directory, ordering):
    left, right, prefixes, names, interfaces = stack.enter_context(
        veth_planes(directory, ordering, ",qdisc_bypass=0", HELLO))
    watchers = [stack.enter_context(Watcher(directory, daemon)) for daemon in (left, right)]
    load = Load(stack, directory, left, right, prefixes)
    wait_for_planes(left, 2)
    wait_for_planes(right, 2)
    yield left, right, watchers, load, [Cable(names, interfaces, plane) for plane in (0, 1)]
    load.end()
    check_ends(left, right)


@orderings
@pytest.mark.parametrize("ends", [(0, 1), (0,), (1,)], ids=["both ways", "the way there", "the answers"])
def test_a_plane_that_forwards_nothing(stack, directory, as_root, ordering, ends):
    del as_root
    with watched_load(stack, directory, ordering) as (left, right, watchers, load, cables):
        for plane in (0, 1) * CUTS:
            before = [len(watcher.events()) for watcher in watchers]
            begun, cut = cables[plane].cut(ends)
            downs = []
            for end, watcher in enumerate(watchers):
                def down(watcher=watcher, end=end):
                    return [event for event in watcher.events()[before[end]:] if
                            event["kind"] == "peer_plane_down" and event["plane"] == plane]
                downs.append(e2e.wait_until(down, e2e.START_S, f"plane {plane} is down at end {end}")[0])
            # No link went down, and no operator did it.
            assert {event["reason"] for event in downs} <= {"silence", "peer", "fence", "timeouts", "paused"}, downs
            if TIMES:
                after = (f"{1000 * (seconds_of(event) - cut):.1f} to {1000 * (seconds_of(event) - begun):.1f}"
                         for event in downs)
                print(f"{ordering} {ends} plane {plane}: down after {', '.join(after)} ms")
            # Sending goes on over the other plane, in both directions.
            load.goes_on()
            cables[plane].heal(ends)
            for daemon in (left, right):
                wait_for_planes(daemon, 2)
            load.goes_on()
