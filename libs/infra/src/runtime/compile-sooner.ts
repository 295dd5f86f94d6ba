import { setFlagsFromString } from 'node:v8';

/**
 * How many bytes of a function's bytecode have to run before V8 compiles it for speed: a ninth of Node 20's default.
 */
const BUDGET_BYTES = 15_000;

/**
 * For a process that serves requests: its first calls become fast sooner, and so do functions that are called rarely
 * (docs/performance.md). Only for V8 11, which is Node 20's; later versions decide by other criteria and do not know
 * the flag.
 */
export const compileSooner = (v8Version = process.versions.v8, setFlags = setFlagsFromString): void => {
  if (v8Version.startsWith('11.')) setFlags(`--interrupt-budget=${BUDGET_BYTES}`);
};
