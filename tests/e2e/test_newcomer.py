# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/first-steps.md and of the lab's page, extracted and run as printed."""

import contextlib
import os
import re
import subprocess

import pytest

import e2e

PROMPT_S = 120


def blocks_of(page):
    """Indented blocks of a page, each with the heading above it."""
    heading, lines, blocks = "", [], []
    for line in [*(e2e.ROOT / page).read_text().splitlines(), "# "]:
        if line.startswith("    "):
            lines.append(line[4:])
            continue
        if lines:
            blocks.append((heading, "\n".join(lines)))
            lines = []
        if line.startswith("#"):
            heading = line.lstrip("# ")
    return blocks


@pytest.fixture(name="machine")
def fixture_machine(as_root):
    """Runs text in a shell, in a checkout's root, where /run and the network are of this test alone."""
    del as_root
    holder = subprocess.Popen(["unshare", "--mount", "--net", "--propagation", "private", "sh", "-c",
                               "mount -t tmpfs none /run && mkdir /run/suede && ip link set lo up && echo up && read end"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with e2e.work_directory() as directory, contextlib.ExitStack() as stack:
        stack.callback(holder.wait)
        stack.callback(holder.stdin.close)
        assert holder.stdout.readline() == "up\n"
        for name in ("app", "conf", "docs", "include", "tools"):
            (directory / name).symlink_to(e2e.ROOT / name)
        (directory / "build").symlink_to(e2e.BUILD)
        environment = {**os.environ, "SUEDE_BUILD": str(e2e.BUILD),
                       "PATH": f"{e2e.BUILD}/app/suedectl:{os.environ['PATH']}"}
        shells = []

        def shell(text, code=0):
            with open(directory / f"output{len(shells)}", "w+", encoding="utf-8") as output:
                started = subprocess.Popen(["nsenter", "-m", "-n", "-t", str(holder.pid), "--wd=" + str(directory),
                                            "bash", "-c", text], stdout=output, stderr=output, env=environment,
                                           start_new_session=True)
                shells.append(started)
                if text.rstrip().endswith("&"):  # goes on in the background
                    started.wait(PROMPT_S)
                    return lambda: (directory / output.name).read_text()
                assert started.wait(PROMPT_S) == code, (text, (directory / output.name).read_text())
            return lambda: (directory / output.name).read_text()

        yield shell
        for started in shells:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(started.pid, 15)
        e2e.wait_until(lambda: not any(alive(started.pid) for started in shells), e2e.START_S, "the end of programs")


def alive(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


# Patterns in the output of the blocks of each section; None: a block goes on in the background.
SAYS = {
    "Endpoints": [None, "1 asked, 1 answered"],
    "A program in C": ["hello 19 from XPU 0"],
    "In C++": ["hello 19 from XPU 0"],
    "In Python": [""],  # its exit code says all
    "Metrics": [r"^suede_tx_commands_total"],
    "A capture": [r'"psn"'],
    "An all-reduce": ["all-reduce-ring"],
    "Where time goes": ["remedy"],
}


def test_first_steps(machine):
    seen = {}
    for heading, text in blocks_of("docs/first-steps.md"):
        number = seen[heading] = seen.get(heading, 0) + 1
        says = SAYS[heading][number - 1]
        output = machine(text)
        if says is None:
            e2e.wait_until(lambda: all(output().count(word) == 2 for word in ("ready name=", " link_up ")),
                           e2e.START_S, output)
        else:
            assert re.search(says, output(), re.M), (text, output())
    assert {heading: len(says) for heading, says in SAYS.items()} == seen


def test_first_lab(machine):
    text, = (text for _, text in blocks_of("docs/lab.md") if text.startswith("tools/lab up "))
    try:
        for line in text.splitlines():
            machine(line)
    finally:
        machine("tools/lab down --all")
