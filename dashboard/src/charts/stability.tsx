// SPDX-License-Identifier: Apache-2.0
//
// Whether the ranking still moves: the main effects as they were after the first
// trials of the study, and after more and more of them.
import type {Interval, Stability as Answer} from '../api';
import {basis, fixed, num, percent, percentInterval, sentence, tau as tauText} from
  '../format';
import {setView} from '../route';
import {linear, ticks} from '../scale';
import {Frame, Levels} from './frame';

const RANKED = 5;

const hasEnds = (of: Interval | undefined): of is Interval =>
  of !== undefined && num(of.hi80) > num(of.lo80);

const withEnds = (of: Interval | undefined): string => `${percent(of?.value)}${
  hasEnds(of) ? ` (${percentInterval(of)})` : ''}`;

export const Stability = ({answer, selected}:
    {answer: Answer; selected: string}) => {
  const points = answer.points ?? [];
  const last = points[points.length - 1];
  const ranked = [...last?.parameters ?? []].sort((a, b) =>
    num(a.rank) - num(b.rank)).map((one) => one.parameter);
  const brought = ranked.slice(0, RANKED);
  if (selected && ranked.includes(selected) && !brought.includes(selected)) {
    brought.push(selected);
  }
  const names = ranked.length > 40 ? brought : ranked;
  const table = () => ({
    head: ['Trials', 'Agreement', 'Ranking', ...ranked],
    rows: points.map((point) => [num(point.trials),
      fixed(num(point.tauToFinal), 2), [...point.parameters ?? []].sort((a, b) =>
        num(a.rank) - num(b.rank)).slice(0, RANKED)
        .map((one) => one.parameter).join(', '),
      ...ranked.map((name) => withEnds(point.parameters?.find(
          (one) => one.parameter === name)?.main))]),
    right: [0, 1, ...ranked.map((_, k) => k + 3)]});
  const banded = points.filter((point) => point.parameters?.some((one) =>
    hasEnds(one.main))).length;
  const halves = tauText(answer.verdict?.halfTau);
  return <Frame id="stability" title="Has the ranking settled?"
    says={sentence(answer.verdict?.sentence) || 'Too few trials to say.'}
    table={table} note={<>{basis(answer)} Main effects over the study’s first
      trials{banded === 0 ? '' : banded < points.length ? ', the last with their 80 % intervals' :
        ', with their 80 % intervals'}. Agreement, in Data, is Kendall’s
      tau with the last row{halves !== '-' ?
        `; of two halves of the study: ${halves}` : ''}.
      {names.length < ranked.length ?
        ` ${names.length} of ${ranked.length} modules shown.` : ''}</>}>
    {(width) => {
      if (points.length === 0) {
        return <p class="quiet">Too few trials for a first point.</p>;
      }
      const left = 50;
      const right = Math.min(16 + 7.5 * Math.max(0, ...[...brought].map((one) =>
        one.length)), width / 3);
      const height = 250;
      const of = (k: number, name: string) => points[k]?.parameters?.find(
          (one) => one.parameter === name)?.main ?? {};
      // The first point of few trials may reach everywhere: it sets no scale.
      const most = Math.max(0.01, ...points.slice(Math.min(1, points.length - 1))
        .flatMap((_, k, all) => names.map((name) => num(
            of(k + points.length - all.length, name).hi80))));
      const x = linear(0, num(last?.trials), left, width - right);
      const y = linear(0, Math.min(1, most * 1.05), height - 26, 8);
      const inside = (value: number) => Math.max(8, y(value)).toFixed(1);
      const path = (name: string) => points.map((point, k) =>
        `${x(num(point.trials)).toFixed(1)},${inside(num(of(k, name).value))}`);
      // Up along the higher ends, and back along the lower ones.
      const area = (name: string) => {
        const ends = points.map((point, k) => ({main: of(k, name), px: x(num(point.trials))}))
            .filter(({main}) => hasEnds(main));
        return `M${[...ends.map(({main, px}) => `${px.toFixed(1)},${inside(num(main.hi80))}`),
          ...ends.reverse().map(({main, px}) => `${px.toFixed(1)},${inside(num(main.lo80))}`)]
          .join('L')}Z`;
      };
      // Names at the right stand at least a line apart.
      const labels = [...brought].map((name) => ({name,
        at: Number(inside(num(of(points.length - 1, name).value)))}))
        .sort((a, b) => a.at - b.at);
      labels.forEach((one, k) => {
        const above = labels[k - 1];
        if (above && one.at < above.at + 14) one.at = above.at + 14;
      });
      return <svg width={width} height={height} role="img" aria-label={
        `${answer.verdict?.sentence ?? ''}. The figures are in the tab Data.`}>
        <Levels y={y} lo={0} hi={Math.min(1, most * 1.05)} left={left}
          right={width - right} text={(value) => `${fixed(value * 100, 0)} %`} />
        {ticks(0, num(last?.trials), Math.max(2, (width - right) / 120)).map(
            (value) => <text x={x(value)} y={height - 6} class="tick middle">
          {value}</text>)}
        {names.map((name) => {
          const k = brought.indexOf(name);
          return <g class={k < 0 ? 'series faint' :
            `series c${k % 6}${selected && selected !== name ? ' dim' : ''}`}
            onClick={() => setView('module', selected === name ? '' : name)}>
            <title>{`${name}: ${percent(of(points.length - 1, name).value)}`}
            </title>
            {k < 0 ? null : banded > 1 ? <path class="area" d={area(name)} /> :
              points.map((point, at) => {
                const main = of(at, name);
                const px = x(num(point.trials));
                return hasEnds(main) ? <line x1={px} x2={px} class="reach"
                  y1={inside(num(main.lo80))} y2={inside(num(main.hi80))} /> : null;
              })}
            <path class="trace" d={`M${path(name).join('L')}`} />
          </g>;
        })}
        {labels.map(({name, at}) => <text x={width - right + 8} y={at + 4}
          class={`tick name label c${brought.indexOf(name) % 6}`}>{name}</text>)}
      </svg>;
    }}
  </Frame>;
};
