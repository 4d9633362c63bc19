# SPDX-License-Identifier: Apache-2.0
"""The files that `meson install` puts down: they are whole, they work, and suede runs under its
unit."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess

import pytest

import e2e
import installed
from test_service import Manager

PAGES = ["man1/suede-lab.1", "man1/suede-mesh.1", "man1/suede-perf.1", "man1/suedectl.1", "man3/libsuede.3",
         "man3/libsuede-axi.3", "man3/libsuede-mem.3", "man5/suede.yaml.5", "man7/suede-counters.7",
         "man7/suede-events.7", "man8/suede.8", "man8/suede-fare.8", "man8/suede-switch.8"]
PROGRAMS = ["suede", "suede-fare", "suede-lab", "suede-mesh", "suedectl", "suede-perf", "suede-switch"]


@pytest.fixture(scope="module")
def tree():
    with e2e.work_directory() as directory:
        installed.install(directory)
        yield directory


@pytest.fixture
def prefix(tree):
    return tree / installed.PREFIX


def libdir(prefix):
    return next(prefix.glob("lib/**/pkgconfig")).parent


def environment(prefix):
    return {**os.environ, "LD_LIBRARY_PATH": str(libdir(prefix)),
            "PATH": f"{prefix}/bin:{os.environ['PATH']}"}


def test_everything_is_there(prefix):
    present = {str(path.relative_to(prefix)) for path in prefix.rglob("*") if not path.is_dir()}
    library = libdir(prefix).relative_to(prefix)
    wanted = {f"bin/{name}" for name in PROGRAMS}
    wanted |= {f"include/suede/{path.name}" for path in (e2e.ROOT / "include/suede").glob("*.h*")}
    wanted.add("include/suede/registers.h")  # written by the build
    wanted |= {f"{library}/{name}" for name in ("libsuede.so", "libsuede.so.1",
                                                "libsuede-mem.so", "libsuede-mem.so.1",
                                                "libsuede-axi.so", "libsuede-axi.so.1",
                                                "pkgconfig/libsuede.pc",
                                                "pkgconfig/libsuede-axi.pc",
                                                "pkgconfig/libsuede-mem.pc",
                                                "wireshark/plugins/suede.lua")}
    wanted |= {f"share/doc/suede/examples/{path.name}" for path in (e2e.ROOT / "conf").glob("*.yaml")}
    wanted |= {f"share/doc/suede/{path.name}" for path in (e2e.ROOT / "docs").glob("*.md")}
    wanted |= {f"share/man/{page}" for page in PAGES}
    wanted |= {f"share/bash-completion/completions/{name}" for name in PROGRAMS}
    wanted |= {f"share/zsh/site-functions/_{name}" for name in PROGRAMS}
    wanted |= {f"lib/python3/dist-packages/suede/{path.name}"
               for path in (e2e.ROOT / "app/python/suede").glob("*.py")}
    wanted |= {"lib/python3/dist-packages/suede/_declarations.py"}
    wanted |= {"lib/systemd/system/suede@.service", "lib/systemd/system/run-suede-hugepages.mount",
               "lib/sysusers.d/suede.conf", "lib/tmpfiles.d/suede.conf", "share/doc/suede/README.md",
               "share/suede/grafana/suede.json", "share/suede/prometheus/suede-alerts.yml",
               "share/suede/registers/suede.svd", "share/suede/registers/suede.rdl"}
    wanted |= {f"share/suede/lab/labkit/{path.name}" for path in (e2e.ROOT / "tools/labkit").glob("*.*") if path.stem != "manual"}
    wanted |= {f"share/suede/lab/conf/lab/{path.name}" for path in (e2e.ROOT / "conf/lab").glob("*.yaml")}
    assert wanted <= present, wanted - present
    # Nothing of the build is installed by mistake.
    assert not [name for name in present if name.endswith((".a", ".cc", "suede-manual"))]


def test_programs_run_from_it(prefix):
    for name in PROGRAMS:
        said = installed.run(prefix / "bin" / name, "--version", env=environment(prefix))
        assert said.startswith(name), said


def test_the_lab_runs_from_it(prefix, directory):
    """Its own scenario, by the programs of the tree."""
    env = {**environment(prefix), "SUEDE_LAB_DIR": str(directory / "labs")}
    installed.run(prefix / "bin/suede-lab", "init", "devices-36", cwd=directory, env=env)
    installed.run(prefix / "bin/suede-lab", "--generate", "made", "devices-36.yaml", cwd=directory, env=env)
    assert len((directory / "made/plan.json").read_text(encoding="utf-8")) > 1000
    installed.run(prefix / "bin/suede-lab", "init", cwd=directory, env=env)
    said = installed.run(prefix / "bin/suede-lab", "--out", "out", "--set", "load[0].duration_s=0.1", "--set", "topology.xpus=2",
                         "all-to-all.yaml", cwd=directory, env=env)
    assert said.startswith("all-to-all: passed") and (directory / "out/report.html").exists()


def test_soname(prefix):
    said = installed.run("readelf", "-d", libdir(prefix) / "libsuede.so")
    assert "[libsuede.so.1]" in said
    said = installed.run("readelf", "-d", libdir(prefix) / "libsuede-mem.so")
    assert "soname: [libsuede-mem.so.1]" in said and "[libsuede.so.1]" in said


@pytest.mark.parametrize("compiler, source, library", [
    ("cc", "hello.c", "libsuede"), ("c++", "hello.cpp", "libsuede"),
    ("cc", "memory.c", "libsuede-mem"), ("c++", "memory.cpp", "libsuede-mem"),
    ("cc", "axi.c", "libsuede-axi"), ("cc", "socket.c", "libsuede-mem"), ("c++", "socket.cpp", "libsuede-mem")])
def test_a_client_builds_against_it(directory, tree, prefix, compiler, source, library):
    flags = installed.run("pkg-config", "--cflags", "--libs", library, env={
        **os.environ, "PKG_CONFIG_SYSROOT_DIR": str(tree),
        "PKG_CONFIG_LIBDIR": str(libdir(prefix) / "pkgconfig")}).split()
    program = directory / "hello"
    standard = ["-std=c++20"] if compiler == "c++" else []
    installed.run(compiler, *standard, "-Werror", "-Wall", "-o", program,
                  prefix / "share/doc/suede/examples" / source, *flags)
    result = subprocess.run([program, "/no/such/socket", "1", "1", "1"], env=environment(prefix), timeout=30,
                            capture_output=True, text=True, check=False)
    assert result.returncode not in (0, 127) and "/no/such/socket" in result.stdout + result.stderr


def text_of(prefix, page):
    """A manual page as text of long lines; fails where man has anything to complain of."""
    result = subprocess.run(["man", "--warnings", "-E", "UTF-8", "--nh", "--nj", "-l", "-Tutf8",
                             prefix / "share/man" / page], capture_output=True, text=True,
                            timeout=60, check=False, env={**os.environ, "MANWIDTH": "400", "GROFF_NO_SGR": "1"})
    assert (result.returncode, result.stderr) == (0, "")
    return re.sub(".\b", "", result.stdout)  # bold is struck twice, as escape sequences are off


@pytest.mark.parametrize("page", PAGES)
def test_manual_pages(prefix, page):
    text = text_of(prefix, page)
    assert "\nNAME\n" in text and "\nSEE ALSO\n" in text
    assert not re.search(r"@\w+@", text), "a fragment was not filled in"


def test_manual_pages_say_what_the_programs_say(prefix):
    suede = text_of(prefix, "man8/suede.8")
    usage = installed.run(prefix / "bin/suede", "--help")
    flags = [line.split()[0] for line in usage.splitlines() if line.startswith("  --")]
    assert flags and all(flag in suede for flag in flags)
    commands = text_of(prefix, "man1/suedectl.1")
    usage = installed.run(prefix / "bin/suedectl", "--help")
    listed = usage.split("Commands:\n")[1].split("\n\n")[0].splitlines()
    names = [line[2:].split("  ")[0] for line in listed]
    assert len(names) > 10 and all(name in commands for name in names)


@pytest.mark.parametrize("page, headers", [("libsuede", ["suede.h", "load.h", "suede.hpp"]), ("libsuede-axi", ["axi.h"]),
                                           ("libsuede-mem", ["mem.h", "socket.h", "mem.hpp", "socket.hpp"])])
def test_manual_pages_of_libraries_have_every_call(prefix, page, headers):
    text = text_of(prefix, f"man3/{page}.3")
    for header in headers:
        source = (e2e.ROOT / "include/suede" / header).read_text()
        names = re.findall(r"^SUEDE_API [\w* ]*?\*?(\w+)\(" if header.endswith(".h") else r"^class (\w+) ", source, re.M)
        assert names and all(re.search(rf"\b{name}\b", text) for name in names), (header, names)
    assert "private:" not in text and "SUEDE_API " not in text


@pytest.mark.parametrize("line, wanted", [
    ("suede --dump", ["--dump_config"]),
    ("suede-perf --dest", ["--destinations"]),
    ("suede-switch --dump", ["--dump_config"]),
    ("suede-fare --on", ["--once"]),
    ("suede-mesh --pl", ["--plane", "--planned"]),
    ("suede-lab sta", ["status"]),
    ("suede-lab up --se", ["--seed", "--set"]),
    ("suedectl counters ", ["delta", "get"]),
])
def test_completion(prefix, line, wanted):
    words = line.split(" ")
    script = (f'source "{prefix}/share/bash-completion/completions/{words[0]}"\n'
              f"COMP_WORDS=({' '.join(word or chr(39) * 2 for word in words)})\n"
              f"COMP_CWORD={len(words) - 1}\n"
              f"$(complete -p {words[0]} | sed 's/.*-F \\([^ ]*\\).*/\\1/') >/dev/null\n"
              'printf "%s\\n" "${COMPREPLY[@]}"')
    assert sorted(installed.run("bash", "-euc", script).split()) == wanted


def test_completion_of_zsh(prefix):
    """Each script loads by its function's name, and offers the words of its program."""
    for words, wanted in [("suede --d", "--dump_config"), ("suede-perf -", "--histogram_csv"),
                          ("suede-switch -", "--dump_config"), ("suede-fare -", "--once"), ("suede-mesh -", "--plane"),
                          ("suedectl counters ", "delta"), ("suedectl top --sort ", "retransmissions")]:
        typed = words.split(" ")
        script = (f'fpath=("{prefix}/share/zsh/site-functions" $fpath)\n'
                  'compadd() { shift; print -l -- "$@" }\ncompdef() { }\n'
                  f"words=({' '.join(word or chr(39) * 2 for word in typed)}) CURRENT={len(typed)}\n"
                  f"autoload -Uz _{typed[0]}\n_{typed[0]}")
        offered = installed.run("zsh", "-fc", script, env=environment(prefix)).split()
        assert wanted in offered, (words, offered)


def test_units_are_good(tree, prefix, as_root):
    # In a namespace in which the tree's programs are where the units say.
    units = prefix / "lib/systemd/system"
    script = ('mount --make-rprivate / && mount --bind "$1" /usr/local && shift && '
              'systemd-analyze verify --man=no "$@"')
    result = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "-", prefix,
         *("/usr/local/lib/systemd/system/" + path.name for path in units.iterdir())],
        capture_output=True, text=True, timeout=60, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    # 0 is safe, 10 is not.
    security = installed.run("systemd-analyze", "security", "--offline=true", "--threshold=35",
                             "--no-pager", units / "suede@.service")
    assert "Overall exposure level" in security


@pytest.fixture
def machine(as_root, stack):
    """A tree of a machine with suede installed, for one test."""
    directory = stack.enter_context(e2e.work_directory())
    return installed.add_machine(installed.install(directory))


def test_two_daemons_under_their_unit(machine, directory):
    """As the user suede, within the unit's limits, over memif: traffic, watchdog, end."""
    device = "net_memif0,role={},id=0,socket=/run/suede/memif.sock,socket-abstract=no,bsize=2112"
    configs = [installed.unit_config(directory, side, device.format(role))
               for side, role in (("left", "server"), ("right", "client"))]
    watchdog_s = 1.5
    with contextlib.closing(Manager(machine / "run")) as manager:
        notify = ["env", "NOTIFY_SOCKET=/run/notify.sock"]
        with installed.UnitDaemon(directory, machine, "left", configs[0], watchdog_s,
                                  prefix=notify) as left, \
                installed.UnitDaemon(directory, machine, "right", configs[1]) as right:
            manager.wait_for("READY", "1")
            check_limits(machine, left)
            assert e2e.both_ways(directory, left, right, 1) > 0
            assert e2e.managed(left, "version")["name"] == "left"
            check_reload(machine, directory, left, configs[0])
            e2e.wait_until(lambda: manager.said("WATCHDOG", "1") >= 2, e2e.START_S, "the watchdog")
            left.signal(signal.SIGTERM)
            manager.wait_for("STOPPING", "1")
            assert left.wait(e2e.START_S) == 0
            assert right.terminate() == 0
    # A daemon leaves no files.
    assert not [path.name for path in (machine / "run/suede/left").rglob("*") if not path.is_dir()]


def check_reload(machine, directory, daemon, config):
    """A good file takes effect, a wrong one changes nothing; both while the daemon serves."""
    def level():
        return e2e.managed(daemon, "log", "get_level")["level"]

    changed = e2e.changed(config, {"log": {"level": "warning"}})
    with installed.UnitDaemon.reload(directory, machine, daemon.name, changed) as run:
        run.expect(0, e2e.START_S)
    assert level() == "warning"
    wrong = e2e.changed(config, {"log": {"level": "loud"}})
    with installed.UnitDaemon.reload(directory, machine, daemon.name, wrong) as run:
        run.expect(1, e2e.START_S)
        assert f"/etc/suede/{daemon.name}.yaml" in run.stderr() and "loud" in run.stderr(), run.stderr()
    assert level() == "warning"


def check_limits(machine, daemon):
    uid, gid = installed.user_of(machine, "suede")
    status = daemon.status()
    assert status["Uid"].split() == [str(uid)] * 4 and status["Gid"].split() == [str(gid)] * 4
    rights = 1 << 12 | 1 << 13  # CAP_NET_ADMIN, CAP_NET_RAW
    for kind in ("CapEff", "CapPrm", "CapBnd", "CapAmb"):
        assert int(status[kind], 16) == rights, (kind, status[kind])
    assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2"
    runtime = pathlib.Path(daemon.socket).parent
    assert runtime.stat().st_uid == uid and pathlib.Path(daemon.socket).stat().st_mode & 0o777 == 0o660
    mounts = {line.split()[4]: line.split()[5] for line in
              pathlib.Path(f"/proc/{daemon.pid}/mountinfo").read_text().splitlines()}
    assert mounts["/"].startswith("ro") and mounts["/etc"].startswith("ro")


def test_preflight_under_the_unit(machine, directory):
    config = installed.unit_config(directory, "left", "net_null0,copy=0")
    with installed.UnitDaemon.check(directory, machine, "left", config) as check:
        check.expect(0, e2e.START_S)
        assert check.stdout().splitlines()[-1] == "/etc/suede/left.yaml: good"
    # A socket where the user may not write.
    config["clients"]["socket"] = "/run/elsewhere/xpu.sock"
    with installed.UnitDaemon.check(directory, machine, "left", config) as check:
        check.expect(5, e2e.START_S)
        assert "mend: install -d -o suede /run/elsewhere" in check.stdout()
