// SPDX-License-Identifier: Apache-2.0
// Delivers agreed secrets to the lcores. Control thread.
#ifndef SUEDE_APP_ENDPOINT_SEAL_DELIVERIES_H_
#define SUEDE_APP_ENDPOINT_SEAL_DELIVERIES_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "config/config.h"
#include "endpoint/endpoint_pipelines.h"
#include "lcore/secrets_update.h"
#include "seal/agreement.h"

namespace suede {

class SealDeliveries {
 public:
  // Max concurrent updates over all lcores.
  static constexpr size_t kMax = 128;

  explicit SealDeliveries(const Config& config);

  // Queues the pair's changed secrets for all sealing instances of the own XPU. The pair must
  // outlive this.
  void Add(const AgreementPair& pair);
  // Whether everything queued for the pair has been delivered.
  bool IsDone(const AgreementPair& pair) const;
  // Posts deliveries as room permits. To be called periodically.
  void Tick(const EndpointPipelines& pipelines, uint16_t partition);

 private:
  struct Own {
    uint32_t xpu = 0;
    uint32_t lcore = 0;
    uint32_t instance = 0;  // index into Config::instances
  };
  // A delivery to one instance.
  struct Delivery {
    const AgreementPair* pair = nullptr;
    Own to;
    std::unique_ptr<SecretsUpdate> update;  // null: not pushed, or not needed
    bool pushed = false;
    bool IsOver() const {
      return pushed && (update == nullptr || update->done.load(std::memory_order_acquire));
    }
  };
  static void Push(const EndpointPipelines& pipelines, uint16_t partition, Delivery& delivery);

  std::vector<Own> instances_;  // sealing instances
  std::deque<const AgreementPair*> waiting_;
  std::vector<std::unique_ptr<Delivery>> under_way_;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_SEAL_DELIVERIES_H_
