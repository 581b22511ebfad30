// SPDX-License-Identifier: Apache-2.0
import {allPages, call, usePolled} from '../api';
import type {Log, Measurement, ModuleAudit, Num, Reasons, Study,
  Trial as TrialAnswer} from '../api';
import {DataTable} from '../charts/frame';
import {Curve} from '../charts/curve';
import {Legend, Strip} from '../charts/strip';
import {TrialControls} from '../controls';
import {bytes, count, counted, lastPart, moduleList, num, number, rate, sentence, state,
  time, trained} from '../format';
import {Copy, Facts, objectiveOf, ratesIn, Show, State} from '../parts';
import {levelsOf} from '../scale';
import {took} from './trials';

const MOST_POINTS = 500;

export const Trial = ({id, at}: {id: string; at: string}) => {
  const name = `studies/${id}/trials/${at}`;
  const trial = usePolled(name, () => call<TrialAnswer>(
      'StudyService/GetTrial', {name, view: 'TRIAL_VIEW_FULL'}), 2000);
  const running = state(trial.data?.state) === 'RUNNING';
  const key = `${name} ${String(trial.data?.attempt ?? 0)} ${
    trial.data?.state ?? ''}`;
  const study = usePolled(`${name} study`, () =>
    call<Study>('StudyService/GetStudy', {name: `studies/${id}`}), 0);
  const points = usePolled(`${key} points`, () => allPages<Measurement>(
      'StudyService/ListMeasurements', {name, downsample_to: MOST_POINTS},
      'measurements'), running ? 3000 : 0);
  // What never ran here, as a trial that was imported, has no log.
  const log = usePolled(`${key} log`, async () => num(trial.data?.attempt) > 0 ?
      call<Log>('StudyService/GetTrialLog', {name, wait: '2s', max_bytes: 16384}) : {},
      running ? 3000 : 0);
  const why = usePolled(`${key} why`, () => call<Reasons>(
      'StudyService/ExplainStudy', {name: `studies/${id}`, trial_number: at}), 0);
  const objective = study.data ? objectiveOf(study.data).metric : '';
  return <main id="main">
    <nav class="crumbs" aria-label="Where you are"><a href="#/">Studies</a> /{' '}
      <a href={`#/studies/${id}`}>{id}</a> /{' '}
      <a href={`#/studies/${id}/trials`}>trials</a> /</nav>
    <Show got={trial} what={`trial ${at}`}>{(data) =>
      <Loaded trial={data} study={study.data} metric={objective} points={points.data ?? []}
        log={log.data} reasons={why.data?.reasons ?? []} id={id} at={at} />}
    </Show>
  </main>;
};

const Loaded = ({trial, study, metric, points, log, reasons, id, at}: {
  trial: TrialAnswer; study: Study | undefined; metric: string; points: Measurement[];
  log: Log | undefined; reasons: NonNullable<Reasons['reasons']>; id: string;
  at: string;
}) => {
  const rates = trial.rates ?? [];
  const levels = levelsOf([...ratesIn(study), ...rates.map(
      (one) => num(one.rate))]);
  const usage = trial.usage;
  const progress = trial.progress;
  const others = (trial.parameters ?? []).filter((one) =>
    !rates.some((rate) => rate.module === one.name));
  return <>
    <div class="head"><h1>Trial {at}</h1> <State name={trial.state} />
      <span class="quiet">{(trial.origin ?? '').replace('TRIAL_ORIGIN_', '')
        .toLowerCase()}</span></div>
    {trial.values?.length && metric ? <p class="verdict">{metric}{' '}
      {number(trial.values[0])}</p> : null}
    {trial.cause ? <div class="problem"><p><strong>{trial.cause}</strong></p>
      {reasons.map((one) => <p>{one.sentence}{one.fix ? `: ${one.fix}` : ''}</p>)}
    </div> : null}
    {progress ? <p class="says">{progress.phase || 'running'}
      {num(progress.totalSteps) > 0 ?
        `, step ${count(progress.step)} of ${count(progress.totalSteps)}` : ''}</p> :
      null}
    <TrialControls study={study} trial={trial} />
    <div class="grid2">
      <section class="card" id="spec"><header><h2>Its layers</h2></header>
        <Strip rates={rates} levels={levels} wide />
        <Legend levels={levels} />
        <DataTable caption="Rates" table={{head: ['Module', 'Rate'], right: [1],
          rows: [...rates.map((one) => [one.module, trained(one)]),
            ...others.map((one) => [one.name, typeof one.value === 'number' ?
              number(one.value) : String(one.value)])]}} />
      </section>
      <Curve points={points} metric={metric} />
      <section class="card"><header><h2>How it ran</h2></header>
        <Facts of={[
          ['time', took(trial)], ['worker', lastPart(trial.worker ?? '')],
          ['seed', trial.seed ? String(trial.seed) : ''],
          ['began', time(trial.startTime)], ['ended', time(trial.endTime)],
          ['device', usage?.device ?? ''], ['precision', usage?.precision ?? ''],
          ['trained parameters', usage?.trainedParameters ?
            count(usage.trainedParameters) : ''],
          ['peak memory', usage?.peakMemoryBytes ?
            bytes(usage.peakMemoryBytes) : ''],
          ['steps', usage?.steps ? count(usage.steps) : ''],
          ['software', usage?.software ?? ''], ['note', trial.note ?? ''],
          ['labels', Object.entries(trial.labels ?? {}).sort().map(
              ([key, value]) => `${key}=${value}`).join(', ')],
        ]} />
        {Object.keys(trial.metrics ?? {}).length ? <DataTable
          caption="Final metrics" table={{head: ['Metric', 'Value'], right: [1],
            rows: Object.entries(trial.metrics ?? {}).sort().map(
                ([key, value]) => [key, number(value)])}} /> : null}
      </section>
      <Audit of={usage?.audit ?? []} />
      <section class="card"><header><h2>Attempts</h2></header>
        {trial.attempts?.length ? <DataTable caption="Attempts" table={{
          head: ['Attempt', 'State', 'Worker', 'Began', 'Ended'],
          rows: trial.attempts.map((one) => [num(one.number),
            state(one.state).toLowerCase(), lastPart(one.worker ?? ''),
            time(one.startTime), time(one.endTime)])}} /> :
          <p class="quiet">It has not run here.</p>}
        {(trial.attempts ?? []).filter((one) => one.cause).map((one) =>
          <p class="says">Attempt {num(one.number)}: {one.cause}</p>)}
      </section>
      <section class="card wide" id="log"><header><h2>End of its log</h2></header>
        {log?.tail ? <pre class="log" tabIndex={0}>
          <samp>{decode(log.tail)}</samp></pre> :
          <p class="quiet">{log === undefined ? 'Asking for it …' :
            log.place?.path ? `The coordinator has nothing of it; it was at ${
              log.place.path} on ${log.place.host ?? ''}.` :
              'There is none: the trial has not run here.'}</p>}
      </section>
      <section class="card wide"><header><h2>The same on the command line</h2>
      </header>
        <Copy text={`frostline trial show ${id} ${at}`} />
        <Copy text={`frostline trial log ${id} ${at}`} /></section>
    </div>
  </>;
};

const share = (of: Num): string => num(of) === 0 ? '' :
  num(of) < 1e-6 ? 'a bit' : `${number(100 * num(of))} %`;

const memory = (of: Num): string => num(of) === 0 ? '' : bytes(of);

// Whether what was to train moved, and what was frozen did not.
export const auditSays = (of: ModuleAudit[]): string => {
  const names = (some: ModuleAudit[]) => moduleList(some.map((one) => one.module));
  const frozen = of.filter((one) => num(one.rate) === 0);
  const trained = of.filter((one) => num(one.rate) > 0);
  const loose = frozen.filter((one) => num(one.moved) > 0);
  const still = trained.filter((one) => num(one.moved) === 0);
  return sentence([
    still.length === 0 ? `all of ${counted(trained.length, 'trained module')} moved` :
      `${names(still)} should have trained and did not move`,
    frozen.length === 0 ? '' : loose.length === 0 ?
      `of ${counted(frozen.length, 'frozen one')} no bit changed` :
      `${names(loose)} should have been frozen and moved`].filter(Boolean).join('; '));
};

const Audit = ({of}: {of: ModuleAudit[]}) => of.length === 0 ? null :
  <section class="card wide" id="audit"><header><h2>What moved</h2></header>
    <p class="says">{auditSays(of)}</p>
    <DataTable caption="What training did to each module" table={{
      head: ['Module', 'Rate', 'Moved', 'Could move', 'Gradient', 'Weights',
        'Gradients', 'Moments', 'Activations'], right: [1, 2, 3, 5, 6, 7, 8],
      rows: of.map((one) => [one.module, rate(one.rate), share(one.moved),
        share(one.couldMove), one.hadGradient ? 'yes' : 'no', memory(one.weightBytes),
        memory(one.gradientBytes), memory(one.momentBytes),
        memory(one.activationBytes)])}} />
    <p class="note">Moved: how far the weights lie from where they began, as a share of
      their own length; could move: the furthest that its rate allows.</p>
  </section>;

const decode = (base64: string): string => {
  const raw = atob(base64);
  return new TextDecoder().decode(
      Uint8Array.from(raw, (one) => one.charCodeAt(0)));
};
