// SPDX-License-Identifier: Apache-2.0
// Parses YAML text into ConfigNode. yaml-cpp reports errors by exceptions, none of which leaves
// this file; so only this file is built with exceptions.
//
// The tree is built from the parser's events instead of YAML::Node, which has neither the places of
// keys nor duplicates, and because aliases must be rejected: with them a few lines can expand to
// any amount of memory.
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <exception>
#include <istream>
#include <streambuf>
#include <utility>

#include "base/text.h"
#include "config/config_node.h"

namespace suede {
namespace {

// Thrown by the handler through the parser, and caught below.
struct Refusal : std::exception {
  Refusal(ConfigLocation at, std::string what_is_wrong)
      : place(at), problem(std::move(what_is_wrong)) {}
  ConfigLocation place;
  std::string problem;
};

// A stream buffer over text that is not copied.
class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // read only: no put area
    setg(begin, begin, begin + text.size());
  }
};

class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(uint32_t source) : source_(source) {}

  ConfigNode Take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    if (WantsKey()) throw Refusal(PlaceOf(mark), "a key is missing in front of \":\"; write it");
    Add({.kind = ConfigNode::Kind::kNull, .place = PlaceOf(mark)});
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw Refusal(PlaceOf(mark), "aliases (*name) are not supported; write the value out");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    RefuseTag(mark, tag);
    if (WantsKey()) {
      if (value == "<<") {
        throw Refusal(PlaceOf(mark), "merge keys (<<) are not supported; write the keys out");
      }
      // The next event brings the value.
      open_.back()->members.push_back({.key = value, .place = PlaceOf(mark), .value = {}});
      has_key_.back() = true;
      return;
    }
    Add({.kind = ConfigNode::Kind::kScalar,
         .quoted = tag == "!",
         .place = PlaceOf(mark),
         .text = value});
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    Open(mark, tag, ConfigNode::Kind::kList);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    Open(mark, tag, ConfigNode::Kind::kMap);
  }
  void OnMapEnd() override { Close(); }

  ConfigLocation PlaceOf(const YAML::Mark& mark) const {
    if (mark.is_null()) return {.source = source_};
    return {.source = source_,
            .line = static_cast<uint32_t>(mark.line) + 1,
            .column = static_cast<uint32_t>(mark.column) + 1};
  }

 private:
  void RefuseTag(const YAML::Mark& mark, const std::string& tag) const {
    if (tag.empty() || tag == "?" || tag == "!") return;
    throw Refusal(PlaceOf(mark), "tags (!name) are not supported; leave the tag out");
  }

  bool WantsKey() const {
    return !open_.empty() && open_.back()->kind == ConfigNode::Kind::kMap && !has_key_.back();
  }

  // Adds a node at the current position of the document, and returns it. The pointer is valid while
  // the node is open, as its parent gets no further child until then.
  ConfigNode* Add(ConfigNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return &root_;
    }
    ConfigNode& parent = *open_.back();
    if (parent.kind == ConfigNode::Kind::kList) {
      parent.items.push_back(std::move(node));
      return &parent.items.back();
    }
    has_key_.back() = false;
    // The parser reports the next token as the place of a missing value.
    if (node.kind == ConfigNode::Kind::kNull) node.place = parent.members.back().place;
    parent.members.back().value = std::move(node);
    return &parent.members.back().value;
  }

  void Open(const YAML::Mark& mark, const std::string& tag, ConfigNode::Kind kind) {
    RefuseTag(mark, tag);
    if (WantsKey()) throw Refusal(PlaceOf(mark), "a key must be a word; write \"key: value\"");
    if (open_.size() == kMaxConfigDepth) {
      throw Refusal(PlaceOf(mark), StrCat("nested more than ", kMaxConfigDepth,
                                          " deep; no key of the configuration is"));
    }
    open_.push_back(Add({.kind = kind, .place = PlaceOf(mark)}));
    has_key_.push_back(false);
  }

  void Close() {
    open_.pop_back();
    has_key_.pop_back();
  }

  uint32_t source_;
  ConfigNode root_;
  std::vector<ConfigNode*> open_;
  std::vector<bool> has_key_;  // of each open map: its last member still lacks a value
};

constexpr std::string_view kWholeDocument = "YAML";

}  // namespace

absl::StatusOr<ConfigNode> ParseConfigNode(std::string_view text, const ConfigSources& sources,
                                           uint32_t source) {
  if (text.size() > kMaxConfigBytes) {
    return ConfigError(sources, {.source = source}, kWholeDocument,
                       StrCat("larger than ", kMaxConfigBytes,
                              " bytes; use ranges (xpus: 0-1023) instead of single entries"));
  }
  TreeBuilder builder(source);
  try {
    ViewBuffer buffer(text);
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) return ConfigNode{.place = {.source = source}};
    ConfigNode root = builder.Take();
    TreeBuilder second(source);
    if (parser.HandleNextDocument(second)) {
      return ConfigError(sources, second.Take().place, kWholeDocument,
                         "a second document; keep one document (\"---\") in a file");
    }
    return root;
  } catch (const Refusal& refusal) {
    return ConfigError(sources, refusal.place, kWholeDocument, refusal.problem);
  } catch (const YAML::Exception& error) {
    return ConfigError(
        sources, builder.PlaceOf(error.mark), kWholeDocument,
        StrCat("not valid YAML: ", error.msg, "; check indentation, quotes and brackets here"));
  } catch (const std::exception& error) {
    return ConfigError(sources, {.source = source}, kWholeDocument,
                       StrCat("cannot be parsed: ", error.what(), "; check the file"));
  }
}

}  // namespace suede
