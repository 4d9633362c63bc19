# SPDX-License-Identifier: Apache-2.0
"""Signals that end a lab in order."""

import signal

from labkit import backend as backends


class Interrupted(Exception):
    """SIGINT, SIGTERM or SIGHUP."""


_signal = None  # name of the signal that was taken


def on_signals():
    """The first signal raises Interrupted; the others are ignored, for all is being ended.

    Python loses an exception that a handler raises within a destructor or a hook of fork(), so a run that goes on calls
    check_signals().
    """
    def raise_once(number, _frame):
        global _signal
        _signal = signal.Signals(number).name
        for each in backends.SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        raise Interrupted(_signal)

    for number in backends.SIGNALS:
        signal.signal(number, raise_once)


def check_signals():
    """Raises Interrupted if a signal was taken."""
    if _signal is not None:
        raise Interrupted(_signal)
