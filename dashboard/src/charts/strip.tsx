// SPDX-License-Identifier: Apache-2.0
//
// The rates of one point as a strip of cells, the lowest module first: frozen
// hatched, a rate the warmer the higher it is.
import {useId} from 'preact/hooks';
import type {ModuleRate} from '../api';
import {num, rate as rateText} from '../format';
import {heat, warmth} from '../scale';
import {Hatch, useDark} from './frame';

export const Strip = ({rates, levels, wide = false}:
    {rates: ModuleRate[]; levels: number[]; wide?: boolean}) => {
  const dark = useDark();
  const hatch = useId();
  const side = wide ? 26 : 13;
  const says = rates.map((one) => `${one.module} ${rateText(one.rate)}`);
  return <svg class="strip" width={rates.length * (side + 1)} height={side}
    role="img" aria-label={says.join(', ')}>
    <Hatch id={hatch} />
    {rates.map((one, k) => {
      const value = num(one.rate);
      return <rect x={k * (side + 1)} width={side} height={side} rx="2"
        fill={value === 0 ? `url(#${hatch})` : heat(warmth(value, levels), dark)}>
        <title>{`${one.module}: ${rateText(value)}`}</title>
      </rect>;
    })}
  </svg>;
};

export const Legend = ({levels}: {levels: number[]}) => {
  const dark = useDark();
  const hatch = useId();
  const shown = levels.length <= 8 ? levels :
    [levels[0] ?? 0, levels[levels.length - 1] ?? 0];
  return <p class="legend">
    <span><svg width="16" height="12" aria-hidden="true"><Hatch id={hatch} />
      <rect width="16" height="12" rx="2" fill={`url(#${hatch})`} /></svg>
    frozen</span>
    {shown.map((one) => <span><svg width="16" height="12" aria-hidden="true">
      <rect width="16" height="12" rx="2"
        fill={heat(warmth(one, levels), dark)} /></svg>{rateText(one)}</span>)}
  </p>;
};
