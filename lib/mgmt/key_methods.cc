// SPDX-License-Identifier: Apache-2.0
// Methods that show keys of instances that seal, and change them. No secret is in any answer.
#include <utility>

#include "mgmt/catalog.h"
#include "mgmt/common_members.h"
#include "mgmt/endpoint_view.h"

namespace suede {
namespace {

Json ToJson(const SealedPeerView& peer) {
  return Json{{"xpu", peer.xpu},           {"instance", peer.instance},
              {"peer", peer.peer},         {"sealing", peer.sealing},
              {"sealed", peer.sealed},     {"secret_id", peer.secret_id},
              {"tx_epoch", peer.tx_epoch}, {"rx_epoch", peer.rx_epoch}};
}

Answer ListKeys(Call& call) {
  Json list = Json::array();
  for (const SealedPeerView& peer : call.endpoint().SealedPeers()) list.push_back(ToJson(peer));
  return Json{{"keys", std::move(list)}};
}

Answer RotateKeys(Call& call) {
  if (absl::Status status = call.endpoint().RotateKeys(); !status.ok()) return status;
  return Json::object();
}

Answer ReloadSecrets(Call& call) {
  if (absl::Status status = call.endpoint().ReloadSecrets(); !status.ok()) return status;
  return Json::object();
}

constexpr Member kRow[] = {
    members::kXpu,
    members::kInstance,
    members::kPeer,
    Member::Choice("sealing", "off|preferred|required", "the setting of the instance"),
    Member::Boolean("sealed", "PDUs to and from the peer are sealed"),
    Member::Integer("secret_id", "of the secret that the instance seals with"),
    Member::Integer("tx_epoch", "epochs of its key, modulo 2^24"),
    Member::Integer("rx_epoch", "likewise, of the peer's"),
};
constexpr Member kListResult[] = {Member::Rows("keys", kRow)};

constexpr Method kKeyMethods[] = {
    {.name = "keys.list",
     .sentence = "Peers of instances that seal their PDUs: which secret and epoch their keys have.",
     .result = kListResult,
     .run = ListKeys},
    {.name = "keys.rotate",
     .sentence = "Begins another epoch with every peer, as soon as it has confirmed the present "
                 "one. Nothing is lost.",
     .run = RotateKeys,
     .changes = true},
    {.name = "keys.reload",
     .sentence = "Reads the file of secrets again. A file that cannot be used changes nothing.",
     .run = ReloadSecrets,
     .changes = true},
};

}  // namespace

std::span<const Method> KeyMethods() { return kKeyMethods; }

}  // namespace suede
