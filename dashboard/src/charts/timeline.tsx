// SPDX-License-Identifier: Apache-2.0
//
// Who ran what when: a row for each slot of a worker, a bar for each attempt, and
// gaps where it did nothing of what is shown.
import type {Trial} from '../api';
import {counted, fixed, lastPart, num, percent, seconds, state, time} from
  '../format';
import {go} from '../route';
import {extent, linear, spaced, type Scale} from '../scale';
import {Frame} from './frame';

export const MOST_BARS = 1500;

export interface Bar {
  trial: Trial; worker: string; attempt: number; state: string; from: number;
  to: number; lane: number;
}
export interface Lane {
  worker: string; lane: number;
  known?: [number, number];  // since when, and until when it was seen
}

const ENDED_WELL = ['SUCCEEDED', 'PRUNED', 'INFEASIBLE'];

// Each trial's newest attempt, where it ran within `from` and `to`.
export const newestBars = (trials: Trial[], from: number, to: number): Bar[] =>
  trials.flatMap((trial) => {
    const now = state(trial.state);
    if (!trial.startTime || !trial.worker || now === 'QUEUED') return [];
    const began = Date.parse(trial.startTime);
    const ended = trial.endTime ? Date.parse(trial.endTime) : to;
    return ended < from || began > to ? [] : [{trial, attempt: num(trial.attempt),
      worker: lastPart(trial.worker), from: began, to: ended, lane: 0,
      state: now === 'RUNNING' || !ENDED_WELL.includes(now) ? now : 'COMPLETED'}];
  }).sort((a, b) => a.from - b.from);

// Whether its newest attempt is all that a trial has.
export const isPlain = (trial: Trial): boolean => {
  const now = state(trial.state);
  return now === 'QUEUED' ? num(trial.attempt) === 0 : num(trial.attempt) <= 1 &&
    (now === 'RUNNING' || ENDED_WELL.includes(now));
};

// Every attempt; the trials were asked for with them.
export const attemptBars = (trials: Trial[], now: number): Bar[] => trials.flatMap((trial) =>
  (trial.attempts ?? []).filter((one) => one.startTime && one.worker).map((one) =>
    ({trial, worker: lastPart(one.worker ?? ''), attempt: num(one.number),
      state: state(one.state), from: Date.parse(one.startTime ?? ''),
      to: one.endTime ? Date.parse(one.endTime) : now, lane: 0})))
  .sort((a, b) => a.from - b.from);

// Attempts that overlap on a worker ran in different slots.
export const lanesOf = (bars: Bar[]): Lane[] => {
  const ends = new Map<string, number[]>();
  for (const bar of bars) {
    const lanes = ends.get(bar.worker) ?? [];
    const free = lanes.findIndex((end) => end <= bar.from + 1);
    bar.lane = free < 0 ? lanes.length : free;
    lanes[bar.lane] = bar.to;
    ends.set(bar.worker, lanes);
  }
  return [...ends].sort(([a], [b]) => a < b ? -1 : 1).flatMap(([worker, lanes]) =>
    lanes.map((_, lane) => ({worker, lane})));
};

export const Timeline = ({bars}: {bars: Bar[]}) => {
  const lanes = lanesOf(bars);
  const [from] = extent(bars.map((one) => one.from));
  const [, to] = extent(bars.map((one) => one.to));
  const busy = bars.reduce((sum, one) => sum + one.to - one.from, 0);
  const share = to > from ? busy / ((to - from) * lanes.length) : NaN;
  const lost = bars.filter((one) => ['LOST', 'PREEMPTED'].includes(one.state));
  const workers = new Set(bars.map((one) => one.worker)).size;
  const says = bars.length === 0 ?
    'No trial of this study has run here: its trials were imported, or none has begun.' :
    `${counted(workers, 'worker')} with ${counted(lanes.length, 'slot')} ran ${
      counted(bars.length, 'attempt')} in ${seconds((to - from) / 1000)}, busy ${
      percent(share)} of it${lost.length > 0 ?
      `; ${counted(lost.length, 'attempt')} were lost or handed back` : ''}.`;
  const table = () => ({
    head: ['Worker', 'Slot', 'Trial', 'Attempt', 'State', 'Began', 'Seconds'],
    rows: bars.map((one) => [one.worker, one.lane, num(one.trial.number),
      one.attempt, one.state.toLowerCase(), time(new Date(one.from).toISOString()),
      fixed((one.to - one.from) / 1000, 1)]),
    right: [1, 2, 3, 6]});
  return <Frame id="timeline" title="Who ran what when" says={says} table={table}
    wide note={<>A row is a slot; gaps are time without a trial of this study.
      Striped: failed, lost or handed back. {bars.length > MOST_BARS ?
        `${MOST_BARS} of ${bars.length} attempts shown.` :
        `All ${counted(bars.length, 'attempt')} shown.`}</>}>
    {(width) => bars.length === 0 ? <p class="quiet">Nothing to draw.</p> :
      <Rows {...{bars, lanes, from, to, width, says}} />}
  </Frame>;
};

// "12:04:10" between `from` and `to`, with the day where these are far apart.
export const clock = (value: number, from: number, to: number): string => {
  const text = new Date(value).toISOString();
  return to - from < 60000 ? text.slice(11, 21) : to - from < 86400000 ?
    text.slice(11, 19) : text.slice(5, 16).replace('T', ' ');
};

// Where a chart of `width` has its times.
export const leftOf = (width: number): number => Math.min(150, width / 3);

// Five times below a chart, three where it is narrow.
export const Times = ({from, to, x, y, width}: {from: number; to: number; x: Scale;
  y: number; width: number}) => <>{(width > 500 ? [0, 1, 2, 3, 4] : [0, 2, 4]).map((k) => {
    const value = from + k / 4 * (to - from);
    return <text x={x(value)} y={y} class={`tick ${k === 0 ? '' : k === 4 ? 'end' :
      'middle'}`}>{clock(value, from, to)}</text>;
  })}</>;

export const Rows = ({bars, lanes, from, to, width, says}: {
  bars: Bar[]; lanes: Lane[]; from: number; to: number; width: number;
  says: string;
}) => {
  const row = lanes.length > 30 ? 12 : 24;
  const left = leftOf(width);
  const inside = (value: number) => Math.min(to, Math.max(from, value));
  const x = linear(from, Math.max(to, from + 1000), left, width - 8);
  const at = new Map(lanes.map(({worker, lane}, k) => [`${worker} ${lane}`, k]));
  return <svg width={width} height={lanes.length * row + 24} role="img"
    aria-label={`${says} The figures are in the tab Data.`}>
    <defs><pattern id="stripes" width="6" height="6" class="stripes"
      patternUnits="userSpaceOnUse" patternTransform="rotate(-45)">
      <rect width="6" height="6" class="failedback" />
      <line x1="0" y1="0" x2="0" y2="6" class="failedline" /></pattern></defs>
    {lanes.map(({worker, lane, known: [since, until] = [from, to]}, k) => <g>
      <rect x={x(inside(since))} width={Math.max(0, x(inside(until)) -
        x(inside(since)))} y={k * row + 2} height={row - 4} class="idle" />
      {row > 20 || lane === 0 ? <text x={left - 8} y={k * row + row / 2 + 4}
        class="tick end name">{`${worker.slice(-16)}${
          lane > 0 ? ` / ${lane}` : ''}`}</text> : null}</g>)}
    {spaced(bars, MOST_BARS).map((one) => {
      const k = at.get(`${one.worker} ${one.lane}`) ?? 0;
      const ran = ['COMPLETED', 'RUNNING'].includes(one.state);
      const begins = x(inside(one.from));
      return <rect x={begins} y={k * row + 3} height={row - 6} rx="2"
        width={Math.max(1.5, x(inside(one.to)) - begins - 1)}
        class={`pick ${one.state === 'RUNNING' ? 'now' : ran ? 'trained' :
          'edge'}`} fill={ran ? undefined : 'url(#stripes)'}
        onClick={() => go(`/${one.trial.name}`)}>
        <title>{`trial ${one.trial.name.replace(/^studies\/(.*)\/trials\//, '$1/')}, attempt ${one.attempt}: ${
          one.state.toLowerCase()}, ${seconds((one.to - one.from) / 1000)}`}
        </title></rect>;
    })}
    <Times {...{from, to, x, width}} y={lanes.length * row + 16} />
  </svg>;
};
