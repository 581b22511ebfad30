// SPDX-License-Identifier: Apache-2.0
//
// What trials differ in, as axes of cells: the rates of a module, "frozen" first,
// or the values of another parameter. And the selection of trials by such cells,
// which is in the address and the same for all charts.
import type {Trial} from './api';
import {general, num, number, rate as rateText} from './format';
import {extent, levelsOf} from './scale';

export interface Cell {
  key: string;  // "0", "0.001", "1e-05..1e-04", "relu"
  label: string;
}
export interface Axis {
  name: string;
  isRate: boolean;
  cells: Cell[];
}
export type Value = number | string | undefined;

const MOST_CELLS = 10;
const BINS = 6;

// Of thousands of trials every chart asks for every module.
const known = new WeakMap<Trial, Map<string, Value>>();

const valuesOf = (trial: Trial): Map<string, Value> => {
  const before = known.get(trial);
  if (before !== undefined) return before;
  const values = new Map<string, Value>();
  for (const {name, value} of trial.parameters ?? []) {
    if (value === undefined || value === null) continue;
    values.set(name, typeof value === 'number' ? value : String(value));
  }
  for (const {module, rate} of trial.rates ?? []) values.set(module, num(rate));
  known.set(trial, values);
  return values;
};

export const valueOf = (trial: Trial, name: string): Value =>
  valuesOf(trial).get(name);

export const ratesOf = (trials: readonly Trial[]): Set<number> => {
  const seen = new Set<number>();
  for (const {rates} of trials) {
    for (const {rate} of rates ?? []) seen.add(num(rate));
  }
  return seen;
};

// "a..b" holds what is in between, its ends too; all else what is equal.
export const holds = (key: string, value: Value): boolean => {
  if (value === undefined) return false;
  const ends = /^(-?[\d.e+-]+)\.\.(-?[\d.e+-]+)$/.exec(key);
  if (ends && typeof value === 'number') {
    return value >= Number(ends[1]) && value <= Number(ends[2]);
  }
  return typeof value === 'number' ? Number(key) === value : key === value;
};

// Ranges next to each other that hold all of these numbers.
const binned = (values: number[], isLog: boolean): Cell[] => {
  const [lo, hi] = extent(values);
  const at = (k: number) => isLog ? lo * (hi / lo) ** (k / BINS) :
    lo + (hi - lo) * k / BINS;
  return Array.from({length: BINS}, (_, k) => {
    const from = k === 0 ? lo : at(k);
    const to = k === BINS - 1 ? hi : at(k + 1);
    return {key: `${from}..${to}`,
      label: `${general(from, 2)} … ${general(to, 2)}`};
  });
};

// Of values that are all different.
const cellsOf = (values: Value[], isRate: boolean): Cell[] => {
  const numbers = values.filter((one) => typeof one === 'number');
  const text = isRate ? rateText : number;
  if (numbers.length < values.length) {
    return [...new Set(values.map(String))].sort().map((one) =>
      ({key: one, label: one}));
  }
  const different = numbers.sort((a, b) => a - b);
  if (different.length <= MOST_CELLS) {
    return different.map((one) => ({key: String(one), label: text(one)}));
  }
  const above = isRate ? levelsOf(numbers) : different;
  const [lo, hi] = extent(above);
  const bins = binned(above, lo > 0 && hi / lo > 50);
  return isRate && different[0] === 0 ?
    [{key: '0', label: 'frozen'}, ...bins] : bins;
};

// All in which any two trials differ: modules in depth order, then the others.
// Modules share their levels, so that these stand one below the other.
export const axesOf = (trials: readonly Trial[], modules: readonly string[]):
    Axis[] => {
  const seen = new Map<string, Set<Value>>();
  for (const trial of trials) {
    for (const [name, value] of valuesOf(trial)) {
      const values = seen.get(name);
      if (values) values.add(value);
      else seen.set(name, new Set([value]));
    }
  }
  const isModule = new Set(modules);
  const differ = [...seen].filter(([, values]) => values.size > 1);
  const rates = modules.filter((name) => (seen.get(name)?.size ?? 0) > 1);
  const cells = cellsOf([...new Set(rates.flatMap((name) =>
    [...seen.get(name) ?? []]))], true);
  return [
    ...rates.map((name) => ({name, isRate: true, cells})),
    // A rate's own parameter says the same as its module's rate.
    ...differ.filter(([name]) => !isModule.has(name)).map(([name, values]) =>
      ({name, isRate: false, cells: cellsOf([...values], false)}))];
};

// --- the selection ---

export interface Selection {
  cells: Map<string, string[]>;  // by axis: any of these
  score: [number, number] | undefined;
  module: string;  // one that all charts bring out; "" for none
}

export const readSelection = (view: URLSearchParams): Selection => {
  const cells = new Map<string, string[]>();
  for (const part of (view.get('only') ?? '').split(';')) {
    const [name = '', keys = ''] = part.split(':');
    if (name && keys) {
      cells.set(decode(name), keys.split(',').map(decode));
    }
  }
  const ends = (view.get('score') ?? '').split('..').map(Number);
  const [lo = NaN, hi = NaN] = ends;
  return {cells, score: view.get('score') && !Number.isNaN(lo) &&
    !Number.isNaN(hi) ? [lo, hi] : undefined, module: view.get('module') ?? ''};
};

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

export const onlyText = (cells: Map<string, string[]>): string =>
  [...cells].filter(([, keys]) => keys.length > 0).map(([name, keys]) =>
    `${encodeURIComponent(name)}:${keys.map(encodeURIComponent).join(',')}`)
    .join(';');

export const isEmpty = (of: Selection): boolean =>
  of.cells.size === 0 && of.score === undefined;

export const picks = (of: Selection, trial: Trial): boolean => {
  if (of.score !== undefined) {
    const value = trial.values?.length ? num(trial.values[0]) : NaN;
    if (!(value >= of.score[0] && value <= of.score[1])) return false;
  }
  for (const [name, keys] of of.cells) {
    const value = valueOf(trial, name);
    if (!keys.some((key) => holds(key, value))) return false;
  }
  return true;
};

// With the cell where it was not, without it where it was.
export const toggled = (of: Selection, name: string, key: string): string => {
  const cells = new Map(of.cells);
  const keys = cells.get(name) ?? [];
  cells.set(name, keys.includes(key) ? keys.filter((one) => one !== key) :
                                       [...keys, key]);
  return onlyText(cells);
};
