# SPDX-License-Identifier: Apache-2.0
"""Links of the kernel between network namespaces."""

import contextlib
import secrets
import subprocess

import e2e


def ip(*arguments):
    return subprocess.run(["ip", *map(str, arguments)], check=True, capture_output=True, timeout=60,
                          text=True).stdout


def without_ipv6(name):
    """Keeps the kernel from sending frames of its own in a namespace: they would be counted and captured with the others."""
    ip("netns", "exec", name, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.default.disable_ipv6=1")


@contextlib.contextmanager
def empty_namespaces(count):
    """Names of namespaces with a loopback interface."""
    tag = secrets.token_hex(3)
    names = [f"suede-{tag}-{i}" for i in range(count)]
    try:
        for name in names:
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True, timeout=10)


@contextlib.contextmanager
def namespaces(mtu, bridge=False):
    """Two namespaces with an interface each: joined directly or by a bridge in a third. Yields
    (prefix, interface) of both and the bridge's namespace."""
    tag = secrets.token_hex(3)
    names = [f"suede-{tag}-{side}" for side in "abc"]
    interfaces = [f"sv{tag}{side}" for side in "ab"]
    try:
        for name in names:
            ip("netns", "add", name)
            without_ipv6(name)
        if bridge:
            ip("-n", names[2], "link", "add", "br0", "type", "bridge")
            ip("-n", names[2], "link", "set", "br0", "mtu", mtu, "up")
            for name, interface in zip(names, interfaces):
                far = interface + "x"
                ip("-n", name, "link", "add", interface, "type", "veth", "peer", "name", far, "netns",
                   names[2])
                ip("-n", names[2], "link", "set", far, "mtu", mtu, "master", "br0")
                ip("-n", names[2], "link", "set", far, "up")
        else:
            ip("-n", names[0], "link", "add", interfaces[0], "type", "veth", "peer", "name",
               interfaces[1], "netns", names[1])
        for xpu, (name, interface) in enumerate(zip(names, interfaces)):
            ip("-n", name, "link", "set", interface, "address", e2e.mac_of(xpu), "mtu", mtu)
            ip("-n", name, "link", "set", interface, "up")
        yield [(["ip", "netns", "exec", name], interface)
               for name, interface in zip(names, interfaces)], names[2]
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True, timeout=10)


@contextlib.contextmanager
def segment(count, mtu):
    """As many namespaces with an interface each, all on one bridge. Yields (prefix, interface) of each."""
    tag = secrets.token_hex(3)
    names = [f"suede-{tag}-{i}" for i in range(count + 1)]
    interfaces = [f"sv{tag}{i}" for i in range(count)]
    try:
        for name in names:
            ip("netns", "add", name)
            without_ipv6(name)
        ip("-n", names[-1], "link", "add", "br0", "type", "bridge")
        ip("-n", names[-1], "link", "set", "br0", "mtu", mtu, "up")
        for name, interface in zip(names, interfaces):
            far = interface + "x"
            ip("-n", name, "link", "add", interface, "type", "veth", "peer", "name", far, "netns",
               names[-1])
            ip("-n", names[-1], "link", "set", far, "mtu", mtu, "master", "br0")
            ip("-n", names[-1], "link", "set", far, "up")
            ip("-n", name, "link", "set", interface, "mtu", mtu, "up")
        yield [(["ip", "netns", "exec", name], interface)
               for name, interface in zip(names, interfaces)]
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True, timeout=10)


def af_packet(interface, framesz=2048, framecnt=512):
    """`framecnt`: frames that the kernel keeps for an lcore that waits for a CPU. It drops those behind them, uncounted."""
    return f"net_af_packet0,iface={interface},framesz={framesz},blocksz=65536,framecnt={framecnt}"
