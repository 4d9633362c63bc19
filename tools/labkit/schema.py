# SPDX-License-Identifier: Apache-2.0
"""Every key of a scenario: type, unit, range, default, meaning. The table of docs/lab.md is made from this."""

import dataclasses

REQUIRED = object()
NONE = object()  # without a default: absent is None

# How the switches of a lab forward frames with each header.
FORWARDING = {"udp4": "mac", "udp6": "mac", "afh1": "afh1", "afh1s": "afh1", "afh2": "afh2", "afh2c": "afh2",
              "esun": "esun"}
ESUN_TYPE = 0x88b5  # for experiments: ESUN has no usual EtherType
ENCAPSULATIONS = tuple(FORWARDING)
BACKENDS = ("local", "veth", "simulator", "servers", "containers")
WORKLOADS = ("permutation", "all-to-all", "all-reduce-ring", "all-reduce-direct", "incast", "moe",
             "hot-spot", "request-response", "trace")
DEFAULT_TIMEOUT_S = 300


@dataclasses.dataclass(frozen=True)
class Key:
    """`kind`: int, number, text, switch (on or off), choice, ids (XPU ids), numbers, texts, bound ({min, max}),
    free (any map), map (of `keys`), list (of maps of `keys`)."""
    name: str
    kind: str
    meaning: str
    default: object = NONE
    unit: str = ""
    low: float = 0
    high: float = 0
    choices: tuple = ()
    keys: tuple = ()
    least: int = 0   # of a list: entries
    flag: str = ""   # of suede-perf, where the key of a load is one
    shown: str = ""  # how the table shows a default that is computed


def _bound(name, meaning, unit=""):
    return Key(name, "bound", meaning, unit=unit)


IMPAIR = (  # the meanings are those of a switch: docs/switch.md, `ports[].impair_in`
    Key("rate_gbps", "number", "", unit="Gbit/s", high=3200),
    Key("delay_us", "number", "", unit="µs", high=10000000),
    Key("jitter_us", "number", "", unit="µs", high=10000000),
    Key("loss", "number", "", high=1),
    Key("burst_begins", "number", "", high=1),
    Key("burst_ends", "number", "", high=1),
    Key("burst_loss", "number", "", high=1),
    Key("reorder", "number", "", high=1),
    Key("reorder_delay_us", "number", "", unit="µs", low=1, high=10000000),
    Key("duplicate", "number", "", high=1),
    Key("bad_fcs", "number", "", high=1),
    Key("flip", "number", "", high=1),
    Key("longest_bytes", "int", "", unit="bytes", high=65535),
    Key("hole_classes", "numbers", "", high=7),
    Key("hole_xpus", "ids", "XPUs; frames to these disappear."),
    Key("dscp", "int", "", high=63),
    Key("ecn", "int", "", high=3),
    Key("pcp", "int", "", high=7),
    Key("hop_limit", "int", "", high=255),
    Key("strip_tag", "switch", ""),
)

LOAD = (
    Key("name", "text", "Name of the load, in results.", shown="load and its number"),
    Key("mode", "choice", "workload: of many ranks; bandwidth or latency: from one XPU to others.", "workload",
        choices=("workload", "bandwidth", "latency")),
    Key("workload", "choice", "Kind of workload (suede-perf.md, \"Workloads\"). Only with mode workload.",
        "all-to-all", choices=WORKLOADS, flag="workload"),
    Key("ranks", "ids", "XPUs of the ranks, in their order. Only with mode workload.", shown="all"),
    Key("source", "int", "XPU that sends. Only with modes bandwidth and latency.", high=1023),
    Key("destinations", "ids", "XPUs that it sends to. Only with modes bandwidth and latency."),
    Key("start_s", "number", "Its begin, after that of the run.", 0, unit="s", high=86400),
    Key("bytes", "int", "Bytes of a transfer, vector, token, message or request.", 65536, unit="bytes", low=1,
        high=1 << 40, flag="bytes"),
    Key("size", "int", "Bytes of data of a command.", unit="bytes", high=256, flag="size",
        shown="256 of a workload, else 64"),
    Key("iterations", "int", "Iterations to measure.", low=1, high=1 << 40, flag="iterations", shown="by duration_s"),
    Key("count", "int", "Commands to measure, instead of duration_s.", low=1, high=1 << 50, flag="count"),
    Key("duration_s", "number", "Time to measure.", unit="s", low=0.01, high=86400, flag="duration",
        shown="5 without iterations or count"),
    Key("warmup_s", "number", "Load before the measurement.", 0, unit="s", high=3600, flag="warmup"),
    Key("vcs", "numbers", "Virtual channels.", (0,), high=3, flag="vcs"),
    Key("rate", "number", "Open loop: iterations or commands per second.", unit="1/s", high=1e12, flag="rate",
        shown="0: closed loop"),
    Key("target", "int", "Rank that gets an incast, or is the hot spot.", high=1023, flag="target", shown="0"),
    Key("messages", "int", "Tokens or messages of a rank.", low=1, high=1000000, flag="messages", shown="64"),
    Key("skew", "number", "Exponent of the experts' popularity, or share of the hot rank.", high=4, flag="skew",
        shown="1 of moe, 0.5 of hot-spot"),
    Key("top_k", "int", "Experts of a token.", low=1, high=1023, flag="top_k", shown="2"),
    Key("think_us", "number", "Mean time between a response and the next request.", unit="µs", high=1e9, flag="think",
        shown="0"),
    Key("response_bytes", "int", "Bytes of a response.", unit="bytes", low=1, high=1 << 30, flag="response_bytes",
        shown="256"),
    Key("inflight", "int", "Requests or commands under way.", low=1, high=65536, flag="inflight",
        shown="suede-perf's"),
    Key("trace", "text", "File of workload trace, CSV or GOAL (suede-perf.md, \"Workloads\"), relative to the scenario.", flag="trace"),
    Key("completions", "int", "Each Nth command is timed until its completion. Not with mode workload.", low=1,
        high=1 << 30, flag="completions", shown="1000 of mode bandwidth"),
    Key("check", "switch", "Content is verified byte by byte.", True, flag="check"),
    Key("barrier", "switch", "A barrier after each iteration.", True, flag="barrier"),
    Key("seed", "int", "Seed of the load.", high=(1 << 32) - 1, flag="seed", shown="that of the scenario"),
    Key("take_rate", "number", "Commands a second that the receivers of mode bandwidth take; 0: as fast as they "
        "can.", 0, unit="1/s", high=1e12),
    Key("stall_s", "number", "Time without progress after which a rank gives up.", 60, unit="s", low=1, high=86400,
        flag="stall"),
    Key("connect_timeout_s", "number", "Time within which all must have arrived.", 60, unit="s", low=1, high=86400,
        flag="connect_timeout"),
    Key("drain_s", "number", "Wait at the end for commands in flight.", 30, unit="s", high=86400, flag="drain"),
)

FAULT = (
    Key("at_s", "number", "Its begin, after that of the run.", REQUIRED, unit="s", high=86400),
    Key("for_s", "number", "How long it lasts.", unit="s", low=0.001, high=86400, shown="to the end"),
    Key("every_s", "number", "Time from one begin to the next.", unit="s", low=0.01, high=86400,
        shown="once"),
    Key("times", "int", "How many times it comes with every_s.", 1, low=1, high=100000),
    Key("link", "text", "Where: a link, by the port of an XPU: xpu3.p0. `all` is every link."),
    Key("plane", "int", "Where: all links of a plane.", high=3),
    Key("switch", "text", "Where: all links of a switch, or the process of the switch: sw0."),
    Key("daemon", "text", "Where: the process of a daemon: d0."),
    Key("load", "text", "Where: the receivers' processes of a load in mode bandwidth, else all of its processes."),
    Key("direction", "choice", "Direction of impair and down: in is towards the switch, out from it.", "both",
        choices=("in", "out", "both")),
    Key("impair", "map", "Fault: impairments of the link, all keys of ports[].impair_in (switch.md) but down and hole_destinations.", keys=IMPAIR),
    Key("down", "switch", "Fault: no frame passes.", False),
    Key("admin_down", "switch", "Fault: the switch's port is set down, as by an operator.", False),
    Key("process", "choice", "Fault: the process is stopped (SIGSTOP), or killed and started again at the end.",
        choices=("stop", "kill")),
    Key("pfc_storm", "map", "Fault: the XPU's end of the link sends PFC frames without end (back ends veth and "
        "simulator).", keys=(
            Key("classes", "numbers", "Classes that it pauses.", REQUIRED, high=7),
            Key("quanta", "int", "Time of each frame.", 65535, unit="512 bit times", low=1, high=65535),
            Key("interval_us", "int", "Time between frames.", 1000, unit="µs", low=100, high=1000000),
        )),
)

EXPECT = (
    Key("oracle", "choice", "clean: nothing is lost, wrong or doubled, and order is as promised, in every load.",
        "clean", choices=("clean", "off")),
    Key("completed", "switch", "Every load has done all of its work.", True),
    _bound("switch_drops", "Frames that switches dropped, for whatever reason, impairments apart.", "frames"),
    _bound("impaired", "Frames that impairments lost.", "frames"),
    _bound("trims", "Frames that switches trimmed.", "frames"),
    _bound("ecn_marks", "Frames that switches marked.", "frames"),
    _bound("pfc_sent", "PFC frames that switches sent.", "frames"),
    _bound("pfc_received", "PFC frames that switches received.", "frames"),
    _bound("retransmissions", "PDUs that endpoints sent again.", "PDUs"),
    _bound("buffer_high_water_bytes", "Highest use of a switch's buffer.", "bytes"),
    _bound("headroom_high_water_bytes", "Highest use of a switch's headroom.", "bytes"),
    _bound("fairness", "Jain's index of fairness over flows, the least of all workloads."),
    _bound("iteration_p99_ms", "99th percentile of the iterations' times, the largest of all workloads.", "ms"),
    Key("counters", "list", "Counters at the end (metrics.md, without suede_), summed over nodes.", keys=(
        Key("nodes", "text", "switches, endpoints, or the name of a node.", REQUIRED),
        Key("port", "text", "Port of the node, at a switch.", shown="all"),
        Key("name", "text", "Name of the counter.", REQUIRED),
        Key("min", "number", "Least value.", low=-1e18, high=1e18),
        Key("max", "number", "Largest value.", low=-1e18, high=1e18))),
    Key("received", "list", "Commands that the receivers of a load have got, with the warm-up.", keys=(
        Key("load", "text", "Name of the load.", REQUIRED),
        Key("min", "int", "Least number.", high=1 << 50),
        Key("max", "int", "Largest number.", high=1 << 50))),
    Key("events", "list", "Numbers of events (events.md) of nodes.", keys=(
        Key("nodes", "text", "switches, endpoints, or the name of a node.", REQUIRED),
        Key("kind", "text", "Kind of the event.", REQUIRED),
        Key("min", "int", "Least number.", high=1e9),
        Key("max", "int", "Largest number.", high=1e9))),
)

LINK = (
    Key("rate_gbps", "number", "Rate of each link: of the switch's output, and of its input. 0: no limit.", 0,
        unit="Gbit/s", high=3200),
    Key("delay_us", "number", "Time that a frame takes on a link, each way.", 0, unit="µs", high=10000000),
)

TOPOLOGY = (
    Key("xpus", "int", "XPUs, with the ids 0 to N - 1.", REQUIRED, low=2, high=1024),
    Key("planes", "int", "Planes: ports of each XPU.", 1, choices=(1, 2, 4)),
    Key("switches", "int", "Switches. Plane p is at switch p modulo switches.", 1, low=0, high=8),
    Key("daemons", "int", "suede processes over which the XPUs are spread; more than 64 under the simulator alone.", 1, low=1,
        high=1024),
    Key("lcores", "int", "Lcores of each daemon, over which its XPUs are spread. An lcore serves 64 clients: XPUs times "
        "loads.", 1, low=1, high=16),
    Key("xpus_per_port", "int", "XPUs of a daemon that share one port and link.", 1, low=1, high=256),
    Key("direct", "switch", "Direct links between XPUs instead of switches: three or five XPUs have one link for each "
        "pair, two one for each plane, and four have two links between 0 and 1 and between 2 and 3, for an XPU has "
        "1, 2 or 4 ports.", False),
    Key("mesh", "map", "A mesh of switches: one for each XPU and plane, joined with its neighbours.", keys=(
        Key("rows", "int", "Switches in a column.", REQUIRED, low=1, high=32),
        Key("columns", "int", "Switches in a row.", REQUIRED, low=1, high=32),
        Key("layers", "int", "Number of rows and columns above each other.", 1, low=1, high=32))),
    Key("system", "text", "A file of suede-mesh (mesh.md), relative to the scenario. XPUs are its devices, and frames follow its "
        "tables."),
    Key("routers", "choice", "With system: what forwards frames at its devices. switches: a switch for each device and plane; "
        "daemons: the daemons, which represent the devices of their XPUs.", "switches", choices=("switches", "daemons")),
    Key("tables", "text", "With system: a file of routing tables (mesh.md) for plane 0, in place of generated ones, which are not "
        "checked.", shown="generated"),
    Key("link", "map", "All links.", keys=LINK),
    Key("links", "list", "The links one by one, instead of switches by planes.", keys=(
        Key("between", "texts", "Its two ends: xpu0.p1 is port 1 of XPU 0, sw0 is a switch. Several links may join two switches.", REQUIRED),
        Key("rate_gbps", "number", "As in link.", unit="Gbit/s", high=3200, shown="link's"),
        Key("delay_us", "number", "As in link.", unit="µs", high=10000000, shown="link's"))),
)

SCENARIO = (
    Key("version", "int", "Version of the file's format.", REQUIRED, low=1, high=1),
    Key("name", "text", "Name of the scenario: 1 to 32 letters, digits, _ and -.", REQUIRED),
    Key("description", "text", "One sentence, for the report.", ""),
    Key("seed", "int", "Seed of everything that is drawn.", 1, high=(1 << 32) - 1),
    Key("backend", "choice", "Back end that runs it, without --backend.", "local", choices=BACKENDS),
    Key("encapsulation", "choice", "Headers of all ports (configuration.md).", "afh2", choices=ENCAPSULATIONS),
    Key("sample_ms", "int", "Time between samples.", 200, unit="ms", low=20, high=60000),
    Key("record", "text", "Records the loads of all endpoints at this interval, 100us to 10s (record.md): 1ms. Not under the "
        "simulator."),
    Key("timeout_s", "number", "The loads are ended after this time.", DEFAULT_TIMEOUT_S, unit="s", low=1, high=86400),
    Key("topology", "map", "XPUs, switches and links.", REQUIRED, keys=TOPOLOGY),
    Key("endpoint", "free", "Merged into the configuration of every daemon (configuration.md); `port` into each of its "
        "ports, `instance` into each instance."),
    Key("switch", "free", "Merged into the configuration of every switch (switch.md); `port` into each of its ports."),
    Key("load", "list", "Loads of suede-perf, all at a time.", REQUIRED, keys=LOAD, least=1),
    Key("faults", "list", "Faults with their times.", keys=FAULT),
    Key("expect", "map", "Conditions that the exit status depends on.", keys=EXPECT),
)


def _range_text(key):
    if key.kind == "switch":
        return "off or on"
    if key.choices:
        return ", ".join(map(str, key.choices[:-1])) + f" or {key.choices[-1]}"
    if key.kind in ("int", "number") and key.high:
        return f"{_number(key.low)} to {_number(key.high)}" + (", also fractions" if key.kind == "number" else "")
    return {"text": "text", "ids": "list of XPU ids and ranges: 0-3,8", "numbers": f"list of {key.low} to {key.high}",
            "texts": "list of texts", "bound": "{min: …, max: …}", "free": "map"}.get(key.kind, "")


def _number(value):
    return f"{value:g}" if abs(value) >= 1e10 else str(value)


def _default_text(key):
    if key.shown:
        return key.shown
    if key.default is REQUIRED:
        return "required"
    if key.default is NONE or key.kind in ("map", "list"):
        return "none" if key.kind not in ("map", "list", "free") else ""
    if key.kind == "switch":
        return "on" if key.default else "off"
    if key.kind == "numbers":
        return "[" + ", ".join(map(str, key.default)) + "]"
    return str(key.default)


def rows(keys=SCENARIO, prefix=""):
    """A row of the table for each key: (path, unit and range, default, meaning)."""
    for key in keys:
        path = prefix + key.name
        yield f"`{path}`", f"{key.unit}: {_range_text(key)}".removeprefix(": "), _default_text(key), key.meaning
        if key.keys:
            yield from rows(key.keys, path + ("[]." if key.kind == "list" else "."))


# Short forms that the page explains.
SHORT = {", also fractions": ", real", "list of XPU ids and ranges": "XPU ids", "{min: …, max: …}": "bounds"}


def table():
    lines = ["| Key | Range | Default | Meaning |", "|---|---|---|---|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows() if row[-1]]  # others are a switch's
    text = "\n".join(lines) + "\n"
    for full, short in SHORT.items():
        text = text.replace(full, short)
    return text
