// SPDX-License-Identifier: Apache-2.0
// The frames of the wire profile's independent encoder, through both commands, byte for byte.
#include "frame_bench.h"

namespace suede::ctl {
namespace {

TEST(FrameVectors, EncodeMakesThem) {
  std::string frames;
  for (const Json& v : ReadVectors()) frames += v["frame"].get<std::string>() + "\n";
  const Outcome array = Encode({SUEDE_WIRE_VECTORS});
  EXPECT_EQ(array.code, 0) << array.err;
  EXPECT_EQ(array.out, frames);
  std::string lines;
  for (Json v : ReadVectors()) {
    v.erase("frame");
    lines += v.dump() + "\n";
  }
  EXPECT_EQ(Encode({}, lines).out, frames);
}

// Addresses follow from instance and XPUs where the vectors' objects do not have them.
TEST(FrameVectors, ForwardingAddressesHaveADefault) {
  for (Json v : ReadVectors()) {
    v.erase("src_fwd");
    v.erase("dst_fwd");
    const Outcome made = Encode({"-"}, v.dump());
    EXPECT_EQ(made.out, v["frame"].get<std::string>() + "\n") << made.err;
  }
}

TEST(FrameVectors, DecodeSaysWhatTheyHold) {
  for (const Json& v : ReadVectors()) {
    const auto encap = v["encap"].get<std::string>();
    std::vector<std::string_view> arguments = {"--encap", encap};
    const std::string ether_type =
        v.contains("ether_type") ? "--ether_type=" + v["ether_type"].dump() : "";
    if (!ether_type.empty()) arguments.push_back(ether_type);
    const Outcome read = Decode(arguments, v["frame"].get<std::string>());
    ASSERT_EQ(read.code, 0) << read.err;
    const Json object = Json::parse(read.out);
    EXPECT_FALSE(object.contains("error")) << read.out;
    EXPECT_EQ(object["commands"], v["commands"]);
    for (const FieldRow& row : FieldRows()) {
      const std::string name(row.name);
      const bool printed = row.In(*ParseEncap(encap)) && row.shown != Shown::kNever;
      if (!printed || !v.contains(name)) continue;
      EXPECT_EQ(object[name], v[name]) << name;
    }
    for (const char* name : {"ver", "op", "xpuid", "psn", "vc", "partition", "rpsn"}) {
      EXPECT_EQ(object[name], v[name]) << name;
    }
    EXPECT_EQ(object.contains("vid"), v.contains("vid"));
    EXPECT_EQ(Encode({}, read.out).out, v["frame"].get<std::string>() + "\n");
  }
}

}  // namespace
}  // namespace suede::ctl
