// SPDX-License-Identifier: Apache-2.0
// TLS 1.3 over a non-blocking TCP socket: both ends present a certificate, and keying material can
// be exported (docs/sealing.md, "Secrets by TLS"). Control thread.
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

// SSL and SSL_CTX of OpenSSL.
struct ssl_st;
struct ssl_ctx_st;

namespace suede {

// PEM files.
struct TlsFiles {
  std::string certificate;  // followed by the intermediate certificates up to `ca`
  std::string key;          // with the file mode that CheckSecretsFile permits
  std::string ca;
};

class TlsContext {
 public:
  // Reads the files. `alpn`: the protocol that both ends must support. Errors name the file and the
  // mend.
  static absl::StatusOr<std::shared_ptr<TlsContext>> Open(const TlsFiles& files,
                                                          std::string_view alpn);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  ssl_ctx_st* get() const { return context_; }
  // Returns the expiry time of the own certificate, in seconds since 1970.
  int64_t certificate_until_s() const;
  const std::string& alpn() const { return alpn_; }  // preceded by its length

 private:
  TlsContext() = default;
  ssl_ctx_st* context_ = nullptr;
  std::string alpn_;
};

// One end of a connection. An error is final: its message explains the problem, and only
// destruction may follow. Calls do not block. The process must ignore SIGPIPE.
class TlsConnection {
 public:
  enum class Role : uint8_t { kClient, kServer };
  static constexpr size_t kMaxUris = 64;
  static constexpr size_t kMaxUriBytes = 64;

  // Takes ownership of the socket, which is connected or connecting, and non-blocking. Returns
  // null, with the socket closed, if memory is short.
  static std::unique_ptr<TlsConnection> Make(std::shared_ptr<const TlsContext> context, int fd,
                                             Role role);
  ~TlsConnection();
  TlsConnection(const TlsConnection&) = delete;
  TlsConnection& operator=(const TlsConnection&) = delete;

  int fd() const { return fd_; }
  // Whether the connection waits until the socket is writable, else until it is readable.
  bool wants_write() const { return wants_write_; }
  // Continues the handshake; no-op once established.
  absl::Status Handshake();
  // Whether the handshake is complete and the other end's certificate verified.
  bool established() const { return established_; }
  // Returns the URIs in the other end's certificate, without URIs beyond the limits above.
  std::vector<std::string> PeerUris() const;

  // Returns the number of bytes received; 0: none available. kUnavailable: the other end has closed
  // the connection.
  absl::StatusOr<size_t> Read(std::span<uint8_t> bytes);
  // Returns the number of bytes taken; 0: none now, and the next call must offer the same bytes.
  absl::StatusOr<size_t> Write(std::span<const uint8_t> bytes);
  // Exports keying material (RFC 8446 §7.5), once established.
  absl::Status Export(std::string_view label, std::span<const uint8_t> context,
                      std::span<uint8_t> out) const;

 private:
  TlsConnection(std::shared_ptr<const TlsContext> context, int fd);
  absl::Status CheckPeer() const;
  // Interprets the result of an OpenSSL call; OK: repeat the call later.
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
