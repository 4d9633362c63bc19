// SPDX-License-Identifier: Apache-2.0
// Objects that make no frame: each is refused with its field, and nothing else is lost.
#include "frame_bench.h"

namespace suede::ctl {
namespace {

struct Refusal {
  std::string text;
  std::string says;
};

std::vector<Refusal> Refusals() {
  const auto with = [](const std::string& encap, const std::string& members) {
    return R"({"encap": ")" + encap + R"(", )" + members + "}";
  };
  return {
      {"{", "not JSON"},
      {"nonsense", "not JSON"},
      {"{\"encap\": \"udp4\", \"psn\": \xff}", "not JSON"},
      {"17", "not a JSON object"},
      {"null", "not a JSON object"},
      {"{}", "encap: missing"},
      {R"({"encap": "vxlan"})", R"(encap: "vxlan"; use udp4)"},
      {R"({"encap": 4})", "encap: 4; use udp4"},
      {with("udp4", R"("psn": 65536)"), "psn: 65536; use 0 to 65535"},
      {with("udp4", R"("psn": -1)"), "psn: -1; use 0 to 65535"},
      {with("udp4", R"("psn": 1.5)"), "psn: 1.5; use 0 to 65535"},
      {with("udp4", R"("psn": "9")"), R"(psn: "9"; use 0 to 65535)"},
      {with("udp4", R"("psn": null)"), "psn: null; use"},
      {with("udp4", R"("psn": {})"), "psn: an object; use"},
      {with("udp4", R"("psn": 99999999999999999999999999)"), "psn: 1e+26; use"},
      {with("udp4", R"("vc": 4)"), "vc: 4; use 0 to 3"},
      {with("udp4", R"("xpuid": 1024)"), "xpuid: 1024; use 0 to 1023"},
      {with("udp4", R"("session": 65536)"), "session: 65536"},
      {with("afh2", R"("session": 256)"), "session: 256; use 0 to 255"},
      {with("afh1", R"("dst_fwd": 65536)"), "dst_fwd: 65536; use 0 to 65535"},
      {with("afh2", R"("dst_fwd": 4294967296)"), "dst_fwd: 4294967296; use 0 to 4294967295"},
      {with("afh2c", R"("src_fwd": 1027, "xpuid": 4)"), "xpuid: 4, but src_fwd says 3"},
      {with("afh1", R"("ether_type": 512)"), "ether_type: 512; use 1536 to 65535"},
      {with("afh1", R"("ether_type": 33024)"), "ether_type: 33024 is a tag's"},
      {with("udp4", R"("dmac": "02:00:00:00:00")"), "dmac: \"02:00:00:00:00\"; use a MAC"},
      {with("udp4", R"("dmac": "02:00:00:00:00:0g")"), "dmac: "},
      {with("udp4", R"("dmac": "02-00-00-00-00-01")"), "dmac: "},
      {with("udp4", R"("dmac": 7)"), "dmac: 7"},
      {with("afh1", R"("mac_prefix": "02:53:55")"), "mac_prefix: "},
      {with("udp4", R"("sip": "fd00::1")"), "sip: "},
      {with("udp6", R"("sip": "198.18.0.1")"), "sip: "},
      {with("udp4", R"("sip": "198.18.0.1\u0000")"), "sip: "},
      {with("udp4", R"("udp_checksum": 1)"), "udp_checksum: 1; use true or false"},
      {with("udp4", R"("pnsn": 1)"), "\"pnsn\": there is no such field"},
      {with("udp4", R"("\u001b[2J": 1)"), "\"\\u001b[2J\": there is no such field"},
      {with("udp4", R"("error": "rcrc")"), "error: decode refused this frame: \"rcrc\""},
      {with("udp4", R"("commands": {})"), "commands: not an array"},
      {with("udp4", R"("commands": [1])"), "commands[0]: not an object"},
      {with("udp4", R"("commands": [{}])"), "commands[0].control: "},
      {with("udp4", R"("commands": [{"control": "01"}])"), "commands[0].control: "},
      {with("udp4", R"("commands": [{"control": "0100"}, {"control": "0"}])"),
       "commands[1].control: \"0\" is not hex"},
      {with("udp4", R"("commands": [{"control": 1}])"), "commands[0].control: 1 is not hex"},
      {with("udp4", R"("commands": [{"control": "0000"}])"),
       "commands[0].control: a control length of 0"},
      {with("udp4", R"("commands": [{"control": "0a00"}])"),
       "commands[0].control: a control length of 10"},
      {with("udp4", R"("commands": [{"control": "0200"}])"),
       "commands[0].control: 2 bytes, and the first one says 4"},
      {with("udp4", R"("commands": [{"control": "1100"}])"),
       "commands[0].data: 0 bytes, and the control says 1"},
      {with("udp4", R"("commands": [{"control": "0100", "data": "aa"}])"),
       "commands[0].data: 1 bytes"},
      {with("udp4", R"("commands": [{"control": "0100", "tag": 1}])"), "commands[0]: \"tag\""},
      {with("udp4", R"("ver": 3)"), "ver: 3 wants control_pdu"},
      {with("udp4", R"("ver": 0, "control_pdu": {"type": "ready"})"), "ver: 0, but"},
      {with("udp4", R"("control_pdu": {"type": "ready"}, "commands": [{"control": "0100"}])"),
       "commands: a control PDU has none"},
      {with("udp4", R"("control_pdu": [])"), "control_pdu: not an object"},
      {with("udp4", R"("control_pdu": {})"), "control_pdu.type: missing"},
      {with("udp4", R"("control_pdu": {"type": "goodbye"})"), "control_pdu.type: \"goodbye\""},
      {with("udp4", R"("control_pdu": {"type": "ready", "vc": 4})"),
       "control_pdu.vc: 4; use 0 to 3"},
      {with("udp4", R"("control_pdu": {"type": "ready", "nonce": "00"})"),
       "control_pdu: has a field"},
      {with("udp4", R"("control_pdu": {"type": "hello", "identity": "0000000000000000"})"),
       R"(control_pdu.identity: "0000000000000000"; use 16 hex digits, not all 0)"},
      {with("udp4", R"("control_pdu": {"type": "hello", "reply_wanted": 1})"),
       "control_pdu.reply_wanted: 1"},
      {with("udp4", R"("control_pdu": {"type": "hello", "echo": "12"})"),
       R"(control_pdu.echo: "12"; use 16 hex digits)"},
      {with("udp4", R"("control_pdu": {"type": "hello", "credit_lines": [1]})"),
       "control_pdu.credit_lines: an array; use an array of 4 numbers"},
      {with("udp4", R"("control_pdu": {"type": "hello", "receive_bytes": 65536})"),
       "control_pdu.receive_bytes: 65536; use 0 to 65535"},
      {with("udp4", R"("control_pdu": {"type": "hello", "answers_planes": 1})"),
       "control_pdu.answers_planes: 1; use true or false"},
      {with("udp4", R"("control_pdu": {"type": "plane", "identity": "0000000000000000"})"),
       R"(control_pdu.identity: "0000000000000000"; use 16 hex digits, not all 0)"},
      {with("udp4", R"("control_pdu": {"type": "plane", "state": 2})"),
       "control_pdu.state: 2; use down, init or up"},
      {with("udp4", R"("control_pdu": {"type": "plane", "state": "sideways"})"),
       R"(control_pdu.state: "sideways"; use down, init or up)"},
      {with("udp4", R"("control_pdu": {"type": "plane", "plane": 4})"),
       "control_pdu.plane: 4; use 0 to 3"},
      {with("udp4", R"("control_pdu": {"type": "plane", "tx_generation": 65536})"),
       "control_pdu.tx_generation: 65536; use 0 to 65535"},
      {with("udp4", R"("control_pdu": {"type": "plane", "generation": 1})"),
       "control_pdu: has a field that is none of plane"},
      {with("udp4", R"("control_pdu": {"type": "plane", "first": 7})"),
       "control_pdu.first: 7; use an array of 4 PSNs"},
      {with("udp4", R"("control_pdu": {"type": "plane", "first": [1, 2, 3]})"),
       "control_pdu.first: an array; use an array of 4 PSNs"},
      {with("udp4", R"("control_pdu": {"type": "plane", "first": [1, 2, 3, 65536]})"),
       "control_pdu.first[3]: 65536; use 0 to 65535"},
      {with("udp4", R"("control_pdu": {"type": "fence", "identity": "0000000000000000"})"),
       R"(control_pdu.identity: "0000000000000000"; use 16 hex digits, not all 0)"},
      {with("udp4", R"("control_pdu": {"type": "fence", "own": 1})"),
       "control_pdu.own: 1; use true or false"},
      {with("udp4", R"("control_pdu": {"type": "fence", "oldest": [0, [], 0, 0]})"),
       "control_pdu.oldest[1]: an array; use 0 to 65535"},
      {with("udp4", R"("control_pdu": {"type": "fenced", "identity": "0000000000000000"})"),
       R"(control_pdu.identity: "0000000000000000"; use 16 hex digits, not all 0)"},
      {with("udp4", R"("control_pdu": {"type": "fenced", "own": true})"),
       "control_pdu: has a field that is none of fenced"},
      {with("udp4", R"("control_pdu": {"type": "fenced", "expected": 5})"),
       "control_pdu.expected: 5; use an array of 4 PSNs"},
      {with("udp4", R"("control_pdu": {"type": "congestion", "target": 16777216})"),
       "control_pdu.target: 16777216; use 0 to 16777215"},
      {with("udp4", R"("control_pdu": {"type": "congestion", "marked": 4294967296})"),
       "control_pdu.marked: 4294967296; use 0 to 4294967295"},
      {with("udp4", R"("control_pdu": {"type": "congestion", "echo": 1})"),
       "control_pdu.echo: 1; use true or false"},
      {with("udp4", R"("control_pdu": {"type": "congestion", "vc": 1})"),
       "control_pdu: has a field that is none of congestion"},
      {with("udp4", R"("control_pdu": {"bytes": 5})"), "control_pdu.bytes: 5"},
      {with("udp4", R"("trailing": "0")"), "trailing: \"0\" is not hex"},
      {with("afh1", R"("trailing": "00")"), "trailing: afh1 has no length"},
      {with("udp4", R"("padding": 65535)"), "commands: with headers, padding and trailing"},
  };
}

// Each between two good ones, which are made all the same.
TEST(FrameJson, RefusalsNameObjectAndField) {
  const std::string good = R"({"encap": "afh1", "psn": 1})";
  const Outcome alone = Encode({}, good);
  ASSERT_EQ(alone.code, 0) << alone.err;
  for (const Refusal& refusal : Refusals()) {
    SCOPED_TRACE(refusal.text);
    const Outcome lines = Encode({}, good + "\n" + refusal.text + "\n\n" + good);
    EXPECT_EQ(lines.code, 2);
    EXPECT_EQ(lines.out, alone.out + alone.out);
    EXPECT_EQ(lines.err.find("suedectl frame encode: object 2 in line 2: " + refusal.says), 0u)
        << lines.err;
    EXPECT_EQ(CountLines(lines.err), 1u) << lines.err;
    if (refusal.text == "{") continue;  // which takes the rest of an array with it
    const Outcome array = Encode({}, "[" + good + ",\n" + refusal.text + ",\n" + good + "]\n");
    EXPECT_EQ(array.code, 2);
    EXPECT_EQ(array.out, alone.out + alone.out);
    EXPECT_EQ(array.err, lines.err);
  }
}

TEST(FrameJson, ArraysMustEnd) {
  const std::string good = R"({"encap": "afh1"})";
  EXPECT_EQ(Encode({}, "[]").code, 0);
  EXPECT_EQ(Encode({}, "  [\n ] \n").code, 0);
  EXPECT_EQ(Encode({}, "").code, 0);
  for (const char* text : {"[", "[{", "[{\"", "[{}, {\"encap\": \"]\""}) {
    const Outcome outcome = Encode({}, text);
    EXPECT_EQ(outcome.code, 2) << text;
    EXPECT_NE(outcome.err.find("does not end"), std::string::npos) << outcome.err;
  }
  const Outcome left_over = Encode({}, "[" + good + "] " + good);
  EXPECT_EQ(left_over.code, 2);
  EXPECT_EQ(CountLines(left_over.out), 1u);
  EXPECT_NE(left_over.err.find("something follows"), std::string::npos) << left_over.err;
  const Outcome comma = Encode({}, "[" + good + ",]");
  EXPECT_EQ(comma.code, 2);
  EXPECT_NE(comma.err.find("object 2 in line 1: not JSON"), std::string::npos) << comma.err;
}

TEST(FrameJson, BracketsInStringsAreNoBrackets) {
  const Outcome outcome =
      Encode({}, R"([{"encap": "afh1", "frame": "\"]},\\"}, {"encap": "afh1", "frame": "[{"}])");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(CountLines(outcome.out), 2u);
}

TEST(FrameJson, DeepNestingIsRefused) {
  for (const char* opening : {"[", "{\"a\":"}) {
    std::string deep;
    std::string closing;
    for (int i = 0; i < 60000; ++i) {
      deep += opening;
      closing += *opening == '[' ? ']' : '}';
    }
    const std::string members[] = {deep, deep + "1" + closing};
    for (const std::string& value : members) {
      for (const char* name : {"psn", "commands", "control_pdu", "dmac", "unknown", "encap"}) {
        const std::string text =
            std::string(R"({"encap": "udp4", ")") + name + R"(": )" + value + "}\n";
        const Outcome outcome = Encode({}, text + R"({"encap": "udp4"})");
        EXPECT_EQ(outcome.code, 2);
        EXPECT_EQ(CountLines(outcome.out), 1u);
      }
    }
    EXPECT_EQ(Encode({}, deep).code, 2);
    EXPECT_EQ(Encode({}, deep + "1" + closing).code, 2);
  }
}

TEST(FrameJson, LongObjectsArePassedOver) {
  const std::string good = R"({"encap": "afh1"})";
  const std::string large = R"({"encap": "afh1", "frame": ")" + std::string(1200000, 'a') + "\"}";
  for (const std::string& text :
       {good + "\n" + large + "\n" + good, "[" + good + ",\n" + large + "," + good + "]"}) {
    const Outcome outcome = Encode({}, text);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(CountLines(outcome.out), 2u);
    EXPECT_EQ(outcome.err,
              "suedectl frame encode: object 2 in line 2: longer than 1048576 bytes\n");
  }
}

TEST(FrameJson, DefaultsAreTheProfiles) {
  const auto d = FrameFromJson(R"({"encap": "udp4", "xpuid": 7})");
  ASSERT_TRUE(d.ok()) << d.status();
  const auto made = MakeFrame(*d);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(*made, BuildBytes(Encap::kUdp4, {}, {}, {.xpuid = 7}));
  EXPECT_EQ(made->size(), 60u);
  const auto afh =
      MakeFrame(*FrameFromJson(R"({"encap": "afh2c", "instance": 2, "xpuid": 3, "dst_xpuid": 4})"));
  ASSERT_TRUE(afh.ok()) << afh.status();
  const FrameDescription read = Describe({.encap = Encap::kAfh2c}, *afh);
  EXPECT_EQ(read.values.WordOr(Field::kSrcFwd, 0), 2051u);
  EXPECT_EQ(read.values.WordOr(Field::kDstFwd, 0), 2052u);
}

// The page has every field of every control PDU.
TEST(FrameJson, ControlPdusAreOnThePage) {
  std::string page = ReadFile(SUEDE_SOURCE_DIR "/docs/frames.md");
  page = page.substr(page.find("\n### `control_pdu`"));
  page.resize(page.find("\n## Reasons"));
  const std::string help = Encode({"--help"}).out;
  const ControlMessage messages[] = {Hello{}, NotReady{}, Ready{}, PlaneHello{}, Fence{}, Fenced{}};
  for (const ControlMessage& message : messages) {
    const FrameDescription d{.control_pdu = ControlPdu{.message = message}};
    const Json object = Json::parse(FrameToJson(d))["control_pdu"];
    const auto type = object["type"].get<std::string>();
    EXPECT_NE(help.find("\"" + type + "\""), std::string::npos) << type;
    const size_t start = page.find("\n| `" + type + "` |");
    ASSERT_NE(start, std::string::npos) << type;
    const std::string row = page.substr(start, page.find('\n', start + 1) - start);
    for (const auto& [name, value] : object.items()) {
      if (name == "type" || name == "identity" || name == "peer_identity") continue;
      EXPECT_NE(row.find("`" + name + "`"), std::string::npos) << type << " " << name;
    }
  }
}

// The page has a row for each field that there is.
TEST(FrameJson, FieldsAreOnThePage) {
  std::string page = ReadFile(SUEDE_SOURCE_DIR "/docs/frames.md");
  page = page.substr(page.find("\n## Fields"));
  page.resize(page.find("\n## Reasons"));
  const std::string help = Encode({"--help"}).out;
  for (const FieldRow& row : FieldRows()) {
    const std::string name(row.name);
    size_t in_row = 0;
    for (size_t at = page.find("`" + name + "`"); at != std::string::npos;
         at = page.find("`" + name + "`", at + 1)) {
      const size_t line = page.rfind('\n', at) + 1;
      const size_t cell_end = page.find(" |", line);
      if (page.compare(line, 2, "| ") == 0 && at < cell_end) ++in_row;
    }
    EXPECT_EQ(in_row, 1u) << name;
    EXPECT_NE(help.find("\n  " + name + " "), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace suede::ctl
