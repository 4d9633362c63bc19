// SPDX-License-Identifier: Apache-2.0
// A daemon whose lcore is its own load: for tools/bench-management, which measures the cost of a
// daemon's observers to its lcore. Serves two instances on one lcore until SIGTERM, as suede does.
// Two clients run on that lcore, once a turn: one sends from the first instance to the second one's
// XPU as fast as its credit lets it, each command in a PDU of its own, the other takes arriving
// commands. So no other CPU has anything to do with the traffic. With --sink_only the first client
// is left out, and a process on another CPU may send: tools/bench measures what passes between the
// two.
//
// With --check each command is compared with what client_bench sends, and the exit code is 3 if one
// is wrong, missing, doubled or in another place.
//
// management_bench --config FILE [--size BYTES] [--sink_only [--check]]
#include <gflags/gflags.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "config/config.h"
#include "daemon.h"
#include "endpoint/daemon_flags.h"
#include "suede/suede.hpp"

DEFINE_string(config, "", "the configuration, as suede's");
DEFINE_uint32(size, 64, "bytes of data of a command, 0 to 256");
DEFINE_bool(sink_only, false, "commands are taken, and none are sent");
DEFINE_bool(check, false,
            "with --sink_only: the data are client_bench's, and each byte is compared");

namespace suede {
namespace {

constexpr uint32_t kBurst = 32;
constexpr uint8_t kVc = 0;
constexpr uint32_t kControlBytes = 8;
constexpr int kExitWrong = 3;

// Sends. Connected by any thread, then one thread's.
class Source {
 public:
  // 0, or an error of suede.h.
  int Connect(const std::string& socket, const InstanceConfig& own, uint16_t to, uint32_t size) {
    suede_open_params params{};
    params.size = sizeof params;
    params.queue_count = params.instance_count = 1;
    params.instances[0].xpuid = static_cast<uint16_t>(own.xpu);
    params.instances[0].instance = static_cast<uint8_t>(own.instance);
    if (size > data_.size()) return -EINVAL;
    if (const int error = client_.Connect(socket, params); error != 0) return error;
    queue_ = client_.queue(0);
    command_ = client::MakeCommand(to, kVc, control_, std::span(data_).first(size));
    command_.flags = SUEDE_RECORD_TRANSMIT_NOW;
    lines_ =
        (SUEDE_RECORD_CONTROL + kControlBytes + size + SUEDE_LINE_BYTES - 1) / SUEDE_LINE_BYTES;
    return 0;
  }

  // A send without credit is not tried: of calls that are refused the library makes each
  // 1024th look at the daemon's socket, which is a system call.
  bool Turn() {
    const auto credit = static_cast<uint32_t>(std::max(0, queue_.Credit(command_.xpuid, kVc)));
    const uint32_t wanted = std::min(kBurst, credit / lines_);
    uint32_t sent = 0;
    while (sent < wanted && queue_.Send(command_) == 0) ++sent;
    queue_.Flush();
    sent_ += sent;
    return sent != 0;
  }
  uint64_t sent() const { return sent_; }

 private:
  client::Client client_;
  client::Queue queue_{nullptr};
  std::array<uint8_t, kControlBytes> control_{};
  std::array<uint8_t, 256> data_{};
  suede_command command_{};
  uint32_t lines_ = 1;
  uint64_t sent_ = 0;
};

// Takes arriving commands. Connected by any thread, then one thread's.
class Sink {
 public:
  int Connect(const std::string& socket, const InstanceConfig& own) {
    if (const int error = client_.Connect(socket); error != 0) return error;
    return client_.Claim(static_cast<uint16_t>(own.xpu), static_cast<uint8_t>(own.instance),
                         1u << kVc);
  }

  // Looks only where something is under way: see Source::Turn.
  bool Turn(uint64_t sent) { return taken_ != sent && Take(); }
  void SetChecks(bool checks) { checks_ = checks; }
  // Words of data that were not what was sent.
  uint64_t wrong() const { return wrong_; }
  bool Take() {
    suede_received_span span;
    const int count = client_.ReceiveSpan(kVc, &span, kMaxTaken);
    if (count <= 0) return false;
    if (checks_) Check(span);
    client_.Release(kVc);
    taken_ += static_cast<uint64_t>(count);
    return true;
  }

 private:
  static constexpr uint32_t kMaxTaken = 256;

  void Check(const suede_received_span& span) {
    for (uint32_t i = 0; i < span.count; ++i) {
      const uint64_t number = taken_ + i;
      const uint8_t* const data = span.data + size_t{span.stride} * i;
      for (size_t at = 0; at < span.data_bytes; at += sizeof number) {
        const size_t bytes = std::min(sizeof number, span.data_bytes - at);
        wrong_ += std::memcmp(data + at, &number, bytes) != 0 ? 1 : 0;
      }
    }
  }

  client::Client client_;
  uint64_t taken_ = 0;
  bool checks_ = false;
  uint64_t wrong_ = 0;
};

// The load, and the lcore's way to it. Outlives the lcore.
class Load : public PollHook {
 public:
  // Any thread but the control thread, which has to serve the connections meanwhile. An error is
  // printed, and there is no load.
  void Connect(const Config& config, uint32_t size, bool sink_only) {
    sink_only_ = sink_only;
    sink_.SetChecks(FLAGS_check);
    const std::string& socket = config.clients.socket;
    const InstanceConfig& from = config.instances[0];
    const InstanceConfig& to = config.instances[1];
    int error = sink_.Connect(socket, to);
    if (error == 0 && !sink_only)
      error = source_.Connect(socket, from, static_cast<uint16_t>(to.xpu), size);
    if (error != 0) {
      std::fprintf(stderr, "management_bench: error %d: %s\n", error, suede_error_text());
      return;
    }
    connected_.store(true, std::memory_order_release);
  }

  // Once the lcore has ended.
  uint64_t wrong() const { return sink_.wrong(); }

  // The lcore.
  bool Poll(Time /*now*/) override {
    if (!connected_.load(std::memory_order_acquire)) return false;
    if (sink_only_) return sink_.Take();
    const bool received = sink_.Turn(source_.sent());
    return source_.Turn() || received;
  }

 private:
  std::atomic<bool> connected_{false};
  bool sink_only_ = false;
  Source source_;
  Sink sink_;
};

int Fail(const std::string& sentence) {
  std::fprintf(stderr, "management_bench: %s\n", sentence.c_str());
  return kExitUsage;
}

int Run() {
  const absl::StatusOr<Config> config = LoadConfig(FLAGS_config, MachineFacts::Here());
  if (!config.ok()) return Fail(std::string(config.status().message()));
  if (config->instances.size() != 2 || config->lcores.size() != 1) {
    return Fail("the configuration needs two instances on one lcore");
  }
  Load load;
  std::thread connecting;
  const auto prepare = [&](Endpoint& endpoint) {
    endpoint.SetHook(0, &load);
    connecting = std::thread([&] { load.Connect(*config, FLAGS_size, FLAGS_sink_only); });
  };
  const int code = RunDaemon(*config, {.origin = {}, .prepare = prepare});
  if (connecting.joinable()) connecting.join();
  if (load.wrong() == 0) return code;
  std::fprintf(stderr, "management_bench: %llu words of data are wrong\n",
               static_cast<unsigned long long>(load.wrong()));
  return kExitWrong;
}

}  // namespace
}  // namespace suede

int main(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  return suede::Run();
}
