import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** A run of the tests reads the OpenAPI document as it is described at that moment, built or not. */
export default function setup(): void {
  execFileSync(process.execPath, [join(import.meta.dirname, '..', '..', 'scripts', 'openapi.mjs')]);
}
