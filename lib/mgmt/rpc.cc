// SPDX-License-Identifier: Apache-2.0
#include "mgmt/rpc.h"

#include <utility>

#include "base/text.h"

namespace suede {
namespace {

constexpr RpcErrorRow kRows[] = {
#define SUEDE_RPC_ROW(id, code, name, sentence) {RpcCode::k##id, name, sentence},
    SUEDE_RPC_ERRORS(SUEDE_RPC_ROW)
#undef SUEDE_RPC_ROW
};

RpcRequest Refusal(RpcCode code, std::string message) {
  RpcRequest request;
  request.error = RpcError{.code = code, .message = std::move(message)};
  return request;
}

RpcRequest InvalidRequest(std::string message) {
  return Refusal(RpcCode::kInvalidRequest, std::move(message));
}

// Whether brackets nest too deeply; the parser itself has no limit.
bool NestsTooDeep(std::string_view line) {
  uint32_t depth = 0;
  bool in_text = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (in_text) {
      if (c == '\\') ++i;
      else if (c == '"') in_text = false;
    } else if (c == '"') {
      in_text = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxNesting) return true;
    } else if ((c == ']' || c == '}') && depth != 0) {
      --depth;
    }
  }
  return false;
}

// Returns the first member that requests do not have.
std::optional<std::string> UnknownMember(const ForeignJson& json) {
  for (const auto& member : json.items()) {
    const std::string& key = member.key();
    if (key != "jsonrpc" && key != "id" && key != "method" && key != "params") return key;
  }
  return std::nullopt;
}

void ReadMethod(const ForeignJson& json, const Catalog& catalog, RpcRequest& request) {
  const auto& name = json["method"].get_ref<const std::string&>();
  request.method = catalog.Find(name);
  if (request.method == nullptr) {
    request.error = RpcError{
        .code = RpcCode::kMethodNotFound,
        .message = StrCat("no method \"", name.substr(0, 64), "\"; rpc.describe lists them")};
    return;
  }
  const auto params = json.find("params");
  static const ForeignJson kNone;
  if (params != json.end() && params->is_null()) {
    request.error = RpcError{.code = RpcCode::kInvalidParams,
                             .message = "params is null; leave it out or make it an object"};
    return;
  }
  auto checked =
      Arguments::Check(request.method->params, params != json.end() ? *params : kNone);
  if (auto* arguments = std::get_if<Arguments>(&checked)) {
    request.arguments = std::move(*arguments);
  } else {
    auto& wrong = std::get<ArgumentError>(checked);
    request.error = RpcError{.code = RpcCode::kInvalidParams,
                             .message = wrong.parameter.empty()
                                            ? wrong.message
                                            : StrCat(wrong.parameter, ": ", wrong.message),
                             .parameter = wrong.parameter};
  }
}

RpcRequest ReadRequest(const ForeignJson& json, const Catalog& catalog) {
  if (!json.is_object()) return InvalidRequest("a request is an object; see docs/management.md");
  RpcRequest request;
  const auto id = json.find("id");
  if (id != json.end()) {
    if (!id->is_string() && !id->is_number() && !id->is_null()) {
      return InvalidRequest("id is no string, number or null");
    }
    request.id = Dump(*id);
  }
  const auto refuse = [&request](std::string message) {
    request.error = RpcError{.code = RpcCode::kInvalidRequest, .message = std::move(message)};
    return std::move(request);
  };
  // An invalid request gets an answer, as it cannot be known to be a notification.
  const auto version = json.find("jsonrpc");
  if (version == json.end() || *version != "2.0") return refuse("write \"jsonrpc\":\"2.0\"");
  const auto method = json.find("method");
  if (method == json.end() || !method->is_string()) return refuse("method is no string");
  if (const std::optional<std::string> member = UnknownMember(json)) {
    return refuse(StrCat("a request has no member \"", member->substr(0, 64),
                         "\"; use jsonrpc, id, method and params"));
  }
  request.is_notification = id == json.end();
  ReadMethod(json, catalog, request);
  return request;
}

RpcLine Single(RpcRequest request) {
  RpcLine line;
  line.requests.push_back(std::move(request));
  return line;
}

}  // namespace

std::span<const RpcErrorRow> RpcErrorRows() { return kRows; }

RpcError ToRpcError(const absl::Status& status) {
  RpcCode code = RpcCode::kInternalError;
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange: code = RpcCode::kInvalidParams; break;
    case absl::StatusCode::kNotFound: code = RpcCode::kNotFound; break;
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kAborted: code = RpcCode::kNotNow; break;
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded: code = RpcCode::kBusy; break;
    case absl::StatusCode::kUnimplemented: code = RpcCode::kUnsupported; break;
    case absl::StatusCode::kPermissionDenied: code = RpcCode::kNotPermitted; break;
    default: break;
  }
  return {.code = code, .message = std::string(status.message())};
}

RpcLine ParseRpcLine(std::string_view line, const Catalog& catalog) {
  if (NestsTooDeep(line)) {
    return Single(InvalidRequest(StrCat("nested more than ", kMaxNesting, " deep; no request is")));
  }
  const std::optional<ForeignJson> json = TryParse<ForeignJson>(line);
  if (!json) {
    return Single(Refusal(RpcCode::kParseError, "not one JSON text in UTF-8 on one line"));
  }
  if (!json->is_array()) return Single(ReadRequest(*json, catalog));
  if (json->empty()) return Single(InvalidRequest("a batch of no requests"));
  if (json->size() > kMaxBatch) {
    return Single(InvalidRequest(
        StrCat("a batch of ", json->size(), " requests; send ", kMaxBatch, " at most")));
  }
  RpcLine result{.is_batch = true, .requests = {}};
  for (const ForeignJson& one : *json) result.requests.push_back(ReadRequest(one, catalog));
  return result;
}

std::string ErrorAnswer(std::string_view id, const RpcError& error) {
  Json body{{"code", static_cast<int>(error.code)}, {"message", error.message}};
  if (!error.parameter.empty()) body["data"] = Json{{"parameter", error.parameter}};
  return StrCat(R"({"jsonrpc":"2.0","id":)", id, R"(,"error":)", Dump(body), "}");
}

std::string ResultAnswer(std::string_view id, const Json& result) {
  return StrCat(R"({"jsonrpc":"2.0","id":)", id, R"(,"result":)", Dump(result), "}");
}

}  // namespace suede
