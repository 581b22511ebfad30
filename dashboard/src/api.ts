// SPDX-License-Identifier: Apache-2.0
//
// Calls of the coordinator: the messages of frostline.v1 in Protobuf's JSON, of
// which only the fields are named that the page shows.
import {useEffect, useRef, useState} from 'preact/hooks';
import {num} from './format';

// Integers of 64 bits and NaN come as texts; zeros not at all.
export type Num = number | string | undefined | null;

export interface Interval {
  value?: Num; lo80?: Num; hi80?: Num; lo95?: Num; hi95?: Num;
}
export interface Warning { code?: string; sentence?: string }
export interface Counts {
  queued?: Num; running?: Num; succeeded?: Num; pruned?: Num; infeasible?: Num;
  failed?: Num; cancelled?: Num; budgetUsed?: Num;
}
export interface Objective { metric: string; direction?: string }
export interface Study {
  name: string;
  spec?: {
    model?: {id?: string; layers?: Num}; data?: {id?: string};
    space?: {modules?: {levels?: {rates?: Num[]}; fixed?: Num;
      logUniform?: {lo?: Num; hi?: Num}}[]};
    objectives?: Objective[]; sampler?: {name?: string}; seed?: Num;
  };
  settings?: {
    budget?: {trials?: Num}; notes?: string; labels?: Record<string, string>;
  };
  state?: string; stateReason?: string; revision?: Num; createTime?: string;
  updateTime?: string; counts?: Counts; bestTrials?: string[];
  resolvedSampler?: string; owner?: string; warnings?: string[];
  usage?: StudyUsage;
}
export interface ModuleRate { module: string; rate?: Num; rank?: Num }
export interface Attempt {
  number?: Num; state?: string; worker?: string; startTime?: string;
  endTime?: string; failure?: string; cause?: string;
}
// What training did to a module; lengths are shares of that of its weights.
export interface ModuleAudit {
  module: string; rate?: Num; moved?: Num; couldMove?: Num; hadGradient?: boolean;
  weightBytes?: Num; gradientBytes?: Num; momentBytes?: Num; activationBytes?: Num;
}
export interface Trial {
  name: string; number?: Num; state?: string; origin?: string;
  parameters?: {name: string; value?: unknown}[];
  rates?: ModuleRate[]; metrics?: Record<string, Num>; values?: Num[];
  attempt?: Num; worker?: string; lastStep?: Num; createTime?: string;
  startTime?: string; endTime?: string; failure?: string; cause?: string;
  labels?: Record<string, string>; note?: string; seed?: Num;
  attempts?: Attempt[];
  usage?: {
    trainSeconds?: Num; totalSeconds?: Num; trainedParameters?: Num;
    peakMemoryBytes?: Num; device?: string; precision?: string; steps?: Num;
    software?: string; prefixHits?: Num; prefixMisses?: Num; prefixBytes?: Num;
    audit?: ModuleAudit[];
  };
  progress?: {
    phase?: string; step?: Num; totalSteps?: Num; epoch?: Num;
    totalEpochs?: Num; remaining?: string;
  };
}
export interface Parameter {
  parameter: string; main?: Interval; total?: Interval; rank?: Num;
  direction?: Num; directionProbability?: Num; distinguishable?: boolean;
  top3Probability?: Num;
}
export interface Options {
  evaluator?: string; target?: string; seed?: Num; targetDirection?: string;
}
export interface Report {
  revision?: Num; provisional?: boolean; trialsUsed?: Num;
  trialsLeftOut?: Num; options?: Options; parameters?: Parameter[];
  pairs?: Pair[];
  outOfBagR2?: Num; stability?: {state?: string; sentence?: string; moreTrials?: Num};
  warnings?: Warning[]; verdict?: string; noiseShare?: Num; totalPairs?: Num;
}
export interface FrontierSet {
  trained?: string[]; prefixFrozen?: Num; trainedParameters?: Num;
  seconds?: Num; predicted?: Interval; withinToleranceProbability?: Num;
  trials?: Num;
}
export interface Frontier {
  revision?: Num; provisional?: boolean; options?: Options; tolerance?: Num;
  best?: Interval; byModules?: FrontierSet[]; byPrefix?: FrontierSet[];
  chosen?: Num; verdict?: string; warnings?: Warning[];
}
export interface Module {
  module: string; rate?: Num; rank?: Num; freeze?: boolean;
  costOfFreezing?: Interval;
  reason?: string; advice?: string; freezeProbability?: Num;
}
export interface Plan {
  modules?: Module[]; predictedScore?: Interval; bestSeenScore?: Interval;
  oneRun?: Interval; bestSeenTrial?: string; bestSeenValue?: Num;
  trainedParametersSaved?: Num; trainedParametersKnown?: boolean;
  secondsSavedShare?: Num; verify?: string[]; warnings?: Warning[];
  options?: Options; tolerance?: Num; verdict?: string; provisional?: boolean;
  atLeastBestProbability?: Num; nearestTrial?: string; differsIn?: Num;
  inTool?: {text?: string};
}
export interface Reasons {
  reasons?: {code?: string; sentence?: string; fix?: string}[];
}
export interface Worker {
  name: string; slots?: Num; state?: string; stateReason?: string;
  labels?: Record<string, string>; version?: string; lastSeenTime?: string;
  trials?: string[]; failuresInARow?: Num; registerTime?: string;
  hardware?: {
    host?: string; cpu?: string; cpuCores?: Num; memoryBytes?: Num;
    gpus?: {model?: string; memoryBytes?: Num; uuid?: string}[];
  };
  // Of each GPU a byte for each step, in per cent.
  history?: {startTime?: string; step?: string; gpus?: {uuid?: string; busy?: string}[]};
  load?: {
    cpuShare?: Num; gpus?: {utilization?: Num; memoryUsedBytes?: Num;
      memoryTotalBytes?: Num}[];
  };
}
export interface Log {
  attempt?: Num; tail?: string; live?: boolean; state?: string;
  place?: {host?: string; path?: string};
}
export interface Measurement {
  step?: Num; metrics?: Record<string, Num>; elapsedS?: Num;
}

export interface SecondsRange { least?: Num; most?: Num }
export interface StudyUsage {
  trials?: Num; totalSeconds?: Num; trainSeconds?: Num; prefixHits?: Num;
  prefixMisses?: Num; prefixBytes?: Num; withoutSharing?: SecondsRange;
  withoutFreezing?: SecondsRange;
}
export interface Pair {
  first: string; second: string; share?: Interval; substitutesProbability?: Num;
}
export interface Marginals {
  marginals?: {parameter: string; best?: unknown;
    points?: {value?: unknown; expected?: Interval; trials?: Num}[]}[];
  provisional?: boolean; options?: Options;
}
export interface PairTable {
  first: string; second: string; firstValues?: unknown[];
  secondValues?: unknown[]; expected?: Num[]; trials?: Num[];
  provisional?: boolean; options?: Options;
}
export interface Stability {
  verdict?: {sentence?: string; halfTau?: Interval; state?: string;
    moreTrials?: Num};
  points?: {trials?: Num; tauToFinal?: Num; parameters?: Parameter[]}[];
  provisional?: boolean; options?: Options;
}
export interface StudyComparison {
  rankAgreement?: Interval; sharedParameters?: string[]; sentence?: string;
  shifts?: {parameter: string; firstShare?: Interval; secondShare?: Interval;
    distinguishable?: boolean}[];
  onlyFirst?: string[]; onlySecond?: string[]; provisional?: boolean;
  options?: Options;
}
export interface TrialComparison {
  metric?: string; direction?: string; examples?: Num; verdict?: string;
  notes?: string[]; seedDeviation?: Num;
  contenders?: {name?: string; mean?: Num; runs?: unknown[]}[];
  tests?: {first?: string; second?: string; method?: string; pairs?: Num;
    difference?: Num; lo95?: Num; hi95?: Num; p?: Num; adjustedP?: Num;
    differs?: boolean; finding?: string; smallestDifference?: Num}[];
}
export interface Verification {
  batch?: string; target?: string; ended?: Num; total?: Num; verdict?: string;
  rivals?: {name?: string; predicted?: Interval; oneRun?: Interval;
    seen?: Interval; difference?: Interval; runs?: unknown[]; seedNoise?: Num;
    rowNoise?: Num; exceedsSeeds?: boolean; exceedsRows?: boolean;
    adjustedP?: Num}[];
}

export class CallError extends Error {
  constructor(readonly code: string, message: string, readonly id: string,
              readonly fix: string) {
    super(message);
  }
}

const AWAY = new CallError(
    'unavailable', 'the coordinator does not answer', '',
    'see whether `frostline serve` still runs; this page goes on by itself');

// Said when the coordinator no longer knows who calls: the token has expired.
export const NOBODY = 'frostline-nobody';

// Less than this is the way that an answer takes, and its seconds without parts.
const CLOCKS_AGREE = 3000;
let clockOff = 0;  // ms by which this machine's clock is behind the coordinator's

const noteClock = (answer: Response) => {
  const off = Date.parse(answer.headers.get('Date') ?? '') - Date.now();
  if (Number.isFinite(off)) clockOff = Math.abs(off) < CLOCKS_AGREE ? 0 : off;
};

// What time it is for the coordinator, in ms. How long something took here is
// never measured by a clock that somebody may set, but by performance.now().
export const coordinatorTime = (): number => Date.now() + clockOff;

const answerOf = async <T>(answer: Response): Promise<T> => {
  const body = await answer.json().catch(() => { throw AWAY; });
  if (answer.ok) return body as T;
  if (answer.status === 401) window.dispatchEvent(new Event(NOBODY));
  const debug = body.details?.[0]?.debug ?? {};
  throw new CallError(String(body.code), String(body.message),
                      String(debug.id ?? ''), String(debug.fix ?? ''));
};

// What reads goes by GET, and the browser has the last answer beside its ETag.
export const call = async <T>(method: string, request: object): Promise<T> => {
  const query = encodeURIComponent(JSON.stringify(request));
  const answer = await fetch(`./frostline.v1.${method}?message=${query}`, {
    headers: {Accept: 'application/json'}, cache: 'no-cache',
  }).catch(() => { throw AWAY; });
  noteClock(answer);
  return answerOf<T>(answer);
};

const requestId = (): string => Array.from(crypto.getRandomValues(
    new Uint8Array(16)), (one) => one.toString(16).padStart(2, '0')).join('');

// What changes something shows what the page was told, which no other site can
// read. It is asked for each time: a login or a restart makes another one.
export const change = async <T>(method: string, request: object): Promise<T> => {
  const send = async () => {
    const session = await fetch('./session', {cache: 'no-store'});
    const {csrf} = await session.json() as {csrf: string};
    return fetch(`./frostline.v1.${method}`, {
      method: 'POST',
      headers: {'Content-Type': 'application/json', 'X-Frostline-Session': csrf},
      body: JSON.stringify({request_id: requestId(), ...request}),
    });
  };
  return answerOf<T>(await send().catch(() => { throw AWAY; }));
};

export const allPages = async <T>(
    method: string, request: object, field: string): Promise<T[]> => {
  const all: T[] = [];
  let token = '';
  do {
    const page = await call<Record<string, unknown>>(
        method, {...request, page_size: 1000, page_token: token});
    all.push(...(page[field] as T[] | undefined ?? []));
    token = String(page['nextPageToken'] ?? '');
  } while (token !== '');
  return all;
};

// A table by columns, as GetTrialTable answers.
interface Column {
  name: string; present?: string; numbers?: {values?: Num[]};
  integers?: {values?: Num[]}; codes?: {entries?: unknown[]; codes?: string};
}
interface TablePage {
  table?: {revision?: Num; rows?: Num; columns?: Column[]};
  nextPageToken?: string;
}
interface Delta {
  revision?: Num; study?: Study; trials?: Trial[]; more?: boolean;
}

export const bytesOf = (base64: string): Uint8Array => {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; ++k) bytes[k] = text.charCodeAt(k);
  return bytes;
};

// The column's cells; undefined where a row has no value.
export const cellsOf = (column: Column, rows: number): unknown[] => {
  let at: (row: number) => unknown;
  if (column.codes) {
    const {entries = [], codes = ''} = column.codes;
    const raw = bytesOf(codes);
    const wide = entries.length <= 256 ? 1 : entries.length <= 65536 ? 2 : 4;
    at = wide === 1 ? (row) => entries[raw[row] ?? 0] : (row) => {
      let code = 0;
      for (let k = wide; k-- > 0;) code = code * 256 + (raw[row * wide + k] ?? 0);
      return entries[code];
    };
  } else {
    const values = (column.numbers ?? column.integers)?.values ?? [];
    at = (row) => values[row];
  }
  const present = column.present ? bytesOf(column.present) : undefined;
  return Array.from({length: rows}, (_, row) => present !== undefined &&
    ((present[row >> 3] ?? 0) >> (row & 7) & 1) === 0 ? undefined : at(row));
};

const timeOf = (micros: unknown): string | undefined =>
  micros === undefined ? undefined : new Date(Number(micros) / 1000).toISOString();

// What of a table the page shows, as the trials that a list would have.
export const trialsIn = (study: string, page: TablePage): Trial[] => {
  const rows = num(page.table?.rows);
  const cells = new Map((page.table?.columns ?? []).map(
      (column) => [column.name, cellsOf(column, rows)]));
  const starting = (prefix: string) => [...cells].filter(([name]) =>
    name.startsWith(prefix)).map(([name, column]) =>
    [name.slice(prefix.length), column] as const);
  const rates = starting('rates.');
  const values = starting('values[').map(([, column]) => column);
  const metrics = starting('metrics.');
  const parameters = starting('parameters.');
  const usage = starting('usage.').map(([name, column]) => [name.replace(
      /_(.)/g, (_, letter: string) => letter.toUpperCase()), column] as const);
  const labels = starting('labels.');
  const present = (columns: (readonly [string, unknown[]])[], row: number) =>
    Object.fromEntries(columns.filter(([, column]) => column[row] !== undefined)
        .map(([name, column]) => [name, column[row]]));
  return Array.from({length: rows}, (_, row) => {
    const cell = <T>(name: string) => cells.get(name)?.[row] as T | undefined;
    const trial: Record<string, unknown> = {
      name: `${study}/trials/${String(cell('number'))}`, number: cell('number'),
      state: `TRIAL_STATE_${String(cell('state'))}`,
      origin: `TRIAL_ORIGIN_${String(cell('origin'))}`,
      rates: rates.map(([module, column]) => ({module, rate: column[row]})),
      parameters: parameters.filter(([, column]) => column[row] !== undefined)
          .map(([name, column]) => ({name, value: column[row]})),
      values: values.map((column) => column[row]).filter(
          (one) => one !== undefined),
      metrics: present(metrics, row), usage: present(usage, row),
      labels: present(labels, row), attempt: cell('attempt'),
      worker: cell('worker'), cause: cell('cause'),
      createTime: timeOf(cell('create_time')),
      startTime: timeOf(cell('start_time')), endTime: timeOf(cell('end_time')),
    };
    return trial as unknown as Trial;
  });
};

// Trials by their newest attempt only: who ran them, and when. Each study's are
// asked for once, and then what has changed.
const ran = new Map<string, {revision: string; at: number; created: string;
  trials: Map<number, Trial>}>();

export const ranIn = async (study: Study): Promise<Trial[]> => {
  const created = study.createTime ?? '';
  const before = ran.get(study.name);
  const revision = String(study.revision ?? '');
  // A study that went back was restored from a backup.
  const known = before?.created === created && num(revision) >= before.at ? before :
    {revision: '', at: 0, created, trials: new Map<number, Trial>()};
  if (known.revision !== revision) {
    let token = '';
    let at = known.at;
    do {
      const page: TablePage = await call('StudyService/GetTrialTable', {
        parent: study.name, page_token: token, after_revision: known.at,
        columns: ['number', 'state', 'attempt', 'worker', 'start_time', 'end_time']});
      at = num(page.table?.revision);
      for (const one of trialsIn(study.name, page)) {
        known.trials.set(num(one.number), one);
      }
      token = page.nextPageToken ?? '';
    } while (token !== '');
    known.at = at;
    known.revision = revision;
    ran.set(study.name, known);
  }
  return [...known.trials.values()];
};

interface Known {
  revision: number; trials: Trial[]; created: string;
  at: number;    // when the table came, by performance.now()
  took: number;  // how long that took
}
const known = new Map<string, Known>();

const wholeTable = async (study: string, created: string): Promise<Known> => {
  const at = performance.now();
  let revision = 0;
  const trials: Trial[] = [];
  let token = '';
  do {
    const page: TablePage = await call('StudyService/GetTrialTable', {
      parent: study, page_token: token, columns: ['number', 'state', 'origin',
        'attempt', 'worker', 'create_time', 'start_time', 'end_time', 'cause',
        'values', 'parameters', 'rates', 'metrics', 'usage', 'labels']});
    revision = num(page.table?.revision);
    trials.push(...trialsIn(study, page));
    token = page.nextPageToken ?? '';
  } while (token !== '');
  return {revision, trials, created, at, took: performance.now() - at};
};

// So many changes are taken at a time: what a study of people's workers does in
// two seconds is far less.
const MOST_CHANGES = 50;
// Where a study changes faster, all of it is taken anew, but a page takes no
// more than a two hundredth of the coordinator's time with that.
const REST = 200;

// All trials of a study, by rising number. The whole table is asked for once,
// and from then on what has changed; a study that changes faster than that is
// shown some seconds late, until it rests (`isQuiet`). A study of the same name
// that was created at another time is another one.
const trialsOf = async (
    study: string, created: string, isQuiet: boolean): Promise<Trial[]> => {
  const before = known.get(study);
  let now = before !== undefined && before.created === created ? before :
    await wholeTable(study, created);
  let more = true;
  while (more) {
    const delta: Delta | undefined = await call<Delta>(
        'StudyService/GetStudyDelta', {name: study, after_revision: now.revision,
          max_trials: isQuiet ? 1000 : MOST_CHANGES, view: 'TRIAL_VIEW_FULL'}).catch((why) => {
      // Restored from a backup, say: what is known is of no use.
      if (why instanceof CallError && why.id === 'FL-2039') return undefined;
      throw why;
    });
    if (delta === undefined) {
      now = await wholeTable(study, created);
      continue;
    }
    more = delta.more === true;
    const changed = delta.trials ?? [];
    const trials = changed.length === 0 ? now.trials : now.trials.slice();
    for (const trial of changed) trials[num(trial.number)] = trial;
    now = {...now, revision: num(delta.revision), trials};
    if (!more || isQuiet) continue;
    more = false;
    if (performance.now() - now.at > REST * now.took) now = await wholeTable(study, created);
  }
  known.set(study, now);
  return now.trials;
};

// The object that was there, where the answer is the same: nothing is drawn anew.
const kept = <T>(before: Got<T> & {key?: string}, key: string, data: T) => {
  const isSame = before.key === key && before.error === undefined &&
    (before.data === data || JSON.stringify(before.data) === JSON.stringify(data));
  if (!isSame) return {key, data, since: Date.now()};
  before.since = Date.now();
  return before;
};

export interface Got<T> {
  data?: T;
  error?: CallError;
  since?: number;  // when the data came, in ms
}

// After so many ms is asked once more what a coordinator was too busy for.
const AGAIN = 3000;

// Asks again every `every` ms while the page is seen, and at once when `key`
// changes; 0 asks once, and again only where the coordinator was too busy or not
// there. What was there stays while it is asked anew, and when that fails.
export const usePolled = <T>(
    key: string, ask: () => Promise<T>, every: number): Got<T> => {
  const [got, setGot] = useState<Got<T> & {key?: string}>({});
  const asking = useRef(ask);
  asking.current = ask;
  useEffect(() => {
    let over = false;
    let timer = 0;
    const once = async () => {
      const begun = performance.now();
      let next = every;
      try {
        const data = await asking.current();
        if (!over) setGot((before) => kept(before, key, data));
      } catch (why) {
        if (over) return;
        const error = why instanceof CallError ? why :
          new CallError('internal', String(why), '', 'reload the page');
        setGot((before) => before.key === key ? {...before, error} :
                                                {key, error});
        if (next <= 0 && ['resource_exhausted', 'unavailable'].includes(error.code)) {
          next = AGAIN;
        }
      }
      if (over || next <= 0) return;
      // What takes long, as a list of 10,000 studies, is asked for less often.
      timer = window.setTimeout(once, Math.max(
          document.hidden ? 10 * next : next, 10 * (performance.now() - begun)));
    };
    const seen = () => {
      if (document.hidden || every <= 0) return;
      window.clearTimeout(timer);
      void once();
    };
    void once();
    document.addEventListener('visibilitychange', seen);
    return () => {
      over = true;
      window.clearTimeout(timer);
      document.removeEventListener('visibilitychange', seen);
    };
  }, [key, every]);
  return got.key === key ? got : {};
};

// The trials of a study while its page is open.
export const useTrials = (study: Study): Got<Trial[]> =>
  usePolled(`${study.name} trials ${study.createTime ?? ''}`, () =>
    trialsOf(study.name, study.createTime ?? '',
             study.state !== 'STUDY_STATE_ACTIVE'), 2000);
