# SPDX-License-Identifier: Apache-2.0
"""A lab from its start to its end: nodes, then loads and faults, then the end; whatever happens, the back end is stopped."""

import sys
import time

from labkit import backend as backends
from labkit import rpc
from labkit.lab import Lab, empty
from labkit.signals import Interrupted, check_signals, on_signals

__all__ = ["Attendant", "Interrupted", "Progress", "empty", "on_signals", "run"]


class Progress:
    """A line a second on a pipe, one that is written over on a terminal."""

    def __init__(self, quiet, out=None):
        self.out = out or sys.stderr
        self.quiet = quiet
        self.terminal = self.out.isatty()
        self.last = 0.0
        self.open = False

    def say(self, text):
        """Reports a step, always."""
        if not self.quiet:
            self._write(text)

    def tell(self, text):
        """Reports progress, at most once a second."""
        if not self.quiet and time.monotonic() >= self.last + 1:
            self._write(text)

    def _write(self, text):
        self.last = time.monotonic()
        self.open = self.terminal
        self.out.write(f"\r{text[:118]}\033[K" if self.terminal else f"lab: {text}\n")
        self.out.flush()

    def close(self):
        if self.open:
            self.out.write("\r\033[K")
            self.out.flush()
        self.open = False


class Attendant:
    """Activity beside a lab. This one passes the time and does nothing else."""

    def on_ready(self, lab):
        """All nodes are up."""

    def turn(self, _lab, seconds):
        """Passes the time until the lab's next turn."""
        time.sleep(seconds)

    def is_over(self, lab):
        """Whether the lab is to end: a run ends with its loads."""
        return lab.is_over()


def run(plan, backend, progress, attendant=None, stays=False):
    """Carries out the plan on an opened back end. A lab that stays takes its loads and faults from its attendant, and ends
    when that says so. Returns a dict of what was collected, also after an early end."""
    if backend.is_batch:
        def tell(seconds, text):
            check_signals()
            progress.tell(f"{seconds:.1f} s: {text}")
        return {**empty(), **backend.run_batch(tell)}
    attendant = attendant or Attendant()
    lab = Lab(plan, backend, progress, stays)
    try:
        lab.up()
        lab.schedule()
        attendant.on_ready(lab)
        while not attendant.is_over(lab):
            check_signals()
            lab.step()
            attendant.turn(lab, lab.idle_s())
        lab.settle()
        lab.down()
    except Interrupted as interrupted:
        lab.problems.append(f"interrupted by {interrupted}: what follows is the run up to then")
        lab.salvage()
    except (backends.LabError, rpc.RpcError) as error:
        lab.problems.append(str(error))
        lab.salvage()
    finally:
        lab.sampler.close()
    return lab.collected()
