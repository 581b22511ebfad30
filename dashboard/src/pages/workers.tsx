// SPDX-License-Identifier: Apache-2.0
//
// The workers: what each has, runs and suffers from, and what all of them did.
import {allPages, CallError, coordinatorTime, ranIn, usePolled} from '../api';
import type {Study, Trial, Worker} from '../api';
import {coordinatorsNow, Fleet, seenOf, WINDOWS, type Window} from '../charts/fleet';
import {Gpus} from '../charts/gpus';
import {bytes, fixed, lastPart, num, state, time} from '../format';
import {Show, State} from '../parts';

// The studies whose trials are asked for: those that changed last.
const MOST_STUDIES = 30;

const asked = async (over: Window): Promise<{trials: Trial[]; workers: Worker[];
  studies: number; shown: number; now: number}> => {
  const workers = await allPages<Worker>('WorkerService/ListWorkers',
      {history: `${WINDOWS[over]}s`}, 'workers');
  const all = await allPages<Study>('StudyService/ListStudies', {}, 'studies');
  const now = coordinatorsNow(workers, all, coordinatorTime());
  const since = now - WINDOWS[over] * 1000;
  const studies = all.filter((one) => Date.parse(one.updateTime ?? '') >= since ||
    num(one.counts?.running) > 0).sort((a, b) => Date.parse(b.updateTime ?? '') - Date.parse(a.updateTime ?? ''));
  const some = studies.slice(0, MOST_STUDIES);
  // One after the other: a page is one caller of many.
  const trials: Trial[][] = [];
  for (const one of some) {
    // A study that was deleted a moment ago has no trials to show.
    trials.push(await ranIn(one).catch((why) => {
      if (why instanceof CallError && why.code === 'not_found') return [];
      throw why;
    }));
  }
  return {trials: trials.flat(), workers, studies: studies.length,
    shown: some.length, now};
};

export const Workers = ({over}: {over: string}) => {
  const window = over in WINDOWS ? over as Window : 'hour';
  const ran = usePolled(`ran ${window}`, () => asked(window), 5000);
  const got = usePolled('workers', () => allPages<Worker>(
      'WorkerService/ListWorkers', {}, 'workers'), 3000);
  return <main id="main"><h1>Workers</h1>
    <div class="stack"><Show got={got} what="workers">{(workers) => workers.length === 0 ?
      <div class="card"><h2>There are no workers</h2>
        <p>Start one where a GPU is: <code>frostline worker --connect
          HOST:PORT</code>. It appears here by itself.</p></div> :
      <section class="card"><p class="says">{summary(workers)}</p>
        <div class="scroll" tabIndex={0} role="region" aria-label="Workers">
          <table class="data"><caption class="unseen">Workers</caption><thead>
            <tr><th scope="col">Worker</th><th scope="col">State</th>
              <th scope="col" class="right">Slots</th>
              <th scope="col">Runs</th><th scope="col">Hardware</th>
              <th scope="col">Load</th><th scope="col">Last seen</th></tr></thead>
          <tbody>{workers.map((one) => <tr>
            <th scope="row">{lastPart(one.name)}</th>
            <td><State name={one.state} />{one.stateReason ?
              <span class="cause">{one.stateReason}</span> : null}</td>
            <td class="right">{num(one.slots)}</td>
            <td>{(one.trials ?? []).map((name) => <a class="item"
              href={`#/${name}`}>{name.replace(/^studies\/(.*)\/trials\//, '$1/')}
            </a>)}</td>
            <td>{hardware(one)}</td><td>{load(one)}</td>
            <td>{time(one.lastSeenTime)}</td></tr>)}</tbody></table></div>
      </section>}</Show>
    <Show got={ran} what="what they ran">{(data) => {
      const seen = seenOf(data.trials, data.workers, window, data.now);
      return <><Fleet {...data} seen={seen} over={window} />
        <Gpus workers={data.workers} seen={seen} /></>;
    }}</Show></div>
  </main>;
};

const summary = (workers: Worker[]): string => {
  const active = workers.filter((one) => state(one.state) === 'ACTIVE');
  const slots = active.reduce((sum, one) => sum + num(one.slots), 0);
  const busy = active.reduce((sum, one) => sum + (one.trials?.length ?? 0), 0);
  const quarantined = workers.filter(
      (one) => state(one.state) === 'QUARANTINED').length;
  return `${active.length} of ${workers.length} workers are active, with ${
    busy} of ${slots} slots busy${quarantined > 0 ?
    `; ${quarantined} in quarantine` : ''}.`;
};

const hardware = (worker: Worker): string => {
  const has = worker.hardware;
  const gpus = (has?.gpus ?? []).map((one) => `${one.model ?? 'GPU'} ${
    bytes(one.memoryBytes)}`);
  return [has?.host, ...gpus, has?.cpuCores ? `${num(has.cpuCores)} cores` : '']
    .filter(Boolean).join(', ');
};

const load = (worker: Worker): string => [
  ...(worker.load?.gpus ?? []).filter((one) => one.utilization !== undefined)
    .map((one, k) => `GPU ${k} ${fixed(num(one.utilization) * 100, 0)} %`),
  worker.load?.cpuShare === undefined ? '' :
    `CPU ${fixed(num(worker.load.cpuShare) * 100, 0)} %`]
  .filter(Boolean).join(', ');
