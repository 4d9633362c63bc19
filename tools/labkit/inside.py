# SPDX-License-Identifier: Apache-2.0
"""Commands at a node of a lab that is up: in its namespaces, with its sockets."""

import ctypes
import os
import pathlib
import shutil
import signal
import subprocess
import time

from labkit import backend as backends
from labkit import start, state

_libc = ctypes.CDLL(None, use_errno=True)
# Directories of programs and libraries in a build.
PROGRAMS = ("suede", "suedectl", "perf", "suede-switch", "mesh", "fare", "simbricks")
LIBRARIES = ("libsuede", "libsuede-mem", "libsuede-axi")
NAMESPACES = ("net", "mnt")


def node_of(data, name):
    """The node of a lab's state. Raises LabError."""
    for node in data["nodes"]:
        if node["name"] == name:
            return node
    raise backends.LabError(f"there is no node {name}; there are " + ", ".join(node["name"] for node in data["nodes"]))


def environment(data, node):
    """The environment of a node: the paths of its sockets, where suedectl, suede-perf and other programs look for them."""
    result = {**os.environ, "SUEDE_CTL_SOCKET": node["control"], "SUEDE_LAB_NAME": data["name"], "SUEDE_LAB_NODE": node["name"],
              "SUEDE_LAB_CONTROL": node["control"]}
    if node["clients"]:
        result.update(SUEDE_PERF_ENDPOINT=node["clients"], SUEDE_LAB_CLIENTS=node["clients"])
    if data["build"]:
        build = pathlib.Path(data["build"])
        for variable, names in (("PATH", PROGRAMS), ("LD_LIBRARY_PATH", LIBRARIES)):
            before = [os.environ[variable]] if os.environ.get(variable) else []
            result[variable] = ":".join([*(str(build / "app" / name) for name in names), *before])
    return result


def enter(node):
    """This process enters the namespaces of a node, where it has some. Raises LabError."""
    record = node["namespace"]
    if record is None:
        return
    if not state.is_process(record):
        raise backends.LabError(f"the namespaces of {node['name']} are gone; {backends.PROGRAM} status shows the lab")
    here = os.getcwd()
    files = [os.open(f"/proc/{record['pid']}/ns/{name}", os.O_RDONLY) for name in NAMESPACES]
    for file in files:
        if _libc.setns(file, 0) != 0:
            raise backends.LabError(f"cannot enter the namespaces of {node['name']}: {os.strerror(ctypes.get_errno())}; the command "
                                    "takes root")
        os.close(file)
    os.chdir(here)


def run(data, name, words):
    """The process becomes the command. Raises LabError."""
    if data["backend"] not in ("local", "veth"):
        raise backends.LabError(f"the nodes of the back end {data['backend']} are not in namespaces of this machine; use its own means")
    node = node_of(data, name)
    environ = environment(data, node)
    enter(node)
    try:
        os.execvpe(words[0], words, environ)
    except OSError as error:
        raise backends.LabError(f"cannot run {words[0]}: {error.strerror}") from None


def link_of(status, text):
    """The link of that name. Raises LabError."""
    for link in status["links"]:
        if text in link["names"] or text in (link["a"]["port"], link["b"]["port"]):
            return link
    raise backends.LabError(f"there is no link {text}; there are " + ", ".join(link["name"] for link in status["links"]))


def end_of(status, link, at):
    """(name of a node, port) at which a link is captured: the end at a switch first, for its process lives on where a daemon is killed; not
    one that is paused. Raises LabError."""
    nodes = {node["name"]: node for node in status["nodes"]}
    ends = sorted((link["a"], link["b"]), key=lambda end: nodes[end["node"]]["kind"] != "switch")
    if at is not None:
        ends = [end for end in ends if end["node"] == at]
        if not ends:
            raise backends.LabError(f"{at} is no end of {link['name']}; there are {link['a']['node']} and {link['b']['node']}")
    running = [end for end in ends if nodes[end["node"]]["state"] == "up"]
    if not running:
        raise backends.LabError(f"cannot capture {link['name']}: {' and '.join(end['node'] for end in ends)} "
                                f"{'is' if len(ends) == 1 else 'are'} not running; {backends.PROGRAM} resume lets a node go on")
    return running[0]["node"], running[0]["port"]


def capture(data, status, args):
    """Captures a link until the time is over, or a signal comes. The exit code."""
    link = link_of(status, args.link)
    name, port = end_of(status, link, args.at)
    node = node_of(data, name)
    path = pathlib.Path(args.output or f"{link['name']}.pcapng")
    environ = environment(data, node)
    program = shutil.which("suedectl", path=environ["PATH"])
    if program is None:
        raise backends.PreflightError("there is no program suedectl; ninja -C build app/suedectl/suedectl, or install the package "
                                      "suede")

    def control(*words):
        done = subprocess.run([program, "capture", *words], env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False, start_new_session=True)
        if done.returncode:
            raise backends.LabError(f"cannot capture {link['name']} at {node['name']}: {done.stderr.strip()}")
        return done.stdout

    class Ended(Exception):
        pass

    def end(_number, _frame):
        raise Ended

    for number in backends.SIGNALS:
        signal.signal(number, end)
    try:
        control("start", port, "--file", str(path))
        print(f"capturing {link['name']} at {node['name']}, both directions, to {path}"
              + ("" if args.seconds else "; Ctrl-C ends it"), flush=True)
        time.sleep(args.seconds if args.seconds else 86400)
    except Ended:
        pass
    for number in backends.SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    print(control("stop", port), end="")
    return start.PASS
