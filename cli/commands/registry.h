// SPDX-License-Identifier: Apache-2.0
//
// File: registry.h
//
// What the verbs about registries share.
#ifndef FROSTLINE_CLI_COMMANDS_REGISTRY_H_
#define FROSTLINE_CLI_COMMANDS_REGISTRY_H_

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "cli/study_file/study_file.h"
#include "frostline/v1/study_service.pb.h"
#include "worker/registry/add.h"
#include "worker/registry/fit.h"

namespace frostline::cli {

// Adds --registry; without it $FROSTLINE_REGISTRY counts, else "registry".
void AddRegistryOption(CLI::App& verb, std::string& folder);

// Of `folder`, else of $FROSTLINE_REGISTRY or "registry". Returns nothing where
// nobody named a folder and the usual one is not there.
absl::StatusOr<std::optional<registry::Registry>> FindRegistry(
    const std::string& folder);

// What a person may say of a file's columns and form, as flags.
struct ColumnFlags {
  std::string text;
  std::string second;
  std::string label;
  std::string words;
  std::string tags;
  bool no_header = false;
  registry::TableHints hints;  // the header comes with HintsOf()
};
void AddColumnFlags(CLI::App& verb, ColumnFlags& flags);
trainer::ColumnMap ColumnsOf(const ColumnFlags& flags);
registry::TableHints HintsOf(const ColumnFlags& flags);

// What a person may say of a data set.
struct DataFlags {
  ColumnFlags table;
  registry::NewDataSet set;  // its columns and hints come with Taken()
};
void AddDataFlags(CLI::App& verb, DataFlags& flags);
registry::NewDataSet Taken(const DataFlags& flags);

// What of a study a registry can be held against.
registry::StudyNeeds NeedsOf(const v1::StudySpec& spec);

// Holds the study against the registry of `folder`. Without one it looks at
// $FROSTLINE_REGISTRY and "registry", and passes over a study whose model or
// data set is not in it: other workers may have them. A mistake is placed in
// the study's file.
absl::Status CheckStudyFit(const StudyFile& study, const std::string& folder);
// The same against a registry that is read, which is to have all it names.
absl::Status CheckStudyFit(const StudyFile& study,
                           const registry::Registry& registry);

// Returns what boundaries of the study's frozen prefixes take of a node's disk;
// nothing where the same registry is not there, or has not what it takes.
absl::StatusOr<std::optional<registry::BoundaryNeeds>> FindBoundaryNeeds(
    const v1::StudySpec& spec, const std::string& folder);

// What to do about a reason why nothing runs, as it can be typed here: the
// coordinator does not know how it is reached, nor which registry is here.
std::string IdleFix(const v1::ExplainStudyReply::Reason& reason,
                    const std::string& address);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_REGISTRY_H_
