// SPDX-License-Identifier: Apache-2.0
// Events in registers: status bits that stay set until they are cleared, masks, and a summary bit.
// Control thread only.
#ifndef SUEDE_REGISTERS_REGISTER_EVENTS_H_
#define SUEDE_REGISTERS_REGISTER_EVENTS_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace suede {

// id, name, sentence. In the order of the bits, from 0; add new rows at the end.
#define SUEDE_REGISTER_EVENTS(X)                                                                 \
  X(LinkChange, "link_change", "The link of a port went up or down: event.link has which")       \
  X(PeerReset, "peer_reset", "A peer restarted")                                                 \
  X(PeerUnreachable, "peer_unreachable", "A peer was found unreachable")                         \
  X(ClientGone, "client_gone", "A client left, died or was disconnected")                        \
  X(PoolLow, "pool_low", "Less than an eighth of a port's frames is free")                       \
  X(NoFrame, "no_frame", "An lcore found no free frame to pack into")                            \
  X(CompletionLost, "completion_lost", "A completion found no room in a client's ring")          \
  X(EventsLost, "events_lost", "Events were lost: there were too many at once")                  \
  X(ConfigChanged, "config_changed", "The configuration in effect was changed")                  \
  X(PlaneChange, "plane_change", "A plane of an instance went up or down, or a plane to a peer") \
  X(TxError, "tx_error", "A client handed over a command with the error mark")                   \
  X(QueueBroken, "queue_broken", "A queue is not served any more: its indices were invalid")     \
  X(HelloMismatch, "hello_mismatch", "A peer is configured otherwise")                           \
  X(PeerFence, "peer_fence", "A peer was asked which PDUs arrived on a plane that went down")

enum class RegisterEvent : uint8_t {
#define SUEDE_REGISTER_EVENT_ID(id, name, sentence) k##id,
  SUEDE_REGISTER_EVENTS(SUEDE_REGISTER_EVENT_ID)
#undef SUEDE_REGISTER_EVENT_ID
      kCount
};

struct RegisterEventRow {
  std::string_view name;
  std::string_view sentence;
};
// Returns the rows, indexed by bit.
std::span<const RegisterEventRow> RegisterEventRows();

class RegisterEvents {
 public:
  void Raise(RegisterEvent event) { status_ |= 1u << static_cast<uint32_t>(event); }
  // Records a link change of a port, by its index below 32. It raises an event only if
  // event.link_mask contains the port.
  void RaiseLink(uint32_t port) {
    link_ |= 1u << port;
    if ((link_mask_ & 1u << port) != 0) Raise(RegisterEvent::kLinkChange);
  }

  uint32_t status() const { return status_; }
  uint32_t mask() const { return mask_; }
  uint32_t link() const { return link_; }
  uint32_t link_mask() const { return link_mask_; }
  // Whether any unmasked bit is set.
  bool summary() const { return (status_ & mask_) != 0; }

  void Clear(uint32_t bits) { status_ &= ~bits; }
  void ClearLink(uint32_t ports) { link_ &= ~ports; }
  void SetMask(uint32_t mask) { mask_ = mask; }
  void SetLinkMask(uint32_t mask) { link_mask_ = mask; }

 private:
  uint32_t status_ = 0;
  uint32_t mask_ = 0;
  uint32_t link_ = 0;
  uint32_t link_mask_ = ~0u;
};

// Valid bits of event.status and event.mask.
inline constexpr uint32_t kRegisterEventBits =
    (1u << static_cast<uint32_t>(RegisterEvent::kCount)) - 1;

}  // namespace suede

#endif  // SUEDE_REGISTERS_REGISTER_EVENTS_H_
