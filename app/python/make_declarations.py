#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""make_declarations HEADER...: prints a Python module with the declarations of C headers, for cffi:
DECLARATIONS, the text of their functions and structures, and CONSTANTS, their numeric macros by name."""

import pathlib
import re
import sys

# The only structure of suede.h that mem.h uses.
INSTANCE = "typedef struct suede_instance { uint16_t xpuid; uint8_t instance; uint8_t reserved; } suede_instance;"


def number(text):
    """Returns the number of a #define; None if it is not a number."""
    text = text.strip().strip("()")
    if text == "UINT32_MAX":
        return 0xffffffff
    match = re.fullmatch(r"(-?(?:0x)?[0-9a-fA-F]+)[uU]?", text)
    return int(match[1], 0) if match else None


def convert(header, known):
    """Returns (declarations, constants) of a header. `known`: constants of the headers before it."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    constants = {}
    kept = []
    for line in text.splitlines():
        if match := re.match(r"#define (\w+) (.+)", line):
            value = number(match[2])
            if value is not None:
                constants[match[1]] = value
        if not line.startswith("#"):
            kept.append(line)
    body = "\n".join(kept)
    body = body[body.index('extern "C" {') + len('extern "C" {'):body.rindex("}")]
    body = body.replace("SUEDE_API ", "")
    for name, value in {**known, **constants}.items():
        body = re.sub(rf"\b{name}\b", str(value), body)
    return re.sub(r"\n\s*\n+", "\n", body).strip(), constants


def main():
    declarations, constants = [INSTANCE], {}
    for path in sys.argv[1:]:
        more, numbers = convert(pathlib.Path(path).read_text(encoding="utf-8"), constants)
        declarations.append(more)
        constants.update(numbers)
    print("# Made of the C headers by make_declarations.py.")
    print("DECLARATIONS = '''\n" + "\n".join(declarations) + "\n'''")
    print(f"CONSTANTS = {constants!r}")


if __name__ == "__main__":
    main()
