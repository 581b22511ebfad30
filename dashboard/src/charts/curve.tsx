// SPDX-License-Identifier: Apache-2.0
//
// What one trial measured, by step.
import {useState} from 'preact/hooks';
import type {Measurement} from '../api';
import {number, num} from '../format';
import {extent, linear, ticks} from '../scale';
import {Frame} from './frame';
import {helped} from '../help';

export const Curve = ({points, metric}:
    {points: Measurement[]; metric: string}) => {
  const names = [...new Set(points.flatMap(
      (one) => Object.keys(one.metrics ?? {})))].sort();
  const [chosen, setChosen] = useState('');
  const shown = names.includes(chosen) ? chosen :
    names.includes(metric) ? metric : names[0] ?? '';
  const with_ = points.filter((one) => shown in (one.metrics ?? {}))
    .map((one) => ({step: num(one.step), value: num(one.metrics?.[shown])}));
  const finite = with_.filter((one) => Number.isFinite(one.value));
  const end = finite[finite.length - 1];
  const says = end === undefined ? 'This trial has measured nothing yet.' :
    `${shown} is ${number(end.value)} at step ${end.step}, after ${
      points.length} measurements.`;
  const table = () => ({head: ['Step', ...names],
    rows: points.map((one) => [num(one.step), ...names.map((name) =>
      name in (one.metrics ?? {}) ? number(one.metrics?.[name]) : '')]),
    right: [0, ...names.map((_, k) => k + 1)]});
  return <Frame id="curve" title="Learning curve" says={says} table={table}>
    {(width) => {
      const left = 60;
      const height = 220;
      const [lo, hi] = extent(finite.map((one) => one.value));
      const pad = (hi - lo) * 0.05 || 0.01;
      const first = finite[0]?.step ?? 0;
      const x = linear(first, Math.max(end?.step ?? 1, first + 1), left + 6,
                       width - 12);
      const y = linear(lo - pad, hi + pad, height - 26, 10);
      return <>
        {names.length > 1 ? <label class="choices">Metric{' '}
          <select value={shown} {...helped('metric')} onChange={(event) =>
            setChosen(event.currentTarget.value)}>
            {names.map((name) => <option value={name}>{name}</option>)}
          </select></label> : null}
        {finite.length === 0 ? <p class="quiet">Nothing to draw yet.</p> :
          <svg width={width} height={height} role="img" aria-label={says}>
            {ticks(lo - pad, hi + pad, 4).map((value) => <g>
              <line x1={left} x2={width - 6} y1={y(value)} y2={y(value)}
                class="grid" />
              <text x={left - 8} y={y(value) + 4} class="tick end">{value}</text>
            </g>)}
            {ticks(first, end?.step ?? 1, width / 110)
              .filter(Number.isInteger).map((value) =>
              <text x={x(value)} y={height - 6} class="tick middle">{value}
              </text>)}
            <path class="line" d={finite.map((one, k) => `${k ? 'L' : 'M'}${
              x(one.step).toFixed(1)},${y(one.value).toFixed(1)}`).join('')} />
            {finite.length <= 60 ? finite.map((one) => <circle cx={x(one.step)}
              cy={y(one.value)} r="3" class="dot">
              <title>{`step ${one.step}: ${number(one.value)}`}</title>
            </circle>) : null}
          </svg>}
      </>;
    }}
  </Frame>;
};
