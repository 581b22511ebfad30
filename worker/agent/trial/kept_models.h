// SPDX-License-Identifier: Apache-2.0
//
// File: kept_models.h
//
// The trained models of a run folder. A trial that succeeds may leave one: the
// folder `model` in its attempt's folder. If the study exports only the best
// model, the run folder keeps one for each study and one for each trial that
// runs. With several objectives it keeps one for each trial that no other there
// dominates. What happens to a model:
//
//   Begin    an attempt begins          a record says whose it is
//   Offer    it succeeds                removed if worse than one that is kept
//   Settle   the coordinator took it    removes those that it beats
//            or refused it              removed
//   Clean    at start and now and then  removes what dead agents left
//
// A model is removed by a rename into the trash, so none is ever half there.
// Several agents may share the folder; all judge by the same records.
#ifndef FROSTLINE_WORKER_AGENT_TRIAL_KEPT_MODELS_H_
#define FROSTLINE_WORKER_AGENT_TRIAL_KEPT_MODELS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "frostline/v1/worker.pb.h"
#include "frostline/v1/worker_service.pb.h"

namespace frostline::agent {

// What an attempt's trial came to, as a file beside the attempt's folder
// (DIR/trials/STUDY/17/2.model). From it any agent knows which models may be
// removed. Only studies that export the best model alone have records. A record
// is in one of three states:
//
//   begun     the attempt runs, or its agent died; it has no result
//   scored    it has a result, which the coordinator has not taken yet
//   settled   the coordinator has taken it, at a revision of the study
//
// Which of two is better is decided as the coordinator does: first the trial
// that breaks the study's constraints less; then the one that dominates; with
// one objective, the earlier of equals.
struct ModelRecord {
  std::string agent;           // the one that runs the attempt, or ran it
  WallMicros study = 0;        // when it was created; 0: not known
  std::vector<double> losses;  // empty until there is a result
  double violation = 0.0;      // of the study's constraints, in all
  std::int64_t revision = 0;   // 0 until it is settled

  bool operator==(const ModelRecord&) const = default;
  bool IsScored() const { return !losses.empty(); }
  bool IsSettled() const { return revision > 0; }
};

// Says whether `training.extra.export` is `best`, or `true`, its former name.
bool ExportsBestOnly(const v1::TrialSpec& spec);

// Writes the result of a trial that succeeded into `record`.
// REQUIRES: `metrics` has every objective.
void Score(const v1::TrialSpec& spec,
           const google::protobuf::Map<std::string, double>& metrics,
           ModelRecord& record);

// Says whether `better` is so much better that `other` need not be kept. Both
// are scored. One that is not settled yet counts as the later.
bool Beats(const ModelRecord& better, const ModelRecord& other);

std::string RecordPathOf(const std::string& attempt_folder);
// Returns nothing if there is no record or the file is not one of ours.
std::optional<ModelRecord> ReadRecord(const std::string& path);
absl::Status WriteRecord(const std::string& path, const ModelRecord& record);

inline constexpr char kModelFolder[] = "model";
inline constexpr char kModelSums[] = "SHA256SUMS";

// Writes the sums of the files in `folder` into it, as `sha256sum -c` reads
// them, and returns what is there. The error says which entry is no file that
// can be copied.
absl::StatusOr<v1::TrainedModel> DescribeModel(const std::string& folder,
                                               const std::string& host);

// The trained models in a run folder. It is thread-safe.
class KeptModels {
 public:
  // Models are moved to `trash`, on the same file system, before they are
  // deleted. `agent` is our id.
  KeptModels(std::string run_folder, std::string trash, std::string agent);

  // Does nothing if the study does not export the best model alone.
  void Begin(const v1::Lease& lease, const std::string& attempt_folder);
  // Returns false if a kept model is better, or the result cannot be recorded;
  // the model is removed then. Returns true if the study keeps all models.
  bool Offer(const v1::TrialSpec& spec, const std::string& attempt_folder,
             const v1::Outcome& outcome);
  // Takes the answer to a finish; a default reply stands for a refusal.
  void Settle(const v1::FinishRequest& finish, const v1::FinishReply& reply);
  // `in_use` says whether the trial of a folder runs or has something to
  // deliver.
  void Clean(const std::function<bool(const std::string&)>& in_use);

 private:
  // A record and the folder beside it.
  struct Found {
    std::string attempt_folder;
    ModelRecord record;
  };

  std::vector<Found> FindIn(const std::string& study_folder) const;
  void CleanStudy(const std::string& study_folder,
                  const std::function<bool(const std::string&)>& in_use)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Removes the model and its record.
  void Discard(const std::string& attempt_folder, const std::string& why)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string run_folder_;
  const std::string trash_;
  const std::string agent_;
  Mutex mutex_;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_TRIAL_KEPT_MODELS_H_
