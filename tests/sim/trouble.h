// SPDX-License-Identifier: Apache-2.0
// The faults of a world's ports: cables, switches and devices that fail in every way that
// the simulator knows, one way or both, for a moment or for long, and several at a time. And the
// operators' actions on them.
#ifndef SUEDE_TESTS_SIM_TROUBLE_H_
#define SUEDE_TESTS_SIM_TROUBLE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "dice.h"
#include "host.h"
#include "log.h"
#include "sim/sim.h"
#include "wiring.h"

namespace suede {

struct TroubleOptions {
  static constexpr uint32_t kNone = ~0u;
  Duration until{};  // nothing begins later, and faults under way then end; 0: none at all
  Duration gap = std::chrono::milliseconds(2);        // from one to the next, on average
  Duration min = std::chrono::microseconds(20);       // that one lasts
  Duration max = std::chrono::milliseconds(20);
  uint32_t spared = kNone;  // nothing happens to this switch and the ports on it
  bool hosts = false;       // all ports of a host may fail at once
  uint64_t routes = 0;      // seed by which routes of single peers are withdrawn; 0: none are
  bool pauses = false;      // ports are paused, of each host one at a time, and nothing else
  bool of_first = false;    // happens, and this to the first host alone
};

class Trouble {
 public:
  // The arguments outlive it.
  Trouble(const TroubleOptions& options, const Wiring& wiring,
          const std::vector<std::unique_ptr<SimNetwork>>& switches,
          const std::vector<std::unique_ptr<Host>>& hosts, Dice& dice, Log& log);

  void Turn(Time now);
  // Whether more may come.
  bool over() const { return over_ && refused_.empty() && withdrawn_.empty(); }
  uint64_t begun() const { return begun_; }

 private:
  enum class Kind : uint8_t {
    kDown,     // the link
    kSilent,   // all that it sends and all that comes for it is lost
    kMute,     // all that it sends
    kDeaf,     // all that comes for it
    kStuck,    // nothing leaves its ring
    kSlow,
    kFar,      // frames take long
    kLossy,
    kShort,    // it loses long frames
    kBlocked,  // the switch forwards nothing from it to one other
    kDrained,  // an operator has set the plane so
    kSetDown,
  };
  static constexpr uint32_t kKinds = 12;
  struct Place {
    uint32_t host;
    uint32_t plane;  // the host's number
    bool operator==(const Place&) const = default;
  };
  struct Case {
    Kind kind;
    Place place;
    uint32_t to;      // kBlocked: host
    Time until;
    Duration flap{};  // it goes off and on, so often; 0: it does not
    Time flaps{};
    bool on = true;
    double amount;    // of a kind that has degrees, 0 to 1
  };
  // The weight of a plane to one peer is 0.
  struct Withdrawn {
    request::SetWeight route;
    uint32_t host;
    Time until;
  };
  void Begin(Time now);
  void Add(Case c, std::vector<Place> places, Time now);
  std::vector<Place> PickPlaces();
  bool Spared(const Place& place) const;
  // Brings a port in line with the cases that concern it.
  void Apply(const Place& place);
  void ApplyBlocked(const Case& c);
  void SetPlane(const Place& place, PlaneAdmin admin);
  void SetWeight(Time now);
  void RestoreRoutes(Time now);
  void Report(const Case& c, Time now, const char* what);
  SimPort& PortAt(const Place& place) const { return *hosts_[place.host]->ports[place.plane]; }
  SimPort* PortOn(uint32_t host, uint32_t number) const;

  const TroubleOptions options_;
  const Wiring& wiring_;
  const std::vector<std::unique_ptr<SimNetwork>>& switches_;
  const std::vector<std::unique_ptr<Host>>& hosts_;
  Dice& dice_;
  Dice routes_;  // by itself, so that seeds play as they did before there were routes
  Log& log_;
  std::vector<std::vector<SimFaults>> usual_;  // [host][plane]: without trouble
  std::vector<Withdrawn> withdrawn_;
  std::vector<Place> refused_;  // whose daemon had no room for a request
  std::vector<std::vector<PlaneAdmin>> admin_;  // likewise: as the last request had it
  std::vector<Case> cases_;
  Time next_{};
  bool over_ = false;
  uint64_t begun_ = 0;
};

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_TROUBLE_H_
