# SPDX-License-Identifier: Apache-2.0
"""Recordings (docs/record.md): their series, their charts, and a scenario that records."""

import json
import re
import subprocess

import pytest
from labkit import record, report_html
from test_page import Reader, browse, data_of, made

import lab

HEADER = "time_ns,xpu,instance,plane,vc,tx_bytes,rx_bytes,inflight_bytes,paused_us,queued_octets,window_octets,tx_ring_lines"
AT = 10**18


def sample(ms, sent, inflight, paused=0, queued=0):
    at = AT + ms * 10**6
    return f"{at},3,0,0,1,{sent},0,{inflight},{paused},,,\n{at},3,0,,1,,,,,{queued},,\n{at},3,0,,,,,,,,,5\n"


def recording(count=50):
    rows = "".join(sample(ms, 1000 * ms, 10 * ms, 500 if ms > 20 else 0, ms) for ms in range(count))
    return f"{HEADER}\n{rows}"


def test_series_have_rates_and_states():
    by_name = {series["name"]: series for series in record.series_of(recording(), "d0")}
    sent = by_name["record_sent"]
    assert sent["labels"] == {"node": "d0", "xpu": "3", "plane": "0", "vc": "1"} and sent["unit"] == "bytes/s"
    # The first sample has no interval.
    assert sent["t"][0] == 0.001 and sent["v"][:3] == pytest.approx([1e6, 2e6, 3e6])
    assert by_name["record_inflight"]["v"][:3] == [0, 10, 20] and by_name["record_inflight"]["t"][2] == 0.002
    assert by_name["record_paused"]["v"][-1] == pytest.approx(0.5)
    assert by_name["record_queued"]["labels"]["plane"] == "" and by_name["record_tx_ring"]["v"][0] == 5
    assert "record_received" in by_name and "record_window" not in by_name


def test_lost_samples_make_longer_intervals():
    text = f"{HEADER}\n{sample(0, 0, 0)}{sample(1, 1000, 1)}# 3 samples lost\n{sample(5, 4000, 1)}"
    sent = next(series for series in record.series_of(text, "d0") if series["name"] == "record_sent")
    assert sent["v"] == pytest.approx([1e6, 1e6])


@pytest.mark.parametrize("text, message", [
    ("", "line 1: no header"), ("a,b\n1,2\n", "line 1: no header"), (f"{HEADER}\n1,2\n", "row 2: 2 cells"),
])
def test_other_files_are_refused(text, message):
    with pytest.raises(record.RecordError, match=message):
        record.series_of(text, "d0")


@pytest.mark.parametrize("text, us", [("1ms", 1000), ("500us", 500), ("2s", 2000000), ("99us", None), ("11s", None), ("1", None),
                                      ("1 ms", None), ("ms", None)])
def test_intervals(text, us):
    assert record.interval_us(text) == us


def test_charts_of_recordings_have_closer_points():
    report = made(points=20)  # 0.1 s each
    report["series"] += record.series_of(recording(), "d0")
    charts = {chart["title"]: chart for chart in report_html.charts_of(report)}
    chart = charts["In flight, recorded"]
    assert chart["t"][1] == pytest.approx(0.001) and chart["lines"][0]["label"] == "d0 xpu 3 plane 0 vc 1"
    assert chart["lines"][0]["v"][:50] == [10 * ms for ms in range(50)]
    assert charts["Buffer in use"]["t"][1] == pytest.approx(0.1)
    Reader(report_html.make(report))


def test_record_plot_draws_the_page(tmp_path):
    files = []
    for name in ("left", "right"):
        files.append(tmp_path / f"{name}.csv")
        files[-1].write_text(recording(), encoding="utf-8")
    page = tmp_path / "page.html"
    subprocess.run([lab.ROOT / "tools/record-plot", *files, page], check=True, timeout=lab.RUN_S)
    text = page.read_text(encoding="utf-8")
    Reader(text)
    titles = [chart["title"] for chart in data_of(text)["charts"]]
    assert titles == ["Sent, recorded", "Accepted, recorded", "In flight, recorded", "Queued, recorded", "Transmit rings, recorded",
                      "Paused by the neighbour, recorded"]
    dom = browse(tmp_path, page, "--dump-dom")
    drawn = re.search(r'<body[^>]*data-charts="(\d+)"', dom)
    assert drawn and int(drawn[1]) == len(titles)
    wrong = subprocess.run([lab.ROOT / "tools/record-plot", page, tmp_path / "other.html"], capture_output=True, text=True,
                           timeout=lab.RUN_S, check=False)
    assert wrong.returncode == 2 and "record-plot: line 1: no header of a recording" in wrong.stderr


@pytest.mark.parametrize("sets, message", [
    (["record=1"], "record: 1 is no interval from 100us to 10s; use a number and us, ms or s, as in 1ms"),
    (["record=1ms", "backend=simulator"], "record: the back end simulator makes no recordings; remove record"),
])
def test_wrong_keys_are_named(tmp_path, sets, message):
    _, told = lab.run("--check", lab.write(tmp_path, lab.LEAST), sets=sets, code=2)
    assert message in told, told


def test_a_scenario_records_marks(tmp_path):
    """The sums of what was recorded are the counters'; the page has the charts."""
    out = tmp_path / "out"
    lab.run("--out", out, lab.ROOT / "conf/lab/incast-ecn.yaml",
            sets=["load[0].iterations=20", "switch.port.rate_gbps=0.5", "record=2ms", "topology.xpus=5", "expect.ecn_marks={min: 1}"])
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    rows = record.rows_of((out / "d0.record.csv").read_text(encoding="utf-8"))
    counters = report["final"]["d0"]["counters"]
    for column, counter in (("tx_pdus", "tx_pdus_total"), ("rx_bytes", "rx_command_bytes_total"),
                            ("ecn_marked", "rx_ecn_marked_total")):
        assert sum(int(row[column] or 0) for row in rows) == counters[counter], column
    assert counters["rx_ecn_marked_total"] > 0
    titles = [chart["title"] for chart in data_of((out / "report.html").read_text(encoding="utf-8"))["charts"]]
    assert {"Sent, recorded", "In flight, recorded", "ECN marks received, recorded"} <= set(titles), titles
    assert not any(series["name"].startswith("record_") for series in report["series"])
