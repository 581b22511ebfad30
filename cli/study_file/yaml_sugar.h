// SPDX-License-Identifier: Apache-2.0
//
// File: yaml_sugar.h
//
// The short forms of a study file, as rewrites of the tree: what comes out has
// the shape of the proto message, and keeps the lines and columns of what was
// written. docs/reference/study-file.md lists them for users.
//
//   levels: [0, 2e-5]             ->  levels: {rates: [0, 2e-5]}
//   modules: {head: frozen}       ->  modules: [{select: head, fixed: 0}]
//   default: {full: 1e-3}         ->  default: {name: full, rate: 1e-3}
//
// A new short form is a row in one of the tables of yaml_sugar.cc.
#ifndef FROSTLINE_CLI_STUDY_FILE_YAML_SUGAR_H_
#define FROSTLINE_CLI_STUDY_FILE_YAML_SUGAR_H_

#include <google/protobuf/descriptor.h>

#include <string>
#include <vector>

#include "cli/study_file/yaml_tree.h"

namespace frostline::cli {

// The long form of a value that stands where a message of this type is
// expected; the same node where it is no short form.
YamlPtr LongForm(const YamlPtr& node,
                 const google::protobuf::Descriptor& message);

// For a repeated message written as a map: a list of its values, each with its
// key in the message's key field ("select" of modules). The same node for
// everything else.
YamlPtr LongList(const YamlPtr& node,
                 const google::protobuf::Descriptor& message);

// Another name for a field: "tie" for "ties". The same for everything else.
std::string LongKey(const std::string& key,
                    const google::protobuf::Descriptor& message);

// Whether `frozen` may stand for the number 0 in this field.
bool MayBeFrozen(const google::protobuf::FieldDescriptor& field);

// Small helpers to build trees.
YamlPtr ScalarNode(const std::string& text, const YamlMark& mark);
YamlPtr ListNode(std::vector<YamlPtr> items, const YamlMark& mark);
YamlPtr MapNode(std::vector<YamlEntry> entries, const YamlMark& mark);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_STUDY_FILE_YAML_SUGAR_H_
