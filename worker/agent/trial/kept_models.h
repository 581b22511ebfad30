// SPDX-License-Identifier: Apache-2.0
//
// File: kept_models.h
//
// A trial that succeeds may leave its trained model: the folder `model` in its
// attempt's folder. Where the study exports the best alone, the run folder
// holds one model for each study (with several objectives one for each trial
// that no other there dominates), and one for each trial that runs:
//
//   Begin    an attempt begins          a record says whose it is
//   Offer    it succeeds                worse than one that is kept: gone
//   Settle   the coordinator took it    what it beats is gone; refused: gone
//   Clean    at start and now and then  what a dead agent left is gone
//
// A model goes by a rename into the trash, so none is half there. Several
// agents may share the folder; each judges by the same records. It is
// thread-safe.
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

// Where a study exports its best trial's model alone, a record stands beside
// each attempt's folder (DIR/trials/STUDY/17/2.model). It says what the trial
// came to, so that whoever looks knows which models may go:
//
//   begun     the attempt runs, or its agent died: the model is nobody's yet
//   scored    it has a result, which the coordinator has not taken yet
//   settled   the coordinator has taken it, at a revision of the study
//
// Better is what the coordinator takes for better: a trial that breaks the
// study's constraints less; among equals one that dominates; of one objective
// the earlier of equals.

struct ModelRecord {
  std::string agent;           // that runs the attempt, or did
  WallMicros study = 0;        // when it was created; 0: not known
  std::vector<double> losses;  // empty until there is a result
  double violation = 0.0;      // of the study's constraints, in all
  std::int64_t revision = 0;   // 0 until it is settled

  bool operator==(const ModelRecord&) const = default;
  bool IsScored() const { return !losses.empty(); }
  bool IsSettled() const { return revision > 0; }
};

// Says whether `training.extra.export` is `best`, or `true` as it was once.
bool ExportsBestOnly(const v1::TrialSpec& spec);

// Takes the result of a trial that succeeded.
// REQUIRES: `metrics` has every objective.
void Score(const v1::TrialSpec& spec,
           const google::protobuf::Map<std::string, double>& metrics,
           ModelRecord& record);

// Answers whether `better` leaves `other` no reason to be kept. Both are
// scored; what is not settled yet counts as the later.
bool Beats(const ModelRecord& better, const ModelRecord& other);

std::string RecordPathOf(const std::string& attempt_folder);
// Answers nothing where there is none, or none of ours.
std::optional<ModelRecord> ReadRecord(const std::string& path);
absl::Status WriteRecord(const std::string& path, const ModelRecord& record);

inline constexpr char kModelFolder[] = "model";
inline constexpr char kModelSums[] = "SHA256SUMS";

// Writes the sums of the files in `folder` into it, as `sha256sum -c` reads
// them, and says what is there. Fails where a file is none that can be copied.
absl::StatusOr<v1::TrainedModel> DescribeModel(const std::string& folder,
                                               const std::string& host);

// The trained models in a run folder.
class KeptModels {
 public:
  // `trash`, on the same file system, takes models first; `agent` is our id.
  KeptModels(std::string run_folder, std::string trash, std::string agent);

  // Does nothing where the study does not export the best alone.
  void Begin(const v1::Lease& lease, const std::string& attempt_folder);
  // False when it is beaten and gone. True where nothing judges it.
  bool Offer(const v1::TrialSpec& spec, const std::string& attempt_folder,
             const v1::Outcome& outcome);
  // What a finish was answered with; a default reply stands for a refusal.
  void Settle(const v1::FinishRequest& finish, const v1::FinishReply& reply);
  // `in_use` tells whether a trial's folder runs or has something to deliver.
  void Clean(const std::function<bool(const std::string&)>& in_use);

 private:
  struct Found {
    std::string attempt_folder;
    ModelRecord record;
  };

  std::vector<Found> FindIn(const std::string& study_folder) const;
  void CleanStudy(const std::string& study_folder,
                  const std::function<bool(const std::string&)>& in_use)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes the model away, and the record with it.
  void Discard(const std::string& attempt_folder, const std::string& why)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string run_folder_;
  const std::string trash_;
  const std::string agent_;
  Mutex mutex_;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_TRIAL_KEPT_MODELS_H_
