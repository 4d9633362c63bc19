// SPDX-License-Identifier: Apache-2.0
// Agrees on secrets with peers over TLS (docs/sealing.md, "Secrets by TLS"): manages the sockets of
// both roles, schedules pairs, and delivers secrets to the lcores. Control thread; no call blocks.
#ifndef SUEDE_APP_ENDPOINT_SEAL_AGREEMENTS_H_
#define SUEDE_APP_ENDPOINT_SEAL_AGREEMENTS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/socket_address.h"
#include "base/time.h"
#include "base/token_bucket.h"
#include "config/config.h"
#include "endpoint/endpoint_pipelines.h"
#include "endpoint/seal_connection.h"
#include "endpoint/seal_lobby.h"
#include "mgmt/event_log.h"
#include "openssl/tls.h"

namespace suede {

class SealAgreements {
 public:
  // Max incoming TLS connections, and handshakes per second: from addresses of peers, and from
  // others.
  static constexpr size_t kPeerPlaces = 48;
  static constexpr size_t kOtherPlaces = 16;
  static constexpr uint32_t kPeerHandshakes = 100;
  static constexpr uint32_t kOtherHandshakes = 50;
  static constexpr uint32_t kHandshakeBurst = 8;
  static constexpr size_t kMaxConnecting = 16;
  // Max accepts from the kernel's queue, in which a peer's connection may wait behind others.
  static constexpr uint32_t kAcceptsPerSecond = 2000;
  static constexpr uint32_t kAcceptBurst = 64;

  // Reads the files and opens the socket. Null: the configuration has no sealing.tls, or no
  // instance seals. `events` must outlive this.
  static absl::StatusOr<std::unique_ptr<SealAgreements>> Open(const Config& config,
                                                              EventLog* events);
  ~SealAgreements();

  // Reads certificate, key and CA certificates again, for later connections. On an error nothing
  // changes.
  absl::Status Reload();
  // To be called about every 10 ms.
  void Tick(const EndpointPipelines& pipelines, uint32_t partition, Time now);
  const SealAgreementCounts& counts() const { return state_.counts; }
  // Returns the expiry time of the own certificate, in seconds since 1970.
  int64_t certificate_until_s() const { return context_->certificate_until_s(); }

 private:
  // Pairs whose peers share an address.
  struct Group {
    SocketAddress address;
    std::vector<AgreementPair*> pairs;
    std::unique_ptr<SealConnection> connection;
  };
  // Incoming connections of one kind.
  struct Served {
    const size_t places;
    TokenBucket handshakes;
    std::vector<std::unique_ptr<SealConnection>> connections;  // oldest first
  };

  SealAgreements(const Config& config, EventLog* events);
  void AddPairs(const Config& config);
  absl::Status Listen();
  void Start(uint32_t partition, Time now);
  void Accept(Time now);
  void Admit(Time now);
  void Serve(SealLobby::Guest guest, Time now);
  Served& KindOf(const SealLobby::Guest& guest) { return guest.is_peer ? peers_ : others_; }
  static void MakeRoom(Served& served, Time now);
  void AdvanceAll(Time now);
  void ConnectDue(Time now);
  void Connect(Group& group, std::vector<AgreementPair*> pairs, Time now);
  void BindToListen(int fd, int family) const;
  void DrawInner(Time now);

  const SealingTlsConfig config_;
  std::shared_ptr<const TlsContext> context_;
  SealAgreementState state_;
  std::vector<Group> groups_;
  AgreementPairs inner_;  // pairs of two own XPUs, in both directions
  int listener_ = -1;
  bool has_waiting_ = false;  // connections in the kernel's queue
  SealLobby lobby_;
  Served peers_{kPeerPlaces, {kPeerHandshakes, kHandshakeBurst}, {}};
  Served others_{kOtherPlaces, {kOtherHandshakes, kHandshakeBurst}, {}};
  size_t connecting_ = 0;
  TokenBucket accepts_{kAcceptsPerSecond, kAcceptBurst};
  bool started_ = false;
  Time next_check_{};  // for pairs that are due
  Time next_draw_ = kNever;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_SEAL_AGREEMENTS_H_
