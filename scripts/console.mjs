// Builds the Console (apps/console) into dist/console, beside each asset its br and gzip forms.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

const compress = (folder) => {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const bytes = readFileSync(path);
    writeFileSync(`${path}.br`, brotliCompressSync(bytes));
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
  }
};

const { build } = await import('vite');
await build({ configFile: join(root, 'apps', 'console', 'vite.config.ts'), logLevel: 'warn' });
compress(join(root, 'dist', 'console', 'assets'));
