# SPDX-License-Identifier: Apache-2.0
"""The directories of the labs on this machine: whose they are, what runs in them, and the leftovers of killed labs.

Each lab has a directory by its name, with the sockets of its nodes and state.json. The process that keeps the lab holds a
lock on the directory, which the kernel releases however that process ends.
"""

import fcntl
import json
import os
import pathlib
import re
import select
import shutil
import signal
import stat
import time

from labkit import backend as backends

ENVIRONMENT = "SUEDE_LAB_DIR"
NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")
STATE = "state.json"
SOCKET = "lab.sock"
TEMPORARY = "suede-lab-"  # directories of checks in /tmp: the prefix, the process, a dash
MAX_PATH = 70             # of a lab's directory: addresses of Unix sockets have 107 bytes
CLAIM_S = 0.5
MOUNTS = pathlib.Path("/proc/mounts")
END_S = 10


def base():
    """The directory of all labs of this user."""
    given = os.environ.get(ENVIRONMENT)
    if given:
        return pathlib.Path(given).resolve()
    if os.geteuid() == 0:
        return pathlib.Path("/run/suede-lab")
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and os.access(runtime, os.W_OK):
        return pathlib.Path(runtime) / "suede-lab"
    return pathlib.Path(f"/tmp/suede-labs-{os.geteuid()}")


def names():
    """Names of all labs, those of killed ones too. A directory without state.json is none."""
    try:
        return sorted(path.name for path in base().iterdir() if NAME.fullmatch(path.name) and (path / STATE).is_file())
    except OSError:
        return []


def read(name):
    """The content of state.json, or None."""
    try:
        return json.loads((base() / name / STATE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def boot_id():
    return pathlib.Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


# ---- Processes.

def start_of(pid):
    """The time at which a process started, in ticks since the boot: with the id it names one process for ever. None: it has
    ended, also where its parent has not taken notice yet."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else int(fields[19])


def is_process(record):
    """Whether the process of {"pid", "start"} lives."""
    return record["start"] is not None and start_of(record["pid"]) == record["start"]


def send(record, number):
    """Signals the process of {"pid", "start"}, and no other one that has its id now. Returns a descriptor that becomes
    readable when the process ends, or None if it has ended."""
    try:
        descriptor = os.pidfd_open(record["pid"])
    except OSError:
        return None
    try:
        # The descriptor is of one process: if that has the time of the record now, it is the right one.
        if is_process(record):
            signal.pidfd_send_signal(descriptor, number)
            return descriptor
    except OSError:
        pass
    os.close(descriptor)
    return None


def kill(records):
    """Kills processes by {"pid", "start"}, and waits for their ends. Returns how many there were."""
    descriptors = [each for each in (send(record, signal.SIGKILL) for record in records) if each is not None]
    deadline = time.monotonic() + END_S
    for descriptor in descriptors:
        select.select([descriptor], [], [], max(0, deadline - time.monotonic()))
        os.close(descriptor)
    return len(descriptors)


# ---- Directories.

def _lock(path, how):
    """An open descriptor of the directory with the lock, or None: another process has it, or the directory is gone."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), os.stat(path)):  # else it was removed in between
            return descriptor
    except OSError:
        pass
    os.close(descriptor)
    return None


def is_kept(name):
    """Whether a process keeps the lab."""
    descriptor = _lock(base() / name, fcntl.LOCK_SH)
    if descriptor is None:
        return (base() / name).is_dir()
    os.close(descriptor)
    return False


def _own(path):
    """Makes a directory that is this user's alone. Raises LabError."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = path.lstat()
    except OSError as error:
        raise backends.LabError(f"cannot make {path}: {error.strerror}; name another directory by ${ENVIRONMENT}") from None
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise backends.LabError(f"cannot take {path}: it belongs to another user; name another directory by ${ENVIRONMENT}")


class Directory:
    """The directory of a lab that this process keeps. `data` is the content of state.json."""

    def __init__(self, path, descriptor):
        self.path = path
        self.descriptor = descriptor
        self.data = {"schema_version": 1, "name": path.name, "boot": boot_id(),
                     "keeper": {"pid": os.getpid(), "start": start_of(os.getpid())}, "processes": [], "prefixes": []}

    def save(self):
        part = self.path / (STATE + ".part")
        part.write_text(json.dumps(self.data, indent=1) + "\n", encoding="utf-8")
        part.rename(self.path / STATE)

    def add_process(self, pid, what):
        """Records a process, and forgets those that have ended."""
        self.data["processes"] = [each for each in self.data["processes"] if is_process(each)]
        self.data["processes"].append({"pid": pid, "start": start_of(pid), "what": what})
        self.save()

    def remove(self):
        """Removes the directory, then gives it up."""
        if self.descriptor is not None:
            try:
                _empty(self.path)
                self.path.rmdir()
            except OSError:
                pass  # the next lab of the name removes it
            os.close(self.descriptor)
            self.descriptor = None


def claim(name):
    """Takes the directory of a lab for this process; leftovers of a killed lab of that name are removed. Raises LabError."""
    path = base() / name
    if len(str(path)) > MAX_PATH:
        raise backends.LabError(f"cannot take {path}: {len(str(path))} characters are too many for addresses of sockets; name a "
                                f"shorter directory by ${ENVIRONMENT}")
    _own(base())
    deadline = time.monotonic() + CLAIM_S
    while True:
        _own(path)
        descriptor = _lock(path, fcntl.LOCK_EX)
        if descriptor is not None:
            break
        if time.monotonic() > deadline:
            raise backends.LabError(f"cannot start the lab {name}: it is up; end it by {backends.PROGRAM} down {name}, or choose "
                                    "another name by --name")
        time.sleep(0.02)  # a process that looks whether it is kept has it for a moment
    if not (path / STATE).is_file() and any(path.iterdir()):
        os.close(descriptor)
        raise backends.LabError(f"cannot take {path}: it is no directory of a lab; name another directory by ${ENVIRONMENT}")
    _clear(path)
    directory = Directory(path, descriptor)
    directory.save()
    return directory


def _clear(path):
    """Ends the processes of a killed lab, and removes its files. Returns what there was, as texts."""
    data = read(path.name) or {}
    found = []
    if data.get("boot") == boot_id():
        count = kill([*data.get("processes", []), *([data["keeper"]] if data["keeper"]["pid"] != os.getpid() else [])])
        found += [f"{count} process{'es' if count > 1 else ''}"] if count else []
    for prefix in data.get("prefixes", []):
        for file in hugepage_files(prefix):
            file.unlink(missing_ok=True)
            found.append(str(file))
    _empty(path)
    return found


def _empty(path):
    """Removes the files of a lab, state.json last: it says that they are a lab's."""
    for each in sorted(path.iterdir(), key=lambda each: each.name == STATE):
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        else:
            each.unlink(missing_ok=True)


def hugepage_files(prefix):
    """Files in hugetlbfs of the daemons whose EAL file prefix begins so."""
    try:
        mounts = [line.split()[1] for line in MOUNTS.read_text(encoding="utf-8").splitlines()
                  if line.split()[2] == "hugetlbfs"]
    except OSError:
        return []
    return [path for mount in dict.fromkeys(mounts) for path in pathlib.Path(mount).glob(f"{prefix}*map_*")]


def remove_leftovers():
    """Removes all that killed labs have left. Returns a line for each of them."""
    lines = []
    for name in names():
        path = base() / name
        descriptor = _lock(path, fcntl.LOCK_EX)
        if descriptor is None:
            continue
        try:
            found = _clear(path)
            path.rmdir()
            lines.append(f"{name}: removed {', '.join([*found, str(path)])}")
        except OSError as error:
            lines.append(f"{name}: {error}")
        finally:
            os.close(descriptor)
    for path in pathlib.Path("/tmp").glob(TEMPORARY + "*-*"):
        pid = path.name[len(TEMPORARY):].split("-")[0]
        if pid.isdigit() and start_of(pid) is None:
            shutil.rmtree(path, ignore_errors=True)
    return lines
