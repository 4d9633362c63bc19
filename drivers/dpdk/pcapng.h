// SPDX-License-Identifier: Apache-2.0
// Blocks of a pcapng file (draft-ietf-opsawg-pcapng), in the byte order of the machine. Private to
// drivers/dpdk.
#ifndef SUEDE_DPDK_PCAPNG_H_
#define SUEDE_DPDK_PCAPNG_H_

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace suede::internal {

// Blocks that are to be written.
class PcapngBlocks {
 public:
  void Begin(uint32_t type) {
    begin_ = bytes_.size();
    Put(type);
    Put(uint32_t{0});  // length, set by End()
  }
  template <typename T>
  void Put(const T& value) {
    Append(&value, sizeof value);
  }
  // Appends bytes, padded to 32 bits.
  void PutPadded(const void* data, size_t bytes) {
    Append(data, bytes);
    bytes_.resize((bytes_.size() + 3) / 4 * 4);
  }
  void PutOption(uint16_t code, const void* data, size_t bytes) {
    Put(code);
    Put(static_cast<uint16_t>(bytes));
    PutPadded(data, bytes);
  }
  // Ends the options and the block.
  void End() {
    Put(uint32_t{0});
    const auto bytes = static_cast<uint32_t>(bytes_.size() - begin_ + sizeof(uint32_t));
    Put(bytes);
    std::memcpy(bytes_.data() + begin_ + sizeof(uint32_t), &bytes, sizeof bytes);
  }
  // Writes all blocks to the file. Returns false and errno on an error.
  bool WriteTo(int file) {
    for (size_t done = 0; done < bytes_.size();) {
      const ssize_t written = write(file, bytes_.data() + done, bytes_.size() - done);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      done += static_cast<size_t>(written);
    }
    bytes_.clear();
    return true;
  }

 private:
  void Append(const void* data, size_t bytes) {
    const auto* const from = static_cast<const uint8_t*>(data);
    bytes_.insert(bytes_.end(), from, from + bytes);
  }
  std::vector<uint8_t> bytes_;
  size_t begin_ = 0;
};

}  // namespace suede::internal

#endif  // SUEDE_DPDK_PCAPNG_H_
