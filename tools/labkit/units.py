# SPDX-License-Identifier: Apache-2.0
"""Numbers as people read them: four significant digits, each with its unit."""

import math
import re

PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))


def digits(value, count=4):
    """A number of so many significant digits, without an exponent."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    return f"{value:.{max(0, count - 1 - math.floor(math.log10(abs(float(f'{value:.{count - 1}e}')))))}f}"


def quantity(value, unit):
    """A value with its unit, of four significant digits. Only times have parts of their unit: there are no millibytes."""
    fit = PREFIXES if unit == "s" else [each for each in PREFIXES if each[0] >= 1]
    by, letter = next((each for each in fit if abs(value) >= each[0] * 0.99995), fit[-1]) if value else (1, "")
    return f"{digits(value / by)} {letter}{unit}".rstrip()


def number(value):
    """A count as it is, any other number of four significant digits; None is not known."""
    if value is None:
        return "not known"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return digits(value) if isinstance(value, float) and value != int(value) else f"{int(value)}"


def short(value):
    """Four significant digits, also of a large number: 855400000 is 855.4 M."""
    return quantity(value, "") if abs(value) >= 1e4 else digits(value)


# The unit that the name of a counter or of a member of buffer.show has in it.
NAMED = (("bytes", "bytes"), ("octets", "bytes"), ("cells", "cells"), ("frames", "frames"), ("pdus", "PDUs"), ("commands", "commands"),
         ("lines", "lines"), ("seconds", "s"), ("cycles", "cycles"), ("credits", "credits"), ("events", "events"),
         ("retransmissions", "PDUs"), ("acks", "PDUs"))


def of_counter(name):
    """The unit of a counter by its name; of others a plain count."""
    words = re.split(r"[^a-z]+", name.lower())
    return next((unit for word, unit in NAMED if word in words), "count")
