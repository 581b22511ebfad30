// SPDX-License-Identifier: Apache-2.0
//
// A trainer for the tests of the page: quick, and with all that a trial can
// bring: curves, outcomes of examples, rows that frozen layers shared. Where TEXTS
// names a file of texts it fails with these instead; DELAY is ms that a trial takes.
import {readFileSync} from 'node:fs';
import {createInterface} from 'node:readline';

const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const EXAMPLES = 256;

const fail = (trial, texts) => {
  const number = Number(trial.split('/').pop());
  const some = texts.filter((_, k) => k % 2 === number % 2);
  for (const text of texts) say({type: 'log', text});
  say({type: 'finish', state: 'failed', cause: some.join(' ').slice(0, 3000)});
};

for await (const line of createInterface({input: process.stdin})) {
  const message = JSON.parse(line);
  if (message.type === 'exit') break;
  if (message.type !== 'trial') continue;
  if (process.env.TEXTS) {
    fail(message.trial, JSON.parse(readFileSync(process.env.TEXTS, 'utf8')));
    continue;
  }
  const rates = Object.values(message.rates);
  const trained = rates.filter((one) => one > 0).length;
  const right = Math.round(EXAMPLES * (0.5 + 0.4 * trained / rates.length));
  const score = right / EXAMPLES;
  for (let step = 1; step <= 5; ++step) {
    say({type: 'report', step, metrics: {accuracy: score * step / 5,
      loss: Number(`1e-${step}`)}});
  }
  const bits = new Uint8Array(EXAMPLES / 8);
  for (let k = 0; k < right; ++k) {
    const at = (k * 7 + message.seed % 3) % EXAMPLES;
    bits[at >> 3] |= 1 << (at & 7);
  }
  if (process.env.DELAY) {
    await new Promise((done) => setTimeout(done, Number(process.env.DELAY)));
  }
  const shares = message.prefix_depth > 0;
  say({type: 'finish', state: 'succeeded', metrics: {accuracy: score},
    usage: {train_seconds: 0.5 + trained, total_seconds: 1 + trained,
      trained_parameters: 1000 * trained, flops_spent: 1e9 * trained,
      flops_shared: shares ? 5e8 : 0, prefix_hits: shares ? 900 : 0,
      prefix_misses: shares ? 100 : 0, prefix_bytes: shares ? 4096 : 0,
      device: 'cpu',
      audit: Object.entries(message.rates).map(([module, rate], k) => ({module, rate,
        weights: 1000 + k, moved: rate > 0 ? rate * (k + 1) / 3 : 0,
        could_move: rate > 0 ? rate * 20 : 0, had_gradient: rate > 0,
        weight_bytes: 4000 + 4 * k, gradient_bytes: rate > 0 ? 4000 + 4 * k : 0,
        moment_bytes: rate > 0 ? 8000 + 8 * k : 0, activation_bytes: 1 << 20}))},
    examples: {data_fingerprint: 'page-test', encoding: 'PACKED_BITS',
      count: EXAMPLES, data: Buffer.from(bits).toString('base64')}});
}
