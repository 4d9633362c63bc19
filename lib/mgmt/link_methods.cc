// SPDX-License-Identifier: Apache-2.0
// The method that lists link ends, for every kind of daemon.
#include "mgmt/catalog.h"
#include "mgmt/daemon_view.h"

namespace suede {
namespace {

// In the order of RetrySender::State and RetryReceiver::State.
constexpr std::string_view kTxStates[] = {"off", "init", "advance", "replay", "flush"};
constexpr std::string_view kRxStates[] = {"off", "send_acks", "send_nack", "nack_sent"};

template <size_t N>
Json NameOf(const std::string_view (&names)[N], uint64_t state) {
  return state < N ? Json(names[state]) : Json();
}

// Returns one row per link VC that uses credit in a direction.
Json CreditsOf(const LinkCounters& counters) {
  Json rows = Json::array();
  for (uint32_t vc = 0; vc < LinkCounters::kShownVcs; ++vc) {
    const ShownCredit credit = counters.credit(vc);
    if (credit.limit == 0 && credit.granted == 0) continue;
    rows.push_back(Json{{"vc", vc},
                        {"limit", credit.limit},
                        {"free", credit.free},
                        {"granted", credit.granted},
                        {"held", credit.held}});
  }
  return rows;
}

Json ToJson(const LinkView& link) {
  const LinkCounters& counters = *link.counters;
  Json values = Json::object();
  for (size_t i = 0; i < LinkCounterRows().size(); ++i) {
    values[std::string(LinkCounterRows()[i].name)] = counters.Get(static_cast<LinkCounter>(i));
  }
  return Json{{"port", link.port},
              {"session", counters.Get(LinkGauge::kUp) != 0 ? "up" : "down"},
              {"llr_tx", NameOf(kTxStates, counters.Get(LinkGauge::kLlrTxState))},
              {"llr_rx", NameOf(kRxStates, counters.Get(LinkGauge::kLlrRxState))},
              {"held_frames", counters.Get(LinkGauge::kLlrHeldFrames)},
              {"held_bytes", counters.Get(LinkGauge::kLlrHeldBytes)},
              {"cbfc", counters.Get(LinkGauge::kCreditOn) != 0 ? "on" : "off"},
              {"credits", CreditsOf(counters)},
              {"counters", std::move(values)}};
}

Answer ListLinks(Call& call) {
  Json list = Json::array();
  for (const LinkView& link : call.daemon.Links()) {
    if (link.counters != nullptr) list.push_back(ToJson(link));
  }
  return Json{{"links", std::move(list)}};
}

constexpr Member kCreditRow[] = {
    Member::Integer("vc", "link VC, 0 to 7"),
    Member::Integer("limit", "credits that the neighbour grants; 0: frames need none"),
    Member::Integer("free", "of them"),
    Member::Integer("granted", "credits that the port grants"),
    Member::Integer("held", "of frames in the receive buffer"),
};
constexpr Member kLinkRow[] = {
    Member::Text("port"),
    Member::Choice("session", kUpOrDown, "up: both ends hear each other"),
    Member::Choice("llr_tx", "off|init|advance|replay|flush", "link-level retry of sent frames"),
    Member::Choice("llr_rx", "off|send_acks|send_nack|nack_sent", "of received ones"),
    Member::Integer("held_frames", "that the neighbour has not acknowledged"),
    Member::Integer("held_bytes"),
    Member::Choice("cbfc", "on|off", "credit-based flow control"),
    Member::Rows("credits", kCreditRow, "of each link VC that uses credit"),
    Member::Map("counters", Member::Type::kInteger, "name to value"),
};
constexpr Member kLinksResult[] = {Member::Rows("links", kLinkRow)};

constexpr Method kLinkMethods[] = {
    {"links.list", "Links to neighbours, of ports with llr: on or cbfc: on.", kLinksResult,
     ListLinks},
};

}  // namespace

std::span<const Method> LinkMethods() { return kLinkMethods; }

}  // namespace suede
