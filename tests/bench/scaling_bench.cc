// SPDX-License-Identifier: Apache-2.0
// The data path on several lcores. Each lcore has both ends of its traffic: an instance that sends
// and an instance that receives, over a port that copies frames (loop_port.h) or a memif.
// scaling_bench LCORES KIND DATA_BYTES PACK COMMANDS, where KIND is
//   ports     each lcore has ports of its own
//   memif     each lcore has both ends of a memif of its own
//   queues    the lcores share a port, and each frame comes by the queue of its lcore
//   handover  the same, but each frame comes by the queue of another lcore, which forwards it
// Prints the rate of all and, by lcore, cycles of its own CPU time, instructions (where the kernel
// counts them), wrong ways and repetitions for each command. Where lcores outnumber CPUs the rate
// is that of the CPUs, and the cycles tell what an lcore would do on a CPU of its own.
#include <linux/perf_event.h>
#include <pthread.h>
#include <rte_lcore.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/client_queue.h"
#include "dpdk/dpdk_port.h"
#include "dpdk/eal.h"
#include "dpdk/lcores.h"
#include "dpdk/queue_pair.h"
#include "loop_port.h"
#include "pipeline/pipeline.h"

namespace suede {
namespace {

constexpr uint32_t kMaxLcores = 64;
constexpr uint32_t kControlBytes = 8;

// Objects that lcores write begin and end with a cache line, so no two lcores write to one line.
static_assert(alignof(Pipeline) % 64 == 0 && sizeof(Pipeline) % 64 == 0);
static_assert(alignof(QueuePair) % 64 == 0 && sizeof(QueuePair) % 64 == 0);
static_assert(alignof(CounterBlock) % 64 == 0 && sizeof(CounterBlock) % 64 == 0);
static_assert(alignof(HandoverRing) % 64 == 0 && sizeof(HandoverRing) % 64 == 0);

enum class Kind { kPorts, kMemif, kQueues, kHandover };

struct Shape {
  uint32_t lcores;
  Kind kind;
  uint32_t data_bytes;
  uint32_t pack;  // commands per PDU, 0: as many as fit
  uint64_t commands;
  uint32_t PeerOf(uint32_t lcore) const {
    return kind == Kind::kHandover ? (lcore + 1) % lcores : lcore;
  }
  uint32_t PeerBefore(uint32_t lcore) const {
    return kind == Kind::kHandover ? (lcore + lcores - 1) % lcores : lcore;
  }
};

// XPUs of the sending side begin at 0, those of the receiving side at 512.
constexpr uint32_t kReceivers = 512;
NetAddress AddressOf(uint32_t xpu) { return {.low = 0xc6120000u + xpu}; }

// One end of an lcore's traffic.
struct alignas(64) End {
  End(uint32_t own, uint32_t peer, Port* memif) {
    if (memif == nullptr) {
      pool = std::make_unique<LoopPool>(5120);
      port = std::make_unique<LoopPort>(pool.get());
    }
    pipeline.AddPort(memif != nullptr ? memif : port.get(), {});
    InstanceParams params;
    params.xpuid = static_cast<uint16_t>(own);
    params.inflight_pdus = 4096;
    params.planes.push_back({.port = 0, .address = AddressOf(own)});
    // An lcore that has lost its CPU does not lose frames.
    params.transport.rto_initial = params.transport.rto_min = std::chrono::seconds(2);
    params.transport.rto_max = params.transport.nack_timeout = std::chrono::seconds(2);
    PeerParams of_peer{.xpuid = static_cast<uint16_t>(peer)};
    of_peer.planes.push_back({.address = AddressOf(peer)});
    params.peers.push_back(std::move(of_peer));
    pipeline.AddInstance(params);
  }
  ~End() { std::free(segment); }

  void Attach(Time now) {
    const uint64_t bytes = SegmentOffsets(shape).bytes;
    segment = std::aligned_alloc(4096, bytes);
    std::memset(segment, 0, bytes);
    FormatSegment(segment, shape);
    pipeline.mailbox().requests.Push(request::Attach{
        .client = 1, .queue_instances = &instance, .segment = segment, .shape = &shape});
    pipeline.mailbox().requests.Push(request::Claim{.vc_mask = 1, .client = 1, .instance = 0});
    for (int i = 0; i < 3; ++i) pipeline.Poll(now);
  }

  std::unique_ptr<LoopPool> pool;
  std::unique_ptr<LoopPort> port;  // null: it is a memif
  Pipeline pipeline;
  uint32_t instance = 0;
  void* segment = nullptr;
  SegmentShape shape{.queue_count = 1,
                     .tx_lines = 4096,
                     .rx_lines = 16384,
                     .completion_count = 4096,
                     .credit_lines = 1024,
                     .aggregate_lines = 4096};
};

// Frames that were forwarded end in another lcore's pool. They come back by way of here, many at a
// time, as by way of a mempool's ring.
class Depot {
 public:
  void Balance(LoopPool& pool) {
    constexpr size_t kBatch = 2048;
    std::vector<Frame*>& free = pool.free();
    if (free.size() > 3 * kBatch) {
      const std::lock_guard lock(mutex_);
      frames_.insert(frames_.end(), free.end() - kBatch, free.end());
      free.resize(free.size() - kBatch);
    } else if (free.size() < kBatch) {
      const std::lock_guard lock(mutex_);
      const size_t taken = std::min(frames_.size(), kBatch);
      free.insert(free.end(), frames_.end() - static_cast<std::ptrdiff_t>(taken), frames_.end());
      frames_.resize(frames_.size() - taken);
    }
  }

 private:
  std::mutex mutex_;
  std::vector<Frame*> frames_;
};

// Instructions of the calling thread; 0 where the kernel or the machine does not count them.
class Instructions {
 public:
  Instructions() {
    perf_event_attr attributes{};
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.size = sizeof attributes;
    attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
    attributes.exclude_kernel = 1;
    fd_ = static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
  }
  ~Instructions() {
    if (fd_ >= 0) close(fd_);
  }
  uint64_t Get() const {
    uint64_t count = 0;
    return fd_ >= 0 && read(fd_, &count, sizeof count) == sizeof count ? count : 0;
  }

 private:
  int fd_ = -1;
};

double CpuSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

using Clock = std::chrono::steady_clock;

// An lcore, and its clients.
struct alignas(64) Worker {
  // `memifs`: the ports of both ends, or null.
  Worker(const Shape& of, uint32_t own, const std::array<Port*, 2>& memifs)
      : shape(of),
        number(own),
        sender(own, kReceivers + of.PeerOf(own), memifs[0]),
        receiver(kReceivers + own, of.PeerBefore(own), memifs[1]) {
    if (memifs[0] == nullptr) {
      sender.port->ConnectTo(receiver.port.get());
      receiver.port->ConnectTo(sender.port.get());
    }
    control[0] = static_cast<uint8_t>(0x30 | kControlBytes / 2);
    control[1] = static_cast<uint8_t>(shape.data_bytes - 1);
    command.control = control;
    command.data = data;
    command.xpuid = static_cast<uint16_t>(kReceivers + shape.PeerOf(own));
  }

  // Sends what there is room for, and polls both ends. Returns how many commands have come.
  uint64_t Turn(const TscClock& clock) {
    if (shape.pack == 0) {
      uint32_t accepted = 0;
      queue->SendRun({.first = command}, kDefaultPackBytes / (kControlBytes + shape.data_bytes),
                     &accepted);
    } else {
      for (uint32_t i = 0; i < 32; ++i) {
        command.flags = (++sent % shape.pack) == 0 ? SUEDE_RECORD_TRANSMIT_NOW : 0;
        if (queue->Send(command) != SendResult::kOk) break;
      }
    }
    queue->Flush();
    const Time now = clock.Now();
    sender.pipeline.Poll(now);
    receiver.pipeline.Poll(now);
    ReceivedSpan got;
    uint64_t total = 0;
    while (const uint32_t count = commands->PollRun(&got, 256)) total += count;
    commands->Release();
    return total;
  }

  const Shape& shape;
  const uint32_t number;
  End sender, receiver;
  std::unique_ptr<ClientQueue> queue;
  std::unique_ptr<ClientReceiver> commands;
  ClientCommand command;
  uint8_t control[kMaxControlBytes] = {};
  uint8_t data[kMaxDataBytes] = {};
  uint64_t sent = 0;
  uint64_t came = 0;
  Clock::time_point begin, end;
  double cpu_seconds = 0;
  uint64_t instructions = 0;
};

class Bench {
 public:
  Bench(const Shape& shape, std::vector<std::unique_ptr<DpdkPort>>& memifs) : shape_(shape) {
    for (uint32_t i = 0; i < shape.lcores; ++i) {
      std::array<Port*, 2> own{};
      if (!memifs.empty()) own = {&memifs[2 * i]->pair(), &memifs[2 * i + 1]->pair()};
      workers_.push_back(std::make_unique<Worker>(shape, i, own));
    }
    if (shape.kind == Kind::kQueues || shape.kind == Kind::kHandover) {
      Share([](Worker& worker) -> End& { return worker.sender; }, 0);
      Share([](Worker& worker) -> End& { return worker.receiver; }, kReceivers);
    }
    for (auto& worker : workers_) {
      worker->sender.Attach(clock_.Now());
      worker->receiver.Attach(clock_.Now());
      worker->queue = std::make_unique<ClientQueue>(worker->sender.segment, 0);
      worker->commands = std::make_unique<ClientReceiver>(worker->receiver.segment, 0);
    }
  }

  // Seconds that the run took.
  double Run() {
    std::vector<std::thread> threads;
    for (auto& worker : workers_) threads.emplace_back([this, &worker] { RunOne(*worker); });
    for (std::thread& thread : threads) thread.join();
    Clock::time_point begin = Clock::time_point::max(), end{};
    for (const auto& worker : workers_) {
      begin = std::min(begin, worker->begin);
      end = std::max(end, worker->end);
    }
    return std::chrono::duration<double>(end - begin).count();
  }
  void Print(double seconds) const;

 private:
  template <typename EndOf>
  void Share(EndOf end_of, uint32_t first_xpu) {
    const uint32_t count = shape_.lcores;
    std::vector<HandoverRing*> rings(count * count);
    for (HandoverRing*& ring : rings) {
      ring = rings_.emplace_back(std::make_unique<HandoverRing>()).get();
    }
    for (uint32_t one = 0; one < count; ++one) {
      for (uint32_t other = 0; other < count; ++other) {
        if (one == other) continue;
        end_of(*workers_[one])
            .pipeline.SharePort(0, {.from = rings[other * count + one],
                                    .to = rings[one * count + other],
                                    .addresses = {AddressOf(first_xpu + other)}});
      }
    }
  }

  void RunOne(Worker& worker) {
    const auto cpus = std::max(1u, std::thread::hardware_concurrency());
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(worker.number % cpus, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    const bool yields = shape_.lcores > cpus;
    rte_thread_register();  // for caches of its own in the pools of memifs
    const Instructions instructions;
    // Runs until commands flow: handshakes and the first grants of credit are over.
    while (worker.came < 10'000) Step(worker, yields);
    Meet(ready_);
    while (ready_ != shape_.lcores) Step(worker, yields);
    worker.came = 0;
    worker.begin = Clock::now();
    const double cpu = CpuSeconds();
    const uint64_t before = instructions.Get();
    while (worker.came < shape_.commands) Step(worker, yields);
    worker.cpu_seconds = CpuSeconds() - cpu;
    worker.instructions = instructions.Get() - before;
    const uint64_t came = worker.came;
    worker.end = Clock::now();
    Meet(done_);
    while (done_ != shape_.lcores) Step(worker, yields);  // the others' frames come this way
    worker.came = came;
    rte_thread_unregister();
  }
  void Step(Worker& worker, bool yields) {
    if (shape_.kind == Kind::kHandover) {
      depot_.Balance(*worker.sender.pool);
      depot_.Balance(*worker.receiver.pool);
    }
    const uint64_t came = worker.Turn(clock_);
    worker.came += came;
    if (came == 0 && yields) sched_yield();
  }
  static void Meet(std::atomic<uint32_t>& count) { ++count; }

  const Shape shape_;
  const TscClock clock_;
  Depot depot_;
  std::vector<std::unique_ptr<HandoverRing>> rings_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::atomic<uint32_t> ready_{0};
  std::atomic<uint32_t> done_{0};
};

void Bench::Print(double seconds) const {
  double all = 0;
  for (const auto& worker : workers_) all += static_cast<double>(worker->came);
  std::printf("rate %.3f M/s cpus %u\n", all / seconds / 1e6, std::thread::hardware_concurrency());
  const double hz = static_cast<double>(clock_.cycles_per_second());
  for (const auto& worker : workers_) {
    const auto commands = static_cast<double>(worker->came);
    const auto& sent = worker->sender.pipeline.counters(0);
    std::printf("lcore %u rate %.3f M/s cycles %.1f instructions %.1f repeated %llu\n",
                worker->number, commands / worker->cpu_seconds / 1e6,
                worker->cpu_seconds * hz / commands,
                static_cast<double>(worker->instructions) / commands,
                static_cast<unsigned long long>(sent.Get(Counter::kTxRetransmissions)));
  }
}

std::string MemifSocket() { return absl::StrCat("/tmp/suede_scaling_", getpid(), ".sock"); }

// Server and client of each lcore's memif.
std::vector<std::string> MemifDevices(const Shape& shape) {
  std::vector<std::string> devices;
  if (shape.kind != Kind::kMemif) return devices;
  for (uint32_t i = 0; i < 2 * shape.lcores; ++i) {
    devices.push_back(
        absl::StrCat("net_memif", i, ",role=", i % 2 == 0 ? "server" : "client", ",id=", i / 2,
                     ",rsize=10,bsize=2176,socket-abstract=no,socket=", MemifSocket()));
  }
  return devices;
}

// Empty if they did not open, or did not connect.
std::vector<std::unique_ptr<DpdkPort>> OpenMemifs(const std::vector<std::string>& devices) {
  std::vector<std::unique_ptr<DpdkPort>> ports;
  for (const std::string& device : devices) {
    auto port = DpdkPort::Open(
        {.name = device, .device = device, .mtu = 2140, .frame_bytes = 2154, .pool_frames = 8192});
    if (!port.ok()) {
      std::fprintf(stderr, "%s\n", port.status().ToString().c_str());
      return {};
    }
    ports.push_back(*std::move(port));
  }
  const auto is_up = [](const auto& port) { return port->link().up; };
  for (int i = 0; i < 10'000 && !std::all_of(ports.begin(), ports.end(), is_up); ++i) {
    for (const auto& port : ports) port->RefreshLink();
    usleep(1000);
  }
  if (!std::all_of(ports.begin(), ports.end(), is_up)) ports.clear();
  return ports;
}

int Main(int argc, char** argv) {
  const std::string_view kind = argc > 2 ? argv[2] : "ports";
  const auto arg = [&](int i, uint32_t value) {
    return i < argc ? static_cast<uint32_t>(std::strtoul(argv[i], nullptr, 10)) : value;
  };
  const Shape shape{.lcores = arg(1, 1),
                    .kind = kind == "handover" ? Kind::kHandover
                            : kind == "queues" ? Kind::kQueues
                            : kind == "memif"  ? Kind::kMemif
                                               : Kind::kPorts,
                    .data_bytes = arg(3, 32),
                    .pack = arg(4, 0),
                    .commands = arg(5, 2'000'000)};
  if (shape.lcores == 0 || shape.lcores > kMaxLcores) return 1;
  const std::vector<std::string> devices = MemifDevices(shape);
  const absl::Status eal = StartEal({.file_prefix = "suede_scaling_" + std::to_string(getpid()),
                                     .no_huge = true,
                                     .memory_mb = 64 + 48 * static_cast<uint32_t>(devices.size()),
                                     .log = [](EalLogLevel, std::string_view) {}});
  if (!eal.ok()) {
    std::fprintf(stderr, "%s\n", std::string(eal.message()).c_str());
    return 5;
  }
  bool ran = false;
  {
    std::vector<std::unique_ptr<DpdkPort>> memifs = OpenMemifs(devices);
    ran = memifs.size() == devices.size();
    if (ran) {
      Bench bench(shape, memifs);
      bench.Print(bench.Run());
    }
  }
  if (!devices.empty()) unlink(MemifSocket().c_str());
  StopEal();
  return ran ? 0 : 1;
}

}  // namespace
}  // namespace suede

int main(int argc, char** argv) { return suede::Main(argc, argv); }
