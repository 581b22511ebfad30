// SPDX-License-Identifier: Apache-2.0
import {useEffect, useRef, useState} from 'preact/hooks';
import {usePolled} from '../api';
import type {Got} from '../api';

// An open page may take a twentieth of a core, and a view has two to four answers
// that are computed: each is asked for again after so many times what it took.
const RESTS = 80;

// Asks when the study's revision has changed, and not more often than every
// `pace` ms, or than the answer is worth. What was there before stays until the
// new answer has come.
export function useAtRevision<T>(key: string, revision: string, pace: number,
    ask: () => Promise<T>): Got<T> {
  const asked = useRef({at: -Infinity, revision: ''});
  const [, wake] = useState(0);
  const isNew = asked.current.revision !== revision;
  const took = useRef(0);
  const rest = asked.current.at + Math.max(pace, pace && RESTS * took.current) -
      performance.now();
  if (isNew && rest <= 0) asked.current = {at: performance.now(), revision};
  // Nothing else may come that would draw this page again.
  useEffect(() => {
    if (!isNew || rest <= 0) return;
    const timer = window.setTimeout(() => wake((count) => count + 1), rest);
    return () => window.clearTimeout(timer);
  }, [revision, isNew, rest]);
  const kept = useRef<{key: string; data?: T}>({key});
  const got = usePolled(`${key} ${asked.current.revision}`, async () => {
    const begun = performance.now();
    const answer = await ask();
    took.current = performance.now() - begun;
    return answer;
  }, 0);
  if (kept.current.key !== key) kept.current = {key};
  if (got.data !== undefined) kept.current.data = got.data;
  if (got.data !== undefined || kept.current.data === undefined) return got;
  return {data: kept.current.data};
}
