// SPDX-License-Identifier: Apache-2.0
// Answers probes of the path, and takes the reports of own ones (docs/path.md). Owned by the lcore.
#ifndef SUEDE_RECEIVE_PATH_REPORTER_H_
#define SUEDE_RECEIVE_PATH_REPORTER_H_

#include <cstdint>

#include "base/coordinates.h"
#include "lcore/lcore.h"
#include "port/frame.h"
#include "wire/control_pdu.h"

namespace suede {

class PathReporter {
 public:
  // `lcore` outlives this object.
  explicit PathReporter(Lcore& lcore) : lcore_(lcore) {}

  // The place where a PDU has arrived.
  struct Place {
    Instance& instance;
    PeerIndex peer;
    PlaneIndex plane;
  };
  // A PATH of the association has arrived in `frame`, whose session number is `session`.
  void OnPath(const Place& at, const Path& message, const Frame& frame, uint16_t session, Time now);

 private:
  void OnProbe(const Place& at, const Path& probe, const Frame& frame, uint16_t session, Time now);
  void OnReport(const Place& at, const Path& report, const Frame& frame, Time now);

  Lcore& lcore_;
};

}  // namespace suede

#endif  // SUEDE_RECEIVE_PATH_REPORTER_H_
