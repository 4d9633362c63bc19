// The server side of the workload: counts what comes, sends it back if told to, answers for it.
#ifndef SUEDE_APP_PERF_SERVER_H_
#define SUEDE_APP_PERF_SERVER_H_

#include <algorithm>
#include <cstring>
#include <list>
#include <vector>

#include "perf/batch_receiver.h"
#include "perf/endpoint.h"
#include "perf/load_sender.h"
#include "perf/protocol.h"
#include "perf/schedule.h"
#include "perf/streams.h"

namespace suede::perf {

// One worker, owned by the thread that calls Turn.
template <PerfEndpoint E>
class ServerWorkload {
 public:
  ServerWorkload(E& endpoint, uint16_t own_xpuid, const std::vector<uint8_t>& vcs, bool echoes)
      : endpoint_(endpoint), receiver_(endpoint, vcs), own_xpuid_(own_xpuid), echoes_(echoes) {}

  // One step; never blocks. Returns whether there was anything to do.
  bool Turn(Time now) {
    bool worked = receiver_.Poll([this](const ReceivedCommand& c) { return OnCommand(c); });
    if (to_flush_) {
      endpoint_.Flush();
      to_flush_ = false;
    }
    for (Reverse& reverse : reverses_) {
      if (!reverse.ended) worked |= reverse.Send(now) > 0;
    }
    return worked;
  }

  // Finished runs and those under way.
  StreamCounts Total() const {
    StreamCounts total = finished_;
    total.Add(table_.Total());
    return total;
  }
  uint64_t runs() const { return runs_; }

 private:
  static constexpr uint32_t kReverseBurst = 16;
  static Time NoTime(uint64_t) { return Time(); }

  // A load that a client asked for, under way until the client asks for the report; kept until its
  // next run, as it may ask again.
  struct Reverse {
    Reverse(E& endpoint, StreamId to, uint8_t with_flow, const LoadShape& shape, uint16_t own)
        : stream(to), flow(with_flow), sender(endpoint, shape, {to}, own, with_flow) {}
    uint32_t Send(Time now) {
      uint64_t budget = kReverseBurst;
      if (rate > 0) {
        if (sender.sent() == 0) schedule = RateSchedule(now, rate);
        budget = std::min(budget, schedule.DueBy(now) - sender.sent());
      }
      return sender.Burst(static_cast<uint32_t>(budget), NoTime);
    }
    StreamId stream;
    uint8_t flow;
    bool ended = false;
    uint32_t rate = 0;
    RateSchedule schedule;
    LoadSender<E> sender;
  };

  bool OnCommand(const ReceivedCommand& command) {
    const Opcode opcode = OpcodeOf(command.control);
    if (opcode == Opcode::kLoad || opcode == Opcode::kCheckedLoad) [[likely]] {
      if (echoes_ && !SendBack(command, opcode)) return false;
      table_.Count(command, opcode);
      return true;
    }
    const auto message = DecodeMessage(command.control, command.control_bytes);
    if (!message) return true;  // not ours
    if (message->code == Code::kStart) return OnStart(command, *message);
    if (message->code == Code::kReportRequest) return OnReportRequest(command, *message);
    return true;
  }

  bool SendBack(const ReceivedCommand& command, Opcode opcode) {
    uint8_t control[kMaxControlBytes];
    std::memcpy(control, command.control, std::min<size_t>(command.control_bytes, sizeof control));
    SetOpcode(control, static_cast<Opcode>(static_cast<uint8_t>(opcode) | 2));
    return Answer(command, control, command.data);
  }

  bool OnStart(const ReceivedCommand& command, const Message& message) {
    const auto load = DecodeReverseLoad(command.data, command.data_bytes);
    if (!load) return true;
    const EncodedMessage ready = EncodeReady(
        {.code = Code::kReady, .flow = message.flow, .run = message.run}, {.echoes = echoes_});
    if (!Answer(command, ready.control, ready.data)) return false;
    const StreamId from{command.source_xpuid, command.vc};
    RxStream& stream = table_.At(from, message.flow);
    if (stream.run() == message.run) return true;  // it did not know that we had heard
    finished_.Add(stream.counts());
    stream.Start(message.run);
    ++runs_;
    if (auto old = FindReverse(from, message.flow); old != reverses_.end()) reverses_.erase(old);
    if (load->wanted) {
      const LoadShape shape{.control_bytes = load->control_bytes,
                            .data_bytes = load->data_bytes,
                            .check = load->check,
                            .pack_every = load->pack_every};
      reverses_.emplace_back(endpoint_, from, message.flow, shape, own_xpuid_).rate = load->rate;
    }
    return true;
  }

  bool OnReportRequest(const ReceivedCommand& command, const Message& message) {
    const StreamId from{command.source_xpuid, command.vc};
    const RxStream& stream = table_.At(from, message.flow);
    if (stream.run() != message.run) return true;  // a run that this server has not seen start
    StreamCounts counts = stream.counts();
    const auto reverse = FindReverse(from, message.flow);
    if (reverse != reverses_.end()) {
      counts.sent_back = reverse->sender.sent();
    } else if (echoes_) {
      counts.sent_back = counts.received + counts.duplicated;
    }
    const EncodedMessage report = EncodeReport(
        {.code = Code::kReport, .flow = message.flow, .run = message.run}, counts);
    if (!Answer(command, report.control, report.data)) return false;
    if (reverse != reverses_.end()) reverse->ended = true;
    return true;
  }

  bool Answer(const ReceivedCommand& to, const uint8_t* control, const uint8_t* data) {
    // The data of a message may be shorter than its buffer; the control says how long it is.
    const SendResult result = endpoint_.Send(
        {.xpuid = to.source_xpuid, .vc = to.vc, .control = control, .data = data});
    to_flush_ = true;
    // What the endpoint calls invalid would hold up the VC for ever.
    return result == SendResult::kOk || result == SendResult::kInvalid;
  }

  auto FindReverse(StreamId stream, uint8_t flow) {
    return std::find_if(reverses_.begin(), reverses_.end(), [&](const Reverse& r) {
      return r.stream == stream && r.flow == flow;
    });
  }

  E& endpoint_;
  BatchReceiver<E> receiver_;
  const uint16_t own_xpuid_;
  const bool echoes_;
  bool to_flush_ = false;
  RxTable table_;
  std::list<Reverse> reverses_;
  StreamCounts finished_;
  uint64_t runs_ = 0;
};

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_SERVER_H_
