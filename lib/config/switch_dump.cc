// SPDX-License-Identifier: Apache-2.0
// Dumps a switch's effective configuration as YAML, and the table of its keys.
#include "base/text.h"
#include "config/config_dump.h"
#include "config/switch_config.h"

namespace suede {
namespace {

void AppendClasses(const SwitchConfig& config, std::string& out) {
  StrAppend(&out, "classes:\n  ", StrJoin(Lines(config.classes), "\n  "), "\n");
  AppendList("dscp", config.dscps, "  ", out);
  if (config.of_class.empty()) return;
  out += "  of:\n";
  for (const SwitchClassConfig& one : config.of_class) {
    StrAppend(&out, "    - ", StrJoin(Lines(one), "\n      "), "\n");
    if (one.ecn) StrAppend(&out, "      ecn: ", Inline(*one.ecn), "\n");
  }
}

void AppendPorts(const SwitchConfig& config, std::string& out) {
  out += "ports:\n";
  for (const SwitchPortConfig& port : config.ports) {
    StrAppend(&out, "  - ", StrJoin(Lines(port), "\n    "),
              "\n    impair_in: ", Inline(port.impair_in),
              "\n    impair_out: ", Inline(port.impair_out), "\n");
  }
}

}  // namespace

std::string DumpSwitchConfig(const SwitchConfig& config) {
  std::string out = StrCat("# Effective configuration of ", config.name(), ".\n");
  StrAppend(&out, StrJoin(Lines(config.root), "\n"), "\n");
  AppendSection("eal", config.eal, out);
  AppendList("lcores", config.lcores, "", out);
  AppendSection("table", config.table, out);
  AppendSection("buffer", config.buffer, out);
  AppendClasses(config, out);
  AppendSection("trim", config.trim, out);
  AppendSection("pfc", config.pfc, out);
  AppendSection("llr", config.llr, out);
  AppendSection("cbfc", config.cbfc, out);
  AppendPorts(config, out);
  AppendList("addresses", config.addresses, "", out);
  AppendSection("management", config.management, out);
  AppendSection("log", config.log, out);
  return out;
}

}  // namespace suede
