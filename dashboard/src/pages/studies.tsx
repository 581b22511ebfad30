// SPDX-License-Identifier: Apache-2.0
import {allPages, usePolled} from '../api';
import type {Study} from '../api';
import {lastPart, time} from '../format';
import {objectiveOf, Progress, Show, State} from '../parts';
import {setView} from '../route';
import {helped} from '../help';

// More would only be slow to draw; a name finds the others.
const MOST = 200;

export const Studies = ({find}: {find: string}) => {
  const got = usePolled('studies', () => allPages<Study>(
      'StudyService/ListStudies', {}, 'studies'), 3000);
  return <main id="main">
    <h1>Studies</h1>
    <Show got={got} what="studies">{(studies) => {
      const found = studies.filter((one) => lastPart(one.name).includes(find));
      const shown = found.slice(0, MOST);
      return studies.length === 0 ? <div class="card">
        <h2>There is no study yet</h2>
        <p>Make one with <code>frostline init</code> and <code>frostline study
          create FILE</code>, or look at a finished one: <code>frostline demo
          --example</code>. It appears here by itself.</p></div> : <>
        {studies.length > 8 || find ? <p class="choices"><label>Find{' '}
          <input type="search" value={find} {...helped('find')} onInput={(event) =>
            setView('find', event.currentTarget.value)} /></label>
          {find ? <button type="button" {...helped('unfind')}
            onClick={() => setView('find', '')}>
            Clear</button> : null}
          <span class="quiet">{shown.length} of {studies.length} shown</span>
        </p> : null}
        <ul class="studies">{shown.map((study) => {
          const {metric, lower} = objectiveOf(study);
          const best = study.bestTrials?.[0];
          return <li class="card"><a class="cover"
            href={`#/${study.name}`}>{lastPart(study.name)}</a>{' '}
            <State name={study.state} />
            <p class="quiet">{study.spec?.model?.id ?? ''}
              {study.spec?.data?.id ? ` on ${study.spec.data.id}` : ''}
              {metric ? `, ${lower ? 'minimize' : 'maximize'} ${metric}` : ''}</p>
            <Progress study={study} />
            <p class="quiet">{best ? `best: trial ${lastPart(best)}; ` : ''}
              created {time(study.createTime)}</p>
          </li>;
        })}</ul></>;
    }}</Show>
  </main>;
};
