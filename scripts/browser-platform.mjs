// What stands in a browser for what libs/crypto has of Node: in dist/verify.html, and in the Console's check of a proof.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** @param {string} name of a file in apps/verifier/src/platform */
export const browserFile = (name) => join(root, 'apps', 'verifier', 'src', 'platform', `${name}.ts`);

/** Each import of libs/crypto that a browser has not, and the file that takes its place. @type {Record<string, string>} */
export const PLATFORM = {
  'node:buffer': browserFile('buffer'),
  'node:crypto': browserFile('crypto'),
  'node:zlib': browserFile('zlib'),
  // The half of it that reads.
  pako: join(root, 'node_modules', 'pako', 'lib', 'inflate.js'),
  'node:fs': browserFile('absent'),
  'node:os': browserFile('absent'),
  'node:path': browserFile('absent'),
  'node:stream': browserFile('absent'),
  'node:worker_threads': browserFile('absent'),
  // The COSE form of a deed is in no bundle; left to itself, the package takes a tenth of the page.
  cborg: browserFile('absent'),
  // Nor is anything signed here, which needs it, or inflated to a text.
  '@noble/hashes/hmac.js': browserFile('absent'),
  './utils/strings': browserFile('absent'),
  './zlib/messages': browserFile('absent'),
  './messages': browserFile('absent'),
  // Within libs/crypto: a page judges on the one thread that it starts itself.
  './line-judge-threads.js': browserFile('absent'),
};
