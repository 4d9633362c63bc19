// SPDX-License-Identifier: Apache-2.0
// The data path alone, in one thread: ring -> pack -> frame -> (a copy) -> unpack -> ring, with
// the cost of each stage per command. datapath_bench DATA_BYTES PACK DESTINATIONS COMMANDS PLANES
// [WORDS]. PACK: commands per PDU by transmit-now hints, 0: as many as fit. PLANES: ports of each
// side, in unordered mode. DESTINATIONS: XPUs that one sends to; with to-one, XPUs that send to
// one, by several pipelines, and on one plane. No more than a window of commands is under way, so
// each turn produces as much as the one before has consumed. Under callgrind the functions Produce,
// PollSender, PollReceiver and Consume hold the instructions of their stage.
// With put, get or fetch-add: memory operations of DATA_BYTES at a window of the receiver's lcore,
// PACK of them under way, and the cost of each operation.
// "--" begins another run of other arguments. Under callgrind each has a dump of its own.
#include <valgrind/callgrind.h>
#include <x86intrin.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "bench_machine.h"
#include "datapath.h"
#include "dpdk/eal.h"
#include "memory_datapath.h"

namespace suede {
namespace {

constexpr std::string_view kSessions = "sessions-";
constexpr std::string_view kSealed = "sealed-";

void Print(const Bench& bench, uint64_t received, uint64_t cycles, const Bench::Stages& stage) {
  const Traffic& traffic = bench.traffic;
  const double commands = static_cast<double>(received);
  std::printf("data %u, pack %u, %s %u, planes %u: %.1f cycles per command", traffic.data_bytes,
              traffic.pack, traffic.to_one ? "sources" : "destinations", traffic.destinations,
              traffic.planes, static_cast<double>(cycles) / commands);
  const char* const names[] = {"produce", "sender", "receiver", "consume"};
  for (int i = 0; i < 4; ++i) {
    std::printf("  %s %.1f", names[i], static_cast<double>(stage[i]) / commands);
  }
  const auto pdus = static_cast<double>(std::max<uint64_t>(1, bench.CountSent(Counter::kTxPdus)));
  std::printf("  commands/PDU %.1f", commands / pdus);
  std::printf("  sessions %u  bytes/peer %.0f", traffic.sessions, bench.peer_bytes);
  std::printf("  of 100 PDUs: acks %.1f grants %.1f asks %.1f control %.1f sent again %.1f\n",
              100 * static_cast<double>(bench.CountReceived(Counter::kTxAcks)) / pdus,
              100 * static_cast<double>(bench.CountReceived(Counter::kTxCreditGrants)) / pdus,
              100 * static_cast<double>(bench.CountSent(Counter::kTxCreditAsks)) / pdus,
              100 * static_cast<double>(bench.CountReceived(Counter::kTxControlPdus)) / pdus,
              100 * static_cast<double>(bench.CountSent(Counter::kTxRetransmissions)) / pdus);
}

// The words behind the numbers: "to-one", a congestion control, "sessions-N", and "sealed-LIBRARY"
// with a library of OpenBenchCrypto.
void ReadWords(int count, char** words, Traffic& traffic) {
  for (int i = 0; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "to-one") traffic.to_one = true;
    if (word == "rccc") traffic.control = CongestionControl::kRccc;
    if (word == "nscc") traffic.control = CongestionControl::kNscc;
    if (word.starts_with(kSealed)) traffic.crypto = word.substr(kSealed.size());
    if (word.starts_with(kSessions)) {
      traffic.sessions = static_cast<uint32_t>(std::atoi(words[i] + kSessions.size()));
    }
  }
}

// `wanted`: commands. Keys of crypto devices end with it.
void Run(const Traffic& traffic, uint64_t wanted) {
  Bench bench(traffic);
  bench.WarmUp();
  Bench::Stages stage{};
  uint64_t received = 0;
  const uint64_t start = __rdtsc();
  while (received < wanted) {
    received += bench.Turn(received, stage);
  }
  Print(bench, received, __rdtsc() - start, stage);
}

void RunMemory(mem::Opcode opcode, uint32_t bytes, uint32_t window, uint64_t wanted) {
  const auto bench = std::make_unique<MemoryBench>(opcode, bytes, window);
  bench->WarmUp();
  Bench::Stages stage{};
  uint64_t done = 0;
  const uint64_t start = __rdtsc();
  while (done < wanted) done += bench->Turn(stage);
  const auto each = [done](uint64_t count) {
    return static_cast<double>(count) / static_cast<double>(done);
  };
  std::printf(
      "memory operations of %u bytes, %u under way: %.1f cycles each  produce %.1f  sender "
      "%.1f  receiver %.1f  consume %.1f  of each request: PDUs %.3f responses %.3f\n",
      bytes, window, each(__rdtsc() - start), each(stage[0]), each(stage[1]), each(stage[2]),
      each(stage[3]), bench->pdus_per_request(), bench->responses_per_request());
}

// Whether the words name a memory operation.
bool FindOperation(int count, char** words, mem::Opcode* opcode) {
  for (int i = 0; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "put") *opcode = mem::Opcode::kPut;
    if (word == "get") *opcode = mem::Opcode::kGet;
    if (word == "fetch-add") *opcode = mem::Opcode::kFetchAdd;
    if (word == "put" || word == "get" || word == "fetch-add") return true;
  }
  return false;
}

void RunOf(int count, char** words) {
  const auto arg = [&](int i, uint32_t value) {
    return i < count ? static_cast<uint32_t>(std::strtoul(words[i], nullptr, 10)) : value;
  };
  const uint64_t wanted = arg(3, 4'000'000);
  Traffic traffic{
      .data_bytes = arg(0, 32), .pack = arg(1, 0), .destinations = arg(2, 1), .planes = arg(4, 1)};
  constexpr int kNumbers = 5;
  if (count > kNumbers) ReadWords(count - kNumbers, words + kNumbers, traffic);
  mem::Opcode opcode{};
  if (FindOperation(count - kNumbers, words + kNumbers, &opcode)) {
    RunMemory(opcode, traffic.data_bytes, std::max(1u, traffic.pack), wanted);
  } else {
    Run(traffic, wanted);
  }
  std::fflush(stdout);
}

int Main(int argc, char** argv) {
  if (!StartBenchEal(64)) return kNoEal;
  char** const end = argv + argc;
  char** next = argv;  // the word before a run's
  do {
    char** const words = next + 1;
    next = std::find(words, end, std::string_view("--"));
    RunOf(static_cast<int>(next - words), words);
    CALLGRIND_DUMP_STATS;  // which zeroes them
  } while (next != end);
  StopEal();
  return 0;
}

}  // namespace
}  // namespace suede

int main(int argc, char** argv) { return suede::Main(argc, argv); }
