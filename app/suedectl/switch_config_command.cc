// SPDX-License-Identifier: Apache-2.0
#include "suedectl/switch_config_command.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "config/config_encapsulation.h"
#include "suedectl/exit_codes.h"
#include "suedectl/frame_text.h"
#include "suedectl/switch_needs.h"
#include "suedectl/switch_targets.h"

namespace suede::ctl {
namespace {

constexpr char kHelpHead[] =
    "suedectl switch-config: writes the configuration of the switch between endpoints\n"
    "\n"
    "usage: suedectl switch-config --for TARGET [OPTIONS] ENDPOINT_CONFIG...\n"
    "\n"
    "ENDPOINT_CONFIG is the file of an endpoint (suede --config). The configuration is written to\n"
    "standard output, with a comment for each need that the switch cannot meet; a JSON object has\n"
    "its comments on standard error. docs/switches.md has examples.\n"
    "\n"
    "Targets:\n";

constexpr char kHelpTail[] =
    "\n"
    "Exit codes: 0 done; 1 output failed; 2 usage, a wrong configuration, or endpoints that\n"
    "contradict each other: the message names file and key.\n";

// The number of each option's table row is its place in Options::numbers.
struct NumberOption {
  std::string_view name;
  std::string_view target;  // that alone has it; empty: all
  uint64_t min;
  uint64_t max;
  uint64_t fallback;
  std::string_view sentence;
};
enum NumberId : uint8_t { kCable, kVlan, kRate, kBuffer, kLeafAs, kHostAs, kNumberCount };
constexpr NumberOption kNumbers[kNumberCount] = {
    {"cable_m", "", 1, 100000, 100, "length of the cables, for the headroom of lossless classes"},
    {"vlan", "", 1, 4094, 100, "VLAN at the switch of endpoints without a tag"},
    {"rate_gbps", "", 1, 3200, 100, "rate of ports whose endpoint states none"},
    {"buffer_bytes", "sonic", 0, uint64_t{1} << 40, 0, "buffer of the switch; 0: not known"},
    {"leaf_as", "frr", 1, 4294967295, 65101, "number of the leaf's AS"},
    {"host_as", "frr", 1, 4294967295, 65001, "AS of the first endpoint; the next ones follow"},
};
struct TextOption {
  std::string_view name;
  std::string_view target;
  std::string_view value;
  std::string_view sentence;
};
constexpr TextOption kTexts[] = {
    {"for", "", "TARGET", "kind of the switch"},
    {"port", "", "ENDPOINT[.PORT]=NAME",
     "port of the switch that leads there; none: another switch's. Repeat it for each port"},
    {"base", "sonic", "FILE", "the switch's config_db.json, into which the tables are merged"},
    {"link_base", "frr", "ADDRESS", "address of the leaf's first link; default 10.0.0.0"},
};

struct Options {
  bool help = false;
  const Target* target = nullptr;
  std::vector<std::string> files;
  std::string base;
  std::string link_base = "10.0.0.0";
  uint32_t link_base_number = 0;
  SwitchOptions ports;
  uint64_t numbers[kNumberCount] = {};
  bool given[kNumberCount] = {};
};

std::string TargetNames() {
  std::vector<std::string_view> names;
  for (const Target& target : kTargets) names.push_back(target.name);
  return StrJoin(names, ", ");
}

class OptionParser {
 public:
  explicit OptionParser(std::span<const std::string_view> arguments) : arguments_(arguments) {
    for (size_t i = 0; i < kNumberCount; ++i) options_.numbers[i] = kNumbers[i].fallback;
  }

  absl::StatusOr<Options> Parse() {
    for (at_ = 0; at_ < arguments_.size(); ++at_) {
      const std::string_view argument = arguments_[at_];
      if (argument == "--help" || argument == "-h") {
        options_.help = true;
        return std::move(options_);
      }
      if (!argument.starts_with("-")) {
        options_.files.emplace_back(argument);
        continue;
      }
      if (absl::Status s = Take(argument); !s.ok()) return s;
    }
    if (absl::Status s = Check(); !s.ok()) return s;
    return std::move(options_);
  }

 private:
  absl::Status Take(std::string_view argument) {
    const size_t equals = argument.find('=');
    const std::string_view name =
        argument.substr(0, equals).substr(argument.starts_with("--") ? 2 : 1);
    const auto number = std::ranges::find(kNumbers, name, &NumberOption::name);
    const auto text = std::ranges::find(kTexts, name, &TextOption::name);
    if (number == std::end(kNumbers) && text == std::end(kTexts)) {
      return Wrong("'", argument, "' is no option of this command");
    }
    std::string_view value;
    if (equals != std::string_view::npos) {
      value = argument.substr(equals + 1);
    } else if (++at_ < arguments_.size()) {
      value = arguments_[at_];
    }
    if (value.empty()) return Wrong("--", name, " takes a value");
    taken_.push_back(name);
    if (text != std::end(kTexts)) return TakeText(name, value);
    const auto index = static_cast<size_t>(number - kNumbers);
    const auto parsed = ParseNumber<uint64_t>(value);
    if (!parsed || *parsed < number->min || *parsed > number->max) {
      return Wrong("--", name, ": '", value, "' is not ", number->min, " to ", number->max);
    }
    options_.numbers[index] = *parsed;
    options_.given[index] = true;
    return absl::OkStatus();
  }

  absl::Status TakeText(std::string_view name, std::string_view value) {
    if (name == "for") {
      const auto target = std::ranges::find(kTargets, value, &Target::name);
      if (target == std::end(kTargets)) return Wrong("--for: '", value, "'; use ", TargetNames());
      options_.target = target;
    } else if (name == "port") {
      const size_t equals = value.find('=');
      const std::string_view place = equals == value.npos ? "" : value.substr(equals + 1);
      const bool is_name = !place.empty() && std::ranges::all_of(place, [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("_-./:", c) != nullptr;
      });
      if (!is_name || equals == 0) {
        return Wrong("--port: '", value,
                     "'; write ENDPOINT=NAME or ENDPOINT.PORT=NAME, with letters,"
                     " digits, _, -, ., / and : in NAME");
      }
      options_.ports.places.emplace_back(value.substr(0, equals), place);
    } else if (name == "base") {
      options_.base = value;
    } else {
      in_addr address{};
      options_.link_base = value;
      if (inet_pton(AF_INET, options_.link_base.c_str(), &address) != 1) {
        return Wrong("--link_base: '", value, "' is no IPv4 address");
      }
    }
    return absl::OkStatus();
  }

  absl::Status Check() {
    if (options_.target == nullptr) return Wrong("--for is missing; use --for ", TargetNames());
    if (options_.files.empty()) return Wrong("no endpoint's configuration; give its file");
    const auto check = [&](std::string_view name, std::string_view target) -> absl::Status {
      if (target.empty() || target == options_.target->name) return absl::OkStatus();
      if (std::ranges::find(taken_, name) == taken_.end()) return absl::OkStatus();
      return Wrong("--", name, " has no meaning with --for ", options_.target->name,
                   "; leave it out, or use --for ", target);
    };
    for (const NumberOption& option : kNumbers) {
      if (absl::Status s = check(option.name, option.target); !s.ok()) return s;
    }
    for (const TextOption& option : kTexts) {
      if (absl::Status s = check(option.name, option.target); !s.ok()) return s;
    }
    in_addr address{};
    inet_pton(AF_INET, options_.link_base.c_str(), &address);
    options_.link_base_number = ntohl(address.s_addr);
    options_.ports.default_name = options_.target->default_name;
    options_.ports.default_first = options_.target->default_first;
    options_.ports.default_step = options_.target->default_step;
    options_.ports.sees_all = options_.target->sees_all;
    options_.ports.routes = options_.target->routes;
    options_.ports.cable_m = static_cast<uint32_t>(options_.numbers[kCable]);
    options_.ports.vlan = static_cast<uint16_t>(options_.numbers[kVlan]);
    options_.ports.rate_gbps = static_cast<uint32_t>(options_.numbers[kRate]);
    return absl::OkStatus();
  }

  const std::span<const std::string_view> arguments_;
  size_t at_ = 0;
  std::vector<std::string_view> taken_;
  Options options_;
};

void PrintHelp(FILE* out) {
  std::fputs(kHelpHead, out);
  for (const Target& target : kTargets) {
    std::fprintf(out, "  %-8s %s\n", std::string(target.name).c_str(),
                 std::string(target.sentence).c_str());
  }
  std::fputs("\nOptions:\n", out);
  const auto print = [out](const std::string& left, const std::string& sentence,
                           std::string_view target) {
    const std::string only = target.empty() ? "" : StrCat(" (", target, ")");
    std::fprintf(out, "  --%s\n      %s%s\n", left.c_str(), sentence.c_str(), only.c_str());
  };
  for (const TextOption& option : kTexts) {
    print(StrCat(option.name, " ", option.value), std::string(option.sentence), option.target);
  }
  for (const NumberOption& option : kNumbers) {
    print(StrCat(option.name, " N"),
          StrCat(option.sentence, "; ", option.min, " to ", option.max, ", default ",
                 option.fallback),
          option.target);
  }
  std::fputs(kHelpTail, out);
}

// The CPUs of the machine where this runs do not matter.
MachineFacts AnyMachine() {
  MachineFacts machine;
  machine.cpu_count = 4096;
  return machine;
}

absl::StatusOr<std::vector<EndpointFile>> LoadFiles(const std::vector<std::string>& paths) {
  std::vector<EndpointFile> files;
  for (const std::string& path : paths) {
    absl::StatusOr<Config> config = LoadConfig(path, AnyMachine());
    if (!config.ok()) return config.status();
    for (const EndpointFile& other : files) {
      if (other.config.name == config->name) {
        return Wrong(path, ": name: ", config->name, " is that of ", other.path,
                     ", too; give each endpoint a name of its own");
      }
    }
    files.push_back({.path = path, .config = *std::move(config)});
  }
  return files;
}

// Reads the switch's own configuration, which has all ports in use.
absl::Status ReadBase(const std::string& path, const SwitchNeeds& needs, Json& base) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) return Wrong(path, ": ", std::strerror(errno), "; give the switch's config_db.json");
  std::optional<Json> read = TryParse<Json>(text.str());
  if (!read || !read->is_object()) {
    return Wrong(path, ": no JSON object; give the switch's config_db.json");
  }
  base = *std::move(read);
  const auto ports = base.find("PORT");
  for (const SwitchPort& port : needs.ports) {
    if (ports != base.end() && ports->is_object() && ports->contains(port.name)) continue;
    return Wrong(path, ": PORT has no ", port.name, " for ", port.end,
                 "; state another port with --port ", port.end, "=NAME");
  }
  return absl::OkStatus();
}

// Merges tables into those of `into`: rows and fields of `from` replace those of the same name.
void Merge(const Json& from, Json& into) {
  for (const auto& [key, value] : from.items()) {
    if (value.is_object() && into.contains(key) && into[key].is_object()) {
      Merge(value, into[key]);
    } else {
      into[key] = value;
    }
  }
}

// An option that changes nothing is a mistake.
absl::Status CheckUse(const Options& options, const SwitchNeeds& needs) {
  if (options.given[kCable] && !needs.Has(Need::kLossless)) {
    return Wrong(
        "--cable_m has no meaning: no port has pfc, so there is no headroom; leave it out");
  }
  const bool untagged =
      std::ranges::any_of(needs.ports, [](const SwitchPort& port) { return !port.tagged; });
  if (options.given[kVlan] && !untagged) {
    return Wrong("--vlan has no meaning: all ports have a vlan of their own; leave it out");
  }
  const bool is_rate_known = std::ranges::all_of(
      needs.ports, [](const SwitchPort& port) { return RateOf(*port.config).has_value(); });
  if (options.given[kRate] && is_rate_known) {
    return Wrong("--rate_gbps has no meaning: all endpoints state bandwidth_gbps; leave it out");
  }
  return absl::OkStatus();
}

class ConfigWriter {
 public:
  ConfigWriter(const Options& options, const SwitchNeeds& needs, FILE* out, FILE* err)
      : target_(*options.target),
        options_(OptionsOf(options)),
        needs_(needs),
        out_(out),
        err_(err) {}

  void Write(const std::vector<EndpointFile>& files, Json base) {
    const bool is_json = target_.comment.empty();
    if (!is_json) Begin(files);
    for (const std::string& assumption : needs_.assumptions)
      Comment(StrCat("assumed: ", assumption));
    if (target_.head != nullptr) std::fputs(target_.head(needs_, options_).c_str(), out_);
    for (size_t i = 0; i < kNeedCount; ++i) {
      const auto need = static_cast<Need>(i);
      if (!needs_.Has(need)) continue;
      const Section section = target_.section(need, needs_, options_);
      Comment(StrCat(TitleOf(need), ": ", needs_[need]));
      std::fputs(section.lines.c_str(), out_);
      Merge(section.tables, base);
      for (const std::string& reason : section.unset) Comment(StrCat("not set: ", reason));
    }
    if (!is_json) return;
    const std::string text = base.dump(4, ' ', false, Json::error_handler_t::replace);
    std::fprintf(out_, "%s\n", text.c_str());
  }

 private:
  static TargetOptions OptionsOf(const Options& options) {
    return {.buffer_bytes = options.numbers[kBuffer],
            .link_base = options.link_base,
            .link_base_number = options.link_base_number,
            .leaf_as = static_cast<uint32_t>(options.numbers[kLeafAs]),
            .host_as = static_cast<uint32_t>(options.numbers[kHostAs])};
  }

  void Begin(const std::vector<EndpointFile>& files) {
    if (target_.name == "linux") std::fputs("#!/bin/sh\n", out_);
    std::vector<std::string_view> names;
    names.reserve(files.size());
    for (const EndpointFile& file : files) names.push_back(file.config.name);
    Comment(StrCat("Switch between the endpoints ", StrJoin(names, ", "),
                   ". Written by suedectl switch-config --for ", target_.name, "."));
    for (const SwitchPort& port : needs_.ports) {
      Comment(StrCat(port.name, ": ", port.end, ", ", NameOf(port.config->encapsulation)));
    }
  }

  void Comment(const std::string& text) {
    const bool is_json = target_.comment.empty();
    std::fprintf(is_json ? err_ : out_, "%s %s\n",
                 is_json ? "#" : std::string(target_.comment).c_str(), text.c_str());
  }

  const Target& target_;
  const TargetOptions options_;
  const SwitchNeeds& needs_;
  FILE* const out_;
  FILE* const err_;
};

absl::Status WriteAll(const Options& options, FILE* out, FILE* err) {
  const absl::StatusOr<std::vector<EndpointFile>> files = LoadFiles(options.files);
  if (!files.ok()) return files.status();
  const absl::StatusOr<SwitchNeeds> needs = NeedsOf(*files, options.ports);
  if (!needs.ok()) return needs.status();
  if (absl::Status s = CheckUse(options, *needs); !s.ok()) return s;
  Json base = Json::object();
  if (!options.base.empty()) {
    if (absl::Status s = ReadBase(options.base, *needs, base); !s.ok()) return s;
  }
  ConfigWriter(options, *needs, out, err).Write(*files, std::move(base));
  return absl::OkStatus();
}

}  // namespace

int RunSwitchConfig(std::span<const std::string_view> arguments, FILE*, FILE* out, FILE* err) {
  const absl::StatusOr<Options> options = OptionParser(arguments).Parse();
  if (options.ok() && options->help) {
    PrintHelp(out);
    return kExitDone;
  }
  const absl::Status status = options.ok() ? WriteAll(*options, out, err) : options.status();
  if (!status.ok()) {
    std::fprintf(err, "suedectl switch-config: %s\n", std::string(status.message()).c_str());
    return kExitUsage;
  }
  return std::fflush(out) == 0 ? kExitDone : kExitFailure;
}

}  // namespace suede::ctl
