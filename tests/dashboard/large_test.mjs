// SPDX-License-Identifier: Apache-2.0
//
// The page on a study of 5,000 trials to which two workers add more all the time:
// no view is ever empty without a word, every figure is the one that the command line
// prints, and what the browser holds does not grow. FROSTLINE_PAGE_SECONDS says for how
// long that is looked at (20); 600 is what docs/measured/page.md reports.
import assert from 'node:assert/strict';
import {dirname, join} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {Coordinator, flat, rowsIn} from './coordinator.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const SECONDS = Number(process.env.FROSTLINE_PAGE_SECONDS ?? 20);
const COUNT = 5000;
const LEVELS = [0, 2e-6, 2e-5, 2e-4];
const NAME = 'studies/large';
const at = new Coordinator();
const complaints = [];
let page;

const text = (selector) => page.$eval(selector, (one) => one.innerText);
const rowsOf = (id) => rowsIn(page, id);
const counts = async () => (await at.get('StudyService/GetStudy', {name: NAME})).counts;

const fill = async () => {
  const {modules} = await at.post('CreateStudy', {study_id: 'large',
    spec: {model: {layers: 12}, seed: 3, sampler: {name: 'random'},
      objectives: [{metric: 'accuracy', direction: 'DIRECTION_MAXIMIZE'}],
      space: {modules: ['embeddings', 'layer.*', 'head'].map((select) =>
        ({select, levels: {rates: LEVELS}}))}},
    settings: {budget: {trials: 1000000},
      required_worker_labels: {trainer: 'large'}}});
  const names = modules.map((one) => one.parameter).filter(Boolean);
  assert.equal(names.length, 14);
  let state = 11;
  const random = () => (state = (state * 1103515245 + 12345) % 2147483648) /
      2147483648;
  for (let k = 0; k < COUNT; k += 1000) {
    await at.post('ImportTrials', {name: NAME, trials: Array.from({length: 1000}, () => {
      const parameters = Object.fromEntries(names.map((name) =>
        [name, LEVELS[Math.floor(random() * 4)]]));
      const score = names.reduce((sum, name, place) => sum +
          (parameters[name] > 0 ? place / 100 : 0), 0.2) + random() / 20;
      return {state: 'TRIAL_STATE_SUCCEEDED', parameters, metrics: {accuracy: score},
        usage: {train_seconds: 1 + random(), total_seconds: 3,
          trained_parameters: Math.round(1e6 * (1 + random()))}};
    })});
  }
};

before(async () => {
  await at.start();
  await fill();
  for (const id of ['one', 'two']) {
    at.work({DELAY: '400'}, '--id', id, '--label', 'trainer=large', '--run-dir',
        join(at.folder, id), '--exec', `node ${join(HERE, 'trainer.mjs')}`);
  }
  await at.until(async () => Number((await counts()).succeeded) > COUNT);
  page = await at.browser.newPage();
  await page.setViewport({width: 1400, height: 900});
  page.on('console', (said) => {
    // 429: too busy, asked again; 404: no plan of it was run.
    if (['error', 'warn'].includes(said.type()) &&
        !/status of (429|404)/.test(said.text())) complaints.push(said.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(at.url) && !/^(data|about|blob):/.test(
        request.url())) complaints.push(`asked for ${request.url()}`);
  });
  // Looks after each change of the document whether a card has nothing in it.
  await page.evaluateOnNewDocument(() => {
    window.empties = [];
    new MutationObserver(() => {
      for (const one of document.querySelectorAll('main, .card')) {
        if (one.innerText.trim() === '' && !one.querySelector('svg, canvas')) {
          window.empties.push(`${one.tagName} ${one.id || one.className}`);
        }
      }
    }).observe(document, {childList: true, subtree: true});
  });
});

after(() => at.stop());

for (const view of ['', '/analysis', '/plan', '/trials', '/work', '/trials/4999']) {
  test(`the view${view} says at once what it waits for, and then is there`, async () => {
    await page.goto('about:blank');
    const begun = performance.now();
    await page.goto(`${at.url}#/${NAME}${view}`);
    await page.waitForFunction(() => document.querySelector('main')?.innerText.trim());
    const first = performance.now() - begun;
    await page.waitForFunction(() => document.querySelector('h1') &&
      !/Asking for|Computing/.test(document.body.innerText), {timeout: 120000});
    console.log(`large${view}: a word after ${first.toFixed(0)} ms, all after ${
      (performance.now() - begun).toFixed(0)} ms`);
    assert.deepEqual(await page.evaluate(() => window.empties), []);
    assert.ok(!/NaN|undefined|Infinity/.test(await text('main')));
  });
}

test('new trials come while the page is open, and where it draws fewer it says so',
    async () => {
  await at.open(page, `/${NAME}`);
  const shown = async () => Number(/([\d,]+)\/1,000,000 done, 5,000 outside/.exec(
      await text('main'))[1].replace(/,/g, ''));
  const before = await shown();
  await at.until(async () => await shown() > before, 'trials to come');
  assert.match(await text('#rates'), /\d+ of 5\d\d\d shown/);
});

test('what the browser holds does not grow with the time that a page is open',
    async () => {
  await at.open(page, `/${NAME}`);
  const client = await page.createCDPSession();
  await client.send('Performance.enable');
  const held = async () => {
    await client.send('HeapProfiler.collectGarbage');
    const {metrics} = await client.send('Performance.getMetrics');
    const of = (name) => metrics.find((one) => one.name === name).value;
    return {heap: of('JSHeapUsedSize') / 1e6, nodes: of('Nodes'),
      listeners: of('JSEventListeners'), trials: Number((await counts()).succeeded)};
  };
  const wait = (part) => new Promise((done) => setTimeout(done, SECONDS * 1000 * part));
  await wait(0.4);
  const first = await held();
  await wait(0.6);
  const last = await held();
  console.log(`held: ${JSON.stringify(first)} ${JSON.stringify(last)}`);
  assert.ok(last.trials > first.trials);
  // A trial takes some kB, and a chart some nodes more where it has room for them.
  assert.ok(last.heap < first.heap + 3 + 0.01 * (last.trials - first.trials),
      JSON.stringify([first, last]));
  assert.ok(last.nodes < first.nodes * 1.1 + 200, JSON.stringify([first, last]));
  assert.ok(last.listeners < first.listeners * 1.1 + 50, JSON.stringify([first, last]));
});

test('every figure is the one that the command line prints', async () => {
  at.run('study', 'pause', 'large');
  await at.until(async () => Number((await counts()).running ?? 0) === 0, 'rest');
  await at.open(page, `/${NAME}`);
  const printed = flat(at.run('importance', 'large'));
  const rows = await rowsOf('importance');
  assert.equal(rows.length, 14);
  for (const row of rows) assert.ok(printed.includes(flat(row.join(' '))), row.join(' '));
  const table = flat(at.run('plan', 'large', '--frontier'));
  for (const [trained, predicted, within] of await rowsOf('frontier')) {
    assert.ok(table.includes(flat(`${trained} ${predicted} ${within}`)), trained);
  }
  await at.open(page, `/${NAME}/analysis`);
  const stability = at.run('importance', 'large', '--stability');
  for (const [trials, agreement, ranking] of await rowsOf('stability')) {
    assert.ok(flat(stability).includes(`${trials} ${agreement} ${ranking}`), ranking);
  }
  // Each point has its interval, as the file of the command line has it.
  const csv = at.run('importance', 'large', '--stability', '--format', 'csv')
      .trim().split('\n').map((line) => line.split(','));
  const [head, ...lines] = csv;
  const column = (name) => head.indexOf(name);
  assert.ok(lines.every((line) => Number(line[column('main_hi80')]) >
    Number(line[column('main_lo80')])), csv[1].join(','));
  await page.$$eval('#stability .tools button', (all) => all[0].click());
  await page.waitForSelector('#stability .area');
  assert.match(await text('#stability .note'), /, with their 80 % intervals\./);
});

test('there was no error, and nothing but the coordinator was asked', () => {
  assert.deepEqual(complaints, []);
});
