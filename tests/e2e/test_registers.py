# SPDX-License-Identifier: Apache-2.0
"""Changes of a running daemon: every register through the socket and through the client library,
configurations that are checked, loaded and saved, and traffic that goes on meanwhile."""

import errno
import json
import mmap
import os
import pathlib
import random
import re
import struct
import subprocess
import threading
import time

import pytest

import client
import e2e
from client import STATUS_OK, Client, settle
from test_management import Raw

INVALID, NOT_NOW, BUSY, NOT_PERMITTED = -32602, -32002, -32003, -32005
HEADER = e2e.BUILD / "include/suede/registers.h"


@pytest.fixture(scope="module")
def pair():
    with e2e.memif_pair() as (directory, left, right):
        for daemon in (left, right):
            daemon.wait_for_link()
        yield directory, left, right


class Registers(Raw):
    """Registers by name over one connection."""

    def error(self, method, **params):
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self.ask(json.dumps(request).encode()).get("error", {"code": 0})

    def read(self, name):
        return self.call("reg.read", register=name)["registers"][0]["value"]

    def write(self, name, value):
        """The error's code; 0: it was written. On a machine that does much else an lcore may not
        have answered in time: then again."""
        code = BUSY

        def written():
            nonlocal code
            code = self.error("reg.write", register=name, value=value)["code"]
            return code != BUSY

        e2e.wait_until(written, e2e.TRAFFIC_S, "an lcore's answer")
        return code

    def names(self):
        """(name, row) of each register that the endpoint has."""
        for row in self.call("reg.list")["registers"]:
            for index in range(row["count"]):
                yield row["name"].replace(".N.", f".{index}."), row


def change(daemon, *words):
    """suedectl, again where an lcore has not answered in time."""
    def changed():
        try:
            e2e.suedectl(daemon, *words)
        except e2e.E2eError as error:
            if "try again" not in str(error):
                raise
            return False
        return True

    e2e.wait_until(changed, e2e.TRAFFIC_S, " ".join(map(str, words)))


def legal_value(registers, name, before):
    """Writes a value that the register did not have, and returns the outcome."""
    for value in (before - 1, before + 1, before // 2, before * 2, 1, 0, 2):
        if value == before or not 0 <= value < 2**32:
            continue
        code = registers.write(name, value)
        if code != INVALID:
            return value, code
    raise AssertionError(f"{name}: no legal value")


def test_every_register(pair):
    _, left, _ = pair
    with Registers(left) as registers:
        effective = registers.call("config.get")
        seen = {"RO": 0, "RW": 0, "W1C": 0, "restart": 0}
        for name, row in registers.names():
            value = registers.read(name)
            if row["access"] == "RO":
                assert registers.write(name, value) == NOT_PERMITTED, name
            elif row["access"] == "W1C":
                assert registers.write(name, value) == 0, name
                assert registers.read(name) & value == 0, name
            elif row["effect"] == "after a restart":
                assert legal_value(registers, name, value)[1] == NOT_NOW, name
                assert registers.write(name, 4_000_000_000) == INVALID, name
                assert registers.read(name) == value, name
                seen["restart"] += 1
            else:
                written, code = legal_value(registers, name, value)
                assert code == 0, name
                assert registers.read(name) == written, name
                if not name.startswith("event."):
                    assert registers.write(name, 4_000_000_000) == INVALID, name
                    assert registers.read(name) == written, name
                assert registers.write(name, value) == 0, name
            seen[row["access"]] += 1
        least = {"RO": 150, "RW": 30, "W1C": 2, "restart": 5}
        assert all(seen[kind] >= count for kind, count in least.items()), seen
        assert registers.call("config.get") == effective


def test_what_registers_say(pair):
    _, left, right = pair
    with Registers(left) as registers:
        assert registers.read("endpoint.id") == 0x53554544
        version = registers.call("version")["suede"].split(".")
        assert registers.read("endpoint.version") == sum(
            int(part) << shift for part, shift in zip(version, (16, 8, 0)))
        assert registers.read("endpoint.uptime_s") <= registers.call("version")["uptime_s"] + 1
        port, = registers.call("ports.list")["ports"]
        assert registers.read("port.0.link_up") == 1
        assert registers.read("port.0.mac") == int(port["mac"].replace(":", ""), 16)
        assert registers.read("port.0.pool_frames") == port["pool_frames"]
        assert registers.read("port.0.mtu_bytes") == port["mtu_bytes"]
        counters, = registers.call("counters.get", scope="instance")["sets"]
        for name in ("tx_commands_total", "completions_total"):
            assert registers.read(f"instance_counter.0.{name}") == counters["counters"][name]
    with Registers(right) as registers:
        assert registers.read("instance.0.xpu") == 1


def test_settings_of_ports_and_planes(pair):
    """They are the settings that ports.list and planes.list show, with the same refusals."""
    _, left, _ = pair
    with Registers(left) as registers:
        def shown():
            plane, = registers.call("planes.list")["planes"]
            port, = registers.call("ports.list")["ports"]
            return port["admin"], plane["admin"], plane["weight"]
        weight = registers.read("plane.0.weight")
        assert registers.write("port.0.admin", 1) == 0
        assert registers.write("plane.0.admin", 2) == 0
        assert registers.write("plane.0.weight", 7) == 0
        assert shown() == ("down", "down", 7)
        for name, value in (("plane.0.admin", 0), ("plane.0.weight", weight), ("port.0.admin", 0)):
            assert registers.write(name, value) == 0
        assert shown() == ("up", "up", weight)
        for name, value, says in (("plane.0.admin", 1, "has no other plane"), ("plane.0.admin", 3, "use at most 2"),
                                  ("plane.0.weight", 0, "use 1 to 65535"), ("port.0.admin", 2, "use at most 1")):
            error = registers.error("reg.write", register=name, value=value)
            assert error["code"] == INVALID and says in error["message"], error
        assert shown() == ("up", "up", weight)


def test_accesses_that_there_are_not(pair):
    _, left, _ = pair
    for words, says in ((("read", "transport.nothing"), "there is no register transport.nothing"),
                        (("read", "port.1.link_up"), "this endpoint has 1 ports"),
                        (("read", "0x302"), "is misaligned"),
                        (("read", "0xfffffff0"), "there is no register at address"),
                        (("write", "endpoint.id", "1"), "is read-only"),
                        (("write", "transport.window_pdus", "0"), "out of range; use 1 to 16384"),
                        (("write", "transport.psn_scope", "1"), "effect after a restart only"),
                        (("write", "transport.rto_min_us", "300000"), "is more than rto_max_us"),
                        (("write", "event.mask", "0x80000000"), "has no such bits")):
        assert says in e2e.suedectl(left, "reg", *words, code=1), words


def addresses():
    """Name to (address, bits) of the header, for registers without an index."""
    text = HEADER.read_text()
    bits = dict(re.findall(r"#define SUEDE_REG_(\w+)_BITS (\d+)", text))
    return {name: (int(address, 16), int(bits[name]))
            for name, address in re.findall(r"#define SUEDE_REG_(\w+) (0x[0-9a-f]+)u\n", text)
            if name in bits}


def test_client_library(pair):
    """The same registers by address; writing takes a permission that clients do not start with."""
    _, left, _ = pair
    where = addresses()
    hash_, = re.findall(r"#define SUEDE_REG_MAP_HASH (0x[0-9a-f]+)u", HEADER.read_text())
    window = where["TRANSPORT_WINDOW_PDUS"]
    with Client(left.socket) as client, Registers(left) as registers:
        assert client.read_register(*where["ENDPOINT_MAP_HASH"]) == int(hash_, 16)
        for row in registers.call("reg.list")["registers"]:
            if row["stride"] != 0 or row["name"].startswith(("counter.", "endpoint.uptime")):
                continue
            address, bits = where[row["name"].upper().replace(".", "_")]
            assert (address, bits) == (int(row["address"], 16), row["width"]), row["name"]
            assert client.read_register(address, bits) == registers.read(row["name"]), row["name"]
        assert client.read_register(window[0], 64) == -errno.EINVAL
        assert client.read_register(window[0] + 2, 32) == -errno.EINVAL
        assert client.read_register(0xfffffff0, 32) == -errno.ENOENT
        assert client.write_register(*window, 100) == -errno.EACCES
        assert "clients.registers" in client.error()

        assert registers.write("clients.registers", 2) == 0
        assert client.write_register(*window, 100) == 0, client.error()
        assert registers.read("transport.window_pdus") == 100
        assert client.write_register(*window, 0) == -errno.EINVAL
        assert client.write_register(*where["TRANSPORT_PSN_SCOPE"], 1) == -errno.ENOTSUP
        assert client.write_register(*where["ENDPOINT_ID"], 1) == -errno.EACCES
        assert client.read_register(*window) == 100
        assert client.write_register(*window, 512) == 0

        assert registers.write("clients.registers", 0) == 0
        assert client.read_register(*window) == -errno.EACCES
        assert registers.write("clients.registers", 1) == 0
        assert client.read_register(*window) == 512


class Page:
    """A page of registers, as an emulator maps it (docs/registers.md, "Pages")."""
    DOORBELL, BYTES = 0x7ff000, 8 << 20

    def __init__(self, daemon, number):
        self.path = pathlib.Path(f"{daemon.socket}.registers{number}")
        with open(self.path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), self.BYTES)

    def get(self, offset, form="<I"):
        return struct.unpack_from(form, self.memory, offset)[0]

    def put(self, word, value, form="<I"):
        struct.pack_into(form, self.memory, self.DOORBELL + word, value)

    def refreshed(self):
        """Waits until all registers have been written after this call."""
        seen = self.get(self.DOORBELL + 8, "<Q")
        e2e.wait_until(lambda: self.get(self.DOORBELL + 8, "<Q") >= seen + 2, e2e.TRAFFIC_S, "a refresh")

    def access(self, address, operation, value=0, bits=32):
        """0, or a negative errno value; and the register's value."""
        number = self.get(self.DOORBELL + 0x28) + 1
        for word, content in ((0x10, address), (0x14, bits), (0x18, operation)):
            self.put(word, content)
        self.put(0x20, value, "<Q")
        self.put(0x1c, number)
        e2e.wait_until(lambda: self.get(self.DOORBELL + 0x28) == number, e2e.TRAFFIC_S, "an answer")
        return self.get(self.DOORBELL + 0x2c, "<i"), self.get(self.DOORBELL + 0x30, "<Q")

    def write(self, address, value):
        """Again where another change is under way."""
        while (result := self.access(address, 1, value))[0] == -errno.EBUSY:
            pass
        return result


@pytest.fixture(scope="module")
def paged():
    with e2e.work_directory() as directory:
        config = e2e.endpoint_config(directory, "left", e2e.memif_device(directory, "server"))
        config["clients"] |= {"register_pages": 3, "registers": "write"}
        with e2e.Daemon(directory, config) as daemon:
            yield daemon
            assert daemon.terminate() == 0, daemon.report()
            assert not list(directory.glob("*.registers*"))


def test_pages_have_all_registers(paged):
    page = Page(paged, 0)
    assert page.path.stat().st_mode & 0o777 == 0o660
    assert page.get(page.DOORBELL) == 0x52455347 and page.get(page.DOORBELL + 4) == 1
    page.refreshed()
    with Registers(paged) as registers:
        compared = 0
        for row in registers.call("reg.list")["registers"]:
            for index in range(row["count"]):
                name = row["name"].replace(".N.", f".{index}.")
                if "counter." in name or name == "endpoint.uptime_s":
                    continue
                form = "<Q" if row["width"] == 64 else "<I"
                assert page.get(int(row["address"], 16) + index * row["stride"], form) == registers.read(name), name
                compared += 1
        assert compared > 150
        assert registers.write("event.mask", 0x100) == 0
        e2e.wait_until(lambda: page.get(0x104) == 0x100, e2e.TRAFFIC_S, "the mask")
        assert registers.write("clients.registers", 0) == 0
        page.refreshed()
        assert page.get(0) == 0 and page.get(0x104) == 0
        assert page.access(0, 0) == (-errno.EACCES, 0)
        assert registers.write("clients.registers", 2) == 0
        page.refreshed()
        assert page.get(0) == 0x53554544


def test_doorbells(paged):
    where = addresses()
    window, id_ = where["TRANSPORT_WINDOW_PDUS"][0], where["ENDPOINT_ID"][0]
    page, other = Page(paged, 1), Page(paged, 2)
    with Registers(paged) as registers:
        assert page.write(window, 100) == (0, 100)
        assert registers.read("transport.window_pdus") == 100
        assert other.access(window, 0) == (0, 100)
        page.refreshed()
        assert page.get(window) == 100 and other.get(window) == 100
        plane = int(next(row["address"] for row in registers.call("reg.list")["registers"]
                         if row["name"] == "plane.N.admin"), 16)
        assert page.write(plane, 2) == (0, 2)
        assert registers.call("planes.list")["planes"][0]["admin"] == "down"
        assert page.write(plane, 0) == (0, 0)
        assert page.access(id_, 0) == (0, 0x53554544)
        assert page.access(id_, 1, 5) == (-errno.EACCES, 0)
        assert page.access(window, 1, 0) == (-errno.EINVAL, 0)
        assert page.access(window, 0, bits=64) == (-errno.EINVAL, 0)
        assert page.access(window, 2) == (-errno.EINVAL, 0)
        assert page.access(0xfff0, 0) == (-errno.ENOENT, 0)
        assert page.access(where["TRANSPORT_PSN_SCOPE"][0], 1, 1) == (-errno.ENOTSUP, 0)
        assert registers.write("clients.registers", 1) == 0
        assert page.access(window, 1, 200) == (-errno.EACCES, 0)
        assert page.access(window, 0) == (0, 100)
        assert registers.write("clients.registers", 2) == 0


def test_a_broken_emulator_harms_its_page_alone(paged):
    """It writes anything everywhere, and cuts its file."""
    page, other = Page(paged, 0), Page(paged, 1)
    chance = random.Random(7)
    for _ in range(200):
        at = chance.randrange(0, page.BYTES, 4096)
        page.memory[at:at + 4096] = chance.randbytes(4096)
        page.memory[page.DOORBELL + 0x10:page.DOORBELL + 0x28] = chance.randbytes(0x18)
    other.refreshed()
    page.refreshed()
    assert page.get(0) == other.get(0) == 0x53554544
    os.truncate(page.path, 0)
    paged.wait_for_line("page not served any more")
    other.refreshed()
    assert other.access(0, 0) == (0, 0x53554544)


def test_configuration_is_checked_loaded_and_saved(pair):
    directory, left, _ = pair

    def effective():
        return e2e.suedectl(left, "config", "get")

    saved = directory / "saved.yaml"
    e2e.suedectl(left, "config", "save", saved)
    before = saved.read_text()
    assert before == effective()
    assert e2e.managed(left, "config", "check", saved) == {"warnings": [], "changes": []}

    at_once = (before.replace("window_pdus: 512", "window_pdus: 64")
               .replace("level: info", "level: warning"))
    other = directory / "other.yaml"
    other.write_text(at_once.replace("psn_scope: port", "psn_scope: vc"))
    changes = {c["key"]: (c["from"], c["to"], c["effect"])
               for c in e2e.managed(left, "config", "check", other)["changes"]}
    assert changes == {"transport.window_pdus": ("512", "64", "at once"),
                       "transport.psn_scope": ("port", "vc", "after a restart"),
                       "log.level": ("info", "warning", "at once")}
    assert effective() == before

    change(left, "config", "load", other)
    assert effective() == at_once
    assert e2e.managed(left, "log", "get_level") == {"level": "warning"}
    assert e2e.managed(left, "config", "check", other)["changes"] == [
        {"key": "transport.psn_scope", "from": "port", "to": "vc", "effect": "after a restart"}]

    # All or nothing, with the place of the error.
    wrong = directory / "wrong.yaml"
    wrong.write_text(before.replace("max_tries: 10", "max_tries: 0"))
    line = before[:before.index("max_tries")].count("\n") + 1
    assert (f"{wrong}:{line}:14: transport.max_tries: 0 is out of range; use 1 to 255" in
            e2e.suedectl(left, "config", "load", wrong, code=1))
    assert effective() == at_once
    e2e.suedectl(left, "log", "set_level", "info")
    assert effective() == at_once.replace("level: warning", "level: info")

    change(left, "config", "load", saved)
    assert effective() == before
    assert e2e.managed(left, "config", "load", "--yaml", before)["changes"] == []


def test_a_configuration_that_is_not_saved_leaves_the_former_file(pair, as_root):
    """Its file system is full. The file keeps its permissions, and nothing else is left beside it."""
    del as_root
    directory, left, _ = pair
    place = directory / "etc"
    place.mkdir()
    saved, link = place / "saved.yaml", place / "link.yaml"

    def save(code):
        saved.write_text("former\n")
        saved.chmod(0o640)
        link.symlink_to("saved.yaml")
        e2e.suedectl(left, "config", "save", link, code=code)
        assert link.is_symlink() and saved.stat().st_mode & 0o777 == 0o640
        assert sorted(path.name for path in place.iterdir()) == ["link.yaml", "saved.yaml"]

    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "none", place], check=True, timeout=60)
    try:
        save(code=1)
        assert saved.read_text() == "former\n"
    finally:
        subprocess.run(["umount", place], check=True, timeout=60)
    saved.touch()
    with open(saved) as old:
        save(code=0)
        # Nobody who reads sees a part of the new file: it is another one.
        assert old.read() == "former\n"
    assert saved.read_text() == e2e.suedectl(left, "config", "get")


def test_flags_win_over_what_is_loaded(directory):
    config = e2e.endpoint_config(directory, "left", "net_null0")
    with e2e.Daemon(directory, config, arguments=["--set", "transport.window_pdus=77", "--",
                                                  "--log-level=lib.eal:6"]) as daemon:
        file = directory / "loaded.yaml"
        file.write_text(json.dumps(e2e.changed(config, {"transport": {"window_pdus": 5,
                                                                      "max_tries": 3}})))
        changes = e2e.managed(daemon, "config", "check", file)["changes"]
        assert [c["key"] for c in changes] == ["transport.max_tries"]
        change(daemon, "config", "load", file)
        effective = e2e.suedectl(daemon, "config", "get")
        assert "window_pdus: 77\n" in effective and "max_tries: 3\n" in effective
        # A limit of connections holds for those that come.
        assert e2e.suedectl(daemon, "reg", "write", "management.max_clients", 1)
        with Raw(daemon) as raw:
            raw.wait()
            e2e.suedectl(daemon, "version", code=4)


def test_an_interrupt_reaches_a_waiting_client(tmp_path):
    config = e2e.endpoint_config(tmp_path, "left", "net_null0")
    with e2e.Daemon(tmp_path, config) as daemon, client.Client(daemon.socket) as waits:
        assert waits.wait_for_events(50) == 0
        e2e.suedectl(daemon, "reg", "write", "event.status", 0x3fff)
        e2e.suedectl(daemon, "reg", "write", "event.mask", 1 << 8)
        assert waits.wait_for_events(50) == 0
        e2e.suedectl(daemon, "reg", "write", "transport.window_pdus", 77)
        assert waits.wait_for_events(20000) == 1
        e2e.suedectl(daemon, "reg", "write", "event.status", 1 << 8)
        e2e.wait_until(lambda: waits.wait_for_events(1) == 0, e2e.START_S, "the end of it")


def change_for(daemon, seconds, problems):
    """Gives a daemon ever other parameters."""
    steps = [("transport.window_pdus", (512, 1, 64)), ("transport.ack_every_pdus", (32, 1)),
             ("transport.ack_delay_us", (20, 300)), ("class.1.dscp", (0, 10, 46)),
             ("control.pack_limit_bytes", (2048, 274, 1024)),
             ("transport.inflight_pdus", (4096, 600)), ("transport.rto_min_us", (1000, 5000)),
             ("transport.nack_timeout_us", (500, 50))]
    end = time.monotonic() + seconds
    try:
        with Registers(daemon) as registers:
            turn = 0
            while time.monotonic() < end or turn < 3:
                for name, values in steps:
                    value = values[turn % len(values)]
                    code = registers.write(name, value)
                    # The window is no smaller than the number of PDUs acknowledged at once: the
                    # file's rule.
                    if code not in (0, INVALID) or (code == 0 and registers.read(name) != value):
                        problems.append((name, value, code))
                turn += 1
            for name, values in steps + steps:  # the second time nothing is in the way
                registers.write(name, values[0])
                if registers.read(name) != values[0] and (name, values) in steps[-2:]:
                    problems.append((name, "not restored"))
    except Exception as error:  # noqa: BLE001: told to the test
        problems.append(repr(error))


def test_parameters_change_under_load(pair):
    """Not a command is lost, doubled or damaged over it."""
    directory, left, right = pair
    problems = []
    changers = [threading.Thread(target=change_for, args=(daemon, 2.5, problems))
                for daemon in (left, right)]
    for changer in changers:
        changer.start()
    try:
        delivered = e2e.both_ways(directory, left, right, 2)
    finally:
        for changer in changers:
            changer.join()
    assert not problems, problems
    assert delivered > 1000


def test_partition_moves_while_commands_are_in_flight(pair):
    _, left, right = pair
    settle(left, right)
    with Client(left.socket) as sender, Client(right.socket) as receiver:
        receiver.claim(1)
        tags = list(sender.send_all(1, 200))
        change(left, "reg", "write", "control.partition", 5)
        tags += sender.send_all(1, 200, first=200)
        change(right, "reg", "write", "control.partition", 5)
        got = {}

        def all_arrived():
            for vc in range(4):
                for _, data in receiver.receive(vc):
                    if data.startswith(b"command "):  # not one of settle's
                        got.setdefault(vc, []).append(int(data.split()[1]))
            return sum(map(len, got.values())) >= len(tags)

        e2e.wait_until(all_arrived, e2e.START_S, "all commands")
        assert set(sender.complete(tags, 20).values()) == {STATUS_OK}
        assert got == {vc: [tag for tag in tags if tag % 4 == vc] for vc in range(4)}
    for daemon in (left, right):
        change(daemon, "reg", "write", "control.partition", 0)


def test_events(directory):
    """An event sets a bit; a mask, a summary, and clearing."""
    configs = [e2e.changed(e2e.endpoint_config(directory, side, e2e.memif_device(directory, role)),
                           e2e.GIVEN_UP_SOON)
               for side, role in (("left", "server"), ("right", "client"))]
    bits = dict((name.lower(), 1 << int(bit)) for name, bit in
                re.findall(r"#define SUEDE_EVENT_(\w+) \(1u << (\d+)\)", HEADER.read_text()))
    with e2e.Daemon(directory, configs[0]) as left, Registers(left) as registers:

        def wait_for(event):
            e2e.wait_until(lambda: registers.read("event.status") & bits[event], 30, event)
            assert registers.write("event.status", bits[event]) == 0

        def happens(event):
            return registers.read("event.status") & bits[event] != 0

        with e2e.Daemon(directory, configs[1]) as right:
            left.wait_for_link()
            wait_for("link_change")
            assert registers.read("event.link") == 1
            assert registers.write("event.link", 1) == 0
            assert registers.write("event.mask", bits["client_gone"]) == 0
            registers.write("event.status", bits["client_gone"])
            assert registers.read("event.summary") == 0
            settle(left, right)
            assert happens("client_gone")
            assert registers.read("event.summary") == 1
            wait_for("client_gone")
            assert registers.read("event.summary") == 0
            assert not happens("peer_reset") and not happens("peer_unreachable")
            right.kill()
        wait_for("link_change")
        with Client(left.socket) as sender:
            assert sender.send(1, 0, 1, b"nobody") == 0
            wait_for("peer_unreachable")
        assert registers.write("log.level", 0) == 0
        wait_for("config_changed")
        with e2e.Daemon(directory, configs[1]) as right:
            left.wait_for_link()
            with Client(right.socket) as sender:  # says that it is another life
                assert sender.send(0, 0, 1, b"again") == 0
                wait_for("peer_reset")
