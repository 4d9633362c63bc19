// SPDX-License-Identifier: Apache-2.0
// A row of the pairs (pairs_table.h) in virtual time: daemons by their configurations, a switch for
// each plane, and the oracle: every command arrives exactly once, with its bytes, in the order in
// which the daemon took it unless the row is unordered; tagged ones complete once, and with
// success. Where the network loses nothing, nothing is given up or found dead. The features of the
// row were in use. At the end all is quiet and every frame is back in its pool.
#ifndef SUEDE_TESTS_SIM_PAIRS_RUN_H_
#define SUEDE_TESTS_SIM_PAIRS_RUN_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "checked_crypto.h"
#include "client/client_queue.h"
#include "dice.h"
#include "endpoint/endpoint_pipelines.h"
#include "lcore/secrets_update.h"
#include "ledger.h"
#include "pairs_config.h"
#include "sim/sim.h"
#include "steered_device.h"

namespace suede {

class PairsRun {
 public:
  PairsRun(const PairsRow& row, uint64_t seed);
  ~PairsRun();

  // Runs to the end. Empty where the oracle is content, else the error.
  std::string Run();
  // Names a feature of the row that only some loads use, and this one did not; else empty.
  std::string MissedChance() const;
  uint64_t Sum(Counter counter) const;
  uint64_t Sum(LinkCounter counter) const;
  // A hash of the bytes and times of all frames.
  uint64_t digest() const;
  Time now() const { return now_; }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  struct Machine {
    Config config;
    std::vector<SimPort*> ports;
    std::vector<std::unique_ptr<SteeredDevice>> devices;
    std::unique_ptr<EndpointPipelines> pipelines;
    std::deque<SecretsUpdate> secrets;  // of each lcore
  };
  // An XPU with its one client.
  struct Xpu {
    uint32_t number = 0;
    Pipeline* pipeline = nullptr;
    uint32_t instance = 0;  // of the pipeline
    std::unique_ptr<void, Free> segment;
    std::unique_ptr<ClientQueue> queue;
    std::vector<ClientReceiver> receivers;
    uint32_t to_send = 0;
    struct Tagged {
      StreamName stream;
      uint32_t sequence;
      bool completed;
    };
    std::vector<Tagged> tags;
    size_t completions = 0;
  };

  void AddSwitches();
  void SetBuffers(fabric::SwitchParams& params) const;
  void SetLinks(fabric::SwitchParams& params, uint32_t plane) const;
  std::string AddMachine(uint32_t number);
  void AddPort(Machine& machine, uint32_t number, uint32_t plane);
  EndpointPipelines::Device DeviceOf(Machine& machine, uint32_t plane);
  void AddXpu(Machine& machine, uint32_t machine_number, uint32_t instance);
  void GiveSecrets(Machine& machine);

  bool AreLinksReady() const;
  bool LinksHoldFrames() const;
  void Turn();
  void Send(Xpu& xpu);
  void SendOne(Xpu& xpu);
  void Receive(Xpu& xpu);
  void OnReceived(const Xpu& xpu, const ReceivedCommand& got, uint32_t vc);
  void Complete(Xpu& xpu);
  bool IsFinished() const;
  void RunOut();
  uint64_t frames_lost() const;
  std::string Verdict() const;
  // Names a feature of the row that nothing has used, so that the run shows nothing of it; else
  // empty.
  std::string UnusedFeature() const;
  uint32_t FramesMissing(const Machine& machine) const;
  std::vector<const PortContext*> PortsOf(const Machine& machine) const;
  void Fail(const std::string& what) {
    if (failure_.empty()) failure_ = what;
  }
  bool IsLossless() const;

  const PairsRow row_;
  Dice dice_;
  const uint64_t seed_;
  uint32_t limit_bytes_;
  std::vector<std::unique_ptr<SimNetwork>> switches_;  // of each plane
  std::unique_ptr<Crypto> library_;
  UsedNonces used_nonces_;
  std::unique_ptr<CheckedCrypto> crypto_;
  std::vector<std::unique_ptr<Machine>> machines_;
  std::vector<std::unique_ptr<Xpu>> xpus_;
  Ledger ledger_;
  std::vector<ReceivedCommand> received_;  // scratch of Receive
  Time now_{};
  uint32_t turns_ = 0;
  bool are_links_ready_ = false;
  std::string failure_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_PAIRS_RUN_H_
