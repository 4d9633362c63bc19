# SPDX-License-Identifier: Apache-2.0
"""Secrets that two daemons agree on over TLS (docs/sealing.md, "Secrets by TLS")."""

import collections
import contextlib
import datetime
import json
import os
import random
import re
import socket
import ssl
import struct
import subprocess
import threading
import time
import urllib.request

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
import pytest

import e2e
from test_sealing import NEVER, keys_of, under_load

PORT = 7420
DAY = datetime.timedelta(days=1)
VALID = (-DAY, DAY)
EXPIRED = (-3 * DAY, -DAY)
NOT_YET = (DAY, 3 * DAY)


class Authority:
    """An authority, and the certificates that it signs."""

    def __init__(self, directory, name):
        self.directory = directory
        self.name = name
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        now = datetime.datetime.utcnow()
        self.file = directory / f"{name}.pem"
        certificate = (
            x509.CertificateBuilder().subject_name(self.subject).issuer_name(self.subject)
            .public_key(self.key.public_key()).serial_number(x509.random_serial_number())
            .not_valid_before(now - 9 * DAY).not_valid_after(now + 9 * DAY)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(self.key, hashes.SHA256()))
        self.file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def certify(self, name, uris, valid=VALID):
        """Writes NAME.pem and NAME.key; returns their paths as keys of the configuration."""
        key = ec.generate_private_key(ec.SECP256R1())
        now = datetime.datetime.utcnow()
        certificate = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
            .issuer_name(self.subject).public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + valid[0]).not_valid_after(now + valid[1])
            .add_extension(x509.SubjectAlternativeName(
                [x509.UniformResourceIdentifier(uri) for uri in uris]), critical=False)
            .sign(self.key, hashes.SHA256()))
        paths = {}
        for what, data in (
                ("certificate", certificate.public_bytes(serialization.Encoding.PEM)),
                ("key", key.private_bytes(serialization.Encoding.PEM,
                                          serialization.PrivateFormat.PKCS8,
                                          serialization.NoEncryption()))):
            path = self.directory / f"{name}.{what}"
            path.write_bytes(data)
            path.chmod(0o600)
            paths[what] = str(path)
        return paths


def addresses():
    """Addresses for two listeners that no other test has: of the 2^24 of 127.0.0.0/8."""
    return [f"127.{random.randrange(1, 255)}.{random.randrange(256)}.{random.randrange(1, 255)}:{PORT}"
            for _ in range(2)]


def tls_config(config, listen, control, authority, paths, **section):
    tls = {"listen": listen, "ca": str(authority.file), **paths, **section}
    config = e2e.changed(config, {"sealing": {"tls": tls}})
    for instance in config["instances"]:
        instance["sealing"] = "required"
    for peer in config["peers"]:
        peer["control"] = control
    for port in config["ports"]:
        port["device"] = port["device"].replace("bsize=2112", "bsize=2304")
    return config


class Ends:
    def __init__(self, directory, authority, left, right, listen):
        self.directory = directory
        self.authority = authority
        self.left = left
        self.right = right
        self.listen = listen

    @property
    def both(self):
        return (self.left, self.right)


@contextlib.contextmanager
def pair(certify=None, changes=None, **section):
    """Two daemons without files of secrets. `certify`: (authority, directory) to what the right one has
    instead of its certificate. `changes`: of both, or a list of those of each."""
    with e2e.work_directory() as directory, contextlib.ExitStack() as stack:
        authority = Authority(directory, "authority")
        listen = addresses()
        daemons = []
        for own, (side, role) in enumerate((("left", "server"), ("right", "client"))):
            config = e2e.changed(
                e2e.endpoint_config(directory, side, e2e.memif_device(directory, role)),
                changes[own] if isinstance(changes, list) else changes or {})
            paths = (certify(authority, directory) if certify and side == "right" else
                     authority.certify(side, [f"suede:0:{own}"]))
            daemons.append(stack.enter_context(e2e.Daemon(directory, tls_config(
                config, listen[own], listen[1 - own], authority, paths, **section))))
        for daemon in daemons:
            daemon.wait_for_link()
        yield Ends(directory, authority, *daemons, listen)


def events_of(daemon, kind):
    return e2e.managed(daemon, "events", "list", "--kind", kind)["events"]


def wait_for_agreement(daemon, least=1):
    e2e.wait_until(lambda: len(events_of(daemon, "seal_agreed")) >= least, e2e.START_S,
                   lambda: f"an agreement of {daemon.name}\n{daemon.report()}")
    return events_of(daemon, "seal_agreed")


def reasons_of(daemon):
    return [event["reason"] for kind in ("seal_agreement_failed", "seal_connection_refused")
            for event in events_of(daemon, kind)]


def wait_for_reason(daemon, *texts):
    e2e.wait_until(lambda: any(all(text in reason for text in texts) for reason in reasons_of(daemon)),
                   e2e.START_S, f"{texts} from {daemon.name}: {reasons_of(daemon)}")


def check_no_traffic(ends):
    for daemon, to in ((ends.left, 1), (ends.right, 0)):
        with e2e.perf(ends.directory, f"none-{to}", daemon.socket, "--destinations", to, "--duration",
                      0.3, "--connect_timeout", 2) as run:
            assert run.wait(e2e.START_S) != 0
        assert daemon.counters()["rx_commands_total"] == 0
        assert events_of(daemon, "seal_agreed") == []
        assert not keys_of(daemon)["sealed"] or keys_of(daemon)["secret_id"] == 0


def test_two_daemons_agree():
    with pair() as ends:
        left, = wait_for_agreement(ends.left)
        right, = wait_for_agreement(ends.right)
        assert left["secret_id"] == right["secret_id"] == 128
        assert (left["xpu"], left["peer"], right["xpu"], right["peer"]) == (0, 1, 1, 0)
        assert left["address"] == ends.listen[1]
        assert e2e.both_ways(ends.directory, *ends.both, 1) > 0
        for daemon in ends.both:
            key = keys_of(daemon)
            assert key["sealed"] and key["secret_id"] == 128
            counters = daemon.counters()
            assert counters["tx_sealed_total"] >= counters["tx_pdus_total"] > 0
            # The daemon that is up first finds nobody yet.
            assert set(reasons_of(daemon)) <= {"Connection refused"}
        e2e.check_ends(*ends.both, NEVER)


def test_refresh_under_load():
    with pair(refresh_s=1) as ends, contextlib.ExitStack() as stack:
        wait_for_agreement(ends.right)
        with under_load(stack, ends.directory, *ends.both) as load:
            e2e.wait_until(lambda: keys_of(ends.left)["secret_id"] >= 128, e2e.START_S, "sealing")
            first = keys_of(ends.left)["secret_id"]
            for more in range(1, 5):
                for daemon in ends.both:
                    e2e.wait_until(lambda d=daemon: keys_of(d)["secret_id"] >= first + more,
                                   e2e.START_S, "the next secret")
            before = ends.right.counters()["rx_commands_total"]
            e2e.wait_until(lambda: ends.right.counters()["rx_commands_total"] > before + 10000,
                           e2e.START_S, "traffic")
            assert load.running(), load.report()
        for daemon in ends.both:
            counters = daemon.counters()
            for name in (*NEVER, "tx_drop_unreachable_total", "tx_drop_in_doubt_total",
                         "tx_drop_seal_key_total"):
                assert counters[name] == 0, (name, counters[name])


def metrics_of(daemon):
    """Values of /metrics of seal_..., by the name with its labels but for the endpoint's."""
    text = daemon.config["management"]["http_address"]
    with urllib.request.urlopen(f"http://{text}/metrics", timeout=e2e.START_S) as answer:
        lines = answer.read().decode().splitlines()
    found = {}
    for line in lines:
        if match := re.match(r"suede_(seal_\w+)\{(.*)\} (\S+)$", line):
            labels = ",".join(l for l in match[2].split(",") if not l.startswith("endpoint="))
            found[f"{match[1]}{{{labels}}}"] = float(match[3])
    return found


def failures_of(metrics):
    return {name.split('"')[1]: count for name, count in metrics.items()
            if name.startswith("seal_agreement_failures_total") and count}


HOUR = datetime.timedelta(hours=1)


def http_changes():
    with socket.socket() as free:
        free.bind((addresses()[0].split(":")[0], 0))
        host, port = free.getsockname()
    return {**e2e.GIVEN_UP_SOON, "management": {"http_address": f"{host}:{port}"}}


def test_metrics_of_agreements():
    changes = [http_changes() for _ in range(2)]
    with pair(None, changes) as ends:
        wait_for_agreement(ends.left)
        wait_for_agreement(ends.right)
        for daemon in ends.both:
            e2e.wait_until(lambda d=daemon: metrics_of(d)["seal_agreements_total{}"] == 1, e2e.START_S,
                           "the count of agreements")
            metrics = metrics_of(daemon)
            assert abs(metrics["seal_last_agreement_seconds{}"] - time.time()) < 2 * e2e.START_S
            with open(daemon.config["sealing"]["tls"]["certificate"], "rb") as file:
                until = x509.load_pem_x509_certificate(file.read()).not_valid_after
            until = until.replace(tzinfo=datetime.timezone.utc).timestamp()
            e2e.wait_until(lambda d=daemon, u=until: metrics_of(d)["seal_certificate_expiry_seconds{}"] == u,
                           e2e.START_S, "the expiry of the certificate")
            assert set(failures_of(metrics)) <= {"connection"}  # of the one that is up first
        assert metrics_of(ends.right)["seal_connections_refused_total{}"] == 0
        host, port = ends.listen[1].split(":")
        for _ in range(3):
            with socket.create_connection((host, int(port))) as stranger:
                stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
                stranger.settimeout(e2e.START_S)
                with contextlib.suppress(ConnectionResetError):
                    while stranger.recv(4096):
                        pass
        e2e.wait_until(lambda: metrics_of(ends.right)["seal_connections_refused_total{}"] == 3, e2e.START_S,
                       "the count of refused connections")


@pytest.mark.parametrize("valid,uris,reason", [
    (EXPIRED, ["suede:0:1"], "tls"), (VALID, ["suede:0:2"], "xpu")])
def test_metrics_of_failures(valid, uris, reason):
    changes = [http_changes() for _ in range(2)]
    with pair(lambda authority, _: authority.certify("right", uris, valid), changes) as ends:
        e2e.wait_until(lambda: failures_of(metrics_of(ends.left)).get(reason, 0) >= 1, e2e.START_S,
                       f"the count of failures: {metrics_of(ends.left)}")
        metrics = metrics_of(ends.left)
        assert set(failures_of(metrics)) <= {reason, "connection"}
        assert metrics["seal_agreements_total{}"] == metrics["seal_last_agreement_seconds{}"] == 0


REFUSED = {
    # A certificate as a clock that is an hour ahead, or behind, sees it.
    "expired for an hour": (
        lambda authority, _: authority.certify("right", ["suede:0:1"], (-DAY, -HOUR)),
        ("has expired",), ("refuses", "expired")),
    "valid in an hour": (
        lambda authority, _: authority.certify("right", ["suede:0:1"], (HOUR, DAY)),
        ("not yet valid",), ("refuses", "not valid yet")),
    "expired": (
        lambda authority, _: authority.certify("right", ["suede:0:1"], EXPIRED),
        ("has expired",), ("refuses", "expired")),
    "not yet valid": (
        lambda authority, _: authority.certify("right", ["suede:0:1"], NOT_YET),
        ("not yet valid",), ("refuses", "not valid yet")),
    "of another authority": (
        lambda _, directory: Authority(directory, "stranger").certify("right", ["suede:0:1"]),
        ("authority",), ("refuses", "authority")),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_certificate_that_is_refused(case):
    certify, here, there = REFUSED[case]
    with pair(certify, e2e.GIVEN_UP_SOON) as ends:
        wait_for_reason(ends.left, *here)
        wait_for_reason(ends.right, *there)
        # Both daemons connect: the left one to agree, and the right one to ask.
        for daemon, peer, texts in ((ends.left, 1, here), (ends.right, 0, there)):
            def is_told(daemon=daemon, peer=peer, texts=texts):
                return any(event["peer"] == peer and all(text in event["reason"] for text in texts)
                           for event in events_of(daemon, "seal_agreement_failed"))
            e2e.wait_until(is_told, e2e.START_S, f"{texts} of peer {peer}")
        check_no_traffic(ends)


@pytest.mark.parametrize("uris", [["suede:0:2"], ["suede:1:1"], ["https://example.com/1"]])
def test_a_certificate_of_another_xpu(uris):
    with pair(lambda authority, _: authority.certify("right", uris), e2e.GIVEN_UP_SOON) as ends:
        wait_for_reason(ends.left, "does not name XPU 1 of partition 0")
        if not uris[0].startswith("https"):
            # The right one asks for XPU 1, which its certificate does not name.
            wait_for_reason(ends.right, "does not name")
        check_no_traffic(ends)


def test_strangers_do_not_stop_peers():
    """Garbage, silence, and more connections than there are places: all are ended and told, the traffic
    goes on, and a daemon that has restarted agrees all the same."""
    with pair() as ends, contextlib.ExitStack() as stack:
        wait_for_agreement(ends.right)
        host, port = ends.listen[1].split(":")
        with under_load(stack, ends.directory, *ends.both, rate=5000) as load:
            e2e.wait_until(lambda: keys_of(ends.left)["sealed"], e2e.START_S, "sealing")
            for garbage in (b"GET / HTTP/1.1\r\n\r\n", os.urandom(300), b"\x16\x03\x01\x40\x00" + bytes(300)):
                with socket.create_connection((host, int(port))) as plain:
                    plain.sendall(garbage)
                    plain.settimeout(e2e.START_S)
                    with contextlib.suppress(ConnectionResetError):
                        while plain.recv(4096):
                            pass
            e2e.wait_until(lambda: len(reasons_of(ends.right)) >= 3, e2e.START_S, "their refusal")
            # The oldest give their places to the newer ones, long before their time is over. All connect
            # at once; where the daemon does not get to them within that time, others follow.
            silent = []

            def one_gives_its_place():
                silent.append([stack.enter_context(socket.socket()) for _ in range(80)])
                for one in silent[-1]:
                    one.setblocking(False)
                    one.connect_ex((host, int(port)))
                silent[-1][0].setblocking(True)
                silent[-1][0].settimeout(e2e.START_S)
                assert silent[-1][0].recv(1) == b""
                return any("gives its place" in reason for reason in reasons_of(ends.right))

            e2e.wait_until(one_gives_its_place, e2e.START_S, f"one to give its place: {reasons_of(ends.right)}")
            assert load.running(), load.report()
        agreed = len(events_of(ends.left, "seal_agreed"))
        assert ends.left.terminate() == 0
        ends.left.start()
        for daemon in ends.both:
            daemon.wait_for_link()
        assert agreed >= 1
        wait_for_agreement(ends.left)
        assert ends.right.running()


class Strangers(threading.Thread):
    """Opens 50 connections in a second, each from an address of its own, sends `says` and then nothing. Holds 500."""

    def __init__(self, listen, says):
        super().__init__()
        host, port = listen.split(":")
        self.to, self.says, self.opened, self.ends = (host, int(port)), says, 0, False
        self.held = collections.deque()

    def run(self):
        begun = time.monotonic()
        while not self.ends:
            one = socket.socket()
            one.settimeout(1)
            with contextlib.suppress(OSError):
                one.bind((f"127.{random.randrange(1, 255)}.{random.randrange(256)}.{random.randrange(1, 255)}", 0))
                one.connect(self.to)
                one.sendall(self.says)
                self.opened += 1
            self.held.append(one)
            if len(self.held) > 500:
                self.held.popleft().close()
            time.sleep(max(0, begun + self.opened / 50 - time.monotonic()))

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ends = True
        self.join()
        for one in self.held:
            one.close()


@pytest.mark.parametrize("says", [pytest.param(b"", marks=pytest.mark.long, id="silent"),
                                  pytest.param(b"\x16\x03\x01\x00\xff", id="half a hello")])
def test_strangers_of_many_addresses_do_not_stop_peers(says):
    """They come faster than an endless handshake ends, and a daemon that restarts agrees as without them."""
    with pair() as ends:
        wait_for_agreement(ends.left)
        for _ in range(3):
            assert ends.left.terminate() == 0
            with Strangers(ends.listen[1], says) as strangers:
                e2e.wait_until(lambda: strangers.opened > 200, e2e.START_S, "strangers")
                ends.left.start()
                e2e.wait_until(lambda: events_of(ends.left, "seal_agreed"), 10 * e2e.PATIENCE,
                               lambda: f"an agreement: {reasons_of(ends.left)}\n{ends.right.report()}")
        assert any("gives its place" in reason for reason in reasons_of(ends.right))
        assert e2e.both_ways(ends.directory, *ends.both, 0.3) > 0


def tls_client(ends, paths):
    """A connection to the right daemon, by Python's TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.load_verify_locations(ends.authority.file)
    context.load_cert_chain(paths["certificate"], paths["key"])
    context.set_alpn_protocols(["suede-seal/1"])
    host, port = ends.listen[1].split(":")
    plain = socket.create_connection((host, int(port)))
    plain.settimeout(e2e.START_S)
    return context.wrap_socket(plain)


def request(last=0, partition=0, client=0, server=1, version=1):
    return struct.pack(">BBHHH", version, last, partition, client, server)


def test_peers_that_break_the_protocol():
    with pair() as ends, contextlib.ExitStack() as stack:
        wait_for_agreement(ends.right)
        own = ends.authority.certify("tester", ["suede:0:0", "suede:0:5-9"])
        with tls_client(ends, own) as tls:
            for bad, status in ((request(version=2), 1), (request(partition=1), 2),
                                (request(client=3), 2), (request(client=1), 2), (request(last=1), 2),
                                (request(server=2), 2)):
                tls.sendall(bad[:3])
                tls.sendall(bad[3:])
                assert tls.recv(8) == bytes((1, status, 0, 0, 0, 0, 0, 0))

        # Reports beyond the limit for a second are only counted, so each attempt is repeated.
        def told_of(paths, message, answer, reason):
            with tls_client(ends, paths) as tls:
                tls.sendall(message)
                assert tls.recv(2) == answer
            return any(reason in text for text in reasons_of(ends.right))
        other = ends.authority.certify("another", ["suede:0:7"])
        for each in ((own, request(last=5), b"", "malformed"),
                     (other, request() * 2, bytes((1, 3)), "does not name XPU 0")):
            e2e.wait_until(lambda each=each: told_of(*each), e2e.START_S, each[3])
        # A connection with TLS and one without it, which say nothing more.
        silent = stack.enter_context(tls_client(ends, own))
        silent.sendall(request()[:5])
        plain = stack.enter_context(socket.create_connection(ends.listen[1].split(":")))
        plain.sendall(b"\x16\x03\x01\x00\xff")
        plain.settimeout(e2e.START_S)
        assert plain.recv(1) == b""
        assert silent.recv(1) == b""
        wait_for_reason(ends.right, "the handshake takes longer than 10 s")
        wait_for_reason(ends.right, "no data from the other end for 10 s")
        # None of it is taken for an agreement, and the pair goes on.
        assert [event["secret_id"] for event in events_of(ends.right, "seal_agreed")] == [128]
        assert e2e.both_ways(ends.directory, *ends.both, 0.3) > 0


def test_another_partition_agrees_anew():
    with pair(lambda authority, _: authority.certify("right", ["suede:0:1", "suede:5:0-3"])) as ends:
        left = ends.authority.certify("left", ["suede:0:0", "suede:5:0"])
        assert left["key"] == ends.left.config["sealing"]["tls"]["key"]
        e2e.suedectl(ends.left, "keys", "reload")
        assert e2e.both_ways(ends.directory, *ends.both, 0.3) > 0
        for daemon in ends.both:
            path = ends.directory / f"{daemon.name}-5.yaml"
            path.write_text(json.dumps({**daemon.config, "partition": 5}))
            e2e.suedectl(daemon, "config", "load", path)
        wait_for_agreement(ends.left, 2)
        wait_for_agreement(ends.right, 2)
        assert e2e.both_ways(ends.directory, *ends.both, 0.3) > 0
        assert keys_of(ends.left)["secret_id"] >= 128


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_daemon_that_restarts(side):
    with pair() as ends:
        assert e2e.both_ways(ends.directory, *ends.both, 0.3) > 0
        other = ends.right if side == "left" else ends.left
        daemon = ends.left if side == "left" else ends.right
        assert daemon.terminate() == 0
        daemon.start()
        for each in ends.both:
            each.wait_for_link()
        wait_for_agreement(daemon)
        wait_for_agreement(other, 2)
        assert e2e.both_ways(ends.directory, *ends.both, 0.3) > 0
        assert keys_of(ends.left)["secret_id"] == keys_of(ends.right)["secret_id"] >= 128


def test_two_own_xpus_need_no_connection():
    with e2e.work_directory() as directory:
        authority = Authority(directory, "authority")
        cpu = min(os.sched_getaffinity(0))
        config = tls_config(e2e.loop_config(directory, cpu), *addresses(), authority,
                            authority.certify("both", ["suede:0:0-1"]))
        for peer in config["peers"]:
            del peer["control"]
        with e2e.Daemon(directory, config) as daemon:
            daemon.wait_for_link()

            def sealed():
                keys = e2e.managed(daemon, "keys", "list")["keys"]
                return [key["secret_id"] for key in keys if key["peer"] != key["xpu"]]
            trace = directory / "trace.csv"
            trace.write_text("time_us,source,destination,bytes\n0,0,1,5000\n20000,1,0,300\n")
            with e2e.perf(directory, "trace", daemon.socket, "--mode", "workload", "--workload",
                          "trace", "--trace", trace, "--ranks", "0,1", "--own", "0,1", "--check",
                          "--connect_timeout", 60) as run:
                run.expect(0, e2e.TRAFFIC_S)
            assert sealed() == [128, 128]
            assert daemon.counters()["rx_sealed_total"] > 0


def run_suede(directory, config, *arguments):
    file = directory / "alone.yaml"
    file.write_text(json.dumps(config))
    return subprocess.run([e2e.SUEDE, "--config", str(file), *arguments], check=False, capture_output=True, text=True,
                          timeout=e2e.START_S)


def test_files_that_cannot_be_used():
    with e2e.work_directory() as directory:
        authority = Authority(directory, "authority")
        paths = authority.certify("left", ["suede:0:0"])
        other = authority.certify("other", ["suede:0:0"])
        base = e2e.endpoint_config(directory, "left", "net_null0")

        def failure(**changed):
            config = tls_config(base, *addresses(), authority, {**paths, **changed})
            # The check says what the start would.
            checked = run_suede(directory, config, "--check")
            assert checked.returncode == 5, checked
            failed = run_suede(directory, config)
            assert failed.returncode not in (0, None)
            line, = [line for line in checked.stdout.splitlines() if "error sealing: " in line]
            problem, mend = line.split("error sealing: ")[1].split("; mend: ")
            assert problem in failed.stderr and (mend in failed.stderr or mend == "see docs/sealing.md")
            return failed.stderr
        assert "sealing.tls.certificate: cannot read /no/such" in failure(certificate="/no/such")
        assert "is not the key of the certificate" in failure(key=other["key"])
        assert "holds no certificate" in failure(ca=paths["key"])
        assert "holds no private key" in failure(key=paths["certificate"])
        os.chmod(paths["key"], 0o644)
        assert "chmod 0640" in failure()
        os.chmod(paths["key"], 0o600)
        checked = run_suede(directory, tls_config(base, *addresses(), authority, paths), "--check")
        assert "error sealing" not in checked.stdout, checked.stdout
        secrets = directory / "some.secrets"
        secrets.write_text("0 1 what - -\n")
        secrets.chmod(0o600)
        checked = run_suede(directory, e2e.changed(
            tls_config(base, *addresses(), authority, paths), {"sealing": {"secrets": str(secrets)}}), "--check")
        assert checked.returncode == 5 and f"error sealing: sealing.secrets: {secrets}:1:5: " in checked.stdout


def test_certificates_are_read_again():
    with pair() as ends:
        wait_for_agreement(ends.right)
        text = e2e.managed(ends.left, "config", "get")
        assert "suede:0" not in json.dumps(text)
        key = ends.left.config["sealing"]["tls"]["key"]
        os.chmod(key, 0o666)
        failed = e2e.suedectl(ends.left, "keys", "reload", code=1)
        assert "chmod 0640" in failed
        os.chmod(key, 0o600)
        e2e.suedectl(ends.left, "keys", "reload")
