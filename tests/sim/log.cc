// SPDX-License-Identifier: Apache-2.0
#include "log.h"

#include <cstdarg>

namespace suede {

void Log::Add(Time now, const char* format, ...) {
  char text[200];
  const int64_t ns = (now - Time{}).count();
  const int begin = std::snprintf(text, sizeof text, "%6lld.%03lld us  ",
                                  static_cast<long long>(ns / 1000),
                                  static_cast<long long>(ns % 1000));
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text + begin, sizeof text - static_cast<size_t>(begin), format, arguments);
  va_end(arguments);
  lines_.emplace_back(text);
  if (lines_.size() > kLines) lines_.pop_front();
}

}  // namespace suede
