// SPDX-License-Identifier: Apache-2.0
// Arguments, formats and exit codes of the frame commands.
#include <cstdlib>

#include "frame_bench.h"
#include "suedectl/frame_capture.h"

namespace suede::ctl {
namespace {

std::string GoodHex() { return ToHex(BuildBytes(Encap::kUdp4, {}, {0x01, 0x00}, {.xpuid = 7})); }

TEST(FrameCommand, HelpGoesToStandardOutput) {
  for (const char* word : {"--help", "-h"}) {
    for (const Outcome& outcome :
         {Decode({word}), Encode({word}), Decode({"--encap", "udp4", word})}) {
      EXPECT_EQ(outcome.code, 0);
      EXPECT_EQ(outcome.err, "");
      EXPECT_NE(outcome.out.find("usage: suedectl frame "), std::string::npos);
      EXPECT_NE(outcome.out.find("Exit codes"), std::string::npos);
      std::istringstream lines(outcome.out);
      for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 110u) << line;
    }
  }
}

TEST(FrameCommand, WrongUsage) {
  const std::vector<std::vector<std::string_view>> decodes = {
      {},
      {"--encap"},
      {"--encap", "vxlan"},
      {"--encap="},
      {"-encap", "udp4"},
      {"--encap", "udp4", "--udp_port", "0"},
      {"--encap", "udp4", "--udp_port", "65536"},
      {"--encap", "udp4", "--udp_port", "many"},
      {"--encap", "afh1", "--ether_type", "0x8100"},
      {"--encap", "afh1", "--ether_type", "5"},
      {"--encap", "afh1", "--mac_prefix", "02:53:55"},
      {"--encap", "udp4", "--input", "json"},
      {"--encap", "udp4", "--output", "hex"},
      {"--encap", "udp4", "--no_such_flag", "1"},
      {"--encap", "udp4", "a", "b"},
      {"--encap", "udp4", ""},
      {"--encap", "udp4", "/no/such/file"},
      {"--encap", "udp4", "-o", "/no/such/directory/file"},
      {"--encap", "udp4", "--o", "file"},
      {"--encap", "udp4", "--", "--udp_port"},
  };
  for (const auto& arguments : decodes) {
    const Outcome outcome = Decode(arguments, GoodHex());
    EXPECT_EQ(outcome.code, 2) << testing::PrintToString(arguments);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err.find("suedectl frame decode: "), 0u) << outcome.err;
  }
  const std::vector<std::vector<std::string_view>> encodes = {
      {"--output", "json"}, {"--encap", "udp4"}, {"a", "b"}, {"/no/such/file"}, {"-o"}};
  for (const auto& arguments : encodes) {
    const Outcome outcome = Encode(arguments, "{}");
    EXPECT_EQ(outcome.code, 2) << testing::PrintToString(arguments);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err.find("suedectl frame encode: "), 0u) << outcome.err;
  }
}

TEST(FrameCommand, HexMayBeSpacedAndCommented) {
  const std::string hex = GoodHex();
  std::string spaced;
  for (size_t i = 0; i < hex.size(); i += 2) {
    spaced += hex.substr(i, 2) + (i % 3 == 0 ? " " : i % 3 == 1 ? ":" : "\t");
  }
  const std::string want = Decode({"--encap", "udp4"}, hex).out;
  EXPECT_EQ(CountLines(want), 1u);
  const Outcome outcome =
      Decode({"--encap", "udp4"}, "# frames\n\n  \t\r\n" + spaced + "# one\r\n #\n" + hex + "\r\n");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, want + want);
}

TEST(FrameCommand, WhatIsNoHexIsNamedAndTheRestRead) {
  const std::string hex = GoodHex();
  const std::string want = Decode({"--encap", "udp4"}, hex).out;
  for (const std::string& bad : {std::string("0"), std::string("0g"), "0x" + hex, hex + "0",
                                 std::string("a:b"), std::string("ab\0", 3)}) {
    const Outcome outcome = Decode({"--encap", "udp4"}, hex + "\n" + bad + "\n" + hex);
    EXPECT_EQ(outcome.code, 2) << bad;
    EXPECT_EQ(outcome.out, want + want);
    EXPECT_EQ(outcome.err, "suedectl frame decode: line 2: not hex\n");
  }
  const Outcome longer = Decode({"--encap", "udp4"}, std::string(2000000, '0') + "\n" + hex);
  EXPECT_EQ(longer.code, 2);
  EXPECT_EQ(longer.out, want);
  const Outcome large = Decode({"--encap", "udp4"}, std::string(131072, '0') + "\n" + hex);
  EXPECT_EQ(large.code, 2);
  EXPECT_EQ(large.out, want);
  EXPECT_NE(large.err.find("line 1: 65536 bytes"), std::string::npos) << large.err;
}

TEST(FrameCommand, RulesAreTaken) {
  for (const Dialect& dialect : AllDialects()) {
    const std::string frame = ToHex(BuildBytes(dialect.encap, SpecOf(dialect), {}));
    const std::string encap(EncapName(dialect.encap));
    const Outcome outcome = Decode(
        {"--encap", encap, "--udp_port=4791", "--ether_type", "0x1234", "--mac_prefix=06:00:be:ef"},
        frame);
    EXPECT_FALSE(Json::parse(outcome.out).contains("error")) << outcome.out;
    EXPECT_EQ(Encode({}, outcome.out).out, frame + "\n");
    const auto others = kWithoutEtherType.Has(dialect.encap)
                            ? Decode({"--encap", encap, "--ether_type=0x4321"}, frame)
                            : Decode({"--encap", encap}, frame);
    EXPECT_EQ(Json::parse(others.out)["error"], "not_sue");
  }
}

TEST(FrameCommand, EsunNeedsAnEtherType) {
  const Outcome decode = Decode({"--encap", "esun"}, "00");
  EXPECT_EQ(decode.code, 2);
  EXPECT_NE(decode.err.find("--ether_type"), std::string::npos) << decode.err;
  const Outcome encode = Encode({}, R"({"encap": "esun"})");
  EXPECT_EQ(encode.code, 2);
  EXPECT_NE(encode.err.find("ether_type: esun has no usual one, give it"), std::string::npos)
      << encode.err;
}

TEST(FrameCommand, CapturesKeepBytesAndTimes) {
  std::string lines;
  const std::vector<Json> vectors = ReadVectors();
  uint64_t time = 1763737393123456789;
  for (Json v : vectors) {
    if (v["encap"] != "udp6") continue;
    v["time_ns"] = time++;
    lines += v.dump() + "\n";
  }
  lines += R"({"encap": "udp6", "time_ns": 2147483647999999999})"
           "\n"
           R"({"encap": "udp6"})"
           "\n";
  const Outcome capture = Encode({"--output", "pcap"}, lines);
  ASSERT_EQ(capture.code, 0) << capture.err;
  const Outcome objects = Decode({"--encap", "udp6", "--input", "pcap"}, capture.out);
  ASSERT_EQ(objects.code, 0) << objects.err;
  EXPECT_EQ(Encode({}, objects.out).out, Encode({}, lines).out);
  EXPECT_EQ(Encode({"--output=pcap"}, objects.out).out, capture.out);
  EXPECT_EQ(Json::parse(objects.out.substr(0, objects.out.find('\n')))["time_ns"],
            1763737393123456789);
  // From capture to capture nothing changes; from hex times are 0.
  const Outcome copy =
      Decode({"--encap", "udp6", "--input", "pcap", "--output", "pcap"}, capture.out);
  EXPECT_EQ(copy.out, capture.out);
  const Outcome of_hex = Decode({"--encap", "udp6", "--output", "pcap"}, Encode({}, lines).out);
  EXPECT_EQ(of_hex.out.size(), capture.out.size());
}

TEST(FrameCommand, CapturesThatAreNone) {
  for (const std::string& input :
       {std::string(), std::string("not a capture at all, but long enough"),
        std::string(100, '\xff')}) {
    const Outcome outcome = Decode({"--encap", "udp4", "--input", "pcap"}, input);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find("not a capture"), std::string::npos) << outcome.err;
  }
  std::string capture =
      Decode({"--encap", "udp4", "--output", "pcap"}, GoodHex() + "\n" + GoodHex()).out;
  std::string other_link = capture;
  other_link[20] = 113;  // LINUX_SLL
  const Outcome link = Decode({"--encap", "udp4", "--input", "pcap"}, other_link);
  EXPECT_EQ(link.code, 2);
  EXPECT_NE(link.err.find("LINUX_SLL"), std::string::npos) << link.err;
  capture.pop_back();
  const Outcome broken = Decode({"--encap", "udp4", "--input", "pcap"}, capture);
  EXPECT_EQ(broken.code, 2);
  EXPECT_EQ(CountLines(broken.out), 1u);
  EXPECT_NE(broken.err.find("frame 2: "), std::string::npos) << broken.err;
}

// A pcapng file (draft-ietf-opsawg-pcapng §4) in the byte order of this machine, or the other one.
class Pcapng {
 public:
  explicit Pcapng(bool swapped) : swapped_(swapped) {
    Block(0x0a0d0d0a, Words({0x1a2b3c4d}) + Shorts({1, 0}) + std::string(8, '\xff'));
    Block(1, Shorts({1, 0}) + Words({0}));
  }
  void Packet(const std::string& frame, const std::string& options) {
    const auto bytes = static_cast<uint32_t>(frame.size());
    Block(6, Words({0, 0, 0, bytes, bytes}) + Padded(frame) + options);
  }
  std::string Option(uint16_t code, const std::string& value) const {
    return Shorts({code, static_cast<uint16_t>(value.size())}) + Padded(value);
  }
  void Block(uint32_t type, const std::string& body) {
    const auto length = static_cast<uint32_t>(body.size() + 12);
    text += Words({type, length}) + body + Words({length});
  }
  std::string text;

 private:
  static std::string Padded(std::string text) {
    text.resize((text.size() + 3) / 4 * 4);
    return text;
  }
  std::string Words(std::initializer_list<uint32_t> words) const {
    std::string out;
    for (uint32_t word : words) {
      word = swapped_ ? __builtin_bswap32(word) : word;
      out.append(reinterpret_cast<const char*>(&word), sizeof word);
    }
    return out;
  }
  std::string Shorts(std::initializer_list<uint16_t> shorts) const {
    std::string out;
    for (uint16_t word : shorts) {
      word = swapped_ ? __builtin_bswap16(word) : word;
      out.append(reinterpret_cast<const char*>(&word), sizeof word);
    }
    return out;
  }
  const bool swapped_;
};

TEST(FrameCommand, CommentsOfPackets) {
  std::string frame;
  const std::string hex = GoodHex();
  for (size_t i = 0; i < hex.size(); i += 2) {
    frame += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  for (const bool swapped : {false, true}) {
    Pcapng capture(swapped);
    capture.Packet(frame, capture.Option(2, "flag") + capture.Option(1, "rx_drop_rcrc_total") +
                              capture.Option(0, ""));
    capture.Block(5, std::string(12, '\0'));  // statistics
    capture.Packet(frame, "");
    capture.Packet(frame, capture.Option(1, "a\"\xff\n") + capture.Option(0, ""));
    const Outcome outcome = Decode({"--encap", "udp4", "--input", "pcap"}, capture.text);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    ASSERT_EQ(CountLines(outcome.out), 3u);
    std::istringstream lines(outcome.out);
    std::vector<std::string> comments;
    for (std::string line; std::getline(lines, line);) {
      const Json object = Json::parse(line);
      EXPECT_FALSE(object.contains("error")) << line;
      comments.push_back(object.value("comment", "-"));
      EXPECT_EQ(Encode({}, line).out, hex + "\n");
    }
    EXPECT_EQ(comments, (std::vector<std::string>{"rx_drop_rcrc_total", "-", "a\"??"}));
    // Whatever is cut off or changed, the rest is read or refused.
    std::mt19937 random(7);
    for (int i = 0; i < 200; ++i) {
      std::string changed = capture.text;
      for (uint32_t n = 1 + random() % 4; n > 0; --n) {
        changed[random() % changed.size()] = static_cast<char>(random());
      }
      changed.resize(random() % 4 == 0 ? random() % changed.size() : changed.size());
      const Outcome broken = Decode({"--encap", "udp4", "--input", "pcap"}, changed);
      EXPECT_TRUE(broken.code == 0 || (broken.code == 2 && !broken.err.empty()));
    }
  }
}

TEST(FrameCommand, RandomCapturesDoNoHarm) {
  std::mt19937 random(4);
  const std::string capture =
      Decode({"--encap", "udp4", "--output", "pcap"}, GoodHex() + "\n" + GoodHex()).out;
  for (int i = 0; i < 300; ++i) {
    std::string changed = capture;
    for (uint32_t n = 1 + random() % 4; n > 0; --n) {
      changed[random() % changed.size()] = static_cast<char>(random());
    }
    changed.resize(random() % 4 == 0 ? random() % changed.size() : changed.size());
    const Outcome outcome = Decode({"--encap", "udp4", "--input", "pcap"}, changed);
    EXPECT_TRUE(outcome.code == 0 || (outcome.code == 2 && !outcome.err.empty()));
  }
}

TEST(FrameCommand, FilesAreRead) {
  char path[] = "/tmp/suedectl-test-XXXXXX";
  const int fd = mkstemp(path);
  ASSERT_GE(fd, 0);
  close(fd);
  EXPECT_EQ(Encode({"-o", path}, R"({"encap": "udp4", "xpuid": 7})").code, 0);
  const Outcome outcome = Decode({"--encap", "udp4", path});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(Json::parse(outcome.out)["xpuid"], 7);
  unlink(path);
}

TEST(FrameCommand, OutputThatCannotBeWrittenIsAFailure) {
  EXPECT_EQ(Encode({"-o", "/dev/full"}, R"({"encap": "udp4"})").code, 1);
  EXPECT_EQ(Encode({"-o", "/dev/full", "--output", "pcap"}, R"({"encap": "udp4"})").code, 1);
  EXPECT_EQ(Decode({"--encap", "udp4", "-o", "/dev/full"}, GoodHex()).code, 1);
  EXPECT_EQ(Decode({"--encap", "udp4", "/"}).code, 1);  // a directory opens, and does not read
}

}  // namespace
}  // namespace suede::ctl
