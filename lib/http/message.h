// SPDX-License-Identifier: Apache-2.0
// Parsing of requests and formatting of responses. Private to the server.
#ifndef SUEDE_HTTP_MESSAGE_H_
#define SUEDE_HTTP_MESSAGE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "http/server.h"

namespace suede {

struct HttpHead {
  size_t bytes = 0;      // of request line and header; 0: incomplete
  bool is_good = false;  // the other fields are valid
  std::string method;
  std::string path;
  std::string query;
  bool keeps_alive = false;  // requested by the client
};

// Reads the head at the start of `text`.
HttpHead ParseHead(std::string_view text);

// Returns the status line and header of a response.
std::string HeadOf(const HttpResponse& response, bool keeps_alive);

}  // namespace suede

#endif  // SUEDE_HTTP_MESSAGE_H_
