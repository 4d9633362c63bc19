// SPDX-License-Identifier: Apache-2.0
// The world's frame: its construction, its turn, its end and the verdict. The work of clients is in
// clients.cc, the events of daemons are in upheaval.cc.
#include "world.h"

#include <algorithm>
#include <bit>

#include "base/text.h"
#include "openssl/openssl_crypto.h"
#include "shipped.h"

namespace suede {
namespace {

// The time for which a peer may count as unreachable after it has come back.
Duration SettlingTime(const PathParams& paths) {
  return paths.hold_down_max + std::chrono::milliseconds(20);
}

template <typename T>
const T& OrLast(const std::vector<T>& list, size_t index) {
  return list[std::min(index, list.size() - 1)];
}

}  // namespace

World::World(uint64_t seed, const WorldOptions& options)
    : options_(options),
      dice_seed_(seed << 16),
      dice_(seed),
      ledger_({.in_order =
                   options.doubled_for == Duration{} &&
                   ((options.wiring.switches == 1 && !options.sessions && options.selective == 0) ||
                    options.paths.ordering == Ordering::kStrict),
               .gaps = MayGiveUp() || options.attack.time != Duration{}}),
      restarts_left_(options.restarts),
      sleeps_left_(options.sleeps),
      ping_dice_(~seed),
      is_pinged_(seed % 2 == 1) {
  const Wiring& wiring = options_.wiring;
  if (options_.seal.mode != SealMode::kOff) {
    library_ = NewOpensslCrypto();
    crypto_ = std::make_unique<CheckedCrypto>(*library_, used_nonces_);
  }
  for (uint32_t s = 0; s < wiring.switches; ++s) {
    switches_.push_back(std::make_unique<SimNetwork>(seed * kMaxPlanes + s));
    switches_.back()->SetPorts(wiring.hosts + 1);  // AddDouble
    switches_.back()->SetClasses(options_.classes.links);
    fabric::SwitchParams& params = switches_.back()->params();
    params.forwarding = wiring.ForwardingOf(s);
    if (params.forwarding == fabric::Forwarding::kEsun) params.esun_ether_type = kSimEsunType;
    // An attacker's frames are known again by their bytes.
    for (size_t p = 0; p < params.ports.size(); ++p) {
      fabric::PortParams& port = params.ports[p];
      port.decrements_hops = options_.attack.time == Duration{};
      if (p >= wiring.hosts) continue;
      port.link = options_.link;
      port.link.mac = port.mac;
      port.link.secret = {seed, uint64_t{s} << 8 | p};
    }
    if (options_.fabric) options_.fabric(params);
    if (options_.credit.on) GrantCredit(*switches_.back());
  }
  for (uint32_t h = 0; h < wiring.hosts; ++h) {
    // The sizes that a daemon computes have to be enough.
    const ShippedSizes sizes = SizesOf(options_, h, ShapeOfSegments().aggregate_lines);
    std::vector<SimPort*> ports;
    for (uint32_t plane = 0; plane < wiring.PlanesOf(h); ++plane) {
      const uint32_t number = wiring.SwitchOf(h, plane);
      uint8_t mac[6];
      std::copy_n(wiring.MacOf(h, number).begin(), 6, mac);
      ports.push_back(switches_[number]->AddPort(mac, sizes.pool_frames[plane], options_.tx_descriptors,
                                                 OrLast(options_.faults, number),
                                                 options_.rx_descriptors));
      ports.back()->KeepRingWhileDown(wiring.switches > 1);
    }
    hosts_.push_back(std::make_unique<Host>(h, std::move(ports)));
    hosts_.back()->packed_pdus = sizes.packed_pdus;
    hosts_.back()->link = options_.link;
    hosts_.back()->link.secret[1] = seed;
    if (!options_.credit.on) continue;
    hosts_.back()->link.credit = OfferOf(options_.credit.grant);
    hosts_.back()->link.credit_times = options_.credit.times;
    hosts_.back()->link.class_rule.pcp_first = true;
    if (!options_.credit.overloads_vc0) continue;
    for (SimPort* port : hosts_.back()->ports) {
      port->SetOverloaded(options_.credit.class_of_vc0);
    }
  }
  for (const auto& host : hosts_) {
    Boot(*host);
    const bool sends = options_.send_to == ~0u ? options_.both_ways || host->number == 0
                                               : host->number != options_.send_to;
    host->to_send = sends ? options_.commands : 0;
  }
  for (uint32_t s = 0; options_.pfc.on && s < wiring.switches; ++s) {
    switches_[s]->SetNeighbour([this, s](const SimPort* from, std::span<const uint8_t> bytes) {
      for (const auto& host : hosts_) {
        for (uint32_t plane = 0; plane < host->ports.size(); ++plane) {
          SimPort* const port = host->ports[plane];
          if (options_.wiring.SwitchOf(host->number, plane) == s && port != from) {
            port->Arrive(bytes);
          }
        }
      }
    });
  }
  if (options_.dark != Duration{}) SetDark(true);
  if (options_.plain) DropControl();
  ignores_ = options_.ignored_for != Duration{};
  inner_ = std::make_unique<InnerLinks>(options_.inner, seed, switches_, log_);
  spines_ = std::make_unique<Spines>(options_.spines, switches_);
  trouble_ = std::make_unique<Trouble>(options_.trouble, options_.wiring, switches_, hosts_, dice_,
                                       log_);
  attacker_ = std::make_unique<Attacker>(options_.attack, options_.wiring, partition_, switches_,
                                         hosts_, dice_, log_);
  if (options_.attack.replays) attacker_->Record();
}

World::~World() = default;

void World::GrantCredit(SimNetwork& network) {
  fabric::SwitchParams& params = network.params();
  const CreditOptions& credit = options_.credit;
  network.SetUpdateLoss(credit.update_loss);
  params.cbfc = {.rule = credit.grant.rule,
                 .times = credit.times,
                 .largest_octets = SimPort::kMaxFrameBytes};
  for (uint32_t c = 0; c < fabric::kClasses; ++c) {
    params.of_class[c].credits = credit.grant.limits[c];
  }
  for (uint32_t host = 0; host < options_.wiring.hosts; ++host) {
    params.ports[host].cbfc = true;
    for (uint32_t c = 0; c < fabric::kClasses; ++c) {
      params.buffer_bytes += fabric::CreditBytes(params, c);
    }
  }
}

// Whether frames use credit in both directions of every cable.
bool World::HasCredit() const {
  for (const auto& host : hosts_) {
    for (const PortContext* port : host->pipeline().instance(0).ports) {
      const CreditGate* const gate = port->link.credit();
      if (!gate->is_on() || gate->end().sender().waiting() != 0) return false;
    }
    for (const auto& network : switches_) {
      const CreditEnd* const end = network->the_switch().port(host->number).credit();
      if (!end->is_on() || end->sender().waiting() != 0) return false;
    }
  }
  return true;
}

uint64_t World::Sum(Counter counter) const {
  uint64_t sum = 0;
  for (const auto& host : hosts_) {
    sum += host->past[static_cast<size_t>(counter)];
    if (host->alive()) sum += host->Count(counter);
  }
  return sum;
}

uint64_t World::Sum(LinkCounter counter) const {
  uint64_t sum = 0;
  for (const auto& host : hosts_) {
    for (uint32_t plane = 0; host->alive() && plane < host->ports.size(); ++plane) {
      const LinkEnd* end = host->pipeline().instance(0).ports[plane]->link.end();
      if (end != nullptr) sum += end->counters().Get(counter);
    }
  }
  for (const auto& network : switches_) {
    for (uint32_t port = 0; port < options_.wiring.hosts; ++port) {
      const LinkEnd* end = network->the_switch().port(port).link();
      if (end != nullptr) sum += end->counters().Get(counter);
    }
  }
  return sum;
}

uint64_t World::frames_lost() const {
  uint64_t sum = 0;
  for (const auto& network : switches_) sum += network->frames_lost();
  return sum;
}

uint64_t World::updates_lost() const {
  uint64_t sum = 0;
  for (const auto& network : switches_) sum += network->updates_lost();
  return sum;
}

uint64_t World::pauses_sent() const {
  uint64_t sum = 0;
  for (const auto& network : switches_) {
    const fabric::Switch& the_switch = network->the_switch();
    for (uint32_t i = 0; i < the_switch.params().ports.size(); ++i) {
      sum += the_switch.port(i).counters().Get(SwitchPortCounter::kTxPfc);
    }
  }
  return sum;
}

void World::TakeDigest() {
  for (const auto& network : switches_) network->TakeDigest();
}

uint64_t World::digest() const {
  uint64_t digest = 0;
  for (const auto& network : switches_) digest = digest * 31 + network->digest();
  return digest;
}

// Whether anything may be given up at all. A switch that is spared keeps everybody reachable.
bool World::MayGiveUp() const {
  const TroubleOptions& trouble = options_.trouble;
  const bool all_planes = trouble.until != Duration{} && trouble.spared == TroubleOptions::kNone;
  if (options_.doubled_for != Duration{}) return true;
  return options_.outages || options_.dark != Duration{} || all_planes ||
         options_.restarts != 0 || options_.sleeps != 0;
}

bool World::MayBeUnreachable(const Host& from, const Host& to) const {
  if (options_.outages) return true;
  if (options_.trouble.until != Duration{} && options_.trouble.spared == TroubleOptions::kNone) {
    return true;
  }
  const auto was_away = [&](const Host& host) {
    return !IsAwake(host) || (host.back_at != Time{} &&
                              now_ < host.back_at + SettlingTime(options_.paths));
  };
  return was_away(from) || was_away(to);
}

void World::AdvanceTo(Time time) {
  for (const auto& network : switches_) network->AdvanceTo(time);
  now_ = time;
}

Time World::NextArrival() const {
  Time next = kNever;
  for (const auto& network : switches_) next = std::min(next, network->next_arrival());
  return next;
}

// VC 0 was ignored for long enough: no command of other VCs may wait for it.
void World::EndIgnoring() {
  if (!ignores_ || now_ - Time{} < options_.ignored_for) return;
  ignores_ = false;
  const bool all_sent = std::all_of(hosts_.begin(), hosts_.end(),
                                    [](const auto& host) { return host->to_send == 0; });
  if (!all_sent || ledger_.MissingBeside(0) != 0) Fail("a VC that nobody reads held up others");
  for (const auto& host : hosts_) {
    if (options_.ignored_unclaimed) host->Claim(1);
  }
}

void World::MakeTrouble() {
  if (trouble_->over()) return;
  trouble_->Turn(now_);
  if (!trouble_->over()) return;
  for (const auto& host : hosts_) host->to_send = options_.commands_after;
}

bool World::Turn() {
  bool work = false;
  if (is_dark_ && now_ >= Time{} + options_.dark) SetDark(false);
  PullCables();
  inner_->Turn(now_);
  PauseClasses();
  RequestPauses();
  HandOnSecrets();
  ChangeSettings();
  Ping();
  EndAndBegin();
  MakeTrouble();
  Attack();
  PlayDouble();
  EndIgnoring();
  if (!has_credit_ && (!options_.credit.on || HasCredit())) {
    has_credit_ = true;
    early_waits_ = Sum(LinkCounter::kCreditWaits);
  }
  for (const auto& host : hosts_) {
    if (!host->alive()) continue;
    if (has_credit_) Send(*host);
    if (IsAwake(*host) && HasCpu(*host)) work |= host->pipeline().Poll(now_);
    NoteTaken(*host);
    NoteMet(*host);
    NoteHits(*host);
    LogEvents(*host);
    Receive(*host, options_.max_received);
    Complete(*host);
    if (turns_ % 64 == 0) host->pipeline().CheckInvariants();
  }
  ++turns_;
  Time next = now_ + Duration(200) + dice_.Up(options_.max_turn);
  if (dice_.Chance(options_.pauses)) {
    next += dice_.Up(std::chrono::milliseconds(5));
  } else if (!work) {
    next = std::max(next, std::min(NextArrival(), now_ + std::chrono::microseconds(40)));
  }
  AdvanceTo(next);
  return work;
}

// Whether there is more to come that hosts have to live with.
bool World::Disturbed() const {
  if (is_dark_ || !trouble_->over() || !inner_->over() || !attacker_->over()) return true;
  if (options_.doubled_for != Duration{} && !healed_) return true;
  if (now_ < Time{} + options_.scarce_for) return true;
  return std::any_of(hosts_.begin(), hosts_.end(), [&](const auto& h) { return !IsAwake(*h); });
}

bool World::Finished() const {
  if (Disturbed() || (ledger_.missing() != 0 && !MayGiveUp())) return false;
  return std::all_of(hosts_.begin(), hosts_.end(), [](const auto& host) {
    return host->to_send == 0 && host->owes.empty() && host->completions == host->tags.size() &&
           host->pipeline().IsQuiet();
  });
}

std::string World::VerdictOnCredit() const {
  if (frames_lost_ != 0) return std::to_string(frames_lost_) + " frames were lost";
  if (Sum(LinkCounter::kCreditExceeded) != 0) return "frames came beyond the credit";
  if (Sum(LinkCounter::kCreditImpossible) != 0) return "impossible counters";
  // Credit begins once in these worlds: from then on a frame that is staged has credit.
  const uint64_t waits = Sum(LinkCounter::kCreditWaits) - early_waits_;
  if (waits != 0) return std::to_string(waits) + " frames were staged without credit";
  if (options_.credit.overloads_vc0) {
    for (const auto& host : hosts_) {
      for (const SimPort* port : host->ports) {
        if (port->max_ahead() > 2 * SimPort::kMaxFrameBytes) {
          return std::to_string(port->max_ahead()) + " bytes of the overloaded VC were in front";
        }
      }
    }
  }
  return "";
}

std::string World::Verdict() {
  if (!failure_.empty()) return failure_;
  if (!Finished()) return "not everything was delivered in time";
  if (options_.seal.mode != SealMode::kOff && options_.commands != 0 && used_nonces_.opened == 0) {
    Describe();
    return "nothing was sealed";
  }
  if (attacker_->IsTooLucky()) {
    return std::to_string(attacker_->hits()) + " guesses of the attacker were right";
  }
  constexpr uint64_t kManyForged = 1000;
  if (options_.attack.sessions && options_.attack.kinds == ~0u &&
      attacker_->injected() > kManyForged && !options_.attack.mutates &&
      Sum(Counter::kRxSession) == 0) {
    return "no forged number of a session was counted";
  }
  const std::string wrong = ledger_.Audit();
  by_chance_ = !wrong.empty() && options_.doubled_for != Duration{} &&
               wrong.find("host 1") != std::string::npos;
  if (!wrong.empty()) return wrong;
  if (Sum(Counter::kTxNoFrame) != 0) return "a pool ran dry";
  // Acknowledgements of a plane's former generation may still arrive after a fence.
  const bool has_one_generation = restarts_ == 0 && options_.doubled_for == Duration{} &&
                                  attacker_->injected() == 0 && Sum(Counter::kPlaneDeaths) == 0;
  if (has_one_generation && Sum(Counter::kRxRpsnInvalid) != 0) {
    return "PDUs were acknowledged that were never sent";
  }
  if (!options_.resends && Sum(Counter::kTxRetransmissions) != 0) {
    return std::to_string(Sum(Counter::kTxRetransmissions)) + " PDUs were sent again for nothing";
  }
  if (options_.crowded && frames_lost() == 0) return "the switch had room for everything";
  if (!options_.pfc.storms && Sum(Counter::kTxPfc) == 0) return "nobody was asked to pause";
  if (!options_.pfc.storms && Sum(Counter::kPfcStorms) + Sum(Counter::kPfcUndrained) != 0) {
    return "a watchdog of PFC fired";
  }
  if (options_.lossless && frames_lost_ != 0) return "a lossless switch lost frames";
  if (options_.lossless && !options_.credit.on && pauses_sent() == 0) return "a switch did not pause anybody";
  for (const auto& host : hosts_) {
    // The frames that the pipeline keeps at hand for the next turns, and messages of sessions.
    uint32_t known = host->pipeline().instance(0).rx.kept_early;
    uint32_t out = 0;
    for (const PortContext* port : host->pipeline().instance(0).ports) {
      known += port->link.frames_kept();
    }
    for (const SimPort* port : host->ports) {
      known += port->frames_held();
      out += port->frames_out();
    }
    if (out != known) return "frames were leaked";
  }
  return options_.credit.on ? VerdictOnCredit() : "";
}

std::string World::Run() {
  const Duration doubled = options_.doubled_from + options_.doubled_for;
  const Time limit = now_ + options_.dark + doubled + options_.trouble.until +
                     2 * options_.attack.time + options_.time_limit +
                     (options_.burst == 0 ? Duration{} : options_.commands * options_.burst_gap);
  while (failure_.empty() && now_ < limit) {
    const bool work = Turn();
    if (turns_ % 16 == 0 && !work && Finished()) break;
  }
  if (!Finished()) Describe();
  for (const auto& host : hosts_) {
    for (SimPort* port : host->ports) port->SetLink(true);
  }
  const bool idles = options_.idles && options_.wiring.switches > 1;
  if (failure_.empty() && idles && Finished()) Idle();
  if (!options_.deaths && Sum(Counter::kPlaneDeaths) != 0) Fail("a plane was found dead");
  frames_lost_ = frames_lost();  // nobody takes what links say to each other from now on
  if (failure_.empty()) RunOut();
  return Verdict();
}

// Nobody has anything to send: after a while every plane is up again, and hosts send each other
// only messages that show them whether one is not.
void World::Idle() {
  const PathParams& paths = options_.paths;
  const auto run = [&](Duration time) {
    const Time end = now_ + time;
    while (now_ < end) Turn();
  };
  next_ping_ = kNever;  // a question to a host that was not met yet would begin sessions with it
  // Loss alone may end a session now and then.
  uint64_t sessions = 0;
  uint64_t up = 0;
  for (int i = 0; i < 4 && (i == 0 || up != sessions); ++i) {
    run(SettlingTime(paths));
    sessions = up = 0;
    for (const auto& host : hosts_) {
      for (const PlaneSession& session : host->pipeline().instance(0).peers.sessions) {
        sessions += session.begun();
        up += session.up();
      }
    }
  }
  if (up != sessions) {
    Fail("a plane did not come back");
    Describe();
  }
  run(std::chrono::milliseconds(2));  // what was under way has ended
  // Planes to peers with which no PLANEs are exchanged.
  uint64_t kept_alive = 0;
  for (const auto& host : hosts_) {
    for (const PeerPaths& paths_to : host->pipeline().instance(0).peers.paths) {
      if (!paths_to.sessions) kept_alive += std::popcount(paths_to.open);
    }
  }
  const uint64_t before = Sum(Counter::kTxFrames);
  const uint64_t lost = frames_lost();
  const uint64_t deaths = Sum(Counter::kPlaneDeaths);
  constexpr int kIdles = 4;
  run(kIdles * paths.hello_idle);
  // In each interval there are a question and an answer to the other end's question, and the first
  // may come early. A lost one is followed by another question and its answer. Planes without
  // PLANEs have four acknowledgements instead. A plane that dies of loss is asked at short
  // intervals until it is up, and other peers are asked about it.
  constexpr uint64_t kFramesOfDeath = 32;
  const uint64_t keepalives = kept_alive * (4 * kIdles + 1);
  const uint64_t permitted = keepalives + 2 * (sessions * (kIdles + 2) + frames_lost() - lost) +
                             kFramesOfDeath * (Sum(Counter::kPlaneDeaths) - deaths);
  if (const uint64_t sent = Sum(Counter::kTxFrames) - before; sent > permitted) {
    Fail(StrCat("it does not become quiet: ", sent, " frames, ", permitted, " are permitted"));
  }
}

// Lets the last transmissions end. A host has several turns at a time: one in five milliseconds
// would be too few for the messages of twelve lost connections meanwhile.
void World::RunOut() {
  constexpr int kTurns = 16;
  for (int i = 0; i < 64; ++i) {
    AdvanceTo(now_ + std::chrono::milliseconds(5));
    for (int turn = 0; turn == 0 || (turn < kTurns && !Finished()); ++turn) {
      AdvanceTo(now_ + std::chrono::microseconds(20));
      for (const auto& host : hosts_) {
        if (!IsAwake(*host)) continue;
        host->pipeline().Poll(now_);
        TakeAll(*host);
      }
    }
  }
}

}  // namespace suede
