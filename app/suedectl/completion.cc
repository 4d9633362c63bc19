// SPDX-License-Identifier: Apache-2.0
#include "suedectl/completion.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <vector>

#include "base/text.h"
#include "suedectl/daemon.h"
#include "suedectl/endpoints_command.h"
#include "suedectl/json_members.h"
#include "suedectl/print.h"
#include "suedectl/xpu_names.h"

namespace suede::ctl {
namespace {

constexpr int kQueryTimeoutS = 2;

constexpr char kHelp[] =
    "suedectl completion: prints a completion script, for bash unless zsh is named.\n\n"
    "usage: suedectl completion [bash | zsh]\n"
    "       suedectl completion endpoints\n"
    "       suedectl completion xpus | peers [--endpoint NAME | --socket PATH]\n\n"
    "  source <(suedectl completion)\n"
    "  source <(suedectl completion zsh)\n\n"
    "The scripts ask the other forms for words: the endpoints that run on this machine, the XPUs\n"
    "of an endpoint, and those of its peers with their names.\n";

// Completions by the words before ("" or "counters ").
using Tree = std::map<std::string, std::vector<std::string>>;

void AddCommand(const std::string& name, Tree& tree) {
  std::string words;
  for (const std::string_view word : Split(name, ' ')) {
    std::vector<std::string>& next = tree[words];
    if (std::find(next.begin(), next.end(), word) == next.end()) next.emplace_back(word);
    StrAppend(&words, word, " ");
  }
}

// Returns the words for a parameter's value: its choices, or a query; empty: unknown.
std::string ValuesOf(const Param& param) {
  if (param.name == "peer") return "$(suedectl completion peers $at 2>/dev/null)";
  if (param.name == "xpu") return "$(suedectl completion xpus $at 2>/dev/null)";
  std::string words(param.choices);
  std::replace(words.begin(), words.end(), '|', ' ');
  return words;
}

// Returns the `case` branch that completes the arguments of a method's command.
std::string MethodCase(const Method& method) {
  std::string flags, positional, values;
  bool is_first = true;
  for (const Param& param : method.params) {
    StrAppend(&flags, flags.empty() ? "" : " ", "--", param.name);
    const std::string words = ValuesOf(param);
    if (param.required && std::exchange(is_first, false)) positional = words;
    if (words.empty()) continue;
    StrAppend(&values, "        --", param.name, ") candidates=\"", words, "\" ;;\n");
  }
  if (method.descriptor) StrAppend(&flags, flags.empty() ? "" : " ", "--", method.descriptor->name);
  std::string out = StrCat("    '", CommandOf(method), " '*)\n      candidates=\"", positional,
                           positional.empty() ? "" : " ", flags, flags.empty() ? "" : " ",
                           "--json --wide --help\"\n");
  if (!values.empty()) StrAppend(&out, "      case $previous in\n", values, "      esac\n");
  return out + "      ;;\n";
}

// The parts in which the shells differ. `array`: that of the words, whose first has the index
// `first`.
struct Dialect {
  std::string_view head;
  std::string_view setup;  // at the begin of the function
  std::string_view array;
  int first;
  std::string_view end;  // index of the word to complete
  std::string_view tail;
};

constexpr Dialect kBash = {
    .head = "# bash completion of suedectl: source <(suedectl completion)\n",
    .setup = "",
    .array = "COMP_WORDS",
    .first = 0,
    .end = "COMP_CWORD",
    .tail =
        "  COMPREPLY=($(compgen -W \"$candidates\" -- \"$current\"))\n}\n"
        "complete -o default -F _suedectl suedectl\n",
};
constexpr Dialect kZsh = {
    .head = "#compdef suedectl\n# zsh completion of suedectl: source <(suedectl completion zsh)\n",
    .setup = "  setopt local_options sh_word_split\n",
    .array = "words",
    .first = 1,
    .end = "CURRENT",
    .tail =
        "  if [[ -n $candidates ]]; then\n    compadd -- $candidates\n  else\n    _files\n"
        "  fi\n}\n"
        "if [[ ${funcstack[1]} == _suedectl ]]; then\n  _suedectl \"$@\"\nelse\n"
        "  compdef _suedectl suedectl\nfi\n",
};

// Returns the part of the script that finds the words of the command, and the endpoint's flags.
std::string Prologue(const Dialect& d, std::string_view valued) {
  const std::string word = StrCat("${", d.array, "[i]}");
  return StrCat(d.head, "_suedectl() {\n", d.setup, "  local current=${", d.array, "[", d.end,
                "]} previous=${", d.array, "[", d.end,
                "-1]}\n  local command= candidates= at= i\n  for ((i = ", d.first + 1, "; i < ",
                d.end, "; i++)); do\n    case ", word, " in\n", "      --endpoint|--socket) at=\"",
                word, " ${", d.array, "[i+1]}\"; ((i++)) ;;\n", "      ", valued,
                ") ((i++)) ;;\n      -*) ;;\n      *) command+=\"", word,
                " \" ;;\n    esac\n  done\n  case $command in\n");
}

// Returns the numbers of XPUs, then names of peers, a line each.
absl::StatusOr<std::string> XpusOf(const std::vector<std::string>& paths, bool of_peers) {
  absl::StatusOr<Daemon> daemon = Daemon::Connect(paths, kQueryTimeoutS);
  if (!daemon.ok()) return daemon.status();
  const char* const list = of_peers ? "peers" : "instances";
  const absl::StatusOr<Json> result = daemon->Call(StrCat(list, ".list"), ForeignJson::object());
  if (!result.ok()) return result.status();
  std::set<uint64_t> xpus;
  for (const Json& row : ListOf(*result, list)) {
    if (const std::optional<uint64_t> xpu = NumberOf(row, "xpu")) xpus.insert(*xpu);
  }
  std::string lines;
  for (const uint64_t xpu : xpus) StrAppend(&lines, xpu, "\n");
  for (const auto& [xpu, name] : NamesIn(*result)) StrAppend(&lines, name, "\n");
  return lines;
}

int PrintXpus(std::span<const std::string_view> arguments, bool of_peers, FILE* out, FILE* err) {
  const char* const socket = std::getenv("SUEDE_CTL_SOCKET");
  const char* const endpoint = std::getenv("SUEDE_CTL_ENDPOINT");
  std::vector<std::string> paths =
      Daemon::PathsOf(endpoint != nullptr ? endpoint : GlobalFlags().endpoint);
  if (socket != nullptr) paths = {socket};
  if (arguments.size() == 2 && arguments[0] == "--endpoint") {
    paths = Daemon::PathsOf(std::string(arguments[1]));
  } else if (arguments.size() == 2 && arguments[0] == "--socket") {
    paths = {std::string(arguments[1])};
  } else if (!arguments.empty()) {
    std::fputs("suedectl: completion xpus and peers take --endpoint NAME or --socket PATH\n", err);
    return kExitUsage;
  }
  const auto xpus = XpusOf(paths, of_peers);
  if (!xpus.ok()) {
    std::fprintf(err, "suedectl: %s\n", std::string(xpus.status().message()).c_str());
    return absl::IsUnavailable(xpus.status()) ? kExitUnreachable : kExitFailure;
  }
  std::fputs(xpus->c_str(), out);
  return kExitDone;
}

int PrintEndpoints(FILE* out) {
  const Json list = ListEndpoints(RuntimeRoots());
  for (const Json& row : list["endpoints"]) {
    if (row["state"] == "running") {
      std::fprintf(out, "%s\n", row["name"].get<std::string>().c_str());
    }
  }
  return kExitDone;
}

}  // namespace

std::string Completion(const Commands& commands, Shell shell) {
  Tree tree;
  std::string methods;
  for (const Method* method : commands.Declarations()) {
    AddCommand(CommandOf(*method), tree);
    methods += MethodCase(*method);
  }
  for (const LocalCommand& command : commands.local) {
    AddCommand(std::string(command.name), tree);
    if (!command.words.empty()) {
      tree[StrCat(command.name, " ")].emplace_back(command.words);
    }
  }
  std::string globals, valued;
  for (const GlobalFlag& flag : GlobalFlagRows()) {
    StrAppend(&globals, " ", flag.name);
    if (!flag.value.empty()) StrAppend(&valued, valued.empty() ? "" : "|", flag.name);
  }
  const Dialect& dialect = shell == Shell::kZsh ? kZsh : kBash;
  std::string out = Prologue(dialect, valued);
  for (const auto& [words, next] : tree) {
    StrAppend(&out, "    '", words, "') candidates=\"", StrJoin(next, " "),
              words.empty() ? globals : "", "\" ;;\n");
  }
  StrAppend(&out, methods, "  esac\n  case $previous in\n",
            "    --endpoint) candidates=$(suedectl completion endpoints 2>/dev/null) ;;\n",
            "    --socket) candidates= ;;\n  esac\n", dialect.tail);
  return out;
}

int RunCompletion(std::span<const std::string_view> arguments, FILE*, FILE* out, FILE* err) {
  const std::string_view what = arguments.empty() ? "bash" : arguments[0];
  if (what == "--help" || what == "-h") {
    std::fputs(kHelp, out);
    return kExitDone;
  }
  if (what == "xpus" || what == "peers") {
    return PrintXpus(arguments.subspan(1), what == "peers", out, err);
  }
  const bool is_known = what == "bash" || what == "zsh" || what == "endpoints";
  if (!is_known || arguments.size() > 1) {
    std::fprintf(err, "suedectl: completion takes bash, zsh, endpoints, xpus or peers, not '%s'\n",
                 std::string(arguments.back()).c_str());
    return kExitUsage;
  }
  if (what == "endpoints") return PrintEndpoints(out);
  const Commands all{.catalog = EndpointCatalog(),
                     .local = LocalCommands(),
                     .daemon = DaemonCommands(),
                     .switch_catalog = &SwitchCatalog()};
  std::fputs(Completion(all, what == "zsh" ? Shell::kZsh : Shell::kBash).c_str(), out);
  return kExitDone;
}

}  // namespace suede::ctl
