# SPDX-License-Identifier: Apache-2.0
"""Links of the kernel between network namespaces."""

import contextlib
import secrets
import subprocess

import e2e


def ip(*arguments):
    return subprocess.run(["ip", *map(str, arguments)], check=True, capture_output=True, timeout=60,
                          text=True).stdout


@contextlib.contextmanager
def empty_namespaces(count, ipv6=True):
    """Names of namespaces with a loopback interface. Without `ipv6` the kernel sends no frames of its own there, which
    would be counted and captured with the others."""
    tag = secrets.token_hex(3)
    names = [f"suede-{tag}-{i}" for i in range(count)]
    try:
        for name in names:
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
            if not ipv6:
                ip("netns", "exec", name, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1",
                   "net.ipv6.conf.default.disable_ipv6=1")
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True, timeout=10)


def _join_bridge(bridge, names, interfaces, mtu):
    """Gives each namespace an interface whose other end is a port of a bridge in the namespace `bridge`."""
    ip("-n", bridge, "link", "add", "br0", "type", "bridge")
    ip("-n", bridge, "link", "set", "br0", "mtu", mtu, "up")
    for name, interface in zip(names, interfaces):
        far = interface + "x"
        ip("-n", name, "link", "add", interface, "type", "veth", "peer", "name", far, "netns", bridge)
        ip("-n", bridge, "link", "set", far, "mtu", mtu, "master", "br0")
        ip("-n", bridge, "link", "set", far, "up")


def _with_prefix(names, interfaces):
    return [(["ip", "netns", "exec", name], interface) for name, interface in zip(names, interfaces)]


@contextlib.contextmanager
def namespaces(mtu, bridge=False):
    """Two namespaces with an interface each: joined directly or by a bridge in a third. Yields
    (prefix, interface) of both and the bridge's namespace."""
    interfaces = [f"sv{secrets.token_hex(3)}{side}" for side in "ab"]
    with empty_namespaces(3, ipv6=False) as names:
        if bridge:
            _join_bridge(names[2], names[:2], interfaces, mtu)
        else:
            ip("-n", names[0], "link", "add", interfaces[0], "type", "veth", "peer", "name",
               interfaces[1], "netns", names[1])
        for xpu, (name, interface) in enumerate(zip(names, interfaces)):
            ip("-n", name, "link", "set", interface, "address", e2e.mac_of(xpu), "mtu", mtu)
            ip("-n", name, "link", "set", interface, "up")
        yield _with_prefix(names, interfaces), names[2]


@contextlib.contextmanager
def segment(count, mtu):
    """As many namespaces with an interface each, all on one bridge. Yields (prefix, interface) of each."""
    interfaces = [f"sv{secrets.token_hex(3)}{i}" for i in range(count)]
    with empty_namespaces(count + 1, ipv6=False) as names:
        _join_bridge(names[-1], names[:-1], interfaces, mtu)
        for name, interface in zip(names, interfaces):
            ip("-n", name, "link", "set", interface, "mtu", mtu, "up")
        yield _with_prefix(names, interfaces)


def af_packet(interface, framesz=2048, framecnt=512):
    """`framecnt`: frames that the kernel keeps for an lcore that waits for a CPU. It drops those behind them, uncounted."""
    return f"net_af_packet0,iface={interface},framesz={framesz},blocksz=65536,framecnt={framecnt}"
