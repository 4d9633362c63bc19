// SPDX-License-Identifier: Apache-2.0
// Sealed frames in decode: what is readable of them, and opened with the secrets of a file.
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/text.h"
#include "frame_bench.h"
#include "openssl/openssl_crypto.h"
#include "seal/keys.h"

namespace suede::ctl {
namespace {

constexpr char kSecret[] = "1f0e2d3c4b5a69788796a5b4c3d2e1f00123456789abcdef0123456789abcdef";
constexpr char kOther[] = "93b1aa00000000000000000000000000000000000000000000000000000000bb";
constexpr uint16_t kPartition = 3;
constexpr uint8_t kSecretId = 5;

std::vector<Json> ReadSealVectors() {
  return Json::parse(ReadFile(SUEDE_SOURCE_DIR "/docs/sealing-vectors.json"))
      .get<std::vector<Json>>();
}

std::string KeyLine(int partition, int id, const std::string& secret) {
  return StrCat(partition, " ", id, " ", secret, " - 1999-01-01T00:00:00Z\n");
}

// One of two ends, XPU 7 and XPU 9, that seal to each other.
struct End {
  uint16_t xpuid;
  uint64_t identity;
  HeaderSpec spec;  // of its frames
};

class SealedFrames : public testing::Test {
 protected:
  SealedFrames() {
    char name[] = "/tmp/suede-keys-XXXXXX";
    directory_ = mkdtemp(name);
    keys_ = directory_ / "keys";
    WriteKeys(KeyLine(kPartition, kSecretId, kSecret) + KeyLine(kPartition, 6, kOther));
    std::swap(b_.spec.source, b_.spec.destination);
    Bytes secret = *ParseHex(kSecret);
    prk_ = ExtractSecret(*crypto_, std::span<const uint8_t, kSealSecretBytes>(secret));
  }
  ~SealedFrames() override { std::filesystem::remove_all(directory_); }
  void WriteKeys(const std::string& text) { std::ofstream(keys_) << text; }

  // The frame with its PDU sealed.
  Bytes Seal(const End& from, Bytes plain, const SealShim& shim, const SealKey& key) {
    const ParsedFrame parsed = ParseBytes(suede::RulesOf(kEncap, from.spec), plain);
    EXPECT_EQ(parsed.error, FrameError::kNone);
    const uint32_t clear_bytes = kRhBytes + shim.bytes();
    const uint32_t text_bytes = parsed.pdu_bytes - kRhBytes;
    Bytes buffer(HeaderTemplate::kRoomBytes + clear_bytes + text_bytes + kSealTagBytes);
    uint8_t* const pdu = buffer.data() + HeaderTemplate::kRoomBytes;
    std::copy_n(parsed.pdu, kRhBytes, pdu);
    SetVersion(pdu, SealedVersion(pdu[0] >> 6));
    EncodeShim(shim, pdu + kRhBytes);
    std::copy_n(parsed.pdu + kRhBytes, text_bytes, pdu + clear_bytes);
    SealJob job;
    key.Fill(shim.number, job);
    const SealPath path{
        .source = parsed.source, .destination = parsed.destination, .session = parsed.session};
    FillSealAad(pdu, shim.bytes(), path, job);
    job.text = pdu + clear_bytes;
    job.text_bytes = text_bytes;
    crypto_->Seal({&job, 1});
    const HeaderTemplate header = MakeTemplate(kEncap, from.spec);
    const uint8_t* const frame =
        WriteHeader(header, pdu, clear_bytes + text_bytes + kSealTagBytes, false);
    return Bytes(frame, static_cast<const uint8_t*>(buffer.data() + buffer.size()));
  }

  SealContext ContextOf(const End& from, const End& to, uint16_t partition = kPartition) const {
    return {.partition = partition, .sender = from.xpuid, .receiver = to.xpuid};
  }

  Bytes HelloFrame(const End& from, const End& to, uint64_t peer_identity) {
    Bytes body(kMaxControlPduBytes);
    body.resize(EncodeControl(
        Hello{.identities = {.own = from.identity, .peer = peer_identity}, .nonce = 1},
        body.data()));
    const Bytes plain = BuildBytes(kEncap, from.spec, body, ControlRh(from.xpuid, kPartition));
    const SealShim shim{.hello = true,
                        .secret_id = kSecretId,
                        .number = PacketNumber(0, hellos_++),
                        .cipher = 1,
                        .identity = from.identity};
    return Seal(from, plain, shim,
                SealKey::OfHello(*crypto_, prk_, ContextOf(from, to), from.identity));
  }

  Bytes PlainFrame(const End& from, uint16_t psn, uint16_t partition = kPartition) {
    return BuildBytes(kEncap, from.spec, {0x01, 0x00},
                      {.xpuid = from.xpuid, .psn = Psn(psn), .partition = partition});
  }
  Bytes DataFrame(const End& from, const End& to, uint16_t psn, uint32_t epoch,
                  uint16_t partition = kPartition) {
    const SealShim shim{.secret_id = kSecretId,
                        .number = PacketNumber(2, psn),
                        .epoch = static_cast<uint8_t>(epoch & 3)};
    return Seal(from, PlainFrame(from, psn, partition), shim,
                SealKey::OfEpoch(*crypto_, prk_, ContextOf(from, to, partition),
                                 {.sender = from.identity, .receiver = to.identity}, epoch));
  }

  // An object for each frame.
  std::vector<Json> DecodeFrames(const std::vector<Bytes>& frames, bool with_keys = true) {
    std::string hex;
    for (const Bytes& frame : frames) hex += ToHex(frame) + "\n";
    const std::string keys = keys_;
    std::vector<std::string_view> arguments = {"--encap",     "afh1s",        "--mac_prefix",
                                               "06:00:be:ef", "--ether_type", "0x1234"};
    if (with_keys) arguments.insert(arguments.end(), {"--keys", keys});
    const Outcome outcome = Decode(arguments, hex);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    std::vector<Json> objects;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) objects.push_back(Json::parse(line));
    EXPECT_EQ(objects.size(), frames.size());
    return objects;
  }
  static std::string ErrorOf(const Json& object) { return object.value("error", ""); }

  static constexpr Encap kEncap = Encap::kAfh1s;
  std::filesystem::path directory_;
  std::filesystem::path keys_;
  const std::unique_ptr<Crypto> crypto_ = NewOpensslCrypto();
  SealPrk prk_;
  End a_{.xpuid = 7, .identity = 0xa1, .spec = suede::SpecOf({kEncap})};
  End b_{.xpuid = 9, .identity = 0xb1, .spec = suede::SpecOf({kEncap})};
  uint64_t hellos_ = 0;
};

TEST_F(SealedFrames, AnAssociationIsOpenedAndItsEpochsFollowed) {
  std::vector<Bytes> frames = {HelloFrame(a_, b_, 0), HelloFrame(b_, a_, a_.identity)};
  for (const uint32_t epoch : {0, 1, 0, 1, 2, 3, 4, 3, 9, 300}) {
    frames.push_back(DataFrame(a_, b_, static_cast<uint16_t>(epoch), epoch));
    frames.push_back(DataFrame(b_, a_, static_cast<uint16_t>(epoch), epoch / 2));
  }
  const std::vector<Json> objects = DecodeFrames(frames);
  for (const Json& object : objects) EXPECT_EQ(ErrorOf(object), "") << object;
  EXPECT_EQ(objects[0]["control_pdu"]["type"], "hello");
  EXPECT_EQ(objects[0]["sealed"]["form"], "H");
  EXPECT_EQ(objects[0]["sealed"]["identity"], "00000000000000a1");
  EXPECT_EQ(objects[0]["ver"], 3);
  const Json& last = objects[objects.size() - 2];
  EXPECT_EQ(last["sealed"]["epoch"], 300);
  EXPECT_EQ(last["sealed"]["stream"], 2);
  EXPECT_EQ(last["sealed"]["packet_number"], "020000000000012c");
  EXPECT_EQ(last["ver"], 0);
  EXPECT_EQ(last["psn"], 300);
  EXPECT_EQ(objects.back()["sealed"]["epoch"], 150);
}

// The ends go to another partition, and no HELLO is needed there.
TEST_F(SealedFrames, AnAssociationIsFollowedToAnotherPartition) {
  WriteKeys(KeyLine(kPartition, kSecretId, kSecret) + KeyLine(12, kSecretId, kSecret));
  const std::vector<Json> objects =
      DecodeFrames({HelloFrame(a_, b_, 0), HelloFrame(b_, a_, a_.identity), DataFrame(a_, b_, 1, 2),
                    DataFrame(a_, b_, 2, 3, 12), DataFrame(b_, a_, 1, 3, 12)});
  for (const Json& object : objects) EXPECT_EQ(ErrorOf(object), "") << object;
  EXPECT_EQ(objects[3]["partition"], 12);
  EXPECT_EQ(objects[3]["sealed"]["epoch"], 3);
}

TEST_F(SealedFrames, EachReasonNotToOpen) {
  Bytes spoiled = DataFrame(a_, b_, 1, 0);
  spoiled.back() ^= 1;
  Bytes malformed = DataFrame(a_, b_, 1, 0);
  malformed[22 + 8] |= 0x10;  // a bit of the shim that is 0
  End stranger = a_;
  stranger.identity = 0xff;  // of which no HELLO was seen
  const std::vector<Json> objects = DecodeFrames(
      {DataFrame(a_, b_, 1, 0), HelloFrame(b_, a_, a_.identity), DataFrame(a_, b_, 1, 0), spoiled,
       malformed, DataFrame(stranger, b_, 1, 0), HelloFrame(stranger, b_, b_.identity),
       DataFrame(stranger, b_, 1, 0), DataFrame(a_, b_, 2, 0)});
  const std::vector<std::string> errors = {"seal_key", "", "", "seal_tag", "seal_malformed",
                                           "seal_tag", "", "", ""};
  for (size_t i = 0; i < objects.size(); ++i) {
    EXPECT_EQ(ErrorOf(objects[i]), errors[i]) << i << ": " << objects[i];
  }
  EXPECT_FALSE(objects[4].contains("sealed"));
  EXPECT_TRUE(objects[3].contains("sealed"));
  EXPECT_FALSE(objects[3].contains("commands"));
}

TEST_F(SealedFrames, KeysOfOthersOpenNothing) {
  WriteKeys(KeyLine(kPartition, kSecretId, kOther) + KeyLine(kPartition + 1, 6, kSecret));
  const std::vector<Json> objects =
      DecodeFrames({HelloFrame(b_, a_, a_.identity), DataFrame(a_, b_, 1, 0)});
  EXPECT_EQ(ErrorOf(objects[0]), "seal_tag");
  EXPECT_EQ(ErrorOf(objects[1]), "seal_key");
}

TEST_F(SealedFrames, WithoutKeysTheShimIsReadable) {
  const std::vector<Json> objects =
      DecodeFrames({HelloFrame(a_, b_, 0), DataFrame(a_, b_, 5, 6)}, /*with_keys=*/false);
  for (const Json& object : objects) {
    EXPECT_EQ(ErrorOf(object), "version");
    EXPECT_EQ(object["detail"], "a sealed PDU: use --keys");
    EXPECT_EQ(object["sealed"]["secret_id"], kSecretId);
    EXPECT_EQ(object["sealed"]["tag"].get<std::string>().size(), 32u);
  }
  EXPECT_EQ(objects[0]["sealed"]["cipher"], 1);
  EXPECT_EQ(objects[1]["sealed"]["epoch"], 2);
  EXPECT_EQ(objects[1]["ver"], 1);
  EXPECT_EQ(objects[1]["psn"], 5);
}

// The object of an opened frame makes the plain one; so does decode, as a capture.
TEST_F(SealedFrames, WhatWasOpenedIsWrittenPlain) {
  const std::vector<Bytes> frames = {HelloFrame(b_, a_, a_.identity), DataFrame(a_, b_, 5, 0)};
  const std::vector<Json> objects = DecodeFrames(frames);
  const Outcome encoded = Encode({}, objects[1].dump());
  EXPECT_EQ(encoded.out, ToHex(PlainFrame(a_, 5)) + "\n") << encoded.err;
  const std::string keys = keys_;
  const std::string spoiled = ToHex(frames[1]).substr(0, ToHex(frames[1]).size() - 2) + "00";
  const std::string hex = StrCat(ToHex(frames[0]), "\n", ToHex(frames[1]), "\n",
                                 ToHex(PlainFrame(b_, 6)), "\n", spoiled, "\n");
  const std::vector<std::string_view> rules = {"--encap",     "afh1s",        "--mac_prefix",
                                               "06:00:be:ef", "--ether_type", "0x1234"};
  std::vector<std::string_view> to_pcap = rules;
  to_pcap.insert(to_pcap.end(), {"--keys", keys, "--output", "pcap"});
  const Outcome capture = Decode(to_pcap, hex);
  ASSERT_EQ(capture.code, 0) << capture.err;
  std::vector<std::string_view> from_pcap = rules;
  from_pcap.insert(from_pcap.end(), {"--input", "pcap"});
  const Outcome read = Decode(from_pcap, capture.out);
  std::vector<Json> written;
  std::istringstream lines(read.out);
  for (std::string line; std::getline(lines, line);) written.push_back(Json::parse(line));
  ASSERT_EQ(written.size(), 4u);
  EXPECT_EQ(written[0]["control_pdu"]["type"], "hello");
  EXPECT_FALSE(written[0].contains("sealed"));
  EXPECT_EQ(written[1]["psn"], 5);
  EXPECT_EQ(ErrorOf(written[1]), "");
  EXPECT_EQ(written[2]["psn"], 6);
  EXPECT_EQ(ErrorOf(written[3]), "version") << "what does not open stays as it is";
}

// The HELLOs of the vectors, in each encapsulation, from files' secrets alone.
TEST_F(SealedFrames, HellosOfTheVectors) {
  int opened = 0;
  for (const Json& v : ReadSealVectors()) {
    WriteKeys(KeyLine(v["partition"], v["secret_id"], v["secret"]));
    const std::string keys = keys_;
    const std::string encap = v["encap"];
    const std::string port = std::to_string(v.value("dport", 3333));
    const std::string ether_type = std::to_string(v.value("ether_type", 0x600));
    std::vector<std::string_view> arguments = {"--encap", encap,    "--udp_port",
                                               port,      "--keys", keys};
    if (v.contains("ether_type")) arguments.insert(arguments.end(), {"--ether_type", ether_type});
    const Outcome outcome = Decode(arguments, v["frame"].get<std::string>());
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Json object = Json::parse(outcome.out);
    EXPECT_EQ(object["sealed"]["form"], v["form"]);
    EXPECT_EQ(object["sealed"]["packet_number"], v["packet_number"]);
    if (v["form"] == "S") {
      EXPECT_EQ(object["error"], "seal_key");  // without the HELLO
      continue;
    }
    ++opened;
    ASSERT_FALSE(object.contains("error")) << object;
    EXPECT_EQ(object["sealed"]["identity"], v["sender_identity"]);
    EXPECT_EQ(Encode({}, object.dump()).out, v["plain_frame"].get<std::string>() + "\n");
  }
  EXPECT_EQ(opened, 14);
}

TEST_F(SealedFrames, WrongKeysAreNamed) {
  WriteKeys("7 1 x - -\n");
  const std::string keys = keys_;
  Outcome outcome = Decode({"--encap", "afh1", "--keys", keys});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find(keys + ":1:5: secret: "), std::string::npos) << outcome.err;
  outcome = Decode({"--encap", "afh1", "--keys", "/no/such/file"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("/no/such/file"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace suede::ctl
