// SPDX-License-Identifier: Apache-2.0
#include "mgmt/catalog.h"

#include <vector>

#include "base/text.h"
#include "mgmt/rpc.h"

namespace suede {
namespace {

std::string_view NameOf(Param::Type type) {
  switch (type) {
    case Param::Type::kBoolean: return "boolean";
    case Param::Type::kInteger: return "integer";
    case Param::Type::kText:
    case Param::Type::kChoice: break;
  }
  return "string";
}

// Null: there is none. A default is written as JSON has it, but for texts.
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
  if (param.type == Param::Type::kInteger || param.type == Param::Type::kText) {
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

// The parameters, as JSON Schema has them.
Json Schema(const Param& param) {
  Json out{{"type", NameOf(param.type)}, {"description", param.sentence}};
  switch (param.type) {
    case Param::Type::kBoolean: break;
    case Param::Type::kInteger:
      out["minimum"] = param.min;
      out["maximum"] = param.max;
      if (param.word.empty()) break;
      out["type"] = Json::array({"integer", "string"});
      out["pattern"] = StrCat("^", param.word, "$");
      break;
    case Param::Type::kText:
      // It counts characters where we count bytes.
      out["minLength"] = param.min > 0 ? 1 : 0;
      out["maxLength"] = param.max;
      break;
    case Param::Type::kChoice: out["enum"] = Split(param.choices, '|'); break;
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

constexpr Member kParamRow[] = {
    Member::Text("name"),
    Member::Choice("type", "boolean|integer|string"),
    Member::Boolean("required"),
    Member::Text("sentence"),
    Member::Integer("minimum", "of a string its bytes").Only("of integers and strings"),
    Member::Integer("maximum").Only("of integers and strings"),
    Member::Text("choices").List().Only("where only these are permitted"),
    Member::Text("word", "instead of a number").Only("of integers that may be one"),
    Member::Any("default", "of the type").Only("where there is one"),
};
constexpr Member kDescriptorRow[] = {
    Member::Text("name"),
    Member::Text("sentence"),
    Member::Boolean("is_written", "false: it is read"),
    Member::Boolean("required"),
};
constexpr Member kMethodRow[] = {
    Member::Text("name"),
    Member::Text("sentence"),
    Member::Text("result", "for people"),
    Member::Boolean("changes"),
    Member::Rows("params", kParamRow),
    Member::Map("schema", Member::Type::kAny, "JSON Schema of params by name"),
    Member::Map("result_schema", Member::Type::kAny, "JSON Schema of the result"),
    Member::Object("descriptor", kDescriptorRow).OrNull("it takes none"),
};
constexpr Member kDescriptionResult[] = {
    Member::Integer("protocol", "its version"),
    Member::Rows("methods", kMethodRow),
};

constexpr Method kRpcMethods[] = {
    {.name = "rpc.describe",
     .sentence = "Every method with its parameters.",
     .result = kDescriptionResult,
     .run = RunDescribe},
};

}  // namespace

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

const Catalog& EndpointCatalog() {
  static const Catalog catalog{RpcMethods(), EndpointMethods(), CounterMethods(),
                               ConnectionMethods(), CaptureMethods(), EventMethods(),
                               AdminMethods(), PeerMethods(), PlaneMethods(),
                               ConfigMethods(), RegisterMethods()};
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

std::string MethodsAsMarkdown(const Catalog& catalog) {
  std::string out = "| Method | Parameters | Does | Result |\n|---|---|---|---|\n";
  for (const Method* method : catalog.methods()) {
    std::string params;
    for (const Param& param : method->params) {
      if (!params.empty()) params += "<br>";
      StrAppend(&params, param.required ? "`" : "[`", param.name, param.required ? "`" : "`]",
                      ": ", param.sentence, " ", param.Range(),
                      param.fallback.empty() ? "" : StrCat("; default ", param.fallback));
    }
    if (method->descriptor) {
      const bool required = method->descriptor->required;
      StrAppend(&params, params.empty() ? "" : "<br>", "descriptor ", required ? "`" : "[`",
                method->descriptor->name, required ? "`: " : "`]: ", method->descriptor->sentence);
    }
    StrAppend(&out, "| `", method->name, "`", method->changes ? " ●" : "", " | ", params,
                    " | ", method->sentence, " | ", method->ResultText(), " |\n");
  }
  return out;
}

std::string ErrorsAsMarkdown() {
  std::string out = "| Code | Name | Meaning |\n|---|---|---|\n";
  for (const RpcErrorRow& row : RpcErrorRows()) {
    StrAppend(&out, "| ", static_cast<int>(row.code), " | ", row.name, " | ", row.sentence,
                    " |\n");
  }
  return out;
}

}  // namespace suede
