// SPDX-License-Identifier: Apache-2.0
import {useEffect, useMemo, useRef, useState} from 'preact/hooks';
import {allPages, call, usePolled} from '../api';
import type {Frontier as FrontierAnswer, Got, Plan as PlanAnswer, Reasons,
  Report, Study as StudyAnswer, Trial} from '../api';
import {Best} from '../charts/best';
import {Frontier} from '../charts/frontier';
import {Importance} from '../charts/importance';
import {Rates} from '../charts/rates';
import {lastPart, num, seconds, sentence, state} from '../format';
import {Card, Copy, Facts, objectiveOf, Progress, ratesIn, Show, State, Warnings} from
  '../parts';
import {setView} from '../route';
import {levelsOf} from '../scale';
import {Plan} from './plan';
import {Trials} from './trials';

const TABS = [['', 'Overview'], ['plan', 'Plan'], ['trials', 'Trials']] as const;

export const Study = ({id, tab, view}:
    {id: string; tab: string; view: URLSearchParams}) => {
  const name = `studies/${id}`;
  const study = usePolled(name, () =>
    call<StudyAnswer>('StudyService/GetStudy', {name}), 2000);
  return <Show got={study} what={`study ${id}`}>{(data) =>
    <Loaded {...{id, tab, view}} study={data} />}</Show>;
};

const NONE: Trial[] = [];

const Loaded = ({id, tab, view, study}:
    {id: string; tab: string; view: URLSearchParams; study: StudyAnswer}) => {
  const name = study.name;
  const {metric, lower} = objectiveOf(study);
  const active = state(study.state) === 'ACTIVE';
  // The study says when anything has changed; only then is the rest asked for,
  // and what has to be computed not more often than it is worth.
  const revision = String(study.revision ?? '');
  const trials = useAtRevision(`${name} trials`, revision, active ? 2000 : 0,
    () => allPages<Trial>('StudyService/ListTrials',
                          {parent: name, view: 'TRIAL_VIEW_FULL'}, 'trials'));
  const pace = active ? 15000 : 0;
  const report = useAtRevision(`${name} report`, revision, pace, () =>
    call<Report>('ImportanceService/GetReport', {study: name, watching: true}));
  const frontier = useAtRevision(`${name} frontier`, revision, pace, () =>
    call<FrontierAnswer>('ImportanceService/GetFrontier', {study: name}));
  const plan = useAtRevision(`${name} plan`, revision, pace, () =>
    call<PlanAnswer>('ImportanceService/GetPlan', {study: name}));
  const reasons = useAtRevision(`${name} reasons`, revision, active ? 3000 : 0,
    () => call<Reasons>('StudyService/ExplainStudy', {name}));
  const all = trials.data ?? NONE;
  const modules = useMemo(() => all.find((one) => one.rates?.length)?.rates?.map(
      (one) => one.module) ?? [], [all]);
  const levels = useMemo(() => levelsOf([...ratesIn(study), ...all.flatMap(
      (one) => one.rates?.map((rate) => num(rate.rate)) ?? [])]), [all, study]);
  const verdict = frontier.data?.verdict ?? report.data?.verdict;
  return <main id="main">
    <nav class="crumbs" aria-label="Where you are"><a href="#/">Studies</a> /
    </nav>
    <div class="head">
      <h1>{id}</h1> <State name={study.state} />
      <span class="quiet">{study.stateReason}</span>
    </div>
    {verdict ? <p class="verdict">{sentence(verdict)}</p> : null}
    <Progress study={study} />
    <Warnings of={study.warnings} />
    <nav class="tabs" aria-label="Views of this study">{TABS.map(([key, label]) =>
      <a href={`#/${name}${key ? `/${key}` : ''}`}
        aria-current={tab === key ? 'page' : undefined}>{label}</a>)}</nav>
    {tab === 'plan' ? <Card got={plan} title="Plan" what="the plan">{(data) =>
      <Plan plan={data} study={id} />}</Card> : tab === 'trials' ?
      <Show got={trials} what="trials">{(data) =>
        <Trials {...{trials: data, levels, metric, lower, view, id}} />}</Show> :
      <div class="grid2">
        <Why got={reasons} active={active} />
        <Card got={frontier} title="What is enough to train"
          what="what is enough to train">{(data) =>
          <Frontier answer={data} modules={modules} />}</Card>
        <div class="stack">
          <Card got={report} title="Which modules matter" what="importance">
            {(data) => <Importance report={data} />}</Card>
          <Best {...{trials: all, metric, lower}} />
        </div>
        <Show got={trials} what="trials">{(data) =>
          modules.length > 0 ? <Rates {...{trials: data, modules, levels,
            metric, lower, study: id, byScore: view.get('order') !== 'number'}}
            onOrder={(by) => setView('order', by ? '' : 'number')} /> :
            <section class="card wide"><header><h2>Every trial, layer by layer</h2>
            </header><p class="quiet">{data.length === 0 ?
              'No trial has begun yet.' :
              'This study searches no modules, so there are no layers to show.'}
            </p></section>}</Show>
        <About study={study} metric={metric} lower={lower}
          warnings={report.data?.warnings} />
      </div>}
  </main>;
};

// What was there before stays until the answer to the new revision has come.
function useAtRevision<T>(key: string, revision: string, pace: number,
    ask: () => Promise<T>): Got<T> {
  const asked = useRef({at: 0, revision: ''});
  const [, wake] = useState(0);
  const isNew = asked.current.revision !== revision;
  const rest = asked.current.at + pace - Date.now();
  if (isNew && rest <= 0) asked.current = {at: Date.now(), revision};
  // Nothing else may come that would draw this page again.
  useEffect(() => {
    if (!isNew || rest <= 0) return;
    const timer = window.setTimeout(() => wake((count) => count + 1), rest);
    return () => window.clearTimeout(timer);
  }, [revision, isNew, rest]);
  const kept = useRef<{key: string; data?: T}>({key});
  const got = usePolled(`${key} ${asked.current.revision}`, ask, 0);
  if (kept.current.key !== key) kept.current = {key};
  if (got.data !== undefined) kept.current.data = got.data;
  if (got.data !== undefined || kept.current.data === undefined) return got;
  return {data: kept.current.data};
}

const Why = ({got, active}: {got: Got<Reasons>; active: boolean}) => {
  const reasons = got.data?.reasons ?? [];
  if (!active || reasons.length === 0) return null;
  return <section class="card wide">
    <header><h2>Why not more is running</h2></header>
    <ul class="reasons">{reasons.map((one) => <li><p>{one.sentence}</p>
      {one.fix ? <p class="quiet">{one.fix}</p> : null}</li>)}</ul>
  </section>;
};

const About = ({study, metric, lower, warnings}: {
  study: StudyAnswer; metric: string; lower: boolean;
  warnings: Report['warnings'];
}) => {
  const best = study.bestTrials?.[0];
  const used = study.usage;
  return <section class="card wide">
    <header><h2>This study</h2></header>
    <Facts of={[
      ['objective', `${lower ? 'minimize' : 'maximize'} ${metric}`],
      ['model', study.spec?.model?.id ?? ''],
      ['data', study.spec?.data?.id ?? ''],
      ['sampler', `${study.spec?.sampler?.name ?? ''}${study.resolvedSampler &&
        study.resolvedSampler !== study.spec?.sampler?.name ?
        ` (${study.resolvedSampler})` : ''}`],
      ['seed', String(study.spec?.seed ?? 0)],
      ['best trial', best ? <a href={`#/${best}`}>{lastPart(best)}</a> : ''],
      ['cost', num(used?.trials) > 0 ? `${seconds(num(used?.totalSeconds))} of ${
        num(used?.trials)} trials, ${seconds(num(used?.trainSeconds))} of that in training steps` : ''],
      ['owner', study.owner ?? ''],
      ['revision', String(study.revision ?? '')],
      ['notes', study.settings?.notes ?? ''],
    ]} />
    <Warnings of={warnings} />
    <h3>The same on the command line</h3>
    <Copy text={`frostline study show ${lastPart(study.name)}`} />
    <Copy text={`frostline importance ${lastPart(study.name)}`} />
    <Copy text={`frostline report ${lastPart(study.name)} -o report.html`} />
  </section>;
};
