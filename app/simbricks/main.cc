// SPDX-License-Identifier: Apache-2.0
// suede-simbricks: joins simulators with SimBricks' interfaces to an endpoint. docs/simbricks.md is
// its manual.
#include <gflags/gflags.h>
#include <signal.h>

#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "axi/address_map.h"
#include "daemon/command_line.h"
#include "simbricks/host_port.h"
#include "simbricks/link.h"
#include "simbricks/memory_port.h"
#include "simbricks/tap_port.h"
#include "suede/axi.h"

// Type, name, default, value, sentence.
#define SUEDE_SIMBRICKS_FLAGS(X)                                                                \
  X(string, endpoint, "", "NAME", "the endpoint's name, or its daemon's socket")                \
  X(int32, xpu, -1, "N", "the instance's XPU; without it the daemon's first instance")          \
  X(int32, instance, 0, "N", "with --xpu: the instance")                                        \
  X(string, host_socket, "", "PATH", "listens for a host simulator")                            \
  X(string, routes, "", "LIST", "its addresses: FIRST-LAST:XPU[:BASE],..., hexadecimal")        \
  X(uint32, outstanding, 64, "N", "requests of the host simulator under way, 1 to 64")          \
  X(string, memory_socket, "", "PATH", "connects to a memory simulator")                        \
  X(string, memory, "", "FIRST-LAST", "its addresses that remote XPUs may access, hexadecimal") \
  X(string, net_listen, "", "PATH", "listens for a simulator of a NIC or network")              \
  X(string, net_connect, "", "PATH", "connects to one")                                         \
  X(string, tap, "", "NAME", "the TAP device for its frames, which is created")                 \
  X(uint32, tap_mtu, 1500, "BYTES", "the MTU of the TAP device")
#define SUEDE_DEFINE_FLAG(type, name, fallback, value, sentence) \
  DEFINE_##type(name, fallback, sentence);
SUEDE_SIMBRICKS_FLAGS(SUEDE_DEFINE_FLAG)

namespace suede::simbricks {
namespace {

constexpr int kExitUnreachable = 4;
constexpr FlagRow kFlagRows[] = {
#define SUEDE_FLAG_ROW(type, name, fallback, value, sentence) {#name, value, sentence},
    SUEDE_SIMBRICKS_FLAGS(SUEDE_FLAG_ROW){"version", "", "prints the version and exits"},
    {"help", "", "prints this and exits"},
};
constexpr ExitCodeRow kExitCodes[] = {
    {kExitDone, "done"},
    {kExitFailure, "runtime failure"},
    {kExitUsage, "usage"},
    {kExitUnreachable, "the endpoint is unreachable"},
};
constexpr Program kProgram = {
    .name = "suede-simbricks",
    .title = "joins simulators with SimBricks' interfaces to an endpoint (docs/simbricks.md)",
    .synopsis =
        "suede-simbricks --endpoint NAME [--host_socket PATH --routes LIST] [--memory_socket PATH "
        "--memory RANGE]\n       suede-simbricks {--net_listen | --net_connect} PATH --tap NAME",
    .signals = "SIGTERM and SIGINT end it; SIGUSR1 prints the counters.",
    .flags = kFlagRows,
    .exit_codes = kExitCodes};

constexpr auto kLinksInterval = std::chrono::milliseconds(1);
constexpr auto kReconnectInterval = std::chrono::milliseconds(100);
// Idle polls before the loop sleeps, and for how long: a simulator wakes no one.
constexpr uint32_t kIdlePolls = 1000;
constexpr auto kSleep = std::chrono::microseconds(50);
constexpr uint32_t kFrameRoom = 9216;

volatile sig_atomic_t g_stop = 0;
volatile sig_atomic_t g_report = 0;

// ---- The command line

absl::Status Usage(const char* text) { return absl::InvalidArgumentError(text); }

absl::Status CheckFlags() {
  const bool has_axi = !FLAGS_host_socket.empty() || !FLAGS_memory_socket.empty();
  const bool has_net = !FLAGS_net_listen.empty() || !FLAGS_net_connect.empty();
  const std::pair<bool, const char*> mistakes[] = {
      {!has_axi && !has_net, "no socket; give --host_socket, --memory_socket or --net_listen"},
      {has_axi == FLAGS_endpoint.empty(), "--endpoint goes with --host_socket, --memory_socket"},
      {FLAGS_host_socket.empty() != FLAGS_routes.empty(), "--host_socket goes with --routes"},
      {FLAGS_memory_socket.empty() != FLAGS_memory.empty(), "--memory_socket goes with --memory"},
      {has_net == FLAGS_tap.empty(), "--tap goes with --net_listen or --net_connect"},
      {!FLAGS_net_listen.empty() && !FLAGS_net_connect.empty(), "--net_listen or --net_connect"},
      {FLAGS_outstanding < 1 || FLAGS_outstanding > kMaxOutstanding, "--outstanding is 1 to 64"},
      {FLAGS_tap_mtu < 68 || FLAGS_tap_mtu > 65521, "--tap_mtu is 68 to 65521"},
      {FLAGS_xpu > 1023 || FLAGS_instance < 0 || FLAGS_instance > 255,
       "--xpu is 0 to 1023, --instance 0 to 255"},
  };
  for (const auto& [is_made, text] : mistakes) {
    if (is_made) return Usage(text);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<suede_axi_route>> ReadRoutes() {
  auto routes = axi::AddressMap::Parse(FLAGS_routes.c_str());
  if (!routes)
    return Usage("cannot read --routes: no such form or XPU; use FIRST-LAST:XPU[:BASE],...");
  return *std::move(routes);
}

absl::StatusOr<axi::Range> ReadRange() {
  if (FLAGS_memory.empty()) return axi::Range{};
  uint64_t first = 0;
  uint64_t last = 0;
  const int fields = std::sscanf(FLAGS_memory.c_str(), "%" SCNx64 "-%" SCNx64, &first, &last);
  if (fields != 2 || first > last)
    return Usage("cannot read --memory: no such form; use FIRST-LAST");
  return axi::Range{first, last};
}

// ---- The parts

class Bridge {
 public:
  ~Bridge() { suede_axi_close(axi_); }

  absl::Status OpenAxi();
  absl::Status OpenNetwork();
  // Moves everything. Returns whether anything moved.
  bool Poll(Time now);
  void Report() const;

 private:
  absl::StatusOr<Link*> OpenLink(const LinkOptions& options);
  bool PollAxi(Time now);

  suede_axi* axi_ = nullptr;
  Counters counters_;
  std::vector<std::unique_ptr<Link>> links_;
  std::unique_ptr<HostPort> host_;
  std::unique_ptr<MemoryPort> memory_;
  std::unique_ptr<TapPort> tap_;
  Time links_due_{};
  bool is_lost_ = false;  // the daemon
  Time reconnect_at_{};
};

absl::StatusOr<Link*> Bridge::OpenLink(const LinkOptions& options) {
  auto link = Link::Open(options);
  if (!link.ok()) return link.status();
  return links_.emplace_back(*std::move(link)).get();
}

absl::Status Bridge::OpenAxi() {
  const auto routes = ReadRoutes();
  if (!routes.ok()) return routes.status();
  const auto range = ReadRange();
  if (!range.ok()) return range.status();
  const suede_instance own{.xpuid = static_cast<uint16_t>(FLAGS_xpu),
                           .instance = static_cast<uint8_t>(FLAGS_instance)};
  const suede_axi_params params = {.size = sizeof params,
                                   .bus_bytes = kBusBytes,
                                   .interface_count = FLAGS_xpu < 0 ? 0u : 1u,
                                   .route_count = static_cast<uint32_t>(routes->size()),
                                   .timeout_ms = 1000,
                                   .address_places = 64,
                                   .beat_places = 256,
                                   .interfaces = &own,
                                   .routes = routes->data()};
  if (const int error = suede_axi_open(FLAGS_endpoint.c_str(), &params, &axi_); error != 0) {
    const std::string text =
        absl::StrCat("cannot use endpoint ", FLAGS_endpoint, ": ", suede_axi_error_text());
    return error == -EINVAL ? absl::InvalidArgumentError(text) : absl::UnavailableError(text);
  }
  if (!FLAGS_host_socket.empty()) {
    const auto link = OpenLink({.path = FLAGS_host_socket, .name = "host", .room = kMaxHostBytes});
    if (!link.ok()) return link.status();
    host_ = std::make_unique<HostPort>(axi_, *link, &counters_, FLAGS_outstanding);
  }
  Link* memory = nullptr;
  if (!FLAGS_memory_socket.empty()) {
    const auto link = OpenLink({.listens = false, .path = FLAGS_memory_socket, .name = "memory"});
    if (!link.ok()) return link.status();
    memory = *link;
  }
  memory_ = std::make_unique<MemoryPort>(axi_, memory, &counters_, *range);
  return absl::OkStatus();
}

absl::Status Bridge::OpenNetwork() {
  TapOptions device{.name = FLAGS_tap, .mtu_bytes = FLAGS_tap_mtu};
  std::random_device random;
  for (uint8_t& octet : device.mac) octet = static_cast<uint8_t>(random());
  device.mac[0] = 0x02;  // locally administered
  auto tap = Tap::Open(device);
  if (!tap.ok()) return tap.status();
  const auto link =
      OpenLink({.upper = Upper::kNetwork,
                .listens = !FLAGS_net_listen.empty(),
                .path = FLAGS_net_listen.empty() ? FLAGS_net_connect : FLAGS_net_listen,
                .name = "net",
                .room = kFrameRoom});
  if (!link.ok()) return link.status();
  tap_ = std::make_unique<TapPort>(*std::move(tap), *link, &counters_);
  return absl::OkStatus();
}

bool Bridge::Poll(Time now) {
  if (now >= links_due_) {
    for (const auto& link : links_) link->Poll(now);
    links_due_ = now + kLinksInterval;
  }
  bool moved = axi_ != nullptr && PollAxi(now);
  if (memory_) moved |= memory_->Poll();
  if (host_) moved |= host_->Poll(now);
  if (tap_) moved |= tap_->Poll();
  return moved;
}

bool Bridge::PollAxi(Time now) {
  const int result = suede_axi_poll(axi_);
  if (result != -ECONNRESET) return result == 1;
  if (!is_lost_) std::fprintf(stderr, "suede-simbricks: the endpoint has gone; connecting again\n");
  if (is_lost_ && now < reconnect_at_) return false;
  reconnect_at_ = now + kReconnectInterval;
  is_lost_ = suede_axi_reconnect(axi_) != 0;
  if (!is_lost_) std::fprintf(stderr, "suede-simbricks: the endpoint is back\n");
  return !is_lost_;
}

void Bridge::Report() const {
  std::string text = "suede-simbricks: counters";
  const auto append = [&](const std::string& name, uint64_t value) {
    if (value != 0) absl::StrAppend(&text, " ", name, "=", value);
  };
#define SUEDE_SIMBRICKS_APPEND(id, name, sentence) append(name, counters_[Counter::id]);
  SUEDE_SIMBRICKS_COUNTERS(SUEDE_SIMBRICKS_APPEND)
  for (const auto& link : links_) {
    for (size_t fault = 1; fault < kFaults; ++fault) {
      append(absl::StrCat(link->name(), "_bad_", NameOf(Fault(fault))), link->faults(Fault(fault)));
    }
    append(absl::StrCat(link->name(), "_busy"), link->busy());
  }
  suede_axi_counters axi = {.size = sizeof axi};
  suede_axi_get_counters(axi_, &axi);
  for (uint32_t status = 0; status < SUEDE_AXI_STATUSES; ++status) {
    append(absl::StrCat("axi_status_", status), axi.ended[status]);
  }
  std::fprintf(stderr, "%s\n", text.c_str());
}

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "suede-simbricks: %s\n", std::string(status.message()).c_str());
  if (absl::IsInvalidArgument(status)) return kExitUsage;
  return absl::IsUnavailable(status) ? kExitUnreachable : kExitFailure;
}

int Serve() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGTERM, [](int) { g_stop = 1; });
  signal(SIGINT, [](int) { g_stop = 1; });
  signal(SIGUSR1, [](int) { g_report = 1; });
  Bridge bridge;
  absl::Status status = CheckFlags();
  if (status.ok() && !FLAGS_endpoint.empty()) status = bridge.OpenAxi();
  if (status.ok() && !FLAGS_tap.empty()) status = bridge.OpenNetwork();
  if (!status.ok()) return Fail(status);
  std::fprintf(stderr, "suede-simbricks: ready\n");
  for (uint32_t idle = 0; g_stop == 0;) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    idle = bridge.Poll(Time(now)) ? 0 : idle + 1;
    if (idle >= kIdlePolls) std::this_thread::sleep_for(kSleep);
    if (std::exchange(g_report, 0) != 0) bridge.Report();
  }
  bridge.Report();
  return kExitDone;
}

}  // namespace
}  // namespace suede::simbricks

int main(int argc, char** argv) {
  using suede::simbricks::kProgram;
  const suede::CommandLine line = suede::ParseCommandLine(kProgram, argc, argv);
  return line.exit_code >= 0 ? line.exit_code : suede::simbricks::Serve();
}
