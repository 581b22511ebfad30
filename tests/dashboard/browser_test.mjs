// SPDX-License-Identifier: Apache-2.0
//
// The page in Chromium, before a real coordinator with the finished example, a
// study that is to be minimised, and one with hostile texts. What it shows is
// held against what the command line prints of the same coordinator.
import assert from 'node:assert/strict';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {axeFinds, Coordinator, flat} from './coordinator.mjs';

const HOSTILE = '<img src=x onerror="window.hacked=1">' +
    '<script>window.hacked=1</script>"\'`${hacked}&lt;\u202e';
const at = new Coordinator();
let page;
const complaints = [];

const run = (...args) => at.run(...args);
const get = (verb, message) => at.get(verb, message);
const post = (verb, request) => at.post(verb, request);
const open = (path) => at.open(page, path);

// The example's trials in a study whose objective is to be small.
const copyExample = async (id, settings) => {
  const {spec} = await get('StudyService/GetStudy', {name: 'studies/example'});
  const {trials} = await get('StudyService/ListTrials',
      {parent: 'studies/example', page_size: 1000});
  spec.objectives = [{metric: 'error', direction: 'DIRECTION_MINIMIZE'}];
  await post('CreateStudy', {study_id: id, spec, settings});
  await post('ImportTrials', {name: `studies/${id}`, trials: trials.map((one) =>
    ({state: 'TRIAL_STATE_SUCCEEDED',
      parameters: Object.fromEntries(one.parameters.map(
          ({name, value}) => [name, value])),
      metrics: {error: 1 - one.values[0]}}))});
};

const text = (selector) => page.$eval(selector, (at) => at.innerText);
const rowsOf = async (id) => {
  await page.$$eval(`#${id} .tools button`, (all) => all[1]?.click());
  await page.waitForSelector(`#${id} .data`);
  return page.$$eval(`#${id} tbody tr`, (rows) => rows.map((row) =>
    [...row.children].map((one) => one.innerText.trim())));
};

before(async () => {
  await at.start();
  await copyExample('smaller', {budget: {trials: 10}});
  await copyExample('hostile', {budget: {trials: 10}, notes: HOSTILE,
    labels: {[HOSTILE.slice(0, 60)]: HOSTILE}});
  await post('UpdateTrial', {name: 'studies/hostile/trials/3',
    update_mask: 'note,labels', note: HOSTILE, labels: {mark: HOSTILE}});
  page = await at.browser.newPage();
  page.on('console', (said) => {
    if (['error', 'warn'].includes(said.type())) complaints.push(said.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('dialog', (dialog) => complaints.push(`dialog ${dialog.message()}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(at.url) && !/^(data|about|blob):/.test(
        request.url())) complaints.push(`asked for ${request.url()}`);
  });
});

after(() => at.stop());

test('the list has every study with its progress', async () => {
  await open('/');
  const cards = await page.$$eval('.studies li', (all) =>
    all.map((one) => one.innerText));
  assert.equal(cards.length, 4);
  const card = cards.find((one) => one.startsWith('example'));
  assert.match(card, /stopped/);
  assert.match(card, /0\/200 done, 200 outside the budget, 0 running/);
  assert.match(run('study', 'show', 'example'),
      /0\/200 done, 200 outside the budget, 0 running/);
});

for (const study of ['example', 'smaller']) {
  test(`the figures of ${study} are those that the command line prints`,
      async () => {
    await open(`/studies/${study}`);
    const printed = flat(run('importance', study));
    const frontier = await get('ImportanceService/GetFrontier',
        {study: `studies/${study}`});
    assert.equal((await text('.verdict')).toLowerCase(),
        `${frontier.verdict.toLowerCase()}.`);
    const rows = await rowsOf('importance');
    assert.equal(rows.length, 7);
    for (const row of rows) {
      assert.ok(printed.includes(flat(row.join(' '))), row.join(' '));
    }
    const table = flat(run('plan', study, '--frontier'));
    for (const row of await rowsOf('frontier')) {
      const [trained, predicted, within, , , , modules] = row;
      assert.ok(table.includes(flat(`${trained} ${predicted} ${within}`)),
          row.join(' | '));
      assert.ok(table.includes(modules), modules);
    }
    const best = JSON.parse(run('trial', 'list', study, '--best', '--limit',
        '1', '--json'));
    const number = String(best.trials?.[0]?.number ?? best[0]?.number);
    assert.ok((await text('#best .says')).includes(`of trial ${number},`),
        `${await text('#best .says')}: trial ${number}`);
    assert.match(await text('#best .note'),
        study === 'smaller' ? /lower is better/ : /higher is better/);
  });

  test(`the plan of ${study} is the one that the command line prints`,
      async () => {
    await open(`/studies/${study}/plan`);
    const printed = flat(run('plan', study));
    const rows = await page.$$eval('#plan tbody tr', (all) => all.map((row) =>
      [...row.children].map((one) => one.innerText.trim()).join(' ')));
    assert.equal(rows.length, 9);
    for (const row of rows) assert.ok(printed.includes(flat(row)), row);
    for (const fact of await page.$$eval('#plan dd', (all) =>
      all.map((one) => one.innerText))) {
      assert.ok(printed.includes(flat(fact)), fact);
    }
  });
}

test('trials are listed best first, as the command line lists them', async () => {
  await open('/studies/demo/trials');
  const shown = await page.$$eval('#trials tbody tr', (all) => all.map((row) =>
    [...row.children].map((one) => one.innerText.trim())));
  const printed = run('trial', 'list', 'demo', '--best', '--limit', '3')
    .split('\n').slice(1, 4).map((line) => line.trim().split(/\s+/));
  printed.forEach(([number, , score], k) => {
    assert.equal(shown[k][2], score);
    assert.ok(shown.some((row) => row[0] === number && row[2] === score));
  });
});

test('a trial shows its layers, its curve and how it ran', async () => {
  await open('/studies/demo/trials/3');
  const rates = await page.$$eval('#spec tbody tr', (all) => all.map((row) =>
    [...row.children].map((one) => one.innerText).join(' ')));
  const printed = flat(run('trial', 'show', 'demo', '3'));
  assert.equal(rates.length, 8);
  for (const rate of rates) assert.ok(printed.includes(rate), rate);
  assert.equal((await rowsOf('curve')).length, 20);
});

test('nothing that people or trainers write is taken for more than text',
    async () => {
  await open('/studies/hostile');
  assert.ok((await text('main')).includes('onerror="window.hacked=1"'));
  await open('/studies/hostile/trials/3');
  assert.ok((await text('main')).includes('<script>window.hacked=1</script>'));
  for (const path of [`/studies/${encodeURIComponent(HOSTILE)}`, `/${HOSTILE}`,
    `/studies/example/${encodeURIComponent(HOSTILE)}`, '/studies/%E0%A4%A/plan',
    `/studies/example/trials?state=${encodeURIComponent(HOSTILE)}`]) {
    await page.goto('about:blank');
    await page.goto(`${at.url}#${path}`);
    await page.waitForSelector('h1, [role=alert]');
  }
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.$('main img'), null);
  // That there is no such study is said on the console by the browser itself.
  const expected = complaints.filter((one) => /status of 40\d/.test(one));
  complaints.splice(0, complaints.length,
      ...complaints.filter((one) => !expected.includes(one)));
});

test('the keyboard alone reaches every trial', async () => {
  await open('/studies/example');
  await page.focus('#rates canvas');
  for (const key of ['Home', 'ArrowRight', 'ArrowDown', 'End']) {
    await page.keyboard.press(key);
  }
  await page.waitForFunction(() =>
    /^Trial \d+: accuracy/.test(document.querySelector('.reading').innerText));
  const read = await text('.reading');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelector('h1')?.innerText
    .startsWith('Trial '));
  assert.ok(read.startsWith(`${await text('h1')}:`), read);
});

test('what is drawn follows the width of the window', async () => {
  await open('/studies/example');
  for (const width of [390, 1400, 800]) {
    await page.setViewport({width, height: 900});
    await page.waitForFunction(() => {
      const canvas = document.querySelector('#rates canvas');
      const box = canvas?.getBoundingClientRect();
      return box && Math.abs(canvas.width - box.width) < 2 &&
          box.right <= innerWidth;
    }, {timeout: 5000});
  }
  await page.setViewport({width: 1400, height: 900});
});

test('the address holds what is shown', async () => {
  await open('/studies/example');
  await page.$$eval('#rates .choices button', (all) => all[1].click());
  await page.waitForFunction(() => location.hash.includes('order=number'));
  await page.reload();
  await page.waitForSelector('#rates .choices button');
  assert.equal(await page.$eval('#rates .choices button:nth-child(2)',
      (at) => at.getAttribute('aria-pressed')), 'true');
});

for (const [scheme, width] of [['light', 1400], ['dark', 1400], ['light', 390]]) {
  test(`axe has nothing to say, and all fits, ${scheme} at ${width} px`,
      async () => {
    await page.setViewport({width, height: 900});
    await page.emulateMediaFeatures(
        [{name: 'prefers-color-scheme', value: scheme}]);
    for (const path of ['/', '/studies/example', '/studies/demo/plan',
      '/studies/example/trials', '/studies/demo/trials/3', '/workers']) {
      await open(path);
      assert.deepEqual(await axeFinds(page), [], path);
      assert.ok(await page.evaluate(() =>
        document.documentElement.scrollWidth <= window.innerWidth), path);
    }
  });
}

test('there was no error, and nothing but the coordinator was asked', () => {
  assert.deepEqual(complaints, []);
});

test('a coordinator that is gone and comes back is said, and shown again',
    async () => {
  await open('/studies/example');
  await at.stopServing();
  await page.waitForFunction(() => /does not answer/.test(
    document.body.innerText), {timeout: 15000});
  assert.match(await text('h1'), /example/);
  await at.serve();
  await page.waitForFunction(() => !/does not answer/.test(
    document.querySelector('main').innerText), {timeout: 15000});
});

const press = async (label) => {
  await page.waitForFunction((name) => [...document.querySelectorAll('button')]
      .some((one) => one.innerText === name && !one.disabled), {}, label);
  await page.evaluate((name) => [...document.querySelectorAll('button')].find(
      (one) => one.innerText === name).click(), label);
};

test('what may be changed is changed by a press, and an end is asked for',
    async () => {
  await open('/studies/smaller');
  await press('Pause');
  await page.waitForFunction(() =>
    document.querySelector('.head .state').innerText === 'paused');
  assert.match(run('study', 'show', 'smaller'), /PAUSED/);
  await press('Resume');
  await page.waitForFunction(() =>
    document.querySelector('.head .state').innerText === 'active');
  await press('Stop');
  assert.match(run('study', 'show', 'smaller'), /ACTIVE/);
  await press('No');
  await open('/studies/smaller/trials/3');
  await press('Run it again');
  await page.waitForFunction(() =>
    /trial \d+ is queued/.test(document.querySelector('.controls').innerText));
  await page.click('details.controls summary');
  await press('Queue it');
  await page.waitForFunction(() => /trial \d+ is queued/.test(
      document.querySelector('details.controls').innerText));
  assert.equal(JSON.parse(run('trial', 'list', 'smaller', '--state', 'QUEUED',
                              '--json')).trials.length, 2);
  await open('/studies/smaller/plan');
  await press('Run it');
  await press('Yes, run it');
  await page.waitForFunction(() =>
    /\d+ trials are queued: plan, /.test(document.body.innerText));
  await open('/studies/smaller');
  await press('Stop');
  await press('Yes, stop');
  await page.waitForFunction(() =>
    document.querySelector('.head .state').innerText === 'stopped');
  assert.match(run('study', 'show', 'smaller'), /STOPPED/);
});

test('where tokens are required, the page asks for one and keeps it', async () => {
  const made = run('token', 'create', '--role', 'viewer', '--subject', 'ana');
  const token = /frost_\S+/.exec(made)[0];
  const root = /frost_\S+/.exec(run('token', 'create', '--role', 'admin',
      '--subject', 'root'))[0];
  const adminToken = () => {
    writeFileSync(join(at.folder, 'root.token'), `${root}\n`, {mode: 0o600});
    return join(at.folder, 'root.token');
  };
  await at.stopServing();
  await at.serve('--require-tokens');
  await page.goto('about:blank');
  await page.goto(at.url);
  await page.waitForSelector('input[name=token]');
  await page.type('input[name=token]', 'frost_wrong');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() =>
    document.querySelector('[role=alert]')?.innerText.length > 5);
  await page.$eval('input[name=token]', (at) => { at.value = ''; });
  await page.type('input[name=token]', token);
  await page.keyboard.press('Enter');
  await page.waitForSelector('.studies li');
  assert.ok(!(await page.evaluate(() => document.cookie)).includes('frost'));
  assert.ok(!page.url().includes('frost_'));
  // A viewer is shown nothing to press that changes a study.
  await open('/studies/hostile');
  await page.waitForSelector('.head .state');
  assert.equal(await page.$('.controls'), null);
  // The token ends while the page is open: it asks again, and then shows the
  // same place.
  const id = JSON.parse(run('token', 'list', '--json', '--token-file',
      adminToken())).tokens.find((one) => one.subject === 'ana').id;
  const again = /frost_\S+/.exec(run('token', 'create', '--role', 'viewer',
      '--subject', 'ben', '--token-file', adminToken()))[0];
  run('token', 'revoke', id, '--token-file', adminToken());
  await page.waitForSelector('input[name=token]', {timeout: 15000});
  await page.type('input[name=token]', again);
  await page.keyboard.press('Enter');
  await page.waitForFunction(() =>
    document.querySelector('h1')?.innerText === 'hostile');
});
