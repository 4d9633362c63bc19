// SPDX-License-Identifier: Apache-2.0
#include "dpdk/telemetry.h"

#include <rte_telemetry.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "dpdk/versions.h"

namespace suede {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, TelemetrySource, std::less<>> sources;
};

// Never destroyed: the telemetry thread outlives everything else.
Registry& TheRegistry() {
  static Registry* const registry = new Registry;
  return *registry;
}

void Write(const TelemetryDict& dict, rte_tel_data* out) {
  rte_tel_data_start_dict(out);
  for (const auto& [name, value] : dict) {
    if (const auto* number = std::get_if<uint64_t>(&value)) {
      internal::AddNumber(out, name.c_str(), *number);
    } else {
      rte_tel_data_add_dict_string(out, name.c_str(), std::get<std::string>(value).c_str());
    }
  }
}

void Write(const TelemetryList& list, rte_tel_data* out) {
  rte_tel_data_start_array(out, RTE_TEL_STRING_VAL);
  for (const std::string& name : list) rte_tel_data_add_array_string(out, name.c_str());
}

int Answer(const char* command, const char* parameter, rte_tel_data* out) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  const auto found = registry.sources.find(command);
  TelemetryReply reply;
  if (found == registry.sources.end() ||
      !found->second(parameter != nullptr ? parameter : "", &reply)) {
    return -EINVAL;
  }
  std::visit([out](const auto& all) { Write(all, out); }, reply);
  return 0;
}

}  // namespace

absl::Status AddTelemetry(const std::string& command, const std::string& help,
                          TelemetrySource source) {
  Registry& registry = TheRegistry();
  {
    const std::lock_guard lock(registry.mutex);
    registry.sources[command] = std::move(source);
  }
  const int error = rte_telemetry_register_cmd(command.c_str(), Answer, help.c_str());
  if (error == 0 || error == -EEXIST) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("DPDK's telemetry refuses ", command, ": ", std::strerror(-error)));
}

void RemoveTelemetry() {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  registry.sources.clear();
}

}  // namespace suede
