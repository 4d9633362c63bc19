# SPDX-License-Identifier: Apache-2.0
"""The command line of tools/lab."""

import argparse
import pathlib
import sys

from labkit import commands, compare, desk, report_html, reports, run, schema, start
from labkit.start import EXPECTATION, FAILURE, PASS, PREFLIGHT, PROGRAM, USAGE

DESCRIPTION = """Builds the fabric of a scenario file, runs its loads and faults, and says whether it met its expectations.

  tools/lab conf/lab/all-to-all.yaml
  tools/lab --set topology.xpus=4 --set 'load[0].iterations=3' conf/lab/all-to-all.yaml
  tools/lab --generate /tmp/eight conf/lab/all-to-all.yaml

docs/lab.md is its manual. Exit codes: 0 all expectations were met, 1 failure at run time, 2 usage or scenario,
3 an expectation was not met, 5 something is missing on the machine."""


def make_parser():
    parser = argparse.ArgumentParser(prog=PROGRAM, description=DESCRIPTION, epilog=commands.overview(),
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario", metavar="SCENARIO.yaml", nargs="?", help="the file (docs/lab.md)")
    start.add_scenario_options(parser)
    parser.add_argument("--inventory", metavar="FILE", help="hosts of the back end servers, settings of containers")
    parser.add_argument("--check", action="store_true", help="check the scenario, and end")
    parser.add_argument("--generate", metavar="DIR", help="write plan.json and all configurations there, and end")
    parser.add_argument("--keys", action="store_true", help="print the table of all keys of a scenario, and end")
    parser.add_argument("--compare", nargs=2, metavar=("A", "B"), help="print two reports side by side, and end; exit code 3: B "
                        "is worse; with --out DIR also a page with the charts of both, DIR/compare.html")
    parser.add_argument("--tolerance", type=float, default=10, metavar="PERCENT", help="with --compare: a figure that is worse "
                        "by more makes B worse (default 10)")
    parser.add_argument("--wide", action="store_true", help="text of more than 100 columns, and all rows")
    parser.add_argument("--version", action="store_true", help="print the version of the programs, and end")
    return parser


def parse(argv):
    parser = make_parser()
    args = parser.parse_args(argv)
    if args.compare and args.scenario is not None:
        parser.error("--compare A B takes no scenario; remove it")
    if not args.tolerance >= 0:
        parser.error("--tolerance: write a percentage, 0 or more")
    if args.scenario is None and not (args.keys or args.compare or args.version):
        parser.error("which scenario? name a file, such as conf/lab/all-to-all.yaml")
    return args


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


def _compare(args):
    try:
        a, b = (compare.read(path) for path in args.compare)
    except compare.CompareError as error:
        print(f"lab: {error}", file=sys.stderr)
        return USAGE
    text, good = compare.compare(a, b, args.tolerance, args.wide)
    if args.out:
        path = pathlib.Path(args.out) / "compare.html"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            report_html.write_comparison(a, b, text, path)
        except (report_html.PageError, OSError) as error:
            print(f"lab: cannot write {path}: {error}", file=sys.stderr)
            return FAILURE
    print(text.splitlines()[-1] if args.quiet else text, end="\n" if args.quiet else "")
    return PASS if good else EXPECTATION


def _run(args):
    read, plan, kind = start.prepare(args)
    if args.check:
        start.check_plan(read, plan, kind, args)
        print(f"{args.scenario}: {len(plan.nodes)} processes, {len(plan.links)} links, {len(plan.load)} loads, "
              f"{len(plan.faults)} faults")
        return PASS
    if args.generate:
        directory = pathlib.Path(args.generate).resolve()
        generate(plan, kind(plan, directory, build=start.programs(args), inventory=args.inventory), directory)
        return PASS
    run.on_signals()
    start.check_all(read, plan, kind, args)
    out = start.output_of(args, read, plan)
    return start.carry_out(plan, kind, args, out, run.Progress(args.quiet),
                     lambda backend, reporter: desk.Desk(read, plan, backend, reporter))


def main(argv=None):
    argv = sys.argv[1:] if argv is None else argv
    if argv and argv[0] in commands.COMMANDS:
        return commands.main(argv)
    args = parse(argv)
    if args.keys:
        print(schema.table(), end="")
        return PASS
    if args.version:
        version, revision = reports.version_of(start.programs(args))
        print(f"{PROGRAM} {version} ({revision})" if version else f"{PROGRAM}: no programs; install the package suede")
        return PASS if version else PREFLIGHT
    if args.compare:
        return _compare(args)
    return start.guarded(_run, args)
