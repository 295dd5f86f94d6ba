import { type Digest, digestOfJson, type JsonObject, type JsonValue } from '#libs/crypto';

import { DomainError } from '../kernel/index.js';
import type { ConnectorType } from './connector.events.js';
import { restConfigOf } from './rest-config.js';
import { readRestConfig, storedConfigOf } from './rest-config.reader.js';

export interface ConnectorTypeSettings {
  readonly isProduction: boolean;
}

/** What creating and changing a connector must know about its type; running its tools is the driver's part. */
interface ConnectorTypeRules {
  /** The config as stored, every default filled in. Throws validation_failed with the field path in `param`. */
  readonly readConfig: (config: JsonValue, settings: ConnectorTypeSettings) => JsonObject;
  /** Where its calls go: judged by the egress rules at creation and at every dial. */
  readonly destinationsOf: (config: JsonObject) => readonly string[];
}

const REST: ConnectorTypeRules = {
  readConfig: (config, settings) => storedConfigOf(readRestConfig(config, settings)),
  destinationsOf: (config) => [restConfigOf(config).base_url],
};

/** A new type is served once it stands here and a driver runs it (docs/add-a-connector.md). */
const SERVED: Readonly<Partial<Record<ConnectorType, ConnectorTypeRules>>> = { rest: REST };

export const SERVED_TYPES = Object.keys(SERVED) as readonly ConnectorType[];

/** @throws {DomainError} validation_failed, param `type` */
export const requireServedType = (type: string): ConnectorType => {
  const served = SERVED_TYPES.find((known) => known === type);
  if (served !== undefined) return served;
  throw new DomainError('validation_failed', {
    param: 'type',
    message: `type must be one of ${SERVED_TYPES.join(', ')}.`,
  });
};

export interface StoredConfig {
  readonly config: JsonObject;
  readonly configHash: Digest;
  readonly destinations: readonly string[];
}

/** @throws {DomainError} validation_failed with the field path in `param` */
export const readConfig = (type: ConnectorType, value: JsonValue, settings: ConnectorTypeSettings): StoredConfig => {
  const rules = SERVED[requireServedType(type)] as ConnectorTypeRules;
  const config = rules.readConfig(value, settings);
  return { config, configHash: digestOfJson(config), destinations: rules.destinationsOf(config) };
};
