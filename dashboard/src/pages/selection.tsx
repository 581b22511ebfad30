// SPDX-License-Identifier: Apache-2.0
//
// What is selected of a study, seen above all of its views: each part can be
// taken away, and all at once. With the keyboard it is selected here, too.
import {useState} from 'preact/hooks';
import type {Trial} from '../api';
import {isEmpty, onlyText, picks, readSelection, toggled, type Axis} from '../axes';
import {count, counted, number} from '../format';
import {setView, setViews} from '../route';
import {helped} from '../help';

export const SelectionBar = ({view, axes, trials, metric}: {
  view: URLSearchParams; axes: Axis[]; trials: Trial[]; metric: string;
}) => {
  const selection = readSelection(view);
  const [axis, setAxis] = useState('');
  const [lo, setLo] = useState('');
  const [hi, setHi] = useState('');
  const chosen = axes.find((one) => one.name === axis) ?? axes[0];
  const kept = isEmpty(selection) ? trials.length :
    trials.filter((one) => picks(selection, one)).length;
  const isNothing = isEmpty(selection) && selection.module === '';
  const label = (name: string, key: string) => axes.find((one) =>
    one.name === name)?.cells.find((one) => one.key === key)?.label ?? key;
  const without = (name: string) => {
    const cells = new Map(selection.cells);
    cells.delete(name);
    return onlyText(cells);
  };
  return <section class="selection" aria-label="Selection">
    <p class="chips" role="status">
      {isNothing ? <span class="quiet">Nothing is selected: all{' '}
        {counted(trials.length, 'trial')}.</span> : <>
        <span>{isEmpty(selection) ? `All ${counted(trials.length, 'trial')}` :
          `${count(kept)} of ${counted(trials.length, 'trial')} selected`}</span>
        {[...selection.cells].map(([name, keys]) => <button type="button"
          class="chip" {...helped('chip')} onClick={() => setView('only', without(name))}>
          {name} {keys.map((key) => label(name, key)).join(' or ')}
          <span aria-hidden="true"> ×</span><span class="unseen">, take away
          </span></button>)}
        {selection.score ? <button type="button" class="chip" {...helped('chip')}
          onClick={() => setView('score', '')}>{metric} {number(
            selection.score[0])} to {number(selection.score[1])}
          <span aria-hidden="true"> ×</span><span class="unseen">, take away
          </span></button> : null}
        {selection.module ? <button type="button" class="chip" {...helped('chip')}
          onClick={() => setView('module', '')}>module {selection.module}
          <span aria-hidden="true"> ×</span><span class="unseen">, take away
          </span></button> : null}
        <button type="button" {...helped('clear')} onClick={() => setViews(
            {only: '', score: '', module: ''})}>Clear all</button></>}
    </p>
    {axes.length === 0 ? null : <details aria-label="Select">
      <summary {...helped('select')}>Select</summary>
      <p class="choices">
        <label>Bring out <select value={selection.module} {...helped('bring')} onChange={(event) =>
          setView('module', event.currentTarget.value)}>
          <option value="">no module</option>
          {axes.map((one) => <option value={one.name}>{one.name}</option>)}
        </select></label></p>
      <form class="choices" aria-label="Select by value" onSubmit={(event) => {
        event.preventDefault();
        const key = String(new FormData(event.currentTarget).get('cell'));
        if (chosen) setView('only', toggled(selection, chosen.name, key));
      }}>
        <label>Only trials in which <select value={chosen?.name ?? ''} {...helped('axis')}
          onChange={(event) => setAxis(event.currentTarget.value)}>
          {axes.map((one) => <option value={one.name}>{one.name}</option>)}
        </select></label>
        <label>is <select name="cell" {...helped('cell')}>{(chosen?.cells ?? []).map((one) =>
          <option value={one.key}>{one.label}</option>)}</select></label>
        <button type="submit" {...helped('toggle')}>Add or take away</button></form>
      <form class="choices" aria-label="Select by score" onSubmit={(event) => {
        event.preventDefault();
        const ends = [lo === '' ? '-1e308' : lo, hi === '' ? '1e308' : hi];
        setView('score', lo === '' && hi === '' ? '' : ends.join('..'));
      }}>
        <label>Only trials with {metric} from <input type="number" step="any"
          value={lo} {...helped('from')} onInput={(event) => setLo(event.currentTarget.value)} />
        </label>
        <label>to <input type="number" step="any" value={hi} {...helped('to')}
          onInput={(event) => setHi(event.currentTarget.value)} /></label>
        <button type="submit" {...helped('keep')}>Keep these</button></form>
      <p class="note">A selection is of trials: what is computed over all of them
        (importance, marginals, pairs, plan) stays as it is.</p></details>}
  </section>;
};
