// SPDX-License-Identifier: Apache-2.0
// Methods that list, read and write registers (docs/registers.md).
#include <cinttypes>
#include <cstdio>
#include <utility>

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

std::string Hex(uint32_t address) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%06" PRIx32, address);
  return text;
}

Json ToJson(const RegisterValueView& view) {
  return Json{{"name", view.name},
              {"address", Hex(view.address)},
              {"width", view.width_bits},
              {"value", view.value}};
}

Answer ListRegisters(Call& call) {
  Json list = Json::array();
  for (const RegisterRowView& row : call.endpoint().Registers()) {
    list.push_back(Json{{"name", row.name},
                        {"address", Hex(row.address)},
                        {"stride", row.stride},
                        {"count", row.count},
                        {"width", row.width_bits},
                        {"access", row.access},
                        {"effect", row.effect.empty() ? Json() : Json(row.effect)},
                        {"reset", row.reset.empty() ? Json() : Json(row.reset)},
                        {"unit", row.unit},
                        {"sentence", row.sentence}});
  }
  return Json{{"registers", std::move(list)}};
}

Answer Read(Call& call) {
  const absl::StatusOr<std::vector<RegisterValueView>> values = call.endpoint().ReadRegisters(
      call.arguments.Text("register"), static_cast<uint32_t>(call.arguments.Integer("count")));
  if (!values.ok()) return values.status();
  Json list = Json::array();
  for (const RegisterValueView& value : *values) list.push_back(ToJson(value));
  return Json{{"registers", std::move(list)}};
}

Answer Write(Call& call) {
  auto write = call.endpoint().WriteRegister(
      call.arguments.Text("register"), static_cast<uint64_t>(call.arguments.Integer("value")));
  return Answer::Later([write = std::move(write)]() -> std::optional<Outcome> {
    const auto value = write();
    if (!value) return std::nullopt;
    if (!value->ok()) return Outcome{.status = value->status(), .result = {}};
    return Outcome{.status = {}, .result = ToJson(**value)};
  });
}

constexpr std::string_view kEffects =
    "at once|at once, up to the value at the start|after a restart";
constexpr Member kWidth = Member::Integer("width").Unit("bits");
constexpr Member kRegisterRow[] = {
    Member::Text("name", "N: the index"),
    Member::Text("address", "hexadecimal; of index 0"),
    Member::Integer("stride"),
    Member::Integer("count", "0: this endpoint has none"),
    kWidth,
    Member::Choice("access", "RO|RW|W1C", "W1C: write one to clear"),
    Member::Choice("effect", kEffects, "of a write").OrNull("none can be made"),
    Member::Text("reset").OrNull("none in particular"),
    Member::Text("unit", "empty: none"),
    Member::Text("sentence"),
};
constexpr Member kMapResult[] = {Member::Rows("registers", kRegisterRow)};
constexpr Member kValueResult[] = {
    Member::Text("name"),
    Member::Text("address", "hexadecimal"),
    kWidth,
    Member::Integer("value", "of the register"),
};
constexpr Member kValuesResult[] = {Member::Rows("registers", kValueResult)};

constexpr Method kRegisterMethods[] = {
    {.name = "reg.list",
     .sentence = "The map of the registers: a row for each, or for those of all indices.",
     .result = kMapResult,
     .run = ListRegisters},
    {.name = "reg.read",
     .sentence = "Reads registers.",
     .result = kValuesResult,
     .run = Read,
     .params = kRead},
    {.name = "reg.write",
     .sentence = "Writes a register. The value passes the checks of the configuration; one that "
                 "takes effect after a restart only is refused.",
     .result = kValueResult,
     .run = Write,
     .params = kWrite,
     .changes = true},
};

}  // namespace

std::span<const Method> RegisterMethods() { return kRegisterMethods; }

}  // namespace suede
