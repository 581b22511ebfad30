// SPDX-License-Identifier: Apache-2.0
import {allPages, usePolled} from '../api';
import type {Worker} from '../api';
import {bytes, fixed, lastPart, num, state, time} from '../format';
import {Show, State} from '../parts';

export const Workers = () => {
  const got = usePolled('workers', () => allPages<Worker>(
      'WorkerService/ListWorkers', {}, 'workers'), 3000);
  return <main id="main"><h1>Workers</h1>
    <Show got={got} what="workers">{(workers) => workers.length === 0 ?
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
