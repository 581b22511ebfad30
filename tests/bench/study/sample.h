// SPDX-License-Identifier: Apache-2.0
//
// File: sample.h
//
// The model and the rows that every side trains on.
#ifndef FROSTLINE_TESTS_BENCH_STUDY_SAMPLE_H_
#define FROSTLINE_TESTS_BENCH_STUDY_SAMPLE_H_

#include <string>

namespace frostline::bench {

// The demo's model, MiniLM, where ./dev setup put it; empty where it did not.
std::string FindMiniLm();

// A folder that goes when it does.
class Sample {
 public:
  // Takes 256 sentences of reviews to train and 80 to validate: of SST-2 below
  // $FROSTLINE_SHARED_DATA/data, else of the demo's own. Throws
  // std::runtime_error, as all here.
  explicit Sample(const std::string& model);
  ~Sample();
  Sample(const Sample&) = delete;
  Sample& operator=(const Sample&) = delete;

  std::string folder() const { return folder_; }
  std::string registry() const { return folder_ + "/registry"; }
  // TSV with the columns text and label.
  std::string train() const { return folder_ + "/train.tsv"; }
  std::string validation() const { return folder_ + "/validation.tsv"; }
  const std::string& model() const { return model_; }
  const std::string& about() const { return about_; }

 private:
  const std::string model_;
  std::string folder_;
  std::string about_;  // "SST-2"
};

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_STUDY_SAMPLE_H_
