// SPDX-License-Identifier: Apache-2.0
//
// What is enough to train: for each number of modules what is expected of the
// best set of so many, and below it which modules these are.
import {useId} from 'preact/hooks';
import type {Frontier as Answer} from '../api';
import {countOrDash, general, moduleList, num, probability, seconds,
  withInterval} from '../format';
import {extent, linear, ticks} from '../scale';
import {Frame, Hatch} from './frame';

const short = (name: string): string => name === 'embeddings' ? 'emb' :
  name.replace(/^layer\./, 'L');

export const Frontier = ({answer, modules}:
    {answer: Answer; modules: string[]}) => {
  const hatch = useId();
  const sets = answer.byModules ?? [];
  const chosen = answer.chosen === undefined ? 0 : num(answer.chosen);
  const target = answer.options?.target ?? '';
  const lower = answer.options?.targetDirection === 'DIRECTION_MINIMIZE';
  const searched = modules.filter(
      (name) => sets.some((set) => set.trained?.includes(name)));
  const mark = (k: number) => k === chosen ? ' *' : '';
  const table = () => ({
    head: ['Trained', 'Predicted, 80 %', 'Within', 'Parameters', 'Seconds',
      'Trials', 'Modules'],
    rows: sets.map((set, k) => [`${set.trained?.length ?? 0}${mark(k)}`,
      withInterval(set.predicted), probability(set.withinToleranceProbability),
      countOrDash(set.trainedParameters), seconds(num(set.seconds)),
      num(set.trials), moduleList(set.trained ?? [])]),
    right: [0, 2, 3, 4, 5]});
  return <Frame id="frontier" title="What is enough to train"
    says={`The best that is expected is ${target} ${
      withInterval(answer.best)}; below, what so many trained modules reach, and which these are.`}
    note={<>Predicted mean {target} over seeds with 80 % intervals;{' '}
      {lower ? 'lower' : 'higher'} is better. “Within” is the probability of
      being within {general(num(answer.tolerance), 2)} of the best
      {chosen >= 0 ? '; * is the least that is within it with 90 %' : ''}.</>}
    table={table}>
    {(width) => {
      const row = searched.length > 16 ? 7 : 15;
      const left = 74;
      const top = 12;
      const high = 230;
      const under = top + high + 46;
      const height = under + searched.length * (row + 2) + 6;
      const [lo, hi] = extent(sets.flatMap((set) => [num(set.predicted?.lo80),
        num(set.predicted?.hi80)]));
      const pad = (hi - lo) * 0.06 || 0.01;
      const y = linear(lo - pad, hi + pad, top + high, top);
      const step = (width - left - 10) / Math.max(1, sets.length);
      const x = (k: number) => left + (k + 0.5) * step;
      const best = num(answer.best?.value);
      const near = best + (lower ? 1 : -1) * num(answer.tolerance);
      const cell = Math.max(3, Math.min(46, step - 4));
      return <svg width={width} height={height} role="img"
        aria-label={`${answer.verdict}. The figures are in the tab Data.`}>
        <Hatch id={hatch} />
        {ticks(lo - pad, hi + pad, 5).map((value) => <g>
          <line x1={left} x2={width - 6} y1={y(value)} y2={y(value)}
            class="grid" />
          <text x={left - 8} y={y(value) + 4} class="tick end">{value}</text>
        </g>)}
        <rect x={left} width={width - left - 6} y={Math.min(y(best), y(near))}
          height={Math.max(2, Math.abs(y(best) - y(near)))} class="band">
          <title>within the tolerance of the best</title></rect>
        {sets.map((set, k) => {
          const of = set.predicted ?? {};
          return <g class={k === chosen ? 'point chosen' : 'point'}>
            <title>{`${set.trained?.length ?? 0} trained: ${
              withInterval(of)}, within ${
              probability(set.withinToleranceProbability)}: ${
              moduleList(set.trained ?? [])}`}</title>
            <line x1={x(k)} x2={x(k)} y1={y(num(of.lo80))} y2={y(num(of.hi80))}
              class="whisker" />
            <circle cx={x(k)} cy={y(num(of.value))} r={k === chosen ? 6 : 4.5} />
          </g>;
        })}
        {sets.map((set, k) => <g>
          <text x={x(k)} y={top + high + 18} class="tick middle strong">
            {set.trained?.length ?? 0}{k === chosen ? ' *' : ''}</text>
          {step > 34 ? <text x={x(k)} y={top + high + 33} class="tick middle">
            {probability(set.withinToleranceProbability).replace(' %', '')}
          </text> : null}
        </g>)}
        <text x={left - 8} y={top + high + 18} class="tick end">trained</text>
        {step > 34 ? <text x={left - 8} y={top + high + 33} class="tick end">
          within %</text> : null}
        {searched.map((name, r) => <g>
          {row > 10 || r % 4 === 0 ? <text x={left - 8}
            y={under + r * (row + 2) + row - 3} class="tick end">
            {short(name)}</text> : null}
          {sets.map((set, k) => {
            const trained = set.trained?.includes(name) ?? false;
            return <rect x={x(k) - cell / 2} y={under + r * (row + 2)}
              width={cell} height={row} rx="2"
              class={trained ? 'trained' : ''}
              fill={trained ? undefined : `url(#${hatch})`}>
              <title>{`${name}: ${trained ? 'trained' : 'frozen'}`}</title>
            </rect>;
          })}
        </g>)}
      </svg>;
    }}
  </Frame>;
};
