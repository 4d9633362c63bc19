// The frames of the wire profile's independent encoder, byte for byte in both directions.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "packed.h"
#include "wire/command.h"
#include "wire/frame_builder.h"

namespace suede {
namespace {

using Json = nlohmann::json;

Octets FromHex(const std::string& hex) {
  Octets octets;
  for (size_t i = 0; i < hex.size(); i += 2) {
    octets.push_back(static_cast<uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  }
  return octets;
}

MacAddress ReadMac(const std::string& text) {
  MacAddress mac{};
  for (size_t i = 0; i < 6; ++i) {
    mac[i] = static_cast<uint8_t>(std::stoul(text.substr(i * 3, 2), nullptr, 16));
  }
  return mac;
}

Ipv4Address ReadIp(const std::string& text) {
  unsigned a, b, c, d;
  EXPECT_EQ(std::sscanf(text.c_str(), "%u.%u.%u.%u", &a, &b, &c, &d), 4);
  return a << 24 | b << 16 | c << 8 | d;
}

std::vector<Json> Udp4Vectors() {
  std::ifstream file(SUEDE_WIRE_VECTORS);
  std::vector<Json> vectors;
  for (const Json& vector : Json::parse(file)) {
    if (vector["encap"] == "udp4") vectors.push_back(vector);
  }
  return vectors;
}

HeaderSpec ReadSpec(const Json& v) {
  return {.source_mac = ReadMac(v["smac"]),
          .destination_mac = ReadMac(v["dmac"]),
          .tagged = v.contains("vid"),
          .vid = v.value("vid", uint16_t{0}),
          .source = {.low = ReadIp(v["sip"])},
          .destination = {.low = ReadIp(v["dip"])},
          .udp_port = v["dport"],
          .session = v["session"],
          .traffic_class = {.pcp = v.value("pcp", uint8_t{0}), .dscp = v["dscp"], .ecn = v["ecn"]}};
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

TEST(Vectors, ThereAreSome) { EXPECT_EQ(Udp4Vectors().size(), 4u); }

TEST(Vectors, Encode) {
  for (const Json& v : Udp4Vectors()) {
    Octets packed;
    for (const TestCommand& command : ReadCommands(v)) AppendPacked(command, packed);
    Octets buffer(FrameBufferBytes(static_cast<uint32_t>(packed.size())));
    const auto frame = BuildFrame(Udp4::MakeTemplate(ReadSpec(v)), ReadRh(v), packed, buffer);
    EXPECT_EQ(Octets(frame.begin(), frame.end()), FromHex(v["frame"]));
  }
}

TEST(Vectors, Decode) {
  for (const Json& v : Udp4Vectors()) {
    const Octets frame = FromHex(v["frame"]);
    const ParsedFrame parsed =
        Udp4::Parse({.udp_port = v["dport"]}, frame.data(),
                                           static_cast<uint32_t>(frame.size()), false);
    ASSERT_EQ(parsed.error, FrameError::kNone);
    const HeaderSpec spec = ReadSpec(v);
    EXPECT_EQ(parsed.source, spec.source);
    EXPECT_EQ(parsed.destination, spec.destination);
    EXPECT_EQ(parsed.session, spec.session);
    EXPECT_EQ(parsed.dscp, spec.traffic_class.dscp);
    EXPECT_EQ(parsed.ecn, spec.traffic_class.ecn);
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
          {Octets(reader.command(), data), Octets(data, data + reader.shape().data_bytes)});
    }
    EXPECT_EQ(reader.error(), CommandError::kNone);
    EXPECT_EQ(read, ReadCommands(v));
  }
}

}  // namespace
}  // namespace suede
