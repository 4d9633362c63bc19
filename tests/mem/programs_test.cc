// SPDX-License-Identifier: Apache-2.0
// Random programs of eight XPUs against a sequential model, by the thousand; one that fails is
// shrunk to the steps that it takes. SUEDE_MEMORY_SEEDS is their number, SUEDE_MEMORY_FIRST the
// first seed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "memory_network.h"

namespace suede::mem {
namespace {

using Programs = std::array<Program, kNodes>;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::strtoull(value, nullptr, 10) : otherwise;
}

class Author {
 public:
  Author(uint64_t seed, bool with_faults) : random_(seed), with_faults_(with_faults) {}

  Programs Write() {
    Programs programs;
    for (Program& program : programs) {
      const uint32_t steps = Draw(25);
      for (uint32_t i = 0; i < steps; ++i) program.push_back(WriteStep());
    }
    return programs;
  }

 private:
  uint32_t Draw(uint32_t below) { return static_cast<uint32_t>(random_() % below); }

  Step WriteStep() {
    Step step;
    const uint32_t kind = Draw(100);
    Call& call = step.call;
    call.xpuid = static_cast<uint16_t>(Draw(kNodes));
    call.counter = static_cast<uint8_t>(Draw(3));
    if (kind < 12) {
      step.kind = kind < 6 ? Step::Kind::kWriteBarrier : Step::Kind::kReadBarrier;
    } else if (kind < 18) {
      step.kind = Step::Kind::kMany;
      for (uint16_t target = 0; target < kNodes; ++target) {
        if (Draw(2) == 0) step.targets.push_back(target);
      }
      step.targets.push_back(static_cast<uint16_t>(Draw(kNodes)));
    } else if (kind < 21 && with_faults_) {
      step.kind =
          static_cast<Step::Kind>(static_cast<uint32_t>(Step::Kind::kRestartTarget) + Draw(3));
    }
    WriteCall(&step);
    return step;
  }

  void WriteCall(Step* step) {
    Call& call = step->call;
    call.opcode = step->kind == Step::Kind::kMany ? Opcode::kPut : static_cast<Opcode>(1 + Draw(8));
    call.window = static_cast<uint16_t>(Draw(4) != 0 ? 1 : 1 + Draw(5));
    step->has_stale_key = Draw(20) == 0;
    call.vc = static_cast<int8_t>(Draw(2) * 2);
    if (step->kind == Step::Kind::kOperation && Draw(2) == 0) call.vc = -1;
    step->fill = static_cast<uint8_t>(random_());
    call.immediate = static_cast<uint32_t>(random_());
    call.is_wide = IsAtomic(call.opcode) && Draw(2) == 0;
    const uint64_t mask = call.is_wide ? UINT64_MAX : UINT32_MAX;
    call.operand = (Draw(2) == 0 ? Draw(3) : random_()) & mask;
    call.desired = random_() & mask;
    call.boundary = static_cast<uint8_t>(Draw(call.is_wide ? 64 : 32));
    // Few places, so that all meet there.
    if (IsAtomic(call.opcode)) {
      call.offset = Draw(16) == 0 ? Draw(1200) : Draw(8) * 8;
    } else {
      static constexpr uint32_t kBytes[] = {1, 4, 8, 64, 300, 900};
      call.offset = Draw(2) == 0 ? Draw(8) * 8 : Draw(400);
      call.bytes = Draw(kBytes[Draw(6)] + 1);
    }
  }

  std::mt19937_64 random_;
  bool with_faults_;
};

struct Case {
  uint64_t seed;
  bool is_unordered;
};

std::string Play(const Case& each, const Programs& programs) {
  return MemoryNetwork(each.seed, each.is_unordered).Run(programs);
}

// Leaves out steps while the programs still fail.
Programs Shrink(const Case& each, Programs programs) {
  for (size_t chunk = 16; chunk != 0; chunk /= 2) {
    for (Program& program : programs) {
      for (size_t at = 0; at < program.size();) {
        const Program before = program;
        const size_t end = std::min(at + chunk, program.size());
        program.erase(program.begin() + static_cast<int64_t>(at),
                      program.begin() + static_cast<int64_t>(end));
        if (Play(each, programs).empty()) {
          program = before;
          at += chunk;
        }
      }
    }
  }
  return programs;
}

std::string Explain(const Case& each, const Programs& programs) {
  std::string text = Play(each, programs) + "; seed " + std::to_string(each.seed) +
                     (each.is_unordered ? ", unordered\n" : ", strict\n");
  for (size_t i = 0; i < programs.size(); ++i) {
    for (const Step& step : programs[i]) {
      text += "  XPU " + std::to_string(i) + ": " + Describe(step) + "\n";
    }
  }
  return text;
}

void PlayAll(bool is_unordered, bool with_faults) {
  const uint64_t first = FromEnvironment("SUEDE_MEMORY_FIRST", 1);
  const uint64_t count = FromEnvironment("SUEDE_MEMORY_SEEDS", 2000) / 4;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Case each{.seed = seed, .is_unordered = is_unordered};
    const Programs programs = Author(seed, with_faults).Write();
    if (!Play(each, programs).empty()) {
      FAIL() << Explain(each, Shrink(each, programs));
    }
  }
}

TEST(Programs, InOrder) { PlayAll(/*is_unordered=*/false, /*with_faults=*/false); }
TEST(Programs, InOrderWithFaults) { PlayAll(false, true); }
TEST(Programs, Unordered) { PlayAll(true, false); }
TEST(Programs, UnorderedWithFaults) { PlayAll(true, true); }

}  // namespace
}  // namespace suede::mem
