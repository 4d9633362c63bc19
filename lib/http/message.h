// SPDX-License-Identifier: Apache-2.0
// The text of requests and answers. Private to the server.
#ifndef SUEDE_HTTP_MESSAGE_H_
#define SUEDE_HTTP_MESSAGE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "http/server.h"

namespace suede {

struct HttpHead {
  size_t bytes = 0;        // of line and header; 0: not whole yet
  bool is_good = false;    // the rest says something
  std::string method;
  std::string path;
  std::string query;
  bool keeps_alive = false;  // as far as the client is concerned
};

// Reads the head at the start of `text`.
HttpHead ParseHead(std::string_view text);

// Everything that an answer begins with.
std::string HeadOf(const HttpResponse& response, bool keeps_alive);

}  // namespace suede

#endif  // SUEDE_HTTP_MESSAGE_H_
