// SPDX-License-Identifier: Apache-2.0
//
// File: sampler.h
//
// Proposes the next point of a study. A proposal is a function of (seed, trial
// number, history), so a study replays bit for bit.
//
//   ASSIGN_OR_RETURN(auto sampler, MakeSampler(spec, space, objectives));
//   Rng rng(study_seed, trial_number);
//   ASSIGN_OR_RETURN(Point point, sampler->Propose(history, number, rng));
#ifndef FROSTLINE_SAMPLER_SAMPLER_H_
#define FROSTLINE_SAMPLER_SAMPLER_H_

#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/error.h"
#include "base/rng.h"
#include "study/history.h"
#include "study/objective.h"
#include "study/space.h"

namespace frostline::sampler {

// Reads the options of a sampler. It keeps the first mistake, so a caller reads
// everything and asks once.

using Options = std::map<std::string, std::string>;

// A reader of one sampler's options. It keeps a reference to the options and is
// not thread-safe.
class OptionReader {
 public:
  // `owner` is for messages; `field` is where the study has its options.
  OptionReader(ErrorId error, std::string owner, std::string field,
               const Options& options);

  // Each answers `otherwise` when the option is left out or wrong.
  std::int64_t Int(const std::string& name, std::int64_t otherwise,
                   std::int64_t min, std::int64_t max);
  double Number(const std::string& name, double otherwise, double min,
                double max);
  bool Bool(const std::string& name, bool otherwise);
  std::string OneOf(const std::string& name, const std::string& otherwise,
                    const std::vector<std::string>& choices);

  // Returns the first mistake. An option that nobody read is one: call this
  // last.
  absl::Status Finish() const;

 private:
  const std::string* Find(const std::string& name);
  void Refuse(const std::string& name, const std::string& text,
              const std::string& expected);

  ErrorId error_;
  std::string owner_;
  std::string field_;
  const Options& options_;
  std::vector<std::string> known_;
  absl::Status first_error_;
};

// Says "there is no sampler \"tpee\"" and, to fix it, "did you mean tpe? …".
absl::Status UnknownName(ErrorId error, const std::string& what,
                         const std::string& name,
                         const std::vector<std::string>& known,
                         const std::string& field);

// Returns the name with the fewest edits, ignoring case; empty if all are far
// off.
std::string NearestName(const std::string& name,
                        const std::vector<std::string>& names);

// An earlier study. Its trials are finished, with points of the *new* study's
// space and values for its objectives.
struct PriorStudy {
  std::string name;
  // How much its trials count, 0 … 1; at 0 the sampler judges by similarity.
  double weight = 0.0;
  std::vector<Observation> trials;
};

struct SamplerInput {
  Options options;
  Space space;
  std::vector<Objective> objectives;
  std::vector<PriorStudy> prior_studies;
  // It seeds what all trials share.
  std::uint64_t study_seed = 0;
};

// A search algorithm. It has one owner thread at a time. It may remember what
// it computed (History::changes() says what is new), as long as it answers what
// a fresh one would.
class Sampler {
 public:
  virtual ~Sampler() = default;

  // Every active parameter has a value in its domain, every other is absent,
  // whatever the history holds (failed trials, values out of today's space,
  // nothing). `history` is of one study and grows. The errors are
  // SPACE_EXHAUSTED, when a finite space is covered, and CANCELLED soon after
  // any thread requested a stop: later proposals are as if that one had not
  // been asked for.
  absl::StatusOr<Point> Propose(const History& history, std::int64_t number,
                                Rng& rng, const std::stop_token& stop = {}) {
    if (stop.stop_requested()) return Stopped();
    return ProposeUntil(stop, history, number, rng);
  }

  // False of a point that is known to take more memory than there is. Propose
  // answers none of these.
  virtual bool MayFit(const History& /*history*/, const Point& /*point*/) {
    return true;
  }

 protected:
  static absl::Status Stopped() {
    return absl::CancelledError("the proposal was stopped");
  }

 private:
  // What may take longer than some milliseconds looks at `stop` meanwhile.
  virtual absl::StatusOr<Point> ProposeUntil(const std::stop_token& stop,
                                             const History& history,
                                             std::int64_t number, Rng& rng) = 0;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_SAMPLER_H_
