# SPDX-License-Identifier: Apache-2.0
"""conf/grafana and conf/prometheus: that they are right, and that every metric which they name is one."""

import json
import re
import subprocess
import urllib.request

import e2e

PROMETHEUS = e2e.ROOT / "conf/prometheus"
DASHBOARD = e2e.ROOT / "conf/grafana/suede.json"


def promtool(*arguments):
    result = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True,
                            timeout=60, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def expressions():
    """Every query of the dashboard, with Grafana's variables filled in."""
    panels = json.loads(DASHBOARD.read_text())["panels"]
    found = [target["expr"] for panel in panels for target in panel.get("targets", [])]
    assert len(found) > 20
    return [text.replace("$__rate_interval", "1m").replace("$endpoint", ".*") for text in found]


def test_rules_are_good():
    assert re.search(r"SUCCESS: [1-9]\d* rules found",
                     promtool("check", "rules", PROMETHEUS / "suede-alerts.yml"))


def test_rules_alert_of_what_they_say():
    promtool("test", "rules", PROMETHEUS / "suede-alerts-test.yml")
    # Every rule has a case, besides the calm endpoint's.
    rules = re.findall(r"- alert: (\w+)", (PROMETHEUS / "suede-alerts.yml").read_text())
    cases = (PROMETHEUS / "suede-alerts-test.yml").read_text()
    for rule in rules:
        assert f"  - name: {rule}\n" in cases and f"alertname: {rule}}}" in cases, rule


def test_queries_of_the_dashboard_are_good(directory):
    # As rules, which promtool parses.
    rules = directory / "rules.json"
    rules.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": [
        {"record": f"query_{i}", "expr": text} for i, text in enumerate(expressions())]}]}))
    promtool("check", "rules", rules)


def test_dashboard_has_no_panel_twice():
    panels = json.loads(DASHBOARD.read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    places = [tuple(panel["gridPos"][key] for key in "xy") for panel in panels]
    assert len(set(places)) == len(places)


def test_every_metric_is_there(directory):
    config = e2e.endpoint_config(directory, "left", "net_null0,copy=0")
    config["management"]["http_address"] = "127.0.0.1:0"
    with e2e.Daemon(directory, config) as daemon:
        address = re.search(r"web: serving address=(\S+)", daemon.stderr())[1]
        with urllib.request.urlopen(f"http://{address}/metrics?peers=1", timeout=e2e.START_S) as answer:
            page = answer.read().decode()
        assert daemon.terminate() == 0
    there = set(re.findall(r"^(\w+)[{ ]", page, re.M))
    # Labels of the page, and Prometheus' own.
    labels = set(re.findall(r'[{,](\w+)="', page)) | {"instance", "job"}
    texts = [(PROMETHEUS / "suede-alerts.yml").read_text(), *expressions()]
    named = {name for text in texts for name in re.findall(r"\bsuede_\w+", text)}
    assert len(named) > 30
    # Some devices alone count these, or endpoints with link layers or agreement on secrets.
    table = (e2e.ROOT / "docs/metrics.md").read_text()
    there |= set(re.findall(r"^\| `(suede_(?:port|llr|cbfc|lldp|seal)_\w+)`", table, re.M))
    assert named <= there, named - there
    matched = {name for text in texts for name in re.findall(r"[{,](\w+)=~?\"", text)}
    assert matched <= labels, matched - labels
