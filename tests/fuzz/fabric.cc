// SPDX-License-Identifier: Apache-2.0
// A switch whose configuration and frames are the input: whatever comes in, no frame is lost or
// given out twice, its sums agree, and good traffic beside it passes.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "fabric_fixture.h"
#include "input.h"

namespace suede::fabric {
namespace {

// Port 0 leads to the device itself, the others to cables, with levels and credit.
void MakeMesh(SwitchParams& params, uint8_t bits, uint32_t classes) {
  params.levels = (bits & 1) != 0 ? kLevelsOfClass : 0;
  params.mesh.centre_of[0] = 0;
  params.ports[0].centre = true;
  params.ports[0].hairpins = (bits & 2) != 0;
  params.ports[0].level = LevelRule::kFirst;
  params.ports[2].level = LevelRule::kNext;
  for (const uint16_t port : {uint16_t{1}, uint16_t{2}}) {
    params.mesh.port_of[port] = port;
    params.ports[port].cbfc = true;
  }
  for (uint32_t c = 0; c < kClasses; ++c) {
    params.of_class[c].credits = (classes >> c & 1) != 0 ? 8 : 0;
  }
  params.buffer_bytes += static_cast<uint32_t>(CreditBytes(params));
}

SwitchParams ParamsFrom(Input& input) {
  SwitchParams params = ParamsOf(3, static_cast<Forwarding>(input.Byte() % 6));
  const uint8_t bits = input.Byte();
  if (params.forwarding == Forwarding::kMesh) {
    MakeMesh(params, bits, input.Byte());
    params.of_class[input.Byte() % 8].max_wait = std::chrono::microseconds(20);
    return params;
  }
  params.learns = (bits & 1) != 0;
  params.floods = (bits & 2) != 0;
  params.classes.pcp_first = (bits & 4) != 0;
  params.trim = {.on = (bits & 8) != 0, .dscps = ~uint64_t{0}, .trimmed_dscp = 5};
  params.addresses = 16;
  params.groups = {{.ports = {0, 1}}, {.ports = {1, 2}, .by_addresses = true}};
  params.addresses_of_port = 8;
  params.buffer_bytes = 512 * 1024;
  params.of_class[input.Byte() % 8].lossless = true;
  for (ClassParams& of_class : params.of_class) of_class.headroom_bytes = 4096;
  params.of_class[input.Byte() % 8].max_wait = std::chrono::microseconds(20);
  for (PortParams& port : params.ports) {
    port.pfc.on = (bits & 16) != 0;
    port.rate_bps = (bits & 32) != 0 ? 1'000'000'000 : 0;
  }
  return params;
}

ImpairmentParams ImpairmentFrom(Input& input) {
  ImpairmentParams params{.delay = Duration(input.Byte() * 100),
                          .loss = uint32_t{input.Byte()} << 24,
                          .reorder = uint32_t{input.Byte()} << 24,
                          .duplicate = uint32_t{input.Byte()} << 24,
                          .flip = uint32_t{input.Byte()} << 24,
                          .max_bytes = 64u + input.Byte() * 16u};
  params.of_class[input.Byte() % 8] = {.delay = Duration(input.Byte() * 100),
                                       .loss = uint32_t{input.Byte()} << 24,
                                       .reorder = uint32_t{input.Byte()} << 24};
  const uint8_t fields = input.Byte();
  if ((fields & 1) != 0) params.rewrite.dscp = input.Byte() % 64;
  if ((fields & 2) != 0) params.rewrite.ecn = input.Byte() % 4;
  if ((fields & 4) != 0) params.rewrite.pcp = input.Byte() % 8;
  if ((fields & 8) != 0) params.rewrite.hop_limit = input.Byte();
  params.strip_tag = (fields & 16) != 0;
  return params;
}

// The device's centre, which has room now and then.
struct Centre : Bypass {
  bool Take(uint32_t /*port*/, Frame* frame) override {
    if (room == 0) return false;
    --room;
    fabric->Free(frame);
    return true;
  }
  Fabric* fabric = nullptr;
  uint32_t room = 0;
};

void SetRoutes(Fabric& fabric, Input& input) {
  mesh::RoutingTable table{.own = {.mesh = 0, .device = 1}};
  const uint8_t ports = input.Byte();
  for (uint32_t device = 2; device < 6; ++device) {
    table.to_devices.Set(device, mesh::PortId(1u + (ports >> device & 1)));
  }
  for (uint32_t mesh = 1; mesh < 4; ++mesh) {
    table.to_meshes.Set(mesh, mesh::PortId(1u + (ports >> mesh & 1)));
  }
  fabric.the_switch.SetRoutes(PlaneIndex(0u), table);
}

// The neighbour of a cable begins to count its frames, and grants credit.
void BeginCredit(CreditEnd& credit, Input& input, Time now) {
  if (!credit.is_on()) {
    CreditGrant grant{.rule = credit.receiver().grant().rule};
    grant.limits.fill(64);
    credit.sender().Start(grant, now);
    credit.receiver().Start();
  }
  CreditUpdate update{.serial = input.Byte(), .vcs = input.Word(), .starts = input.Word()};
  for (Credit20& each : update.counters) each = Credit20(input.Byte());
  (input.Byte() & 1) != 0 ? credit.sender().OnFreed(update)
                          : credit.receiver().OnConsumed(update, now);
}

// A step that only a device of a mesh knows.
void PlayInMesh(Fabric& fabric, Centre& centre, Input& input, Time now) {
  const uint8_t step = input.Byte();
  const uint32_t cable = 1 + (step & 1);
  switch (step >> 1 & 3) {
    case 0:
      fabric.the_switch.SetRefused(cable, (step & 8) != 0);
      break;
    case 1:
      BeginCredit(*fabric.the_switch.port(cable).credit(), input, now);
      break;
    case 2:
      centre.room = step >> 3;
      break;
    default:
      SetRoutes(fabric, input);
  }
}

// Address 1 is behind one group of ports, address 2 behind another one.
void AddGroups(Fabric& fabric) {
  const bool by_mac = IsByMac(fabric.the_switch.params().forwarding);
  for (uint16_t group = 0; group < 2; ++group) {
    const uint32_t number = 1u + group;
    const bool is_esun = fabric.the_switch.params().forwarding == Forwarding::kEsun;
    const uint64_t mac = is_esun ? uint64_t{kDefaultMacPrefix} << 16 | number : MacNumber(number);
    fabric.the_switch.table().AddStatic(
        by_mac ? ForwardingTable::MacKey(mac, 0) : ForwardingTable::ForwardingKey(number),
        static_cast<uint16_t>(kFirstGroup + group));
  }
}

void Play(Input input) {
  Fabric fabric(ParamsFrom(input));
  const bool in_mesh = fabric.the_switch.params().forwarding == Forwarding::kMesh;
  Centre centre;
  centre.fabric = &fabric;
  if (in_mesh) fabric.the_switch.port(0).SetBypass(&centre);
  if (!in_mesh) AddGroups(fabric);
  int64_t us = 0;
  while (!input.empty()) {
    const uint8_t step = input.Byte();
    const uint32_t port = step % 3;
    switch (step >> 5) {
      case 0:
        us += input.Byte();
        break;
      case 1:
        if (in_mesh && (step & 4) != 0) {
          PlayInMesh(fabric, centre, input, At(us));
        } else if ((step & 8) != 0) {
          fabric.the_switch.port(port).SetBlocked(input.Byte() % 3, (step & 16) != 0);
        } else {
          fabric.the_switch.SetDown(port, (step & 16) != 0);
        }
        break;
      case 2:
        ((step & 16) != 0 ? fabric.the_switch.port(port).in() : fabric.the_switch.port(port).out())
            .Set(ImpairmentFrom(input));
        break;
      case 3: {
        std::vector<uint8_t> frame =
            BytesOf({.encap = static_cast<Encap>(input.Byte() % kEncapCount),
                     .from = 1u + input.Byte() % 4,
                     .to = 1u + input.Byte() % 4,
                     .bytes = 2u * input.Byte(),
                     .traffic_class = {.dscp = static_cast<uint8_t>(input.Byte() & 63)}});
        for (uint32_t i = step >> 2 & 3; i != 0; --i)
          frame[input.Byte() % frame.size()] ^= input.Byte();
        fabric.In(port, frame, At(us));
        break;
      }
      case 4:
        fabric.In(port, input.Bytes(input.Byte()), At(us));
        break;
      default:
        fabric.Out(port, At(us), step >> 2 & 7);
    }
    fabric.the_switch.CheckInvariants();
  }
}

}  // namespace
}  // namespace suede::fabric

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  suede::fabric::Play({data, size});
  return 0;
}
