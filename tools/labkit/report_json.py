# SPDX-License-Identifier: Apache-2.0
"""report.json: all that a run has found (docs/lab.md, "report.json")."""

import json
import os
import pathlib
import platform

from labkit import figures


def host():
    cpu = ""
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                cpu = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return {"cpu": cpu, "kernel": platform.release(), "cpus": len(os.sched_getaffinity(0))}


def make(plan, collected, checks, *, version, revision, start, end, argv, backend):
    """Returns the report, a dict. Its member `simulator` has the data that only the back end simulator knows."""
    series = collected["series"]
    # A lab that stays up may have had no load, and expects nothing then.
    passed = bool(checks or not plan.load) and all(each["pass"] for each in checks)
    return {
        "schema_version": 1, "tool": "lab", "version": version, "git": revision, "start": start, "end": end,
        "argv": list(argv), "host": host(), "backend": backend, "scenario": plan.scenario, "seed": plan.seed,
        "topology": {
            "nodes": [{"name": n.name, "kind": n.kind, "host": n.host, "xpus": n.xpus} for n in plan.nodes],
            "links": [{"a": link["a"], "b": link["b"], "plane": link["plane"]} for link in plan.links]},
        "headline": figures.headline({"series": series, "scenario": plan.scenario}),
        "stall_s": collected.get("stall_s", figures.STALL_S),
        "stalls": collected["stalls"],
        "series": series,
        "events": sorted(collected["events"], key=lambda event: event["t"]),
        "load": collected["load"],
        "final": collected["final"],
        "problems": collected["problems"],
        "verdict": {"pass": passed, "checks": checks},
        "digest": collected["digest"],
        **({"simulator": collected["simulator"]} if "simulator" in collected else {}),
    }


def write(report, path):
    """Writes the report under another name, then renames it."""
    path = pathlib.Path(path)
    part = path.with_suffix(".part")
    try:
        part.write_text(json.dumps(report) + "\n", encoding="utf-8")
        part.rename(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        error.filename = str(path)
        raise
