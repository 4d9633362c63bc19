// SPDX-License-Identifier: Apache-2.0
#include "suedectl/help.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/text.h"

namespace suede::ctl {
namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;

std::string TwoColumns(const Rows& rows) {
  size_t width = 0;
  for (const auto& [left, right] : rows) width = std::max(width, left.size());
  std::string out;
  for (const auto& [left, right] : rows) {
    StrAppend(&out, "  ", left, std::string(width + 2 - left.size(), ' '), right, "\n");
  }
  return out;
}

Rows CommandRows(const Commands& commands, std::string_view group) {
  Rows rows;
  const auto add = [&](std::string name, std::string_view sentence) {
    if (group.empty() || name.starts_with(StrCat(group, " "))) {
      rows.emplace_back(std::move(name), sentence);
    }
  };
  for (const Method* method : commands.Declarations()) add(CommandOf(*method), method->sentence);
  for (const LocalCommand& command : commands.local)
    add(std::string(command.name), command.sentence);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return rows;
}

Rows GlobalRows() {
  Rows rows;
  for (const GlobalFlag& flag : GlobalFlagRows()) {
    rows.emplace_back(
        flag.value.empty() ? std::string(flag.name) : StrCat(flag.name, " ", flag.value),
        flag.sentence);
  }
  return rows;
}

std::string Usage(const Param& param) {
  std::string upper(param.name);
  for (char& c : upper) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  if (param.required) return upper;
  if (param.positional) return StrCat("[", upper, "]");
  return param.type == Param::Type::kBoolean ? StrCat("[--", param.name, "]")
                                             : StrCat("[--", param.name, " ", upper, "]");
}

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

std::string ChoicesOf(const Param& param) {
  std::string words(param.choices);
  std::replace(words.begin(), words.end(), '|', ' ');
  return words;
}

// Returns the `case` branch that completes the arguments of a method's command.
std::string MethodCase(const Method& method) {
  std::string flags, positional, values;
  for (const Param& param : method.params) {
    StrAppend(&flags, flags.empty() ? "" : " ", "--", param.name);
    if (param.choices.empty()) continue;
    StrAppend(&values, "        --", param.name, ") words=\"", ChoicesOf(param), "\" ;;\n");
    if (param.required && positional.empty()) positional = ChoicesOf(param);
  }
  if (method.descriptor) StrAppend(&flags, flags.empty() ? "" : " ", "--", method.descriptor->name);
  std::string out = StrCat("    '", CommandOf(method), " '*)\n      words=\"", positional,
                           positional.empty() ? "" : " ", flags, flags.empty() ? "" : " ",
                           "--json --wide --help\"\n");
  if (!values.empty()) StrAppend(&out, "      case $previous in\n", values, "      esac\n");
  return out + "      ;;\n";
}

}  // namespace

std::string Help(const Commands& commands, std::string_view group) {
  std::string out;
  if (group.empty()) {
    out =
        "suedectl: inspects and controls a running suede endpoint, or switch\n"
        "\n"
        "usage: suedectl [--endpoint NAME | --socket PATH] [-j] COMMAND [ARGUMENTS]\n"
        "\n";
    StrAppend(&out, TwoColumns(GlobalRows()), "\nCommands:\n");
  }
  StrAppend(&out, TwoColumns(CommandRows(commands, group)),
            "\n'suedectl COMMAND --help' has a command's arguments.\n"
            "Exit codes: 0 done, 1 refused by the daemon, 2 usage, 4 no daemon answered.\n");
  return out;
}

std::string HelpOf(const Method& method) {
  std::string out = StrCat("suedectl ", CommandOf(method), ": ", method.sentence,
                           "\n\nusage: suedectl ", CommandOf(method));
  Rows rows;
  for (const Param& param : method.params) {
    StrAppend(&out, " ", Usage(param));
    rows.emplace_back(StrCat("--", param.name),
                      StrCat(param.sentence, " ", param.Range(),
                             param.fallback.empty() ? "" : StrCat("; default ", param.fallback)));
  }
  if (method.descriptor) {
    const bool required = method.descriptor->required;
    StrAppend(&out, required ? " --" : " [--", method.descriptor->name,
              required ? " PATH" : " PATH]");
    rows.emplace_back(StrCat("--", method.descriptor->name),
                      StrCat(method.descriptor->sentence, " - is the standard ",
                             method.descriptor->is_written ? "output." : "input."));
  }
  StrAppend(&out, "\n", rows.empty() ? "" : "\n", TwoColumns(rows), "\nResult: ", method.ResultText(),
            "\n");
  return out;
}

std::string Completion(const Commands& commands) {
  Tree tree;
  std::string methods;
  for (const Method* method : commands.Declarations()) {
    AddCommand(CommandOf(*method), tree);
    methods += MethodCase(*method);
  }
  for (const LocalCommand& command : commands.local) AddCommand(std::string(command.name), tree);
  std::string globals, valued;
  for (const GlobalFlag& flag : GlobalFlagRows()) {
    StrAppend(&globals, " ", flag.name);
    if (!flag.value.empty()) StrAppend(&valued, valued.empty() ? "" : "|", flag.name);
  }
  std::string out =
      "# bash completion of suedectl: source <(suedectl completion)\n"
      "_suedectl() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  local command= words= i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case ${COMP_WORDS[i]} in\n";
  StrAppend(&out, "      ", valued, ") ((i++)) ;;\n      -*) ;;\n"
            "      *) command+=\"${COMP_WORDS[i]} \" ;;\n    esac\n  done\n  case $command in\n");
  for (const auto& [words, next] : tree) {
    StrAppend(&out, "    '", words, "') words=\"", StrJoin(next, " "), words.empty() ? globals : "",
              "\" ;;\n");
  }
  StrAppend(&out, methods, "  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n}\n"
            "complete -o default -F _suedectl suedectl\n");
  return out;
}

}  // namespace suede::ctl
