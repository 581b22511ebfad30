// SPDX-License-Identifier: Apache-2.0
//
// File: ended_study.h
//
// What is told of a study that has ended, on one line:
//
//   {"event":"study_ended","delivery":"5f…","notification":"mail",
//    "study":"imdb","state":"COMPLETED","reason":"budget of 60 trials reached",
//    "end_time":"2026-11-21T06:07:34.123456Z","trials":{"succeeded":58,…},
//    "best":{"trial":"studies/imdb/trials/12","number":12,
//            "values":{"accuracy":0.93}}}
//
// docs/how-to/notifications.md promises it: members are added, never changed.
#ifndef FROSTLINE_SERVER_NOTIFY_ENDED_STUDY_H_
#define FROSTLINE_SERVER_NOTIFY_ENDED_STUDY_H_

#include <string>

#include "base/clock.h"
#include "server/ledger/study_book.h"

namespace frostline::server {

// What all deliveries of one end have in common: the members behind
// "notification". Of several objectives "best" is the best by the first.
std::string DescribeEnd(const StudyBook& book, WallMicros end);

std::string EndedStudy(const std::string& delivery,
                       const std::string& notification,
                       const std::string& described);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_NOTIFY_ENDED_STUDY_H_
