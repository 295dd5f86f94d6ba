import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defaultClientConditions, defineConfig, type Plugin } from 'vite';
import { browserFile, PLATFORM } from '../../scripts/browser-platform.mjs';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * Puts boot.js into the head as a classic script, which runs before the first paint. It is a file, because the content
 * policy forbids inline scripts.
 */
const boot = (): Plugin => {
  const source = readFileSync(here('boot.js'), 'utf8');
  const fileName = `assets/boot-${createHash('sha256').update(source).digest('hex').slice(0, 8)}.js`;
  return {
    name: 'boot',
    apply: 'build',
    generateBundle() {
      this.emitFile({ type: 'asset', fileName, source });
    },
    transformIndexHtml: () => [{ tag: 'script', attrs: { src: `/app/${fileName}` }, injectTo: 'head-prepend' }],
  };
};

/** The oldest supported browsers. For older ones, `light-dark()` would be transpiled in the styles. */
const BROWSERS = ['chrome125', 'firefox128', 'safari18'];

export default defineConfig({
  root: here('.'),
  base: '/app/',
  publicDir: false,
  plugins: [boot()],
  // For libs/crypto, of which the check of a deed takes what reads a proof: nothing is inflated.
  resolve: {
    alias: { ...PLATFORM, 'node:zlib': browserFile('absent') },
    conditions: ['source', ...defaultClientConditions],
  },
  build: {
    target: BROWSERS,
    cssTarget: BROWSERS,
    // The content policy allows neither inline scripts nor data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      transform: { inject: { Buffer: [browserFile('buffer'), 'Buffer'] } },
      input: { index: here('index.html'), kit: here('kit.html') },
      onLog: (level, log, write) => {
        // Two warnings do not matter: directives such as "use client", which packages have for server rendering, and
        // slow plugins on a busy machine.
        if (log.code === 'MODULE_LEVEL_DIRECTIVE' || log.code === 'PLUGIN_TIMINGS') return;
        if (level === 'warn') throw new Error(`the bundler warns: ${log.message}`);
        write(level, log);
      },
    },
  },
});
