// SPDX-License-Identifier: Apache-2.0
//
// How a study does, in plain sentences, each with what to do about it. The
// coordinator says all but the counts.
import type {Frontier, Got, Reasons, Report, Study, Trial} from '../api';
import {counted, fixed, lastPart, num, sentence, state} from '../format';

interface Said { kind: 'good' | 'look' | 'bad'; says: string; fix?: string }

const WORD = {good: 'Good', look: 'Look', bad: 'Trouble'};
// As the command line has it: below it little should be believed.
const BELIEVE_LITTLE = 0.3;

// Where one worker has most of the failures, it is named.
const failures = (trials: Trial[]): Said[] => {
  const failed = trials.filter((one) => state(one.state) === 'FAILED');
  const again = trials.filter((one) => num(one.attempt) > 1);
  const said: Said[] = [];
  if (failed.length > 0) {
    const by = new Map<string, number>();
    for (const one of failed) {
      const worker = lastPart(one.worker ?? '');
      by.set(worker, (by.get(worker) ?? 0) + 1);
    }
    const [worker = '', most = 0] = [...by].sort((a, b) => b[1] - a[1])[0] ?? [];
    const last = failed.reduce((a, b) => num(b.number) > num(a.number) ? b : a);
    said.push({kind: 'bad', says: `${failed.length} of ${
      counted(trials.length, 'trial')} failed${worker && most > 1 ?
      `, ${most} of them on worker ${worker}` : ''}; the last one, trial ${
      num(last.number)}: ${last.cause || 'no cause was told'}`});
  }
  if (again.length > 0) {
    said.push({kind: 'look', says: `${counted(again.length, 'trial')
    } took more than one attempt: a worker was lost, handed the trial back or failed`});
  }
  const infeasible = trials.filter((one) => state(one.state) === 'INFEASIBLE');
  if (infeasible.length > 0) {
    said.push({kind: 'look', says: `${infeasible.length} of ${
      counted(trials.length, 'trial')} could not be trained: a loss became NaN, or the point is impossible`});
  }
  return said;
};

const ofReport = (report: Got<Report>): Said[] => {
  if (report.error?.code === 'failed_precondition') {
    return [{kind: 'look', says: report.error.message, fix: report.error.fix}];
  }
  const data = report.data;
  if (data === undefined) return [];
  const said: Said[] = [];
  const r2 = num(data.outOfBagR2);
  const few = data.warnings?.some((one) => one.code === 'FEW_TRIALS');
  if (!few && data.outOfBagR2 !== undefined && Number.isFinite(r2)) {
    said.push(r2 <= 0 ? {kind: 'bad',
      says: 'importance explains nothing of trials that it has not seen'} :
      {kind: r2 < BELIEVE_LITTLE ? 'look' : 'good', says: `importance explains ${
        fixed(r2 * 100, 0)} % of the differences of trials that it has not seen${
        r2 < BELIEVE_LITTLE ? ': believe little of this' : ''}`});
  }
  const stable = data.stability;
  if (stable?.sentence) {
    said.push({kind: stable.state === 'SETTLED' ? 'good' : 'look',
      says: stable.sentence});
  }
  return [...said, ...(data.warnings ?? []).map((one): Said =>
    ({kind: 'look', says: one.sentence ?? ''}))];
};

export const Health = ({study, report, frontier, reasons, trials}: {
  study: Study; report: Got<Report>; frontier: Got<Frontier>;
  reasons: Got<Reasons>; trials: Trial[];
}) => {
  const active = state(study.state) === 'ACTIVE';
  const all: Said[] = [
    ...(active ? reasons.data?.reasons ?? [] : []).map((one): Said =>
      ({kind: 'look', says: one.sentence ?? '', ...(one.fix ?
        {fix: one.fix} : {})})),
    ...failures(trials), ...ofReport(report),
    ...(frontier.data?.warnings ?? []).map((one): Said =>
      ({kind: 'look', says: one.sentence ?? ''}))];
  const said = [...new Map(all.filter(({says}) => says !== '').map((one) =>
    [one.says, one])).values()];
  const order = ['bad', 'look', 'good'];
  said.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
  return <section class="card wide" id="health">
    <header><h2>How it does</h2></header>
    {said.length === 0 ? <p class="quiet">Nothing to say yet.</p> :
      <ul class="health">{said.map((one) => <li class={one.kind}>
        <strong>{WORD[one.kind]}</strong>
        <div><p>{sentence(one.says)}</p>
          {one.fix ? <p class="quiet">{sentence(one.fix)}</p> : null}</div>
      </li>)}</ul>}
  </section>;
};
