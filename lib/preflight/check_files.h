// SPDX-License-Identifier: Apache-2.0
// Questions of several checks about paths.
#ifndef SUEDE_PREFLIGHT_CHECK_FILES_H_
#define SUEDE_PREFLIGHT_CHECK_FILES_H_

#include <string>
#include <vector>

#include "preflight/preflight.h"

namespace suede {

// Whether a file can be made at `path`: its directory is there and writable or, where directories
// are made as needed, the nearest one above it is.
void CheckDirectoryOf(const Machine& machine, const std::string& key, const std::string& path,
                      bool made_as_needed, std::vector<Finding>& findings);

// Checks that a server can make its socket at `path`: no program listens there, and no other file
// is there.
void CheckPlaceOfSocket(const Machine& machine, const std::string& key, const std::string& path,
                        std::vector<Finding>& findings);

}  // namespace suede

#endif  // SUEDE_PREFLIGHT_CHECK_FILES_H_
