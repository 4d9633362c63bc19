// SPDX-License-Identifier: Apache-2.0
#include "lcore/header_table.h"

#include "wire/frame_class.h"

namespace suede {

void HeaderTable::Write(PeerIndex peer, const PeerArrays& peers) {
  for (PlaneIndex plane = 0; plane < map_.plane_count(); ++plane) {
    const PathIndex path = map_.PathAt(peer, plane);
    for (uint32_t c = 0; c < kClasses; ++c) {
      const HeaderTemplate header = Make(plane, SpecOf(peer, plane, c));
      for (SessionIndex slot = 0; slot < map_.session_count(); ++slot) {
        headers_[map_.SessionAt(path, slot) * kClasses + c] = header;
      }
    }
    for (SessionIndex slot = 0; map_.has_groups() && slot < map_.session_count(); ++slot) {
      Renumber(peer, plane, slot, peers);
    }
  }
}

void HeaderTable::Renumber(PeerIndex peer, PlaneIndex plane, SessionIndex slot,
                           const PeerArrays& peers) {
  const uint32_t at = map_.SessionAt(map_.PathAt(peer, plane), slot);
  for (uint32_t c = 0; c < kClasses; ++c) {
    SetSession(headers_[at * kClasses + c], peers.slots[at].number);
  }
}

HeaderSpec HeaderTable::SpecOf(PeerIndex peer, PlaneIndex plane, uint32_t traffic_class) const {
  const PeerPlane& p = params_.peers[peer].planes[plane];
  const PortParams& port = ports_[plane]->params;
  return {.source_mac = port.mac,
          .destination_mac = p.mac,
          .tagged = port.tagged,
          .vid = port.vid,
          .source = params_.planes[plane].address,
          .destination = p.address,
          .udp_port = port.rules.udp_port,
          // The number of an only session is configured.
          .session = port.session,
          .mac_prefix = port.rules.mac_prefix,
          .ether_type = port.rules.ether_type,
          .hop_limit = port.hop_limit,
          .traffic_class =
              traffic_class == kAckClass ? params_.ack_class : params_.classes[traffic_class]};
}

HeaderTemplate HeaderTable::Make(PlaneIndex plane, const HeaderSpec& spec) const {
  const PortContext& port = *ports_[plane];
  HeaderTemplate header = MakeTemplate(port.params.rules.encap, spec);
  if (port.params.link.credit.cbfc) {
    header.link_class = LinkClassOf(port.params.link.class_rule, header);
  }
  return header;
}

}  // namespace suede
