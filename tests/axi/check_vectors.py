#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""check_vectors.py FILE: decodes and encodes each vector of docs/axi-vectors.json.

Written from docs/axi.md alone, without the project's code.
"""

import json
import sys

BURSTS, RESPONSES = ("FIXED", "INCR", "WRAP"), ("OKAY", "EXOKAY", "SLVERR", "DECERR")
STATUSES = {0: "OK", 16: "BUSY", 17: "MALFORMED", 18: "RESET"}


class Refused(Exception):
    pass


def need(condition, rule, outcome="malformed"):
    if not condition:
        raise Refused(outcome, rule)


# ---- Transactions

def places(request):
    """Address and number of the active octets of each beat."""
    start, size, beats = int(request["address"], 16), 2 ** request["size"], request["len"] + 1
    aligned = start // size * size
    wrap = start // (size * beats) * (size * beats)
    for beat in range(beats):
        address = start if beat == 0 or request["burst"] == "FIXED" else aligned + beat * size
        if request["burst"] == "WRAP" and address >= wrap + size * beats:
            address -= size * beats
        yield address, address // size * size + size - address


def check_restrictions(request):
    start, size, beats = int(request["address"], 16), 2 ** request["size"], request["len"] + 1
    if request["burst"] == "INCR":
        need(len({address // 4096 for address, _ in places(request)}) == 1, "4 KiB")
    elif request["burst"] == "FIXED":
        need(beats <= 16, "beats of FIXED")
    else:
        need(beats in (2, 4, 8, 16) and start % size == 0, "WRAP")
    if request["lock"]:
        need(beats <= 16 and size * beats in (1, 2, 4, 8, 16, 32, 64, 128), "length of an exclusive access")
        need(start % (size * beats) == 0, "address of an exclusive access")


def lanes_of(vector):
    """For each active octet its beat and its lane."""
    octets = vector["width"] // 8
    for beat, (address, count) in enumerate(places(vector["request"])):
        for lane in range(address % octets, address % octets + count):
            yield beat, lane


# ---- Decoding

def split(commands, first_kinds, more_kind):
    """Control of the first command, kind, and the body."""
    parts, first, number = {}, None, None
    for command in commands:
        control, data = bytes.fromhex(command["control"]), bytes.fromhex(command["data"])
        kind = control[2] >> 4
        need(control[0] >> 5 == 6 and len(control) == {10: 18, 11: 18, 12: 18, 13: 8, 14: 10, 15: 8}.get(kind),
             "class, kind and length", "foreign")
        assert control[0] & 31 == (16 if data else 0) + len(control) // 2
        assert control[1] == (len(data) - 1 if data else 0)
        need(kind in first_kinds or kind == more_kind, "kind")
        part = 0
        if kind == more_kind:
            part = control[7]
            need(control[2] & 15 == 0 and part > 0 and data, "continuation")
        else:
            first = control
        need(part not in parts, "a part is there twice")
        parts[part] = data
        need(number in (None, control[3:7]), "number")
        number = control[3:7]
    assert sorted(parts) == list(range(len(parts))) and len(parts) <= 23
    need(all(len(parts[i]) == 256 for i in range(len(parts) - 1)), "a short part that is not the last")
    return first, first[2] >> 4, int.from_bytes(number, "big"), b"".join(parts[i] for i in range(len(parts)))


class Body:
    def __init__(self, octets):
        self.octets, self.at = octets, 0

    def take(self, count):
        need(self.at + count <= len(self.octets), "the body is too short")
        self.at += count
        return self.octets[self.at - count:self.at]

    def numbers(self, count, octets):
        return [int.from_bytes(self.take(octets), "big") for _ in range(count)]

    def fields(self, count, bits):
        """Fields of `bits` bits, filled with 0 up to an octet."""
        value = int.from_bytes(self.take((count * bits + 7) // 8), "little")
        need(value >> count * bits == 0, "filled with 0")
        return [value >> i * bits & 2 ** bits - 1 for i in range(count)]

    def end(self):
        need(self.at == len(self.octets), "the body is too long")


def user_text(octets):
    need(not octets or octets[0] != 0, "a user value begins with 0")
    return octets.hex().zfill(32)


def decode_request(vector):
    is_write = vector["kind"] == "write"
    control, kind, number, octets = split(vector["commands"], (11, 12) if is_write else (10,), 13 if is_write else None)
    body, shape, strobed, user_octets = Body(octets), control[16], False, 0
    need(shape & 3 != 3, "AxBURST")
    request = {"address": control[7:15].hex(), "id": control[17], "len": control[15], "size": shape >> 2 & 7,
               "burst": BURSTS[shape & 3], "lock": 0, "cache": control[2] & 15, "prot": shape >> 5, "qos": 0,
               "region": 0, "user": "0" * 32}
    if kind == 12 or kind == 10 and octets:
        attributes = body.take(6)
        need(attributes[0] & 63 == 0, "reserved bits")
        strobed, user_octets = bool(attributes[0] & 64), attributes[5] >> 5
        need(attributes[5] & 31 <= 16 and user_octets <= 4, "octets of user values")
        need(is_write or not strobed and user_octets == 0, "a read has neither strobes nor WUSER")
        need(attributes != bytes(6), "attributes that are all default")
        request.update(lock=attributes[0] >> 7, qos=attributes[1] >> 4, region=attributes[1] & 15,
                       user=user_text(body.take(attributes[5] & 31)))
        request["id"] += int.from_bytes(attributes[2:5], "big") << 8
    check_restrictions(request)
    decoded = {"number": number, "request": request}
    if is_write:
        need(octets, "a write without data")
        decoded.update(width=vector.get("width", 1024), beat_user_octets=user_octets)
        users = body.numbers(request["len"] + 1, user_octets)
        count = len(list(lanes_of(decoded)))
        strobes = body.fields(count, 1) if strobed else [1] * count
        need(not strobed or 0 in strobes, "strobes that are all 1")
        data = body.take(count)
        need(all(strobe or octet == 0 for strobe, octet in zip(strobes, data)), "an octet without strobe")
        bus = decoded["width"] // 8
        lanes, bits = [bytearray(bus) for _ in users], [0] * len(users)
        for (beat, lane), octet, strobe in zip(lanes_of(decoded), data, strobes):
            lanes[beat][lane] = octet
            bits[beat] |= strobe << lane
        decoded["beats"] = [{"data": lanes[i].hex(), "strobes": f"{bits[i]:0{bus // 4}x}", "user": user}
                            for i, user in enumerate(users)]
    body.end()
    return decoded


def decode_answer(vector):
    is_read = vector["kind"] == "read_answer"
    control, _, number, octets = split(vector["commands"], (14,), 15 if is_read else None)
    body, worst, user_octets = Body(octets), control[2] & 3, control[8] >> 5
    need(control[2] >> 3 & 1 == is_read, "direction")
    need(control[7] in STATUSES and control[9] == 0, "status")
    has_responses = bool(control[2] & 4)
    decoded = {"number": number, "status": STATUSES[control[7]], "response": RESPONSES[worst]}
    if is_read:
        decoded["request"] = vector["request"]
    else:
        need(user_octets == 0 and not has_responses, "an answer to a write")
    if control[7] != 0:
        need(worst == 2 and control[8] == 0 and not has_responses, "an answer of another status")
        decoded.update({} if is_read else {"user": "0" * 32})
    elif not is_read:
        need(control[8] <= 16, "octets of BUSER")
        decoded["user"] = user_text(body.take(control[8]))
    else:
        need(control[8] & 31 == 0 and user_octets <= 4, "octets of RUSER")
        beats = vector["request"]["len"] + 1
        responses = body.fields(beats, 2) if has_responses else [worst] * beats
        need(not has_responses or len(set(responses)) > 1, "responses that are all the same")
        need(max(responses) == worst, "the largest response")
        decoded.update(width=vector.get("width", 1024), beat_user_octets=user_octets)
        users = body.numbers(beats, user_octets)
        lanes = [bytearray(decoded["width"] // 8) for _ in users]
        for beat, lane in lanes_of(decoded):
            lanes[beat][lane], = body.take(1)
        decoded["beats"] = [{"data": lanes[i].hex(), "response": RESPONSES[responses[i]], "user": users[i]}
                            for i in range(beats)]
    body.end()
    return decoded


# ---- Encoding

def pack(fields, bits):
    return sum(field << i * bits for i, field in enumerate(fields)).to_bytes((len(fields) * bits + 7) // 8, "little")


def encode(vector):
    """Control of the first command without octets 0 and 1, kind of continuations, and the body."""
    kind, request, beats = vector["kind"], vector.get("request"), vector.get("beats", [])
    user_octets = vector.get("beat_user_octets", 0)
    users = b"".join(beat["user"].to_bytes(user_octets, "big") for beat in beats)
    data = bytes(bytes.fromhex(beats[beat]["data"])[lane] for beat, lane in lanes_of(vector)) if beats else b""
    number = vector["number"].to_bytes(4, "big")
    if kind.endswith("answer"):
        responses = [RESPONSES.index(beat["response"]) for beat in beats]
        flags = 14 << 4 | (8 if kind == "read_answer" else 0) | RESPONSES.index(vector["response"])
        status = next(code for code, name in STATUSES.items() if name == vector["status"])
        user = bytes.fromhex(vector.get("user", "")).lstrip(b"\0")
        flags |= 4 if len(set(responses)) > 1 else 0
        head = bytes([flags]) + number + bytes([status, user_octets << 5 | len(user), 0])
        return head, 15, (pack(responses, 2) if flags & 4 else b"") + user + users + data
    strobes = [int(beats[beat]["strobes"], 16) >> lane & 1 for beat, lane in lanes_of(vector)] if beats else []
    user = bytes.fromhex(request["user"]).lstrip(b"\0")
    attributes = bytes([request["lock"] << 7 | (0 in strobes) << 6, request["qos"] << 4 | request["region"],
                        *(request["id"] >> 8).to_bytes(3, "big"), user_octets << 5 | len(user)]) + user
    if attributes == bytes(6):
        attributes = b""
    number_of_kind = 10 if kind == "read" else 12 if attributes else 11
    shape = request["prot"] << 5 | request["size"] << 2 | BURSTS.index(request["burst"])
    head = bytes([number_of_kind << 4 | request["cache"]]) + number + bytes.fromhex(request["address"]) + \
        bytes([request["len"], shape, request["id"] & 255])
    return head, 13, attributes + users + (pack(strobes, 1) if 0 in strobes else b"") + data


def commands_of(vector):
    head, more_kind, body = encode(vector)
    for part in range(max(1, -(-len(body) // 256))):
        data = body[256 * part:256 * part + 256]
        rest = head if part == 0 else bytes([more_kind << 4]) + vector["number"].to_bytes(4, "big") + bytes([part])
        first = 6 << 5 | (16 if data else 0) | (len(rest) + 2) // 2
        yield {"control": (bytes([first, len(data) - 1 if data else 0]) + rest).hex(), "data": data.hex()}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        vectors = json.load(file)
    for vector in vectors:
        expected = {key: vector[key] for key in vector if key not in ("name", "kind", "expected", "commands")}
        found, decoded = "transaction", None
        try:
            decoded = decode_answer(vector) if vector["kind"].endswith("answer") else decode_request(vector)
        except Refused as refused:
            found = refused.args[0]
        if found != vector["expected"] or decoded is not None and decoded != expected:
            sys.exit(f"{vector['name']}: {found} {decoded}, expected {vector['expected']} {expected}")
        if decoded is not None and list(commands_of(vector)) != vector["commands"]:
            sys.exit(f"{vector['name']}: {list(commands_of(vector))}, expected {vector['commands']}")
    print(f"{len(vectors)} vectors")


if __name__ == "__main__":
    main()
