// SPDX-License-Identifier: Apache-2.0
#include "endpoint/seal_deliveries.h"

#include <algorithm>

namespace suede {

SealDeliveries::SealDeliveries(const Config& config) {
  for (uint32_t i = 0; i < config.instances.size(); ++i) {
    const InstanceConfig& instance = config.instances[i];
    if (instance.sealing == InstanceConfig::Sealing::kOff) continue;
    instances_.push_back({.xpu = instance.xpu, .lcore = instance.lcore, .instance = i});
  }
}

void SealDeliveries::Add(const AgreementPair& pair) {
  if (std::find(waiting_.begin(), waiting_.end(), &pair) == waiting_.end()) {
    waiting_.push_back(&pair);
  }
}

bool SealDeliveries::IsDone(const AgreementPair& pair) const {
  return std::find(waiting_.begin(), waiting_.end(), &pair) == waiting_.end() &&
         std::none_of(under_way_.begin(), under_way_.end(),
                      [&](const auto& delivery) { return delivery->pair == &pair; });
}

void SealDeliveries::Tick(const EndpointPipelines& pipelines, uint16_t partition) {
  std::erase_if(under_way_, [](const auto& delivery) { return delivery->IsOver(); });
  while (!waiting_.empty() && under_way_.size() < kMax) {
    const AgreementPair* const pair = waiting_.front();
    waiting_.pop_front();
    for (const Own& own : instances_) {
      if (own.xpu != pair->own()) continue;
      under_way_.push_back(std::make_unique<Delivery>());
      under_way_.back()->pair = pair;
      under_way_.back()->to = own;
    }
  }
  for (const auto& delivery : under_way_) {
    if (!delivery->pushed) Push(pipelines, partition, *delivery);
  }
}

// Posts a delivery; retried while the mailbox is full or locked memory is short.
void SealDeliveries::Push(const EndpointPipelines& pipelines, uint16_t partition,
                          Delivery& delivery) {
  Pipeline& pipeline = pipelines.pipeline(delivery.to.lcore);
  const uint32_t number = pipelines.number_of(delivery.to.instance);
  const auto& peers = pipeline.instance(number).params.peers;
  const auto found = std::find_if(peers.begin(), peers.end(), [&](const PeerParams& peer) {
    return peer.xpuid == delivery.pair->peer();
  });
  if (found == peers.end()) {  // no port of the instance leads there
    delivery.pushed = true;
    return;
  }
  if (delivery.update == nullptr) delivery.update.reset(new SecretsUpdate);
  if (delivery.update == nullptr) return;  // no locked memory now
  SecretsUpdate& update = *delivery.update;
  delivery.pair->secrets().CopyTo(update.secrets);
  update.secrets.partition = partition;
  delivery.pushed = pipeline.mailbox().requests.Push(
      request::SetPeerSecrets{.instance = number,
                              .peer = PeerIndex(static_cast<uint32_t>(found - peers.begin())),
                              .update = &update});
  if (!delivery.pushed) update.secrets.Clear();
}

}  // namespace suede
