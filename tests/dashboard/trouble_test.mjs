// SPDX-License-Identifier: Apache-2.0
//
// What goes wrong while a page is open: its study is deleted, its clock is wrong or
// is set, there are many studies. And that each control says what it does.
import assert from 'node:assert/strict';
import {writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath} from 'node:url';
import {Coordinator} from './coordinator.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const at = new Coordinator();
const complaints = [];
let page;

const open = async (path) => {
  await page.bringToFront();  // what another test left open may hide it
  await at.open(page, path);
};
const text = (selector) => page.$eval(selector, (one) => one.innerText);
const says = (what, where = 'body') => page.waitForFunction((pattern, selector) =>
  new RegExp(pattern).test(document.querySelector(selector)?.innerText ?? ''),
{timeout: 30000}, what, where);
const watched = async () => {
  const one = await at.browser.newPage();
  await one.setViewport({width: 1400, height: 900});
  one.on('pageerror', (error) => complaints.push(String(error)));
  return one;
};

const study = (id, trainer, budget = 4) => {
  writeFileSync(join(at.folder, `${id}.yaml`), `id: ${id}
trainer: ${trainer}
model: {layers: 4}
maximize: accuracy
sampler: random
budget: ${budget}
space: {modules: {embeddings: [0, 1e-4], "layer.*": [0, 1e-4, 1e-3]}, default: {full: 1e-3}}
`);
  at.run('study', 'create', `${id}.yaml`);
};
const stateOf = async (id) =>
  (await at.get('StudyService/GetStudy', {name: `studies/${id}`})).state;

before(async () => {
  await at.start();
  // A trainer that never comes to an end, until it is told to.
  writeFileSync(join(at.folder, 'slow.mjs'), `
import {createInterface} from 'node:readline';
for await (const line of createInterface({input: process.stdin})) {
  if (['exit', 'stop'].includes(JSON.parse(line).type)) process.exit(0);
}`);
  study('done', 'quick');
  study('runs', 'slow');
  at.work({}, '--id', 'quick', '--label', 'trainer=quick', '--run-dir',
          join(at.folder, 'quick'), '--exec', `node ${join(HERE, 'trainer.mjs')}`);
  at.work({}, '--id', 'slow', '--label', 'trainer=slow', '--run-dir',
          join(at.folder, 'slow'), '--exec', `node ${join(at.folder, 'slow.mjs')}`);
  await at.until(async () => await stateOf('done') === 'STUDY_STATE_COMPLETED');
  await at.until(async () => Number((await at.get('StudyService/GetStudy',
      {name: 'studies/runs'})).counts?.running ?? 0) > 0);
  page = await watched();
});

after(() => at.stop());

for (const tab of ['', '/analysis', '/plan', '/trials', '/work', '/trials/0']) {
  test(`a study that is deleted while its view${tab} is open is said to be gone`,
      async () => {
    study('gone', 'nobody');
    await at.post('ImportTrials', {name: 'studies/gone', trials: [0, 1e-4].map(
        (rate) => ({state: 'TRIAL_STATE_SUCCEEDED', metrics: {accuracy: 0.5 + rate},
          parameters: {embeddings: rate, 'layer.0': 0, 'layer.1': rate, 'layer.2': 1e-3,
            'layer.3': 1e-3}}))});
    await open(`/studies/gone${tab}`);
    at.run('study', 'delete', 'gone', '--yes');
    await page.waitForFunction(() => /no (such )?study|there is no|deleted/i.test(
        document.querySelector('.problem')?.innerText ?? ''), {timeout: 30000});
    assert.ok(!/undefined|NaN/.test(await text('body')));
    assert.match(await text('.problem'), /FL-2001/);
    // What comes under the same name is another one: nothing of the first is shown.
    study('gone', 'nobody', 7);
    if (tab === '') {
      await says('0/7 done', '.progress');
      await says('No trial|Not yet');
      assert.equal(await page.$('.problem'), null);
    }
    at.run('study', 'delete', 'gone', '--yes');
  });
}

for (const hours of [24, -24, 24 * 4000]) {
  test(`a clock that is wrong by ${hours} hours changes no time that is shown`,
      async () => {
    const other = await watched();
    await other.evaluateOnNewDocument((off) => {
      const Real = Date;
      window.Date = class extends Real {
        constructor(...given) {
          super(...given.length > 0 ? given : [Real.now() + off]);
        }
        static now() { return Real.now() + off; }
      };
    }, hours * 3600e3);
    await other.goto(`${at.url}#/studies/runs/trials`);
    await other.waitForSelector('#trials .state.running');
    const took = await other.$eval('#trials tbody tr', (row) =>
      row.children[4].innerText);
    // It began when this test did.
    assert.match(took, /^[\d.]+ s$|^\d+m\d+s$/, took);
    await other.goto(`${at.url}#/studies/runs/work`);
    await other.waitForSelector('#timeline svg');
    assert.ok(!/\d{3,}h|\d+d|NaN/.test(await other.$eval('#timeline', (one) =>
      one.innerText)));
    await other.close();
  });
}

test('a clock that is set back by a day while the page is open stops nothing',
    async () => {
  study('ticks', 'nobody', 9);
  const other = await watched();
  await other.evaluateOnNewDocument(() => {
    const real = Date.now;
    window.clockOff = 0;
    Date.now = () => real() + window.clockOff;
  });
  const add = (count) => at.post('ImportTrials', {name: 'studies/ticks', trials:
    Array.from({length: count}, (_, k) => ({state: 'TRIAL_STATE_SUCCEEDED',
      metrics: {accuracy: k / 40}, parameters: {embeddings: k % 2 * 1e-4, 'layer.0': 0,
        'layer.1': k % 3 ? 1e-4 : 0, 'layer.2': 1e-3, 'layer.3': k % 5 ? 1e-3 : 0}}))});
  await add(12);
  await other.goto(`${at.url}#/studies/ticks/work`);
  await other.waitForSelector('#timeline');
  await other.goto(`${at.url}#/studies/ticks`);
  await other.waitForSelector('#rates');
  await other.evaluate(() => { window.clockOff = -86400e3; });
  const computed = other.waitForRequest((request) =>
    request.url().includes('GetReport'), {timeout: 60000});
  await add(8);
  // By changes, and by what is computed at the most every fifteen seconds.
  await other.waitForFunction(() => /20 trials with a result/.test(
      document.querySelector('#rates .says').innerText), {timeout: 30000});
  await computed;
  await other.close();
});

const VIEWS = ['/', '/studies/example', '/studies/example/analysis?only=layer.5:0.001&score=0.5..0.95&module=layer.3',
  '/studies/demo/plan', '/studies/example/trials?state=SUCCEEDED', '/studies/done/work',
  '/compare/example/demo', '/studies/done/trials/0', '/studies/runs/trials/0',
  '/workers?over=day', '/studies/runs'];

test('each control of each view says what it does, to eyes and to ears', async () => {
  const kinds = new Set();
  for (const path of VIEWS) {
    await open(path);
    await page.$$eval('details', (all) => all.forEach((one) => { one.open = true; }));
    const controls = await page.$$('button, select, input, summary, textarea, ' +
        '[role=application], [role=slider], [role=switch], [contenteditable]');
    assert.ok(controls.length >= 1, path);
    for (const one of controls) {
      if (!await one.evaluate((at) => at.checkVisibility() && !at.disabled)) continue;
      const [name, help] = await one.evaluate((at) => [
        `${at.localName} ${at.innerText || at.getAttribute('aria-label') || at.name}`
            .slice(0, 60),
        (at.getAttribute('aria-describedby') ?? '').split(' ').map((id) =>
          document.getElementById(id)?.textContent ?? '').join(' ').trim()]);
      assert.ok(help.length >= 20 && help.endsWith('.'), `${path}: ${name}: “${help}”`);
      kinds.add(help);
      // By the keyboard: Tab, as a person would, from the one before it.
      await one.evaluate((at) => at.scrollIntoView({block: 'center'}));
      await page.evaluate(() => document.activeElement?.blur());
      await page.keyboard.press('Shift');
      await one.focus();
      const tip = await page.$eval('.tip', (at) => [at.innerText, at.checkVisibility(),
        at.getBoundingClientRect().right <= innerWidth &&
        at.getBoundingClientRect().bottom <= innerHeight]).catch(() => ['', false, false]);
      assert.deepEqual(tip, [help, true, true], `${path}: ${name}`);
      const {description} = (await page.accessibility.snapshot({root: one,
        interestingOnly: false})) ?? {};
      assert.equal(description, help, `${path}: ${name}`);
    }
  }
  assert.ok(kinds.size >= 25, `${kinds.size} different sentences`);
});

test('help goes by Escape, and comes by the mouse after a moment', async () => {
  await open('/studies/example');
  await page.keyboard.press('Tab');
  await page.focus('.theme select');
  await page.waitForSelector('.tip');
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => !document.querySelector('.tip'));
  await page.evaluate(() => document.activeElement.blur());
  await page.hover('#frontier .tools button:nth-child(2)');
  await page.waitForFunction(() => /as a table/.test(
      document.querySelector('.tip')?.innerText ?? ''));
  await page.hover('h1');
  await page.waitForFunction(() => !document.querySelector('.tip'));
});

// 10,000 are made and listed by `./dev bench page`.
test('of more studies than one answer holds all are found', async () => {
  const spec = {objectives: [{metric: 'accuracy', direction: 'DIRECTION_MAXIMIZE'}],
    model: {layers: 2}, space: {modules: [{select: 'layer.*',
      levels: {rates: [0, 1e-3]}}]}};
  let next = 0;
  const some = async () => {
    while (next < 1200) {
      await at.post('CreateStudy', {study_id: `many-${next++}`, spec,
        settings: {budget: {trials: 1}}});
    }
  };
  await Promise.all(Array.from({length: 16}, some));
  await page.goto('about:blank');
  await page.goto(at.url);
  await page.waitForFunction(() => /200 of 1,?2\d\d shown/.test(
      document.body.innerText), {timeout: 60000});
  assert.equal((await page.$$('.studies li')).length, 200);
  await page.type('input[type=search]', 'many-1199');
  await page.waitForFunction(() =>
    document.querySelectorAll('.studies li').length === 1, {timeout: 30000});
  await page.click('.studies a');
  await says('^many-1199$', 'h1');
});

test('nothing of all that was an error of the page', () => {
  assert.deepEqual(complaints, []);
});
