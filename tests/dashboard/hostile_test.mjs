// SPDX-License-Identifier: Apache-2.0
//
// 5,000 hostile texts in every field that a coordinator may answer with. The page
// and its policy are those of a real coordinator, and so are the answers; but on
// their way to the page each text in them is exchanged for a hostile one. A real
// coordinator refuses many of these, so it is the page alone that is tried here.
import assert from 'node:assert/strict';
import {mkdirSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {Coordinator} from './coordinator.mjs';
import {manyHostile} from './hostile.mjs';

const WANTED = 5000;
const at = new Coordinator();
const complaints = [];
const texts = manyHostile(WANTED);
const seen = new Set();  // what stood on the page, letter by letter
let next = 0;
let page;

// A text that the page reads rather than shows: a state, a time, a number, bytes.
const isForm = (text) => text === '' || /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/.test(text) ||
    /^-?[\d.]+(e[+-]?\d+)?s?$/.test(text) || /^\d{4}-\d\d-\d\dT/.test(text);
const FORM_FIELDS = new Set(['codes', 'present', 'nextPageToken', 'tail', 'revision']);
// Of a table's columns the page reads the first part of the name.
const COLUMN = /^(rates|parameters|metrics|labels|usage)\./;
const KEPT_COLUMNS = new Set(['number', 'state', 'origin', 'attempt', 'create_time',
  'start_time', 'end_time']);

// What has one name keeps one name within a page: a chart looks a module up by it.
class Exchange {
  names = new Map();

  taken = [];

  take() {
    // What has stood nowhere yet goes first.
    for (let k = 0; k < texts.length && seen.has(texts[next % texts.length]); ++k) ++next;
    this.taken.push(texts[next++ % texts.length]);
    return this.taken[this.taken.length - 1];
  }

  name(text) {
    if (!this.names.has(text)) this.names.set(text, this.take());
    return this.names.get(text);
  }

  text(field, value) {
    if (FORM_FIELDS.has(field) || isForm(value)) return value;
    if (field === 'name' && /^(values|rates|parameters|metrics|labels|usage)[.[]/
        .test(value) || KEPT_COLUMNS.has(value)) {
      const [start] = COLUMN.exec(value) ?? [value];
      return start === value || start === 'usage.' ? value :
        start + this.name(value.slice(start.length));
    }
    // What people, trainers and the coordinator write is new each time.
    return /^(cause|note|notes|sentence|fix|verdict|reason|stateReason|finding)$/
        .test(field) ? this.take() : this.name(value);
  }

  any(field, value, of = '') {
    if (typeof value === 'string') return this.text(field, value);
    if (Array.isArray(value)) {
      return value.map((one) => this.any(field, one, of));
    }
    if (value === null || typeof value !== 'object') return value;
    const isMap = ['labels', 'metrics'].includes(field) && of !== 'list';
    return Object.fromEntries(Object.entries(value).map(([key, one]) =>
      [isMap ? this.name(key) : key, this.any(key, one)]));
  }

  // A column with a text of its own in each row.
  column(name, rows) {
    const bytes = Buffer.alloc(2 * rows);
    for (let k = 0; k < rows; ++k) bytes.writeUInt16LE(k, 2 * k);
    return {name, codes: {codes: bytes.toString('base64'),
      entries: Array.from({length: rows}, () => this.take())}};
  }

  answer(verb, body) {
    const rows = Number(body.table?.rows ?? 0);
    if (rows > 256) {
      const own = ['cause', 'worker'];
      const others = body.table.columns.filter(({name}) => !own.includes(name));
      return {table: {...body.table, columns: [...this.any('columns', others),
        ...own.map((name) => this.column(name, rows))]}};
    }
    if (verb.endsWith('GetTrialLog')) {
      body.tail = Buffer.from(Array.from({length: 1200}, () => this.take()).join('\n'))
          .toString('base64');
    }
    return this.any('', body);
  }
}

let exchange = new Exchange();

const inert = async (path) => {
  const found = await page.evaluate(() => {
    // Beside the page's own script.
    const all = [...document.querySelectorAll('body *')].filter((one) =>
      !/^page\.\w+\.js$/.test(one.getAttribute('src') ?? ''));
    const addresses = ['href', 'src', 'xlink:href', 'action', 'formaction', 'srcdoc',
      'data', 'poster', 'ping', 'background'];
    return {
      hacked: window.hacked,
      elements: all.filter((one) => /^(script|img|image|iframe|object|embed|link|meta|base|math|template|style|foreignobject|animate|set|audio|video|applet|frame)$/i
          .test(one.localName)).map((one) => one.outerHTML.slice(0, 200)),
      handlers: all.flatMap((one) => [...one.attributes].filter(({name}) =>
        name.startsWith('on')).map(({name}) => name)),
      addresses: all.flatMap((one) => addresses.map((name) => one.getAttribute(name))
          .filter((to) => to !== null && !to.startsWith('#'))),
      names: all.map((one) => one.localName).filter((name) => !/^[a-z][a-z0-9]*$/i.test(name)),
      wide: document.documentElement.scrollWidth > innerWidth ?
        all.filter((one) => one.getBoundingClientRect().right > innerWidth + 1 &&
          !one.closest('.scroll, svg')).map((one) => one.outerHTML.slice(0, 120)) : [],
      // Each text by itself, as most are drawn, and those that stand in sentences.
      nodes: [...new Set(all.flatMap((one) => [...one.childNodes]
          .filter((node) => node.nodeType === 3).map(({data}) => data)))],
      text: document.body.textContent.slice(0, 4e6)};
  });
  assert.equal(found.hacked, undefined, path);
  for (const kind of ['elements', 'handlers', 'addresses', 'names', 'wide']) {
    assert.deepEqual(found[kind], [], `${path}: ${kind}`);
  }
  const nodes = new Set(found.nodes);
  for (const one of exchange.taken) {
    if (nodes.has(one) || found.text.includes(one)) seen.add(one);
  }
};

before(async () => {
  await at.start();
  const {spec} = await at.get('StudyService/GetStudy', {name: 'studies/example'});
  // One with many trials, most of which failed.
  await at.post('CreateStudy', {study_id: 'many', spec, settings:
    {budget: {trials: 10}, notes: 'why it was made', labels: {team: 'lab'}}});
  const {trials} = await at.get('StudyService/ListTrials',
      {parent: 'studies/example', page_size: 1000});
  const parameters = trials.map((one) => Object.fromEntries(
      one.parameters.map(({name, value}) => [name, value])));
  await at.post('ImportTrials', {name: 'studies/many', trials: Array.from(
      {length: 900}, (_, n) => ({state: n % 9 ? 'TRIAL_STATE_FAILED' :
        'TRIAL_STATE_SUCCEEDED', parameters: parameters[n % parameters.length],
      labels: {seen: `by ${n}`}, metrics: n % 9 ? undefined : {accuracy: n / 900}}))});
  page = await at.browser.newPage();
  await page.setViewport({width: 1400, height: 900});
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('dialog', (dialog) => complaints.push(`dialog ${dialog.message()}`));
  page.on('console', (said) => {
    if (said.type() === 'error' && !/status of 4(0\d|12|29)/.test(said.text())) {
      complaints.push(said.text());
    }
  });
  await page.setRequestInterception(true);
  const answer = async (request) => {
    const verb = /frostline\.v1\.(\w+\/\w+)\?message=(.*)$/.exec(request.url());
    if (!request.url().startsWith(at.url) && !/^(data|about|blob):/.test(request.url())) {
      complaints.push(`asked for ${request.url()}`);
    }
    if (!verb) return request.continue();
    // Asked for under the real names, whatever the page calls it by now.
    const own = exchange;
    const back = new Map([...own.names].map(([real, text]) => [text, real]));
    const real = JSON.stringify(JSON.parse(decodeURIComponent(verb[2])),
        (_, one) => back.get(one) ?? one);
    const address = `${at.url}frostline.v1.${verb[1]}?message=${encodeURIComponent(real)}`;
    const ask = async () => {
      // As browsers do where a connection that was kept has just been closed.
      const told = await fetch(address).catch(() => fetch(address));
      if (told.status !== 429) return told;
      await new Promise((wake) => setTimeout(wake, 200));  // too busy to compute it now
      return ask();
    };
    const told = await ask();
    const body = await told.json();
    return request.respond({status: told.status, contentType: 'application/json',
      body: JSON.stringify(told.ok ? own.answer(verb[1], body) :
        {...body, message: own.take(), details: [{debug: {id: own.take(),
          fix: own.take()}}]})});
  };
  // What nobody could answer the page hears, and complains of if it still wants it.
  page.on('request', (request) => answer(request).catch(() =>
    request.abort().catch(() => {})));
});

after(async () => {
  await page.close();
  await at.stop();
});

const VIEWS = ['/', '/workers?over=day', '/studies/many/trials?rows=900', '/studies/many',
  ...['', '/analysis', '/analysis?pair=layer.3%20layer.5', '/plan', '/trials', '/work',
    '/trials/3'].map((tab) => `/studies/example${tab}`), '/studies/demo/work',
  ...[3, 4, 5].map((at) => `/studies/demo/trials/${at}`), '/compare/example/demo', '/studies/never/plan'];

test('in every field of every view 5,000 hostile texts are text, and nothing else',
    async () => {
  for (const path of VIEWS) {
    await page.goto('about:blank');
    exchange = new Exchange();  // the names of the view that is gone are forgotten
    await page.goto(`${at.url}#${path}`);
    await page.waitForFunction(() => document.querySelector('h1, .problem') &&
      ![...document.querySelectorAll('[role=status]')].some((one) =>
        /^(Asking for|Computing) /.test(one.textContent)), {timeout: 60000, polling: 200}).catch(async () => assert.fail(`${path}: ${
      (await page.evaluate(() => document.body.innerText)).slice(0, 2000)}`));
    await inert(path);
    // The figures behind the charts, too.
    await page.$$eval('.tools button:nth-child(2)', (all) =>
      all.forEach((one) => one.click()));
    await inert(`${path}, figures`);
  }
  assert.ok(next >= WANTED, `${next} were used`);
  const never = texts.filter((one) => !seen.has(one));
  console.log(`record: texts=${texts.length - never.length} views=${VIEWS.length} ` +
    `violations=${complaints.length}`);
  assert.deepEqual(never.slice(0, 5), [], `${never.length} never stood on a page`);
  assert.deepEqual(complaints, []);
});

test('a chart of hostile names is saved as a drawing and as figures that can be read',
    async () => {
  const client = await page.createCDPSession();
  for (let round = 0; round < 4; ++round) {
    const folder = join(at.folder, `saved${round}`);
    mkdirSync(folder);
    await client.send('Browser.setDownloadBehavior',
        {behavior: 'allow', downloadPath: folder});
    await page.goto('about:blank');
    exchange = new Exchange();  // the names of the view that is gone are forgotten
    await page.goto(`${at.url}#/studies/example`);
    await page.waitForSelector('#importance svg');
    for (const kind of ['csv', 'svg']) {
      await page.$eval(`#importance .save:nth-child(${kind === 'csv' ? 3 : 4})`,
          (one) => one.click());
      const wanted = `importance.${kind}`;
      await at.until(() => readdirSync(folder).includes(wanted), wanted);
      const saved = readFileSync(join(folder, wanted), 'utf8');
      if (kind === 'svg') {
        assert.equal(await page.evaluate((source) => new DOMParser().parseFromString(
            source, 'image/svg+xml').querySelector('parsererror')?.textContent ?? null,
        saved), null);
        continue;
      }
      const cells = saved.replace(/"(?:[^"]|"")*"/g, (one) => one.slice(1, 2))
          .split(/[,\n]/);
      assert.deepEqual(cells.filter((one) => /^[=+@\t\r]/.test(one)), []);
    }
  }
  assert.deepEqual(complaints, []);
});
