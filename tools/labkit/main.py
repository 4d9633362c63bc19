# SPDX-License-Identifier: Apache-2.0
"""The command line of tools/lab."""

import argparse
import copy
import datetime
import os
import pathlib
import re
import shutil
import subprocess
import sys

from labkit import backend as backends
from labkit import check, compare, expect, plan as plans, record, report_html, report_json, report_text, run, scenario, schema

PASS, FAILURE, USAGE, EXPECTATION, PREFLIGHT = 0, 1, 2, 3, 5
ROOT = pathlib.Path(__file__).resolve().parents[2]

DESCRIPTION = """Builds the fabric of a scenario file, runs its loads and faults, and says whether it met its expectations.

  tools/lab conf/lab/all-to-all.yaml
  tools/lab --set topology.xpus=4 --set 'load[0].iterations=3' conf/lab/all-to-all.yaml
  tools/lab --generate /tmp/eight conf/lab/all-to-all.yaml

docs/lab.md is its manual. Exit codes: 0 all expectations were met, 1 failure at run time, 2 usage or scenario,
3 an expectation was not met, 5 something is missing on the machine."""


def parse(argv):
    parser = argparse.ArgumentParser(prog="tools/lab", description=DESCRIPTION,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario", metavar="SCENARIO.yaml", nargs="?", help="the file (docs/lab.md)")
    parser.add_argument("--backend", choices=schema.BACKENDS, help="what runs it; else the scenario says so")
    parser.add_argument("--inventory", metavar="FILE", help="hosts of the back end servers")
    parser.add_argument("--out", metavar="DIR", help="directory of the report; else ./lab-NAME-TIME")
    parser.add_argument("--check", action="store_true", help="check the scenario, and end")
    parser.add_argument("--generate", metavar="DIR", help="write plan.json and all configurations there, and end")
    parser.add_argument("--seed", type=int, metavar="N", help="instead of the scenario's")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="sets",
                        help="a key of the scenario: load[0].bytes=1000; as often as wanted")
    parser.add_argument("--build", metavar="DIR", help="directory of the programs; else build/ of this checkout, or the "
                        "installed ones; also $SUEDE_BUILD")
    parser.add_argument("--keep", action="store_true", help="keep configurations and logs in the directory of a run that "
                        "passed")
    parser.add_argument("--quiet", action="store_true", help="no progress, and no text but the verdict")
    parser.add_argument("--keys", action="store_true", help="print the table of all keys of a scenario, and end")
    parser.add_argument("--compare", nargs=2, metavar=("A", "B"), help="print two reports side by side, and end; exit code 3: B "
                        "is worse")
    parser.add_argument("--tolerance", type=float, default=10, metavar="PERCENT", help="with --compare: a figure that is worse "
                        "by more makes B worse (default 10)")
    parser.add_argument("--wide", action="store_true", help="text of more than 100 columns, and all rows")
    args = parser.parse_args(argv)
    if args.compare and args.scenario is not None:
        parser.error("--compare A B takes no scenario; remove it")
    if not args.tolerance >= 0:
        parser.error("--tolerance: write a percentage, 0 or more")
    if args.scenario is None and not args.keys and not args.compare:
        parser.error("which scenario? name a file, such as conf/lab/all-to-all.yaml")
    return args


def programs(args):
    """Directory of a build, or None for the installed programs."""
    named = args.build or os.environ.get("SUEDE_BUILD")
    if named:
        return pathlib.Path(named).resolve()
    return ROOT / "build" if (ROOT / "build").is_dir() else None


def version_of(build):
    """(version, commit) of the programs."""
    program = str(build / "app/perf/suede-perf") if build else "suede-perf"
    try:
        text = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30, check=True).stdout
        match = re.match(r"suede-perf (\S+) \((.*)\)", text)
        return match.groups() if match else (None, None)
    except (OSError, subprocess.SubprocessError):
        return None, None


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="microseconds").replace("+00:00", "Z")


def generate(plan, backend, directory):
    """plan.json and the configuration of each node."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "plan.json").write_text(plan.to_json(), encoding="utf-8")
    if backend.is_batch:
        return
    import yaml
    for node in plan.nodes:
        (directory / f"{node.name}.yaml").write_text(yaml.safe_dump(backend.configuration(node), sort_keys=False),
                                                     encoding="utf-8")
    backend.make_secrets()
    for name, text in backend.manifests().items():
        (directory / name).write_text(text, encoding="utf-8")


def carry_out(plan, kind, args, out, progress):
    """Runs the plan and writes the reports; the exit code."""
    build = programs(args)
    start = now()
    collected, code = run.empty(), FAILURE
    backend = kind(plan, out, build=build, inventory=args.inventory, keep=args.keep)
    try:
        with backend:
            collected = run.run(plan, backend, progress)
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
    checks = expect.run(plan, collected)
    version, revision = version_of(build)
    report = report_json.make(plan, collected, checks, version=version, revision=revision, start=start, end=now(),
                              argv=sys.argv, backend=kind.name)
    if collected["problems"]:
        report["verdict"]["pass"] = False
    elif report["verdict"]["pass"]:
        code = PASS
    else:
        code = EXPECTATION
    write_reports(report, out, args, collected)
    if code == PASS and not args.keep:
        for name in ("config", "load", "logs"):
            shutil.rmtree(out / name, ignore_errors=True)
    return code


def write_recordings(collected, out):
    """Writes the recordings. Returns the names of the files, and the series for the page."""
    names, series = [], []
    for node, text in sorted(collected["recordings"].items()):
        names.append(f"{node}.record.csv")
        (out / names[-1]).write_text(text, encoding="utf-8")
        series += record.series_of(text, node, int(collected["epoch"] * 1e9))
    return names, series


def write_reports(report, out, args, collected):
    quiet = args.quiet
    text = report_text.make(report, args.wide)
    print(text.splitlines()[0] if quiet else text, end="\n" if quiet else "", flush=True)
    for problem in report["problems"] if quiet else []:
        print("problem: " + problem)
    report_json.write(report, out / "report.json")
    (out / "report.txt").write_text(text, encoding="utf-8")
    names = ["report.txt", "report.json"]
    recordings, series = write_recordings(collected, out)
    names += recordings
    try:
        report_html.write({**report, "series": [*report["series"], *series]}, out / "report.html")
        names.append("report.html")
    except report_html.PageError as error:
        print(f"lab: no report.html: {error}", file=sys.stderr)
    if not quiet:
        print(f"\n{out}: {', '.join(names)}")


def _compare(args):
    try:
        a, b = (compare.read(path) for path in args.compare)
    except compare.CompareError as error:
        print(f"lab: {error}", file=sys.stderr)
        return USAGE
    text, good = compare.compare(a, b, args.tolerance, args.wide)
    print(text.splitlines()[-1] if args.quiet else text, end="\n" if args.quiet else "")
    return PASS if good else EXPECTATION


def _refuse(error):
    print("\n".join("lab: " + line for line in error.messages), file=sys.stderr)
    return USAGE


def _check(read, plan, kind, args):
    """Everything that will be started, by the programs themselves. Raises ScenarioError, or PreflightError."""
    # A copy, for a back end takes nodes out of a plan that are not its own.
    backend = kind(copy.deepcopy(plan), pathlib.Path("/tmp"), build=programs(args), inventory=args.inventory)
    for warning in check.Checker(read, backend.plan, backend).run():
        print("lab: warning: " + warning, file=sys.stderr)


def main(argv=None):
    args = parse(argv)
    if args.keys:
        print(schema.table(), end="")
        return PASS
    if args.compare:
        return _compare(args)
    try:
        read = scenario.load(args.scenario, args.sets, args.seed, programs(args))
        read.data["backend"] = args.backend or read["backend"]  # limits depend on it
        plan = plans.make(read)
    except scenario.ScenarioError as error:
        return _refuse(error)
    name = read["backend"]
    try:
        kind = backends.find(name)
        if args.check:
            _check(read, plan, kind, args)
            print(f"{args.scenario}: {len(plan.nodes)} processes, {len(plan.links)} links, {len(plan.load)} loads, "
                  f"{len(plan.faults)} faults")
            return PASS
        if args.generate:
            directory = pathlib.Path(args.generate).resolve()
            generate(plan, kind(plan, directory, build=programs(args), inventory=args.inventory), directory)
            return PASS
        run.on_signals()
        try:
            _check(read, plan, kind, args)
        except backends.PreflightError:
            pass  # the back end says so itself; one of other machines has its programs there
        time = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
        out = pathlib.Path(args.out or f"lab-{read.name}-{time}").resolve()
        out.mkdir(parents=True, exist_ok=True)
        (out / "plan.json").write_text(plan.to_json(), encoding="utf-8")
        return carry_out(plan, kind, args, out, run.Progress(args.quiet))
    except scenario.ScenarioError as error:
        return _refuse(error)
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
        where = error.filename or args.out or "the directory of the report"
        print(f"lab: {where}: {error.strerror}; the report goes into the directory --out", file=sys.stderr)
        return FAILURE
