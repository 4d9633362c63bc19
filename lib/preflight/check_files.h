// SPDX-License-Identifier: Apache-2.0
// Checks of paths that several preflight checks share.
#ifndef SUEDE_PREFLIGHT_CHECK_FILES_H_
#define SUEDE_PREFLIGHT_CHECK_FILES_H_

#include <string>
#include <vector>

#include "preflight/preflight.h"

namespace suede {

// Checks that a file can be created at `path`: its directory exists and is writable or, with
// `made_as_needed`, its nearest existing ancestor is writable.
void CheckDirectoryOf(const Machine& machine, const std::string& key, const std::string& path,
                      bool made_as_needed, std::vector<Finding>& findings);

// Checks that a server can create its socket at `path`: no program listens there, and there is no
// other kind of file.
void CheckPlaceOfSocket(const Machine& machine, const std::string& key, const std::string& path,
                        std::vector<Finding>& findings);

}  // namespace suede

#endif  // SUEDE_PREFLIGHT_CHECK_FILES_H_
