# SPDX-License-Identifier: Apache-2.0
"""Reads a scenario: YAML to a `Scenario`, whose errors name file, line, column, key and remedy."""

import dataclasses
import pathlib
import re

import yaml

from labkit import nodes, schema
from labkit.nodes import ScenarioError
from labkit.schema import NONE, REQUIRED

NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")
MOST_XPU = 1023
# Keys of `endpoint` and `switch` that the lab itself reads or completes.
MAPS = ("port", "instance", "eal", "management", "clients", "packing", "sealing")
MADE = {"ports": "port", "instances": "instance"}  # lists that the lab makes; what is merged into each entry


@dataclasses.dataclass
class Scenario:
    """`data` has every key, those with defaults filled in; `where` the place of a path for messages."""
    path: pathlib.Path
    data: dict
    marks: dict = dataclasses.field(default_factory=dict)
    build: pathlib.Path = None  # of the programs; None: the installed ones

    def __getitem__(self, key):
        return self.data[key]

    @property
    def name(self):
        return self.data["name"]

    def where(self, path):
        """FILE:LINE:COLUMN of a key, or of the nearest one above it."""
        while path and path not in self.marks:
            path = re.sub(r"(\.[^.\[]+|\[\d+\]|^[^.\[]+)$", "", path)
        return self.marks.get(path, str(self.path))

    def error(self, path, message):
        return ScenarioError([f"{self.where(path)}: {path}: {message}"])


class _Reader:
    def __init__(self, path):
        self.path = path
        self.errors = []
        self.marks = {}
        self.flagged = {}  # id of a YAML node that a flag has set -> its text
        self.source = "flag --set"

    def place(self, node):
        if id(node) in self.flagged:
            return self.source
        return f"{self.path}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"

    def complain(self, node, key, message):
        self.errors.append(f"{self.place(node)}: {key}: {message}")

    def scalar(self, node, path, key):
        """The value of a scalar node as YAML has it, or NONE after a complaint."""
        if not isinstance(node, yaml.ScalarNode):
            self.complain(node, path, f"is no single value; write {schema._range_text(key) or key.kind}")
            return NONE
        return self.value(node, path)

    def value(self, node, path):
        """The value of a scalar node, or NONE after a complaint."""
        try:
            return yaml.SafeLoader("").construct_object(node)
        except (yaml.YAMLError, ValueError, KeyError, OverflowError):
            self.complain(node, path, f"{_short(node.value)} is no value of {node.tag.removeprefix('tag:yaml.org,2002:')}; "
                          "put a text in quotes")
            return NONE

    def names(self, node, path):
        """(name, node of the name, node of the value) of a map; complains of names that are no texts, or are there twice."""
        seen = set()
        for name_node, value in node.value:
            if not isinstance(name_node, yaml.ScalarNode):
                self.complain(name_node, path.rstrip(".") or "the file", "has a key that is no text")
                continue
            name = str(name_node.value)
            if name in seen:
                self.complain(name_node, path + name, "is there twice; remove one")
            seen.add(name)
            self.marks[path + name] = self.place(value if id(value) in self.flagged else name_node)
            yield name, name_node, value

    def read_map(self, node, keys, path):
        values = {}
        entries = {}
        if isinstance(node, yaml.ScalarNode) and node.tag.endswith(":null"):
            pass
        elif not isinstance(node, yaml.MappingNode):
            self.complain(node, path.rstrip(".") or "the file", "is no map of keys and values")
            return values
        else:
            for name, name_node, value in self.names(node, path):
                entries[name] = value
                if name not in {key.name for key in keys}:
                    self.complain(name_node, path + name, "is no key; " + nearest(name, [k.name for k in keys]))
        for key in keys:
            full = path + key.name
            if key.name in entries:
                value = self.read(entries[key.name], key, full)
                values[key.name] = None if value is NONE else value
            elif key.default is REQUIRED:
                self.complain(node, full, f"is missing; add it: {key.meaning}")
                values[key.name] = None
            elif key.kind == "map" and not _is_action(key):
                values[key.name] = self.read_map(yaml.compose("{}"), key.keys, full + ".")
            else:
                values[key.name] = ([] if key.kind == "list" else {} if key.kind == "free" else
                                    None if key.default is NONE else
                                    list(key.default) if key.kind == "numbers" else key.default)
        return values

    def read(self, node, key, path):
        return getattr(self, "read_" + key.kind + "_kind")(node, key, path)

    def read_map_kind(self, node, key, path):
        values = self.read_map(node, key.keys, path + ".")
        return {k: v for k, v in values.items() if v is not None} if key.name == "impair" else values

    def read_list_kind(self, node, key, path):
        if not isinstance(node, yaml.SequenceNode):
            self.complain(node, path, "is no list; begin each entry with -")
            return []
        if len(node.value) < key.least:
            self.complain(node, path, f"has {len(node.value)} entries; write {key.least} or more")
        result = []
        for number, item in enumerate(node.value):
            self.marks[f"{path}[{number}]"] = self.place(item)
            result.append(self.read_map(item, key.keys, f"{path}[{number}]."))
        return result

    def read_free_kind(self, node, key, path):
        if isinstance(node, yaml.ScalarNode) and node.tag.endswith(":null"):
            return {}
        if not isinstance(node, yaml.MappingNode):
            self.complain(node, path, "is no map of keys and values")
            return {}
        return self.free(node, path)

    def free(self, node, path):
        """Any node, as suede's configuration has its values: on and off for truth values."""
        if isinstance(node, yaml.MappingNode):
            return {name: self.free(value, f"{path}.{name}") for name, _, value in self.names(node, path + ".")}
        if isinstance(node, yaml.SequenceNode):
            for number, item in enumerate(node.value):
                self.marks[f"{path}[{number}]"] = self.place(item)
            return [self.free(item, f"{path}[{number}]") for number, item in enumerate(node.value)]
        value = self.value(node, path)
        if isinstance(value, bool):
            return "on" if value else "off"
        return value if value is None or isinstance(value, (int, float, str)) else str(node.value)

    def read_bound_kind(self, node, key, path):
        number = schema.Key("bound", "number", "A limit.", low=-1e18, high=1e18)
        if not isinstance(node, yaml.MappingNode) or not node.value:
            self.complain(node, path, "is no bound; write {max: 0}, {min: 1} or both")
            return NONE
        result = {}
        for name, name_node, value in self.names(node, path + "."):
            if name not in ("min", "max"):
                self.complain(name_node, f"{path}.{name}", "is no key; write min or max")
                continue
            result[name] = self.read_number_kind(value, number, f"{path}.{name}")
        if NONE in result.values():
            return NONE
        if result.get("min", -1e18) > result.get("max", 1e18):
            self.complain(node, path, "has a min above its max")
        return result

    def read_number_kind(self, node, key, path, whole=False):
        value = self.scalar(node, path, key)
        if value is NONE:
            return NONE
        if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
            self.complain(node, path, f"{node.value} is no {'whole ' if whole else ''}number; write "
                          f"{schema._range_text(key)}")
            return NONE
        if key.choices and value not in key.choices:
            self.complain(node, path, f"{value} is none of {schema._range_text(key)}")
        elif key.high and not key.low <= value <= key.high:
            self.complain(node, path, f"{value} is out of range; write {schema._range_text(key)}")
        return value

    def read_int_kind(self, node, key, path):
        return self.read_number_kind(node, key, path, whole=True)

    def read_text_kind(self, node, key, path):
        value = self.scalar(node, path, key)
        if value is NONE:
            return NONE
        if key.name == "name" and path == "name" and not NAME.fullmatch(str(value)):
            self.complain(node, path, f"{value} is no name; write 1 to 32 letters, digits, _ and -")
        return str(node.value)

    def read_switch_kind(self, node, key, path):
        value = self.scalar(node, path, key)
        if value is not NONE and not isinstance(value, bool):
            self.complain(node, path, f"{node.value} is neither on nor off")
            return NONE
        return value

    def read_choice_kind(self, node, key, path):
        value = self.scalar(node, path, key)
        if value is NONE:
            return NONE
        # YAML takes off for a truth value.
        text = node.value
        if text not in key.choices:
            self.complain(node, path, f"{text} is none of {schema._range_text(key)}")
        return text

    def read_texts_kind(self, node, key, path):
        if not isinstance(node, yaml.SequenceNode) or not all(isinstance(item, yaml.ScalarNode) for item in node.value):
            self.complain(node, path, "is no list of texts")
            return NONE
        return [str(item.value) for item in node.value]

    def read_numbers_kind(self, node, key, path):
        """A list, a single number, or a range."""
        values = self.read_ids_kind(node, key, path)
        if values is not NONE and any(not key.low <= value <= key.high for value in values):
            self.complain(node, path, f"has a value out of range; write {schema._range_text(key)}")
        return values

    def read_ids_kind(self, node, key, path):
        items = node.value if isinstance(node, yaml.SequenceNode) else [node]
        values = []
        for item in items:
            for part in str(item.value).split(",") if isinstance(item, yaml.ScalarNode) else ["?"]:
                match = re.fullmatch(r"\s*(\d{1,9})(?:-(\d{1,9}))?\s*", part)
                if not match or (match[2] and int(match[2]) < int(match[1])):
                    self.complain(item, path, f"{_short(part)} is no number or range; write 0-3, or [0, 1, 2]")
                    return NONE
                if int(match[2] or match[1]) > MOST_XPU:
                    self.complain(item, path, f"{part} is out of range; write {schema._range_text(key)}")
                    return NONE
                values += range(int(match[1]), int(match[2] or match[1]) + 1)
        if len(set(values)) != len(values):
            self.complain(node, path, "names something twice")
        return values


def _short(text):
    return text if len(text) <= 40 else text[:40] + "…"


def _is_action(key):
    """A map whose absence means something."""
    return key.name in ("impair", "pfc_storm", "mesh")


def nearest(name, names):
    import difflib
    close = difflib.get_close_matches(name, names, 1)
    return f"{close[0]} may be meant" if close else "there are " + ", ".join(names)


def load(path, sets=(), seed=None, build=None):
    """The scenario of a file, with flags laid over it. Raises ScenarioError."""
    path = pathlib.Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ScenarioError([f"{path}: {error.strerror}"]) from None
    except UnicodeDecodeError:
        raise ScenarioError([f"{path}: is no text in UTF-8"]) from None
    root = nodes.compose(text, lambda mark: f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path))
    if root is None:
        raise ScenarioError([f"{path}:1:1: is empty; begin with version: 1"])
    reader = _Reader(path)
    for each in [*sets, *([f"seed={seed}"] if seed is not None else [])]:
        nodes.apply_set(root, each, reader)
    data = reader.read_map(root, schema.SCENARIO, "")
    if reader.errors:
        raise ScenarioError(reader.errors)
    scenario = Scenario(path, data, reader.marks, build)
    _finish(scenario)
    return scenario


def added(scenario, section, base, words, source, directory, loads=()):
    """(an entry of `load` or `faults` that a command adds to the scenario, a scenario for its messages). `base` is an entry to
    start from, `words` are KEY=VALUE, `source` names the command, `directory` is that of its files, and `loads` are names of
    loads. Raises ScenarioError."""
    keys = {"load": schema.LOAD, "faults": schema.FAULT}[section]
    root = yaml.compose(yaml.safe_dump({key: value for key, value in base.items() if value not in (None, [], {})}))
    reader = _Reader(pathlib.Path(directory) / source)
    reader.source = source
    for node in nodes.all_nodes(root):
        reader.flagged[id(node)] = node
    for word in words:
        nodes.apply_set(root, word, reader)
    data = reader.read_map(root, keys, "")
    if reader.errors:
        raise ScenarioError(reader.errors)
    errors = []
    here = dataclasses.replace(scenario, path=reader.path, marks={"": source, **reader.marks})

    def wrong(path, message):
        path = path.removeprefix(".")
        errors.extend(here.error(path, message).messages if path else [f"{source}: {message}"])

    if section == "load":
        if not NAME.fullmatch(data["name"] or ""):
            wrong("name", f"{data['name']} is no name; write 1 to 32 letters, digits, _ and -")
        _finish_load(scenario, data, "", scenario["topology"]["xpus"], wrong)
        if data["trace"]:
            data["trace"] = str((pathlib.Path(directory) / data["trace"]).resolve())
    else:
        _check_fault(data, "", set(loads), wrong)
    if errors:
        raise ScenarioError(errors)
    return data, here


def _finish(scenario):
    """Defaults that depend on other keys, and what one key alone cannot say wrong."""
    errors = []
    xpus = scenario["topology"]["xpus"]

    def wrong(path, message):
        errors.extend(scenario.error(path, message).messages)

    names = set()
    for number, load in enumerate(scenario["load"]):
        path = f"load[{number}]"
        load["name"] = load["name"] or f"load{number}"
        if not NAME.fullmatch(load["name"]):
            wrong(path + ".name", f"{load['name']} is no name; write 1 to 32 letters, digits, _ and -")
        if load["name"] in names:
            wrong(path + ".name", f"{load['name']} is the name of another load; choose another")
        names.add(load["name"])
        _finish_load(scenario, load, path, xpus, wrong)
        if load["trace"]:
            load["trace"] = str((scenario.path.parent / load["trace"]).resolve())
    for section in ("endpoint", "switch"):
        _check_section(scenario[section], section, wrong)
    end = _end_of_loads(scenario)
    for number, fault in enumerate(scenario["faults"]):
        _check_fault(fault, f"faults[{number}]", names, wrong)
        _check_time(fault, f"faults[{number}]", end, wrong)
    if errors:
        raise ScenarioError(errors)


def _check_section(values, section, wrong):
    for key, value in values.items():
        path = f"{section}.{key}"
        if key in MADE:
            wrong(path, f"the lab makes them; write {MADE[key]}, which goes into each")
        elif key in MAPS and not isinstance(value, dict):
            wrong(path, "is no map of keys and values")
        elif key == "port":
            for name in ("name", "device"):
                if name in value:
                    wrong(f"{path}.{name}", "is chosen by the back end; remove it")
        elif key == "lcores" and not (isinstance(value, list) and all(
                isinstance(lcore, dict) and isinstance(lcore.get("cpu"), int) for lcore in value)):
            wrong(path, "is no list of lcores; write {cpu: 0} and so on")


def _finish_load(scenario, load, path, xpus, wrong):
    if load["seed"] is None:
        load["seed"] = scenario["seed"]
    if load["mode"] == "workload":
        if load["ranks"] is None:
            load["ranks"] = list(range(xpus))
        if len(load["ranks"]) < 2:
            wrong(path + ".ranks", "a workload has two ranks or more")
        unfit = [key for key in ("source", "destinations", "count", "completions") if load[key] is not None]
        everyone = load["ranks"]
    else:
        for key in ("source", "destinations"):
            if not load[key] and load[key] != 0:
                wrong(f"{path}.{key}", f"is missing; mode {load['mode']} has one")
        unfit = [key for key in ("ranks", "iterations") if load[key] is not None]
        everyone = [*(load["destinations"] or []), load["source"] or 0]
    for key in unfit:
        wrong(f"{path}.{key}", f"is no key of mode {load['mode']}; remove it")
    for xpu in everyone:
        if xpu >= xpus:
            wrong(path + (".ranks" if load["mode"] == "workload" else ".destinations"),
                  f"there is no XPU {xpu}; topology.xpus is {xpus}")
            break
    if load["take_rate"] and load["mode"] != "bandwidth":
        wrong(path + ".take_rate", "is of mode bandwidth")
    if load["iterations"] is None and load["count"] is None and load["duration_s"] is None:
        load["duration_s"] = 5


def _end_of_loads(scenario):
    """The time at which all loads are over, in seconds; no later than timeout_s. Loads that end by a count count as timeout_s."""
    def end(load):
        if load["duration_s"] is None or load["iterations"] is not None or load["count"] is not None:
            return scenario["timeout_s"]
        # A slow receiver takes what is left after the end of the sender.
        drain = load["drain_s"] if load["take_rate"] else 0
        return load["start_s"] + load["warmup_s"] + load["duration_s"] + drain

    return min(scenario["timeout_s"], max(map(end, scenario["load"])))


def _check_time(fault, path, end, wrong):
    """Each time of a fault begins while loads run."""
    last = fault["at_s"] + (fault["times"] - 1) * (fault["every_s"] or 0)
    if fault["at_s"] >= end:
        wrong(path + ".at_s", f"the loads are over after {end:g} s, before the fault at {fault['at_s']:g} s; let them last "
              "longer, or the fault come earlier")
    elif last >= end:
        wrong(path + ".times", f"the loads are over after {end:g} s, before the last fault at {last:g} s; let them last "
              "longer, or the fault come fewer times")


def _check_fault(fault, path, loads, wrong):
    places = [key for key in ("link", "plane", "switch", "daemon", "load") if fault[key] is not None]
    actions = [key for key in ("impair", "down", "admin_down", "process", "pfc_storm") if fault[key]]
    if len(places) != 1:
        wrong(path, "says where by one of link, plane, switch, daemon and load; "
              + (f"it has {' and '.join(places)}" if places else "add one"))
    if len(actions) != 1:
        wrong(path, "says what by one of impair, down, admin_down, process and pfc_storm; "
              + (f"it has {' and '.join(actions)}" if actions else "add one"))
    if len(places) != 1 or len(actions) != 1:
        return
    place, action = places[0], actions[0]
    if (place in ("daemon", "load")) and action != "process":
        wrong(f"{path}.{action}", f"is of links; a {place} has process")
    if action == "process" and place in ("link", "plane"):
        wrong(f"{path}.process", f"a {place} has no process; name a switch, daemon or load")
    if action == "pfc_storm" and (place != "link" or fault["link"] == "all"):
        wrong(f"{path}.pfc_storm", "is of one link")
    if place == "load" and fault["load"] not in loads:
        wrong(f"{path}.load", f"there is no load {fault['load']}; there are {', '.join(sorted(loads))}")
    if fault["times"] > 1 and fault["every_s"] is None:
        wrong(f"{path}.times", "goes with every_s")
    if fault["every_s"] is not None and fault["for_s"] is None:
        wrong(f"{path}.every_s", "goes with for_s")
    if fault["every_s"] and fault["for_s"] and fault["for_s"] >= fault["every_s"]:
        wrong(f"{path}.for_s", "is as long as every_s or longer; write less")
