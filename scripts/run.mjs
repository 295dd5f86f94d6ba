// `npm start`, `npm run start:api`, `npm run ags`, `npm run demo`, `npm run bench`, `npm run chaos`: build what is stale, then become that program.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildApartIfStale } from './build.mjs';

const programs = {
  standalone: 'programs/standalone.js',
  api: 'programs/api.js',
  worker: 'programs/worker.js',
  projector: 'programs/projector.js',
  cli: 'programs/cli.js',
  demo: 'programs/demo.js',
  bench: 'test/bench/main.js',
  chaos: 'test/chaos/main.js',
};

const program = programs[process.argv[2]];
if (!program) {
  process.stderr.write(`usage: node scripts/run.mjs ${Object.keys(programs).join('|')} [arguments]\n`);
  process.exit(2);
}
const root = dirname(dirname(fileURLToPath(import.meta.url)));
if (!existsSync(join(root, 'node_modules'))) {
  process.stderr.write('The packages are not installed yet. Run `npm ci` first.\n');
  process.exit(1);
}
buildApartIfStale();
const entry = join(root, 'dist', program);
// The program sees its own arguments, as if it had been started directly.
process.argv.splice(1, 2, entry);
await import(pathToFileURL(entry).href);
