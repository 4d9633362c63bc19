// SPDX-License-Identifier: Apache-2.0
#include "registers/register_page.h"

#include <atomic>
#include <cerrno>

namespace suede {
namespace {

template <class T>
std::atomic_ref<T> At(std::byte* memory, uint32_t offset) {
  return std::atomic_ref<T>(*reinterpret_cast<T*>(memory + offset));
}

std::atomic_ref<uint32_t> Word32(std::byte* memory, RegisterPage::Word word) {
  return At<uint32_t>(memory, RegisterPage::kDoorbell + word);
}
std::atomic_ref<uint64_t> Word64(std::byte* memory, RegisterPage::Word word) {
  return At<uint64_t>(memory, RegisterPage::kDoorbell + word);
}

constexpr auto kRelaxed = std::memory_order_relaxed;

}  // namespace

RegisterPage::RegisterPage(std::byte* memory) : memory_(memory) {
  Word32(memory_, kVersionWord).store(kVersion, kRelaxed);
  Word32(memory_, kMagicWord).store(kMagic, std::memory_order_release);
}

void RegisterPage::Store(const RegisterRef& ref, uint64_t value) {
  if (ref.row->width_bits == 64) {
    At<uint64_t>(memory_, ref.address()).store(value, kRelaxed);
  } else {
    At<uint32_t>(memory_, ref.address()).store(static_cast<uint32_t>(value), kRelaxed);
  }
}

void RegisterPage::SetRefreshes(uint64_t count) {
  Word64(memory_, kRefreshes).store(count, std::memory_order_release);
}

std::optional<RegisterPage::Access> RegisterPage::Take() {
  const uint32_t number = Word32(memory_, kRequest).load(std::memory_order_acquire);
  if (number == answered_) return std::nullopt;
  answered_ = number;
  const uint32_t operation = Word32(memory_, kOperation).load(kRelaxed);
  if (operation > 1) {
    Answer(-EINVAL, 0);
    return std::nullopt;
  }
  return Access{.address = Word32(memory_, kAddress).load(kRelaxed),
                .width_bits = Word32(memory_, kWidth).load(kRelaxed),
                .is_write = operation == 1,
                .value = Word64(memory_, kValue).load(kRelaxed)};
}

void RegisterPage::Answer(int32_t status, uint64_t value) {
  Word32(memory_, kStatus).store(static_cast<uint32_t>(status), kRelaxed);
  Word64(memory_, kResult).store(value, kRelaxed);
  Word32(memory_, kAnswer).store(answered_, std::memory_order_release);
}

}  // namespace suede
