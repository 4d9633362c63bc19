// SPDX-License-Identifier: Apache-2.0
#include "perf/protocol.h"

#include <bit>

namespace suede::perf {
namespace {

EncodedMessage Head(Code code, const Message& message, uint32_t data_bytes) {
  EncodedMessage encoded;
  SetShape(encoded.control, Opcode::kProtocol, kMessageControlBytes, data_bytes);
  encoded.control[2] = static_cast<uint8_t>(code);
  encoded.control[3] = message.flow;
  StoreBe32(encoded.control + 4, message.run);
  return encoded;
}

void StoreCounts(uint8_t* data, const StreamCounts& counts) {
  for (const auto& [field, name] : kCountFields) {
    StoreBe64(data, counts.*field);
    data += 8;
  }
}

}  // namespace

void Account::Add(const Account& other) {
  counts.Add(other.counts);
  flows += other.flows;
  sum_x += other.sum_x;
  sum_x2 += other.sum_x2;
}

double Account::Fairness() const {
  return flows == 0 || sum_x2 <= 0 ? 0 : sum_x * sum_x / (flows * sum_x2);
}

void StreamCounts::Add(const StreamCounts& other) {
  for (const auto& [field, name] : kCountFields) this->*field += other.*field;
}

EncodedMessage EncodeStart(const Message& message, const ReverseLoad& load) {
  EncodedMessage encoded = Head(Code::kStart, message, kStartDataBytes);
  encoded.data[0] = static_cast<uint8_t>((load.wanted ? 1 : 0) | (load.check ? 2 : 0));
  encoded.data[1] = static_cast<uint8_t>(load.control_bytes);
  StoreBe16(encoded.data + 2, load.data_bytes);
  StoreBe16(encoded.data + 4, load.pack_every);
  StoreBe32(encoded.data + 8, load.rate);
  return encoded;
}

EncodedMessage EncodeReady(const Message& message, const ServerTraits& traits) {
  EncodedMessage encoded = Head(Code::kReady, message, kReadyDataBytes);
  encoded.data[0] = traits.echoes ? 1 : 0;
  return encoded;
}

EncodedMessage EncodeReportRequest(const Message& message) {
  return Head(Code::kReportRequest, message, 0);
}

EncodedMessage EncodeReport(const Message& message, const StreamCounts& counts) {
  EncodedMessage encoded = Head(Code::kReport, message, kReportDataBytes);
  StoreCounts(encoded.data, counts);
  return encoded;
}

EncodedMessage EncodeArrive(uint32_t run, const Arrival& arrival) {
  EncodedMessage encoded = Head(Code::kArrive, {.run = run}, kArriveDataBytes);
  StoreBe32(encoded.data, arrival.barrier);
  return encoded;
}

EncodedMessage EncodeGo(uint32_t run, const Release& release) {
  EncodedMessage encoded = Head(Code::kGo, {.run = run}, kGoDataBytes);
  StoreBe32(encoded.data, release.barrier);
  encoded.data[4] = static_cast<uint8_t>(release.next);
  encoded.data[5] = release.tag;
  return encoded;
}

EncodedMessage EncodeAccount(uint32_t run, const Account& account) {
  EncodedMessage encoded = Head(Code::kAccount, {.run = run}, kAccountDataBytes);
  StoreCounts(encoded.data, account.counts);
  StoreBe32(encoded.data + 56, account.flows);
  StoreBe64(encoded.data + 64, std::bit_cast<uint64_t>(account.sum_x));
  StoreBe64(encoded.data + 72, std::bit_cast<uint64_t>(account.sum_x2));
  return encoded;
}

std::optional<Message> DecodeMessage(const uint8_t* control, uint32_t control_bytes) {
  if (control_bytes != kMessageControlBytes || OpcodeOf(control) != Opcode::kProtocol) return {};
  if (control[2] < 1 || control[2] > 7 || control[3] >= kMaxFlows) return {};
  return Message{.code = static_cast<Code>(control[2]),
                 .flow = control[3],
                 .run = LoadBe32(control + 4)};
}

std::optional<ReverseLoad> DecodeReverseLoad(const uint8_t* data, uint32_t bytes) {
  if (bytes != kStartDataBytes) return {};
  const ReverseLoad load{.wanted = (data[0] & 1) != 0,
                         .check = (data[0] & 2) != 0,
                         .control_bytes = data[1],
                         .data_bytes = LoadBe16(data + 2),
                         .pack_every = LoadBe16(data + 4),
                         .rate = LoadBe32(data + 8)};
  const bool control_ok = load.control_bytes >= 2 && load.control_bytes <= kMaxControlBytes &&
                          load.control_bytes % 2 == 0;
  if (!control_ok || load.data_bytes > kMaxDataBytes) return {};
  return load;
}

std::optional<ServerTraits> DecodeServerTraits(const uint8_t* data, uint32_t bytes) {
  if (bytes != kReadyDataBytes) return {};
  return ServerTraits{.echoes = data[0] != 0};
}

std::optional<StreamCounts> DecodeStreamCounts(const uint8_t* data, uint32_t bytes) {
  if (bytes != kReportDataBytes) return {};
  StreamCounts counts;
  for (const auto& [field, name] : kCountFields) {
    counts.*field = LoadBe64(data);
    data += 8;
  }
  return counts;
}

std::optional<Arrival> DecodeArrival(const uint8_t* data, uint32_t bytes) {
  if (bytes != kArriveDataBytes) return {};
  return Arrival{.barrier = LoadBe32(data)};
}

std::optional<Release> DecodeRelease(const uint8_t* data, uint32_t bytes) {
  if (bytes != kGoDataBytes || data[4] > static_cast<uint8_t>(Next::kLeave)) return {};
  return Release{.barrier = LoadBe32(data), .next = static_cast<Next>(data[4]), .tag = data[5]};
}

std::optional<Account> DecodeAccount(const uint8_t* data, uint32_t bytes) {
  if (bytes != kAccountDataBytes) return {};
  return Account{.counts = *DecodeStreamCounts(data, kReportDataBytes),
                 .flows = LoadBe32(data + 56),
                 .sum_x = std::bit_cast<double>(LoadBe64(data + 64)),
                 .sum_x2 = std::bit_cast<double>(LoadBe64(data + 72))};
}

}  // namespace suede::perf
