// SPDX-License-Identifier: Apache-2.0
//
// The page's own code without a browser: its types, the texts of numbers against
// printf's, and scales.
import assert from 'node:assert/strict';
import {execFileSync, spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync, symlinkSync, cpSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath, pathToFileURL} from 'node:url';

const MODULES = process.env.PAGE_MODULES;
const DASHBOARD =
    join(dirname(fileURLToPath(import.meta.url)), '../../dashboard');
const require = createRequire(join(MODULES, 'x.js'));
let folder = '';
let format;
let scale;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'frostline-page-'));
  const load = async (name) => {
    const out = join(folder, `${name}.mjs`);
    require('esbuild').buildSync({entryPoints: [join(DASHBOARD, 'src',
      `${name}.ts`)], outfile: out, bundle: true, format: 'esm',
      nodePaths: [MODULES]});
    return import(pathToFileURL(out));
  };
  format = await load('format');
  scale = await load('scale');
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

test('modules are listed as the command line lists them', () => {
  assert.equal(format.moduleList([]), 'nothing');
  assert.equal(format.moduleList(['embeddings', 'layer.0', 'layer.2', 'layer.3',
    'layer.4', 'head']), 'embeddings, layer.0, layer.2-4, head');
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
