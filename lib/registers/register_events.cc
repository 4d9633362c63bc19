// SPDX-License-Identifier: Apache-2.0
#include "registers/register_events.h"

namespace suede {
namespace {

constexpr RegisterEventRow kRows[] = {
#define SUEDE_REGISTER_EVENT_ROW(id, name, sentence) {name, sentence},
    SUEDE_REGISTER_EVENTS(SUEDE_REGISTER_EVENT_ROW)
#undef SUEDE_REGISTER_EVENT_ROW
};

}  // namespace

std::span<const RegisterEventRow> RegisterEventRows() { return kRows; }

}  // namespace suede
