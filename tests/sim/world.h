// SPDX-License-Identifier: Apache-2.0
// Hosts with real pipelines on simulated switches, clients that load them, and the oracle: every
// accepted command is delivered exactly once, in order per {source, destination, VC} as the daemon
// took them from all queues, unless the world is unordered, bytes intact; tagged ones complete
// exactly once. Given-up commands may be missing: those in doubt may arrive at any time, those that
// a reset ended may have arrived before their sender was told, unreachable ones never do; none is
// given up without a reason. At the end all is quiet and every frame is back in its pool.
#ifndef SUEDE_TESTS_SIM_WORLD_H_
#define SUEDE_TESTS_SIM_WORLD_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attacker.h"
#include "checked_crypto.h"
#include "classes.h"
#include "dice.h"
#include "host.h"
#include "inner_links.h"
#include "ledger.h"
#include "log.h"
#include "spines.h"
#include "trouble.h"
#include "wiring.h"

namespace suede {

// Pauses by class (docs/pfc.md).
struct PfcOptions {
  bool on = false;
  PauseParams params;
  Duration until{};  // no neighbour asks for a pause later
  Duration gap{};    // from one to the next, on average; 0: there is none
  Duration max{};
  bool storms = true;         // false: somebody is asked to pause, and no watchdog fires
  bool storm_of_vc0 = false;  // all ports are asked to pause VC 0 until then
};

// Credit-based flow control (docs/link.md), of hosts' ports and of their cables' other ends. No
// frame is lost then.
struct CreditOptions {
  bool on = false;
  CreditGrant grant;
  CreditTimes times;
  double update_loss = 0;
  // VC 0 goes to host 0, and nothing else does: class `class_of_vc0` is overloaded, and of its
  // frames no more than two of the largest may be in front of another one in a device.
  bool overloads_vc0 = false;
  uint32_t class_of_vc0 = 0;
};

struct WorldOptions {
  Wiring wiring;
  std::function<uint32_t(uint32_t host)> sessions;  // of each {peer, plane}; none: one
  InnerOptions inner;
  SpineOptions spines;
  uint32_t queues = 1;           // per host
  uint32_t commands = 10000;     // per host, over all destinations and VCs
  uint32_t burst = 0;            // a client sends up to so many, and waits; 0: it does not
  Duration burst_gap{};          // for so long, on average
  std::vector<SimFaults> faults = {{}};  // of each switch's links; the last holds for the rest
  ClassOptions classes;
  std::function<void(fabric::SwitchParams&)> fabric;  // what else switches have, where it is there
  uint32_t rx_descriptors = PortConfig{}.rx_descriptors;  // of each port; with the rest they say
  uint32_t tx_descriptors = PortConfig{}.tx_descriptors;  // how many frames its pool has
  TransportParams transport;
  uint32_t selective = 0;  // mask of hosts that repair selectively (docs/repair.md)
  std::function<CongestionParams(uint32_t host)> congestion;  // none: fixed windows
  std::optional<uint8_t> trimmed_dscp;  // of frames that switches have trimmed
  PathParams paths;
  uint32_t inflight_pdus = 4096;
  uint32_t pack_limit_bytes = kDefaultPackBytes;
  bool both_ways = true;         // false: only host 0 sends
  uint32_t send_to = ~0u;        // the one host that all others send to, and that sends nothing
  uint32_t shift = 0;            // each host sends to the one that is so many further; 0: to all
  bool crowded = false;          // switches have to drop frames, or the world shows nothing
  bool lossless = false;         // no frame may be lost, and switches have to pause hosts
  double tagged = 0.1;           // share of commands that ask for a completion
  double transmit_now = 0.05;    // share of commands that close their PDU
  double slow_receiver = 0;      // share of turns in which a receiver takes nothing
  Duration claim_after{};        // before this time nobody claims the VCs
  bool responds = false;         // each command on VC 0 has an answer on VC 1, and others are not sent
  Duration ignored_for{};        // for so long no client reads VC 0: the others must be through then,
  bool ignored_unclaimed = false;  // and nobody claims it
  PfcOptions pfc;
  LinkParams link;  // of hosts' ports, and of their cables' other ends (docs/link.md)
  CreditOptions credit;
  SealParams seal;
  uint32_t secrets = 1;  // of all hosts, where they seal
  bool counts_credit = true;
  uint32_t rx_lines = 16384;
  uint32_t fixed_data_bytes = 0; // 0: sizes are random
  bool resends = true;           // false: nothing may be sent again
  bool deaths = true;            // false: no plane may be found dead
  bool outages = false;          // links go down for so long that peers count as unreachable
  bool changes = false;          // hosts get new settings again and again
  TroubleOptions trouble;
  AttackOptions attack;
  uint32_t commands_after = 100; // that each host sends when the trouble or attack is over
  uint32_t restarts = 0;         // times that a daemon dies and comes back, at most
  bool quick = false;            // it comes back while its frames are still under way
  Duration dark{};               // from the start, nothing passes for so long,
  bool dark_switch = false;      // and ports do not know; false: their links are down
  uint32_t sleeps = 0;           // times that one is stopped for a while, at most
  bool plain = false;            // no control PDU passes between host 0 and others,
  bool plain_known = false;      // and they know that it has none
  Duration doubled_from{};       // another one goes by host 1's XPU id from then on,
  Duration doubled_for{};        // for so long
  Duration max_turn{2000};       // of a host, and 200 ns more
  double pauses = 0.0005;        // share of turns before which the machine had something else to do
  Duration scarce_for{};         // for so long a host has the CPU for 50 us to 2 ms in 7 to 9 ms
  uint32_t max_sent = 23;        // commands that a client sends in one turn, at most
  uint32_t max_received = 16;    // commands that a client takes of one VC in one turn, at most
  bool idles = true;             // at the end it is watched while nobody sends, over several planes
  bool verbose = false;          // the log has every command
  Duration time_limit = std::chrono::seconds(60);  // of virtual time; after all trouble, if any
};

// Longer than a frame is under way in any world, but in a ring that does not drain.
inline constexpr Duration kFrameLife = std::chrono::milliseconds(2);

class World {
 public:
  World(uint64_t seed, const WorldOptions& options);
  ~World();

  // Runs to the end. Empty where the oracle is content, else the error.
  std::string Run();
  // One turn of the world. Returns whether any host had work.
  bool Turn();

  Time now() const { return now_; }
  Host& host(uint32_t number) { return *hosts_[number]; }
  InnerLinks& inner() { return *inner_; }
  const std::string& failure() const { return failure_; }
  const Log& log() const { return log_; }
  // Adds the progress of every host to the log.
  void Describe();
  // Virtual time until the last command was delivered, and bytes of data that were.
  Duration elapsed() const { return last_delivery_ - Time{}; }
  uint64_t delivered_bytes() const { return delivered_bytes_; }
  uint64_t given_up() const { return given_up_; }
  uint64_t restarts() const { return restarts_; }
  uint64_t troubles() const { return trouble_->begun(); }
  uint64_t hits() const { return attacker_->hits(); }
  // It failed by a PDU for the one of two machines with one XPU id at the other, whose PSNs it fits
  // by chance: no field of it tells the two apart.
  bool by_chance() const { return by_chance_; }
  uint64_t frames_lost() const;
  uint64_t updates_lost() const;
  // PFC frames that switches have sent.
  uint64_t pauses_sent() const;
  // Digest of all frames that arrived, with ports and times; TakeDigest has to come before the
  // first turn.
  void TakeDigest();
  uint64_t digest() const;
  uint64_t Sum(Counter counter) const;
  // Sum over the current link ends of hosts and of switches.
  uint64_t Sum(LinkCounter counter) const;

 private:
  SegmentShape ShapeOfSegments() const;
  InstanceParams ParamsOf(const Host& host) const;
  void Boot(Host& host);
  void TearDown(Host& host);
  bool IsForgotten(const Host& dead) const;
  void EndAndBegin();
  void Send(Host& host);
  void EndIgnoring();
  uint32_t ToSendNow(Host& host);
  void SendOne(Host& host);
  uint32_t OtherThan(uint32_t number);
  bool SendOn(Host& host, StreamName stream);
  void SendAnswers(Host& host);
  void GrantCredit(SimNetwork& network);
  bool HasCredit() const;
  std::string VerdictOnCredit() const;
  void NoteTaken(Host& host);
  void NoteMet(Host& host);
  void Receive(Host& host, uint32_t most);
  void TakeAll(Host& host);
  bool OnReceived(Host& host, const ReceivedCommand& got, uint32_t vc);
  void Complete(Host& host);
  void OnGivenUp(Host& host, const Host::Tagged& tagged, uint8_t status);
  bool MayGiveUp() const;
  bool MayBeUnreachable(const Host& from, const Host& to) const;
  void Note(const char* what, const StreamName& stream, uint32_t sequence);
  void LogEvents(Host& host);
  void DescribeSealing(const Host& host);
  void DescribePeer(const Host& host, uint32_t peer);
  void DropControl();
  void AddDouble();
  void PlayDouble();
  // Whether another machine goes by the XPU id of one of the two, or did so a short time ago.
  bool IsDoubled(uint32_t a, uint32_t b) const;
  void PullCables();
  void SetDark(bool dark);
  void PauseClasses();
  void RequestPauses();
  void Ask(SimPort* port, uint8_t classes, uint16_t quanta);
  void HandOnSecrets();
  void ChangeSettings();
  void Ping();
  Settings RandomSettings();
  void MakeTrouble();
  void Attack();
  void NoteHits(const Host& host);
  // Whether a guess that was right may have spoilt the traffic between the two.
  bool IsSpoilt(uint32_t a, uint32_t b) const;
  void AdvanceTo(Time time);
  Time NextArrival() const;
  bool Disturbed() const;
  bool Finished() const;
  void Idle();
  void RunOut();
  std::string Verdict();
  bool IsAwake(const Host& host) const { return host.alive() && now_ >= host.asleep_until; }
  bool HasCpu(Host& host);
  void Fail(const std::string& what) {
    if (failure_.empty() && !what.empty()) failure_ = what;
  }

  const WorldOptions options_;
  const uint64_t dice_seed_;
  Dice dice_;
  Ledger ledger_;
  Log log_;
  // Ciphers, where hosts seal.
  std::unique_ptr<Crypto> library_;
  UsedNonces used_nonces_;
  std::unique_ptr<CheckedCrypto> crypto_;
  std::vector<std::unique_ptr<SimNetwork>> switches_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::unique_ptr<Host> double_;  // of host 1
  bool by_chance_ = false;
  bool doubled_ = false;          // it has been, and is gone,
  bool healed_ = false;           // and so is its damage, since healed_at_
  Time healed_at_{};
  Time next_learnt_{};            // which of the two the switches take for host 1
  std::unique_ptr<Trouble> trouble_;
  std::unique_ptr<InnerLinks> inner_;
  std::unique_ptr<Spines> spines_;
  std::unique_ptr<Attacker> attacker_;
  bool attack_begun_ = false;
  std::map<std::pair<uint32_t, uint32_t>, Time> spoilt_;  // pairs of hosts, and until when
  Time now_{};
  uint32_t turns_ = 0;
  std::vector<ReceivedCommand> received_;  // scratch of Receive
  uint64_t delivered_bytes_ = 0;
  Time last_delivery_{};
  bool ignores_ = false;  // VC 0
  bool has_credit_ = false;  // at every end of a link, so that clients send
  uint64_t early_waits_ = 0;  // frames that were staged when a link had no credit yet
  uint64_t frames_lost_ = 0;  // until all was delivered
  uint64_t given_up_ = 0;  // commands that completed as unreachable, in doubt or reset
  uint64_t restarts_ = 0;
  uint32_t restarts_left_;
  uint32_t sleeps_left_;
  bool is_dark_ = false;
  Time next_outage_{};
  struct ClassPause {
    SimPort* port;
    uint8_t classes;
    Time until;
  };
  std::vector<ClassPause> class_pauses_;
  std::vector<ClassPause> asked_;  // by PFC frames
  Time next_ask_{};
  Dice ping_dice_;  // its own: all else is the same with and without
  const bool is_pinged_;
  Time next_ping_{};
  uint32_t pings_ = 0;
  Time next_change_{};
  Time next_end_{};  // of a daemon, or sleep
  uint16_t partition_ = 7;
  std::string failure_;
};

}  // namespace suede

#endif  // SUEDE_TESTS_SIM_WORLD_H_
