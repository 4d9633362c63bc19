# SPDX-License-Identifier: Apache-2.0
"""The fabric as SVG: switches in a row above the endpoints, or endpoints in a circle where cables join them directly."""

import html
import math

PLANE_COLOURS = 8
WIDTH = 1100
MOST_BOXES = 16  # in a row


def _ranges(numbers):
    """[0, 1, 2, 5] -> '0–2, 5'."""
    parts = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    texts = [str(a) if a == b else f"{a}–{b}" for a, b in parts]
    return ", ".join(texts[:4]) + (" …" if len(texts) > 4 else "")


def _caption(node):
    if node["kind"] != "endpoint":
        return "switch"
    return f"XPU {_ranges(node['xpus'])}" if len(node["xpus"]) == 1 else f"XPUs {_ranges(node['xpus'])}"


def _cables(links):
    """{(a, b): [planes]}: cables between the same two nodes are one line."""
    cables = {}
    for link in links:
        a, b = sorted((link["a"]["node"], link["b"]["node"]))
        cables.setdefault((a, b), []).append(link["plane"])
    return cables


def _rows(names, top, height):
    """Centres of boxes, in as many rows as they need."""
    places = {}
    for i, name in enumerate(names):
        row, column = divmod(i, MOST_BOXES)
        in_row = min(MOST_BOXES, len(names) - row * MOST_BOXES)
        places[name] = (WIDTH * (column + 0.5) / in_row, top + row * height)
    return places


def _places(nodes, links):
    switches = [node["name"] for node in nodes if node["kind"] != "endpoint"]
    endpoints = [node["name"] for node in nodes if node["kind"] == "endpoint"]
    if switches:
        below = 60 + 62 * math.ceil(len(switches) / MOST_BOXES) + 70
        places = {**_rows(switches, 34, 62), **_rows(endpoints, below, 62)}
        return places, below + 62 * math.ceil(len(endpoints) / MOST_BOXES) - 20
    if len(links) and len(endpoints) > 2:
        radius = 120 + 6 * len(endpoints)
        return {name: (WIDTH / 2 + 2 * radius * math.sin(2 * math.pi * i / len(endpoints)),
                       radius + 40 - radius * math.cos(2 * math.pi * i / len(endpoints)))
                for i, name in enumerate(endpoints)}, 2 * radius + 80
    return _rows(endpoints, 34, 62), 80


def svg(topology):
    nodes = topology["nodes"]
    places, height = _places(nodes, topology["links"])
    boxes = max(1, min(MOST_BOXES, max((sum(n["kind"] == k for n in nodes) for k in ("endpoint", "switch")), default=1)))
    box = min(150, WIDTH / boxes - 8)
    out = [f'<svg viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" height="{height:.0f}" role="img" '
           f'aria-label="{len(nodes)} nodes, {len(topology["links"])} cables">']
    for (a, b), planes in sorted(_cables(topology["links"]).items()):
        (x1, y1), (x2, y2) = places[a], places[b]
        kinds = sorted(set(planes), key=str)
        for i, plane in enumerate(kinds):
            shift = (i - (len(kinds) - 1) / 2) * 7
            colour = f"var(--c{plane % PLANE_COLOURS})" if isinstance(plane, int) else "var(--muted)"
            count = planes.count(plane)
            title = f"{a} – {b}: {count} cable{'s' if count > 1 else ''}" + (f", plane {plane}" if plane is not None else "")
            out.append(f'<line x1="{x1 + shift:.1f}" y1="{y1:.1f}" x2="{x2 + shift:.1f}" y2="{y2:.1f}" stroke="{colour}" '
                       f'stroke-width="{1.5 if count == 1 else 2.5}" opacity="0.75"><title>{html.escape(title)}</title></line>')
            if count > 1 and len(nodes) <= 12:
                out.append(f'<text class="small count" x="{(x1 + x2) / 2 + shift:.1f}" y="{(y1 + y2) / 2 + 4:.1f}" text-anchor="middle">'
                           f"×{count}</text>")
    for node in nodes:
        x, y = places[node["name"]]
        is_switch = node["kind"] != "endpoint"
        out.append(f'<rect x="{x - box / 2:.1f}" y="{y - 21:.1f}" width="{box:.1f}" height="42" rx="{3 if is_switch else 9}" '
                   f'fill="var(--panel)" stroke="var({"--warning" if is_switch else "--muted"})" stroke-width="1.2"/>'
                   f'<text x="{x:.1f}" y="{y - 3:.1f}" text-anchor="middle">{html.escape(node["name"])}</text>'
                   f'<text class="small" x="{x:.1f}" y="{y + 12:.1f}" text-anchor="middle">{html.escape(_caption(node))}</text>')
    planes = sorted({link["plane"] for link in topology["links"] if isinstance(link["plane"], int)})
    if len(planes) > 1:
        for i, plane in enumerate(planes[:PLANE_COLOURS]):
            out.append(f'<line x1="{10 + 90 * i}" y1="{height - 6:.0f}" x2="{34 + 90 * i}" y2="{height - 6:.0f}" '
                       f'stroke="var(--c{plane % PLANE_COLOURS})" stroke-width="2"/>'
                       f'<text class="small" x="{40 + 90 * i}" y="{height - 2:.0f}">plane {plane}</text>')
    out.append("</svg>")
    return "\n".join(out)
