// SPDX-License-Identifier: Apache-2.0
//
// Learning curves of several trials of a study: the best, those that run, or the
// ones that the pruner stopped.
import {useState} from 'preact/hooks';
import {allPages, usePolled} from '../api';
import type {Measurement, Trial} from '../api';
import {picks, type Selection} from '../axes';
import {counted, fixed, number, num, state} from '../format';
import {go, setView} from '../route';
import {extent, isWide, linear, logarithmic, logTicks, smoothed, ticks} from
  '../scale';
import {Frame, Levels} from './frame';
import {helped} from '../help';

const MOST = 8;
const MOST_POINTS = 200;

// More than this would draw no curve but its mean.
const MOST_SMOOTH = 95;

interface Run { trial: Trial; points: Measurement[] }
interface Line {
  trial: Trial; at: {step: number; value: number; mean: number}[];
}

export const Curves = ({trials, metric, lower, selection, which, id,
  smooth}: {
  trials: Trial[]; metric: string; lower: boolean; selection: Selection;
  which: string; id: string;
  smooth: number;  // percent that a value counts of what the next one does
}) => {
  const weight = Number.isFinite(smooth) ?
    Math.min(MOST_SMOOTH, Math.max(0, smooth)) / 100 : 0;
  const score = (one: Trial) => !one.values?.length ? -Infinity :
    num(one.values[0]) * (lower ? -1 : 1);
  const wanted = which === 'running' ? 'RUNNING' :
    which === 'pruned' ? 'PRUNED' : 'SUCCEEDED';
  const fits = trials.filter((one) => state(one.state) === wanted &&
    picks(selection, one));
  const shown = [...fits].sort((a, b) => score(b) - score(a) ||
    num(b.number) - num(a.number)).slice(0, MOST);
  const key = shown.map((one) => `${num(one.number)}.${num(one.attempt)}`)
      .join(' ');
  const got = usePolled(`curves ${id} ${key}`, () => Promise.all(shown.map(
      async (trial): Promise<Run> => ({trial, points: await allPages<Measurement>(
          'StudyService/ListMeasurements', {name: trial.name,
            downsample_to: MOST_POINTS}, 'measurements')}))),
      wanted === 'RUNNING' ? 5000 : 0);
  const runs = (got.data ?? []).filter((one) => one.points.length > 0);
  const names = [...new Set(runs.flatMap(({points}) => points.flatMap(
      (one) => Object.keys(one.metrics ?? {}))))].sort();
  const [chosen, setChosen] = useState('');
  const what = names.includes(chosen) ? chosen : names.includes(metric) ? metric :
    names[0] ?? metric;
  const lines: Line[] = runs.map(({trial, points}) => {
    const at = points.filter((one) => Number.isFinite(num(one.metrics?.[what])) &&
      what in (one.metrics ?? {}))
      .map((one) => ({step: num(one.step), value: num(one.metrics?.[what])}));
    const means = smoothed(at.map((one) => one.value), weight);
    return {trial, at: at.map((one, k) => ({...one, mean: means[k] ?? one.value}))};
  }).filter((one) => one.at.length > 0);
  const says = got.data === undefined ? 'Asking for the curves …' :
    lines.length === 0 ? (fits.length === 0 ? 'No such trial is selected.' :
      'These trials measured nothing while they ran.') :
    `${what} of ${lines.map(({trial, at}) => `trial ${num(trial.number)} (${
      number(at[at.length - 1]?.value)} at the end)`).slice(0, 3).join(', ')}${
      lines.length > 3 ? ` and ${lines.length - 3} more` : ''}.`;
  const table = () => ({head: ['Trial', 'Step', what,
    ...weight > 0 ? ['Smoothed'] : []],
    rows: lines.flatMap(({trial, at}) => at.map((one) => [num(trial.number),
      one.step, number(one.value), ...weight > 0 ? [number(one.mean)] : []])),
    right: [0, 1, 2, 3]});
  return <Frame id="curves" title="Learning curves" says={says} table={table} wide
    note={<>{shown.length} of {counted(fits.length, `${wanted.toLowerCase()} trial`)}
      {' '}shown, {wanted === 'PRUNED' ? 'the newest' : 'the best'} first; {
      weight > 0 ? `smoothed by ${fixed(weight * 100, 0)} %, what was measured faint behind` :
        'as measured, not smoothed'}. {lower ? 'Lower' : 'Higher'} {metric} is better.</>}>
    {(width) => <>
      <div class="choices"><label>Trials <select value={which || 'best'} {...helped('curves')}
        onChange={(event) => setView('curves', event.currentTarget.value ===
          'best' ? '' : event.currentTarget.value)}>
        <option value="best">the best</option>
        <option value="running">running</option>
        <option value="pruned">pruned</option></select></label>
      {names.length > 1 ? <label>Metric <select value={what} {...helped('metric')} onChange={(event) =>
        setChosen(event.currentTarget.value)}>{names.map((one) =>
          <option value={one}>{one}</option>)}</select></label> : null}
      <label>Smoothing <input type="range" min="0" max={MOST_SMOOTH} step="5"
        value={weight * 100} {...helped('smoothing')}
        onInput={(event) => setView('smooth', event.currentTarget.value === '0' ?
          '' : event.currentTarget.value)} /></label>
      <span class="quiet">{fixed(weight * 100, 0)} %: each value
        counts so much of what the next one does; 0 shows what was measured.
        Sentence and marks at the ends are always as measured.</span></div>
      {lines.length === 0 ? <p class="quiet">Nothing to draw.</p> :
        <Drawn {...{lines, what, width, says, id}} isSmooth={weight > 0} />}
    </>}
  </Frame>;
};

const Drawn = ({lines, what, width, says, id, isSmooth}: {
  lines: Line[]; what: string; width: number; says: string; id: string;
  isSmooth: boolean;
}) => {
  const left = 60;
  const height = 270;
  const all = lines.flatMap(({at}) => at);
  const values = all.map((one) => one.value);
  // A loss that falls over decades.
  const isLog = isWide(values);
  const [lo, hi] = extent(values);
  const pad = (hi - lo) * 0.05 || 0.01;
  const [from, to] = extent(all.map((one) => one.step));
  const x = linear(from, Math.max(to, from + 1), left + 6, width - 70);
  const y = isLog ? logarithmic(lo, hi, height - 26, 10) :
    linear(lo - pad, hi + pad, height - 26, 10);
  const path = (at: Line['at'], of: (one: Line['at'][0]) => number) =>
    at.map((one, i) => `${i ? 'L' : 'M'}${x(one.step).toFixed(1)},${
      y(of(one)).toFixed(1)}`).join('');
  return <svg width={width} height={height} role="img"
    aria-label={`${says} The figures are in the tab Data.`}>
    {isLog ? logTicks(lo, hi).map((value) => <g><line x1={left} x2={width - 70}
      y1={y(value)} y2={y(value)} class="grid" /><text x={left - 8}
      y={y(value) + 4} class="tick end">{value}</text></g>) :
      <Levels y={y} lo={lo - pad} hi={hi + pad} left={left} right={width - 70} />}
    {ticks(from, to, Math.max(2, width / 130)).filter(Number.isInteger).map(
        (value) => <text x={x(value)} y={height - 6} class="tick middle">{value}
    </text>)}
    {lines.map(({trial, at}, k) => {
      const end = at[at.length - 1];
      return <g class={`series c${k % 6} pick`} onClick={() =>
        go(`/studies/${id}/trials/${num(trial.number)}`)}>
        <title>{`trial ${num(trial.number)}: ${what} ${number(end?.value)}, ${
          state(trial.state).toLowerCase()}`}</title>
        {isSmooth ? <path class="raw" d={path(at, (one) => one.value)} /> : null}
        <path class="trace" d={path(at, (one) => one.mean)} />
        {end ? <circle cx={x(end.step)} cy={y(end.value)} r="4"
          class={state(trial.state) === 'PRUNED' ? 'hollowdot' : 'end'} /> : null}
      </g>;
    })}
    {lines.map(({trial, at}, k) => {
      const end = at[at.length - 1];
      const isFree = end && lines.slice(0, k).every((other) => Math.abs(
          y(other.at[other.at.length - 1]?.value ?? 0) - y(end.value)) > 13);
      return end && isFree ? <text x={x(end.step) + 8} y={y(end.value) + 4}
        class={`tick label c${k % 6}`}>#{num(trial.number)}</text> : null;
    })}
  </svg>;
};
