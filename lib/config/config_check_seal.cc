// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "config/config_checks.h"

namespace suede {
namespace {

absl::Status CheckSealingTls(const ConfigDraft& draft) {
  const SealingTlsConfig& tls = draft.config.sealing.tls;
  const std::pair<std::string_view, const std::string*> keys[] = {{"listen", &tls.listen},
                                                                  {"certificate", &tls.certificate},
                                                                  {"key", &tls.key},
                                                                  {"ca", &tls.ca}};
  const auto is_given = [](const auto& key) { return !key.second->empty(); };
  const auto* const given = std::find_if(std::begin(keys), std::end(keys), is_given);
  const auto* const missing = std::find_if_not(std::begin(keys), std::end(keys), is_given);
  if (given != std::end(keys) && missing != std::end(keys)) {
    return draft.Error(StrCat("sealing.tls.", missing->first),
                       StrCat("missing, where sealing.tls.", given->first, " is there; add ",
                              missing->first, ": (docs/sealing.md), or remove sealing.tls"));
  }
  for (size_t i = 0; given == std::end(keys) && i < draft.config.peers.size(); ++i) {
    if (draft.config.peers[i].control.empty()) continue;
    return draft.Error(StrCat(Entry("peers", draft.peer_entries[i]), ".control"),
                       "there is no certificate to agree with; add sealing.tls (docs/sealing.md), "
                       "or leave it out");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSealing(const ConfigDraft& draft) {
  if (absl::Status status = CheckSealingTls(draft); !status.ok()) return status;
  for (size_t i = 0; i < draft.config.instances.size(); ++i) {
    const InstanceConfig& instance = draft.config.instances[i];
    if (instance.sealing == InstanceConfig::Sealing::kOff) continue;
    if (instance.partition && draft.config.sealing.tls.enabled()) {
      return draft.Error(StrCat(Entry("instances", draft.instance_entries[i]), ".partition"),
                         "sealing.tls agrees on secrets of the endpoint's partition alone; use "
                         "sealing.secrets, or a daemon for each tenant");
    }
    if (!draft.config.sealing.secrets.empty()) continue;
    if (draft.config.sealing.tls.enabled()) continue;
    return draft.Error(StrCat(Entry("instances", i), ".sealing"),
                       "there are no secrets to seal with; name their file in sealing.secrets, or "
                       "agree on them by sealing.tls (docs/sealing.md), or set off");
  }
  return absl::OkStatus();
}

}  // namespace suede
