# SPDX-License-Identifier: Apache-2.0
"""The XPUs that each user may be (clients.rules)."""

import contextlib
import errno
import json
import os

import pytest

import client
import e2e
from test_registers import change

MALFORMED = 4


@contextlib.contextmanager
def as_user(uid):
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)


def connect_as(uid, daemon):
    with as_user(uid):
        return client.Client(daemon.socket)


def test_rules_say_who_is_which_xpu(as_root, directory):
    directory.chmod(0o711)
    config = e2e.changed(e2e.endpoint_config(directory, "left", "net_null0"),
                         {"clients": {"socket_mode": "0666", "rules": ["1000:0:1"]}})
    with e2e.Daemon(directory, config) as daemon:
        # Root, as which the daemon runs, is no exception.
        for uid in (1001, 0):
            with pytest.raises(OSError) as refused:
                connect_as(uid, daemon)
            assert refused.value.errno == errno.EACCES
            assert f'add "{uid}:0" to clients.rules' in str(refused.value)
        events = e2e.managed(daemon, "events", "list", "--kind", "client_refused")["events"]
        assert [event["uid"] for event in events] == [1001, 0]

        with connect_as(1000, daemon) as bound:
            bound.claim(0, 0b0010)
            with pytest.raises(AssertionError, match='add "1000:0:0,2,3" to clients.rules'):
                bound.claim(0)
            assert bound.send(1, 0, 1, b"not its VC") == 0
            assert bound.complete([1], e2e.START_S) == {1: MALFORMED}

            # One more rule, at once; the other user's goes, and its client keeps its VCs.
            changed = directory / "changed.json"
            changed.write_text(json.dumps(e2e.changed(config, {"clients": {"rules": ["1001:0"]}})))
            change(daemon, "config", "load", changed)
            with connect_as(1001, daemon) as other:
                other.claim(0, 0b1101)
            assert bound.status() == 0
            assert bound.send(1, 3, 2, b"nor is this") == 0
            assert bound.complete([2], e2e.START_S) == {2: MALFORMED}
        with pytest.raises(OSError, match='add "1000:0" to clients.rules'):
            connect_as(1000, daemon)
        assert daemon.terminate() == 0
