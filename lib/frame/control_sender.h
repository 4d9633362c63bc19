// SPDX-License-Identifier: Apache-2.0
// Sends PDUs of the transport itself, in one-shot frames in front of data: control PDUs
// (docs/control-pdus.md) and unsequenced PDUs. Owned by the lcore.
#ifndef SUEDE_FRAME_CONTROL_SENDER_H_
#define SUEDE_FRAME_CONTROL_SENDER_H_

#include <cstdint>
#include <utility>

#include "base/coordinates.h"
#include "frame/frame_writer.h"
#include "lcore/instance.h"
#include "lcore/port_context.h"
#include "transport/connection.h"
#include "wire/control_pdu.h"

namespace suede {

class ControlSender {
 public:
  // Fills in the identities of the handshake and, in a HELLO, the credit limits. Returns false if
  // there is no room to stage the PDU: it counts as lost in transit. (Takes no copy: each message
  // is as large as the largest, and a copy would be a large part of the cost of frequent messages.)
  static bool SendControl(Instance& instance, PeerIndex peer, PlaneIndex plane,
                          const HeaderTemplate& header, ControlMessage&& message);
  // Sends with the header of a session.
  static bool SendControl(Instance& instance, PeerIndex peer, PlaneIndex plane, SessionIndex slot,
                          ControlMessage&& message) {
    return SendControl(
        instance, peer, plane,
        instance.headers.At(instance.map.At(peer, plane, slot, 0), Instance::kAckClass),
        std::move(message));
  }
  // Sends a message that concerns no session. If there are several sessions, it takes a random
  // path, so that its repetitions take different paths.
  static bool SendControl(Instance& instance, PeerIndex peer, PlaneIndex plane,
                          ControlMessage&& message) {
    if (!instance.map.has_groups())
      return SendControl(instance, peer, plane, 0u, std::move(message));
    return SendControl(
        instance, peer, plane,
        instance.headers.With(peer, plane, instance.peers.own.DrawSessionNumber(plane)),
        std::move(message));
  }
  // Sends a probe of the path or a report, with a header of the message's class, in a frame of at
  // least `frame_bytes` bytes, if it fits the port. Fills in the identities, and `sent` of a
  // report. Returns false if it is not staged.
  static bool SendPath(Instance& instance, PeerIndex peer, PlaneIndex plane,
                       const HeaderTemplate& header, Path&& message, uint32_t frame_bytes);
  // Sends the acknowledgement `field` of a connection in a PDU without commands. The link must have
  // front room and a frame, and the MAC address of the peer must be known.
  static void SendAck(Instance& instance, ConnectionIndex connection, const RpsnField& field,
                      Psn psn);
  // Sends an unsequenced data PDU of a connection. Returns false if the PDU is not staged.
  static bool SendUnsequenced(Instance& instance, ConnectionIndex connection, RpsnField field,
                              Psn psn, uint32_t traffic_class);
  // Returns the plane for a control PDU that may take any: if possible, a plane with room in front;
  // PeerPaths::kNoPlane: no plane leads to the peer.
  static PlaneIndex PlaneWithRoom(const PeerArrays& peers, const PlanePorts& ports, PeerIndex peer);

 private:
  static bool StageControl(Instance& instance, PeerIndex peer, PlaneIndex plane,
                           const HeaderTemplate& header, Frame* frame, uint32_t bytes,
                           const ControlMessage& message);
  static bool SealControl(Instance& instance, PeerIndex peer, PlaneIndex plane,
                          const HeaderTemplate& header, Frame* frame, const PlainPdu& pdu,
                          const ControlMessage& message);
  static bool StageUnsequenced(Instance& instance, PortContext& port, const HeaderTemplate& header,
                               ConnectionIndex number, Vc vc, Frame* frame, const PlainPdu& pdu);
};

}  // namespace suede

#endif  // SUEDE_FRAME_CONTROL_SENDER_H_
