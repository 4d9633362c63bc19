// SPDX-License-Identifier: Apache-2.0
#include "daemon/log_line.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace suede {
namespace {

// Parses an integer that prints back as the same text: no +1, 007 or -0.
std::optional<int64_t> ToInteger(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return std::to_string(value) == text ? std::optional<int64_t>(value) : std::nullopt;
}

bool IsPlain(std::string_view text) {
  return !text.empty() && !ToInteger(text) && std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c != '"' && c != '\\' && c != 0x7f;
  });
}

bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= 64 && text[0] >= 'a' && text[0] <= 'z' &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

// Parses a quoted text that begins at the first byte. Returns its end; npos if there is none.
size_t Unquote(std::string_view text, std::string* value) {
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\' && i + 1 < text.size()) {
      ++i;
      value->push_back(text[i] == 'n' ? '\n' : text[i]);
    } else {
      value->push_back(text[i]);
    }
  }
  return std::string_view::npos;
}

// Parses the field at the beginning of `text`. Returns its length; 0 if there is none.
size_t TakeField(std::string_view text, std::string_view* name, LogLine::Value* value) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || !IsName(text.substr(0, equals))) return 0;
  *name = text.substr(0, equals);
  const std::string_view rest = text.substr(equals + 1);
  if (rest.starts_with('"')) {
    std::string unquoted;
    const size_t end = Unquote(rest, &unquoted);
    if (end == std::string_view::npos || (end < rest.size() && rest[end] != ' ')) return 0;
    *value = std::move(unquoted);
    return equals + 1 + end;
  }
  const std::string_view plain = rest.substr(0, rest.find(' '));
  const std::optional<int64_t> number = ToInteger(plain);
  if (number) *value = *number;
  else *value = std::string(plain);
  return equals + 1 + plain.size();
}

}  // namespace

void AppendLogField(std::string* line, std::string_view name, int64_t value) {
  line->append(" ").append(name).append("=").append(std::to_string(value));
}

void AppendLogField(std::string* line, std::string_view name, std::string_view value) {
  line->append(" ").append(name).append("=");
  if (IsPlain(value)) {
    line->append(value);
    return;
  }
  line->push_back('"');
  for (const char c : value) {
    if (c == '"' || c == '\\') line->push_back('\\');
    if (c == '\n') line->append("\\n");
    else line->push_back(c);
  }
  line->push_back('"');
}

LogLine SplitLogLine(std::string_view line) {
  LogLine result;
  size_t words_end = 0;
  for (size_t at = 0; at < line.size();) {
    if (line[at] == ' ') {
      ++at;
      continue;
    }
    std::string_view name;
    LogLine::Value value;
    if (const size_t length = TakeField(line.substr(at), &name, &value); length != 0) {
      result.fields.emplace_back(name, std::move(value));
      at += length;
      continue;
    }
    // A word: the fields before it are words too, as they do not end the line.
    result.fields.clear();
    at = std::min(line.find(' ', at), line.size());
    words_end = at;
  }
  result.words = line.substr(0, words_end);
  return result;
}

}  // namespace suede
