// SPDX-License-Identifier: Apache-2.0
//
// Parallel coordinates for layers, turned: a row is a module, its cells are the
// levels with "frozen" at the left, and a trial is a line from its score at the
// top down through the cells that it has. Rates are few levels, so lines are
// spread within a cell, the best at the right; pressing cells keeps the trials
// that have them.
import {useId, useMemo, useRef, useState} from 'preact/hooks';
import type {Trial} from '../api';
import {holds, isEmpty, picks, toggled, valueOf, type Axis, type Selection, type Value}
  from '../axes';
import {count, counted, num, number, state} from '../format';
import {setView} from '../route';
import {extent, heat, linear, spaced, ticks} from '../scale';
import {Frame, Hatch, useDark} from './frame';

const MOST_LINES = 300;
const TOP = 44;

interface Props {
  trials: Trial[];
  axes: Axis[];
  metric: string;
  lower: boolean;
  selection: Selection;
}

const score = (trial: Trial) => num(trial.values?.[0]);

export const Parallel = ({trials, axes, metric, lower, selection}: Props) => {
  const done = useMemo(() => trials.filter((one) => one.values?.length &&
    state(one.state) === 'SUCCEEDED'), [trials]);
  const kept = isEmpty(selection) ? done :
    done.filter((one) => picks(selection, one));
  const [least, most] = extent(kept.map(score));
  const says = done.length === 0 ? 'No trial has a result yet.' :
    kept.length === 0 ? 'No trial has all that is selected.' :
    kept.length === done.length ? `All ${counted(done.length, 'trial')
      } with a result; ${metric} ${number(least)} to ${number(most)}.` :
    `${kept.length} of ${counted(done.length, 'trial')} ${
      kept.length === 1 ? 'has' : 'have'} what is selected; ${metric} ${
      number(least)} to ${number(most)}, best ${
      number(lower ? least : most)}.`;
  const isKept = new Set(kept);
  const table = () => ({
    head: ['Trial', 'Selected', metric, ...axes.map((one) => one.name)],
    rows: done.map((one) => [num(one.number), isKept.has(one) ? 'yes' : '',
      number(score(one)), ...axes.map((axis) =>
        axis.cells[cellAt(axis, one)]?.label ?? '')]),
    right: [0, 2]});
  return <Frame id="parallel" title="From score to layers" says={says} wide
    table={table} note={<>A line is a trial with a result, the better the
      stronger its colour; {lower ? 'lower' : 'higher'} is better. Press a cell,
      or draw along the score, to keep the trials that have it; the form above
      does the same with the keyboard.{done.length > MOST_LINES ?
        ` ${count(MOST_LINES)} of ${count(done.length)} lines shown.` : ''}</>}>
    {(width) => done.length === 0 || axes.length === 0 ?
      <p class="quiet">There is nothing to draw.</p> :
      <Lines {...{done, kept, axes, width, lower, metric, selection}} />}
  </Frame>;
};

// Of thousands of trials few have a value that no other has.
const cellsAt = new WeakMap<Axis, Map<Value, number>>();

const cellAt = (axis: Axis, trial: Trial): number => {
  const known = cellsAt.get(axis) ?? new Map<Value, number>();
  cellsAt.set(axis, known);
  const value = valueOf(trial, axis.name);
  let at = known.get(value);
  if (at === undefined) {
    at = axis.cells.findIndex(({key}) => holds(key, value));
    known.set(value, at);
  }
  return at;
};

const countsOf = (trials: Trial[], axes: Axis[]): number[][] =>
  axes.map((axis) => {
    const counts = axis.cells.map(() => 0);
    for (const trial of trials) {
      const k = cellAt(axis, trial);
      if (k >= 0) counts[k] = (counts[k] ?? 0) + 1;
    }
    return counts;
  });

const Lines = ({done, kept, axes, width, lower, metric, selection}: {
  done: Trial[]; kept: Trial[]; axes: Axis[]; width: number; lower: boolean;
  metric: string; selection: Selection;
}) => {
  const dark = useDark();
  const hatch = useId();
  const from = useRef<number | null>(null);
  const [drawn, setDrawn] = useState<[number, number] | null>(null);
  const left = Math.min(120, 14 + 7 * Math.max(6,
      ...axes.map((one) => one.name.length)));
  const row = axes.length > 60 ? 20 : axes.length > 20 ? 32 : 48;
  const high = Math.round(row * 0.45);
  const [lo, hi] = extent(done.map(score));
  const x = linear(lo, hi, left + 6, width - 12);
  const room = width - left - 6;
  const warm = linear(lower ? hi : lo, lower ? lo : hi, 0.15, 1);
  const inside = linear(lo, hi, 0.12, 0.88);
  const height = TOP + axes.length * row + 8;
  const isKept = new Set(kept);
  const shown = [...spaced(done.filter((one) => !isKept.has(one)), MOST_LINES / 3),
    ...spaced([...kept].sort((a, b) => (lower ? -1 : 1) * (score(a) - score(b))),
      MOST_LINES)];
  // For each axis how many trials are in each of its cells.
  const all = useMemo(() => countsOf(done, axes), [done, axes]);
  const some = countsOf(kept, axes);
  const path = (trial: Trial): string => {
    let text = `M${x(score(trial)).toFixed(1)},${TOP - 14}`;
    axes.forEach((axis, r) => {
      const k = cellAt(axis, trial);
      if (k < 0) return;  // it has no such parameter
      const wide = room / axis.cells.length;
      const at = left + (k + inside(score(trial))) * wide;
      const y = TOP + r * row;
      text += `L${at.toFixed(1)},${y + 1}V${y + high - 1}`;
    });
    return text;
  };
  const scoreAt = (px: number) => lo + (hi - lo) *
    Math.min(1, Math.max(0, (px - left - 6) / (width - 18 - left)));
  const range = drawn ?? selection.score;
  const settle = () => {
    if (drawn && Math.abs(x(drawn[0]) - x(drawn[1])) > 4) {
      setView('score', `${Number(drawn[0].toPrecision(6))}..${
        Number(drawn[1].toPrecision(6))}`);
    }
    from.current = null;
    setDrawn(null);
  };
  return <svg width={width} height={height} role="img"
    aria-label={`${kept.length} of ${done.length} trials selected. The figures are in the tab Data.`}
    onPointerMove={(event) => {
      if (from.current === null) return;
      const ends = [from.current, scoreAt(event.offsetX)].sort((a, b) => a - b);
      setDrawn([ends[0] ?? lo, ends[1] ?? hi]);
    }} onPointerUp={settle} onPointerLeave={settle}>
    <Hatch id={hatch} />
    <text x={left - 8} y={20} class="tick end strong">{metric.slice(0, 16)}</text>
    <rect x={left + 6} width={Math.max(0, width - 18 - left)} y={4} height={24}
      class="brush" onPointerDown={(event) => {
        from.current = scoreAt(event.offsetX);
      }}><title>Draw along it to keep a range of scores</title></rect>
    {range ? <rect x={x(Math.max(lo, range[0]))} y={4} height={24}
      class="brushed" width={Math.max(2, x(Math.min(hi, range[1])) -
        x(Math.max(lo, range[0])))} /> : null}
    {ticks(lo, hi, Math.max(2, room / 110)).map((value) => <text x={x(value)}
      y={20} class="tick middle through">{value}</text>)}
    {axes.map((axis, r) => {
      const wide = room / axis.cells.length;
      const chosen = selection.cells.get(axis.name) ?? [];
      return <g class={selection.module && selection.module !== axis.name ?
        'dim' : ''}>
        <text x={left - 8} y={TOP + r * row + high / 2 + 4} class="tick end name">
          {axis.name.slice(0, 18)}</text>
        {axis.cells.map((one, k) => <g class="pick" onClick={() => setView('only',
            toggled(selection, axis.name, one.key))}>
          <title>{`${axis.name} ${one.label}: ${all[r]?.[k] ?? 0} trials, ${
            some[r]?.[k] ?? 0} of them selected`}</title>
          <rect x={left + k * wide} y={TOP + r * row} width={wide - 3}
            height={high} rx="3" class={chosen.includes(one.key) ?
              'level chosen' : 'level'} fill={axis.isRate && one.key === '0' ?
              `url(#${hatch})` : 'var(--ground)'} />
        </g>)}
      </g>;
    })}
    {shown.map((trial) => <path d={path(trial)} class={isKept.has(trial) ?
      'thread' : 'thread out'} stroke={isKept.has(trial) ?
      heat(warm(score(trial)), dark) : undefined} />)}
    {axes.map((axis, r) => axis.cells.map((one, k) => {
      const wide = room / axis.cells.length;
      return row > 24 && wide > 44 ? <text x={left + k * wide + 6}
        y={TOP + r * row + 13} class="tick small through">
        {one.label.slice(0, Math.floor(wide / 6.5))}</text> : null;
    }))}
  </svg>;
};
