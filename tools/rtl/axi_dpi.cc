// SPDX-License-Identifier: Apache-2.0
// The functions that suede_axi_subordinate.sv, suede_axi_manager.sv and test benches import through
// DPI-C.
#include <svdpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "axi/address_map.h"
#include "axi_side.h"
#include "client_axi.h"
#include "loop_axi.h"

namespace {

using namespace suede::rtl;

// The modules of one NAME. The port is made at the first edge, when both modules are known.
struct Pair {
  AxiParams params;
  std::unique_ptr<AxiPort> port;
  std::unique_ptr<AxiSubordinateSide> subordinate;
  std::unique_ptr<AxiManagerSide> manager;
};
std::vector<std::unique_ptr<Pair>> pairs;

[[noreturn]] void Fail(const std::string& name, const char* text) {
  std::fprintf(stderr, "%s: %s\n", name.c_str(), text);
  std::exit(1);
}

std::vector<suede_axi_route> RoutesOf(const std::string& name, const char* text) {
  const auto routes = suede::axi::AddressMap::Parse(text);
  if (!routes)
    Fail(name, "cannot read the routes: no such form or XPU; use FIRST-LAST:XPU[:REMOTE-BASE],...");
  if (const char* mistake = suede::axi::AddressMap::FindInvalid(*routes, 1)) Fail(name, mistake);
  return *routes;
}

Pair& PairOf(int handle) {
  Pair& pair = *pairs[static_cast<size_t>(handle)];
  if (pair.port) return pair;
  if (pair.params.endpoint.empty() || pair.params.endpoint == "loop") {
    pair.port = std::make_unique<LoopAxiPort>(pair.params);
  } else {
    pair.port = std::make_unique<ClientAxiPort>(pair.params);
  }
  pair.subordinate = std::make_unique<AxiSubordinateSide>(pair.port.get());
  pair.manager = std::make_unique<AxiManagerSide>(pair.params.name, pair.port.get());
  return pair;
}

// Layout of an address: AxADDR, AxUSER, AxID, then from bit 0: AxLEN, AxSIZE, AxBURST, AxLOCK,
// AxCACHE, AxPROT, AxQOS, AxREGION.
constexpr int kWords = 8;

suede_axi_address AddressOf(const svBitVecVal* from) {
  suede_axi_address address{};
  std::memcpy(&address.address, from, 8);
  std::memcpy(address.user, from + 2, 16);
  address.id = from[6];
  const uint32_t fields = from[7];
  address.len = fields & 0xff;
  address.size = fields >> 8 & 7;
  address.burst = fields >> 11 & 3;
  address.lock = fields >> 13 & 1;
  address.cache = fields >> 14 & 15;
  address.prot = fields >> 18 & 7;
  address.qos = fields >> 21 & 15;
  address.region = fields >> 25 & 15;
  return address;
}

void PutAddress(const suede_axi_address& address, svBitVecVal* to) {
  std::memcpy(to, &address.address, 8);
  std::memcpy(to + 2, address.user, 16);
  to[6] = address.id;
  to[kWords - 1] = uint32_t{address.len} | uint32_t{address.size} << 8 |
                   uint32_t{address.burst} << 11 | uint32_t{address.lock} << 13 |
                   uint32_t{address.cache} << 14 | uint32_t{address.prot} << 18 |
                   uint32_t{address.qos} << 21 | uint32_t{address.region} << 25;
}

}  // namespace

extern "C" {

// `own`: instance << 10 | xpuid, or -1. Both modules of a NAME get the same handle. The subordinate
// port alone gives routes and deadline (0: the default).
int suede_rtl_axi_open(const char* name, const char* endpoint, int own, const char* routes,
                       int bus_bytes, int write_user_bytes, int read_user_bytes, int deadline_ms) {
  size_t at = 0;
  while (at < pairs.size() && pairs[at]->params.name != name) ++at;
  if (at == pairs.size()) {
    auto pair = std::make_unique<Pair>();
    pair->params.name = name;
    pair->params.endpoint = endpoint;
    pair->params.is_first = own < 0;
    pair->params.own.xpuid = own < 0 ? uint16_t{0} : static_cast<uint16_t>(own & 0x3ff);
    pair->params.own.instance = own < 0 ? uint8_t{0} : static_cast<uint8_t>(own >> 10);
    pair->params.bus_bytes = static_cast<uint32_t>(bus_bytes);
    pairs.push_back(std::move(pair));
  }
  AxiParams& params = pairs[at]->params;
  if (params.bus_bytes != static_cast<uint32_t>(bus_bytes)) {
    Fail(name, "suede_axi_subordinate and suede_axi_manager have different DATA_WIDTH");
  }
  params.write_user_bytes += static_cast<uint32_t>(write_user_bytes);
  params.read_user_bytes += static_cast<uint32_t>(read_user_bytes);
  params.deadline_ms += static_cast<uint32_t>(deadline_ms);
  if (*routes != 0) params.routes = RoutesOf(name, routes);
  return static_cast<int>(at);
}

// `inputs`: bit 5 reset, 4 AWVALID, 3 WVALID, 2 ARVALID, 1 BREADY, 0 RREADY. Returns bit 4 AWREADY,
// 3 WREADY, 2 ARREADY, 1 BVALID, 0 RVALID.
int suede_rtl_axi_subordinate_edge(int handle, int inputs, const svBitVecVal* aw,
                                   const svBitVecVal* w, const svBitVecVal* ar, svBitVecVal* b,
                                   svBitVecVal* r) {
  AxiRequests in;
  in.aw_valid = (inputs >> 4 & 1) != 0;
  in.w_valid = (inputs >> 3 & 1) != 0;
  in.ar_valid = (inputs >> 2 & 1) != 0;
  in.b_ready = (inputs >> 1 & 1) != 0;
  in.r_ready = (inputs & 1) != 0;
  if (in.aw_valid) in.aw = AddressOf(aw);
  if (in.ar_valid) in.ar = AddressOf(ar);
  if (in.w_valid) {
    std::memcpy(in.w.data, w, 128);
    std::memcpy(in.w.strobes, w + 32, 16);
    in.w.user = w[36];
    in.w.last = w[37] & 1;
  }
  AxiSubordinateSide& side = *PairOf(handle).subordinate;
  side.Edge((inputs >> 5 & 1) != 0, in);
  const suede_axi_write_response& response = side.b().transfer();
  std::memcpy(b, response.user, 16);
  b[4] = response.id;
  b[5] = response.response;
  const suede_axi_read_beat& beat = side.r().transfer();
  std::memcpy(r, beat.data, 128);
  r[32] = beat.id;
  r[33] = beat.user;
  r[34] = uint32_t{beat.last} << 2 | beat.response;
  return side.aw().ready() << 4 | side.w().ready() << 3 | side.ar().ready() << 2 |
         side.b().valid() << 1 | side.r().valid();
}

// `inputs`: bit 5 reset, 4 AWREADY, 3 WREADY, 2 ARREADY, 1 BVALID, 0 RVALID. Returns bit 4 AWVALID,
// 3 WVALID, 2 ARVALID, 1 BREADY, 0 RREADY.
int suede_rtl_axi_manager_edge(int handle, int inputs, const svBitVecVal* b, const svBitVecVal* r,
                               svBitVecVal* aw, svBitVecVal* w, svBitVecVal* ar) {
  AxiAnswers in;
  in.aw_ready = (inputs >> 4 & 1) != 0;
  in.w_ready = (inputs >> 3 & 1) != 0;
  in.ar_ready = (inputs >> 2 & 1) != 0;
  in.b_valid = (inputs >> 1 & 1) != 0;
  in.r_valid = (inputs & 1) != 0;
  if (in.b_valid) {
    std::memcpy(in.b.user, b, 16);
    in.b.id = b[4];
    in.b.response = b[5] & 3;
  }
  if (in.r_valid) {
    std::memcpy(in.r.data, r, 128);
    in.r.id = r[32];
    in.r.user = r[33];
    in.r.last = r[34] >> 2 & 1;
    in.r.response = r[34] & 3;
  }
  AxiManagerSide& side = *PairOf(handle).manager;
  side.Edge((inputs >> 5 & 1) != 0, in);
  PutAddress(side.aw().transfer(), aw);
  PutAddress(side.ar().transfer(), ar);
  const suede_axi_write_beat& beat = side.w().transfer();
  std::memcpy(w, beat.data, 128);
  std::memcpy(w + 32, beat.strobes, 16);
  w[36] = beat.user;
  w[37] = beat.last;
  return side.aw().valid() << 4 | side.w().valid() << 3 | side.ar().valid() << 2 |
         side.b().ready() << 1 | side.r().ready();
}

// Sets the network in the simulation up, before the first edge.
void suede_rtl_axi_loop_start(int seed, int faults) {
  LoopAxiNetwork::Get().Start(static_cast<uint32_t>(seed), static_cast<uint32_t>(faults));
}

}  // extern "C"
