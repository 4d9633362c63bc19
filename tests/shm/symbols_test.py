#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""symbols_test LIBRARY MAP HEADER...: the library exports the functions of the headers, each with the
version that the map gives it, and nothing else; versions that were released keep their functions."""
import pathlib
import re
import subprocess
import sys

# The functions of each version, by number; a released version never changes.
COUNTS = {"SUEDE_1.0": 22, "SUEDE_1.1": 9, "SUEDE_1.2": 9, "SUEDE_1.3": 2, "SUEDE_1.4": 4, "SUEDE_1.5": 3,
          "SUEDE_1.6": 1, "SUEDE_MEM_1.0": 36, "SUEDE_MEM_1.1": 19, "SUEDE_MEM_1.2": 2}


def declared(headers):
    names = set()
    for header in headers:
        text = re.sub(r"/\*.*?\*/", "", pathlib.Path(header).read_text(encoding="utf-8"),
                      flags=re.DOTALL)
        names |= set(re.findall(r"^SUEDE_API[^;(]*?\b(suede_\w+)\(", text, re.MULTILINE))
    return names


def mapped(path):
    """{function: version}"""
    found = {}
    text = pathlib.Path(path).read_text(encoding="utf-8")
    for version, body in re.findall(r"(SUEDE_(?:MEM_)?\d+\.\d+) \{(.*?)\}", text, re.DOTALL):
        for name in re.findall(r"(suede_\w+);", body):
            assert name not in found, f"{name} is in two versions"
            found[name] = version
    return found


def exported(library):
    """{function: version}"""
    listing = subprocess.run(["nm", "--dynamic", "--defined-only", "--with-symbol-versions", library],
                             capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listing.splitlines()]
    return dict(row[-1].split("@@") for row in rows if row[-2] != "A")


def main():
    library, version_map, *headers = sys.argv[1:]
    names, versions = declared(headers), mapped(version_map)
    assert names == set(versions), f"headers against map: {sorted(names ^ set(versions))}"
    assert exported(library) == versions, "library against map: " + str(
        sorted(set(exported(library).items()) ^ set(versions.items())))
    counts = {}
    for version in versions.values():
        counts[version] = counts.get(version, 0) + 1
    known = {version: COUNTS.get(version) for version in counts}
    assert counts == known, f"functions by version: {counts}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
