// SPDX-License-Identifier: Apache-2.0
#include "fragments.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/text.h"
#include "config/config_fields.h"
#include "endpoint/daemon_flags.h"
#include "fare/fare_config.h"
#include "fare/fare_flags.h"
#include "header_page.h"
#include "mesh/mesh_flags.h"
#include "mesh/system.h"
#include "mgmt/catalog.h"
#include "mgmt/events.h"
#include "mgmt/server.h"
#include "perf/options.h"
#include "preflight/preflight.h"
#include "scdoc.h"
#include "shm/server.h"
#include "stats/counters.h"
#include "suedectl/command_line.h"
#include "suedectl/daemon_command.h"
#include "suedectl/help.h"
#include "switch/switch_config.h"
#include "switch/switch_flags.h"

namespace suede::manual {
namespace {

std::string FlagsOf(const Program& program) {
  std::string out;
  for (const FlagRow& row : program.flags) {
    std::string term = Bold(StrCat("--", row.name));
    if (!row.value.empty()) StrAppend(&term, " ", Underlined(row.value));
    out += Definition(term, StrCat(row.sentence, "."));
  }
  return out;
}

std::string SynopsisOf(const Program& program) {
  return StrCat(Bold(program.name), Plain(program.synopsis.substr(program.name.size())), "\n");
}

std::string SuedeFlags() { return FlagsOf(kSuedeProgram); }
std::string SuedeSynopsis() { return SynopsisOf(kSuedeProgram); }
std::string SuedeSignals() { return Plain(kSuedeProgram.signals) + "\n"; }
std::string SwitchFlags() { return FlagsOf(kSwitchProgram); }
std::string SwitchSynopsis() { return SynopsisOf(kSwitchProgram); }
std::string SwitchSignals() { return Plain(kSwitchProgram.signals) + "\n"; }

std::string FareFlags() { return FlagsOf(kFareProgram); }
std::string FareSynopsis() { return SynopsisOf(kFareProgram); }
std::string FareSignals() { return Plain(kFareProgram.signals) + "\n"; }

std::string MeshFlags() { return FlagsOf(kMeshProgram); }
std::string MeshSynopsis() { return SynopsisOf(kMeshProgram); }

std::string ExitCodesOf(const Program& program) {
  std::string out;
  for (const ExitCodeRow& row : program.exit_codes) {
    out += Definition(Bold(StrCat(row.code)), StrCat(row.sentence, "."));
  }
  return out;
}

std::string SuedeExitCodes() { return ExitCodesOf(kSuedeProgram); }
std::string FareExitCodes() { return ExitCodesOf(kFareProgram); }
std::string MeshExitCodes() { return ExitCodesOf(kMeshProgram); }

std::string PreflightRows() {
  std::string out;
  for (const PreflightCheck& check : PreflightChecks()) {
    std::string sentence(check.sentence);
    std::erase(sentence, '`');
    out += Definition(Bold(check.name), sentence);
  }
  return out;
}

std::string KeysOf(const std::vector<ConfigKey>& keys) {
  std::string out;
  for (const ConfigKey& key : keys) {
    if (key.is_section) {
      // Nested sections become definitions, so that the page keeps two levels.
      const bool is_outer = key.path.find('.') == std::string::npos;
      const std::string required = key.default_value.empty() ? "" : " Required.";
      if (is_outer) {
        StrAppend(&out, "## ", Plain(key.path), "\n\n", Plain(key.sentence + required), "\n\n");
      } else {
        out += Definition(Bold(key.path), key.sentence + required);
      }
      continue;
    }
    std::string about = key.unit.empty() ? "" : key.unit + "; ";
    StrAppend(&about, key.range, "; ",
              key.default_value == "required" ? "required" : "default " + key.default_value);
    out += Definition(StrCat(Bold(key.path), " (", Plain(about), ")"), key.sentence);
  }
  return out;
}

std::string ConfigurationKeys() { return KeysOf(ConfigKeys()); }
std::string FareKeys() { return KeysOf(FareConfigKeys()); }
std::string MeshKeys() { return KeysOf(mesh::SystemKeys()); }
std::string SwitchKeys() { return KeysOf(SwitchConfigKeys()); }

std::string CtlFlags() {
  std::string out;
  for (const ctl::GlobalFlag& flag : ctl::GlobalFlagRows()) {
    std::string term = Bold(flag.name);
    if (!flag.value.empty()) StrAppend(&term, " ", Underlined(flag.value));
    out += Definition(term, flag.sentence);
  }
  return out;
}

std::string CtlCommand(const Method& method) {
  std::string term = Bold(ctl::CommandOf(method));
  std::string parameters;
  for (const Param& param : method.params) {
    const std::string flag = StrCat("--", param.name);
    StrAppend(&term, " ", param.required ? Underlined(param.name) : StrCat("[", Plain(flag), "]"));
    StrAppend(&parameters, "\t", Plain(flag), ": ", Plain(param.sentence), " ",
              Plain(param.Range()),
              param.fallback.empty() ? "" : StrCat("; default ", Plain(param.fallback)), ".\n\n");
  }
  if (method.descriptor) {
    const std::string flag = StrCat("--", method.descriptor->name);
    const bool required = method.descriptor->required;
    StrAppend(&term, required ? " " : " [", Plain(flag), " ", Underlined("PATH"),
              required ? "" : "]");
    StrAppend(&parameters, "\t", Plain(flag), ": ", Plain(method.descriptor->sentence), "\n\n");
  }
  return StrCat(term, "\n\t", Plain(method.sentence), "\n\n", parameters,
                "\tResult: ", Plain(method.ResultText()), ".\n\n");
}

std::string CtlCommands() {
  std::string out;
  const ctl::Commands commands{.catalog = EndpointCatalog(),
                               .local = ctl::LocalCommands(),
                               .daemon = ctl::DaemonCommands(),
                               .switch_catalog = &SwitchCatalog()};
  for (const Method* method : commands.Declarations()) {
    out += CtlCommand(*method);
    const Method* const other = commands.Find(method->name, DaemonKind::kSwitch);
    if (other != nullptr && other != method && other->params.data() != method->params.data()) {
      out += StrCat("\tOf a switch:\n\n", CtlCommand(*other));
    }
  }
  return out;
}

std::string CtlLocalCommands() {
  std::string out;
  for (const ctl::LocalCommand& command : ctl::LocalCommands()) {
    out += Definition(Bold(command.name), StrCat(command.sentence, "."));
  }
  return out;
}

std::string PerfFlags() {
  std::string out;
  for (const perf::FlagText& flag : perf::FlagTexts()) {
    const std::string about =
        StrCat(flag.type, "; default ", flag.default_value.empty() ? "none" : flag.default_value);
    const std::string letter = flag.letter != 0 ? Bold(std::string{'-', flag.letter}) + ", " : "";
    out += Definition(StrCat(letter, Bold("--" + flag.name), " (", Plain(about), ")"),
                      flag.description + ".");
  }
  return out;
}

std::string PerfExitCodes() { return Plain(perf::kExitCodesText) + "\n"; }

std::string_view SeverityText(Severity severity) {
  switch (severity) {
    case Severity::kDrop:
      return "drop";
    case Severity::kError:
      return "error";
    case Severity::kInfo:
      break;
  }
  return "info";
}

std::string DataPathCounters() {
  std::string out;
  for (const CounterRow& row : CounterRows()) {
    out += Definition(StrCat(Bold(row.name), " (", SeverityText(row.severity), ")"),
                      StrCat(row.sentence, "."));
  }
  return out;
}

std::string SocketCounters() {
  std::string out;
#define SUEDE_MANUAL_COUNTER(id, name, sentence) \
  out += Definition(Bold(name), StrCat(sentence, "."));
  SUEDE_SHM_COUNTERS(SUEDE_MANUAL_COUNTER)
  SUEDE_MANAGEMENT_COUNTERS(SUEDE_MANUAL_COUNTER)
#undef SUEDE_MANUAL_COUNTER
  return out;
}

std::string EventKinds() {
  std::string out;
  for (size_t i = 0; i < kEventKinds; ++i) {
    const EventRow& row = RowOf(static_cast<EventKind>(i));
    std::string fields;
    for (const EventField field : row.fields) {
      if (field == EventField::kNone) break;
      StrAppend(&fields, fields.empty() ? " Fields: " : ", ", RowOf(field).name);
    }
    const std::string max = row.per_s != 0 ? StrCat(", ", row.per_s, " a second") : "";
    out += Definition(StrCat(Bold(row.name), " (", NameOf(row.severity), max, ")"),
                      StrCat(row.sentence, fields, "."));
  }
  return out;
}

std::string EventFields() {
  std::string out;
  std::vector<EventFieldRow> rows(EventFieldRows().begin(), EventFieldRows().end());
  rows.insert(rows.end(), SwitchEventFieldRows().begin(), SwitchEventFieldRows().end());
  for (const EventFieldRow& row : rows) {
    const bool is_integer = row.type == EventFieldType::kInteger;
    out += Definition(StrCat(Bold(row.name), " (", is_integer ? "integer" : "text", ")"),
                      row.sentence);
  }
  return out;
}

constexpr Fragment kFragments[] = {
    {"suede_synopsis", SuedeSynopsis},
    {"suede_flags", SuedeFlags},
    {"suede_signals", SuedeSignals},
    {"suede_exit_codes", SuedeExitCodes},
    {"suede_fare_synopsis", FareSynopsis},
    {"suede_fare_flags", FareFlags},
    {"suede_fare_signals", FareSignals},
    {"suede_fare_keys", FareKeys},
    {"suede_fare_exit_codes", FareExitCodes},
    {"suede_mesh_synopsis", MeshSynopsis},
    {"suede_mesh_flags", MeshFlags},
    {"suede_mesh_keys", MeshKeys},
    {"suede_mesh_exit_codes", MeshExitCodes},
    {"suede_switch_synopsis", SwitchSynopsis},
    {"suede_switch_flags", SwitchFlags},
    {"suede_switch_signals", SwitchSignals},
    {"suede_switch_keys", SwitchKeys},
    {"preflight_checks", PreflightRows},
    {"configuration_keys", ConfigurationKeys},
    {"suedectl_flags", CtlFlags},
    {"suedectl_commands", CtlCommands},
    {"suedectl_local_commands", CtlLocalCommands},
    {"suede_perf_flags", PerfFlags},
    {"suede_perf_exit_codes", PerfExitCodes},
    {"data_path_counters", DataPathCounters},
    {"socket_counters", SocketCounters},
    {"event_kinds", EventKinds},
    {"event_fields", EventFields},
};

// Flags for the completion: name, and whether it takes a value.
using Flags = std::vector<std::pair<std::string, bool>>;

// The parts of a script in which the shells differ.
struct ShellText {
  std::string_view head;              // behind the name of the program
  std::string_view previous;          // the word before the cursor
  std::string_view files;             // completes files
  std::string_view words, words_end;  // around the words that are completed
};
constexpr ShellText kBash = {
    .head = "# bash completion of ",
    .previous = "${COMP_WORDS[COMP_CWORD-1]}",
    .files = "COMPREPLY=($(compgen -f -- \"${COMP_WORDS[COMP_CWORD]}\"))",
    .words = "COMPREPLY=($(compgen -W \"",
    .words_end = "\" -- \"${COMP_WORDS[COMP_CWORD]}\"))",
};
constexpr ShellText kZsh = {
    .head = "#compdef ",
    .previous = "${words[CURRENT-1]}",
    .files = "_files",
    .words = "compadd -- ",
    .words_end = "",
};

std::string Script(std::string_view program, const Flags& flags, Shell shell) {
  const ShellText& t = shell == Shell::kZsh ? kZsh : kBash;
  std::string function = StrCat("_", program);
  if (shell == Shell::kBash) std::replace(function.begin(), function.end(), '-', '_');
  std::string all;
  std::string valued;
  for (const auto& [name, takes_value] : flags) {
    StrAppend(&all, all.empty() ? "--" : " --", name);
    const bool is_endpoint = program == "suede-perf" && name == "endpoint";
    if (takes_value && !is_endpoint) StrAppend(&valued, valued.empty() ? "--" : "|--", name);
  }
  std::string out = StrCat(t.head, program, "\n", function, "() {\n  case ", t.previous, " in\n");
  if (program == "suede-perf") {
    StrAppend(&out, "    --endpoint|-d) ", t.words, "$(suedectl completion endpoints 2>/dev/null)",
              t.words_end, " ;;\n");
  }
  // Completes other flags' values as file names.
  StrAppend(&out, "    ", valued, ") ", t.files, " ;;\n    *) ", t.words, all, t.words_end,
            " ;;\n  esac\n}\n");
  // The file may be sourced, or loaded by the name of its function.
  if (shell == Shell::kZsh) {
    return StrCat(out, "if [[ ${funcstack[1]} == ", function, " ]]; then\n  ", function,
                  " \"$@\"\nelse\n  compdef ", function, " ", program, "\nfi\n");
  }
  return StrCat(out, "complete -o filenames -F ", function, " ", program, "\n");
}

}  // namespace

std::span<const Fragment> Fragments() { return kFragments; }

namespace {

// Returns the text of a fragment; nullopt if it is unknown.
std::optional<std::string> TextOf(std::string_view name, const std::string& headers) {
  const size_t blank = name.find(' ');
  if (blank != std::string_view::npos) {
    std::ifstream file(StrCat(headers, "/", name.substr(blank + 1)));
    if (!file) return std::nullopt;
    std::stringstream text;
    text << file.rdbuf();
    if (name.starts_with("about ")) return HeaderAbout(text.str());
    if (name.starts_with("header ")) return HeaderPage(text.str());
    return std::nullopt;
  }
  const auto found = std::find_if(std::begin(kFragments), std::end(kFragments),
                                  [&](const Fragment& f) { return f.name == name; });
  if (found == std::end(kFragments)) return std::nullopt;
  return found->make();
}

}  // namespace

std::optional<std::string> FillIn(std::string_view text, const std::string& headers) {
  std::string out;
  for (const std::string_view line : Split(text, '\n')) {
    if (line.size() < 3 || line.front() != '@' || line.back() != '@') {
      StrAppend(&out, line, "\n");
      continue;
    }
    const std::optional<std::string> filled = TextOf(line.substr(1, line.size() - 2), headers);
    if (!filled) return std::nullopt;
    out += *filled;
  }
  // scdoc rejects several empty lines at the end.
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

std::string FlagCompletion(std::string_view program, Shell shell) {
  Flags flags;
  constexpr const Program* kPrograms[] = {&kSuedeProgram, &kSwitchProgram, &kFareProgram,
                                          &kMeshProgram};
  const auto found = std::find_if(std::begin(kPrograms), std::end(kPrograms),
                                  [&](const Program* one) { return one->name == program; });
  if (found != std::end(kPrograms)) {
    const Program& daemon = **found;
    for (const FlagRow& row : daemon.flags) flags.emplace_back(row.name, !row.value.empty());
  } else if (program == "suede-perf") {
    for (const perf::FlagText& flag : perf::FlagTexts()) {
      flags.emplace_back(flag.name, flag.type != "bool");
    }
    flags.emplace_back("help", false);
    flags.emplace_back("version", false);
  } else {
    return "";
  }
  return Script(program, flags, shell);
}

}  // namespace suede::manual
