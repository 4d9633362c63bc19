// SPDX-License-Identifier: Apache-2.0
#include "memory_programs.h"

#include <algorithm>
#include <cstdlib>
#include <random>

namespace suede::mem {
namespace {

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

// Leaves out steps while the programs still fail.
Programs Shrink(const Play& play, Programs programs) {
  for (size_t chunk = 16; chunk != 0; chunk /= 2) {
    for (Program& program : programs) {
      for (size_t at = 0; at < program.size();) {
        const Program before = program;
        const size_t end = std::min(at + chunk, program.size());
        program.erase(program.begin() + static_cast<int64_t>(at),
                      program.begin() + static_cast<int64_t>(end));
        if (play(programs).empty()) {
          program = before;
          at += chunk;
        }
      }
    }
  }
  return programs;
}

}  // namespace

Programs WritePrograms(uint64_t seed, bool with_faults) {
  return Author(seed, with_faults).Write();
}

std::string PlayAndShrink(const Play& play, Programs programs) {
  if (play(programs).empty()) return "";
  programs = Shrink(play, std::move(programs));
  std::string text = play(programs) + "\n";
  for (size_t i = 0; i < programs.size(); ++i) {
    for (const Step& step : programs[i]) {
      text += "  XPU " + std::to_string(i) + ": " + Describe(step) + "\n";
    }
  }
  return text;
}

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::strtoull(value, nullptr, 10) : otherwise;
}

}  // namespace suede::mem
