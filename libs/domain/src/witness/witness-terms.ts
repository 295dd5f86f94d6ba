import { type ChangeLogPlace, changeLogOf, type LiveConnector } from '../connectors/index.js';

/** What the config of a connector says of its witness. */
export interface WitnessTerms extends Omit<ChangeLogPlace, 'isWanted'> {
  /** Which database it is, host and port among it: two connectors with the same place have the same log. */
  readonly place: string;
}

/** The terms of a connector's witness, whether it is asked for or not; null for a type that has no change log. */
export const witnessTermsOf = (connector: LiveConnector): WitnessTerms | null => {
  const log = changeLogOf(connector);
  if (log === null) return null;
  const { destination, database, slot, publication, watchBypass } = log;
  const place = JSON.stringify([destination, database]);
  return { destination, database, slot, publication, watchBypass, place };
};

/** Whether a decoder of this connector must run now. */
export const isWitnessed = (connector: LiveConnector): boolean =>
  connector.status === 'active' && changeLogOf(connector)?.isWanted === true;
