#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_models.py registers.h suede.svd suede.rdl: the SVD is structured as CMSIS-SVD 1.3 prescribes, the SystemRDL can
be read, nothing in them overlaps, and both have the registers, events and accesses of the header."""

import re
import sys
import xml.etree.ElementTree

# Children of each element in the order of the schema; "!" is required, "*" may be repeated.
STRUCTURE = {
    "device": "vendor vendorID name! series version! description! licenseText cpu headerSystemFilename "
              "headerDefinitionsPrefix addressUnitBits! width! size access protection resetValue resetMask peripherals!",
    "peripherals": "peripheral!*",
    "peripheral": "dim dimIncrement dimIndex name! version description alternatePeripheral groupName prependToName "
                  "appendToName headerStructName disableCondition baseAddress! size access protection resetValue "
                  "resetMask addressBlock!* interrupt* registers!",
    "addressBlock": "offset! size! usage! protection",
    "interrupt": "name! description value!",
    "registers": "cluster*",
    "cluster": "dim dimIncrement dimIndex name! description alternateCluster headerStructName addressOffset! size access "
               "protection resetValue resetMask register!*",
    "register": "dim dimIncrement dimIndex name! displayName description alternateGroup alternateRegister addressOffset! "
                "size access protection resetValue resetMask dataType modifiedWriteValues writeConstraint readAction "
                "fields",
    "fields": "field!*",
    "field": "name! description bitRange! access modifiedWriteValues writeConstraint readAction enumeratedValues*",
    "enumeratedValues": "name headerEnumName usage enumeratedValue!*",
    "enumeratedValue": "name! description value!",
}
NUMBERS = {"size", "offset", "addressOffset", "baseAddress", "value", "dim", "dimIncrement", "resetValue", "width",
           "addressUnitBits"}
# Reserved words of SystemRDL 2.0.
KEYWORDS = set("""abstract accesstype addressingtype addrmap alias all bit boolean bothedge compact component
    componentwidth constraint default encode enum external false field fullalign hw inside internal level longint mem na
    negedge nonsticky number onreadtype onwritetype posedge property r rclr ref reg regalign regfile rset ruser rw rw1
    signal string struct sw this true type unsigned w w1 wclr woclr woset wot wr wset wuser wzc wzs wzt""".split())
ACCESSES = {"RO": ("read-only", None), "RW": ("read-write", None), "W1C": ("read-write", "oneToClear")}


def need(condition, *text):
    if not condition:
        sys.exit(" ".join(map(str, text)))


# ---- The header: name to (address, stride, bits, access), and the events' bits.

def read_header(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    widths = {name: (int(bits), access) for name, bits, access in
              re.findall(r"#define SUEDE_REG_(\w+)_BITS (\d+) /\* (\w+) \*/", text)}
    registers = {}
    for name, address, _, stride in re.findall(
            r"#define SUEDE_REG_(\w+)(?:\(n\))? \(?(0x[0-9a-f]+)u( \+ \(n\) \* (0x[0-9a-f]+)u\))?\n", text):
        if name != "MAP_HASH":
            registers[name] = (int(address, 16), int(stride or "0", 16), *widths[name])
    events = {name.lower(): int(bit) for name, bit in re.findall(r"#define SUEDE_EVENT_(\w+) \(1u << (\d+)\)", text)}
    need(len(registers) > 400 and len(registers) == len(widths) and len(events) > 10, "header: not read whole")
    return registers, events


# ---- The SVD

def check_structure(element):
    rules = [(re.sub(r"\W", "", word), word) for word in STRUCTURE[element.tag].split()]
    order = [name for name, _ in rules]
    seen = [child.tag for child in element]
    need(set(seen) <= set(order), element.tag, "has", set(seen) - set(order))
    places = [order.index(tag) for tag in seen]
    need(places == sorted(places), element.tag, "has its children in another order than the schema:", seen)
    for name, word in rules:
        need("!" not in word or name in seen, element.tag, "has no", name)
        need("*" in word or seen.count(name) < 2, element.tag, "has several", name)
    for child in element:
        if child.tag in STRUCTURE:
            check_structure(child)
        elif child.tag in NUMBERS:
            need(re.fullmatch(r"0x[0-9a-f]+|\d+", child.text), child.tag, child.text, "is no number")
        elif child.tag == "name":
            array = element.find("dim") is not None
            need(re.fullmatch(r"\w+\[%s\]" if array else r"\w+", child.text), "name", child.text)


def number(element, name):
    return int(element.find(name).text, 0)


def fields_of(register):
    """(name, last bit, first bit, names of values)."""
    fields = []
    for field in register.iter("field"):
        last, first = map(int, re.fullmatch(r"\[(\d+):(\d+)\]", field.find("bitRange").text).groups())
        values = {value.find("name").text: number(value, "value") for value in field.iter("enumeratedValue")}
        need(sorted(values.values()) == list(range(len(values))), "values", values)
        fields.append((field.find("name").text, last, first, values))
    return fields


def read_svd(path):
    """Name to a register: address, stride, bits, access, reset, fields. Also the blocks: name, address, dim, stride."""
    device = xml.etree.ElementTree.parse(path).getroot()
    need(device.tag == "device" and device.get("schemaVersion") == "1.3", "no device of schema 1.3")
    check_structure(device)
    registers, blocks = {}, []
    for cluster in device.iter("cluster"):
        name = cluster.find("name").text.removesuffix("[%s]")
        is_array = cluster.find("dim") is not None
        dim, stride = (number(cluster, "dim"), number(cluster, "dimIncrement")) if is_array else (1, 0)
        base = number(cluster, "addressOffset")
        taken = 0
        for register in cluster.iter("register"):
            offset, bits = number(register, "addressOffset"), number(register, "size")
            need(offset >= taken and offset % (bits // 8) == 0, name, register.find("name").text, "overlaps")
            taken = offset + bits // 8
            changed = register.find("modifiedWriteValues")
            reset = register.find("resetValue")
            key = f"{name}.{register.find('name').text}"
            need(key not in registers, key, "is there twice")
            registers[key] = (base + offset, stride, bits, (register.find("access").text,
                                                            None if changed is None else changed.text),
                              None if reset is None else int(reset.text), fields_of(register))
        need(not is_array or taken <= stride, name, "is larger than its increment")
        blocks.append((base, base + (dim - 1) * stride + taken, name, dim))
    blocks.sort()
    for before, after in zip(blocks, blocks[1:]):
        need(before[1] <= after[0], before[2], "overlaps", after[2])
    need(blocks[-1][1] <= number(device.find("peripherals/peripheral/addressBlock"), "size"), "the block is too small")
    return registers, {name: dim for _, _, name, dim in blocks}


# ---- The SystemRDL

class Rdl:
    """Reads what the generator writes: components with properties, enums, and instances."""

    def __init__(self, text):
        text = re.sub(r"//[^\n]*", "", text)
        self.tokens = re.findall(r'"(?:[^"\\]|\\.)*"|\\?\w+|\+=|\S', text)
        self.at = 0

    def peek(self):
        return self.tokens[self.at]

    def next(self, *wanted):
        token = self.tokens[self.at]
        need(not wanted or token in wanted, "rdl: token", self.at, token, "where", wanted, "is expected")
        self.at += 1
        return token

    def identifier(self):
        token = self.next()
        name = token.removeprefix("\\")
        need(re.fullmatch(r"[A-Za-z_]\w*", name), "rdl: no identifier:", token)
        need(name not in KEYWORDS or token != name, "rdl:", name, "is a keyword")
        return name

    def body(self, kind):
        """Properties, enums and components up to the closing brace."""
        found = {"kind": kind, "properties": {}, "enums": {}, "components": []}
        self.next("{")
        while self.peek() != "}":
            token = self.next()
            if token == "default":
                token = "default " + self.next()
            if token == "enum":
                name = self.identifier()
                self.next("{")
                values = {}
                while self.peek() != "}":
                    value = self.identifier()
                    self.next("=")
                    values[value] = int(self.next(), 0)
                    self.next(";")
                self.next("}")
                found["enums"][name] = values
            elif token in ("regfile", "reg", "field"):
                found["components"].append(self.instance(token))
                continue
            else:
                self.next("=")
                found["properties"][token] = self.next()
            self.next(";")
        self.next("}")
        return found

    def instance(self, kind):
        found = self.body(kind)
        found["name"] = self.identifier()
        found["array"] = []
        if self.peek() == "[":
            self.next()
            found["array"].append(int(self.next(), 0))
            if self.peek() == ":":
                self.next()
                found["array"].append(int(self.next(), 0))
            self.next("]")
        for mark in ("=", "@", "+="):
            if self.peek() == mark:
                self.next()
                found[mark] = int(self.next(), 0)
        self.next(";")
        return found


def rdl_access(field):
    properties = field["properties"]
    return {"r": "read-only", "rw": "read-write"}[properties["sw"]], \
        {None: None, "woclr": "oneToClear"}[properties.get("onwrite")]


def read_rdl(path):
    with open(path, encoding="utf-8") as file:
        rdl = Rdl(file.read())
    rdl.next("addrmap")
    need(rdl.identifier() == "suede", "rdl: another addrmap")
    top = rdl.body("addrmap")
    rdl.next(";")
    need(rdl.at == len(rdl.tokens), "rdl: goes on behind the addrmap")
    registers, blocks = {}, {}
    for block in top["components"]:
        blocks[block["name"]] = block["array"][0] if block["array"] else 1
        need(("+=" in block) == bool(block["array"]), block["name"], "has no increment")
        for register in block["components"]:
            bits = int(register["properties"].get("regwidth", top["properties"]["default regwidth"]))
            need(int(register["properties"].get("accesswidth", 32)) == bits, register["name"], "is not accessed whole")
            fields, free = [], 0
            for field in register["components"]:
                last, first = field["array"]
                need(free <= first <= last < bits, register["name"], field["name"], "has no such bits")
                free = last + 1
                values = register["enums"][field["properties"]["encode"]] if "encode" in field["properties"] else {}
                fields.append((field["name"], last, first, {name.removeprefix("v_"): value
                                                            for name, value in values.items()}))
            accesses = {rdl_access(field) for field in register["components"]}
            resets = {field.get("=") for field in register["components"]}
            need(len(accesses) == 1 and len(resets) == 1, register["name"], "has several accesses")
            key = f"{block['name']}.{register['name']}"
            need(register["properties"]["name"].strip('"').replace(".N.", ".") == key, key, "has another name")
            registers[key] = (block["@"] + register["@"], block.get("+=", 0), bits, accesses.pop(), resets.pop(), fields)
    return registers, blocks


def main():
    header, events = read_header(sys.argv[1])
    svd, svd_blocks = read_svd(sys.argv[2])
    rdl, rdl_blocks = read_rdl(sys.argv[3])
    need(svd_blocks == rdl_blocks, "blocks:", svd_blocks, rdl_blocks)
    of_header = {name: (address, stride, bits, ACCESSES[access])
                 for name, (address, stride, bits, access) in header.items()}
    of_svd = {name.upper().replace(".", "_"): row[:4] for name, row in svd.items()}
    for name in of_header.keys() | of_svd.keys():
        need(of_header.get(name) == of_svd.get(name), name, of_header.get(name), of_svd.get(name))
    need(svd.keys() == rdl.keys(), "names:", svd.keys() ^ rdl.keys())
    for name, row in svd.items():
        # A register without fields is one field in SystemRDL.
        expected = row[:5] + (row[5] or [("value", row[2] - 1, 0, {})],)
        need(expected == rdl[name], name, expected, rdl[name])
    for name in ("event.status", "event.mask"):
        need({field: first for field, _, first, _ in svd[name][5]} == events, name, "has other events")
    need(svd["plane.admin"][5] == [("value", 31, 0, {"up": 0, "drain": 1, "down": 2})], "plane.admin has no names")
    print(f"{len(svd)} registers in {len(svd_blocks)} blocks")


if __name__ == "__main__":
    main()
