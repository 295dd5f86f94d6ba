import type { ToolRecorder, Vault } from '#libs/domain/connectors';
import type { Clock, Logger, Randomness } from '#libs/domain/kernel';
import type { EgressDoor } from '#libs/infra/egress';

import type { SqlParser } from './database/sql/index.js';

/** What every driver is built with, whatever its type. The door is its only way out. */
export interface DriverTools {
  readonly door: EgressDoor;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly logger: Logger;
  /** For types whose servers name their tools. */
  readonly recorder: Pick<ToolRecorder, 'record'>;
  /** PostgreSQL's own grammar, loaded. */
  readonly sql: Pick<SqlParser, 'read'>;
}
