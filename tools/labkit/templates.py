# SPDX-License-Identifier: Apache-2.0
"""The scenarios that come with the lab, and `init`, which copies one."""

import pathlib
import re

from labkit import backend as backends
from labkit.scenario import ScenarioError, nearest

DEFAULT = "all-to-all"
HERE = pathlib.Path(__file__).resolve().parent
FILE = re.compile(r"(\b(?:system|trace):\s*)((?:\.\./mesh|traces)/[^\s,}]+)")


def directory():
    """conf/lab of a checkout, or the installed scenarios beside the modules."""
    installed = HERE.parent / "conf/lab"
    return installed if installed.is_dir() else HERE.parents[1] / "conf/lab"


def names():
    return sorted(path.stem for path in directory().glob("*.yaml"))


def _read(name):
    path = directory() / f"{name}.yaml"
    if name not in names():
        raise ScenarioError([f"init: there is no scenario {name}; {nearest(name, names())}"])
    return path.read_text(encoding="utf-8")


def listing():
    lines = []
    for name in names():
        found = re.search(r"^description: (.*)$", _read(name), re.M)
        lines.append(f"{name:<16} {found[1] if found else ''}".rstrip())
    return "\n".join(lines) + "\n"


def write(name, output=None):
    """Writes a scenario to edit. Returns a sentence for the user. Raises ScenarioError, LabError."""
    text = _read(name)
    path = pathlib.Path(output or f"{name}.yaml")
    # A file that the scenario names by its own place is named by that.
    text = FILE.sub(lambda found: found[1] + str((directory() / found[2]).resolve()), text)
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise backends.LabError(f"cannot write {path}: {error.strerror}; name another file by --output") from None
    return f"{path}: edit it, then check it by --check"
