// SPDX-License-Identifier: Apache-2.0
#include "daemon/logger.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "daemon/log_line.h"

namespace suede {
namespace {

constexpr uint32_t kLinesPerSecond = 50;

spdlog::level::level_enum ToLevel(EalLogLevel level) {
  switch (level) {
    case EalLogLevel::kError: return spdlog::level::err;
    case EalLogLevel::kWarning: return spdlog::level::warn;
    case EalLogLevel::kInfo: return spdlog::level::info;
    case EalLogLevel::kDebug: break;
  }
  return spdlog::level::debug;
}

spdlog::level::level_enum ToLevel(LogConfig::Level level) {
  switch (level) {
    case LogConfig::Level::kDebug: return spdlog::level::debug;
    case LogConfig::Level::kInfo: return spdlog::level::info;
    case LogConfig::Level::kWarning: return spdlog::level::warn;
    case LogConfig::Level::kError: break;
  }
  return spdlog::level::err;
}

// Whether stderr is systemd's journal.
bool IsToJournal() {
  const char* const stream = std::getenv("JOURNAL_STREAM");
  struct stat file {};
  return stream != nullptr && fstat(STDERR_FILENO, &file) == 0 &&
         StrCat(file.st_dev, ":", file.st_ino) == stream;
}

// The priority of a line as the journal takes it from the line's beginning: sd-daemon(3).
class JournalPriority final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& out) override {
    const std::string_view priority = message.level == spdlog::level::err    ? "<3>"
                                      : message.level == spdlog::level::warn ? "<4>"
                                      : message.level == spdlog::level::info ? "<6>"
                                                                             : "<7>";
    out.append(priority.data(), priority.data() + priority.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<JournalPriority>();
  }
};

std::string JsonText(const nlohmann::json& value) {
  return value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

// The rest of a line of JSON after time and level: fields of the line are members.
std::string JsonMembers(std::string_view component, std::string_view line, uint64_t suppressed) {
  const LogLine split = SplitLogLine(line);
  std::string out = StrCat(R"("component":)", JsonText(component), R"(,"message":)",
                           JsonText(split.words), R"(,"suppressed":)", suppressed);
  constexpr std::string_view kTaken[] = {"time", "level", "component", "message", "suppressed"};
  std::set<std::string_view> names(std::begin(kTaken), std::end(kTaken));
  for (const auto& [name, value] : split.fields) {
    std::string member(name);
    if (!names.insert(name).second) continue;  // each name once
    StrAppend(&out, ",", JsonText(member), ":",
              std::visit([](const auto& v) { return JsonText(v); }, value));
  }
  return out;
}

}  // namespace

Logger::Logger(const LogConfig& config) : config_(config), level_(config.level) {
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  auto logger = std::make_shared<spdlog::logger>("suede", std::move(sink));
  logger->set_level(ToLevel(config.level));
  logger->flush_on(spdlog::level::debug);
  std::string pattern = IsToJournal() ? "%*" : "";
  pattern += config.format == LogConfig::Format::kJson
                 ? R"({"time":"%Y-%m-%dT%H:%M:%S.%fZ","level":"%l",%v})"
                 : "%Y-%m-%dT%H:%M:%S.%fZ %l %v";
  auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  formatter->add_flag<JournalPriority>('*').set_pattern(std::move(pattern));
  logger->set_formatter(std::move(formatter));
  spdlog::set_default_logger(std::move(logger));
}

void Logger::SetLevel(LogConfig::Level level) {
  level_.store(level, std::memory_order_relaxed);
  spdlog::set_level(ToLevel(level));
}

void Logger::Write(EalLogLevel level, std::string_view component, std::string_view line) {
  // Before the budget, which is for written lines.
  if (ToLevel(level) < ToLevel(this->level())) return;
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.remove_suffix(1);
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  uint64_t suppressed = 0;
  if (!Allow(component, std::chrono::duration_cast<std::chrono::seconds>(now).count(),
             suppressed)) {
    return;
  }
  if (config_.format == LogConfig::Format::kJson) {
    spdlog::log(ToLevel(level), "{}", JsonMembers(component, line, suppressed));
  } else if (suppressed != 0) {
    spdlog::log(ToLevel(level), "{}: {} suppressed={}", component, line, suppressed);
  } else {
    spdlog::log(ToLevel(level), "{}: {}", component, line);
  }
}

bool Logger::Allow(std::string_view component, int64_t second, uint64_t& suppressed) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto it = budgets_.find(component);
  if (it == budgets_.end()) it = budgets_.emplace(std::string(component), Budget()).first;
  Budget& budget = it->second;
  if (budget.second != second) {
    budget.second = second;
    budget.lines = 0;
  }
  if (++budget.lines > kLinesPerSecond) {
    ++budget.suppressed;
    return false;
  }
  suppressed = budget.suppressed;
  budget.suppressed = 0;
  return true;
}

}  // namespace suede
