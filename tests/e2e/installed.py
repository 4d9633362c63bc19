# SPDX-License-Identifier: Apache-2.0
"""A tree that was installed into, as a machine would have it."""

import json
import pathlib
import shutil
import subprocess

import e2e

PREFIX = "usr/local"


# A bound for a machine that does much else meanwhile, not an expectation.
LONGEST_S = 600


def run(*argv, **options):
    return subprocess.run([str(word) for word in argv], check=True, capture_output=True, text=True,
                          timeout=LONGEST_S, **options).stdout


def install(tree):
    """`meson install` into the tree."""
    run("meson", "install", "-C", e2e.BUILD, "--no-rebuild", "--quiet", "--destdir", tree)
    return tree


def add_machine(tree):
    """The rest of a machine: the user and the directories that are declared."""
    tree.chmod(0o755)
    for name in ("etc/suede", "run"):
        (tree / name).mkdir(parents=True, exist_ok=True)
    for name in ("passwd", "group", "shadow", "gshadow"):
        shutil.copy2(f"/etc/{name}", tree / "etc")
    lib = next(tree.glob("usr/**/sysusers.d")).parent
    run("systemd-sysusers", f"--root={tree}", lib / "sysusers.d/suede.conf")
    run("systemd-tmpfiles", f"--root={tree}", "--create", lib / "tmpfiles.d/suede.conf")
    return tree


def user_of(tree, name):
    """The numbers of a user of the tree."""
    for line in (tree / "etc/passwd").read_text().splitlines():
        fields = line.split(":")
        if fields[0] == name:
            return int(fields[2]), int(fields[3])
    raise KeyError(name)


class UnitDaemon(e2e.Daemon):
    """An instance of suede@.service of the tree."""

    def __init__(self, directory, tree, instance, config, watchdog_s=None, arguments=(), prefix=()):
        runtime = tree / "run/suede" / instance
        e2e.Process.__init__(self, directory, instance, [
            "/usr/bin/python3", pathlib.Path(__file__).parent / "under_unit.py", tree,
            "suede@.service", instance,
            *(["--watchdog", watchdog_s] if watchdog_s else []), "--", *arguments], prefix)
        self.name = instance
        self.config = config
        self.socket = str(runtime / "xpu.sock")
        self.management = str(runtime / "management.sock")
        (tree / "etc/suede" / f"{instance}.yaml").write_text(json.dumps(config))

    @classmethod
    def check(cls, directory, tree, instance, config):
        """`suede --check` as the unit would call it: a process, not a daemon."""
        self = cls(directory, tree, instance, config, arguments=["--check"])
        return e2e.Process(directory, f"check-{instance}", self.argv)

    @staticmethod
    def reload(directory, tree, instance, config):
        """`systemctl reload` after a change of the file."""
        (tree / "etc/suede" / f"{instance}.yaml").write_text(json.dumps(config))
        return e2e.Process(directory, f"reload-{instance}", [
            "/usr/bin/python3", pathlib.Path(__file__).parent / "under_unit.py", tree, "suede@.service", instance,
            "--reload"])

    def status(self):
        lines = pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return dict(line.split(":\t", 1) for line in lines if ":\t" in line)

    def root(self):
        """The file system as it sees it."""
        return pathlib.Path(f"/proc/{self.pid}/root")


def unit_config(directory, side, device):
    """Without sockets, which the unit's directory is to give, and with another name."""
    config = e2e.endpoint_config(directory, side, device)
    del config["clients"]["socket"], config["management"]
    config["name"] = "not-the-units"
    return config
