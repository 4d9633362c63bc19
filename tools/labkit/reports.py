# SPDX-License-Identifier: Apache-2.0
"""The files of a report, at the end of a lab and while it is up."""

import datetime
import pathlib
import re
import subprocess
import sys
import time

from labkit import expect, record, report_html, report_json

REFRESH_S = 5
SHARE = 20  # of the time, a page takes one part at most to be made


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="microseconds").replace("+00:00", "Z")


def version_of(build):
    """(version, commit) of the programs."""
    program = str(pathlib.Path(build) / "app/perf/suede-perf") if build else "suede-perf"
    try:
        text = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30, check=True).stdout
        match = re.match(r"suede-perf (\S+) \((.*)\)", text)
        return match.groups() if match else (None, None)
    except (OSError, subprocess.SubprocessError):
        return None, None


class Reporter:
    """The reports of one lab go to the directory `out`."""

    def __init__(self, plan, backend, build, out):
        self.plan = plan
        self.backend = backend
        self.out = out
        self.start = now()
        self.version, self.revision = version_of(build)
        self.due = 0.0
        self.wait_s = REFRESH_S

    def make(self, collected, is_running=False):
        checks = expect.run(self.plan, collected)
        report = report_json.make(self.plan, collected, checks, version=self.version, revision=self.revision, start=self.start,
                                  end=now(), argv=sys.argv, backend=self.backend)
        if collected["problems"]:
            report["verdict"]["pass"] = False
        if is_running:
            report["refresh_s"] = self.wait_s
        return report

    def refresh(self, lab):
        """Writes the page of a lab that is up, where it is time for that: seldom, if it takes long."""
        begin = time.monotonic()
        if begin < self.due:
            return
        try:
            report_html.write(self.make(lab.collected(), is_running=True), self.out / "report.html")
        except (report_html.PageError, OSError):
            pass  # the report at the end says so
        self.wait_s = max(REFRESH_S, round((time.monotonic() - begin) * SHARE))
        self.due = time.monotonic() + self.wait_s

    def write(self, report, collected, text):
        """Writes all files; `text` is that of report.txt. Returns their names. Raises OSError."""
        report_json.write(report, self.out / "report.json")
        (self.out / "report.txt").write_text(text, encoding="utf-8")
        names = ["report.txt", "report.json"]
        series = []
        for node, csv in sorted(collected["recordings"].items()):
            names.append(f"{node}.record.csv")
            (self.out / names[-1]).write_text(csv, encoding="utf-8")
            series += record.series_of(csv, node, int(collected["epoch"] * 1e9))
        try:
            report_html.write({**report, "series": [*report["series"], *series]}, self.out / "report.html")
            names.append("report.html")
        except report_html.PageError as error:
            print(f"lab: no report.html: {error}", file=sys.stderr)
        return names
