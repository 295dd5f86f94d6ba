import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** A classic script in the head, which no inline script may be: it runs before the first paint. */
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

/** What browsers of the day understand. Older ones for styles, and `light-dark()` would be taken apart. */
const BROWSERS = ['chrome125', 'firefox128', 'safari18'];

export default defineConfig({
  root: here('.'),
  base: '/app/',
  publicDir: false,
  plugins: [boot()],
  build: {
    target: BROWSERS,
    cssTarget: BROWSERS,
    // Neither inline scripts nor data: addresses pass the content policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      input: { index: here('index.html'), kit: here('kit.html') },
      onLog: (level, log, write) => {
        // Packages mark what a server must not render, and here all of it is a browser's. A busy machine is slow.
        if (log.code === 'MODULE_LEVEL_DIRECTIVE' || log.code === 'PLUGIN_TIMINGS') return;
        if (level === 'warn') throw new Error(`the bundler warns: ${log.message}`);
        write(level, log);
      },
    },
  },
});
