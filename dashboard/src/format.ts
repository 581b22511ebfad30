// SPDX-License-Identifier: Apache-2.0
//
// Numbers as the command line prints them (cli/view/): one figure has one text
// wherever it is read. A test of the browser compares both.
import type {Interval, Module, Num, Options, Plan} from './api';

// Protobuf's JSON leaves zeros out, and has "NaN" and large integers as texts.
export const num = (value: Num): number =>
  value === undefined || value === null ? 0 : Number(value);

// What lies exactly between two numbers of so many decimals becomes the even one,
// as printf has it. Only what is a fraction of a power of two can lie so.
const evened = (value: number, places: number): number => {
  const power = 10 ** Math.abs(places);
  const scaled = places < 0 ? value / power : value * power;
  const isTie = Math.abs(scaled % 1) === 0.5 && (places < 0 ?
    scaled * power === value : Number.isInteger(value * 2 ** (places + 1)));
  if (!isTie) return value;
  const even = 2 * Math.round(scaled / 2);
  return places < 0 ? even * power : even / power;
};

export const fixed = (value: number, places: number): string =>
  evened(value, places).toFixed(places);

// printf's %.Ng.
export const general = (value: number, digits: number): string => {
  if (!Number.isFinite(value)) {
    return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
  }
  if (value === 0) return '0';
  const first = Number(value.toExponential(digits - 1).split('e')[1]);
  const even = evened(value, digits - 1 - first);
  const [mantissa = '', power = '0'] =
      even.toExponential(digits - 1).split('e');
  const exponent = Number(power);
  const trim = (text: string) =>
    text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  if (exponent >= -4 && exponent < digits) {
    return trim(even.toFixed(digits - 1 - exponent));
  }
  const sign = exponent < 0 ? '-' : '+';
  return `${trim(mantissa)}e${sign}${
    String(Math.abs(exponent)).padStart(2, '0')}`;
};

export const number = (value: Num): string => general(num(value), 4);
export const rate = (value: Num): string =>
  num(value) === 0 ? 'frozen' : general(num(value), 3);
export const count = (value: Num): string =>
  String(Math.round(num(value))).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
export const countOrDash = (value: Num): string =>
  Number.isNaN(num(value)) ? '-' : count(value);
export const counted = (n: number, one: string, many = `${one}s`): string =>
  `${count(n)} ${n === 1 ? one : many}`;

// A module's rate, and the rank of the adapter that trains in its place.
export const trained = (one: {rate?: Num; rank?: Num; freeze?: boolean}): string => {
  const its = one.freeze ? 0 : num(one.rate);
  if (one.rank === undefined) return rate(its);
  return num(one.rank) === 0 || its === 0 ? 'none' :
    `rank ${num(one.rank)} at ${rate(its)}`;
};

// A number of an axis: 1,500,000 is 1.5M.
export const short = (value: number): string => {
  for (const [unit, name] of [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']] as const) {
    if (Math.abs(value) >= unit * (unit === 1e3 ? 10 : 1)) {
      return `${general(value / unit, 3)}${name}`;
    }
  }
  return general(value, 4);
};

export const seconds = (value: number): string => {
  if (Number.isNaN(value)) return '-';
  if (value < 0) return '';
  if (value < 9.95) return `${fixed(value, 1)} s`;
  const whole = Math.round(value);
  const two = (n: number) => String(n).padStart(2, '0');
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m${two(whole % 60)}s`;
  return `${Math.floor(whole / 3600)}h${two(Math.floor(whole / 60) % 60)}m`;
};

export const bytes = (value: Num): string => {
  let left = num(value);
  let unit = 'B';
  for (const next of ['KiB', 'MiB', 'GiB', 'TiB', 'PiB']) {
    if (left < 1023.95) break;
    left /= 1024;
    unit = next;
  }
  return `${general(left, 4)} ${unit}`;
};

export const percent = (share: Num): string =>
  Number.isNaN(num(share)) ? '-' : `${fixed(num(share) * 100, 1)} %`;

export const probability = (value: Num): string => {
  const p = num(value);
  if (Number.isNaN(p)) return '-';
  if (p > 0.99) return '> 99 %';
  if (p < 0.01) return '< 1 %';
  return `${fixed(p * 100, 0)} %`;
};

// What rounds to zero has no sign.
const rounded = (value: number, digits: number): string =>
  fixed(value, digits).replace(/^-(0(\.0*)?)$/, '$1');

const places = (of: Interval): number => {
  const half = (num(of.hi80) - num(of.lo80)) / 2;
  if (!(half > 0)) return 4;
  return Math.min(12, Math.max(0, 1 - Math.floor(Math.log10(half))));
};

const isOpen = (of: Interval): boolean =>
  Number.isNaN(num(of.lo80)) || Number.isNaN(num(of.hi80));

export const percentInterval = (of: Interval): string => isOpen(of) ? '-' :
  `${fixed(num(of.lo80) * 100, 1)} – ${fixed(num(of.hi80) * 100, 1)} %`;

export const numberInterval = (of: Interval): string => isOpen(of) ? '-' :
  `${rounded(num(of.lo80), places(of))} – ${rounded(num(of.hi80), places(of))}`;

export const withInterval = (of: Interval | undefined): string => {
  if (of === undefined) return '-';
  const value = num(of.value);
  if (Number.isNaN(value)) return '-';
  const ends = numberInterval(of);
  const middle = num(of.hi80) > num(of.lo80) ? rounded(value, places(of)) :
                                               number(value);
  return ends === '-' ? middle : `${middle} (${ends})`;
};

export const time = (text: string | undefined): string =>
  text === undefined ? '' : `${text.slice(0, 19).replace('T', ' ')}Z`;

export const lastPart = (name: string): string =>
  name.slice(name.lastIndexOf('/') + 1);

export const state = (name: string | undefined): string =>
  (name ?? '').replace(/^[A-Z]+_STATE_/, '');

// A verdict as it stands by itself.
// Names keep their small letter.
const NAME = /^(layer\.\d|embeddings\b|pooler\b|head\b)/;
export const sentence = (text: string | undefined): string => !text ? '' :
  `${NAME.test(text) ? text.charAt(0) : text.charAt(0).toUpperCase()}${
    text.slice(1)}${text.endsWith('.') ? '' : '.'}`;

const SURE = 0.9;

export const advice = (module: Module): string => {
  switch (module.advice) {
    case 'PLAN_ADVICE_FREEZE': return 'freeze';
    case 'PLAN_ADVICE_TRAIN': return 'train';
    case 'PLAN_ADVICE_FIXED': return 'fixed';
    default:
      return num(module.freezeProbability) >= SURE && !module.freeze ?
        'either' : 'not known';
  }
};

export const direction = (of: {direction?: Num; directionProbability?: Num}) =>
  num(of.directionProbability) >= SURE ?
    num(of.direction) > 0 ? 'higher is better' : 'lower is better' : '';

// "embeddings, layer.0-2, layer.5"
export const moduleList = (modules: readonly string[]): string => {
  const layer = (name: string): number => {
    const found = /^layer\.(\d+)$/.exec(name);
    return found ? Number(found[1]) : -1;
  };
  const parts: string[] = [];
  for (let i = 0; i < modules.length; ++i) {
    const name = modules[i] ?? '';
    let last = i;
    while (layer(name) >= 0 && last + 1 < modules.length &&
           layer(modules[last + 1] ?? '') === layer(modules[last] ?? '') + 1) {
      ++last;
    }
    parts.push(last === i ? name : `${name}-${layer(modules[last] ?? '')}`);
    i = last;
  }
  return parts.length === 0 ? 'nothing' : parts.join(', ');
};

export const predicted = (plan: Plan): string => {
  const run = plan.oneRun;
  const ends = run === undefined || isOpen(run) ? '' :
    `; one run ${numberInterval(run)}`;
  return `${withInterval(plan.predictedScore)} over seeds${ends}`;
};

export const tau = (of: Interval | undefined): string =>
  of === undefined || Number.isNaN(num(of.value)) ? '-' :
    `tau ${fixed(num(of.value), 2)}${isOpen(of) ? '' : ` (80 %: ${
      fixed(num(of.lo80), 2)} – ${fixed(num(of.hi80), 2)})`}`;

// What two modules are to each other, where that is known.
export const relation = (substitutes: Num): string => {
  const p = num(substitutes);
  const chance = Math.max(p, 1 - p);
  return !(chance >= SURE) ? '' :
    `${p > 0.5 ? 'substitutes' : 'complements'}, ${probability(chance)}`;
};

export const better = (options: Options | undefined): string =>
  `${options?.targetDirection === 'DIRECTION_MINIMIZE' ? 'lower' : 'higher'
  } is better`;

// What a computed chart rests on: of what, by what, with which trials.
export const basis = (of: {options?: Options; trialsUsed?: Num;
  trialsLeftOut?: Num; provisional?: boolean}): string => {
  const {options} = of;
  const used = num(of.trialsUsed);
  const left = num(of.trialsLeftOut);
  return `Evaluator ${options?.evaluator ?? '-'}, seed ${
    String(options?.seed ?? 0)}; ${options?.target ?? ''}, ${better(options)}${
    used > 0 ? `; ${count(used)} of ${counted(used + left, 'trial')}` : ''}${
    of.provisional ? '; the study still runs' : ''}.`;
};
