# SPDX-License-Identifier: Apache-2.0
"""Link-level retry between endpoints and a suede-switch, on cables that lose frames (docs/link.md)."""

import json
import subprocess

import e2e
import switched

LOSS = 1e-3
# Processes share CPUs here, and do not answer in microseconds.
LLR = {"replay_us": 20000, "max_age_us": 2000000, "hello_us": 20000}


def retry(config):
    config["llr"] = LLR
    for port in config["ports"]:
        port["llr"] = "on"


def lossy(config):
    retry(config)
    config["seed"] = 11
    for port in config["ports"]:
        port["impair_in"] = {"loss": LOSS}
        port["impair_out"] = {"loss": LOSS}


def links_of(socket):
    argv = [str(a) for a in (e2e.SUEDECTL, "-j", "--socket", socket, "links", "list")]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=e2e.START_S, check=True)
    return json.loads(done.stdout)["links"]


def total(links, name):
    return sum(link["counters"][name] for link in links)


def wait_for_sessions(*sockets):
    e2e.wait_until(lambda: all(link["llr_tx"] == "advance" for socket in sockets
                               for link in links_of(socket)), e2e.START_S, "sessions of all links")


def check_registers(daemon):
    """The registers of the links have the values of links.list, which go on meanwhile."""
    before = links_of(daemon.management)
    for port, link in enumerate(before):
        def read(name):
            return e2e.managed(daemon, "reg", "read", name)["registers"][0]["value"]
        assert read(f"link.{port}.link_session_up") == 1
        assert read(f"link.{port}.llr_tx_state") == 2
        assert read(f"port.{port}.llr") == 1
        for name in ("llr_tx_frames_total", "llr_tx_replayed_total", "link_sessions_total"):
            value = read(f"link_counter.{port}.{name}")
            after = links_of(daemon.management)[port]["counters"][name]
            assert link["counters"][name] <= value <= after, name


def test_loss_on_the_cables_is_repaired_by_the_links():
    with switched.fabric(2, switch=lossy, endpoint=retry) as (directory, switch, daemon):
        wait_for_sessions(switch.management, daemon.management)
        switched.run_workload(directory, daemon, 2, "all-to-all", "--bytes", 1000000,
                              "--iterations", 10)
        ends = links_of(switch.management) + links_of(daemon.management)
        assert len(ends) == 4, ends
        assert switch.counters()["impair_loss_total"] > 0
        assert total(ends, "llr_tx_replayed_total") > 0, ends
        assert total(ends, "link_failures_total") == 0, ends
        assert total(ends, "llr_tx_given_up_total") == 0, ends
        check_registers(daemon)
        # Links have sent again the PDUs that the cables lost.
        assert daemon.counters()["rx_drop_ahead_total"] == 0, daemon.counters()
        assert daemon.terminate() == 0, daemon.report()
        assert switch.terminate() == 0, switch.report()


def test_an_endpoint_without_it_is_served_as_ever():
    with switched.fabric(2, switch=retry) as (directory, switch, daemon):
        switched.run_workload(directory, daemon, 2, "all-to-all", "--iterations", 5)
        assert all(link["session"] == "down" for link in links_of(switch.management))
        assert total(links_of(switch.management), "llr_tx_frames_total") == 0
        assert links_of(daemon.management) == []
        assert daemon.terminate() == 0, daemon.report()
        assert switch.terminate() == 0, switch.report()


def test_a_port_with_several_queue_pairs_cannot_have_it():
    with e2e.work_directory() as directory:
        config = switched.endpoint_config(directory, [0], "udp4")
        config["instances"].append({"xpu": 0, "instance": 1, "lcore": 0,
                                    "ports": [{"port": "p0", "ip": e2e.ip_of(9)}]})
        config["ports"][0] |= {"device": "net_null0", "llr": "on", "queues": "instance"}
        path = directory / "two.yaml"
        path.write_text(json.dumps(config, indent=1))
        done = subprocess.run([str(e2e.SUEDE), "--check", "--config", str(path)],
                              capture_output=True, text=True, timeout=e2e.START_S, check=False)
        assert done.returncode == 2, done
        assert "two.yaml:" in done.stderr and "ports[0].llr" in done.stderr, done.stderr
        assert "2 queue pairs" in done.stderr and "queues: lcore" in done.stderr, done.stderr
