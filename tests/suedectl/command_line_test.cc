// SPDX-License-Identifier: Apache-2.0
#include "suedectl/command_line.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "suedectl/help.h"

namespace suede::ctl {
namespace {

Answer Nothing(Call&) { return Json::object(); }
constexpr Param kParams[] = {
    Param::Text("name", "A name.", 10).Required(),
    Param::Integer("count", "A number.", 1, 9, "3"),
    Param::Boolean("fast", "Hurries."),
};
constexpr Param kPeerParams[] = {Param::Integer("peer", "A peer.", 0, 1023)};
constexpr Method kMethods[] = {
    {.name = "thing.make",
     .sentence = "Makes.",
     .run = Nothing,
     .params = kParams,
     .descriptor = DescriptorParam{.name = "file", .sentence = "Where to."}},
    {.name = "thing", .sentence = "Shows.", .run = Nothing},
    {.name = "thing.take",
     .sentence = "Takes.",
     .run = Nothing,
     .descriptor =
         DescriptorParam{
             .name = "file", .sentence = "From where.", .is_written = false, .required = false}},
    {.name = "doors.open", .sentence = "Opens.", .run = Nothing},
    {.name = "peers.greet", .sentence = "Greets.", .run = Nothing, .params = kPeerParams},
};
int RunNothing(std::span<const std::string_view>, FILE*, FILE*, FILE*) { return 0; }
constexpr LocalCommand kLocal[] = {{"frame decode", "Decodes.", RunNothing}};

absl::StatusOr<Invocation> Parse(const std::vector<std::string>& arguments,
                                 std::vector<const char*> environment = {}) {
  static const Catalog catalog{std::span<const Method>(kMethods)};
  environment.push_back(nullptr);
  return ParseCommandLine(arguments, {.catalog = catalog, .local = kLocal}, environment.data());
}

TEST(CommandLineTest, FlagsMayStandAnywhere) {
  const auto one = Parse({"--endpoint=left", "thing", "make", "--count", "5", "--fast", "x", "-j",
                          "--file", "/tmp/y", "--every=0.5"});
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(one->method->name, "thing.make");
  EXPECT_EQ(Dump(one->params), R"({"count":5,"fast":true,"name":"x"})");
  EXPECT_EQ(one->descriptor_path, "/tmp/y");
  EXPECT_EQ(one->flags.endpoint, "left");
  EXPECT_TRUE(one->flags.json);
  EXPECT_EQ(one->flags.every_s, 0.5);
}

TEST(CommandLineTest, WordsFillWhatIsRequiredThenTheFile) {
  const auto one = Parse({"thing.make", "x", "-", "--nofast"});
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(Dump(one->params), R"({"fast":false,"name":"x"})");
  EXPECT_EQ(one->descriptor_path, "-");
  EXPECT_EQ(Parse({"thing"})->method->name, "thing");
}

TEST(CommandLineTest, ASubjectMayBeInTheSingular) {
  EXPECT_EQ(Parse({"doors", "open"})->method->name, "doors.open");
  EXPECT_EQ(Parse({"door", "open"})->method->name, "doors.open");
  EXPECT_FALSE(Parse({"doors", "ope"}).ok());
  EXPECT_FALSE(Parse({"thin", "make"}).ok());
}

TEST(CommandLineTest, FileThatMayBeLeftOut) {
  EXPECT_EQ(Parse({"thing", "take", "x"})->descriptor_path, "x");
  const auto none = Parse({"thing", "take"});
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_EQ(none->descriptor_path, "");
}

TEST(CommandLineTest, NumbersMayBeHexadecimal) {
  EXPECT_EQ(Dump(Parse({"thing", "make", "x", "y", "--count", "0x9"})->params),
            R"({"count":9,"name":"x"})");
  EXPECT_FALSE(Parse({"thing", "make", "x", "y", "--count", "0xg"}).ok());
  EXPECT_FALSE(Parse({"thing", "make", "x", "y", "--count", "0xa"}).ok());
}

TEST(CommandLineTest, Mistakes) {
  const std::pair<std::vector<std::string>, const char*> kCases[] = {
      {{"thing", "make"}, "name: is missing"},
      {{"thing", "make", "x"}, "file: is missing"},
      {{"thing", "make", "x", "y", "z"}, "'z' is one argument too many"},
      {{"thing", "make", "x", "y", "--count", "ten"}, "count: is no integer; use 1 to 9"},
      {{"thing", "make", "x", "y", "--count=10"}, "count: is out of range; use 1 to 9"},
      {{"thing", "make", "x", "y", "--fast=perhaps"}, "fast: is no boolean"},
      {{"thing", "make", "x", "y", "--cuont=1"}, "did you mean --count"},
      {{"thing", "make", "elevenoctets", "y"}, "name: is too short or too long"},
      {{"thng"}, "did you mean thing"},
      {{"frame", "deocde"}, "did you mean frame decode"},
  };
  for (const auto& [arguments, says] : kCases) {
    const auto one = Parse(arguments);
    ASSERT_FALSE(one.ok()) << says;
    EXPECT_NE(std::string(one.status().message()).find(says), std::string::npos) << one.status();
  }
}

TEST(CommandLineTest, ALocalCommandGetsWhatStandsBehindItsName) {
  const auto one = Parse({"-j", "frame", "decode", "--help", "-x"});
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(one->local, &kLocal[0]);
  EXPECT_EQ(one->arguments, (std::vector<std::string>{"--help", "-x"}));
}

TEST(CommandLineTest, AFlagWinsOverTheEnvironment) {
  EXPECT_EQ(Parse({"thing"})->flags.endpoint, "suede");
  EXPECT_EQ(Parse({"thing"}, {"SUEDE_CTL_ENDPOINT=a"})->flags.endpoint, "a");
  EXPECT_EQ(Parse({"thing"}, {"SUEDE_CTL_SOCKET=/s"})->flags.socket, "/s");
  const auto one =
      Parse({"--endpoint", "b", "thing"}, {"SUEDE_CTL_ENDPOINT=a", "SUEDE_CTL_SOCKET=/s"});
  EXPECT_EQ(one->flags.endpoint, "b");
  EXPECT_EQ(one->flags.socket, "");
}

TEST(CommandLineTest, XpusHaveNumbersOrNames) {
  EXPECT_EQ(Parse({"peers", "greet", "--peer", "0x10"})->params["peer"], 16);
  EXPECT_TRUE(Parse({"peers", "greet", "--peer", "7"})->xpu_names.empty());
  for (const std::string name : {"gpu1", "1.a", "7-7", "_"}) {
    EXPECT_EQ(Parse({"peers", "greet", "--peer", name})->xpu_names["peer"], name);
  }
  for (const char* text : {"-1", "1024", "99999999999999999999", ""}) {
    EXPECT_FALSE(Parse({"peers", "greet", "--peer", text}).ok()) << text;
  }
  EXPECT_FALSE(Parse({"thing", "make", "x", "y", "--count", "gpu1"}).ok());
  EXPECT_NE(HelpOf(kMethods[4]).find("0 to 1023, or its name (peers[].name)"), std::string::npos);
}

TEST(CommandLineTest, HelpNamesEveryParameter) {
  const std::string help = HelpOf(kMethods[0]);
  EXPECT_NE(help.find("usage: suedectl thing make NAME [--count COUNT] [--fast] --file PATH"),
            std::string::npos)
      << help;
  EXPECT_NE(help.find("A number. 1 to 9; default 3"), std::string::npos) << help;
}

// A parameter of the name of a flag that any command has could not be given.
TEST(CommandLineTest, NoParameterHidesBehindAFlag) {
  for (const Method* method : EndpointCatalog().methods()) {
    for (const GlobalFlag& flag : GlobalFlagRows()) {
      for (const Param& param : method->params) {
        EXPECT_NE(flag.name, "--" + std::string(param.name)) << method->name;
      }
    }
  }
}

}  // namespace
}  // namespace suede::ctl
