# SPDX-License-Identifier: Apache-2.0
"""tools/lab as the tests run it."""

import json
import os
import pathlib
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAB = ROOT / "tools/lab"
BUILD = pathlib.Path(os.environ.get("SUEDE_BUILD", ROOT / "build")).resolve()
SCENARIOS = sorted((ROOT / "conf/lab").glob("*.yaml"))
RUN_S = 300
BASE = pathlib.Path(f"/tmp/suede-test-labs-{os.getuid()}")  # of the directories of labs
ENVIRONMENT = {**os.environ, "SUEDE_BUILD": str(BUILD), "SUEDE_LAB_DIR": str(BASE)}

LEAST = """\
version: 1
name: least
topology: {xpus: 2}
load:
  - {iterations: 3}
"""


def write(directory, text):
    path = directory / "scenario.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def argv(*arguments, sets=()):
    return [str(word) for word in (LAB, *(w for each in sets for w in ("--set", each)), *arguments)]


def run(*arguments, sets=(), code=0):
    """(standard output, standard error)."""
    done = subprocess.run(argv(*arguments, sets=sets), capture_output=True, text=True, timeout=RUN_S, check=False,
                          env=ENVIRONMENT)
    assert done.returncode == code, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout, done.stderr


def start(*arguments, sets=()):
    return subprocess.Popen(argv(*arguments, sets=sets), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=ENVIRONMENT)


def report(out):
    return json.loads((out / "report.json").read_text(encoding="utf-8"))


def processes(out):
    """Ids of processes whose command line names the directory of the report, or the run's own."""
    found = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if any(str(out) in word for word in words) and not any(word.endswith("tools/lab") for word in words):
            found[int(path.parent.name)] = " ".join(words)
    return found


def runtime_of(pid):
    return list(BASE.glob(f"run-{pid}"))


def wait_for(condition, seconds, what):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.05)
