// SPDX-License-Identifier: Apache-2.0
// Combines the kernel's next hops of each peer with bgpd's bandwidths: decides which peers to query
// bgpd for, and returns the next hops for lib/fare. No I/O.
//
// The kernel determines the next hops. If bandwidths are used, a next hop not yet queried is left
// out: a removed next hop takes effect at once, an added one when its bandwidth is known. A reply
// without a next hop means that it has no bandwidth only if the kernel had the next hop from the
// query to the reply.
#ifndef SUEDE_APP_FARE_ROUTE_BOOK_H_
#define SUEDE_APP_FARE_ROUTE_BOOK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bgp_paths.h"
#include "fare/shares.h"
#include "route_messages.h"

namespace suede::fare {

class RouteBook {
 public:
  // Returns the name of an interface; empty if there is none.
  using NameOf = std::function<std::string(uint32_t index)>;
  RouteBook(size_t peers, bool asks_bgp, NameOf name_of)
      : asks_bgp_(asks_bgp), name_of_(std::move(name_of)), peers_(peers) {}

  // Updates the kernel's next hops of a peer. Returns whether they have changed.
  bool OnKernel(uint32_t peer, const std::vector<KernelHop>& hops);
  // Updates the peer's paths from bgpd's reply to the last query.
  void OnBgp(uint32_t peer, const PathBandwidths& paths);

  // Returns up to `max` peers to query bgpd for, and marks them as queried.
  std::vector<uint32_t> TakeQuestions(size_t max);
  // Marks these peers for another query, as there was no reply.
  void AskAgain(const std::vector<uint32_t>& peers);
  bool HasQuestions() const;

  // Returns the peer's next hops whose bandwidths are known or not needed.
  std::vector<NextHop> HopsOf(uint32_t peer) const;
  // Whether there are next hops, but none with known bandwidth.
  bool IsUnknown(uint32_t peer) const;
  Measure measure() const { return asks_bgp_ ? Measure::kBandwidth : Measure::kShare; }

 private:
  struct Peer {
    std::vector<KernelHop> hops;
    std::vector<std::string> interfaces;  // of the hops
    PathBandwidths paths;
    // Gateways that the kernel has had since the pending query, and since the last answered query.
    std::vector<std::string> asking;
    std::vector<std::string> answered;
    bool needs_query = false;
    bool reported = false;  // from the kernel
  };
  static const std::optional<double>* PathIn(const PathBandwidths& paths, const Peer& peer,
                                             size_t hop);
  static bool IsKnown(const Peer& peer, size_t hop);

  const bool asks_bgp_;
  const NameOf name_of_;
  std::vector<Peer> peers_;
};

}  // namespace suede::fare

#endif  // SUEDE_APP_FARE_ROUTE_BOOK_H_
