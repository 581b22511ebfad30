// SPDX-License-Identifier: Apache-2.0
//
// File: access.h
//
// Who may call which verb, and who sees and changes which study.
#ifndef FROSTLINE_SERVER_AUTH_ACCESS_H_
#define FROSTLINE_SERVER_AUTH_ACCESS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "frostline/v1/admin_service.pb.h"
#include "google/protobuf/map.h"
#include "google/protobuf/message.h"
#include "server/loop/call_context.h"

namespace frostline::server {

//   caller \ row   anyone  viewer  worker  certified  researcher  invited admin
//   invited          x                                               x
//   viewer           x       x
//   worker           x               x       if it is
//   researcher       x       x                          x
//   admin            x       x       x                  x                    x
//
// A worker is certified where a certificate is what it shows. A row that names
// no role has that of admins, so a new verb is denied to everybody else until
// somebody says otherwise.

bool Allows(const CallerIdentity& caller, CallerRole row);

// "admin"; of a row also "anyone" and "certified".
const char* NameOfRole(CallerRole role);
// Answers nothing for any other word, "anyone" too.
std::optional<CallerRole> RoleNamed(const std::string& name);

v1::Role RoleToProto(CallerRole role);
// Answers nothing for what is no role of a caller.
std::optional<CallerRole> RoleFromProto(int role);

//   caller                      sees a study      changes it
//   admin                       x                 x
//   researcher                  x                 its owner
//   researcher with labels      owner or labels   owner or labels
//   viewer                      x
//   viewer with labels          labels
//
// A worker sees what it leases. Labels of a caller are those of its token; a
// study has to carry all of them.

// Whose a study is.
struct StudyBelongs {
  const std::string& name;
  const std::string& owner;
  const google::protobuf::Map<std::string, std::string>& labels;
};

// Says whether some studies are out of this caller's sight.
bool IsLimited(const CallerIdentity& caller);
bool MaySee(const CallerIdentity& caller, const StudyBelongs& study);
// Both answer STUDY_DENIED. The second is of what the caller creates or leaves
// behind: it has to carry the caller's own labels.
absl::Status CheckStudyAccess(const CallerIdentity& caller,
                              const StudyBelongs& study, bool changes);
absl::Status CheckOwnLabels(
    const CallerIdentity& caller,
    const google::protobuf::Map<std::string, std::string>& labels);

// Finds every "studies/…" that a request names where names are; in notes and
// labels there are none. Each is there once, without "/trials/7".
std::vector<std::string> StudiesNamedIn(
    const google::protobuf::Message& request);
// Says whether requests of this method may change anything: they have a request
// id, or end an attempt and have its lease instead.
bool MayChange(const google::protobuf::Descriptor& request,
               const std::string& method);
// Fills in what the request says of itself: its id, what it is about ("" is the
// coordinator), the studies it names, whether it changes anything. `method` is
// "frostline.v1.StudyService.StopStudy".
void NoteRequest(const google::protobuf::Message& request,
                 const std::string& method, CallContext* caller);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_AUTH_ACCESS_H_
