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

// Adds --registry. The default is $FROSTLINE_REGISTRY, then "registry".
void AddRegistryOption(CLI::App& verb, std::string& folder);

// Opens the registry in `folder`, else in $FROSTLINE_REGISTRY or "registry".
// Returns nothing when no folder was named and "registry" does not exist.
absl::StatusOr<std::optional<registry::Registry>> FindRegistry(
    const std::string& folder);

// The flags about the columns and the format of a file.
struct ColumnFlags {
  std::string text;
  std::string second;
  std::string label;
  std::string words;
  std::string tags;
  bool header = false;
  bool no_header = false;
  registry::TableHints hints;  // HintsOf() adds the header
};
void AddColumnFlags(CLI::App& verb, ColumnFlags& flags);
trainer::ColumnMap ColumnsOf(const ColumnFlags& flags);
registry::TableHints HintsOf(const ColumnFlags& flags);

// The flags about a data set.
struct DataFlags {
  ColumnFlags table;
  registry::NewDataSet set;  // Taken() adds columns and hints
};
void AddDataFlags(CLI::App& verb, DataFlags& flags);
registry::NewDataSet Taken(const DataFlags& flags);

// Returns what a study needs from a registry.
registry::StudyNeeds NeedsOf(const v1::StudySpec& spec);

// Checks the study against the registry in `folder`. Without a folder it uses
// $FROSTLINE_REGISTRY or "registry", and skips a study whose model or data set
// is not in it, because other workers may have them. An error names the place
// in the study's file.
absl::Status CheckStudyFit(const StudyFile& study, const std::string& folder);
// Does the same with an open registry, which must have everything the study
// names.
absl::Status CheckStudyFit(const StudyFile& study,
                           const registry::Registry& registry);

// Returns the disk space that a node needs for the boundaries of the study's
// frozen prefixes. Returns nothing when that registry does not exist or lacks
// what the study needs.
absl::StatusOr<std::optional<registry::BoundaryNeeds>> FindBoundaryNeeds(
    const v1::StudySpec& spec, const std::string& folder);

// Returns the command that fixes a reason why nothing runs. It is made here
// because the coordinator does not know its address as seen from here, nor the
// registry on this machine.
std::string IdleFix(const v1::ExplainStudyReply::Reason& reason,
                    const std::string& address);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_REGISTRY_H_
