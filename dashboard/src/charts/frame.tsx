// SPDX-License-Identifier: Apache-2.0
//
// What every chart has: a title, what it says in a sentence, the chart, and
// behind a second tab its figures as a table, which can be taken along as CSV.
import type {ComponentChildren} from 'preact';
import {useEffect, useId, useLayoutEffect, useRef, useState} from 'preact/hooks';

export interface Table {
  head: string[];
  rows: (string | number)[][];
  right?: number[];  // columns of numbers
}

// The width in CSS pixels of an element, as it is now.
export const useWidth = (least = 260) => {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const at = ref.current;
    if (at === null) return;
    const measure = () => setWidth(Math.max(least, at.clientWidth));
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(at);
    return () => watch.disconnect();
  }, []);
  return [ref, width] as const;
};

export const useDark = (): boolean => {
  const isDark = () => {
    const chosen = document.documentElement.dataset['theme'];
    return chosen ? chosen === 'dark' :
      matchMedia('(prefers-color-scheme: dark)').matches;
  };
  const [dark, setDark] = useState(isDark);
  useEffect(() => {
    const update = () => setDark(isDark());
    const media = matchMedia('(prefers-color-scheme: dark)');
    media.addEventListener('change', update);
    window.addEventListener('themechange', update);
    return () => {
      media.removeEventListener('change', update);
      window.removeEventListener('themechange', update);
    };
  }, []);
  return dark;
};

const cell = (text: string | number): string => {
  const plain = String(text);
  // A spreadsheet must take no cell for a formula.
  const safe = /^[=+@\t]|^-(?![\d.])/.test(plain) ? `'${plain}` : plain;
  return /[",\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
};

const download = (name: string, table: Table) => {
  const lines = [table.head, ...table.rows].map((row) => row.map(cell).join(','));
  const url = URL.createObjectURL(
      new Blob([lines.join('\n'), '\n'], {type: 'text/csv'}));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
};

export const DataTable = ({table, caption}:
    {table: Table; caption: string}) => {
  const right = new Set(table.right ?? []);
  return <div class="scroll" tabIndex={0} role="region" aria-label={caption}>
    <table class="data">
      <caption class="unseen">{caption}</caption>
      <thead><tr>{table.head.map((text, k) =>
        <th scope="col" class={right.has(k) ? 'right' : ''}>{text}</th>)}
      </tr></thead>
      <tbody>{table.rows.map((row) => <tr>{row.map((text, k) => k === 0 ?
        <th scope="row" class={right.has(k) ? 'right' : ''}>{text}</th> :
        <td class={right.has(k) ? 'right' : ''}>{text}</td>)}</tr>)}
      </tbody>
    </table>
  </div>;
};

interface Props {
  id: string;
  title: string;
  says: ComponentChildren;
  note?: ComponentChildren;  // evaluator, direction, set of trials
  table: () => Table;  // made when it is looked at
  wide?: boolean;
  children: (width: number) => ComponentChildren;
}

export const Frame = ({id, title, says, note, table, wide, children}: Props) => {
  const [shows, setShows] = useState<'chart' | 'data'>('chart');
  const [ref, width] = useWidth();
  const key = useId();
  const tab = (name: 'chart' | 'data', label: string) =>
    <button type="button" aria-pressed={shows === name}
      onClick={() => setShows(name)}>{label}</button>;
  return <section class={wide ? 'card wide' : 'card'} id={id} aria-labelledby={key}>
    <header>
      <h2 id={key}>{title}</h2>
      <div class="tools" role="group" aria-label={`How to show: ${title}`}>
        {tab('chart', 'Chart')}{tab('data', 'Data')}
        <button type="button" onClick={() => download(`${id}.csv`, table())}
          aria-label={`Save ${title} as CSV`}>CSV</button>
      </div>
    </header>
    <p class="says">{says}</p>
    <div ref={ref} class="plot" hidden={shows !== 'chart'}>
      {width > 0 && shows === 'chart' ? children(width) : null}
    </div>
    {shows === 'data' ? <DataTable table={table()} caption={title} /> : null}
    {note ? <p class="note">{note}</p> : null}
  </section>;
};

// The pattern that means frozen, for SVG.
export const Hatch = ({id}: {id: string}) =>
  <defs><pattern id={id} width="5" height="5" patternUnits="userSpaceOnUse"
    patternTransform="rotate(45)">
    <rect width="5" height="5" class="ice" />
    <line x1="0" y1="0" x2="0" y2="5" class="crack" />
  </pattern></defs>;
