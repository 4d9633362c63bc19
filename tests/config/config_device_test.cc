// SPDX-License-Identifier: Apache-2.0
// The arguments of virtual devices: arguments that end the process in a driver are refused before,
// and secrets stay out of texts that people read.
#include <gtest/gtest.h>

#include "base/secrets.h"
#include "config/config.h"

namespace suede {
namespace {

std::string Refusal(const std::string& device, const std::string& more = "") {
  const std::string text = "version: 1\nname: left\nlcores: [{cpu: 0}]\nports:\n  - name: p0\n    device: '" +
                           device + "'\n" + more +
                           "    mac: 02:00:00:00:00:10\n"
                           "instances: [{xpu: 0, ports: [{port: p0, ip: 198.18.0.1}]}]\n"
                           "peers: [{xpu: 1, ports: [{port: p0, ip: 198.18.0.2, mac: "
                           "02:00:00:00:00:11}]}]\n";
  const absl::StatusOr<Config> config = ParseConfig(text, "left.yaml", {.cpu_count = 2});
  return std::string(config.status().message());
}

void ExpectGood(const std::string& device) { EXPECT_EQ(Refusal(device), "") << device; }
void ExpectWrong(const std::string& device, const std::string& says) {
  const std::string said = Refusal(device);
  EXPECT_EQ(said.find("left.yaml:6:13: ports[0].device: "), 0u) << device << ": " << said;
  EXPECT_NE(said.find(says), std::string::npos) << device << ": " << said;
}

TEST(DeviceArguments, GoodOnes) {
  ExpectGood("net_memif0,role=server,id=0,socket=/run/suede/m.sock,socket-abstract=no,bsize=2112");
  ExpectGood(
      "net_memif0,role=client,rsize=14,mac=02:00:00:00:00:01,zero-copy=no,secret=topsy,queues=2");
  ExpectGood("net_af_packet0,iface=eth0,framesz=4096,blocksz=8192,framecnt=512,qpairs=2");
  ExpectGood("net_af_packet0,iface=eth0,framesz=4096,blocksz=65536");
  ExpectGood("net_null0,copy=0");
  ExpectGood("net_ring0");
}

// Each of these is a null pointer to its driver.
TEST(DeviceArguments, OneWithoutAValueCrashesItsDriver) {
  for (const char* device :
       {"net_memif0,id", "net_memif0,role", "net_memif0,bsize", "net_memif0,rsize",
        "net_memif0,role=server,socket", "net_memif0,socket-abstract", "net_memif0,mac",
        "net_memif0,zero-copy", "net_af_packet0,iface=lo,qpairs", "net_af_packet0,iface=lo,blocksz",
        "net_af_packet0,iface=lo,framesz", "net_af_packet0,iface=lo,framecnt",
        "net_af_packet0,iface=lo,qdisc_bypass", "net_ring0,nodeaction", "net_pcap0,iface",
        "net_af_xdp0,iface", "net_memif0,", "net_memif0,=1"}) {
    ExpectWrong(device, "=VALUE");
  }
}

TEST(DeviceArguments, WhatADriverWouldLeaveOutIsRefused) {
  ExpectWrong("net_memif0,role=server,bogus=1", "net_memif has no argument bogus; use id, role");
  ExpectWrong("net_memif0,id=-1", "id=-1 is wrong; use 0 to 4294967295");
  ExpectWrong("net_memif0,id=x", "use 0 to 4294967295");
  ExpectWrong("net_memif0,role=boss", "use server or client");
  ExpectWrong("net_memif0,bsize=0", "use 1 to 65535");
  ExpectWrong("net_memif0,rsize=15", "use 1 to 14");
  ExpectWrong("net_memif0,queues=65", "use 1 to 64");
  ExpectWrong("net_memif0,mac=02:00", "use a MAC address");
  ExpectWrong("net_memif0,socket=", "use a text of 1 to 107 bytes");
  ExpectWrong("net_memif0,socket=/" + std::string(107, 'a'), "use a text of 1 to 107 bytes");
  ExpectWrong("net_memif0,socket=a,socket-abstract=no", "its full path");
  ExpectWrong("net_memif0,socket-abstract=no", "its full path");
  ExpectWrong("net_memif0,id=1,id=2", "id is given twice");
  ExpectWrong("net_af_packet0", "iface is missing");
  ExpectWrong("net_af_packet0,iface=eth0,framesz=8192", "add blocksz=8192");
  ExpectWrong("net_af_packet0,iface=eth0,framesz=2056", "multiple of 16");
  ExpectWrong("net_af_packet0,iface=eth0,blocksz=5000", "multiple of 4096");
  ExpectWrong("net_af_packet0,iface=eth0,framesz=2048,framecnt=3", "use a multiple");
  ExpectWrong("net_af_packet0,iface=eth0,qpairs=0", "use 1 to 1024");
}

// EAL takes them for a part of the name: the driver would make a client.
TEST(DeviceArguments, BlanksDoNotSeparate) {
  ExpectWrong("net_memif0 role=server", "'net_memif0 role=server' has a blank; separate arguments");
  ExpectWrong("net_memif0,role=server socket=/run/m.sock", "has a blank");
  ExpectWrong("net_memif0, role=server", "has a blank");
  ExpectWrong("net_memif0,socket=/run/m.sock bsize=2112,socket-abstract=no", "has a blank");
  ExpectWrong("net_memif0,secret=topsy turvy", "'secret=***");
  ExpectWrong("net_af_packet0 iface=eth0", "has a blank");
  ExpectWrong("net_null0 copy=0", "has a blank");
}

// The port's MTU is 2088 for PDUs at the pack limit, or what is configured.
TEST(DeviceArguments, RingSlotsHoldFramesOfTheMtu) {
  ExpectWrong("net_af_packet0,iface=eth0",
              "its ring slots of 2048 bytes (framesz) do not hold frames of 2102 and 66 bytes; add "
              "framesz=4096,blocksz=4096");
  EXPECT_EQ(Refusal("net_af_packet0,iface=eth0,framesz=4096,blocksz=4096"), "");
  EXPECT_NE(Refusal("net_af_packet0,iface=eth0,framesz=4096,blocksz=4096", "    mtu_bytes: 4020\n")
                .find("add framesz=8192,blocksz=8192"),
            std::string::npos);
  EXPECT_EQ(Refusal("net_af_packet0,iface=eth0,framesz=8192,blocksz=8192", "    mtu_bytes: 4020\n"),
            "");
}

TEST(DeviceArguments, SocketModeIsOfAMemifServer) {
  const std::string mode = "    socket_mode: 0660\n";
  EXPECT_EQ(Refusal("net_memif0,role=server,socket=/run/m.sock,socket-abstract=no", mode), "");
  EXPECT_NE(Refusal("net_memif0,role=client", mode).find("remove socket_mode"), std::string::npos);
  EXPECT_NE(Refusal("0000:03:00.0", mode).find("remove socket_mode"), std::string::npos);
}

TEST(DeviceArguments, AMemifSocketIsClosedToOthers) {
  for (const char* mode : {"0666", "0601", "0604"}) {
    const std::string said =
        Refusal("net_memif0,role=server,socket=/run/m.sock,socket-abstract=no",
                std::string("    socket_mode: ") + mode + "\n");
    EXPECT_NE(said.find("permit its user and group alone"), std::string::npos) << said;
  }
}

TEST(Secrets, AreHidden) {
  EXPECT_EQ(HideSecrets("--vdev=net_memif0,secret=topsy,id=1 -m512"),
            "--vdev=net_memif0,secret=***,id=1 -m512");
  EXPECT_EQ(HideSecrets("secret=a secret=\"b"), "secret=*** secret=\"b");
  EXPECT_EQ(HideSecrets("device: \"net_memif0,secret=topsy\""), "device: \"net_memif0,secret=***\"");
  EXPECT_EQ(HideSecrets("secret="), "secret=");
  EXPECT_EQ(HideSecrets("nothing"), "nothing");
}

// The text in a secret's place does not become the secret, and a wrong secret is in no message.
TEST(Secrets, AreNotWhatStandsInTheirPlace) {
  ExpectWrong("net_memif0,secret=***", "the secret was left out");
  const std::string said = Refusal("net_memif0,secret=" + std::string(24, 's'));
  EXPECT_EQ(said.find("sss"), std::string::npos) << said;
  EXPECT_NE(said.find("secret=*** is wrong; use a text of 1 to 23 bytes"), std::string::npos);
}

}  // namespace
}  // namespace suede
