// SPDX-License-Identifier: Apache-2.0
// The functions that suede_tx.sv, suede_rx.sv and test benches import through DPI-C.
#include <svdpi.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "client_link.h"
#include "loop_link.h"
#include "rx_side.h"
#include "tx_side.h"

namespace {

using namespace suede::rtl;

std::vector<std::unique_ptr<TxSide>> tx_sides;
std::vector<std::unique_ptr<RxSide>> rx_sides;

bool IsLoop(const std::string& endpoint) { return endpoint.empty() || endpoint == "loop"; }

// `own`: instance << 10 | xpuid, or -1.
ClientAddress AddressOf(std::string label, const char* endpoint, int own) {
  ClientAddress address{
      .label = std::move(label), .endpoint = endpoint, .is_first = own < 0, .own = {}};
  if (own < 0) return address;
  address.own.xpuid = static_cast<uint16_t>(own & 0x3ff);
  address.own.instance = static_cast<uint8_t>(own >> 10);
  return address;
}

uint16_t LoopXpu(int own) { return own < 0 ? uint16_t{0} : static_cast<uint16_t>(own & 0x3ff); }

// The fields of `head`: valid 17:16, cycle 15:12, vc 11:10, xpuid 9:0.
uint32_t HeadOf(const Beat& beat) {
  return static_cast<uint32_t>(beat.valid << 16 | beat.cycle << 12 | beat.vc << 10 | beat.xpuid);
}

}  // namespace

extern "C" {

// Returns a handle.
int suede_rtl_tx_open(const char* name, const char* endpoint, int own, int beat_bytes) {
  std::unique_ptr<TxLink> link;
  if (IsLoop(endpoint)) {
    link = std::make_unique<LoopTxLink>(LoopXpu(own));
  } else {
    link =
        std::make_unique<ClientTxLink>(AddressOf(std::string("suede_tx ") + name, endpoint, own));
  }
  tx_sides.push_back(
      std::make_unique<TxSide>(name, static_cast<uint32_t>(beat_bytes), std::move(link)));
  return static_cast<int>(tx_sides.size()) - 1;
}

// `head`: bit 19 tx_reset_in, 18 tx_err, then as above. Returns bit 6 tx_reset_out, 5 to 0
// tx_credit.
int suede_rtl_tx_edge(int handle, int head, const svBitVecVal* control, const svBitVecVal* data) {
  TxSide::In in;
  in.reset_in = (head >> 19 & 1) != 0;
  in.err = (head >> 18 & 1) != 0;
  in.beat.valid = head >> 16 & 3;
  if (in.beat.valid != 0) {
    in.beat.cycle = head >> 12 & 0xf;
    in.beat.vc = head >> 10 & 3;
    in.beat.xpuid = head & 0x3ff;
    std::memcpy(in.beat.control.data(), control, in.beat.control.size());
    std::memcpy(in.beat.data.data(), data, in.beat.data.size());
  }
  const TxSide::Out out = tx_sides[static_cast<size_t>(handle)]->Edge(in);
  return out.reset_out << 6 | out.credit;
}

// Returns the number of one more command that may be lost, or -1 (docs/rtl.md).
int suede_rtl_lost(int handle) {
  return static_cast<int>(tx_sides[static_cast<size_t>(handle)]->TakeLost());
}

// Returns the number of commands that the endpoint has taken and neither acknowledged nor given up.
int suede_rtl_pending(int handle) {
  return static_cast<int>(tx_sides[static_cast<size_t>(handle)]->pending());
}

// Returns a handle.
int suede_rtl_rx_open(const char* name, const char* endpoint, int own, int beat_bytes) {
  std::unique_ptr<RxLink> link;
  if (IsLoop(endpoint)) {
    link = std::make_unique<LoopRxLink>(LoopXpu(own));
  } else {
    link =
        std::make_unique<ClientRxLink>(AddressOf(std::string("suede_rx ") + name, endpoint, own));
  }
  rx_sides.push_back(std::make_unique<RxSide>(static_cast<uint32_t>(beat_bytes), std::move(link)));
  return static_cast<int>(rx_sides.size()) - 1;
}

// `inputs`: bit 6 rx_reset_in, 5 to 0 rx_credit. Returns bit 18 rx_reset_out, then as above.
int suede_rtl_rx_edge(int handle, int inputs, svBitVecVal* control, svBitVecVal* data) {
  const RxSide::Out out = rx_sides[static_cast<size_t>(handle)]->Edge(
      {.credit = static_cast<uint8_t>(inputs & 0x3f), .reset_in = (inputs >> 6 & 1) != 0});
  control[4] = 0;
  std::memcpy(control, out.beat.control.data(), out.beat.control.size());
  std::memcpy(data, out.beat.data.data(), out.beat.data.size());
  return static_cast<int>(static_cast<uint32_t>(out.reset_out) << 18 | HeadOf(out.beat));
}

// Sets the network in the simulation up, before the first edge.
void suede_rtl_loop_start(int seed, int faults, int violation) {
  LoopNetwork::Get().Start(static_cast<uint32_t>(seed),
                           {.faults = static_cast<uint32_t>(faults),
                            .violation = static_cast<LoopParams::Violation>(violation)});
}

}  // extern "C"
