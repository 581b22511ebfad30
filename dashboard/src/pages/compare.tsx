// SPDX-License-Identifier: Apache-2.0
//
// Two studies beside each other: whether the same modules mattered, and whether
// the best trial of one is better than the best of the other, by paired tests.
import {allPages, call, usePolled} from '../api';
import type {Study, StudyComparison, TrialComparison} from '../api';
import {DataTable, Frame} from '../charts/frame';
import {better, fixed, lastPart, num, number, percent, percentInterval, sentence,
  tau} from '../format';
import {Card, Copy, Facts} from '../parts';
import {go} from '../route';
import {linear, ticks} from '../scale';
import {helped} from '../help';

export const Compare = ({first, second}: {first: string; second: string}) => {
  const studies = usePolled('compare studies', () => allPages<Study>(
      'StudyService/ListStudies', {}, 'studies'), 10000);
  const ids = (studies.data ?? []).map((one) => lastPart(one.name));
  const other = second || ids.find((one) => one !== first) || '';
  return <main id="main">
    <nav class="crumbs" aria-label="Where you are"><a href="#/">Studies</a> /{' '}
      <a href={`#/studies/${encodeURIComponent(first)}`}>{first}</a> /</nav>
    <h1>Two studies</h1>
    <p class="choices">{([['Study', first], ['beside', other]] as const).map(
        ([label, value], k) => <label>{label} <select value={value} {...helped('compared')}
      onChange={(event) => {
        const id = encodeURIComponent(event.currentTarget.value);
        go(k === 0 ? `/compare/${id}/${encodeURIComponent(other)}` :
          `/compare/${encodeURIComponent(first)}/${id}`);
      }}>{[...new Set([value, ...ids])].filter(Boolean).map((one) =>
        <option value={one}>{one}</option>)}</select></label>)}</p>
    {other ? <Both key={`${first} ${other}`} first={first} second={other}
      studies={studies.data ?? []} /> :
      <div class="card"><p>There is no other study to compare with.</p></div>}
  </main>;
};

const Both = ({first, second, studies}:
    {first: string; second: string; studies: Study[]}) => {
  const bestOf = (id: string) => studies.find((one) =>
    lastPart(one.name) === id)?.bestTrials?.[0];
  const best = [bestOf(first), bestOf(second)];
  const shares = usePolled(`compare ${first} ${second}`, () =>
    call<StudyComparison>('ImportanceService/CompareStudies',
                          {first: `studies/${first}`, second: `studies/${second}`}), 30000);
  return <div class="grid2">
    <div class="wide"><Card got={shares} title="Did the same modules matter?"
      what="the comparison">{(data) =>
      <Shares {...{answer: data, first, second}} />}</Card></div>
    {best[0] && best[1] && first !== second ?
      <Tests first={best[0]} second={best[1]} /> :
      <section class="card wide"><header><h2>Is one better?</h2></header>
        <p class="quiet">Each needs a trial with a result for that.</p></section>}
    <section class="card wide"><header><h2>The same on the command line</h2>
    </header><Copy text={`frostline compare ${first} ${second}`} />
    {best[0] && best[1] ? <Copy text={`frostline trial compare ${
      best.map((name) => (name ?? '').replace(/^studies\/(.*)\/trials\//, '$1/'))
        .join(' ')} --repeats`} /> : null}</section>
  </div>;
};

const Shares = ({answer, first, second}:
    {answer: StudyComparison; first: string; second: string}) => {
  const rows = answer.shifts ?? [];
  const table = () => ({
    head: ['Module', first, '80 % interval', second, '80 % interval', ''],
    rows: rows.map((one) => [one.parameter, percent(one.firstShare?.value),
      percentInterval(one.firstShare ?? {}), percent(one.secondShare?.value),
      percentInterval(one.secondShare ?? {}),
      one.distinguishable ? 'differs' : '']), right: [1, 2, 3, 4]});
  return <Frame id="shares" title="Did the same modules matter?"
    says={sentence(answer.sentence)} table={table} wide
    note={<>Shares of {answer.options?.target ?? 'the objective'} among what both
      search, with 80 % intervals; above {first}, below {second}. Evaluator{' '}
      {answer.options?.evaluator ?? '-'}, {better(answer.options)}; rank agreement{' '}
      {tau(answer.rankAgreement)}.{answer.onlyFirst?.length ?
        ` Only ${first}: ${answer.onlyFirst.join(', ')}.` : ''}
      {answer.onlySecond?.length ?
        ` Only ${second}: ${answer.onlySecond.join(', ')}.` : ''}
      {answer.provisional ? ' A study still runs.' : ''}</>}>
    {(width) => {
      const row = rows.length > 40 ? 16 : 34;
      const left = Math.min(130, 14 + 7.2 * Math.max(6,
          ...rows.map((one) => one.parameter.length)));
      const most = Math.max(0.001, ...rows.flatMap((one) =>
        [num(one.firstShare?.hi80), num(one.secondShare?.hi80)]));
      const x = linear(0, most, left, width - 70);
      return <svg width={width} height={rows.length * row + 24} role="img"
        aria-label={`${answer.sentence ?? ''}. The figures are in the tab Data.`}>
        {ticks(0, most, width < 460 ? 3 : 6).map((value) => <g>
          <line x1={x(value)} x2={x(value)} y1="0" y2={rows.length * row}
            class="grid" /><text x={x(value)} y={rows.length * row + 16}
            class="tick middle">{`${fixed(value * 100, 0)} %`}</text></g>)}
        {rows.map((one, k) => <g>
          <text x={left - 8} y={k * row + row / 2 + 4} class="tick end name">
            {one.parameter}</text>
          {[one.firstShare, one.secondShare].map((share, i) => {
            const y = k * row + row * (i === 0 ? 0.3 : 0.7);
            return <g class={`series c${i}`}>
              <title>{`${i === 0 ? first : second}, ${one.parameter}: ${
                percent(share?.value)} (${percentInterval(share ?? {})})`}</title>
              <line x1={x(num(share?.lo80))} x2={x(num(share?.hi80))} y1={y}
                y2={y} class="trace" />
              <circle cx={x(num(share?.value))} cy={y} r="4"
                class={i === 0 ? 'end' : 'hollowdot'} /></g>;
          })}
          {one.distinguishable ? <text x={width - 62} y={k * row + row / 2 + 4}
            class="tick strong">differs</text> : null}</g>)}
      </svg>;
    }}
  </Frame>;
};

const Tests = ({first, second}: {first: string; second: string}) => {
  const short = (name: string) => name.replace(/^studies\/(.*)\/trials\//, '$1/');
  const got = usePolled(`tests ${first} ${second}`, () =>
    call<TrialComparison>('ImportanceService/CompareTrials', {contenders:
      [first, second].map((name) => ({name: short(name), trials: [name],
        with_repeats: true}))}), 0);
  const names = `${short(first)} and ${short(second)}`;
  const cannot = got.error !== undefined && got.error.code !== 'unavailable';
  return cannot ? <section class="card wide" id="tests"><header>
    <h2>Is one better?</h2></header><p class="says">The best trials, {names},
    cannot be tested against each other: {got.error?.message}</p>
    <p class="quiet">{got.error?.fix}</p></section> :
    <Card got={got} title="Is one better?" what="paired tests">{(data) =>
      <section class="card wide" id="tests"><header><h2>Is one better?</h2>
      </header><p class="says">{sentence(data.verdict)}</p>
      <DataTable caption="Paired tests of the best trials" table={{
        head: ['First', 'Second', 'Difference', '95 %', 'p, adjusted', 'Test',
          'Pairs'], right: [2, 3, 4, 6],
        rows: (data.tests ?? []).map((one) => [one.first ?? '',
          one.second ?? '', number(one.difference),
          `${number(one.lo95)} – ${number(one.hi95)}`, number(one.adjustedP),
          (one.method ?? '').toLowerCase(), num(one.pairs)])}} />
      <Facts of={[['metric', data.metric ?? ''], ['direction',
        data.direction === 'DIRECTION_MINIMIZE' ? 'lower is better' :
          'higher is better'], ['examples', String(num(data.examples))]]} />
      {(data.notes ?? []).map((one) => <p class="note">{sentence(one)}</p>)}
      </section>}</Card>;
};
