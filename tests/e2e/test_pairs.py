# SPDX-License-Identifier: Apache-2.0
"""Features together, with real daemons: rows that have each value of each feature, and the pairs that are most likely to
disturb each other. `sim_runner pairs` has all pairs (tests/sim/pairs_table.h)."""

import contextlib
import dataclasses
import os
import secrets

import pytest

import e2e
import memory
from encaps import OF_PORT
from test_cbfc import CBFC, wait_for_credit
from test_llr import LLR, links_of, total, wait_for_sessions
from test_sealing import Keys, secret_line

CONGESTION = {"base_rtt_us": 200, "repeat_max_us": 20000}
# Processes share CPUs: an end that does not answer within milliseconds is not dead.
PLANES = {"hello_interval_us": 50000, "hold_down_us": 20000, "unreachable_us": 20000000}
NEVER = ("rx_drop_seal_tag_total", "rx_drop_seal_malformed_total", "rx_drop_unsealed_total", "rx_drop_version_total",
         "rx_drop_session_total", "rx_drop_malformed_total")


@dataclasses.dataclass
class Row:
    encapsulation: str
    planes: int
    one_address_pair: bool
    sessions: int
    sealing: str
    congestion: str
    link: str
    lcores: int
    psn_scope: str
    ordering: str

    def __str__(self):
        return "-".join(str(value) for value in dataclasses.astuple(self))


ROWS = [
    Row("udp4", 2, True, 4, "required", "rccc", "none", 2, "vc", "unordered"),
    Row("afh1s", 1, False, 4, "preferred", "nscc", "llr", 1, "port", "strict"),
    Row("udp6", 2, False, 1, "required", "rccc", "cbfc", 1, "vc", "strict"),
    Row("afh2", 1, False, 4, "off", "rccc", "pfc", 2, "port", "strict"),
    Row("afh1", 2, True, 1, "required", "nscc", "pfc", 2, "vc", "unordered"),
    Row("afh2c", 4, True, 1, "off", "fixed", "cbfc", 1, "port", "unordered"),
    Row("esun", 2, True, 4, "required", "rccc", "cbfc", 1, "vc", "strict"),
]


def _address(row, xpu, plane):
    net = 0 if row.one_address_pair else plane
    if row.encapsulation == "udp4":
        return {"ip": e2e.ip_of(xpu, net)}
    if row.encapsulation == "udp6":
        return {"ip": f"fd53:5545:{net}::{xpu + 1:x}"}
    return {"forwarding_address": (net + 1) << 10 | xpu}


def _port(row, directory, side, plane):
    role = {"left": "server", "right": "client"}[side]
    port = {"name": f"p{plane}", "encapsulation": row.encapsulation, **OF_PORT[row.encapsulation],
            "mac": e2e.mac_of(side == "right", plane),
            "device": e2e.memif_device(directory, role, plane).replace("bsize=2112", "bsize=2304")}
    if row.link == "pfc" or row.congestion != "fixed":
        port["bandwidth_gbps"] = 100
    if row.link in ("llr", "cbfc"):
        port[row.link] = "on"
    if row.link == "pfc":
        port["pfc"] = "software"
    return port


def _config(row, directory, side, key_file):
    """XPUs 0 and 2 are on the left, 1 and 3 on the right; each of two lcores has one of them."""
    own = {"left": (0, 2), "right": (1, 3)}[side]
    cpus = sorted(os.sched_getaffinity(0))[:row.lcores]
    planes = range(row.planes)
    # Ends need not number planes alike.
    numbered = planes[::-1] if row.one_address_pair and side == "right" else planes
    config = {
        "version": 1,
        "name": f"e2e-{side}-{str(directory)[-8:]}",
        "eal": {"hugepages": "off"},
        "lcores": [{"cpu": cpu, "idle": "sleep"} for cpu in cpus],
        "ports": [_port(row, directory, side, plane) for plane in planes],
        "instances": [{"xpu": xpu, "lcore": cpus[i % len(cpus)], "congestion": row.congestion,
                       "sealing": row.sealing, "ordering": row.ordering,
                       "ports": [{"port": f"p{plane}", **_address(row, xpu, plane)} for plane in numbered]}
                      for i, xpu in enumerate(own)],
        "peers": [],
        "sessions": {"max": row.sessions},
        "transport": {"psn_scope": row.psn_scope},
        "congestion": CONGESTION,
        "planes": PLANES,
        "llr": {**LLR, "hello_us": 500000},  # no link is given up because an end waits for a CPU
        "cbfc": CBFC,
        "clients": {"socket": str(directory / f"{side}.sock"), "hugepages": "off"},
        "management": {"socket": str(directory / f"{side}-management.sock")},
    }
    for xpu in {"left": (1, 3), "right": (0, 2)}[side]:
        ports = [{"port": f"p{plane}", **_address(row, xpu, plane)} for plane in numbered]
        if row.encapsulation.startswith("udp"):
            for plane, port in zip(numbered, ports):
                port["mac"] = e2e.mac_of(side == "left", plane)
        config["peers"].append({"xpu": xpu, "ports": ports})
    if row.sealing != "off":
        config["sealing"] = {"secrets": str(key_file), "rotate_pdus": 1000}
    return config


def _load(stack, directory, left, right):
    """XPU 0 and XPU 1 load each other on all VCs, and XPU 2 and XPU 3: content and order are checked."""
    ordering = e2e.orderly(left)
    servers, clients, jsons = [], [], []
    for xpu in (0, 2):
        servers.append(e2e.perf_server(directory, right, "0,1,2,3", "--xpuid", xpu + 1, *ordering))
        stack.enter_context(contextlib.closing(e2e._Closing(servers[-1])))
    for xpu in (0, 2):
        jsons.append(directory / f"{xpu}.json")
        clients.append(stack.enter_context(e2e.perf(
            directory, f"client-{xpu}", left.socket, "--xpuid", xpu, "--destinations", xpu + 1, "--vcs", "0,1,2,3",
            "--duration", 1, "--bidirectional", "--check", "--drain", 30, "--json", jsons[-1], *ordering)))
    e2e.end_of_load(clients, servers)
    for file in jsons:
        e2e.check_results(e2e.results_of(file))


def _operate_memory(row, left, right):
    """XPU 0 puts into windows of XPU 1 and gets it back, as it is in the window."""
    with memory.Target(right.socket, planes=[(1, 0)]) as target, \
            memory.Memory(left.socket, planes=[(0, 0)], unordered=int(row.ordering == "unordered")) as mem:
        window, _ = target.add(1, 1 << 16)
        data = secrets.token_bytes(1 << 16)
        puts = [mem.put(1, 1, at, data[at:at + 1024], counter=1) for at in range(0, 1 << 16, 1024)]
        result, failures = mem.barrier("write", 1)
        assert (result, failures.count) == (0, 0), failures.status
        assert all(put.status == memory.OK for put in puts)
        assert window.raw == data
        assert mem.octets(mem.get(1, 1, 0, 1 << 16)) == data


def _wait_for_link(row, left, right):
    sockets = (left.management, right.management)
    for daemon in (left, right):
        daemon.wait_for_link()
    if row.link == "llr":
        wait_for_sessions(*sockets)
    if row.link == "cbfc":
        wait_for_credit(*sockets)


def _check_use(row, left, right):
    """The features of the row were in use."""
    for daemon in (left, right):
        counters = e2e.managed(daemon, "counters", "get")["sets"][0]["counters"]
        assert (counters["rx_sealed_total"] > 0) == (row.sealing != "off"), counters
        assert (counters["rx_congestion_grants_total"] > 0) == (row.congestion == "rccc"), counters
        # A slot may take two other numbers while a PDU is under way, as CPUs are shared: the PDU is sent again
        # (docs/sessions.md).
        never = [name for name in NEVER if row.sessions == 1 or name != "rx_drop_session_total"]
        assert {name: counters[name] for name in never if counters[name] != 0} == {}, daemon.name
    if row.lcores == 2:
        # A memif has one queue for all lcores.
        handed = [e2e.managed(daemon, "counters", "get")["sets"][0]["counters"].get("rx_handed_over_total", 0)
                  for daemon in (left, right)]
        assert all(handed), handed
    ends = links_of(left.management) + links_of(right.management)
    if row.link == "llr":
        assert total(ends, "llr_tx_frames_total") > 0, ends
    if row.link == "cbfc":
        assert total(ends, "cbfc_tx_cf_updates_total") > 0, ends
        assert [end["counters"]["cbfc_rx_exceeded_total"] for end in ends] == [0] * len(ends), ends


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_features_work_together(row):
    if len(os.sched_getaffinity(0)) < row.lcores:
        pytest.skip("takes two CPUs")
    with e2e.work_directory() as directory, contextlib.ExitStack() as stack:
        keys = Keys(directory)
        key_file = keys.write("both", secret_line(1, keys.secret))
        left, right = stack.enter_context(e2e.daemons(*(
            e2e.Daemon(directory, _config(row, directory, side, key_file)) for side in ("left", "right"))))
        _wait_for_link(row, left, right)
        _load(stack, directory, left, right)
        _operate_memory(row, left, right)
        _check_use(row, left, right)
        for daemon in (left, right):
            assert daemon.terminate() == 0, daemon.report()
