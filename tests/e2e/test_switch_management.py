# SPDX-License-Identifier: Apache-2.0
"""A running suede-switch, looked at and changed by suedectl and over HTTP."""

import re
import urllib.error
import urllib.request

import jsonschema
import pytest

import e2e
import switched

# Methods that change something, or take a file, and have a test of their own.
CHANGES = {"ports.set_admin", "queues.reset", "addresses.add", "addresses.remove", "addresses.flush",
           "groups.set_weight", "impair.set",
           "impair.clear", "log.set_level", "drain", "capture.start", "capture.stop", "events.wait", "config.check",
           "config.save"}


@pytest.fixture(scope="module")
def fabric():
    def serve(config):
        config["management"]["http_address"] = "127.0.0.1:0"

    with switched.fabric(2, switch=serve) as parts:
        yield parts


def managed(switch, *arguments):
    return e2e.managed(switch, *arguments)


def of_queue(switch, port, traffic_class):
    return managed(switch, "queues", "list", "--port", port, "--class", traffic_class)["queues"][0]


def get(switch, path):
    """Status and text."""
    address = managed(switch, "version")["http"]
    try:
        with urllib.request.urlopen(f"http://{address}{path}", timeout=e2e.START_S) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def traffic(fabric):
    directory, _, daemon = fabric
    return switched.run_workload(directory, daemon, 2, "all-to-all", "--bytes", 200000, "--iterations", 5)


def test_every_method_answers_as_its_schema_says(fabric):
    _, switch, _ = fabric
    methods = managed(switch, "rpc", "describe")["methods"]
    assert len(methods) > 20
    for method in methods:
        if method["name"] in CHANGES:
            continue
        jsonschema.validate(managed(switch, *method["name"].split(".")), method["result_schema"])


def test_queues_tell_of_traffic(fabric):
    _, switch, _ = fabric
    traffic(fabric)
    ports = managed(switch, "ports", "list")["ports"]
    assert [(port["name"], port["link_up"], port["admin"]) for port in ports] == [("s0", True, "up"), ("s1", True, "up")]
    assert all(port["rx_frames"] > 0 and port["tx_frames"] > 0 for port in ports)
    # VC 0 has DSCP 8, so class 1.
    assert of_queue(switch, "s1", 1)["sent_frames"] > 0
    used = managed(switch, "queues", "list", "--in_use")["queues"]
    assert {(queue["port"], queue["class"]) for queue in used} >= {("s0", 1), ("s1", 1)}
    assert len(used) < len(managed(switch, "queues", "list")["queues"]) == 16
    assert managed(switch, "buffer", "show")["most_used_bytes"] > 0
    managed(switch, "queues", "reset")
    assert of_queue(switch, "s1", 1)["most_bytes"] == 0
    learnt = managed(switch, "addresses", "list", "--origin", "learnt")["addresses"]
    assert {entry["address"] for entry in learnt} == {e2e.mac_of(0), e2e.mac_of(1)}


def test_impairments_are_set_while_it_runs(fabric):
    _, switch, daemon = fabric
    managed(switch, "impair", "set", "s0", "--direction", "in", "--loss", "0.1", "--delay_us", "20")
    traffic(fabric)
    impaired = managed(switch, "impair", "list", "--impaired_only")["impairments"]
    assert [(one["port"], one["direction"], one["loss"], one["delay_us"]) for one in impaired] == [("s0", "in", 0.1, 20)]
    counters = managed(switch, "counters", "get", "--scope", "port", "--port", "s0", "--reason", "loss")
    before = counters["sets"][0]["counters"]["impair_loss_total"]
    assert before > 0
    assert daemon.counters()["tx_retransmissions_total"] > 0
    managed(switch, "impair", "clear", "all")
    traffic(fabric)
    after = managed(switch, "counters", "get", "--scope", "port", "--port", "s0", "--reason", "loss")
    assert after["sets"][0]["counters"]["impair_loss_total"] == before
    events = managed(switch, "events", "list", "--kind", "impairment_set")["events"]
    assert [event["setting"] for event in events] == ["delay_us=20.0 loss=0.1", "clear"]
    assert "impairment_set port=s0 direction=in" in switch.stderr()


def test_a_port_that_is_set_down_carries_nothing(fabric):
    _, switch, _ = fabric
    managed(switch, "ports", "set_admin", "s1", "down")
    assert managed(switch, "ports", "list")["ports"][1]["admin"] == "down"
    managed(switch, "ports", "set_admin", "s1", "up")
    traffic(fabric)


def test_metrics_and_health(fabric):
    _, switch, _ = fabric
    e2e.wait_until(lambda: get(switch, "/readyz") == (200, "ready\n"), e2e.START_S, "/readyz")
    assert get(switch, "/healthz") == (200, "ok\n")
    status, page = get(switch, "/metrics")
    assert status == 200
    documented = set(re.findall(r"^\| `(suede_\w+)` \|", (e2e.ROOT / "docs/metrics.md").read_text(), re.M))
    # The page names those of memifs once, as an endpoint's.
    documented |= {name.replace("suede_", "suede_switch_") for name in documented if "_port_memif_" in name}
    shown = set(re.findall(r"^# TYPE (\S+) ", page, re.M))
    assert len(shown) > 60 and shown <= documented, shown - documented
    name = switch.name
    assert f'suede_switch_link_up{{switch="{name}",port="s0"}} 1' in page
    assert f'suede_switch_class_drops_total{{switch="{name}",port="s1",class="7",reason="tail"}} 0' in page
    assert "showTables" in get(switch, "/status.js")[1]


def test_an_endpoints_commands_are_refused_with_the_reason(fabric):
    _, switch, daemon = fabric
    assert "'planes list' is for endpoints, and this daemon is a switch" in e2e.suedectl(
        switch, "planes", "list", code=2)
    assert "'impair list' is for switches, and this daemon is an endpoint" in e2e.suedectl(
        daemon, "impair", "list", code=2)


def test_drain_ends_it():
    with switched.fabric(2) as (_, switch, _daemon):
        managed(switch, "drain")
        assert switch.wait(e2e.START_S) == 0, switch.report()
