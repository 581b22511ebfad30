// SPDX-License-Identifier: Apache-2.0
//
// File: libpq.h
//
// The functions of PostgreSQL's client library that we call. The library is
// opened when a coordinator is told to use PostgreSQL, so that nobody else
// needs it (docs/adr/0041-postgresql.md).
#ifndef FROSTLINE_STORAGE_POSTGRES_LIBPQ_H_
#define FROSTLINE_STORAGE_POSTGRES_LIBPQ_H_

#include <libpq-fe.h>

#include "absl/status/statusor.h"

namespace frostline::storage {

#define FROSTLINE_LIBPQ_(F) \
  F(PQbackendPID)           \
  F(PQclear)                \
  F(PQcmdTuples)            \
  F(PQconnectdbParams)      \
  F(PQconninfoFree)         \
  F(PQconninfoParse)        \
  F(PQdb)                   \
  F(PQenterPipelineMode)    \
  F(PQerrorMessage)         \
  F(PQexec)                 \
  F(PQfinish)               \
  F(PQfreemem)              \
  F(PQgetResult)            \
  F(PQgetlength)            \
  F(PQgetvalue)             \
  F(PQhost)                 \
  F(PQntuples)              \
  F(PQparameterStatus)      \
  F(PQpipelineSync)         \
  F(PQport)                 \
  F(PQresultErrorField)     \
  F(PQresultErrorMessage)   \
  F(PQresultStatus)         \
  F(PQsendPrepare)          \
  F(PQsendQueryPrepared)    \
  F(PQstatus)

// libpq.so.5 of PostgreSQL 14 or newer.
struct Libpq {
#define FROSTLINE_POINTER_(name) decltype(&::name) name = nullptr;
  FROSTLINE_LIBPQ_(FROSTLINE_POINTER_)
#undef FROSTLINE_POINTER_
};

// Opens the library once. The error is STORE_UNWRITABLE when it is not on this
// machine, or too old. Any thread may call it.
absl::StatusOr<const Libpq*> LoadLibpq();

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_POSTGRES_LIBPQ_H_
