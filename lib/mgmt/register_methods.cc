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
    Param::Integer("value", "What is written.", 0, INT64_MAX).Required(),
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
  for (const RegisterRowView& row : call.endpoint.Registers()) {
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
  const absl::StatusOr<std::vector<RegisterValueView>> values = call.endpoint.ReadRegisters(
      call.arguments.Text("register"), static_cast<uint32_t>(call.arguments.Integer("count")));
  if (!values.ok()) return values.status();
  Json list = Json::array();
  for (const RegisterValueView& value : *values) list.push_back(ToJson(value));
  return Json{{"registers", std::move(list)}};
}

Answer Write(Call& call) {
  auto write = call.endpoint.WriteRegister(call.arguments.Text("register"),
                                           static_cast<uint64_t>(call.arguments.Integer("value")));
  return Answer::Later([write = std::move(write)]() -> std::optional<Outcome> {
    const auto value = write();
    if (!value) return std::nullopt;
    if (!value->ok()) return Outcome{.status = value->status(), .result = {}};
    return Outcome{.status = {}, .result = ToJson(**value)};
  });
}

constexpr Method kRegisterMethods[] = {
    {.name = "reg.list",
     .sentence = "The map of the registers: a row for each, or for those of all indices.",
     .result = "registers: name (N: the index), address (of index 0), stride, count (0: this "
               "endpoint has none), width (bits), access (RO, RW, W1C: write one to clear), effect "
               "(of a write; null: none can be made), reset (null: none in particular), unit, "
               "sentence",
     .run = ListRegisters},
    {.name = "reg.read",
     .sentence = "Reads registers.",
     .result = "registers: name, address, width, value",
     .run = Read,
     .params = kRead},
    {.name = "reg.write",
     .sentence = "Writes a register. The value passes the checks of the configuration; what takes "
                 "effect after a restart only is refused.",
     .result = "name, address, width, value: what it holds then",
     .run = Write,
     .params = kWrite,
     .changes = true},
};

}  // namespace

std::span<const Method> RegisterMethods() { return kRegisterMethods; }

}  // namespace suede
