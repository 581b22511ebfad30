// SPDX-License-Identifier: Apache-2.0
//
// Where a number stands on a chart.

export type Scale = (value: number) => number;

export const linear = (lo: number, hi: number, from: number, to: number):
    Scale => {
  const width = hi - lo;
  if (!(Math.abs(width) > 0)) return () => (from + to) / 2;
  return (value) => from + (value - lo) / width * (to - from);
};

// The least and the greatest of what is finite; 0 and 1 of nothing.
export const extent = (values: Iterable<number>): [number, number] => {
  let lo = Infinity;
  let hi = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    lo = Math.min(lo, value);
    hi = Math.max(hi, value);
  }
  return lo <= hi ? [lo, hi] : [0, 1];
};

// Round numbers between `lo` and `hi`, about `wanted` of them.
export const ticks = (lo: number, hi: number, wanted: number): number[] => {
  if (!(hi > lo)) return [lo];
  const raw = (hi - lo) / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((one) => one * power)
      .find((one) => one >= raw) ?? power * 10;
  const places = Math.max(0, -Math.floor(Math.log10(step)));
  const found: number[] = [];
  for (let k = Math.ceil(lo / step - 1e-9); k * step <= hi + step * 1e-9; ++k) {
    found.push(Number((k * step).toFixed(places)));
  }
  return found;
};

// Where every value is above 0 and they are far apart, their logarithms.
export const isWide = (values: readonly number[]): boolean => {
  const [lo, hi] = extent(values);
  return lo > 0 && hi / lo > 50;
};

export const logarithmic = (lo: number, hi: number, from: number, to: number):
    Scale => {
  const inner = linear(Math.log(lo), Math.log(hi), from, to);
  return (value) => inner(Math.log(value));
};

// Powers of ten between `lo` and `hi`; with 2 and 5 where these are few.
export const logTicks = (lo: number, hi: number): number[] => {
  const found: number[] = [];
  const few = Math.log10(hi / lo) < 2;
  for (let k = Math.floor(Math.log10(lo)); 10 ** k <= hi; ++k) {
    for (const one of few ? [1, 2, 5] : [1]) {
      const value = Number((one * 10 ** k).toPrecision(1));
      if (value >= lo * (1 - 1e-9) && value <= hi * (1 + 1e-9)) found.push(value);
    }
  }
  return found;
};

// The rates that occur, rising, without 0: "frozen" is a kind of its own, and
// never the low end of an axis.
export const levelsOf = (rates: Iterable<number>): number[] =>
  [...new Set([...rates].filter((one) => one > 0))].sort((a, b) => a - b);

// 0 … 1: how warm a rate is among the levels. Levels are as far apart as they
// are on a logarithmic axis.
export const warmth = (rate: number, levels: readonly number[]): number => {
  const lo = levels[0] ?? rate;
  const hi = levels[levels.length - 1] ?? rate;
  if (!(hi > lo)) return 1;
  return (Math.log(rate) - Math.log(lo)) / (Math.log(hi) - Math.log(lo));
};

// Colours that grow darker (in dark mode: lighter) with the rate, so that they
// are told apart without colour, too.
const LIGHT = ['#fbe3a9', '#f7b267', '#ec7d5b', '#bf4a6b', '#7b2a6e', '#3d1550'];
const DARK = ['#5a2a6e', '#8f3a78', '#c4546d', '#ec7d5b', '#f7b267', '#fbe3a9'];

const mix = (a: string, b: string, t: number): string => {
  const part = (text: string, k: number) =>
    parseInt(text.slice(1 + 2 * k, 3 + 2 * k), 16);
  const one = (k: number) => Math.round(part(a, k) * (1 - t) + part(b, k) * t);
  return `rgb(${one(0)},${one(1)},${one(2)})`;
};

export const heat = (warm: number, dark: boolean): string => {
  const stops = dark ? DARK : LIGHT;
  const at = Math.min(1, Math.max(0, warm)) * (stops.length - 1);
  const k = Math.min(stops.length - 2, Math.floor(at));
  return mix(stops[k] ?? '#000000', stops[k + 1] ?? '#000000', at - k);
};

// An exponential mean of the values so far, as the first ones are few: every value
// counts `weight` of what the next one does. 0 changes nothing; a gap is left out
// by the caller.
export const smoothed = (values: readonly number[], weight: number): number[] => {
  let sum = 0;
  let all = 0;
  return values.map((value) => {
    sum = weight * sum + (1 - weight) * value;
    all = weight * all + (1 - weight);
    return sum / all;
  });
};

// At most `most` of them, evenly spaced, the first and the last included.
export const spaced = <T>(all: readonly T[], most: number): T[] => {
  if (all.length <= most) return [...all];
  const step = (all.length - 1) / Math.max(1, most - 1);
  return Array.from({length: most}, (_, i) => all[Math.round(i * step)] as T);
};
