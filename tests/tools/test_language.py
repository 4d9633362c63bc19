# SPDX-License-Identifier: Apache-2.0
"""tools/language: the sentences that it rejects, and those that it leaves alone."""

import pathlib
import subprocess

import pytest

LANGUAGE = pathlib.Path(__file__).parent.parent.parent / "tools" / "language"


def rejected(path, text):
    """The lines of the file that are rejected."""
    path.write_text(text, encoding="utf-8")
    done = subprocess.run([LANGUAGE, path], capture_output=True, text=True, check=False)
    lines = [line.removeprefix(f"{path}:").split(": ", 1) for line in done.stdout.splitlines()]
    assert done.returncode == (1 if lines else 0), done.stderr
    return [int(number) for number, _ in lines]


@pytest.mark.parametrize("word", ["What", "Who", "Whose", "Which", "Those", "Such", "Of", "That of", "Likewise"])
def test_starts_of_comments(tmp_path, word):
    assert rejected(tmp_path / "a.cc", f"// {word} did not fit.\nint a;\n") == [1]


def test_the_comment_behind_the_license(tmp_path):
    license = "SPDX-License-Identifier: Apache-2.0\n"
    assert rejected(tmp_path / "a.h", f"// {license}// Who reads it.\n") == [2]
    assert rejected(tmp_path / "a.yaml", f"# {license}# Which reads it.\n") == [2]


def test_a_question_may_begin_with_an_interrogative(tmp_path):
    assert rejected(tmp_path / "a.cc", "// What is left? Which of them?\n// Those fit?\n") == [2]


def test_later_sentences_and_comments_behind_code(tmp_path):
    text = '// Returns it.\n// Then it ends. Such ends are rare.\nint a;  // who has it\nint b;  // Who has it\n'
    assert rejected(tmp_path / "a.h", text) == [2, 4]


def test_a_sentence_that_goes_on_in_the_next_line(tmp_path):
    assert rejected(tmp_path / "a.h", "// The part of the frame\n// Of which nothing is read.\n") == []


def test_strings_of_products_but_not_of_tests(tmp_path):
    text = 'Say("Those of the peer"); Say("Those"); Say("a // Who");\n'
    assert rejected(tmp_path / "a.cc", text) == [1]
    (tmp_path / "tests").mkdir()
    assert rejected(tmp_path / "tests" / "a.cc", text) == []


def test_marks_in_strings_begin_no_comment(tmp_path):
    assert rejected(tmp_path / "a.py", "a = 'b # Who'  # the name\n") == []
    assert rejected(tmp_path / "a.py", "a = 'b'  # Who it is\n") == [1]


def test_pages(tmp_path):
    text = ("# Title\n\nA plane dies.\nThose that live carry on.\n\n- Such items\n\n```\nOf code\n```\n\n"
            "    Of code\n\n| word | meaning |\n|---|---|\n| plane | Of cells |\n")
    assert rejected(tmp_path / "a.md", text) == [4, 6, 16]


def test_examples_of_what_is_rejected(tmp_path):
    assert rejected(tmp_path / "a.md", "| not | but |\n|---|---|\n| Who asks | A client |\n| A | Who asks |\n") == [4]


def test_docstrings(tmp_path):
    quotes = 3 * '"'
    assert rejected(tmp_path / "a.py", f"def f():\n    {quotes}Who calls it.{quotes}\n") == [2]
