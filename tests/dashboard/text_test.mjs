// SPDX-License-Identifier: Apache-2.0
//
// The page's own code without a browser: its types, the texts of numbers against
// printf's, and scales.
import assert from 'node:assert/strict';
import {execFileSync, spawnSync} from 'node:child_process';
import {cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath, pathToFileURL} from 'node:url';

const MODULES = process.env.PAGE_MODULES;
const HERE = dirname(fileURLToPath(import.meta.url));
const DASHBOARD = join(HERE, '../../dashboard');
const require = createRequire(join(MODULES, 'x.js'));
let folder = '';
let format;
let scale;
let api;
let axes;
let fleet;
let timeline;
let gpus;
let trialPage;
let planPage;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'frostline-page-'));
  const load = async (name, ending = 'ts') => {
    const out = join(folder, `${name}.mjs`);
    require('esbuild').buildSync({entryPoints: [join(DASHBOARD, 'src',
      `${name}.${ending}`)], jsx: 'automatic', jsxImportSource: 'preact', outfile: out, bundle: true, format: 'esm',
      nodePaths: [MODULES]});
    return import(pathToFileURL(out));
  };
  format = await load('format');
  scale = await load('scale');
  api = await load('api');
  axes = await load('axes');
  fleet = await load('charts/fleet', 'tsx');
  timeline = await load('charts/timeline', 'tsx');
  gpus = await load('charts/gpus', 'tsx');
  trialPage = await load('pages/trial', 'tsx');
  planPage = await load('pages/plan', 'tsx');
});

after(() => rmSync(folder, {recursive: true, force: true}));

test('every part has the types that it says', () => {
  const copy = join(folder, 'dashboard');
  cpSync(DASHBOARD, copy, {recursive: true});
  symlinkSync(MODULES, join(copy, 'node_modules'));
  const ran = spawnSync(process.execPath,
      [join(MODULES, 'typescript/bin/tsc'), '-p', copy], {encoding: 'utf8'});
  assert.equal(ran.status, 0, ran.stdout + ran.stderr);
});

test('a table by columns is the trials that a list would have', () => {
  const base64 = (...bytes) => Buffer.from(bytes).toString('base64');
  const trials = api.trialsIn('studies/a', {table: {rows: '3', columns: [
    {name: 'number', integers: {values: ['0', '1', '2']}},
    {name: 'state', codes: {entries: ['SUCCEEDED', 'FAILED'],
      codes: base64(0, 1, 0)}},
    {name: 'values[0]', numbers: {values: [0.5, 0, 'NaN']},
      present: base64(0b101)},
    {name: 'rates.layer.0', codes: {entries: [2e-5, 0], codes: base64(1, 0, 0)}},
    {name: 'usage.train_seconds', numbers: {values: [1.5, 0, 0]},
      present: base64(0b001)},
    {name: 'end_time', integers: {values: ['1700000000000000', '0', '0']},
      present: base64(0b001)}]}});
  assert.equal(trials.length, 3);
  assert.deepEqual(trials.map((one) => one.state), ['TRIAL_STATE_SUCCEEDED',
    'TRIAL_STATE_FAILED', 'TRIAL_STATE_SUCCEEDED']);
  assert.deepEqual(trials.map((one) => one.values), [[0.5], [], ['NaN']]);
  assert.deepEqual(trials.map((one) => one.rates[0].rate), [0, 2e-5, 2e-5]);
  assert.equal(trials[1].name, 'studies/a/trials/1');
  assert.equal(trials[0].usage.trainSeconds, 1.5);
  assert.equal(trials[1].usage.trainSeconds, undefined);
  assert.equal(trials[0].endTime, '2023-11-14T22:13:20.000Z');
  // Two bytes a cell where there are more than 256 entries.
  const entries = Array.from({length: 300}, (_, k) => `w${k}`);
  assert.deepEqual(api.cellsOf({name: 'x',
    codes: {entries, codes: base64(44, 0, 43, 1)}}, 2), ['w44', 'w299']);
});

test('numbers are those of printf', () => {
  let state = 12345;
  const random = () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
  const values = [0.125, 0.375, 0.5, 1.5, 2.5, 12345.5, 9999.5, 99995, 1e-5,
    0.00009995, 123456, 1e15, -0.5];
  for (let i = 0; i < 3000; ++i) {
    values.push((random() - 0.3) * 10 ** Math.floor(random() * 16 - 8));
  }
  const program = 'import json,sys\n' +
      'for v in json.load(sys.stdin):' +
      ' print("%.4g|%.3g|%.0f|%.1f|%.2f|%.4f" % (v, v, v, v, v, v))';
  const lines = execFileSync('python3', ['-c', program],
      {input: JSON.stringify(values), encoding: 'utf8'}).split('\n');
  values.forEach((value, k) => {
    const ours = [format.general(value, 4), format.general(value, 3),
      ...[0, 1, 2, 4].map((places) => format.fixed(value, places))].join('|');
    assert.equal(ours.replace(/-(0\.?0*)(?=\||$)/g, '$1'),
        (lines[k] ?? '').replace(/-(0\.?0*)(?=\||$)/g, '$1'), String(value));
  });
});

test('what is not known has a text', () => {
  assert.equal(format.probability('NaN'), '-');
  assert.equal(format.probability(undefined), '< 1 %');
  assert.equal(format.probability(0.995), '> 99 %');
  assert.equal(format.withInterval(undefined), '-');
  assert.equal(format.withInterval({value: 0.5, lo80: 'NaN', hi80: 'NaN'}),
      '0.5');
  assert.equal(format.rate(undefined), 'frozen');
  assert.equal(format.count('1234567'), '1,234,567');
});

test('figures are written as the command line writes them', () => {
  const number = (word) => /^-?inf$/.test(word) ?
    word.replace('inf', 'Infinity') : word.replace('nan', 'NaN');
  const one = (write) => ([word]) => write(number(word));
  const plain = (write) => ([word]) => write(Number(number(word)));
  const interval = (write) => ([value, lo80, hi80]) => write({value: number(value),
    lo80: number(lo80), hi80: number(hi80)});
  const writers = {number: one(format.number), rate: one(format.rate),
    count: one(format.count), count_or_dash: one(format.countOrDash),
    seconds: plain(format.seconds), bytes: one(format.bytes),
    percent: one(format.percent), probability: one(format.probability),
    percent_interval: interval(format.percentInterval),
    number_interval: interval(format.numberInterval),
    with_interval: interval(format.withInterval), tau: interval(format.tau),
    direction: ([direction, directionProbability]) =>
      format.direction({direction, directionProbability}),
    time: ([seconds]) => format.time(new Date(seconds * 1000).toISOString()),
    last_part: ([name]) => format.lastPart(name), modules: format.moduleList};
  const seen = new Set();
  for (const line of readFileSync(join(HERE, '../cli/view/figures.txt'), 'utf8')
      .split('\n').filter((one) => one && !one.startsWith('#'))) {
    const [kind, figures, text] = line.split('|').map((part) => part.trim());
    assert.ok(writers[kind], line);
    assert.equal(writers[kind](figures.split(' ').filter(Boolean)), text, line);
    seen.add(kind);
  }
  assert.deepEqual(seen, new Set(Object.keys(writers)));
});

test('an axis has round ticks inside of its ends', () => {
  assert.deepEqual(scale.ticks(0.68, 0.95, 4), [0.7, 0.8, 0.9]);
  assert.deepEqual(scale.ticks(0, 17, 4), [0, 5, 10, 15]);
  assert.deepEqual(scale.ticks(3, 3, 4), [3]);
});

test('frozen is no level, and levels are as far apart as their logarithms', () => {
  const levels = scale.levelsOf([0, 1e-3, 1e-5, 0, 1e-4, 1e-5]);
  assert.deepEqual(levels, [1e-5, 1e-4, 1e-3]);
  assert.equal(scale.warmth(1e-5, levels), 0);
  assert.ok(Math.abs(scale.warmth(1e-4, levels) - 0.5) < 1e-12);
  assert.equal(scale.warmth(1e-3, levels), 1);
});

test('a sample has both ends', () => {
  const all = Array.from({length: 1000}, (_, k) => k);
  const some = scale.spaced(all, 7);
  assert.equal(some.length, 7);
  assert.equal(some[0], 0);
  assert.equal(some[6], 999);
  assert.deepEqual(scale.spaced([1, 2], 7), [1, 2]);
});

const trial = (rates, parameters = {}, score = 0.5) => ({values: [score],
  rates: Object.entries(rates).map(([module, rate]) => ({module, rate})),
  parameters: Object.entries(parameters).map(([name, value]) => ({name, value}))});

test('axes are what trials differ in, frozen first, continuous ones in ranges', () => {
  const some = Array.from({length: 40}, (_, k) => trial(
      {embeddings: 0, 'layer.0': k % 2 ? 0 : 1e-5 * 1.2 ** k}, {kind: k % 3 ? 'a' : 'b'}));
  const found = axes.axesOf(some, ['embeddings', 'layer.0']);
  assert.deepEqual(found.map((one) => one.name), ['layer.0', 'kind']);
  assert.deepEqual(found[0].cells[0], {key: '0', label: 'frozen'});
  assert.equal(found[0].cells.length, 7);
  assert.deepEqual(found[1].cells.map((one) => one.key), ['a', 'b']);
  for (const one of some) {
    for (const axis of found) {
      assert.ok(axis.cells.some(({key}) =>
        axes.holds(key, axes.valueOf(one, axis.name))), axis.name);
    }
  }
});

test('a selection survives the address, whatever its names are', () => {
  const cells = new Map([['a:b;c,d', ['0', 'x,y;z:%']], ['layer.0', ['1e-5..0.1']]]);
  const view = new URLSearchParams(new URLSearchParams({only: axes.onlyText(cells),
    score: '-0.5..1e-3', module: 'm'}).toString());
  const read = axes.readSelection(view);
  assert.deepEqual([...read.cells], [...cells]);
  assert.deepEqual(read.score, [-0.5, 1e-3]);
  assert.ok(axes.picks(axes.readSelection(new URLSearchParams(
      {only: 'layer.0:0.001', score: '0.4..0.6'})), trial({'layer.0': 1e-3})));
  assert.ok(!axes.picks(axes.readSelection(new URLSearchParams(
      {only: 'layer.0:0'})), trial({'layer.0': 1e-3})));
});

test('a logarithmic axis has its powers of ten, and even steps between them', () => {
  assert.deepEqual(scale.logTicks(1e-5, 1e-1), [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]);
  assert.deepEqual(scale.logTicks(3, 60), [5, 10, 20, 50]);
  const at = scale.logarithmic(1, 100, 0, 10);
  assert.ok(Math.abs(at(10) - 5) < 1e-9);
});

test('a smoothed curve is a weighted mean of what came before, and 0 changes nothing', () => {
  assert.deepEqual(scale.smoothed([3, 5, 1], 0), [3, 5, 1]);
  const [first, second, third] = scale.smoothed([1, 2, 4], 0.5);
  assert.equal(first, 1);
  assert.ok(Math.abs(second - (0.5 * 1 + 2) / 1.5) < 1e-12);
  assert.ok(Math.abs(third - (0.25 * 1 + 0.5 * 2 + 4) / 1.75) < 1e-12);
  assert.deepEqual(scale.smoothed([7, 7, 7], 0.95).map((one) => Math.round(one * 1e9)),
      [7e9, 7e9, 7e9]);
});

test('slots busy and known over time are counted from each change on', () => {
  const at = (second) => new Date(1e12 + second * 1000).toISOString();
  const ran = (number, worker, from, to, state = 'SUCCEEDED') => ({number,
    name: `studies/a/trials/${number}`, worker: `workers/${worker}`,
    state: `TRIAL_STATE_${state}`, startTime: at(from),
    ...to === undefined ? {} : {endTime: at(to)}});
  const [from, to] = [1e12, 1e12 + 100_000];
  const bars = timeline.newestBars([ran(0, 'one', -50, -10), ran(1, 'one', 10, 40),
    ran(2, 'one', 20, 60, 'FAILED'), ran(3, 'two', 80, undefined, 'RUNNING'),
    {number: 4, name: 'studies/a/trials/4', state: 'TRIAL_STATE_QUEUED'}], from, to);
  assert.deepEqual(bars.map((one) => [one.trial.number, one.state]),
      [[1, 'COMPLETED'], [2, 'FAILED'], [3, 'RUNNING']]);
  // Of some the newest attempt is not all that there is to draw.
  assert.ok(timeline.isPlain({...ran(1, 'one', 10, 40), attempt: 1}));
  assert.ok(timeline.isPlain({state: 'TRIAL_STATE_QUEUED'}));
  for (const [now, attempt] of [['SUCCEEDED', 2], ['QUEUED', 1], ['FAILED', 1]]) {
    assert.ok(!timeline.isPlain({...ran(1, 'one', 10, 40, now), attempt}), now);
  }
  const worker = (id, slots, since, seen) => ({name: `workers/${id}`, slots,
    state: 'WORKER_STATE_ACTIVE', registerTime: at(since), lastSeenTime: at(seen)});
  // `one` was there before the window and is there no more; `two` has a slot that
  // does nothing.
  const lanes = fleet.fleetLanes(bars, [worker('one', 2, -99, 30),
    worker('two', 2, 50, 99)], from, to);
  assert.deepEqual(lanes.map((one) => [one.worker, one.lane]),
      [['one', 0], ['one', 1], ['two', 0], ['two', 1]]);
  // A clock here that goes wrong by hours changes nothing while workers are seen.
  for (const wrong of [0, 1e9, -1e9]) {
    assert.equal(fleet.coordinatorsNow([worker('one', 2, -99, 30), worker('two', 2,
        50, 99)], [{updateTime: at(98)}], to + wrong), from + 99_000);
  }
  assert.equal(fleet.coordinatorsNow([], [{updateTime: at(98)}], to), to);
  const steps = fleet.useOverTime(bars, lanes, from, to);
  assert.deepEqual(steps.map((one) => [(one.at - from) / 1000, one.busy, one.known]),
      [[0, 0, 2], [10, 1, 2], [20, 2, 2], [40, 1, 2], [50, 1, 4], [60, 0, 2],
        [80, 1, 2], [100, 0, 0]]);
  assert.ok(Math.abs(fleet.shareOf(steps) - 90 / 220) < 1e-12);
  // Means over fifths: 10 to 20 one, 20 to 40 two slots were busy, and so on.
  assert.deepEqual(fleet.averaged(steps, from, to, 5).map((one) =>
    [(one.at - from) / 1000, Math.round(one.busy * 100) / 100, one.known]),
  [[0, 0.5, 2], [20, 2, 2], [40, 1, 3], [60, 0, 2], [80, 1, 2]]);
  for (const bins of [7, 333]) {
    const sum = fleet.averaged(steps, from, to, bins).reduce((all, one) =>
      all + one.busy * 100 / bins, 0);
    assert.ok(Math.abs(sum - 90) < 0.01, `${bins}: ${sum}`);
  }
  assert.ok(Number.isNaN(fleet.shareOf(fleet.useOverTime([], [], from, to))));
});

test('how busy GPUs were is read by steps, alone and while trials ran', () => {
  const [from, to] = [1e12, 1e12 + 240_000];
  const busy = (...percents) => Buffer.from(percents).toString('base64');
  const worker = (id, gpus) => ({name: `workers/${id}`, hardware: {gpus: [
    {uuid: 'GPU-a', model: 'H200'}, {uuid: 'GPU-b', model: 'H200'}]},
  history: {startTime: new Date(from - 60_000).toISOString(), step: '60s', gpus}});
  const workers = [worker('two', [{uuid: 'GPU-b', busy: busy(90, 255, 10, 20, 0)},
    {uuid: 'GPU-a', busy: busy(90, 50, 100, 100, 50)}]),
  worker('one', [{uuid: 'GPU-new', busy: busy(90, 255, 255, 255, 255)}]),
  {name: 'workers/bare'}];
  const bars = [{worker: 'two', from: from + 70_000, to: from + 170_000}];
  const rows = gpus.gpuRows(workers, bars, from, to);
  // What was before the time that is shown counts as nothing.
  const percent = (share) => Math.round(share * 1000) / 10;
  assert.deepEqual(rows.map((one) => [one.worker, one.gpu, one.model,
    percent(one.mean), percent(one.onTrials)]),
  [['two', 0, 'H200', 75, 100], ['two', 1, 'H200', 10, 15]]);
  assert.deepEqual(rows[1].busy, [NaN, NaN, 0.1, 0.2, 0]);
  assert.equal(gpus.gpusSay(rows, from, to), '2 GPUs computed 42.5 % of the last ' +
    '4m00s, and 57.5 % of the time in which their workers ran trials; two GPU 1 ' +
    'only 15.0 %, so its trials wait for something else.');
  assert.equal(gpus.gpusSay(gpus.gpuRows(workers, [], from, to), from, to),
      '2 GPUs computed 42.5 % of the last 4m00s; no trial ran on them.');
});

test('an audit says what did not move, and what moved though it was frozen', () => {
  const of = (module, rate, moved) => ({module, rate, moved});
  assert.equal(trialPage.auditSays([of('layer.0', 0, 0), of('layer.1', 1e-3, 0.1)]),
      'All of 1 trained module moved; of 1 frozen one no bit changed.');
  assert.equal(trialPage.auditSays([of('layer.0', 0, 1e-9), of('layer.1', 1e-3, 0),
    of('layer.2', 1e-3, 0), of('head', 1e-3, 0.1)]),
  'layer.1-2 should have trained and did not move; layer.0 should have been frozen and moved.');
  assert.equal(trialPage.auditSays([of('head', 1e-3, 0.1)]), 'All of 1 trained module moved.');
});

test('the space of a plan has its ranks, and none is frozen', () => {
  const of = (module, rank) => ({module, rate: 1e-3, rank});
  const text = planPage.asSpace('a', [of('layer.0', 0), of('layer.1', 8), of('layer.2', 8),
    {module: 'head', rate: 1e-2}]);
  assert.deepEqual(text.trimEnd().split('\n').slice(4), ['    layer.0: frozen',
    '    layer.1-2: {rank: 8, fixed: 0.001}', '    head: 0.01']);
});

test('a plan is the space of a study file, with neighbours of one rate in one line', () => {
  const of = (module, rate, freeze = false) => ({module, rate, freeze});
  const text = planPage.asSpace('a', [of('embeddings', 0, true), of('layer.0', 1e-3, true),
    of('layer.1', 0), of('layer.2', 2e-7), of('layer.3', 2e-7), of('layer.4', 1e-3),
    of('head', 1e-3)]);
  assert.deepEqual(text.trimEnd().split('\n').slice(2), ['space:', '  modules:',
    '    embeddings: frozen', '    layer.0-1: frozen', '    layer.2-3: 2e-7',
    '    layer.4: 0.001', '    head: 0.001']);
});
