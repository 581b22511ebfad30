// SPDX-License-Identifier: Apache-2.0
//
// How a study was worked on: by whom, with which curves, and what shared frozen
// layers saved.
import {allPages, coordinatorTime} from '../api';
import type {SecondsRange, Study, Trial} from '../api';
import {readSelection} from '../axes';
import {Curves} from '../charts/curves';
import {DataTable} from '../charts/frame';
import {attemptBars, isPlain, newestBars, Timeline} from '../charts/timeline';
import {bytes, count, counted, num, percent, seconds} from '../format';
import {Copy, Facts, Show} from '../parts';
import {useAtRevision} from './revision';

export const Work = ({study, trials, metric, lower, view, id}: {
  study: Study; trials: Trial[]; metric: string; lower: boolean;
  view: URLSearchParams; id: string;
}) => {
  // A trial's earlier attempts are in no table, and asked for where there are any.
  const isAgain = !trials.every(isPlain);
  const attempts = useAtRevision(`${study.name} attempts ${String(isAgain)}`,
    isAgain ? String(study.revision ?? '') : '', 5000, async () => isAgain ?
      allPages<Trial>('StudyService/ListTrials', {parent: study.name,
        view: 'TRIAL_VIEW_FULL'}, 'trials') : null);
  const now = coordinatorTime();
  return <div class="grid2">
  <Show got={attempts} what="attempts">{(data) =>
    <Timeline bars={data ? attemptBars(data, now) :
      newestBars(trials, -Infinity, now)} />}</Show>
  <Curves {...{trials, metric, lower, id}} selection={readSelection(view)}
    which={view.get('curves') ?? ''} smooth={num(view.get('smooth'))} />
  <Sharing study={study} trials={trials} />
  <section class="card wide"><header><h2>The same on the command line</h2></header>
    <Copy text={`frostline study show ${id}`} />
    <Copy text={`frostline trial list ${id}`} /></section>
  </div>;
};

const range = (of: SecondsRange): string => {
  const least = seconds(num(of.least));
  const most = seconds(num(of.most));
  return least === most ? `about ${least}` : `about ${least} to ${most}`;
};

// Embeddings and layers below the first that trains: what trials can share.
const boundaryOf = (trial: Trial): string => {
  let last = '';
  for (const one of trial.rates ?? []) {
    if (num(one.rate) !== 0 || /^(pooler|head)/.test(one.module)) break;
    last = one.module;
  }
  return last;
};

const Sharing = ({study, trials}: {study: Study; trials: Trial[]}) => {
  const usage = study.usage;
  const by = new Map<string, {trials: number; hits: number; misses: number;
    bytes: number}>();
  for (const trial of trials) {
    const used = trial.usage;
    if (num(used?.prefixHits) + num(used?.prefixMisses) === 0) continue;
    const key = boundaryOf(trial);
    const row = by.get(key) ?? {trials: 0, hits: 0, misses: 0, bytes: 0};
    by.set(key, {trials: row.trials + 1, hits: row.hits + num(used?.prefixHits),
      misses: row.misses + num(used?.prefixMisses),
      bytes: row.bytes + num(used?.prefixBytes)});
  }
  const order = trials.find((one) => one.rates?.length)?.rates?.map(
      (one) => one.module) ?? [];
  const rows = [...by].sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
  const would = [usage?.withoutSharing ?
    `${range(usage.withoutSharing)} without sharing` : '',
  usage?.withoutFreezing ? `${range(usage.withoutFreezing)
    } had frozen modules cost what trained ones do` : ''].filter(Boolean);
  return <section class="card wide" id="sharing"><header>
    <h2>What frozen layers saved</h2></header>
    <p class="says">{would.length > 0 ?
      `This study would have taken ${would.join(', ')}.` : rows.length > 0 ?
      'Trials took results of frozen layers; what that saved is not known.' :
      'No trial has said that it took the results of frozen layers: none froze from the bottom, or the trainer does not share.'}</p>
    <Facts of={[
      ['cost', num(usage?.trials) > 0 ? `${seconds(num(usage?.totalSeconds))} of ${
        counted(num(usage?.trials), 'trial')}, ${seconds(num(usage?.trainSeconds))
        } of that in training steps` : ''],
      ['prefixes', num(usage?.prefixHits) + num(usage?.prefixMisses) > 0 ?
        `rows taken ${count(usage?.prefixHits)}, computed ${
          count(usage?.prefixMisses)}${num(usage?.prefixBytes) > 0 ?
          `; ${bytes(usage?.prefixBytes)} stored` : ''}` : ''],
    ]} />
    {rows.length > 0 ? <DataTable caption="Hits by boundary" table={{
      head: ['Frozen up to', 'Trials', 'Rows taken', 'Rows computed', 'Taken',
        'Stored'], right: [1, 2, 3, 4, 5],
      rows: rows.map(([key, one]) => [key || 'not known', one.trials,
        count(one.hits), count(one.misses),
        percent(one.hits / (one.hits + one.misses)), bytes(one.bytes)])}} /> :
      null}
  </section>;
};
