// SPDX-License-Identifier: Apache-2.0
// A path with faults that answers peers.probe_path as an endpoint behind switches would.
#ifndef SUEDE_TESTS_SUEDECTL_FAKE_PATH_H_
#define SUEDE_TESTS_SUEDECTL_FAKE_PATH_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "mgmt/json.h"

namespace suede::ctl {

struct PathFaults {
  std::string state = "done";
  uint32_t mtu_out = UINT32_MAX;  // bytes of a frame
  uint32_t mtu_back = UINT32_MAX;
  std::set<uint32_t> dead_out;  // classes
  std::set<uint32_t> dead_back;
  std::optional<uint32_t> slow_class;
  bool tagged = false;
  bool strips_tag = false;
  std::optional<uint32_t> dscp_out;
  std::optional<uint32_t> dscp_back;
  std::optional<uint32_t> pcp_out;
  std::map<uint32_t, uint32_t> ecn_out;  // rewriting
  std::optional<uint32_t> hops_out;      // written into frames
  uint32_t decrement = 1;
  uint32_t lose_out = 0;  // each frame with such a count; 0: none
  uint32_t lose_back = 0;
  uint32_t reorder = 0;          // each frame with such a count changes places with the next one
  uint32_t duplicate = 0;        // likewise, twice
  uint32_t corrupt = 0;          // likewise, lost and counted
  uint32_t members = 1;          // of a group; a session takes the member session % members
  bool dead_member = false;      // faults of member 0
  bool kills_session_0 = false;  // probes of one flow take member 0, too
  bool slow_member = false;
  bool lossy_member = false;
  bool spraying_member = false;
  bool longer_member = false;  // one more hop
  uint32_t few_of = 1;         // only each session with such a number takes member 0
  bool flooding = false;
  bool forwards_ether_types = true;
  // Queue of the peer's port in frames of a burst; a frame of a burst waits 1 us for each.
  uint32_t queue = UINT32_MAX;
  uint32_t mark_from = UINT32_MAX;
  uint32_t trim_from = UINT32_MAX;
  uint32_t pause_from = UINT32_MAX;
  bool obeys_pauses = true;
  bool asymmetric = false;  // reports take the member of session / 2
  bool refuses = false;  // the peer reports only the first frames of a burst
};

class FakePath {
 public:
  PathFaults faults;
  uint32_t classes_dscp[5] = {8, 16, 24, 32, 48};
  uint64_t calls = 0;
  uint64_t frames = 0;

  absl::StatusOr<Json> Call(std::string_view method, const ForeignJson& params) {
    const std::lock_guard lock(mutex_);
    if (method != "peers.probe_path") return absl::AbortedError("no such method");
    return Probe(params);
  }

 private:
  struct Arrival {
    uint32_t number;
    Json row;
    bool answered;
  };

  static uint32_t Of(const ForeignJson& params, const char* name, uint32_t fallback) {
    return params.contains(name) ? params[name].get<uint32_t>() : fallback;
  }
  bool Hits(uint32_t every, uint64_t salt) const {
    return every != 0 && (seen_ + salt) % every == 0;
  }
  static Json Marks(const Json& dscp, uint32_t ecn, uint32_t hops, const Json& vid,
                    const Json& pcp) {
    return Json{{"dscp", dscp}, {"ecn", ecn}, {"hops", hops}, {"vid", vid}, {"pcp", pcp}};
  }

  struct Run {
    uint32_t of_class;
    uint32_t count;
    uint32_t bytes;
    bool long_reply;
    uint32_t sessions;
    uint32_t first_session;
    uint32_t ecn;
    uint32_t hops;
    bool is_burst;
    std::string to;
  };

  Json Probe(const ForeignJson& params) {
    ++calls;
    const Run run{.of_class = Of(params, "class", 4),
                  .count = Of(params, "count", 16),
                  .bytes = std::max(Of(params, "bytes", 0), 120u),
                  .long_reply = params.contains("long_reply"),
                  .sessions = Of(params, "sessions", 1),
                  .first_session = Of(params, "first_session", 0),
                  .ecn = Of(params, "ecn", 0),
                  .hops = Of(params, "hop_limit", 64),
                  .is_burst = Of(params, "interval_us", 1000) == 0,
                  .to = params.value("to", std::string("peer"))};
    const Json vid = faults.tagged ? Json(5) : Json();
    const Json pcp = faults.tagged ? Json(run.of_class) : Json();
    Json result{
        {"state", faults.state},
        {"port", "p0"},
        {"encapsulation", "udp4"},
        {"rate_bps", 1000000000},
        {"sent", Marks(classes_dscp[run.of_class], run.ecn, run.hops, vid, pcp)},
        {"probes", Json::array()},
        {"drops", nullptr},
        {"own", {{"ecn_marked", 0}, {"paused_ns", 0}, {"pfc_received", 0}, {"credit_waits", 0}}}};
    if (faults.state != "done") return result;
    frames += run.count;
    Drops drops;
    for (uint32_t i = 0; i < run.count; ++i) result["probes"].push_back(Send(run, i, &drops));
    if (params.contains("pause") && faults.obeys_pauses) {
      for (Json& row : result["probes"]) {
        if (row["answered"] == true)
          row["returned_ns"] = now_ + 100000000 + row["order"].get<uint32_t>() % 64;
      }
    }
    if (faults.reorder != 0) Swap(run, &result["probes"]);
    if (drops.any_answered) {
      result["drops"] = {
          {"address", run.to == "stranger" && faults.flooding ? run.count - 2 : 0},
          {"crc", drops.crc},
          {"not_sue", run.to == "ether_type" && faults.forwards_ether_types ? run.count - 2 : 0},
          {"trimmed", drops.trimmed},
          {"pauses", 0}};
    }
    if (run.is_burst && run.count > faults.pause_from) {
      result["own"]["pfc_received"] = 2;
      result["own"]["paused_ns"] = 500000;
    }
    return result;
  }

  struct Drops {
    uint64_t crc = 0;
    uint64_t trimmed = 0;
    bool any_answered = false;
  };

  bool IsLostOut(const Run& run, uint32_t i, bool in_member, Drops* drops) {
    const bool is_stranger = run.to != "peer" && i != 0 && i + 1 != run.count;
    if (is_stranger || run.bytes > faults.mtu_out) return true;
    if (faults.dead_out.contains(run.of_class) || Hits(faults.lose_out, 0)) return true;
    if (in_member && (faults.dead_member || (faults.lossy_member && seen_ % 3 == 0))) return true;
    if (Hits(faults.corrupt, 1)) {
      ++drops->crc;
      return true;
    }
    const bool overflows = run.is_burst && i >= faults.queue;
    if (overflows && i >= faults.trim_from) ++drops->trimmed;
    return overflows;
  }

  // Makes the row of a probe.
  Json Send(const Run& run, uint32_t i, Drops* drops) {
    ++seen_;
    now_ += run.is_burst ? 100 : 1000000;
    const uint32_t session = run.first_session + i % run.sessions;
    const bool in_member = faults.members > 1 && (run.sessions > 1 || faults.kills_session_0) &&
                           session % faults.members == 0 && session % faults.few_of == 0;
    Json row{{"number", i}, {"session", session}, {"sent_ns", now_}, {"answered", false}};
    if (IsLostOut(run, i, in_member, drops)) return row;
    const uint32_t order = order_++;
    if (Hits(faults.duplicate, 2)) ++order_;
    if (run.bytes > faults.mtu_back && run.long_reply) return row;
    if (faults.dead_back.contains(run.of_class) || Hits(faults.lose_back, 3)) return row;
    if (run.is_burst && faults.refuses && i > 10) return row;
    drops->any_answered = true;
    int64_t delay =
        10000 + static_cast<int64_t>(seen_ * 7 % 5) * 100 + (run.is_burst ? i * 1000 : 0);
    if (faults.slow_class == run.of_class) delay += 900000;
    const bool back_in_member = faults.asymmetric ? session / 2 % faults.members == 0 : in_member;
    row.update(Arrival_(run, i, order, delay + SlowOf(in_member), in_member));
    row["returned_ns"] =
        row["received_ns"].get<int64_t>() - kOffsetNs + delay + SlowOf(back_in_member);
    return row;
  }

  int64_t SlowOf(bool in_member) const { return in_member && faults.slow_member ? 300000 : 0; }

  Json Arrival_(const Run& run, uint32_t i, uint32_t order, int64_t delay, bool in_member) const {
    const uint32_t dscp = classes_dscp[run.of_class];
    const bool tagged = faults.tagged && !faults.strips_tag;
    const Json vid = tagged ? Json(5) : Json();
    const auto rewritten = faults.ecn_out.find(run.ecn);
    uint32_t ecn = rewritten == faults.ecn_out.end() ? run.ecn : rewritten->second;
    if (run.is_burst && i >= faults.mark_from && run.ecn != 0) ecn = 3;
    const uint32_t hops =
        faults.hops_out.value_or(run.hops - faults.decrement - (in_member && faults.longer_member));
    return Json{{"answered", true},
                {"received_ns", now_ + kOffsetNs + delay},
                {"order", order},
                {"bytes", run.bytes},
                {"there", Marks(faults.dscp_out.value_or(dscp), ecn, hops, vid,
                                tagged ? Json(faults.pcp_out.value_or(run.of_class)) : Json())},
                {"reply_bytes", run.long_reply ? run.bytes : 120},
                {"reply_sent", Marks(dscp, 0, 64, faults.tagged ? Json(5) : Json(),
                                     faults.tagged ? Json(run.of_class) : Json())},
                {"here", Marks(faults.dscp_back.value_or(dscp), 0, 63, vid,
                               tagged ? Json(run.of_class) : Json())}};
  }

  void Swap(const Run& run, Json* probes) const {
    const uint32_t step = run.sessions;
    for (size_t i = 0; i + step < probes->size(); i += faults.reorder) {
      Json& a = (*probes)[i];
      Json& b = (*probes)[i + step];
      const bool of_member =
          !faults.spraying_member || (run.sessions > 1 && (i % run.sessions) % faults.members == 0);
      if (of_member && a["answered"] == true && b["answered"] == true)
        std::swap(a["order"], b["order"]);
    }
  }

  static constexpr int64_t kOffsetNs = 5'000'000'000;
  std::mutex mutex_;
  uint64_t seen_ = 0;
  int64_t now_ = 1'000'000'000;
  uint32_t order_ = 0xffffff00;  // wraps early
};

inline constexpr std::string_view kPathConfig = R"(
version: 1
name: left
lcores: [{cpu: 0}]
ports: [{name: p0, device: net_null0, mac: "02:00:00:00:00:10", mtu_bytes: 2088}]
instances: [{xpu: 0, lcore: 0, ports: [{port: p0, ip: 198.18.0.1}]}]
peers: [{xpu: 1, ports: [{port: p0, ip: 198.18.0.2, mac: "02:00:00:00:00:11"}]}]
classes: {vc: [{dscp: 8}, {dscp: 8}, {dscp: 24}, {dscp: 32}], ack: {dscp: 48}}
)";

}  // namespace suede::ctl

#endif  // SUEDE_TESTS_SUEDECTL_FAKE_PATH_H_
