// SPDX-License-Identifier: Apache-2.0
//
// File: yaml_builder.h
//
// The parser cannot be stopped from here, so everything after the first mistake
// is ignored.
#ifndef FROSTLINE_CLI_STUDY_FILE_YAML_BUILDER_H_
#define FROSTLINE_CLI_STUDY_FILE_YAML_BUILDER_H_

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/study_file/yaml_tree.h"

namespace frostline::cli {

YamlMark MarkOf(const YAML::Mark& mark);

class YamlBuilder final : public YAML::EventHandler {
 public:
  // `file` must outlive the builder.
  explicit YamlBuilder(const std::string& file) : file_(file) {}

  const absl::Status& error() const { return error_; }
  // It is null when the document was empty.
  const YamlPtr& root() const { return root_; }

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag,
                YAML::anchor_t anchor, const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag,
                  YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override { Close(); }

 private:
  struct Frame {
    std::shared_ptr<YamlNode> node;
    YAML::anchor_t anchor = 0;
    YamlPtr key;                      // of a map: read, its value not yet
    std::map<std::string, int> seen;  // keys of a map, with their lines
  };

  void Fail(const YamlMark& mark, ErrorId id, const std::string& cause,
            const std::string& fix);
  void CheckTag(const std::string& tag, const YamlMark& mark);
  void Open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor);
  void Close();
  void Add(YamlPtr node, YAML::anchor_t anchor);
  void Place(const YamlPtr& node);
  void TakeKey(Frame* frame, const YamlPtr& key);

  const std::string& file_;
  absl::Status error_;
  YamlPtr root_;
  int documents_ = 0;
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, YamlPtr> anchors_;
};

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_STUDY_FILE_YAML_BUILDER_H_
