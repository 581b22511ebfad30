// SPDX-License-Identifier: Apache-2.0
//
// File: message_text.h
//
// Messages as text: JSON and YAML.
#ifndef FROSTLINE_CLI_VIEW_MESSAGE_TEXT_H_
#define FROSTLINE_CLI_VIEW_MESSAGE_TEXT_H_

#include <google/protobuf/message.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace frostline::cli {

// A fast JSON writer for messages. Protobuf's own writer needs almost a second
// for a list of thousands of trials, because it converts to the wire format
// first. This one reads messages directly and writes the same lines, but with
// fields in the order of the contract (protobuf writes times last) and the keys
// of maps in alphabetical order. Rare cases (wrappers, unknown enum values) go
// to protobuf's writer.

// Returns one line with a newline and without blanks. ToJson() is in format.h.
std::string ToJsonLine(const google::protobuf::Message& message);

// Returns the output of protobuf's writer; tests compare with it.
std::string ProtobufJson(const google::protobuf::Message& message,
                         bool indented);

// A writer of YAML in block style, from the front to the end:
//
//   BlockYaml yaml;
//   yaml.BeginMap();
//   yaml.Key("values");
//   yaml.BeginList();
//   yaml.Item();
//   yaml.Plain("0.5");
//   yaml.EndList();
//   yaml.EndMap();

// A writer of YAML in block style.
class BlockYaml {
 public:
  // An empty map is written as "{}", an empty list as "[]".
  void BeginMap() { Begin(); }
  void EndMap() { End("{}"); }
  void BeginList() { Begin(); }
  void EndList() { End("[]"); }

  // Call Key() before each value of a map, Item() before each item of a list.
  void Key(const std::string& name);
  void Item();

  // Writes a value that needs no quotes: a number, true, a name.
  void Plain(std::string_view text);
  // Writes text, in quotes if it could be read as anything else.
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

// Returns the message as YAML. Fields have the proto's names and enum values
// their full names; unset fields are left out. study_file/ reads such a
// StudySpec back unchanged. Text is quoted wherever a reader might take it for
// a number, a date, yes or no.
std::string ToYaml(const google::protobuf::Message& message);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_MESSAGE_TEXT_H_
