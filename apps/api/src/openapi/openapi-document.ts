import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '#libs/infra/runtime';

/** Put together from the files beside this one by every build, and by every run of the tests (`scripts/openapi.mjs`). */
const DOCUMENT_PATH = 'dist/openapi.yaml';

export const readOpenApiDocument = (): string => readFileSync(join(packageRoot(), DOCUMENT_PATH), 'utf8');
