# SPDX-License-Identifier: Apache-2.0
"""The tables of `status`."""

from labkit import units


def table(heads, rows):
    """Lines of columns as wide as their cells."""
    rows = [[str(cell) for cell in row] for row in [heads, *rows]]
    widths = [max(len(row[i]) for row in rows) for i in range(len(heads))]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths)).rstrip() for row in rows]


def labs(known, read):
    """The labs of this user: {name: whether a process keeps it}."""
    rows = []
    for name, is_kept in known.items():
        data = read(name) or {}
        rows.append([name, ("stays up" if data.get("stays") else "a run") if is_kept else "killed; down --all removes it",
                     data.get("backend", "-"), len(data.get("nodes", [])), data.get("out", "-")])
    return "\n".join(table(["lab", "state", "back end", "nodes", "report"], rows)) + "\n"


def ranges(numbers):
    from labkit.plan import ranges as text_of
    return text_of(numbers) if numbers else "-"


def status(told):
    lines = [f"lab {told['name']}: {'stays up' if told['stays'] else 'a run'}, {told['seconds']:.0f} s, back end {told['backend']}, "
             f"goodput {units.quantity(told['goodput'] * 8, 'bit/s')}",
             f"  scenario {told['scenario']}", f"  report {told['out']}", ""]
    lines += table(["node", "kind", "state", "pid", "XPUs", "control socket"],
                   [[node["name"], node["kind"], node["state"], node["pid"], ranges(node["xpus"]), node["control"]]
                    for node in told["nodes"]])
    lines += ["", *table(["link", "from", "to", "plane", "state"],
                         [[link["name"], f"{link['a']['node']}:{link['a']['port']}", f"{link['b']['node']}:{link['b']['port']}",
                           link["plane"], _link_state(link)] for link in told["links"]])]
    lines += ["", *(table(["fault", "state", "is"], [[each["number"], _fault_state(each["seconds"]), each["text"]]
                                                     for each in told["faults"]]) if told["faults"] else ["no faults"])]
    lines += ["", *(table(["load", "kind", "state", "for [s]", "goodput", "exit codes"],
                          [[each["name"], each["kind"], each["state"], f"{each['seconds']:.1f}",
                            units.quantity(each["goodput"] * 8, "bit/s") if each["state"] == "runs" else "-",
                            " ".join("-" if code is None else str(code) for code in each["exits"])] for each in told["loads"]])
                    if told["loads"] else ["no loads"])]
    lines += [f"problem: {problem.splitlines()[0]}" for problem in told["problems"]]
    return "\n".join(lines) + "\n"


def _fault_state(seconds):
    return f"lasts for {seconds:.1f} s" if seconds >= 0 else f"comes in {-seconds:.1f} s"


def _link_state(link):
    a, b = link["state"]
    return a if a == b else f"{a} at {link['a']['node']}, {b} at {link['b']['node']}"
