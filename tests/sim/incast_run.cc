// SPDX-License-Identifier: Apache-2.0
#include "incast_run.h"

#include <algorithm>

#include "sim/checks.h"

namespace suede {
namespace {

constexpr uint32_t kReceiverLines = 1u << 20;  // of a receiver's ring: it is never full
constexpr uint32_t kLines = 16384;
constexpr Duration kJitter{999};  // of the senders' starts
constexpr Duration kSettling = std::chrono::microseconds(100);
constexpr Duration kMaxForHandshakes = std::chrono::milliseconds(100);
constexpr Duration kMaxForDrain = std::chrono::seconds(2);
constexpr Duration kLook = std::chrono::microseconds(10);  // whether all is quiet

}  // namespace

IncastRun::IncastRun(const Scheme& scheme, const IncastOptions& options)
    : options_(options), dice_(options.seed), network_(options.seed), next_(options.senders + 4) {
  fabric::SwitchParams params = IncastSwitch(hosts(), options_.seed);
  scheme.fabric(params);
  for (uint32_t port = 0; options_.retries && port < hosts(); ++port) {
    params.ports[port].link.retry.on = true;
    params.ports[port].link.mac = params.ports[port].mac;
    params.ports[port].link.secret = {options_.seed, port};
  }
  network_.SetSwitch(params);
  if (options_.takes_digest) network_.TakeDigest();
  earliest_.assign(hosts(), Time{});
  idle_.assign(hosts(), options_.turn);
  for (uint32_t host = 0; host < hosts(); ++host) AddHost(scheme, host);
  Greet();
}

std::vector<uint32_t> IncastRun::PeersOf(uint32_t host) const {
  if (host == far()) return {far() + 1};
  if (host == far() + 1) return {far()};
  if (host != kReceiver) return {kReceiver};
  std::vector<uint32_t> senders;
  for (uint32_t sender = 1; sender <= near(); ++sender) senders.push_back(sender);
  return senders;
}

void IncastRun::AddHost(const Scheme& scheme, uint32_t number) {
  const std::vector<uint32_t> peers = PeersOf(number);
  const SimFaults link{.bits_per_ns = kIncastRateBps / 1e9};
  constexpr uint32_t kRing = IncastHost::kDescriptors;
  SimPort* const port = network_.AddPort(
      IncastHost::PoolFramesOf(static_cast<uint32_t>(peers.size())), kRing, link, kRing);
  const MacAddress mac = IncastHost::MacOf(number);
  uint8_t bytes[6];
  std::copy(mac.begin(), mac.end(), bytes);
  network_.Learn(bytes, port);
  SetCable(port);
  port->SetWaker([this, number](Time at) { Wake(number, at); });
  InstanceParams base;
  SetIncastEndpoint(base);
  scheme.endpoint(base);
  base.counts_credit = options_.counts_credit;
  base.secret = {options_.seed, number};
  const bool receives = number == kReceiver || (options_.both_ways && number == 1);
  const SegmentShape shape{.rx_lines = receives ? kReceiverLines : kLines};
  LinkParams own{.secret = {~options_.seed, number}};
  own.retry.on = options_.retries;
  hosts_.push_back(std::make_unique<IncastHost>(number, port, peers, base, own, shape, now_));
  clients_.push_back(
      std::make_unique<IncastClient>(*hosts_.back(), hosts(), options_.seed << 16 ^ number));
  Wake(number, now_ + dice_.Up(MostIdle(number)));
}

void IncastRun::SetCable(const SimPort* port) {
  const uint32_t loss = fabric::ChanceOf(options_.loss);
  network_.Change(port, [loss](fabric::Switch& the_switch, uint32_t at) {
    the_switch.port(at).in().Set({.delay = kIncastCableDelay, .loss = loss});
    the_switch.port(at).out().Set(
        {.rate_bps = kIncastRateBps, .delay = kIncastCableDelay, .loss = loss});
  });
}

// ---- Time.

void IncastRun::Wake(uint32_t host, Time at) { next_.Lower(host, std::max(at, earliest_[host])); }

// A host that had work looks again as soon as it can; one that had none waits twice as long each
// time, up to a bound, unless a frame comes or its client begins something.
void IncastRun::TurnOf(uint32_t host) {
  bool worked = hosts_[host]->pipeline().Poll(now_);
  worked |= clients_[host]->Turn(now_);
  ++turns_;
  earliest_[host] = now_ + options_.turn;
  Duration& idle = idle_[host];
  idle = worked ? options_.turn : std::min(2 * idle, MostIdle(host));
  next_.Set(host, now_ + idle);
  if (clients_[host]->next() != kNever) Wake(host, clients_[host]->next());
}

void IncastRun::Step(Time end) {
  const Time turn = next_.time();
  const Time next = std::max(now_, std::min({network_.next_event(), turn, end}));
  if (measures_) depth_.Add(queued_bytes_, next - now_);
  if (measures_ && now_ >= later_) later_depth_.Add(queued_bytes_, next - now_);
  now_ = next;
  network_.AdvanceTo(now_);
  if (turn <= now_) TurnOf(next_.index());
  queued_bytes_ = 0;
  for (uint32_t c = 0; c < fabric::kClasses; ++c) {
    queued_bytes_ += network_.the_switch().buffer().queued(kReceiver, c);
  }
}

// ---- The parts of a run.

// An association is made where something is to be sent: each sender sends a command, one after the
// other, and requests begin for a moment.
void IncastRun::Greet() {
  const auto never = [] { return false; };
  const auto are_associated = [this] {
    return std::all_of(hosts_.begin(), hosts_.end(),
                       [](const auto& host) { return host->IsAssociated(); });
  };
  for (uint32_t sender = 1; sender <= options_.senders; ++sender) {
    clients_[sender]->StartBulk(kReceiver, kGreetings, now_);
    Wake(sender, now_);
    RunUntil(now_ + kIncastRtt, never);
  }
  StartRequests();
  const Time limit = now_ + kMaxForHandshakes;
  while (now_ < limit && !are_associated()) RunUntil(now_ + kSettling, never);
  Require(are_associated(), "handshakes of an incast have failed");
  EndLoad();
  while (now_ < limit && !IsQuiet()) RunUntil(now_ + kLook, never);
  RunUntil(now_ + kSettling, never);
  for (const uint32_t host : {near(), far()}) clients_[host]->ForgetRoundTrips();
}

void IncastRun::StartRequests() {
  clients_[near()]->StartRequests(kReceiver, now_);
  clients_[far()]->StartRequests(far() + 1, now_);
  Wake(near(), now_);
  Wake(far(), now_);
}

void IncastRun::EndLoad() {
  for (const auto& client : clients_) {
    client->StopBulk();
    client->StopRequests();
  }
}

void IncastRun::Start() {
  start_ = now_;
  later_ = start_ + (options_.commands == IncastClient::kEndless ? options_.warm_up : kIncastRtt);
  for (uint32_t sender = 1; sender <= options_.senders; ++sender) {
    const Time at = start_ + dice_.Up(kJitter);
    if (options_.commands == 0) continue;
    clients_[sender]->StartBulk(kReceiver, options_.commands, at);
    Wake(sender, at);
  }
  if (options_.both_ways) {
    clients_[kReceiver]->StartBulk(1, options_.commands, start_);
    Wake(kReceiver, start_);
  }
  if (options_.requests) StartRequests();
}

void IncastRun::Run() {
  Start();
  measures_ = true;
  Measure();
  measures_ = false;
  end_ = now_;
}

void IncastRun::Measure() {
  const IncastClient& receiver = *clients_[kReceiver];
  const auto failed = [&] { return !receiver.failure().empty(); };
  if (options_.commands != IncastClient::kEndless && options_.commands != 0) {
    const uint64_t all = uint64_t{options_.senders} * options_.commands;
    RunUntil(start_ + options_.limit, [&] { return delivered() == all || failed(); });
    return;
  }
  RunUntil(start_ + options_.warm_up, failed);
  for (uint32_t sender = 1; sender <= options_.senders; ++sender) {
    warm_.push_back(receiver.from(sender).commands);
  }
  warm_back_ = clients_[1]->from(kReceiver).commands;
  RunUntil(start_ + options_.warm_up + options_.window, failed);
}

// Nothing is held for being sent again.
bool IncastRun::LinksAreQuiet() const {
  if (!options_.retries) return true;
  for (uint32_t host = 0; host < hosts(); ++host) {
    const LinkEnd* const far = network_.the_switch().port(host).link();
    if (far->sender().held() != 0 || hosts_[host]->link()->sender().held() != 0) return false;
  }
  return true;
}

bool IncastRun::IsQuiet() const {
  return LinksAreQuiet() &&
         std::all_of(clients_.begin(), clients_.end(),
                     [](const auto& client) { return !client->waits_for_response(); }) &&
         std::all_of(hosts_.begin(), hosts_.end(),
                     [](const auto& host) { return host->pipeline().IsQuiet(); });
}

std::string IncastRun::Failure() const {
  for (const auto& client : clients_) {
    if (!client->failure().empty()) return client->failure();
  }
  return "";
}

std::string IncastRun::Finish() {
  EndLoad();
  const Time limit = now_ + kMaxForDrain;
  while (now_ < limit && Failure().empty() && !IsQuiet()) {
    RunUntil(now_ + kLook, [] { return false; });
  }
  RunUntil(now_ + kSettling, [] { return false; });
  return Audit();
}

std::string IncastRun::Audit() const {
  if (!Failure().empty()) return Failure();
  if (!IsQuiet()) return "something is under way at the end";
  for (uint32_t sender = 1; sender <= options_.senders; ++sender) {
    const uint32_t arrived = clients_[kReceiver]->from(sender).commands;
    const uint32_t sent = clients_[sender]->sent();
    if (arrived == sent) continue;
    return std::to_string(sent - arrived) + " commands of host " + std::to_string(sender) +
           " did not arrive";
  }
  if (const uint32_t back = clients_[kReceiver]->sent() - clients_[1]->from(kReceiver).commands;
      back != 0) {
    return std::to_string(back) + " commands to host 1 did not arrive";
  }
  for (const auto& host : hosts_) {
    host->pipeline().CheckInvariants();
    if (host->FramesMissing() != 0) {
      return "host " + std::to_string(host->number()) + " has leaked frames";
    }
  }
  network_.the_switch().CheckInvariants();
  if (network_.the_switch().frames_inside() != 0) return "the switch has leaked frames";
  return "";
}

IncastCounts IncastRun::Counts() const {
  using Class = SwitchClassCounter;
  IncastCounts counts;
  const fabric::Switch& the_switch = network_.the_switch();
  for (uint32_t port = 0; port < hosts(); ++port) {
    counts.pfc += the_switch.port(port).counters().Get(SwitchPortCounter::kTxPfc);
    counts.dropped += the_switch.port(port).counters().Get(SwitchPortCounter::kImpairFull);
    counts.lost += the_switch.port(port).counters().Get(SwitchPortCounter::kImpairLoss);
    for (const LinkEnd* end : {the_switch.port(port).link(), hosts_[port]->link()}) {
      if (end == nullptr) continue;
      counts.replayed += end->counters().Get(LinkCounter::kLlrTxReplayed);
      counts.failures += end->counters().Get(LinkCounter::kFailures);
    }
    for (uint32_t c = 0; c < fabric::kClasses; ++c) {
      const SwitchClassCounters& own = the_switch.port(port).counters(c);
      for (const Class drop : {Class::kTailDrop, Class::kTrimDrop, Class::kHeadroomDrop,
                               Class::kDownDrop, Class::kAgeDrop, Class::kStormDrop}) {
        counts.dropped += own.Get(drop);
      }
      counts.trimmed += own.Get(Class::kTrimmed);
      counts.marked += own.Get(Class::kMarked);
    }
  }
  for (const auto& host : hosts_) {
    counts.pdus += host->Count(Counter::kTxPdus);
    counts.sent_twice += host->Count(Counter::kTxRetransmissions);
    counts.timeouts += host->Count(Counter::kRtoFired);
    counts.credit_waits += host->Count(Counter::kTxWaitsCredit);
  }
  return counts;
}

}  // namespace suede
