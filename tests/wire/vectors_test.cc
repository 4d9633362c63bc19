// SPDX-License-Identifier: Apache-2.0
// The frames of the wire profile's independent encoder, byte for byte in both directions.
#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <map>
#include <string>
#include <vector>

#include "base/big_endian.h"
#include "packed.h"
#include "wire/command.h"
#include "wire/forwarding.h"
#include "wire/frame_builder.h"

namespace suede {
namespace {

using Json = nlohmann::json;

Bytes FromHex(const std::string& hex) {
  Bytes bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

MacAddress ReadMac(const std::string& text) {
  MacAddress mac{};
  for (size_t i = 0; i < 6; ++i) {
    mac[i] = static_cast<uint8_t>(std::stoul(text.substr(i * 3, 2), nullptr, 16));
  }
  return mac;
}

Encap EncapOf(const Json& v) { return *ParseEncap(v["encap"].get<std::string>()); }

NetAddress ReadAddress(const Json& v, const char* ip_key, const char* forwarding_key) {
  uint8_t bytes[16];
  switch (TraitsOf(EncapOf(v)).addresses) {
    case AddressKind::kIpv4:
      EXPECT_EQ(inet_pton(AF_INET, v[ip_key].get<std::string>().c_str(), bytes), 1);
      return {.low = LoadBe32(bytes)};
    case AddressKind::kIpv6:
      EXPECT_EQ(inet_pton(AF_INET6, v[ip_key].get<std::string>().c_str(), bytes), 1);
      return {.high = LoadBe64(bytes), .low = LoadBe64(bytes + 8)};
    case AddressKind::kForwarding: break;
  }
  return {.low = v[forwarding_key]};
}

std::vector<Json> ReadVectors() {
  std::ifstream file(SUEDE_WIRE_VECTORS);
  return Json::parse(file).get<std::vector<Json>>();
}

HeaderSpec ReadSpec(const Json& v) {
  HeaderSpec spec{
      .tagged = v.contains("vid"),
      .vid = v.value("vid", uint16_t{0}),
      .source = ReadAddress(v, "sip", "src_fwd"),
      .destination = ReadAddress(v, "dip", "dst_fwd"),
      .udp_port = v.value("dport", kDefaultUdpPort),
      .session = v["session"],
      .ether_type = v.value("ether_type", uint16_t{0}),
      .traffic_class = {.pcp = v.value("pcp", uint8_t{0}), .dscp = v["dscp"], .ecn = v["ecn"]}};
  if (v.contains("smac")) spec.source_mac = ReadMac(v["smac"]);
  if (v.contains("dmac")) spec.destination_mac = ReadMac(v["dmac"]);
  return spec;
}

ReliabilityHeader ReadRh(const Json& v) {
  return {.ver = v["ver"],
          .op = static_cast<RhOp>(v["op"].get<int>()),
          .xpuid = v["xpuid"],
          .psn = Psn(v["psn"]),
          .vc = v["vc"],
          .partition = v["partition"],
          .rpsn = Psn(v["rpsn"])};
}

std::vector<TestCommand> ReadCommands(const Json& v) {
  std::vector<TestCommand> commands;
  for (const Json& command : v["commands"]) {
    commands.push_back({FromHex(command["control"]), FromHex(command.value("data", ""))});
  }
  return commands;
}

TEST(Vectors, ThereAreSomeOfEach) {
  std::map<Encap, int> count;
  for (const Json& v : ReadVectors()) ++count[EncapOf(v)];
  EXPECT_EQ(count.size(), kEncapNames.size());
  for (const auto& [encap, n] : count) EXPECT_EQ(n, 4) << EncapName(encap);
}

TEST(Vectors, Encode) {
  for (const Json& v : ReadVectors()) {
    Bytes packed;
    for (const TestCommand& command : ReadCommands(v)) AppendPacked(command, packed);
    Bytes buffer(FrameBufferBytes(static_cast<uint32_t>(packed.size())));
    const HeaderTemplate header = MakeTemplate(EncapOf(v), ReadSpec(v));
    const auto frame = BuildFrame(header, ReadRh(v), packed, buffer);
    EXPECT_EQ(Bytes(frame.begin(), frame.end()), FromHex(v["frame"])) << v["encap"];
  }
}

TEST(Vectors, ForwardingAddresses) {
  for (const Json& v : ReadVectors()) {
    EXPECT_EQ(DefaultForwardingAddress(v["instance"], v["xpuid"]), v["src_fwd"]);
    EXPECT_EQ(DefaultForwardingAddress(v["instance"], v["dst_xpuid"]), v["dst_fwd"]);
  }
}

TEST(Vectors, Decode) {
  for (const Json& v : ReadVectors()) {
    SCOPED_TRACE(v["encap"].get<std::string>());
    const Encap encap = EncapOf(v);
    const HeaderSpec spec = ReadSpec(v);
    Bytes frame = FromHex(v["frame"]);
    const ParsedFrame parsed =
        ParseFrame({.encap = encap, .udp_port = spec.udp_port, .ether_type = spec.ether_type},
                   frame.data(), static_cast<uint32_t>(frame.size()), false);
    ASSERT_EQ(parsed.error, FrameError::kNone);
    EXPECT_EQ(parsed.source, spec.source);
    EXPECT_EQ(parsed.destination, spec.destination);
    EXPECT_EQ(parsed.session, SessionCount(encap) > 1 ? spec.session : 0);
    const bool has_class = TraitsOf(encap).class_bits != 0;
    EXPECT_EQ(parsed.dscp, has_class ? spec.traffic_class.dscp : 0);
    EXPECT_EQ(parsed.ecn, has_class ? spec.traffic_class.ecn : 0);
    EXPECT_TRUE(RcrcGood(parsed.pdu, parsed.pdu_bytes));
    const ReliabilityHeader rh = DecodeRh(parsed.pdu);
    const ReliabilityHeader sent = ReadRh(v);
    EXPECT_EQ(rh.ver, sent.ver);
    EXPECT_EQ(rh.op, sent.op);
    EXPECT_EQ(rh.xpuid, sent.xpuid);
    EXPECT_EQ(rh.psn, sent.psn);
    EXPECT_EQ(rh.vc, sent.vc);
    EXPECT_EQ(rh.partition, sent.partition);
    EXPECT_EQ(rh.rpsn, sent.rpsn);
    std::vector<TestCommand> read;
    CommandReader reader(parsed.pdu + kRhBytes, parsed.pdu_bytes - kRhBytes - kRcrcBytes);
    while (reader.Next()) {
      const uint8_t* data = reader.command() + reader.shape().control_bytes;
      read.push_back(
          {Bytes(reader.command(), data), Bytes(data, data + reader.shape().data_bytes)});
    }
    EXPECT_EQ(reader.error(), CommandError::kNone);
    EXPECT_EQ(read, ReadCommands(v));
  }
}

}  // namespace
}  // namespace suede
