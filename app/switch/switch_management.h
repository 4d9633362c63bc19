// SPDX-License-Identifier: Apache-2.0
// The switch's implementation of the management views, and its management socket.
#ifndef SUEDE_APP_SWITCH_SWITCH_MANAGEMENT_H_
#define SUEDE_APP_SWITCH_SWITCH_MANAGEMENT_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/daemon_management.h"
#include "daemon/link_follower.h"
#include "fabric/switch.h"
#include "memif/device.h"
#include "mgmt/switch_view.h"
#include "switch/switch_lldp.h"
#include "switch/switch_mailbox.h"

namespace suede {

// Returns the names of a switch's counters and events, formatted by NamesAsText.
std::string SwitchNames();

// Constant facts about a port.
struct SwitchPortFacts {
  std::string name;
  std::string device;  // without secrets
  std::string driver;
  std::string mac;
  std::optional<uint32_t> lcore;  // CPU of the lcore that serves it
};
struct SwitchLink {
  bool up = false;
  uint64_t speed_bps = 0;  // 0: unknown
};

struct SwitchManagementOptions {
  std::string name;
  std::string socket_path;
  mode_t socket_mode = 0660;
  uint32_t max_clients = 32;
  std::string config_file;             // used at the start; empty: none
  std::vector<SwitchPortFacts> ports;  // in the order of SwitchParams::ports
  std::vector<std::string> groups;     // names, in the order of SwitchParams::groups
  // Returns a port's link state, as last reported by its device. Control thread.
  std::function<SwitchLink(uint32_t port)> link;
  // Returns a port's memif; null: the port has none. Empty: no port has one.
  std::function<memif::Device*(uint32_t port)> memif{};
  Captures::FindPort find_port;  // for captures; null: not supported
  std::function<std::string()> effective_config;
  std::function<absl::StatusOr<ConfigCheckView>(std::string_view text, std::string_view place)>
      check_config;
};

// Control thread only.
class SwitchManagement final : public DaemonManagement<SwitchView> {
 public:
  // To be created before the switching lcore starts. All arguments must outlive this, and the lcore
  // must stop before destruction.
  static absl::StatusOr<std::unique_ptr<SwitchManagement>> Create(SwitchMailbox* mailbox,
                                                                  const fabric::Switch* the_switch,
                                                                  Logger* logger,
                                                                  SwitchManagementOptions options);
  ~SwitchManagement() override { CloseServer(); }

  // To be called when fd() is readable.
  void Poll() { server().Poll(); }
  // Follows changes of the ports' links: the switch holds nothing for a port without link. To be
  // called about every 10 ms, as a request that finds the queue full is repeated.
  void FollowLinks();
  bool port_up(uint32_t port) const { return ports_[port].admin_up; }
  bool link_up(uint32_t port) const { return ports_[port].link_up; }
  memif::Device* memif(uint32_t port) const {
    return options_.memif ? options_.memif(port) : nullptr;
  }
  const SwitchManagementOptions& options() const { return options_; }

  // DaemonView.
  EventLog& Events() override { return events_; }
  std::string EffectiveConfig() override { return options_.effective_config(); }
  absl::StatusOr<ConfigCheckView> CheckConfig(std::string_view text,
                                              std::string_view place) override {
    return options_.check_config(text, place);
  }
  std::vector<CounterSetView> Counters(CounterScope scope) override;
  std::vector<LinkView> Links() override;
  LldpView Lldp() override;
  // Sets the LLDP agents of the ports, which must outlive this. To be called before metrics are
  // made.
  void SetLldp(const SwitchLldp* lldp) { lldp_ = lldp; }
  const SwitchLldp* lldp() const { return lldp_; }
  absl::StatusOr<AdminQuestion> SetPortAdmin(std::string_view port, bool up) override;

  // SwitchView.
  std::vector<SwitchPortView> SwitchPorts() override;
  Question<absl::StatusOr<std::vector<SwitchQueueView>>> Queues(
      const SwitchQueueQuery& query) override;
  Question<absl::Status> ResetHighWater() override;
  Question<SwitchBufferView> Buffer() override;
  Question<absl::StatusOr<SwitchAddressesView>> Addresses(const SwitchAddressQuery& query) override;
  Question<absl::Status> AddAddress(std::string_view address, uint32_t vid,
                                    std::string_view port) override;
  Question<absl::Status> RemoveAddress(std::string_view address, uint32_t vid) override;
  Question<absl::Status> FlushAddresses(std::string_view port) override;
  std::vector<SwitchMemberView> Groups() override;
  Question<absl::Status> SetWeight(std::string_view group, std::string_view port,
                                   uint32_t weight) override;
  std::vector<ImpairView> Impairments() override;
  Question<absl::Status> SetImpairment(const ImpairWhere& where,
                                       const ImpairChange& change) override;
  Question<absl::Status> ClearImpairment(const ImpairWhere& where) override;

 private:
  using Ticket = std::shared_ptr<const SwitchTicket>;
  // The port's current or requested settings: only this thread changes them.
  struct Port {
    bool admin_up = true;
    bool link_up = false;
    bool reported_down = false;  // the last state sent to the switch,
    Ticket change;               // by this request
    fabric::ImpairmentParams in;
    fabric::ImpairmentParams out;
    LinkFollower link;
    // Returns whether the link is up and the switch uses it: frames that come earlier are dropped.
    bool IsUsed() const { return link_up && (change == nullptr || change->done()); }
  };

  SwitchManagement(SwitchMailbox* mailbox, const fabric::Switch* the_switch, Logger* logger,
                   SwitchManagementOptions options);
  absl::StatusOr<uint32_t> Find(std::string_view port) const;
  // Returns the number of a port or a group in the forwarding table, and the name of a number.
  absl::StatusOr<uint16_t> FindOutput(std::string_view name) const;
  const std::string& NameOfOutput(uint16_t number) const;
  // Submits a request to the lcore once; `done` converts its reply.
  Question<absl::Status> Change(SwitchRequest request,
                                std::function<absl::Status(const SwitchTicket&)> done = nullptr);
  // Reports to the switch whether a port is down. Null: unchanged. An error: the queue is full.
  absl::StatusOr<Ticket> PostDown(uint32_t port);
  using Change1 = std::function<absl::Status(fabric::ImpairmentParams*)>;
  Question<absl::Status> ChangeImpairment(const ImpairWhere& where, const Change1& change);
  SwitchQueueView QueueOf(uint32_t port, uint32_t traffic_class,
                          const SwitchQueueState& state) const;
  CounterSetView TotalCounters() const;

  SwitchMailbox* const mailbox_;
  const fabric::Switch* const switch_;  // parameters and counters, readable by any thread
  const SwitchManagementOptions options_;
  EventLog events_;
  std::vector<Port> ports_;
  std::vector<std::vector<uint8_t>> weights_;  // [group][member], as last requested
  const SwitchLldp* lldp_ = nullptr;
};

}  // namespace suede

#endif  // SUEDE_APP_SWITCH_SWITCH_MANAGEMENT_H_
