// SPDX-License-Identifier: Apache-2.0
// A management server with an invented endpoint behind it, and clients that send any text.
// All on one thread: the clients' waits poll the server.
#ifndef SUEDE_TESTS_MGMT_BENCH_H_
#define SUEDE_TESTS_MGMT_BENCH_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fake_changes.h"
#include "local/passing.h"
#include "mgmt/catalog.h"
#include "mgmt/event_log.h"
#include "mgmt/json.h"
#include "mgmt/server.h"

namespace suede {

class FakeEndpoint : public EndpointWithChanges {
 public:
  VersionView Version() override {
    return {.version = "1.2.3", .revision = "abc", .dpdk = "DPDK 0", .name = "left", .uptime_s = 7};
  }
  std::vector<InstanceView> Instances() override {
    return {{.xpu = 3, .instance = 1, .lcore = 5, .port = "p0", .address = "198.18.0.1"}};
  }
  std::vector<PortView> Ports() override {
    return {{.name = "p0",
             .driver = "net_null",
             .mac = "02:00:00:00:00:01",
             .mtu_bytes = 2088,
             .encapsulation = "udp4",
             .admin_up = true,
             .link_up = true,
             .speed_bps = 0,
             .pool_frames = 100,
             .pool_free = 90,
             .lcores = {5, 7},
             .queue_pairs = 2,
             .steering = "rules",
             .device = "net_null0",
             .id = 0}};
  }
  std::vector<CapabilityView> Capabilities() override {
    return {{.port = "p0",
             .driver = "net_null",
             .capability = "PFC",
             .value = "no",
             .consequence = "for PFC use pfc: software"}};
  }
  std::vector<PeerView> Peers() override {
    std::vector<PeerView> all = {
        {.xpu = 4,
         .port = "p0",
         .address = "198.18.0.2",
         .mac = "02:00:00:00:00:02",
         .name = "gpu4"},
        {.xpu = 5, .port = "p0", .address = "198.18.0.3", .mac = "", .resolving = true}};
    for (uint32_t i = 0; i < further_peers; ++i) all.push_back({.xpu = 100 + i, .port = "p0"});
    return all;
  }
  std::vector<DeviceView> Devices() override {
    return {{.device = "M0D1", .plane = 0, .lcore = 2, .epoch = 1}};
  }
  std::vector<CableView> Cables() override {
    return {{.from = "M0D1P2",
             .to = "M1D0P4",
             .plane = 0,
             .port = "p0",
             .state = "wrong",
             .neighbour = "M1D1P4",
             .neighbour_plane = 0,
             .specification = "0x0123456789ab",
             .neighbour_specification = "0x0123456789ab",
             .queued_frames = 3},
            {.from = "M0D1P3", .to = "M0D2P1", .state = "silent", .specification = "0"}};
  }
  std::vector<ClientView> Clients() override {
    return {{.id = 1, .pid = 42, .uid = 1000, .queues = 2, .state = "open"}};
  }
  std::vector<WindowView> Windows() override {
    return {{.client = 1,
             .xpu = 3,
             .window = 7,
             .served_by = "lcore",
             .rights = "read,write",
             .has_key = true,
             .size_bytes = 4096,
             .page_bytes = 4096},
            {.client = 1, .xpu = 3, .window = 8, .served_by = "program"}};
  }
  std::vector<CounterSetView> Counters(CounterScope scope) override {
    std::vector<CounterSetView> sets(scope == CounterScope::kTotal ? 1 : 2);
    for (size_t i = 0; i < sets.size(); ++i) {
      if (scope != CounterScope::kTotal) sets[i].of = std::to_string(i) + ".0";
      sets[i].counters = {{.name = "a_total", .value = counter}, {.name = "b_total", .value = 0}};
    }
    return sets;
  }
  Question<WaitsView> Waits(const ConnectionQuery& query) override {
    return [query] {
      return WaitsView{
          .waits = {{.xpu = 3,
                     .instance = 1,
                     .peer = query.peer.value_or(4),
                     .vc = 2,
                     .cause = "credit",
                     .plane = 1,
                     .since_ns = 2500,
                     .queued_bytes = 300,
                     .queued_ns = 4000,
                     .inflight_pdus = 3,
                     .inflight_ns = 1000,
                     .credit_lines = 0,
                     .tx_pdus = 9}},
          .readers = {{.xpu = 3, .instance = 1, .vc = 2, .client = 7, .ring_lines = 64}},
          .more = false};
    };
  }
  Question<TraceChangeView> BeginTrace(const TraceQuery& query) override {
    trace = query;
    return [] { return TraceChangeView{.instances = 1}; };
  }
  Question<TraceChangeView> EndTrace(const TraceQuery&) override {
    trace.reset();
    return [] { return TraceChangeView{.instances = 1}; };
  }
  Question<TraceListView> ReadTrace(const TraceQuery&) override {
    return [this] {
      TraceListView view;
      if (!trace) return view;
      view.rows = {{.xpu = 3,
                    .direction = "tx",
                    .peer = 4,
                    .psn = trace->stride,
                    .state = "acked",
                    .at_ns = 1'700'000'000'000'000'000,
                    .staged_ns = 10,
                    .sent_ns = 20,
                    .acked_ns = 30,
                    .bytes = 64,
                    .commands = 1,
                    .transmissions = 1},
                   {.xpu = 3, .direction = "rx", .peer = 4, .state = "kept"}};
      return view;
    };
  }
  Question<ConnectionsView> Connections(const ConnectionQuery& query) override {
    return [query, asked = 0]() mutable -> std::optional<ConnectionsView> {
      if (++asked < 3) return std::nullopt;
      ConnectionsView view{.connections = {}, .more = query.limit == 1};
      view.connections.push_back({.xpu = 3,
                                  .instance = 1,
                                  .peer = query.peer.value_or(4),
                                  .vc = query.unused ? std::optional<uint32_t>(2) : std::nullopt,
                                  .state = "open",
                                  .next_psn = 7,
                                  .srtt_ns = 1500,
                                  .congestion = "fixed"});
      return view;
    };
  }
  absl::Status StartCapture(const CaptureQuery& query, Fd file) override {
    if (query.port != "p0") return absl::NotFoundError("no such port; take p0");
    captured = std::move(file);
    return absl::OkStatus();
  }
  absl::StatusOr<CaptureView> StopCapture(std::string_view port, bool drops) override {
    if (!captured.ok()) return absl::NotFoundError("not captured; start it");
    captured.Reset();
    return CaptureView{.port = std::string(port), .drops = drops, .written = 5, .dropped = 1};
  }
  std::vector<LinkView> Links() override { return {{.port = "port0", .counters = &link}}; }
  LldpView Lldp() override {
    return {.neighbours = {{.port = "p0",
                            .chassis = "02:00:00:00:00:01",
                            .port_id = "s0",
                            .system = "sw0",
                            .age_ns = 1'500'000'000,
                            .ttl_s = 121,
                            .differences = {{.what = "cbfc", .own = "on", .theirs = "off"}},
                            .max_frame_bytes = 1518,
                            .llr = true,
                            .credits = {1, 2}},
                           {.port = "p1", .chassis = "c", .port_id = "p"}},
            .ports = {{.port = "p0", .counters = &lldp}}};
  }
  std::vector<CaptureView> ListCaptures() override {
    if (!captured.ok()) return {};
    return {{.port = "p0", .written = 3, .dropped = 0}};
  }
  LogLevelView LogLevel() override { return level; }
  void SetLogLevel(LogLevelView to) override { level = to; }
  bool Drain() override { return ++drains == 1; }
  EventLog& Events() override { return events; }
  Question<std::vector<PlaneView>> Planes() override {
    return [this, asked = 0]() mutable -> std::optional<std::vector<PlaneView>> {
      if (++asked < 3) return std::nullopt;
      return std::vector<PlaneView>{{.xpu = 3,
                                     .instance = 1,
                                     .plane = 1,
                                     .port = "p0",
                                     .admin = plane,
                                     .link_up = true,
                                     .up = plane != PlaneSetting::kDown && port_up,
                                     .weight = weight,
                                     .peers_up = 6,
                                     .peers_down = 2,
                                     .peers_slow = 1,
                                     .inflight_bytes = inflight_bytes}};
    };
  }
  Question<PlanePeersView> PlanePeers(const PlanePeerQuery& query) override {
    return [query, asked = 0]() mutable -> std::optional<PlanePeersView> {
      if (++asked < 3) return std::nullopt;
      PlanePeersView view{.peers = {}, .more = query.limit == 1};
      view.peers.push_back({.xpu = query.xpu.value_or(3),
                            .instance = query.instance.value_or(1),
                            .peer = query.peer.value_or(4),
                            .plane = query.plane.value_or(1),
                            .state = "up",
                            .usable = true,
                            .tx_generation = 5,
                            .rx_generation = 65535,
                            .weight = 100,
                            .measured_percent = 48,
                            .measured_bps = 12'000'000'000,
                            .inflight_bytes = 77,
                            .deaths = 2});
      view.peers.push_back({.xpu = 3,
                            .instance = 1,
                            .peer = 9,
                            .peer_plane = 3,
                            .state = "down",
                            .home = true,
                            .home_vcs = {0, 3},
                            .fencing = true,
                            .heard_ago_ns = 1500,
                            .held_ns = 2'000'000});
      return view;
    };
  }
  absl::StatusOr<AdminQuestion> SetPortAdmin(std::string_view port, bool up) override {
    if (port != "p0") return absl::NotFoundError("no such port; take p0");
    port_up = up;
    return [asked = 0]() mutable { return ++asked == 3; };
  }
  absl::Status Check(const PlaneName& name) const {
    const bool good = name.xpu == 3 && name.instance == 1 && name.plane == 1;
    return good ? absl::OkStatus() : absl::NotFoundError("no such plane");
  }
  absl::StatusOr<AdminQuestion> SetPlaneAdmin(const PlaneName& name,
                                              PlaneSetting setting) override {
    if (absl::Status wrong = Check(name); !wrong.ok()) return wrong;
    plane = setting;
    return [asked = 0]() mutable { return ++asked == 3; };
  }
  absl::StatusOr<WeightChange> SetPlaneWeight(const PlaneName& name, std::optional<uint32_t> peer,
                                              std::optional<uint32_t> to) override {
    if (absl::Status wrong = Check(name); !wrong.ok()) return wrong;
    (peer ? weight_of_peer : weight) = to.value_or(400);
    return WeightChange{.done = [asked = 0]() mutable { return ++asked == 3; },
                        .weight = to.value_or(400)};
  }
  // A third of it has gone each time that it is asked.
  absl::StatusOr<DrainQuestion> DrainPlane(const PlaneName& name) override {
    if (absl::Status wrong = Check(name); !wrong.ok()) return wrong;
    plane = PlaneSetting::kDrain;
    return [this, left = inflight_bytes]() mutable -> absl::StatusOr<std::optional<uint64_t>> {
      if (plane != PlaneSetting::kDrain) return absl::FailedPreconditionError("set otherwise");
      if (!drains_planes) return std::optional(left);
      left -= inflight_bytes / 3;
      return left == inflight_bytes / 3 ? std::nullopt : std::optional(left);
    };
  }
  std::vector<SealedPeerView> SealedPeers() override {
    return {{.xpu = 3,
             .instance = 1,
             .peer = 5,
             .sealing = "required",
             .sealed = true,
             .secret_id = 2,
             .tx_epoch = 7,
             .rx_epoch = 6}};
  }
  absl::StatusOr<uint32_t> RotateKeys() override {
    ++rotations;
    return 1;
  }
  absl::StatusOr<uint32_t> ReloadSecrets() override { return secrets; }
  absl::StatusOr<uint32_t> secrets = 3;
  int rotations = 0;
  Question<std::vector<QueueView>> Queues() override {
    return [asked = 0]() mutable -> std::optional<std::vector<QueueView>> {
      if (++asked < 3) return std::nullopt;
      return std::vector<QueueView>{{.client = 1,
                                     .queue = 1,
                                     .xpu = 3,
                                     .instance = 1,
                                     .state = "open",
                                     .ring_lines = 64,
                                     .waiting_lines = 5,
                                     .credit_lines = 32,
                                     .credit_used = 2,
                                     .discarded = 9,
                                     .paused = "0,1"}};
    };
  }
  std::string FilePrefix() override { return file_prefix; }
  absl::StatusOr<uint64_t> Record(uint32_t interval_us) override {
    if (interval_us == 999) return absl::FailedPreconditionError("another interval; use that");
    return 7;
  }
  RecordPage ReadRecord(uint64_t since) override {
    return {.header = "a,b", .csv = since < 9 ? "1,2\n" : "", .next = 9, .lost = 9 - since - 1};
  }

  int64_t now_ns = 1'700'000'000'000'000'000;
  EventLog events{8, [this] { return now_ns; }};
  bool port_up = true;
  PlaneSetting plane = PlaneSetting::kUp;
  uint32_t weight = 400;
  uint32_t weight_of_peer = 0;
  uint64_t inflight_bytes = 999;
  bool drains_planes = true;
  std::string file_prefix = "suede_left";
  std::optional<TraceQuery> trace;  // that was begun
  uint64_t counter = 10;
  LogLevelView level = LogLevelView::kInfo;
  int drains = 0;
  LinkCounters link;
  LldpCounters lldp;
  uint32_t further_peers = 0;
  Fd captured;
};

class TestDirectory {
 public:
  TestDirectory() { path_ = mkdtemp(template_); }
  ~TestDirectory() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  char template_[32] = "/tmp/suede-mgmt-XXXXXX";
  std::string path_;
};

class ManagementBench {
 public:
  explicit ManagementBench(const std::function<void(ManagementOptions&)>& change = nullptr,
                           const Catalog* catalog = &EndpointCatalog(),
                           DaemonView* view = nullptr) {
    options.socket_path = directory / "management.sock";
    options.version = "1.2.3";
    options.name = "left";
    options.log = [this](std::string_view line) { log.emplace_back(line); };
    options.on_limit = [this](std::string_view limit, pid_t pid, uid_t, std::string_view reason) {
      limits.emplace_back(limit, pid);
      reasons.emplace_back(reason);
    };
    if (change != nullptr) change(options);
    auto created = ManagementServer::Create(options, catalog, view != nullptr ? view : &endpoint);
    if (!created.ok()) {
      ADD_FAILURE() << created.status();
      std::abort();
    }
    server = *std::move(created);
  }

  // Lets the server work until the condition holds, for `seconds` at most.
  bool Until(const std::function<bool()>& condition, double seconds = 5) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      // Only when told to: the daemon does not ask otherwise either.
      pollfd ready{.fd = server->fd(), .events = POLLIN, .revents = 0};
      poll(&ready, 1, 1);
      if (ready.revents != 0) server->Poll();
    }
    return true;
  }

  TestDirectory directory;
  ManagementOptions options;
  FakeEndpoint endpoint;
  std::vector<std::string> log;
  std::vector<std::pair<std::string, pid_t>> limits;
  std::vector<std::string> reasons;
  std::unique_ptr<ManagementServer> server;
};

class TestClient {
 public:
  explicit TestClient(ManagementBench& bench, bool greet = true) : bench_(bench) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    bench.options.socket_path.copy(address.sun_path, sizeof address.sun_path - 1);
    socket_ = Fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    connected = connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    fcntl(socket_.get(), F_SETFL, O_NONBLOCK);
    if (greet) greeting = ReadLine().value_or("");
  }

  int fd() const { return socket_.get(); }
  void Close() { socket_.Reset(); }
  // Sends all of it, with the descriptor at its first byte.
  bool Send(std::string_view bytes, int fd = -1) {
    return bench_.Until([&] {
      while (!bytes.empty()) {
        const ssize_t sent = SendWithFd(socket_.get(), bytes, fd);
        if (sent < 0) return errno != EAGAIN;
        bytes.remove_prefix(static_cast<size_t>(sent));
        fd = -1;
      }
      return true;
    }) && bytes.empty();
  }
  // The next line; none where the connection ended first.
  std::optional<std::string> ReadLine() {
    size_t end = std::string::npos;
    bench_.Until([&] {
      while ((end = text_.find('\n')) == std::string::npos) {
        char buffer[4096];
        const ssize_t n = recv(socket_.get(), buffer, sizeof buffer, 0);
        if (n < 0 && errno == EAGAIN) return false;
        if (n <= 0) return true;
        text_.append(buffer, static_cast<size_t>(n));
      }
      return true;
    });
    if (end == std::string::npos) return std::nullopt;
    std::string line = text_.substr(0, end);
    text_.erase(0, end + 1);
    return line;
  }
  // The answer to one line.
  Json Ask(const std::string& line, int fd = -1) {
    EXPECT_TRUE(Send(line + "\n", fd));
    const std::optional<std::string> answer = ReadLine();
    return answer ? TryParse<Json>(*answer).value_or(Json("no JSON: " + *answer)) : Json();
  }
  Json Result(const std::string& method, const std::string& params = "{}") {
    const Json answer =
        Ask(R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":)" + params + "}");
    return answer.contains("result") ? answer["result"] : answer;
  }
  bool IsClosed() {
    while (ReadLine().has_value()) {
    }
    char byte;
    return recv(socket_.get(), &byte, 1, 0) == 0 || errno != EAGAIN;
  }

  bool connected = false;
  std::string greeting;

 private:
  ManagementBench& bench_;
  Fd socket_;
  std::string text_;
};

inline int ErrorOf(const Json& answer) {
  if (!answer.is_object() || !answer.contains("error")) return 0;
  return answer["error"]["code"].get<int>();
}

}  // namespace suede

#endif  // SUEDE_TESTS_MGMT_BENCH_H_
