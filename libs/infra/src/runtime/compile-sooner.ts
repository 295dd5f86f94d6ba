import { setFlagsFromString } from 'node:v8';

/** Of a function's bytecode, what has to run until V8 compiles it for speed: a ninth of what Node 20 waits for. */
const BUDGET_BYTES = 15_000;

/**
 * For a process that serves: its first calls are as quick as later ones the sooner, and what is called rarely is quick at
 * all (docs/performance.md). V8 11 alone, which is Node 20's: later ones tell by other signs what is worth it, and do not know
 * the setting.
 */
export const compileSooner = (v8Version = process.versions.v8, setFlags = setFlagsFromString): void => {
  if (v8Version.startsWith('11.')) setFlags(`--interrupt-budget=${BUDGET_BYTES}`);
};
