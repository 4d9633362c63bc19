// SPDX-License-Identifier: Apache-2.0
// Methods that list and rotate keys of sealing instances. No answer contains a secret.
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
  const absl::StatusOr<uint32_t> peers = call.endpoint().RotateKeys();
  if (!peers.ok()) return peers.status();
  return Json{{"peers", *peers}};
}

Answer ReloadSecrets(Call& call) {
  const absl::StatusOr<uint32_t> secrets = call.endpoint().ReloadSecrets();
  if (!secrets.ok()) return secrets.status();
  return Json{{"secrets", *secrets}};
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

constexpr Member kRotateResult[] = {Member::Integer("peers", "that seal now")};
constexpr Member kReloadResult[] = {
    Member::Integer("secrets", "that the file has, of any partition and time")};

constexpr Method kKeyMethods[] = {
    {.name = "keys.list",
     .sentence = "Peers of instances that seal their PDUs: which secret and epoch their keys have.",
     .result = kListResult,
     .run = ListKeys},
    {.name = "keys.rotate",
     .sentence = "Begins another epoch with every peer, as soon as it has confirmed the present "
                 "one. Nothing is lost.",
     .result = kRotateResult,
     .run = RotateKeys,
     .changes = true},
    {.name = "keys.reload",
     .sentence =
         "Reads the file of secrets and those of sealing.tls again. A file that cannot be used "
         "changes nothing.",
     .result = kReloadResult,
     .run = ReloadSecrets,
     .changes = true},
};

}  // namespace

std::span<const Method> KeyMethods() { return kKeyMethods; }

}  // namespace suede
