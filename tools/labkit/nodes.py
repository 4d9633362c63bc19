# SPDX-License-Identifier: Apache-2.0
"""YAML as nodes, each with its place: reading, and flags laid over them."""

import re

import yaml

MOST_DEPTH = 16  # of maps and lists in each other


class ScenarioError(Exception):
    """All errors of a file, a line each."""

    def __init__(self, messages):
        super().__init__("\n".join(messages))
        self.messages = messages


def apply_set(root, text, reader):
    """Lays key.path=value over the YAML nodes."""
    path, equals, value = text.partition("=")
    parts = re.findall(r"[^.\[\]]+", path)
    if not equals or not parts:
        raise ScenarioError([f"{reader.source}: {text}: is no key=value"])
    new = compose(value, lambda _: f"{reader.source}: {path}") or yaml.compose("null")
    for node in all_nodes(new):
        reader.flagged[id(node)] = node  # kept: an id is that of a living object
    node = root
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        if isinstance(node, yaml.SequenceNode):
            if not part.isdecimal() or int(part) >= len(node.value):
                raise ScenarioError([f"{reader.source}: {path}: there is no entry {part}; the list has {len(node.value)}"])
            if last:
                node.value[int(part)] = new
            node = node.value[int(part)]
            continue
        if not isinstance(node, yaml.MappingNode):
            raise ScenarioError([f"{reader.source}: {path}: {parts[number - 1]} has no keys"])
        found = next((i for i, (key, _) in enumerate(node.value) if key.value == part), None)
        if found is None:
            key = yaml.ScalarNode("tag:yaml.org,2002:str", part, new.start_mark, new.end_mark)
            reader.flagged[id(key)] = key
            child = new if last else yaml.compose("{}")
            for each in all_nodes(child):
                reader.flagged[id(each)] = each
            node.value.append((key, child))
            node = child
        else:
            if last:
                node.value[found] = (node.value[found][0], new)
            node = node.value[found][1]


def all_nodes(node):
    yield node
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from all_nodes(item)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from all_nodes(key)
            yield from all_nodes(value)


def compose(text, place):
    """The node of a YAML text, None: there is none. `place` gives a mark's place for messages. Raises ScenarioError."""
    def wrong(mark, message):
        return ScenarioError([f"{place(mark)}: {message}"])

    try:
        depth = 0
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                raise wrong(event.start_mark, f"*{event.anchor} is an alias, which a scenario cannot have; write its value "
                            "in full")
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > MOST_DEPTH:
                    raise wrong(event.start_mark, f"more than {MOST_DEPTH} maps and lists are in each other; write less")
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        raise wrong(error.problem_mark or error.context_mark, f"is no YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        raise wrong(None, f"is no YAML: {error}") from None
