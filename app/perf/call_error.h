// SPDX-License-Identifier: Apache-2.0
// Conversion of errors of libsuede and libsuede-mem to statuses.
#ifndef SUEDE_APP_PERF_CALL_ERROR_H_
#define SUEDE_APP_PERF_CALL_ERROR_H_

#include <cerrno>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace suede::perf {

// Returns the status of a failed call. `error`: the negative errno that it returned. `text`: the
// library's error text, prefixed by the endpoint.
inline absl::Status StatusOfCall(int error, absl::string_view text) {
  switch (error) {
    case -ENOENT:
    case -ECONNREFUSED:
    case -ECONNRESET:
    case -ETIMEDOUT:
      return absl::UnavailableError(
          absl::StrCat(text, "; is suede running there? --endpoint takes its name or socket"));
    case -ENOTSUP:
    case -EINVAL:
      return absl::InvalidArgumentError(text);
    default:
      return absl::InternalError(text);
  }
}

}  // namespace suede::perf

#endif  // SUEDE_APP_PERF_CALL_ERROR_H_
