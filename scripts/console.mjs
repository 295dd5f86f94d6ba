// Builds the Console (apps/console) into dist/console, beside each asset its br and gzip forms.
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, 'dist', 'console');
/** Whole before it stands where a service reads it. */
const outDir = join(root, 'dist', 'console.new');

const compress = (assets) => {
  for (const name of readdirSync(assets)) {
    const path = join(assets, name);
    const bytes = readFileSync(path);
    writeFileSync(`${path}.br`, brotliCompressSync(bytes));
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
  }
};

// Whoever builds: a test runner sets `test`, and what is bundled then is React for who develops it, half as large again.
process.env['NODE_ENV'] = 'production';
const { build } = await import('vite');
await build({
  configFile: join(root, 'apps', 'console', 'vite.config.ts'),
  logLevel: 'warn',
  build: { outDir, emptyOutDir: true },
});
compress(join(outDir, 'assets'));
rmSync(folder, { recursive: true, force: true });
renameSync(outDir, folder);
