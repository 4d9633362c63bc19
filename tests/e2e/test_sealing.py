# SPDX-License-Identifier: Apache-2.0
"""Sealed PDUs between two daemons (docs/sealing.md)."""

import contextlib
import json
import secrets
import subprocess

import pytest

import e2e

NEVER = ("rx_drop_seal_tag_total", "rx_drop_seal_malformed_total", "rx_drop_unsealed_total",
         "rx_drop_version_total")


def secret_line(number, secret, since="-", until="-", partition=0):
    return f"{partition} {number} {secret} {since} {until}\n"


class Keys:
    """Files of secrets, of both ends or of each."""

    def __init__(self, directory):
        self.directory = directory
        self.secret = secrets.token_hex(32)

    def write(self, name, *lines):
        path = self.directory / f"{name}.secrets"
        path.write_text("".join(lines))
        path.chmod(0o600)
        return path


def sealed(config, path, sealing="required", **section):
    """A configuration whose instances seal; a memif's buffers hold the larger frames."""
    config = e2e.changed(config, {"sealing": {"secrets": str(path), **section}})
    for instance in config["instances"]:
        instance["sealing"] = sealing
    for port in config["ports"]:
        port["device"] = port["device"].replace("bsize=2112", "bsize=2304")
    return config


@contextlib.contextmanager
def pair(sealings=("required", "required"), changes=None, lines=None, **section):
    """Two daemons joined by a memif: yields (directory, keys, left, right). `lines`: of their files of
    secrets, where these are not one and the same secret."""
    with e2e.work_directory() as directory:
        keys = Keys(directory)
        daemons = []
        with contextlib.ExitStack() as stack:
            for i, (side, role) in enumerate((("left", "server"), ("right", "client"))):
                config = e2e.changed(
                    e2e.endpoint_config(directory, side, e2e.memif_device(directory, role)),
                    changes or {})
                path = keys.write(side, *(lines(keys)[i] if lines else [secret_line(1, keys.secret)]))
                if sealings[i] != "off":
                    config = sealed(config, path, sealings[i], **section)
                else:
                    config["ports"][0]["device"] = config["ports"][0]["device"].replace(
                        "bsize=2112", "bsize=2304")
                daemons.append(e2e.Daemon(directory, config))
            stack.enter_context(e2e.daemons(*daemons))
            for daemon in daemons:
                daemon.wait_for_link()
            yield directory, keys, *daemons


def keys_of(daemon):
    key, = e2e.managed(daemon, "keys", "list")["keys"]
    return key


def under_load(stack, directory, left, right, rate=20000):
    """Traffic from left to right, checked there, to the end of the block; its receiver stays to that of `stack`."""
    server = e2e.perf_server(directory, right, "0")
    stack.enter_context(contextlib.closing(e2e._Closing(server)))
    return e2e.perf(directory, "load", left.socket, "--destinations", 1, "--rate", rate,
                    "--duration", 600, "--check")


@pytest.mark.parametrize("cipher", ["aes_128_gcm", "aes_256_gcm"])
@pytest.mark.parametrize("device", ["openssl", "auto"])
def test_full_load_both_ways(cipher, device):
    with pair(cipher=cipher, device=device, rotate_pdus=5000) as (directory, _, left, right):
        assert e2e.both_ways(directory, left, right, 1) > 0
        for daemon in (left, right):
            key = keys_of(daemon)
            assert key["sealed"] and key["secret_id"] == 1 and key["sealing"] == "required"
            counters = daemon.counters()
            assert counters["tx_sealed_total"] >= counters["tx_pdus_total"] > 0
            assert counters["rx_sealed_total"] > 0
            assert counters["seal_rotations_total"] > 0 and key["tx_epoch"] > 0
        e2e.check_ends(left, right, (*NEVER, "tx_drop_unreachable_total", "tx_drop_in_doubt_total"))


@pytest.mark.parametrize("encapsulation", ["udp6", "afh1", "afh1s", "afh2", "afh2c"])
def test_encapsulations(encapsulation):
    with e2e.work_directory() as directory:
        keys = Keys(directory)
        path = keys.write("both", secret_line(1, keys.secret))
        with contextlib.ExitStack() as stack:
            daemons = []
            for side, role in (("left", "server"), ("right", "client")):
                config = e2e.endpoint_config(directory, side, e2e.memif_device(directory, role))
                own = 0 if side == "left" else 1
                config["ports"][0]["encapsulation"] = encapsulation
                place, peer = config["instances"][0]["ports"][0], config["peers"][0]["ports"][0]
                if encapsulation == "udp6":
                    place["ip"], peer["ip"] = f"fd00::{own + 1}", f"fd00::{2 - own}"
                else:
                    for at in (place, peer):
                        at.pop("ip")
                        at.pop("mac", None)
                daemons.append(e2e.Daemon(directory, sealed(config, path)))
            stack.enter_context(e2e.daemons(*daemons))
            assert e2e.both_ways(directory, *daemons, 0.5) > 0
            assert keys_of(daemons[0])["sealed"]
            e2e.check_ends(*daemons, NEVER)


def test_partitions_come_and_go_under_load():
    """The ends go to another partition, whose secret has the same id, and back, with epochs in each: nothing is lost."""
    other = secrets.token_hex(32)
    lines = lambda keys: [[secret_line(1, keys.secret), secret_line(1, other, partition=5)]] * 2
    with pair(lines=lines) as (directory, _, left, right), contextlib.ExitStack() as stack:
        with under_load(stack, directory, left, right) as load:
            e2e.wait_until(lambda: keys_of(left)["sealed"], e2e.START_S, "sealing")
            for partition in (5, 0, 5, 0):
                epoch = keys_of(left)["tx_epoch"] + 1
                e2e.suedectl(left, "keys", "rotate")
                e2e.wait_until(lambda e=epoch: keys_of(right)["tx_epoch"] == e, e2e.START_S, "an epoch")
                for daemon in (left, right):
                    e2e.suedectl(daemon, "reg", "write", "control.partition", partition)
                before = right.counters()["rx_sealed_total"]
                e2e.wait_until(lambda b=before: right.counters()["rx_sealed_total"] > b + 1000, e2e.START_S,
                               "PDUs in the partition")
            assert load.running(), load.report()
        counters = left.counters()
        assert counters["peer_reset_total"] == counters["desynchronized_total"] == 0
        assert counters["tx_drop_unreachable_total"] == counters["tx_drop_in_doubt_total"] == 0
        for name in NEVER:
            assert right.counters()[name] == left.counters()[name] == 0, name


def test_rotation_by_command_under_load():
    with pair() as (directory, _, left, right), contextlib.ExitStack() as stack:
        with under_load(stack, directory, left, right) as load:
            for epoch in range(1, 6):
                e2e.wait_until(lambda: keys_of(right)["rx_epoch"] == epoch - 1 and
                               keys_of(left)["sealed"], e2e.START_S, "the epoch before")
                e2e.suedectl(left, "keys", "rotate")
                e2e.wait_until(lambda: keys_of(right)["rx_epoch"] == epoch, e2e.START_S, "an epoch")
                assert keys_of(left)["tx_epoch"] == epoch
            assert load.running(), load.report()
        counters = left.counters()
        assert counters["seal_rotations_total"] >= 5
        assert counters["tx_drop_unreachable_total"] == counters["tx_drop_in_doubt_total"] == 0
        for name in NEVER:
            assert right.counters()[name] == left.counters()[name] == 0, name


@pytest.mark.parametrize("sealings,is_sealed", [
    (("preferred", "preferred"), True), (("preferred", "required"), True),
    (("required", "preferred"), True), (("preferred", "off"), False), (("off", "preferred"), False)])
def test_preferred(sealings, is_sealed):
    with pair(sealings) as (directory, _, left, right):
        assert e2e.both_ways(directory, left, right, 0.5) > 0
        for daemon, sealing in zip((left, right), sealings):
            if sealing != "off":
                assert keys_of(daemon)["sealed"] == is_sealed
        assert (right.counters()["tx_sealed_total"] > 0) == (sealings[1] != "off")


def test_required_and_off_are_told():
    with pair(("required", "off"), e2e.GIVEN_UP_SOON) as (directory, _, left, right):
        with e2e.perf(directory, "client", left.socket, "--destinations", 1, "--duration", 0.5,
                      "--connect_timeout", 3) as run:
            assert run.wait(e2e.START_S) != 0
        with e2e.perf(directory, "other", right.socket, "--destinations", 0, "--duration", 0.5,
                      "--connect_timeout", 3) as run:
            assert run.wait(e2e.START_S) != 0
        for daemon, own, theirs, counter in (
                (left, "required", "plain", "rx_drop_unsealed_total"),
                (right, "off", "sealed", "rx_drop_version_total")):
            e2e.wait_until(lambda d=daemon, c=counter: d.counters()[c] > 0, e2e.START_S, counter)
            events = e2e.managed(daemon, "events", "list")["events"]
            event = next(e for e in events if e["kind"] == "seal_mismatch")
            assert (event["own"], event["theirs"]) == (own, theirs)
        assert left.counters()["rx_commands_total"] == right.counters()["rx_commands_total"] == 0


def test_another_secret_opens_nothing():
    def lines(keys):
        return [[secret_line(1, keys.secret)], [secret_line(1, secrets.token_hex(32))]]
    with pair(changes=e2e.GIVEN_UP_SOON, lines=lines) as (directory, _, left, right):
        with e2e.perf(directory, "client", left.socket, "--destinations", 1, "--duration", 0.5,
                      "--connect_timeout", 3) as run:
            assert run.wait(e2e.START_S) != 0
        assert right.counters()["rx_drop_seal_tag_total"] > 0
        assert right.counters()["rx_sealed_total"] == right.counters()["rx_commands_total"] == 0


def test_another_secret_takes_over():
    """Each file gets a newer secret, one after the other, and then loses the old one; under load
    nothing is lost."""
    with pair() as (directory, keys, left, right), contextlib.ExitStack() as stack:
        with under_load(stack, directory, left, right) as load:
            e2e.wait_until(lambda: keys_of(left)["sealed"], e2e.START_S, "sealing")
            newer = secret_line(2, secrets.token_hex(32), "2026-01-01T00:00:00Z")
            for side, daemon in (("left", left), ("right", right)):
                keys.write(side, secret_line(1, keys.secret), newer)
                e2e.suedectl(daemon, "keys", "reload")
            for daemon in (left, right):
                e2e.wait_until(lambda d=daemon: keys_of(d)["secret_id"] == 2, e2e.START_S,
                               "the newer secret")
            for side, daemon in (("left", left), ("right", right)):
                keys.write(side, newer)
                e2e.suedectl(daemon, "keys", "reload")
            before = right.counters()["rx_commands_total"]
            e2e.wait_until(lambda: right.counters()["rx_commands_total"] > before + 10000,
                           e2e.START_S, "traffic")
            assert load.running(), load.report()
            # One that cannot be used changes nothing.
            path = keys.write("left", "0 1 what\n")
            failed = subprocess.run(
                [e2e.SUEDECTL, "--socket", left.management, "keys", "reload"], check=False,
                capture_output=True, text=True)
            assert failed.returncode != 0 and f"{path}:1:" in failed.stderr, failed
            assert keys_of(left)["secret_id"] == 2
        counters = left.counters()
        assert counters["tx_drop_unreachable_total"] == counters["tx_drop_in_doubt_total"] == 0


def test_a_daemon_that_restarts():
    with pair() as (directory, _, left, right):
        assert e2e.both_ways(directory, left, right, 0.3) > 0
        assert right.terminate() == 0
        right.start()
        for daemon in (left, right):
            daemon.wait_for_link()
        assert e2e.both_ways(directory, left, right, 0.3) > 0
        assert keys_of(left)["sealed"] and keys_of(right)["sealed"]


def test_secrets_that_others_may_read():
    with e2e.work_directory() as directory:
        keys = Keys(directory)
        path = keys.write("left", secret_line(1, keys.secret))
        path.chmod(0o644)
        config = sealed(e2e.endpoint_config(directory, "left", "net_null0"), path)
        file = directory / "left.yaml"
        file.write_text(json.dumps(config))
        failed = subprocess.run([e2e.SUEDE, "--config", str(file)], check=False,
                                capture_output=True, text=True, timeout=e2e.START_S)
        assert failed.returncode != 0
        assert "chmod" in failed.stderr and keys.secret not in failed.stderr, failed.stderr


def test_nothing_secret_is_shown():
    with pair() as (_, keys, left, right):
        e2e.wait_until(lambda: left.running() and right.running(), e2e.START_S, "daemons")
        shown = [e2e.suedectl(left, "-j", *words) for words in
                 (("keys", "list"), ("config", "get"), ("events", "list"), ("counters", "get"))]
        shown.append(left.stderr())
        assert not any(keys.secret in text for text in shown)
        assert str(left.config["sealing"]["secrets"]) in shown[1]


def test_no_secrets_are_an_error():
    with e2e.work_directory() as directory:
        config = e2e.endpoint_config(directory, "left", "net_null0")
        config["instances"][0]["sealing"] = "required"
        file = directory / "left.yaml"
        file.write_text(json.dumps(config))
        failed = subprocess.run([e2e.SUEDE, "--config", str(file), "--check"], check=False,
                                capture_output=True, text=True, timeout=e2e.START_S)
        assert failed.returncode != 0
        assert "instances[0].sealing" in failed.stderr and "sealing.secrets" in failed.stderr
