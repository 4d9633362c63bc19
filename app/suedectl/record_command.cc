// SPDX-License-Identifier: Apache-2.0
#include "suedectl/record_command.h"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "base/text.h"
#include "suedectl/json_members.h"

namespace suede::ctl {
namespace {

using Clock = std::chrono::steady_clock;
constexpr uint64_t kMinIntervalUs = 100;
constexpr uint64_t kMaxIntervalUs = 10'000'000;
constexpr uint64_t kMaxDurationUs = uint64_t{86400} * 1'000'000;
constexpr std::pair<std::string_view, uint64_t> kUnits[] = {
    {"us", 1}, {"ms", 1000}, {"s", 1'000'000}};

struct Closer {
  void operator()(FILE* file) const { std::fclose(file); }
};

// Reads a time of the command line; `text` absent: `fallback`.
absl::StatusOr<uint64_t> TimeOf(const ForeignJson& params, const char* name, uint64_t fallback,
                                uint64_t min, uint64_t max) {
  if (!params.contains(name)) return fallback;
  const std::string text = params[name].get<std::string>();
  const std::optional<uint64_t> us = ParseMicros(text);
  if (us && *us >= min && *us <= max) return *us;
  return absl::InvalidArgumentError(StrCat("--", name, " ", text, " is no time from ", min,
                                           " us to ", max / 1'000'000,
                                           " s; use a number and us, ms or s, as in 1ms"));
}

// Writes the rows of an answer, and a comment where samples are missing; the first time behind the
// names of the columns. Returns the number to go on with.
absl::StatusOr<uint64_t> WriteRows(const Json& answer, bool is_first, FILE* to,
                                   uint64_t* lost_samples) {
  const std::string header = StringOf(answer, "header");
  const Json* const csv = MemberOf(answer, "csv");
  const std::optional<uint64_t> next = NumberOf(answer, "next");
  const std::optional<uint64_t> lost = NumberOf(answer, "lost");
  if (header.empty() || csv == nullptr || !csv->is_string() || !next || !lost) {
    return absl::UnavailableError("the daemon's message has no samples");
  }
  if (is_first) std::fprintf(to, "%s\n", header.c_str());
  if (*lost != 0) {
    *lost_samples += *lost;
    std::fprintf(to, "# %llu samples lost\n", static_cast<unsigned long long>(*lost));
  }
  std::fputs(csv->get_ref<const std::string&>().c_str(), to);
  if (std::fflush(to) != 0) return absl::AbortedError("cannot write the output");
  return *next;
}

}  // namespace

std::optional<uint64_t> ParseMicros(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number > kMaxDurationUs) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  for (const auto& [name, us] : kUnits) {
    if (unit == name) return number * us;
  }
  return std::nullopt;
}

absl::Status RunRecord(Daemon& daemon, const ForeignJson& params, const GlobalFlags& /*flags*/,
                       FILE* out, FILE* err) {
  const auto interval = TimeOf(params, "interval", 1000, kMinIntervalUs, kMaxIntervalUs);
  if (!interval.ok()) return interval.status();
  const auto duration = TimeOf(params, "duration", 0, *interval, kMaxDurationUs);
  if (!duration.ok()) return duration.status();
  std::unique_ptr<FILE, Closer> file;
  if (params.contains("output")) {
    const std::string path = params["output"].get<std::string>();
    file.reset(std::fopen(path.c_str(), "we"));
    if (file == nullptr) {
      return absl::InvalidArgumentError(
          StrCat("cannot write ", path, ": ", std::strerror(errno), "; pass another --output"));
    }
  }
  FILE* const to = file != nullptr ? file.get() : out;
  ForeignJson request{{"interval_us", *interval}, {"seconds", 1}};
  const Clock::time_point end = *duration == 0
                                    ? Clock::time_point::max()
                                    : Clock::now() + std::chrono::microseconds(*duration);
  uint64_t lost = 0;
  bool is_first = true;
  do {
    const absl::StatusOr<Json> answer = daemon.Call("record.read", request);
    if (!answer.ok()) return answer.status();
    const absl::StatusOr<uint64_t> next =
        WriteRows(*answer, std::exchange(is_first, false), to, &lost);
    if (!next.ok()) return next.status();
    request["since"] = *next;
  } while (Clock::now() < end);
  if (lost != 0) std::fprintf(err, "%llu samples lost\n", static_cast<unsigned long long>(lost));
  return absl::OkStatus();
}

}  // namespace suede::ctl
