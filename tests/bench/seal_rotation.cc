// SPDX-License-Identifier: Apache-2.0
// The pause that a rotation of keys makes, both ends on one core under full load (datapath.h):
// seal_rotation [LIBRARY [ROTATIONS]]. For 1 and for 1,023 peers the sender begins another epoch
// with all of them, so many times; a table has how long turns of the sender took in which it began
// one or more, turns of the receiver in which it took the first PDU of one or made the key behind
// it, and all other turns. Whatever comes too late, twice or not at all ends the program with 1.
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench_machine.h"
#include "datapath.h"
#include "dpdk/eal.h"

namespace suede {
namespace {

// Times that the kernel has taken the CPU away.
long Preemptions() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

// Turns of one end and of one kind, each in cycles.
struct Turns {
  std::vector<uint64_t> cycles;
  void Print(const char* end, uint32_t peers, const char* kind, double cycles_per_us) {
    if (cycles.empty()) return;
    std::sort(cycles.begin(), cycles.end());
    const auto at = [&](double share) {
      const auto place = static_cast<size_t>(share * static_cast<double>(cycles.size() - 1));
      return static_cast<double>(cycles[place]) / cycles_per_us;
    };
    std::printf("| %u | %s | %s | %zu | %.1f | %.1f | %.1f | %.1f |\n", peers, end, kind,
                cycles.size(), at(0.5), at(0.99), at(0.999), at(1));
  }
};

// The turns of an end, apart where a counter of rotations has moved in them.
struct Measured {
  const char* name;
  Turns without{};
  Turns with{};
  uint64_t count = 0;  // of rotations, when the last turn had ended
  bool owes = false;   // in the last turn it moved
  void Add(uint64_t cycles, bool preempted, uint64_t rotations, bool owes_keys) {
    const bool moved = rotations != count;
    if (!preempted) (moved || (owes && owes_keys) ? with : without).cycles.push_back(cycles);
    count = rotations;
    owes = moved;
  }
};

class Rotations {
 public:
  Rotations(const std::string& library, uint32_t peers)
      : peers_(peers),
        bench_({.data_bytes = 56, .pack = 1, .destinations = peers, .crypto = library}) {
    bench_.WarmUp();
  }
  // So many rotations, each when the last one has come to all peers, and as many turns without.
  void Run(uint32_t rotations) {
    Turn();  // fills the caches
    sender_ = {.name = "sender"};
    receiver_ = {.name = "receiver"};
    sender_.count = bench_.CountSent(Counter::kSealRotations);
    receiver_.count = bench_.CountReceived(Counter::kSealEpochs);
    const uint64_t first = sender_.count;
    for (uint32_t i = 1; i <= rotations; ++i) {
      for (uint32_t turns = 0; turns < kTurnsBetween; ++turns) Turn();
      bench_.senders[0]->pipeline.mailbox().requests.Push(request::RotateKeys{});
      const uint64_t wanted = first + uint64_t{i} * peers_;
      while (sender_.count < wanted || receiver_.count < wanted) Turn();
    }
    while (received_ < bench_.sent) received_ += Drain();
  }
  // False: something was lost, or refused.
  bool Check() {
    bool good = true;
    for (const Counter counter :
         {Counter::kRtoFired, Counter::kTxRetransmissions, Counter::kTxSealKey, Counter::kRxSealKey,
          Counter::kRxSealBudget, Counter::kRxSealTag, Counter::kRxSealReplay, Counter::kRxAhead,
          Counter::kRxDuplicate}) {
      good &= bench_.CountSent(counter) == 0 && bench_.CountReceived(counter) == 0;
    }
    good &= bench_.CountReceived(Counter::kRxCommands) == bench_.sent + peers_;
    return good;
  }
  void Print(double cycles_per_us) {
    for (Measured* end : {&sender_, &receiver_}) {
      end->without.Print(end->name, peers_, "no", cycles_per_us);
      end->with.Print(end->name, peers_, "yes", cycles_per_us);
    }
    if (preempted_ != 0) std::fprintf(stderr, "%u peers: %u turns left out\n", peers_, preempted_);
  }

 private:
  static constexpr uint32_t kTurnsBetween = 20;

  void Turn() {
    bench_.Produce(received_);
    Poll();
    received_ += bench_.Consume();
  }
  uint64_t Drain() {
    Poll();
    return bench_.Consume();
  }
  void Poll() {
    const long first = Preemptions();
    const uint64_t start = __rdtsc();
    bench_.PollSender();
    const uint64_t sent = __rdtsc() - start;
    const long second = Preemptions();
    const uint64_t middle = __rdtsc();
    bench_.PollReceiver();
    const uint64_t received = __rdtsc() - middle;
    const long third = Preemptions();
    bench_.now += Duration(5000);
    preempted_ += (second != first) + (third != second);
    sender_.Add(sent, second != first, bench_.CountSent(Counter::kSealRotations), false);
    receiver_.Add(received, third != second, bench_.CountReceived(Counter::kSealEpochs), true);
  }

  const uint32_t peers_;
  Bench bench_;
  uint64_t received_ = 0;
  uint32_t preempted_ = 0;
  Measured sender_{.name = "sender"};
  Measured receiver_{.name = "receiver"};
};

int Main(int argc, char** argv) {
  const std::string library = argc > 1 ? argv[1] : "ipsec_mb";
  const uint32_t rotations = argc > 2 ? static_cast<uint32_t>(std::atoi(argv[2])) : 300;
  if (!StartBenchEal(128)) return kNoEal;
  const double cycles_per_us = CyclesPerNanosecond() * 1000;
  std::printf(
      "| peers | end | rotation in it | turns | us, median | 99 %% | 99.9 %% | longest "
      "|\n|---|---|---|---|---|---|---|---|\n");
  bool good = true;
  for (const uint32_t peers : {1u, 1023u}) {
    Rotations run(library, peers);
    run.Run(std::max(1u, rotations));
    run.Print(cycles_per_us);
    if (run.Check()) continue;
    good = false;
    std::fprintf(stderr, "with %u peers something was lost, or not accepted\n", peers);
  }
  StopEal();
  return good ? 0 : 1;
}

}  // namespace
}  // namespace suede

int main(int argc, char** argv) { return suede::Main(argc, argv); }
