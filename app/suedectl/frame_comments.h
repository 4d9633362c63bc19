// SPDX-License-Identifier: Apache-2.0
// The comments of the packets of a pcapng file (draft-ietf-opsawg-pcapng §4.3), which libpcap does
// not pass on: suede's captures of dropped frames have the counters of the drops there.
#ifndef SUEDE_SUEDECTL_FRAME_COMMENTS_H_
#define SUEDE_SUEDECTL_FRAME_COMMENTS_H_

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace suede::ctl {

class PacketComments {
 public:
  // Takes the next bytes of the file, as libpcap reads them.
  void Take(std::string_view bytes);
  // Returns the comment of the next packet; empty: it has none, or the file is no pcapng.
  std::string Next();

 private:
  // A block that is longer is passed over, and its packet counts as one without a comment.
  static constexpr uint32_t kMaxBlock = 1u << 20;

  uint32_t Number(size_t at) const;
  uint16_t ShortNumber(size_t at) const;
  bool TakeHead();
  void EndBlock();
  std::string CommentOf(size_t options) const;

  std::vector<char> block_;  // the beginning of the present block
  uint64_t left_ = 0;        // bytes of the block that are still to come
  bool is_swapped_ = false;  // numbers have the other byte order
  bool is_kept_ = false;     // the present block is a packet's, and is kept as a whole
  bool is_over_ = false;     // the rest of the file is not understood
  std::deque<std::string> comments_;
};

}  // namespace suede::ctl

#endif  // SUEDE_SUEDECTL_FRAME_COMMENTS_H_
