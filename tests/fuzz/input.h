// SPDX-License-Identifier: Apache-2.0
// The input of a fuzz target, byte by byte.
#ifndef SUEDE_TESTS_FUZZ_INPUT_H_
#define SUEDE_TESTS_FUZZ_INPUT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace suede {

class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), left_(size) {}
  bool empty() const { return left_ == 0; }
  // 0 where all is used up; likewise below.
  uint8_t Byte() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }
  uint32_t Word() {
    uint32_t word = 0;
    for (int i = 0; i < 4; ++i) word = word << 8 | Byte();
    return word;
  }
  // As many as there are, `count` at most.
  std::vector<uint8_t> Bytes(size_t count) {
    count = std::min(count, left_);
    std::vector<uint8_t> bytes(data_, data_ + count);
    data_ += count;
    left_ -= count;
    return bytes;
  }

 private:
  const uint8_t* data_;
  size_t left_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_FUZZ_INPUT_H_
