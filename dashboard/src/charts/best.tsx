// SPDX-License-Identifier: Apache-2.0
//
// Best so far: every result as a dot, the best up to then as a line, by number or
// by what it took; and where the best that is expected of any point lies.
import type {Interval, Report, Trial} from '../api';
import {picks, type Selection} from '../axes';
import {counted, number, num, seconds, withInterval} from '../format';
import {setView} from '../route';
import {extent, linear, spaced, ticks} from '../scale';
import {Frame, Levels} from './frame';
import {helped} from '../help';

// More would be a cloud, and slow to draw.
const MOST_DOTS = 400;

interface Point {
  trial: Trial; value: number; best: number; isBetter: boolean; at: number;
}

// In the order in which they came by this axis.
const pointsOf = (trials: Trial[], by: string, lower: boolean): Point[] => {
  const done = trials.filter((one) => one.values?.length).sort((a, b) =>
    num(a.number) - num(b.number));
  const [start] = extent(done.map((one) => Date.parse(
      one.startTime ?? one.createTime ?? '')));
  if (by === 'time') {
    done.sort((a, b) => Date.parse(a.endTime ?? '') - Date.parse(b.endTime ?? ''));
  }
  let best = NaN;
  let spent = 0;
  return done.map((trial) => {
    const value = num(trial.values?.[0]);
    const isBetter = Number.isNaN(best) || (lower ? value < best : value > best);
    if (isBetter) best = value;
    spent += num(trial.usage?.trainSeconds);
    const at = by === 'time' ? (Date.parse(trial.endTime ?? '') - start) / 1000 :
      by === 'seconds' ? spent : num(trial.number);
    return {trial, value, best, isBetter, at};
  }).filter((one) => Number.isFinite(one.at));
};

export const Best = ({trials, metric, lower, selection, by, expected, more}: {
  trials: Trial[]; metric: string; lower: boolean; selection: Selection;
  by: string; expected: Interval | undefined; more: Report['stability'];
}) => {
  const points = pointsOf(trials, by, lower);
  const last = [...points].reverse().find((one) => one.isBetter);
  const spent = points.reduce((sum, one) =>
    sum + num(one.trial.usage?.totalSeconds), 0);
  const isKnown = expected !== undefined && Number.isFinite(num(expected.value));
  const says = last === undefined ? 'No trial has a result yet.' :
    `The best is ${metric} ${number(last.value)} of trial ${num(last.trial.number)}, after ${
      points.indexOf(last) + 1} of ${counted(points.length, 'result')}${
      spent > 0 ? `; all of them took ${seconds(spent)}` : ''}.${isKnown ?
      ` Of the best point that there is ${withInterval(expected)} is expected, its luck taken off.` : ''}${
      num(more?.moreTrials) > 0 ? ` About ${num(more?.moreTrials)} more trials would settle the ranking.` : ''}`;
  const text = by === '' ? String : seconds;
  const head = by === 'time' ? 'After' : by === 'seconds' ? 'Trained for' : 'Trial';
  const table = () => ({
    head: ['Trial', metric, 'Best so far', ...(by ? [head] : [])],
    rows: points.map((one) => [num(one.trial.number), number(one.value),
      number(one.best), ...(by ? [text(one.at)] : [])]),
    right: [0, 1, 2, 3]});
  return <Frame id="best" title="Best so far" says={says} table={table}
    note={<>{points.length > MOST_DOTS ? `${MOST_DOTS} of ${points.length} results shown` :
      `All ${counted(points.length, 'result')}`}; {lower ? 'lower' : 'higher'}
      {' '}is better.{isKnown ?
        ' The band is what is expected of the best point, 80 %.' : ''}</>}>
    {(width) => <>
      <label class="choices">Along <select value={by} {...helped('along')} onChange={(event) =>
        setView('by', event.currentTarget.value)}>
        <option value="">numbers</option>
        <option value="time">time on the clock</option>
        <option value="seconds">seconds of training</option></select></label>
      {points.length === 0 ? <p class="quiet">Nothing to draw yet.</p> :
        <Drawn {...{points, width, says, selection, text, by}}
          expected={isKnown ? expected : undefined} />}
    </>}
  </Frame>;
};

const Drawn = ({points, width, says, selection, text, expected, by}: {
  points: Point[]; width: number; says: string; selection: Selection;
  text: (value: number) => string; expected: Interval | undefined; by: string;
}) => {
  const left = 54;
  const height = 210;
  const band = expected ? [num(expected.lo80), num(expected.hi80)] : [];
  const [lo, hi] = extent([...points.map((one) => one.value), ...band]);
  const pad = (hi - lo) * 0.05 || 0.01;
  const [first, end] = extent(points.map((one) => one.at));
  const x = linear(first, Math.max(end, first + (by ? 1e-6 : 1)), left + 6,
                   width - 10);
  const y = linear(lo - pad, hi + pad, height - 26, 10);
  const line = points.map((one, k) => {
    const at = x(one.at).toFixed(1);
    return k === 0 ? `M${at},${y(one.best).toFixed(1)}` :
      `H${at}V${y(one.best).toFixed(1)}`;
  }).join('');
  return <svg width={width} height={height} role="img"
    aria-label={`${says} The figures are in the tab Data.`}>
    {expected ? <rect x={left} width={width - left - 6} class="band"
      y={y(num(expected.hi80))} height={Math.max(2, y(num(expected.lo80)) -
        y(num(expected.hi80)))}><title>expected of the best point</title></rect> :
      null}
    <Levels y={y} lo={lo - pad} hi={hi + pad} left={left} right={width - 6} />
    {ticks(first, end, Math.max(2, width / 130)).filter((value) => by ||
      Number.isInteger(value)).map((value) => <text x={x(value)} y={height - 6}
      class="tick middle">{text(value)}</text>)}
    {spaced(points, MOST_DOTS).map((one) => <circle cx={x(one.at)}
      cy={y(one.value)} r="2.6" class={picks(selection, one.trial) ? 'dot' :
        'dot out'}>
      <title>{`trial ${num(one.trial.number)}: ${number(one.value)}`}</title>
    </circle>)}
    <path d={line} class="line" />
  </svg>;
};
