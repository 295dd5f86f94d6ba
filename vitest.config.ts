import { join } from 'node:path';
import swc from 'unplugin-swc';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/suites/longest-first.js';

/** Of `npm run test:long`; every other spec is of `npm test`. test/architecture/suites.spec.ts says which must be. */
const LONG = '{apps,libs,test}/**/*.long.spec.ts';
const NEVER = ['**/node_modules/**', 'test/architecture/violations/**'];

/** Packages that have sources in TypeScript under our own import condition: what they built is taken. */
const BUILT = ['eventsource', 'eventsource-parser'];
const builtFile = (name: string): string => join(import.meta.dirname, 'node_modules', name, 'dist', 'index.js');

export default defineConfig({
  // SWC writes the decorator metadata that Nest injects by; esbuild does not.
  plugins: [swc.vite({ module: { type: 'es6' } })],
  resolve: {
    conditions: ['source'],
    alias: [
      ...BUILT.map((name) => ({ find: new RegExp(`^${name}$`), replacement: builtFile(name) })),
      { find: /^eventsource-parser\/stream$/, replacement: builtFile('eventsource-parser').replace('index', 'stream') },
    ],
  },
  ssr: { resolve: { conditions: ['source', 'node'] } },
  test: {
    globalSetup: ['test/support/postgres.global-setup.ts', 'test/support/openapi.global-setup.ts'],
    pool: 'forks',
    runner: './test/suites/while-there-is-time.ts',
    sequence: { sequencer: LongestFirst },
    // Specs of one worker share loaded modules, and nothing else: each has a database, folders and servers of its own.
    isolate: false,
    // A worker often waits: for its database, for a program, for a deadline. By itself vitest takes one on two cores.
    maxWorkers: 3,
    server: { deps: { inline: [...BUILT, /@modelcontextprotocol/] } },
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // By itself it gives up after a second, which a busy machine may take for an answer.
    expect: { poll: { timeout: 20_000 } },
    projects: [
      { extends: true, test: { name: 'short', include: ['{apps,libs,test}/**/*.spec.ts'], exclude: [...NEVER, LONG] } },
      { extends: true, test: { name: 'long', include: [LONG], exclude: NEVER } },
    ],
  },
});
