// SPDX-License-Identifier: Apache-2.0
#include "suedectl/help.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "suedectl/print.h"
#include "suedectl/xpu_names.h"

namespace suede::ctl {
namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;

std::string TwoColumns(const Rows& rows) {
  size_t width = 0;
  for (const auto& [left, right] : rows) width = std::max(width, left.size());
  std::string out;
  for (const auto& [left, right] : rows) {
    StrAppend(&out, "  ", left, std::string(width + 2 - left.size(), ' '),
              WrapText(right, width + 4, width + 4, kTextColumns), "\n");
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
  const std::string about = StrCat("suedectl ", CommandOf(method), ": ", method.sentence);
  std::string usage = StrCat("usage: suedectl ", CommandOf(method));
  Rows rows;
  for (const Param& param : method.params) {
    StrAppend(&usage, " ", Usage(param));
    rows.emplace_back(StrCat("--", param.name),
                      StrCat(param.sentence, " ", param.Range(),
                             TakesXpu(param.name) ? ", or its name (peers[].name)" : "",
                             param.fallback.empty() ? "" : StrCat("; default ", param.fallback)));
  }
  if (method.descriptor) {
    const bool required = method.descriptor->required;
    StrAppend(&usage, required ? " --" : " [--", method.descriptor->name,
              required ? " PATH" : " PATH]");
    rows.emplace_back(StrCat("--", method.descriptor->name),
                      StrCat(method.descriptor->sentence, " - is the standard ",
                             method.descriptor->is_written ? "output." : "input."));
  }
  const auto wrapped = [](const std::string& text) { return WrapText(text, 0, 2, kTextColumns); };
  return StrCat(wrapped(about), "\n\n", wrapped(usage), "\n", rows.empty() ? "" : "\n",
                TwoColumns(rows), "\n", wrapped(StrCat("Result: ", method.ResultText())), "\n");
}

}  // namespace suede::ctl
