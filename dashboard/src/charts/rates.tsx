// SPDX-License-Identifier: Apache-2.0
//
// Trial x layer: a column is a trial, a row is a module, the lowest layer at the
// bottom as in the model. Drawn on a canvas, since there may be thousands; as SVG
// where it is saved, or where the browser has no canvas.
import {useId, useLayoutEffect, useMemo, useRef, useState} from 'preact/hooks';
import type {Trial} from '../api';
import {valueOf} from '../axes';
import {counted, number, num, rate as rateText, state} from '../format';
import {go} from '../route';
import {extent, heat, linear, spaced, warmth} from '../scale';
import {Frame, Hatch, useDark} from './frame';
import {Legend} from './strip';
import {helped} from '../help';

interface Props {
  trials: Trial[];  // with rates
  modules: string[];
  levels: number[];
  metric: string;
  lower: boolean;  // is better
  study: string;
  byScore: boolean;
  onOrder: (byScore: boolean) => void;
}

const score = (trial: Trial) => num(trial.values?.[0]);
const rateOf = (trial: Trial, name: string) => Number(valueOf(trial, name) ?? 0);
const LEFT = 84;
// The end of a long name tells more than its beginning.
const short = (name: string) => name.length > 12 ? `…${name.slice(-11)}` : name;
const STRIP = 34;
const GAP = 8;
// As SVG, where each cell is a shape of its own.
const MOST_DRAWN = 200;
const HAS_CANVAS = (() => {
  try {
    return document.createElement('canvas').getContext('2d') !== null;
  } catch {
    return false;
  }
})();

export const Rates = ({trials, modules, levels, metric, lower, study, byScore,
  onOrder}: Props) => {
  const dark = useDark();
  const done = useMemo(() => trials.filter((one) => one.values?.length &&
    state(one.state) === 'SUCCEEDED'), [trials]);
  const ordered = useMemo(() => [...done].sort((a, b) => byScore ?
    (lower ? score(b) - score(a) : score(a) - score(b)) :
    num(a.number) - num(b.number)), [done, byScore, lower]);
  const fixed = useMemo(() => modules.filter((name) => done.length > 1 &&
    done.every((one) => rateOf(one, name) === rateOf(done[0] as Trial, name))),
  [modules, done]);
  const rows = useMemo(() => modules.filter((name) => !fixed.includes(name))
    .reverse(), [modules, fixed]);
  const frozen = (name: string, of: Trial[]) => of.filter((trial) =>
    rateOf(trial, name) === 0).length;
  const top = byScore ? ordered.slice(-Math.max(1, Math.ceil(ordered.length / 10))) : [];
  const often = [...modules].filter((name) => top.length > 0 &&
    frozen(name, top) > top.length / 2);
  const says = ordered.length === 0 ? 'No trial has a result yet.' :
    `${counted(ordered.length, 'trial')} with a result, ${byScore ? 'the best at the right' :
      'in the order of their numbers'}${often.length > 0 ?
      `; of the best tenth most freeze ${often.join(', ')}` : ''}.`;
  const table = () => ({
    head: ['Trial', metric, ...modules],
    rows: ordered.map((trial) => [num(trial.number), number(score(trial)),
      ...modules.map((name) => rateText(rateOf(trial, name)))]),
    right: [0, 1, ...modules.map((_, k) => k + 2)]});
  return <Frame id="rates" title="Every trial, layer by layer" says={says}
    table={table} wide drawing={(width) => <Picture {...{ordered, rows, levels,
      metric, width, dark}} most={MOST_DRAWN} />}
    note={<>A column is a trial, a row a module; hatched is frozen. The strip
      above is {metric}.{fixed.length > 0 ? ` Always the same: ${fixed.map(
        (name) => `${name} ${rateText(rateOf(done[0] as Trial, name))}`).join(', ')}.` : ''}</>}>
    {(width) => {
      const most = Math.floor(width - LEFT - 8);
      return <>
        <div class="choices" role="group" aria-label="Order of trials">
          <button type="button" aria-pressed={byScore} {...helped('byscore')}
            onClick={() => onOrder(true)}>by {metric}</button>
          <button type="button" aria-pressed={!byScore} {...helped('bynumber')}
            onClick={() => onOrder(false)}>by number</button>
          {most < ordered.length ? <span class="quiet">
            {most} of {ordered.length} shown</span> : null}
        </div>
        {HAS_CANVAS ? null : <Picture {...{ordered, rows, levels, metric, width,
          dark}} most={MOST_DRAWN} />}
        <Grid {...{ordered, most, rows, levels, metric, study, width, dark}} />
        <Legend levels={levels} />
      </>;
    }}
  </Frame>;
};

interface GridProps {
  ordered: Trial[]; most: number; rows: string[]; levels: number[];
  metric: string; study: string; width: number; dark: boolean;
}

const Grid = ({ordered, most, rows, levels, metric, study, width, dark}:
    GridProps) => {
  const shown = useMemo(() => spaced(ordered, most), [ordered, most]);
  const ref = useRef<HTMLCanvasElement>(null);
  const [at, setAt] = useState<{k: number; row: number} | null>(null);
  const row = rows.length > 40 ? 8 : 20;
  const height = STRIP + GAP + rows.length * row;
  const room = width - LEFT - 2;
  const column = room / Math.max(1, shown.length);
  useLayoutEffect(() => {
    const canvas = ref.current;
    const pen = canvas?.getContext('2d');
    if (!canvas || !pen) return;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const styles = getComputedStyle(canvas);
    const colour = (name: string) => styles.getPropertyValue(name).trim();
    const tile = document.createElement('canvas');
    tile.width = tile.height = 6 * ratio;
    const ink = tile.getContext('2d');
    if (!ink) return;
    ink.scale(ratio, ratio);
    ink.fillStyle = colour('--ice');
    ink.fillRect(0, 0, 6, 6);
    ink.strokeStyle = colour('--crack');
    ink.lineWidth = 1.2;
    ink.beginPath();
    for (const k of [-6, 0, 6]) {
      ink.moveTo(k, 6);
      ink.lineTo(k + 6, 0);
    }
    ink.stroke();
    const hatch = pen.createPattern(tile, 'repeat');
    hatch?.setTransform(new DOMMatrix().scale(1 / ratio));
    const y = linear(...extent(shown.map(score)), STRIP - 2, 3);
    const gap = column > 6 ? 1 : 0;
    pen.font = `12px ${styles.fontFamily}`;
    pen.textAlign = 'right';
    pen.fillStyle = colour('--quiet');
    pen.fillText(metric.length > 12 ? `${metric.slice(0, 11)}…` : metric,
                 LEFT - 8, 20);
    rows.forEach((name, r) => {
      if (row > 10 || r % 4 === 0) {
        pen.fillText(short(name), LEFT - 8, STRIP + GAP + r * row + row / 2 + 4);
      }
    });
    shown.forEach((trial, k) => {
      const x = LEFT + k * column;
      const wide = Math.max(0.6, column - gap);
      pen.fillStyle = colour('--accent');
      const from = y(score(trial));
      pen.fillRect(x, from, wide, STRIP - from);
      rows.forEach((name, r) => {
        const one = trial.rates?.find((rate) => rate.module === name);
        const value = num(one?.rate);
        pen.fillStyle = value === 0 ? (hatch ?? colour('--ice')) :
          heat(warmth(value, levels), dark);
        pen.fillRect(x, STRIP + GAP + r * row, wide, row - 1);
      });
    });
    if (at !== null) {
      pen.strokeStyle = colour('--text');
      pen.lineWidth = 1.5;
      pen.strokeRect(LEFT + at.k * column - 0.5, 1, Math.max(2, column),
                     height - 2);
    }
  }, [shown, rows, levels, width, height, dark, at, metric]);
  const trial = at === null ? undefined : shown[at.k];
  const open = () => {
    if (trial) go(`/studies/${study}/trials/${num(trial.number)}`);
  };
  const cell = trial && at ? trial.rates?.find(
      (one) => one.module === rows[at.row]) : undefined;
  const step = (by: number, down = 0) => setAt((before) => ({
    k: Math.min(shown.length - 1, Math.max(0, (before?.k ?? 0) + by)),
    row: Math.min(rows.length - 1, Math.max(0, (before?.row ?? 0) + down))}));
  const keys: Record<string, () => void> = {
    ArrowLeft: () => step(-1), ArrowRight: () => step(1),
    ArrowUp: () => step(0, -1), ArrowDown: () => step(0, 1),
    Home: () => step(-shown.length), End: () => step(shown.length),
    Enter: open, Escape: () => setAt(null)};
  return <>
    {HAS_CANVAS ? <canvas ref={ref} style={{width: `${width}px`, height: `${height}px`}}
      tabIndex={0} role="application" {...helped('grid')}
      aria-label={`Rates of ${shown.length} trials in ${rows.length} modules. Arrow keys choose a trial, Enter opens it; the tab Data has all figures.`}
      onKeyDown={(event) => {
        const act = keys[event.key];
        if (!act) return;
        event.preventDefault();
        act();
      }}
      onMouseMove={(event) => {
        const k = Math.floor((event.offsetX - LEFT) / column);
        const r = Math.floor((event.offsetY - STRIP - GAP) / row);
        setAt(k < 0 || k >= shown.length ? null :
          {k, row: Math.min(rows.length - 1, Math.max(0, r))});
      }}
      onMouseLeave={() => setAt(null)} onClick={open} /> : null}
    <p class="reading" aria-live="polite">{!HAS_CANVAS ?
      'This browser has no canvas: the tab Data and the view Trials lead to each trial.' : trial && at ?
      `Trial ${num(trial.number)}: ${metric} ${number(score(trial))}; ${
        rows[at.row] ?? ''} ${rateText(cell?.rate)}` :
      'Point at a trial, or choose one with the arrow keys; Enter opens it.'}</p>
  </>;
};

// The same as shapes, of fewer trials.
const Picture = ({ordered, most, rows, levels, metric, width, dark}:
    Omit<GridProps, 'study'>) => {
  const hatch = useId();
  const shown = spaced(ordered, most);
  const row = rows.length > 40 ? 8 : 20;
  const column = (width - LEFT - 2) / Math.max(1, shown.length);
  const y = linear(...extent(shown.map(score)), STRIP - 2, 3);
  const wide = Math.max(0.6, column - (column > 6 ? 1 : 0));
  return <svg width={width} height={STRIP + GAP + rows.length * row} role="img"
    aria-label={`Rates of ${shown.length} of ${ordered.length} trials. The figures are in the tab Data.`}>
    <Hatch id={hatch} />
    <text x={LEFT - 8} y="20" class="tick end">{metric.slice(0, 12)}</text>
    {rows.map((name, r) => row > 10 || r % 4 === 0 ? <text x={LEFT - 8}
      y={STRIP + GAP + r * row + row / 2 + 4} class="tick end">{short(name)}</text> : null)}
    {shown.map((trial, k) => <g>
      <rect x={LEFT + k * column} y={y(score(trial))} width={wide}
        height={STRIP - y(score(trial))} class="trained" />
      {rows.map((name, r) => {
        const value = rateOf(trial, name);
        return <rect x={LEFT + k * column} y={STRIP + GAP + r * row} width={wide}
          height={row - 1} fill={value === 0 ? `url(#${hatch})` :
            heat(warmth(value, levels), dark)} />;
      })}
    </g>)}
  </svg>;
};
