// SPDX-License-Identifier: Apache-2.0
#include "lcore/trace.h"

#include <algorithm>
#include <limits>

namespace suede {

TracePath TracePathOf(const ConnectionMap& map, const InstanceParams& params,
                      ConnectionIndex connection, Vc vc) {
  return {.connection = connection,
          .peer_xpuid = params.peers[map.PeerOf(connection)].xpuid,
          .plane = static_cast<uint8_t>(map.PlaneOf(connection)),
          .session = static_cast<uint8_t>(map.SessionOf(connection)),
          .vc = static_cast<uint8_t>(vc)};
}

void Trace::Begin(const TraceSettings& settings) {
  *this = {};
  settings_ = settings;
  sent_left_ = received_left_ = std::min(settings.count, kMaxOfDirection);
}

bool Trace::Takes(const TracePath& path, Psn psn) const {
  return psn.value() % settings_.stride == 0 &&
         (settings_.peer_xpuid == TraceSettings::kAnyPeer ||
          settings_.peer_xpuid == path.peer_xpuid) &&
         (settings_.vc == TraceSettings::kAnyVc || settings_.vc == path.vc);
}

TraceRow& Trace::Add(const TracePath& path, Psn psn, TraceState state) {
  TraceRow& row = rows_[count_++];
  row = {.path = path, .psn = psn, .state = state};
  row.at.fill(kNever);
  ++counts_[static_cast<size_t>(state)];
  return row;
}

void Trace::OnStaged(const TracePath& path, const Pdu* first, uint32_t count, Time now) {
  for (const Pdu* pdu = first; count != 0 && sent_left_ != 0; --count, pdu = pdu->next) {
    if (!Takes(path, pdu->psn)) continue;
    pdus_[count_] = pdu;
    TraceRow& row = Add(path, pdu->psn, TraceState::kUnderWay);
    row.transmissions = 1;
    row.bytes = pdu->bytes;
    row.commands = pdu->command_count;
    row.At(TraceStage::kQueued) = now - pdu->Age(now);
    row.At(TraceStage::kStaged) = now;
    --sent_left_;
  }
}

// Returns the row of a sent PDU that is under way; null: there is none.
TraceRow* Trace::RowOf(const Pdu& pdu) {
  for (uint32_t i = 0; In(TraceState::kUnderWay) != 0 && i < count_; ++i) {
    TraceRow& row = rows_[i];
    if (row.state == TraceState::kUnderWay && pdus_[i] == &pdu && row.psn == pdu.psn) return &row;
  }
  return nullptr;
}

void Trace::OnStagedAgain(const Pdu* pdu) {
  TraceRow* const row = RowOf(*pdu);
  if (row != nullptr && row->transmissions != std::numeric_limits<uint8_t>::max())
    ++row->transmissions;
}

void Trace::OnEnded(const PduList& pdus, TraceState state) {
  for (const Pdu* pdu = pdus.head(); pdu != nullptr; pdu = pdu->next) {
    if (TraceRow* const row = RowOf(*pdu); row != nullptr) Set(*row, state);
  }
}

// Returns the row of a PDU that has arrived ahead of others; null: there is none.
TraceRow* Trace::EarlyRowOf(ConnectionIndex connection, Psn psn) {
  for (uint32_t i = 0; In(TraceState::kEarly) != 0 && i < count_; ++i) {
    TraceRow& row = rows_[i];
    if (row.state == TraceState::kEarly && row.path.connection == connection && row.psn == psn)
      return &row;
  }
  return nullptr;
}

void Trace::OnReceived(const TracePath& path, Psn first, uint32_t count, TraceState state,
                       const RingMark& mark, Time now) {
  for (Psn psn = first; count != 0; --count, psn = psn.Next()) {
    if (!Takes(path, psn)) continue;
    TraceRow* row = state == TraceState::kDuplicate ? nullptr : EarlyRowOf(path.connection, psn);
    if (row != nullptr) {
      Set(*row, state);
    } else if (received_left_ != 0) {
      row = &Add(path, psn, state);
      row->is_received = true;
      row->At(TraceStage::kReceived) = now;
      --received_left_;
    } else {
      continue;
    }
    if (state != TraceState::kDelivered) continue;
    row->At(TraceStage::kDelivered) = now;
    marks_[static_cast<size_t>(row - rows_.data())] = mark;
  }
}

}  // namespace suede
