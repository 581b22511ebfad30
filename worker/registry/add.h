// SPDX-License-Identifier: Apache-2.0
//
// File: add.h
//
// Puts models and data sets into a registry: their files, their sums, entries
// in models.yaml or datasets.yaml behind what is there. Everything is checked
// first; what does not hold changes nothing.
//
//   ASSIGN_OR_RETURN(Addition addition, Addition::To("registry"));
//   ASSIGN_OR_RETURN(const AddedDataSet data, addition.Add(set));
//   RETURN_IF_ERROR(addition.Keep());
#ifndef FROSTLINE_WORKER_REGISTRY_ADD_H_
#define FROSTLINE_WORKER_REGISTRY_ADD_H_

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/registry/check.h"
#include "worker/registry/guess.h"
#include "worker/registry/registry.h"

namespace frostline::registry {

// Puts files into a registry's folder. A registry reaches no file outside of
// its folder, so what is registered from elsewhere is put there first. One
// thread uses it.
//
// What it has placed is removed when it is destroyed, unless Keep() was called.
class Placing {
 public:
  // Makes the folder where there is none, and keeps others from adding to it
  // meanwhile, where its file system has locks.
  static absl::StatusOr<Placing> Into(const std::string& folder);
  ~Placing();
  Placing(Placing&& other) noexcept;
  Placing& operator=(Placing&&) = delete;
  Placing(const Placing&) = delete;
  Placing& operator=(const Placing&) = delete;

  const std::string& folder() const { return folder_; }

  // Answers the path below the folder, or "" of what lies elsewhere.
  std::string Below(const std::string& path) const;

  // Copies: rows that somebody goes on to edit stay as they were registered.
  absl::Status Copy(const std::string& from, const std::string& to);
  // A hard link costs nothing, and nobody edits weights. On another file
  // system it copies.
  absl::Status Link(const std::string& from, const std::string& to);

  void Keep() { made_.clear(); }

 private:
  Placing(std::string folder, int lock)
      : folder_(std::move(folder)), lock_(lock) {}

  absl::StatusOr<std::filesystem::path> Prepare(const std::string& to);

  std::string folder_;
  int lock_;  // the folder, opened; -1 once it was moved from
  std::vector<std::filesystem::path> made_;  // the outermost first
};

// Finds the files of a data set's splits: a file is `train`; a folder as
// Hugging Face keeps one has train, validation and test in their names.
//
// From a split's name to its file. `path` may be a file or a folder. A split in
// several files, a folder of Arrow or Parquet files and one without `train` are
// errors whose fix is a command.
absl::StatusOr<std::map<std::string, std::string>> FindSplitFiles(
    const std::string& path);

struct NewModel {
  std::string path;  // a folder, as transformers saves one
  std::string id;    // empty: from the path
};

struct NewDataSet {
  std::string path;  // a file of rows, or a folder of them
  std::string id;
  std::string validation;  // a file, or empty
  std::string test;
  trainer::ColumnMap columns;  // those that a person named
  std::string task;
  TableHints hints;
  bool skip_unlabelled = false;
};

struct AddedModel {
  ModelFacts facts;
  bool was_there = false;  // under this id, with these weights
};

struct AddedDataSet {
  DataFacts facts;
  trainer::ColumnMap columns;
  std::vector<std::string> guessed;  // roles
  bool was_there = false;            // under this id, with these rows
};

// An addition to a registry. What it has added is removed when it is destroyed,
// unless Keep() has answered OK. Others cannot add to the registry while it
// lives. One thread uses it.
class Addition {
 public:
  // Makes the folder where there is none.
  static absl::StatusOr<Addition> To(const std::string& folder);

  absl::StatusOr<AddedModel> Add(const NewModel& model);
  absl::StatusOr<AddedDataSet> Add(const NewDataSet& set);

  // With what was added.
  const Registry& registry() const { return registry_; }

  // Writes the entries of all that was added, or of none.
  absl::Status Keep();

 private:
  Addition(std::string named, Placing placing, Registry registry);

  std::string named_;  // the folder, as somebody wrote it
  Placing placing_;
  Registry registry_;
  std::string data_entries_;  // as datasets.yaml will have them
  std::string model_entries_;
};

// Adds one entry and keeps it.
absl::StatusOr<AddedModel> AddModel(const std::string& registry,
                                    const NewModel& model);
absl::StatusOr<AddedDataSet> AddDataSet(const std::string& registry,
                                        const NewDataSet& set);

// "My Reviews.csv" makes "my-reviews"; a folder called model has its parent's
// name.
std::string IdFromPath(const std::string& path);

}  // namespace frostline::registry

#endif  // FROSTLINE_WORKER_REGISTRY_ADD_H_
