# SPDX-License-Identifier: Apache-2.0
"""The daemon's answers before it serves any client: help, checks, refusals and their exit codes."""

import json
import os
import pathlib
import re
import subprocess

import pytest

import e2e

GOOD = """\
version: 1
name: NAME
eal: {hugepages: off}
lcores:
  - {cpu: 0, idle: sleep}
ports:
  - name: p0
    device: net_null0
    mac: 02:00:00:00:00:10
    mtu_bytes: 2200
  - {name: p1, device: net_null1}
instances:
  - {xpu: 0, lcore: 0, ports: [{port: p0, ip: 198.18.0.1}]}
  - {xpu: 2, lcore: 0, ports: [{port: p1, ip: 198.18.1.3}]}
peers:
  - {xpu: 1, ports: [{port: p0, ip: 198.18.0.2, mac: 02:00:00:00:00:11}]}
packing: {limit_bytes: 2048}
transport:
  window_pdus: 512
clients:
  socket: SOCKET
log: {level: info}
"""

# The replaced text, its replacement, the line that the message names, the message's further text.
WRONG = [
    ("version: 1\n", "", 1, "version: missing"),
    ("version: 1", "version: 2", 1, "write version: 1"),
    ("name: NAME\n", "", 1, "name: missing"),
    ("name: NAME", "name: a/b", 2, "name: "),
    ("name: NAME", "nmae: NAME", 2, "did you mean name?"),
    ("name: NAME", "name: NAME\nname: other", 3, "duplicate key"),
    ("{hugepages: off}", "{hugepages: perhaps}", 3, "use auto, on or off"),
    ("{hugepages: off}", "{hugepages: off, args: [--vdev=net_null5]}", 3, "ports[].device"),
    ("  - {cpu: 0, idle: sleep}", "  - {cpu: 0}\n  - {cpu: 4095}", 6, "there is no CPU 4095"),
    ("  - {cpu: 0, idle: sleep}", "  - {cpu: 0}\n  - {cpu: 0}", 6, "another CPU"),
    ("idle: sleep", "idle: rest", 5, "use spin, yield or sleep"),
    ("device: net_null0", "device: eth0", 8, "write a PCI address"),
    ("device: net_null0", "device: net_null1", 11, "is the device of"),
    ("02:00:00:00:00:10", "03:00:00:00:00:10", 9, "ports[0].mac"),
    ("mtu_bytes: 2200", "mtu_bytes: 1500", 10, "1500 is too small"),
    ("mtu_bytes: 2200", "mtu_bytes: 65000", 10, "use 68 to 9600"),
    ("mtu_bytes: 2200", "mtu_bytes: 0x900", 10, "decimal digits"),
    ("mtu_bytes: 2200", "udp_port: 70000", 10, "use 1 to 65535"),
    ("mtu_bytes: 2200", "encapsulation: vxlan", 10, "ports[0].encapsulation"),
    ("mtu_bytes: 2200", "vlan: {vid: 4095}", 10, "use 0 to 4094"),
    ("mtu_bytes: 2200", "rx_descriptors: 7", 10, "use 64 to 32768"),
    ("instances:\n", "  - {name: p1, device: net_null2}\ninstances:\n", 12,
     "is the name of ports[1]"),
    ("xpu: 2", "xpu: 0", 14, "instances[1]"),
    ("xpu: 0, lcore", "xpu: 1024, lcore", 13, "use 0 to 1023"),
    ("xpu: 0, lcore: 0", "xpu: 0, lcore: 3", 13, "instances[0].lcore"),
    ("{port: p0, ip: 198.18.0.1}", "{port: p9, ip: 198.18.0.1}", 13, "p9"),
    ("{port: p0, ip: 198.18.0.1}", "{port: p0, ip: 198.18.0.300}", 13, "instances[0].ports[0].ip"),
    ("{port: p0, ip: 198.18.0.1}", "{port: p0, ip: 239.0.0.1}", 13, "instances[0].ports[0].ip"),
    ("{port: p0, ip: 198.18.0.1}", "{port: p0}", 13, "instances[0].ports[0]"),
    ("ip: 198.18.0.2,", "ip: 198.18.0.1,", 16, "peers[0]"),
    ("mac: 02:00:00:00:00:11", "mac: 02:00:00:00:00", 16, "peers[0].ports[0].mac"),
    ("  - {xpu: 1,", "  - {xpus: 9-3,", 16, "peers[0].xpus"),
    ("limit_bytes: 2048", "limit_bytes: 100", 17, "use 274 to 4096"),
    ("limit_bytes: 2048", "limit_bytes: 4096", 10, "2200 is too small"),
    ("window_pdus: 512", "window_pdus: 0", 19, "use 1 to 16384"),
    ("window_pdus: 512", "window_pdus: many", 19, "decimal digits"),
    ("window_pdus: 512", "rto_min_us: 300000", 19, "use at most 200000"),
    ("window_pdus: 512", "psn_scope: peer", 19, "use port or vc"),
    ("window_pdus: 512", "limit_bytes: 512", 19, "belongs at packing.limit_bytes"),
    ("socket: SOCKET", "socket: x.sock", 21, "clients.socket"),
    ("socket: SOCKET", "ring_lines: 1000", 21, "not a power of two"),
    ("socket: SOCKET", "socket_mode: 0999", 21, "clients.socket_mode"),
    ("{level: info}", "{level: loud}", 22, "use debug, info, warning"),
    ("{level: info}", "{level: info", 23, "check indentation"),
]


def run(*arguments, environment=None, seconds=30):
    return subprocess.run([str(e2e.SUEDE), *map(str, arguments)], capture_output=True, text=True,
                          timeout=seconds, env={**os.environ, **(environment or {})}, check=False)


def good(directory, **replace):
    text = GOOD
    for old, new in replace.items():
        assert old in text
        text = text.replace(old, new)
    text = text.replace("NAME", f"cl-{directory.name[-8:]}")
    text = text.replace("SOCKET", str(directory / "xpu.sock"))
    path = directory / "suede.yaml"
    path.write_text(text)
    return path


def test_help():
    result = run("--help")
    assert (result.returncode, result.stderr) == (0, "")
    assert "--config" in result.stdout and "Exit codes" in result.stdout


def test_version():
    result = run("--version")
    assert (result.returncode, result.stderr) == (0, "")
    assert re.match(r"suede \d+\.\d+\.\d+ \(.+\) DPDK \d", result.stdout)


@pytest.mark.parametrize("arguments, says", [
    ([], "--config"),
    (["--no_such_flag"], "no_such_flag"),
    (["stray"], "stray"),
    (["--config", "/no/such/file.yaml", "--check"], "/no/such/file.yaml"),
    (["--config=/", "--check"], "/"),
])
def test_wrong_usage(arguments, says):
    result = run(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert says in result.stderr


def test_check(directory):
    result = run("--config", good(directory), "--check")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("name", sorted(p.name for p in (e2e.ROOT / "conf").glob("memif-*.yaml")))
def test_check_of_the_examples(name):
    result = run("--config", e2e.ROOT / "conf" / name, "--check_config")
    assert result.returncode == 0, result.stderr


def test_dump_loads_to_the_same(directory):
    first = run("--config", good(directory), "--dump_config")
    assert first.returncode == 0, first.stderr
    again = directory / "again.yaml"
    again.write_text(first.stdout)
    assert run("--config", again, "--dump_config").stdout == first.stdout


def test_flag_wins_over_environment_over_file(directory):
    path = good(directory)
    environment = {"SUEDE_TRANSPORT_WINDOW_PDUS": "64", "SUEDE_TRANSPORT_MAX_TRIES": "5"}
    dump = run("--config", path, "--dump_config", "--set", "transport.window_pdus=128",
               environment=environment).stdout
    assert "window_pdus: 128" in dump and "max_tries: 5" in dump


def test_every_set_counts(directory):
    dump = run("--config", good(directory), "--set", "transport.window_pdus=128", "--dump_config",
               "-set=transport.max_tries=5;partition=3", "--set=transport.max_tries=6").stdout
    assert "window_pdus: 128" in dump and "max_tries: 6" in dump and "partition: 3" in dump


@pytest.mark.parametrize("setting, environment, place", [
    ("transport.window_pdus=0", {}, "--set"),
    ("transport.no_such=1", {}, "--set"),
    ("nothing", {}, "--set"),
    ("", {"SUEDE_TRANSPORT_NO_SUCH": "1"}, "SUEDE_TRANSPORT_NO_SUCH"),
    ("", {"SUEDE_TRANSPORT_WINDOW_PDUS": "0"}, "SUEDE_TRANSPORT_WINDOW_PDUS"),
])
def test_wrong_overrides(directory, setting, environment, place):
    result = run("--config", good(directory), "--check", "--set", setting, environment=environment)
    assert result.returncode == 2
    assert place in result.stderr


@pytest.mark.parametrize("old, new, line, says", WRONG,
                         ids=[f"{i}-{new.strip()[:32]}" for i, (_, new, _, _) in enumerate(WRONG)])
def test_wrong_configuration(directory, old, new, line, says):
    path = good(directory, **{old: new})
    # Without --check: a daemon must not start with it either.
    result = run("--config", path)
    assert (result.returncode, result.stdout) == (2, ""), result.stderr
    assert re.search(rf"{re.escape(str(path))}:{line}:\d+: ", result.stderr), result.stderr
    assert says in result.stderr


# ---- Configurations that only the machine can refuse.

def start_config(directory, device="net_null0,copy=0", changes=None):
    return e2e.changed(e2e.endpoint_config(directory, "left", device), changes or {})


def refused(directory, config):
    """The message of a daemon that does not come up for want of something on the machine."""
    path = directory / "refused.yaml"
    path.write_text(json.dumps(config))
    result = run("--config", path, seconds=60)
    assert result.returncode == 5, (result.returncode, result.stderr)
    return result.stderr


def free_hugepages():
    pools = pathlib.Path("/sys/kernel/mm/hugepages").glob("*/free_hugepages")
    return sum(int(path.read_text()) for path in pools)


def test_no_hugepages(directory):
    if free_hugepages() != 0:
        pytest.skip("the machine has free hugepages")
    message = refused(directory, start_config(directory, changes={"eal": {"hugepages": "on"}}))
    assert "hugepages" in message and "nr_hugepages" in message


@pytest.mark.parametrize("device", [
    "net_nosuch0",
    "net_af_packet0,iface=nosuch0,framesz=8192,blocksz=65536",
    "0000:ff:1f.7",
    "net_memif0,role=server,socket=/no/such/directory/m.sock,socket-abstract=no",
])
def test_device_that_is_not_there(directory, device):
    message = refused(directory, start_config(directory, device))
    assert device.split(",", maxsplit=1)[0] in message
    assert re.search(r" error endpoint: .*(; |: see )", message), message


def preflight(directory, config, code, prefix=()):
    """The lines of --check."""
    path = directory / "preflight.yaml"
    path.write_text(json.dumps(config))
    result = subprocess.run([*prefix, str(e2e.SUEDE), "--config", str(path), "--check"],
                            capture_output=True, text=True, timeout=60, check=False)
    assert (result.returncode, result.stderr) == (code, ""), (result.returncode, result)
    lines = result.stdout.splitlines()
    assert all(line.startswith(f"{path}: ") for line in lines), lines
    lines = [line.removeprefix(f"{path}: ") for line in lines]
    return [line for line in lines if not line.startswith("port ")]  # test_capabilities.py has these


def test_preflight_of_what_is_there(directory):
    assert preflight(directory, start_config(directory), 0) == ["good"]


def test_preflight_lists_all_that_is_missing(directory):
    devices = ["net_nosuch0", "net_af_packet0,iface=nosuch0,framesz=8192,blocksz=65536", "0000:ff:1f.7",
               "net_memif0,role=server,socket=/no/such/directory/m.sock,socket-abstract=no"]
    config = start_config(directory)
    config["ports"] = [{**config["ports"][0], "name": f"p{i}", "device": device,
                        "mac": e2e.mac_of(i)} for i, device in enumerate(devices)]
    lines = preflight(directory, config, 5)
    errors = [line.removeprefix("error ").split(";")[0] for line in lines
              if line.startswith("error ")]
    assert lines[-1] == f"{len(errors)} errors"
    for said in ("vdev: ports[0].device: net_nosuch0: DPDK has no driver net_nosuch",
                 "interface: ports[1].device: net_af_packet0,iface=nosuch0: there is no such interface",
                 "pci: ports[2].device: 0000:ff:1f.7: there is no such PCI device",
                 "memif: ports[3].device: net_memif0: the directory /no/such/directory is not there"):
        assert said in errors, lines
    assert all("; mend: " in line for line in lines if line.startswith("error "))


def test_preflight_of_another_user(directory, as_root):
    directory.chmod(0o755)
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all"]
    config = start_config(directory, "net_af_packet0,iface=lo,framesz=8192,blocksz=65536")
    lines = preflight(directory, config, 5, nobody)
    assert any(re.match(rf"error sockets: clients.socket: nobody may not write to {directory}; "
                        rf"mend: install -d -o nobody {directory}", line) for line in lines), lines
    assert any("CAP_NET_RAW" in line for line in lines), lines


def test_preflight_beside_a_running_daemon(directory):
    config = start_config(directory)
    with e2e.Daemon(directory, config) as daemon:
        lines = preflight(directory, config, 5)
        assert any(f"process {daemon.pid} runs with the EAL file prefix" in line for line in lines)
        assert sum("a program listens at" in line for line in lines) == 2, lines
        assert daemon.terminate() == 0
    assert preflight(directory, config, 0) == ["good"]


def test_refusal_comes_with_the_preflight(directory):
    message = refused(directory, start_config(directory, "net_nosuch0"))
    assert "error preflight: error vdev: ports[0].device: net_nosuch0" in message
    # The CPUs are those that the process was given, not the one that EAL pinned it to.
    assert "error cpus" not in message


def test_socket_where_another_file_is(directory):
    config = start_config(directory)
    pathlib.Path(config["clients"]["socket"]).write_text("precious")
    assert "remove it" in refused(directory, config)
    assert pathlib.Path(config["clients"]["socket"]).read_text() == "precious"


def test_second_daemon_on_the_socket(directory):
    config = start_config(directory)
    with e2e.Daemon(directory, config) as first:
        other = e2e.changed(config, {"name": config["name"] + "-b"})
        assert "a daemon is running there" in refused(directory, other)
        assert first.running() and first.terminate() == 0


def test_second_daemon_of_the_name(directory):
    config = start_config(directory)
    with e2e.Daemon(directory, config) as first:
        other = e2e.changed(config, {"clients": {"socket": str(directory / "other.sock")}})
        assert first.name in refused(directory, other)
        assert first.running() and first.terminate() == 0


def test_socket_of_a_dead_daemon(directory):
    config = start_config(directory)
    with e2e.Daemon(directory, config) as first:
        first.kill()
        assert pathlib.Path(first.socket).exists()
    with e2e.Daemon(directory, config) as second:
        assert second.terminate() == 0
        assert not pathlib.Path(second.socket).exists()


def test_first_line_and_json_log(directory):
    with e2e.Daemon(directory, start_config(directory)) as daemon:
        assert daemon.terminate() == 0
        assert re.search(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z info suede: starting version=.* "
                         r"commit=.* dpdk=.* eal=", daemon.stderr(), re.M)
    config = start_config(directory, changes={"log": {"format": "json"}})
    with e2e.Daemon(directory, config) as daemon:
        assert daemon.terminate() == 0
        for line in daemon.stderr().splitlines():
            assert {"time", "level", "component", "message"} <= json.loads(line).keys()


@pytest.mark.parametrize("format", ["text", "json"])
def test_lines_to_the_journal_have_a_priority(directory, format):
    """As sd-daemon(3) has it; where stderr is something else they have none."""
    config = start_config(directory, "net_af_packet0,iface=nosuch0,framesz=8192,blocksz=65536", {"log": {"format": format}})
    path = directory / "journal.yaml"
    path.write_text(json.dumps(config))
    for is_journal in (True, False):
        with open(directory / "journal", "w+b") as file:
            stat = os.fstat(file.fileno())
            stream = f"{stat.st_dev}:{stat.st_ino if is_journal else stat.st_ino + 1}"
            subprocess.run([e2e.SUEDE, "--config", path], stderr=file, timeout=60, check=False,
                           env={**os.environ, "JOURNAL_STREAM": stream})
            file.seek(0)
            lines = file.read().decode().splitlines()
        levels = {"3": "error", "4": "warning", "6": "info", "7": "debug"}
        seen = set()
        for line in lines:
            priority = re.match(r"<(\d)>", line)
            assert (priority is not None) == is_journal, line
            if priority:
                level = (json.loads(line[3:])["level"] if format == "json" else line.split()[1])
                assert levels[priority[1]] == level
                seen.add(level)
        assert not is_journal or {"info", "error"} <= seen
