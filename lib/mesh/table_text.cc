// SPDX-License-Identifier: Apache-2.0
#include "mesh/table_text.h"

#include "base/numbers.h"
#include "base/text.h"

namespace suede::mesh {
namespace {

constexpr std::string_view kOwn = "D";
constexpr std::string_view kNoRoute = ".";

}  // namespace

std::optional<EntryProblem> ReadEntries(std::span<const std::string> entries, uint32_t own,
                                        PortTable& out) {
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::string& text = entries[i];
    if ((text == kOwn) != (i == own)) {
      return EntryProblem{.entry = i,
                          .text = StrCat("\"", text, "\"; write D in entry ", own, " alone")};
    }
    if (text == kOwn || text == kNoRoute) continue;
    const auto port = ParseNumber<uint32_t>(text, kMaxPorts - 1);
    if (!port) {
      return EntryProblem{.entry = i,
                          .text = StrCat("\"", text, "\" is no port; write 0 to ", kMaxPorts - 1,
                                         ", or . for no route")};
    }
    out.Set(static_cast<uint32_t>(i), PortId(*port));
  }
  return std::nullopt;
}

std::string EntriesText(const PortTable& ports, uint32_t count, uint32_t own) {
  std::string text;
  for (uint32_t i = 0; i < count; ++i) {
    if (i > 0) text += ", ";
    const std::optional<PortId> port = ports[i];
    if (i == own) {
      text += kOwn;
    } else if (port) {
      StrAppend(&text, uint32_t{*port});
    } else {
      text += kNoRoute;
    }
  }
  return StrCat("[", text, "]");
}

}  // namespace suede::mesh
