// SPDX-License-Identifier: Apache-2.0
// The events of a world's daemons, but for Trouble's faults of their ports: they start, die
// and sleep, their cables are pulled, their settings change.
#include <algorithm>

#include "world.h"

namespace suede {

namespace {

// The damage of a right guess shows within this time.
constexpr Duration kSpoilt = std::chrono::milliseconds(50);

}  // namespace

SegmentShape World::ShapeOfSegments() const {
  return {.queue_count = options_.queues,
          .tx_lines = 1024,
          .rx_lines = options_.rx_lines,
          .completion_count = 1024,
          .credit_lines = 256,
          .aggregate_lines = 1024};
}

InstanceParams World::ParamsOf(const Host& host) const {
  InstanceParams params;
  params.xpuid = static_cast<uint16_t>(host.number);
  params.partition = partition_;
  options_.wiring.Connect(host.number, params);
  params.classes = options_.classes.vcs;
  params.ack_class = options_.classes.ack;
  params.pack_limit_bytes = options_.pack_limit_bytes;
  params.inflight_pdus = options_.inflight_pdus;
  params.receive_lines = options_.rx_lines;
  params.counts_credit = options_.counts_credit;
  params.transport = options_.transport;
  if ((options_.selective >> host.number & 1) != 0) {
    params.transport.recovery = LossRecovery::kSelective;
  }
  if (options_.congestion) params.congestion = options_.congestion(host.number);
  params.paths = options_.paths;
  params.seal = options_.seal;
  if (options_.sessions && host.ports.size() == options_.wiring.switches) {
    params.sessions = options_.sessions(host.number);
  }
  params.secret = {dice_seed_ + host.number, host.boots()};
  for (PeerParams& peer : params.peers) {
    const bool plain = host.number == 0 || (peer.xpuid == 0 && options_.plain_known);
    peer.plain = options_.plain && plain;
  }
  return params;
}

void World::Boot(Host& host) {
  log_.Add(now_, "host %u boots, %zu planes, for the %u. time", host.number, host.ports.size(),
           host.boots());
  host.known_lives.clear();
  host.met_lives.assign(hosts_.size(), 0);
  for (const auto& peer : hosts_) host.known_lives.push_back(peer->known_life());
  host.pfc = options_.pfc.on;
  host.pause_params = options_.pfc.params;
  host.trimmed_dscp = options_.trimmed_dscp;
  host.crypto = crypto_.get();
  host.secrets = options_.secrets;
  host.Boot(ParamsOf(host), options_.wiring, ShapeOfSegments(), now_);
}

// Commands and statuses that its client got before count; PDUs under way are nobody's any more.
void World::TearDown(Host& host) {
  log_.Add(now_, "host %u dies", host.number);
  TakeAll(host);
  for (uint32_t done = ~0u; done != host.completions && failure_.empty();) {
    done = host.completions;
    Complete(host);
  }
  host.TearDown();
  host.died_at = now_;
}

// Whether nothing that a dead daemon had sent is under way, or lies with a host that has not
// looked.
bool World::IsForgotten(const Host& dead) const {
  const Time gone_at = dead.died_at + kFrameLife;
  for (const auto& peer : hosts_) {
    if (!peer->alive()) continue;
    for (const SimPort* port : peer->ports) {
      if (port->waits_since() <= gone_at) return false;
    }
  }
  return now_ > gone_at;
}

// Lets daemons die or sleep, and dead ones come back.
void World::EndAndBegin() {
  if (options_.restarts == 0 && options_.sleeps == 0) return;
  for (const auto& host : hosts_) {
    if (host->alive() || now_ < host->back_at) continue;
    if (!options_.quick && !IsForgotten(*host)) continue;
    for (const auto& peer : hosts_) {
      if (peer->alive()) TakeAll(*peer);
    }
    host->back_at = now_;
    Boot(*host);
  }
  if (now_ < next_end_ || trouble_->over()) return;
  next_end_ = now_ + dice_.Up(options_.trouble.until / (options_.restarts + options_.sleeps + 1));
  Host& host = *hosts_[dice_.Below(hosts_.size())];
  if (!IsAwake(host)) return;
  if (dice_.Below(restarts_left_ + sleeps_left_ + 1) < restarts_left_) {
    --restarts_left_;
    ++restarts_;
    TearDown(host);
    host.back_at = now_ + (options_.quick
                               ? dice_.OfAnyScale(std::chrono::microseconds(5),
                                                  std::chrono::milliseconds(5))
                               : dice_.OfAnyScale(std::chrono::milliseconds(3),
                                                  2 * options_.paths.unreachable));
  } else if (sleeps_left_ != 0) {
    --sleeps_left_;
    host.asleep_until = now_ + dice_.OfAnyScale(std::chrono::microseconds(50),
                                                2 * options_.paths.unreachable);
    host.back_at = host.asleep_until;
    log_.Add(now_, "host %u sleeps for %lld ns", host.number,
             static_cast<long long>((host.asleep_until - now_).count()));
  }
}

// An attack begins at once, or after all have had a life of which frames were recorded.
void World::Attack() {
  if (attacker_->over()) return;
  if (!attack_begun_) {
    if (options_.attack.replays) {
      const bool all_done = std::all_of(hosts_.begin(), hosts_.end(), [](const auto& host) {
        return host->to_send == 0 && host->completions == host->tags.size() &&
               host->pipeline().IsQuiet();
      });
      if (!all_done || ledger_.missing() != 0) return;
      for (const auto& host : hosts_) TearDown(*host);
      AdvanceTo(now_ + kFrameLife);
      for (const auto& host : hosts_) {
        for (SimPort* port : host->ports) port->Transmit(nullptr, 0);
        SimPort::Restart(host->ports);
      }
      for (const auto& host : hosts_) Boot(*host);
      for (const auto& host : hosts_) host->to_send = options_.commands;
    }
    attack_begun_ = true;
    attacker_->Begin(now_);
  }
  attacker_->Turn(now_);
  if (!attacker_->over()) return;
  for (const auto& host : hosts_) host->to_send = options_.commands_after;
}

void World::NoteHits(const Host& host) {
  if (options_.attack.time == Duration{}) return;
  for (const LuckyHit& hit : attacker_->TakeHits(host)) {
    log_.Add(now_, "a guess was right: host %u has taken it for %u's, %s", hit.victim, hit.peer,
             hit.data ? "data" : "an answer");
    spoilt_[std::minmax(hit.victim, hit.peer)] = now_ + kSpoilt;
  }
}

bool World::IsSpoilt(uint32_t a, uint32_t b) const {
  const auto found = spoilt_.find(std::minmax(a, b));
  return found != spoilt_.end() && now_ < found->second;
}

// The events of its lcore.
void World::LogEvents(Host& host) {
  LcoreEvent event;
  while (host.pipeline().mailbox().events.Pop(event)) {
    const char* what = "";
    switch (event.kind) {
      case LcoreEventKind::kPeerReset: what = "was reset"; break;
      case LcoreEventKind::kPeerUnreachable: what = "is unreachable"; break;
      case LcoreEventKind::kPeerReachable: what = "is reachable"; break;
      case LcoreEventKind::kHelloMismatch: what = "does not agree"; break;
      case LcoreEventKind::kSealMismatch:
        what = "seals otherwise";
        break;
      case LcoreEventKind::kPlaneUp: what = "is there by plane"; break;
      case LcoreEventKind::kPlaneDown: what = "is lost by plane"; break;
      case LcoreEventKind::kQueueBroken: Fail("a good client's queue is broken"); break;
      case LcoreEventKind::kTxError: Fail("a good command had the error mark"); break;
      case LcoreEventKind::kPfcStorm:
        what = "is paused for too long on plane";
        break;
      case LcoreEventKind::kPfcUndrained:
        what = "does not drain a VC";
        break;
      case LcoreEventKind::kMalformed:
        what = "sent malformed commands";
        break;
      case LcoreEventKind::kNoGrant: what = "grants no credit on plane"; break;
      case LcoreEventKind::kHeldUp: what = "is waited for, and nothing leaves by plane"; break;
      case LcoreEventKind::kFenceOpened: what = "is fenced by plane"; break;
      case LcoreEventKind::kSessionOpened:
        what = "has one more session";
        break;
      case LcoreEventKind::kSessionMoved:
        what = "has a session with another number";
        break;
      case LcoreEventKind::kSessionStalled:
        what = "gets nothing by a session";
        break;
      case LcoreEventKind::kSessionClosed:
        what = "has one session less";
        break;
    }
    log_.Add(now_, "host %u: peer %u %s (plane %u, VC %u, reason or slot %u)", host.number,
             event.peer_xpuid, what, event.plane, event.vc, event.what);
  }
}

// Whether the scheduler of the machine lets the daemon run.
bool World::HasCpu(Host& host) {
  if (now_ >= Time{} + options_.scarce_for) return true;
  if (now_ >= host.next_run) {
    host.runs_until =
        now_ + std::chrono::microseconds(50) + dice_.Up(std::chrono::microseconds(1950));
    host.next_run = now_ + std::chrono::milliseconds(7) + dice_.Up(std::chrono::milliseconds(2));
  }
  return now_ < host.runs_until;
}

// Nothing passes between any two.
void World::SetDark(bool dark) {
  is_dark_ = dark;
  log_.Add(now_, "%s", dark ? "nothing passes" : "frames pass");
  for (const auto& host : hosts_) {
    host->back_at = Time{} + options_.dark;
    for (SimPort* port : host->ports) {
      if (options_.dark_switch) {
        port->SetSilent(dark, dark);
      } else {
        port->SetLink(!dark);
      }
    }
  }
  if (dark) return;
  for (const auto& host : hosts_) host->to_send += options_.commands_after;
}

// Takes links down and up again, one at a time.
void World::PullCables() {
  if (!options_.outages || now_ < next_outage_) return;
  SimPort* port = hosts_[dice_.Below(hosts_.size())]->ports[0];
  if (port->link().up) {
    port->SetLink(false);
    next_outage_ = now_ + dice_.Up(std::chrono::milliseconds(40));
  } else {
    port->SetLink(true);
    next_outage_ = now_ + dice_.Up(std::chrono::milliseconds(20));
  }
}

// Pauses classes for ports, one at a time for each port, as a switch that has no room for them
// would.
void World::PauseClasses() {
  for (size_t i = 0; i < class_pauses_.size();) {
    ClassPause& pause = class_pauses_[i];
    if (now_ < pause.until) {
      ++i;
      continue;
    }
    pause.port->SetClassesPaused(0);
    pause = class_pauses_.back();
    class_pauses_.pop_back();
  }
  const ClassOptions& classes = options_.classes;
  if (!dice_.Chance(classes.pauses) || Finished()) return;
  const Host& host = *hosts_[dice_.Below(hosts_.size())];
  SimPort* port = host.ports[dice_.Below(host.ports.size())];
  for (const ClassPause& pause : class_pauses_) {
    if (pause.port == port) return;
  }
  const auto mask = static_cast<uint8_t>(1 + dice_.Below(255));
  const Duration time = dice_.Up(classes.max_pause);
  class_pauses_.push_back({.port = port, .classes = mask, .until = now_ + time});
  port->SetClassesPaused(mask);
}

// The settings that any host may be given at any time: small windows and large, short waits and
// long ones.
Settings World::RandomSettings() {
  Settings settings{.partition = partition_};
  settings.transport = options_.transport;
  settings.paths = options_.paths;
  TransportParams& t = settings.transport;
  for (TrafficClass& c : settings.classes) c.dscp = static_cast<uint8_t>(dice_.Below(64));
  settings.ack_class = ClassOfNumber(dice_.Below(kSimClasses));
  settings.pack_limit_bytes = static_cast<uint32_t>(276 + dice_.Below(kMaxPackBytes - 276 + 1));
  settings.inflight_pdus = 1u << dice_.Below(11);
  settings.unclaimed_pdus = static_cast<uint32_t>(dice_.Below(65));
  t.window_pdus = 1u << dice_.Below(10);
  t.window_bytes = settings.pack_limit_bytes << dice_.Below(8);
  t.ack_every_pdus = static_cast<uint32_t>(1 + dice_.Below(t.window_pdus));
  t.rto_min = std::chrono::microseconds(100 + dice_.Below(400));
  t.rto_initial = t.rto_min + std::chrono::microseconds(dice_.Below(2000));
  t.rto_max = t.rto_initial + std::chrono::microseconds(dice_.Below(20000));
  t.ack_delay = std::chrono::microseconds(1 + dice_.Below(90));
  t.nack_timeout = std::chrono::microseconds(20 + dice_.Below(500));
  t.not_ready_backoff = std::chrono::microseconds(10 + dice_.Below(200));
  t.hello_timeout = std::chrono::microseconds(100 + dice_.Below(2000));
  return settings;
}

// As the control thread does, some time after the lcore has gone to another partition.
void World::HandOnSecrets() {
  for (const auto& host : hosts_) {
    if (!host->wants_secrets || !host->alive()) continue;
    if (!host->change.done.load(std::memory_order_acquire) || dice_.Below(4) != 0) continue;
    if (host->SetSecrets(partition_)) host->wants_secrets = false;
  }
}

// Gives a host other settings, and now and then all of them another partition.
void World::ChangeSettings() {
  if (!options_.changes || now_ < next_change_) return;
  if (options_.trouble.until != Duration{} && trouble_->over()) return;
  if (options_.attack.time != Duration{} && now_ > Time{} + options_.attack.time) return;
  next_change_ = now_ + dice_.Up(std::chrono::milliseconds(1));
  for (const auto& host : hosts_) {
    if (!host->change.done.load(std::memory_order_acquire)) return;
  }
  const bool all = dice_.Below(8) == 0;
  // (Where they seal each comes back soon.)
  const uint32_t partitions = options_.seal.mode == SealMode::kOff ? 16 : 3;
  if (all) partition_ = static_cast<uint16_t>(dice_.Below(partitions));
  const uint64_t chosen = dice_.Below(hosts_.size());
  for (const auto& host : hosts_) {
    if (!host->alive() || (!all && host->number != chosen)) continue;
    host->wants_secrets |= all && host->pipeline().instance(0).sealing.on();
    host->change.settings = RandomSettings();
    host->change.done.store(false, std::memory_order_relaxed);
    host->pipeline().mailbox().requests.Push(request::ChangeSettings{.settings = &host->change});
  }
}

// On every second seed operators ask whether peers are there, all the time: nobody may notice.
void World::Ping() {
  if (!is_pinged_ || now_ < next_ping_) return;
  next_ping_ = now_ + ping_dice_.Up(std::chrono::milliseconds(2));
  Host& host = *hosts_[ping_dice_.Below(hosts_.size())];
  const auto peer = static_cast<uint32_t>(ping_dice_.Below(hosts_.size()));
  const auto mask = static_cast<uint8_t>(ping_dice_.Below(16));
  if (!host.alive()) return;
  host.pipeline().mailbox().requests.Push(
      request::Ping{.peer = PeerIndex(peer), .ticket = ++pings_, .plane_mask = mask});
}

}  // namespace suede
