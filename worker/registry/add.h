// SPDX-License-Identifier: Apache-2.0
//
// File: add.h
//
// Adds models and data sets to a registry: their files, their sums, and entries
// at the end of models.yaml or datasets.yaml. Everything is checked first; if
// anything is wrong, nothing changes.
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

// The files that are put into a registry's folder. An entry cannot name a file
// outside of that folder, so files from elsewhere are put there first. They are
// removed again when this object is destroyed, unless Keep() was called. One
// thread uses it.
class Placing {
 public:
  // Makes the folder if there is none, and locks it, if its file system has
  // locks, so that others add nothing meanwhile.
  static absl::StatusOr<Placing> Into(const std::string& folder);
  ~Placing();
  Placing(Placing&& other) noexcept;
  Placing& operator=(Placing&&) = delete;
  Placing(const Placing&) = delete;
  Placing& operator=(const Placing&) = delete;

  const std::string& folder() const { return folder_; }

  // Returns the path below the folder; "" if it lies elsewhere.
  std::string Below(const std::string& path) const;

  // Copies a file, so that its registered rows stay when somebody edits it.
  absl::Status Copy(const std::string& from, const std::string& to);
  // Makes a hard link, which needs no room: nobody edits weights. It copies if
  // the file is on another file system.
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

// Returns the files of a data set's splits, by the split's name. If `path` is a
// file, it is `train`. In a folder, as Hugging Face keeps them, the files have
// train, validation and test in their names. The error's fix is a command if a
// split has several files, the files are Arrow or Parquet, or `train` is
// missing.
absl::StatusOr<std::map<std::string, std::string>> FindSplitFiles(
    const std::string& path);

// What somebody says about a model or a data set to add.
struct NewModel {
  std::string path;      // a folder, as transformers saves one
  std::string id;        // empty: IdFromPath()
  bool replace = false;  // another of this id
};

struct NewDataSet {
  std::string path;  // a file of rows, or a folder of them
  std::string id;
  std::string validation;  // a file, or empty
  std::string test;
  trainer::ColumnMap columns;  // the columns that a person named
  std::string task;
  TableHints hints;
  bool skip_unlabelled = false;
  bool replace = false;  // another of this id
};

// What was added.
struct AddedModel {
  ModelFacts facts;
  bool was_there = false;  // it was registered before, with these weights
};

struct AddedDataSet {
  DataFacts facts;
  trainer::ColumnMap columns;
  std::vector<std::string> guessed;  // the roles whose columns were guessed
  bool lacks_header = false;
  bool is_header_guessed = false;
  bool was_there = false;  // it was registered before, with these rows
};

// An addition to a registry. It is undone when this object is destroyed, unless
// Keep() has returned OK. Nobody else can add to the registry while it lives.
// One thread uses it.
class Addition {
 public:
  // Makes the registry's folder if there is none.
  static absl::StatusOr<Addition> To(const std::string& folder);

  absl::StatusOr<AddedModel> Add(const NewModel& model);
  absl::StatusOr<AddedDataSet> Add(const NewDataSet& set);

  // Returns the registry with what was added.
  const Registry& registry() const { return registry_; }

  // Writes the entries of all that was added, or of none.
  absl::Status Keep();

 private:
  Addition(std::string named, Placing placing, Registry registry);

  std::string named_;  // the folder, as somebody wrote it
  Placing placing_;
  Registry registry_;
  EntryChange data_;
  EntryChange models_;
};

// Adds one entry and keeps it.
absl::StatusOr<AddedModel> AddModel(const std::string& registry,
                                    const NewModel& model);
absl::StatusOr<AddedDataSet> AddDataSet(const std::string& registry,
                                        const NewDataSet& set);

// Takes an entry out of a registry and returns the paths of its files below the
// folder, which stay.
absl::StatusOr<std::vector<std::string>> RemoveModel(
    const std::string& registry, const std::string& id);
absl::StatusOr<std::vector<std::string>> RemoveDataSet(
    const std::string& registry, const std::string& id);

// Makes an id: "my-reviews" of "My Reviews.csv". For a folder called model it
// takes the name of its parent.
std::string IdFromPath(const std::string& path);

}  // namespace frostline::registry

#endif  // FROSTLINE_WORKER_REGISTRY_ADD_H_
