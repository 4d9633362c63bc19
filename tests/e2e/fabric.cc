// SPDX-License-Identifier: Apache-2.0
// Cables between memif servers that can be cut: the path between two endpoints in tests of
// failover.
//
// fabric NAME CPU MTU LEFT RIGHT [LEFT RIGHT ...]: a cable for each pair of memif sockets, of which
// it is the client. Forwards on one lcore, and executes lines on stdin, until they end:
//
//   cut N        frames through cable N either way are lost, and its links stay up
//   cut N left   frames to its left end alone; likewise right
//   heal N       nothing is lost
//   down N       its links go down
//   up N         they come up
//   mark         now counts as if there were a cut
//   recovery     says how many ms after the last cut, down or mark the bytes forwarded in a
//                millisecond, taken over 5 of them, were 9 tenths of those in the 100 before; -1:
//                not yet
//
// Says "ready" once all links are up, and repeats each line when it has taken effect on forwarding,
// behind the number that was asked for.
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "dpdk/dpdk_port.h"
#include "dpdk/eal.h"
#include "dpdk/lcores.h"

namespace suede {
namespace {

constexpr uint32_t kBurst = 32;

struct Cable {
  std::array<std::unique_ptr<DpdkPort>, 2> ends;
  std::array<std::atomic<bool>, 2> cut{};  // frames to that end
};

// Bytes that were forwarded in each of the last 65 seconds' milliseconds. One writer.
class Timeline {
 public:
  void Add(uint64_t ms, uint64_t bytes) {
    if (ms != newest_.load(std::memory_order_relaxed)) {
      for (uint64_t m = newest_ + 1; m <= ms; ++m) Bin(m).store(0, std::memory_order_relaxed);
      newest_.store(ms, std::memory_order_release);
    }
    Bin(ms).fetch_add(bytes, std::memory_order_relaxed);
  }
  uint64_t newest() const { return newest_.load(std::memory_order_acquire); }
  // The mean of those from `first` to before `end`.
  double Mean(uint64_t first, uint64_t end) {
    double sum = 0;
    for (uint64_t ms = first; ms < end; ++ms) sum += static_cast<double>(Bin(ms).load());
    return sum / static_cast<double>(end - first);
  }

 private:
  std::atomic<uint64_t>& Bin(uint64_t ms) { return bins_[ms % bins_.size()]; }
  std::atomic<uint64_t> newest_{0};
  std::array<std::atomic<uint64_t>, 1 << 16> bins_{};
};

// Bytes that were forwarded; `idle` is cleared where there was anything.
uint64_t Forward(Port& from, Port& to, bool cut, bool& idle) {
  Frame* frames[kBurst];
  const uint32_t count = from.Receive(frames, kBurst);
  if (count == 0) return 0;
  idle = false;
  uint64_t bytes = 0;
  const uint32_t sent = cut ? 0 : to.Transmit(frames, count);
  for (uint32_t i = 0; i < sent; ++i) bytes += frames[i]->length;
  from.Release(frames, count);
  return bytes;
}

class Fabric {
 public:
  int Run(int argc, char** argv);

 private:
  absl::Status Open(const std::string& name, unsigned cpu, uint16_t mtu,
                    const std::vector<std::string>& sockets);
  int Loop();
  void Serve();
  bool AllUp() const;
  bool Obey(const std::string& line);
  int64_t Recovery();

  Timeline timeline_;
  uint64_t fault_ms_ = 0;
  std::vector<std::unique_ptr<Cable>> cables_;
  std::atomic<uint64_t> turns_{0};
  std::atomic<bool> stop_{false};
};

absl::Status Fabric::Open(const std::string& name, unsigned cpu, uint16_t mtu,
                          const std::vector<std::string>& sockets) {
  EalOptions eal{.file_prefix = "suede_" + name, .no_huge = true, .memory_mb = 256, .cpus = {cpu}};
  eal.log = [](EalLogLevel level, std::string_view line) {
    if (level <= EalLogLevel::kWarning) {
      std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
    }
  };
  if (absl::Status status = StartEal(eal); !status.ok()) return status;
  for (size_t i = 0; i < sockets.size(); ++i) {
    if (i % 2 == 0) cables_.push_back(std::make_unique<Cable>());
    absl::StatusOr<std::unique_ptr<DpdkPort>> port = DpdkPort::Open(
        {.name = sockets[i],
         .device = "net_memif" + std::to_string(i) + ",role=client,id=0,socket=" + sockets[i] +
                   ",socket-abstract=no,bsize=2112",
         .mtu = mtu,
         .frame_bytes = mtu + 18u,
         .pool_frames = 2048});
    if (!port.ok()) return port.status();
    cables_.back()->ends[i % 2] = *std::move(port);
  }
  return absl::OkStatus();
}

int Fabric::Loop() {
  uint32_t idle = 0;
  const TscClock clock;
  while (!stop_.load(std::memory_order_relaxed)) {
    bool is_idle = true;
    uint64_t bytes = 0;
    for (const auto& cable : cables_) {
      for (const int to : {0, 1}) {
        bytes += Forward(cable->ends[1 - to]->pair(), cable->ends[to]->pair(),
                         cable->cut[to].load(std::memory_order_acquire), is_idle);
      }
    }
    timeline_.Add(static_cast<uint64_t>(ToNs(clock.Now()) / 1'000'000), bytes);
    turns_.fetch_add(1, std::memory_order_release);
    idle = is_idle ? idle + 1 : 0;
    if (idle > 16) usleep(10);
  }
  return 0;
}

bool Fabric::AllUp() const {
  for (const auto& cable : cables_) {
    if (!cable->ends[0]->link().up || !cable->ends[1]->link().up) return false;
  }
  return true;
}

// In milliseconds; -1: not yet.
int64_t Fabric::Recovery() {
  constexpr uint64_t kBefore = 100;
  constexpr uint64_t kWindow = 5;
  const double wanted = 0.9 * timeline_.Mean(fault_ms_ - kBefore, fault_ms_);
  for (uint64_t ms = fault_ms_; ms + kWindow <= timeline_.newest(); ++ms) {
    if (timeline_.Mean(ms, ms + kWindow) >= wanted) return static_cast<int64_t>(ms - fault_ms_);
  }
  return -1;
}

bool Fabric::Obey(const std::string& line) {
  std::istringstream words(line);
  std::string verb, side;
  size_t number = 0;
  if (line == "recovery") {
    std::printf("%lld ", static_cast<long long>(Recovery()));
    return true;
  }
  if (line == "mark") {
    fault_ms_ = timeline_.newest();
    return true;
  }
  if (!(words >> verb >> number) || number >= cables_.size()) return false;
  if (verb == "cut" || verb == "down") fault_ms_ = timeline_.newest();
  words >> side;
  Cable& cable = *cables_[number];
  if (verb == "cut" || verb == "heal") {
    cable.cut[0] = verb == "cut" && side != "right";
    cable.cut[1] = verb == "cut" && side != "left";
  } else if (verb == "down" || verb == "up") {
    for (const auto& end : cable.ends) end->SetLink(verb == "up");
  } else {
    return false;
  }
  // A turn that had begun before is over once another one is.
  for (const uint64_t turn = turns_.load(); turns_.load(std::memory_order_acquire) < turn + 2;) {
    YieldCpu();
  }
  return true;
}

void Fabric::Serve() {
  bool reported = false;
  std::string text;
  while (true) {
    for (const auto& cable : cables_) {
      for (const auto& end : cable->ends) end->RefreshLink();
    }
    if (!reported && AllUp()) {
      reported = true;
      std::puts("ready");
      std::fflush(stdout);
    }
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    if (poll(&input, 1, 1) <= 0) continue;
    char bytes[256];
    const ssize_t count = read(STDIN_FILENO, bytes, sizeof bytes);
    if (count <= 0) return;
    text.append(bytes, static_cast<size_t>(count));
    for (size_t end; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1)) {
      const std::string line = text.substr(0, end);
      const bool obeyed = Obey(line);
      std::printf("%s%s\n", line.c_str(), obeyed ? "" : ": what?");
      std::fflush(stdout);
    }
  }
}

int Fabric::Run(int argc, char** argv) {
  if (argc < 6 || argc % 2 != 0) {
    std::fprintf(stderr, "usage: fabric NAME CPU MTU LEFT RIGHT [LEFT RIGHT ...]\n");
    return 2;
  }
  const auto cpu = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10));
  const absl::Status opened =
      Open(argv[1], cpu, static_cast<uint16_t>(std::strtoul(argv[3], nullptr, 10)),
           {argv + 4, argv + argc});
  int status = 1;
  if (!opened.ok()) {
    std::fprintf(stderr, "%s\n", opened.ToString().c_str());
  } else if (LaunchOnCpu(cpu, [this] { return Loop(); }).ok()) {
    Serve();
    stop_ = true;
    WaitForLcores();
    status = 0;
  }
  cables_.clear();
  return StopEal() ? status : 1;
}

}  // namespace
}  // namespace suede

int main(int argc, char** argv) { return suede::Fabric().Run(argc, argv); }
