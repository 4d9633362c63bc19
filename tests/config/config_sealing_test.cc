// SPDX-License-Identifier: Apache-2.0
// Where secrets come from: a file, TLS or both.
#include <gtest/gtest.h>

#include <string>

#include "config/config.h"
#include "configs.h"

namespace suede {
namespace {

constexpr char kGoodSealing[] =
    "version: 1\n"                                                                     // 1
    "name: left\n"                                                                     // 2
    "lcores: [{cpu: 1}]\n"                                                             // 3
    "ports: [{name: p0, device: net_null0, encapsulation: afh2}]\n"                    // 4
    "instances: [{xpu: 0, sealing: required, ports: [{port: p0}]}]\n"                  // 5
    "peers: [{xpus: 1-2, control: '198.18.0.2:7420', ports: [{port: p0}]}]\n"          // 6
    "sealing:\n"                                                                       // 7
    "  tls: {listen: '[::1]:7420', certificate: /a.pem, key: /a.key, ca: /ca.pem}\n";  // 8

class SealingConfigTest : public testing::TestWithParam<Wrong> {};

TEST_P(SealingConfigTest, IsRefusedWithPlaceAndMend) {
  ExpectRefused(kGoodSealing, GetParam(), kMachine);
}

const Wrong kWrongSealing[] = {
    {", key: /a.key", "", "8:8: sealing.tls.key: missing", "add key:"},
    {", ca: /ca.pem", "", "8:8: sealing.tls.ca: missing", "add ca:"},
    {"listen: '[::1]:7420', ", "", "8:8: sealing.tls.listen: missing", "add listen:"},
    {", certificate: /a.pem", "", "8:8: sealing.tls.certificate: missing", "add certificate:"},
    {"'[::1]:7420'", "'::1:7420'", "8:17: sealing.tls.listen: ", "[2001:db8::1]:7420"},
    {"'[::1]:7420'", "'localhost:7420'", "8:17: sealing.tls.listen: ", "198.18.0.1:7420"},
    {"'[::1]:7420'", "'127.0.0.1:0'", "8:17: sealing.tls.listen: ", "198.18.0.1:7420"},
    {"'[::1]:7420'", "'127.0.0.1:65536'", "8:17: sealing.tls.listen: ", "198.18.0.1:7420"},
    {"198.18.0.2:7420", "198.18.0.2", "6:30: peers[0].control: ", "198.18.0.1:7420"},
    {"/a.key", "a.key", "8:57: sealing.tls.key: ", "begin it with /"},
    {"ca: /ca.pem", "ca: /ca.pem, refresh_s: 0", "8:89: sealing.tls.refresh_s: ", "1 to"},
    {"sealing:\n  tls: {listen: '[::1]:7420', certificate: /a.pem, key: /a.key, ca: /ca.pem}\n",
     "sealing: {secrets: /s}\n", "6:30: peers[0].control: ", "add sealing.tls"},
};
INSTANTIATE_TEST_SUITE_P(Tls, SealingConfigTest, testing::ValuesIn(kWrongSealing));

TEST(SealingConfigSourcesTest, SealingNeedsSecrets) {
  std::string text = kGoodSealing;
  text.resize(text.find("sealing:\n"));
  ExpectRefused(text,
                {"control: '198.18.0.2:7420', ", "",
                 "5:31: instances[0].sealing: ", "agree on them by sealing.tls"},
                kMachine);
}

TEST(SealingConfigSourcesTest, TlsNeedsNoFile) {
  const auto config = ParseConfig(kGoodSealing, "good.yaml", kMachine);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_TRUE(config->sealing.secrets.empty());
  EXPECT_EQ(config->sealing.tls.refresh_s, 3600u);
  ASSERT_EQ(config->peers.size(), 2u);
  EXPECT_EQ(config->peers[1].control, "198.18.0.2:7420");
  const auto again = ParseConfig(DumpConfig(*config), "dump", kMachine);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, *config);
}

}  // namespace
}  // namespace suede
