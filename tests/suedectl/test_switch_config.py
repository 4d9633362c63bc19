# SPDX-License-Identifier: Apache-2.0
"""suedectl switch-config: what each kind of switch gets, and what is refused. No daemon is needed."""

import copy
import json
import os
import pathlib
import re
import subprocess

import pytest

import sonic_tables

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("SUEDE_BUILD", ROOT / "build")).resolve()
SUEDECTL = BUILD / "app/suedectl/suedectl"
TARGETS = ["sonic", "nvue", "frr", "linux", "suede"]
NAMES = re.findall(r"^\| `(\w+)` \| ", (ROOT / "docs/switches.md").read_text().split("encapsulations: begin")[1], re.M)
HEADERS = {row[0]: row for row in re.findall(
    r"^\| `(\w+)` \| ([^|]*) \| ([^|]*) \| [^|]* \| [^|]* \| (yes|no) \|",
    (ROOT / "docs/encapsulations.md").read_text(), re.M)}


def mac_of(xpu):
    return f"02:00:00:00:00:{16 + xpu:02x}"


def address_of(encap, xpu):
    return {"udp4": {"ip": f"198.18.0.{xpu + 1}"}, "udp6": {"ip": f"fd53:5545::{xpu + 1:x}"}}.get(encap, {})


def endpoint(own, encap, port=None, **keys):
    """The endpoint of XPU 0 or 1, whose peer is the other one."""
    entry = {"port": "p0", **address_of(encap, 1 - own)}
    config = {
        "version": 1, "name": ("left", "right")[own], "eal": {"hugepages": "off"}, "lcores": [{"cpu": 0}],
        "ports": [{"name": "p0", "device": "net_null0", "encapsulation": encap, "mtu_bytes": 2200, **(port or {})}],
        "instances": [{"xpu": own, "lcore": 0, "ports": [{"port": "p0", **address_of(encap, own)}]}],
        "peers": [{"xpu": 1 - own, "ports": [entry]}], **keys}
    if config["ports"][0].get("pfc") == "device":
        config["ports"][0]["device"] = "0000:03:00.0"  # a virtual device has no PFC
    if not HEADERS[encap][2].startswith("0x"):
        config["ports"][0].setdefault("ether_type", 0x9000)  # one without an assigned EtherType
    if encap.startswith("udp"):
        config["ports"][0].setdefault("mac", mac_of(own))
        entry["mac"] = mac_of(1 - own)
    return config


def pair(encap, port=None, **keys):
    instance = keys.pop("instance", {})
    configs = [endpoint(own, encap, port, **copy.deepcopy(keys)) for own in (0, 1)]
    for config in configs:
        config["instances"][0].update(instance)
    return configs


def run(directory, target, configs, *options):
    paths = []
    for config in configs:
        paths.append(directory / f"{config['name']}{len(paths)}.yaml")
        paths[-1].write_text(json.dumps(config, indent=1))
    return subprocess.run([str(a) for a in (SUEDECTL, "switch-config", "--for", target, *options, *paths)],
                          capture_output=True, text=True, timeout=60, check=False)


def written(directory, target, configs, *options):
    """The output and the comments."""
    done = run(directory, target, configs, *options)
    assert done.returncode == 0, done.stderr
    if target == "sonic":
        return done.stdout, done.stderr
    assert done.stderr == ""
    return done.stdout, "\n".join(line for line in done.stdout.splitlines() if line[:2] in ("# ", "! "))


def tables(directory, configs, *options):
    return json.loads(written(directory, "sonic", configs, *options)[0])


VCS = [{"dscp": 8 * vc, "pcp": vc, "ecn": 2} for vc in range(4)]
PCPS = [{"pcp": vc} for vc in range(4)]
# Pairs that together have every need.
NSCC = {"instance": {"congestion": "nscc"}, "sessions": {"max": 8}, "classes": {"vc": VCS}}
RICH = {
    "lossless": pair("udp4", {"pfc": "software", "llr": "on", "bandwidth_gbps": 400, "vlan": {"vid": 200}}, **NSCC),
    "trimmed": pair("udp6", {"trimmed_dscp": 60, "bandwidth_gbps": 100, "vlan": {"vid": 0}}, **NSCC),
    "shim": pair("afh1s", {"pfc": "device", "pfc_class": "pcp", "vlan": {"vid": 200}}, **NSCC),
    "credit": pair("afh1", {"cbfc": "on", "vlan": {"vid": 0}}, classes={"vc": PCPS}),
    "plain": pair("afh1"),
    "without macs": pair("afh2", {"bandwidth_gbps": 100}, instance={"congestion": "rccc"}),
}
NEEDS = {
    "lossless": ["MTU", "VLAN", "unknown addresses", "static addresses", "classes", "lossless classes", "PFC watchdog",
                 "ECN", "hash fields", "link-level retry"],
    "trimmed": ["MTU", "VLAN", "unknown addresses", "static addresses", "classes", "ECN", "trimming", "hash fields"],
    "shim": ["MTU", "VLAN", "unknown addresses", "static addresses", "classes", "lossless classes", "PFC watchdog", "ECN",
             "hash fields"],
    "credit": ["MTU", "VLAN", "unknown addresses", "static addresses", "classes", "credit of links"],
    "plain": ["MTU", "VLAN", "unknown addresses", "static addresses", "classes"],
    "without macs": ["MTU", "VLAN", "unknown addresses", "static addresses", "classes", "ECN"],
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", RICH)
def test_every_need_is_set_or_says_why_not(tmp_path, target, case):
    text, comments = written(tmp_path, target, RICH[case])
    for need in NEEDS[case]:
        assert re.search(rf"^[#!] {need}: ", comments, re.M), (need, comments)
    if target == "sonic":
        return
    # Behind each comment are commands, or the reason for none. Keys of suede-switch may stand with the ports.
    parts = re.split(r"^[#!] (?!not set)", text, flags=re.M)
    empty = [part.split("\n")[0] for part in parts if part.count("\n") == 1 and
             not re.match(r"#!|Switch |assumed|swp\d|Links |The AS|Words|'nv|ECN: none", part)]
    permitted = {"suede": ("VLAN", "ECN"), "frr": ()}.get(target, ())
    assert [line for line in empty if not line.startswith(permitted or ("\0",))] == []


@pytest.mark.parametrize("case", RICH)
def test_linux_script_parses(tmp_path, case):
    script = written(tmp_path, "linux", RICH[case])[0]
    done = subprocess.run(["sh", "-n"], input=script, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# ---- SONiC.

@pytest.mark.parametrize("case", RICH)
def test_sonic_tables_fit_the_models(tmp_path, case):
    assert sonic_tables.errors_of(tables(tmp_path, RICH[case])) == []


def test_the_models_find_errors():
    good = {"PORT": {"Ethernet0": {"mtu": "9100"}}, "VLAN": {"Vlan100": {"vlanid": "100"}},
            "FDB": {"Vlan100|02:00:00:00:00:10": {"port": "Ethernet0"}}}
    assert sonic_tables.errors_of(good) == []
    for table, key, row in (("PORT", "Ethernet4", {"mtu": "9217"}), ("VLAN", "Vlan100", {"vlanid": "101"}),
                            ("FDB", "Vlan101|02:00:00:00:00:10", {"port": "Ethernet0"}),
                            ("FDB", "Vlan100|02:00:00:00:00:10", {"port": "Ethernet8"}),
                            ("QUEUE", "Ethernet0|3", {"scheduler": "none"}), ("QUEUES", "Ethernet0|3", {})):
        bad = copy.deepcopy(good)
        bad.setdefault(table, {})[key] = row
        assert len(sonic_tables.errors_of(bad)) == 1, (table, key, row)


def test_sonic_headroom_follows_rate_cable_and_descriptors(tmp_path):
    def headroom(pfc, gbps, cable):
        port = {"pfc": pfc, "bandwidth_gbps": gbps, "tx_descriptors": 256}
        profiles = tables(tmp_path, pair("udp4", port), "--cable_m", cable)["BUFFER_PROFILE"]
        return int(next(row["xoff"] for row in profiles.values() if "xoff" in row))

    frame = 14 + 4 + 2200
    response = 60 * 512 // 8
    assert headroom("device", 100, 100) == 2 * 100 * 5 * 100 // 8 + response + 2 * frame
    assert headroom("device", 400, 300) == 2 * 300 * 5 * 400 // 8 + response + 2 * frame
    assert headroom("software", 100, 100) == headroom("device", 100, 100) + (32 + 256) * frame


def test_sonic_classes(tmp_path):
    db = tables(tmp_path, RICH["lossless"])
    assert db["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] == "0,1,2,3,6"
    assert {dscp: db["DSCP_TO_TC_MAP"]["SUEDE"][dscp] for dscp in ("0", "15", "48", "63")} == {
        "0": "0", "15": "1", "48": "6", "63": "7"}
    assert db["QUEUE"]["Ethernet0|6"]["scheduler"] == "suede_first"
    assert db["PFC_WD"]["Ethernet4"]["detection_time"] == "100"
    # 0.2 and 0.8 of 400 Gbit/s times 10 us.
    assert db["WRED_PROFILE"]["suede_100000_400000"]["green_max_threshold"] == "400000"
    assert db["SWITCH_HASH"]["GLOBAL"]["ecmp_hash"].count("L4_SRC_PORT") == 1
    # By the tag where the switch does not see the header's DSCP; and no marks, which would be drops.
    shim = tables(tmp_path, RICH["shim"])
    assert "dot1p_to_tc_map" in shim["PORT_QOS_MAP"]["Ethernet0"] and "WRED_PROFILE" not in shim
    trimmed = tables(tmp_path, RICH["trimmed"])
    assert trimmed["SWITCH_TRIMMING"]["GLOBAL"] == {"size": "128", "dscp_value": "60", "queue_index": "7"}
    assert {row["profile"] for row in trimmed["BUFFER_QUEUE"].values()} >= {"suede_lossy_trim"}


def test_sonic_base(tmp_path):
    base = tmp_path / "base.json"
    base.write_text(json.dumps({"PORT": {"Ethernet0": {"lanes": "0,1", "speed": "400000", "mtu": "1500"},
                                         "Ethernet4": {"lanes": "4,5", "speed": "400000"}}}))
    ports = tables(tmp_path, RICH["plain"], "--base", base)["PORT"]
    assert ports["Ethernet0"]["lanes"] == "0,1" and ports["Ethernet0"]["mtu"] == "2200"
    done = run(tmp_path, "sonic", RICH["plain"], "--base", base, "--port", "left=Ethernet0", "--port", "right=Ethernet8")
    assert done.returncode == 2 and "PORT has no Ethernet8 for right.p0" in done.stderr


# ---- Addresses.

def stations(directory, configs, *options):
    """Static addresses and their ports, of a Linux bridge."""
    text = written(directory, "linux", configs, *options)[0]
    return dict(re.findall(r"^bridge fdb replace (\S+) dev (\S+) master static", text, re.M))


@pytest.mark.parametrize("encap", NAMES)
def test_addresses_of_each_encapsulation(tmp_path, encap):
    found = stations(tmp_path, pair(encap))
    holds = HEADERS[encap][1]
    if holds.startswith("prefix"):
        assert found == {"02:53:55:45:00:00": "swp1", "02:53:55:45:00:01": "swp2"}
    elif holds.startswith("MAC"):
        assert found == {mac_of(0): "swp1", mac_of(1): "swp2"}
    else:
        text = written(tmp_path, "linux", pair(encap))[0]
        assert found == {} and "learning off flood on" in text and "use suede-switch" in text


def test_a_peer_knows_the_mac_address(tmp_path):
    configs = pair("udp4")
    del configs[0]["ports"][0]["mac"]
    assert stations(tmp_path, configs) == {mac_of(0): "swp1", mac_of(1): "swp2"}


def test_learning_where_a_mac_address_is_not_known(tmp_path):
    # TAP devices let the endpoints find MAC addresses.
    configs = pair("udp4", {"tap": "tap0"})
    for config in configs:
        del config["ports"][0]["mac"], config["peers"][0]["ports"][0]["mac"]
    text = written(tmp_path, "linux", configs)[0]
    assert "learning on flood on mcast_flood on bcast_flood on" in text and "fdb replace" not in text
    assert "state ports[].mac" in text


def test_several_xpus_behind_a_port(tmp_path):
    configs = pair("afh1")
    configs[0]["instances"] = [{"xpus": "2-4", "lcore": 0, "ports": [{"port": "p0"}]}]
    configs[1]["peers"] = [{"xpus": "2-4", "ports": [{"port": "p0"}]}]
    configs[0]["peers"].append({"xpu": 3, "ports": [{"port": "p0"}]})
    found = stations(tmp_path, configs)
    assert found == {**{f"02:53:55:45:00:{xpu:02x}": "swp1" for xpu in (2, 3, 4)}, "02:53:55:45:00:01": "swp2"}
    assert "bridge link set dev swp1 hairpin on" in written(tmp_path, "linux", configs)[0]


def test_a_peer_behind_no_port(tmp_path):
    configs = pair("afh1")
    configs[0]["peers"].append({"xpu": 9, "ports": [{"port": "p0"}]})
    assert "left0.yaml: peers: XPU 9 is behind no given port" in written(tmp_path, "linux", configs)[1]


# ---- Ports of the switch.

def planes():
    """Endpoints with two planes."""
    configs = pair("afh1")
    for config in configs:
        config["ports"].append({**config["ports"][0], "name": "p1", "device": "net_null1", "bandwidth_gbps": 200})
        config["ports"][0]["bandwidth_gbps"] = 400
        config["instances"][0]["ports"] = [{"port": "p0"}, {"port": "p1", "forwarding_address": 0x4000 + config["instances"][0]["xpu"]}]
        config["peers"][0]["ports"] = [{"port": "p0"}, {"port": "p1", "forwarding_address": 0x4000 + config["peers"][0]["xpu"]}]
    return configs


def places(**names):
    return [word for end, name in names.items() for word in ("--port", f"{end.replace('_', '.')}={name}")]


def test_frr_has_the_bandwidths_of_its_plane(tmp_path):
    for plane, value in ((0, "4000"), (1, "2000")):
        here = {f"{side}_p{plane}": f"h{i}" for i, side in enumerate(("left", "right"))}
        there = {f"{side}_p{1 - plane}": "none" for side in ("left", "right")}
        text = written(tmp_path, "frr", planes(), *places(**here, **there), "--link_base", f"10.{plane}.0.0", "--leaf_as",
                       65101 + plane)[0]
        assert re.findall(r"set extcommunity bandwidth (\d+)", text) == [value] * 2
        assert f" ip address 10.{plane}.1.2/30" in text and f"router bgp {65101 + plane}" in text


def test_frr_scale(tmp_path):
    # One scale for both planes, which is that of the fastest one here.
    text = written(tmp_path, "frr", planes(), *places(left_p0="h0", right_p0="h1", left_p1="none", right_p1="none"))[0]
    assert "in 100 Mb/s" in text and "set scale: 100 in suede-fare's configuration" in text


@pytest.mark.parametrize("options, says", [
    (places(left="swp1", right="swp2"), "this endpoint has 2 ports; write left.p0=swp1"),
    (places(left_p0="swp1", left_p1="swp2", right_p0="swp3"), "no place for port right.p1; add --port right.p1=NAME"),
    (places(left_p0="swp1", left_p1="swp1", right_p0="a", right_p1="b"), "left.p0 is there already"),
    (places(left_p0="a", left_p2="b"), "no place for port left.p1"),
    (places(left_p0="a", left_p1="b", right_p0="c", right_p1="d", right_p2="e"), "there is left.p0, left.p1, right.p0"),
    (places(left_p0="a", left_p1="none", right_p0="none", right_p1="none"), "fewer than two ports"),
    (["--port", "left.p0"], "write ENDPOINT=NAME"),
    (["--port", "left.p0=a;b"], "write ENDPOINT=NAME"),
])
def test_wrong_places(tmp_path, options, says):
    done = run(tmp_path, "linux", planes(), *options)
    assert (done.returncode, done.stdout) == (2, "") and says in done.stderr, done.stderr


# ---- Errors.

def changed(configs, side, change):
    configs = copy.deepcopy(configs)
    change(configs[side])
    return configs


def port_key(key, value):
    return lambda config: config["ports"][0].update({key: value})


UDP, AFH = pair("udp4", classes={"vc": VCS}), pair("afh1s", classes={"vc": VCS})
CONTRADICTIONS = [
    (AFH, port_key("encapsulation", "afh1"), "left0.yaml: ports[0].encapsulation: afh1s, but ", "ports[0].encapsulation is afh1"),
    (UDP, port_key("vlan", {"vid": 7}), "ports[0].vlan.vid: untagged, but ", "right1.yaml: ports[0].vlan.vid is 7"),
    (UDP, port_key("mtu_bytes", 2300), "ports[0].mtu_bytes: 2200, but ", "ports[0].mtu_bytes is 2300"),
    (UDP, port_key("udp_port", 4000), "ports[0].udp_port: 3333, but ", "is 4000"),
    (AFH, port_key("ether_type", 0x9000), "ports[0].ether_type: 0x88B6, but ", "is 0x9000"),
    (AFH, port_key("mac_prefix", "02:00:00:01"), "ports[0].mac_prefix: 02:53:55:45, but ", "is 02:00:00:01"),
    (UDP, port_key("mac", "02:00:00:00:00:99"), "peers[] of XPU 1.ports[] of p0.mac: 02:00:00:00:00:11, but ",
     "ports[0].mac is 02:00:00:00:00:99"),
    (UDP, lambda c: c["classes"]["vc"][1].update(dscp=16), "classes.vc[1].dscp: 8, but ", "classes.vc[1].dscp is 16"),
    (UDP, lambda c: c["classes"].update(ack={"dscp": 40}), "classes.ack.dscp: 48, but ", "classes.ack.dscp is 40"),
    (UDP, lambda c: c["instances"][0]["ports"][0].update(ip="198.18.0.9"), "peers[] of XPU 1.ports[] of p0: its address is not",
     "right1.yaml: ports[0]"),
    (UDP, lambda c: c.update(name="left"), "name: left is that of ", "give each endpoint a name of its own"),
    (UDP, lambda c: c["ports"][0].update(nmae="x"), "right1.yaml:", "did you mean"),
]


@pytest.mark.parametrize("configs, change, one, other", CONTRADICTIONS, ids=range(len(CONTRADICTIONS)))
def test_contradictions(tmp_path, configs, change, one, other):
    assert run(tmp_path, "linux", configs).returncode == 0
    done = run(tmp_path, "linux", changed(configs, 1, change))
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert one in done.stderr and other in done.stderr, done.stderr


def test_an_address_twice(tmp_path):
    third = endpoint(1, "afh1")
    third["name"] = "third"
    third["instances"][0]["xpu"] = 5
    third["instances"][0]["ports"][0]["forwarding_address"] = 1
    done = run(tmp_path, "linux", [*pair("afh1"), third])
    assert done.returncode == 2
    assert "third2.yaml: ports[0].name p0 (XPU 5): address 0x0001 is also that of" in done.stderr, done.stderr


@pytest.mark.parametrize("target, options, says", [
    ("linux", ["--base", "x"], "--base has no meaning with --for linux"),
    ("nvue", ["--buffer_bytes", 100], "--buffer_bytes has no meaning with --for nvue"),
    ("sonic", ["--leaf_as", 65000], "--leaf_as has no meaning with --for sonic"),
    ("linux", ["--cable_m", 10], "--cable_m has no meaning: no port has pfc"),
    ("linux", ["--cable_m", 0], "'0' is not 1 to 100000"),
    ("linux", ["--vlan", 4095], "'4095' is not 1 to 4094"),
    ("linux", ["--nonsense", 1], "is no option of this command"),
    ("frr", ["--link_base", "ten"], "is no IPv4 address"),
    ("junos", [], "use sonic, nvue, frr, linux, suede"),
    ("sonic", ["--base", "/no/such/file"], "/no/such/file: No such file"),
])
def test_wrong_options(tmp_path, target, options, says):
    done = run(tmp_path, target, RICH["plain"], *options)
    assert (done.returncode, done.stdout) == (2, "") and says in done.stderr, done.stderr


@pytest.mark.parametrize("option, value", [("--vlan", 5), ("--rate_gbps", 50)])
def test_option_for_what_is_stated(tmp_path, option, value):
    done = run(tmp_path, "linux", RICH["lossless"], option, value)
    assert done.returncode == 2 and f"{option} has no meaning" in done.stderr


def test_help():
    done = subprocess.run([SUEDECTL, "switch-config", "--help"], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert all(f"\n  {target} " in done.stdout for target in TARGETS)


# ---- The page.

def test_metrics_of_the_page():
    metrics = (ROOT / "docs/metrics.md").read_text()
    named = set(re.findall(r"`(suede_\w+)(?:\{|`)", (ROOT / "docs/switches.md").read_text()))
    assert len(named) > 12
    assert {name for name in named if f"`{name}`" not in metrics and
            f"`{name.replace('suede_switch_', 'suede_switch_')}`" not in metrics} == set()
    for metric, reason in re.findall(r"`(suede_\w+)\{reason=\"(\w+)\"\}`", (ROOT / "docs/switches.md").read_text()):
        table = metrics.split(f"| `{metric}` | Meaning |")[1].split("\n\n")[0]
        assert f"| `{reason}` |" in table, (metric, reason)


def test_suede_switch_reads_the_headers_of_esun(tmp_path):
    text, _ = written(tmp_path, "suede", pair("esun", {"ether_type": 0x88b5}))
    assert "forwarding: esun\nesun_ether_type: 0x88B5\n" in text
    assert 'mac: "02:53:55:45:00:01"' in text and "pcp_first: off" in text
