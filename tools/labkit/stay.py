# SPDX-License-Identifier: Apache-2.0
"""Begin and end of a lab that stays up: a process of its own keeps it."""

import dataclasses
import os
import pathlib
import signal
import sys
import time

from labkit import backend as backends
from labkit import desk, expect, run, start, state
from labkit.scenario import ScenarioError

BACKENDS = ("local", "veth")
DOWN_S = 180
LOG = "lab.log"


def up(args):
    """Starts the lab in a process of its own, and ends once all nodes are up."""
    read, plan, kind = start.prepare(args)
    name = args.name or read.name
    if not state.NAME.fullmatch(name):
        raise ScenarioError([f"flag --name: {name} is no name; write 1 to 32 letters, digits, _ and -"])
    if kind.name not in BACKENDS:
        raise ScenarioError([f"{read.where('backend')}: backend: a lab of the back end {kind.name} does not stay up; take "
                             + " or ".join(BACKENDS)])
    if state.is_kept(name):
        raise backends.LabError(f"the lab {name} is up already; end it by {backends.PROGRAM} down {name}, or choose another --name")
    start.check_all(read, plan, kind, args)
    plan = dataclasses.replace(plan, load=[], faults=[], expect=expect.of_loads_alone(plan.expect))
    out = start.output_of(args, read, plan)
    sys.stdout.flush()
    sys.stderr.flush()
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ready)
        _keep(read, plan, kind, args, out, name, tell)
    os.close(tell)
    return _wait_for(child, ready, name, out, args)


def _wait_for(child, ready, name, out, args):
    """Waits until the process of the lab says that all is up, or ends."""
    signal.signal(signal.SIGTERM, lambda number, _: os.kill(child, number))
    with open(ready, "rb") as told:
        while True:
            try:
                is_up = told.read() == b"ready"
                break
            except KeyboardInterrupt:
                os.kill(child, signal.SIGTERM)
    if not is_up:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) or start.FAILURE
    if not args.quiet:
        print(f"lab {name} is up: {len(state.read(name)['nodes'])} nodes; page: {out}/report.html\n"
              f"  {start.PROGRAM} status {name}; {start.PROGRAM} down {name} ends it")
    return start.PASS


def _keep(read, plan, kind, args, out, name, tell):
    """The process of the lab. Never returns."""
    code = start.FAILURE
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        run.on_signals()
        progress = run.Progress(args.quiet)
        quiet = args.quiet
        args.quiet = True

        def on_ready(lab):
            progress.close()
            _leave_terminal(out / LOG)
            lab.progress = run.Progress(True)
            args.quiet = quiet
            os.write(tell, b"ready")
            os.close(tell)

        code = start.guarded(lambda _: start.carry_out(
            plan, kind, args, out, progress,
            lambda backend, reporter: desk.Desk(read, plan, backend, reporter, stays=True, notify=on_ready), lab_name=name), args)
    except BaseException as error:  # pylint: disable=broad-except
        print(f"lab: {type(error).__name__}: {error}", file=sys.stderr)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _leave_terminal(log):
    """Standard input is empty from now on, and all output goes to the log."""
    sys.stdout.flush()
    sys.stderr.flush()
    null = os.open(os.devnull, os.O_RDONLY)
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    for descriptor, number in ((null, 0), (file, 1), (file, 2)):
        os.dup2(descriptor, number)
    os.close(null)
    os.close(file)


def down(name):
    """Ends a lab; its report is written before. The exit code."""
    try:
        told = desk.call(name, "down", DOWN_S)
    except backends.LabError:
        if not _end_by_signal(name):
            raise
        print(f"lab {name} was ended by a signal")
        return start.PASS
    deadline = time.monotonic() + DOWN_S
    while state.is_kept(name) and time.monotonic() < deadline:
        time.sleep(0.02)
    failed = [check["name"] for check in told["verdict"]["checks"] if not check["pass"]]
    for problem in told["problems"]:
        print("problem: " + problem)
    if failed:
        print("expectations that were missed: " + ", ".join(failed))
    print(f"lab {name} has ended; report: {pathlib.Path(told['out'])}/report.html")
    return start.PASS


def _end_by_signal(name):
    """Ends a lab that does not answer, as one that is starting. Returns whether it has ended."""
    record = (state.read(name) or {}).get("keeper")
    descriptor = state.send(record, signal.SIGTERM) if record else None
    if descriptor is not None:
        os.close(descriptor)
    deadline = time.monotonic() + DOWN_S
    while state.is_kept(name) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not state.is_kept(name)
