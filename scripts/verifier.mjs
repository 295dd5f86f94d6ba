// Makes dist/verify.html of apps/verifier and what of libs/crypto it needs: one file that a browser runs without a network,
// also from a disk. The content policy stands in the page and names the very bytes of its script and its style.
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { browserFile, PLATFORM } from './browser-platform.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = join(root, 'apps', 'verifier');
/** Where a thread of Node would lie, of which a page starts none. */
const HERE = { 'import.meta.url': JSON.stringify('file:///verify.js') };

const BROWSERS = ['chrome125', 'firefox128', 'safari18'];

const scriptOf = async (entry) => {
  const { rolldown } = await import('rolldown');
  const bundle = await rolldown({
    input: join(source, 'src', entry),
    platform: 'browser',
    resolve: { alias: PLATFORM, conditionNames: ['source', 'browser', 'import', 'module', 'default'] },
    transform: { target: BROWSERS, inject: { Buffer: [browserFile('buffer'), 'Buffer'] }, define: HERE },
    onLog: (level, log) => {
      throw new Error(`${level} of the bundler: ${log.message}`);
    },
  });
  const { output } = await bundle.generate({ format: 'iife', minify: true, comments: false });
  await bundle.close();
  if (output.length !== 1) throw new Error(`${entry} became ${output.length} files`);
  return output[0].code;
};

const withoutIndents = (text) => text.replace(/\s*\n\s*/g, '\n');

const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** @param {string} path where the page is to stand */
export const writeVerifier = async (path) => {
  // Within a script element nothing may read like its end.
  const script = (await scriptOf('main.ts')).replace(/<\/(?=script)/gi, '<\\/');
  const style = withoutIndents(readFileSync(join(source, 'page.css'), 'utf8'));
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    'worker-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const page = withoutIndents(readFileSync(join(source, 'index.html'), 'utf8'))
    .replace('content="policy"', `content="${policy}"`)
    .replace('<!-- style -->', () => `<style>${style}</style>`)
    .replace('<!-- script -->', () => `<script>${script}</script>`);
  writeFileSync(`${path}.new`, page);
  renameSync(`${path}.new`, path);
};

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeVerifier(join(root, 'dist', 'verify.html'));
