// SPDX-License-Identifier: Apache-2.0
#include "trouble.h"

#include <algorithm>
#include <utility>

namespace suede {

Trouble::Trouble(const TroubleOptions& options, const Wiring& wiring,
                 const std::vector<std::unique_ptr<SimNetwork>>& switches,
                 const std::vector<std::unique_ptr<Host>>& hosts, Dice& dice, Log& log)
    : options_(options),
      wiring_(wiring),
      switches_(switches),
      hosts_(hosts),
      dice_(dice),
      routes_(options.routes),
      log_(log) {
  for (const auto& host : hosts_) {
    usual_.emplace_back();
    for (SimPort* port : host->ports) usual_.back().push_back(port->faults());
    admin_.emplace_back(host->ports.size(), PlaneAdmin::kUp);
  }
  over_ = options_.until == Duration{};
  if (!over_) next_ = Time{} + dice_.Up(2 * options_.gap);
}

void Trouble::Turn(Time now) {
  for (const Place& place : std::exchange(refused_, {})) Apply(place);
  RestoreRoutes(now);
  if (over_) return;
  const bool ends = now >= Time{} + options_.until;
  for (size_t i = 0; i < cases_.size();) {
    Case& c = cases_[i];
    const Case before = c;
    const bool ended = ends || now >= c.until;
    if (ended) {
      c = cases_.back();
      cases_.pop_back();
    } else {
      ++i;
      if (c.flap == Duration{} || now < c.flaps) continue;
      c.on = !c.on;
      c.flaps = now + dice_.Up(2 * c.flap);
    }
    Report(before, now, ended ? "ends" : before.on ? "pauses" : "goes on");
    if (before.kind == Kind::kBlocked) ApplyBlocked(before);
    Apply(before.place);
  }
  over_ = ends;
  if (ends || now < next_) return;
  next_ = now + dice_.Up(2 * options_.gap);
  Begin(now);
}

bool Trouble::Spared(const Place& place) const {
  return wiring_.SwitchOf(place.host, place.plane) == options_.spared;
}

// Mostly one port; now and then all of a switch, or all of a host.
std::vector<Trouble::Place> Trouble::PickPlaces() {
  std::vector<Place> all;
  for (uint32_t h = 0; h < hosts_.size(); ++h) {
    for (uint32_t p = 0; p < hosts_[h]->ports.size(); ++p) all.push_back({h, p});
  }
  const size_t among = options_.of_first ? hosts_[0]->ports.size() : all.size();
  const Place one = all[dice_.Below(among)];
  const uint64_t scope = options_.of_first ? 7 : dice_.Below(8);
  if (scope > 1) return {one};
  std::vector<Place> places;
  for (const Place& place : all) {
    const bool same = scope == 0 ? wiring_.SwitchOf(place.host, place.plane) ==
                                       wiring_.SwitchOf(one.host, one.plane)
                                 : options_.hosts && place.host == one.host;
    if (same || place == one) places.push_back(place);
  }
  return places;
}

void Trouble::Begin(Time now) {
  if (options_.pauses) {
    const std::vector<Place> places = PickPlaces();
    for (const Case& c : cases_) {
      for (const Place& place : places) {
        if (c.place.host == place.host) return;
      }
    }
    const Time until = now + dice_.OfAnyScale(options_.min, options_.max);
    return Add({.kind = Kind::kStuck, .place = {}, .to = 0, .until = until, .amount = 0}, places,
               now);
  }
  if (dice_.Chance(0.1)) return SetWeight(now);
  Case c{.kind = static_cast<Kind>(dice_.Below(kKinds)),
         .place = {},
         .to = static_cast<uint32_t>(dice_.Below(hosts_.size())),
         .until = now + dice_.OfAnyScale(options_.min, options_.max),
         .amount = static_cast<double>(dice_.Below(1001)) / 1000};
  if (dice_.Chance(0.3)) {
    c.flap = dice_.OfAnyScale(options_.min, options_.max / 4);
    c.flaps = now + dice_.Up(2 * c.flap);
  }
  Add(c, PickPlaces(), now);
}

void Trouble::Report(const Case& c, Time now, const char* what) {
  constexpr const char* kNames[kKinds] = {"down",  "silent", "mute",  "deaf",  "stuck",
                                          "slow",  "far",    "lossy", "short", "blocked",
                                          "drained", "set down"};
  log_.Add(now, "trouble %s: host %u plane %u (switch %u) %s, %.3f, to %u", what, c.place.host,
           c.place.plane, wiring_.SwitchOf(c.place.host, c.place.plane),
           kNames[static_cast<size_t>(c.kind)], c.amount, c.to);
}

void Trouble::Add(Case c, std::vector<Place> places, Time now) {
  for (const Place& place : places) {
    if (Spared(place) || (c.kind == Kind::kBlocked && c.to == place.host)) continue;
    ++begun_;
    c.place = place;
    cases_.push_back(c);
    Report(c, now, "begins");
    if (c.kind == Kind::kBlocked) {
      ApplyBlocked(c);
    } else {
      Apply(place);
    }
  }
}

void Trouble::Apply(const Place& place) {
  const auto has = [&](Kind kind) {
    return std::any_of(cases_.begin(), cases_.end(), [&](const Case& c) {
      return c.kind == kind && c.on && c.place == place;
    });
  };
  const auto amount = [&](Kind kind) {
    double most = 0;
    for (const Case& c : cases_) {
      if (c.kind == kind && c.on && c.place == place) most = std::max(most, c.amount);
    }
    return most;
  };
  SimPort& port = PortAt(place);
  port.SetLink(!has(Kind::kDown));
  const bool silent = has(Kind::kSilent);
  port.SetSilent(silent || has(Kind::kMute), silent || has(Kind::kDeaf));
  port.SetPaused(has(Kind::kStuck));
  SimFaults faults = usual_[place.host][place.plane];
  faults.bits_per_ns /= 1 + 15 * amount(Kind::kSlow);
  faults.delay += Duration(static_cast<int64_t>(300'000 * amount(Kind::kFar)));
  faults.loss = std::max(faults.loss, 0.5 * amount(Kind::kLossy));
  if (has(Kind::kShort)) faults.max_bytes = 250;
  port.faults() = faults;
  SetPlane(place, has(Kind::kSetDown)   ? PlaneAdmin::kDown
                  : has(Kind::kDrained) ? PlaneAdmin::kDrain
                                        : PlaneAdmin::kUp);
}

// A daemon that has died since has forgotten it.
void Trouble::SetPlane(const Place& place, PlaneAdmin admin) {
  Host& host = *hosts_[place.host];
  PlaneAdmin& last = admin_[place.host][place.plane];
  if (admin == last) return;
  // A host that sleeps may have a full mailbox.
  if (host.alive() && !host.pipeline().mailbox().requests.Push(request::SetPlane{
                          .instance = 0, .plane = PlaneIndex(place.plane), .plane_admin = admin})) {
    refused_.push_back(place);
    return;
  }
  last = admin;
}

// Routes come back after a while, and all of them at the end.
void Trouble::RestoreRoutes(Time now) {
  for (Withdrawn& one : std::exchange(withdrawn_, {})) {
    Host& host = *hosts_[one.host];
    one.route.weight = 1;
    const bool due = over_ || now >= one.until;
    if (due && (!host.alive() || host.pipeline().mailbox().requests.Push(one.route))) continue;
    withdrawn_.push_back(one);
  }
}

void Trouble::SetWeight(Time now) {
  Host& host = *hosts_[dice_.Below(hosts_.size())];
  if (!host.alive()) return;
  const uint64_t peer = dice_.Below(hosts_.size());
  const bool all = peer + 1 == hosts_.size();
  request::SetWeight asked{.instance = 0,
                           .peer = all ? request::SetWeight::kAllPeers : PeerIndex(peer),
                           .plane = PlaneIndex(dice_.Below(host.ports.size())),
                           .weight = static_cast<uint32_t>(1 + dice_.Below(8))};
  const bool withdraws = options_.routes != 0 && routes_.Chance(0.6) && !all &&
                         host.ports.size() > 1 &&
                         !Spared({.host = host.number, .plane = asked.plane});
  if (withdraws) asked.weight = 0;
  if (!host.pipeline().mailbox().requests.Push(asked) || !withdraws) return;
  log_.Add(now, "host %u: no route to peer %u over plane %u", host.number, uint32_t{asked.peer},
           uint32_t{asked.plane});
  withdrawn_.push_back({.route = asked,
                        .host = host.number,
                        .until = now + routes_.OfAnyScale(options_.min, options_.max)});
}

void Trouble::ApplyBlocked(const Case& c) {
  const bool blocked = std::any_of(cases_.begin(), cases_.end(), [&](const Case& other) {
    return other.kind == Kind::kBlocked && other.on && other.place == c.place && other.to == c.to;
  });
  const uint32_t number = wiring_.SwitchOf(c.place.host, c.place.plane);
  // A host with one port is on one switch alone.
  const SimPort* const to = PortOn(c.to, number);
  if (to != nullptr) switches_[number]->Block(&PortAt(c.place), to, blocked);
}

SimPort* Trouble::PortOn(uint32_t host, uint32_t number) const {
  for (uint32_t plane = 0; plane < hosts_[host]->ports.size(); ++plane) {
    if (wiring_.SwitchOf(host, plane) == number) return hosts_[host]->ports[plane];
  }
  return nullptr;
}

}  // namespace suede
