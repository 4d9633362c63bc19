// SPDX-License-Identifier: Apache-2.0
// Memory operations in one thread: an initiator and its lcore, and an lcore that serves a window.
// Produce starts operations and hands over their requests, Consume takes the responses.
#ifndef SUEDE_TESTS_BENCH_MEMORY_DATAPATH_H_
#define SUEDE_TESTS_BENCH_MEMORY_DATAPATH_H_

#include <memory>
#include <vector>

#include "datapath.h"
#include "mem/initiator.h"
#include "serve/burst_run.h"
#include "serve/served_target.h"

namespace suede {

class MemoryBench final : private BurstSink {
 public:
  using Stages = Bench::Stages;

  // Operations of `bytes` octets at one window, `window` of them under way.
  MemoryBench(mem::Opcode opcode, uint32_t bytes, uint32_t window)
      : opcode_(opcode), bytes_(bytes), window_(window), memory_(size_t{bytes} * window) {
    LoopPort* const to = sender_.AddPort();
    LoopPort* const from = receiver_.AddPort();
    to->ConnectTo(from);
    from->ConnectTo(to);
    const Traffic traffic;
    Bench::AddXpu(sender_, traffic, 0, 1, 1);
    Bench::AddXpu(receiver_, traffic, 1, 0, 0);
    void* const segment = sender_.Attach(kShape, {0}, 1);
    queue_ = std::make_unique<ClientQueue>(segment, 0);
    responses_ = std::make_unique<ClientReceiver>(segment, kResponseVc);
    Serve();
  }

  // Runs until the first operation is complete.
  void WarmUp() {
    Start();
    while (initiator_.completed() == 0) {
      Send();
      PollSender();
      PollReceiver();
      Consume();
      now_ += Duration(5000);
    }
    done_ = initiator_.completed();
  }
  // Returns the operations that became complete.
  uint64_t Turn(Stages& cycles) {
    uint64_t t[5];
    t[0] = __rdtsc();
    Produce();
    t[1] = __rdtsc();
    PollSender();
    t[2] = __rdtsc();
    PollReceiver();
    t[3] = __rdtsc();
    Consume();
    t[4] = __rdtsc();
    for (size_t i = 0; i < cycles.size(); ++i) cycles[i] += t[i + 1] - t[i];
    now_ += Duration(5000);
    const uint64_t before = done_;
    done_ = initiator_.completed();
    return done_ - before;
  }
  // Responses to a request, and PDUs that carried it, on average so far.
  double responses_per_request() const { return PerRequest(responses_taken_); }
  double pdus_per_request() const {
    return PerRequest(sender_.pipeline.counters(0).Get(Counter::kTxPdus));
  }

 private:
  static constexpr uint8_t kResponseVc = 1;
  static constexpr uint32_t kTarget = 2;  // as a client of the receiver

  double PerRequest(uint64_t count) const {
    return static_cast<double>(count) / static_cast<double>(initiator_.counters().requests);
  }
  void Serve() {
    receiver_.Attach(kShape, {0}, 0);  // client 1 has the target
    target_ = std::make_unique<ServedTarget>(kShape, uint8_t{1});
    auto& requests = receiver_.pipeline.mailbox().requests;
    requests.Push(request::AttachTarget{
        .client = kTarget, .owner = 1, .instance = 0, .vc_mask = 0xf, .target = target_.get()});
    served_ = {.kind = ServedWindow::Kind::kLcore,
               .window = {.base = reinterpret_cast<uint8_t*>(memory_.data()),
                          .bytes = memory_.size() * sizeof memory_[0],
                          .rights = mem::Window::kAllRights}};
    requests.Push(request::SetWindow{.client = kTarget, .id = 0, .window = &served_});
    requests.Push(request::Claim{.vc_mask = 1, .client = kTarget, .instance = 0});
    for (int i = 0; i < 4; ++i) receiver_.pipeline.Poll(TimeFromNs(0));
  }

  void Start() {
    const uint64_t offset = mem::IsAtomic(opcode_) ? 0 : started_ % window_ * bytes_;
    const mem::Call call{.opcode = opcode_,
                         .is_wide = mem::IsAtomic(opcode_),
                         .vc = 0,
                         .xpuid = 1,
                         .offset = offset,
                         .bytes = bytes_,
                         .source = octets_,
                         .room = octets_,
                         .operand = 1};
    if (initiator_.Start(call, nullptr) == mem::Started::kOk) ++started_;
  }
  void Send() {
    initiator_.Pump(*this);
    queue_->Flush();
  }
  __attribute__((noinline)) void Produce() {
    while (initiator_.open_operations() < window_) Start();
    Send();
  }
  __attribute__((noinline)) void PollSender() { sender_.pipeline.Poll(now_); }
  __attribute__((noinline)) void PollReceiver() { receiver_.pipeline.Poll(now_); }
  __attribute__((noinline)) void Consume() {
    suede_completion completions[64];
    while (const uint32_t count = queue_->PollCompletions(completions, 64)) {
      for (uint32_t i = 0; i < count; ++i) {
        initiator_.OnCompletion({.xpuid = completions[i].xpuid, .vc = completions[i].vc},
                                static_cast<uint32_t>(completions[i].tag), completions[i].status);
      }
    }
    ReceivedSpan span;
    while (const uint32_t count = responses_->PollRun(&span, 1024)) {
      for (uint32_t i = 0; i < count; ++i) {
        const size_t at = size_t{i} * span.stride;
        initiator_.OnCommand({.xpuid = span.source_xpuid, .vc = kResponseVc}, span.control + at,
                             span.control_bytes, span.data == nullptr ? nullptr : span.data + at,
                             span.data_bytes);
      }
      responses_taken_ += count;
    }
    responses_->Release();
  }
  int Send(const Burst& burst) override {
    uint32_t sent = 0;
    queue_->SendRun(RunOf(burst), burst.count, &sent);
    return static_cast<int>(sent);
  }

  const mem::Opcode opcode_;
  const uint32_t bytes_;
  const uint32_t window_;
  std::vector<uint64_t> memory_;  // of the window: more than enough
  uint8_t octets_[65536] = {};    // of the initiator
  Side sender_{Bench::kFrames};
  Side receiver_{Bench::kFrames};
  std::unique_ptr<ServedTarget> target_;
  ServedWindow served_;
  std::unique_ptr<ClientQueue> queue_;
  std::unique_ptr<ClientReceiver> responses_;
  mem::Initiator initiator_{mem::InitiatorParams{}};
  uint64_t started_ = 0;
  uint64_t done_ = 0;
  uint64_t responses_taken_ = 0;
  Time now_ = TimeFromNs(1'000'000);
};

}  // namespace suede

#endif  // SUEDE_TESTS_BENCH_MEMORY_DATAPATH_H_
