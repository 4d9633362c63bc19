# SPDX-License-Identifier: Apache-2.0
"""Session groups between two daemons (docs/sessions.md): sessions open and take other numbers under load, and no
command is lost, doubled or damaged."""

import contextlib

import pytest

import e2e
from test_planes import Load, check_ends, orderings

# Sessions are as congested as the machine's scheduling makes them, and old at once.
BUSY = {"interval_us": 50, "open_percent": 101, "max_age_us": 50000}


def sessions(daemon, *flags):
    return e2e.managed(daemon, "sessions", "list", *flags)["sessions"]


def counter(daemon, name):
    total, = e2e.managed(daemon, "counters", "get")["sets"]
    return total["counters"][name]


@orderings
@pytest.mark.parametrize("count,most", [(1, 8), (2, 4)])
def test_sessions_open_and_move_under_load(count, most, ordering):
    changes = {"sessions": {"max": most, **BUSY}}
    with e2e.memif_planes(count, ordering, changes) as (directory, left, right):
        with contextlib.ExitStack() as stack:
            load = Load(stack, directory, left, right)
            for daemon in (left, right):
                e2e.wait_until(lambda d=daemon: counter(d, "session_moves_total") > 10, e2e.TRAFFIC_S,
                               f"sessions of {daemon.name} move")
            load.goes_on()
            rows = sessions(left)
            load.end()
        assert rows and all(row["session"] < most and row["number"] % most == row["session"]
                            for row in rows), rows
        assert any(row["number"] >= most for row in rows), rows
        assert {row["plane"] for row in sessions(left, "--idle")} == set(range(count))
        assert len(sessions(left, "--idle")) == count * most
        for daemon in (left, right):
            assert counter(daemon, "rx_sessions_total") > 10
            events = e2e.managed(daemon, "events", "list", "--limit", 1000)["events"]
            moved = [event for event in events if event["kind"] == "session_moved"]
            assert moved and all(event["session"] < most and event["plane"] < count for event in moved), events
            assert any(event["kind"] == "session_opened" for event in events), events
        check_ends(left, right)


@orderings
def test_sessions_are_drained_and_expire_under_load(ordering):
    # A calm moment closes a session, and the next busy one opens it.
    changes = {"sessions": {"max": 4, "interval_us": 50, "open_percent": 101, "idle_intervals": 1, "max_age_us": 5000}}
    with e2e.memif_planes(1, ordering, changes) as (directory, left, right):
        with contextlib.ExitStack() as stack:
            load = Load(stack, directory, left, right)
            for daemon in (left, right):
                kinds = set()

                def all_seen(d=daemon, seen=kinds):
                    seen |= {event["kind"] for event in e2e.managed(d, "events", "list", "--limit", 1000)["events"]}
                    return {"session_opened", "session_closed", "session_moved"} <= seen
                e2e.wait_until(all_seen, e2e.TRAFFIC_S, f"sessions of {daemon.name} come and go")
            load.goes_on()
            load.end()
        check_ends(left, right)


def test_the_smaller_of_both_ends_values_counts():
    changes = [{"sessions": {"max": 8}}, {"sessions": {"max": 2}}]
    with e2e.memif_planes(2, "unordered", changes) as (directory, left, right):
        assert e2e.both_ways(directory, left, right, 0.5) > 1000
        for daemon in (left, right):
            assert {row["session"] for row in sessions(daemon, "--idle")} == {0, 1}
            assert counter(daemon, "hello_mismatch_total") == 0
        check_ends(left, right)


def test_one_end_without_groups_has_one_session():
    changes = [{"sessions": {"max": 8}}, {}]
    with e2e.memif_planes(2, "unordered", changes) as (directory, left, right):
        assert e2e.both_ways(directory, left, right, 0.5) > 1000
        for daemon in (left, right):
            assert sessions(daemon, "--idle") == []
            assert counter(daemon, "rx_drop_session_total") == 0
        check_ends(left, right)
