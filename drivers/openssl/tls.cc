// SPDX-License-Identifier: Apache-2.0
#include "openssl/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/text.h"
#include "openssl/key_memory.h"
#include "openssl/tls_files.h"
#include "seal/locked_memory.h"

namespace suede {
namespace {

constexpr int kMaxCertificateBytes = 16 << 10;  // of the other end's chain
constexpr int kMaxDepth = 4;                    // max intermediate certificates of the other end

// Selects the server's only protocol, or fails.
int ChooseProtocol(SSL*, const unsigned char** out, unsigned char* out_bytes,
                   const unsigned char* offered, unsigned int offered_bytes, void* argument) {
  const auto& own = static_cast<const TlsContext*>(argument)->alpn();
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_bytes, reinterpret_cast<const unsigned char*>(own.data()),
                            static_cast<unsigned int>(own.size()), offered,
                            offered_bytes) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

absl::Status NoMemory() {
  ERR_clear_error();
  std::string shortage = LockedMemory::OfProcess().Shortage();
  return absl::ResourceExhaustedError(shortage.empty() ? "OpenSSL has no memory" : shortage);
}

}  // namespace

absl::StatusOr<std::shared_ptr<TlsContext>> TlsContext::Open(const TlsFiles& files,
                                                             std::string_view alpn) {
  std::shared_ptr<TlsContext> made(new TlsContext);
  made->alpn_ = StrCat(std::string(1, static_cast<char>(alpn.size())), alpn);
  SSL_CTX* const context = made->context_ = SSL_CTX_new(TLS_method());
  if (context == nullptr) return NoMemory();
  const auto* protocols = reinterpret_cast<const unsigned char*>(made->alpn_.data());
  if (SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_alpn_protos(context, protocols, static_cast<unsigned>(made->alpn_.size())) != 0) {
    return absl::UnavailableError(StrCat("OpenSSL has no TLS 1.3: ", internal::TakeTlsError()));
  }
  SSL_CTX_set_alpn_select_cb(context, ChooseProtocol, made.get());
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_verify_depth(context, kMaxDepth);
  SSL_CTX_set_max_cert_list(context, kMaxCertificateBytes);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(context, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (absl::Status status = internal::LoadTlsFiles(files, context); !status.ok()) return status;
  return made;
}

int64_t TlsContext::certificate_until_s() const {
  std::tm until{};
  const X509* const certificate = SSL_CTX_get0_certificate(context_);
  if (certificate == nullptr || ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &until) != 1) {
    return 0;
  }
  return timegm(&until);
}

TlsContext::~TlsContext() { SSL_CTX_free(context_); }

TlsConnection::TlsConnection(std::shared_ptr<const TlsContext> context, int fd)
    : context_(std::move(context)), fd_(fd) {}

std::unique_ptr<TlsConnection> TlsConnection::Make(std::shared_ptr<const TlsContext> context,
                                                   int fd, Role role) {
  std::unique_ptr<TlsConnection> made(new TlsConnection(std::move(context), fd));
  const internal::KeyMemory locked(internal::KeyMemory::Large::kOutside);
  made->tls_ = SSL_new(made->context_->get());
  if (made->tls_ == nullptr || SSL_set_fd(made->tls_, fd) != 1) {
    ERR_clear_error();
    return nullptr;
  }
  role == Role::kClient ? SSL_set_connect_state(made->tls_) : SSL_set_accept_state(made->tls_);
  made->wants_write_ = role == Role::kClient;
  return made;
}

TlsConnection::~TlsConnection() {
  if (established_ && !failed_) SSL_shutdown(tls_);
  SSL_free(tls_);
  ERR_clear_error();
  // Reads unread bytes, which would make close() send a reset that can overtake our alert.
  shutdown(fd_, SHUT_WR);
  std::array<uint8_t, 4096> unread;
  for (int max = 16; max != 0 && recv(fd_, unread.data(), unread.size(), MSG_DONTWAIT) > 0;) {
    --max;
  }
  close(fd_);
}

absl::Status TlsConnection::OutcomeOf(int result) {
  const int error_number = errno;
  const int error = SSL_get_error(tls_, result);
  wants_write_ = error == SSL_ERROR_WANT_WRITE;
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return absl::OkStatus();
  if (error == SSL_ERROR_ZERO_RETURN) {
    return absl::UnavailableError("the other end has ended the connection");
  }
  failed_ = true;
  const long verified = SSL_get_verify_result(tls_);
  const unsigned long queued = ERR_peek_last_error();
  if (verified != X509_V_OK && ERR_GET_REASON(queued) == SSL_R_CERTIFICATE_VERIFY_FAILED) {
    ERR_clear_error();
    return absl::PermissionDeniedError(internal::WhyNotVerified(verified));
  }
  if (error == SSL_ERROR_SYSCALL && queued == 0) {
    if (error_number == 0) return absl::UnavailableError("the other end has ended the connection");
    return absl::UnavailableError(std::strerror(error_number));
  }
  if (ERR_GET_REASON(queued) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    ERR_clear_error();
    return absl::UnavailableError("the other end has ended the connection");
  }
  return absl::PermissionDeniedError(internal::TakeTlsError());
}

absl::Status TlsConnection::CheckPeer() const {
  const unsigned char* chosen = nullptr;
  unsigned int bytes = 0;
  SSL_get0_alpn_selected(tls_, &chosen, &bytes);
  const std::string_view own = std::string_view(context_->alpn()).substr(1);
  if (bytes != own.size() || std::memcmp(chosen, own.data(), bytes) != 0) {
    return absl::PermissionDeniedError(StrCat("the other end does not speak ", own));
  }
  if (SSL_get_verify_result(tls_) == X509_V_OK && SSL_get0_peer_certificate(tls_) != nullptr) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError("the other end shows no certificate");
}

absl::Status TlsConnection::Handshake() {
  if (established_) return absl::OkStatus();
  const internal::KeyMemory locked(internal::KeyMemory::Large::kOutside);
  ERR_clear_error();
  errno = 0;
  const int result = SSL_do_handshake(tls_);
  if (result != 1) return OutcomeOf(result);
  wants_write_ = false;
  absl::Status status = CheckPeer();
  established_ = status.ok();
  return status;
}

std::vector<std::string> TlsConnection::PeerUris() const {
  std::vector<std::string> uris;
  const X509* const certificate = SSL_get0_peer_certificate(tls_);
  if (certificate == nullptr) return uris;
  auto* const names = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(names) && uris.size() < kMaxUris; ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names, i);
    if (name->type != GEN_URI) continue;
    const ASN1_IA5STRING* const uri = name->d.uniformResourceIdentifier;
    const auto bytes = static_cast<size_t>(ASN1_STRING_length(uri));
    if (bytes > kMaxUriBytes) continue;
    uris.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(uri)), bytes);
  }
  GENERAL_NAMES_free(names);
  ERR_clear_error();
  return uris;
}

absl::StatusOr<size_t> TlsConnection::Read(std::span<uint8_t> bytes) {
  const internal::KeyMemory locked(internal::KeyMemory::Large::kOutside);
  ERR_clear_error();
  errno = 0;
  const int count = SSL_read(tls_, bytes.data(), static_cast<int>(bytes.size()));
  if (count > 0) return static_cast<size_t>(count);
  if (absl::Status status = OutcomeOf(count); !status.ok()) return status;
  return size_t{0};
}

absl::StatusOr<size_t> TlsConnection::Write(std::span<const uint8_t> bytes) {
  const internal::KeyMemory locked(internal::KeyMemory::Large::kOutside);
  ERR_clear_error();
  errno = 0;
  const int count = SSL_write(tls_, bytes.data(), static_cast<int>(bytes.size()));
  if (count > 0) return static_cast<size_t>(count);
  if (absl::Status status = OutcomeOf(count); !status.ok()) return status;
  return size_t{0};
}

absl::Status TlsConnection::Export(std::string_view label, std::span<const uint8_t> context,
                                   std::span<uint8_t> out) const {
  const internal::KeyMemory locked(internal::KeyMemory::Large::kOutside);
  if (established_ &&
      SSL_export_keying_material(tls_, out.data(), out.size(), label.data(), label.size(),
                                 context.data(), context.size(), 1) == 1) {
    return absl::OkStatus();
  }
  return absl::InternalError(internal::TakeTlsError());
}

}  // namespace suede
