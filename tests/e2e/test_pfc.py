# SPDX-License-Identifier: Apache-2.0
"""Pauses of classes by PFC frames (docs/pfc.md): the neighbour of the right endpoint is played by a
client of the left one's packets interface."""

import http.client
import itertools
import re
import threading
import time

import pytest

import e2e
from client import STATUS_OK, Client, Packets

STORM_US = 1000  # a pause lasts a few times as long, however late the next frame is
CLASSES = {"vc": [{"dscp": 8}, {"dscp": 16}, {"dscp": 24}, {"dscp": 32}]}


def pfc_frame(classes, quanta):
    frame = bytes.fromhex("0180c2000001 02aabbccddee 8808 0101".replace(" ", ""))
    return (frame + classes.to_bytes(2, "big") + quanta.to_bytes(2, "big") * 8).ljust(60, b"\0")


def with_pfc(config):
    config["ports"][0]["pfc"] = "software"
    config["ports"][0]["bandwidth_gbps"] = 1  # the greatest pause is then 33 ms, not 335 us
    config["pfc"] = {"storm_us": STORM_US}
    config["classes"] = CLASSES
    config["management"]["http_address"] = "127.0.0.1:0"
    return config


class Pause:
    """Keeps classes of the neighbour paused."""

    def __init__(self, socket, classes):
        self._packets = Packets(socket, receive=False)
        self._classes = classes
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self):
        while not self._end.wait(0.0002):
            self._packets.send(pfc_frame(self._classes, 0xffff))
        while self._packets.send(pfc_frame(self._classes, 0)) != 0:
            time.sleep(0.001)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()


def get(daemon, path):
    host, port = e2e.managed(daemon, "version")["http"].split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=e2e.START_S)
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def metric(daemon, name, vc):
    found = re.search(rf'suede_{name}{{[^}}]*vc="{vc}"[^}}]*}} (\S+)', get(daemon, "/metrics")[1])
    return float(found[1])


@pytest.fixture(scope="module")
def pair():
    with e2e.work_directory() as directory:
        left = e2e.endpoint_config(directory, "left", e2e.memif_device(directory, "server"))
        right = with_pfc(
            e2e.endpoint_config(directory, "right", e2e.memif_device(directory, "client")))
        left["classes"] = CLASSES
        left["transport"] = {"psn_scope": "vc"}  # the default of the end with pfc
        with e2e.daemons(e2e.Daemon(directory, left), e2e.Daemon(directory, right)) as (one, other):
            for daemon in (one, other):
                daemon.wait_for_link()
            yield one, other


def paused(daemon):
    return (e2e.managed(daemon, "ports", "list")["ports"][0]["paused"],
            [queue["paused"] for queue in e2e.managed(daemon, "queues", "list")["queues"]])


def storms(daemon):
    listed = e2e.managed(daemon, "events", "list", "--limit", 1000)["events"]
    return [event for event in listed if event["kind"] == "pfc_storm"]


def test_a_paused_vc_waits_and_is_shown(pair):
    left, right = pair
    with Client(right.socket) as sender, Client(left.socket) as receiver:
        receiver.claim(0)
        tags = itertools.count(1)

        def send(vc):
            """A machine that does much else may let a pause end: then the command leaves."""
            tag = next(tags)
            assert sender.send(0, vc=vc, tag=tag, data=b"data") == 0
            return tag

        sent = [send(0)]
        sender.complete(sent, e2e.START_S)
        sent = []
        with Pause(left.socket, 1 << 1):
            e2e.wait_until(lambda: paused(right) == ("0", ["0"]), e2e.START_S, "the pause")
            other = send(1)
            assert sender.complete([other], e2e.START_S)[other] == STATUS_OK

            def is_stormy():
                sent.append(send(0))
                return get(right, "/healthz") == (200, "ok\nport p0: paused, VC 0\n")

            e2e.wait_until(is_stormy, e2e.START_S, "the watchdog")
            before = metric(right, "port_vc_paused_seconds_total", 0)
            e2e.wait_until(lambda: metric(right, "port_vc_paused_seconds_total", 0) > before,
                           e2e.START_S, "the time to advance")
            assert metric(right, "port_vc_paused_seconds_total", 1) == 0
            e2e.wait_until(lambda: storms(right), e2e.START_S, "the event")
            assert (storms(right)[0]["port"], storms(right)[0]["vcs"]) == ("p0", "0")
        e2e.wait_until(lambda: paused(right)[0] == "", e2e.START_S, "the end of the pause")
        last = send(0)  # behind all others
        assert sender.complete([last], e2e.START_S)[last] == STATUS_OK
    e2e.wait_until(lambda: get(right, "/healthz") == (200, "ok\n"), e2e.START_S, "health")
    counters = right.counters()
    assert counters["rx_pfc_total"] > 1
    assert counters["rx_pfc_storms_total"] >= 1
    assert counters["peer_unreachable_total"] == 0
    assert e2e.managed(right, "ports", "list")["ports"][0]["paused"] == ""


def test_malformed_frames_are_counted(pair):
    left, right = pair
    with Packets(left.socket, receive=False) as neighbour:
        assert neighbour.send(pfc_frame(0xff, 0xffff)[:30]) == 0
        e2e.wait_until(lambda: right.counters()["rx_drop_pfc_malformed_total"] == 1, e2e.START_S,
                       "the counter")


def test_a_virtual_device_pauses_nothing_itself():
    with e2e.work_directory() as directory:
        config = e2e.endpoint_config(directory, "left", e2e.memif_device(directory, "server"))
        config["ports"][0]["pfc"] = "device"
        daemon = e2e.Daemon(directory, config)
        try:
            e2e.Process.start(daemon)  # without waiting until it is ready
            assert daemon.wait(e2e.START_S) != 0
            assert "ports[0].pfc: a virtual device does not pause classes itself" in daemon.stderr()
        finally:
            daemon.kill()
