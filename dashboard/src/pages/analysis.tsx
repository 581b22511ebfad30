// SPDX-License-Identifier: Apache-2.0
//
// What a study's trials tell beyond the overview: what each value brings, which
// modules work together, whether the ranking holds, and the trials themselves.
import {useMemo} from 'preact/hooks';
import {call, usePolled} from '../api';
import type {Got, Marginals as MarginalsAnswer, PairTable, Report,
  Stability as StabilityAnswer, Trial} from '../api';
import {readSelection, type Axis} from '../axes';
import {Marginals} from '../charts/marginals';
import {PairGrid, Pairs} from '../charts/pairs';
import {Parallel} from '../charts/parallel';
import {Patterns} from '../charts/patterns';
import {Stability} from '../charts/stability';
import {Card, Copy} from '../parts';
import {useAtRevision} from './revision';

export const Analysis = ({name, id, revision, pace, view, report, trials, axes,
  modules, metric, lower}: {
  name: string; id: string; revision: string; pace: number;
  view: URLSearchParams; report: Got<Report>; trials: Trial[]; axes: Axis[];
  modules: string[]; metric: string; lower: boolean;
}) => {
  const selection = useMemo(() => readSelection(view), [view]);
  const marginals = useAtRevision(`${name} marginals`, revision, pace, () =>
    call<MarginalsAnswer>('ImportanceService/GetMarginals', {study: name}));
  const stability = useAtRevision(`${name} stability`, revision, 2 * pace, () =>
    call<StabilityAnswer>('ImportanceService/GetStability', {study: name}));
  const pair = view.get('pair') ?? '';
  const order = view.get('patterns') ?? '';
  const parallel = useMemo(() => <Parallel {...{trials, axes, metric, lower,
    selection}} />, [trials, axes, metric, lower, selection]);
  const patterns = useMemo(() => modules.length > 0 ?
    <Patterns {...{trials, modules, metric, lower, order}} /> : null,
  [trials, modules, metric, lower, order]);
  return <div class="grid2">
    <Card got={stability} title="Has the ranking settled?" what="stability">
      {(data) => <Stability answer={data} selected={selection.module} />}</Card>
    <Card got={report} title="Which modules work together" what="pairs">
      {(data) => <div class="stack">
        <Pairs report={data} chosen={pair} selected={selection.module} />
        {pair ? <OnePair {...{name, pair, revision, pace, modules}} /> : null}
      </div>}</Card>
    <div class="wide"><Card got={marginals} title="What each value brings"
      what="marginal curves">{(data) => <Marginals answer={data}
      report={report.data} modules={modules} selected={selection.module} />}
    </Card></div>
    {parallel}
    {patterns}
    <section class="card wide"><header><h2>The same on the command line</h2>
    </header>
      {['marginals', 'pairs', 'stability'].map((one) =>
        <Copy text={`frostline importance ${id} --${one}`} />)}</section>
  </div>;
};

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const OnePair = ({name, pair, revision, pace, modules}: {name: string;
  pair: string; revision: string; pace: number; modules: string[]}) => {
  const [first = '', second = ''] = pair.split(' ').map(decode);
  const got = usePolled(`${name} pair ${pair} ${pace > 0 ? '' : revision}`, () =>
    call<PairTable>('ImportanceService/GetPairMarginal',
                    {study: name, first, second}), 2 * pace);
  return <Card got={got} title={`${first} × ${second}`} what="this pair">
    {(data) => <PairGrid answer={data} modules={modules} />}</Card>;
};
