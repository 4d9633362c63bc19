// SPDX-License-Identifier: Apache-2.0
// Methods that impair a switch's links, per port and direction.
#include <optional>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "mgmt/catalog.h"
#include "mgmt/event_log.h"
#include "mgmt/switch_view.h"

namespace suede {
namespace {

constexpr uint32_t kImpairClasses = 8;
constexpr std::string_view kNoHoles = "none";

constexpr Param kImpairedPort =
    Param::Text("port", "Name of the port; all: every port.", 32).Required();
constexpr Param kBothDirections = Param::Choice(
    "direction", "in: what the port receives; out: what it sends.", "in|out|both", "both");
constexpr Param kListImpairments[] = {
    Param::Text("port", "Only those of this port.", 32),
    Param::Boolean("impaired_only", "Leaves out directions that are not impaired."),
};
#define SUEDE_IMPAIR_PARAM(Y, name, max, unit, sentence) Param::Number(#name, sentence, 0, max),
#define SUEDE_IMPAIR_FIELD_PARAM(Y, name, max, sentence) \
  Param::Integer(#name, sentence, 0, max).Or(kKeepField),
constexpr Param kSetImpairment[] = {
    kImpairedPort,
    kBothDirections,
    SUEDE_IMPAIR_NUMBERS(SUEDE_IMPAIR_PARAM, )
        Param::Choice("down", "Whether all frames are lost.", "on|off"),
    Param::Text("hole_classes", "Classes that disappear: 0,3. none: no class.", 32),
    Param::Text("hole_destinations",
                "Destinations that disappear: MAC addresses, or AFH's as numbers, with commas "
                "between. none: no destination.",
                1024),
    SUEDE_IMPAIR_FIELDS(SUEDE_IMPAIR_FIELD_PARAM, )
        Param::Choice("strip_tag", "Whether frames lose their VLAN tag.", "on|off"),
    Param::Integer("class",
                   "delay_us, loss, reorder, dscp, ecn, pcp and hop_limit are this class's alone, "
                   "in addition to those of all.",
                   0, kImpairClasses - 1),
};
#undef SUEDE_IMPAIR_FIELD_PARAM
#undef SUEDE_IMPAIR_PARAM
constexpr Param kClearImpairment[] = {kImpairedPort, kBothDirections};

ImpairWhere WhereOf(const Arguments& arguments) {
  ImpairWhere where{.port = arguments.Text("port"), .out = {}};
  if (where.port == "all") where.port.clear();
  const std::string& direction = arguments.Text("direction");
  if (direction != "both") where.out = direction == "out";
  return where;
}

absl::StatusOr<std::vector<uint32_t>> ClassesIn(const std::string& text) {
  std::vector<uint32_t> classes;
  if (text == kNoHoles) return classes;
  for (const std::string_view word : Split(text, ',')) {
    const auto number = ParseNumber<uint32_t>(word, kImpairClasses - 1);
    if (!number) {
      return absl::InvalidArgumentError(
          StrCat("hole_classes: '", word, "' is no class; use 0 to 7 with commas, or none"));
    }
    classes.push_back(*number);
  }
  return classes;
}

// Sets the class that the change applies to, if given.
absl::Status TakeClass(const Arguments& arguments, std::string* text, ImpairChange* change) {
  change->traffic_class = Given(arguments, "class");
  if (!change->traffic_class) return absl::OkStatus();
  bool good =
      !change->down && !change->hole_classes && !change->hole_destinations && !change->strip_tag;
#define SUEDE_IMPAIR_OF_ALL(Y, name, max, unit, sentence)                           \
  if (std::string_view(#name) != "delay_us" && std::string_view(#name) != "loss" && \
      std::string_view(#name) != "reorder") {                                       \
    good &= !change->name;                                                          \
  }
  SUEDE_IMPAIR_NUMBERS(SUEDE_IMPAIR_OF_ALL, )
#undef SUEDE_IMPAIR_OF_ALL
  if (!good) {
    return absl::InvalidArgumentError(
        "class: it goes with delay_us, loss, reorder, dscp, ecn, pcp and hop_limit alone");
  }
  if (!text->empty()) StrAppend(text, " class=", *change->traffic_class);
  return absl::OkStatus();
}

// Takes the fields that are rewritten, and the tag.
void TakeFields(const Arguments& arguments, const auto& say, ImpairChange* change) {
  const auto take = [&](std::string_view name, std::optional<std::optional<uint32_t>>& field) {
    if (!arguments.Has(name)) return;
    field.emplace();
    if (arguments.IsWord(name)) return say(name, kKeepField);
    *field = static_cast<uint32_t>(arguments.Integer(name));
    say(name, **field);
  };
#define SUEDE_IMPAIR_TAKE_FIELD(Y, name, max, sentence) take(#name, change->name);
  SUEDE_IMPAIR_FIELDS(SUEDE_IMPAIR_TAKE_FIELD, )
#undef SUEDE_IMPAIR_TAKE_FIELD
  if (!arguments.Has("strip_tag")) return;
  change->strip_tag = arguments.Text("strip_tag") == "on";
  say("strip_tag", arguments.Text("strip_tag"));
}

// Returns the change, and in `text` its text form: "loss=0.01 down=on".
absl::StatusOr<ImpairChange> ChangeOf(const Arguments& arguments, std::string* text) {
  ImpairChange change;
  const auto say = [text](std::string_view name, const auto& value) {
    StrAppend(text, text->empty() ? "" : " ", name, "=", value);
  };
#define SUEDE_IMPAIR_TAKE(Y, name, max, unit, sentence) \
  if (arguments.Has(#name)) {                           \
    change.name = arguments.Number(#name);              \
    say(#name, Json(*change.name).dump());              \
  }
  SUEDE_IMPAIR_NUMBERS(SUEDE_IMPAIR_TAKE, )
#undef SUEDE_IMPAIR_TAKE
  if (arguments.Has("down")) {
    change.down = arguments.Text("down") == "on";
    say("down", arguments.Text("down"));
  }
  if (arguments.Has("hole_classes")) {
    absl::StatusOr<std::vector<uint32_t>> classes = ClassesIn(arguments.Text("hole_classes"));
    if (!classes.ok()) return classes.status();
    change.hole_classes = *std::move(classes);
    say("hole_classes", arguments.Text("hole_classes"));
  }
  if (arguments.Has("hole_destinations")) {
    const std::string& holes = arguments.Text("hole_destinations");
    change.hole_destinations.emplace();
    if (holes != kNoHoles) {
      for (const std::string_view word : Split(holes, ',')) {
        change.hole_destinations->emplace_back(word);
      }
    }
    say("hole_destinations", holes);
  }
  TakeFields(arguments, say, &change);
  if (absl::Status wrong = TakeClass(arguments, text, &change); !wrong.ok()) return wrong;
  if (text->empty()) return absl::InvalidArgumentError("nothing to set; give loss or another");
  return change;
}

// Answers with the outcome of the query. It fails at once or not at all; accepted requests are
// recorded as events.
Answer Record(Call& call, const Question<absl::Status>& question, std::string_view setting) {
  const std::optional<absl::Status> at_once = question();
  if (at_once && !at_once->ok()) return *at_once;
  const std::string& port = call.arguments.Text("port");
  const std::string& direction = call.arguments.Text("direction");
  call.daemon.Events().Raise(EventKind::kImpairmentSet, {{EventField::kPort, port},
                                                         {EventField::kDirection, direction},
                                                         {EventField::kSetting, setting},
                                                         {EventField::kPid, call.caller.pid},
                                                         {EventField::kUid, call.caller.uid}});
  Json result{{"port", port}, {"direction", direction}};
  if (at_once) return result;
  return Answer::When(question, std::move(result));
}

Answer SetImpairment(Call& call) {
  std::string setting;
  const absl::StatusOr<ImpairChange> change = ChangeOf(call.arguments, &setting);
  if (!change.ok()) return change.status();
  return Record(call, call.the_switch().SetImpairment(WhereOf(call.arguments), *change), setting);
}

Answer ClearImpairment(Call& call) {
  return Record(call, call.the_switch().ClearImpairment(WhereOf(call.arguments)), "clear");
}

Answer ListImpairments(Call& call) {
  const bool impaired_only = call.arguments.Boolean("impaired_only");
  std::vector<ImpairView> views = call.the_switch().Impairments();
  std::erase_if(views, [&](const ImpairView& view) {
    if (impaired_only && !view.impaired) return true;
    return call.arguments.Has("port") && view.port != call.arguments.Text("port");
  });
  return OutcomeOf(views, "impairments");
}

constexpr Member kImpairmentsResult[] = {ListOf<ImpairView>("impairments")};
constexpr Member kImpairedResult[] = {Member::Text("port"),
                                      Member::Choice("direction", "in|out|both")};

constexpr Method kImpairMethods[] = {
    {"impair.list", "The impairments of each port and direction.", kImpairmentsResult,
     ListImpairments, kListImpairments},
    {"impair.set",
     "Impairs a link. Keys that are not given stay; frames that are on the cable keep "
     "their times.",
     kImpairedResult, SetImpairment, kSetImpairment, /*changes=*/true},
    {"impair.clear", "Ends all impairments of a link.", kImpairedResult, ClearImpairment,
     kClearImpairment, /*changes=*/true},
};

}  // namespace

std::span<const Method> ImpairMethods() { return kImpairMethods; }

}  // namespace suede
