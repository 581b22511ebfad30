// SPDX-License-Identifier: Apache-2.0
//
// Small parts of every page.
import type {ComponentChildren} from 'preact';
import {useState} from 'preact/hooks';
import type {CallError, Counts, Got, Study, Warning} from './api';
import {count, num, state} from './format';
import {helped} from './help';

export const State = ({name}: {name: string | undefined}) => {
  const text = state(name);
  return <span class={`state ${text.toLowerCase()}`}>{text.toLowerCase()}</span>;
};

export const Problem = ({error, since}:
    {error: CallError; since?: number | undefined}) =>
  <div class="problem" role="alert">
    <p><strong>{error.message}</strong>{error.id ? ` (${error.id})` : ''}</p>
    {error.fix ? <p>{error.fix}</p> : null}
    {since ? <p class="quiet">What is shown below is of{' '}
      {new Date(since).toLocaleTimeString()}.</p> : null}
  </div>;

// What was got, or why it is not there.
export function Show<T>({got, what, children}: {
  got: Got<T>; what: string; children: (data: T) => ComponentChildren;
}) {
  return <>
    {got.error ? <Problem error={got.error} since={got.since} /> : null}
    {got.data !== undefined ? children(got.data) :
      got.error ? null : <p class="quiet" role="status">Asking for {what} …</p>}
  </>;
}

// An answer that is not there yet is no failure: too few trials, say.
export function Card<T>({got, title, what, children}: {
  got: Got<T>; title: string; what: string;
  children: (data: T) => ComponentChildren;
}) {
  if (got.data !== undefined && !got.error) return <>{children(got.data)}</>;
  const waits = got.error?.code === 'failed_precondition';
  return <section class="card">
    <header><h2>{title}</h2></header>
    {got.error === undefined ? <p class="quiet" role="status">Computing {what} …
    </p> : waits ? <p class="says">Not yet: {got.error.message}.{' '}
      <span class="quiet">{got.error.fix}</span></p> :
      <Problem error={got.error} />}
  </section>;
}

export const Warnings = ({of}: {of: (Warning | string)[] | undefined}) => {
  const said = [...new Set((of ?? []).map(
      (one) => typeof one === 'string' ? one : one.sentence ?? ''))];
  return said.length === 0 ? null : <ul class="warnings" aria-label="Warnings">
    {said.map((one) => <li>{one}</li>)}</ul>;
};

export const Copy = ({text}: {text: string}) => {
  const [done, setDone] = useState('');
  const copy = () => navigator.clipboard.writeText(text)
      .then(() => setDone('copied'), () => setDone('select it to copy'));
  return <div class="command"><code>{text}</code>
    <button type="button" onClick={copy} {...helped('copy')}>Copy</button>
    <span aria-live="polite" class="quiet">{done}</span></div>;
};

export const Facts = ({of}: {of: [string, ComponentChildren][]}) =>
  <dl class="facts">{of.filter(([, value]) => value !== '' && value !== null &&
    value !== undefined).map(([name, value]) =>
    <div><dt>{name}</dt><dd>{value}</dd></div>)}</dl>;

const ended = (of: Counts): number => ['succeeded', 'pruned', 'infeasible',
  'failed', 'cancelled'].reduce((sum, name) =>
  sum + num((of as Record<string, string>)[name]), 0);

export const Progress = ({study}: {study: Study}) => {
  const counts = study.counts ?? {};
  const budget = num(study.settings?.budget?.trials);
  const used = num(counts.budgetUsed);
  const outside = ended(counts) - used;
  const said = `${count(used)}/${count(budget)} done${outside > 0 ?
    `, ${count(outside)} outside the budget` : ''}, ${
    count(counts.running)} running${num(counts.failed) > 0 ?
    `, ${count(counts.failed)} failed` : ''}`;
  return <div class="progress">
    <progress max={Math.max(1, budget)} value={used} aria-label="Progress" />
    <span>{said}</span>
  </div>;
};

// The levels that a study searches, so that a rate has one colour everywhere.
export const ratesIn = (study: Study | undefined): number[] =>
  (study?.spec?.space?.modules ?? []).flatMap((one) => [
    ...(one.levels?.rates ?? []), one.fixed, one.logUniform?.lo,
    one.logUniform?.hi].map(num));

export const objectiveOf = (study: Study) => {
  const first = study.spec?.objectives?.[0];
  return {metric: first?.metric ?? '',
    lower: first?.direction === 'DIRECTION_MINIMIZE'};
};
