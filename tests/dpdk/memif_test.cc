// SPDX-License-Identifier: Apache-2.0
// Two processes over memif at full rate: either may start first, and either may be killed and
// come back. The program starts itself as the peers: memif_test ROLE SOCKET CPU.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "dpdk/dpdk_port.h"
#include "dpdk/eal.h"
#include "dpdk/lcores.h"

namespace suede {
namespace {

std::atomic<bool> stop{false};

// Sends and receives as fast as it goes.
int Pump(Port* port, std::atomic<uint64_t>* received) {
  constexpr uint32_t kBurst = 32;
  Frame* frames[kBurst];
  for (uint32_t round = 0; !stop.load(std::memory_order_relaxed); ++round) {
    const uint32_t count = port->Allocate(frames, kBurst);
    for (uint32_t i = 0; i < count; ++i) {
      frames[i]->data = frames[i]->buffer + 64;
      frames[i]->length = port->max_frame_bytes();
    }
    port->Transmit(frames, count);
    port->Release(frames, count);
    const uint32_t got = port->Receive(frames, kBurst);
    port->Release(frames, got);
    received->store(received->load(std::memory_order_relaxed) + got, std::memory_order_relaxed);
    if (round % 64 == 0) YieldCpu();  // the machine may have fewer CPUs than we have spinners
  }
  return 0;
}

// The life of a peer: one line on stdout for each change.
int RunPeer(const std::string& role, const std::string& socket, unsigned cpu) {
  const std::string device = absl::StrCat("net_memif0,role=", role, ",id=0,socket=", socket,
                                          ",socket-abstract=no,rsize=9,bsize=4096");
  EalOptions eal;
  eal.file_prefix = absl::StrCat("suede_memif_test_", getppid(), "_", role);
  eal.no_huge = true;
  eal.memory_mb = 128;
  eal.cpus = {cpu};
  PortOptions options;
  options.name = role;
  options.device = device;
  options.mtu = 4000;
  options.frame_bytes = 4000;
  options.pool_frames = 4096;
  if (const absl::Status status = StartEal(eal); !status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  auto opened = DpdkPort::Open(options);
  if (!opened.ok()) {
    std::fprintf(stderr, "%s\n", opened.status().ToString().c_str());
    StopEal();
    return 1;
  }
  DpdkPort* port = opened->get();
  std::atomic<uint64_t> received{0};
  if (!LaunchOnCpu(cpu, [&] { return Pump(&port->pair(), &received); }).ok()) return 1;
  uint64_t mark = 0;
  bool up = false;
  bool reported = true;
  while (!stop.load()) {
    port->RefreshLink();
    if (port->link().up != up) {
      up = !up;
      std::printf("%s\n", up ? "up" : "down");
      mark = received.load();
      reported = !up;
    }
    if (!reported && received.load() > mark + 1000) {
      std::printf("traffic\n");
      reported = true;
    }
    std::fflush(stdout);
    SleepNs(5'000'000);
  }
  WaitForLcores();
  return StopEal() ? 0 : 1;
}

class Peer {
 public:
  Peer(const std::string& role, const std::string& socket, int cpu) {
    int ends[2];
    if (pipe(ends) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      close(ends[0]);
      close(ends[1]);
      const std::string number = std::to_string(cpu);
      execl("/proc/self/exe", "memif_test", role.c_str(), socket.c_str(), number.c_str(), nullptr);
      _exit(127);
    }
    close(ends[1]);
    lines_ = ends[0];
  }
  ~Peer() {
    if (pid_ > 0) End(SIGKILL);
    close(lines_);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // Reads lines until one is `word`.
  bool Says(const std::string& word) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < deadline) {
      if (const size_t end = text_.find('\n'); end != std::string::npos) {
        const std::string line = text_.substr(0, end);
        text_.erase(0, end + 1);
        if (line == word) return true;
        continue;
      }
      pollfd poller{lines_, POLLIN, 0};
      if (poll(&poller, 1, 100) <= 0) continue;
      char buffer[256];
      const ssize_t got = read(lines_, buffer, sizeof(buffer));
      if (got <= 0) return false;
      text_.append(buffer, static_cast<size_t>(got));
    }
    return false;
  }

  int End(int signal) {
    int status = 0;
    kill(pid_, signal);
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_ = -1;
  int lines_ = -1;
  std::string text_;
};

// The one that stays sees the other killed and back, several times.
void StayWhileTheOtherDies(const std::string& stays, const std::string& dies) {
  const std::string socket = absl::StrCat("/tmp/suede_memif_test_", getpid(), ".sock");
  Peer staying(stays, socket, 0);
  for (int round = 0; round < 3; ++round) {
    Peer dying(dies, socket, 1);
    ASSERT_TRUE(staying.Says("traffic")) << "round " << round;
    ASSERT_TRUE(dying.Says("traffic")) << "round " << round;
    dying.End(round < 2 ? SIGKILL : SIGTERM);  // the last one tidies up behind the others
    ASSERT_TRUE(staying.Says("down")) << "round " << round;
  }
  EXPECT_EQ(staying.End(SIGTERM), 0);
  EXPECT_NE(access(socket.c_str(), F_OK), 0);
  EXPECT_NE(access((socket + ".lock").c_str(), F_OK), 0);
}

TEST(MemifTest, TheClientSurvivesItsServersDeath) { StayWhileTheOtherDies("client", "server"); }

TEST(MemifTest, TheServerSurvivesItsClientsDeath) { StayWhileTheOtherDies("server", "client"); }

}  // namespace
}  // namespace suede

int main(int argc, char** argv) {
  if (argc == 4) {
    signal(SIGTERM, [](int) { suede::stop.store(true); });
    return suede::RunPeer(argv[1], argv[2], static_cast<unsigned>(std::atoi(argv[3])));
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
