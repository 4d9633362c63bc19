# SPDX-License-Identifier: Apache-2.0
"""The network headers, read from the table of docs/encapsulations.md, which is written from the rows of
lib/wire/encap/traits.h."""

import pathlib
import re

_PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/encapsulations.md"


def _rows():
    table = _PAGE.read_text(encoding="utf-8").split("<!-- headers: begin -->")[1]
    lines = table.split("<!-- headers: end -->")[0].strip().splitlines()
    names = [cell.strip() for cell in lines[0].split("|")[1:-1]]
    for line in lines[2:]:
        yield dict(zip(names, (cell.strip().strip("`") for cell in line.split("|")[1:-1])))


ROWS = {row["name"]: row for row in _rows()}
ALL = list(ROWS)
TAGGED = [name for name, row in ROWS.items() if row["tag"] == "yes"]
# Bytes of the untagged header, and whether the RH is in it.
BYTES = {name: int(re.match(r"\d+", row["untagged"])[0]) for name, row in ROWS.items()}
HOLDS_RH = {name: "RH" in row["untagged"] for name, row in ROWS.items()}
# Keys of a port that has no usual EtherType: one for experiments.
OF_PORT = {name: {"ether_type": 0x88b5} if row["EtherType"] == "as configured" else {} for name, row in ROWS.items()}
ETHERTYPE = {name: OF_PORT[name].get("ether_type") or int(row["EtherType"], 16) for name, row in ROWS.items()}
