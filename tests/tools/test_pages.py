# SPDX-License-Identifier: Apache-2.0
"""tools/pages: a small tree, and each way in which its pages may differ from it."""

import pathlib
import subprocess

import pytest

PAGES = pathlib.Path(__file__).parent.parent.parent / "tools" / "pages"
TREE = {
    "README.md": "# Top\n\n[room](lib/room/README.md), [there](docs/a.md#second-part), [out](https://example.com/x)\n",
    "docs/a.md": "# A\n\n`Room::Open` opens.\n\n## First\n\n### Limits\n\n## Second `part`\n\n### Limits\n",
    "lib/room/README.md": "# lib/room\n\n| `room.h`, `room.cc` | opens |\n| `door` | closes |\n",
    "lib/room/room.h": "class Room { void Open(); };\n",
    "lib/room/room.cc": "void Room::Open() {}\n",
    "lib/room/door.cc": "void Close() {}\n",
}


def found(directory, changes):
    for name, text in {**TREE, **changes}.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is not None:
            path.write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=directory, check=True)
    subprocess.run(["git", "add", "-A"], cwd=directory, check=True)
    done = subprocess.run([PAGES, directory], capture_output=True, text=True, check=False)
    assert done.returncode == (1 if done.stdout else 0), done.stderr
    return done.stdout


def test_a_tree_without_faults(tmp_path):
    assert found(tmp_path, {}) == ""


@pytest.mark.parametrize("name, text, line", [
    ("docs/b.md", "# B\n\n[a](none.md)\n", "docs/b.md:3: no file none.md"),
    ("docs/b.md", "# B\n\n[a](a.md#third)\n", "docs/b.md:3: no heading #third in docs/a.md"),
    ("docs/b.md", "# B\n\n[b](#c)\n", "docs/b.md:3: no heading #c in docs/b.md"),
    ("docs/b.md", "# B\n\n## C\n\n## C\n", "docs/b.md:5: the heading occurs twice: C"),
    ("docs/b.md", "# B\n\n**A plane is dead.** It is.\n\n**A plane is dead.** It was.\n",
     "docs/b.md:5: the heading occurs twice: A plane is dead."),
    ("docs/b.md", "# B\n\n`Room::Shut` shuts.\n", "docs/b.md:3: the code has no Shut: Room::Shut"),
    ("docs/b.md", "# B\n\n`ShutRoom()` shuts.\n", "docs/b.md:3: the code has no ShutRoom: ShutRoom"),
    ("lib/room/window.h", "int window;\n", "lib/room/README.md:1: does not name window"),
    ("app/tool/tool.cc", "int tool;\n", "app/tool/README.md:0: the room has no README"),
])
def test_faults(tmp_path, name, text, line):
    assert found(tmp_path, {name: text}) == line + "\n"


@pytest.mark.parametrize("text", [
    "# B\n\n```\n[a](none.md) `Room::Shut`\n# B\n```\n",
    "# B\n\n    [a](none.md)\n",
    "# B\n\n`[a](none.md)`, `std::move`\n",
])
def test_code_is_left_alone(tmp_path, text):
    assert found(tmp_path, {"docs/b.md": text}) == ""
