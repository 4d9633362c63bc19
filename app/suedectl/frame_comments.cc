// SPDX-License-Identifier: Apache-2.0
#include "suedectl/frame_comments.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace suede::ctl {
namespace {

// Types of blocks.
constexpr uint32_t kSection = 0x0a0d0d0a;
constexpr uint32_t kOldPacket = 2;
constexpr uint32_t kSimplePacket = 3;
constexpr uint32_t kEnhancedPacket = 6;
constexpr uint32_t kByteOrder = 0x1a2b3c4d;
constexpr uint16_t kComment = 1;

constexpr size_t kHead = 12;      // type, length, and the byte order of a section
constexpr size_t kPacketAt = 28;  // the bytes of an enhanced packet
constexpr size_t kCapturedAt = 20;
constexpr size_t kTail = 4;  // the length once more

constexpr size_t Padded(size_t bytes) { return (bytes + 3) / 4 * 4; }

}  // namespace

uint32_t PacketComments::Number(size_t at) const {
  uint32_t number;
  std::memcpy(&number, block_.data() + at, sizeof number);
  return is_swapped_ ? __builtin_bswap32(number) : number;
}

uint16_t PacketComments::ShortNumber(size_t at) const {
  uint16_t number;
  std::memcpy(&number, block_.data() + at, sizeof number);
  return is_swapped_ ? __builtin_bswap16(number) : number;
}

// Begins a block by its first bytes. Returns false if they are of no pcapng file.
bool PacketComments::TakeHead() {
  if (Number(0) == kSection) {
    is_swapped_ = false;
    is_swapped_ = Number(8) != kByteOrder;
    if (Number(8) != kByteOrder) return false;
  }
  const uint32_t length = Number(4);
  if (length < kHead || length % 4 != 0) return false;
  left_ = length - kHead;
  is_kept_ = Number(0) == kEnhancedPacket && length <= kMaxBlock;
  return true;
}

std::string PacketComments::CommentOf(size_t options) const {
  const size_t end = block_.size() - kTail;
  while (options + 4 <= end) {
    const uint16_t code = ShortNumber(options);
    const size_t bytes = ShortNumber(options + 2);
    options += 4;
    if (code == 0 || bytes > end - options) break;
    if (code == kComment) {
      std::string text(block_.data() + options, bytes);
      // Any bytes may be there, and JSON takes none but UTF-8.
      std::ranges::replace_if(
          text, [](char c) { return c < ' ' || c > '~'; }, '?');
      return text;
    }
    options += Padded(bytes);
  }
  return {};
}

void PacketComments::EndBlock() {
  const uint32_t type = Number(0);
  if (type == kEnhancedPacket || type == kSimplePacket || type == kOldPacket) {
    std::string comment;
    if (is_kept_ && block_.size() >= kPacketAt + kTail) {
      const size_t captured = Padded(Number(kCapturedAt));
      if (captured <= block_.size() - kPacketAt - kTail) comment = CommentOf(kPacketAt + captured);
    }
    comments_.push_back(std::move(comment));
  }
  block_.clear();
}

void PacketComments::Take(std::string_view bytes) {
  while (!bytes.empty() && !is_over_) {
    if (block_.size() < kHead) {
      const size_t head = std::min(kHead - block_.size(), bytes.size());
      block_.insert(block_.end(), bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(head));
      bytes.remove_prefix(head);
      // Numbers of a file that begins otherwise mean nothing.
      if (block_.size() == kHead) is_over_ = !TakeHead();
    } else {
      const size_t part = std::min<uint64_t>(left_, bytes.size());
      if (is_kept_) {
        block_.insert(block_.end(), bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(part));
      }
      bytes.remove_prefix(part);
      left_ -= part;
    }
    if (block_.size() >= kHead && left_ == 0 && !is_over_) EndBlock();
  }
}

std::string PacketComments::Next() {
  if (comments_.empty()) return {};
  std::string comment = std::move(comments_.front());
  comments_.pop_front();
  return comment;
}

}  // namespace suede::ctl
