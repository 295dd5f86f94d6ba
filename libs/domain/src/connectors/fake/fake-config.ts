import type { JsonObject, JsonValue } from '#libs/crypto';

import { EXECUTION_STATUSES, type ExecutionStatus } from '../../kernel/index.js';
import type { ConfigPlace } from '../config-keys.js';
import { ConfigProblems } from '../config-problems.js';
import { ConfigReader } from '../config-reader.js';

export const FAKE_LIMITS = { configBytes: 65_536, delayMsMax: 30_000, noteCharacters: 200 } as const;

/** A config as stored: every default filled in. */
interface FakeConfig {
  /** What becomes of every call. */
  readonly outcome: ExecutionStatus;
  /** How long a call takes. */
  readonly delay_ms: number;
}

/** The keys of the config. */
const FAKE_PLACES = {
  config: { path: 'config', keys: ['outcome', 'delay_ms'], misplaced: {} },
} as const satisfies Readonly<Record<string, ConfigPlace>>;

/** @throws {DomainError} validation_failed, `param` the first problem's field */
export const readFakeConfig = (value: JsonValue): FakeConfig => {
  const problems = new ConfigProblems(value);
  const reader = ConfigReader.of(value, 'config', problems);
  const outcome = reader?.has('outcome') === true ? reader.choice('outcome', EXECUTION_STATUSES) : 'succeeded';
  const delayMs =
    reader?.has('delay_ms') === true ? reader.integer('delay_ms', { min: 0, max: FAKE_LIMITS.delayMsMax }) : 0;
  reader?.refuseUnknown(FAKE_PLACES.config);
  problems.throwIfAny();
  return { outcome: outcome as ExecutionStatus, delay_ms: delayMs as number };
};

/** What the log holds was checked before it was written. */
export const fakeConfigOf = (stored: JsonObject): FakeConfig => stored as unknown as FakeConfig;
