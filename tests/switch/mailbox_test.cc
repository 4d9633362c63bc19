// SPDX-License-Identifier: Apache-2.0
// Requests to the switching lcore: each is answered, by a bounded part per poll iteration.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "switch/switch_mailbox.h"
#include "switching_thread.h"

namespace suede {
namespace {

using fabric::At;
using fabric::Fabric;
using fabric::ForwardingTable;
using fabric::ParamsOf;
using fabric::SueFrame;
using fabric::Switch;
using Ticket = std::shared_ptr<const SwitchTicket>;

// The iterations that a request takes.
int TurnsOf(SwitchMailbox& mailbox, Switch& the_switch, const Ticket& ticket, Time now = At(1)) {
  int turns = 0;
  while (!ticket->done()) {
    the_switch.Poll(now);
    EXPECT_TRUE(mailbox.Serve(the_switch, now));
    ++turns;
  }
  return turns;
}

TEST(SwitchMailbox, TellsTheStateOfAllQueuesTwoPortsAtATime) {
  Fabric fabric(ParamsOf(5));
  fabric.In(0, SueFrame{.from = 1, .to = 2, .traffic_class = {.dscp = 24}}, At(1));
  SwitchMailbox mailbox;
  EXPECT_FALSE(mailbox.Serve(fabric.the_switch, At(1)));
  const Ticket ticket = mailbox.Ask(switch_request::State(5));
  EXPECT_EQ(TurnsOf(mailbox, fabric.the_switch, ticket), 3);
  const auto& state = ticket->answer<switch_request::State>();
  // Flooded: to each port but the first.
  EXPECT_EQ(state.queues[3].frames, 0u);
  for (uint32_t port = 1; port < 5; ++port) {
    EXPECT_EQ(state.queues[port * fabric::kClasses + 3].frames, 1u);
    EXPECT_EQ(state.queues[port * fabric::kClasses + 3].bytes, 256u);
    EXPECT_EQ(state.queues[port * fabric::kClasses + 3].most_bytes, 256u);
  }
  EXPECT_EQ(state.used_bytes, 4 * 256u);
  EXPECT_EQ(state.most_used_bytes, 4 * 256u);
  EXPECT_EQ(mailbox.answered(), 1u);
  for (uint32_t port = 1; port < 5; ++port) fabric.Out(port, At(2));
  const Ticket reset = mailbox.Ask(switch_request::ResetHighWater{});
  EXPECT_EQ(TurnsOf(mailbox, fabric.the_switch, reset), 1);
  const Ticket after = mailbox.Ask(switch_request::State(5));
  TurnsOf(mailbox, fabric.the_switch, after);
  EXPECT_EQ(after->answer<switch_request::State>().most_used_bytes, 0u);
  EXPECT_EQ(after->answer<switch_request::State>().queues[fabric::kClasses + 3].most_bytes, 0u);
}

TEST(SwitchMailbox, TellsPausesAndStorms) {
  fabric::SwitchParams params = ParamsOf(2);
  params.ports[1].pfc = {.on = true, .storm = std::chrono::milliseconds(1)};
  params.ports[1].rate_bps = 10'000'000'000;
  Fabric fabric(params);
  fabric.the_switch.table().AddStatic(ForwardingTable::MacKey(fabric::MacNumber(2), 0), 1);
  std::vector<uint8_t> pfc(fabric::PfcFrame::kBytes);
  fabric::PfcFrame pause{.classes = 8};
  pause.quanta[3] = 0xffff;  // 3.3 ms
  fabric::EncodePfc(pause, {2, 0, 0, 0, 0, 9}, pfc.data());
  fabric.In(1, pfc, At(10));
  fabric.In(0, SueFrame{.from = 1, .to = 2, .traffic_class = {.dscp = 24}}, At(10));
  fabric.Out(1, At(11));
  SwitchMailbox mailbox;
  Ticket ticket = mailbox.Ask(switch_request::State(2));
  TurnsOf(mailbox, fabric.the_switch, ticket, At(20));
  const auto* queue = &ticket->answer<switch_request::State>().queues[fabric::kClasses + 3];
  EXPECT_TRUE(queue->paused);
  EXPECT_FALSE(queue->stormy);
  EXPECT_EQ(queue->paused_ns, 10'000);
  fabric.Out(1, At(2000));
  ticket = mailbox.Ask(switch_request::State(2));
  TurnsOf(mailbox, fabric.the_switch, ticket, At(2001));
  EXPECT_TRUE(ticket->answer<switch_request::State>().queues[fabric::kClasses + 3].stormy);
}

TEST(SwitchMailbox, TheTableComesInPages) {
  Fabric fabric(ParamsOf(2));
  for (uint32_t i = 1; i <= 100; ++i) {
    ASSERT_TRUE(fabric.the_switch.table().AddStatic(ForwardingTable::MacKey(i, 0), i % 2));
  }
  SwitchMailbox mailbox;
  std::vector<bool> seen(101);
  uint64_t from = 0;
  int pages = 0;
  for (bool end = false; !end; ++pages) {
    switch_request::Addresses page(from, 16);
    page.port = 1;
    const Ticket ticket = mailbox.Ask(page);
    TurnsOf(mailbox, fabric.the_switch, ticket);
    const auto& answer = ticket->answer<switch_request::Addresses>();
    for (uint32_t i = 0; i < answer.count; ++i) {
      EXPECT_FALSE(seen[answer.rows[i].key.low]);
      seen[answer.rows[i].key.low] = true;
    }
    from = answer.next;
    end = answer.at_end;
  }
  EXPECT_GE(pages, 4);
  for (uint32_t i = 1; i <= 100; ++i) EXPECT_EQ(seen[i], i % 2 == 1) << i;
}

TEST(SwitchMailbox, AFlushForgetsWhatWasLearntOnAPortAndNothingElse) {
  Fabric fabric(ParamsOf(3));
  fabric.the_switch.table().AddStatic(ForwardingTable::MacKey(fabric::MacNumber(900), 0), 0);
  for (uint32_t i = 1; i <= 200; ++i) {
    fabric.In(i % 2, SueFrame{.from = i, .to = 900}, At(1));
    for (uint32_t port = 0; port < 3; ++port) fabric.Out(port, At(1));
  }
  ASSERT_EQ(fabric.the_switch.table().learnt_on(1), 100u);
  SwitchMailbox mailbox;
  const Ticket ticket = mailbox.Ask(switch_request::Flush{.ports = 2});
  TurnsOf(mailbox, fabric.the_switch, ticket);
  EXPECT_EQ(fabric.the_switch.table().learnt_on(1), 0u);
  EXPECT_EQ(fabric.the_switch.table().learnt_on(0), 100u);
  EXPECT_EQ(fabric.the_switch.table().size(), 101u);
}

TEST(SwitchMailbox, AnImpairmentIsExchanged) {
  Fabric fabric(ParamsOf(2));
  SwitchMailbox mailbox;
  switch_request::Impair request;
  for (uint16_t i = 0; i < 5; ++i) {
    request.parts.push_back({.port = static_cast<uint16_t>(i % 2), .out = i > 1, .params = {}});
    request.parts.back().params.loss = i + 1u;
  }
  const Ticket ticket = mailbox.Ask(request);
  EXPECT_EQ(TurnsOf(mailbox, fabric.the_switch, ticket), 2);
  EXPECT_EQ(fabric.the_switch.port(0).in().params().loss, 1u);
  EXPECT_EQ(fabric.the_switch.port(1).in().params().loss, 2u);
  EXPECT_EQ(fabric.the_switch.port(1).out().params().loss, 4u);
  EXPECT_EQ(fabric.the_switch.port(0).out().params().loss, 5u);
}

TEST(SwitchMailbox, TakesAsManyAsMayWait) {
  Fabric fabric(ParamsOf(2));
  SwitchMailbox mailbox;
  std::vector<Ticket> tickets;
  while (Ticket ticket = mailbox.Ask(switch_request::ResetHighWater{})) {
    tickets.push_back(std::move(ticket));
  }
  EXPECT_EQ(tickets.size(), SwitchMailbox::kMaxWaiting);
  tickets.clear();  // nobody waits for them any more
  EXPECT_TRUE(mailbox.Serve(fabric.the_switch, At(1)));
  EXPECT_NE(mailbox.Ask(switch_request::ResetHighWater{}), nullptr);
  EXPECT_EQ(mailbox.Ask(switch_request::ResetHighWater{}), nullptr);
}

// However many are asked, an iteration answers one at most, and frames go on.
TEST(SwitchMailbox, AFloodOfRequestsCostsABoundedPartOfEachIteration) {
  SwitchingThread thread(ParamsOf(2));
  thread.Start();
  uint64_t asked = 0;
  std::vector<Ticket> last;
  while (asked < 600) {
    Ticket ticket;
    switch (asked % 4) {
      case 0:
        ticket = thread.mailbox.Ask(switch_request::State(2));
        break;
      case 1:
        ticket = thread.mailbox.Ask(switch_request::Addresses(0, 100));
        break;
      case 2:
        ticket = thread.mailbox.Ask(switch_request::Impair{
            .parts = {{.port = 0, .out = false, .params = {.loss = uint32_t(asked % 2) << 20}}}});
        break;
      default:
        ticket = thread.mailbox.Ask(switch_request::ResetHighWater{});
        break;
    }
    if (ticket == nullptr) {
      std::this_thread::yield();
      continue;
    }
    ++asked;
    if (asked > 590) last.push_back(std::move(ticket));
  }
  for (const Ticket& ticket : last) {
    while (!ticket->done()) std::this_thread::yield();
  }
  thread.Stop();
  EXPECT_EQ(thread.mailbox.answered(), asked);
  EXPECT_FALSE(thread.many_at_once);
  EXPECT_GE(thread.turns.load(), asked);
  EXPECT_GT(thread.the_switch().port(1).counters().Get(SwitchPortCounter::kTxFrames), asked / 2);
}

}  // namespace
}  // namespace suede
