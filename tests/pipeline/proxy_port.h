// SPDX-License-Identifier: Apache-2.0
// A port in front of another: takes few frames a turn, takes small ones, offers the offloads that a
// test sets, and keeps copies of the pipeline's frames.
#ifndef SUEDE_TESTS_PIPELINE_PROXY_PORT_H_
#define SUEDE_TESTS_PIPELINE_PROXY_PORT_H_

#include <algorithm>
#include <vector>

#include "port/port.h"

namespace suede {

class ProxyPort : public Port {
 public:
  struct Seen {
    std::vector<uint8_t> bytes;
    TxOffload offload;
    uint8_t l2_length;
    uint8_t l3_length;
  };

  explicit ProxyPort(Port* port) : port_(port) {}

  uint32_t Receive(Frame** frames, uint32_t max) override { return port_->Receive(frames, max); }
  uint32_t Transmit(Frame* const* frames, uint32_t count) override {
    const uint32_t taken = port_->Transmit(frames, std::min(count, max));
    for (uint32_t i = 0; i < taken && seen.size() < kMaxSeen; ++i) {
      const Frame& frame = *frames[i];
      seen.push_back({.bytes = {frame.data, frame.data + frame.length},
                      .offload = frame.tx_offload,
                      .l2_length = frame.l2_length,
                      .l3_length = frame.l3_length});
    }
    return taken;
  }
  void Flush() override { port_->Flush(); }
  bool IsBusy(const Frame* frame) const override { return port_->IsBusy(frame); }
  void Hold(Frame* const* frames, uint32_t count) override { port_->Hold(frames, count); }
  uint32_t Allocate(Frame** frames, uint32_t count) override {
    return port_->Allocate(frames, count);
  }
  void Release(Frame* const* frames, uint32_t count) override { port_->Release(frames, count); }
  uint32_t max_frame_bytes() const override {
    return std::min(frame_bytes, port_->max_frame_bytes());
  }
  bool Offers(TxOffload offload) const override {
    return offload == TxOffload::kNone || offload == offers;
  }
  LinkState link() const override { return port_->link(); }

  uint32_t max = ~0u;          // frames of a call
  uint32_t frame_bytes = ~0u;  // of the largest frame
  TxOffload offers = TxOffload::kNone;
  std::vector<Seen> seen;  // the first of those that were taken

 private:
  static constexpr size_t kMaxSeen = 256;
  Port* port_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_PIPELINE_PROXY_PORT_H_
