// SPDX-License-Identifier: Apache-2.0
// docs/sealing-vectors.json, which make_vectors.py makes from the pages: sealed and opened by the
// formulas of docs/sealing.md with the ciphers of a library, and framed by lib/wire.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/big_endian.h"
#include "crypto_checks.h"
#include "openssl/openssl_crypto.h"
#include "seal/keys.h"
#include "seal/shim.h"
#include "wire/control_pdu.h"
#include "wire/encap.h"
#include "wire/rcrc.h"
#include "wire/rh.h"

namespace suede {
namespace {

using Json = nlohmann::json;

std::vector<Json> ReadVectors() {
  std::ifstream file(SUEDE_SEAL_VECTORS);
  return Json::parse(file).get<std::vector<Json>>();
}

Bytes BytesOf(const Json& v, const char* key) { return FromHex(v[key].get<std::string>()); }

SealCipher CipherOf(const Json& v) {
  return v["cipher"] == "aes128gcm" ? SealCipher::kAes128Gcm : SealCipher::kAes256Gcm;
}

void Append(Bytes& to, const Bytes& bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }
void Append(Bytes& to, std::string_view text) { to.insert(to.end(), text.begin(), text.end()); }
void Append16(Bytes& to, uint16_t value) {
  Append(to, Bytes{static_cast<uint8_t>(value >> 8), static_cast<uint8_t>(value)});
}

// The key and the iv, one behind the other.
Bytes DeriveKey(Crypto& crypto, const Json& v) {
  std::array<uint8_t, 32> prk;
  crypto.Extract("suede seal v1", BytesOf(v, "secret"), prk);
  EXPECT_EQ(ToHex(prk), v["prk"].get<std::string>());
  const bool is_hello = v["form"] == "H";
  Bytes info;
  Append(info, is_hello ? "hello" : "session");
  info.push_back(static_cast<uint8_t>(CipherOf(v)));
  Append16(info, v["partition"]);
  Append16(info, v["sender"]);
  Append16(info, v["receiver"]);
  Append(info, BytesOf(v, "sender_identity"));
  if (!is_hello) {
    Append(info, BytesOf(v, "receiver_identity"));
    const auto epoch = v["epoch"].get<uint32_t>();
    Append16(info, static_cast<uint16_t>(epoch >> 16));
    Append16(info, static_cast<uint16_t>(epoch));
  }
  Bytes key(KeyBytesOf(CipherOf(v)) + kSealIvBytes);
  crypto.Expand(prk, info, key);
  return key;
}

Bytes ShimOf(const Json& v) {
  Bytes shim;
  const auto secret_id = v["secret_id"].get<uint8_t>();
  if (v["form"] == "H") {
    shim = {static_cast<uint8_t>(0x80 | static_cast<uint8_t>(CipherOf(v))), secret_id};
    Append(shim, BytesOf(v, "sender_identity"));
  } else {
    shim = {static_cast<uint8_t>(v["epoch"].get<uint32_t>() % 4 << 2 | v["echo"].get<int>()),
            secret_id};
  }
  Append(shim, BytesOf(v, "packet_number"));
  return shim;
}

SealPath PathOf(const Json& v) {
  const Bytes frame = BytesOf(v, "frame");
  Bytes copy = frame;
  FrameRules rules{.encap = *ParseEncap(v["encap"].get<std::string>())};
  if (v.contains("dport")) rules.udp_port = v["dport"].get<uint16_t>();
  if (v.contains("ether_type")) rules.ether_type = v["ether_type"].get<uint16_t>();
  const ParsedFrame parsed =
      ParseFrame(rules, copy.data(), static_cast<uint32_t>(copy.size()), false);
  EXPECT_EQ(parsed.error, FrameError::kNone);
  return {.source = parsed.source,
          .destination = parsed.destination,
          .session = v["session"].get<uint16_t>()};
}

// The sealed PDU that the plain one becomes, and a job over its text.
struct Sealed {
  Sealed(const Json& v, void* key) : pdu(BytesOf(v, "plain")) {
    pdu[0] = static_cast<uint8_t>((pdu[0] & 0x3f) | (v["control"] ? 2 : 1) << 6);
    const Bytes shim = ShimOf(v);
    pdu.insert(pdu.begin() + kRhBytes, shim.begin(), shim.end());
    const size_t clear_bytes = kRhBytes + shim.size();
    job = {.key = key};
    FillSealAad(pdu.data(), static_cast<uint32_t>(shim.size()), PathOf(v), job);
    job.text_bytes = static_cast<uint32_t>(pdu.size() - clear_bytes);
    const Bytes iv = BytesOf(v, "iv");
    std::copy(iv.begin(), iv.end(), job.nonce.begin());
    for (size_t i = 0; i < 8; ++i) job.nonce[4 + i] ^= shim[shim.size() - 8 + i];
    pdu.resize(pdu.size() + kSealTagBytes);
    job.text = pdu.data() + clear_bytes;
  }
  Bytes pdu;
  SealJob job;
};

class SealVectors : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(crypto_, nullptr); }
  const std::unique_ptr<Crypto> crypto_ = NewOpensslCrypto();
};

TEST_F(SealVectors, ThereAreSomeOfEach) {
  std::map<std::string, int> count;
  std::set<uint32_t> epochs;
  std::set<std::string> streams;
  for (const Json& v : ReadVectors()) {
    for (const char* key : {"encap", "cipher", "form"}) ++count[v[key]];
    epochs.insert(v["epoch"].get<uint32_t>());
    streams.insert(v["packet_number"].get<std::string>().substr(0, 2));
  }
  EXPECT_EQ(count.size(), kEncapNames.size() + 4);
  for (const auto& [name, n] : count) EXPECT_GE(n, 10) << name;
  EXPECT_EQ(epochs, (std::set<uint32_t>{0, 1, 2, 3, 6, 0x01020304}));
  EXPECT_EQ(streams, (std::set<std::string>{"00", "01", "11", "3f"}));
}

TEST_F(SealVectors, Keys) {
  for (const Json& v : ReadVectors()) {
    EXPECT_EQ(ToHex(DeriveKey(*crypto_, v)),
              v["key"].get<std::string>() + v["iv"].get<std::string>());
  }
}

// Two ends that seal to each other by other keys would not notice.
TEST_F(SealVectors, KeysOfTheDataPath) {
  for (const Json& v : ReadVectors()) {
    SCOPED_TRACE(v["sealed"].get<std::string>());
    std::array<uint8_t, kSealSecretBytes> secret;
    std::ranges::copy(BytesOf(v, "secret"), secret.begin());
    const SealPrk prk = ExtractSecret(*crypto_, secret);
    const SealContext context{.cipher = CipherOf(v),
                              .partition = v["partition"].get<uint16_t>(),
                              .sender = v["sender"].get<uint16_t>(),
                              .receiver = v["receiver"].get<uint16_t>()};
    const uint64_t sender = LoadBe64(BytesOf(v, "sender_identity").data());
    const uint64_t receiver = LoadBe64(BytesOf(v, "receiver_identity").data());
    SealKey key;
    key = v["form"] == "H"
              ? SealKey::OfHello(*crypto_, prk, context, sender)
              : SealKey::OfEpoch(*crypto_, prk, context, {.sender = sender, .receiver = receiver},
                                 v["epoch"].get<uint32_t>());
    ASSERT_TRUE(key);
    Sealed sealed(v, nullptr);
    key.Fill(PacketNumber(LoadBe64(BytesOf(v, "packet_number").data())), sealed.job);
    crypto_->Seal({&sealed.job, 1});
    EXPECT_EQ(ToHex(sealed.pdu), v["sealed"].get<std::string>());
  }
}

TEST_F(SealVectors, SealAndOpen) {
  for (const Json& v : ReadVectors()) {
    SCOPED_TRACE(v["sealed"].get<std::string>());
    void* const key = crypto_->NewKey(CipherOf(v), BytesOf(v, "key"));
    ASSERT_NE(key, nullptr);
    Sealed sealed(v, key);
    crypto_->Seal({&sealed.job, 1});
    EXPECT_EQ(ToHex(sealed.pdu), v["sealed"].get<std::string>());
    crypto_->Open({&sealed.job, 1});
    EXPECT_TRUE(sealed.job.good);
    Bytes plain(sealed.pdu.begin(), sealed.pdu.begin() + kRhBytes);
    plain[0] = static_cast<uint8_t>((plain[0] & 0x3f) | (v["control"] ? 3 : 0) << 6);
    plain.insert(plain.end(), sealed.job.text, sealed.job.text + sealed.job.text_bytes);
    EXPECT_EQ(ToHex(plain), v["plain"].get<std::string>());
    EXPECT_TRUE(RcrcGood(plain.data(), static_cast<uint32_t>(plain.size())));
    crypto_->EndKey(key);
  }
}

// The PDU that lib/wire finds in the frame is the sealed one; in afh2c the RH comes out of the
// header.
TEST_F(SealVectors, Frames) {
  for (const Json& v : ReadVectors()) {
    for (const auto& [name, pdu] :
         {std::pair("frame", "sealed"), std::pair("plain_frame", "plain")}) {
      Bytes frame = BytesOf(v, name);
      const ParsedFrame parsed =
          ParseFrame({.encap = *ParseEncap(v["encap"].get<std::string>()),
                      .udp_port = v.value("dport", kDefaultUdpPort),
                      .ether_type = v.value("ether_type", uint16_t{0})},
                     frame.data(), static_cast<uint32_t>(frame.size()), false);
      ASSERT_EQ(parsed.error, FrameError::kNone) << v["encap"] << " " << ToHex(frame);
      EXPECT_EQ(ToHex({parsed.pdu, parsed.pdu_bytes}), v[pdu].get<std::string>());
    }
  }
}

// Vectors of form H carry a HELLO with the shim's identity.
TEST_F(SealVectors, Hellos) {
  for (const Json& v : ReadVectors()) {
    if (!v["control"]) continue;
    const Bytes pdu = BytesOf(v, "plain");
    const uint8_t* body = pdu.data() + kRhBytes;
    ControlMessage message;
    ASSERT_EQ(
        DecodeControl(body, static_cast<uint32_t>(pdu.size()) - kRhBytes - kRcrcBytes, message),
        ControlError::kNone);
    const Hello* hello = std::get_if<Hello>(&message);
    ASSERT_EQ(hello != nullptr, v["form"] == "H");
    if (hello == nullptr) continue;
    EXPECT_EQ(hello->identities.own, LoadBe64(BytesOf(v, "sender_identity").data()));
  }
}

TEST_F(SealVectors, AreWhatThePagesSay) {
  EXPECT_EQ(std::system(SUEDE_MAKE_VECTORS " --check " SUEDE_SEAL_VECTORS), 0);
}

}  // namespace
}  // namespace suede
