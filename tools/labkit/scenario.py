# SPDX-License-Identifier: Apache-2.0
"""Reads a scenario: YAML to a `Scenario`, whose errors name file, line, column, key and mend."""

import dataclasses
import pathlib
import re

import yaml

from labkit import schema
from labkit.schema import NONE, REQUIRED

NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")


class ScenarioError(Exception):
    """All errors of a file, a line each."""

    def __init__(self, messages):
        super().__init__("\n".join(messages))
        self.messages = messages


@dataclasses.dataclass
class Scenario:
    """`data` has every key, those with defaults filled in; `where` the place of a path for messages."""
    path: pathlib.Path
    data: dict
    marks: dict = dataclasses.field(default_factory=dict)

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

    def place(self, node):
        if id(node) in self.flagged:
            return "flag --set"
        return f"{self.path}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"

    def complain(self, node, key, message):
        self.errors.append(f"{self.place(node)}: {key}: {message}")

    def scalar(self, node, path, key):
        """The value of a scalar node as YAML has it, or NONE after a complaint."""
        if not isinstance(node, yaml.ScalarNode):
            self.complain(node, path, f"is no single value; write {schema._range_text(key) or key.kind}")
            return NONE
        return yaml.safe_load(yaml.serialize(node))

    def read_map(self, node, keys, path):
        values = {}
        entries = {}
        if isinstance(node, yaml.ScalarNode) and node.tag.endswith(":null"):
            pass
        elif not isinstance(node, yaml.MappingNode):
            self.complain(node, path or "the file", "is no map of keys and values")
            return values
        else:
            for name_node, value in node.value:
                name = str(name_node.value)
                if name in entries:
                    self.complain(name_node, path + name, "is there twice; remove one")
                entries[name] = value
                self.marks[path + name] = self.place(value if id(value) in self.flagged else name_node)
                if name not in {key.name for key in keys}:
                    self.complain(name_node, path + name, "is no key; " + _nearest(name, [k.name for k in keys]))
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
        return _switches(yaml.safe_load(yaml.serialize(node)))

    def read_bound_kind(self, node, key, path):
        number = schema.Key("bound", "number", "A limit.", low=-1e18, high=1e18)
        if not isinstance(node, yaml.MappingNode) or not node.value:
            self.complain(node, path, "is no bound; write {max: 0}, {min: 1} or both")
            return NONE
        result = {}
        for name, value in node.value:
            if name.value not in ("min", "max"):
                self.complain(name, f"{path}.{name.value}", "is no key; write min or max")
                continue
            result[name.value] = self.read_number_kind(value, number, f"{path}.{name.value}")
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
        if not isinstance(node, yaml.SequenceNode):
            self.complain(node, path, "is no list of texts")
            return NONE
        return [str(item.value) for item in node.value]

    def read_numbers_kind(self, node, key, path):
        """A list, a single number, or a range."""
        values = self.read_ids_kind(node, key, path)
        if values is not NONE and any(not key.low <= value <= key.high for value in values):
            self.complain(node, path, f"has a value out of range; write {schema._range_text(key)}")
        return values

    def read_ids_kind(self, node, _key, path):
        items = node.value if isinstance(node, yaml.SequenceNode) else [node]
        values = []
        for item in items:
            for part in str(item.value).split(",") if isinstance(item, yaml.ScalarNode) else ["?"]:
                match = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", part)
                if not match or (match[2] and int(match[2]) < int(match[1])):
                    self.complain(item, path, f"{part} is no number or range; write 0-3, or [0, 1, 2]")
                    return NONE
                values += range(int(match[1]), int(match[2] or match[1]) + 1)
        if len(set(values)) != len(values):
            self.complain(node, path, "names something twice")
        return values


def _switches(value):
    """Truth values as suede's configuration has them: on and off."""
    if isinstance(value, dict):
        return {key: _switches(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_switches(each) for each in value]
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else value


def _is_action(key):
    """A map whose absence means something."""
    return key.name in ("impair", "pfc_storm")


def _nearest(name, names):
    import difflib
    close = difflib.get_close_matches(name, names, 1)
    return f"{close[0]} may be meant" if close else "there are " + ", ".join(names)


def _apply_set(root, text, reader):
    """Lays key.path=value over the YAML nodes."""
    path, equals, value = text.partition("=")
    parts = re.findall(r"[^.\[\]]+", path)
    if not equals or not parts:
        raise ScenarioError([f"flag --set: {text}: is no key=value"])
    try:
        new = yaml.compose(value) or yaml.compose("null")
    except yaml.YAMLError as error:
        raise ScenarioError([f"flag --set: {path}: {error}"]) from None
    for node in _all_nodes(new):
        reader.flagged[id(node)] = node  # kept: an id is that of a living object
    node = root
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        if isinstance(node, yaml.SequenceNode):
            if not part.isdigit() or int(part) >= len(node.value):
                raise ScenarioError([f"flag --set: {path}: there is no entry {part}; the list has {len(node.value)}"])
            if last:
                node.value[int(part)] = new
            node = node.value[int(part)]
            continue
        if not isinstance(node, yaml.MappingNode):
            raise ScenarioError([f"flag --set: {path}: {parts[number - 1]} has no keys"])
        found = next((i for i, (key, _) in enumerate(node.value) if key.value == part), None)
        if found is None:
            key = yaml.ScalarNode("tag:yaml.org,2002:str", part, new.start_mark, new.end_mark)
            reader.flagged[id(key)] = key
            child = new if last else yaml.compose("{}")
            for each in _all_nodes(child):
                reader.flagged[id(each)] = each
            node.value.append((key, child))
            node = child
        else:
            if last:
                node.value[found] = (node.value[found][0], new)
            node = node.value[found][1]


def _all_nodes(node):
    yield node
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _all_nodes(item)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _all_nodes(key)
            yield from _all_nodes(value)


def load(path, sets=(), seed=None):
    """The scenario of a file, with flags laid over it. Raises ScenarioError."""
    path = pathlib.Path(path)
    try:
        text = path.read_text(encoding="utf-8")
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except OSError as error:
        raise ScenarioError([f"{path}: {error.strerror}"]) from None
    except UnicodeDecodeError:
        raise ScenarioError([f"{path}: is no text in UTF-8"]) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise ScenarioError([f"{path}:{mark.line + 1}:{mark.column + 1}: is no YAML: {error.problem}"]) from None
    except yaml.YAMLError as error:
        raise ScenarioError([f"{path}: is no YAML: {error}"]) from None
    if root is None:
        raise ScenarioError([f"{path}:1:1: is empty; begin with version: 1"])
    reader = _Reader(path)
    for each in [*sets, *([f"seed={seed}"] if seed is not None else [])]:
        _apply_set(root, each, reader)
    data = reader.read_map(root, schema.SCENARIO, "")
    if reader.errors:
        raise ScenarioError(reader.errors)
    scenario = Scenario(path, data, reader.marks)
    _finish(scenario)
    return scenario


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
    for number, fault in enumerate(scenario["faults"]):
        _check_fault(fault, f"faults[{number}]", names, wrong)
    if errors:
        raise ScenarioError(errors)


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
    if load["trace"]:
        load["trace"] = str((scenario.path.parent / load["trace"]).resolve())


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
