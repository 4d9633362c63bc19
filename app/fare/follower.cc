// SPDX-License-Identifier: Apache-2.0
#include "follower.h"

#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "fare_flags.h"

namespace suede::fare {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kComponent = "fare";

FareParams ParamsOf(const FareConfig& config) {
  constexpr double kMbpsPerGbps = 1000;
  FareParams params{.planes = {},
                    .peers = static_cast<uint32_t>(config.peers.size()),
                    .scale = config.root.scale.value,
                    .damping = {.half_life = milliseconds(config.damping.half_life_ms),
                                .penalty = static_cast<double>(config.damping.penalty),
                                .suppress = static_cast<double>(config.damping.suppress),
                                .reuse = static_cast<double>(config.damping.reuse),
                                .max = static_cast<double>(config.damping.max)}};
  for (const FarePlaneConfig& plane : config.planes) {
    params.planes.push_back({.plane = plane.plane,
                             .interfaces = plane.interfaces,
                             .own_mbps = plane.bandwidth_gbps.value * kMbpsPerGbps});
  }
  return params;
}

std::vector<std::string> SocketsOf(const FareRoot& root) {
  if (root.socket) return {*root.socket};
  return ctl::Daemon::PathsOf(root.endpoint);
}

std::string InterfaceName(uint32_t index) {
  char name[IF_NAMESIZE] = "";
  return if_indextoname(index, name) != nullptr ? name : "";
}

}  // namespace

Follower::Follower(const FareConfig& config, const FollowerOptions& options, int signals,
                   Logger& log)
    : config_(config),
      options_(options),
      signals_(signals),
      log_(log),
      params_(ParamsOf(config)),
      weights_(params_),
      endpoint_(SocketsOf(config.root), config.root.xpu, config.root.instance),
      book_(config.peers.size(), config.root.source == FareRoot::Source::kBgp, InterfaceName),
      vtysh_(config.bgp) {}

Time Follower::now() const {
  return TimeFromNs(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
          .count());
}

std::string Follower::TextOf(const WeightChange& change) const {
  return StrCat(" peer=", XpuOf(change), " plane=", PlaneOf(change), " weight=", change.weight);
}

// ---- From start to end.

// Fails on permanent errors.
int Follower::Start() {
  const auto fail = [&](const std::string& message) {
    log_(EalLogLevel::kError, kComponent, message);
    return kExitPreflight;
  };
  for (const FarePlaneConfig& plane : config_.planes) {
    for (const std::string& name : plane.interfaces) {
      if (if_nametoindex(name.c_str()) != 0) continue;
      return fail(StrCat("plane ", plane.plane, ": there is no interface ", name,
                         " in this network namespace; ip link lists them"));
    }
  }
  if (config_.root.source == FareRoot::Source::kBgp &&
      access(config_.bgp.vtysh.c_str(), X_OK) != 0) {
    return fail(StrCat(config_.bgp.vtysh, ": ", std::strerror(errno),
                       "; install frr, or name its vtysh by the key bgp.vtysh"));
  }
  std::vector<FarePrefix> prefixes;
  prefixes.reserve(config_.peers.size());
  for (const FarePeerConfig& peer : config_.peers) prefixes.push_back(peer.parsed);
  auto routes = KernelRoutes::Open(std::move(prefixes), config_.root.table);
  if (!routes.ok()) return fail(std::string(routes.status().message()));
  routes_ = *std::move(routes);
  return kExitDone;
}

int Follower::Run() {
  if (const int code = Start(); code != kExitDone) return code;
  Connect();
  while (!ends_ && Wait()) {
    TakeSignals();
    if (!TakeRoutes()) break;
    TakeBgp();
    QueryBgp();
    weights_.OnTime(now());
    if (!endpoint_.connected() && Clock::now() >= retry_at_) Connect();
    SetWeights();
    if (options_.once && IsOnceOver()) break;
  }
  return End();
}

// Waits until there is work.
bool Follower::Wait() {
  Clock::time_point until = std::min(retry_at_, vtysh_.deadline());
  if (book_.HasQuestions() && !vtysh_.busy()) until = std::min(until, ask_at_);
  if (const Time due = weights_.deadline(); due != kNever) {
    until = std::min(until, Clock::time_point(std::chrono::nanoseconds(ToNs(due))));
  }
  pollfd fds[] = {{.fd = signals_, .events = POLLIN, .revents = 0},
                  {.fd = routes_->fd(), .events = POLLIN, .revents = 0},
                  {.fd = endpoint_.fd(), .events = POLLIN, .revents = 0},
                  {.fd = vtysh_.fd(), .events = POLLIN, .revents = 0}};
  int wait_ms = -1;
  if (until != Clock::time_point::max()) {
    const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
    wait_ms = static_cast<int>(std::clamp<int64_t>(left.count(), 0, 3'600'000));
  }
  if (poll(fds, std::size(fds), wait_ms) < 0 && errno != EINTR) {
    log_(EalLogLevel::kError, kComponent, StrCat("poll: ", std::strerror(errno)));
    exit_code_ = kExitFailure;
    return false;
  }
  if (fds[2].revents != 0) {
    endpoint_.Close();
    OnDisconnected(absl::UnavailableError("the daemon has gone"));
  }
  return true;
}

void Follower::TakeSignals() {
  signalfd_siginfo signal;
  while (read(signals_, &signal, sizeof signal) == static_cast<ssize_t>(sizeof signal)) {
    if (signal.ssi_signo == SIGUSR1) {
      LogWeights();
    } else {
      log_(EalLogLevel::kInfo, kComponent, StrCat("ending signal=", signal.ssi_signo));
      ends_ = true;
    }
  }
}

void Follower::LogWeights() {
  for (const WeightChange& one : weights_.All()) {
    const Damper& damper = weights_.damper(one.peer, one.plane);
    const double penalty = damper.PenaltyAt(now(), params_.damping);
    log_(EalLogLevel::kInfo, kComponent,
         StrCat("weight", TextOf(one), " penalty=", static_cast<int64_t>(penalty),
                " held=", damper.holds() ? "yes" : "no"));
  }
}

// Restores default weights, since none would update them after this program's end.
int Follower::End() {
  if (options_.once || options_.keep_weights || !endpoint_.connected()) return exit_code_;
  for (const WeightChange& one : weights_.All()) {
    if (!endpoint_.connected()) break;
    const absl::Status set = endpoint_.SetWeight(PlaneOf(one), XpuOf(one), std::nullopt);
    if (set.ok()) continue;
    log_(EalLogLevel::kWarning, kComponent,
         StrCat("weight is not set back peer=", XpuOf(one), " plane=", PlaneOf(one), ": ",
                std::string(set.message())));
  }
  log_(EalLogLevel::kInfo, kComponent, "weights are back at default");
  return exit_code_;
}

// Whether the work of --once is complete.
bool Follower::IsOnceOver() {
  if (exit_code_ != 0 || ends_) return true;
  if (!read_ || book_.HasQuestions() || vtysh_.busy()) return false;
  for (uint32_t peer = 0; peer < config_.peers.size(); ++peer) {
    if (weights_.HasRoutes(peer)) continue;
    log_(EalLogLevel::kWarning, kComponent,
         StrCat("no route, and its weights are left alone peer=", config_.peers[peer].xpu,
                " prefix=", config_.peers[peer].prefix));
  }
  if (refused_) exit_code_ = kExitFailure;
  return true;
}

// ---- Routes.

bool Follower::TakeRoutes() {
  const absl::StatusOr<bool> fresh = routes_->Poll();
  if (!fresh.ok()) {
    log_(EalLogLevel::kError, kComponent, std::string(fresh.status().message()));
    exit_code_ = kExitFailure;
    return false;
  }
  if (!*fresh) return true;
  read_ = true;
  for (uint32_t peer = 0; peer < config_.peers.size(); ++peer) {
    if (book_.OnKernel(peer, routes_->hops(peer))) OnRoutes(peer);
  }
  return true;
}

void Follower::OnRoutes(uint32_t peer) {
  if (book_.IsUnknown(peer)) return;  // waits for bgpd's bandwidths
  const std::vector<NextHop> hops = book_.HopsOf(peer);
  std::string line = StrCat("routes peer=", config_.peers[peer].xpu, " hops=", hops.size());
  for (const NextHop& hop : hops) {
    StrAppend(&line, " ", hop.interface, "=",
              hop.mbps ? StrCat(*hop.mbps, "Mb/s") : StrCat(hop.share));
  }
  log_(EalLogLevel::kDebug, kComponent, line);
  weights_.OnRoutes(peer, book_.measure(), hops, now());
}

void Follower::QueryBgp() {
  if (vtysh_.busy() || !book_.HasQuestions() || Clock::now() < ask_at_) return;
  asked_ = book_.TakeQuestions(Vtysh::kMaxPrefixes);
  std::vector<std::string> prefixes;
  prefixes.reserve(asked_.size());
  for (const uint32_t peer : asked_) prefixes.push_back(config_.peers[peer].prefix);
  if (const absl::Status begun = vtysh_.Ask(prefixes, Clock::now()); begun.ok()) return;
  book_.AskAgain(asked_);
  ask_at_ = Clock::now() + milliseconds(config_.root.retry_ms);
}

void Follower::TakeBgp() {
  const auto answer = vtysh_.Poll(Clock::now());
  if (!answer) return;
  if (!answer->ok()) {
    const std::string message(answer->status().message());
    if (failure_ != message) log_(EalLogLevel::kError, kComponent, message);
    failure_ = message;
    if (options_.once) exit_code_ = kExitFailure;
    book_.AskAgain(asked_);
    ask_at_ = Clock::now() + milliseconds(config_.root.retry_ms);
    return;
  }
  failure_.clear();
  const auto paths = ReadBgpPaths(**answer);
  for (const uint32_t peer : asked_) {
    const auto found = paths.find(config_.peers[peer].parsed);
    book_.OnBgp(peer, found != paths.end() ? found->second : PathBandwidths{});
    OnRoutes(peer);
  }
}

// ---- Weights.

void Follower::Connect() {
  retry_at_ = Clock::time_point::max();
  if (const absl::Status connected = endpoint_.Connect(); !connected.ok()) {
    return OnDisconnected(connected);
  }
  log_(EalLogLevel::kInfo, kComponent, "connected to the endpoint");
  gone_.clear();
  refusals_.clear();
  weights_.ForgetSet();
}

// Handles an endpoint that does not reply. Logs each reason once until it replies: while an
// endpoint starts or ends, its socket may appear and disappear.
void Follower::OnDisconnected(const absl::Status& why) {
  const auto [reason, is_new] = gone_.emplace(why.message());
  if (is_new) log_(EalLogLevel::kWarning, kComponent, *reason);
  retry_at_ = Clock::now() + milliseconds(config_.root.retry_ms);
  if (options_.once) exit_code_ = kExitUnreachable;
}

void Follower::SetWeights() {
  if (!endpoint_.connected()) return;
  const bool retries = Clock::now() >= retry_at_;
  if (retries) retry_at_ = Clock::time_point::max();
  for (const WeightChange& change : weights_.Changes()) {
    const auto refused = refusals_.find({change.peer, change.plane});
    if (refused != refusals_.end() && !retries) continue;
    const absl::Status set = endpoint_.SetWeight(PlaneOf(change), XpuOf(change), change.weight);
    if (set.ok()) {
      weights_.OnSet(change);
      refusals_.erase({change.peer, change.plane});
      log_(EalLogLevel::kInfo, kComponent, StrCat("set", TextOf(change)));
    } else if (endpoint_.connected()) {
      NoteRefusal(change, set);
    } else {
      return OnDisconnected(set);
    }
  }
}

void Follower::NoteRefusal(const WeightChange& change, const absl::Status& why) {
  refused_ = true;
  std::string& told = refusals_[{change.peer, change.plane}];
  const std::string message(why.message());
  if (told != message) {
    log_(EalLogLevel::kError, kComponent, StrCat("refused", TextOf(change), ": ", message));
  }
  told = message;
  retry_at_ = Clock::now() + milliseconds(config_.root.retry_ms);
}

}  // namespace suede::fare
