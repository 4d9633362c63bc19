// SPDX-License-Identifier: Apache-2.0
#include "mgmt/names.h"

#include "base/text.h"

namespace suede {

std::string NamesAsText(const CounterSetView& total, const CounterSetView& port,
                        std::string_view kinds) {
  std::string text;
  for (const CounterView& counter : total.counters)
    StrAppend(&text, "counter ", counter.name, "\n");
  for (const CounterView& counter : port.counters) {
    StrAppend(&text, "port_counter ", counter.name, "\n");
  }
  for (const std::string_view kind : Split(kinds.substr(1), '|')) {
    StrAppend(&text, "event ", kind, "\n");
  }
  return text;
}

}  // namespace suede
