# SPDX-License-Identifier: Apache-2.0
"""The lab's page: all of the report is in it, nothing of it is taken for markup, and a browser draws it."""

import copy
import html.parser
import json
import re
import shutil
import subprocess

import PIL.Image
import pytest
from labkit import charts, fabric_picture, figures, report_html, report_text

SECONDS = 120


def series(name, unit, labels, values, step=0.1):
    return {"name": name, "unit": unit, "labels": labels, "t": [round(i * step, 4) for i in range(len(values))], "v": values}


def made(xpus=4, planes=2, switches=2, points=30, flows=6):
    """A report of all series and kinds of events, of figures that are known."""
    nodes = [{"name": f"d{i}", "kind": "endpoint", "host": 0, "xpus": [i]} for i in range(xpus)]
    nodes += [{"name": f"sw{i}", "kind": "switch", "host": 0, "xpus": []} for i in range(switches)]
    links = [{"a": {"node": f"d{i}", "port": f"x{i}p{p}"}, "b": {"node": f"sw{p % switches}", "port": f"x{i}p{p}"}, "plane": p}
             for i in range(xpus) for p in range(planes)] if switches else \
            [{"a": {"node": f"d{i}", "port": f"to{j}"}, "b": {"node": f"d{j}", "port": f"to{i}"}, "plane": None}
             for i in range(xpus) for j in range(i)]
    ramp = [float(i) for i in range(points)]
    lines = [series("goodput", "bytes/s", {"load": "load0", "source": str(i), "destination": str(i + 1), "vc": "0"},
                    [1e6 * (i + 1) + v for v in ramp]) for i in range(flows)]
    lines += [series("plane_throughput", "bytes/s", {"node": f"d{i}", "plane": str(p)}, ramp) for i in range(2) for p in range(2)]
    lines += [series(f"latency_{p}", "s", {"load": "load0", "process": "load0.d0", "kind": "transfer"}, [1e-5] * points)
              for p in ("p50", "p99")]
    queue = {"node": "sw0", "port": "x0p0", "class": "2"}
    lines += [series("queue_depth", "bytes", queue, ramp), series("buffer_used", "bytes", {"node": "sw0"}, ramp),
              series("paused", "share", queue, [0.5] * points)]
    lines += [series(name, "1/s", {"node": "sw0"}, ramp) for name in ("retransmissions", "ecn_marks", "trims")]
    lines += [series("drops", "1/s", {"node": "sw0", "reason": "tail"}, ramp)]
    events = [{"t": 0.5, "end": 1.5, "source": "lab", "node": None, "severity": "warning", "name": "fault", "text": "plane 1 is down"},
              {"t": 0.6, "end": None, "source": "xpu0", "node": "d0", "severity": "warning", "name": "peer_plane_down", "text": "peer=1"},
              {"t": 0.7, "end": None, "source": "sw0", "node": "sw0", "severity": "error", "name": "storm_began", "text": "class=2"}]
    checks = [{"name": "load0 lost", "value": 0.0, "limit": {"max": 0}, "pass": True},
              {"name": "switch_drops", "value": 12.0, "limit": {"min": 1, "max": 3}, "pass": False},
              {"name": "fairness", "value": None, "limit": {"min": 0.5}, "pass": False}]
    times = {"samples": 3, **{f"{key}_seconds": 0.001 for key in ("min", "mean", "p50", "p90", "p99", "max")}}
    result = {"workload": {"name": "all-to-all", "iteration": times, "of_rank": [],
                           "received": {"received": 12345, "lost": 0, "wrong": 0, "duplicated": 0, "misordered": 0, "flows": 6,
                                        "fairness": 0.98}}, "results": []}
    return {"schema_version": 1, "tool": "lab", "version": "0.1.0", "git": "abc", "start": "2026-01-01T00:00:00Z",
            "end": "2026-01-01T00:00:03Z", "argv": [], "host": {"cpu": "CPU", "kernel": "6", "cpus": 2}, "backend": "local",
            "scenario": {"name": "made", "description": "by a test", "sample_ms": 100, "encapsulation": "afh2", "topology": {"xpus": xpus}}, "seed": 7,
            "topology": {"nodes": nodes, "links": links}, "series": lines, "events": events,
            "stalls": [{"load": "load0", "source": 0, "destination": 1, "vc": 2, "t": 0.5, "end": 1.75, "plane": "0,1",
                        "waited_for": "receive credit of XPU 1", "evidence": "tx_waits_credit_total grew", "faults": ["plane 1 is down"]},
                       {"load": "load0", "source": 3, "destination": 1, "vc": 0, "t": 2.5, "end": None, "plane": None,
                        "waited_for": "a plane to XPU 1", "evidence": "plane 0 down", "faults": []}],
            "load": [{"name": "load0.d0", "role": "workload", "exit": 0, "result": result, "log": ""}],
            "final": {"sw0": {"counters": {"class_drop_tail_total": 12, "rx_frames_total": 0}, "ports": {}, "buffer": None, "events": []}},
            "problems": [], "verdict": {"pass": False, "checks": checks}, "digest": None}


class Reader(html.parser.HTMLParser):
    """Elements that are opened and closed in turn; text outside of scripts; addresses that a browser would load."""

    EMPTY = {"meta", "br", "link", "img", "input", "hr"}

    def __init__(self, text):
        super().__init__()
        self.open, self.text, self.addresses, self.script = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        if tag not in self.EMPTY:
            self.open.append(tag)
        self.addresses += [value for key, value in attrs if key in ("src", "href", "action", "data")]
        assert not any(key.startswith("on") for key, _ in attrs), attrs

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open[-3:])
        self.open.pop()

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_data(self, data):
        (self.script if self.open and self.open[-1] in ("script", "style") else self.text).append(data)


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))


def test_everything_is_in_the_page():
    report = made()
    page = report_html.make(report)
    reader = Reader(page)
    text = " ".join(reader.text)
    for expected in ("made", "failed", "by a test", "seed 7", "switch_drops", "at least 1 and at most 3", "missed", "met", "–",
                     "12 345", "all-to-all", "plane 1 is down", "storm_began", "class_drop_tail_total", "sample_ms: 100"):
        assert expected in text, expected
    assert reader.addresses == []
    data = data_of(page)
    titles = [chart["title"] for chart in data["charts"]]
    assert titles == ["Goodput, all flows", "Goodput by flow", "Throughput by plane", "Latency", "Queue depth", "Buffer in use",
                      "Retransmissions", "Paused", "ECN marks", "Trimmed frames", "Drops by reason"]
    assert len(data["events"]) == 3
    # A node's event of a fault has no mark of its own, but an error has.
    assert [(mark["t"], mark["end"]) for mark in data["marks"]] == [(0.5, 1.5), (0.7, None)]
    assert all(chart["t"] == data["charts"][0]["t"] for chart in data["charts"])


def test_the_headline_is_goodput():
    """Six flows of 1 to 6 MB/s, which grow by 29 B/s, over 29 intervals and a first one."""
    found = figures.headline(made())
    assert found["bytes"] == pytest.approx(21e6 * 2.9, rel=0.001) and found["seconds"] == pytest.approx(2.9)
    assert found["goodput"] == pytest.approx(21e6, rel=0.001) and found["peak"] == pytest.approx(21e6, rel=0.001)
    text = " ".join(" ".join(Reader(report_html.make(made())).text).split())
    assert text.index("168.0 Mbit/s goodput (21.00 MB/s), peak 168.0 Mbit/s; 60.90 MB of data in 2.900 s of load") < text.index(
        "Expectations")
    assert report_text.make(made()).splitlines()[1].startswith("  goodput 168.0 Mbit/s (21.00 MB/s), peak 168.0 Mbit/s;")
    assert figures.headline({**made(), "series": []}) is None


def test_time_between_loads_is_no_time_of_load():
    report = made()
    report["series"] = [{"name": "goodput", "unit": "bytes/s", "labels": {}, "t": [1.0, 1.1, 1.2, 9.0, 9.1], "v": [100.0] * 5}]
    found = figures.headline(report)
    assert found["seconds"] == pytest.approx(0.5) and found["goodput"] == pytest.approx(100) and found["bytes"] == pytest.approx(50)


def test_each_stall_has_its_reason():
    text = " ".join(" ".join(Reader(report_html.make(made())).text).split())
    assert "0.50 1.25 load0 0 (d0) → 1 (d1) 0,1 2 receive credit of XPU 1 tx_waits_credit_total grew plane 1 is down" in text
    assert "2.50 to the end load0 3 (d3) → 1 (d1) – 0 a plane to XPU 1 plane 0 down" in text
    lines = [" ".join(line.split()) for line in report_text.make(made(), wide=True).splitlines()]
    assert "0.50 1.25 0 (d0) → 1 (d1) 0,1 2 receive credit of XPU 1 (tx_waits_credit_total grew)" in lines


def test_flows_have_the_names_of_xpus():
    shared = {"topology": {"nodes": [{"name": "d0", "xpus": [0]}, {"name": "d1", "xpus": [1, 2]}, {"name": "sw0", "xpus": []}]}}
    names = figures.xpu_names(shared)
    assert figures.flow(names, 0, 2) == "0 (d0) → 2" and figures.flow(names, "*", "0") == "all → 0 (d0)"


def test_every_column_of_figures_has_its_unit():
    heads = re.findall(r"<th[^>]*>([^<]*)</th>", report_html.make(made()))
    figures_ = [head for head in heads if head.split(" [")[0] in (
        "Received", "Lost", "Samples", "Least", "Mean", "p50", "p90", "p99", "Longest", "Begin", "For", "Time", "End", "Flows")]
    assert len(figures_) == 14 and all("[" in head for head in figures_), figures_
    assert "Unit" in heads


def test_the_page_of_a_lab_that_is_up_is_read_again():
    page = report_html.make({**made(), "refresh_s": 7})
    Reader(page)
    assert data_of(page)["refresh_s"] == 7 and '<noscript><meta http-equiv="refresh" content="7"></noscript>' in page
    assert ">running</span>" in page and ">failed</span>" not in page
    page = report_html.make(made())
    assert data_of(page)["refresh_s"] is None and "http-equiv" not in page


def test_a_node_that_gives_no_answer_adds_nothing():
    lines = [[5.0, None, 5.0, None, 5.0] + [None] * 20 + [5.0], [1.0] * 26]
    sums = charts.total(lines)
    assert sums[1] == 6 and sums[9] == 6 and sums[12:25] == [1] * 13 and sums[25] == 6


def test_two_runs_are_drawn_over_each_other(tmp_path):
    a, b = made(), made(points=50)
    b["series"] = [each for each in b["series"] if each["name"] != "drops"]
    page = tmp_path / "compare.html"
    report_html.write_comparison(a, b, "B is no worse", page)
    data = data_of(page.read_text(encoding="utf-8"))
    by_title = {chart["title"]: chart for chart in data["charts"]}
    both = by_title["Goodput, all flows"]
    assert [(line["label"], line["dashed"], line["colour"]) for line in both["lines"]] == [("A: sum", False, 0), ("B: sum", True, 0)]
    assert len(both["t"]) == 50 and both["lines"][0]["v"][29] is not None and both["lines"][0]["v"][30] is None
    assert both["lines"][1]["v"][40] == pytest.approx(21e6 + 240, rel=1e-5)
    assert [line["label"] for line in by_title["Drops by reason"]["lines"]] == ["A: sw0 tail"]
    assert "of one run alone" in by_title["Drops by reason"]["note"]
    text = " ".join(Reader(page.read_text(encoding="utf-8")).text)
    assert "168.0" in text and "B is no worse" in text
    drawn = re.search(r'<body[^>]*data-charts="(\d+)"', browse(tmp_path, page, "--dump-dom"))
    assert drawn and int(drawn[1]) == len(data["charts"]) > 5


def test_series_are_on_one_axis_and_sums_are_right():
    report = made()
    by_title = {chart["title"]: chart for chart in report_html.charts_of(report)}
    flows = by_title["Goodput by flow"]
    assert len(flows["lines"]) == 6 and flows["t"][10] == 1.0
    assert flows["lines"][2]["label"] == "2 (d2) → 3 (d3) (VC 0)" and flows["lines"][2]["v"][10] == 3e6 + 10
    assert by_title["Goodput, all flows"]["lines"][0]["v"][10] == pytest.approx(21e6 + 60, rel=1e-5)
    planes = by_title["Throughput by plane"]["lines"]
    assert [(line["label"], line["v"][10]) for line in planes] == [("plane 0", 20), ("plane 1", 20)]


def test_of_many_series_their_distribution_is_shown():
    by_title = {chart["title"]: chart for chart in report_html.charts_of(made(flows=100))}
    lines = by_title["Goodput by flow"]["lines"]
    assert [line["label"] for line in lines] == ["largest", "90th percentile", "median", "10th percentile", "smallest"]
    assert [line["v"][0] for line in lines] == [100e6, 90e6, 50e6, 10e6, 1e6]


def test_an_axis_has_a_bounded_number_of_points():
    report = made(points=20_000)
    report["series"][0]["v"] = [0.0] * 20_000
    queue = next(each for each in report["series"] if each["name"] == "queue_depth")
    queue["v"] = [0.0] * 20_000
    queue["v"][777] = 5.0
    by_title = {chart["title"]: chart for chart in report_html.charts_of(report)}
    assert len(by_title["Queue depth"]["t"]) <= 1001
    assert max(by_title["Queue depth"]["lines"][0]["v"]) == 5  # a short peak is no mean


def test_a_hostile_report_stays_text():
    evil = '</script><script>alert("x")</script><img src=x onerror=alert(1)>&amp;\u2028'
    report = made()

    def poison(value):
        if isinstance(value, dict):
            return {key: value[key] if key in ("kind", "severity", "unit", "sample_ms", "node", "plane") else poison(value[key])
                    for key in value}
        if isinstance(value, list):
            return [poison(each) for each in value]
        return evil if isinstance(value, str) else value
    poisoned = poison(copy.deepcopy(report))
    for node, was in zip(poisoned["topology"]["nodes"], report["topology"]["nodes"]):
        node["name"] = was["name"]
    poisoned["topology"]["links"] = report["topology"]["links"]
    for each, was in zip(poisoned["series"], report["series"]):
        each["name"] = was["name"]
    reader = Reader(report_html.make(poisoned))
    assert reader.addresses == []
    assert evil.replace("\u2028", "") in "".join(reader.text).replace("\u2028", "")


@pytest.mark.parametrize("change", [
    {"series": [], "events": [], "load": [], "final": {}}, {"problems": ["it broke"]}, {"digest": "0123"}])
def test_reports_of_runs_that_broke(change):
    page = report_html.make({**made(), **change})
    Reader(page)
    for value in change.get("problems", []) + [change.get("digest") or ""]:
        assert value in page


@pytest.mark.parametrize("xpus, planes, switches", [(2, 1, 0), (4, 1, 0), (2, 1, 1), (8, 4, 4), (64, 4, 4), (300, 1, 2)])
def test_pictures_of_fabrics(xpus, planes, switches):
    topology = made(xpus, planes, switches)["topology"]
    picture = fabric_picture.svg(topology)
    Reader(picture)
    assert picture.count("<rect") == xpus + switches
    width, height = map(float, re.search(r'viewBox="0 0 (\d+) (\d+)"', picture).groups())
    for x, y in re.findall(r'<text x="([\d.]+)" y="([\d.]+)"', picture):
        assert 0 < float(x) < width and 0 < float(y) < height


def test_without_the_library_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(report_html, "CHART_JS", "/nowhere/chart.min.js")
    with pytest.raises(report_html.PageError, match="apt-get install libjs-chart.js"):
        report_html.make(made())


def test_only_times_have_parts_of_their_unit():
    if not shutil.which("node"):
        pytest.skip("there is no program node")
    script = (report_html.HERE / "report_page.js").read_text(encoding="utf-8")
    prefixes, short = (re.search(pattern, script, re.S | re.M)[0]
                       for pattern in (r"^  const prefixes = .*?;$", r"^  function short\(.*?^  }$"))
    program = f"{prefixes}\n{short}\nconsole.log([[0.8, 'B'], [0.8, 's'], [2.5e6, 'B/s'], [0, 'B'], [0.0004, '1/s']]" \
              ".map(([value, unit]) => short(value, unit)).join('|'))"
    done = subprocess.run(["node", "-e", program], capture_output=True, text=True, timeout=SECONDS, check=True)
    assert done.stdout == "0.8 B|800 ms|2.5 MB/s|0 B|0.0004 1/s\n"


def browse(tmp_path, page, *arguments):
    done = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
         f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1240,2600", "--virtual-time-budget=5000",
         "--enable-logging=stderr", *arguments, page.as_uri()],
        capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    errors = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert not errors, errors
    return done.stdout


@pytest.mark.parametrize("dark", [False, True])
def test_a_browser_draws_it(tmp_path, dark):
    report = made(xpus=17, planes=1, switches=1)
    page = tmp_path / "report.html"
    report_html.write(report, page)
    drawn_charts = report_html.charts_of(report)
    dom = browse(tmp_path, page, "--dump-dom")
    drawn = re.search(r'<body[^>]*data-charts="(\d+)" data-points="(\d+)"', dom)
    assert drawn, "the script did not come to its end"
    assert int(drawn[1]) == len(drawn_charts) + 1  # and the events
    assert int(drawn[2]) == sum(len(chart["t"]) * len(chart["lines"]) for chart in drawn_charts)
    picture = tmp_path / "page.png"
    browse(tmp_path, page, f"--screenshot={picture}", *(["--blink-settings=preferredColorScheme=0"] if dark else []))
    with PIL.Image.open(picture) as image:
        colours = image.convert("RGB").getcolors(1 << 24)
    by_colour = {colour: count for count, colour in colours}
    background = max(by_colour, key=by_colour.get)
    assert background == ((0x16, 0x18, 0x1b) if dark else (255, 255, 255))
    # Curves in the first colours of the palette, and the fault's band.
    for line in ((0x56, 0xb4, 0xe9), (0xf2, 0x8e, 0x2b)) if dark else ((0x00, 0x72, 0xb2), (0xd5, 0x5e, 0x00)):
        assert by_colour.get(line, 0) > 100, line
    band = [count for colour, count in by_colour.items() if count > 5000 and colour != background
            and colour[0] > background[0] - 30 and colour[0] - colour[2] > 5]
    assert band
