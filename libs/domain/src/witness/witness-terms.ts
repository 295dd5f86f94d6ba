import { databaseConfigOf, publicationOf, slotOf } from '../connectors/database/index.js';
import type { LiveConnector } from '../connectors/index.js';

/** What the config of a connector says of its witness. */
export interface WitnessTerms {
  readonly slot: string;
  readonly publication: string;
  /** Whether changes past the service are told, and not only counted. */
  readonly watchBypass: boolean;
  /** Which database it is, host and port among it: two connectors with the same place have the same log. */
  readonly place: string;
}

/** The terms of a connector's witness, whether it is asked for or not; null for a type that has no change log. */
export const witnessTermsOf = ({ id, type, config }: LiveConnector): WitnessTerms | null => {
  if (type !== 'database') return null;
  const database = databaseConfigOf(config);
  const { host, port, database: name, watch_bypass: watchBypass } = database;
  return {
    slot: slotOf(database, id),
    publication: publicationOf(database, id),
    watchBypass,
    place: JSON.stringify([host, port, name]),
  };
};

/** Whether a decoder of this connector must run now. */
export const isWitnessed = ({ status, type, config }: LiveConnector): boolean =>
  status === 'active' && type === 'database' && databaseConfigOf(config).witness.enabled;
