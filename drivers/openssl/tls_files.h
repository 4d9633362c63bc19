// SPDX-License-Identifier: Apache-2.0
// Loads the files of a TLS context: certificate, private key, CA certificates. Explains OpenSSL's
// errors. Control thread.
#ifndef SUEDE_OPENSSL_TLS_FILES_H_
#define SUEDE_OPENSSL_TLS_FILES_H_

#include <openssl/ssl.h>

#include <string>

#include "absl/status/status.h"
#include "openssl/tls.h"

namespace suede::internal {

// Loads the files into the context. Errors name the file and the mend.
absl::Status LoadTlsFiles(const TlsFiles& files, SSL_CTX* context);

// Explains why the other end's certificate was rejected, from the result of its verification.
std::string WhyNotVerified(long result);
// Explains why TLS failed, from the newest error in the thread's queue, and clears the queue.
std::string TakeTlsError();

}  // namespace suede::internal

#endif  // SUEDE_OPENSSL_TLS_FILES_H_
