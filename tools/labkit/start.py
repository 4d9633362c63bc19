# SPDX-License-Identifier: Apache-2.0
"""Everything from a command line to a lab: the scenario, its check, the back end, the reports, the exit code."""

import copy
import datetime
import os
import pathlib
import shutil
import sys

from labkit import backend as backends
from labkit import check, plan as plans, report_text, reports, run, scenario, schema

PASS, FAILURE, USAGE, EXPECTATION, PREFLIGHT = 0, 1, 2, 3, 5
EXIT_CODES = (
    (PASS, "All expectations were met."),
    (FAILURE, "Failure at run time: a process ended, a fault could not be made or never came, a load took longer than timeout_s, a "
     "report cannot be written, or the run was interrupted."),
    (USAGE, "Usage, an error of the scenario, or a report that cannot be read."),
    (EXPECTATION, "An expectation was not met; with --compare: B is worse."),
    (PREFLIGHT, "Something is missing on the machine; the message has the command that corrects this."),
)
ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = backends.PROGRAM


def add_scenario_options(parser):
    """Options of a scenario, and of the programs that run it."""
    parser.add_argument("--backend", choices=schema.BACKENDS, help="what runs it; else the scenario says so")
    parser.add_argument("--out", metavar="DIR", help="directory of the report; else ./lab-NAME-TIME")
    parser.add_argument("--seed", type=int, metavar="N", help="instead of the scenario's")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="sets",
                        help="a key of the scenario: load[0].bytes=1000; as often as wanted")
    parser.add_argument("--build", metavar="DIR", help="directory of the programs; else build/ of this checkout, or the "
                        "installed ones; also $SUEDE_BUILD")
    parser.add_argument("--keep", action="store_true", help="keep configurations and logs in the directory of a run that "
                        "passed")
    parser.add_argument("--quiet", action="store_true", help="no progress, and no text but the verdict")


def programs(args):
    """Directory of a build, or None for the installed programs."""
    named = args.build or os.environ.get("SUEDE_BUILD")
    if named:
        return pathlib.Path(named).resolve()
    return ROOT / "build" if (ROOT / "build").is_dir() else None


def prepare(args):
    """(scenario, plan, back end's class). Raises ScenarioError, LabError."""
    read = scenario.load(args.scenario, args.sets, args.seed, programs(args))
    read.data["backend"] = args.backend or read["backend"]  # limits depend on it
    return read, plans.make(read), backends.find(read["backend"])


def output_of(args, read, plan):
    """Makes the directory of the report, with plan.json."""
    time = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    out = pathlib.Path(args.out or f"lab-{read.name}-{time}").resolve()
    out.mkdir(parents=True, exist_ok=True)
    (out / "plan.json").write_text(plan.to_json(), encoding="utf-8")
    return out


def guarded(function, args):
    """The exit code of function(args), whose errors are printed."""
    try:
        return function(args)
    except scenario.ScenarioError as error:
        return refuse(error)
    except run.Interrupted as interrupted:
        print(f"problem: interrupted by {interrupted}")
        return FAILURE
    except backends.PreflightError as error:
        print(f"lab: {error}", file=sys.stderr)
        return PREFLIGHT
    except backends.LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return FAILURE
    except OSError as error:
        where = error.filename or getattr(args, "out", None) or "the directory of the report"
        print(f"lab: {where}: {error.strerror}; the report goes into the directory --out", file=sys.stderr)
        return FAILURE


def check_all(read, plan, kind, args):
    """check.Checker, where the programs are on this machine."""
    try:
        check_plan(read, plan, kind, args)
    except backends.PreflightError:
        pass  # the back end says so itself; one of other machines has its programs there


def check_plan(read, plan, kind, args):
    """Everything that will be started, by the programs themselves. Raises ScenarioError, or PreflightError."""
    # A copy, for a back end takes nodes out of a plan that are not its own.
    backend = kind(copy.deepcopy(plan), pathlib.Path("/tmp"), build=programs(args), inventory=args.inventory)
    for warning in check.Checker(read, backend.plan, backend).run():
        print("lab: warning: " + warning, file=sys.stderr)


def carry_out(plan, kind, args, out, progress, attend=None, lab_name=None):
    """Runs the plan and writes the reports; the exit code. `attend` makes the attendant of the opened back end; a lab with a
    name stays until that ends it, and its plan is the attendant's."""
    build = programs(args)
    reporter = reports.Reporter(plan, kind.name, build, out)
    collected, code, attendant = run.empty(), FAILURE, None
    backend = kind(plan, out, build=build, inventory=args.inventory, keep=args.keep, lab_name=lab_name)
    try:
        with backend:
            attendant = attend(backend, reporter) if attend and backend.lab else None
            collected = run.run(plan, backend, progress, attendant, stays=lab_name is not None)
    except run.Interrupted as interrupted:
        collected["problems"].append(f"interrupted by {interrupted}")
    except backends.PreflightError as error:
        print(f"lab: {error}", file=sys.stderr)
        return PREFLIGHT
    except backends.LabError as error:
        collected["problems"].append(str(error))
    finally:
        backend.stop()  # also where a signal came in front of its end
        progress.close()
    report = reporter.make(collected)
    if not collected["problems"]:
        code = PASS if report["verdict"]["pass"] else EXPECTATION
    try:
        _write_reports(reporter, report, args, collected)
        if code == PASS and not args.keep:
            for name in ("config", "load", "logs"):
                shutil.rmtree(out / name, ignore_errors=True)
    finally:
        if attendant:
            attendant.finish(report)
    return code


def _write_reports(reporter, report, args, collected):
    text = report_text.make(report, args.wide)
    print(text.splitlines()[0] if args.quiet else text, end="\n" if args.quiet else "", flush=True)
    for problem in report["problems"] if args.quiet else []:
        print("problem: " + problem)
    names = reporter.write(report, collected, text)
    if not args.quiet:
        print(f"\n{reporter.out}: {', '.join(names)}")


def refuse(error):
    print("\n".join("lab: " + line for line in error.messages), file=sys.stderr)
    return USAGE
