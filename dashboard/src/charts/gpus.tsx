// SPDX-License-Identifier: Apache-2.0
//
// How busy the GPUs were, a row for each, beside the slots above: a slot that runs a
// trial on a GPU that hardly computes waits for something else.
import {bytesOf} from '../api';
import type {Worker} from '../api';
import {counted, lastPart, percent, seconds} from '../format';
import {linear} from '../scale';
import {Frame} from './frame';
import {leftOf, Times, type Bar} from './timeline';
import type {Seen} from './fleet';

export interface GpuRow {
  worker: string; gpu: number; model: string; begins: number; step: number;
  busy: number[];    // 0 … 1 by step; NaN: not known
  mean: number;      // of what is known
  onTrials: number;  // of the steps in which its worker ran a trial; NaN: none
}

const NOT_KNOWN = 255;

const meanOf = (values: number[]): number => {
  const known = values.filter((one) => !Number.isNaN(one));
  return known.reduce((sum, one) => sum + one, 0) / known.length;
};

// The steps in which a bar lies, as a set.
const stepsOf = (bars: Bar[], begins: number, step: number, count: number): Set<number> => {
  const ran = new Set<number>();
  for (const bar of bars) {
    const last = Math.min(count - 1, Math.floor((bar.to - begins) / step));
    for (let k = Math.max(0, Math.floor((bar.from - begins) / step)); k <= last; ++k) {
      ran.add(k);
    }
  }
  return ran;
};

// The GPUs of which anything is known between `from` and `to`.
export const gpuRows = (workers: Worker[], bars: Bar[], from: number, to: number):
    GpuRow[] => workers.flatMap((one) => {
  const worker = lastPart(one.name);
  const begins = Date.parse(one.history?.startTime ?? '');
  const step = 1000 * parseFloat(one.history?.step ?? '');
  if (!(step > 0)) return [];
  const steps = stepsOf(bars.filter((bar) => bar.worker === worker), begins, step,
      Math.ceil((to - begins) / step));
  const has = one.hardware?.gpus ?? [];
  return (one.history?.gpus ?? []).map((gpu, k) => {
    const busy = Array.from(bytesOf(gpu.busy ?? ''), (value, at) =>
      value === NOT_KNOWN || begins + (at + 1) * step <= from || begins + at * step >= to ?
        NaN : value / 100);
    const ran = busy.filter((_, at) => steps.has(at));
    const at = has.findIndex((known) => known.uuid === gpu.uuid);
    return {worker, gpu: at < 0 ? k : at, model: has[at]?.model ?? '', begins, step,
      busy, mean: meanOf(busy), onTrials: meanOf(ran)};
  }).sort((a, b) => a.gpu - b.gpu);
}).filter((row) => !Number.isNaN(row.mean)).sort((a, b) =>
  a.worker < b.worker ? -1 : a.worker > b.worker ? 1 : a.gpu - b.gpu);

const nameOf = (row: GpuRow): string => `${row.worker} GPU ${row.gpu}`;

// Less than this while trials ran, and the GPU is worth a look.
const IDLE = 0.3;

export const gpusSay = (rows: GpuRow[], from: number, to: number): string => {
  const mean = meanOf(rows.map((row) => row.mean));
  const onTrials = meanOf(rows.map((row) => row.onTrials));
  const least = rows.reduce<GpuRow | undefined>((low, row) =>
    row.onTrials < (low?.onTrials ?? IDLE) ? row : low, undefined);
  return `${counted(rows.length, 'GPU')} computed ${percent(mean)} of the last ${
    seconds((to - from) / 1000)}${Number.isNaN(onTrials) ? '; no trial ran on them' :
    `, and ${percent(onTrials)} of the time in which their workers ran trials`}${
    least === undefined ? '' : `; ${nameOf(least)} only ${percent(least.onTrials)
    }, so its trials wait for something else`}.`;
};

export const Gpus = ({workers, seen}: {workers: Worker[]; seen: Seen}) => {
  const {bars, from, to} = seen;
  const rows = gpuRows(workers, bars, from, to);
  if (rows.length === 0) return null;
  const says = gpusSay(rows, from, to);
  const step = Math.max(...rows.map((row) => row.step)) / 1000;
  const table = () => ({
    head: ['Worker', 'GPU', 'Model', 'Busy', 'While trials ran', 'Most', 'Now'],
    rows: rows.map((row) => [row.worker, row.gpu, row.model, percent(row.mean),
      percent(row.onTrials), percent(row.busy.reduce((most, one) =>
        one > most ? one : most, 0)), percent(row.busy[row.busy.length - 1])]),
    right: [1, 3, 4, 5, 6]});
  return <Frame id="gpus" title="How busy the GPUs were" says={says} table={table}
    wide note={<>A row is a GPU, its height the part of the time in which it computed,
      as its worker said: means over {step < 3600 && step >= 60 ?
        counted(step / 60, 'minute') : seconds(step)}. Empty: not known. Kept since the
      coordinator began, for a week at most.</>}>
    {(width) => <Strips {...{rows, from, to, width, says}} />}
  </Frame>;
};

const Strips = ({rows, from, to, width, says}: {rows: GpuRow[]; from: number;
  to: number; width: number; says: string}) => {
  const high = rows.length > 30 ? 14 : 28;
  const left = leftOf(width);
  const x = linear(from, Math.max(to, from + 1000), left, width - 8);
  const inside = (value: number) => x(Math.min(to, Math.max(from, value)));
  return <svg width={width} height={rows.length * high + 24} role="img"
    aria-label={`${says} The figures are in the tab Data.`}>
    {rows.map((row, k) => <g>
      <title>{`${nameOf(row)}${row.model ? `, ${row.model}` : ''}: busy ${
        percent(row.mean)}`}</title>
      <rect x={left} width={Math.max(0, width - 8 - left)} y={k * high + 2}
        height={high - 4} class="idle" />
      <text x={left - 8} y={k * high + high / 2 + 4} class="tick end name">
        {`${row.worker.slice(-12)} / ${row.gpu}`}</text>
      <path class="trained" d={row.busy.map((one, at) => {
        const begins = inside(row.begins + at * row.step);
        const ends = inside(row.begins + (at + 1) * row.step);
        // What is known to be nothing is a line.
        const size = Math.max(1, one * (high - 4));
        return Number.isNaN(one) || !(ends > begins) ? '' : `M${begins.toFixed(1)},${
          (k + 1) * high - 2}V${((k + 1) * high - 2 - size).toFixed(1)}H${
          ends.toFixed(1)}V${(k + 1) * high - 2}Z`;
      }).join('')} />
    </g>)}
    <Times {...{from, to, x, width}} y={rows.length * high + 16} />
  </svg>;
};
