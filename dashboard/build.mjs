// SPDX-License-Identifier: Apache-2.0
//
// node build.mjs MODULES OUT.cc: bundles src/ with the modules and packs the
// page into a C++ source (server/http/page_assets.h). Names of files have a hash
// of what is in them, so that browsers may keep them for ever.
import {createHash} from 'node:crypto';
import {readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {gzipSync} from 'node:zlib';

const [modules, out] = process.argv.slice(2);
const {buildSync} = createRequire(join(modules, 'x.js'))('esbuild');
const src = join(dirname(fileURLToPath(import.meta.url)), 'src');
// What a first visit loads, in bytes as they are sent.
const LIMIT = 150_000;

const built = buildSync({
  entryPoints: {page: join(src, 'app.tsx'), style: join(src, 'page.css')},
  bundle: true, minify: true, write: false, outdir: '/', nodePaths: [modules],
  format: 'esm', target: 'es2020', legalComments: 'none',
  jsx: 'automatic', jsxImportSource: 'preact'});

const named = (ending) => {
  const {text} = built.outputFiles.find((file) => file.path.endsWith(ending));
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8);
  return {name: `${ending.slice(1).replace('.', `.${hash}.`)}`, text};
};
const script = {...named('/page.js'), type: 'text/javascript'};
const style = {...named('/style.css'), type: 'text/css'};
const page = {name: 'index.html', type: 'text/html',
  text: readFileSync(join(src, 'index.html'), 'utf8')
      .replace('page.js', script.name).replace('style.css', style.name)};

const files = [page, script, style];
const sent = files.reduce((sum, file) => sum + gzipSync(file.text).length, 0);
if (sent > LIMIT) {
  console.error(`the page has ${sent} bytes, more than ${LIMIT}`);
  process.exit(1);
}

// A literal is cut into pieces: compilers promise no long ones. Octal escapes
// end after three digits, whatever follows.
const literal = (text) => {
  const bytes = Buffer.from(text);
  const pieces = [];
  for (let at = 0; at < bytes.length; at += 8000) {
    let piece = '';
    for (const byte of bytes.subarray(at, at + 8000)) {
      const plain = byte >= 32 && byte < 127 && byte !== 34 && byte !== 92 &&
          byte !== 63;
      piece += plain ? String.fromCharCode(byte) :
                       '\\' + byte.toString(8).padStart(3, '0');
    }
    pieces.push(`"${piece}"`);
  }
  return pieces.join('\n    ');
};

writeFileSync(out, `// Made by dashboard/build.mjs.
#include "server/http/page_assets.h"

namespace frostline::server {

std::vector<PageAsset> PageAssets() {
  using namespace std::string_view_literals;
  return {
${files.map((file) => `    {"${file.name}", "${file.type}",
    ${literal(file.text)}sv},`).join('\n')}
  };
}

}  // namespace frostline::server
`);
