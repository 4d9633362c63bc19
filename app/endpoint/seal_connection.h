// SPDX-License-Identifier: Apache-2.0
// A connection over which secrets are agreed (docs/sealing.md, "Secrets by TLS"): the server's end
// and the client's. Control thread; no call blocks.
#ifndef SUEDE_APP_ENDPOINT_SEAL_CONNECTION_H_
#define SUEDE_APP_ENDPOINT_SEAL_CONNECTION_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/socket_address.h"
#include "base/time.h"
#include "endpoint/seal_agreement_counts.h"
#include "endpoint/seal_deliveries.h"
#include "mgmt/event_log.h"
#include "openssl/tls.h"
#include "seal/agreement.h"
#include "seal/crypto.h"

namespace suede {

// The shared state of an endpoint's connections, which it must outlive.
struct SealAgreementState {
  uint32_t partition = 0;
  Duration refresh{};
  AgreementPairs pairs;
  SealDeliveries deliveries;
  std::unique_ptr<Crypto> kdf;
  EventLog* events = nullptr;
  SealAgreementCounts counts;

  // Raises and counts the event that a pair could not agree.
  void EmitFailed(const AgreementPair& pair, const SocketAddress& address, SealFailure kind,
                  std::string_view reason);
  // Raises and counts the event that an incoming connection was ended.
  void EmitRefused(std::string_view address, std::string_view reason);
};

class SealConnection {
 public:
  // Timeout for a whole request or reply, and for the handshake with the first one.
  static constexpr Duration kIdleLimit = std::chrono::seconds(10);

  virtual ~SealConnection() = default;
  SealConnection(const SealConnection&) = delete;
  SealConnection& operator=(const SealConnection&) = delete;

  int fd() const { return tls_->fd(); }
  // Returns the events for poll().
  short events() const;
  // Whether the connection must advance although its socket is not ready.
  bool IsDue(Time now) const { return has_more_ || now >= deadline_; }
  bool established() const { return tls_->established(); }
  const SocketAddress& address() const { return address_; }

  // Advances as far as the socket permits. Returns false if the connection is over.
  bool Advance(Time now);
  // Ends the connection in favour of another.
  void GiveUp(Time now, SealFailure kind, std::string_view reason) { Fail(now, kind, reason); }

 protected:
  SealConnection(SealAgreementState& state, std::unique_ptr<TlsConnection> tls,
                 const SocketAddress& address, Time now)
      : state_(state), tls_(std::move(tls)), address_(address), deadline_(now + kIdleLimit) {}

  // Called after the handshake, with the certificate's XPUs read. Returns false if the connection
  // is over.
  virtual bool OnEstablished(Time now) = 0;
  // Called for each message. Returns false if the connection is over.
  virtual bool OnMessage(const AgreementMessage& message, Time now) = 0;
  // Called when the connection fails.
  virtual void OnFailed(Time now) = 0;
  // Whether the other end may close the connection between two messages.
  virtual bool MayEnd() const = 0;
  // Returns the pair for failure reports; null: unknown.
  virtual const AgreementPair* pair() const = 0;

  void Send(const AgreementMessage& message) {
    out_ = message;
    out_bytes_ = message.size();
  }
  void Renew(Time now) { deadline_ = now + kIdleLimit; }
  const std::vector<CertifiedXpus>& certified() const { return certified_; }
  // Derives the secret of request and reply, and passes it to the pair.
  bool Agree(AgreementPair& pair, const AgreementMessage& request, const AgreementMessage& answer,
             uint8_t id, uint8_t stays, Time now);
  void Emit(const AgreementPair* pair, SealFailure kind, std::string_view reason);

  SealAgreementState& state_;

 private:
  // Each function returns false if the connection is over. `waits`: the socket is not ready.
  bool Shake(Time now, bool& waits);
  bool WriteOut(Time now, bool& waits);
  bool ReadIn(Time now, bool& waits);
  bool Fail(Time now, SealFailure kind, std::string_view reason);
  bool Fail(Time now, const absl::Status& status);

  const std::unique_ptr<TlsConnection> tls_;
  const SocketAddress address_;
  std::vector<CertifiedXpus> certified_;
  AgreementBuffer in_;
  AgreementMessage out_{};
  size_t out_bytes_ = 0;  // unsent bytes of out_
  Time deadline_;
  bool has_more_ = false;
};

// An incoming connection.
class SealServerConnection final : public SealConnection {
 public:
  SealServerConnection(SealAgreementState& state, std::unique_ptr<TlsConnection> tls,
                       const SocketAddress& address, Time now)
      : SealConnection(state, std::move(tls), address, now) {}

 private:
  bool OnEstablished(Time now) override;
  bool OnMessage(const AgreementMessage& message, Time now) override;
  void OnFailed(Time) override {}
  bool MayEnd() const override { return true; }
  const AgreementPair* pair() const override { return nullptr; }
};

// A connection to a peer, for some pairs, at least one.
class SealClientConnection final : public SealConnection {
 public:
  SealClientConnection(SealAgreementState& state, std::unique_ptr<TlsConnection> tls,
                       const SocketAddress& address, std::vector<AgreementPair*> pairs, Time now);

 private:
  bool OnEstablished(Time now) override { return Ask(now); }
  bool OnMessage(const AgreementMessage& message, Time now) override;
  void OnFailed(Time now) override;
  bool MayEnd() const override { return false; }
  const AgreementPair* pair() const override { return pairs_[at_]; }
  // Sends the request for the next permitted pair. Returns false if there is none.
  bool Ask(Time now);

  const std::vector<AgreementPair*> pairs_;
  size_t at_ = 0;
  AgreementRequest request_;
};

}  // namespace suede

#endif  // SUEDE_APP_ENDPOINT_SEAL_CONNECTION_H_
