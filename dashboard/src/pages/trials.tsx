// SPDX-License-Identifier: Apache-2.0
import {coordinatorTime, type Trial} from '../api';
import {Legend, Strip} from '../charts/strip';
import {lastPart, num, number, seconds, state} from '../format';
import {State} from '../parts';
import {setView} from '../route';
import {helped} from '../help';

// More rows than this are asked for by a press.
const MOST = 100;

export const took = (trial: Trial): string => {
  if (trial.startTime === undefined || state(trial.state) === 'QUEUED') return '';
  const end = trial.endTime ? Date.parse(trial.endTime) : coordinatorTime();
  return seconds(Math.max(0, (end - Date.parse(trial.startTime)) / 1000));
};

export const Trials = ({trials, levels, metric, lower, view, id}: {
  trials: Trial[]; levels: number[]; metric: string; lower: boolean;
  view: URLSearchParams; id: string;
}) => {
  const wanted = view.get('state') ?? '';
  const byNumber = view.get('sort') === 'number';
  const most = Number(view.get('rows')) || MOST;
  const states = [...new Set(trials.map((one) => state(one.state)))].sort();
  const fits = trials.filter((one) => !wanted || state(one.state) === wanted);
  // Without a result they stand last.
  const score = (one: Trial) => !one.values?.length ? -Infinity :
    num(one.values[0]) * (lower ? -1 : 1);
  const sorted = [...fits].sort((a, b) => byNumber ?
    num(b.number) - num(a.number) : score(b) - score(a));
  const shown = sorted.slice(0, most);
  const causes = shown.some((one) => one.cause);
  return <section class="card" id="trials">
    <header><h2>Trials</h2></header>
    <p class="choices">
      <label>State <select value={wanted} {...helped('state')} onChange={(event) =>
        setView('state', event.currentTarget.value)}>
        <option value="">all</option>
        {states.map((one) => <option value={one}>{one.toLowerCase()}</option>)}
      </select></label>
      <label>Order <select value={byNumber ? 'number' : ''} {...helped('order')} onChange={(event) =>
        setView('sort', event.currentTarget.value)}>
        <option value="">best first</option>
        <option value="number">newest first</option></select></label>
      {wanted ? <button type="button" {...helped('allstates')}
        onClick={() => setView('state', '')}>
        Clear</button> : null}
      <span class="quiet">{shown.length} of {trials.length} shown</span>
    </p>
    <Legend levels={levels} />
    {trials.length === 0 ? <p class="quiet">No trial has begun yet.</p> :
      <div class="scroll" tabIndex={0} role="region" aria-label="Trials">
        <table class="data"><caption class="unseen">Trials</caption><thead><tr>
          <th scope="col" class="right">Trial</th><th scope="col">State</th>
          <th scope="col" class="right">{metric}</th>
          <th scope="col">Layers, lowest at the left</th>
          <th scope="col" class="right">Time</th><th scope="col">Worker</th>
          {causes ? <th scope="col">Cause</th> : null}</tr></thead>
        <tbody>{shown.map((trial) => <tr>
          <th scope="row" class="right"><a
            href={`#/studies/${id}/trials/${num(trial.number)}`}>
            {num(trial.number)}</a></th>
          <td><State name={trial.state} /></td>
          <td class="right">{trial.values?.length ? number(trial.values[0]) : ''}
          </td>
          <td><Strip rates={trial.rates ?? []} levels={levels} /></td>
          <td class="right">{took(trial)}</td>
          <td>{lastPart(trial.worker ?? '')}</td>
          {causes ? <td class="cause">{trial.cause}</td> : null}
        </tr>)}</tbody></table>
      </div>}
    {shown.length < sorted.length ? <p><button type="button" {...helped('more')} onClick={() =>
      setView('rows', String(most + MOST))}>Show more</button></p> : null}
  </section>;
};
