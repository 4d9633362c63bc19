# SPDX-License-Identifier: Apache-2.0
"""suede-fare, FRR and suede: weights that BGP advertises reach the sender of PDUs, and what is withdrawn, halved or restored
while commands flow is followed without losing or doubling one (docs/fare.md)."""

import json
import signal
import time

import pytest

import e2e
import frr
import links
from test_planes import Load, check_ends, peers, sent, wait_for_planes

FARE = e2e.BUILD / "app/fare/suede-fare"
BGP_S = e2e.START_S


class Fare(e2e.Process):
    """suede-fare of a host. Ends with the block."""

    def __init__(self, directory, fabric, host, daemon, *arguments, source="bgp", label="", **keys):
        config = {
            "version": 1, "socket": str(daemon.management), "xpu": host, "source": source, "retry_ms": 100,
            "planes": [{"plane": p, "interfaces": [f"p{p}"]} for p in range(fabric.planes)],
            "peers": [{"xpu": 1 - host, "prefix": frr.loopback(1 - host) + "/32"}],
            "bgp": {"name": fabric.host_names[host]}, "log": {"level": "debug"}, **keys}
        self.path = directory / f"fare-{host}{label}.yaml"
        self.path.write_text(json.dumps(config))
        super().__init__(directory, f"fare-{host}{label}", [FARE, "--config", self.path, *arguments],
                         ("ip", "netns", "exec", fabric.host_names[host]))


def weights(daemon):
    return [row["weight"] for row in peers(daemon).values()]


def wait_for_weights(daemon, wanted, fare, what):
    """Waits until the planes of the daemon's one peer have these weights, and says how long it took."""
    begun = time.monotonic()
    e2e.wait_until(lambda: weights(daemon) == wanted, BGP_S,
                   lambda: f"{what}: weights {wanted}, not {weights(daemon)}\n{fare.report()}")
    print(f"{daemon.name}: {what}: {wanted} after {time.monotonic() - begun:.2f} s")


class Pair:
    """Two hosts with suede under load, and suede-fare on both: of the left one by bandwidths, of the right one by the kernel's
    shares."""

    def __init__(self, stack, directory, ordering, bandwidths):
        self.fabric = frr.Fabric(stack, directory, bandwidths)
        prefixes = [("ip", "netns", "exec", name) for name in self.fabric.host_names]
        self.left, self.right = self.daemons = stack.enter_context(e2e.daemons(*(
            e2e.Daemon(directory, self.fabric.endpoint(directory, host, ordering), prefix=prefix)
            for host, prefix in enumerate(prefixes))))
        self.load = Load(stack, directory, self.left, self.right, prefixes)
        for daemon in self.daemons:
            wait_for_planes(daemon, self.fabric.planes)
        self.usual = weights(self.left)
        self.fares = [stack.enter_context(Fare(directory, self.fabric, host, daemon, source=source,
                                               damping={"half_life_ms": 0}))
                      for host, (daemon, source) in enumerate(zip(self.daemons, ("bgp", "kernel")))]

    def follows(self, mbps, what):
        """Waits for the weights of the planes' bandwidths: as they are, and in ten-thousandths of the greatest."""
        wait_for_weights(self.left, mbps, self.fares[0], what)
        hops = frr.hop_weights(mbps)
        shares = [round(value / max(hops) * 10000) for value in hops]
        wait_for_weights(self.right, shares, self.fares[1], what)

    def uses_not(self, plane):
        """Traffic goes on, and none of it takes the plane."""
        for daemon in self.daemons:
            e2e.wait_until(lambda d=daemon: peers(d)[plane]["inflight_bytes"] == 0, e2e.TRAFFIC_S,
                           lambda d=daemon: f"the end of the PDUs on plane {plane} of {d.name}\n{d.report()}")
        before = [sent(daemon)[plane] for daemon in self.daemons]
        self.load.goes_on()
        assert [sent(daemon)[plane] for daemon in self.daemons] == before

    def dies(self, plane, bandwidths):
        """The data plane leaves a dead plane before BGP knows: the route, and so the weight, is still there."""
        times = [time.time()]
        self.fabric.lose(1, plane)
        times.append(time.time())
        e2e.wait_until(lambda: peers(self.left)[plane]["state"] != "up", BGP_S,
                       lambda: f"the death of plane {plane}\n{self.left.report()}")

        def deaths(daemon):
            listed = e2e.managed(daemon, "events", "list", "--limit", 1000)["events"]
            return [event for event in listed if event["kind"] == "peer_plane_down" and event["plane"] == plane and
                    e2e.seconds_of(event["time"]) >= times[0]]
        for daemon in self.daemons:
            down = e2e.wait_until(lambda d=daemon: deaths(d), BGP_S,
                                  lambda d=daemon: f"the death of plane {plane}\n{d.report()}")[0]
            # Times are from the beginning and from the end of the command.
            after = [1000 * (e2e.seconds_of(down["time"]) - each) for each in times]
            print(f"{daemon.name}: plane {plane} is found dead ({down['reason']}) after {after[1]:.0f} to {after[0]:.0f} ms")
        assert weights(self.left) == bandwidths
        hops = self.fabric.hosts[0].hops(frr.loopback(1))
        assert set(hops) == {f"p{each}" for each in range(self.fabric.planes)}, "its route is stale"
        self.uses_not(plane)
        self.fabric.forward(1, plane)
        wait_for_planes(self.left, self.fabric.planes)

    def end(self):
        self.load.goes_on()
        self.load.end()
        check_ends(self.left, self.right)


@pytest.mark.parametrize("ordering", ["strict", pytest.param("unordered", marks=pytest.mark.long)])
def test_weights_follow_routes(stack, directory, as_root, ordering):
    del as_root
    pair = Pair(stack, directory, ordering, [8000, 4000])
    fabric = pair.fabric
    pair.follows([8000, 4000], "advertised")
    before = sent(pair.left)
    pair.load.goes_on()
    if ordering == "unordered":
        used = {plane: count - before[plane] for plane, count in sent(pair.left).items()}
        assert used[0] > used[1], used

    fabric.set_bandwidth(0, 4000)
    pair.follows([4000, 4000], "plane 0 halved")
    pair.load.goes_on()
    fabric.set_bandwidth(0, 8000)
    pair.follows([8000, 4000], "plane 0 restored")

    fabric.set_sessions(0, up=False)
    pair.follows([0, 4000], "plane 0 withdrawn")
    # (An end that gets no CPU for some milliseconds may be found dead, and comes back.)
    e2e.wait_until(lambda: [row["usable"] for row in peers(pair.left).values()] == [False, True], e2e.START_S,
                   "plane 1 alone is usable")
    e2e.wait_until(lambda: peers(pair.left)[0]["state"] == "up", e2e.START_S, "the health of plane 0 goes on")
    pair.uses_not(0)
    fabric.set_sessions(0, up=True)
    pair.follows([8000, 4000], "plane 0 back")
    wait_for_planes(pair.left, 2)

    pair.dies(0, [8000, 4000])

    # A link goes: hellos, and then BGP.
    links.ip("-n", fabric.leaf_names[1], "link", "set", "h1", "down")
    pair.follows([8000, 0], "link of plane 1 down")
    pair.uses_not(1)
    links.ip("-n", fabric.leaf_names[1], "link", "set", "h1", "up")
    fabric.forward(1, 1)
    pair.follows([8000, 4000], "link of plane 1 up")
    for daemon in pair.daemons:
        wait_for_planes(daemon, 2)

    # suede-fare gives the weights back at its end.
    for fare, daemon in zip(pair.fares, pair.daemons):
        fare.signal(signal.SIGTERM)
        assert fare.wait(e2e.START_S) == 0, fare.report()
        assert weights(daemon) == pair.usual
    pair.end()


def test_four_planes(stack, directory, as_root):
    del as_root
    pair = Pair(stack, directory, "unordered", [8000, 4000, 2000, 2000])
    pair.follows([8000, 4000, 2000, 2000], "advertised")
    pair.fabric.set_bandwidth(0, 4000)
    pair.follows([4000, 4000, 2000, 2000], "plane 0 halved")
    pair.load.goes_on()
    pair.fabric.set_bandwidth(0, 8000)
    pair.follows([8000, 4000, 2000, 2000], "plane 0 restored")
    pair.dies(1, [8000, 4000, 2000, 2000])
    pair.fabric.set_sessions(2, up=False)
    pair.follows([8000, 4000, 0, 2000], "plane 2 withdrawn")
    pair.uses_not(2)
    pair.fabric.set_sessions(2, up=True)
    pair.follows([8000, 4000, 2000, 2000], "plane 2 back")
    for daemon in pair.daemons:
        wait_for_planes(daemon, 4)
    pair.end()


def test_an_endpoint_that_restarts_and_a_plane_that_flaps(stack, directory, as_root):
    del as_root
    fabric = frr.Fabric(stack, directory, [8000, 4000])
    prefix = ("ip", "netns", "exec", fabric.host_names[0])
    daemon = e2e.Daemon(directory, fabric.endpoint(directory, 0, "strict"), prefix=prefix)
    # suede-fare waits for the endpoint.
    fare = stack.enter_context(Fare(directory, fabric, 0, daemon,
                                    damping={"half_life_ms": 3_600_000, "suppress": 1500}))
    e2e.wait_until(lambda: "no daemon: " in fare.stderr(), e2e.START_S, "a word on the endpoint")
    assert "No such file or directory; start the endpoint" in fare.stderr()
    for _ in range(2):
        with daemon:
            wait_for_weights(daemon, [8000, 4000], fare, "an endpoint that starts")
            daemon.stop()
            daemon.signal(signal.SIGCONT)
    assert fare.stderr().count("connected to the endpoint") == 2
    for outage in fare.stderr().split("connected to the endpoint"):
        reasons = [line.partition("no daemon: ")[2] for line in outage.splitlines() if "no daemon: " in line]
        assert len(reasons) == len(set(reasons)), "it says so once each time"

    with daemon:
        wait_for_weights(daemon, [8000, 4000], fare, "an endpoint that starts")
        # The first withdrawal and the return are two flaps; from then on good news waits.
        fabric.set_sessions(1, up=False)
        wait_for_weights(daemon, [8000, 0], fare, "withdrawn")
        fabric.set_sessions(1, up=True)
        e2e.wait_until(lambda: len(fabric.hosts[0].hops(frr.loopback(1))) == 2, BGP_S, "the route")
        fabric.set_bandwidth(0, 2000)
        wait_for_weights(daemon, [2000, 0], fare, "bad news passes, good news waits")
        fare.signal(signal.SIGUSR1)
        e2e.wait_until(lambda: "plane=1 weight=0 penalty=" in fare.stderr(), e2e.START_S, "all weights")
        assert "held=yes" in fare.stderr()
        # Another process does not remember the flaps, sets the weights once and leaves them.
        fare.signal(signal.SIGTERM)
        assert fare.wait(e2e.START_S) == 0
        once = stack.enter_context(Fare(directory, fabric, 0, daemon, "--once", label="-once"))
        assert once.wait(e2e.START_S) == 0, once.report()
        assert weights(daemon) == [2000, 4000]


def test_what_is_wrong_is_said(stack, directory, as_root):
    del as_root
    fabric = frr.Fabric(stack, directory, [8000, 4000])
    daemon = e2e.Daemon(directory, fabric.endpoint(directory, 0, "strict"),
                        prefix=("ip", "netns", "exec", fabric.host_names[0]))

    def once(code, text, label, *flags, **keys):
        fare = stack.enter_context(Fare(directory, fabric, 0, daemon, "--once", *flags, label=label, **keys))
        assert fare.wait(e2e.START_S) == code, fare.report()
        assert text in fare.stderr(), fare.report()

    once(4, "no daemon: ", "-absent")
    with daemon:
        once(5, "plane 1: there is no interface nowhere", "-interface",
             planes=[{"plane": 0, "interfaces": ["p0"]}, {"plane": 1, "interfaces": ["nowhere"]}])
        once(5, "no-vtysh: No such file or directory; install frr", "-vtysh", bgp={"vtysh": "/no-vtysh"})
        once(1, "failed, code 1; zebra and bgpd must run there", "-frr", bgp={"name": "nobody"})
        usual = weights(daemon)
        once(0, "no route, and its weights are left alone peer=1", "-route",
             peers=[{"xpu": 1, "prefix": "192.0.2.77"}])
        assert weights(daemon) == usual
        e2e.wait_until(lambda: len(fabric.hosts[0].hops(frr.loopback(1))) == 2, BGP_S, "the routes")
        once(1, "no peer with XPU id 9; peers are: 1", "-peer", peers=[{"xpu": 9, "prefix": frr.loopback(1)}])
        once(1, "plane=3", "-plane",
             planes=[{"plane": 0, "interfaces": ["p0"]}, {"plane": 3, "interfaces": ["p1"]}])
        once(0, "set peer=1 plane=0 weight=3500", "-own", planes=[
            {"plane": 0, "interfaces": ["p0"], "bandwidth_gbps": 3.5}, {"plane": 1, "interfaces": ["p1"]}])
        assert weights(daemon) == [3500, 4000]


def test_routes_of_the_kernel(stack, directory, as_root):
    """Without FRR and an endpoint: what the log says of the next hops."""
    del as_root
    name, = stack.enter_context(links.empty_namespaces(1))
    for plane in range(2):
        links.ip("-n", name, "link", "add", f"p{plane}", "type", "veth", "peer", "name", f"q{plane}")
        for end in "pq":
            links.ip("-n", name, "link", "set", f"{end}{plane}", "up")
        links.ip("-n", name, "addr", "add", f"10.{plane}.0.1/24", "dev", f"p{plane}")
        links.ip("-n", name, "addr", "add", f"fd00:{plane}::1/64", "dev", f"p{plane}", "nodad")
    config = {"version": 1, "socket": str(directory / "none.sock"), "xpu": 0, "log": {"level": "debug"},
              "planes": [{"plane": p, "interfaces": [f"p{p}"]} for p in range(2)],
              "peers": [{"xpu": 1, "prefix": "192.0.2.1"}, {"xpu": 2, "prefix": "2001:db8::2"},
                        {"xpu": 3, "prefix": "198.51.100.0/24"}]}
    (directory / "fare.yaml").write_text(json.dumps(config))
    fare = stack.enter_context(e2e.Process(directory, "fare", [FARE, "--config", directory / "fare.yaml"],
                                           ("ip", "netns", "exec", name)))
    seen = 0

    def route(wanted, *words):
        """After an ip command, the log's next line on routes that fits; in any order, as the kernel may have it."""
        nonlocal seen

        def told():
            nonlocal seen
            lines = [line.split(" routes ")[1] for line in fare.stderr().splitlines() if " routes " in line]
            for at in range(seen, len(lines)):
                if sorted(lines[at].split()) == sorted(wanted.split()):
                    seen = at + 1
                    return True
            return False
        if words:
            links.ip("-n", name, *words)
        e2e.wait_until(told, e2e.START_S, lambda: f"{wanted} after {words}\n{fare.report()}")

    via = (("via", "10.0.0.2"), ("via", "10.1.0.2"))
    route("peer=1 hops=0")
    seen = 0
    route("peer=1 hops=1 p0=1", "route", "add", "192.0.2.1", *via[0], "metric", 50)
    route("peer=1 hops=2 p0=3 p1=1", "route", "add", "192.0.2.1", "metric", 20, "nexthop", *via[0], "weight", 3,
          "nexthop", *via[1])
    links.ip("-n", name, "route", "add", "192.0.2.1", *via[1], "table", 99)
    links.ip("-n", name, "route", "add", "192.0.2.0/24", *via[1])
    route("peer=3 hops=1 p1=1", "route", "add", "198.51.100.0/24", *via[1])
    route("peer=1 hops=1 p0=1", "route", "del", "192.0.2.1", "metric", 20)
    route("peer=1 hops=0", "route", "del", "192.0.2.1", "metric", 50)
    # Nexthop groups, whose changes are no changes of the route.
    for plane in range(2):
        links.ip("-n", name, "nexthop", "add", "id", plane + 1, *via[plane], "dev", f"p{plane}")
    links.ip("-n", name, "nexthop", "add", "id", 10, "group", "1,66/2,33")
    route("peer=1 hops=2 p0=66 p1=33", "route", "add", "192.0.2.1", "nhid", 10)
    route("peer=1 hops=2 p0=20 p1=80", "nexthop", "replace", "id", 10, "group", "1,20/2,80")
    route("peer=1 hops=1 p0=20", "nexthop", "del", "id", 2)
    route("peer=3 hops=1 p0=1", "route", "replace", "198.51.100.0/24", "nhid", 1)
    route("peer=1 hops=0", "route", "replace", "unreachable", "192.0.2.1")
    # IPv6.
    route("peer=2 hops=2 p0=5 p1=7", "route", "add", "2001:db8::2", "nexthop", "via", "fd00:0::2", "weight", 5,
          "nexthop", "via", "fd00:1::2", "weight", 7)
    route("peer=2 hops=1 p1=7", "link", "set", "p0", "down")
    # Many changes at once, more than the log has room for: in the end it has the last one.
    batch = directory / "batch"
    batch.write_text("".join(f"route replace 198.51.100.0/24 via 10.1.0.{2 + i % 200}\n" for i in range(5000)) +
                     "route replace 192.0.2.1 via 10.1.0.9\n")
    links.ip("-n", name, "-batch", batch)

    def has_the_last():
        fare.signal(signal.SIGUSR1)
        return "weight peer=1 plane=1 weight=10000 " in fare.stderr()
    e2e.wait_until(has_the_last, e2e.START_S, "the last change")
    fare.signal(signal.SIGTERM)
    assert fare.wait(e2e.START_S) == 0
