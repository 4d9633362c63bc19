// SPDX-License-Identifier: Apache-2.0
#include "fabric/switch.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace suede::fabric {
namespace {

constexpr uint32_t kAgedPlaces = 4;        // of the table, in a poll iteration
constexpr uint32_t kForgottenPlaces = 64;  // of the table, while it has forgotten entries
constexpr uint32_t kMinGain = 1;           // min bytes that trimming has to save

// Whether sources may be learnt; the addresses of other fabrics are configured.
constexpr bool Learns(Forwarding forwarding) {
  return forwarding == Forwarding::kMac || forwarding == Forwarding::kAfh1 ||
         forwarding == Forwarding::kIp;
}

}  // namespace

uint32_t Switch::MaxSpares(const SwitchParams& params) {
  const auto retries = [](const PortParams& port) { return port.link.retry.on; };
  return std::ranges::any_of(params.ports, retries) ? kSparesOfRetry : kSpares;
}

Switch::Switch(const SwitchParams& params)
    : params_(params),
      class_rule_(ClassRuleOf(params_)),
      learns_(params_.learns && Learns(params_.forwarding)),
      buffer_(params_),
      table_(params_.forwarding,
             {.entries = params_.forwarding == Forwarding::kMesh ? 1 : params_.addresses,
              .port_learnt = params_.addresses_of_port,
              .max_age = params_.max_age},
             static_cast<uint32_t>(params_.ports.size())),
      max_spares_(MaxSpares(params_)) {
  if (params_.forwarding == Forwarding::kMesh) routes_ = std::make_unique<DeviceRoutes>(params_);
  for (uint32_t i = 0; i < params_.ports.size(); ++i) {
    ports_.push_back(std::make_unique<SwitchPort>(params_, i, buffer_));
    CreditEnd* const own = ports_[i]->credit();
    receivers_.push_back(own != nullptr ? &own->receiver() : nullptr);
  }
  for (const auto& port : ports_) port->output_.SetInputs(receivers_);
  for (const PortGroup& group : params_.groups) {
    groups_.push_back(std::make_unique<GroupSpread>(group));
  }
  uint64_t held = 0;
  for (const PortParams& port : params_.ports) {
    if (port.link.retry.on) held += port.link.retry.window_frames;
  }
  ended_.reserve(params_.buffer_bytes / params_.cell_bytes + params_.ports.size() * kSpares +
                 max_spares_ + held);
  spares_.reserve(max_spares_);
  touched_.reserve(params_.ports.size());
}

// Sets a port down or up. No frame waits for a port that is down: it would block the buffer of the
// others.
void Switch::SetDown(uint32_t number, bool down) {
  SwitchPort& port = *ports_[number];
  port.down_ = down;
  for (const auto& group : groups_) group->SetDown(static_cast<uint16_t>(number), down);
  if (!down) return;
  table_.Forget(static_cast<uint16_t>(number));
  DropWaiting(port, SwitchClassCounter::kDownDrop);
}

// Drops the frames that wait for a port.
void Switch::DropWaiting(SwitchPort& port, SwitchClassCounter reason) {
  Frame* frame = port.link_ != nullptr ? port.link_->TakeWaiting() : nullptr;
  if (frame == nullptr) frame = port.output_.PopAny();
  for (; frame != nullptr; frame = port.output_.PopAny()) {
    port.CountDrop(reason, NoteOfFrame(frame).traffic_class, *frame);
    End(frame);
  }
}

void Switch::Receive(uint32_t number, Frame* const* frames, uint32_t count, Time now) {
  SwitchPort& port = *ports_[number];
  now_ = now;
  uint64_t bytes = 0;
  const bool clean = port.in_.is_clean();
  for (uint32_t i = 0; i < count; ++i) {
    Frame* const frame = frames[i];
    bytes += frame->length;
    NewNote(frame).in = static_cast<uint16_t>(number);
    if (port.down_) {
      Drop(port, SwitchPortCounter::kRxDown, frame);
    } else if (clean) [[likely]] {
      OnFrame(number, frame, now);
    } else {
      const FrameView view = ViewOf(frame);
      FrameNote& note = NoteOfFrame(frame);
      note.destination = view.destination;
      note.traffic_class = static_cast<uint8_t>(ClassOf(frame, view));
      if (number < 64) arriving_ |= uint64_t{1} << number;
      switch (port.in_.Send(frame, now)) {
        case Impairment::Fate::kLost:
          End(frame);
          break;
        case Impairment::Fate::kDuplicate:
          if (Frame* const copy = CopyOf(frame); copy != nullptr) port.in_.Duplicate(copy);
          break;
        case Impairment::Fate::kTaken:
          break;
      }
    }
  }
  port.counters_.Add(SwitchPortCounter::kRxFrames, count);
  port.counters_.Add(SwitchPortCounter::kRxFrameBytes, bytes);
}

void Switch::ClearTouched() {
  for (const uint16_t port : touched_) ports_[port]->touched_ = false;
  touched_.clear();
}

void Switch::ShowCredit() {
  for (const auto& port : ports_) {
    if (port->link_ != nullptr) port->link_->ShowCredit();
  }
}

void Switch::PollPort(uint32_t port, Time now) {
  now_ = now;
  while (Frame* const frame = ports_[port]->in_.Arrived(now)) OnFrame(port, frame, now);
}

void Switch::Poll(Time now) {
  for (uint64_t left = arriving_; left != 0; left &= left - 1) {
    const auto port = static_cast<uint32_t>(std::countr_zero(left));
    PollPort(port, now);
    if (ports_[port]->in_.on_cable() == 0) arriving_ &= ~(uint64_t{1} << port);
  }
  if (routes_ == nullptr) table_.Age(now, table_.forgotten() != 0 ? kForgottenPlaces : kAgedPlaces);
}

// Returns false if the frame was the link's, or the link has dropped it; the frame has then ended.
[[gnu::noinline]] bool Switch::OnLinkFrame(SwitchPort& port, Frame* frame, Time now) {
  const bool passes = port.link_->OnReceive(*frame, now);
  EndHeld(port);
  if (passes) return true;
  ++frames_of_links_;
  End(frame);
  return false;
}

[[gnu::noinline]] void Switch::EndHeld(SwitchPort& port) {
  const std::span<Frame* const> held = port.link_->ended();
  if (held.empty()) return;
  frames_of_links_ += held.size();
  ended_.insert(ended_.end(), held.begin(), held.end());
  port.link_->ClearEnded();
}

// Returns whether the buffer admits the frame, and counts the frame then.
inline bool Switch::Admit(uint32_t in, uint32_t out, FrameNote& note) {
  if (note.credits == 0) [[likely]]
    return buffer_.Admit(PortIndex(in), PortIndex(out), note.queue, note.charge);
  note.credited = note.credited && buffer_.AdmitCredited(PortIndex(in), PortIndex(out), note);
  return note.credited;
}

[[gnu::always_inline]] inline void Switch::Enqueue(uint32_t in, uint32_t out, Frame* frame,
                                                   const FrameView& view) {
  SwitchPort& port = *ports_[out];
  FrameNote& note = NoteOfFrame(frame);
  if (port.down_) [[unlikely]] {
    port.CountDrop(SwitchClassCounter::kDownDrop, note.traffic_class, *frame);
    return End(frame);
  }
  note.charge = buffer_.Charge(frame->length);
  if (params_.trim.on && TrimEarly(out, frame, view)) [[unlikely]]
    return;
  if (Admit(in, out, note)) [[likely]] {
    Queue(port, out, frame, view);
    return;
  }
  Refuse(out, frame, view);
}

// Passes a frame by the empty queues of its output. Returns false if it has to wait.
bool Switch::PassBy(uint32_t out, Frame* frame) {
  SwitchPort& port = *ports_[out];
  if (port.bypass_ == nullptr || !port.output_.is_empty()) return false;
  const FrameNote note = NoteOfFrame(frame);
  const uint32_t bytes = frame->length;
  if (!port.bypass_->Take(out, frame)) return false;
  if (note.credits != 0) receivers_[note.in]->OnDrained(note.link_vc, note.credits, now_);
  port.CountPassed(note.traffic_class, bytes);
  return true;
}

void Switch::OnFrame(uint32_t number, Frame* frame, Time now) {
  SwitchPort& port = *ports_[number];
  if (port.link_ != nullptr && !port.link_->Ignores(*frame) && !OnLinkFrame(port, frame, now)) {
    return;
  }
  if (routes_ != nullptr) {
    FrameView view;
    const uint16_t out = RouteInMesh(number, frame, view, now);
    if (out != kNoPort && !PassBy(out, frame)) Enqueue(number, out, frame, view);
    return;
  }
  FrameView view = ViewOf(frame);
  if (view.error == ViewError::kLinkLocal && params_.ports[number].pfc.on) [[unlikely]] {
    if (const auto pfc = DecodePfc(frame->data, frame->length)) {
      port.output_.OnPfc(*pfc, now);
      return Drop(port, SwitchPortCounter::kRxPfc, frame);
    }
  }
  if (receivers_[number] != nullptr) [[unlikely]]
    CountAny(number, frame);
  if (view.error == ViewError::kLinkLocal && port.lldp_ != nullptr) [[unlikely]] {
    if (TakeLldp(port, frame, now)) return;
  }
  if (!port.Check(view)) [[unlikely]]
    return Drop(port, SwitchPort::FaultOf(view.error), frame);
  Forward(number, frame, view, now);
}

void Switch::Learn(SwitchPort& port, uint32_t number, const FrameView& view, Time now) {
  switch (table_.LearnSource(view, static_cast<uint16_t>(number), now)) {
    case AddressTable::Learnt::kNew:
      port.counters_.Add(SwitchPortCounter::kRxLearnt);
      break;
    case AddressTable::Learnt::kMoved:
      port.counters_.Add(SwitchPortCounter::kRxMoved);
      break;
    case AddressTable::Learnt::kFull:
      port.counters_.Add(SwitchPortCounter::kRxNotLearnt);
      break;
    case AddressTable::Learnt::kKnown:
    case AddressTable::Learnt::kStatic:
      break;
  }
}

// Uses one hop of a frame that is forwarded by a header with a hop limit. Returns false if none was
// left.
bool Switch::UseHop(uint32_t in, Frame* frame, const FrameView& view, bool routed) {
  const bool by_header =
      routed || params_.forwarding == Forwarding::kAfh2 ||
      params_.forwarding == Forwarding::kEsun ||
      (params_.forwarding == Forwarding::kAfh1 && view.network == NetworkHeader::kShim);
  if (!by_header || !params_.ports[in].decrements_hops) return true;
  if (!view.has_hop_limit(frame->data)) return true;
  if (view.hop_limit(frame->data) <= 1) return false;
  view.DecrementHopLimit(frame->data);
  return true;
}

void Switch::DropWithoutHops(SwitchPort& port, Frame* frame, const FrameView& view) {
  port.without_hops_ = {.count = port.without_hops_.count + 1,
                        .destination = view.destination,
                        .traffic_class = static_cast<uint8_t>(ClassOf(frame, view))};
  Drop(port, SwitchPortCounter::kRxHopLimit, frame);
}

void Switch::Forward(uint32_t in, Frame* frame, FrameView& view, Time now) {
  SwitchPort& port = *ports_[in];
  if (learns_ && (view.source >> 40 & 1) == 0) Learn(port, in, view, now);
  bool routed = false;
  uint16_t out = view.group ? kNoPort : table_.FindOutput(view, now, routed);
  if (out >= kFirstGroup && out != kNoPort) [[unlikely]] {
    out = MemberFor(in, out - kFirstGroup, frame, view);
    if (out == kNoPort) return;
  }
  if (out == in && !params_.ports[in].hairpins) {
    return Drop(port, SwitchPortCounter::kRxHairpin, frame);
  }
  if (out != kNoPort && port.Blocks(out)) [[unlikely]] {
    return Drop(port, SwitchPortCounter::kRxIsolated, frame);
  }
  if (!UseHop(in, frame, view, routed)) [[unlikely]]
    return DropWithoutHops(port, frame, view);
  FrameNote& note = NoteOfFrame(frame);
  note.at = now;
  note.destination = view.destination;
  note.queue = note.traffic_class = static_cast<uint8_t>(ClassOf(frame, view));
  if (out != kNoPort) [[likely]]
    return Enqueue(in, out, frame, view);
  if (!params_.floods && (!view.group || params_.forwarding == Forwarding::kEsun)) {
    return Drop(port, SwitchPortCounter::kRxUnknown, frame);
  }
  Flood(in, frame, view);
}

// Returns the port of the group by which the frame leaves; kNoPort: none may send, and the frame
// has ended.
[[gnu::noinline]] uint16_t Switch::MemberFor(uint32_t in, uint32_t number, Frame* frame,
                                             const FrameView& view) {
  const PortGroup& own = params_.groups[number];
  GroupSpread& group = *groups_[number];
  uint32_t member = GroupSpread::kNone;
  switch (own.spread) {
    case Spread::kFlow:
      member = group.OfFlow(own.by_addresses ? view.AddressHash(frame->data)
                                             : view.FlowHash(frame->data, frame->length));
      break;
    case Spread::kRoundRobin:
      member = group.Next([](uint16_t) { return uint32_t{0}; });
      break;
    case Spread::kQueue:
      member = group.Next([this](uint16_t port) { return QueuedBytes(port); });
      break;
  }
  if (member != GroupSpread::kNone) [[likely]]
    return group.Take(member);
  return DropUnrouted(*ports_[in], SwitchPortCounter::kRxNoMember, frame);
}

uint32_t Switch::QueuedBytes(uint16_t port) const {
  uint32_t bytes = 0;
  for (QueueMask left = ports_[port]->output_.waiting(); left != 0; left &= left - 1) {
    bytes += buffer_.queued(port, static_cast<uint32_t>(std::countr_zero(left)));
  }
  return bytes;
}

// Counts the credit of a received frame, if it uses credit.
void Switch::CountCredit(uint32_t number, Frame* frame, uint8_t link_vc) {
  CreditReceiver& receiver = *receivers_[number];
  const uint32_t credits = receiver.OnFrame(link_vc, frame->length);
  FrameNote& note = NoteOfFrame(frame);
  note.link_vc = link_vc;
  note.credits = static_cast<uint16_t>(credits);
  note.credited = credits != 0 && receiver.IsWithin(link_vc);
  if (credits != 0 && !note.credited) [[unlikely]]
    ports_[number]->link()->counters().Add(LinkCounter::kCreditExceeded);
}

// Counts the credit of any frame.
[[gnu::noinline]] void Switch::CountAny(uint32_t number, Frame* frame) {
  if (HasLinkType(frame->data, frame->length, kTypeMacControl)) return;
  CountCredit(number, frame, LinkVcOf(class_rule_, frame->data, frame->length));
}

// Frees the credit of a frame that ends outside of queues.
void Switch::FreeCredit(Frame* frame) {
  FrameNote& note = NoteOfFrame(frame);
  if (note.credits == 0) [[likely]]
    return;
  receivers_[note.in]->OnDrained(note.link_vc, note.credits, now_);
  note.credits = 0;
}

// Copies a frame. Only the received frame is on credit: copies are charged like any other frame.
Frame* Switch::CopyOf(const Frame* frame) {
  if (spares_.empty()) return nullptr;
  Frame* const copy = spares_.back();
  spares_.pop_back();
  if (!CopyFrame(*frame, copy)) {
    End(copy);
    return nullptr;
  }
  FrameNote& note = NewNote(copy) = NoteOfFrame(frame);
  note.credits = 0;
  note.credited = false;
  return copy;
}

// Sends the frame to each other port of the VLAN; the last port takes the frame itself.
void Switch::Flood(uint32_t in, Frame* frame, const FrameView& view) {
  SwitchPort& port = *ports_[in];
  port.counters_.Add(SwitchPortCounter::kRxFlooded);
  uint32_t last = kMaxPorts;
  for (uint32_t out = 0; out < ports_.size(); ++out) {
    const SwitchPort& other = *ports_[out];
    if (out == in || other.down_ || port.Blocks(out) || !other.HasVlan(view.vid)) continue;
    if (last != kMaxPorts) {
      if (Frame* const copy = CopyOf(frame); copy != nullptr) {
        Enqueue(in, last, copy, view);
      } else {
        port.counters_.Add(SwitchPortCounter::kRxNoCopy);
      }
    }
    last = out;
  }
  if (last == kMaxPorts) return Drop(port, SwitchPortCounter::kRxNoPort, frame);
  Enqueue(in, last, frame, view);
}

uint32_t Switch::ClassOf(const Frame* frame, const FrameView& view) const {
  const ClassMap& map = params_.classes;
  const bool has_ds = view.network != NetworkHeader::kNone;
  const bool pcp_first = map.pcp_first && view.network != NetworkHeader::kEsun;
  if (view.tagged && (pcp_first || !has_ds)) return map.of_pcp[view.pcp];
  if (has_ds) return map.of_dscp[view.ds_byte(frame->data) >> 2];
  return map.other;
}

// Trims or drops a frame that the buffer does not admit.
[[gnu::noinline]] void Switch::Refuse(uint32_t out, Frame* frame, const FrameView& view) {
  SwitchPort& port = *ports_[out];
  const FrameNote& note = NoteOfFrame(frame);
  if (note.credits != 0) {
    port.CountDrop(SwitchClassCounter::kCreditDrop, note.traffic_class, *frame);
    return End(frame);
  }
  if (Trim(out, frame, view)) return;
  const bool lossless = params_.of_class[note.traffic_class].lossless;
  port.CountDrop(lossless ? SwitchClassCounter::kHeadroomDrop : SwitchClassCounter::kTailDrop,
                 note.traffic_class, *frame);
  End(frame);
}

// Trims a frame whose queue is too deep. Returns false if the frame is not to be trimmed.
[[gnu::noinline]] bool Switch::TrimEarly(uint32_t out, Frame* frame, const FrameView& view) {
  const FrameNote& note = NoteOfFrame(frame);
  if (note.credits != 0 || buffer_.queued(out, note.queue) <= params_.trim.max_queue_bytes) {
    return false;
  }
  return Trim(out, frame, view);
}

// Trims a frame that finds no room, so that its receiver is informed. The IP and UDP lengths are
// unchanged, by which the receiver recognizes the trimmed frame. Returns false if the frame is not
// to be trimmed.
bool Switch::Trim(uint32_t out, Frame* frame, const FrameView& view) {
  FrameNote& note = NoteOfFrame(frame);
  const TrimParams& trim = params_.trim;
  if (!trim.on || params_.of_class[note.traffic_class].lossless) return false;
  const bool ipv6 = view.network == NetworkHeader::kIpv6;
  if (!ipv6 && view.network != NetworkHeader::kIpv4 && view.network != NetworkHeader::kShim) {
    return false;
  }
  const uint8_t ds = view.ds_byte(frame->data);
  const uint32_t bytes = ipv6 ? trim.ipv6_bytes : trim.ipv4_bytes;
  if ((trim.dscps >> (ds >> 2) & 1) == 0 || frame->length < bytes + kMinGain) return false;
  SwitchPort& port = *ports_[out];
  const uint32_t before = note.traffic_class;
  frame->length = bytes;
  view.set_ds_byte(frame->data, static_cast<uint8_t>(trim.trimmed_dscp << 2 | (ds & 3)));
  note.queue = note.traffic_class = trim.trimmed_class;
  note.charge = buffer_.Charge(bytes);
  if (buffer_.Admit(PortIndex(note.in), PortIndex(out), note.queue, note.charge)) {
    port.of_class_[before].Add(SwitchClassCounter::kTrimmed);
    Queue(port, out, frame, view);
  } else {
    port.CountDrop(SwitchClassCounter::kTrimDrop, before, *frame);
    End(frame);
  }
  return true;
}

uint32_t Switch::frames_inside() const {
  size_t count = ended_.size();
  for (const auto& port : ports_) {
    count += port->in_.on_cable() + port->out_.on_cable();
    if (port->link_ != nullptr) count += port->link_->frames();
    for (uint32_t queue = 0; queue < params_.queue_count(); ++queue) {
      count += port->output_.queued_frames(queue);
    }
  }
  return static_cast<uint32_t>(count);
}

void Switch::CheckInvariants() const {
  buffer_.CheckInvariants();
  uint64_t queued = 0;
  for (uint32_t p = 0; p < ports_.size(); ++p) {
    for (uint32_t c = 0; c < params_.queue_count(); ++c) {
      const bool waits = (ports_[p]->output_.waiting() >> c & 1) != 0;
      if (waits != (ports_[p]->output_.queued_frames(c) != 0)) std::abort();
      if (!waits && buffer_.queued(p, c) != 0) std::abort();
      // Bytes that the buffer has admitted on credit are held on credit.
      if (buffer_.credited(p, c) != 0 && receivers_[p]->held(c) == 0) std::abort();
      queued += buffer_.queued(p, c);
    }
  }
  if (queued != buffer_.used()) std::abort();
}

}  // namespace suede::fabric
