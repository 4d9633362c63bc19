// SPDX-License-Identifier: Apache-2.0
// The part of the switch's management that queries the lcore's state.
#include <utility>

#include "absl/strings/str_cat.h"
#include "switch/address_text.h"
#include "switch/switch_management.h"

namespace suede {
namespace {

using fabric::ForwardingTable;
using fabric::kClasses;

// Submits a request, repeatedly while the queue is full, and waits for the reply.
template <class Request>
class RetryingQuery {
 public:
  RetryingQuery(SwitchMailbox* mailbox, Request request)
      : mailbox_(mailbox), request_(std::move(request)) {}
  // Returns null until the reply has arrived.
  const Request* Poll() {
    if (ticket_ == nullptr) ticket_ = mailbox_->Ask(request_);
    if (ticket_ == nullptr || !ticket_->done()) return nullptr;
    return &ticket_->template answer<Request>();
  }

 private:
  SwitchMailbox* const mailbox_;
  const Request request_;
  std::shared_ptr<const SwitchTicket> ticket_;
};

std::string_view NameOf(ForwardingTable::KeyKind kind) {
  constexpr std::string_view kNames[] = {"mac", "afh", "ipv4", "ipv6"};
  return kNames[static_cast<size_t>(kind)];
}

bool HasHadFrames(const SwitchQueueView& queue) {
  return queue.frames != 0 || queue.most_bytes != 0 || queue.sent_frames != 0 ||
         queue.drop_tail + queue.drop_trim + queue.drop_headroom + queue.drop_down != 0;
}

}  // namespace

SwitchQueueView SwitchManagement::QueueOf(uint32_t port, uint32_t traffic_class,
                                          const SwitchQueueState& state) const {
  const SwitchClassCounters& counters = switch_->port(port).counters(traffic_class);
  return {.port = options_.ports[port].name,
          .traffic_class = traffic_class,
          .bytes = state.bytes,
          .frames = state.frames,
          .most_bytes = state.most_bytes,
          .paused = state.paused,
          .pausing = state.pausing,
          .stormy = state.stormy,
          .paused_ns = state.paused_ns,
          .sent_frames = counters.Get(SwitchClassCounter::kFrames),
          .sent_bytes = counters.Get(SwitchClassCounter::kFrameBytes),
          .marked = counters.Get(SwitchClassCounter::kMarked),
          .trimmed = counters.Get(SwitchClassCounter::kTrimmed),
          .drop_tail = counters.Get(SwitchClassCounter::kTailDrop),
          .drop_trim = counters.Get(SwitchClassCounter::kTrimDrop),
          .drop_headroom = counters.Get(SwitchClassCounter::kHeadroomDrop),
          .drop_down = counters.Get(SwitchClassCounter::kDownDrop),
          .drop_storm = counters.Get(SwitchClassCounter::kStormDrop),
          .drop_age = counters.Get(SwitchClassCounter::kAgeDrop)};
}

Question<absl::StatusOr<std::vector<SwitchQueueView>>> SwitchManagement::Queues(
    const SwitchQueueQuery& query) {
  using Result = std::optional<absl::StatusOr<std::vector<SwitchQueueView>>>;
  std::optional<uint32_t> only;
  if (!query.port.empty()) {
    const absl::StatusOr<uint32_t> port = Find(query.port);
    if (!port.ok()) return [wrong = port.status()]() -> Result { return wrong; };
    only = *port;
  }
  using State = switch_request::State;
  auto question =
      std::make_shared<RetryingQuery<State>>(mailbox_, State(static_cast<uint32_t>(ports_.size())));
  return [this, question, query, only]() -> Result {
    const State* const state = question->Poll();
    if (state == nullptr) return std::nullopt;
    std::vector<SwitchQueueView> all;
    for (uint32_t p = 0; p < ports_.size(); ++p) {
      if (only && *only != p) continue;
      for (uint32_t c = 0; c < kClasses; ++c) {
        if (query.traffic_class && *query.traffic_class != c) continue;
        SwitchQueueView queue = QueueOf(p, c, state->queues[size_t{p} * kClasses + c]);
        if (query.in_use && !HasHadFrames(queue)) continue;
        all.push_back(std::move(queue));
      }
    }
    return all;
  };
}

Question<SwitchBufferView> SwitchManagement::Buffer() {
  using State = switch_request::State;
  auto question =
      std::make_shared<RetryingQuery<State>>(mailbox_, State(static_cast<uint32_t>(ports_.size())));
  return [this, question]() -> std::optional<SwitchBufferView> {
    const State* const state = question->Poll();
    if (state == nullptr) return std::nullopt;
    const fabric::SwitchParams& params = switch_->params();
    uint64_t headroom = 0;
    for (const fabric::ClassParams& of_class : params.of_class) {
      if (of_class.lossless) headroom += uint64_t{of_class.headroom_bytes} * params.ports.size();
    }
    return SwitchBufferView{.bytes = params.buffer_bytes,
                            .cell_bytes = params.cell_bytes,
                            .used_bytes = state->used_bytes,
                            .most_used_bytes = state->most_used_bytes,
                            .shared_bytes = switch_->buffer().shared_bytes(),
                            .shared_free_bytes = state->shared_free_bytes,
                            .headroom_bytes = headroom,
                            .headroom_used_bytes = state->headroom_used_bytes,
                            .most_headroom_used_bytes = state->most_headroom_used_bytes};
  };
}

Question<absl::StatusOr<SwitchAddressesView>> SwitchManagement::Addresses(
    const SwitchAddressQuery& query) {
  using Result = std::optional<absl::StatusOr<SwitchAddressesView>>;
  using Page = switch_request::Addresses;
  Page page(query.from, query.limit);
  page.is_static = query.configured;
  if (!query.port.empty()) {
    const absl::StatusOr<uint16_t> port = FindOutput(query.port);
    if (!port.ok()) return [wrong = port.status()]() -> Result { return wrong; };
    page.port = *port;
  }
  auto question = std::make_shared<RetryingQuery<Page>>(mailbox_, std::move(page));
  return [this, question]() -> Result {
    const Page* const answer = question->Poll();
    if (answer == nullptr) return std::nullopt;
    SwitchAddressesView view{.addresses = {}, .next = {}};
    for (uint32_t i = 0; i < answer->count; ++i) {
      const Page::Row& row = answer->rows[i];
      const ForwardingTable::KeyKind kind = switch_->table().KindOf(row.key);
      SwitchAddressView address{.address = KeyText(row.key, kind),
                                .kind = NameOf(kind),
                                .vid = {},
                                .port = NameOfOutput(row.port),
                                .configured = row.is_static};
      if (kind == ForwardingTable::KeyKind::kMac) address.vid = ForwardingTable::VidOf(row.key);
      if (!row.is_static) address.age_ns = (answer->now - row.seen).count();
      view.addresses.push_back(std::move(address));
    }
    if (!answer->at_end) view.next = answer->next;
    return view;
  };
}

}  // namespace suede
