// SPDX-License-Identifier: Apache-2.0
#include "mem/execute.h"

#include <cstdint>

namespace suede::mem {
namespace {

template <class Word>
Word Increment(Word* word, Word amount, uint8_t boundary) {
  const Word mask = static_cast<Word>(~Word{0} >> (sizeof(Word) * 8 - 1 - boundary));
  Word old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  Word next;
  do {
    next = static_cast<Word>((old + amount) & mask);
  } while (!__atomic_compare_exchange_n(word, &old, next, /*weak=*/true, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST));
  return old;
}

template <class Word>
uint64_t Execute(const Request& request, Word* word) {
  const auto operand = static_cast<Word>(request.operand);
  switch (request.opcode) {
    case Opcode::kFetchAdd:
      return __atomic_fetch_add(word, operand, __ATOMIC_SEQ_CST);
    case Opcode::kSwap:
      return __atomic_exchange_n(word, operand, __ATOMIC_SEQ_CST);
    case Opcode::kCompareSwap: {
      Word expected = operand;
      __atomic_compare_exchange_n(word, &expected, static_cast<Word>(request.desired),
                                  /*weak=*/false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
      return expected;  // the previous value, whether the swap happened or not
    }
    default:
      return Increment(word, operand, request.boundary);
  }
}

}  // namespace

uint64_t ExecuteAtomic(const Request& request, uint8_t* memory) {
  if (request.is_wide) return Execute(request, reinterpret_cast<uint64_t*>(memory));
  return Execute(request, reinterpret_cast<uint32_t*>(memory));
}

}  // namespace suede::mem
