// SPDX-License-Identifier: Apache-2.0
#include "attacker.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/big_endian.h"
#include "wire/control_pdu.h"
#include "wire/frame_builder.h"

namespace suede {
namespace {

constexpr uint32_t kPsns = 1u << 16;
constexpr uint32_t kFirstTried = 32;  // PSNs that one guess of four is of
constexpr size_t kRecorded = 600;     // frames of a switch

uint64_t Hash(std::span<const uint8_t> bytes) {
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// The probability that Guess hits one of `count` PSNs from `first` on.
double LuckOf(Psn first, int count) {
  int among_first = 0;
  for (int i = 0; i < count; ++i) among_first += first.Plus(i).value() < kFirstTried ? 1 : 0;
  return 0.75 * count / kPsns + 0.25 * among_first / kFirstTried;
}

}  // namespace

Attacker::Attacker(const AttackOptions& options, const Wiring& wiring, uint16_t partition,
                   const std::vector<std::unique_ptr<SimNetwork>>& switches,
                   const std::vector<std::unique_ptr<Host>>& hosts, Dice& dice, Log& log)
    : options_(options),
      wiring_(wiring),
      partition_(partition),
      switches_(switches),
      hosts_(hosts),
      dice_(dice),
      log_(log),
      over_(options.time == Duration{}),
      records_(switches.size()),
      taken_(hosts.size()) {
  if (over_) return;
  for (const auto& host : hosts_) {
    for (uint32_t plane = 0; plane < host->ports.size(); ++plane) {
      host->ports[plane]->Watch([this, h = host->number, plane](std::span<const uint8_t> bytes) {
        OnTaken(h, plane, bytes);
      });
    }
  }
}

Attacker::~Attacker() = default;

void Attacker::Record() {
  for (size_t s = 0; s < switches_.size(); ++s) switches_[s]->Record(&records_[s], kRecorded);
}

void Attacker::Begin(Time now) {
  begun_ = true;
  until_ = now + options_.time;
  next_ = now;
  if (options_.mutates) {
    TakeToOtherPlanes();
    return Record();
  }
  for (const auto& network : switches_) network->Record(nullptr, 0);
}

void Attacker::Turn(Time now) {
  if (over_ || !begun_) return;
  for (; next_ <= now; next_ += dice_.Up(2 * options_.gap)) Inject(now);
  for (Moved& moved : std::exchange(moved_, {})) Send(moved.to, std::move(moved.bytes));
  over_ = now >= until_;
  if (over_) {
    if (options_.mutates) {
      for (const auto& network : switches_) network->SetFilter(nullptr);
    }
    log_.Add(now, "the attack is over: %llu frames, %llu of them with a right guess",
             static_cast<unsigned long long>(injected_), static_cast<unsigned long long>(hits_));
  }
}

// Any value, or one of the obvious ones.
uint16_t Attacker::Guess() {
  switch (dice_.Below(4)) {
    case 0:
      return static_cast<uint16_t>(dice_.Below(kFirstTried));
    case 1:
      return sweep_ += 61;
    default:
      return static_cast<uint16_t>(dice_.Below(kPsns));
  }
}

void Attacker::Guess(std::vector<uint8_t>& body, uint32_t bytes) {
  const uint64_t way = dice_.Below(4);
  for (uint32_t i = 0; i < bytes; ++i) {
    const bool small = way == 0 || (way == 1 && i + 1 < bytes);
    body.push_back(static_cast<uint8_t>(small ? 0 : dice_.Below(256)));
  }
}

std::vector<uint8_t> Attacker::Commands() {
  std::vector<uint8_t> commands;
  for (uint64_t left = 1 + dice_.Below(3); left != 0; --left) {
    for (const int byte : {0x24, 0xaa, int{kForged}, int{kForged}, 0, 0, 0, 0}) {
      commands.push_back(static_cast<uint8_t>(byte));
    }
  }
  return commands;
}

// A session number: one of the first ones, or any that the encapsulation has.
uint16_t Attacker::Number(Encap encap) {
  if (!options_.sessions) return 0;
  const uint32_t count = SessionCount(encap);
  return static_cast<uint16_t>(dice_.Below(dice_.Chance(0.5) ? std::min(count, 64u) : count));
}

// Asks for a number, or answers.
std::vector<uint8_t> Attacker::Session() {
  std::vector<uint8_t> body;
  for (int i = 0; i < 2; ++i) Guess(body, 8);  // identities
  for (const uint32_t bytes : {1, 1, 2, 2, 2, 4}) Guess(body, bytes);
  body.insert(body.begin(),
              {static_cast<uint8_t>(ControlType::kSession), static_cast<uint8_t>(dice_.Below(4)), 0,
               static_cast<uint8_t>(body.size())});
  return body;
}

std::vector<uint8_t> Attacker::Control(Kind kind) {
  if (options_.sessions && dice_.Chance(0.25)) return Session();
  std::vector<uint8_t> body;
  const auto flags = static_cast<uint8_t>(dice_.Below(kind == kCongestion ? 8 : 4));
  const auto put16 = [&](uint16_t value) {
    body.push_back(static_cast<uint8_t>(value >> 8));
    body.push_back(static_cast<uint8_t>(value));
  };
  uint8_t type = 0;
  switch (kind) {
    case kNotReady:
    case kReady:
      type = kind == kNotReady ? 2 : 3;
      body = {static_cast<uint8_t>(dice_.Below(kVcCount)), 0};
      put16(Guess());
      if (kind == kNotReady) Guess(body, 4);
      break;
    case kHello:
      type = 1;
      Guess(body, 4);
      Guess(body, 4);
      body.push_back(static_cast<uint8_t>(dice_.Below(2)));
      body.push_back(static_cast<uint8_t>(dice_.Below(4)));
      put16(static_cast<uint16_t>(dice_.Chance(0.5) ? 64 : dice_.Below(kPsns)));
      put16(static_cast<uint16_t>(dice_.Chance(0.5) ? 1024 : dice_.Below(kPsns)));
      put16(static_cast<uint16_t>(dice_.Chance(0.5) ? 0 : dice_.Below(kPsns)));
      break;
    case kPlane:
    case kFence:
    case kFenced:
      type = kind == kPlane ? 4 : kind == kFence ? 5 : 6;
      Guess(body, 4);
      Guess(body, 4);
      body.push_back(static_cast<uint8_t>(dice_.Below(3)));
      body.push_back(static_cast<uint8_t>(dice_.Below(2)));
      while (body.size() < (kind == kPlane ? 28 : 20)) put16(Guess());
      break;
    case kCongestion:
      type = static_cast<uint8_t>(ControlType::kCongestion);
      // Two identities, then credit and marks.
      for (int i = 0; i < 9; ++i) Guess(body, i < 2 ? 8 : 4);
      if (dice_.Chance(0.5)) Guess(body, 8);
      break;
    default:  // its bytes are not looked at, or are too few
      type = static_cast<uint8_t>(kind == kUnknown ? 7 + dice_.Below(249) : 1 + dice_.Below(6));
      Guess(body, static_cast<uint32_t>(dice_.Below(40)));
  }
  // Half of the other kinds have a layout that begins with both ends' identities, and a HELLO then
  // with nonces.
  const bool has_layouts = kind < kCongestion;
  if (has_layouts && dice_.Chance(0.5)) {
    std::vector<uint8_t> longer;
    for (int i = 0; i < (type == 1 ? 4 : 2); ++i) Guess(longer, 8);
    longer.insert(longer.end(), body.begin() + (type == 1 || type >= 4 ? 8 : 0), body.end());
    if (type == 1) Guess(longer, 28);
    type = static_cast<uint8_t>(type + 7);
    body = std::move(longer);
  }
  const auto bytes = static_cast<uint16_t>(
      kind == kMalformed && dice_.Chance(0.5) ? dice_.Below(kPsns) : body.size());
  body.insert(body.begin(),
              {type, flags, static_cast<uint8_t>(bytes >> 8), static_cast<uint8_t>(bytes)});
  if (body.size() % 2 != 0) body.push_back(0);
  return body;
}

void Attacker::Inject(Time now) {
  const auto victim = static_cast<uint32_t>(dice_.Below(hosts_.size()));
  auto peer = static_cast<uint32_t>(dice_.Below(hosts_.size() - 1));
  if (peer >= victim) ++peer;
  const auto plane = static_cast<uint32_t>(dice_.Below(hosts_[victim]->ports.size()));
  const uint32_t number = wiring_.SwitchOf(victim, plane);
  if (options_.mutates && dice_.Chance(0.7)) return Mutate(number);
  const auto kind = static_cast<Kind>(dice_.Below(kKinds));
  if ((options_.kinds & 1u << kind) == 0) return;
  if (kind == kReplay) {
    const auto& records = records_[number];
    if (!records.empty()) Send(number, records[dice_.Below(records.size())]);
    return;
  }
  const PortParams port = wiring_.PortOf(victim, plane);
  const HeaderTemplate header =
      MakeTemplate(port.rules.encap, {.source_mac = wiring_.MacOf(peer, number),
                                      .destination_mac = wiring_.MacOf(victim, number),
                                      .tagged = port.tagged,
                                      .source = wiring_.AddressOf(peer, number),
                                      .destination = wiring_.AddressOf(victim, number),
                                      .session = Number(port.rules.encap),
                                      .ether_type = port.rules.ether_type});
  ReliabilityHeader rh{.xpuid = static_cast<uint16_t>(peer), .partition = partition_};
  std::vector<uint8_t> content;
  if (kind <= kNack || kind == kGarbage) {
    rh.op = kind == kAck    ? RhOp::kAck
            : kind == kNack ? RhOp::kNack
                            : static_cast<RhOp>(dice_.Below(3));
    rh.psn = Psn(Guess());
    rh.rpsn = Psn(Guess());
    rh.vc = static_cast<uint8_t>(dice_.Below(kVcCount));
    if (kind == kData) content = Commands();
    if (kind == kGarbage) Guess(content, static_cast<uint32_t>(2 * dice_.Below(200)));
  } else {
    rh = ControlRh(rh.xpuid, rh.partition);
    content = Control(kind);
  }
  std::vector<uint8_t> buffer(FrameBufferBytes(static_cast<uint32_t>(content.size())));
  const std::span<uint8_t> frame = BuildFrame(header, rh, content, buffer);
  log_.Add(now, "attack on host %u as %u: kind %u, op %u, psn %u, rpsn %u, VC %u", victim, peer,
           static_cast<uint32_t>(kind), static_cast<uint32_t>(rh.op), rh.psn.value(),
           rh.rpsn.value(), rh.vc);
  Send(number, {frame.begin(), frame.end()});
}

// Sends a recorded frame again as it is, with some bits changed, cut, or with the rest of another
// one.
void Attacker::Mutate(uint32_t number) {
  auto& records = records_[number];
  if (records.empty()) return;
  std::vector<uint8_t> frame = records[dice_.Below(records.size())];
  const std::vector<uint8_t>& other = records[dice_.Below(records.size())];
  switch (dice_.Below(4)) {
    case 0:
      break;
    case 1:
      for (uint64_t left = 1 + dice_.Below(3); left != 0; --left) {
        frame[dice_.Below(frame.size())] ^= static_cast<uint8_t>(1u << dice_.Below(8));
      }
      break;
    case 2:
      frame.resize(dice_.Below(frame.size()) + 1);
      break;
    default: {
      const size_t at = dice_.Below(std::min(frame.size(), other.size()));
      frame.resize(at);
      frame.insert(frame.end(), other.begin() + static_cast<std::ptrdiff_t>(at), other.end());
    }
  }
  if (records.size() == kRecorded && dice_.Chance(0.01)) records.clear();
  Send(number, std::move(frame));
}

// Takes some frames from now on, on their way into a switch, to another one. Where addresses do not
// tell planes apart, hosts see by no header that a frame was moved.
void Attacker::TakeToOtherPlanes() {
  constexpr double kTaken = 0.02;
  const auto count = static_cast<uint32_t>(switches_.size());
  for (uint32_t from = 0; count > 1 && from < count; ++from) {
    switches_[from]->SetFilter([this, from, count](std::span<const uint8_t> bytes) {
      if (!dice_.Chance(kTaken)) return true;
      const auto further = static_cast<uint32_t>(1 + dice_.Below(count - 1));
      moved_.push_back({.to = (from + further) % count, .bytes = {bytes.begin(), bytes.end()}});
      return false;
    });
  }
}

void Attacker::Send(uint32_t number, std::vector<uint8_t> bytes) {
  ++injected_;
  sent_.insert(Hash(bytes));
  switches_[number]->Inject(bytes);
}

// A host is handed a frame. If it is one of ours, its values are compared with the host's state.
void Attacker::OnTaken(uint32_t number, uint32_t plane, std::span<const uint8_t> bytes) {
  // No guess about sealed hosts is right.
  if (options_.mutates || !sent_.contains(Hash(bytes))) return;
  const Host& host = *hosts_[number];
  std::vector<uint8_t> copy(bytes.begin(), bytes.end());
  const ParsedFrame parsed = ParseFrame(wiring_.PortOf(number, plane).rules, copy.data(),
                                        static_cast<uint32_t>(copy.size()), false);
  if (parsed.error != FrameError::kNone || parsed.pdu_bytes < kMinPduBytes) return;
  Taken taken{.plane = PlaneIndex(plane), .peer = 0, .rh = DecodeRh(parsed.pdu)};
  const Instance& instance = host.pipeline().instance(0);
  taken.peer = instance.peers.OfXpu(taken.rh.xpuid);
  if (taken.peer == Instance::kNoPeer) return;
  const uint8_t* content = parsed.pdu + kRhBytes;
  const uint32_t length = parsed.pdu_bytes - kMinPduBytes;
  if (taken.rh.ver == static_cast<uint8_t>(RhVersion::kControl)) {
    const bool refusal = length >= 8 && (content[0] == 2 || content[0] == 3);
    if (!refusal) return;
    taken.rh.vc = content[4] & 3;
    taken.rh.rpsn = Psn(static_cast<uint16_t>(content[6] << 8 | content[7]));
    taken.answers = true;
  } else {
    taken.data = length >= 2 && (content[0] & 0x0f) != 0;
    taken.answers = taken.rh.op != RhOp::kNothing;
  }
  if (instance.map.has_groups()) {
    const SessionGroup& group =
        instance.peers.groups[instance.map.PathAt(taken.peer, PlaneIndex(plane))];
    if (!group.Accepts(parsed.session)) return;
    taken.slot = group.SlotOf(parsed.session);
  }
  const Connection& connection =
      instance.peers
          .connections[instance.map.At(taken.peer, PlaneIndex(plane), taken.slot, Vc(taken.rh.vc))];
  taken.expected = connection.rx().expected();
  taken.oldest = connection.in_flight().oldest_psn();
  taken_[number].push_back(taken);
}

std::vector<LuckyHit> Attacker::TakeHits(const Host& host) {
  std::vector<LuckyHit> found;
  const Instance& instance = host.pipeline().instance(0);
  for (const Taken& taken : taken_[host.number]) {
    const Connection& connection =
        instance.peers
            .connections[instance.map.At(taken.peer, taken.plane, taken.slot, Vc(taken.rh.vc))];
    const uint32_t peer = instance.params.peers[taken.peer].xpuid;
    // Values that were right at any time of the turn: answers to PDUs in flight, or to the last
    // one.
    const auto within = [&](Psn psn, Psn first, Psn last) {
      const int span = std::max(0, last.DistanceFrom(first));
      luck_ += LuckOf(first, span + 1);
      const int at = psn.DistanceFrom(first);
      return at >= 0 && at <= span;
    };
    const int ahead = connection.rx().is_selective() ? connection.rx().early_span() - 1 : 0;
    const bool data =
        taken.data && within(taken.rh.psn, taken.expected, connection.rx().expected().Plus(ahead));
    const bool answers = taken.answers && within(taken.rh.rpsn, taken.oldest.Plus(-1),
                                                 connection.in_flight().next_psn());
    if (!data && !answers) continue;
    ++hits_;
    found.push_back({.victim = host.number, .peer = peer, .data = data});
  }
  taken_[host.number].clear();
  return found;
}

bool Attacker::IsTooLucky() const { return static_cast<double>(hits_) > 6 + 4 * luck_; }

}  // namespace suede
