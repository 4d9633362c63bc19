// SPDX-License-Identifier: Apache-2.0
// The work of a world's clients: they send, receive and take completions, and hold each against the
// books.
#include <algorithm>
#include <cstring>

#include "world.h"

namespace suede {
namespace {

constexpr Duration kFirstExchange = std::chrono::milliseconds(20);
constexpr uint32_t kMaxOwed = 4;  // answers, before a client takes no more requests

}  // namespace

void World::Note(const char* what, const StreamName& stream, uint32_t sequence) {
  if (!options_.verbose) return;
  log_.Add(now_, "%u.%u>%u.%u #%u %s (life %u)", stream.source, stream.queue, stream.destination,
           stream.vc, sequence, what, stream.life);
}

// The number of commands that the client wants to send in this turn.
uint32_t World::ToSendNow(Host& host) {
  const auto batch = static_cast<uint32_t>(dice_.Below(options_.max_sent + 1));
  if (options_.burst == 0) return std::min(batch, host.to_send);
  for (; now_ >= host.next_burst; host.next_burst += dice_.Up(2 * options_.burst_gap)) {
    host.burst += static_cast<uint32_t>(1 + dice_.Below(options_.burst));
  }
  host.burst = std::min(host.burst, host.to_send);
  const uint32_t now = std::min(batch, host.burst);
  host.burst -= now;
  return now;
}

// Answers go before requests; where one finds no room, the client takes no requests.
void World::SendAnswers(Host& host) {
  for (; !host.owes.empty(); host.owes.pop_front()) {
    ++host.to_send;
    const bool sent = SendOn(host, {.source = host.number,
                                    .life = host.life(),
                                    .queue = 0,
                                    .destination = host.owes.front(),
                                    .vc = 1});
    if (sent) continue;
    --host.to_send;
    return;
  }
}

void World::Send(Host& host) {
  if (options_.responds) SendAnswers(host);
  for (uint32_t left = ToSendNow(host); left != 0; --left) SendOne(host);
}

// A host that is neither this one nor host 0.
uint32_t World::OtherThan(uint32_t number) {
  const auto hosts = static_cast<uint32_t>(hosts_.size());
  uint32_t other = 1 + static_cast<uint32_t>(dice_.Below(hosts - 1));
  if (other == number) other = 1 + other % (hosts - 1);
  return other;
}

void World::SendOne(Host& host) {
  StreamName stream{.source = host.number, .life = host.life()};
  stream.queue = static_cast<uint32_t>(dice_.Below(options_.queues));
  stream.destination = static_cast<uint32_t>(dice_.Below(hosts_.size() - 1));
  if (stream.destination >= host.number) ++stream.destination;
  if (options_.send_to != ~0u) stream.destination = options_.send_to;
  if (options_.shift != 0) {
    stream.destination = (host.number + options_.shift) % static_cast<uint32_t>(hosts_.size());
  }
  stream.vc = static_cast<uint32_t>(dice_.Below(kVcCount));
  if (options_.responds) stream.vc = 0;
  if (options_.credit.overloads_vc0) {
    stream.vc = host.number != 0 && dice_.Chance(0.7) ? 0 : 1 + stream.vc % 3;
    stream.destination = stream.vc == 0 ? 0 : OtherThan(host.number);
  }
  SendOn(host, stream);
}

// False: it is not sent.
bool World::SendOn(Host& host, StreamName stream) {
  const uint32_t sequence = ledger_.NextOf(stream);
  const Content content(stream, sequence, options_.fixed_data_bytes);
  const bool tagged = dice_.Chance(options_.tagged);
  ClientCommand command{.xpuid = static_cast<uint16_t>(stream.destination),
                        .vc = static_cast<uint8_t>(stream.vc),
                        .flags = 0,
                        .tag = host.tags.size(),
                        .control = content.control,
                        .data = content.data};
  if (tagged) command.flags |= SUEDE_RECORD_COMPLETION;
  if (dice_.Chance(options_.transmit_now)) command.flags |= SUEDE_RECORD_TRANSMIT_NOW;
  const SendResult result = host.queues[stream.queue].Send(command);
  // Again later: no credit, or an operator has taken all planes out of service.
  if (result == SendResult::kWouldBlock || result == SendResult::kInReset) return false;
  if (result != SendResult::kOk) {
    Fail("Send refused a good command");
    return false;
  }
  if (tagged) {
    host.tags.push_back({.stream = stream,
                         .sequence = sequence,
                         .known_life = host.known_lives[stream.destination],
                         .completed = false});
  }
  Note("sent", stream, sequence);
  ledger_.OnSent(stream);
  --host.to_send;
  host.queues[stream.queue].Flush();
  host.in_ring[stream.queue].push_back(
      {.stream = stream, .sequence = sequence, .end = host.SentUpTo(stream.queue)});
  return true;
}

// Notes which commands the daemon has taken in this turn.
void World::NoteTaken(Host& host) {
  for (uint32_t queue = 0; queue < host.in_ring.size(); ++queue) {
    std::deque<Host::InRing>& waiting = host.in_ring[queue];
    const uint32_t taken = host.TakenUpTo(queue);
    while (!waiting.empty() && static_cast<int32_t>(taken - waiting.front().end) >= 0) {
      ledger_.OnTaken(waiting.front().stream, waiting.front().sequence, turns_);
      waiting.pop_front();
    }
  }
}

void World::Receive(Host& host, uint32_t max) {
  if (!host.claimed) {
    if (now_ - Time{} < options_.claim_after) return;
    host.Claim(ignores_ && options_.ignored_unclaimed ? 0xe : 0xf);
  }
  if (dice_.Chance(options_.slow_receiver)) return;
  received_.resize(std::max<size_t>(received_.size(), max));
  for (uint32_t vc = ignores_ ? 1 : 0; vc < kVcCount; ++vc) {
    uint32_t wanted = max;
    if (options_.responds && vc == 0) {
      wanted = std::min(wanted, kMaxOwed - static_cast<uint32_t>(host.owes.size()));
    }
    const uint32_t count = host.receivers[vc].Poll(received_.data(), wanted);
    if (count != 0) last_delivery_ = now_;
    for (uint32_t i = 0; i < count; ++i) {
      if (!OnReceived(host, received_[i], vc)) return;
    }
    host.receivers[vc].Release();
  }
}

// Notes which lives of others the host's daemon has an association with after this turn. PDUs that
// it had accepted of former ones lie in the rings, or wait for their client: they were in time.
void World::NoteMet(Host& host) {
  if (restarts_ == 0) return;
  const Instance& instance = host.pipeline().instance(0);
  for (const auto& other : hosts_) {
    if (other->number == host.number || !other->alive()) continue;
    if (host.met_lives[other->number] >= other->life()) continue;
    const auto there = other->pipeline().instance(0).peers.OfXpu(host.number);
    const Handshake& own = instance.peers[instance.peers.OfXpu(other->number)].handshake();
    const uint64_t identity =
        other->pipeline().instance(0).peers[there].handshake().identities().own;
    if (!own.associated() || own.identities().peer != identity) continue;
    TakeAll(host);
    const auto& kept = instance.rx.unclaimed_count;
    if (std::any_of(kept.begin(), kept.end(), [](uint32_t count) { return count != 0; })) continue;
    host.met_lives[other->number] = other->life();
  }
}

// Takes everything that lies in the rings.
void World::TakeAll(Host& host) {
  if (!host.claimed) return;
  const auto has_work = [&] {
    return std::any_of(host.receivers.begin(), host.receivers.end(),
                       [](const ClientReceiver& receiver) { return receiver.HasWork(); });
  };
  while (failure_.empty() && has_work()) Receive(host, 64);
}

bool World::OnReceived(Host& host, const ReceivedCommand& got, uint32_t vc) {
  const StreamName stream{.source = got.source_xpuid,
                          .life = Content::LifeOf(got.control),
                          .queue = Content::QueueOf(got.control),
                          .destination = host.number,
                          .vc = vc};
  if (stream.queue == Attacker::kForged && stream.source < hosts_.size()) {
    if (!IsSpoilt(stream.source, host.number) && !IsDoubled(stream.source, host.number)) {
      Fail("a forged command was delivered");
    }
    return failure_.empty();
  }
  if (stream.source >= hosts_.size() || stream.queue >= options_.queues || got.vc != vc ||
      got.own_xpuid != host.number) {
    Fail("a command came with a wrong source, queue, VC or destination");
    return false;
  }
  Host& source = *hosts_[stream.source];
  // A frame of a former life whose PSN is right by chance is delivered, whether its commands had
  // arrived in that life or not.
  if (stream.life < source.life() && IsSpoilt(stream.source, host.number)) return true;
  if (stream.life < host.met_lives[stream.source]) {
    Fail("a command came from a former life of its sender");
    return false;
  }
  const uint32_t sequence = Content::SequenceOf(got.control);
  Note("arrived", stream, sequence);
  const std::string wrong = ledger_.OnDelivered(stream, sequence);
  by_chance_ |= !wrong.empty() && IsDoubled(stream.source, host.number);
  Fail(wrong);
  const Content want(stream, sequence, options_.fixed_data_bytes);
  if (got.control_bytes != want.control_bytes || got.data_bytes != want.data_bytes ||
      std::memcmp(got.control, want.control, want.control_bytes) != 0 ||
      (want.data_bytes != 0 && std::memcmp(got.data, want.data, want.data_bytes) != 0)) {
    Fail("a command is damaged");
  }
  if (options_.responds && vc == 0) host.owes.push_back(stream.source);
  delivered_bytes_ += got.data_bytes;
  if (source.alive() && stream.life == source.life()) {
    source.known_lives[host.number] = host.life();
  }
  return failure_.empty();
}

void World::Complete(Host& host) {
  for (ClientQueue& queue : host.queues) {
    suede_completion completions[16];
    const uint32_t count = queue.PollCompletions(completions, 16);
    for (uint32_t i = 0; i < count; ++i) {
      const suede_completion& c = completions[i];
      if (c.tag >= host.tags.size() || host.tags[c.tag].completed) {
        return Fail("a tag was completed that is not outstanding");
      }
      Host::Tagged& tagged = host.tags[c.tag];
      tagged.completed = true;
      ++host.completions;
      if (c.status == SUEDE_STATUS_OK) {
        Note("acknowledged", tagged.stream, tagged.sequence);
        ledger_.OnAcknowledged(tagged.stream, tagged.sequence,
                               IsSpoilt(host.number, tagged.stream.destination));
      } else {
        OnGivenUp(host, tagged, c.status);
      }
    }
  }
}

void World::OnGivenUp(Host& host, const Host::Tagged& tagged, uint8_t status) {
  Host& to = *hosts_[tagged.stream.destination];
  const auto because = [&](const char* what) {
    Fail("a command of host " + std::to_string(host.number) + " to host " +
         std::to_string(to.number) + what);
  };
  const bool unreachable = status == SUEDE_STATUS_UNREACHABLE;
  const bool in_doubt = status == SUEDE_STATUS_IN_DOUBT;
  // A host that has not spoken to host 1 since the other one has gone learns of it when it does,
  // and a host that has given it up finds it again.
  const bool learns = (status == SUEDE_STATUS_PEER_RESET || status == SUEDE_STATUS_UNREACHABLE) &&
                      now_ < healed_at_ + kFirstExchange &&
                      (host.number == 1 || to.number == 1);
  const bool doubled = IsDoubled(host.number, to.number) || (healed_ && learns);
  if (IsSpoilt(host.number, to.number) || doubled) {
    // With any status.
  } else if (unreachable || in_doubt) {
    if (!MayBeUnreachable(host, to)) because(" is unreachable without a reason");
  } else if (status != SUEDE_STATUS_PEER_RESET) {
    because((" ended with status " + std::to_string(status)).c_str());
  } else if (to.life() <= tagged.known_life) {
    because(" ended as if there had been a restart");
  }
  ++given_up_;
  // A command in the ring has arrived, whether the client has looked or not.
  if (to.alive()) TakeAll(to);
  if (to.number == 1 && double_ != nullptr) TakeAll(*double_);
  Note(unreachable ? "unreachable" : in_doubt ? "in doubt" : "reset", tagged.stream,
       tagged.sequence);
  Fail(ledger_.OnGivenUp(tagged.stream, tagged.sequence,
                         unreachable           ? Ledger::End::kNever
                         : in_doubt || doubled ? Ledger::End::kInDoubt
                                               : Ledger::End::kOver));
}

}  // namespace suede
