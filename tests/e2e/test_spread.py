# SPDX-License-Identifier: Apache-2.0
"""Two XPUs behind two leaf switches, whose groups spread frames over two spines (docs/switch.md, "Groups")."""

import concurrent.futures
import contextlib
import json

import pytest

import e2e
import switched

SPINES = 2


def switch_of(directory, name, devices, addresses, more=None):
    """A switch with these ports {name: device}, and these ports or groups of XPUs [port]."""
    config = switched.switch_config(directory, 0, "udp4")
    config.update(name=f"{config['name']}-{name}", learning="off", unknown="drop",
                  ports=[{"name": port, "device": device} for port, device in devices.items()],
                  addresses=[{"mac": e2e.mac_of(xpu), "port": port} for xpu, port in enumerate(addresses)],
                  management={"socket": str(directory / f"{name}.sock")}, **(more or {}))
    return switched.Switch(directory, config)


def cable(directory, leaf, spine, role, number):
    return switched.memif(directory, f"{leaf}-{spine}", role, number)


def leaf_of(directory, leaf, spread):
    devices = {"host": switched.memif(directory, leaf, "server", 0)}
    devices.update({f"up{s}": cable(directory, leaf, s, "server", s + 1) for s in range(SPINES)})
    group = {"name": "spines", "ports": [f"up{s}" for s in range(SPINES)], "spread": spread}
    addresses = ["host" if xpu == leaf else "spines" for xpu in range(2)]
    return switch_of(directory, f"leaf{leaf}", devices, addresses, {"groups": [group]})


def spine_of(directory, spine):
    devices = {f"leaf{leaf}": cable(directory, leaf, spine, "client", leaf) for leaf in range(2)}
    spine_switch = switch_of(directory, f"spine{spine}", devices, devices)
    # The second path is longer, so that frames overtake each other.
    for port in spine_switch.config["ports"]:
        port["impair_in"] = {"delay_us": 300 * spine}
    spine_switch.config_path.write_text(json.dumps(spine_switch.config))
    return spine_switch


@contextlib.contextmanager
def fabric(spread, ordering):
    """Yields (directory, leaves, spines, the daemon of both XPUs), links up."""
    with e2e.work_directory() as directory:
        leaves = [leaf_of(directory, leaf, spread) for leaf in range(2)]
        spines = [spine_of(directory, spine) for spine in range(SPINES)]
        config = switched.with_peers(switched.endpoint_config(directory, [0, 1], "udp4"), [0, 1], "udp4")
        config["transport"] = {"recovery": "selective"}
        for instance in config["instances"]:
            instance["ordering"] = ordering
        daemon = e2e.Daemon(directory, config)
        with e2e.daemons(*leaves, *spines, daemon) as started:
            for each in started:
                each.wait_for_link()
            yield directory, leaves, spines, daemon


def frames_of(leaf):
    return [member["frames"] for member in switched.ctl(leaf, "groups", "list")["members"]]


def carry(directory, daemon, ordering, iterations):
    """All commands arrive once and intact."""
    order = [] if ordering == "strict" else ["--unordered"]
    switched.run_workload(directory, daemon, 2, "all-to-all", "--bytes", 1000000, "--iterations", iterations, *order)


@pytest.mark.parametrize("spread,ordering", [("round_robin", "strict"), ("queue", "unordered")])
def test_frames_are_spread_and_a_dead_spine_is_left(spread, ordering):
    with fabric(spread, ordering) as (directory, leaves, spines, daemon):
        carry(directory, daemon, ordering, 5)
        for leaf in leaves:
            assert min(frames_of(leaf)) > 0.2 * max(frames_of(leaf)), frames_of(leaf)
        for spine in spines:
            assert spine.counters()["tx_frames_total"] > 0
        counters = daemon.counters()
        assert counters["rx_early_pdus_total"] > 0 and counters["rx_nacks_total"] == 0, counters
        # A spine dies while it carries traffic.
        before = frames_of(leaves[0])[1]
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            load = pool.submit(carry, directory, daemon, ordering, 20)
            e2e.wait_until(lambda: load.done() or frames_of(leaves[0])[1] > before + 100, e2e.TRAFFIC_S, "traffic")
            spines[1].kill()
            load.result()
        for leaf in leaves:
            leaf.wait_for_line("port: link_down port=up1")
        left = [frames_of(leaf) for leaf in leaves]
        carry(directory, daemon, ordering, 2)
        for (by_0, by_1), leaf in zip(left, leaves):
            now = frames_of(leaf)
            assert now[0] > by_0 and now[1] == by_1, (left, now)
        assert sum(leaf.counters()["rx_drop_no_member_total"] for leaf in leaves) == 0
