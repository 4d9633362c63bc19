// SPDX-License-Identifier: Apache-2.0
// Agreed secrets on their way to the lcores. Control thread.
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
  // Updates under way at once, over all lcores.
  static constexpr size_t kMax = 128;

  explicit SealDeliveries(const Config& config);

  // The secrets of the pair are others: all sealing instances of the own XPU get them. The pair
  // stays as long as this.
  void Add(const AgreementPair& pair);
  // Whether all that was added of the pair has arrived.
  bool IsDone(const AgreementPair& pair) const;
  // Called again and again: hands on what there is room for.
  void Tick(const EndpointPipelines& pipelines, uint16_t partition);

 private:
  struct Own {
    uint32_t xpu = 0;
    uint32_t lcore = 0;
    uint32_t instance = 0;  // of Config::instances
  };
  // To one instance.
  struct Delivery {
    const AgreementPair* pair = nullptr;
    Own to;
    std::unique_ptr<SecretsUpdate> update;  // null: pushed is false, or nobody needs it
    bool pushed = false;
    bool IsOver() const {
      return pushed && (update == nullptr || update->done.load(std::memory_order_acquire));
    }
  };
  static void Push(const EndpointPipelines& pipelines, uint16_t partition, Delivery& delivery);

  std::vector<Own> instances_;  // those that seal
  std::deque<const AgreementPair*> waiting_;
  std::vector<std::unique_ptr<Delivery>> under_way_;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_SEAL_DELIVERIES_H_
