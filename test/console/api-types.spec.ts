import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { ROOT } from '../support/service.js';

it('the types of the Console are those of the OpenAPI document: `npm run console:api` makes them anew', async () => {
  const program = join(ROOT, 'node_modules', 'openapi-typescript', 'bin', 'cli.js');
  const { stdout } = await promisify(execFile)(process.execPath, [program, 'dist/openapi.yaml'], {
    cwd: ROOT,
    maxBuffer: 16 * 1_048_576,
  });
  const committed = readFileSync(join(ROOT, 'apps', 'console', 'src', 'kernel', 'api.d.ts'), 'utf8');
  // Compared as a boolean, because the difference of two such long texts would be pages long.
  expect(stdout.trimEnd() === committed.trimEnd()).toBe(true);
});
