// SPDX-License-Identifier: Apache-2.0
#include "openssl/tls_files.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>

#include "base/text.h"
#include "openssl/key_memory.h"
#include "seal/locked_memory.h"
#include "seal/secrets_file.h"

namespace suede::internal {
namespace {

constexpr size_t kKeyFileRoom = LockedMemory::kMaxBytes;

struct OpensslFree {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};

// Explains an alert by which the other end has rejected us; empty if the error is another one.
std::string_view WhyRefused(int reason) {
  switch (reason) {
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
      return "our certificate has expired, by its clock";
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
      return "our certificate is of an authority that it does not know";
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
      return "our certificate is not good: perhaps not valid yet, by its clock";
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
      return "our certificate is revoked";
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
      return "our certificate is not for this purpose";
    case SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL:
      return "it does not speak suede-seal/1";
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
      return "it does not speak TLS 1.3";
    default:
      return {};
  }
}

absl::Status CannotRead(std::string_view key, const std::string& file) {
  const int error = errno;
  return absl::ErrnoToStatus(error, StrCat("sealing.tls.", key, ": cannot read ", file));
}

absl::Status CheckReadable(std::string_view key, const std::string& file) {
  return access(file.c_str(), R_OK) == 0 ? absl::OkStatus() : CannotRead(key, file);
}

absl::Status NotPem(std::string_view key, const std::string& file, std::string_view content) {
  return absl::InvalidArgumentError(StrCat("sealing.tls.", key, ": ", file, " holds no ", content,
                                           " in PEM form: ", TakeTlsError()));
}

// Keeps OpenSSL from prompting on a terminal.
int NoPassphrase(char*, int, int, void*) { return 0; }

// A block of locked memory, overwritten when freed.
class LockedBytes {
 public:
  LockedBytes() : bytes_(static_cast<char*>(LockedMemory::OfProcess().Allocate(kKeyFileRoom))) {}
  ~LockedBytes() { LockedMemory::OfProcess().Free(bytes_); }
  LockedBytes(const LockedBytes&) = delete;
  LockedBytes& operator=(const LockedBytes&) = delete;
  char* get() const { return bytes_; }

 private:
  char* const bytes_;
};

// Reads a whole key file. `size`: bytes read; kKeyFileRoom if the file is larger.
absl::Status ReadKeyFile(const std::string& file, const LockedBytes& bytes, size_t& size) {
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return CannotRead("key", file);
  struct stat info {};
  absl::Status status;
  if (fstat(fd, &info) != 0) {
    status = CannotRead("key", file);
  } else {
    status = CheckSecretsFile(file, info.st_uid, info.st_mode, geteuid());
  }
  ssize_t count = 0;
  while (status.ok() && size < kKeyFileRoom &&
         (count = read(fd, bytes.get() + size, kKeyFileRoom - size)) > 0) {
    size += static_cast<size_t>(count);
  }
  if (count < 0) status = CannotRead("key", file);
  close(fd);
  return status;
}

absl::Status LoadKey(const std::string& file, SSL_CTX* context) {
  const LockedBytes bytes;
  if (bytes.get() == nullptr) {
    return absl::ResourceExhaustedError(LockedMemory::OfProcess().Shortage());
  }
  size_t size = 0;
  if (absl::Status status = ReadKeyFile(file, bytes, size); !status.ok()) return status;
  if (size == kKeyFileRoom) {
    return absl::InvalidArgumentError(StrCat("sealing.tls.key: ", file, " is larger than ",
                                             kKeyFileRoom - 1, " bytes; use a smaller key"));
  }
  const KeyMemory locked(KeyMemory::Large::kOutside);
  const std::unique_ptr<BIO, OpensslFree> bio(BIO_new_mem_buf(bytes.get(), static_cast<int>(size)));
  const std::unique_ptr<EVP_PKEY, OpensslFree> key(
      bio != nullptr ? PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassphrase, nullptr)
                     : nullptr);
  if (key == nullptr) return NotPem("key", file, "private key without a passphrase");
  if (SSL_CTX_use_PrivateKey(context, key.get()) == 1 && SSL_CTX_check_private_key(context) == 1) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      StrCat("sealing.tls.key: ", file, " is not the key of the certificate: ", TakeTlsError()));
}

}  // namespace

std::string WhyNotVerified(long result) {
  switch (result) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "its certificate has expired, by this clock";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "its certificate is not yet valid, by this clock";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      return StrCat("its certificate is of an authority that sealing.tls.ca does not hold: ",
                    X509_verify_cert_error_string(result));
    default:
      return StrCat("its certificate is not accepted: ", X509_verify_cert_error_string(result));
  }
}

std::string TakeTlsError() {
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  if (error == 0) return "no reason from OpenSSL";
  const int reason = ERR_GET_REASON(error);
  if (ERR_GET_LIB(error) == ERR_LIB_SSL) {
    if (const std::string_view why = WhyRefused(reason); !why.empty()) {
      return StrCat("the other end refuses: ", why);
    }
  }
  const char* const text = ERR_reason_error_string(error);
  return text != nullptr ? text : StrCat("OpenSSL's error ", error);
}

absl::Status LoadTlsFiles(const TlsFiles& files, SSL_CTX* context) {
  if (absl::Status status = CheckReadable("certificate", files.certificate); !status.ok()) {
    return status;
  }
  if (SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) != 1) {
    return NotPem("certificate", files.certificate, "certificate");
  }
  if (absl::Status status = LoadKey(files.key, context); !status.ok()) return status;
  if (absl::Status status = CheckReadable("ca", files.ca); !status.ok()) return status;
  if (SSL_CTX_load_verify_file(context, files.ca.c_str()) != 1) {
    return NotPem("ca", files.ca, "certificate");
  }
  return absl::OkStatus();
}

}  // namespace suede::internal
