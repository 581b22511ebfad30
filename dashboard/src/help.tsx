// SPDX-License-Identifier: Apache-2.0
//
// What each control does, in a sentence. It is the control's description for a
// screen reader, and shown beside it while the keyboard or the mouse is on it.
// Escape takes it away.
import {useEffect, useState} from 'preact/hooks';

const HELP = {
  theme: 'Light, dark, or as this machine is set. Kept in this browser alone.',
  token: 'The text beginning with frost_ that an admin gave you. It is kept in a cookie that no script can read, for a week at most.',
  login: 'Sends the token to this coordinator and shows the same place again.',
  find: 'Keeps the studies whose name has this text in it.',
  unfind: 'Empties the field, so that all studies are shown again.',
  chart: 'Shows the drawing rather than its figures.',
  data: 'Shows the figures of this chart as a table.',
  csv: 'Saves the figures as a CSV file, all of them, whatever is drawn.',
  svg: 'Saves the drawing as SVG, with its colours and fonts in it.',
  png: 'Saves the drawing as PNG, at twice its size on the screen.',
  copy: 'Copies this command, to be pasted into a terminal.',
  chip: 'Takes this part of the selection away. The rest of it stays.',
  clear: 'Takes the whole selection away: every chart shows all trials again.',
  select: 'Opens the forms that select trials by value, by score or by module. Pressing cells in From score to layers does the same.',
  bring: 'This module stands out in every chart. No trial is left out by that.',
  axis: 'The module or setting by whose value trials are kept.',
  cell: 'Trials with this value are kept. Several values of one module count as any of them.',
  toggle: 'Adds the value to the selection, or takes it away where it is in it.',
  from: 'The lowest score that is kept. Left empty: no lower end.',
  to: 'The highest score that is kept. Left empty: no upper end.',
  keep: 'Keeps the trials between both scores, in all views of this study.',
  state: 'Lists the trials in this state alone.',
  order: 'Best first by the objective, or by number with the newest at the top.',
  allstates: 'Lists the trials of every state again.',
  more: 'Lists another hundred trials.',
  tool: 'Says the plan as settings or code of that tool, to be copied into it.',
  compared: 'The study to compare. Both need the same metric for that.',
  against: 'What a score is set against: seconds, trained parameters, modules, or another objective.',
  metric: 'Which of the reported metrics is drawn.',
  window: 'How far back from now the timeline goes.',
  along: 'What the results are lined up by: their numbers, the time on the clock, or seconds of training spent so far.',
  pair: 'Shows what every combination of values of these two modules is expected to score.',
  patterns: 'By how many trials froze the same modules, by their best score, or by their mean.',
  byscore: 'Puts the best trials at the right, so that what they share can be seen.',
  bynumber: 'Puts trials in the order in which they were proposed.',
  grid: 'Left and right choose a trial, up and down a module, Home and End the first and last; Enter opens the trial.',
  curves: 'The best trials, those that run now, or the last ones that were pruned.',
  smoothing: 'Each value counts so many percent of what the next one does; 0 shows what was measured.',
  act: 'Asks the coordinator to do it. What came of it is said beside the button; what ends something is asked once more before.',
  yes: 'Does it now. It cannot be undone.',
  no: 'Leaves everything as it is.',
  like: 'Opens a form with the values of this trial, to be changed and queued as a new one.',
  value: 'A number, or one of the choices. 0 is frozen.',
} as const;

export type HelpKey = keyof typeof HELP;

// Given to a control as its attributes.
export const helped = (key: HelpKey) => ({'aria-describedby': `help-${key}`});

const helpOf = (target: EventTarget | null): [Element, string] | undefined => {
  const at = target instanceof Element ?
    target.closest('[aria-describedby^="help-"]') : null;
  const key = at?.getAttribute('aria-describedby')?.slice('help-'.length);
  return at && key && Object.hasOwn(HELP, key) ? [at, HELP[key as HelpKey]] : undefined;
};

const WIDTH = 280;
const HOVER = 500;  // ms: who only passes sees nothing

interface Tip { text: string; left: number; top?: number; bottom?: number }

const beside = ([at, text]: [Element, string]): Tip => {
  const box = at.getBoundingClientRect();
  const left = Math.max(8, Math.min(box.left, innerWidth - WIDTH - 8));
  return box.bottom + 90 < innerHeight ? {text, left, top: box.bottom + 6} :
    {text, left, bottom: innerHeight - box.top + 6};
};

// All sentences, out of sight, and the one that is shown now.
export const Helps = () => {
  const [tip, setTip] = useState<Tip>();
  useEffect(() => {
    let timer = 0;
    const show = (found: [Element, string]) => setTip(beside(found));
    const hide = () => {
      window.clearTimeout(timer);
      setTip(undefined);
    };
    const focused = ({target}: FocusEvent) => {
      const found = helpOf(target);
      if (found?.[0].matches(':focus-visible')) show(found);
      else hide();
    };
    const over = ({target}: MouseEvent) => {
      // Whoever reads it may point at it.
      if (target instanceof Element && target.closest('.tip')) return;
      const found = helpOf(target);
      window.clearTimeout(timer);
      if (found) timer = window.setTimeout(() => show(found), HOVER);
      else if (!helpOf(document.activeElement)) setTip(undefined);
    };
    const key = (event: KeyboardEvent) => {
      if (event.key === 'Escape') hide();
    };
    // The keyboard moves the page to what it comes to: the help goes with it.
    const scrolled = () => setTip((before) => {
      const found = helpOf(document.activeElement);
      return before && found?.[0].matches(':focus-visible') ? beside(found) : undefined;
    });
    document.addEventListener('focusin', focused);
    document.addEventListener('focusout', hide);
    document.addEventListener('mouseover', over);
    document.addEventListener('keydown', key);
    window.addEventListener('scroll', scrolled, {passive: true});
    window.addEventListener('hashchange', hide);
    return () => {
      hide();
      document.removeEventListener('focusin', focused);
      document.removeEventListener('focusout', hide);
      document.removeEventListener('mouseover', over);
      document.removeEventListener('keydown', key);
      window.removeEventListener('scroll', scrolled);
      window.removeEventListener('hashchange', hide);
    };
  }, []);
  const px = (value: number | undefined) => value === undefined ? 'auto' : `${value}px`;
  return <>
    <div hidden>{Object.entries(HELP).map(([key, text]) =>
      <span id={`help-${key}`}>{text}</span>)}</div>
    {tip ? <div class="tip" aria-hidden="true" style={{left: px(tip.left),
      top: px(tip.top), bottom: px(tip.bottom), maxWidth: px(WIDTH)}}>{tip.text}</div> :
      null}
  </>;
};
