#include "sim/system/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "sim/limits.h"

namespace chakrad {
namespace {

// Thrown out of yaml-cpp's parser, which has no other way to be stopped.
struct Refused {
  std::string reason;
};

struct Extent {
  int64_t nodes_count = 1;
  int64_t height = 1;
};

Extent ExtentOf(const YamlNode& node) {  // Recursion: at most kMaxYamlDepth deep.
  Extent extent;
  for (const YamlNode& item : node.items) {
    const Extent below = ExtentOf(item);
    extent.nodes_count += below.nodes_count;
    extent.height = std::max(extent.height, below.height + 1);
  }
  return extent;
}

class TreeBuilder : public YAML::EventHandler {
 public:
  YamlNode TakeRoot() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_count_ > 1) Refuse(mark, "a second document begins");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Open(mark, YamlNode::Kind::kNothing, anchor);
    Close();
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto it = anchored_.find(anchor);
    if (it == anchored_.end()) Refuse(mark, "an alias inside what it names");
    const Extent extent = ExtentOf(it->second);
    CountNodes(mark, extent.nodes_count);
    CheckDepth(mark, extent.height);
    open_.push_back({it->second, YAML::NullAnchor, {}, false});
    Close();
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Open(mark, YamlNode::Kind::kScalar, anchor);
    open_.back().node.quoted = tag == "!";
    open_.back().node.text = value;
    Close();
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    static_cast<void>(tag);
    static_cast<void>(style);
    Open(mark, YamlNode::Kind::kList, anchor);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    static_cast<void>(tag);
    static_cast<void>(style);
    Open(mark, YamlNode::Kind::kMap, anchor);
  }
  void OnMapEnd() override { Close(); }

 private:
  struct OpenNode {
    YamlNode node;
    YAML::anchor_t anchor = YAML::NullAnchor;
    std::string key;  // Of a map: its value comes next.
    bool has_key = false;
  };

  [[noreturn]] static void Refuse(const YAML::Mark& mark, absl::string_view what) {
    throw Refused{absl::StrCat("line ", mark.line + 1, ": ", what)};
  }
  void CheckDepth(const YAML::Mark& mark, int64_t height) const {
    if (static_cast<int64_t>(open_.size()) + height > kMaxYamlDepth) {
      Refuse(mark, absl::StrCat("nested deeper than ", kMaxYamlDepth));
    }
  }
  void CountNodes(const YAML::Mark& mark, int64_t count) {
    nodes_count_ += count;
    if (nodes_count_ > kMaxYamlNodes) {
      Refuse(mark, absl::StrCat("more than ", kMaxYamlNodes, " values, aliases expanded"));
    }
  }
  void Open(const YAML::Mark& mark, YamlNode::Kind kind, YAML::anchor_t anchor) {
    CountNodes(mark, 1);
    CheckDepth(mark, 1);
    OpenNode open;
    open.node.kind = kind;
    open.node.line = mark.line + 1;
    open.anchor = anchor;
    open_.push_back(std::move(open));
  }
  // The innermost open node is whole: it goes into the one around it.
  void Close() {
    OpenNode closed = std::move(open_.back());
    open_.pop_back();
    if (closed.anchor != YAML::NullAnchor) {
      CountNodes(MarkOf(closed.node), ExtentOf(closed.node).nodes_count);  // The copy is one, too.
      anchored_[closed.anchor] = closed.node;
    }
    if (open_.empty()) {
      root_ = std::move(closed.node);
      return;
    }
    OpenNode& around = open_.back();
    if (around.node.is_list()) {
      around.node.items.push_back(std::move(closed.node));
    } else if (around.has_key) {
      around.node.keys.push_back(std::move(around.key));
      around.node.items.push_back(std::move(closed.node));
      around.has_key = false;
    } else {
      TakeKey(std::move(closed.node), &around);
    }
  }
  static void TakeKey(YamlNode key, OpenNode* map) {
    if (!key.is_scalar()) Refuse(MarkOf(key), "a key is not plain text");
    const std::vector<std::string>& keys = map->node.keys;
    if (static_cast<int64_t>(keys.size()) >= kMaxYamlKeys) {
      Refuse(MarkOf(key), absl::StrCat("more than ", kMaxYamlKeys, " keys in one map"));
    }
    if (std::find(keys.begin(), keys.end(), key.text) != keys.end()) {
      Refuse(MarkOf(key), absl::StrCat("the key ", key.text.substr(0, 60), " stands twice"));
    }
    map->key = std::move(key.text);
    map->has_key = true;
  }
  static YAML::Mark MarkOf(const YamlNode& node) {
    YAML::Mark mark = YAML::Mark::null_mark();
    mark.line = node.line - 1;
    return mark;
  }

  YamlNode root_;
  std::vector<OpenNode> open_;  // Outermost first.
  std::map<YAML::anchor_t, YamlNode> anchored_;
  int64_t nodes_count_ = 0;
  int documents_count_ = 0;
};

}  // namespace

absl::StatusOr<YamlNode> ParseYaml(absl::string_view text) {
  if (static_cast<int64_t>(text.size()) > kMaxSystemFileBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(text.size(), " bytes are over the limit of ", kMaxSystemFileBytes));
  }
  TreeBuilder builder;
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Refused& refused) {
    return absl::InvalidArgumentError(refused.reason);
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("not YAML: ", error.what()));
  }
  return builder.TakeRoot();
}

}  // namespace chakrad
