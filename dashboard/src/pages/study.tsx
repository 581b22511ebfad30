// SPDX-License-Identifier: Apache-2.0
import {useMemo} from 'preact/hooks';
import {call, usePolled, useTrials} from '../api';
import type {Frontier as FrontierAnswer, Got, Plan as PlanAnswer, Reasons,
  Report, Study as StudyAnswer, Trial} from '../api';
import {axesOf, picks, ratesOf, readSelection, isEmpty, type Selection} from '../axes';
import {Best} from '../charts/best';
import {Frontier} from '../charts/frontier';
import {Importance} from '../charts/importance';
import {Pareto} from '../charts/pareto';
import {Rates} from '../charts/rates';
import {RunPlan, StudyControls} from '../controls';
import {lastPart, num, seconds, sentence, state} from '../format';
import {Card, Copy, Facts, objectiveOf, Progress, ratesIn, Show, State, Warnings} from
  '../parts';
import {keptIn, setView} from '../route';
import {levelsOf} from '../scale';
import {Analysis} from './analysis';
import {Health} from './health';
import {Plan} from './plan';
import {useAtRevision} from './revision';
import {SelectionBar} from './selection';
import {Trials} from './trials';
import {Verified} from './verified';
import {Work} from './work';

const TABS = [['', 'Overview'], ['analysis', 'Analysis'], ['plan', 'Plan'],
  ['trials', 'Trials'], ['work', 'Work']] as const;

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
  const trials = useTrials(study);
  const pace = active ? 15000 : 0;
  const report = useAtRevision(`${name} report`, revision, pace, () =>
    call<Report>('ImportanceService/GetReport', {study: name, watching: true}));
  const frontier = useAtRevision(`${name} frontier`, revision, pace, () =>
    call<FrontierAnswer>('ImportanceService/GetFrontier', {study: name}));
  const reasons = useAtRevision(`${name} reasons`, revision, active ? 3000 : 0,
    () => call<Reasons>('StudyService/ExplainStudy', {name}));
  const all = trials.data ?? NONE;
  const modules = useMemo(() => all.find((one) => one.rates?.length)?.rates?.map(
      (one) => one.module) ?? [], [all]);
  const levels = useMemo(() => levelsOf([...ratesIn(study), ...ratesOf(all)]),
                         [all, study]);
  const axes = useMemo(() => axesOf(all, modules), [all, modules]);
  const selection = useMemo(() => readSelection(view), [view]);
  const chosen = useMemo(() => isEmpty(selection) ? all :
    all.filter((one) => picks(selection, one)), [all, selection]);
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
    <StudyControls study={study} />
    <Warnings of={study.warnings} />
    <nav class="tabs" aria-label="Views of this study">{TABS.map(([key, label]) =>
      <a href={`#/${name}${key ? `/${key}` : ''}${keptIn(view)}`}
        aria-current={tab === key ? 'page' : undefined}>{label}</a>)}
      <a href={`#/compare/${encodeURIComponent(id)}`}>Compare</a></nav>
    <SelectionBar {...{view, axes, trials: all, metric}} />
    {tab === 'plan' ? <PlanCard {...{study, id, revision, pace}} /> : tab === 'analysis' ?
      <Show got={trials} what="trials">{(data) => <Analysis {...{name, id,
        revision, pace, view, report, axes, modules, metric, lower}}
        trials={data} />}</Show> : tab === 'work' ?
      <Show got={trials} what="trials">{(data) => <Work {...{study, metric, lower,
        view, id}} trials={data} />}</Show> : tab === 'trials' ?
      <Show got={trials} what="trials">{(data) =>
        <Trials {...{trials: isEmpty(selection) ? data : chosen, levels,
          metric, lower, view, id}} />}</Show> :
      <Overview {...{study, id, trials, chosen, modules, levels, selection, view,
        report, frontier, reasons}} />}
  </main>;
};

// The plan is computed for who looks at it.
const PlanCard = ({study, id, revision, pace}:
    {study: StudyAnswer; id: string; revision: string; pace: number}) => {
  const {name} = study;
  const plan = useAtRevision(`${name} plan`, revision, pace, () =>
    call<PlanAnswer>('ImportanceService/GetPlan', {study: name}));
  return <Card got={plan} title="Plan" what="the plan">{(data) =>
    <><Plan plan={data} study={id} /><RunPlan study={study} />
      <Verified {...{study: name, revision, pace: 5000}} /></>}</Card>;
};

// Each answer that comes draws the page again, but the pictures of thousands of
// trials only if it changed something in them.
const Overview = ({study, id, trials, chosen, modules, levels, selection, view,
  report, frontier, reasons}: {
  study: StudyAnswer; id: string; trials: Got<Trial[]>; chosen: Trial[];
  modules: string[]; levels: number[]; selection: Selection; view: URLSearchParams;
  report: Got<Report>; frontier: Got<FrontierAnswer>; reasons: Got<Reasons>;
}) => {
  const {metric, lower} = objectiveOf(study);
  const all = trials.data ?? NONE;
  const shown = isEmpty(selection) ? trials : {...trials, data: chosen};
  const cost = useMemo(() => <Pareto {...{trials: all, selection, study: id}}
    objectives={study.spec?.objectives ?? []} pareto={study.bestTrials ?? []}
    against={view.get('against') ?? ''} />, [all, selection, id, study, view]);
  const best = useMemo(() => <Best {...{trials: all, metric, lower, selection}}
    by={view.get('by') ?? ''} expected={frontier.data?.best}
    more={report.data?.stability} />,
  [all, metric, lower, selection, view, frontier.data, report.data]);
  const rates = useMemo(() => <Show got={shown} what="trials">{(data) =>
    modules.length > 0 ? <Rates {...{trials: data, modules, levels, metric, lower,
      study: id, byScore: view.get('order') !== 'number'}}
      onOrder={(by) => setView('order', by ? '' : 'number')} /> :
      <section class="card wide"><header><h2>Every trial, layer by layer</h2>
      </header><p class="quiet">{data.length === 0 ?
        'No trial has begun yet.' :
        'This study searches no modules, so there are no layers to show.'}
      </p></section>}</Show>,
  [trials, chosen, modules, levels, metric, lower, id, view]);
  return <div class="grid2">
    <Health {...{study, report, frontier, reasons, trials: all}} />
    <div class="stack">
      <Card got={frontier} title="What is enough to train"
        what="what is enough to train">{(data) =>
        <Frontier answer={data} modules={modules} />}</Card>
      {cost}
    </div>
    <div class="stack">
      <Card got={report} title="Which modules matter" what="importance">
        {(data) => <Importance report={data} selected={selection.module} />}</Card>
      {best}
    </div>
    {rates}
    <About study={study} metric={metric} lower={lower}
      warnings={report.data?.warnings} />
  </div>;
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
