// SPDX-License-Identifier: Apache-2.0
#include "hot_links_run.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "base/big_endian.h"
#include "incast_scheme.h"
#include "sim/checks.h"
#include "wire/udp.h"

namespace suede {
namespace {

using std::chrono::microseconds;

constexpr uint32_t kReceiverLines = 1u << 20;  // of a receiver's ring: it is never full
constexpr uint32_t kLines = 16384;
constexpr Duration kTurn{100};     // least time from one turn of a host to the next,
constexpr Duration kMaxIdle{400};  // and the longest, where nothing happens
constexpr Duration kLook{10'000};  // whether all is quiet
constexpr Duration kMaxForHandshakes = std::chrono::milliseconds(100);
constexpr Duration kMaxForDrain = std::chrono::seconds(2);
constexpr Duration kSample = microseconds(1);
constexpr int kHeld = 5;  // round trips for which a link must be avoided to count as such

// An estimate without queues: six cables, and a frame in three places.
Duration BaseRttOf(const HotLinksOptions& options) {
  return 6 * options.links.cable + Duration(1400);
}

fabric::SwitchParams SwitchOf(const HotLinksOptions& options) {
  fabric::SwitchParams params = IncastSwitch(2 * options.pairs, options.seed);
  for (fabric::PortParams& port : params.ports) {
    port.rate_bps = static_cast<uint64_t>(options.host_bits_per_ns * 1e9);
  }
  return params;
}

HotLinksParams LinksOf(const HotLinksOptions& options) {
  HotLinksParams links = options.links;
  links.seed = options.seed;
  return links;
}

}  // namespace

HotLinksRun::HotLinksRun(const HotLinksOptions& options)
    : options_(options),
      links_(LinksOf(options)),
      network_(options.seed),
      next_(2 * options.pairs),
      earliest_(hosts(), Time{}),
      idle_(hosts(), kTurn) {
  network_.SetSwitch(SwitchOf(options_));
  for (uint32_t host = 0; host < hosts(); ++host) AddHost(host);
  network_.SetWay([this](const SimPort* from, std::span<uint8_t> frame, Time leaves) {
    const auto host = std::find(ports_.begin(), ports_.end(), from) - ports_.begin();
    return links_.Pass(host % 2 == 0 ? HotLinks::kThere : HotLinks::kBack, frame, leaves);
  });
  Greet();
}

void HotLinksRun::AddHost(uint32_t number) {
  constexpr uint32_t kRing = IncastHost::kDescriptors;
  const uint32_t frames = IncastHost::PoolFramesOf(options_.sessions);
  SimPort* const port =
      network_.AddPort(frames, kRing, {.bits_per_ns = options_.host_bits_per_ns}, kRing);
  const MacAddress mac = IncastHost::MacOf(number);
  uint8_t bytes[6];
  std::copy(mac.begin(), mac.end(), bytes);
  network_.Learn(bytes, port);
  const auto rate = static_cast<uint64_t>(options_.host_bits_per_ns * 1e9);
  network_.Change(port, [this, rate](fabric::Switch& the_switch, uint32_t at) {
    the_switch.port(at).out().Set({.rate_bps = rate, .delay = options_.links.cable});
  });
  port->SetWaker([this, number](Time at) { Wake(number, at); });
  ports_.push_back(port);
  InstanceParams base;
  SetIncastEndpoint(base);
  base.sessions = options_.sessions;
  base.paths.sessions = options_.session_params;
  base.paths.ordering = options_.ordering;
  base.congestion = {.control = options_.control, .base_rtt = BaseRttOf(options_)};
  base.target.base_rtt = BaseRttOf(options_);
  base.secret = {options_.seed, number};
  const SegmentShape shape{.rx_lines = number % 2 == 1 ? kReceiverLines : kLines};
  const std::vector<uint32_t> peers{number ^ 1};
  hosts_.push_back(
      std::make_unique<IncastHost>(number, port, peers, base, LinkParams{}, shape, now_));
  clients_.push_back(
      std::make_unique<IncastClient>(*hosts_.back(), hosts(), options_.seed << 16 ^ number));
  if (options_.ordering == Ordering::kUnordered) clients_.back()->AllowOvertaking();
  Wake(number, now_);
}

// ---- Time.

void HotLinksRun::Wake(uint32_t host, Time at) { next_.Lower(host, std::max(at, earliest_[host])); }

void HotLinksRun::TurnOf(uint32_t host) {
  bool worked = hosts_[host]->pipeline().Poll(now_);
  worked |= clients_[host]->Turn(now_);
  earliest_[host] = now_ + kTurn;
  idle_[host] = worked ? kTurn : std::min(2 * idle_[host], kMaxIdle);
  next_.Set(host, now_ + idle_[host]);
  if (clients_[host]->next() != kNever) Wake(host, clients_[host]->next());
}

void HotLinksRun::RunUntil(Time end) {
  while (now_ < end) {
    const Time turn = next_.time();
    now_ = std::max(now_, std::min({network_.next_event(), turn, end}));
    network_.AdvanceTo(now_);
    if (turn <= now_) TurnOf(next_.index());
  }
}

// ---- The parts of a run.

// An association is made where something is to be sent.
void HotLinksRun::Greet() {
  for (uint32_t host = 0; host < hosts(); host += 2) {
    clients_[host]->StartBulk(host + 1, 1, now_);
    Wake(host, now_);
  }
  const auto are_up = [&] {
    return std::all_of(hosts_.begin(), hosts_.end(), [&](const auto& host) {
      const Instance& instance = host->pipeline().instance(0);
      return host->IsAssociated() &&
             (options_.sessions == 1 || instance.peers.groups[0].count() == options_.sessions);
    });
  };
  const Time limit = now_ + kMaxForHandshakes;
  while (now_ < limit && !(are_up() && IsQuiet())) RunFor(kLook);
  Require(are_up() && IsQuiet(), "hosts behind hot links do not get to know each other");
}

void HotLinksRun::Start() {
  for (uint32_t host = 0; host < hosts(); host += 2) {
    clients_[host]->StartBulk(host + 1, IncastClient::kEndless, now_);
    Wake(host, now_);
  }
}

bool HotLinksRun::IsQuiet() const {
  return std::all_of(hosts_.begin(), hosts_.end(),
                     [](const auto& host) { return host->pipeline().IsQuiet(); });
}

std::string HotLinksRun::Failure() const {
  for (const auto& client : clients_) {
    if (!client->failure().empty()) return client->failure();
  }
  return "";
}

std::string HotLinksRun::Finish() {
  for (const auto& client : clients_) client->StopBulk();
  const Time limit = now_ + kMaxForDrain;
  const auto is_over = [&] {
    return IsQuiet() && std::all_of(hosts_.begin(), hosts_.end(),
                                    [](const auto& host) { return host->FramesMissing() == 0; });
  };
  while (now_ < limit && Failure().empty() && !is_over()) RunFor(kLook);
  RunFor(10 * kLook);
  while (now_ < limit && Failure().empty() && !is_over()) RunFor(kLook);
  if (!Failure().empty()) return Failure();
  if (!IsQuiet()) return "something is under way at the end";
  for (uint32_t host = 0; host < hosts(); host += 2) {
    const uint32_t arrived = clients_[host + 1]->from(host).commands;
    if (arrived != clients_[host]->sent()) {
      return std::to_string(clients_[host]->sent() - arrived) + " commands of host " +
             std::to_string(host) + " did not arrive";
    }
  }
  for (const auto& host : hosts_) {
    host->pipeline().CheckInvariants();
    if (host->FramesMissing() != 0) return "frames were leaked";
  }
  return "";
}

// ---- Measurements.

uint64_t HotLinksRun::delivered() const {
  return std::accumulate(clients_.begin(), clients_.end(), uint64_t{0},
                         [](uint64_t sum, const auto& client) { return sum + client->received(); });
}

uint64_t HotLinksRun::Sum(Counter counter) const {
  uint64_t sum = 0;
  for (const auto& host : hosts_) sum += host->Count(counter);
  return sum;
}

uint32_t HotLinksRun::LinkOf(uint32_t pair, uint16_t number) const {
  std::array<uint8_t, 42> frame{};
  StoreBe32(&frame[26], static_cast<uint32_t>(IncastHost::AddressOf(2 * pair).low));
  StoreBe32(&frame[30], static_cast<uint32_t>(IncastHost::AddressOf(2 * pair + 1).low));
  StoreBe16(&frame[34], static_cast<uint16_t>(kFirstSourcePort + number));
  StoreBe16(&frame[36], FrameRules{}.udp_port);
  return links_.LinkOf(frame);
}

uint64_t HotLinksRun::Offered(uint64_t mask) const {
  uint64_t sum = 0;
  for (; mask != 0; mask &= mask - 1) {
    sum += links_.offered(HotLinks::kThere, static_cast<uint32_t>(std::countr_zero(mask)));
  }
  return sum;
}

namespace {

uint64_t AllOf(const HotLinksOptions& options) { return (uint64_t{1} << options.links.links) - 1; }

void SetLoads(HotLinksRun& run, const HotLinksOptions& options, uint64_t hot) {
  for (uint32_t link = 0; link < options.links.links; ++link) {
    const bool is_hot = (hot >> link & 1) != 0;
    const double load = is_hot ? options.hot_load : options.calm_load;
    run.links().SetLoad(HotLinks::kThere, link, load, run.now());
    run.links().SetLoss(HotLinks::kThere, link, is_hot ? options.hot_loss : 0);
  }
}

double ShareOf(uint64_t part, uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

// The links with the most octets of hosts so far, as many as are to be hot.
uint64_t BusiestLinks(const HotLinksRun& run, const HotLinksOptions& options,
                      const std::vector<uint64_t>& before) {
  uint64_t busiest = 0;
  for (uint32_t i = 0; i < options.hot; ++i) {
    uint32_t best = 0;
    uint64_t max = 0;
    for (uint32_t link = 0; link < options.links.links; ++link) {
      const uint64_t octets = run.Offered(uint64_t{1} << link) - before[link];
      if ((busiest >> link & 1) != 0 || octets < max) continue;
      best = link;
      max = octets;
    }
    busiest |= uint64_t{1} << best;
  }
  return busiest;
}

}  // namespace

HotGoodput MeasureHotGoodput(const HotLinksOptions& options) {
  HotLinksRun run(options);
  // The first links are hot: which one a session takes follows from the seed.
  const uint64_t hot = (uint64_t{1} << options.hot) - 1;
  HotGoodput goodput;
  goodput.begins_hot = (hot >> run.LinkOf(0, 0) & 1) != 0;
  SetLoads(run, options, hot);
  run.Start();
  run.RunFor(options.warm_up);
  const uint64_t commands = run.delivered();
  const uint64_t hot_octets = run.Offered(hot);
  const uint64_t octets = run.Offered(AllOf(options));
  run.RunFor(options.window);
  const double seconds = static_cast<double>(options.window.count()) / 1e9;
  goodput.goodput_bps =
      8 * IncastClient::kDataBytes * static_cast<double>(run.delivered() - commands) / seconds;
  goodput.hot_share = ShareOf(run.Offered(hot) - hot_octets, run.Offered(AllOf(options)) - octets);
  if (options.sessions != 1) {
    goodput.open = static_cast<uint32_t>(std::popcount(run.sender(0).peers.groups[0].open()));
  }
  goodput.lost = run.links().lost();
  goodput.moves = run.Sum(Counter::kSessionMoves);
  goodput.retransmissions = run.Sum(Counter::kTxRetransmissions);
  goodput.failure = run.Finish();
  return goodput;
}

HotReaction MeasureHotReaction(const HotLinksOptions& options) {
  HotLinksRun run(options);
  SetLoads(run, options, 0);
  run.Start();
  run.RunFor(options.warm_up);
  std::vector<uint64_t> before;
  for (uint32_t link = 0; link < options.links.links; ++link) {
    before.push_back(run.Offered(uint64_t{1} << link));
  }
  const uint64_t all = AllOf(options);
  const uint64_t all_before = run.Offered(all);
  run.RunFor(options.warm_up / 4);
  const uint64_t hot = BusiestLinks(run, options, before);
  uint64_t hot_before = 0;
  for (uint64_t left = hot; left != 0; left &= left - 1) {
    hot_before += before[static_cast<uint32_t>(std::countr_zero(left))];
  }
  HotReaction reaction;
  reaction.share_before = ShareOf(run.Offered(hot) - hot_before, run.Offered(all) - all_before);
  reaction.base_round_trip = Duration::max();
  for (const Connection& one : run.sender(0).peers.connections) {
    reaction.round_trip = std::max(reaction.round_trip, one.tx().round_trip().srtt());
    if (one.tx().round_trip().min_rtt() == Duration(0)) continue;
    reaction.base_round_trip = std::min(reaction.base_round_trip, one.tx().round_trip().min_rtt());
  }
  // The round trip of a session that has just moved is not known.
  reaction.round_trip = std::max(reaction.round_trip, reaction.base_round_trip);
  SetLoads(run, options, hot);

  std::vector<uint64_t> hot_sum{run.Offered(hot)};
  std::vector<uint64_t> sum{run.Offered(all)};
  for (Duration time{}; time < options.window; time += kSample) {
    run.RunFor(kSample);
    hot_sum.push_back(run.Offered(hot));
    sum.push_back(run.Offered(all));
  }
  const auto share = [&](size_t from, size_t to) {
    return ShareOf(hot_sum[to] - hot_sum[from], sum[to] - sum[from]);
  };
  const auto round = static_cast<size_t>(std::max<int64_t>(1, reaction.round_trip / kSample));
  for (size_t at = 0; at + round < sum.size() && reaction.shares.size() < 16; at += round) {
    reaction.shares.push_back(share(at, at + round));
  }
  reaction.avoided = options.window;
  for (size_t at = 0; at + kHeld * round < sum.size(); ++at) {
    if (share(at, at + kHeld * round) > kFewShare) continue;
    reaction.avoided = static_cast<int64_t>(at) * kSample;
    reaction.is_avoided = true;
    break;
  }
  reaction.share_after = share(sum.size() * 3 / 4, sum.size() - 1);
  reaction.failure = run.Finish();
  return reaction;
}

}  // namespace suede
