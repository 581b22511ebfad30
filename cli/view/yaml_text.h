// SPDX-License-Identifier: Apache-2.0
//
// File: yaml_text.h
//
// YAML in block style, written from the front:
//
//   BlockYaml yaml;
//   yaml.BeginMap();
//   yaml.Key("values");
//   yaml.BeginList();
//   yaml.Item();
//   yaml.Plain("0.5");
//   yaml.EndList();
//   yaml.EndMap();
#ifndef FROSTLINE_CLI_VIEW_YAML_TEXT_H_
#define FROSTLINE_CLI_VIEW_YAML_TEXT_H_

#include <google/protobuf/message.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace frostline::cli {

class BlockYaml {
 public:
  // An empty map is "{}", an empty list "[]".
  void BeginMap() { Begin(); }
  void EndMap() { End("{}"); }
  void BeginList() { Begin(); }
  void EndList() { End("[]"); }

  // Before each value of a map, or of a list.
  void Key(const std::string& name);
  void Item();

  // A number, true, a name: what needs no quotes.
  void Plain(std::string_view text);
  // Quoted where it would be read as anything but text.
  void Text(const std::string& text);

  std::string Take() { return std::move(text_); }

 private:
  // What the text ends with.
  enum class Behind { kNothing, kKey, kDash };
  struct Level {
    std::size_t indent = 0;
    Behind opened = Behind::kNothing;
    bool is_empty = true;
  };

  void Begin();
  void End(const char* when_empty);
  void PutText(const std::string& text);

  std::string text_;
  std::vector<Level> levels_;
  Behind behind_ = Behind::kNothing;
};

// Fields have the proto's names, enum values their full ones; what is not set
// is left out. study_file/ reads a StudySpec back as it was. Text is in quotes
// wherever a reader might take it for a number, a date, yes or no.
std::string ToYaml(const google::protobuf::Message& message);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_YAML_TEXT_H_
