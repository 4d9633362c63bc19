# SPDX-License-Identifier: Apache-2.0
"""The commands of labs that stay up: up, status, exec, fault, load, capture, pause, resume, down; and init."""

import argparse
import json
import sys
import time

from labkit import backend as backends
from labkit import desk, inside, report_text, start, state, stay, tables, templates, units
from labkit.scenario import ScenarioError

POLL_S = 0.1


def _lab_option(parser, positional=False):
    text = "name of the lab; else the only one that is up"
    if positional:
        parser.add_argument("name", metavar="NAME", nargs="?", help=text)
    else:
        parser.add_argument("--name", metavar="NAME", help=text)


def _up(parser):
    parser.add_argument("scenario", metavar="SCENARIO.yaml", help="the file (docs/lab.md)")
    parser.add_argument("--name", metavar="NAME", help="name of the lab; else the scenario's")
    start.add_scenario_options(parser)
    parser.set_defaults(inventory=None, wide=False)


def _status(parser):
    _lab_option(parser, positional=True)
    parser.add_argument("--json", action="store_true", help="one object of JSON")


def _exec(parser):
    _lab_option(parser)
    parser.add_argument("node", metavar="NODE", help="a daemon or switch: d0, sw0")
    parser.add_argument("words", metavar="COMMAND", nargs=argparse.REMAINDER, help="program and arguments")


def _fault(parser):
    _lab_option(parser)
    parser.add_argument("--clear", metavar="NUMBER", help="end a fault, by the number that status shows, or all")
    parser.add_argument("words", metavar="INDEX|KEY=VALUE", nargs="*",
                        help="a fault of the scenario, numbered from 0, or keys of faults[]: link=xpu3.p0 impair.loss=0.01")


def _load(parser):
    _lab_option(parser)
    parser.add_argument("--detach", action="store_true", help="do not wait for the end of the load")
    parser.add_argument("--stop", metavar="LOAD", help="end a load early")
    parser.add_argument("--on", metavar="NODE", help="with -- FLAGS: the daemon; else that of --xpuid or --own")
    parser.add_argument("words", metavar="LOAD|KEY=VALUE", nargs="*",
                        help="a load of the scenario, and keys of load[] that differ: bytes=1000; or -- and flags of suede-perf")


def _capture(parser):
    _lab_option(parser)
    parser.add_argument("link", metavar="LINK", help="name of a link, or one of its ports: x0p0, xpu0.p0, sw0-sw1")
    parser.add_argument("-o", "--output", metavar="FILE", help="the pcapng file; else LINK.pcapng")
    parser.add_argument("--for", metavar="SECONDS", dest="seconds", type=float, help="end by itself; else with Ctrl-C")
    parser.add_argument("--at", metavar="NODE", help="the node at whose end frames are copied; else the switch's")


def _node(parser):
    _lab_option(parser)
    parser.add_argument("node", metavar="NODE", help="a daemon or switch: d0, sw0")


def _down(parser):
    _lab_option(parser, positional=True)
    parser.add_argument("--all", action="store_true", help="all labs that stay up, and what killed ones have left")


def _init(parser):
    parser.add_argument("name", metavar="NAME", nargs="?", default=templates.DEFAULT, help="the scenario; else all-to-all")
    parser.add_argument("--list", action="store_true", help="print the scenarios that there are")
    parser.add_argument("-o", "--output", metavar="FILE", help="the file; else NAME.yaml")


# ---- Each command.

def find(name, may_run=True):
    """The name of a lab that is up. Raises LabError."""
    kept = [each for each in state.names() if state.is_kept(each)]
    if name is not None:
        if name in kept:
            return name
        more = f"it was killed; {backends.PROGRAM} down --all removes what is left" if name in state.names() else \
            f"there are {', '.join(kept)}" if kept else f"none is up; start one by {backends.PROGRAM} up SCENARIO.yaml"
        raise backends.LabError(f"there is no lab {name}: {more}")
    stays = [each for each in kept if (state.read(each) or {}).get("stays")]
    found = stays or (kept if may_run else [])
    if len(found) != 1:
        raise backends.LabError(f"which lab? There are {', '.join(found)}; name one" if found else
                                f"no lab is up; start one by {backends.PROGRAM} up SCENARIO.yaml")
    return found[0]


def do_status(args):
    if args.name is None:
        known = {name: state.is_kept(name) for name in state.names()}
        if len(known) != 1 or not all(known.values()):
            if args.json:
                print(json.dumps([{"name": name, "up": up} for name, up in known.items()]))
            else:
                print(tables.labs(known, state.read) if known else "no lab is up", end="" if known else "\n")
            return start.PASS
    status = desk.call(find(args.name), "status", 60)
    print(json.dumps(status) + "\n" if args.json else tables.status(status), end="")
    return start.PASS


def do_exec(args):
    words = args.words[1:] if args.words[:1] == ["--"] else args.words
    if not words:
        raise ScenarioError([f"exec: which command? write {backends.PROGRAM} exec NODE COMMAND"])
    return inside.run(state.read(find(args.name)), args.node, words)


def do_fault(args):
    name = find(args.name)
    if args.clear is not None:
        if args.words:
            raise ScenarioError(["fault: --clear takes no further words; remove them"])
        if args.clear != "all" and not args.clear.isdecimal():
            raise ScenarioError([f"fault: --clear: {args.clear} is no number; write a number that status shows, or all"])
        number = args.clear if args.clear == "all" else int(args.clear)
        numbers = desk.call(name, "clear", number=number)["numbers"]
        print(f"ended: {', '.join(map(str, numbers)) or 'none'}")
        return start.PASS
    if not args.words:
        raise ScenarioError(["fault: which? write the index of a fault of the scenario, or KEY=VALUE: link=xpu3.p0 impair.loss=0.01"])
    index = int(args.words[0]) if args.words[0].isdecimal() else None
    words = args.words if index is None else args.words[1:]
    done = desk.call(name, "fault", index=index, words=words)
    print(f"fault {done['number']}: {done['text']}")
    return start.PASS


def do_load(args, flags=None):
    name = find(args.name)
    if args.stop is not None:
        desk.call(name, "stop_load", 60, load=args.stop)
        return start.PASS
    if flags is not None:
        load = desk.call(name, "load", flags=flags, node=args.on)["name"]
    elif not args.words:
        raise ScenarioError(["load: which? write the name of a load of the scenario, KEY=VALUE for another one, or -- and flags of "
                             "suede-perf"])
    else:
        base = None if "=" in args.words[0] else args.words[0]
        load = desk.call(name, "load", words=args.words[base is not None:], load=base)["name"]
    if args.detach:
        print(f"load {load} began")
        return start.PASS
    return _follow(name, load)


def _follow(name, load):
    """Waits for the end of a load and prints its results. Ctrl-C ends it early."""
    progress = start.run.Progress(False)
    try:
        while True:
            try:
                status = desk.call(name, "load_status", 60, load=load)
                if status["state"] != "runs":
                    break
                progress.tell(f"{load}: {status['seconds']:.1f} s, {units.quantity(status['goodput'] * 8, 'bit/s')}")
                time.sleep(POLL_S)
            except KeyboardInterrupt:
                desk.call(name, "stop_load", 60, load=load)
    finally:
        progress.close()
    for entry in status["entries"]:
        print("\n".join(report_text.load_lines(entry)))
    print("\n".join(report_text.check_lines(status["checks"])))
    return start.PASS if all(check["pass"] for check in status["checks"]) else start.EXPECTATION


def do_capture(args):
    name = find(args.name)
    status = desk.call(name, "status", 60)
    return inside.capture(state.read(name), status, args)


def do_pause(args):
    desk.call(find(args.name), "pause", node=args.node)
    return start.PASS


def do_resume(args):
    desk.call(find(args.name), "resume", node=args.node)
    return start.PASS


def do_down(args):
    if args.all and args.name:
        raise ScenarioError(["down: --all takes no name; remove it"])
    if not args.all:
        name = args.name
        if name is not None and not state.is_kept(name) and name in state.names():
            print("\n".join(state.remove_leftovers()))
            return start.PASS
        return stay.down(find(name, may_run=False))
    codes = [stay.down(name) for name in state.names() if state.is_kept(name) and (state.read(name) or {}).get("stays", True)]
    for line in state.remove_leftovers():
        print(line)
    return max(codes, default=start.PASS)


def do_init(args):
    if args.list:
        print(templates.listing(), end="")
        return start.PASS
    print(templates.write(args.name, args.output))
    return start.PASS


# name: (options, function, sentence)
COMMANDS = {
    "up": (_up, stay.up, "start the nodes of a scenario, and leave them running"),
    "status": (_status, do_status, "nodes, links, faults and loads of a lab; without a name, the labs"),
    "exec": (_exec, do_exec, "run a command in the namespace of a node, with its sockets in the environment"),
    "load": (_load, do_load, "run a load of the scenario, another one, or suede-perf, and print its results"),
    "fault": (_fault, do_fault, "begin a fault, or end it"),
    "capture": (_capture, do_capture, "write the frames of a link, both directions, to a pcapng file"),
    "pause": (_node, do_pause, "stop the process of a node (SIGSTOP)"),
    "resume": (_node, do_resume, "let a node go on, or start it again"),
    "down": (_down, do_down, "write the report, and end a lab"),
    "init": (_init, do_init, "write a scenario to edit"),
}


def overview():
    return "commands of labs that stay up (COMMAND --help has their options):\n" + "".join(
        f"  {name:<9} {sentence}\n" for name, (_, _, sentence) in COMMANDS.items())


def make_parser(name):
    options, _, sentence = COMMANDS[name]
    parser = argparse.ArgumentParser(prog=f"{start.PROGRAM} {name}", description=sentence[0].upper() + sentence[1:] + ".")
    options(parser)
    return parser


def main(argv):
    name, words = argv[0], argv[1:]
    flags = None
    if name == "load" and "--" in words:
        at = words.index("--")
        words, flags = words[:at], words[at + 1:]
    args = make_parser(name).parse_args(words)
    if flags is not None and (args.words or args.stop):
        print("lab: load: -- FLAGS goes with no other load; remove one", file=sys.stderr)
        return start.USAGE
    function = COMMANDS[name][1]
    if flags is not None:
        return start.guarded(lambda given: do_load(given, flags), args)
    return start.guarded(function, args)
