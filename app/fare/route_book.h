// SPDX-License-Identifier: Apache-2.0
// The kernel's next hops of each peer and the bandwidths that bgpd knows of them: which peers
// bgpd is to be asked about, and the next hops as lib/fare takes them. No I/O.
//
// The kernel says which next hops there are. Where bandwidths count, one that bgpd has not been
// asked about yet is left out: that a next hop has gone takes effect at once, that one has come
// when its bandwidth is known. An answer that lacks a next hop says that it has no bandwidth only
// if the kernel had the next hop from the question to the answer.
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
  // The name of an interface; empty: there is none of that index.
  using NameOf = std::function<std::string(uint32_t index)>;
  RouteBook(size_t peers, bool asks_bgp, NameOf name_of)
      : asks_bgp_(asks_bgp), name_of_(std::move(name_of)), peers_(peers) {}

  // Takes the kernel's next hops of a peer. Returns whether they have changed.
  bool OnKernel(uint32_t peer, const std::vector<KernelHop>& hops);
  // Takes the answer to the last question about the peer: what bgpd says of its prefix.
  void OnBgp(uint32_t peer, const PathBandwidths& paths);

  // Up to `max` peers about which bgpd is to be asked; they count as asked.
  std::vector<uint32_t> TakeQuestions(size_t max);
  // The questions about these peers have had no answer.
  void AskAgain(const std::vector<uint32_t>& peers);
  bool HasQuestions() const;

  // All that is known of the peer's next hops.
  std::vector<NextHop> HopsOf(uint32_t peer) const;
  // Whether there are next hops, and nothing is known of any.
  bool IsUnknown(uint32_t peer) const;
  Measure measure() const { return asks_bgp_ ? Measure::kBandwidth : Measure::kShare; }

 private:
  struct Peer {
    std::vector<KernelHop> hops;
    std::vector<std::string> interfaces;  // of the hops
    PathBandwidths paths;
    // Gateways that the kernel has had since the question was taken, and since the question that
    // was answered last.
    std::vector<std::string> asking;
    std::vector<std::string> answered;
    bool is_asked_about = false;
    bool heard = false;  // by the kernel
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
