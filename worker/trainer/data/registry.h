// SPDX-License-Identifier: Apache-2.0
//
// File: registry.h
//
// Lists the data sets and models of a worker, by id, from its operator's
// datasets.yaml and models.yaml (docs/reference/datasets.md). A study names ids
// alone, so it never reaches another file.
#ifndef FROSTLINE_WORKER_TRAINER_DATA_REGISTRY_H_
#define FROSTLINE_WORKER_TRAINER_DATA_REGISTRY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/plain/json.h"
#include "base/plain/result.h"
#include "worker/trainer/data/dataset.h"
#include "worker/trainer/data/row_source.h"

namespace frostline::trainer {

// Takes members of a JSON request by name and type, and keeps the first that
// does not fit as the fault, so a reader asks once, at the end. An absent
// member is its default: the contract leaves out 0 and empty.
class RequestFields {
 public:
  // A member is looked for in one object after the other, which outlive this
  // (null is an empty one; what is neither is a fault). `where` names them in
  // faults.
  RequestFields(std::string where, std::vector<const JsonValue*> objects);

  std::string Text(std::string_view name);
  bool Flag(std::string_view name);
  double Share(std::string_view name);  // within [0, 1]
  double Number(std::string_view name, double least, double most,
                double fallback);
  std::int64_t Whole(std::string_view name, std::int64_t least,
                     std::int64_t most, std::int64_t fallback);
  std::uint64_t Bits(std::string_view name);  // any 64 bits; 0 when absent
  std::vector<std::string> Texts(std::string_view name);
  // It is null when absent or null.
  const JsonValue* Find(std::string_view name) const;

  void Fail(std::string_view name, const std::string& what,
            const std::string& fix);
  // Takes the fault of a separate part.
  void Take(const Fault& fault) {
    if (!fault_) fault_ = fault;
  }
  const std::optional<Fault>& fault() const { return fault_; }

 private:
  std::string where_;
  std::vector<const JsonValue*> objects_;
  std::optional<Fault> fault_;
};

struct SplitEntry {
  std::string path;  // below the operator's root
  std::string sha256;
  FileFormat format;
  ColumnMap columns;
  TextForm form;     // of its set
  LabelRules rules;  // of its set
  bool labelled = true;
  bool skip_unlabelled = false;
};

struct DatasetEntry {
  std::string id;
  std::optional<TaskName> task;
  std::vector<std::string> labels;  // empty: those of the training split
  std::map<std::string, SplitEntry, std::less<>> splits;
};

struct ModelEntry {
  std::string id;
  std::string path;     // of its folder, below the operator's root
  std::string weights;  // the file in it of this sum
  std::string sha256;
  // Where that file is an index, they are the sums of the files in it.
  std::map<std::string, std::string> shards;
};

using DatasetEntries = std::map<std::string, DatasetEntry, std::less<>>;
using ModelEntries = std::map<std::string, ModelEntry, std::less<>>;

// [a-z0-9][a-z0-9._-]{0,63}
bool IsRegistryId(std::string_view id);

// `name` is what faults call the file. An unknown key is a fault: it is
// misspelt.
Expected<DatasetEntries> ParseDatasets(std::string_view yaml,
                                       const std::string& name);
Expected<ModelEntries> ParseModels(std::string_view yaml,
                                   const std::string& name);

// Reads the contract's DataRef in JSON (docs/reference/trainer-protocol.md,
// `data`).

// Two trials with equal requests train on the same rows.
struct DataRequest {
  std::string id = {};
  ColumnMap columns = {};  // go before the registry's
  std::string train_split = {};
  std::string validation_split = {};
  std::string test_split = {};
  std::uint64_t train_rows = 0;
  double train_share = 0.0;
  double validation_share = 0.0;
  std::uint64_t split_seed = 0;
  std::optional<TaskName> task = {};
  std::string sha256 = {};
  TextForm form = {};     // besides what the registry says
  LabelRules rules = {};  // behind the registry's, of every set

  friend bool operator==(const DataRequest&, const DataRequest&) = default;
};

// Passes over unknown fields. Returns kMisuse naming a field that is not right.
Expected<DataRequest> ReadDataRequest(const JsonValue& data);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_REGISTRY_H_
