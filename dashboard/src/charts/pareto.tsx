// SPDX-License-Identifier: Apache-2.0
//
// What a score costs: trials by two figures of which both should be good, and the
// line of those that no other beats in both. With several objectives the two are
// objectives, and those of the study's own Pareto set are filled.
import type {Objective, Trial} from '../api';
import {picks, type Selection} from '../axes';
import {count, counted, general, num, number, seconds, short, state} from
  '../format';
import {go, setView} from '../route';
import {extent, isWide, linear, logarithmic, logTicks, spaced, ticks} from
  '../scale';
import {Frame, Levels} from './frame';
import {helped} from '../help';

const MOST_DOTS = 400;

interface Figure {
  key: string; name: string; lower: boolean;
  of: (trial: Trial) => number; text: (value: number) => string;
}

const figuresOf = (objectives: Objective[]): Figure[] => [
  ...objectives.map((one, k) => ({key: `o${k}`, name: one.metric,
    lower: one.direction === 'DIRECTION_MINIMIZE',
    of: (trial: Trial) => num(trial.values?.[k]), text: (value: number) =>
      general(value, 4)})),
  {key: 'parameters', name: 'trained parameters', lower: true,
    of: (trial) => num(trial.usage?.trainedParameters) || NaN, text: count},
  {key: 'seconds', name: 'seconds of training', lower: true,
    of: (trial) => num(trial.usage?.trainSeconds) || NaN, text: seconds},
  {key: 'modules', name: 'trained modules', lower: true,
    of: (trial) => trial.rates?.length ? trial.rates.filter(
        (one) => num(one.rate) > 0).length : NaN, text: String}];

// Those that none beats in both.
export const frontOf = (points: {x: number; y: number}[], lowX: boolean,
                        lowY: boolean): number[] => {
  const order = points.map((_, k) => k).sort((a, b) => {
    const [one, two] = [points[a], points[b]];
    if (!one || !two) return 0;
    return (lowX ? one.x - two.x : two.x - one.x) ||
      (lowY ? one.y - two.y : two.y - one.y);
  });
  const front: number[] = [];
  let best = NaN;
  for (const k of order) {
    const y = points[k]?.y ?? NaN;
    if (Number.isNaN(best) || (lowY ? y < best : y > best)) {
      front.push(k);
      best = y;
    }
  }
  return front;
};

// What a plan has to beat: of the trials that froze nothing, and of those that
// trained the head alone, the best. By position in `points`.
export const baselinesOf = (points: {trial: Trial; y: number}[],
                            lowY: boolean): Map<number, string> => {
  const found = new Map<number, string>();
  const kinds: [string, (name: string, rate: number) => boolean][] = [
    ['all trained', (_, rate) => rate > 0],
    ['head only', (name, rate) => /^(pooler|head)$/.test(name) || rate === 0]];
  for (const [kind, fits] of kinds) {
    let best = -1;
    points.forEach(({trial, y}, k) => {
      if (!trial.rates?.length || !trial.rates.every((one) =>
        fits(one.module, num(one.rate)))) return;
      const before = points[best]?.y;
      if (before === undefined || (lowY ? y < before : y > before)) best = k;
    });
    if (best >= 0) found.set(best, kind);
  }
  return found;
};

export const Pareto = ({trials, objectives, pareto, study, selection, against}: {
  trials: Trial[]; objectives: Objective[]; pareto: string[]; study: string;
  selection: Selection; against: string;
}) => {
  const done = trials.filter((one) => one.values?.length &&
    state(one.state) === 'SUCCEEDED');
  const figures = figuresOf(objectives).filter((one) =>
    done.some((trial) => Number.isFinite(one.of(trial))));
  const high = figures[0];
  const across = figures.slice(1).find((one) => one.key === against) ?? figures[1];
  if (high === undefined || across === undefined) {
    return <section class="card" id="pareto"><header><h2>What a score costs</h2>
    </header><p class="quiet">No trial has a result yet.</p></section>;
  }
  const points = done.map((trial) => ({trial, x: across.of(trial),
    y: high.of(trial)})).filter((one) => Number.isFinite(one.x) &&
    Number.isFinite(one.y));
  const front = frontOf(points, across.lower, high.lower);
  const inFront = new Set(front);
  const baselines = baselinesOf(points, high.lower);
  const named = new Set(objectives.length > 1 ? pareto : []);
  const end = front[0] === undefined ? undefined : points[front[0]];
  const says = `No trial is better in both than ${
    counted(front.length, 'trial')} of ${points.length}${end ?
      `; the ${across.lower ? 'least' : 'most'} ${across.name}, ${
        across.text(end.x)}, goes with ${high.name} ${number(end.y)}` : ''}.`;
  const table = () => ({
    head: ['Trial', high.name, across.name, 'On the line', 'To beat'],
    rows: points.map((one, k) => [num(one.trial.number), number(one.y),
      across.text(one.x), inFront.has(k) ? 'yes' : '', baselines.get(k) ?? '']),
    right: [0, 1, 2]});
  return <Frame id="pareto" title="What a score costs" says={says} table={table}
    note={<>{high.name}: {high.lower ? 'lower' : 'higher'} is better; {across.name}:{' '}
      {across.lower ? 'lower' : 'higher'} is better. {counted(points.length, 'trial')}
      {' '}with both; single runs, luck included.{named.size > 0 ?
        ' Filled: the study’s Pareto set over all objectives.' : ''}
      {baselines.size > 0 ? ' Named: the best trials of what a plan has to beat.' : ''}
      {points.length > MOST_DOTS ? ` ${MOST_DOTS} of ${points.length} shown.` : ''}</>}>
    {(width) => <>
      <label class="choices">Against <select value={across.key} {...helped('against')} onChange={(event) =>
        setView('against', event.currentTarget.value)}>
        {figures.slice(1).map((one) => <option value={one.key}>{one.name}
        </option>)}</select></label>
      {draw({points, front, inFront, baselines, named, width, high, across, selection,
        study, says})}
    </>}
  </Frame>;
};

const draw = ({points, front, inFront, baselines, named, width, high, across, selection,
  study, says}: {
  points: {trial: Trial; x: number; y: number}[]; front: number[];
  inFront: Set<number>; baselines: Map<number, string>; named: Set<string>; width: number; high: Figure;
  across: Figure; selection: Selection; study: string; says: string;
}) => {
  const left = 58;
  const height = 260;
  const xs = points.map((one) => one.x);
  const isLog = isWide(xs);
  const [from, to] = extent(xs);
  const [lo, hi] = extent(points.map((one) => one.y));
  const pad = (hi - lo) * 0.06 || 0.01;
  const room = (to - from) * 0.03 || 0.5;
  const x = isLog ? logarithmic(from / 1.1, to * 1.1, left + 6, width - 14) :
    linear(from - room, to + room, left + 6, width - 14);
  const y = linear(lo - pad, hi + pad, height - 42, 10);
  const marks = isLog ? logTicks(from, to) : ticks(from, to, width / 80);
  const order = points.map((_, k) => k);
  const shown = new Set([...spaced(order, MOST_DOTS), ...front,
    ...baselines.keys()]);
  const line = front.map((k, at) => {
    const one = points[k];
    const px = x(one?.x ?? 0).toFixed(1);
    const py = y(one?.y ?? 0).toFixed(1);
    return at === 0 ? `M${px},${py}` : `H${px}V${py}`;
  }).join('');
  return <svg width={width} height={height} role="img"
    aria-label={`${says} The figures are in the tab Data.`}>
    <Levels y={y} lo={lo - pad} hi={hi + pad} left={left} right={width - 8} />
    {marks.map((value) => <text x={x(value)} y={height - 24}
      class="tick middle">{short(value)}</text>)}
    <text x={(left + width) / 2} y={height - 6} class="tick middle">
      {across.name}{isLog ? ', logarithmic' : ''}</text>
    {points.map((one, k) => !shown.has(k) ? null : <circle cx={x(one.x)}
      cy={y(one.y)} r={inFront.has(k) || baselines.has(k) ? 5 : 3}
      class={`${named.has(one.trial.name) ? 'mark' : inFront.has(k) ||
        baselines.has(k) ?
        'hollowdot' : 'dot'} pick${picks(selection, one.trial) ? '' : ' out'}`}
      onClick={() => go(`/studies/${study}/trials/${num(one.trial.number)}`)}>
      <title>{`trial ${num(one.trial.number)}: ${high.name} ${number(one.y)}, ${
        across.name} ${across.text(one.x)}`}</title></circle>)}
    <path d={line} class="line thin" />
    {[...baselines].map(([k, kind]) => {
      const one = points[k];
      const isRight = x(one?.x ?? 0) > width * 0.6;
      return one ? <text x={x(one.x) + (isRight ? -9 : 9)} y={y(one.y) + 16}
        class={`tick name through${isRight ? ' end' : ''}`}>{kind}</text> : null;
    })}
  </svg>;
};
