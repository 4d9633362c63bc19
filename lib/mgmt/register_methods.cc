// SPDX-License-Identifier: Apache-2.0
// Methods that list, read and write registers (docs/registers.md).

#include "mgmt/catalog.h"
#include "mgmt/endpoint_view.h"

namespace suede {
namespace {

constexpr Param kRegister = Param::Text("register", "Name, or address with 0x.", 128).Required();
constexpr Param kRead[] = {
    kRegister,
    Param::Integer("count", "Registers to read, one behind the other.", 1, 1024, "1"),
};
constexpr Param kWrite[] = {
    kRegister,
    Param::Integer("value", "The value that is written.", 0, INT64_MAX).Required(),
};

constexpr Member kMapResult[] = {ListOf<RegisterRowView>("registers")};
constexpr Member kValuesResult[] = {ListOf<RegisterValueView>("registers")};
constexpr Method kRegisterMethods[] = {
    RowsMethod<&EndpointView::Registers, kMapResult>(
        "reg.list", "The map of the registers: a row for each, or for those of all indices."),
    {"reg.read", "Reads registers.", kValuesResult,
     [](Call& call) -> Answer {
       return OutcomeOf(call.endpoint().ReadRegisters(call.arguments.Text("register"),
                                                      *Given(call.arguments, "count")),
                        "registers");
     },
     kRead},
    {"reg.write",
     "Writes a register. The value passes the checks of the configuration; one that "
     "takes effect after a restart only is refused.",
     RegisterValueView::kMembers,
     [](Call& call) {
       return Answer::To(
           call.endpoint().WriteRegister(call.arguments.Text("register"),
                                         static_cast<uint64_t>(call.arguments.Integer("value"))));
     },
     kWrite, /*changes=*/true},
};

}  // namespace

std::span<const Method> RegisterMethods() { return kRegisterMethods; }

}  // namespace suede
