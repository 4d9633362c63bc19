# SPDX-License-Identifier: Apache-2.0
"""Runs a unit's ExecStart, or its ExecReload, as systemd would, on machines where systemd is not the first process.

    under_unit.py TREE UNIT INSTANCE [--watchdog SECONDS | --reload] [-- FURTHER ARGUMENTS]

TREE is a tree that was installed into (usr, etc, run); it is laid over the machine's in a of its own, so that nothing outside changes. User, limits, capabilities, the read-only file
system, system calls and address families come from the unit. A directive that this program does not
know is an error: it is either to be obeyed or to be put among those that are systemd's own affair.
Takes root, as systemd does. NOTIFY_SOCKET is handed on.
"""

import ctypes
import os
import pathlib
import pwd
import re
import resource
import shlex
import subprocess
import sys

import seccomp

MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18
CLONE_NEWNS = 0x00020000
NEW_NAMESPACES = 0x7E020080  # CLONE_NEW* of clone(2)
PROT_WRITE, PROT_EXEC = 2, 4
FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16, "AF_PACKET": 17,
            "AF_XDP": 44}
LIMITS = {"LimitMEMLOCK": resource.RLIMIT_MEMLOCK, "LimitNOFILE": resource.RLIMIT_NOFILE,
          "LimitCORE": resource.RLIMIT_CORE}
# Settings that are obeyed below.
OBEYED = {"ExecStart", "ExecReload", "Environment", "User", "Group", "RuntimeDirectory", "RuntimeDirectoryMode",
          "CapabilityBoundingSet", "AmbientCapabilities", "NoNewPrivileges", "ProtectSystem",
          "ReadWritePaths", "ProtectHome", "PrivateTmp", "UMask", "ProtectKernelTunables",
          "ProtectControlGroups", "MemoryDenyWriteExecute", "RestrictNamespaces",
          "RestrictAddressFamilies", "SystemCallFilter", "SystemCallErrorNumber", "ProtectProc", *LIMITS}
# Settings of its start and end, and those that take a control group or a module's absence to obey.
NOT_OURS = {"Type", "Restart", "RestartSec", "RestartPreventExitStatus", "WatchdogSec",
            "TimeoutStartSec", "TimeoutStopSec", "DevicePolicy", "DeviceAllow",
            "ProtectKernelModules", "ProtectKernelLogs", "ProtectClock", "ProtectHostname",
            "LockPersonality", "RestrictRealtime", "RestrictSUIDSGID", "SystemCallArchitectures",
            "RemoveIPC", "MemoryMax"}
# System calls to become the user, which systemd does before the filter.
TO_BECOME = ["execve", "setgroups", "setresgid", "setresuid", "setgid", "setuid", "setregid", "setreuid",
             "capset"]

libc = ctypes.CDLL(None, use_errno=True)


def mount(source, target, kind=None, flags=0, data=None):
    words = [None if word is None else str(word).encode() for word in (source, target, kind, data)]
    if libc.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3]) != 0:
        raise OSError(ctypes.get_errno(), f"mount {source} at {target}")


def read_unit(path, instance):
    """The directives of [Service], with their values in order."""
    directives = {}
    section = ""
    for line in path.read_text().replace("%i", instance).splitlines():
        line = line.strip()
        if line.startswith("["):
            section = line
        elif section == "[Service]" and line and line[0] not in "#;":
            key, value = line.split("=", 1)
            directives.setdefault(key, []).append(value)
    unknown = set(directives) - OBEYED - NOT_OURS
    if unknown:
        sys.exit(f"under_unit: {path} has {unknown}, of which this program knows nothing")
    return directives


def words_of(unit, key):
    return [word for value in unit.get(key, []) for word in value.split()]


def lay_over(tree, unit):
    """The tree's directories in place of the machine's, and the rest as the unit has it."""
    if libc.unshare(CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    mount(None, "/", None, MS_REC | MS_PRIVATE)
    for name in ("etc", "usr"):
        mount("overlay", "/" + name, "overlay", MS_RDONLY, f"lowerdir={tree / name}:/{name}")
    mount(tree / "run", "/run", None, MS_BIND)
    user = pwd.getpwnam(unit["User"][0])
    writable = [f"/run/{name}" for name in words_of(unit, "RuntimeDirectory")]
    for name in writable:
        os.makedirs(name, exist_ok=True)
        os.chown(name, user.pw_uid, user.pw_gid)
        os.chmod(name, int(unit["RuntimeDirectoryMode"][0], 8))
    if unit["PrivateTmp"] == ["yes"]:
        for name in ("/tmp", "/var/tmp"):
            mount("tmpfs", name, "tmpfs", 0, "mode=1777")
            writable.append(name)
    if unit["ProtectHome"] == ["yes"]:
        for name in ("/home", "/root"):
            mount("tmpfs", name, "tmpfs", 0, "mode=000")
    if "ProtectProc" in unit:
        mount("proc", "/proc", "proc", 0, f"hidepid={unit['ProtectProc'][0]}")
    if unit["ProtectSystem"] == ["strict"]:
        make_read_only(writable + words_of(unit, "ReadWritePaths"), unit)


def make_read_only(writable, unit):
    for name in writable:
        mount(name, name, None, MS_BIND)
    if unit["ProtectKernelTunables"] == ["yes"]:
        mount("/proc/sys", "/proc/sys", None, MS_BIND)
    points = [line.split()[4] for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()]
    spared = tuple(writable) + ("/dev", "/proc")
    for point in dict.fromkeys(points):
        if any(point == name or point.startswith(name + "/") for name in spared):
            if point != "/proc/sys":
                continue
        try:
            mount(None, point, None, MS_REMOUNT | MS_BIND | MS_RDONLY)
        except OSError:
            pass  # hidden under another mount
    for name in ("/etc", "/usr", "/"):
        if not os.statvfs(name).f_flag & os.ST_RDONLY:
            sys.exit(f"under_unit: {name} is not read-only")


def set_limits(unit):
    for key, number in LIMITS.items():
        for value in unit.get(key, []):
            wanted = resource.RLIM_INFINITY if value == "infinity" else int(value)
            try:
                resource.setrlimit(number, (wanted, wanted))
            except ValueError:  # more than root may have, in some containers
                hard = resource.getrlimit(number)[1]
                resource.setrlimit(number, (hard, hard))


def expand(words):
    """System calls of words as SystemCallFilter= has them."""
    text = subprocess.run(["systemd-analyze", "--no-pager", "syscall-filter"], check=True,
                          capture_output=True, text=True).stdout
    sets = {}
    for line in re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines():
        word = line.strip()
        if line.startswith("@"):
            members = sets.setdefault(word, [])
        elif word and not word.startswith("#") and sets:
            members.append(word)
    calls, open_words = set(), list(words)
    while open_words:
        word = open_words.pop()
        if word.startswith("@"):
            open_words += sets[word]
        else:
            calls.add(word)
    return calls


def filter_calls(unit):
    calls = set()
    for value in unit["SystemCallFilter"]:  # "~": without these
        if value.startswith("~"):
            calls -= expand(value[1:].split())
        else:
            calls |= expand(value.split())
    # systemd permits the calls that execute the program.
    calls |= set(TO_BECOME)
    rules = seccomp.SyscallFilter(seccomp.ERRNO(1))
    rules.set_attr(seccomp.Attr.CTL_NNP, 0)
    special = {"socket", "mmap", "mprotect", "pkey_mprotect", "clone", "clone3", "unshare", "setns"}
    for call in sorted(calls - special):
        try:
            rules.add_rule(seccomp.ALLOW, call)
        except (RuntimeError, ValueError):
            pass  # of another architecture, or newer than the library
    for family in words_of(unit, "RestrictAddressFamilies"):
        rules.add_rule(seccomp.ALLOW, "socket", seccomp.Arg(0, seccomp.EQ, FAMILIES[family]))
    both = PROT_WRITE | PROT_EXEC
    for permitted in (0, PROT_WRITE, PROT_EXEC):
        rules.add_rule(seccomp.ALLOW, "mmap", seccomp.Arg(2, seccomp.MASKED_EQ, both, permitted))
    rules.add_rule(seccomp.ALLOW, "mprotect", seccomp.Arg(2, seccomp.MASKED_EQ, PROT_EXEC, 0))
    rules.add_rule(seccomp.ALLOW, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, NEW_NAMESPACES, 0))
    rules.add_rule(seccomp.ERRNO(38), "clone3")  # its flags cannot be seen, so libc uses clone
    rules.load()


def environment(unit, watchdog_s):
    user = pwd.getpwnam(unit["User"][0])
    result = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "LANG": "C.UTF-8",
              "USER": user.pw_name, "HOME": user.pw_dir,
              "RUNTIME_DIRECTORY": ":".join(f"/run/{n}" for n in words_of(unit, "RuntimeDirectory"))}
    if "NOTIFY_SOCKET" in os.environ:
        result["NOTIFY_SOCKET"] = os.environ["NOTIFY_SOCKET"]
    if watchdog_s:
        result["WATCHDOG_USEC"] = str(int(float(watchdog_s) * 1e6))
    for word in words_of(unit, "Environment"):
        key, value = word.split("=", 1)
        result[key] = value
    return result


def main():
    arguments = sys.argv[1:]
    further = []
    if "--" in arguments:
        cut = arguments.index("--")
        arguments, further = arguments[:cut], arguments[cut + 1:]
    tree, name, instance = pathlib.Path(arguments[0]).resolve(), arguments[1], arguments[2]
    watchdog_s = arguments[4] if arguments[3:4] == ["--watchdog"] else None
    command = "ExecReload" if "--reload" in arguments else "ExecStart"
    unit = read_unit(next(tree.glob(f"**/lib/systemd/system/{name}")), instance)
    os.chdir("/")
    lay_over(tree, unit)
    set_limits(unit)
    os.umask(int(unit["UMask"][0], 8))

    def capabilities(key):
        names = [word.removeprefix("CAP_").lower() for word in words_of(unit, key)]
        return ",".join(["-all", *("+" + capability for capability in names)])

    argv = ["setpriv", "--reuid", unit["User"][0], "--regid", unit["Group"][0], "--init-groups",
            "--bounding-set", capabilities("CapabilityBoundingSet"),
            "--inh-caps", capabilities("AmbientCapabilities"),
            "--ambient-caps", capabilities("AmbientCapabilities")]
    if unit["NoNewPrivileges"] == ["yes"]:
        argv.append("--no-new-privs")
    variables = environment(unit, watchdog_s)
    filter_calls(unit)
    os.execvpe(argv[0], [*argv, "--", *shlex.split(unit[command][0]), *further], variables)


if __name__ == "__main__":
    main()
