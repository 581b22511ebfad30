// SPDX-License-Identifier: Apache-2.0
//
// What came of a plan that was run beside its rivals: predicted and seen.
import {call, CallError} from '../api';
import type {Verification} from '../api';
import {fixed, general, num, sentence, withInterval} from '../format';
import {useAtRevision} from './revision';

const three = (value: unknown, sign = false): string => {
  const number = num(value as string | number | undefined);
  if (Number.isNaN(number)) return '-';
  return `${sign && number >= 0 ? '+' : ''}${fixed(number, 3)}`;
};
const noise = (value: unknown, exceeded?: boolean): string => {
  const said = three(value);
  return said === '-' ? '-' : `±${said}${exceeded ? '*' : ''}`;
};
const pText = (value: unknown): string => {
  const p = num(value as string | number | undefined);
  return Number.isNaN(p) ? '-' : p < 0.001 ? '< 0.001' : fixed(p, 3);
};

export const Verified = ({study, revision, pace}:
    {study: string; revision: string; pace: number}) => {
  const got = useAtRevision<Verification | null>(`${study} verified`, revision,
    pace, () => call<Verification>('ImportanceService/GetPlanVerification',
        {study}).catch((why) => {
      // No plan was verified yet.
      if (why instanceof CallError && why.id === 'FL-2004') return null;
      throw why;
    }));
  const data = got.data;
  if (data === undefined || data === null) return null;
  const rivals = data.rivals ?? [];
  const open = num(data.ended) < num(data.total);
  return <section class="card" id="verified">
    <header><h2>What came of it</h2></header>
    <p class="says">{sentence(data.verdict)}{open ? ' So far.' : ''}</p>
    <p class="note">{data.target}; {general(num(data.ended), 6)} of{' '}
      {general(num(data.total), 6)} trials have ended. Noise of seeds and rows is
      what it makes of equal points, 19 times in 20; * exceeded. p is of both,
      Holm’s.</p>
    <div class="scroll" tabIndex={0} role="region" aria-label="Predicted and seen">
      <table class="data"><caption class="unseen">Predicted and seen</caption>
        <thead><tr><th scope="col">Rival</th>
          <th scope="col">Predicted, 80 %</th>
          {['Seen', 'Runs', `Less ${rivals[0]?.name ?? 'plan'}`, 'Seeds', 'Rows',
            'p'].map((title) => <th scope="col" class="right">{title}</th>)}
        </tr></thead>
        <tbody>{rivals.map((one) => <tr><th scope="row">{one.name}</th>
          <td>{withInterval(one.predicted)}</td>
          {[three(one.seen?.value), String((one.runs ?? []).filter((run) =>
            !Number.isNaN(num((run as {value?: number}).value))).length),
          three(one.difference?.value, true),
          noise(one.seedNoise, one.exceedsSeeds),
          noise(one.rowNoise, one.exceedsRows), pText(one.adjustedP)].map(
            (text) => <td class="right">{text}</td>)}
        </tr>)}</tbody>
      </table>
    </div>
  </section>;
};
