// SPDX-License-Identifier: Apache-2.0
// TLS 1.3 over a TCP socket that does not block: both ends show a certificate, and what they agree
// on can be exported (docs/sealing.md, "Secrets by TLS"). Control thread.
#ifndef SUEDE_OPENSSL_TLS_H_
#define SUEDE_OPENSSL_TLS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// OpenSSL's SSL and SSL_CTX.
struct ssl_st;
struct ssl_ctx_st;

namespace suede {

// PEM files.
struct TlsFiles {
  std::string certificate;  // and behind it the authorities between it and `ca`
  std::string key;          // of the rights that CheckSecretsFile permits
  std::string ca;
};

class TlsContext {
 public:
  // Reads the files. `alpn`: the protocol, of which both ends must speak the same. Errors name the
  // file and the mend.
  static absl::StatusOr<std::shared_ptr<TlsContext>> Open(const TlsFiles& files,
                                                          std::string_view alpn);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  ssl_ctx_st* get() const { return context_; }
  // When the own certificate expires, in seconds since 1970.
  int64_t certificate_until_s() const;
  const std::string& alpn() const { return alpn_; }  // with its length in front

 private:
  TlsContext() = default;
  ssl_ctx_st* context_ = nullptr;
  std::string alpn_;
};

// One end of a connection. An error is final: its message says in plain words what is wrong, and
// only the end of the connection may follow. Calls return at once. The process ignores
// SIGPIPE.
class TlsConnection {
 public:
  enum class Role : uint8_t { kClient, kServer };
  static constexpr size_t kMaxUris = 64;
  static constexpr size_t kMaxUriBytes = 64;

  // Takes the socket, which is connected or connecting, and does not block. Null: no memory; the
  // socket is closed.
  static std::unique_ptr<TlsConnection> Make(std::shared_ptr<const TlsContext> context, int fd,
                                             Role role);
  ~TlsConnection();
  TlsConnection(const TlsConnection&) = delete;
  TlsConnection& operator=(const TlsConnection&) = delete;

  int fd() const { return fd_; }
  // Whether the connection waits until the socket can be written, rather than read.
  bool wants_write() const { return wants_write_; }
  // Goes on with the handshake, while there is none.
  absl::Status Handshake();
  // The handshake is over: the other end's certificate is verified.
  bool established() const { return established_; }
  // The URIs that the other end's certificate names, without longer or further ones than the limits
  // above.
  std::vector<std::string> PeerUris() const;

  // How many bytes came; 0: none now. kUnavailable: the other end has ended the connection.
  absl::StatusOr<size_t> Read(std::span<uint8_t> bytes);
  // Returns how many bytes were taken; 0: none now, and the same bytes are to be offered again.
  absl::StatusOr<size_t> Write(std::span<const uint8_t> bytes);
  // The exporter of RFC 8446 §7.5, once established.
  absl::Status Export(std::string_view label, std::span<const uint8_t> context,
                      std::span<uint8_t> out) const;

 private:
  TlsConnection(std::shared_ptr<const TlsContext> context, int fd);
  absl::Status CheckPeer() const;
  // The meaning of a call's result: OK where the call is to be repeated later.
  absl::Status OutcomeOf(int result);

  const std::shared_ptr<const TlsContext> context_;
  const int fd_;
  ssl_st* tls_ = nullptr;
  bool wants_write_ = false;
  bool established_ = false;
  bool failed_ = false;
};

}  // namespace suede

#endif  // SUEDE_OPENSSL_TLS_H_
