// SPDX-License-Identifier: Apache-2.0
// The headers of an instance's frames: for each session a header per VC, and one of PDUs without
// commands.
#ifndef SUEDE_LCORE_HEADER_TABLE_H_
#define SUEDE_LCORE_HEADER_TABLE_H_

#include <cstdint>
#include <vector>

#include "base/coordinates.h"
#include "lcore/params.h"
#include "lcore/peer_arrays.h"
#include "lcore/port_context.h"
#include "path/connection_map.h"
#include "wire/encap.h"

namespace suede {

class HeaderTable {
 public:
  static constexpr uint32_t kAckClass = kVcCount;  // of PDUs without commands

  // The arguments are the instance's, and outlive this object.
  HeaderTable(const InstanceParams& params, const PlanePorts& ports, const ConnectionMap& map)
      : params_(params),
        ports_(ports),
        map_(map),
        headers_(params.peers.size() * map.plane_count() * map.session_count() * kClasses) {}

  // The header of a connection's session.
  const HeaderTemplate& At(ConnectionIndex connection, uint32_t traffic_class) const {
    return headers_[map_.SessionAt(connection) * kClasses + traffic_class];
  }
  // The header of a PDU without commands, with a session number of its own.
  HeaderTemplate With(PeerIndex peer, PlaneIndex plane, uint16_t session) const {
    HeaderTemplate header = At(map_.At(peer, plane, 0, 0), kAckClass);
    SetSession(header, session);
    return header;
  }
  // Bytes of the header, the RH and the R-CRC of a PDU on the plane.
  uint32_t BytesAround(PlaneIndex plane) const {
    // Headers have the same length for every peer and class.
    return At(map_.At(0, plane, 0), 0).length + kRhBytes + kRcrcBytes;
  }
  // Returns the parameters of the header of a peer's first session.
  HeaderSpec SpecOf(PeerIndex peer, PlaneIndex plane, uint32_t traffic_class) const;
  // Returns the header with these parameters.
  HeaderTemplate Make(PlaneIndex plane, const HeaderSpec& spec) const;
  // Writes the headers of a peer from its parameters, the classes and the sessions' numbers.
  void Write(PeerIndex peer, const PeerArrays& peers);
  // The session of the slot has another number: writes it into the session's headers.
  void Renumber(PeerIndex peer, PlaneIndex plane, SessionIndex slot, const PeerArrays& peers);

 private:
  static constexpr uint32_t kClasses = kVcCount + 1;

  const InstanceParams& params_;
  const PlanePorts& ports_;
  const ConnectionMap map_;
  std::vector<HeaderTemplate> headers_;  // [SessionAt * kClasses + class]
};

}  // namespace suede

#endif  // SUEDE_LCORE_HEADER_TABLE_H_
