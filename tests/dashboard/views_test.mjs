// SPDX-License-Identifier: Apache-2.0
//
// The views of a study beyond the overview, in Chromium before a real coordinator
// and a real worker: their figures against what the command line prints, the
// selection, what is saved, and whether all can use them.
import assert from 'node:assert/strict';
import {mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync} from
  'node:fs';
import {dirname, join} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {alfaFinds, axeFinds, Coordinator, flat, rowsIn} from './coordinator.mjs';
import {hostile} from './hostile.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const at = new Coordinator();
const complaints = [];
let page;

const open = (path) => at.open(page, path);
const text = (selector) => page.$eval(selector, (one) => one.innerText);
const rowsOf = (id) => rowsIn(page, id);
const watch = (one) => {
  one.on('console', (said) => {
    // That a verb refuses, or is too busy for the moment, is said on the console by
    // the browser itself.
    if (['error', 'warn'].includes(said.type()) &&
        !/status of 4(0\d|29)/.test(said.text())) complaints.push(said.text());
  });
  one.on('pageerror', (error) => complaints.push(String(error)));
  one.on('dialog', (dialog) => complaints.push(`dialog ${dialog.message()}`));
  one.on('request', (request) => {
    if (!request.url().startsWith(at.url) && !/^(data|about|blob):/.test(
        request.url())) complaints.push(`asked for ${request.url()}`);
  });
};

const study = (id, trainer, more = '') => {
  writeFileSync(join(at.folder, `${id}.yaml`), `id: ${id}
trainer: ${trainer}
model: {layers: 4}
maximize: accuracy
sampler: random
seed: ${id.length}
budget: 16
space: {modules: {embeddings: [0, 1e-4], "layer.*": [0, 1e-4, 1e-3]}, default: {full: 1e-3}}
${more}`);
  at.run('study', 'create', `${id}.yaml`);
};

// A study of many modules, whose trials are imported: the lower ones matter less.
const imported = async (id, select, objectives, count, shape = {}) => {
  const levels = {rates: [0, 1e-4, 1e-3]};
  const spec = {model: {layers: 12, ...shape}, objectives, seed: 5,
    space: {modules: select.map((one) => ({select: one, levels}))}, sampler: {name: 'random'}};
  const {modules} = await at.post('CreateStudy', {study_id: id, spec,
    settings: {budget: {trials: 10}}});
  const names = modules.map((one) => one.parameter).filter(Boolean);
  let state = 7;
  const random = () => (state = (state * 1103515245 + 12345) % 2147483648) /
      2147483648;
  await at.post('ImportTrials', {name: `studies/${id}`, trials: Array.from(
      {length: count}, () => {
    const parameters = Object.fromEntries(names.map((name) =>
      [name, levels.rates[Math.floor(random() * 3)]]));
    const score = names.reduce((sum, name, k) => sum +
        (parameters[name] > 0 ? k : 0), 0) / names.length ** 2 + random() / 20;
    const metrics = {accuracy: score};
    if (objectives.length > 1) metrics.cost = score * 3 + random();
    return {state: 'TRIAL_STATE_SUCCEEDED', parameters, metrics};
  })});
  return names;
};

const ACCURACY = {metric: 'accuracy', direction: 'DIRECTION_MAXIMIZE'};

before(async () => {
  await at.start();
  study('left', 'trainer.mjs', 'training: {report_example_outcomes: true}');
  study('right', 'trainer.mjs', 'training: {report_example_outcomes: true}');
  study('inert', 'broken');
  const texts = join(at.folder, 'texts.json');
  writeFileSync(texts, JSON.stringify(hostile));
  const trainer = ['--exec', `node ${join(HERE, 'trainer.mjs')}`];
  at.work({}, '--id', 'one', '--slots', '2', '--run-dir',
          join(at.folder, 'one'), ...trainer);
  // After so many failures it pauses.
  at.work({TEXTS: texts}, '--id', 'broken', '--label', 'trainer=broken',
          '--run-dir', join(at.folder, 'broken'), ...trainer);
  // A node whose driver says how busy its two GPUs are.
  mkdirSync(join(at.folder, 'driver'));
  symlinkSync(process.env.STAND_IN_NVML_LIBRARY,
      join(at.folder, 'driver', 'libnvidia-ml.so.1'));
  writeFileSync(join(at.folder, 'gpus'),
      'GPU-a 80 1000 4000 250000 60\nGPU-b 5 1000 4000 250000 60\n');
  at.work({LD_LIBRARY_PATH: join(at.folder, 'driver'),
    STAND_IN_NVML: join(at.folder, 'gpus')}, '--id', 'node', '--label', 'trainer=none',
  '--run-dir', join(at.folder, 'node'), ...trainer);
  await imported('modules', ['embeddings', 'layer.*.attention', 'layer.*.ffn'],
      [ACCURACY], 120);
  await imported('heads', ['layer.*.head.*'], [ACCURACY], 120, {heads: 12});
  await imported('two', ['layer.*'], [ACCURACY,
    {metric: 'cost', direction: 'DIRECTION_MINIMIZE'}], 60);
  await imported('inverse', ['layer.*'],
      [{metric: 'accuracy', direction: 'DIRECTION_MINIMIZE'}], 60);
  await at.until(async () => {
    const states = await Promise.all(['left', 'right', 'inert'].map((id) =>
      at.get('StudyService/GetStudy', {name: `studies/${id}`})));
    return states.every((one) => one.state === 'STUDY_STATE_COMPLETED' ||
        Number(one.counts?.failed ?? 0) >= 2);
  });
  page = await at.browser.newPage();
  await page.setViewport({width: 1400, height: 900});
  watch(page);
});

after(() => at.stop());

for (const [id, direction] of [['example', 'higher'], ['inverse', 'lower']]) {
  test(`what the analysis of ${id} says is what the command line prints`,
      async () => {
    await open(`/studies/${id}/analysis`);
    const marginals = flat(at.run('importance', id, '--marginals'));
    const curves = await rowsOf('marginals');
    assert.ok(curves.length >= 30);
    for (const [module, ...cells] of curves) {
      assert.ok(marginals.includes(flat(cells.join(' '))),
          `${module}: ${cells.join(' ')}`);
    }
    const pairs = flat(at.run('importance', id, '--pairs'));
    for (const [a, b, ...cells] of (await rowsOf('pairs')).slice(0, 20)) {
      assert.ok(pairs.includes(flat(`${a} x ${b} ${cells.join(' ')}`)), a + b);
    }
    const stability = flat(at.run('importance', id, '--stability'));
    for (const [trials, agreement, ranking] of await rowsOf('stability')) {
      assert.ok(stability.includes(`${trials} ${agreement} ${ranking}`), ranking);
    }
    const halves = /halves of the study: (tau [^;.]*\.\d+ [^)]*\))/.exec(
        (await text('#stability .note')).replace(/\s+/g, ' '));
    assert.ok(halves === null || stability.includes(`two halves: ${halves[1]}`));
    for (const chart of ['marginals', 'pairs', 'stability']) {
      assert.match(await text(`#${chart} .note`),
          new RegExp(`Evaluator fanova, seed \\d+; accuracy, ${direction} is better`));
    }
  });
}

test('the plan is there in the words of other tools, as the command prints it', async () => {
  await open('/studies/left/plan');
  for (const tool of ['torch', 'axolotl']) {
    await page.select('#plan select', tool);
    await page.waitForFunction((name) => document.querySelector('#plan pre')
        ?.innerText.includes(`for ${name}.`), {}, tool);
    assert.equal(flat(await text('#plan pre')),
                 flat(at.run('plan', 'left', '--for', tool)));
  }
});

test('the plan is a study file that the command line takes', async () => {
  await open('/studies/left/plan');
  await page.select('#plan select', 'a study file');
  await page.waitForSelector('#plan pre');
  const {modules} = await at.get('ImportanceService/GetPlan', {study: 'studies/left'});
  writeFileSync(join(at.folder, 'planned.yaml'), `id: planned
model: {layers: 4}
maximize: accuracy
budget: 3
${await text('#plan pre')}`);
  const printed = at.run('study', 'create', 'planned.yaml', '--dry-run');
  assert.deepEqual([...printed.matchAll(/^(\S+) +\(fixed\) +(\S+)$/gm)].map(
      ([, module, rate]) => [module, rate === 'frozen' ? 0 : Number(rate)]),
  modules.map((one) => [one.module, one.freeze ? 0 : one.rate ?? 0]));
});

test('a pair is the table that the command line prints', async () => {
  await open('/studies/example/analysis?pair=layer.3%20layer.5');
  const printed = flat(at.run('importance', 'example', '--pairs', '--parameter',
      'layer.3', '--parameter', 'layer.5'));
  const rows = await rowsOf('pair');
  assert.equal(rows.length, 5);
  for (const row of rows) assert.ok(printed.includes(row.join(' ')), row.join(' '));
});

test('substitutes are said in words where the command line says them', async () => {
  await open('/studies/example/analysis');
  const said = await page.$$eval('#pairs .said li', (all) =>
    all.map((one) => one.innerText));
  const printed = flat(at.run('importance', 'example', '--pairs'));
  assert.ok(said.length > 0);
  for (const one of said) {
    const [, a, b, what, chance] = /^(\S+) and (\S+) are (\w+) with (.*?): /.exec(one);
    assert.match(printed, new RegExp(`${a} x ${b} [^x]* ${what}, ${chance}`));
  }
});

test('two studies are compared as the command line compares them', async () => {
  await open('/compare/left/right');
  const printed = flat(at.run('compare', 'left', 'right'));
  for (const row of await rowsOf('shares')) {
    assert.ok(printed.includes(flat(row.slice(0, 5).join(' '))), row.join(' '));
  }
  const [left, right] = await Promise.all(['left', 'right'].map(async (id) =>
    (await at.get('StudyService/GetStudy', {name: `studies/${id}`}))
      .bestTrials[0].replace(/^studies\/(.*)\/trials\//, '$1/')));
  const tests = flat(at.run('trial', 'compare', left, right, '--repeats'))
      .replace(/\s/g, '').toLowerCase();
  const verdict = (await text('#tests .says')).replace(/\s|\.$/g, '').toLowerCase();
  assert.ok(tests.includes(verdict), `${verdict}\n${tests}`);
});

test('trials without outcomes say why they cannot be tested', async () => {
  await open('/compare/example/demo');
  assert.match(await text('#tests'), /brought no outcomes of examples/);
  assert.match(await text('#tests'), /report_example_outcomes/);
});

test('what frozen layers saved is what the command line says', async () => {
  await open('/studies/left/work');
  const printed = flat(at.run('study', 'show', 'left'));
  const facts = await page.$$eval('#sharing dd', (all) =>
    all.map((one) => one.innerText));
  assert.equal(facts.length, 2);
  for (const fact of facts) assert.ok(printed.includes(flat(fact)), fact);
  const rows = await page.$$eval('#sharing tbody tr', (all) => all.map((row) =>
    [...row.children].map((one) => Number(one.innerText.replace(/,/g, '')))));
  const sum = (k) => rows.reduce((all, row) => all + row[k], 0);
  assert.ok(printed.includes(`rows taken ${sum(2).toLocaleString('en')}, computed ${
    sum(3).toLocaleString('en')}`), JSON.stringify(rows));
});

test('the timeline has every attempt of every worker', async () => {
  await open('/studies/inert/work');
  const {trials} = await at.get('StudyService/ListTrials',
      {parent: 'studies/inert', view: 'TRIAL_VIEW_FULL'});
  const attempts = trials.reduce((all, one) => all + (one.attempts ?? []).length, 0);
  const rows = await rowsOf('timeline');
  assert.equal(rows.length, attempts);
  assert.ok(rows.every((row) => row[0] === 'broken' && row[4] === 'failed'));
  assert.match(await text('#timeline .says'), /^1 worker with 1 slot ran/i);
});

test('the workers page has what every worker ran for every study', async () => {
  await open('/workers?over=day');
  await page.waitForSelector('#fleet .data, #fleet svg');
  const rows = await rowsOf('fleet');
  assert.ok(rows.some((row) => row[0] === 'broken' && row[5] === 'failed'));
  const ran = await Promise.all(['left', 'right'].map(async (id) =>
    (await at.get('StudyService/ListTrials', {parent: `studies/${id}`,
      page_size: 1000, view: 'TRIAL_VIEW_FULL'})).trials.filter((one) =>
      one.worker && one.startTime).map((one) => `${id} ${one.number ?? 0} ${
      one.worker.replace('workers/', '')}`)));
  assert.deepEqual(rows.filter((row) => ['left', 'right'].includes(row[2]))
      .map((row) => `${row[2]} ${row[3]} ${row[0]}`).sort(), ran.flat().sort());
  assert.match(await text('#fleet .says'),
      new RegExp(`ran ${rows.length} trials in .*, busy [\\d.]+ % of the time`));
  await open('/workers');
  await page.select('#fleet select', 'week');
  await page.waitForFunction(() => location.hash.includes('over=week'));
  await page.waitForSelector('#fleet .known');
});

test('how busy GPUs were stands below what the workers did', async () => {
  await at.until(async () => (await at.get('WorkerService/ListWorkers',
      {history: '3600s'})).workers.some((one) => one.history), 'a heartbeat with GPUs');
  await open('/workers');
  await page.waitForSelector('#gpus svg');
  assert.match(await text('#gpus .says'),
      /^2 GPUs computed 42\.5 % of the last .*; no trial ran on them\.$/);
  assert.deepEqual((await rowsOf('gpus')).map((row) => [row[0], row[1], row[3], row[5]]),
      [['node', '0', '80.0 %', '80.0 %'], ['node', '1', '5.0 %', '5.0 %']]);
  // Above one another, times stand where they stand in the chart of slots.
  await page.$$eval('#gpus .tools button', (all) => all[0].click());
  await page.waitForSelector('#gpus svg');
  const ends = (id) => page.$$eval(`#${id} .tick`, (all) => all.filter((one) =>
    /^\d\d:\d\d:\d\d/.test(one.textContent)).map((one) => [one.getAttribute('x'),
    one.textContent]).slice(-5));
  assert.deepEqual(await ends('gpus'), await ends('fleet'));
});

test('a smoothed curve is in the address, with what was measured behind it', async () => {
  await open('/studies/left/work?smooth=60');
  await page.waitForSelector('#curves .raw');
  const lines = await page.$$eval('#curves .series', (all) => all.map((one) =>
    [...one.querySelectorAll('path')].map((path) => path.getAttribute('d'))));
  assert.ok(lines.length > 0 && lines.every(([raw, mean]) => raw !== mean));
  const rows = await rowsOf('curves');
  const first = rows.filter((row) => row[0] === rows[0][0]);
  assert.equal(first[0][2], first[0][3]);
  assert.ok(first.some((row) => row[2] !== row[3]));
  await page.$$eval('#curves .tools button', (all) => all[0].click());
  await page.focus('#curves input[type=range]');
  await page.keyboard.press('Home');
  await page.waitForFunction(() => !location.hash.includes('smooth') &&
    !document.querySelector('#curves .raw'));
});

test('curves have what was measured, and a loss over decades its logarithm',
    async () => {
  await open('/studies/left/work');
  await page.select('#curves label:nth-of-type(2) select', 'loss');
  await page.waitForFunction(() => [...document.querySelectorAll('#curves .tick')]
    .some((one) => one.textContent.trim() === '0.001'));
  const rows = await rowsOf('curves');
  assert.equal(rows.length, 8 * 5);
  const {measurements} = await at.get('StudyService/ListMeasurements',
      {name: `studies/left/trials/${rows[0][0]}`});
  assert.deepEqual(rows.slice(0, 5).map(([, step, loss]) =>
    [step, Number(loss)]), measurements.map((one) =>
    [one.step, one.metrics.loss]));
});

test('the Pareto set is the study’s own', async () => {
  await open('/studies/two');
  const {bestTrials} = await at.get('StudyService/GetStudy', {name: 'studies/two'});
  assert.equal(await page.$$eval('#pareto circle.mark', (all) => all.length),
      bestTrials.length);
  const line = (await rowsOf('pareto')).filter((row) => row[3] === 'yes')
      .map((row) => `studies/two/trials/${row[0]}`);
  assert.deepEqual(line.sort(), [...bestTrials].sort());
  assert.match(await text('#pareto .note'),
      /accuracy: higher is better; cost: lower is better/);
});

test('what a plan has to beat is named in what a score costs', async () => {
  await open('/studies/example');
  const {trials} = await at.get('StudyService/ListTrials', {parent: 'studies/example',
    page_size: 1000, view: 'TRIAL_VIEW_FULL'});
  const best = trials.filter((one) => one.rates.every(({rate}) => rate > 0))
      .reduce((a, b) => b.values[0] > a.values[0] ? b : a);
  assert.deepEqual(await page.$$eval('#pareto .through', (all) =>
    all.map((one) => one.textContent)), ['all trained']);
  assert.deepEqual((await rowsOf('pareto')).filter((row) => row[4])
      .map((row) => [row[0], row[4]]), [[String(best.number ?? 0), 'all trained']]);
});

test('health says who fails, and what the report says of itself', async () => {
  await open('/studies/inert');
  assert.match(await text('#health'), /Trouble\s+\d+ of \d+ trials failed, \d+ of them on worker broken/);
  await open('/studies/example');
  const printed = flat(at.run('importance', 'example'));
  for (const said of await page.$$eval('#health li.good p', (all) =>
    all.map((one) => one.innerText))) {
    const plain = said.replace(/^Importance /, '').replace(/\.$/, '');
    assert.ok(printed.toLowerCase().includes(plain.toLowerCase()), plain);
  }
});

test('a selection made with the keyboard holds in all views, and is cleared',
    async () => {
  await open('/studies/example/analysis');
  await page.focus('.selection summary');
  await page.keyboard.press('Enter');
  await page.select('.selection form select', 'layer.5');
  await page.select('.selection select[name=cell]', '0.001');
  await page.focus('.selection form button');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.chip');
  const {trials} = await at.get('StudyService/ListTrials', {parent: 'studies/example',
    page_size: 1000, view: 'TRIAL_VIEW_FULL'});
  const wanted = trials.filter((one) => one.rates.some((rate) =>
    rate.module === 'layer.5' && rate.rate === 0.001)).length;
  const counted = new RegExp(`^${wanted} of 200`);
  assert.match(await text('.chips'), counted);
  assert.match(await text('#parallel .says'), counted);
  const chosen = (await rowsOf('parallel')).filter((row) => row[1] === 'yes');
  assert.equal(chosen.length, wanted);
  assert.ok(page.url().includes('only=layer.5'));
  await page.$$eval('.tabs a', (all) =>
    all.find((one) => one.innerText === 'Trials').click());
  await page.waitForSelector('#trials');
  assert.match(await text('.chips'), counted);
  assert.equal(await page.$$eval('#trials tbody tr', (all) => all.length),
      Math.min(wanted, 100));
  await page.reload();
  await page.waitForSelector('.chip');
  await page.$$eval('.chips button', (all) => all[all.length - 1].click());
  await page.waitForFunction(() => !document.querySelector('.chip'));
  assert.match(await text('.chips'), /all 200 trials/);
});

test('pressing a cell and drawing along the score select as the form does',
    async () => {
  await open('/studies/example/analysis');
  await page.$eval('#parallel .level', (one) => one.parentElement.dispatchEvent(
      new MouseEvent('click', {bubbles: true})));
  await page.waitForFunction(() => location.hash.includes('only=embeddings'));
  await page.$eval('#parallel', (one) => one.scrollIntoView());
  const box = await (await page.$('#parallel .brush')).boundingBox();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 8);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.9, box.y + 8, {steps: 4});
  await page.mouse.up();
  await page.waitForFunction(() => location.hash.includes('score='));
  const [lo, hi] = /score=([\d.]+?)\.\.([\d.]+)/.exec(page.url()).slice(1).map(Number);
  for (const [, , score] of (await rowsOf('parallel')).filter(
      (row) => row[1] === 'yes')) {
    assert.ok(Number(score) >= lo - 1e-3 && Number(score) <= hi + 1e-3, score);
  }
});

test('a chart is saved as SVG, PNG and CSV', async () => {
  const folder = join(at.folder, 'saved');
  mkdirSync(folder);
  const client = await page.createCDPSession();
  await client.send('Browser.setDownloadBehavior',
      {behavior: 'allow', downloadPath: folder});
  const save = async (id) => {
    for (const kind of ['CSV', 'SVG', 'PNG']) {
      // Of more than ten files within a second Chromium drops the rest.
      await new Promise((done) => setTimeout(done, 150));
      const buttons = await page.$$(`#${id} .save`);
      await buttons[['CSV', 'SVG', 'PNG'].indexOf(kind)].click();
      await at.until(() => readdirSync(folder).includes(
          `${id}.${kind.toLowerCase()}`), `${id} as ${kind}`);
    }
  };
  await open('/studies/example');
  for (const id of ['importance', 'rates', 'frontier', 'best', 'pareto']) {
    await save(id);
  }
  await open('/studies/example/analysis');
  for (const id of ['marginals', 'pairs', 'stability', 'parallel', 'patterns']) {
    await save(id);
  }
  for (const name of readdirSync(folder)) {
    const bytes = readFileSync(join(folder, name));
    assert.ok(bytes.length > 300, name);
    if (name.endsWith('.png')) {
      assert.equal(bytes.toString('latin1', 1, 4), 'PNG');
      assert.ok(bytes.readUInt32BE(16) >= 600, `${name} is narrow`);
    }
    if (!name.endsWith('.svg')) continue;
    const svg = bytes.toString();
    assert.ok(!/class=|style=|NaN/.test(svg), name);
    assert.equal(await page.evaluate((source) => new DOMParser().parseFromString(
        source, 'image/svg+xml').querySelector('parsererror'), svg), null, name);
  }
  assert.match(readFileSync(join(folder, 'rates.svg'), 'utf8'), />layer\.5</);
});

test('26 modules and 144 heads can be read', async () => {
  for (const [id, count] of [['modules', 25], ['heads', 144]]) {
    await open(`/studies/${id}/analysis`);
    const names = new Set((await rowsOf('marginals')).map((row) => row[0]));
    assert.equal(names.size, count);
    assert.ok(await page.$$eval('#parallel .tick.name', (all) => all.length) >= count);
    for (const width of [390, 1400]) {
      await page.setViewport({width, height: 900});
      await page.waitForFunction(() =>
        document.documentElement.scrollWidth <= innerWidth, {timeout: 5000});
    }
  }
});

test('what training did to each module is said, as the command line says it', async () => {
  const {trials} = await at.get('StudyService/ListTrials', {parent: 'studies/left',
    view: 'TRIAL_VIEW_FULL'});
  const one = trials.find(({rates}) => rates.some(({rate}) => !rate));
  const number = one.number ?? 0;
  await open(`/studies/left/trials/${number}`);
  const printed = flat(at.run('trial', 'show', 'left', String(number)));
  const rows = await page.$$eval('#audit tbody tr', (all) => all.map((row) =>
    [...row.children].map((cell) => cell.innerText.trim()).join(' ')));
  assert.equal(rows.length, one.rates.length);
  for (const row of rows) assert.ok(printed.includes(flat(row)), row);
  const frozen = one.rates.filter(({rate}) => !rate).length;
  const trained = rows.length - frozen;
  assert.equal(await text('#audit .says'), `All of ${trained} trained module${
    trained === 1 ? '' : 's'} moved; of ${frozen} frozen one${frozen === 1 ? '' : 's'} no bit changed.`);
});

test('a failed trial says why, what helps, and shows its attempts and log',
    async () => {
  const {trials} = await at.get('StudyService/ListTrials', {parent: 'studies/inert',
    filter: 'state = FAILED', view: 'TRIAL_VIEW_FULL'});
  const number = trials[0].number ?? 0;
  await open(`/studies/inert/trials/${number}`);
  const shown = await text('main');
  assert.ok(shown.replace(/\s+/g, ' ').includes(
      trials[0].cause.slice(0, 60).replace(/\s+/g, ' ').trim()));
  assert.match(shown, /failed/);
  await page.waitForSelector('#log pre');
  assert.ok((await text('#log pre')).length > 1000);
});

test('several hundred hostile texts are text, wherever they stand', async () => {
  assert.ok(hostile.length > 250);
  const inert = async () => {
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.deepEqual(await page.$$eval('main :is(script, img, iframe, object, ' +
      'embed, link, meta, base, math, template, style)', (all) =>
      all.map((one) => one.outerHTML)), []);
    assert.deepEqual(await page.$$eval('main a', (all) => all.map((one) =>
      one.getAttribute('href')).filter((one) => !one.startsWith('#/'))), []);
    assert.deepEqual(await page.$$eval('main *', (all) => all.flatMap((one) =>
      [...one.attributes].filter(({name}) => name.startsWith('on'))
        .map(({name}) => name))), []);
  };
  // Thirty at a time through notes and labels of a study and of a trial.
  for (let k = 0; k < hostile.length; k += 30) {
    const some = hostile.slice(k, k + 30);
    const labels = Object.fromEntries(some.slice(0, 12).map((one, i) =>
      [`k${i}`, one.slice(0, 60)]));
    await at.post('UpdateStudy', {name: 'studies/right', update_mask:
      'notes,labels', settings: {notes: some.join('\n'), labels}});
    await at.post('UpdateTrial', {name: 'studies/right/trials/1',
      update_mask: 'note,labels', note: some.join('\n').slice(0, 4000), labels});
    await open('/studies/right');
    const said = (await page.$eval('main', (one) => one.textContent));
    for (const one of some) assert.ok(said.includes(one.trim()), one);
    await inert();
    await open('/studies/right/trials/1');
    await inert();
  }
  // As causes and lines of logs, which a trainer wrote.
  for (const path of ['/studies/inert', '/studies/inert/work',
    '/studies/inert/trials', ...Array.from({length: 3}, (_, k) =>
      `/studies/inert/trials/${k}`)]) {
    await open(path);
    await inert();
  }
  // In the address, as a selection and as names.
  for (let k = 0; k < hostile.length; k += 20) {
    const some = hostile.slice(k, k + 20);
    const only = some.map((one) => `${encodeURIComponent(one)}:${
      encodeURIComponent(one)}`).join(';');
    const all = encodeURIComponent(some.join(' ').slice(0, 900));
    await page.goto('about:blank');
    await page.goto(`${at.url}#/studies/example/trials?only=${
      encodeURIComponent(only)}&score=${all}&module=${all}&state=${all}`);
    await page.waitForSelector('.chip');
    await inert();
    await page.goto(`${at.url}#/compare/${all}/${all}`);
    await page.waitForSelector('h1');
    await inert();
  }
});

const VIEWS = ['/', '/studies/example', '/studies/example/analysis',
  '/studies/demo/plan', '/studies/example/trials', '/studies/left/work',
  '/compare/left/right', '/studies/inert', '/studies/inert/trials/0',
  '/studies/two', '/workers'];

for (const [scheme, width] of [['light', 1400], ['dark', 1400], ['light', 390]]) {
  test(`axe has nothing to say, and all fits, ${scheme} at ${width} px`,
      async () => {
    await page.setViewport({width, height: 900});
    await page.emulateMediaFeatures(
        [{name: 'prefers-color-scheme', value: scheme}]);
    for (const path of VIEWS) {
      await open(path);
      assert.deepEqual(await axeFinds(page), [], path);
      assert.ok(await page.evaluate(() =>
        document.documentElement.scrollWidth <= window.innerWidth), path);
    }
    await page.setViewport({width: 1400, height: 900});
  });
}

test('a second engine, Alfa, has nothing to say either', async () => {
  for (const path of VIEWS) {
    await open(path);
    assert.deepEqual(await alfaFinds(page), [], path);
  }
});

test('at 200 % nothing is cut off', async () => {
  // Twice the size leaves half of the width.
  await page.setViewport({width: 700, height: 450, deviceScaleFactor: 2});
  for (const path of VIEWS) {
    await open(path);
    assert.ok(await page.evaluate(() =>
      document.documentElement.scrollWidth <= window.innerWidth), path);
  }
  await page.setViewport({width: 1400, height: 900});
});

test('forced colours reach the charts', async () => {
  const client = await page.createCDPSession();
  await client.send('Emulation.setEmulatedMedia',
      {features: [{name: 'forced-colors', value: 'active'}]});
  await open('/studies/example/analysis');
  const [ground, words, lines] = await page.evaluate(() => {
    const probe = document.createElement('span');
    probe.style.color = 'CanvasText';
    document.body.append(probe);
    const system = getComputedStyle(probe).color;
    return [system, getComputedStyle(document.querySelector('#marginals .name')).fill,
      getComputedStyle(document.querySelector('#marginals .whisker')).stroke];
  });
  assert.equal(words, ground);
  assert.equal(lines, ground);
  await client.send('Emulation.setEmulatedMedia', {features: []});
  await client.detach();
});

test('every chart is spoken of: a heading, a sentence, and what it shows',
    async () => {
  for (const [path, ids] of [['/studies/example', ['frontier', 'importance',
    'best', 'pareto', 'rates']], ['/studies/example/analysis', ['stability',
    'pairs', 'marginals', 'parallel', 'patterns']], ['/studies/left/work',
    ['timeline', 'curves']], ['/compare/left/right', ['shares']],
    ['/workers?over=week', ['fleet', 'gpus']]]) {
    await open(path);
    const tree = await page.accessibility.snapshot({interestingOnly: false});
    const spoken = [];
    const walk = (node) => {
      spoken.push([node.role, node.name ?? '']);
      (node.children ?? []).forEach(walk);
    };
    walk(tree);
    for (const id of ids) {
      const title = await text(`#${id} h2`);
      assert.ok(spoken.some(([role, name]) => role === 'heading' &&
        name === title), title);
      assert.ok(spoken.some(([role, name]) => role === 'button' &&
        name === `Save ${title} as CSV`), title);
      const name = await page.$eval(`#${id} .plot :is(svg[role=img], canvas)`,
          (one) => one.getAttribute('aria-label'));
      assert.ok(name.length > 15 && spoken.some(([, one]) => one === name), name);
      assert.ok((await text(`#${id} .says`)).length > 15);
      assert.ok((await text(`#${id} .note`)).length > 15);
    }
  }
});

test('the keyboard reaches everything that can be pressed, in every view',
    async () => {
  for (const path of VIEWS) {
    await open(path);
    const wanted = await page.$$eval('a[href], button, select, input, summary, ' +
      '[tabindex="0"]', (all) => all.filter((one) => one.checkVisibility()).length);
    const seen = new Set();
    await page.evaluate(() => {
      let k = 0;
      for (const one of document.querySelectorAll('*')) one.mark = ++k;
    });
    for (let k = 0; k < wanted + 5; ++k) {
      await page.keyboard.press('Tab');
      const [mark, ring] = await page.evaluate(() => {
        const one = document.activeElement;
        return [one === document.body ? 0 : one.mark,
          getComputedStyle(one).outlineStyle];
      });
      if (mark === 0) continue;
      seen.add(mark);
      assert.notEqual(ring, 'none', path);
    }
    assert.ok(seen.size >= wanted, `${path}: ${seen.size} of ${wanted}`);
  }
});

test('a browser without canvas sees every trial nevertheless', async () => {
  const bare = await at.browser.newPage();
  watch(bare);
  await bare.evaluateOnNewDocument(() => {
    HTMLCanvasElement.prototype.getContext = () => null;
  });
  await bare.setViewport({width: 1400, height: 900});
  await bare.goto(`${at.url}#/studies/example`);
  await bare.waitForSelector('#rates svg rect');
  assert.equal(await bare.$('#rates canvas'), null);
  assert.ok(await bare.$$eval('#rates .plot svg g', (all) => all.length) >= 200);
  await bare.$$eval('#rates .save', (all) => all[2].click());
  await bare.waitForFunction(() => /no canvas/.test(
      document.querySelector('#rates .trouble').innerText));
  await bare.close();
});

test('what the coordinator was too busy for is asked for again, of a finished study too',
    async () => {
  const other = await at.browser.newPage();
  await other.setRequestInterception(true);
  let refused = 0;
  other.on('request', (request) => {
    if (!request.url().includes('GetFrontier') || refused > 0) return request.continue();
    refused += 1;
    return request.respond({status: 429, contentType: 'application/json',
      body: JSON.stringify({code: 'resource_exhausted', message: 'too much at a time'})});
  });
  await other.goto(`${at.url}#/studies/example`);
  await other.waitForFunction(() => /too much at a time/.test(document.body.innerText));
  await other.waitForSelector('#frontier svg');
  assert.equal(refused, 1);
  await other.close();
});

test('it prints without buttons, and with all of each table', async () => {
  await open('/studies/example/analysis');
  await page.emulateMediaType('print');
  assert.ok(await page.evaluate(() => matchMedia('print').matches));
  assert.equal(await page.$$eval('.tools, .tabs, .selection details, .theme',
      (all) => all.filter((one) => one.checkVisibility()).length), 0);
  await page.emulateMediaType('screen');
});

test('empty, running and unknown studies say so', async () => {
  writeFileSync(join(at.folder, 'empty.yaml'), `id: empty
trainer: nobody
model: {layers: 2}
maximize: accuracy
budget: 5
space: {modules: {"layer.*": [0, 1e-3]}, default: {full: 1e-3}}
`);
  at.run('study', 'create', 'empty.yaml');
  for (const tab of ['', '/analysis', '/plan', '/trials', '/work']) {
    await open(`/studies/empty${tab}`);
    assert.match(await text('main'), /Not yet|No trial|nothing|no such/i, tab);
    assert.ok(!/NaN|undefined|Infinity/.test(await text('main')), tab);
  }
  await open('/studies/empty');
  const reason = (await at.get('StudyService/ExplainStudy',
      {name: 'studies/empty'})).reasons[0];
  assert.ok((await text('#health')).toLowerCase().includes(
      reason.sentence.toLowerCase()), reason.sentence);
  await page.goto('about:blank');
  await page.goto(`${at.url}#/studies/never/analysis`);
  await page.waitForSelector('[role=alert]');
});

test('a plan that was run stands beside what was predicted, as the command has it',
    async () => {
  at.run('plan', 'left', '--verify', '--seeds', '2');
  await at.until(async () => {
    const found = await at.get('ImportanceService/GetPlanVerification',
        {study: 'studies/left'});
    return Number(found.ended) === Number(found.total);
  });
  await open('/studies/left/plan');
  await page.waitForSelector('#verified');
  const printed = flat(at.run('plan', 'left', '--verify'));
  const rows = await page.$$eval('#verified tbody tr', (all) => all.map((row) =>
    [...row.children].map((one) => one.innerText.trim()).join(' ')));
  assert.ok(rows.length >= 2, `${rows} | ${printed}`);
  for (const row of rows) assert.ok(printed.includes(flat(row)), `${row} | ${printed}`);
});

test('of many studies some are drawn, and a name finds the others', async () => {
  const spec = {objectives: [ACCURACY], model: {layers: 2},
    space: {modules: [{select: 'layer.*', levels: {rates: [0, 1e-3]}}]}};
  for (let k = 0; k < 250; ++k) {
    await at.post('CreateStudy', {study_id: `many-${k}`, spec,
      settings: {budget: {trials: 1}}});
  }
  await open('/');
  await page.waitForFunction(() => /200 of \d+ shown/.test(document.body.innerText));
  assert.equal((await page.$$('.studies li')).length, 200);
  await open('/?find=many-249');
  await page.waitForFunction(() => document.querySelectorAll('.studies li').length === 1);
});

test('there was no error, and nothing but the coordinator was asked', () => {
  assert.deepEqual(complaints, []);
});
