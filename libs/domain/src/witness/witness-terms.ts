import type { JsonObject, JsonValue } from '#libs/crypto';
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
  const witness = objectIn(config['witness']);
  const named = `ags_${id.slice('con_'.length)}`;
  return {
    slot: textOr(witness['slot'], named),
    publication: textOr(witness['publication'], named),
    watchBypass: config['watch_bypass'] === true,
    place: JSON.stringify([config['host'], config['port'], config['database']]),
  };
};

/** Whether a decoder of this connector must run now. */
export const isWitnessed = (connector: LiveConnector): boolean =>
  connector.status === 'active' &&
  connector.type === 'database' &&
  objectIn(connector.config['witness'])['enabled'] === true;

const objectIn = (value: JsonValue | undefined): JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {};

const textOr = (value: JsonValue | undefined, otherwise: string): string =>
  typeof value === 'string' && value !== '' ? value : otherwise;
