// SPDX-License-Identifier: Apache-2.0
#include "suedectl/command_line.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "base/edit_distance.h"
#include "base/text.h"
#include "suedectl/xpu_names.h"

namespace suede::ctl {
namespace {

constexpr GlobalFlag kGlobalFlags[] = {
    {"--endpoint", "NAME", "the endpoint's name (default suede, or $SUEDE_CTL_ENDPOINT)"},
    {"--socket", "PATH", "its management socket instead (or $SUEDE_CTL_SOCKET)"},
    {"--json", "", "the result as JSON, on one line; also -j"},
    {"--wide", "", "tables of more than 100 columns"},
    {"--every", "SECONDS", "repeat the command on one connection"},
    {"--times", "N", "with --every, or top: so often"},
    {"--help", "", "this, or the help of a command; also -h"},
    {"--version", "", "suedectl's own version"},
};

absl::Status Usage(std::string message) { return absl::InvalidArgumentError(std::move(message)); }

std::string DidYouMean(std::string_view word, const std::vector<std::string>& names) {
  const std::vector<std::string> nearest = Nearest(word, names);
  return nearest.empty() ? "see suedectl --help"
                         : StrCat("did you mean ", StrJoin(nearest, " or "), "?");
}

class Parser {
 public:
  Parser(const std::vector<std::string>& arguments, const Commands& commands, DaemonKind kind)
      : arguments_(arguments), commands_(commands), kind_(kind) {}

  absl::StatusOr<Invocation> Parse(GlobalFlags flags) {
    out_.flags = std::move(flags);
    while (at_ < arguments_.size() && arguments_[at_].starts_with("-")) {
      bool known = false;
      if (absl::Status s = TakeGlobal(&known); !s.ok()) return s;
      if (!known) return UnknownFlag({});
    }
    if (at_ == arguments_.size()) {
      if (out_.flags.help || out_.flags.version) return std::move(out_);
      return Usage("no command; see suedectl --help");
    }
    if (absl::Status s = TakeCommand(); !s.ok()) return s;
    if (out_.local != nullptr) return std::move(out_);
    while (at_ < arguments_.size()) {
      if (absl::Status s = TakeArgument(); !s.ok()) return s;
    }
    if (out_.flags.help || out_.method == nullptr) return std::move(out_);
    if (absl::Status s = Check(); !s.ok()) return s;
    return std::move(out_);
  }

 private:
  // Takes the value of a flag: the text behind its "=", or the next argument.
  absl::StatusOr<std::string> TakeValue() {
    const std::string& argument = arguments_[at_++];
    const size_t equals = argument.find('=');
    if (equals != std::string::npos) return argument.substr(equals + 1);
    if (at_ == arguments_.size()) return Usage(StrCat(argument, " takes a value"));
    return arguments_[at_++];
  }

  absl::Status TakeGlobal(bool* known) {
    const std::string argument = arguments_[at_];
    const std::string name = argument.substr(0, argument.find('='));
    *known = true;
    bool* const flag = argument == "-j" || argument == "--json"   ? &out_.flags.json
                       : argument == "--wide"                     ? &out_.flags.wide
                       : argument == "-h" || argument == "--help" ? &out_.flags.help
                       : argument == "--version"                  ? &out_.flags.version
                                                                  : nullptr;
    if (flag != nullptr) {
      *flag = true;
      ++at_;
      return absl::OkStatus();
    }
    if (name != "--endpoint" && name != "--socket" && name != "--every" && name != "--times") {
      *known = false;
      return absl::OkStatus();
    }
    absl::StatusOr<std::string> value = TakeValue();
    if (!value.ok()) return value.status();
    if (name == "--endpoint") {
      if (value->empty() || value->find('/') != std::string::npos) {
        return Usage(StrCat("--endpoint: '", *value, "' is no name; give a path with --socket"));
      }
      out_.flags.endpoint = *value;
      out_.flags.socket.clear();
    } else if (name == "--socket") {
      if (value->empty()) return Usage("--socket: give a path");
      out_.flags.socket = *value;
    } else if (name == "--every") {
      if (!absl::SimpleAtod(*value, &out_.flags.every_s) || !(out_.flags.every_s >= 0.01) ||
          out_.flags.every_s > 86400) {
        return Usage(StrCat("--every: '", *value, "' is not 0.01 to 86400"));
      }
    } else if (!absl::SimpleAtoi(*value, &out_.flags.times) || out_.flags.times == 0) {
      return Usage(StrCat("--times: '", *value, "' is not 1 or more"));
    }
    return absl::OkStatus();
  }

  absl::Status UnknownFlag(const std::vector<std::string>& own) const {
    const std::string& argument = arguments_[at_];
    const std::string name = argument.substr(0, argument.find('='));
    std::vector<std::string> names = own;
    for (const GlobalFlag& flag : kGlobalFlags) names.emplace_back(flag.name);
    return Usage(StrCat("unknown flag '", name, "'; ", DidYouMean(name, names)));
  }

  // Takes the longest sequence of words that names a command.
  absl::Status TakeCommand() {
    size_t words = 0;
    while (at_ + words < arguments_.size() && !arguments_[at_ + words].starts_with("-")) ++words;
    std::string max;
    for (size_t count = std::min<size_t>(words, 4); count != 0; --count) {
      const auto first = arguments_.begin() + static_cast<std::ptrdiff_t>(at_);
      const std::vector<std::string> name(first, first + static_cast<std::ptrdiff_t>(count));
      if (max.empty()) max = StrJoin(name, " ");
      if (Find(StrJoin(name, " "))) {
        at_ += count;
        if (out_.local != nullptr) {
          out_.arguments.assign(arguments_.begin() + static_cast<std::ptrdiff_t>(at_),
                                arguments_.end());
        }
        return absl::OkStatus();
      }
    }
    return NoSuchCommand(max, words);
  }

  bool Find(const std::string& name) {
    for (const LocalCommand& command : commands_.local) {
      if (command.name == name) out_.local = &command;
    }
    const bool of_switch = kind_ == DaemonKind::kSwitch && commands_.switch_catalog != nullptr;
    const Catalog& catalog = of_switch ? *commands_.switch_catalog : commands_.catalog;
    for (const Method* method : catalog.methods()) {
      const std::string command = CommandOf(*method);
      if (method->name == name || command == name || InSingular(command) == name) {
        out_.method = method;
      }
    }
    for (const DaemonCommand& command : commands_.daemon) {
      if (CommandOf(command.declaration) != name) continue;
      out_.daemon = &command;
      out_.method = &command.declaration;
    }
    return out_.local != nullptr || out_.method != nullptr;
  }

  // Returns the command with its first word in the singular: "plane drain" for "planes drain".
  static std::string InSingular(std::string command) {
    const size_t end = command.find(' ');
    if (end != std::string::npos && command[end - 1] == 's') command.erase(end - 1, 1);
    return command;
  }

  absl::Status NoSuchCommand(const std::string& words, size_t count) {
    std::vector<std::string> names;
    for (const Method* method : commands_.Declarations()) names.push_back(CommandOf(*method));
    for (const LocalCommand& command : commands_.local) names.emplace_back(command.name);
    const std::string& first = arguments_[at_];
    std::vector<std::string> group;
    for (const std::string& name : names) {
      if (name.starts_with(first + " ")) group.push_back(name);
    }
    if (!group.empty() && count == 1) {
      const bool asks = std::any_of(arguments_.begin(), arguments_.end(), [](const auto& argument) {
        return argument == "--help" || argument == "-h";
      });
      if (!asks && !out_.flags.help) {
        return Usage(StrCat("'", first, "' alone is no command; there are ", StrJoin(group, ", ")));
      }
      out_.group = first;
      out_.flags.help = true;
      at_ = arguments_.size();
      return absl::OkStatus();
    }
    return Usage(StrCat("unknown command '", words, "'; ", DidYouMean(words, names)));
  }

  absl::Status TakeArgument() {
    const std::string argument = arguments_[at_];
    if (!argument.starts_with("-") || argument == "-") return TakeWord(argument);
    bool known = false;
    if (absl::Status s = TakeGlobal(&known); !s.ok() || known) return s;
    const std::string name = argument.substr(0, argument.find('='));
    std::vector<std::string> own;
    for (const Param& param : out_.method->params) {
      own.push_back(StrCat("--", param.name));
      if (name == own.back()) return TakeFlag(param);
      if (param.type == Param::Type::kBoolean && argument == StrCat("--no", param.name)) {
        ++at_;
        out_.params[std::string(param.name)] = false;
        return absl::OkStatus();
      }
    }
    if (out_.method->descriptor) {
      own.push_back(StrCat("--", out_.method->descriptor->name));
      if (name == own.back()) {
        absl::StatusOr<std::string> value = TakeValue();
        if (!value.ok()) return value.status();
        out_.descriptor_path = *std::move(value);
        return absl::OkStatus();
      }
    }
    return UnknownFlag(own);
  }

  // Assigns a word to the first required or positional parameter without a value.
  absl::Status TakeWord(const std::string& word) {
    ++at_;
    for (const Param& param : out_.method->params) {
      if (!param.required && !param.positional) continue;
      if (out_.params.contains(std::string(param.name))) continue;
      return Set(param, word);
    }
    if (out_.method->descriptor && out_.descriptor_path.empty()) {
      out_.descriptor_path = word;
      return absl::OkStatus();
    }
    return Usage(StrCat("'", word, "' is one argument too many; see suedectl ",
                        CommandOf(*out_.method), " --help"));
  }

  absl::Status TakeFlag(const Param& param) {
    if (param.type == Param::Type::kBoolean &&
        arguments_[at_].find('=') == std::string::npos) {
      ++at_;
      out_.params[std::string(param.name)] = true;
      return absl::OkStatus();
    }
    absl::StatusOr<std::string> value = TakeValue();
    return value.ok() ? Set(param, *value) : value.status();
  }

  absl::Status Set(const Param& param, const std::string& text) {
    ForeignJson& value = out_.params[std::string(param.name)];
    int64_t number = 0;
    bool truth = false;
    value = text;
    if (param.type == Param::Type::kInteger &&
        (absl::SimpleAtoi(text, &number) ||
         (text.starts_with("0x") && absl::SimpleHexAtoi(text, &number)))) {
      value = number;
    } else if (param.type == Param::Type::kInteger && TakesXpu(param.name) && IsName(text)) {
      value = 0;
      out_.xpu_names[std::string(param.name)] = text;
    }
    double fraction = 0;
    if (param.type == Param::Type::kNumber && absl::SimpleAtod(text, &fraction)) value = fraction;
    if (param.type == Param::Type::kBoolean && absl::SimpleAtob(text, &truth)) value = truth;
    return absl::OkStatus();  // Check validates the value
  }

  // Whether the text, which is no number, may be the name of an XPU.
  static bool IsName(const std::string& text) {
    return text.find_first_not_of("0123456789") != std::string::npos && text[0] != '-';
  }

  // Passes the path as the user wrote it, since the daemon gets only a descriptor, and names the
  // file in messages.
  void NameFile() {
    static constexpr std::string_view kName = "file_name";
    const bool has_name = std::any_of(out_.method->params.begin(), out_.method->params.end(),
                                      [](const Param& param) { return param.name == kName; });
    if (!has_name || out_.descriptor_path.empty() || out_.params.contains(std::string(kName))) return;
    out_.params[std::string(kName)] =
        out_.descriptor_path == "-" ? "standard input" : out_.descriptor_path;
  }

  absl::Status Check() {
    NameFile();
    const auto checked = Arguments::Check(out_.method->params, out_.params);
    if (const auto* wrong = std::get_if<ArgumentError>(&checked)) {
      return Usage(StrCat(wrong->parameter, ": ", wrong->message));
    }
    if (out_.method->descriptor && out_.method->descriptor->required &&
        out_.descriptor_path.empty()) {
      return Usage(StrCat(out_.method->descriptor->name, ": is missing; give a file's path"));
    }
    const bool repeats = out_.daemon != nullptr || out_.flags.every_s != 0;
    if (out_.flags.times != 0 && !repeats) return Usage("--times goes with --every");
    return absl::OkStatus();
  }

  const std::vector<std::string>& arguments_;
  const Commands& commands_;
  const DaemonKind kind_;
  Invocation out_;
  size_t at_ = 0;
};

}  // namespace

std::span<const GlobalFlag> GlobalFlagRows() { return kGlobalFlags; }

absl::StatusOr<Invocation> ParseCommandLine(const std::vector<std::string>& arguments,
                                            const Commands& commands,
                                            const char* const* environment, DaemonKind kind) {
  GlobalFlags flags;
  const auto take = [&](std::string_view name, std::string& value) {
    for (const char* const* entry = environment; *entry != nullptr; ++entry) {
      const std::string_view text = *entry;
      if (text.starts_with(name)) value = text.substr(name.size());
    }
  };
  take("SUEDE_CTL_ENDPOINT=", flags.endpoint);
  take("SUEDE_CTL_SOCKET=", flags.socket);
  return Parser(arguments, commands, kind).Parse(std::move(flags));
}

std::vector<const Method*> Commands::Declarations() const {
  std::vector<const Method*> all = catalog.methods();
  if (switch_catalog != nullptr) {
    for (const Method* method : switch_catalog->methods()) {
      if (catalog.Find(method->name) == nullptr) all.push_back(method);
    }
  }
  for (const DaemonCommand& command : daemon) all.push_back(&command.declaration);
  return all;
}

const Method* Commands::Find(std::string_view method, DaemonKind kind) const {
  for (const DaemonCommand& command : daemon) {
    const bool fits = kind == DaemonKind::kEndpoint || command.of_switch;
    if (command.declaration.name == method) return fits ? &command.declaration : nullptr;
  }
  if (kind == DaemonKind::kEndpoint || switch_catalog == nullptr) return catalog.Find(method);
  return switch_catalog->Find(method);
}

std::string CommandOf(const Method& method) {
  std::string command(method.name);
  std::replace(command.begin(), command.end(), '.', ' ');
  return command;
}

}  // namespace suede::ctl
