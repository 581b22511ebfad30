// SPDX-License-Identifier: Apache-2.0
//
// What all workers did for all studies: how many slots were busy over time, of how
// many that were known, and below it who ran what when, a row for each slot.
import type {Study, Trial, Worker} from '../api';
import {count, counted, fixed, lastPart, num, percent, seconds, state, time} from
  '../format';
import {setView} from '../route';
import {linear} from '../scale';
import {Frame, Levels} from './frame';
import {helped} from '../help';
import {clock, lanesOf, leftOf, MOST_BARS, newestBars, Rows, type Bar, type Lane} from
  './timeline';

export const WINDOWS = {hour: 3600, day: 86400, week: 7 * 86400} as const;
export type Window = keyof typeof WINDOWS;

// A worker that nobody has seen for so long may be gone.
const SEEN_WITHIN = 60000;

// What time it is for the coordinator, in ms: where workers are active it has just
// seen them, whatever the clock here (`here`) says.
export const coordinatorsNow = (workers: Worker[], studies: Study[],
                                here: number): number => {
  const newest = [...workers.map((one) => one.lastSeenTime),
    ...studies.map((one) => one.updateTime)].reduce((most, one) =>
    one ? Math.max(most, Date.parse(one)) : most, -Infinity);
  const isSeen = workers.some((one) => state(one.state) === 'ACTIVE');
  return isSeen && Number.isFinite(newest) ? newest : Math.max(here, newest);
};

// The rows: every slot of every worker that is known, and of those that are not
// known any more but ran something.
export const fleetLanes = (bars: Bar[], workers: Worker[], from: number,
                           to: number): Lane[] => {
  const used = lanesOf(bars);
  const names = new Set([...used.map((one) => one.worker),
    ...workers.map((one) => lastPart(one.name))]);
  return [...names].sort().flatMap((worker) => {
    const known = workers.find((one) => lastPart(one.name) === worker);
    const own = bars.filter((one) => one.worker === worker);
    const first = own[0]?.from ?? Infinity;
    const last = own.reduce((most, one) => Math.max(most, one.to), -Infinity);
    const seen = Date.parse(known?.lastSeenTime ?? '');
    const isHere = known && state(known.state) !== 'GONE' && to - seen < SEEN_WITHIN;
    const began = Date.parse(known?.registerTime ?? '');
    const since = Math.min(first, Number.isNaN(began) ? Infinity : began);
    const until = isHere ? to : Math.max(last, Number.isNaN(seen) ? -Infinity : seen);
    if (until < from || since > to) return [];
    const lanes = Math.max(num(known?.slots),
        used.filter((one) => one.worker === worker).length);
    return Array.from({length: lanes}, (_, lane) =>
      ({worker, lane, known: [since, until] as [number, number]}));
  });
};

export interface Step { at: number; busy: number; known: number }

// How many slots were busy and known, from each change on.
export const useOverTime = (bars: Bar[], lanes: Lane[], from: number,
                            to: number): Step[] => {
  const inside = (value: number) => Math.min(to, Math.max(from, value));
  const changes = [
    ...bars.flatMap((one) => [{at: inside(one.from), busy: 1, known: 0},
      {at: inside(one.to), busy: -1, known: 0}]),
    ...lanes.flatMap(({known: [since, until] = [from, to]}) =>
      [{at: inside(since), busy: 0, known: 1}, {at: inside(until), busy: 0,
        known: -1}])].sort((a, b) => a.at - b.at);
  const steps: Step[] = [];
  let busy = 0;
  let known = 0;
  for (const one of changes) {
    busy += one.busy;
    known += one.known;
    const last = steps[steps.length - 1];
    if (last?.at === one.at) {
      last.busy = busy;
      last.known = known;
    } else {
      steps.push({at: one.at, busy, known});
    }
  }
  return steps;
};

// Means over `bins` equal times: more changes than a chart has columns would be
// nothing but ink.
export const averaged = (steps: Step[], from: number, to: number,
                         bins: number): Step[] => {
  const width = (to - from) / bins;
  const all = Array.from({length: bins}, (_, k) =>
    ({at: from + k * width, busy: 0, known: 0}));
  steps.forEach((one, k) => {
    const end = steps[k + 1]?.at ?? one.at;
    const last = Math.min(bins - 1, Math.floor((end - from) / width));
    for (let bin = Math.floor((one.at - from) / width); bin <= last; ++bin) {
      const into = all[bin];
      const within = Math.min(end, from + (bin + 1) * width) -
        Math.max(one.at, from + bin * width);
      if (into === undefined || !(within > 0)) continue;
      into.busy += one.busy * within / width;
      into.known += one.known * within / width;
    }
  });
  return all;
};

// Slot-seconds busy, of those known.
export const shareOf = (steps: Step[]): number => {
  let busy = 0;
  let known = 0;
  steps.forEach((one, k) => {
    const took = (steps[k + 1]?.at ?? one.at) - one.at;
    busy += one.busy * took;
    known += one.known * took;
  });
  return known > 0 ? busy / known : NaN;
};

const NAMES: Record<Window, string> = {hour: 'hour', day: 'day', week: 'week'};

// What was seen of the last hour, day or week.
export interface Seen { bars: Bar[]; lanes: Lane[]; from: number; to: number }

export const seenOf = (trials: Trial[], workers: Worker[], over: Window,
                       now: number): Seen => {
  const since = now - WINDOWS[over] * 1000;
  const bars = newestBars(trials, since, now);
  const lanes = fleetLanes(bars, workers, since, now);
  // Time before anything was there is not drawn.
  const from = Math.max(since, lanes.reduce((least, one) =>
    Math.min(least, one.known?.[0] ?? now), now - 1000));
  return {bars, lanes, from, to: now};
};

export const Fleet = ({seen, workers, over, studies, shown}: {
  seen: Seen; workers: Worker[]; over: Window; studies: number; shown: number;
}) => {
  const {bars, lanes, from, to: now} = seen;
  const steps = useOverTime(bars, lanes, from, now);
  const gpus = new Set(workers.filter((one) => one.hardware?.gpus?.length)
    .map((one) => lastPart(one.name)));
  const onGpus = shareOf(useOverTime(bars.filter((one) => gpus.has(one.worker)),
      lanes.filter((one) => gpus.has(one.worker)), from, now));
  const running = bars.filter((one) => one.state === 'RUNNING').length;
  const says = bars.length === 0 ?
    `No worker has run a trial in the last ${NAMES[over]}.` :
    `${counted(lanes.length, 'slot')} ran ${counted(bars.length, 'trial')} in ${
      seconds((now - from) / 1000)}, busy ${percent(shareOf(steps))} of the time${
      gpus.size > 0 ? `, those of workers with GPUs ${percent(onGpus)}` : ''}; ${
      running === 0 ? 'nothing runs now' : `${count(running)} ${
        running === 1 ? 'runs' : 'run'} now`}.`;
  const table = () => ({
    head: ['Worker', 'Slot', 'Study', 'Trial', 'Attempt', 'State', 'Began',
      'Seconds'],
    rows: bars.map((one) => [one.worker, one.lane,
      one.trial.name.split('/')[1] ?? '', num(one.trial.number), one.attempt,
      state(one.trial.state).toLowerCase(),
      time(new Date(one.from).toISOString()), fixed((one.to - one.from) / 1000, 1)]),
    right: [1, 3, 4, 7]});
  return <Frame id="fleet" title="What the workers did" says={says} table={table}
    wide note={<>Above, slots busy (filled) of slots known (line); below, a row is a
      slot for as long as its worker was seen, and a bar the newest attempt of a
      trial. Striped: failed or cancelled. {shown < studies ?
        `${shown} of ${studies} studies that changed in the time are shown, the newest. ` :
        ''}{bars.length > MOST_BARS ? `${MOST_BARS} of ${bars.length} trials drawn.` :
        ''}</>}>
    {(width) => <>
      <label class="choices">The last <select value={over} {...helped('window')} onChange={(event) =>
        setView('over', event.currentTarget.value === 'hour' ? '' :
          event.currentTarget.value)}>{Object.keys(WINDOWS).map((one) =>
          <option value={one}>{one}</option>)}</select></label>
      {lanes.length === 0 ? <p class="quiet">Nothing to draw.</p> : <>
        <Use {...{steps, from, to: now, width}} />
        <Rows {...{bars, lanes, from, to: now, width, says}} /></>}
    </>}
  </Frame>;
};

const Use = ({steps: all, from, to, width}:
    {steps: Step[]; from: number; to: number; width: number}) => {
  const height = 84;
  const left = leftOf(width);
  const bins = Math.max(20, Math.floor((width - left) / 4));
  const steps = all.length > bins ? averaged(all, from, to, bins) : all;
  const mostBusy = steps.reduce((most, one) => Math.max(most, one.busy), 0);
  const most = steps.reduce((so, one) => Math.max(so, one.known), Math.max(1, mostBusy));
  const x = linear(from, Math.max(to, from + 1000), left, width - 8);
  const y = linear(0, most, height - 8, 8);
  const path = (of: (step: Step) => number) => steps.map((one, k) =>
    `${k ? 'H' : 'M'}${x(one.at).toFixed(1)}${k ? `V${y(of(one)).toFixed(1)}` :
      `,${y(of(one)).toFixed(1)}`}`).join('') + `H${x(to).toFixed(1)}`;
  return <svg width={width} height={height} role="img" aria-label={
    `Slots busy over time, at most ${fixed(mostBusy, 0)} of ${
      fixed(most, 0)}, from ${clock(from, from, to)} to ${clock(to, from, to)} UTC`}>
    <Levels y={y} lo={0} hi={most} left={left} right={width - 8} wanted={
      Math.min(3, most)} />
    {steps.length > 0 ? <><path class="band" d={`${path((one) => one.busy)}V${
      y(0)}H${x(steps[0]?.at ?? from).toFixed(1)}Z`} />
      <path class="line thin" d={path((one) => one.busy)} />
      <path class="known" d={path((one) => one.known)} /></> : null}
  </svg>;
};
