// SPDX-License-Identifier: Apache-2.0
// The files of a TLS context: certificate, private key, authorities. And OpenSSL's errors in plain
// words. Control thread.
#ifndef SUEDE_OPENSSL_TLS_FILES_H_
#define SUEDE_OPENSSL_TLS_FILES_H_

#include <openssl/ssl.h>

#include <string>

#include "absl/status/status.h"
#include "openssl/tls.h"

namespace suede::internal {

// Reads the files into the context. Errors name the file and the mend.
absl::Status LoadTlsFiles(const TlsFiles& files, SSL_CTX* context);

// Why the certificate of the other end is not accepted, by the result of its verification.
std::string WhyNotVerified(long result);
// Why TLS failed, by the newest error of the thread's queue, which is emptied.
std::string TakeTlsError();

}  // namespace suede::internal

#endif  // SUEDE_OPENSSL_TLS_FILES_H_
