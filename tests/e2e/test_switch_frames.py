# SPDX-License-Identifier: Apache-2.0
"""Frames of a packet socket through a suede-switch: their order, and bad ones beside good traffic."""

import collections
import contextlib
import itertools
import os
import random
import re
import secrets
import select
import socket
import struct
import threading
import time

import e2e
import links
import switched

ETHERTYPE_IPV4 = 0x0800
SO_RCVBUFFORCE = 33  # of Linux
MAGIC = b"suede-order"


class Cable:
    """A veth pair: one end is a port of the switch, the other one a packet socket."""

    def __init__(self, number):
        self.near = f"sw{secrets.token_hex(3)}{number}"
        self.far = self.near + "x"
        self.mac = bytes([2, 0, 0, 9, 0, number])
        links.ip("link", "add", self.near, "type", "veth", "peer", "name", self.far)
        for end in (self.near, self.far):
            # The kernel sends nothing of its own there.
            with open(f"/proc/sys/net/ipv6/conf/{end}/disable_ipv6", "w", encoding="ascii") as file:
                file.write("1")
            links.ip("link", "set", end, "mtu", 2000, "up")
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 32 << 20)
        self.socket.bind((self.far, 0))
        self.socket.setblocking(False)

    def device(self, number):
        return f"net_af_packet{number},iface={self.near},framesz=4096,blocksz=65536,framecnt=512"

    def send(self, frame):
        with contextlib.suppress(BlockingIOError, OSError):
            self.socket.send(frame)

    def close(self):
        self.socket.close()
        links.ip("link", "del", self.near)


@contextlib.contextmanager
def cables(count):
    made = []
    try:
        for number in range(count):
            made.append(Cable(number))
        yield made
    finally:
        for cable in made:
            cable.close()


def ipv4(source, destination, dscp, payload):
    header = struct.pack("!BBHHHBBH4s4s", 0x45, dscp << 2, 20 + len(payload), 0, 0, 64, 253, 0,
                         bytes(4), bytes(4))
    return destination + source + struct.pack("!H", ETHERTYPE_IPV4) + header + payload


def numbered(cable_of, source, destination, traffic_class, number):
    payload = MAGIC + struct.pack("!BBBI", source, destination, traffic_class, number)
    return ipv4(cable_of[source].mac, cable_of[destination].mac, 8 * traffic_class, payload)


def read_all(cable_of, got, wanted, seconds):
    """Appends the numbers that come, by {source, destination, class}, until all are there."""
    end = time.monotonic() + seconds
    count = 0
    while count < wanted and time.monotonic() < end:
        for ready in select.select([c.socket for c in cable_of], [], [], 0.1)[0]:
            with contextlib.suppress(BlockingIOError):
                while True:
                    frame, address = ready.recvfrom(4096)
                    at = frame.find(MAGIC)
                    if address[2] == socket.PACKET_OUTGOING or at < 0:
                        continue
                    *flow, number = struct.unpack_from("!BBBI", frame, at + len(MAGIC))
                    got[tuple(flow)].append(number)
                    count += 1
    return count


def check_ended(switch):
    """It has drained, and its pool of frames is full again but for the spare ones."""
    assert switch.terminate() == 0, switch.report()
    assert "drain incomplete" not in switch.stderr(), switch.report()
    free, spare, first = re.search(r"frames free=(\d+) spare=(\d+) of=(\d+)", switch.stderr()).groups()
    assert int(free) + int(spare) == int(first), (free, spare, first)


def test_no_flow_is_reordered_by_two_lcores(directory):
    """Four ports on two lcores: all sources to all destinations in all classes, frame by frame in turn."""
    with cables(4) as cable_of:
        config = switched.switch_config(directory, 4, "udp4", lcores=2)
        config["log"] = {"level": "debug"}
        config["learning"] = "off"
        config["addresses"] = [{"mac": c.mac.hex(":"), "port": f"s{i}"} for i, c in enumerate(cable_of)]
        for number, (port, cable) in enumerate(zip(config["ports"], cable_of)):
            port.update(device=cable.device(number), mtu_bytes=2000)
        with switched.Switch(directory, config) as switch:
            switch.wait_for_link()
            flows = [(source, destination, traffic_class) for traffic_class in range(8)
                     for source in range(4) for destination in range(4) if source != destination]
            got = collections.defaultdict(list)
            cpus = os.sched_getaffinity(0)
            # The kernel keeps the order of frames that one CPU sends.
            os.sched_setaffinity(0, {min(cpus)})
            try:
                rounds, of_round = 40, 4
                for begin in range(0, rounds * of_round, of_round):
                    for number in range(begin, begin + of_round):
                        for flow in flows:
                            cable_of[flow[0]].send(numbered(cable_of, *flow, number))
                    read_all(cable_of, got, of_round * len(flows), 10)
            finally:
                os.sched_setaffinity(0, cpus)
            for flow in flows:
                assert got[flow] == list(range(rounds * of_round)), (flow, got[flow][:50])
            counters = switch.counters()
            assert counters["rx_frames_total"] == counters["tx_frames_total"], counters
            check_ended(switch)


def mutations(seed, victims):
    """Frames of all kinds, broken in all ways, for ever. Many go to the MAC addresses of others."""
    draw = random.Random(seed)
    kinds = [struct.pack("!H", kind) for kind in (0x0800, 0x86dd, 0x8100, 0x88a8, 0x8808, 0x88b5)]
    while True:
        source = draw.choice(victims) if draw.random() < 0.2 else draw.randbytes(6)
        frame = bytearray(ipv4(source, draw.choice(victims), draw.randrange(64),
                               draw.randbytes(draw.randrange(0, 1400))))
        for _ in range(draw.randrange(6)):
            frame[draw.randrange(len(frame))] = draw.randrange(256)
        way = draw.randrange(6)
        if way == 0:
            frame[12:14] = draw.choice(kinds)
        elif way == 1:
            frame[:6] = b"\x01\x80\xc2\x00\x00\x01"  # PFC, or something like it
            frame[12:16] = b"\x88\x08\x01\x01"
        elif way == 2:
            del frame[draw.randrange(14, 40):]
        elif way == 3:
            frame = bytearray(draw.randbytes(draw.randrange(14, 1500)))
        yield bytes(frame)


def pour(cable, frames, stop, sent):
    while not stop.is_set():
        for _ in range(64):
            cable.send(next(frames))
        sent[0] += 64


def test_mutated_frames_do_not_disturb_good_traffic(directory):
    """SUEDE_MUTATED_S: seconds, 3 unless told."""
    seconds = float(os.environ.get("SUEDE_MUTATED_S", "3"))
    with cables(1) as (cable,):
        config = switched.switch_config(directory, 3, "udp4")
        config["log"] = {"level": "debug"}
        # Nobody takes an address that is configured.
        config["addresses"] = [{"mac": e2e.mac_of(xpu), "port": f"s{xpu}"} for xpu in range(2)]
        config["ports"][2].update(device=cable.device(2), mtu_bytes=2000)
        config["ports"][2].update(pfc="on", rate_gbps=100)
        config["ports"].insert(0, config["ports"].pop())  # whose device wants the longest buffers
        endpoints = switched.with_peers(switched.endpoint_config(directory, [0, 1], "udp4"), [0, 1], "udp4")
        with e2e.daemons(switched.Switch(directory, config), e2e.Daemon(directory, endpoints)) as (switch, daemon):
            switch.wait_for_link()
            daemon.wait_for_link()
            stop, sent = threading.Event(), [0]
            victims = [bytes.fromhex(e2e.mac_of(xpu).replace(":", "")) for xpu in range(2)]
            thread = threading.Thread(target=pour, args=(cable, mutations(1, victims), stop, sent))
            thread.start()
            try:
                end = time.monotonic() + seconds
                runs = 0
                while runs == 0 or time.monotonic() < end:
                    switched.run_workload(directory, daemon, 2, "all-to-all", "--bytes", 200000,
                                          "--iterations", 10)
                    runs += 1
            finally:
                stop.set()
                thread.join()
            assert sent[0] > 1000 * seconds
            counters = switch.counters()
            assert counters["rx_frames_total"] > sent[0] / 2, (sent, counters)
            assert counters["rx_drop_link_local_total"] + counters["rx_pfc_total"] > 0, counters
            check_ended(switch)


def test_a_drain_ends_under_traffic(directory):
    """Frames inside when the switch is asked to end leave it, and frames that come later do not enter."""
    with cables(2) as cable_of:
        config = switched.switch_config(directory, 2, "udp4", lcores=2)
        config["log"] = {"level": "debug"}
        config["learning"] = "off"
        config["addresses"] = [{"mac": c.mac.hex(":"), "port": f"s{i}"} for i, c in enumerate(cable_of)]
        for number, (port, cable) in enumerate(zip(config["ports"], cable_of)):
            port.update(device=cable.device(number), mtu_bytes=2000, impair_out={"delay_us": 200000})
        with switched.Switch(directory, config) as switch:
            switch.wait_for_link()
            stop, sent = threading.Event(), [0]
            frames = (numbered(cable_of, 0, 1, 7, number) for number in itertools.count())
            thread = threading.Thread(target=pour, args=(cable_of[0], frames, stop, sent))
            thread.start()
            try:
                e2e.wait_until(lambda: sent[0] > 1000, e2e.START_S, "a thousand frames")
                check_ended(switch)
            finally:
                stop.set()
                thread.join()
            counters = switch.counters()
            assert counters["rx_frames_total"] > 0
            assert counters["tx_frames_total"] == counters["rx_frames_total"] - \
                counters["class_drop_tail_total"] - counters["impair_full_total"], counters
