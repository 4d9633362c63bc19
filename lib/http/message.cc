// SPDX-License-Identifier: Apache-2.0
#include "http/message.h"

#include <strings.h>

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace suede {
namespace {

const char* ReasonOf(int status) {
  switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 413: return "Content Too Large";
    case 503: return "Service Unavailable";
    default: return "Internal Server Error";
  }
}

bool IsSame(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

// Whether the header line has that name; sets `value`.
bool IsField(std::string_view line, std::string_view name, std::string_view* value) {
  if (line.size() <= name.size() || line[name.size()] != ':' ||
      !IsSame(line.substr(0, name.size()), name)) {
    return false;
  }
  *value = line.substr(name.size() + 1);
  const size_t begin = std::min(value->find_first_not_of(" \t"), value->size());
  *value = value->substr(begin, value->find_last_not_of(" \t") + 1 - begin);
  return true;
}

// "GET /path?query HTTP/1.1"
bool ParseLine(std::string_view line, HttpHead* head) {
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == 0 || last == first) return false;
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  const bool is_printable = std::all_of(line.begin(), line.end(), [](char c) {
    return c >= ' ' && c < 0x7f;
  });
  if (!is_printable || !target.starts_with('/') || target.find(' ') != std::string_view::npos ||
      (version != "HTTP/1.1" && version != "HTTP/1.0")) {
    return false;
  }
  const size_t mark = std::min(target.find('?'), target.size());
  head->method = line.substr(0, first);
  head->path = target.substr(0, mark);
  head->query = target.substr(std::min(mark + 1, target.size()));
  head->keeps_alive = version == "HTTP/1.1";
  return true;
}

}  // namespace

HttpHead ParseHead(std::string_view text) {
  HttpHead head;
  const size_t end = text.find("\r\n\r\n");
  if (end == std::string_view::npos) return head;
  head.bytes = end + 4;
  bool has_body = false;
  for (size_t at = 0; at <= end;) {
    const size_t stop = text.find("\r\n", at);
    const std::string_view line = text.substr(at, stop - at);
    std::string_view value;
    if (at == 0) {
      head.is_good = ParseLine(line, &head);
    } else if (IsField(line, "Connection", &value)) {
      head.keeps_alive = IsSame(value, "keep-alive");
    } else if (IsField(line, "Content-Length", &value)) {
      has_body |= value != "0";
    } else if (IsField(line, "Transfer-Encoding", &value)) {
      has_body = true;
    }
    at = stop + 2;
  }
  // A body is not read, and would be parsed as the next request.
  if (has_body) head.keeps_alive = false;
  return head;
}

// Returns the head of a response. Its policy lets a browser load only content of this server.
std::string HeadOf(const HttpResponse& response, bool keeps_alive) {
  std::string head =
      absl::StrCat("HTTP/1.1 ", response.status, " ", ReasonOf(response.status),
                   "\r\nContent-Type: ", std::string(response.content_type),
                   "\r\nContent-Length: ", response.body.size(),
                   "\r\nCache-Control: no-store"
                   "\r\nX-Content-Type-Options: nosniff"
                   "\r\nX-Frame-Options: DENY"
                   "\r\nReferrer-Policy: no-referrer"
                   "\r\nContent-Security-Policy: default-src 'none'; "
                   "script-src 'self'; style-src 'self'; connect-src 'self'; "
                   "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  if (response.status == 405) absl::StrAppend(&head, "\r\nAllow: GET, HEAD");
  absl::StrAppend(&head, "\r\nConnection: ", keeps_alive ? "keep-alive" : "close", "\r\n\r\n");
  return head;
}

}  // namespace suede
