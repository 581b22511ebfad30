// SPDX-License-Identifier: Apache-2.0
//
// Texts that a careless page would run, load, misplace or choke on, in several
// hundred variants. Each that could act sets window.hacked.
const ACTS = ['<script>window.hacked=1</script>', '<img src=x onerror="window.hacked=1">',
  '<svg onload=window.hacked=1>', '<svg><script>window.hacked=1</script></svg>',
  '<iframe srcdoc="<script>parent.hacked=1</script>"></iframe>',
  '<a href="javascript:window.hacked=1">x</a>', 'javascript:window.hacked=1',
  '<body onload=window.hacked=1>', '<details open ontoggle=window.hacked=1>',
  '<style>*{display:none}</style>', '<base href=//example.org>',
  '<meta http-equiv=refresh content="0;url=//example.org">',
  '<form action=//example.org><input autofocus onfocus=window.hacked=1>',
  '<math><mtext><table><mglyph><style><img src=x onerror=window.hacked=1>',
  'data:text/html,<script>parent.hacked=1</script>', '<link rel=stylesheet href=//example.org>',
  '<object data=//example.org></object>', '<embed src=//example.org>',
  '<template><script>window.hacked=1</script></template>', '<!--', '-->', '<![CDATA[', ']]>'];
const WRAPS = [(text) => text, (text) => `">${text}`, (text) => `'>${text}`,
  (text) => `</title>${text}`, (text) => `</textarea></script>${text}`,
  (text) => text.toUpperCase(), (text) => `%3C${encodeURIComponent(text)}`,
  (text) => text.replace(/</g, '&lt;'), (text) => text.replace(/</g, '\\u003c'),
  (text) => `\u202e${text}\u202c`, (text) => `{{constructor.constructor('${text}')()}}`];
const TEMPLATES = ['${window.hacked=1}', '{{7*7}}', '#{7*7}', '<%= 7*7 %>', '{%raw%}',
  '`${1}`', '__proto__', 'constructor', 'toString', 'hasOwnProperty', '$&', '$`', '\\',
  '%s%n%x', '../../../etc/passwd', '?only=a:b;c:d#/studies/x', '&amp;#x3c;', 'NaN', 'null',
  '\u200b\u200d\ufeff', '\u0301\u0301\u0301', '🧊🏔️👩‍🔬'.repeat(20), 'ﷺ'.repeat(40),
  'שלום \u2067עולם\u2069', 'A'.repeat(600), 'x '.repeat(200), 'Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢', '=1+1', '@SUM(A1)',
  '-2+3', '+1', '"quoted, with comma"', '1e999', '٣٤', 'ⅷ', '\u2028line\u2029end'];

export const hostile = [...new Set([...ACTS.flatMap((text) =>
  WRAPS.map((wrap) => wrap(text))), ...TEMPLATES])];

const CORES = [...ACTS, ...TEMPLATES,
  // Scripts of many directions and forms, signs that stand on others, and none.
  'مرحبا', 'हिन्दी', 'ไทยแลนด์', '中文字符', '한국어', 'Ελληνικά', 'קצר', '\u202d\u202e\u2066', 'e\u0301\u0323',
  '👨‍👩‍👧‍👦', '🏳️‍🌈', '🇨🇭', '\ufffd', '\ufffe', '\ud800', 'a\udfff', '\u0000', '\u0007\u0008', '\u001b[31mred\u001b[0m',
  '\u007f\u0085', '\r\n\t', '\u00a0', '\u2060', '𝕱𝖗𝖔𝖘𝖙', 'ﬁﬂ', 'ıİ', 'ẞß', '１２３',
  // Words of other languages: of spreadsheets, shells, databases, paths, URLs.
  '=HYPERLINK("//example.org")', '=cmd|\' /C calc\'!A0', '@SUM(1)*cmd', '-1+1', '+A1', '\t=1', '; rm -rf /', '$(id)', '`id`',
  '\' OR 1=1 --', '"; DROP TABLE trials; --', '..\\..\\boot.ini', '/dev/null', 'C:\\nul', 'file:///etc/passwd',
  '//example.org', 'https://example.org/%0d%0aSet-Cookie:a=b', '#/studies/../x', '?a=b&c=d#e', '%00', '%ff%fe',
  'undefined', 'true', '0', '-0', '1e-400', '{}', '[]', '{"a":1}', '{"__proto__":{"x":1}}', 'hidden', 'innerHTML',
  ',', ';', ':', '|', '\'', '"', '<', '>', '&', '&nbsp;', '&#0;', '<!doctype html>', '<?xml?>', '<!ENTITY x "y">',
  'url(//example.org)', 'expression(1)', 'A'.repeat(10240), 'word '.repeat(2048), '<b>'.repeat(700)];
const JOINS = ['', ' ', '\n', '"', '\'>', '--', '\u202e', '&', '</', '%', '\u0000', '},', ']]>'];

// As many different texts as are wanted, each put together of some of these:
// the same for the same seed.
export const manyHostile = (wanted, seed = 1) => {
  let state = seed;
  const below = (count) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 4294967296 * count);
  };
  const one = (list) => list[below(list.length)];
  const texts = new Set(hostile);
  while (texts.size < wanted) {
    let text = one(CORES);
    for (let more = below(3); more > 0; --more) text += one(JOINS) + one(CORES);
    texts.add(one(WRAPS)(text.toWellFormed?.() ?? text));
  }
  return [...texts].slice(0, wanted);
};
