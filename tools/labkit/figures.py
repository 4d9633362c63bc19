# SPDX-License-Identifier: Apache-2.0
"""The figures that a report begins with: goodput over the time in which loads ran."""

from labkit import units
from labkit.stalls import STALL_S

__all__ = ["STALL_S", "flow", "headline", "sentence", "xpu_names"]
MAX_BINS = 2000


def xpu_names(report):
    """{XPU: its name as text}: XPUs alone in their daemons have the daemons' names, as peers[].name in their configurations."""
    return {str(node["xpus"][0]): node["name"] for node in report["topology"]["nodes"] if len(node["xpus"]) == 1}


def flow(names, source, destination):
    """A flow by the numbers and names of its XPUs: 0 (d0) → 1 (d1). A source * is all."""
    return " → ".join("all" if xpu == "*" else f"{xpu} ({names[xpu]})" if xpu in names else xpu
                      for xpu in (str(source), str(destination)))


def _spans(series, step):
    """(begin, end, value) of the intervals of a series; that of the first point is as long as the next one."""
    times = series["t"]
    for i, (t, v) in enumerate(zip(times, series["v"])):
        before = times[i - 1] if i else t - (times[1] - t if len(times) > 1 else step)
        # A gap between two loads, or between two flows of one name, is no interval.
        yield max(0.0, before if t - before <= 5 * step else t - step), t, v


def headline(report):
    """{goodput, peak (bytes/s), bytes, seconds (in which flows were measured)}, or None without goodput."""
    series = [each for each in report["series"] if each["name"] == "goodput" and each["t"]]
    if not series:
        return None
    gaps = sorted(b - a for each in series for a, b in zip(each["t"], each["t"][1:]) if b > a)
    step = gaps[len(gaps) // 2] if gaps else report["scenario"]["sample_ms"] / 1000
    spans = [span for each in series for span in _spans(each, step) if span[1] > span[0]]
    data = sum((end - begin) * value for begin, end, value in spans)
    seconds, covered = 0.0, 0.0
    for begin, end, _ in sorted(spans):
        seconds += max(0.0, end - max(begin, covered))
        covered = max(covered, end)
    width = max(step, covered / MAX_BINS)
    bins = {}
    for begin, end, value in spans:
        at = int((begin + end) / 2 / width)
        bins[at] = bins.get(at, 0.0) + (end - begin) * value
    return {"goodput": data / seconds if seconds else 0.0, "peak": max(bins.values(), default=0.0) / width, "bytes": data,
            "seconds": seconds}


def sentence(report):
    """The headline as text."""
    found = headline(report)
    if found is None:
        return "goodput: no load was measured"
    return (f"goodput {units.quantity(found['goodput'] * 8, 'bit/s')} ({units.quantity(found['goodput'], 'B/s')}), "
            f"peak {units.quantity(found['peak'] * 8, 'bit/s')}; {units.quantity(found['bytes'], 'B')} of data in "
            f"{units.quantity(found['seconds'], 's')} of load")
