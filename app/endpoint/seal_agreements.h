// SPDX-License-Identifier: Apache-2.0
// Agrees on secrets with peers, over TLS (docs/sealing.md, "Secrets by TLS"): the sockets of both
// roles, which pairs are to be agreed now, and what of it the lcores are told. Control thread; no
// call waits.
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
  // Connections that came and speak TLS, and handshakes in a second: those from the addresses of
  // peers, and those of others.
  static constexpr size_t kPeerPlaces = 48;
  static constexpr size_t kOtherPlaces = 16;
  static constexpr uint32_t kPeerHandshakes = 100;
  static constexpr uint32_t kOtherHandshakes = 50;
  static constexpr uint32_t kHandshakeBurst = 8;
  static constexpr size_t kMaxConnecting = 16;
  // Connections that are taken out of the kernel's queue, where a peer's may wait behind others.
  static constexpr uint32_t kAcceptsPerSecond = 2000;
  static constexpr uint32_t kAcceptBurst = 64;

  // Reads the files and opens the socket. Null: the configuration has no sealing.tls, or no
  // instance seals. `events` outlives it.
  static absl::StatusOr<std::unique_ptr<SealAgreements>> Open(const Config& config,
                                                              EventLog* events);
  ~SealAgreements();

  // Reads certificate, key and authorities again, for the connections to come. Files that cannot
  // be used change nothing.
  absl::Status Reload();
  // Every 10 ms or so.
  void Tick(const EndpointPipelines& pipelines, uint32_t partition, Time now);
  const SealAgreementCounts& counts() const { return state_.counts; }
  // When the own certificate expires, in seconds since 1970.
  int64_t certificate_until_s() const { return context_->certificate_until_s(); }

 private:
  // Pairs whose peers are at one address.
  struct Group {
    SocketAddress address;
    std::vector<AgreementPair*> pairs;
    std::unique_ptr<SealConnection> connection;
  };
  // Connections that came, of one kind.
  struct Served {
    const size_t places;
    TokenBucket handshakes;
    std::vector<std::unique_ptr<SealConnection>> connections;  // the oldest first
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
  AgreementPairs inner_;  // of two own XPUs, in both directions
  int listener_ = -1;
  bool has_waiting_ = false;  // connections, in the kernel's queue
  SealLobby lobby_;
  Served peers_{kPeerPlaces, {kPeerHandshakes, kHandshakeBurst}, {}};
  Served others_{kOtherPlaces, {kOtherHandshakes, kHandshakeBurst}, {}};
  size_t connecting_ = 0;
  TokenBucket accepts_{kAcceptsPerSecond, kAcceptBurst};
  bool started_ = false;
  Time next_look_{};  // for pairs that are due
  Time next_draw_ = kNever;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_SEAL_AGREEMENTS_H_
