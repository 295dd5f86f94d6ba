import swc from 'unplugin-swc';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  // SWC writes the decorator metadata that Nest injects by; esbuild does not.
  plugins: [swc.vite({ module: { type: 'es6' } })],
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source', 'node'] } },
  test: {
    include: ['{apps,libs,test}/**/*.spec.ts'],
    exclude: ['**/node_modules/**', 'test/architecture/violations/**'],
    globalSetup: ['test/support/postgres.global-setup.ts'],
    pool: 'forks',
    // Specs of one worker share loaded modules, and nothing else: each has a database, folders and servers of its own.
    isolate: false,
    // A worker often waits: for its database, for a program, for a deadline. By itself vitest takes one on two cores.
    maxWorkers: 3,
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
