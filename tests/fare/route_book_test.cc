// SPDX-License-Identifier: Apache-2.0
#include "route_book.h"

#include <gtest/gtest.h>

#include <vector>

namespace suede::fare {
namespace {

std::string NameOf(uint32_t index) { return index == 9 ? "" : "if" + std::to_string(index); }

KernelHop Hop(uint32_t interface, uint32_t share, const char* gateway) {
  return {.interface = interface, .share = share, .gateway = gateway};
}

const std::vector<KernelHop> kTwo = {Hop(1, 66, "10.0.0.2"), Hop(2, 33, "10.1.0.2")};

TEST(RouteBook, TheKernelsSharesAreTakenAsTheyAre) {
  RouteBook book(1, false, NameOf);
  EXPECT_TRUE(book.OnKernel(0, {})) << "the first is news";
  EXPECT_TRUE(book.OnKernel(0, kTwo));
  EXPECT_FALSE(book.OnKernel(0, kTwo)) << "and the same is none";
  EXPECT_FALSE(book.HasQuestions());
  EXPECT_EQ(book.measure(), Measure::kShare);
  const auto hops = book.HopsOf(0);
  ASSERT_EQ(hops.size(), 2u);
  EXPECT_EQ(hops[1].interface, "if2");
  EXPECT_EQ(hops[1].share, 33u);
}

TEST(RouteBook, NextHopsThatBgpdWasNotAskedAboutAreLeftOut) {
  RouteBook book(2, true, NameOf);
  book.OnKernel(1, kTwo);
  EXPECT_TRUE(book.IsUnknown(1));
  EXPECT_FALSE(book.IsUnknown(0)) << "it has no route";
  EXPECT_EQ(book.TakeQuestions(10), (std::vector<uint32_t>{1}));
  EXPECT_FALSE(book.HasQuestions());
  book.OnBgp(1, {{"10.0.0.2", 8000.0}, {"10.1.0.2", 4000.0}});
  EXPECT_FALSE(book.IsUnknown(1));
  EXPECT_EQ(book.HopsOf(1)[1].mbps, 4000.0);
  // One goes: that is known at once.
  book.OnKernel(1, {kTwo[1]});
  ASSERT_EQ(book.HopsOf(1).size(), 1u);
  EXPECT_EQ(book.HopsOf(1)[0].interface, "if2");
  EXPECT_TRUE(book.HasQuestions()) << "its bandwidth may have changed too";
  // Another one comes: that is known when bgpd has said how much it has.
  book.OnKernel(1, {kTwo[1], Hop(3, 50, "10.2.0.2")});
  EXPECT_EQ(book.HopsOf(1).size(), 1u);
  book.TakeQuestions(10);
  book.OnBgp(1, {{"10.1.0.2", 4000.0}});
  ASSERT_EQ(book.HopsOf(1).size(), 2u);
  EXPECT_EQ(book.HopsOf(1)[1].mbps, std::nullopt) << "bgpd does not know it";
}

TEST(RouteBook, BgpdIsAskedOnceAboutAPeerThatHasNoRoute) {
  RouteBook book(1, true, NameOf);
  book.OnKernel(0, {});
  EXPECT_EQ(book.TakeQuestions(10), (std::vector<uint32_t>{0})) << "it may be why there is none";
  book.AskAgain({0});
  EXPECT_FALSE(book.HasQuestions()) << "that it does not answer is known then";
  book.OnKernel(0, kTwo);
  EXPECT_TRUE(book.HasQuestions());
  book.TakeQuestions(10);
  book.OnKernel(0, {});
  EXPECT_FALSE(book.HasQuestions());
}

TEST(RouteBook, ANextHopThatComesDuringAQuestionWaitsForTheNext) {
  RouteBook book(1, true, NameOf);
  book.OnKernel(0, {kTwo[0]});
  book.TakeQuestions(10);
  // The kernel learns of the second next hop after vtysh has begun.
  book.OnKernel(0, kTwo);
  book.OnBgp(0, {{"10.0.0.2", 8000.0}});
  ASSERT_EQ(book.HopsOf(0).size(), 1u) << "bgpd was not asked about the other one";
  EXPECT_EQ(book.HopsOf(0)[0].mbps, 8000.0);
  EXPECT_EQ(book.TakeQuestions(10), (std::vector<uint32_t>{0}));
  book.OnBgp(0, {{"10.0.0.2", 8000.0}, {"10.1.0.2", 4000.0}});
  ASSERT_EQ(book.HopsOf(0).size(), 2u);
  EXPECT_EQ(book.HopsOf(0)[1].mbps, 4000.0);
}

TEST(RouteBook, AllNextHopsThatComeDuringTheFirstQuestionWait) {
  RouteBook book(1, true, NameOf);
  book.OnKernel(0, {});
  book.TakeQuestions(10);
  book.OnKernel(0, kTwo);
  book.OnBgp(0, {});
  EXPECT_TRUE(book.IsUnknown(0));
  EXPECT_TRUE(book.HasQuestions());
}

TEST(RouteBook, ANextHopThatGoesAndComesDuringAQuestionKeepsItsBandwidth) {
  RouteBook book(1, true, NameOf);
  book.OnKernel(0, kTwo);
  book.TakeQuestions(10);
  book.OnBgp(0, {{"10.0.0.2", 8000.0}, {"10.1.0.2", 4000.0}});
  book.OnKernel(0, {kTwo[0]});
  book.TakeQuestions(10);
  book.OnKernel(0, kTwo);
  book.OnBgp(0, {{"10.0.0.2", 6000.0}});  // bgpd answered while it was away
  ASSERT_EQ(book.HopsOf(0).size(), 2u);
  EXPECT_EQ(book.HopsOf(0)[0].mbps, 6000.0) << "news is taken";
  EXPECT_EQ(book.HopsOf(0)[1].mbps, 4000.0);
  EXPECT_TRUE(book.HasQuestions());
}

TEST(RouteBook, ANextHopWithoutABandwidthThatComesBackIsAskedAboutAgain) {
  RouteBook book(1, true, NameOf);
  book.OnKernel(0, kTwo);
  book.TakeQuestions(10);
  book.OnBgp(0, {{"10.0.0.2", 8000.0}});
  EXPECT_EQ(book.HopsOf(0).size(), 2u) << "bgpd does not know the other one";
  book.OnKernel(0, {kTwo[0]});
  book.OnKernel(0, kTwo);
  EXPECT_EQ(book.HopsOf(0).size(), 1u);
  book.TakeQuestions(10);
  book.AskAgain({0});
  EXPECT_EQ(book.HopsOf(0).size(), 1u) << "no answer says nothing";
}

TEST(RouteBook, UnnumberedNeighboursAreFoundByTheirInterface) {
  RouteBook book(1, true, NameOf);
  book.OnKernel(0, {Hop(1, 1, "169.254.0.1")});
  book.OnBgp(0, {{"fe80::1", 8000.0}, {"%if1", 8000.0}});
  EXPECT_EQ(book.HopsOf(0)[0].mbps, 8000.0);
}

TEST(RouteBook, QuestionsAreBoundedAndRepeated) {
  RouteBook book(5, true, NameOf);
  for (uint32_t peer = 0; peer < 5; ++peer) book.OnKernel(peer, kTwo);
  EXPECT_EQ(book.TakeQuestions(3), (std::vector<uint32_t>{0, 1, 2}));
  book.AskAgain({0, 1, 2});
  EXPECT_EQ(book.TakeQuestions(10).size(), 5u);
  book.OnKernel(3, {});
  book.AskAgain({3});
  EXPECT_FALSE(book.HasQuestions()) << "nothing is left to ask about";
}

TEST(RouteBook, AnInterfaceThatHasAnotherNameIsNews) {
  std::string name = "a";
  RouteBook book(1, false, [&](uint32_t) { return name; });
  book.OnKernel(0, kTwo);
  EXPECT_FALSE(book.OnKernel(0, kTwo));
  name = "b";
  EXPECT_TRUE(book.OnKernel(0, kTwo));
}

}  // namespace
}  // namespace suede::fare
