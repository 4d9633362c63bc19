# SPDX-License-Identifier: Apache-2.0
"""tshark with the dissector, and its output for frames.

HOME and the configuration are in the test's directory, so that nobody's settings, plugins or other
scripts have a say. Root runs it as another user of a user namespace, because Wireshark 4.4 loads no
personal script for root; the files stay readable there.
"""

import os
import pathlib
import shutil
import subprocess
import xml.etree.ElementTree

from sue_frames import ESUN_TYPE, write_pcap

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools/wireshark/suede.lua"
PLUGINS = ".local/lib/wireshark/plugins"
LIMIT_S = 600


def as_user():
    prefix = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]
    if os.geteuid() != 0 or subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode != 0:
        return []
    return prefix


AS_USER = as_user()


class Packet:
    """tshark's output for one frame."""

    def __init__(self, element):
        self.element = element

    def protocols(self):
        return [proto.get("name") for proto in self.element.findall("proto")]

    def all(self, name):
        return [field for field in self.element.iter("field") if field.get("name") == name]

    def shows(self, name):
        """Values, of a bit always 0 or 1: Wireshark 4.0 shows numbers, 4.4 words."""
        bits = {"False": "0", "True": "1"}
        return [bits.get(show, show) for show in (field.get("show") for field in self.all(name))]

    def __contains__(self, name):
        return bool(self.all(name))

    def text(self, name):
        values = self.shows(name)
        assert len(values) == 1, (name, values)
        return values[0]

    def number(self, name):
        return int(self.text(name), 0)

    def raw(self, name):
        return [bytes.fromhex(field.get("value")) for field in self.all(name)]

    def expert(self, name):
        """Whether the expert info suede.`name` is there."""
        return f"suede.{name}" in self


class Shark:
    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.home = self.directory / "home"
        self.home.mkdir(exist_ok=True)
        self.files = 0

    def environment(self):
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "LC_ALL": "C.UTF-8",
                "XDG_CONFIG_HOME": str(self.home / ".config")}

    def install(self):
        """As a personal plugin, which every program of Wireshark loads."""
        plugins = self.home / PLUGINS
        plugins.mkdir(parents=True)
        shutil.copy(SCRIPT, plugins)

    def pcap(self, frames, **options):
        self.files += 1
        path = self.directory / f"{self.files}.pcap"
        write_pcap(path, frames, **options)
        return path

    def run(self, *arguments, stdin=None, complaints=False):
        result = subprocess.run([*AS_USER, *(str(a) for a in arguments)], env=self.environment(), input=stdin,
                                cwd=self.directory, capture_output=True, text=True, timeout=LIMIT_S,
                                check=False)
        if not complaints:
            assert result.returncode == 0, result.stderr
            assert "Lua" not in result.stderr, result.stderr
            assert "Lua Error" not in result.stdout, result.stdout[:4000]
        return result

    def tshark(self, pcap, *arguments, script=SCRIPT, prefs=None, **options):
        load = ["-X", f"lua_script:{script}"] if script else []
        settings = []
        usual = {"esun_ethertype": hex(ESUN_TYPE)} if script else {}
        for key, value in (usual | (prefs or {})).items():
            settings += ["-o", f"suede.{key}:{value}"]
        return self.run("tshark", "-n", *load, *settings, "-r", pcap, *arguments, **options).stdout

    def read(self, pcap, *arguments, **options):
        root = xml.etree.ElementTree.fromstring(
            self.tshark(pcap, *arguments, "-T", "pdml", **options))
        return [Packet(element) for element in root.findall("packet")]

    def dissect(self, frames, *arguments, captured=None, **options):
        return self.read(self.pcap(frames, captured=captured), *arguments, **options)

    def infos(self, frames, **options):
        """The Info column."""
        return self.tshark(self.pcap(frames), "-T", "fields", "-e", "_ws.col.Info",
                           **options).splitlines()

    def numbers(self, frames, display_filter, **options):
        """Numbers of the frames that a filter lets through, counted from 1."""
        out = self.tshark(self.pcap(frames), "-Y", display_filter, "-T", "fields", "-e",
                          "frame.number", **options)
        return [int(line) for line in out.split()]
