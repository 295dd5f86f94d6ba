import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '#libs/infra/runtime';

/** The compiler copies no YAML, so sources and compiled files read the one file of the repository. */
const DOCUMENT_PATH = 'apps/api/src/openapi/openapi.yaml';

export const readOpenApiDocument = (): string => readFileSync(join(packageRoot(), DOCUMENT_PATH), 'utf8');
