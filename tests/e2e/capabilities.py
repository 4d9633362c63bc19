# SPDX-License-Identifier: Apache-2.0
"""The tables of capabilities in docs/dpdk.md, and lines of suede --check."""
import json
import re
import subprocess

import e2e

PAGE = e2e.ROOT / "docs/dpdk.md"


def table(page, name):
    """The rows of a marked table: a dictionary each, by the names of the columns."""
    text = page.read_text()
    part = text[text.index(f"<!-- {name}: begin -->"):text.index(f"<!-- {name}: end -->")]
    rows = [[cell.strip().strip("`") for cell in line.strip("|").split("|")]
            for line in part.splitlines() if line.startswith("|")]
    return [dict(zip(rows[0], row)) for row in rows[2:]]


def check(directory, config, code=0):
    """Runs suede --check: its lines without the name of the file."""
    path = directory / "check.yaml"
    path.write_text(json.dumps(config))
    result = subprocess.run([e2e.SUEDE, "--config", path, "--check"], capture_output=True, text=True,
                            timeout=e2e.START_S, check=False)
    assert (result.returncode, result.stderr) == (code, ""), (result.returncode, result)
    return [line.removeprefix(f"{path}: ") for line in result.stdout.splitlines()]


def printed(lines):
    """The capabilities of the lines: {port: (driver, {capability: (value, consequence)})}."""
    ports = {}
    for line in lines:
        if found := re.fullmatch(r"port (\S+) \((\S+)\): ([^:]+): ([^;]+); (.*)", line):
            port, driver, name, value, consequence = found.groups()
            ports.setdefault(port, (driver, {}))[1][name] = (value, consequence)
    return ports


def check_documented(driver, capabilities):
    """Compares values with the row of the driver; each row of the declaration is there."""
    row, = [row for row in table(PAGE, "drivers") if row["driver"] == driver]
    assert [row["capability"] for row in table(PAGE, "capabilities")] == list(capabilities)
    columns = [name for name in row if name != "driver"]
    assert set(columns) <= set(capabilities), columns
    wrong = {name: (capabilities[name][0], row[name]) for name in columns
             if row[name] not in ("varies", capabilities[name][0])}
    assert not wrong, f"{driver}: printed and documented values differ: {wrong}"
    assert all(value and consequence for value, consequence in capabilities.values()), capabilities
