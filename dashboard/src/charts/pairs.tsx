// SPDX-License-Identifier: Apache-2.0
//
// What two modules do together beyond what each does alone, and whether they are
// substitutes (training either suffices) or complements (it takes both).
import type {Pair, PairTable, Report} from '../api';
import {basis, count, counted, num, number, percent, percentInterval,
  rate as rateText, relation} from '../format';
import {setView} from '../route';
import {extent} from '../scale';
import type {Table} from '../save';
import {DataTable, Frame} from './frame';
import {helped} from '../help';

// What rounds to more than nothing, as the command line has it.
const WORTH_SAYING = 0.0005;
const MOST_SAID = 5;

export const pairKey = (pair: {first: string; second: string}): string =>
  `${encodeURIComponent(pair.first)} ${encodeURIComponent(pair.second)}`;

const isTold = (pair: Pair): boolean => num(pair.share?.lo80) >= WORTH_SAYING;

export const inWords = (pair: Pair): string => {
  const said = relation(pair.substitutesProbability);
  const names = `${pair.first} and ${pair.second}`;
  if (said === '') return `${names}: whether either suffices or it takes both is not known`;
  return `${names} are ${said.replace(',', ' with')}: ${
    said.startsWith('sub') ? 'training either suffices' : 'it takes both'}`;
};

export const Pairs = ({report, chosen, selected}:
    {report: Report; chosen: string; selected: string}) => {
  const pairs = report.pairs ?? [];
  const names = (report.parameters ?? []).map((one) => one.parameter);
  const told = pairs.filter(isTold);
  const first = pairs[0];
  const total = Math.max(num(report.totalPairs), pairs.length);
  const says = first === undefined ? 'This evaluator knows no pairs.' :
    told.length === 0 ? 'No pair is told from zero: each module can be judged by itself.' :
    `${first.first} and ${first.second} do most together, ${
      percent(first.share?.value)} (${percentInterval(first.share ?? {})}) beyond what each does alone; ${
      told.length} of ${counted(total, 'pair')} ${
      told.length === 1 ? 'is' : 'are'} told from zero.`;
  const table = () => ({
    head: ['First', 'Second', 'Share', '80 % interval', 'Relation'],
    rows: pairs.map((one) => [one.first, one.second, percent(one.share?.value),
      percentInterval(one.share ?? {}), relation(one.substitutesProbability)]),
    right: [2, 3]});
  const known = told.filter((one) => relation(one.substitutesProbability))
      .slice(0, MOST_SAID);
  return <Frame id="pairs" title="Which modules work together" says={says}
    table={table} note={<>{basis(report)} Share of all effects beyond both main
      effects; hollow: not told from zero. S: substitutes, C: complements.
      {pairs.length < total ? ` ${count(pairs.length)} of ${count(total)} pairs shown.` : ''}</>}>
    {(width) => <>
      <Matrix {...{pairs, names, width, chosen, selected}} />
      {known.length > 0 ? <ul class="said">{known.map((one) =>
        <li>{inWords(one)}.</li>)}</ul> : null}
      {pairs.length > 0 ? <p class="choices"><label>Look at a pair{' '}
        <select value={chosen} {...helped('pair')} onChange={(event) =>
          setView('pair', event.currentTarget.value)}>
          <option value="">none</option>
          {pairs.slice(0, 200).map((one) => <option value={pairKey(one)}>
            {one.first} × {one.second}</option>)}</select></label></p> : null}
    </>}
  </Frame>;
};

const Matrix = ({pairs, names, width, chosen, selected}: {
  pairs: Pair[]; names: string[]; width: number; chosen: string;
  selected: string;
}) => {
  if (pairs.length === 0) return null;
  const at = new Map(names.map((name, k) => [name, k]));
  const longest = Math.max(...names.map((name) => name.length));
  const left = Math.min(120, 12 + 7 * longest, width / 3);
  const cell = Math.max(1.5, Math.min(46, (width - left - 4) / names.length));
  const most = Math.max(1e-9, ...pairs.map((one) => num(one.share?.value)));
  const under = cell > 16 ? Math.min(90, 12 + 6 * longest) : 8;
  return <svg width={width} height={names.length * cell + under} role="img"
    aria-label="A matrix of pairs. The figures are in the tab Data.">
    {names.map((name, k) => {
      const bold = name === selected ? 'tick end name strong' : 'tick end name';
      return cell > 9 || k % Math.ceil(12 / cell) === 0 ? <g>
        <text x={left - 6} y={(k + 0.5) * cell + 4} class={bold}>
          {name.slice(0, 18)}</text>
        {cell > 16 && k < names.length - 1 ? <text class="tick end"
          transform={`translate(${left + (k + 0.5) * cell + 4},${
            names.length * cell + 8}) rotate(-60)`}>{name.slice(0, 14)}</text> :
          null}
      </g> : null;
    })}
    {pairs.map((one) => {
      const a = at.get(one.first) ?? 0;
      const b = at.get(one.second) ?? 0;
      const x = left + Math.min(a, b) * cell;
      const y = Math.max(a, b) * cell;
      const share = num(one.share?.value);
      const said = relation(one.substitutesProbability);
      const isSure = isTold(one);
      const key = pairKey(one);
      return <g class="pick" onClick={() =>
        setView('pair', chosen === key ? '' : key)}>
        <title>{`${one.first} × ${one.second}: ${percent(share)} (${
          percentInterval(one.share ?? {})})${said ? `; ${said}` : ''}`}</title>
        <rect x={x + 0.5} y={y + 0.5} width={Math.max(1, cell - 1.5)}
          height={Math.max(1, cell - 1.5)} rx={cell > 12 ? 3 : 0}
          class={`${isSure ? 'cell' : 'cell unsure'}${
            chosen === key ? ' chosen' : ''}`}
          fill-opacity={isSure ? 0.12 + 0.88 * share / most : 0} />
        {cell >= 20 && said && isSure ? <text x={x + cell / 2} y={y + cell / 2 + 5}
          class={share / most > 0.45 ? 'middle onbar' : 'middle'}>
          {said.startsWith('sub') ? 'S' : 'C'}</text> : null}
      </g>;
    })}
  </svg>;
};

// One pair, each value with each: what is expected, and how many tried it.
export const PairGrid = ({answer, modules}:
    {answer: PairTable; modules: string[]}) => {
  const text = (name: string, value: unknown) => typeof value !== 'number' ?
    String(value ?? 'frozen') : modules.includes(name) ? rateText(value) :
    number(value);
  const columns = answer.secondValues?.length ?? 0;
  const values = (answer.expected ?? []).map(num);
  const best = answer.options?.targetDirection === 'DIRECTION_MINIMIZE' ?
    Math.min(...values) : Math.max(...values);
  const place = values.indexOf(best);
  const [lo, hi] = extent(values);
  const rows = (answer.firstValues ?? []).map((value, i) =>
    [text(answer.first, value), ...values.slice(i * columns, (i + 1) * columns)
      .map((one, j) => num(answer.trials?.[i * columns + j]) > 0 ? number(one) :
        `(${number(one)})`)]);
  const table: Table = {head: [`${answer.first} \\ ${answer.second}`,
    ...(answer.secondValues ?? []).map((one) => text(answer.second, one))],
    rows, right: (answer.secondValues ?? []).map((_, k) => k + 1)};
  const says = place < 0 ? 'There is nothing to show.' :
    `Best together: ${answer.first} ${text(answer.first,
      answer.firstValues?.[Math.floor(place / columns)])} and ${answer.second} ${
      text(answer.second, answer.secondValues?.[place % columns])}, expected ${
      answer.options?.target ?? ''} ${number(best)}.`;
  return <Frame id="pair" title={`${answer.first} × ${answer.second}`} says={says}
    table={() => table} note={<>{basis(answer)} All else averaged out; in
      brackets: no trial has both values.</>}
    drawing={(width) => <Grid {...{values, columns, lo, hi, table, width}} />}>
    {(width) => <><Grid {...{values, columns, lo, hi, table, width}} />
      <DataTable caption={`${answer.first} by ${answer.second}`} table={table} />
    </>}
  </Frame>;
};

const Grid = ({values, columns, lo, hi, table, width}: {values: number[];
  columns: number; lo: number; hi: number; table: Table; width: number}) => {
  const cell = Math.min(64, (width - 90) / Math.max(1, columns));
  const high = Math.min(30, cell);
  return <svg width={width} height={table.rows.length * high + 26} role="img"
    aria-label="The same as the table below, as shades.">
    {table.rows.map((row, i) => <text x={82} y={(i + 0.5) * high + 4}
      class="tick end">{row[0]}</text>)}
    {table.head.slice(1).map((one, j) => cell > 44 || j === 0 ||
      j === columns - 1 ? <text x={90 + (j + 0.5) * cell} class="tick middle"
      y={table.rows.length * high + 18}>{one}</text> : null)}
    {values.map((value, k) => <rect x={90 + (k % columns) * cell}
      y={Math.floor(k / columns) * high} width={cell - 2} height={high - 2}
      rx="3" class="cell" fill-opacity={hi > lo ?
        0.08 + 0.92 * (value - lo) / (hi - lo) : 0.5} />)}
  </svg>;
};
