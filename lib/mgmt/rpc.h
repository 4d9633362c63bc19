// SPDX-License-Identifier: Apache-2.0
// JSON-RPC 2.0: parses lines into requests, formats outcomes as lines (docs/management.md).
#ifndef SUEDE_MGMT_RPC_H_
#define SUEDE_MGMT_RPC_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "mgmt/arguments.h"
#include "mgmt/catalog.h"

namespace suede {

inline constexpr int kRpcProtocol = 1;
inline constexpr size_t kMaxBatch = 64;
inline constexpr uint32_t kMaxNesting = 32;

// Code, name, sentence. The first five codes are JSON-RPC's.
#define SUEDE_RPC_ERRORS(X)                                                                       \
  X(ParseError, -32700, "parse error", "The line is no JSON.")                                    \
  X(InvalidRequest, -32600, "invalid request", "The JSON is no request.")                         \
  X(MethodNotFound, -32601, "method not found", "No method has that name.")                       \
  X(InvalidParams, -32602, "invalid params", "A parameter is missing, unknown or not permitted.") \
  X(InternalError, -32603, "internal error", "The daemon failed in a way that is its own fault.") \
  X(NotFound, -32001, "not found", "An object that the parameters name does not exist.")          \
  X(NotNow, -32002, "not now", "The state of the endpoint does not permit it.")                   \
  X(Busy, -32003, "busy", "Something has no room or did not answer in time; try again.")          \
  X(Unsupported, -32004, "unsupported", "This daemon, its device or its configuration cannot.")   \
  X(NotPermitted, -32005, "not permitted", "Permitted to no user, or refused by the system.")     \
  X(TooManyClients, -32011, "too many clients", "As many connections as there may be.")           \
  X(LineTooLong, -32012, "line too long", "A line without an end in the first 65536 bytes.")      \
  X(AnswerTooLong, -32013, "answer too long", "The result is longer than an answer may be.")      \
  X(LineTooLate, -32014, "line too late", "The end of a line did not come in time.")

enum class RpcCode : int {
#define SUEDE_RPC_CODE(id, code, name, sentence) k##id = code,
  SUEDE_RPC_ERRORS(SUEDE_RPC_CODE)
#undef SUEDE_RPC_CODE
};

struct RpcErrorRow {
  RpcCode code;
  std::string_view name;
  std::string_view sentence;
};
std::span<const RpcErrorRow> RpcErrorRows();

struct RpcError {
  RpcCode code = RpcCode::kInternalError;
  std::string message;
  std::string parameter{};  // the faulty parameter; empty: none
};

// Converts an error of a method, in its arguments or the objects that they name.
RpcError ToRpcError(const absl::Status& status);

// One request of a line. Either `error` is set, or `method` and `arguments` are.
struct RpcRequest {
  std::string id = "null";  // as JSON
  bool is_notification = false;
  std::optional<RpcError> error;
  const Method* method = nullptr;
  Arguments arguments;
};

struct RpcLine {
  bool is_batch = false;
  std::vector<RpcRequest> requests;  // at least one
};

// Parses a line without its newline. Accepts any bytes: an invalid line becomes a request with an
// error.
RpcLine ParseRpcLine(std::string_view line, const Catalog& catalog);

// Return an answer without newline.
std::string ErrorAnswer(std::string_view id, const RpcError& error);
std::string ResultAnswer(std::string_view id, const Json& result);

}  // namespace suede

#endif  // SUEDE_MGMT_RPC_H_
