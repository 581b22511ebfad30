// SPDX-License-Identifier: Apache-2.0
//
// Best so far: every result as a dot, the best up to then as a line.
import type {Trial} from '../api';
import {counted, number, num, seconds} from '../format';
import {extent, linear, spaced, ticks} from '../scale';
import {Frame} from './frame';

// More would be a cloud, and slow to draw.
const MOST_DOTS = 800;

export const Best = ({trials, metric, lower}:
    {trials: Trial[]; metric: string; lower: boolean}) => {
  const done = trials.filter((one) => one.values?.length).sort((a, b) =>
    num(a.number) - num(b.number));
  let best = NaN;
  const points = done.map((trial) => {
    const value = num(trial.values?.[0]);
    const isBetter = Number.isNaN(best) || (lower ? value < best : value > best);
    if (isBetter) best = value;
    return {trial, value, best, isBetter};
  });
  const last = [...points].reverse().find((one) => one.isBetter);
  const spent = done.reduce((sum, one) => sum + num(one.usage?.totalSeconds), 0);
  const says = last === undefined ? 'No trial has a result yet.' :
    `The best is ${metric} ${number(last.value)} of trial ${num(last.trial.number)}, after ${
      points.indexOf(last) + 1} of ${counted(points.length, 'result')}${
      spent > 0 ? `; all of them took ${seconds(spent)}` : ''}.`;
  const table = () => ({
    head: ['Trial', metric, 'Best so far'],
    rows: points.map((one) => [num(one.trial.number), number(one.value),
      number(one.best)]),
    right: [0, 1, 2]});
  return <Frame id="best" title="Best so far" says={says} table={table}
    note={<>{points.length > MOST_DOTS ? `${MOST_DOTS} of ${points.length} results shown` :
      'Every trial with a result'}, by number; {lower ? 'lower' : 'higher'}
      {' '}is better.</>}>
    {(width) => {
      const left = 54;
      const height = 210;
      const [lo, hi] = extent(points.map((one) => one.value));
      const pad = (hi - lo) * 0.05 || 0.01;
      const first = num(points[0]?.trial.number);
      const end = num(points[points.length - 1]?.trial.number);
      const x = linear(first, Math.max(end, first + 1), left + 6, width - 10);
      const y = linear(lo - pad, hi + pad, height - 26, 10);
      const dots = spaced(points, MOST_DOTS);
      const line = points.map((one, k) => {
        const at = x(num(one.trial.number)).toFixed(1);
        return k === 0 ? `M${at},${y(one.best).toFixed(1)}` :
          `H${at}V${y(one.best).toFixed(1)}`;
      }).join('');
      return points.length === 0 ? <p class="quiet">Nothing to draw yet.</p> :
        <svg width={width} height={height} role="img"
          aria-label={`${says} The figures are in the tab Data.`}>
          {ticks(lo - pad, hi + pad, 4).map((value) => <g>
            <line x1={left} x2={width - 6} y1={y(value)} y2={y(value)}
              class="grid" />
            <text x={left - 8} y={y(value) + 4} class="tick end">{value}</text>
          </g>)}
          {ticks(first, end, Math.max(2, width / 110))
            .filter(Number.isInteger).map((value) =>
            <text x={x(value)} y={height - 6} class="tick middle">{value}</text>)}
          {dots.map((one) => <circle cx={x(num(one.trial.number))}
            cy={y(one.value)} r="2.6" class="dot">
            <title>{`trial ${num(one.trial.number)}: ${number(one.value)}`}</title>
          </circle>)}
          <path d={line} class="line" />
        </svg>;
    }}
  </Frame>;
};
