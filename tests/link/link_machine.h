// SPDX-License-Identifier: Apache-2.0
// One end of a link with frames of its own, for tests that join two of them.
#ifndef SUEDE_TESTS_LINK_LINK_MACHINE_H_
#define SUEDE_TESTS_LINK_LINK_MACHINE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "link/link_end.h"

namespace suede {

using LinkBytes = std::vector<uint8_t>;

class LinkMachine {
 public:
  static constexpr uint32_t kMaxFrameBytes = 256;
  static constexpr uint32_t kNumberAt = 14;  // of a frame of data

  LinkMachine(const LinkParams& params, uint64_t boot) : end_(WithBoot(params, boot)) {}

  static LinkParams WithBoot(LinkParams params, uint64_t boot) {
    params.secret = {0x5eed, boot};
    return params;
  }
  // A frame that carries its number.
  static LinkBytes Data(uint64_t number, uint32_t bytes = 60) {
    LinkBytes data(bytes, 0);
    for (uint32_t i = 0; i < 12; ++i) data[i] = static_cast<uint8_t>(0x10 + i);
    StoreBe16(data.data() + 12, 0x0800);
    StoreBe64(data.data() + kNumberAt, number);
    return data;
  }
  static uint64_t NumberOf(const Frame& frame) { return LoadBe64(frame.data + kNumberAt); }

  // Offers one frame, as its owner does.
  LinkEnd::Passage Send(const LinkBytes& data) {
    Frame* const frame = Take(data);
    const LinkEnd::Passage passage = end_.Pass(*frame, false, kMaxFrameBytes);
    if (passage != LinkEnd::Passage::kNumbered) free_.push_back(frame);
    return passage;
  }
  // Frames that leave now: link frames, then numbered ones.
  std::vector<LinkBytes> Leave(Time now, uint32_t max = 64) {
    std::vector<LinkBytes> left;
    while (end_.HasNext(now)) {
      LinkBytes own(kMaxLinkFrameBytes);
      own.resize(end_.Next(own.data(), now));
      left.push_back(own);
    }
    for (; max != 0; --max) {
      const Frame* const frame = end_.ToSend(0);
      if (frame == nullptr) break;
      left.emplace_back(frame->data, frame->data + frame->length);
      end_.OnSent(1, now);
    }
    return left;
  }
  // The frame that is handed up, as bytes; empty: the frame was the link's.
  std::optional<LinkBytes> Hear(const LinkBytes& bytes, Time now) {
    Frame* const frame = Take(bytes);
    const LinkEnd::Fate fate = end_.OnFrame(*frame, now);
    std::optional<LinkBytes> up;
    if (fate == LinkEnd::Fate::kUp) up.emplace(frame->data, frame->data + frame->length);
    free_.push_back(frame);
    Reap();
    return up;
  }
  void Poll(Time now) {
    end_.Poll(now);
    Reap();
  }

  LinkEnd& end() { return end_; }
  uint64_t Count(LinkCounter counter) const { return end_.counters().Get(counter); }
  // Frames that are neither free nor held.
  size_t missing() const { return memory_.size() - free_.size() - end_.sender().held(); }

 private:
  struct Memory {
    Frame frame;
    uint8_t bytes[kMaxFrameBytes + 64];
  };
  Frame* Take(const LinkBytes& bytes) {
    if (free_.empty()) {
      memory_.push_back(std::make_unique<Memory>());
      Frame& frame = memory_.back()->frame;
      frame.buffer = memory_.back()->bytes;
      frame.capacity = sizeof memory_.back()->bytes;
      free_.push_back(&frame);
    }
    Frame* const frame = free_.back();
    free_.pop_back();
    frame->data = frame->buffer + 32;
    frame->length = static_cast<uint32_t>(bytes.size());
    EXPECT_LE(bytes.size(), kMaxFrameBytes);
    std::copy(bytes.begin(), bytes.end(), frame->data);
    return frame;
  }
  void Reap() {
    free_.insert(free_.end(), end_.ended().begin(), end_.ended().end());
    end_.ClearEnded();
  }

  LinkEnd end_;
  std::vector<std::unique_ptr<Memory>> memory_;
  std::vector<Frame*> free_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_LINK_LINK_MACHINE_H_
