import { join } from 'node:path';
import { packageRoot } from './build-facts.js';

/** Started by other programs; scripts/bundle.mjs makes them. */
export type ProgramName = 'standalone' | 'rebuild-projections' | 'replay-policy' | 'moved-clock';

/** What to start Node with. */
export const programFile = (name: ProgramName): string => join(packageRoot(), 'dist', 'programs', `${name}.js`);
