// SPDX-License-Identifier: Apache-2.0
//
// Which modules matter: main effects with their intervals, in depth order. A bar
// that cannot be told from zero is hollow.
import type {Report} from '../api';
import {basis, direction, fixed, num, percent, percentInterval, sentence} from
  '../format';
import {setView} from '../route';
import {linear, ticks} from '../scale';
import {Frame} from './frame';

export const Importance = ({report, selected = ''}:
    {report: Report; selected?: string}) => {
  const rows = report.parameters ?? [];
  const settled = report.stability?.sentence;
  const r2 = num(report.outOfBagR2);
  const isFew = r2 > 0 && report.warnings?.some((one) => one.code === 'FEW_TRIALS');
  const table = () => ({
    head: ['Module', 'Rank', 'Main effect', '80 % interval', 'Direction'],
    rows: rows.map((one) => [one.parameter, one.distinguishable ? num(one.rank) : '-',
      percent(one.main?.value), percentInterval(one.main ?? {}),
      direction(one)]),
    right: [1, 2, 3]});
  return <Frame id="importance" title="Which modules matter"
    says={sentence(report.verdict)}
    note={<>{basis(report)} Share of the variance over the searched space, with
      80 % intervals; hollow: not told from zero{isFew ?
        '; too few trials to say how much of their differences it explains' :
        Number.isFinite(r2) && r2 > 0 ? `; explains ${fixed(r2 * 100, 0)
        } % of the differences of trials that it has not seen` : ''}
      {settled ? `. Stability: ${settled}` : ''}.</>}
    table={table}>
    {(width) => {
      const row = rows.length > 40 ? 12 : 26;
      const left = Math.min(130, 14 + 7.2 *
        Math.max(6, ...rows.map((one) => one.parameter.length)));
      const right = width < 460 ? 58 : 150;
      const most = Math.max(0.001, ...rows.map((one) => num(one.main?.hi80)));
      const x = linear(0, most, left, width - right);
      const height = rows.length * row + 24;
      return <svg width={width} height={height} role="img"
        aria-label={`${report.verdict}. The figures are in the tab Data.`}>
        {ticks(0, most, width < 460 ? 3 : 5).map((value) => <g>
          <line x1={x(value)} x2={x(value)} y1={0} y2={height - 20}
            class="grid" />
          <text x={x(value)} y={height - 6} class="tick middle">
            {`${fixed(value * 100, most < 0.05 ? 1 : 0)} %`}</text>
        </g>)}
        {rows.map((one, k) => {
          const main = one.main ?? {};
          const y = k * row;
          const middle = y + row / 2;
          const sure = one.distinguishable === true;
          return <g class={`pick${selected && selected !== one.parameter ?
            ' dim' : ''}`} onClick={() => setView('module',
              selected === one.parameter ? '' : one.parameter)}>
            <title>{`${one.parameter}: ${percent(main.value)} (${
              percentInterval(main)})`}</title>
            <text x={left - 8} y={middle + 4} class="tick end name">
              {one.parameter}</text>
            <rect x={left} y={y + row * 0.18} height={row * 0.64} rx="3"
              width={Math.max(1.5, x(num(main.value)) - left)}
              class={sure ? 'bar' : 'bar hollow'} />
            <line x1={x(num(main.lo80))} x2={x(num(main.hi80))} y1={middle}
              y2={middle} class="whisker" />
            <line x1={x(num(main.lo80))} x2={x(num(main.lo80))}
              y1={middle - 4} y2={middle + 4} class="whisker" />
            <line x1={x(num(main.hi80))} x2={x(num(main.hi80))}
              y1={middle - 4} y2={middle + 4} class="whisker" />
            <text x={width - right + 12} y={middle + 4} class="tick strong">
              {percent(main.value)}</text>
            {right > 100 && sure ? <text x={width - right + 70} y={middle + 4}
              class="tick">#{num(one.rank)}</text> : null}
          </g>;
        })}
      </svg>;
    }}
  </Frame>;
};
