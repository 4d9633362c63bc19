// SPDX-License-Identifier: Apache-2.0
// The version of suede.
#ifndef SUEDE_APP_DAEMON_VERSION_H_
#define SUEDE_APP_DAEMON_VERSION_H_

namespace suede {

extern const char* const kVersion;   // SemVer
extern const char* const kRevision;  // git describe at build time

}  // namespace suede

#endif  // SUEDE_APP_DAEMON_VERSION_H_
