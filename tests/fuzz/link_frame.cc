// SPDX-License-Identifier: Apache-2.0
// One end of a link whose neighbour, session and all, is the input: whatever comes, each frame has
// one fate, no more is held than the window, and time always goes on.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "link/credit_end.h"
#include "link/link_end.h"

namespace suede {
namespace {

constexpr uint32_t kFrameBytes = 512;
constexpr uint32_t kCredits = 8;

struct Memory {
  Frame frame;
  uint8_t bytes[kFrameBytes];
};

class Bed {
 public:
  Bed() {
    params_.retry.on = true;
    params_.retry.window_frames = 8;
    params_.retry.window_octets = 2000;
    params_.secret = {1, 2};
    params_.place = {.mesh = 1, .device = 2, .port = 3};
    CreditGrant grant;
    grant.limits.fill(kCredits);
    params_.credit = OfferOf(grant);
    end_ = std::make_unique<LinkEnd>(params_);
    credit_ = std::make_unique<CreditEnd>(params_, kFrameBytes);
  }

  // A frame of the neighbour's: bytes as they are, with the EtherType, or with the right tag, too.
  void Hear(const uint8_t* data, size_t size, uint8_t how) {
    Frame* const frame = Take();
    frame->length = static_cast<uint32_t>(std::min<size_t>(size, kFrameBytes - 64));
    std::memcpy(frame->data, data, frame->length);
    if (how % 4 != 0 && frame->length >= kLinkBodyAt) {
      LinkWord word = LoadLinkWord(frame->data);
      if (how % 4 >= 2) word.tag = end_->session().rx_tag();
      BeginLinkFrame(params_.ether_type, {}, word, frame->data);
      frame->length = std::max(frame->length, kMinLinkFrameBytes);
    }
    // One that answers, so that there is a session.
    if (how % 16 == 3) {
      frame->length = EncodeLinkHello(params_.ether_type, {}, Answer(how), frame->data);
    }
    const uint32_t before = frame->length;
    const LinkEnd::Fate fate = end_->OnFrame(*frame, now_);
    if (fate == LinkEnd::Fate::kUp && frame->length != before &&
        frame->length + kLinkShimBytes != before) {
      std::abort();
    }
    HearCredit(fate, *frame, how);
    free_.push_back(frame);
    Reap();
  }
  // Updates of any body, and frames that use credit.
  void HearCredit(LinkEnd::Fate fate, const Frame& frame, uint8_t how) {
    credit_->Follow(*end_, now_);
    if (fate != LinkEnd::Fate::kUp) return;
    bool opened = false;
    if (credit_->TakeUpdate(*end_, frame, opened, now_)) return;
    const uint32_t vc = how % kLinkVcs;
    const uint32_t credits = credit_->receiver().OnFrame(vc, frame.length);
    if (credits != 0) credit_->receiver().OnDrained(vc, credits, now_);
  }
  void SendCredit() {
    CreditSender& sender = credit_->sender();
    if (sender.MaySend(2, 1)) sender.OnSent(2, 1, now_);
    uint8_t own[kMaxLinkFrameBytes];
    if (credit_->NextFreed(*end_, own, now_) > sizeof own) std::abort();
    if (credit_->NextConsumed(*end_, own, now_) > sizeof own) std::abort();
  }
  void Send() {
    end_->BeginBurst();
    Frame* const frame = Take();
    std::memset(frame->data, 0, 60);
    frame->length = 60;
    if (end_->Pass(*frame, false, kFrameBytes) != LinkEnd::Passage::kNumbered) {
      free_.push_back(frame);
    }
  }
  void Leave(uint32_t count) {
    uint8_t own[kMaxLinkFrameBytes];
    for (uint32_t i = 0; i < 4 && end_->HasNext(now_); ++i) {
      const uint32_t bytes = end_->Next(own, now_);
      if (bytes > sizeof own) std::abort();
      if (LoadLinkWord(own).kind == LinkKind::kHello) {
        const auto hello = DecodeLinkHello(own, bytes);
        if (hello->place != params_.place) std::abort();
        nonce_ = hello->nonce;
      }
    }
    SendCredit();
    for (; count != 0 && end_->ToSend(0) != nullptr; --count) end_->OnSent(1, now_);
  }
  void Wait(uint32_t us) {
    now_ += std::chrono::microseconds(us);
    end_->Poll(now_);
    credit_->Follow(*end_, now_);
    Reap();
    if (end_->sender().numbers() && end_->deadline() < now_ - std::chrono::hours(1) &&
        !end_->HasNext(now_)) {
      std::abort();
    }
  }
  void Check() const {
    credit_->sender().CheckInvariants();
    credit_->receiver().CheckInvariants();
    if (end_->sender().held() > params_.retry.window_frames) std::abort();
    if (end_->neighbour_place() && !end_->session().has_session()) std::abort();
    if (memory_.size() != free_.size() + end_->sender().held()) std::abort();
  }

 private:
  LinkHelloBody Answer(uint8_t how) const {
    LinkHelloBody hello{.nonce = uint64_t{1} + (how >> 6), .echo = nonce_, .hears = true};
    hello.offer.llr = (how & 0x20) == 0;
    hello.offer.window_frames = 100;
    hello.offer.window_octets = 1000;
    hello.offer.cbfc = (how & 0x10) == 0;
    hello.offer.credit_octets = 128;
    hello.offer.credits.fill(kCredits);
    if ((how & 0x40) != 0) hello.place = {.mesh = 4, .device = 5, .port = 6, .plane = 1};
    return hello;
  }
  Frame* Take() {
    if (free_.empty()) {
      memory_.push_back(std::make_unique<Memory>());
      memory_.back()->frame.buffer = memory_.back()->bytes;
      free_.push_back(&memory_.back()->frame);
    }
    Frame* const frame = free_.back();
    free_.pop_back();
    frame->data = frame->buffer + 32;
    return frame;
  }
  void Reap() {
    free_.insert(free_.end(), end_->ended().begin(), end_->ended().end());
    end_->ClearEnded();
  }

  LinkParams params_;
  std::unique_ptr<LinkEnd> end_;
  std::unique_ptr<CreditEnd> credit_;
  std::vector<std::unique_ptr<Memory>> memory_;
  std::vector<Frame*> free_;
  uint64_t nonce_ = 0;
  Time now_ = TimeFromNs(1'000'000'000);
};

}  // namespace
}  // namespace suede

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  suede::Bed bed;
  while (size >= 3) {
    const uint8_t what = data[0];
    const uint8_t how = data[1];
    const size_t bytes = std::min<size_t>(data[2], size - 3);
    switch (what % 4) {
      case 0:
        bed.Send();
        break;
      case 1:
        bed.Leave(how % 8);
        break;
      case 2:
        bed.Wait(how);
        break;
      case 3:
        bed.Hear(data + 3, bytes, how);
        break;
    }
    bed.Check();
    const size_t used = what % 4 == 3 ? 3 + bytes : 2;
    data += used;
    size -= used;
  }
  return 0;
}
