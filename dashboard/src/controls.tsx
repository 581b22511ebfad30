// SPDX-License-Identifier: Apache-2.0
//
// What the page may change, where the coordinator was started with
// --allow-ui-writes and the caller's role allows it: else nothing of this is
// shown. What ends something asks once more.
import type {ComponentChildren} from 'preact';
import {useEffect, useState} from 'preact/hooks';
import {call, CallError, change, usePolled} from './api';
import type {Study, Trial} from './api';
import {lastPart, num, state} from './format';
import {Problem} from './parts';
import {helped} from './help';

interface Identity {
  subject?: string; role?: string; studyLabels?: Record<string, string>;
}
interface Info { pageWrites?: boolean }

// Whether this caller may change the study, as far as the page can know; the
// coordinator decides.
export const useMayChange = (study: Study | undefined): boolean => {
  const info = usePolled('info', () => call<Info>('AdminService/GetInfo', {}), 0);
  const who = usePolled('caller', () =>
    call<Identity>('AdminService/WhoAmI', {}), 0);
  if (!info.data?.pageWrites || !study || !who.data) return false;
  const {role, subject, studyLabels} = who.data;
  if (role === 'ROLE_ADMIN') return true;
  const labels = Object.entries(studyLabels ?? {});
  return role === 'ROLE_RESEARCHER' && (study.owner === subject ||
    labels.length > 0 && labels.every(([key, value]) =>
      study.settings?.labels?.[key] === value));
};

// A button that says what came of it. With `ends` it asks once more.
const Act = ({label, ends, act}: {
  label: string; ends?: string | undefined; act: () => Promise<string>;
}) => {
  const [asks, setAsks] = useState(false);
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState('');
  const [error, setError] = useState<CallError>();
  const run = async () => {
    setAsks(false);
    setBusy(true);
    setError(undefined);
    try {
      setSaid(await act());
    } catch (why) {
      setSaid('');
      setError(why instanceof CallError ? why :
        new CallError('internal', String(why), '', 'reload the page'));
    }
    setBusy(false);
  };
  return <span class="act">
    {asks ? <><span role="alert">{ends}</span>{' '}
      <button type="button" onClick={run} {...helped('yes')}>Yes, {label.toLowerCase()}</button>{' '}
      <button type="button" autofocus {...helped('no')}
        onClick={() => setAsks(false)}>No</button>
    </> : <button type="button" disabled={busy} {...helped('act')} onClick={() =>
      ends ? setAsks(true) : void run()}>{label}</button>}{' '}
    <span class="quiet" role="status">{busy ? 'asking …' : said}</span>
    {error ? <Problem error={error} /> : null}
  </span>;
};

const Group = ({label, children}: {label: string; children: ComponentChildren}) =>
  <p class="choices controls" role="group" aria-label={label}>{children}</p>;

export const StudyControls = ({study}: {study: Study}) => {
  const may = useMayChange(study);
  const name = study.name;
  const now = state(study.state);
  if (!may || !['ACTIVE', 'PAUSED'].includes(now)) return null;
  const running = num(study.counts?.running);
  return <Group label="Change this study">
    {now === 'ACTIVE' ? <Act key="pause" label="Pause" act={async () => {
      await change('StudyService/PauseStudy', {name, reason: 'paused in the page'});
      return 'paused: running trials go on, no new one begins';
    }} /> : <Act key="resume" label="Resume" act={async () => {
      await change('StudyService/ResumeStudy', {name});
      return 'resumed';
    }} />}
    <Act key="stop" label="Stop" ends={`Stopping is final: queued trials are cancelled${
      running > 0 ? `, and ${running} running ${running === 1 ? 'one is' :
        'ones are'} told to stop` : ''}. Stop ${lastPart(name)}?`}
      act={async () => {
        await change('StudyService/StopStudy', {name,
          reason: 'stopped in the page'});
        return 'stopped';
      }} />
  </Group>;
};

interface Rivals { trials?: object[]; rivals?: {name?: string}[] }
const SEEDS = 3;

// The plan beside what it has to beat, each with new seeds, as `plan apply` on
// the command line does it.
export const RunPlan = ({study}: {study: Study}) => {
  const may = useMayChange(study);
  if (!may || ['STOPPED', 'DELETED'].includes(state(study.state))) return null;
  return <Group label="Run this plan">
    <Act label="Run it" ends={`This adds ${SEEDS} runs of the plan and of each rival, and raises the budget by them. Run them?`}
      act={async () => {
        const rivals = await call<Rivals>('ImportanceService/GetPlanRivals',
            {study: study.name, seeds: SEEDS});
        const trials = rivals.trials ?? [];
        await change('StudyService/EnqueueTrials', {name: study.name, trials,
          raise_budget: true});
        return `${trials.length} trials are queued: ${(rivals.rivals ?? []).map(
            (one) => one.name).join(', ')}`;
      }} />
  </Group>;
};

export const TrialControls = ({study, trial}:
    {study: Study | undefined; trial: Trial}) => {
  const may = useMayChange(study);
  const now = state(trial.state);
  if (!may) return null;
  const waits = now === 'QUEUED' || now === 'RUNNING';
  return <>
    <Group label="Change this trial">
      {waits ? <Act key="cancel" label="Cancel this trial"
        ends={`A cancelled trial has no result. Cancel trial ${num(trial.number)}?`}
        act={async () => {
          await change('StudyService/CancelTrial', {name: trial.name,
            reason: 'cancelled in the page'});
          return now === 'RUNNING' ? 'its worker is told to stop' : 'cancelled';
        }} /> : <Act key="retry" label="Run it again" act={async () => {
        const made = await change<Trial>('StudyService/RetryTrial',
                                         {name: trial.name});
        return `trial ${num(made.number)} is queued`;
      }} />}
    </Group>
    {study ? <Enqueue study={study} trial={trial} /> : null}
  </>;
};

// A number, true, false or a word, as it was typed.
const typed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const Enqueue = ({study, trial}: {study: Study; trial: Trial}) => {
  const parameters = trial.parameters ?? [];
  const begin = () => Object.fromEntries(parameters.map(
      (one) => [one.name, String(one.value ?? 0)]));
  const [values, setValues] = useState<Record<string, string>>(begin);
  useEffect(() => setValues(begin()), [trial.name]);
  return <details class="controls" aria-label="Run a point like this one">
    <summary {...helped('like')}>Run a point like this one</summary>
    <p class="quiet">It is queued before what the sampler proposes, and the
      budget is raised by it. 0 is frozen.</p>
    <p class="choices">{parameters.map((one) => <label>{one.name}{' '}
      <input size={8} value={values[one.name] ?? ''} {...helped('value')} onInput={(event) =>
        setValues({...values, [one.name]: event.currentTarget.value})} />
    </label>)}</p>
    <Group label="Queue the point"><Act label="Queue it" act={async () => {
      const made = await change<{trials?: Trial[]}>('StudyService/EnqueueTrials',
          {name: study.name, raise_budget: true, trials: [{values:
            Object.fromEntries(Object.entries(values).map(
                ([name, text]) => [name, typed(text)]))}]});
      return `trial ${num(made.trials?.[0]?.number)} is queued`;
    }} /></Group>
  </details>;
};
