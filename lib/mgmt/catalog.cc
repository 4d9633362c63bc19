// SPDX-License-Identifier: Apache-2.0
#include "mgmt/catalog.h"

#include <cstdlib>

#include "base/text.h"
#include "mgmt/endpoint_view.h"
#include "mgmt/rpc.h"
#include "mgmt/switch_view.h"

namespace suede {
namespace {

std::string_view NameOf(Param::Type type) {
  switch (type) {
    case Param::Type::kBoolean:
      return "boolean";
    case Param::Type::kInteger:
      return "integer";
    case Param::Type::kNumber:
      return "number";
    case Param::Type::kText:
    case Param::Type::kChoice:
      break;
  }
  return "string";
}

// Returns the default; null: none. A default is JSON text, except for kText and kChoice.
Json DefaultOf(const Param& param) {
  if (param.fallback.empty()) return {};
  const bool is_text = param.type == Param::Type::kText || param.type == Param::Type::kChoice;
  return is_text ? Json(param.fallback) : TryParse<Json>(param.fallback).value_or(Json());
}

Json Describe(const Param& param) {
  Json out{{"name", param.name},
           {"type", NameOf(param.type)},
           {"required", param.required},
           {"sentence", param.sentence}};
  if (param.type == Param::Type::kInteger || param.type == Param::Type::kNumber ||
      param.type == Param::Type::kText) {
    out["minimum"] = param.min;
    out["maximum"] = param.max;
  }
  if (param.type == Param::Type::kChoice) {
    out["choices"] = Split(param.choices, '|');
  }
  if (!param.word.empty()) out["word"] = param.word;
  if (!param.fallback.empty()) out["default"] = DefaultOf(param);
  return out;
}

// Returns the JSON Schema of a parameter.
Json Schema(const Param& param) {
  Json out{{"type", NameOf(param.type)}, {"description", param.sentence}};
  switch (param.type) {
    case Param::Type::kBoolean:
      break;
    case Param::Type::kInteger:
    case Param::Type::kNumber:
      out["minimum"] = param.min;
      out["maximum"] = param.max;
      if (param.word.empty()) break;
      out["type"] = Json::array({"integer", "string"});
      out["pattern"] = StrCat("^", param.word, "$");
      break;
    case Param::Type::kText:
      // JSON Schema counts characters, the limits count bytes.
      out["minLength"] = param.min > 0 ? 1 : 0;
      out["maxLength"] = param.max;
      break;
    case Param::Type::kChoice:
      out["enum"] = Split(param.choices, '|');
      break;
  }
  if (const Json fallback = DefaultOf(param); !fallback.is_null()) out["default"] = fallback;
  return out;
}

Json Schema(std::span<const Param> params) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const Param& param : params) {
    properties[std::string(param.name)] = Schema(param);
    if (param.required) required.push_back(param.name);
  }
  return Json{{"type", "object"},
              {"properties", std::move(properties)},
              {"required", std::move(required)},
              {"additionalProperties", false}};
}

Answer RunDescribe(Call& call) {
  Json methods = Json::array();
  for (const Method* method : call.catalog.methods()) methods.push_back(Describe(*method));
  return Json{{"protocol", kRpcProtocol}, {"methods", std::move(methods)}};
}

constexpr Member kParamName = Member::Text("name");
constexpr Member kParamSentence = Member::Text("sentence");
constexpr Member kRequired = Member::Boolean("required");
constexpr Member kChoices = Member::Text("choices").List().Only("where only these are permitted");
constexpr Member kWord =
    Member::Text("word", "instead of a number").Only("of integers that may be one");
constexpr Member kDefault = Member::Any("default", "of the type").Only("where there is one");
constexpr Member kParamRow[] = {
    kParamName,
    Member::Choice("type", "boolean|integer|string"),
    kRequired,
    kParamSentence,
    Member::Integer("minimum", "of a string its bytes").Only("of integers and strings"),
    Member::Integer("maximum").Only("of integers and strings"),
    kChoices,
    kWord,
    kDefault,
};
constexpr Member kSwitchParamRow[] = {
    kParamName,
    Member::Choice("type", "boolean|integer|number|string"),
    kRequired,
    kParamSentence,
    Member::Integer("minimum", "of a string its bytes").Only("of numbers and strings"),
    Member::Integer("maximum").Only("of numbers and strings"),
    kChoices,
    kWord,
    kDefault,
};
constexpr Member kDescriptorRow[] = {
    Member::Text("name"),
    Member::Text("sentence"),
    Member::Boolean("is_written", "false: it is read"),
    Member::Boolean("required"),
};
// Members of a method's row; `params`: the members of its parameters.
#define SUEDE_METHOD_ROW(params)                                                        \
  Member::Text("name"), Member::Text("sentence"), Member::Text("result", "for people"), \
      Member::Boolean("changes"), Member::Rows("params", params),                       \
      Member::Map("schema", Member::Type::kAny, "JSON Schema of params by name"),       \
      Member::Map("result_schema", Member::Type::kAny, "JSON Schema of the result"),    \
      Member::Object("descriptor", kDescriptorRow).OrNull("it takes none")
constexpr Member kMethodRow[] = {SUEDE_METHOD_ROW(kParamRow)};
constexpr Member kSwitchMethodRow[] = {SUEDE_METHOD_ROW(kSwitchParamRow)};
#undef SUEDE_METHOD_ROW
constexpr Member kProtocol = Member::Integer("protocol", "its version");
constexpr Member kDescriptionResult[] = {kProtocol, Member::Rows("methods", kMethodRow)};
constexpr Member kSwitchDescriptionResult[] = {kProtocol,
                                               Member::Rows("methods", kSwitchMethodRow)};

constexpr Method DescribeMethod(std::span<const Member> result) {
  return {.name = "rpc.describe",
          .sentence = "Every method with its parameters.",
          .result = result,
          .run = RunDescribe};
}
constexpr Method kRpcMethods[] = {DescribeMethod(kDescriptionResult)};
constexpr Method kSwitchRpcMethods[] = {DescribeMethod(kSwitchDescriptionResult)};

}  // namespace

std::string_view NameOf(DaemonKind kind) {
  return kind == DaemonKind::kSwitch ? "switch" : "endpoint";
}

EndpointView& Call::endpoint() const {
  if (daemon.kind() != DaemonKind::kEndpoint) std::abort();
  return static_cast<EndpointView&>(daemon);
}

SwitchView& Call::the_switch() const {
  if (daemon.kind() != DaemonKind::kSwitch) std::abort();
  return static_cast<SwitchView&>(daemon);
}

std::string Method::ResultText() const {
  const std::string members = TextOf(result);
  if (result_note.empty() || members.empty()) return StrCat(result_note, members);
  return StrCat(result_note, ": ", members);
}

Catalog::Catalog(std::initializer_list<std::span<const Method>> tables) {
  for (const std::span<const Method> table : tables) {
    for (const Method& method : table) methods_.push_back(&method);
  }
}

const Method* Catalog::Find(std::string_view name) const {
  for (const Method* method : methods_) {
    if (method->name == name) return method;
  }
  return nullptr;
}

std::span<const Method> RpcMethods() { return kRpcMethods; }
std::span<const Method> SwitchRpcMethods() { return kSwitchRpcMethods; }

const Catalog& EndpointCatalog() {
  static const Catalog catalog{
      RpcMethods(),        DaemonMethods(),  EndpointMethods(), LogMethods(),      CounterMethods(),
      ConnectionMethods(), CaptureMethods(), EventMethods(),    AdminMethods(),    KeyMethods(),
      PeerMethods(),       PlaneMethods(),   ConfigMethods(),   RegisterMethods(), LinkMethods(),
      LldpMethods(),       RecordMethods(),  TraceMethods()};
  return catalog;
}

const Catalog& SwitchCatalog() {
  static const Catalog catalog{SwitchRpcMethods(), DaemonMethods(),      SwitchMethods(),
                               ImpairMethods(),    SwitchLogMethods(),   SwitchCounterMethods(),
                               CaptureMethods(),   SwitchEventMethods(), SwitchConfigMethods(),
                               LinkMethods(),      LldpMethods()};
  return catalog;
}

Json Describe(const Method& method) {
  Json params = Json::array();
  for (const Param& param : method.params) params.push_back(Describe(param));
  Json out{{"name", method.name},
           {"sentence", method.sentence},
           {"result", method.ResultText()},
           {"changes", method.changes},
           {"params", std::move(params)},
           {"schema", Schema(method.params)},
           {"result_schema", SchemaOf(method.result)},
           {"descriptor", nullptr}};
  if (method.descriptor) {
    out["descriptor"] = Json{{"name", method.descriptor->name},
                             {"sentence", method.descriptor->sentence},
                             {"is_written", method.descriptor->is_written},
                             {"required", method.descriptor->required}};
  }
  return out;
}

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
