// SPDX-License-Identifier: Apache-2.0
// Common parts of the functions of the C ABI.
#ifndef SUEDE_LIBSUEDE_MEM_ABI_H_
#define SUEDE_LIBSUEDE_MEM_ABI_H_

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "planes/planes.h"

namespace suede::mem {

struct StatusText {
  uint32_t status;
  const char* name;
  const char* text;
};

// Returns the row of a status; `unknown` for both texts if there is none.
template <size_t N>
StatusText FindStatus(const StatusText (&statuses)[N], uint32_t status, const char* unknown) {
  for (const StatusText& each : statuses) {
    if (each.status == status) return each;
  }
  return {status, unknown, unknown};
}

// Creates a T and opens it with *params, or for null with defaults. Returns 0 or a negative errno.
// `no_room`, `wrong_size`: error texts of a null `out`, and of params of another version.
template <class T, class Params>
int OpenNew(const char* name_or_path, const Params* params, T** out, const char* no_room,
            const char* wrong_size) {
  if (out == nullptr) return Fail(-EINVAL, no_room);
  if (name_or_path == nullptr) {
    return Fail(-EINVAL, "cannot open: no name; give an endpoint's name or its socket's path");
  }
  *out = nullptr;
  if (params != nullptr && params->size != sizeof *params) return Fail(-EINVAL, wrong_size);
  auto opened = std::make_unique<T>();
  const int error = opened->Open(name_or_path, params != nullptr ? *params : Params{});
  if (error == 0) *out = opened.release();
  return error;
}

}  // namespace suede::mem

#endif  // SUEDE_LIBSUEDE_MEM_ABI_H_
