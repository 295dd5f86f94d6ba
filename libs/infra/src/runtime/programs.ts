import { join } from 'node:path';
import { packageRoot } from './build-facts.js';

/** Programs that other programs start; scripts/bundle.mjs builds them. */
export type ProgramName = 'standalone' | 'rebuild-projections' | 'replay-policy' | 'moved-clock';

/** The file to start Node with. */
export const programFile = (name: ProgramName): string => join(packageRoot(), 'dist', 'programs', `${name}.js`);
