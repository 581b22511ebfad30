// SPDX-License-Identifier: Apache-2.0
//
// What every chart has: a title, what it says in a sentence, the chart, and
// behind a second tab its figures as a table. All of it can be taken along: the
// figures as CSV, the drawing as SVG and PNG.
import {render, type ComponentChildren} from 'preact';
import {useEffect, useId, useLayoutEffect, useRef, useState} from 'preact/hooks';
import {saveCsv, savePng, saveSvg, type Table} from '../save';
import {ticks, type Scale} from '../scale';
import {helped} from '../help';

// The width in CSS pixels of an element, as it is now.
export const useWidth = (least = 260) => {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const at = ref.current;
    if (at === null) return;
    const measure = () => setWidth((before) => at.clientWidth === 0 && before > 0 ?
      before : Math.max(least, at.clientWidth));  // what is hidden keeps its own
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
  // What is saved where the chart itself is no SVG.
  drawing?: (width: number) => ComponentChildren;
}

// What is saved is drawn once more, out of sight: the figures may be shown now.
const draw = (of: ComponentChildren): [SVGSVGElement, () => void] => {
  const host = document.createElement('div');
  host.className = 'unseen';
  host.setAttribute('aria-hidden', 'true');
  document.body.append(host);
  const leave = () => {
    render(null, host);
    host.remove();
  };
  render(<>{of}</>, host);
  const drawn = [...host.querySelectorAll('svg')].sort((a, b) =>
    Number(b.getAttribute('height')) - Number(a.getAttribute('height')))[0];
  if (drawn) return [drawn, leave];
  leave();
  throw new Error('there is nothing to draw yet');
};

const SAVED = {CSV: 'csv', SVG: 'svg', PNG: 'png'} as const;

export const Frame = ({id, title, says, note, table, wide, children,
  drawing}: Props) => {
  const [shows, setShows] = useState<'chart' | 'data'>('chart');
  const [trouble, setTrouble] = useState('');
  const [ref, width] = useWidth();
  const key = useId();
  const tab = (name: 'chart' | 'data', label: string) =>
    <button type="button" aria-pressed={shows === name} {...helped(name)}
      onClick={() => setShows(name)}>{label}</button>;
  const save = (kind: 'CSV' | 'SVG' | 'PNG') => async () => {
    setTrouble('');
    let leave = () => {};
    try {
      if (kind === 'CSV') return saveCsv(id, table());
      const [drawn, away] = draw((drawing ?? children)(width));
      leave = away;
      if (kind === 'SVG') saveSvg(id, title, drawn);
      else await savePng(id, title, drawn);
    } catch (why) {
      setTrouble(`No ${kind}: ${why instanceof Error ? why.message : why}.`);
    } finally {
      leave();
    }
  };
  const saving = (kind: 'CSV' | 'SVG' | 'PNG') =>
    <button type="button" class="save" onClick={save(kind)}
      {...helped(SAVED[kind])}
      aria-label={`Save ${title} as ${kind}`}>{kind}</button>;
  return <section class={wide ? 'card wide' : 'card'} id={id} aria-labelledby={key}>
    <header>
      <h2 id={key}>{title}</h2>
      <div class="tools" role="group" aria-label={`How to show: ${title}`}>
        {tab('chart', 'Chart')}{tab('data', 'Data')}
        {saving('CSV')}{saving('SVG')}{saving('PNG')}
      </div>
    </header>
    <p class="trouble" role="status">{trouble}</p>
    <p class="says">{says}</p>
    <div ref={ref} class="plot" hidden={shows !== 'chart'}>
      {width > 0 && shows === 'chart' ? children(width) : null}
    </div>
    {shows === 'data' ? <DataTable table={table()} caption={title} /> : null}
    {note ? <p class="note">{note}</p> : null}
  </section>;
};

// Lines across a chart at round values, with their numbers at the left.
export const Levels = ({y, lo, hi, left, right, wanted = 4, text = String}: {
  y: Scale; lo: number; hi: number; left: number; right: number;
  wanted?: number; text?: (value: number) => string;
}) => <>{ticks(lo, hi, wanted).map((value) => <g>
  <line x1={left} x2={right} y1={y(value)} y2={y(value)} class="grid" />
  <text x={left - 8} y={y(value) + 4} class="tick end">{text(value)}</text>
</g>)}</>;

// The pattern that means frozen, for SVG.
export const Hatch = ({id}: {id: string}) =>
  <defs><pattern id={id} width="5" height="5" patternUnits="userSpaceOnUse"
    patternTransform="rotate(45)">
    <rect width="5" height="5" class="ice" />
    <line x1="0" y1="0" x2="0" y2="5" class="crack" />
  </pattern></defs>;
