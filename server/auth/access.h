// SPDX-License-Identifier: Apache-2.0
//
// File: access.h
//
// Who may call which verb, and who may see and change which study.
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
// A worker is certified when it shows a certificate. A row that names no role
// is for admins, so a new verb is denied to everybody else until it names a
// role.

bool Allows(const CallerIdentity& caller, CallerRole row);

// Returns the role's name: "admin"; for the role of a row also "anyone" and
// "certified".
const char* NameOfRole(CallerRole role);
// Returns the role of this name; nothing for any other word, including
// "anyone".
std::optional<CallerRole> RoleNamed(const std::string& name);

v1::Role RoleToProto(CallerRole role);
// Returns nothing when the number is no role of a caller.
std::optional<CallerRole> RoleFromProto(int role);

//   caller                      sees a study      changes it
//   admin                       x                 x
//   researcher                  x                 its owner
//   researcher with labels      owner or labels   owner or labels
//   viewer                      x
//   viewer with labels          labels
//
// A worker sees what it leases. A caller's labels are those of its token; a
// study has to carry all of them.

// The owner of a study, and its labels.
struct StudyBelongs {
  const std::string& name;
  const std::string& owner;
  const google::protobuf::Map<std::string, std::string>& labels;
};

// Says whether this caller cannot see all studies.
bool IsLimited(const CallerIdentity& caller);
bool MaySee(const CallerIdentity& caller, const StudyBelongs& study);
// Both return STUDY_DENIED. The second one checks what the caller creates or
// leaves behind: it has to carry the caller's own labels.
absl::Status CheckStudyAccess(const CallerIdentity& caller,
                              const StudyBelongs& study, bool changes);
absl::Status CheckOwnLabels(
    const CallerIdentity& caller,
    const google::protobuf::Map<std::string, std::string>& labels);

// Returns every "studies/…" that a request names, each once and without
// "/trials/7". It looks at fields that hold names, not at notes or labels.
std::vector<std::string> StudiesNamedIn(
    const google::protobuf::Message& request);
// Says whether requests of this method may change anything: they have a request
// id, or they end an attempt, whose lease then serves as one.
bool MayChange(const google::protobuf::Descriptor& request,
               const std::string& method);
// Fills in what the request says of itself: its id, its resource ("" is the
// coordinator), the studies it names, and whether it changes anything. `method`
// is "frostline.v1.StudyService.StopStudy".
void NoteRequest(const google::protobuf::Message& request,
                 const std::string& method, CallContext* caller);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_AUTH_ACCESS_H_
