// SPDX-License-Identifier: Apache-2.0
//
// What each value is expected to bring, all else averaged out: a small panel for
// each module, all with the same axis, so that flat is seen to be flat.
import {useId} from 'preact/hooks';
import type {Marginals as Answer, Report} from '../api';
import {basis, num, number, numberInterval, rate as rateText, withInterval} from
  '../format';
import {setView} from '../route';
import {extent, linear} from '../scale';
import {Frame, Hatch, Levels} from './frame';

const LEFT = 50;

const same = (a: unknown, b: unknown): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

export const Marginals = ({answer, report, modules, selected}: {
  answer: Answer; report: Report | undefined; modules: string[];
  selected: string;
}) => {
  const hatch = useId();
  const all = answer.marginals ?? [];
  const rates = new Set(modules);
  const text = (name: string, value: unknown) => typeof value !== 'number' ?
    String(value ?? 'frozen') : rates.has(name) ? rateText(value) : number(value);
  const isFrozen = (name: string, value: unknown) => rates.has(name) &&
    (value === 0 || value === undefined);
  const points = all.flatMap((one) => one.points ?? []);
  const [lo, hi] = extent(points.flatMap((one) => [num(one.expected?.value),
    num(one.expected?.lo80), num(one.expected?.hi80)]));
  const span = (one: (typeof all)[number]): number => {
    const [from, to] = extent((one.points ?? []).map(
        (point) => num(point.expected?.value)));
    return to - from;
  };
  const widest = [...all].sort((a, b) => span(b) - span(a))[0];
  const isSure = report?.parameters?.some((one) =>
    one.parameter === widest?.parameter && one.distinguishable === true);
  const untried = points.filter((one) => num(one.trials) === 0).length;
  const says = widest === undefined ? 'There is nothing to show yet.' :
    `${widest.parameter} moves ${answer.options?.target ?? ''} most: ${
      number(span(widest))} between its best value, ${text(widest.parameter,
      widest.best)}, and its worst${isSure ? '' : ', which can be chance'}${untried > 0 ?
      `; ${untried} of ${points.length} values were never tried` : ''}.`;
  const table = () => ({
    head: ['Module', 'Value', 'Expected', '80 % interval', 'Trials', ''],
    rows: all.flatMap((one) => (one.points ?? []).map((point) => [one.parameter,
      text(one.parameter, point.value), withInterval(point.expected)
        .split(' (')[0] ?? '', numberInterval(point.expected ?? {}),
      num(point.trials), same(point.value, one.best) ? 'best' : ''])),
    right: [2, 3, 4]});
  return <Frame id="marginals" title="What each value brings" says={says} wide
    table={table} note={<>{basis({...report, ...answer})} Lines are means over
      all else with 80 % intervals; hatched is frozen; the bars below say how
      many trials had the value, a hollow dot that none had.</>}>
    {(width) => {
      const wanted = all.length > 60 ? 104 : all.length > 20 || width < 500 ? 140 : 210;
      const columns = Math.max(1, Math.min(all.length,
          Math.floor((width - LEFT) / wanted)));
      const wide = (width - LEFT) / Math.max(1, columns);
      const high = all.length > 60 ? 92 : 148;
      const pad = (hi - lo) * 0.06 || 0.01;
      const height = Math.ceil(all.length / columns) * high;
      const most = Math.max(1, ...points.map((one) => num(one.trials)));
      return <svg width={width} height={height} role="img"
        aria-label={`${says} The figures are in the tab Data.`}>
        <Hatch id={hatch} />
        {all.map((one, k) => {
          const row = Math.floor(k / columns);
          const left = LEFT + (k % columns) * wide;
          const top = row * high + 22;
          const bottom = (row + 1) * high - 36;
          const y = linear(lo - pad, hi + pad, bottom, top);
          const shown = one.points ?? [];
          const step = (wide - 12) / Math.max(1, shown.length);
          const x = (at: number) => left + (at + 0.5) * step;
          const dim = selected !== '' && selected !== one.parameter;
          return <g class={dim ? 'panel dim' : 'panel'}
            onClick={() => setView('module',
                selected === one.parameter ? '' : one.parameter)}>
            <text x={left} y={row * high + 14} class="tick name">
              {one.parameter}</text>
            {k % columns === 0 ? <Levels y={y} lo={lo - pad} hi={hi + pad}
              left={left} right={left + Math.min(columns, all.length - k) * wide - 12}
              wanted={3} /> : null}
            {shown.map((point, at) => isFrozen(one.parameter, point.value) ?
              <rect x={x(at) - step / 2} width={step} y={top}
                height={bottom - top} fill={`url(#${hatch})`} opacity="0.7" /> :
              null)}
            <path class="line thin" d={shown.map((point, at) =>
              `${at ? 'L' : 'M'}${x(at).toFixed(1)},${
                y(num(point.expected?.value)).toFixed(1)}`).join('')} />
            {shown.map((point, at) => {
              const of = point.expected ?? {};
              const none = num(point.trials) === 0;
              return <g>
                <title>{`${one.parameter} ${text(one.parameter, point.value)}: ${
                  withInterval(of)}, ${num(point.trials)} trials${
                  none ? ', no data here' : ''}`}</title>
                <line x1={x(at)} x2={x(at)} y1={y(num(of.lo80))}
                  y2={y(num(of.hi80))} class="whisker" />
                <circle cx={x(at)} cy={y(num(of.value))} r="3.4"
                  class={none ? 'hollowdot' : 'mark'} />
                <rect x={x(at) - step * 0.3} width={step * 0.6}
                  y={bottom + 14 - 12 * num(point.trials) / most}
                  height={12 * num(point.trials) / most} class="rug" />
              </g>;
            })}
            {high > 100 ? shown.map((point, at) => step > 42 || at === 0 ||
              at === shown.length - 1 ? <text x={x(at)} y={bottom + 28}
              class="tick middle small">{text(one.parameter, point.value)
              .slice(0, 9)}</text> : null) : null}
          </g>;
        })}
      </svg>;
    }}
  </Frame>;
};
