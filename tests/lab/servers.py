# SPDX-License-Identifier: Apache-2.0
"""Servers for tests: network namespaces, each with a name and an sshd of its own, joined by veth."""

import contextlib
import ctypes
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import lab

# Without IPv6 the kernel sends no frames of its own over the cables, which a switch may drop and count.
HOLD = ("mount -t sysfs none /sys && { echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6 || true; } && "
        "ip link set lo up && echo held && exec sleep infinity")
_libc = ctypes.CDLL(None)


def _die_with_parent():
    _libc.prctl(1, signal.SIGKILL)


def _run(*argv):
    subprocess.run([str(word) for word in argv], check=True, capture_output=True, timeout=60)


class Server:
    def __init__(self, name, number, holder, directory):
        self.name, self.holder = name, holder
        # Networks of a test are its own: tests run in parallel.
        self.network = f"10.{200 + os.getpid() // 256 % 50}.{os.getpid() % 256}"
        self.address = f"{self.network}.{4 * number + 2}"
        self.control = f"{self.network}.{4 * number + 1}"
        self.interface = f"sl{os.getpid() % 100000:x}{number}"
        self.sshd = self.temporary = None
        self.directory = directory

    def inside(self, *argv):
        return ["nsenter", "--target", str(self.holder.pid), "--net", "--mount", "--uts", *map(str, argv)]

    def start_sshd(self):
        config = self.directory / f"{self.name}.sshd"
        key = self.directory / f"{self.name}.hostkey"
        _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
        self.temporary = tempfile.mkdtemp(prefix=f"{self.name}-")  # mpirun keeps files of each host there
        config.write_text(f"ListenAddress {self.address}\nHostKey {key}\nPidFile none\nUsePAM no\nStrictModes no\n"
                          f"AuthorizedKeysFile {self.directory}/key.pub\nPermitRootLogin prohibit-password\nMaxSessions 100\n"
                          f"MaxStartups 100\nUseDNS no\nSetEnv TMPDIR={self.temporary}\n", encoding="utf-8")
        self.sshd = subprocess.Popen(self.inside("/usr/sbin/sshd", "-D", "-e", "-f", config), stdin=subprocess.DEVNULL,
                                     stderr=open(self.directory / f"{self.name}.sshd.log", "wb"), preexec_fn=_die_with_parent)

    def inventory(self):
        return {"ansible_host": self.address, "ansible_user": "root", "ansible_ssh_private_key_file": str(self.directory / "key"),
                "ansible_python_interpreter": "/usr/bin/python3", "suede_build": str(lab.BUILD),
                "ansible_ssh_common_args": "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"}


@contextlib.contextmanager
def servers(directory, names, cables):
    """{name: Server}; `cables`: (name, name, interface), the same at both ends."""
    directory = pathlib.Path(directory)
    _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", directory / "key")
    os.makedirs("/run/sshd", exist_ok=True)
    found = {}
    try:
        for number, name in enumerate(names):
            holder = subprocess.Popen(["unshare", "--net", "--mount", "--uts", "sh", "-c", HOLD], stdout=subprocess.PIPE,
                                      text=True, preexec_fn=_die_with_parent)
            found[name] = server = Server(name, number, holder, directory)
            assert holder.stdout.readline() == "held\n"
            _run("ip", "link", "add", server.interface, "type", "veth", "peer", "name", "control", "netns", holder.pid)
            _run("ip", "address", "add", f"{server.control}/30", "dev", server.interface)
            _run("ip", "link", "set", server.interface, "up")
            _run(*server.inside("ip", "address", "add", f"{server.address}/30", "dev", "control"))
            _run(*server.inside("ip", "link", "set", "control", "up"))
            _run(*server.inside("ip", "route", "add", "default", "via", server.control))
            _run(*server.inside("hostname", name))  # mpirun takes hosts of one name for one host
            server.start_sshd()
        for a, b, interface in cables:
            _run("ip", "link", "add", interface, "netns", found[a].holder.pid, "type", "veth", "peer", "name", interface, "netns",
                 found[b].holder.pid)
            for name in (a, b):
                _run(*found[name].inside("ip", "link", "set", interface, "mtu", 3000, "up"))
        for server in found.values():
            lab.wait_for(lambda s=server: "listening" in (directory / f"{s.name}.sshd.log").read_text().lower(), 30, "an sshd")
        yield found
    finally:
        for server in found.values():
            for child in (server.sshd, server.holder):
                if child:
                    child.kill()
                    child.wait()
            if server.temporary:
                shutil.rmtree(server.temporary, ignore_errors=True)


def have():
    """The thing that is missing for these servers, or None."""
    if os.geteuid() != 0:
        return "network namespaces take root"
    missing = [tool for tool in ("/usr/sbin/sshd", "ssh", "ansible-playbook", "ip", "nsenter") if not shutil.which(tool)]
    return f"{', '.join(missing)} not installed" if missing else None
