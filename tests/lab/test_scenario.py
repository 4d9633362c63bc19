# SPDX-License-Identifier: Apache-2.0
"""The reading of scenarios: every error names file, line, column, key and mend."""

import re

import pytest

import lab
from labkit import schema, scenario


def errors_of(directory, text, sets=()):
    path = lab.write(directory, text)
    with pytest.raises(scenario.ScenarioError) as caught:
        scenario.load(path, sets)
    return [message.replace(str(path), "FILE") for message in caught.value.messages]


@pytest.mark.parametrize("text, message", [
    ("", "FILE:1:1: is empty; begin with version: 1"),
    ("version: [1\n", "FILE:2:1: is no YAML: expected ',' or ']', but got '<stream end>'"),
    ("version: 2\nname: a\ntopology: {xpus: 2}\nload: [{}]\n", "FILE:1:10: version: 2 is out of range; write 1 to 1"),
    ("version: 1\nname: a b\ntopology: {xpus: 2}\nload: [{}]\n",
     "FILE:2:7: name: a b is no name; write 1 to 32 letters, digits, _ and -"),
    ("version: 1\nname: a\nload: [{}]\n", "FILE:1:1: topology: is missing; add it: XPUs, switches and links."),
    ("version: 1\nname: a\ntopology: {xpus: 2}\nload: []\n", "FILE:4:7: load: has 0 entries; write 1 or more"),
    (lab.LEAST + "fault: []\n", "FILE:6:1: fault: is no key; faults may be meant"),
    (lab.LEAST + "seed: x\n", "FILE:6:7: seed: x is no whole number; write 0 to 4294967295"),
    (lab.LEAST + "seed: 1\nseed: 2\n", "FILE:7:1: seed: is there twice; remove one"),
    (lab.LEAST + "encapsulation: udp\n",
     "FILE:6:16: encapsulation: udp is none of udp4, udp6, afh1, afh1s, afh2, afh2c or esun"),
    (lab.LEAST + "expect: {switch_drops: 0}\n",
     "FILE:6:24: expect.switch_drops: is no bound; write {max: 0}, {min: 1} or both"),
    (lab.LEAST + "expect: {trims: {min: 2, max: 1}}\n", "FILE:6:17: expect.trims: has a min above its max"),
    (lab.LEAST + "expect: {completed: 3}\n", "FILE:6:21: expect.completed: 3 is neither on nor off"),
    (lab.LEAST.replace("{iterations: 3}", "{vcs: 0-4}"),
     "FILE:5:11: load[0].vcs: has a value out of range; write list of 0 to 3"),
    (lab.LEAST.replace("{iterations: 3}", "{ranks: 0-2}"), "FILE:5:6: load[0].ranks: there is no XPU 2; topology.xpus is 2"),
    (lab.LEAST.replace("{iterations: 3}", "{mode: latency}"),
     "FILE:5:5: load[0].source: is missing; mode latency has one"),
    (lab.LEAST.replace("{iterations: 3}", "{count: 3}"),
     "FILE:5:6: load[0].count: is no key of mode workload; remove it"),
    (lab.LEAST + "  - {name: load0, vcs: 1}\n", "FILE:6:6: load[1].name: load0 is the name of another load; choose another"),
    (lab.LEAST + "faults: [{at_s: 1, link: xpu0.p0}]\n",
     "FILE:6:10: faults[0]: says what by one of impair, down, admin_down, process and pfc_storm; add one"),
    (lab.LEAST + "faults: [{at_s: 1, plane: 0, link: all, down: on}]\n",
     "FILE:6:10: faults[0]: says where by one of link, plane, switch, daemon and load; it has link and plane"),
    (lab.LEAST + "faults: [{at_s: 1, daemon: d0, down: on}]\n", "FILE:6:32: faults[0].down: is of links; a daemon has process"),
    (lab.LEAST + "faults: [{at_s: 1, link: all, down: on, every_s: 1, for_s: 2, times: 2}]\n",
     "FILE:6:53: faults[0].for_s: is as long as every_s or longer; write less"),
    (lab.LEAST + "faults: [{at_s: 1, link: all, impair: {loss: 2}}]\n",
     "FILE:6:46: faults[0].impair.loss: 2 is out of range; write 0 to 1, also fractions"),
    (lab.LEAST + "faults: [{at_s: 300, link: all, down: on}]\n", "FILE:6:11: faults[0].at_s: the loads are over after 300 s, before the fault at 300 s; let them last longer, or the "
     "fault come earlier"),
    (lab.LEAST.replace("{iterations: 3}", "{duration_s: 2, warmup_s: 1}") + "faults: [{at_s: 3, link: all, down: on}]\n",
     "FILE:6:11: faults[0].at_s: the loads are over after 3 s, before the fault at 3 s; let them last longer, or the fault "
     "come earlier"),
    (lab.LEAST.replace("{iterations: 3}", "{duration_s: 4}")
     + "faults: [{at_s: 1, for_s: 1, every_s: 2, times: 3, link: all, down: on}]\n",
     "FILE:6:42: faults[0].times: the loads are over after 4 s, before the last fault at 5 s; let them last longer, or the "
     "fault come fewer times"),
    (lab.LEAST + "endpoint: &a {port: *a}\n", "FILE:6:21: *a is an alias, which a scenario cannot have; write its value in full"),
    (lab.LEAST + "endpoint: &a [*a]\n", "FILE:6:15: *a is an alias, which a scenario cannot have; write its value in full"),
    (lab.LEAST + "endpoint: {port: " + "[" * 2000 + "]" * 2000 + "}\n",
     "FILE:6:32: more than 16 maps and lists are in each other; write less"),
    (lab.LEAST + "endpoint: {[a]: 1}\n", "FILE:6:12: endpoint: has a key that is no text"),
    (lab.LEAST + "? {a: 1}\n: 2\n", "FILE:6:3: the file: has a key that is no text"),
    (lab.LEAST + "endpoint: {transport: {max_tries: !!int x}}\n",
     "FILE:6:35: endpoint.transport.max_tries: x is no value of int; put a text in quotes"),
    (lab.LEAST + "switch: {name: 2026-99-99}\n",
     "FILE:6:16: switch.name: 2026-99-99 is no value of timestamp; put a text in quotes"),
    (lab.LEAST + "seed: !!python/object:os.system {}\n", "FILE:6:7: seed: is no single value; write 0 to 4294967295"),
    (lab.LEAST + "endpoint: {port: 5}\n", "FILE:6:12: endpoint.port: is no map of keys and values"),
    (lab.LEAST + "endpoint: {management: [1]}\n", "FILE:6:12: endpoint.management: is no map of keys and values"),
    (lab.LEAST + "switch: {ports: [{name: a}]}\n",
     "FILE:6:10: switch.ports: the lab makes them; write port, which goes into each"),
    (lab.LEAST + "endpoint: {lcores: [{cpu: a}]}\n",
     "FILE:6:12: endpoint.lcores: is no list of lcores; write {cpu: 0} and so on"),
    (lab.LEAST.replace("{iterations: 3}", "{ranks: 0-999999999}"),
     "FILE:5:13: load[0].ranks: 0-999999999 is out of range; write list of XPU ids and ranges: 0-3,8"),
    (lab.LEAST.replace("{xpus: 2}", "{xpus: 2, links: [{between: [[a], b]}]}"),
     "FILE:3:39: topology.links[0].between: is no list of texts"),
])
def test_errors(tmp_path, text, message):
    assert message in errors_of(tmp_path, text)


def test_a_bomb_of_aliases_ends_at_once(tmp_path):
    names = "abcdefghijklmnopqrst"
    bomb = "a: &a [x, x]\n" + "".join(f"{new}: &{new} [{', '.join(['*' + old] * 9)}]\n" for old, new in zip(names, names[1:]))
    assert errors_of(tmp_path, bomb) == ["FILE:2:8: *a is an alias, which a scenario cannot have; write its value in full"]
    assert errors_of(tmp_path, lab.LEAST, ["endpoint=&a [*a]"]) == [
        "flag --set: endpoint: *a is an alias, which a scenario cannot have; write its value in full"]


def test_values_that_only_yaml_knows_are_texts(tmp_path):
    read = scenario.load(lab.write(tmp_path, lab.LEAST + "endpoint: {name: 2026-01-02, port: {x: !!binary aGk=}}\n"))
    assert read["endpoint"] == {"name": "2026-01-02", "port": {"x": "aGk="}}


def test_all_errors_of_a_file_are_told_at_once(tmp_path):
    assert len(errors_of(tmp_path, lab.LEAST + "a: 1\nb: 2\nseed: -1\n")) == 3


def test_flags_lie_over_the_file(tmp_path):
    path = lab.write(tmp_path, lab.LEAST)
    read = scenario.load(path, ["topology.xpus=5", "load[0].bytes=7", "switch.port.pfc=on", "expect.trims={min: 1}"], seed=9)
    assert read["topology"]["xpus"] == 5 and read["load"][0]["bytes"] == 7 and read["seed"] == 9
    assert read["switch"] == {"port": {"pfc": "on"}} and read["expect"]["trims"] == {"min": 1}
    assert errors_of(tmp_path, lab.LEAST, ["topology.xpus=1"]) == [
        "flag --set: topology.xpus: 1 is out of range; write 2 to 1024"]
    assert errors_of(tmp_path, lab.LEAST, ["load[3].bytes=1"]) == [
        "flag --set: load[3].bytes: there is no entry 3; the list has 1"]
    assert errors_of(tmp_path, lab.LEAST, ["x"]) == ["flag --set: x: is no key=value"]


def test_defaults_are_filled_in(tmp_path):
    read = scenario.load(lab.write(tmp_path, lab.LEAST))
    assert read["load"][0]["ranks"] == [0, 1] and read["load"][0]["vcs"] == [0] and read["load"][0]["name"] == "load0"
    assert read["expect"]["oracle"] == "clean" and read["topology"]["link"] == {"rate_gbps": 0, "delay_us": 0}


def test_the_manual_has_every_key():
    page = (lab.ROOT / "docs/lab.md").read_text(encoding="utf-8")
    found = re.search(r"<!-- keys: begin -->\n(.*)<!-- keys: end -->", page, re.S)
    assert found and found[1] == schema.table(), "tools/lab --keys prints the table for docs/lab.md"


def test_the_manual_names_every_scenario():
    page = (lab.ROOT / "docs/lab.md").read_text(encoding="utf-8")
    assert [path.name for path in lab.SCENARIOS if f"`{path.stem}`" not in page] == []


def test_impairments_are_those_of_the_switch():
    page = (lab.ROOT / "docs/switch.md").read_text(encoding="utf-8")
    keys = set(re.findall(r"`ports\[\]\.impair_in\.(\w+)`", page)) - {"down", "hole_destinations"}
    assert keys == {key.name for key in schema.IMPAIR} - {"hole_xpus"}
