// SPDX-License-Identifier: Apache-2.0
// One process with all devices of a large mesh in virtual time: a router for each device, a cable
// between neighbours, and XPUs with real pipelines at some devices, which send commands to sampled
// peers. A cable that the traffic uses fails in each second. Every command arrives exactly once, in
// order, with its bytes; at the end no router holds a frame, and every frame is back in its pool.
#ifndef SUEDE_TESTS_SIM_LARGE_MESH_H_
#define SUEDE_TESTS_SIM_LARGE_MESH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/client_queue.h"
#include "client/client_receiver.h"
#include "dice.h"
#include "endpoint/endpoint_boards.h"
#include "endpoint/endpoint_pipelines.h"
#include "ledger.h"
#include "mesh/acceptance.h"
#include "mesh_pool.h"

namespace suede {

struct LargeMeshOptions {
  uint32_t columns = 32;
  uint32_t rows = 32;
  uint32_t lcores = 4;  // each with a board
  uint32_t xpus = 32;
  uint32_t partners = 4;  // that an XPU sends to
  Duration run = std::chrono::seconds(5);
  Duration gap = std::chrono::milliseconds(200);  // between bursts of commands
  uint64_t seed = 1;
};

class LargeMesh {
 public:
  // Resident bytes of the process.
  struct Memory {
    uint64_t before = 0;   // the first router
    uint64_t routers = 0;  // with all routers
    uint64_t warm = 0;     // after two seconds
    uint64_t end = 0;
  };
  struct Figures {
    uint64_t commands = 0;
    uint64_t turns = 0;
    uint64_t frames = 0;  // that routers have received
    uint64_t outages = 0;
    uint64_t swaps = 0;         // of tables
    uint64_t drains = 0;        // of all routers, before a swap
    uint64_t lost_frames = 0;   // at cables that were down
    uint64_t new_sessions = 0;  // of cables, after the first one of each end
    uint64_t retransmissions = 0;
    uint32_t max_frames_out = 0;
    uint32_t pool_frames = 0;
  };

  explicit LargeMesh(const LargeMeshOptions& options);
  ~LargeMesh();

  // Runs to the end. Empty: all is well; else the error.
  std::string Run();
  const Memory& memory() const { return memory_; }
  Figures figures() const;

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  // An XPU with its one client.
  struct Xpu {
    uint32_t number = 0;  // of its device
    Pipeline* pipeline = nullptr;
    uint32_t instance = 0;  // of the pipeline
    std::unique_ptr<void, Free> segment;
    std::unique_ptr<ClientQueue> queue;
    std::vector<ClientReceiver> receivers;
    std::vector<uint32_t> partners;
  };
  enum class Phase : uint8_t { kWhole, kBroken, kAround, kMended };

  Config MakeConfig();
  void AddXpu(uint32_t instance);
  void SendBursts();
  void SendOne(Xpu& xpu);
  void Receive(Xpu& xpu);
  void OnReceived(const Xpu& xpu, const ReceivedCommand& got, uint32_t vc);
  bool PollBoards();
  void Turn();
  void RunUntil(Time end);
  void FailCables();
  void Break();
  void Drain();
  void Swap(mesh::Tables tables);
  bool IsQuiet() const;
  std::string Verdict() const;
  uint64_t Sum(LinkCounter counter) const;
  void Fail(const std::string& what) {
    if (failure_.empty()) failure_ = what;
  }

  const LargeMeshOptions options_;
  Dice dice_;
  const mesh::Grid grid_;
  const mesh::Topology topology_;
  const mesh::Tables plain_;  // by all cables
  mesh::ActiveTables active_{topology_};
  Config config_;
  std::unique_ptr<MeshPool> pool_;
  std::unique_ptr<EndpointBoards> boards_;
  std::unique_ptr<EndpointPipelines> pipelines_;
  std::vector<std::unique_ptr<Xpu>> xpus_;
  std::vector<uint32_t> xpu_of_;  // by device
  Ledger ledger_{{.in_order = true, .gaps = false}};
  Memory memory_;
  Time now_{};
  Time next_burst_{};
  Time burst_until_ = kNever;
  Duration idle_{};
  uint32_t turns_ = 0;
  uint32_t outages_ = 0;
  uint32_t drains_ = 0;
  uint32_t cut_ = 0;  // cable that fails
  Phase phase_ = Phase::kWhole;
  Time next_phase_{};
  std::string failure_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_LARGE_MESH_H_
