// SPDX-License-Identifier: Apache-2.0
//
// File: test_split.h
#ifndef FROSTLINE_STUDY_TEST_SPLIT_H_
#define FROSTLINE_STUDY_TEST_SPLIT_H_

#include <string>
#include <string_view>

namespace frostline {

// Says whether a trainer measures it on the test split: "test.accuracy", of a
// task "sts.test.pearson".
bool IsOfTestSplit(std::string_view metric);

// What is to be thought of results of a study that looks at such a metric.
std::string TestObjectiveSentence(std::string_view metric);

}  // namespace frostline

#endif  // FROSTLINE_STUDY_TEST_SPLIT_H_
