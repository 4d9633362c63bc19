# SPDX-License-Identifier: Apache-2.0
"""The back end simulator: the whole plan in virtual time, by one program; the same plan gives the same run."""

import json
import os
import pathlib
import queue
import re
import signal
import subprocess
import threading

from labkit import backend as backends, local

PROGRAM = "tests/labsim/lab_sim"
PROGRESS = re.compile(r"progress (\S+)")
PLAN_IS_WRONG = 2
END_S = 5


class Simulator(backends.Backend):
    """A batch: lab_sim reads the plan and writes what run_batch returns."""

    name = "simulator"
    is_batch = True

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.child = None

    def open(self):
        self.check_program()

    def check_program(self):
        """Raises PreflightError where there is none."""
        program = self.program()
        if not program or not os.access(program, os.X_OK):
            raise backends.PreflightError(f"there is no program {program or PROGRAM}; it is one of the tests: "
                                          f"ninja -C {self.build or 'build'} {PROGRAM}, and name the build directory by --build")

    def program(self):
        return pathlib.Path(self.build) / PROGRAM if self.build else None

    def stop(self):
        child, self.child = self.child, None
        if child is not None and child.poll() is None:
            child.send_signal(signal.SIGTERM)
            try:
                child.wait(END_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    def run_batch(self, tell):
        plan, report = self.out / "plan.json", self.out / "simulation.json"
        plan.write_text(self.plan.to_json(), encoding="utf-8")
        self.child = subprocess.Popen([str(self.program()), str(plan), str(report)], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
                                      preexec_fn=local.die_with_parent)
        said = self._listen(tell)
        code = self.child.wait()
        if code != 0:
            why = "\n".join(said[-12:]) or f"it ended with {code}"
            raise backends.LabError("the simulator cannot run this plan: " + why if code == PLAN_IS_WRONG else
                                    f"lab_sim ended with {code}: {why}")
        try:
            return json.loads(report.read_text(encoding="utf-8"))
        finally:
            report.unlink(missing_ok=True)

    def _listen(self, tell):
        """Shows progress. Returns the other lines that the program prints."""
        lines = queue.Queue()
        threading.Thread(target=lambda: [lines.put(line) for line in self.child.stderr] + [lines.put(None)],
                         daemon=True).start()
        said = []
        while (line := lines.get()) is not None:
            match = PROGRESS.match(line)
            if match:
                tell(float(match[1]), "of virtual time")
            else:
                said.append(line.rstrip().removeprefix("lab_sim: "))
        return said
