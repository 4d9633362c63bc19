# SPDX-License-Identifier: Apache-2.0
"""A station between two daemons that seal has every frame of theirs (docs/sealing.md, docs/security.md). Under traffic
it replays, holds, changes, joins, returns and forges frames. None of it is accepted, each is counted with a reason,
and the traffic goes on, exactly once, with the right content."""

import contextlib
import random
import secrets
import threading

import pytest

import e2e
import links
import middle as middles
from forger import (HEADER, RH, TAG, Forger, is_answer, is_control, is_data, is_hello, is_sealed, maker, pdu_of,
                    reflected, shim_bytes, with_pdu)
from middle import LEFT, RIGHT
from test_planes import Load
from test_sealing import Keys, keys_of, sealed, secret_line

RATE = 1000  # commands in a second, of each of four flows

# Counters of transport: an authentic frame may count here as well, where its retransmission overtook it.
OF_TRANSPORT = ("rx_drop_duplicate_total", "rx_drop_ahead_total", "rx_drop_not_ready_total",
                "rx_drop_before_hello_total", "rx_drop_fenced_total")

pytestmark = pytest.mark.usefixtures("as_root")


def counters(daemon):
    total, = e2e.managed(daemon, "counters", "get")["sets"]
    return total["counters"]


def reasons(before, after):
    """The reasons for which frames have been refused, with their number."""
    return {name: after[name] - before[name] for name in after
            if (name.startswith("rx_drop_") or name == "rx_hello_unverified_total") and
            name not in OF_TRANSPORT and after[name] != before[name]}


class Ends:
    def __init__(self, stack, **section):
        self.directory = stack.enter_context(e2e.work_directory())
        self.keys = Keys(self.directory)
        self.middle, self.places = stack.enter_context(middles.station())
        self.stack = stack
        path = self.keys.write("both", secret_line(1, self.keys.secret))
        self.daemons = []
        for side, (prefix, interface) in zip(("left", "right"), self.places):
            # Every frame is to be counted: several hundred come at once, while the lcore may have no CPU.
            device = links.af_packet(interface, 4096, framecnt=4096)
            config = sealed(e2e.endpoint_config(self.directory, side, device), path, **section)
            config["ports"][0]["mtu_bytes"] = middles.MTU
            # An end that waits for a CPU is not dead.
            config["transport"] = {"rto_initial_us": 20000, "rto_min_us": 20000, "max_tries": 100}
            self.daemons.append(e2e.Daemon(self.directory, config, prefix))
        stack.enter_context(e2e.daemons(*self.daemons))
        self.load = None
        self.begin_load()

    def begin_load(self):
        prefixes = [prefix for prefix, _ in self.places]
        self.load = Load(self.stack, self.directory, *self.daemons, prefixes, RATE)

    def counters(self):
        return [counters(daemon) for daemon in self.daemons]

    def check_refused(self, before, wanted, which=None):
        """Since `before` the ends have refused as many frames as `wanted` says, and no more come of it later.
        `which`: the reasons that there may be. Returns those of each end."""
        def look():
            return [reasons(*pair) for pair in zip(before, self.counters())]
        e2e.wait_until(lambda: all(sum(each.values()) >= count for each, count in zip(look(), wanted)),
                       e2e.START_S, lambda: f"refusals: {look()} of {wanted}")
        self.load.goes_on()
        found = look()
        assert [sum(each.values()) for each in found] == list(wanted), found
        for each in found:
            assert not which or set(each) <= set(which), (each, which)
        assert self.middle.failure is None
        return found

    def rotate(self):
        before = [keys_of(daemon)["tx_epoch"] for daemon in self.daemons]
        for daemon in self.daemons:
            e2e.suedectl(daemon, "keys", "rotate")
        for daemon, other, epoch in zip(self.daemons, reversed(self.daemons), before):
            e2e.wait_until(lambda d=daemon, o=other, e=epoch: keys_of(d)["tx_epoch"] > e and
                           keys_of(o)["rx_epoch"] > e, e2e.START_S, "another epoch")
        self.load.goes_on()

    def end(self):
        """The clients have found all of it, once; nobody has lost the other."""
        self.load.end()
        for each in self.counters():
            for name in ("desynchronized_total", "peer_reset_total", "tx_drop_unreachable_total",
                         "tx_drop_in_doubt_total", "seal_mismatch_total"):
                assert each.get(name, 0) == 0, (name, each)


@contextlib.contextmanager
def attacked(**section):
    with contextlib.ExitStack() as stack:
        ends = Ends(stack, **section)
        yield ends


class Insert:
    """Puts frames in front of genuine ones: `make` has for each of these, as (end, frame), what comes before it;
    None: it asks for no more."""

    def __init__(self, middle, make):
        self.middle = middle
        self.make = make
        self.inserted = [0, 0]  # by the end that they come to
        self.over = threading.Event()

    def __call__(self, source, frame):
        before = [] if self.over.is_set() else self.make(source, frame)
        if before is None:
            self.over.set()
            return [frame]
        self.inserted[1 - source] += len(before)
        return [*before, frame]

    def run(self):
        self.middle.set_hook(self)
        assert self.over.wait(e2e.START_S), "too few frames come"
        self.middle.set_hook(None)
        return self.inserted


def bits_of(frame, dice):
    """All bits of headers and shim, and one of each octet behind them. But for those that make a fragment of an IP
    datagram: the kernel keeps fragments for itself, as net_af_packet asks it to join them."""
    head = HEADER + RH + shim_bytes(frame)
    for at in range(len(frame)):
        for bit in range(8) if at < head else (dice.randrange(8),):
            if at == 21 or (at == 20 and bit < 6):
                continue
            changed = bytearray(frame)
            changed[at] ^= 1 << bit
            yield bytes(changed)


@pytest.mark.parametrize("kind", [is_data, is_answer, is_control, is_hello])
def test_no_bit_can_be_changed(kind):
    """Changed copies come before the genuine frame, whose number is new until then. A copy with changes that are
    allowed on the way (MAC addresses) is taken once, and the genuine frame is a replay then."""
    with attacked() as ends:
        dice = random.Random(7)
        todo = [None, None]

        def make(source, frame):
            if todo[0] is not None and not todo[0] and todo[1] is not None and not todo[1]:
                return None
            if not kind(frame):
                return []
            # Some copies for each frame, so that no queue is too short for them. Lengths may differ.
            if todo[source] is None:
                todo[source] = list(range(sum(1 for _ in bits_of(frame, dice))))
            part, todo[source] = todo[source][:64], todo[source][64:]
            copies = list(bits_of(frame, dice))
            return [copies[n] for n in part if n < len(copies)]

        insert = Insert(ends.middle, make)
        before = ends.counters()
        stop = threading.Event()

        def ask():
            while not stop.wait(0.02):
                for daemon, peer in zip(ends.daemons, (1, 0)):
                    e2e.suedectl(daemon, "ping", peer, "--count", 1)
        asker = threading.Thread(target=ask)
        if kind in (is_hello, is_control):
            asker.start()
        try:
            inserted = insert.run()
        finally:
            stop.set()
            if asker.is_alive():
                asker.join()
        assert min(inserted) > 400
        for each in ends.check_refused(before, inserted):
            # Changes of the ciphertext, of the tag and of the numbers of the shim are refused by the tag.
            assert each["rx_drop_seal_tag_total"] > 50
        ends.end()


def test_replays():
    with attacked() as ends:
        # Copies that come at once.
        before = ends.counters()
        count = [0, 0]

        def again(source, frame):
            if min(count) >= 200:
                return None
            if not is_sealed(frame) or count[source] >= 200:
                return []
            count[source] += 1
            return [frame] * 2
        inserted = Insert(ends.middle, again).run()
        ends.check_refused(before, inserted, ("rx_drop_seal_replay_total",))

        # Copies that come later: of all frames, within the window and below it; also after one rotation, and after more
        # rotations than a shim has values of the epoch.
        for rotations in (0, 1, 1, 1, 1):
            for _ in range(rotations):
                ends.rotate()
            before = ends.counters()
            wanted = [0, 0]
            for source in (LEFT, RIGHT):
                frames = ends.middle.since(0, source, is_sealed)
                some = frames[:300] + frames[-300:]
                for at in range(0, len(some), 100):
                    ends.middle.send(1 - source, some[at:at + 100])
                wanted[1 - source] = len(some)
            ends.check_refused(before, wanted, ("rx_drop_seal_replay_total", "rx_drop_seal_key_total"))
        ends.end()


def test_replays_while_nobody_speaks():
    """Frames of old epochs come for seconds, and none that is genuine: the ends have not lost each other."""
    with attacked() as ends:
        old = [ends.middle.since(0, source, is_data)[:20] for source in (LEFT, RIGHT)]
        for _ in range(2):
            ends.rotate()
        ends.load.end()
        before = ends.counters()
        identities = [Forger(ends.middle, source, ends.keys.secret).values["sender_identity"] for source in (LEFT, RIGHT)]
        place = len(ends.middle.records)
        for _ in range(15):
            for source in (LEFT, RIGHT):
                ends.middle.send(1 - source, old[source])
            threading.Event().wait(0.2)
        after = ends.counters()
        for pair in zip(before, after):
            assert sum(reasons(*pair).values()) == 15 * 20, reasons(*pair)
            assert pair[0]["desynchronized_total"] == pair[1]["desynchronized_total"]
        for source in (LEFT, RIGHT):
            for hello in ends.middle.since(place, source, is_hello):
                assert hello[HEADER + RH + 2:HEADER + RH + 10].hex() == identities[source]
        ends.begin_load()
        ends.end()


def test_frames_that_overtake_others():
    with attacked() as ends:
        before = ends.counters()
        dice = random.Random(11)
        held = [[], []]
        late = [[], []]

        def shuffle(source, frame):
            # One frame of twelve is kept for the end.
            if is_data(frame) and dice.randrange(12) == 0:
                late[source].append(frame)
                return []
            held[source].append(frame)
            if len(held[source]) < 4:
                return []
            frames, held[source] = held[source], []
            dice.shuffle(frames)
            return frames
        ends.middle.set_hook(shuffle)
        ends.load.goes_on(500)
        e2e.wait_until(lambda: min(len(frames) for frames in late) > 10, e2e.START_S, "frames to hold")
        ends.middle.set_hook(None)
        for source in (LEFT, RIGHT):
            ends.middle.send(1 - source, held[source])
        ends.load.goes_on()
        assert all(not reasons(*pair) for pair in zip(before, ends.counters()))
        # Late frames are authentic, and new where their numbers are not too old: their commands have come long ago.
        for source in (LEFT, RIGHT):
            ends.middle.send(1 - source, late[source])
        e2e.wait_until(lambda: all(now["rx_drop_seal_replay_total"] + now["rx_drop_duplicate_total"] >= len(frames)
                                   for now, frames in zip(ends.counters(), reversed(late))),
                       e2e.START_S, "what came too late")
        ends.load.goes_on()
        for found, frames in zip((reasons(*pair) for pair in zip(before, ends.counters())), reversed(late)):
            assert set(found) <= {"rx_drop_seal_replay_total"} and sum(found.values()) <= len(frames)
        ends.end()


def test_parts_of_two_frames():
    """Header, RH, shim and body of two genuine frames, cut and made longer, before either of them comes."""
    with attacked() as ends:
        previous = [None, None]
        count = [0, 0]

        def join(source, frame):
            if min(count) >= 60:
                return None
            if not is_data(frame) or count[source] >= 60:
                return []
            other, previous[source] = previous[source], frame
            if other is None:
                return []
            count[source] += 1
            pdu, old = pdu_of(frame), pdu_of(other)
            head = RH + shim_bytes(frame)
            spliced = [pdu[:head] + old[head:], old[:head] + pdu[head:], old[:RH] + pdu[RH:], pdu[:RH] + old[RH:],
                       pdu[:-TAG] + old[-TAG:], pdu[:-1], pdu[:head + TAG], pdu[:head], pdu[:RH + 1], pdu + b"\0",
                       pdu + old, pdu[:head] + bytes(TAG + 4), old[head:] + pdu[head:]]
            # Where RH and shim of two frames are equal, some of the splices are one of these frames.
            return [with_pdu(frame, made) for made in spliced if made not in (pdu, old)]
        before = ends.counters()
        inserted = Insert(ends.middle, join).run()
        assert min(inserted) > 600
        for each in ends.check_refused(before, inserted):
            assert each["rx_drop_seal_tag_total"] > 100
            assert "rx_drop_seal_malformed_total" in each
        ends.end()


def test_frames_that_return_to_their_sender():
    with attacked() as ends:
        before = ends.counters()
        wanted = [0, 0]
        for source in (LEFT, RIGHT):
            frames = [frame for kind in (is_data, is_answer, is_control, is_hello)
                      for frame in ends.middle.since(0, source, kind)[-20:]]
            other = ends.middle.since(0, 1 - source, is_data)[-1]
            for frame in frames:
                pdu = bytearray(pdu_of(frame))
                pdu[1] ^= 1  # the XPU id: 0 and 1
                # As it is; with addresses as if the other had sent it; and then with the other's XPU id as well.
                back = [frame, reflected(frame), with_pdu(other, bytes(pdu))]
                ends.middle.send(source, back)
                wanted[source] += len(back)
        found = ends.check_refused(before, wanted)
        for each in found:
            assert {"rx_drop_destination_total", "rx_drop_unknown_xpu_total", "rx_drop_seal_tag_total"} <= set(each)
        ends.end()


def forgeries(forger, other, commands, hello):
    """Frames, with the reason for which each is refused. `other`: another partition's secret."""
    number = {"stream": 41, "psn": 5}
    for count in range(40):
        yield forger.sealed(commands, secret=secrets.token_hex(32), count=count, **number), "tag"
        # A frame that is right for the other partition, which its RH names; then one with this partition's RH.
        yield forger.sealed(commands, secret=other, partition=7, count=count, **number), "partition"
        yield forger.sealed(commands, secret=other, key_partition=7, count=count, **number), "tag"
        yield forger.sealed(commands, secret=other, count=count, **number), "tag"
        yield forger.sealed(commands, secret=other, secret_id=9, count=count, **number), "key"
        # An acknowledgement, a control PDU, HELLOs of the identity and of another.
        yield forger.sealed(b"", secret=other, count=count, **number), "tag"
        yield forger.sealed(maker.not_ready(forger.values), control=True, secret=other, count=count), "tag"
        yield forger.hello(secret=other, count=count + 10 ** 6), "tag"
        if hello:
            yield forger.hello(secret=other, count=count, sender_identity=secrets.token_hex(8)), "tag or budget"


def test_forgeries():
    with attacked() as ends:
        e2e.wait_until(lambda: all(keys_of(d)["sealed"] for d in ends.daemons), e2e.START_S, "sealing")
        commands = maker.data_commands(2)
        for sender, daemon in zip((LEFT, RIGHT), ends.daemons):
            forger = Forger(ends.middle, sender, ends.keys.secret, epoch=keys_of(daemon)["tx_epoch"])
            before = ends.counters()
            forged = list(forgeries(forger, secrets.token_hex(32), commands, True))
            for at in range(0, len(forged), 90):
                ends.middle.send(1 - sender, [frame for frame, _ in forged[at:at + 90]])
            wanted = [0, 0]
            wanted[1 - sender] = len(forged)
            found = ends.check_refused(before, wanted)[1 - sender]
            for reason, name in (("partition", "rx_drop_partition_total"), ("key", "rx_drop_seal_key_total")):
                assert found[name] == sum(1 for _, why in forged if why == reason), found
            tags = [sum(1 for _, why in forged if why.startswith("tag")),
                    sum(1 for _, why in forged if why == "tag")]
            assert tags[1] <= found["rx_drop_seal_tag_total"] <= tags[0], found
            assert found["rx_drop_seal_tag_total"] + found.get("rx_drop_seal_budget_total", 0) == tags[0]

            # The forger knows how to do it: with the right secret the same frame opens, once. (Its PSN is a number
            # that there was, so transport drops what is in it.)
            opened = counters(ends.daemons[1 - sender])
            right = forger.sealed(b"", op=2, stream=42, psn=0)
            before = ends.counters()
            ends.middle.send(1 - sender, [right, right])
            ends.check_refused(before, [int(end != sender) for end in (LEFT, RIGHT)], ("rx_drop_seal_replay_total",))
            assert counters(ends.daemons[1 - sender])["rx_sealed_total"] > opened["rx_sealed_total"]
        ends.end()


def test_plain_frames():
    with attacked() as ends:
        for sender, daemon in zip((LEFT, RIGHT), ends.daemons):
            forger = Forger(ends.middle, sender, ends.keys.secret, epoch=keys_of(daemon)["tx_epoch"])
            plain = [frame for psn in range(20) for frame in (
                forger.plain(maker.data_commands(2), psn=psn), forger.plain(psn=psn, rpsn=psn),
                forger.plain(psn=psn, op=1, rpsn=psn), forger.plain(maker.not_ready(forger.values), control=True),
                forger.hello(plain=True), forger.hello(plain=True, sender_identity=secrets.token_hex(8)))]
            before = ends.counters()
            ends.middle.send(1 - sender, plain)
            wanted = [0, 0]
            wanted[1 - sender] = len(plain)
            ends.check_refused(before, wanted, ("rx_drop_unsealed_total",))
        ends.end()


@pytest.mark.limit(240)
def test_replays_after_a_restart():
    """All that there was of a daemon's former boot comes again while the next one begins, and afterwards."""
    with attacked() as ends:
        ends.load.goes_on(5000)
        ends.load.end()
        left, right = ends.daemons
        assert right.terminate() == 0
        former = [ends.middle.since(0, source, is_sealed) for source in (LEFT, RIGHT)]
        right.start()
        for _ in range(3):
            for source in (LEFT, RIGHT):
                hellos = [frame for frame in former[source] if is_hello(frame)]
                ends.middle.send(1 - source, hellos + former[source][:200])
        ends.begin_load()
        # Both have agreed anew. Old HELLOs of both ends are authentic, and nobody takes them for fresh ones; a question
        # among them may be answered.
        before = ends.counters()
        wanted = [0, 0]
        for source in (LEFT, RIGHT):
            some = former[source][:300] + former[source][-300:]
            for at in range(0, len(some), 100):
                ends.middle.send(1 - source, some[at:at + 100])
            wanted[1 - source] = len(some)
        found = ends.check_refused(before, wanted)
        for each in found:
            assert set(each) <= {"rx_drop_seal_tag_total", "rx_drop_seal_replay_total", "rx_drop_seal_key_total",
                                 "rx_drop_seal_budget_total", "rx_hello_unverified_total"}, each
        ends.load.end()
        for daemon in ends.daemons:
            assert counters(daemon)["desynchronized_total"] == 0
            assert keys_of(daemon)["sealed"]
