// SPDX-License-Identifier: Apache-2.0
//
// A coordinator of a test's own, with the finished example, and Chromium; and
// what tests read off a page.
import assert from 'node:assert/strict';
import {execFileSync, spawn} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';

const BIN = process.env.FROSTLINE_BIN_DIR;
export const require = createRequire(join(process.env.BROWSER_MODULES, 'x.js'));

const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

// What axe finds in the page, by rule, with some of the places.
export const axeFinds = async (page) => {
  await page.evaluate(axe);
  const {violations} = await page.evaluate(() => window.axe.run());
  return violations.map(({id, nodes}) => [id, nodes.slice(0, 3).map((one) => one.html)]);
};

// The rows of a card's data tab, by cell.
export const rowsIn = async (page, id) => {
  await page.$$eval(`#${id} .tools button`, (all) => all[1]?.click());
  await page.waitForSelector(`#${id} .data`);
  return page.$$eval(`#${id} > .scroll tbody tr`, (rows) => rows.map((row) =>
    [...row.children].map((one) => one.innerText.trim())));
};

// What Alfa finds in the page, by rule: [["sia-r3", "<pattern …"], …]. It judges a
// copy of the document by code of its own, so that it shares no mistake with axe.
// Not asked is what WCAG has at level AAA only: targets of 44 px (r111), a contrast
// of 7:1 (r66), how paragraphs are set (r71 to r74).
const NOT_ASKED = ['sia-r66', 'sia-r71', 'sia-r72', 'sia-r73', 'sia-r74', 'sia-r111'];

export const alfaFinds = async (page) => {
  const load = (name) => import(pathToFileURL(require.resolve(
      `@siteimprove/alfa-${name}`)));
  const [{Audit}, {Device}, dom, {Request, Response}, {default: rules}, {Page}, own] =
      await Promise.all(['act', 'device', 'dom', 'http', 'rules', 'web', 'dom/native']
          .map(load));
  const device = Device.standard();
  const document = await (await page.evaluateHandle(() => window.document))
      .evaluate(own.Native.fromNode);
  const asked = rules.reject((rule) => NOT_ASKED.includes(rule.uri.split('/').pop()));
  const outcomes = await Audit.of(Page.of(Request.empty(), Response.empty(),
      dom.Node.from(document, device), device), asked).evaluate();
  return [...outcomes].map((one) => one.toJSON())
      .filter(({outcome}) => outcome === 'failed')
      .map(({rule, target, expectations}) => [rule.uri.split('/').pop(),
        `${target.name ?? target.data ?? ''} ${(target.attributes ?? []).map((one) =>
          `${one.name}=${one.value}`).join(' ')}`.slice(0, 200),
        expectations.map(([, said]) => said.error?.message).join('; ')]);
};

// The figures of a text table as words, without its bars.
export const flat = (text) => text.replace(/[█░▏▎▍▌▋▊▉*]/g, ' ')
    .replace(/\s+/g, ' ').trim();

const listening = async (child) => {
  let said = '';
  for await (const piece of child.stdout) {
    said += piece;
    const found = /page on (\S+)\n/.exec(said);
    if (found) return [/listening on (\S+)/.exec(said)[1], found[1]];
  }
  throw new Error(`the coordinator did not start: ${said}`);
};

const stopped = async (child) => {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  await ended;
};

export class Coordinator {
  folder = mkdtempSync(join(tmpdir(), 'frostline-views-'));
  children = [];
  address = '';
  url = '';

  async start() {
    execFileSync(join(BIN, 'frostline'), ['demo', '--synthetic', '--trials', '8',
      '--example', '--dir', 'demo'], {cwd: this.folder, stdio: 'ignore'});
    await this.serve();
    const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser',
      '/usr/bin/google-chrome'].find(existsSync);
    assert.ok(chromium, 'no Chromium: run ./dev setup browser');
    this.browser = await require('puppeteer-core').launch({executablePath: chromium,
      args: ['--no-sandbox', '--disable-dev-shm-usage']});
  }

  // Where it was before, if it was.
  async serve(...more) {
    this.server = spawn(join(BIN, 'frostline-coordinator'), ['--data',
      join(this.folder, 'demo'), '--listen', this.address || '127.0.0.1:0',
      '--http-listen', this.url ? new URL(this.url).host : '127.0.0.1:0',
      '--allow-ui-writes', ...more], {stdio: ['ignore', 'pipe', 'ignore']});
    [this.address, this.url] = await listening(this.server);
  }

  async stopServing() { await stopped(this.server); }

  async open(page, path) {
    await page.goto('about:blank');
    await page.goto(`${this.url}#${path}`);
    await page.waitForFunction(() => document.querySelector('h1') &&
      !/Asking for|Computing/.test(document.body.innerText), {timeout: 30000});
  }

  async stop() {
    await this.browser?.close();
    for (const child of this.children.reverse()) await stopped(child);
    await this.stopServing();
    rmSync(this.folder, {recursive: true, force: true});
  }

  run(...args) {
    return execFileSync(join(BIN, 'frostline'), args, {encoding: 'utf8',
      cwd: this.folder, env: {...process.env, FROSTLINE_CONNECT: this.address}});
  }

  work(env, ...args) {
    const child = spawn(join(BIN, 'frostline-worker'), ['--connect', this.address,
      ...args], {cwd: this.folder, stdio: 'ignore', env: {...process.env, ...env}});
    this.children.push(child);
  }

  async post(verb, request) {
    const answer = await fetch(`${this.url}frostline.v1.StudyService/${verb}`, {
      method: 'POST', headers: {'Content-Type': 'application/json'},
      body: JSON.stringify({request_id: crypto.randomUUID(), ...request})});
    const body = await answer.json();
    assert.equal(answer.status, 200, JSON.stringify(body));
    return body;
  }

  async get(verb, message) {
    return (await fetch(`${this.url}frostline.v1.${verb}?message=${
      encodeURIComponent(JSON.stringify(message))}`)).json();
  }

  // Until it is so. What has not come after a minute never comes.
  async until(what, name = String(what)) {
    for (let k = 0; !await what(); ++k) {
      assert.ok(k < 1200, `waited in vain for ${name}`);
      await new Promise((done) => setTimeout(done, 50));
    }
  }
}
