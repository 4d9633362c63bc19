// SPDX-License-Identifier: Apache-2.0
#include "perf/options.h"

#include <gtest/gtest.h>

#include <functional>

#include "perf/short_flags.h"
#include "suede/load.h"

namespace suede::perf {
namespace {

TEST(ParseNumbersTest, NumbersAndRanges) {
  EXPECT_EQ(*ParseNumbers("3", 10), (std::vector<uint32_t>{3}));
  EXPECT_EQ(*ParseNumbers("0,7-9, 2", 10), (std::vector<uint32_t>{0, 7, 8, 9, 2}));
  EXPECT_TRUE(ParseNumbers("", 10)->empty());
  EXPECT_EQ(ParseNumbers("1-1023", 1024)->size(), 1023u);
}

TEST(ParseNumbersTest, MistakesAreNamed) {
  for (const char* text : {"x", "1-", "-1", "5-3", "1-2-3", "4294967296"}) {
    EXPECT_FALSE(ParseNumbers(text, 10).ok()) << text;
  }
  EXPECT_NE(ParseNumbers("10", 10).status().message().find("at most 9"), std::string::npos);
  EXPECT_NE(ParseNumbers("1-4,3", 10).status().message().find("3 is named twice"),
            std::string::npos);
}

TEST(ParseSizesTest, SweepAndLists) {
  EXPECT_EQ(*ParseSizes("sweep"), (std::vector<uint32_t>{1, 2, 4, 8, 16, 32, 64, 128, 256}));
  EXPECT_EQ(*ParseSizes("0,256"), (std::vector<uint32_t>{0, 256}));
  EXPECT_FALSE(ParseSizes("257").ok());
  EXPECT_FALSE(ParseSizes("").ok());
}

TEST(ParseInflightsTest, SweepAndLists) {
  EXPECT_EQ(*ParseInflights("sweep"), (std::vector<uint32_t>{1, 2, 4, 8, 16, 32, 64, 128, 256}));
  EXPECT_EQ(*ParseInflights("1,16"), (std::vector<uint32_t>{1, 16}));
  for (const char* text : {"", "0", "1,0", "65537", "x"}) {
    EXPECT_FALSE(ParseInflights(text).ok()) << text;
  }
}

using Words = std::vector<std::string>;

absl::StatusOr<Words> Long(const std::vector<const char*>& words) { return WithLongFlags(words); }

TEST(ShortFlagsTest, StandForLongOnes) {
  EXPECT_EQ(*Long({"-s", "64", "-n100", "-D=2", "-b", "-a", "--wide", "-wide"}),
            (Words{"--size", "64", "--count=100", "--duration=2", "--bidirectional",
                   "--sizes=sweep", "--wide", "-wide"}));
  EXPECT_EQ(*Long({"-d", "a", "--interval", "-1", "--", "-l", "1"}),
            (Words{"--endpoint", "a", "--interval", "-1", "--", "-l", "1"}));
  EXPECT_EQ(LetterOf("size"), 's');
  EXPECT_EQ(LetterOf("sizes"), 0);
  for (const auto& words : {std::vector<const char*>{"-x", "3"}, {"-F"}, {"-a4"}, {"-x=1"}}) {
    const auto result = Long(words);
    ASSERT_FALSE(result.ok()) << words[0];
    EXPECT_NE(result.status().message().find(words[0]), std::string::npos);
  }
}

class ValidateTest : public ::testing::Test {
 protected:
  ValidateTest() { options_.destinations = {2}; }
  // The flag that the message names, or "ok".
  std::string Blames() const {
    const absl::Status status = Validate(options_);
    if (status.ok()) return "ok";
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    const std::string text(status.message());
    return text.substr(0, text.find_first_of(": ", 2));
  }
  Options options_;
};

TEST(ParseSizesTest, OfMemoryOperations) {
  const auto sweep = *ParseSizes("sweep", Mode::kPut);
  EXPECT_EQ(sweep.front(), 8u);
  EXPECT_EQ(sweep.back(), 4u << 20);
  EXPECT_EQ(sweep.size(), 20u);
  EXPECT_EQ(*ParseSizes("1,1073741824", Mode::kGet), (std::vector<uint32_t>{1, 1u << 30}));
  EXPECT_FALSE(ParseSizes("1073741825", Mode::kGet).ok());
  EXPECT_FALSE(ParseSizes("0", Mode::kPut).ok());
  EXPECT_EQ(*ParseSizes("sweep", Mode::kAtomic), (std::vector<uint32_t>{4, 8}));
  EXPECT_FALSE(ParseSizes("16", Mode::kAtomic).ok());
}

TEST_F(ValidateTest, DefaultsWithADestinationAreGood) { EXPECT_EQ(Blames(), "ok"); }

TEST_F(ValidateTest, MistakesOfMemoryOperations) {
  const auto blames = [&](auto spoil) {
    options_ = Options();
    options_.mode = Mode::kPut;
    options_.destinations = {2};
    spoil(options_);
    return Blames();
  };
  EXPECT_EQ(blames([](Options&) {}), "ok");
  EXPECT_EQ(blames([](Options& o) { o.mode = Mode::kGet; }), "ok");
  EXPECT_EQ(blames([](Options& o) { o.mode = Mode::kAtomic; }), "ok");
  EXPECT_EQ(blames([](Options& o) { o.destinations.clear(); }), "--destinations");
  EXPECT_EQ(blames([](Options& o) { o.queues = 2; }), "--queues,");
  EXPECT_EQ(blames([](Options& o) { o.vcs = {0, 1, 2, 3}; }), "--vcs");
  EXPECT_EQ(blames([](Options& o) { o.rate = 5; }), "--rate");
  EXPECT_EQ(blames([](Options& o) { o.bidirectional = true; }), "--bidirectional");
  EXPECT_EQ(blames([](Options& o) { o.completions = 1; }), "--completions,");
  EXPECT_EQ(blames([](Options& o) { o.inflight = 0; }), "--inflight");
  EXPECT_EQ(blames([](Options& o) { o.inflight = 4097; }), "--inflight");
  EXPECT_EQ(blames([](Options& o) { o.duration_s = 0; }), "--duration");
  const auto server = [&](auto spoil) {
    return blames([&](Options& o) {
      o.mode = Mode::kServer;
      o.destinations.clear();
      o.reaction = Reaction::kMemory;
      o.window_bytes = 4096;
      spoil(o);
    });
  };
  EXPECT_EQ(server([](Options&) {}), "ok");
  EXPECT_EQ(server([](Options& o) { o.window_bytes = 4095; }), "--window");
  EXPECT_EQ(server([](Options& o) { o.queues = 2; }), "--queues,");
  EXPECT_EQ(server([](Options& o) { o.take_rate = 1; }), "--take_rate");
  EXPECT_EQ(server([](Options& o) { o.mode = Mode::kBandwidth; }), "--reaction");
}

TEST_F(ValidateTest, MistakesOfMessages) {
  const auto blames = [&](auto spoil) {
    options_ = Options();
    options_.mode = Mode::kMessage;
    options_.destinations = {2};
    options_.vcs = {2};
    spoil(options_);
    return Blames();
  };
  EXPECT_EQ(blames([](Options& o) { o.pingpong = true; }), "ok");
  EXPECT_EQ(blames([](Options& o) { o.destinations = {2, 3}; }), "--destinations");
  EXPECT_EQ(blames([](Options& o) { o.vcs = {1, 2}; }), "--vcs");
  EXPECT_EQ(blames([](Options& o) { o.inflight = 4097; }), "--inflight");
  EXPECT_EQ(blames([](Options& o) {
              o.mode = Mode::kPut;
              o.pingpong = true;
            }),
            "--pingpong");
  const auto server = [&](auto spoil) {
    return blames([&](Options& o) {
      o.mode = Mode::kServer;
      o.destinations.clear();
      o.reaction = Reaction::kMessage;
      o.window_bytes = 4096;
      spoil(o);
    });
  };
  EXPECT_EQ(server([](Options&) {}), "ok");
  EXPECT_EQ(server([](Options& o) { o.vcs = {1, 2}; }), "--vcs");
  EXPECT_EQ(server([](Options& o) { o.mode = Mode::kBandwidth; }), "--reaction");
  EXPECT_EQ(*ParseSizes("3000000", Mode::kMessage), std::vector<uint32_t>{3000000});
  EXPECT_FALSE(ParseSizes("0", Mode::kMessage).ok());
}

TEST_F(ValidateTest, EachMistakeNamesItsFlag) {
  const auto blames = [&](auto spoil) {
    options_ = Options();
    options_.destinations = {2};
    spoil(options_);
    return Blames();
  };
  EXPECT_EQ(blames([](Options& o) { o.destinations.clear(); }), "--destinations");
  EXPECT_EQ(blames([](Options& o) { o.control_bytes = 7; }), "--control");
  EXPECT_EQ(blames([](Options& o) { o.control_bytes = 20; }), "--control");
  EXPECT_EQ(blames([](Options& o) { o.control_bytes = 4, o.check = true; }), "--control");
  EXPECT_EQ(blames([](Options& o) { o.control_bytes = 4, o.mode = Mode::kLatency; }), "--control");
  EXPECT_EQ(blames([](Options& o) { o.control_bytes = 4, o.queues = 2; }), "--control");
  EXPECT_EQ(blames([](Options& o) { o.vcs.clear(); }), "--vcs");
  EXPECT_EQ(blames([](Options& o) { o.queues = 0; }), "--queues");
  EXPECT_EQ(blames([](Options& o) { o.queues = 17; }), "--queues");
  EXPECT_EQ(blames([](Options& o) { o.cpus = {1, 2}; }), "--cpus");
  EXPECT_EQ(blames([](Options& o) { o.xpuid = 1024; }), "--xpuid");
  EXPECT_EQ(blames([](Options& o) { o.instance = 64; }), "--instance");
  EXPECT_EQ(blames([](Options& o) { o.rate = -1; }), "--rate");
  EXPECT_EQ(blames([](Options& o) { o.duration_s = 0; }), "--duration");
  EXPECT_EQ(blames([](Options& o) { o.queues = 4, o.count = 3; }), "--count");
  EXPECT_EQ(blames([](Options& o) { o.embed = true; }), "--embed");
  const auto hosts = [&](Mode mode) {
    return blames([mode](Options& o) {
      o.embed = true, o.config = "x", o.mode = mode;
      if (mode == Mode::kServer) o.reaction = Reaction::kMemory;
    });
  };
  EXPECT_EQ(hosts(Mode::kPut), "ok");
  EXPECT_EQ(hosts(Mode::kMessage), "--mode");
  EXPECT_EQ(hosts(Mode::kServer), "--reaction");
  EXPECT_EQ(blames([](Options& o) { o.config = "x"; }), "--config");
  EXPECT_EQ(blames([](Options& o) { o.eal = {"-m", "1"}; }), "EAL");
  EXPECT_EQ(blames([](Options& o) { o.max_p99_us = 1; }), "--max_p99_us");
  EXPECT_EQ(blames([](Options& o) { o.mode = Mode::kLatency, o.inflight = 0; }), "--inflight");
  EXPECT_EQ(blames([](Options& o) { o.mode = Mode::kServer, o.bidirectional = true; }),
            "--bidirectional");
  EXPECT_EQ(blames([](Options& o) { o.mode = Mode::kServer; }), "--destinations");
  EXPECT_EQ(blames([](Options& o) { o.mode = Mode::kServer, o.destinations.clear(); }), "ok");
  EXPECT_EQ(blames([](Options& o) { o.take_rate = 1; }), "--take_rate");
  EXPECT_EQ(blames([](Options& o) { o.mode = Mode::kServer, o.take_rate = -1; }), "--take_rate");
  EXPECT_EQ(blames([](Options& o) { o.interval_json = "x", o.log_interval_s = 0; }),
            "--interval_json");
  EXPECT_EQ(blames([](Options& o) { o.cacheline_cpus = {1}; }), "--cacheline_probe");
}

TEST_F(ValidateTest, InstancesAndBalanceGoTogether) {
  const auto blames = [&](auto spoil) {
    options_ = Options();
    options_.destinations = {2};
    options_.xpuid = 1;
    options_.instances = {0, 1};
    options_.balance = SUEDE_BALANCE_HASH;
    spoil(options_);
    return Blames();
  };
  EXPECT_EQ(blames([](Options&) {}), "ok");
  EXPECT_EQ(blames([](Options& o) { o.mode = Mode::kLatency; }), "ok");
  EXPECT_EQ(blames([](Options& o) { o.cpus = {1}; }), "ok");
  EXPECT_EQ(blames([](Options& o) { o.balance = 0; }), "--instances");
  EXPECT_EQ(blames([](Options& o) { o.instances.clear(); }), "--balance");
  EXPECT_EQ(blames([](Options& o) { o.xpuid = -1; }), "--instances");
  EXPECT_EQ(blames([](Options& o) { o.queues = 2; }), "--instances");
  EXPECT_EQ(blames([](Options& o) { o.instances.resize(17); }), "--instances");
  EXPECT_EQ(blames([](Options& o) { o.embed = true, o.config = "x"; }), "--instances");
  EXPECT_EQ(blames([](Options& o) { o.control_bytes = 4; }), "--control");
  EXPECT_EQ(blames([](Options& o) { o.mode = Mode::kServer; }), "--balance");
  const auto server = [&](std::vector<uint32_t> cpus) {
    return blames([&](Options& o) {
      o.mode = Mode::kServer;
      o.destinations.clear();
      o.balance = 0;
      o.cpus = std::move(cpus);
    });
  };
  EXPECT_EQ(server({}), "ok");
  EXPECT_EQ(server({2, 3}), "ok");
  EXPECT_EQ(server({2}), "--cpus");
}

TEST_F(ValidateTest, OutputsFitTheRuns) {
  const auto blames = [&](auto spoil) {
    options_ = Options();
    options_.destinations = {2};
    options_.mode = Mode::kLatency;
    options_.max_samples = 1000;
    spoil(options_);
    return Blames();
  };
  const auto all = [](Options& o) {
    o.histogram = true, o.histogram_csv = "h", o.samples = "s", o.csv = "-", o.json = "j";
  };
  EXPECT_EQ(blames(all), "ok");
  EXPECT_EQ(blames([&](Options& o) { all(o), o.mode = Mode::kBandwidth; }), "--histogram,");
  EXPECT_EQ(blames([&](Options& o) { all(o), o.mode = Mode::kBandwidth, o.completions = 1; }),
            "ok");
  EXPECT_EQ(blames([&](Options& o) { all(o), o.brief = true; }), "--brief");
  EXPECT_EQ(blames([&](Options& o) { all(o), o.max_samples = 0; }), "--max_samples");
  EXPECT_EQ(blames([&](Options& o) { all(o), o.json = "-"; }), "--json,");
  EXPECT_EQ(
      blames([&](Options& o) { o.mode = Mode::kServer, o.destinations.clear(), o.csv = "x"; }),
      "--csv");
  EXPECT_EQ(blames([](Options& o) { o.inflights = {1, 4}; }), "ok");
  EXPECT_EQ(blames([](Options& o) {
              o.inflights = {1, 4}, o.mode = Mode::kBandwidth;
            }),
            "--inflights");
}

TEST_F(ValidateTest, OneWayLoad) {
  const auto blames = [&](auto spoil) {
    options_ = Options();
    options_.destinations = {2};
    options_.send_only = true;
    spoil(options_);
    return Blames();
  };
  EXPECT_EQ(blames([](Options&) {}), "ok");
  EXPECT_EQ(blames([](Options& o) { o.mode = Mode::kLatency; }), "--send_only");
  EXPECT_EQ(blames([](Options& o) { o.mode = Mode::kLatency, o.completions = 1; }), "ok");
  EXPECT_EQ(blames([](Options& o) { o.mode = Mode::kPeer; }), "--send_only");
  EXPECT_EQ(blames([](Options& o) { o.mode = Mode::kPut; }), "--send_only");
  EXPECT_EQ(blames([](Options& o) { o.bidirectional = true; }), "--send_only");
  EXPECT_EQ(blames([](Options& o) { o.send_only = false, o.receive_only = true; }),
            "--receive_only");
  EXPECT_EQ(blames([](Options& o) {
              o.send_only = false, o.receive_only = true, o.mode = Mode::kServer;
              o.destinations.clear();
            }),
            "ok");
}

// A message has the reason, and a verb or an example that says what to give instead.
TEST_F(ValidateTest, EachMessageNamesTheRemedy) {
  const std::function<void(Options&)> kMistakes[] = {
      [](Options& o) { o.destinations.clear(); },
      [](Options& o) { o.control_bytes = 7; },
      [](Options& o) { o.queues = 17; },
      [](Options& o) { o.rate = 2e9; },
      [](Options& o) { o.xpuid = 1024; },
      [](Options& o) { o.instance = 64; },
      [](Options& o) { o.config = "x"; },
      [](Options& o) { o.eal = {"-m"}; },
      [](Options& o) { o.pingpong = true; },
      [](Options& o) { o.by_lcore = true; },
      [](Options& o) { o.take_rate = 1; },
      [](Options& o) { o.reaction = Reaction::kAxi; },
      [](Options& o) { o.max_p99_us = 1; },
      [](Options& o) {
        o.inflights = {1, 2};
      },
      [](Options& o) { o.mode = Mode::kServer, o.rate = 1, o.destinations.clear(); },
      [](Options& o) { o.mode = Mode::kServer, o.balance = 1; },
      [](Options& o) { o.mode = Mode::kLatency, o.inflight = 0; },
      [](Options& o) { o.mode = Mode::kLatency, o.bidirectional = true; },
      [](Options& o) { o.mode = Mode::kPut, o.queues = 2; },
      [](Options& o) { o.mode = Mode::kPut, o.rate = 1; },
      [](Options& o) { o.mode = Mode::kPut, o.completions = 1; },
      [](Options& o) { o.mode = Mode::kPut, o.interval_json = "x"; },
      [](Options& o) {
        o.mode = Mode::kMessage, o.destinations = {1, 2};
      },
      [](Options& o) { o.mode = Mode::kAxi, o.bus_bits = 48; },
      [](Options& o) { o.mode = Mode::kAxi, o.sizes = {8192}; },
      [](Options& o) {
        o.mode = Mode::kWorkload, o.ranks = {1, 2}, o.own = {1}, o.stall_s = 0;
      },
  };
  for (const auto& spoil : kMistakes) {
    options_ = Options();
    options_.destinations = {2};
    spoil(options_);
    const std::string text(Validate(options_).message());
    const bool has_remedy = [&] {
      for (const char* verb : {"give ", "name ", "leave ", "take ", "add ", "raise ", "lower ",
                               "needs ", "need ", "goes with", "go with"}) {
        if (text.find(verb) != std::string::npos) return true;
      }
      return false;
    }();
    EXPECT_TRUE(has_remedy) << "\"" << text << '"';
  }
}

TEST(PlanTest, QueuesShareRateAndVcs) {
  Options options;
  options.destinations = {2, 3};
  options.vcs = {0, 1, 3};
  options.queues = 2;
  options.rate = 1e6;
  EXPECT_EQ(StreamsOf(options).size(), 6u);
  EXPECT_DOUBLE_EQ(PlanOf(options, 64).rate, 5e5);
  EXPECT_EQ(PlanOf(options, 64).shape.data_bytes, 64u);
  EXPECT_EQ(VcsOfWorker(options, 0), (std::vector<uint8_t>{0, 3}));
  EXPECT_EQ(VcsOfWorker(options, 1), (std::vector<uint8_t>{1}));
}

TEST_F(ValidateTest, WorkloadsHaveFlagsOfTheirOwn) {
  const auto blames = [&](auto spoil) {
    options_ = Options();
    options_.mode = Mode::kWorkload;
    options_.ranks = {1, 2, 3};
    options_.own = {2};
    options_.traffic.ranks = 3;
    options_.stall_s = 1;
    spoil(options_);
    return Blames();
  };
  EXPECT_EQ(blames([](Options&) {}), "ok");
  EXPECT_EQ(blames([](Options& o) { o.ranks = {2}; }), "--ranks");
  EXPECT_EQ(blames([](Options& o) { o.own.clear(); }), "--own");
  EXPECT_EQ(blames([](Options& o) { o.own = {4}; }), "XPU");
  EXPECT_EQ(blames([](Options& o) { o.sizes = {0}; }), "--size");
  EXPECT_EQ(blames([](Options& o) { o.threads = 2; }), "--threads");
  EXPECT_EQ(blames([](Options& o) { o.barrier = false; }), "--nobarrier");
  EXPECT_EQ(blames([](Options& o) { o.traffic.bytes = 0; }), "--bytes");
  EXPECT_EQ(blames([](Options& o) { o.response_bytes = 0; }), "--response_bytes");
  EXPECT_EQ(blames([](Options& o) { o.traffic.target = 3; }), "--target");
  EXPECT_EQ(blames([](Options& o) { o.traffic.messages = 0; }), "--messages");
  EXPECT_EQ(blames([](Options& o) { o.traffic.skew = 5; }), "--skew");
  EXPECT_EQ(blames([](Options& o) { o.trace = "x"; }), "--trace");
  EXPECT_EQ(blames([](Options& o) { o.stall_s = 0; }), "--stall");
  EXPECT_EQ(blames([](Options& o) { o.think_us = -1; }), "--think");
  EXPECT_EQ(blames([](Options& o) {
              o.traffic.pattern = Pattern::kMoe;
              o.traffic.top_k = 3;
            }),
            "--top_k");
}

}  // namespace
}  // namespace suede::perf
