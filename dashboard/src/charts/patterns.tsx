// SPDX-License-Identifier: Apache-2.0
//
// Which modules trials froze, pattern by pattern, and how often the best tenth
// freezes a module against how often all do.
import {useId} from 'preact/hooks';
import type {Trial} from '../api';
import {valueOf} from '../axes';
import {counted, fixed, moduleList, num, number, percent, state} from '../format';
import {setView} from '../route';
import {extent, linear} from '../scale';
import {Frame, Hatch} from './frame';
import {helped} from '../help';

const MOST = 40;

interface Pattern {
  key: string; trained: string[]; trials: Trial[]; mean: number;
  deviation: number; best: number; inBest: number;
}

const score = (trial: Trial) => num(trial.values?.[0]);

// The best tenth, one trial at least; ties in the order of their numbers.
const bestTenth = (trials: Trial[], lower: boolean): Set<Trial> =>
  new Set([...trials].sort((a, b) => (lower ? 1 : -1) * (score(a) - score(b)) ||
    num(a.number) - num(b.number)).slice(0, Math.ceil(trials.length / 10)));

export const patternsOf = (trials: Trial[], modules: string[], lower: boolean):
    Pattern[] => {
  const top = bestTenth(trials, lower);
  const groups = new Map<string, Trial[]>();
  for (const trial of trials) {
    const key = modules.map((name) =>
      valueOf(trial, name) === 0 ? '-' : 'T').join('');
    const of = groups.get(key);
    if (of) of.push(trial);
    else groups.set(key, [trial]);
  }
  return [...groups].map(([key, of]) => {
    const values = of.map(score);
    const mean = values.reduce((sum, one) => sum + one, 0) / values.length;
    const squares = values.reduce((sum, one) => sum + (one - mean) ** 2, 0);
    return {key, trials: of, mean,
      trained: modules.filter((_, k) => key[k] === 'T'),
      deviation: values.length > 1 ?
        Math.sqrt(squares / (values.length - 1)) : NaN,
      best: extent(values)[lower ? 0 : 1],
      inBest: of.filter((one) => top.has(one)).length};
  });
};

// More than 1: more often in the best tenth than everywhere.
const lift = (part: number, of: number, share: number, all: number): number =>
  of > 0 && share > 0 ? part / of / (share / all) : NaN;
const liftText = (value: number): string =>
  Number.isNaN(value) ? '-' : `${fixed(value, 1)}×`;

export const Patterns = ({trials, modules, metric, lower, order}: {
  trials: Trial[]; modules: string[]; metric: string; lower: boolean;
  order: string;
}) => {
  const hatch = useId();
  const done = trials.filter((one) => one.values?.length &&
    state(one.state) === 'SUCCEEDED');
  const searched = modules.filter((name) => done.some((one) =>
    (valueOf(one, name) === 0) !== (valueOf(done[0] as Trial, name) === 0)));
  const patterns = patternsOf(done, searched, lower);
  const top = [...bestTenth(done, lower)];
  const by = {best: (one: Pattern) => one.best * (lower ? 1 : -1),
    count: (one: Pattern) => -one.trials.length,
    mean: (one: Pattern) => one.mean * (lower ? 1 : -1)};
  const rank = by[order as keyof typeof by] ?? by.count;
  const sorted = [...patterns].sort((a, b) => rank(a) - rank(b) ||
    by.best(a) - by.best(b));
  const shown = sorted.slice(0, MOST);
  const frozen = (name: string, of: Trial[]) => of.filter((one) =>
    valueOf(one, name) === 0).length;
  const lifted = searched.map((name) => ({name, top: frozen(name, top),
    all: frozen(name, done), lift: lift(frozen(name, top), top.length,
      frozen(name, done), done.length)}));
  const most = [...lifted].filter((one) => one.lift > 1)
    .sort((a, b) => b.lift - a.lift)[0];
  const never = lifted.filter((one) => one.top === 0 && one.all > 0);
  const says = done.length === 0 ? 'No trial has a result yet.' :
    searched.length === 0 ? 'All trials freeze the same modules.' :
    `${counted(done.length, 'trial')} froze in ${
      counted(patterns.length, 'way')}${never.length > 0 ?
      `; none of the best tenth freezes ${moduleList(never.map(({name}) => name))}` : ''}${
      most ? `; ${most.name} is frozen ${liftText(most.lift)} as often there as everywhere` : ''}.`;
  const table = () => ({
    head: ['Trained', 'Trials', 'Mean', 'Deviation', 'Best', 'In best tenth',
      'Lift'],
    rows: sorted.map((one) => [moduleList(one.trained), one.trials.length,
      number(one.mean), Number.isNaN(one.deviation) ? '-' :
        number(one.deviation), number(one.best), one.inBest,
      liftText(lift(one.inBest, top.length, one.trials.length, done.length))]),
    right: [1, 2, 3, 4, 5, 6]});
  return <Frame id="patterns" title="What was frozen together" says={says} wide
    table={table} note={<>{metric}, {lower ? 'lower' : 'higher'} is better;{' '}
      {counted(done.length, 'trial')} with a result, the best tenth are{' '}
      {top.length}. Lift: share of the best tenth against share of all; above 1×
      it is more frequent there. Counted, not estimated: few trials say little.
      {shown.length < sorted.length ?
        ` ${shown.length} of ${sorted.length} patterns shown.` : ''}</>}
    drawing={(width) => <Lifts {...{lifted, top: top.length, done: done.length,
      width, hatch}} />}>
    {(width) => searched.length === 0 ? <p class="quiet">There is nothing to
      compare.</p> : <>
      <Lifts {...{lifted, top: top.length, done: done.length, width, hatch}} />
      <div class="choices"><label>Order of patterns <select value={order || 'count'} {...helped('patterns')}
        onChange={(event) => setView('patterns', event.currentTarget.value)}>
        <option value="count">most trials</option>
        <option value="best">best trial</option>
        <option value="mean">best mean</option></select></label></div>
      <div class="scroll" tabIndex={0} role="region" aria-label="Patterns">
        <table class="data"><caption class="unseen">Patterns</caption><thead><tr>
          <th scope="col">Lowest module at the left</th>
          <th scope="col" class="right">Trials</th>
          <th scope="col" class="right">Mean ± deviation</th>
          <th scope="col" class="right">Best</th>
          <th scope="col" class="right">In best tenth</th>
          <th scope="col" class="right">Lift</th></tr></thead>
        <tbody>{shown.map((one, row) => {
          const side = searched.length > 60 ? 4 : searched.length > 20 ? 8 : 14;
          return <tr><td><svg class="strip" width={searched.length * side}
            height="14" role="img" aria-label={`trained: ${
              moduleList(one.trained)}`}><Hatch id={`${hatch}p${row}`} />
            {searched.map((name, k) => <rect x={k * side} width={side - 1}
              height="14" class={one.key[k] === 'T' ? 'trained' : ''}
              fill={one.key[k] === 'T' ? undefined : `url(#${hatch}p${row})`}>
              <title>{`${name}: ${one.key[k] === 'T' ? 'trained' : 'frozen'}`}
              </title></rect>)}</svg></td>
          <td class="right">{one.trials.length}</td>
          <td class="right">{number(one.mean)}{Number.isNaN(one.deviation) ? '' :
            ` ± ${number(one.deviation)}`}</td>
          <td class="right">{number(one.best)}</td>
          <td class="right">{one.inBest}</td>
          <td class="right">{liftText(lift(one.inBest, top.length,
              one.trials.length, done.length))}</td></tr>;
        })}</tbody></table></div>
    </>}
  </Frame>;
};

// For each module two bars: how often it is frozen in the best tenth, and in all.
const Lifts = ({lifted, top, done, width, hatch}: {
  lifted: {name: string; top: number; all: number; lift: number}[];
  top: number; done: number; width: number; hatch: string;
}) => {
  const row = lifted.length > 40 ? 12 : 24;
  const left = Math.min(140, 14 + 7 * Math.max(8,
      ...lifted.map(({name}) => name.length)));
  const right = 60;
  const x = linear(0, 1, left, width - right);
  return <svg width={width} height={lifted.length * row + 24} role="img"
    aria-label={lifted.map((one) => `${one.name} frozen in ${
      percent(one.top / top)} of the best tenth, ${
      percent(one.all / done)} of all`).join('; ')}>
    <Hatch id={hatch} />
    {[0, 0.5, 1].map((value) => <g><line x1={x(value)} x2={x(value)} y1="0"
      y2={lifted.length * row} class="grid" /><text x={x(value)}
      y={lifted.length * row + 16} class="tick middle">{value * 100} % frozen
    </text></g>)}
    {lifted.map((one, k) => <g><title>{`${one.name}: frozen in ${
      percent(one.top / top)} of the best tenth, in ${
      percent(one.all / done)} of all`}</title>
    <text x={left - 8} y={k * row + row / 2 + 4} class="tick end name">
      {one.name}</text>
    <rect x={left} y={k * row + 2} height={row * 0.45}
      width={Math.max(1, x(one.top / top) - left)} fill={`url(#${hatch})`}
      class="edge" />
    <rect x={left} y={k * row + 2 + row * 0.5} height={row * 0.25}
      width={Math.max(1, x(one.all / done) - left)} class="rug" />
    {row > 16 ? <text x={width - right + 8} y={k * row + row / 2 + 4}
      class="tick strong">{liftText(one.lift)}</text> : null}</g>)}
  </svg>;
};
