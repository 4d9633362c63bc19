// SPDX-License-Identifier: Apache-2.0
// The control thread's loop.
#ifndef SUEDE_APP_SUEDE_SERVE_H_
#define SUEDE_APP_SUEDE_SERVE_H_

#include <string>

#include "daemon/logger.h"
#include "daemon/notifier.h"
#include "endpoint/client_service.h"
#include "endpoint/endpoint.h"
#include "endpoint/management.h"
#include "endpoint/observer.h"
#include "endpoint/packet_service.h"
#include "endpoint/peer_metrics.h"

namespace suede {

// The parts that the loop serves. All exist, and the lcores run.
struct Served {
  Endpoint& endpoint;
  ClientService& clients;
  Management& management;
  PacketService& packets;
  Observer& observer;
  PeerMetrics& peers;
  Notifier& notifier;
  Logger& log;
  int signals;  // a non-blocking signalfd
};

// Returns the endpoint's state in a line for the service manager.
std::string StatusLine(const Endpoint& endpoint);

// Serves until a signal or a drain request, then drains. Returns the exit code.
int Serve(const Served& served, double drain_seconds);

}  // namespace suede

#endif  // SUEDE_APP_SUEDE_SERVE_H_
