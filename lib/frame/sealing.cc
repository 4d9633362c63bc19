// SPDX-License-Identifier: Apache-2.0
#include "frame/sealing.h"

#include <cstring>

#include "wire/udp.h"

namespace suede {
namespace {

// Writes the RH of the sealed form at `sealed`.
void WriteSealedRh(const uint8_t* plain, uint8_t* sealed) {
  CopyRh(plain, sealed, SealedVersion(RhWord(plain).ver()));
}

// Makes room for the shim behind the RH.
void MoveBehindShim(const PlainPdu& plain, uint32_t shim_bytes) {
  uint8_t* const body = plain.start + kRhBytes;
  std::memmove(body + shim_bytes, body, plain.bytes - kRhBytes);
}

}  // namespace

// Completes the frame and its job. The shim is written, and the plain text follows it or is at
// `job.plain`.
void Sealing::Finish(CounterBlock& counters, PortContext& port, const HeaderTemplate& header,
                     SealJob& job, Frame* frame, uint8_t* sealed, uint32_t shim_bytes,
                     uint32_t plain_bytes) {
  job.text = sealed + kRhBytes + shim_bytes;
  job.text_bytes = plain_bytes - kRhBytes;
  const uint32_t bytes = plain_bytes + shim_bytes + static_cast<uint32_t>(kSealTagBytes);
  // The device or the batch computes a checksum over data that is not sealed yet.
  const bool is_udp6 = header.encap == Encap::kUdp6;
  const bool offload = port.tx_offload != TxOffload::kNone;
  frame->data = WriteHeader(header, sealed, bytes, offload || is_udp6);
  frame->length = header.length + bytes;
  frame->tx_offload = port.tx_offload;
  frame->l2_length = header.l2_length;
  frame->l3_length = header.l3_length;
  port.seals.Commit(is_udp6 && !offload ? sealed - kUdpBytes : nullptr);
  counters.Add(Counter::kTxSealed);
}

bool Sealing::SealKept(Instance& instance, const Run& run, Pdu* pdu, const PlainPdu& plain) {
  Link& home = instance.home().link;
  Frame* const frame = home.frames().New();
  uint8_t* const sealed = frame->buffer + Frame::kCommandOffset - kRhBytes;
  WriteSealedRh(plain.start, sealed);
  SealJob& job = NextJob(instance.sealing, run.port);
  if (!run.peer.Seal(sealed, run.path, run.stream, job)) [[unlikely]] {
    home.frames().Release(frame);
    instance.stats.counters.Add(Counter::kTxSealKey);
    return false;
  }
  job.plain = plain.start + kRhBytes;  // which stays until the batch is sealed, in this poll
                                       // iteration
  Finish(instance.stats.counters, run.port, run.header, job, frame, sealed, kSessionShimBytes,
         plain.bytes);
  home.frames().SetSealed(pdu, frame);
  return true;
}

bool Sealing::SealOneShot(Instance& instance, PortContext& port, const HeaderTemplate& header,
                          ConnectionIndex connection, Frame* frame, const PlainPdu& plain) {
  const Run run = RunOf(instance, port, header, connection);
  MoveBehindShim(plain, kSessionShimBytes);
  WriteSealedRh(plain.start, plain.start);
  SealJob& job = NextJob(instance.sealing, port);
  if (!run.peer.Seal(plain.start, run.path, run.stream, job)) {
    instance.stats.counters.Add(Counter::kTxSealKey);
    return false;
  }
  Finish(instance.stats.counters, port, header, job, frame, plain.start, kSessionShimBytes,
         plain.bytes);
  return true;
}

bool Sealing::SealHello(Instance& instance, PortContext& port, const HeaderTemplate& header,
                        PeerIndex peer, PlaneIndex plane, Frame* frame, const PlainPdu& plain) {
  const SealPath path = instance.SealPathOf(peer, plane, header.session);
  MoveBehindShim(plain, kHelloShimBytes);
  WriteSealedRh(plain.start, plain.start);
  SealJob& job = NextJob(instance.sealing, port);
  if (!instance.SealOf(peer).SealHello(plain.start, path, job)) {
    instance.stats.counters.Add(Counter::kTxSealKey);
    return false;
  }
  Finish(instance.stats.counters, port, header, job, frame, plain.start, kHelloShimBytes,
         plain.bytes);
  return true;
}

}  // namespace suede
