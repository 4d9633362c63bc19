# SPDX-License-Identifier: Apache-2.0
"""Recordings of endpoints' loads (docs/record.md): reading the CSV, and the report's series of it."""

import csv
import re

INTERVAL = re.compile(r"(\d+)(us|ms|s)")
UNITS_US = {"us": 1, "ms": 1000, "s": 1000000}
LEAST_US, MOST_US = 100, 10_000_000

# column: (series, unit, value per unit of the column; a column "in the interval" is divided by the interval's seconds)
COLUMNS = {
    "tx_bytes": ("record_sent", "bytes/s", 1, True),
    "rx_bytes": ("record_received", "bytes/s", 1, True),
    "inflight_bytes": ("record_inflight", "bytes", 1, False),
    "queued_octets": ("record_queued", "bytes", 1, False),
    "tx_ring_lines": ("record_tx_ring", "lines", 1, False),
    "rx_ring_lines": ("record_rx_ring", "lines", 1, False),
    "credit_lines": ("record_credit", "lines", 1, False),
    "window_octets": ("record_window", "bytes", 1, False),
    "grant_bps": ("record_grants", "bytes/s", 0.125, False),
    "paused_us": ("record_paused", "share", 1e-6, True),
    "ecn_marked": ("record_marks", "1/s", 1, True),
    "trimmed": ("record_trims", "1/s", 1, True),
    "retransmissions": ("record_retransmissions", "1/s", 1, True),
}
# name of the series: (title, explanation)
TITLES = {
    "record_sent": ("Sent", "bytes of commands, by plane and VC"),
    "record_received": ("Accepted", "bytes of commands, by plane and VC"),
    "record_inflight": ("In flight", "bytes of commands sent and unacknowledged, by plane and VC"),
    "record_queued": ("Queued", "octets of frames that wait to be sent, by VC"),
    "record_tx_ring": ("Transmit rings", "lines that the lcore has not taken"),
    "record_rx_ring": ("Receive rings", "filled lines, by VC"),
    "record_credit": ("Receive credit", "lines that peers have granted, by VC"),
    "record_window": ("Congestion windows", "or remaining credit (RCCC), by plane"),
    "record_grants": ("Rate granted", "to peers (RCCC), by plane"),
    "record_paused": ("Paused by the neighbour", "share of the interval, by plane and VC"),
    "record_marks": ("ECN marks received", "PDUs per second, by plane and VC"),
    "record_trims": ("Trimmed PDUs received", "PDUs per second, by plane and VC"),
    "record_retransmissions": ("Sent again", "PDUs per second, by plane and VC"),
}
SPARSE = ("record_sent", "record_received")  # shown although they are 0 throughout


class RecordError(Exception):
    """The text is no recording; the message says where."""


def interval_us(text):
    """The microseconds of 500us, 1ms, 2s; None: the text is no interval of a recording."""
    match = INTERVAL.fullmatch(text)
    us = int(match[1]) * UNITS_US[match[2]] if match else 0
    return us if LEAST_US <= us <= MOST_US else None


def rows_of(text):
    """The rows, each a dict of texts. Raises RecordError."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    if not lines or not lines[0].startswith("time_ns,xpu,instance,plane,vc"):
        raise RecordError("line 1: no header of a recording; pass a file that suedectl record has written")
    width = lines[0].count(",")
    for number, line in enumerate(lines[1:], 2):
        if line.count(",") != width:
            raise RecordError(f"row {number}: {line.count(',') + 1} cells, where the header has {width + 1}")
    return list(csv.DictReader(lines))


def series_of(text, node, zero_ns=None):
    """The series as labkit.sample has them; time 0 is `zero_ns`, or the first row's. Raises RecordError."""
    rows = rows_of(text)
    if not rows:
        return []
    if zero_ns is None:
        zero_ns = min(int(row["time_ns"]) for row in rows)
    # The rows of a sample have one time, and each sample has the row of its instance.
    times = {}
    for row in rows:
        times.setdefault((row["xpu"], row["instance"]), set()).add(int(row["time_ns"]))
    spans = {}
    for own, each in times.items():
        ordered = sorted(each)
        spans.update({(*own, ns): (ns - former) / 1e9 for former, ns in zip(ordered, ordered[1:])})
    series = {}
    for row in rows:
        ns = int(row["time_ns"])
        seconds = spans.get((row["xpu"], row["instance"], ns))
        for column, (name, unit, scale, is_of_interval) in COLUMNS.items():
            if row.get(column, "") == "" or (is_of_interval and seconds is None):
                continue
            value = int(row[column]) * scale / (seconds if is_of_interval else 1)
            labels = {"node": node, "xpu": row["xpu"], "plane": row["plane"], "vc": row["vc"]}
            key = (name, row["xpu"], row["instance"], row["plane"], row["vc"])
            entry = series.setdefault(key, {"name": name, "unit": unit, "labels": labels, "t": [], "v": []})
            entry["t"].append(round((ns - zero_ns) / 1e9, 6))
            entry["v"].append(value)
    return [each for _, each in sorted(series.items()) if any(each["v"]) or each["name"] in SPARSE]
