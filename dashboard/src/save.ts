// SPDX-License-Identifier: Apache-2.0
//
// Files of a chart, made in the browser: its figures as CSV, its drawing as SVG
// with the colours that it has on the page, and that as PNG.

export interface Table {
  head: string[];
  rows: (string | number)[][];
  right?: number[];  // columns of numbers
}

const cell = (text: string | number): string => {
  const plain = String(text);
  // A spreadsheet must take no cell for a formula.
  const safe = /^[=+@\t\r]|^-(?![\d.])/.test(plain) ? `'${plain}` : plain;
  return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
};

export const csvText = (table: Table): string =>
  `${[table.head, ...table.rows].map((row) => row.map(cell).join(','))
    .join('\n')}\n`;

const give = (name: string, blob: Blob) => {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser may still be about to read it.
  window.setTimeout(() => URL.revokeObjectURL(url), 30000);
};

export const saveCsv = (name: string, table: Table) =>
  give(`${name}.csv`, new Blob([csvText(table)], {type: 'text/csv'}));

// What a stylesheet gives a shape, as attributes: a file has no stylesheet.
const LOOKS = ['fill', 'fill-opacity', 'stroke', 'stroke-width',
  'stroke-dasharray', 'opacity', 'font-size', 'font-family', 'font-weight',
  'text-anchor'] as const;
const ON_TEXT = new Set<string>(['font-size', 'font-family', 'font-weight',
  'text-anchor']);

// What no XML may hold, however it is written: a file with it opens nowhere.
const readable = (text: string): string => text.replace(
    /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd');

// The drawing must be in the document, so that it has its looks.
const svgText = (drawing: SVGSVGElement, title: string): string => {
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  const from = [drawing, ...drawing.querySelectorAll('*')];
  const into = [copy, ...copy.querySelectorAll('*')];
  from.forEach((one, k) => {
    const target = into[k];
    if (target === undefined) return;
    const looks = getComputedStyle(one);
    for (const name of LOOKS) {
      const value = looks.getPropertyValue(name);
      const isText = one.tagName === 'text';
      if (value && (isText || !ON_TEXT.has(name))) {
        target.setAttribute(name, value.replace(/"/g, '\''));
      }
    }
    for (const name of ['class', 'style', 'tabindex', 'role', 'aria-label']) {
      target.removeAttribute(name);
    }
  });
  const width = drawing.getAttribute('width') ?? '600';
  const height = drawing.getAttribute('height') ?? '300';
  const kind = 'http://www.w3.org/2000/svg';
  const name = document.createElementNS(kind, 'title');
  name.textContent = title;
  const ground = document.createElementNS(kind, 'rect');
  ground.setAttribute('width', width);
  ground.setAttribute('height', height);
  ground.setAttribute('fill', getComputedStyle(document.documentElement)
      .getPropertyValue('--card').trim() || '#ffffff');
  copy.prepend(name, ground);
  copy.setAttribute('xmlns', kind);
  copy.setAttribute('viewBox', `0 0 ${width} ${height}`);
  return readable(new XMLSerializer().serializeToString(copy));
};

export const saveSvg = (name: string, title: string, drawing: SVGSVGElement) =>
  give(`${name}.svg`, new Blob([svgText(drawing, title)],
                               {type: 'image/svg+xml'}));

// Twice as many pixels as on the page, so that it can be printed.
const SHARPER = 2;

export const savePng = async (name: string, title: string,
                              drawing: SVGSVGElement): Promise<void> => {
  const image = new Image();
  const drawn = new Promise((done, failed) => {
    image.onload = done;
    image.onerror = () => failed(new Error('it could not be drawn'));
  });
  image.src = `data:image/svg+xml;charset=utf-8,${
    encodeURIComponent(svgText(drawing, title))}`;
  const canvas = document.createElement('canvas');
  canvas.width = SHARPER * Number(drawing.getAttribute('width'));
  canvas.height = SHARPER * Number(drawing.getAttribute('height'));
  const pen = canvas.getContext('2d');
  if (!pen) throw new Error('this browser has no canvas; take the SVG');
  await drawn;
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done));
  if (blob === null) throw new Error('it is too large for a PNG; take the SVG');
  give(`${name}.png`, blob);
};
