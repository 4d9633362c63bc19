// SPDX-License-Identifier: Apache-2.0
// TLS between two ends in one process: handshake, certificates, the exporter, and memory, which
// lies where secrets lie and is given back.
#include "openssl/tls.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "seal/locked_memory.h"

namespace suede {
namespace {

using Bytes = std::vector<uint8_t>;
using Role = TlsConnection::Role;

class TlsTest : public testing::Test {
 protected:
  void SetUp() override {
    signal(SIGPIPE, SIG_IGN);
    char name[] = "/tmp/suede-tls-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  // A certificate that is its own authority.
  TlsFiles MakeFiles(const std::string& name, const std::string& names, int key_bits = 0) const {
    const TlsFiles files{.certificate = StrCat(directory_, "/", name, ".pem"),
                         .key = StrCat(directory_, "/", name, ".key"),
                         .ca = StrCat(directory_, "/", name, ".pem")};
    const std::string key = key_bits == 0 ? std::string("ec -pkeyopt ec_paramgen_curve:P-256")
                                          : StrCat("rsa:", key_bits);
    const std::string command =
        StrCat("openssl req -x509 -newkey ", key, " -nodes -days 1 -subj /CN=", name,
               " -addext subjectAltName=", names, " -keyout ", files.key, " -out ",
               files.certificate, " 2>/dev/null");
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    chmod(files.key.c_str(), 0600);
    chmod(files.certificate.c_str(), 0600);
    return files;
  }
  static std::shared_ptr<TlsContext> Open(const TlsFiles& files, std::string_view alpn = "a/1") {
    auto opened = TlsContext::Open(files, alpn);
    EXPECT_TRUE(opened.ok()) << opened.status();
    return opened.ok() ? *std::move(opened) : nullptr;
  }

  std::string directory_;
};

// Two ends of a socket pair.
struct Ends {
  Ends(const std::shared_ptr<TlsContext>& client_context,
       const std::shared_ptr<TlsContext>& server_context) {
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    client = TlsConnection::Make(client_context, fds[0], Role::kClient);
    server = TlsConnection::Make(server_context, fds[1], Role::kServer);
  }
  // Goes on until both are done or one fails.
  void Shake() {
    for (int i = 0; i < 20 && client_status.ok() && server_status.ok(); ++i) {
      client_status = client->Handshake();
      server_status = server->Handshake();
    }
  }
  std::unique_ptr<TlsConnection> client;
  std::unique_ptr<TlsConnection> server;
  absl::Status client_status;
  absl::Status server_status;
};

TEST_F(TlsTest, BothEndsExportTheSame) {
  const auto context = Open(MakeFiles("one", "URI:suede:7:3,DNS:example.com,URI:suede:7:5-6"));
  Ends ends(context, context);
  ends.Shake();
  ASSERT_TRUE(ends.client->established()) << ends.client_status;
  ASSERT_TRUE(ends.server->established()) << ends.server_status;
  EXPECT_EQ(ends.server->PeerUris(), (std::vector<std::string>{"suede:7:3", "suede:7:5-6"}));
  EXPECT_EQ(ends.client->PeerUris().size(), 2u);

  const Bytes text = {1, 2, 3};
  ASSERT_EQ(*ends.client->Write(text), text.size());
  Bytes got(8);
  EXPECT_EQ(*ends.server->Read(got), text.size());
  EXPECT_EQ(*ends.server->Read(got), 0u);

  std::array<uint8_t, 32> here{};
  std::array<uint8_t, 32> there{};
  ASSERT_TRUE(ends.client->Export("EXPORTER-x", text, here).ok());
  ASSERT_TRUE(ends.server->Export("EXPORTER-x", text, there).ok());
  EXPECT_EQ(here, there);
  EXPECT_NE(here, (std::array<uint8_t, 32>{}));
  ASSERT_TRUE(ends.server->Export("EXPORTER-x", {}, there).ok());
  EXPECT_NE(here, there);
  ASSERT_TRUE(ends.server->Export("EXPORTER-y", text, there).ok());
  EXPECT_NE(here, there);

  ends.client.reset();
  EXPECT_TRUE(absl::IsUnavailable(ends.server->Read(got).status()));
}

TEST_F(TlsTest, ConnectionsGiveTheirMemoryBack) {
  const auto context = Open(MakeFiles("rsa", "URI:suede:7:3", 4096));
  const auto play = [&] {
    Ends ends(context, context);
    ends.Shake();
    ASSERT_TRUE(ends.server->established()) << ends.server_status;
    EXPECT_GT(LockedMemory::OfProcess().used_bytes(), 0u);
  };
  play();  // what OpenSSL keeps for the process
  const size_t before = LockedMemory::OfProcess().used_bytes();
  constexpr size_t kConnections = 20;
  for (size_t i = 0; i < kConnections; ++i) play();
  // The number that blinds the private key is replaced from time to time, by one that may be
  // longer. Each connection may leave less than the size of a key.
  EXPECT_LT(LockedMemory::OfProcess().used_bytes(), before + kConnections * 64);
}

TEST_F(TlsTest, StrangersAreRefusedByBothEnds) {
  const auto one = Open(MakeFiles("one", "URI:suede:7:3"));
  const auto other = Open(MakeFiles("other", "URI:suede:7:3"));
  Ends ends(one, other);
  ends.Shake();
  EXPECT_NE(ends.client_status.message().find("authority that sealing.tls.ca does not hold"),
            std::string::npos)
      << ends.client_status;
  EXPECT_FALSE(ends.server->established());
  const absl::Status& status = ends.server_status;
  EXPECT_NE(status.message().find("authority that it does not know"), std::string::npos) << status;
}

TEST_F(TlsTest, AnotherProtocolIsRefused) {
  const TlsFiles files = MakeFiles("one", "URI:suede:7:3");
  Ends ends(Open(files, "a/1"), Open(files, "b/1"));
  ends.Shake();
  EXPECT_FALSE(ends.client->established());
  EXPECT_FALSE(ends.server->established());
  EXPECT_FALSE(ends.server_status.ok());
}

TEST_F(TlsTest, GarbageIsRefused) {
  const auto context = Open(MakeFiles("one", "URI:suede:7:3"));
  for (const std::string garbage : {"GET / HTTP/1.0\r\n\r\n", "\x16\x03\x01\x00\x05xxxxx", ""}) {
    int fds[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    const auto server = TlsConnection::Make(context, fds[1], Role::kServer);
    ASSERT_EQ(write(fds[0], garbage.data(), garbage.size()), static_cast<ssize_t>(garbage.size()));
    shutdown(fds[0], SHUT_WR);
    EXPECT_FALSE(server->Handshake().ok()) << garbage;
    close(fds[0]);
  }
}

TEST_F(TlsTest, FilesThatCannotBeUsed) {
  const TlsFiles good = MakeFiles("one", "URI:suede:7:3");
  const TlsFiles other = MakeFiles("other", "URI:suede:7:3");
  const auto error = [](const TlsFiles& files) {
    return std::string(TlsContext::Open(files, "a/1").status().message());
  };
  const auto has = [](const std::string& text, std::string_view piece) {
    EXPECT_NE(text.find(piece), std::string::npos) << text;
  };
  has(error({.certificate = "/no/such", .key = good.key, .ca = good.ca}),
      "sealing.tls.certificate: cannot read /no/such");
  has(error({.certificate = good.certificate, .key = "/no/such", .ca = good.ca}),
      "sealing.tls.key: cannot read /no/such");
  has(error({.certificate = good.certificate, .key = good.key, .ca = "/no/such"}),
      "sealing.tls.ca: cannot read /no/such");
  has(error({.certificate = good.key, .key = good.key, .ca = good.ca}), "holds no certificate");
  has(error({.certificate = good.certificate, .key = good.ca, .ca = good.ca}),
      "holds no private key");
  has(error({.certificate = good.certificate, .key = good.certificate, .ca = good.key}),
      "holds no private key");
  has(error({.certificate = good.certificate, .key = other.key, .ca = good.ca}),
      "is not the key of the certificate");
  chmod(good.key.c_str(), 0644);
  has(error(good), "chmod 0640");
  chmod(good.key.c_str(), 0640);
  EXPECT_EQ(error(good), "");
  std::ofstream(good.key, std::ios::app) << std::string(9000, '\n');
  has(error(good), "is larger than 8191 bytes");
}

TEST_F(TlsTest, APassphraseIsNotAskedFor) {
  const TlsFiles good = MakeFiles("one", "URI:suede:7:3");
  const std::string locked = directory_ + "/locked.key";
  const std::string command = StrCat("openssl pkey -in ", good.key,
                                     " -aes128 -passout pass:abcd -out ", locked, " 2>/dev/null");
  ASSERT_EQ(std::system(command.c_str()), 0);
  chmod(locked.c_str(), 0600);
  const auto opened =
      TlsContext::Open({.certificate = good.certificate, .key = locked, .ca = good.ca}, "a/1");
  EXPECT_NE(opened.status().message().find("without a passphrase"), std::string::npos)
      << opened.status();
}

}  // namespace
}  // namespace suede
