// SPDX-License-Identifier: Apache-2.0
//
// Calls of the coordinator: the messages of frostline.v1 in Protobuf's JSON, of
// which only the fields are named that the page shows.
import {useEffect, useRef, useState} from 'preact/hooks';

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
  usage?: {trials?: Num; totalSeconds?: Num; trainSeconds?: Num};
}
export interface ModuleRate { module: string; rate?: Num }
export interface Attempt {
  number?: Num; state?: string; worker?: string; startTime?: string;
  endTime?: string; failure?: string; cause?: string;
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
    software?: string;
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
  pairs?: {
    first: string; second: string; share?: Interval;
    substitutesProbability?: Num;
  }[];
  outOfBagR2?: Num; stability?: {state?: string; sentence?: string};
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
  module: string; rate?: Num; freeze?: boolean; costOfFreezing?: Interval;
  reason?: string; advice?: string; freezeProbability?: Num;
}
export interface Plan {
  modules?: Module[]; predictedScore?: Interval; bestSeenScore?: Interval;
  oneRun?: Interval; bestSeenTrial?: string; bestSeenValue?: Num;
  trainedParametersSaved?: Num; trainedParametersKnown?: boolean;
  secondsSavedShare?: Num; verify?: string[]; warnings?: Warning[];
  options?: Options; tolerance?: Num; verdict?: string; provisional?: boolean;
  atLeastBestProbability?: Num; nearestTrial?: string; differsIn?: Num;
}
export interface Reasons {
  reasons?: {code?: string; sentence?: string; fix?: string}[];
}
export interface Worker {
  name: string; slots?: Num; state?: string; stateReason?: string;
  labels?: Record<string, string>; version?: string; lastSeenTime?: string;
  trials?: string[]; failuresInARow?: Num;
  hardware?: {
    host?: string; cpu?: string; cpuCores?: Num; memoryBytes?: Num;
    gpus?: {model?: string; memoryBytes?: Num}[];
  };
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

export class CallError extends Error {
  constructor(readonly code: string, message: string, readonly id: string,
              readonly fix: string) {
    super(message);
  }
}

const AWAY = new CallError(
    'unavailable', 'the coordinator does not answer', '',
    'see whether `frostline serve` still runs; this page goes on by itself');

// All calls of the page read, so they go by GET, and the browser has the last
// answer beside its ETag.
export const call = async <T>(method: string, request: object): Promise<T> => {
  const query = encodeURIComponent(JSON.stringify(request));
  const answer = await fetch(`./frostline.v1.${method}?message=${query}`, {
    headers: {Accept: 'application/json'}, cache: 'no-cache',
  }).catch(() => { throw AWAY; });
  const body = await answer.json().catch(() => { throw AWAY; });
  if (answer.ok) return body as T;
  const debug = body.details?.[0]?.debug ?? {};
  throw new CallError(String(body.code), String(body.message),
                      String(debug.id ?? ''), String(debug.fix ?? ''));
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

// The object that was there, where the answer is the same: nothing is drawn anew.
const kept = <T>(before: Got<T> & {key?: string}, key: string, data: T) => {
  const isSame = before.key === key && before.error === undefined &&
    JSON.stringify(before.data) === JSON.stringify(data);
  if (!isSame) return {key, data, since: Date.now()};
  before.since = Date.now();
  return before;
};

export interface Got<T> {
  data?: T;
  error?: CallError;
  since?: number;  // when the data came, in ms
}

// Asks again every `every` ms while the page is seen, and at once when `key`
// changes. What was there stays while it is asked anew, and when that fails.
export const usePolled = <T>(
    key: string, ask: () => Promise<T>, every: number): Got<T> => {
  const [got, setGot] = useState<Got<T> & {key?: string}>({});
  const asking = useRef(ask);
  asking.current = ask;
  useEffect(() => {
    let over = false;
    let timer = 0;
    const once = async () => {
      try {
        const data = await asking.current();
        if (!over) setGot((before) => kept(before, key, data));
      } catch (why) {
        if (over) return;
        const error = why instanceof CallError ? why :
          new CallError('internal', String(why), '', 'reload the page');
        setGot((before) => before.key === key ? {...before, error} :
                                                {key, error});
      }
      if (over || every <= 0) return;
      timer = window.setTimeout(once, document.hidden ? 10 * every : every);
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
