# SPDX-License-Identifier: Apache-2.0
"""The Debian packages: built of this build, installed into a copy of this machine, and run there."""

import os

import pytest

import e2e
import installed

PACKAGES = ["libsuede-axi1", "libsuede-dev", "libsuede-mem1", "libsuede1", "python3-suede", "suede", "suede-lab"]


@pytest.fixture(scope="module")
def packages():
    """Path of each package."""
    with e2e.work_directory() as directory:
        installed.run(e2e.ROOT / "tools/package", "--build", e2e.BUILD, "--output", directory)
        yield {path.name.split("_")[0]: path for path in directory.glob("*.deb")}


@pytest.fixture(scope="module")
def machine(packages):
    """The parts of this machine that change where the packages are installed: its /etc, /usr and
    /run. dpkg works on a layer over the machine, in a namespace of its own."""
    if os.geteuid() != 0:
        pytest.skip("takes root")
    with e2e.work_directory() as directory:
        directory.chmod(0o755)
        for name in ("top", "work", "root"):
            (directory / name).mkdir()
        script = ('cd "$1" && mount --make-rprivate / && '
                  "mount -t overlay -o lowerdir=/,upperdir=top,workdir=work overlay root && "
                  "mount -t proc proc root/proc && mount --rbind /dev root/dev && shift && "
                  'mkdir -p root/packages && cp "$@" root/packages && '
                  "DEBIAN_FRONTEND=noninteractive chroot root sh -c "
                  "'dpkg --force-unsafe-io --no-triggers -i /packages/*.deb'")
        said = installed.run("unshare", "--mount", "sh", "-euc", script, "-", directory,
                             *packages.values())
        assert "Setting up suede " in said
        top = directory / "top"
        (top / "run").mkdir(exist_ok=True)
        yield top


def test_there_are_seven(packages):
    assert sorted(packages) == PACKAGES


def test_each_has_its_part(packages):
    def files(name):
        lines = installed.run("dpkg-deb", "--contents", packages[name]).splitlines()
        return {line.split()[5].removeprefix(".") for line in lines if not line.startswith("d")}

    suede = files("suede")
    assert {"/usr/bin/suede", "/usr/bin/suedectl", "/usr/bin/suede-perf",
            "/usr/lib/systemd/system/suede@.service", "/usr/share/man/man8/suede.8.gz",
            "/usr/lib/sysusers.d/suede.conf", "/usr/lib/tmpfiles.d/suede.conf",
            "/usr/share/doc/suede/examples/memif-pair-left.yaml",
            "/usr/share/bash-completion/completions/suedectl",
            "/usr/share/zsh/vendor-completions/_suedectl"} <= suede
    assert any(name.endswith("/wireshark/plugins/suede.lua") for name in suede)
    assert not any("libsuede" in name for name in suede)
    lab = files("suede-lab")
    assert {"/usr/bin/suede-lab", "/usr/share/man/man1/suede-lab.1.gz", "/usr/share/suede/lab/labkit/main.py",
            "/usr/share/suede/lab/conf/lab/all-to-all.yaml", "/usr/share/bash-completion/completions/suede-lab"} <= lab
    assert not any("suede-lab" in name for name in suede)
    assert any(name.endswith("/libsuede.so.1") for name in files("libsuede1"))
    assert not any("libsuede-mem" in name for name in files("libsuede1"))
    assert any(name.endswith("/libsuede-mem.so.1") for name in files("libsuede-mem1"))
    assert any(name.endswith("/libsuede-axi.so.1") for name in files("libsuede-axi1"))
    modules = {"__init__", "_declarations", "_initiator", "_library", "_target"}
    assert {f"/usr/lib/python3/dist-packages/suede/{name}.py" for name in modules} <= files(
        "python3-suede")
    development = files("libsuede-dev")
    assert {"/usr/include/suede/suede.h", "/usr/include/suede/suede.hpp",
            "/usr/include/suede/load.h", "/usr/include/suede/mem.h", "/usr/include/suede/mem.hpp",
            "/usr/share/man/man3/libsuede.3.gz"} <= development
    for name in ("/pkgconfig/libsuede.pc", "/pkgconfig/libsuede-mem.pc", "/libsuede-mem.so", "/pkgconfig/libsuede-axi.pc",
                 "/libsuede-axi.so"):
        assert any(path.endswith(name) for path in development), name


def test_it_needs_what_the_programs_load(packages):
    needs = installed.run("dpkg-deb", "--field", packages["suede"], "Depends")
    eal = installed.run("dpkg-query", "--search", "*/librte_eal.so.[0-9]*").split(":")[0]
    # Packages of plugins, which no program names.
    for name in (eal, "librte-meta-mempool", "librte-meta-net", "libsystemd0",
                 "libsuede1"):
        assert name in needs, needs


@pytest.fixture
def scripts(packages, directory):
    """The directory of the package's maintainer scripts."""
    installed.run("dpkg-deb", "--control", packages["suede"], directory / "scripts")
    return directory / "scripts"


def test_endpoints_end_with_the_package(scripts, directory):
    if os.geteuid() != 0:
        pytest.skip("takes root")
    log = directory / "called"
    (directory / "bin").mkdir()
    for name in ("systemctl", "deb-systemd-invoke"):
        stub = directory / "bin" / name
        stub.write_text(f'#!/bin/sh\necho "{name} $*" >>{log}\n')
        stub.chmod(0o755)
    # A machine that systemd runs, as far as the scripts look.
    script = ("mount --make-rprivate / && mount -t tmpfs none /run && "
              'mkdir -p /run/systemd/system && PATH="$1:$PATH" && shift && "$@"')

    def called(*words):
        log.write_text("")
        installed.run("unshare", "--mount", "sh", "-euc", script, "-", directory / "bin", *words)
        return log.read_text().splitlines()

    assert called(scripts / "prerm", "upgrade", "9") == []
    assert called(scripts / "prerm", "remove") == [
        "deb-systemd-invoke stop suede@*.service",
        "deb-systemd-invoke stop run-suede-hugepages.mount"]
    # debhelper 13.24 (Debian 13) adds the same call.
    assert set(called(scripts / "postrm", "remove")) == {"systemctl --system daemon-reload"}


def test_purge_leaves_configurations_alone(scripts, directory):
    tree = directory / "tree"
    wants = tree / "etc/systemd/system/multi-user.target.wants"
    for path in (wants, tree / "etc/suede", tree / "run/suede"):
        path.mkdir(parents=True)
    (wants / "suede@left.service").symlink_to("/lib/systemd/system/suede@.service")
    (wants / "other@left.service").symlink_to("/lib/systemd/system/other@.service")
    (tree / "etc/suede/left.yaml").write_text("version: 1")
    environment = {**os.environ, "DPKG_ROOT": str(tree)}
    installed.run(scripts / "postrm", "remove", env=environment)
    assert len(list(wants.iterdir())) == 2
    installed.run(scripts / "postrm", "purge", env=environment)
    assert [path.name for path in wants.iterdir()] == ["other@left.service"]
    assert (tree / "etc/suede/left.yaml").exists()
    assert not (tree / "run/suede").exists()


def test_it_is_installed(machine):
    assert installed.user_of(machine, "suede")[0] < 1000
    assert (machine / "run/suede").stat().st_uid == installed.user_of(machine, "suede")[0]
    assert (machine / "etc/suede").is_dir()
    # The installation starts and enables nothing.
    assert not list((machine / "etc").glob("systemd/system/**/suede*"))


def test_daemons_run_from_it(machine, directory):
    device = "net_memif0,role={},id=0,socket=/run/suede/memif.sock,socket-abstract=no,bsize=2112"
    configs = [installed.unit_config(directory, side, device.format(role))
               for side, role in (("left", "server"), ("right", "client"))]
    with installed.UnitDaemon(directory, machine, "left", configs[0]) as left, \
            installed.UnitDaemon(directory, machine, "right", configs[1]) as right:
        # In a chroot the link begins with the path of the root.
        assert os.readlink(f"/proc/{left.pid}/exe").endswith("/usr/bin/suede")
        assert e2e.both_ways(directory, left, right, 1) > 0
        assert left.terminate() == 0 and right.terminate() == 0
