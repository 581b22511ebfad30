// SPDX-License-Identifier: Apache-2.0
//
// File: conllu.h
//
// In CoNLL-U (Universal Dependencies) a row is a sentence, a cell the list of a
// column over its words. The columns are id form lemma upos xpos feats head
// deprel deps misc. Comments, ranges and empty nodes are passed over; other
// columns, words not counted from 1 and an empty form are faults.
#ifndef FROSTLINE_WORKER_TRAINER_DATA_CONLLU_H_
#define FROSTLINE_WORKER_TRAINER_DATA_CONLLU_H_

#include <memory>
#include <string>
#include <vector>

#include "worker/trainer/data/line_reader.h"
#include "worker/trainer/data/row_source.h"

namespace frostline::trainer {

Expected<std::unique_ptr<RowSource>> OpenConllu(
    LineReader lines, const std::vector<std::string>& columns);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_CONLLU_H_
