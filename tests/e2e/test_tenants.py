# SPDX-License-Identifier: Apache-2.0
"""Two tenants of one daemon with the same XPU numbers: nothing of one reaches the other (docs/security.md, "Tenants")."""

import contextlib
import errno
import json
import os
import secrets

import pytest

import e2e
from client import STATUS_OK, STATUS_UNREACHABLE, Client
from test_sealing import Keys, sealed, secret_line

PARTITIONS = (10, 20)  # of the instances 0 and 1


def ip_of(xpu, tenant):
    return f"198.18.{tenant}.{xpu + 1}"


def config_of(directory, side, role, reach=lambda tenant: tenant):
    """`reach`: the tenant to whose address the peers of an instance lead."""
    own, peer = (0, 1) if side == "left" else (1, 0)
    config = e2e.endpoint_config(directory, side, e2e.memif_device(directory, role))
    config["instances"] = [{"xpu": own, "instance": i, "partition": partition,
                            "ports": [{"port": "p0", "ip": ip_of(own, i)}]}
                           for i, partition in enumerate(PARTITIONS)]
    config["peers"] = [{"xpu": peer, "ports": [{"port": "p0", "instance": i, "ip": ip_of(peer, reach(i)),
                                                "mac": e2e.mac_of(peer)} for i in range(2)]}]
    return config


def dropped(daemon, xpu):
    """rx_drop_partition_total of each instance."""
    sets = {row["of"]: row["counters"] for row in
            e2e.managed(daemon, "counters", "get", "--scope", "instance")["sets"]}
    return [sets[f"{xpu}.{i}"]["rx_drop_partition_total"] for i in range(2)]


def exchange(left, right):
    """Each tenant sends with the same tags and other contents: all arrive at its own reader."""
    for tenant in range(2):
        with Client(left.socket, own=(0, tenant)) as sender, Client(right.socket, own=(1, tenant)) as reader, \
             Client(right.socket, own=(1, 1 - tenant)) as other:
            reader.claim(1)
            other.claim(1)
            for tag in range(8):
                assert sender.send(1, 0, tag, f"tenant {tenant} {tag}".encode()) == 0
            assert set(sender.complete(range(8), 30).values()) == {STATUS_OK}
            got = []
            e2e.wait_until(lambda: got.extend(reader.receive(0)) or len(got) == 8, e2e.START_S, lambda: f"{got}")
            assert [data.decode() for _, data in got] == [f"tenant {tenant} {tag}" for tag in range(8)]
            assert other.receive(0) == []


@pytest.mark.parametrize("seals", [False, True])
def test_tenants_with_one_xpu_number_are_separate(seals):
    with e2e.work_directory() as directory:
        keys = Keys(directory)
        path = keys.write("both", secret_line(1, keys.secret, partition=10), secret_line(2, secrets.token_hex(32), partition=20))
        configs = [config_of(directory, side, role) for side, role in (("left", "server"), ("right", "client"))]
        if seals:
            configs = [sealed(config, path) for config in configs]
        with e2e.daemons(*(e2e.Daemon(directory, config) for config in configs)) as (left, right):
            for daemon in (left, right):
                daemon.wait_for_link()
            exchange(left, right)
            rows = e2e.managed(left, "instances", "list")["instances"]
            assert [(row["xpu"], row["instance"], row["partition"]) for row in rows] == [(0, 0, 10), (0, 1, 20)]
            assert e2e.managed(left, "reg", "read", "instance.1.partition")["registers"][0]["value"] == 20
            assert dropped(right, 1) == [0, 0]
            if seals:
                states = e2e.managed(left, "keys", "list")["keys"]
                assert {(row["instance"], row["secret_id"]) for row in states} == {(0, 1), (1, 2)}, states
            # The partition of the others changes at run time; these have their own.
            left.config_path.write_text(json.dumps({**left.config, "partition": 77}))
            e2e.managed(left, "config", "load", left.config_path)
            exchange(left, right)


@pytest.mark.parametrize("seals", [False, True])
def test_an_attacker_of_one_tenant_does_not_reach_the_other(seals):
    """Its peers have the addresses of the other tenant."""
    with e2e.work_directory() as directory, contextlib.ExitStack() as stack:
        keys = Keys(directory)
        path = keys.write("both", secret_line(1, keys.secret, partition=10), secret_line(2, secrets.token_hex(32), partition=20))
        configs = [config_of(directory, "left", "server", reach=lambda tenant: 0), config_of(directory, "right", "client")]
        if seals:
            configs = [sealed(config, path) for config in configs]
        left, right = stack.enter_context(e2e.daemons(*(e2e.Daemon(directory, config) for config in configs)))
        for daemon in (left, right):
            daemon.wait_for_link()
        attacker = stack.enter_context(Client(left.socket, own=(0, 1)))
        victim = stack.enter_context(Client(right.socket, own=(1, 0)))
        honest = stack.enter_context(Client(left.socket, own=(0, 0)))
        victim.claim(1)
        for tag in range(4):
            assert attacker.send(1, 0, tag, b"attack") == 0
        for tag in range(4):
            assert honest.send(1, 0, tag, b"honest") == 0
        assert set(honest.complete(range(4), 30).values()) == {STATUS_OK}
        assert set(attacker.complete(range(4), e2e.START_S).values()) == {STATUS_UNREACHABLE}
        got = []
        e2e.wait_until(lambda: got.extend(victim.receive(0)) or len(got) >= 4, e2e.START_S, "honest commands")
        assert {data for _, data in got} == {b"honest"}
        assert dropped(right, 1)[0] > 0 and dropped(right, 1)[1] == 0


def test_rules_separate_clients_of_tenants():
    with e2e.work_directory() as directory:
        left = config_of(directory, "left", "server")
        left["clients"]["rules"] = [f"{os.getuid()}:0.1"]
        with e2e.daemons(e2e.Daemon(directory, left)) as (daemon,):
            with Client(daemon.socket, own=(0, 1)) as client:
                client.claim(0)
            with pytest.raises(OSError) as refused:
                Client(daemon.socket, own=(0, 0))
            assert refused.value.errno == errno.EACCES
            assert f'be XPU 0.0; add "{os.getuid()}:0.0" to clients.rules' in str(refused.value)


def test_agreement_by_tls_needs_the_common_partition():
    with e2e.work_directory() as directory:
        config = config_of(directory, "left", "server")
        for instance in config["instances"]:
            instance["sealing"] = "required"
        config["sealing"] = {"tls": {"listen": "127.0.0.1:7447", "certificate": "/c", "key": "/k", "ca": "/a"}}
        daemon = e2e.Daemon(directory, config)
        daemon.launch()
        assert daemon.wait(e2e.START_S) == 2
        assert "instances[0].partition: sealing.tls agrees on secrets of the endpoint's partition alone" in daemon.stderr()
