import { type Digest, digestOfJson, type JsonObject, type JsonValue } from '#libs/crypto';

import { DomainError } from '../kernel/index.js';
import type { ConnectorType } from './connector.events.js';
import { type Credential, readCredential } from './credential.js';
import type { LiveConnector } from './connector.state.js';
import type { CatalogueEntry, ChangeLogPlace, ConnectorTypeRules, ConnectorTypeSettings } from './connector-type.js';
import { BRIDGE_FOR_STDIO } from './mcp/mcp-keys.js';
import * as SERVED from './served-types.js';

const RULES: Readonly<Partial<Record<ConnectorType, ConnectorTypeRules>>> = SERVED;

const SERVED_NAMES = Object.keys(SERVED).sort() as (keyof typeof SERVED)[];

/**
 * The types that are served, in the order of their names. One that the interface does not know does not compile here.
 */
export const SERVED_TYPES: readonly ConnectorType[] = SERVED_NAMES;

/** Whether a server names the tools of the type's connectors, so that it can be asked for them. */
export const isNamedByServer = (type: ConnectorType): boolean => RULES[type]?.catalogueEntry.tools_from === 'server';

/** The types of which a server names the tools. */
export const NAMED_BY_SERVER: readonly ConnectorType[] = SERVED_TYPES.filter(isNamedByServer);

/** What a person who sets up a connector reads, for every type that is served, in the order of their titles. */
export const CONNECTOR_CATALOGUE: readonly CatalogueEntry[] = Object.values(RULES)
  .map(({ catalogueEntry }) => catalogueEntry)
  .sort((one, other) => (one.title < other.title ? -1 : 1));

const DEVELOPMENT_ONLY: ReadonlySet<ConnectorType> = new Set(
  SERVED_TYPES.filter((type) => RULES[type]?.isDevelopmentOnly === true),
);

type Surroundings = Pick<ConnectorTypeSettings, 'isProduction'>;

/** The catalogue of a service: in production without the types that are for development alone. */
export const catalogueOf = ({ isProduction }: Surroundings): readonly CatalogueEntry[] =>
  isProduction ? CONNECTOR_CATALOGUE.filter(({ type }) => !DEVELOPMENT_ONLY.has(type)) : CONNECTOR_CATALOGUE;

/** The types that a service runs: in production without those that are for development alone. */
export const servedTypesOf = ({ isProduction }: Surroundings): readonly ConnectorType[] =>
  SERVED_TYPES.filter((type) => !isProduction || !DEVELOPMENT_ONLY.has(type));

/** @throws {DomainError} validation_failed, param `type` */
export const requireServedType = (type: string, surroundings: Surroundings): ConnectorType => {
  const types = servedTypesOf(surroundings);
  const served = types.find((known) => known === type);
  if (served !== undefined) return served;
  throw new DomainError('validation_failed', {
    param: 'type',
    message: `type must be one of ${types.join(', ')}.${/stdio/i.test(type) ? ` ${BRIDGE_FOR_STDIO}` : ''}`,
  });
};

/** Where a connector of the type leads to; a type that is not served any more leads nowhere. */
export const destinationsOf = (type: ConnectorType, config: JsonObject): readonly string[] =>
  RULES[type]?.destinationsOf(config) ?? [];

/** The change log of a connector, whether a witness is asked for or not; null for a type that has none. */
export const changeLogOf = ({
  id,
  type,
  config,
}: Pick<LiveConnector, 'id' | 'type' | 'config'>): ChangeLogPlace | null =>
  RULES[type]?.changeLogOf?.(id, config) ?? null;

/** The kind of credential that a connector takes: its type's own, or what `auth.kind` of its config says; `none` for neither. */
export const credentialKindOf = ({ type, config }: Pick<LiveConnector, 'type' | 'config'>): string =>
  RULES[type]?.credentialKind ?? authKindOf(config);

const authKindOf = ({ auth }: JsonObject): string => {
  if (auth === null || typeof auth !== 'object' || Array.isArray(auth)) return 'none';
  return typeof auth['kind'] === 'string' ? auth['kind'] : 'none';
};

/** Whether it is the type that says which kind its connectors take, and not each config. */
export const isKindOfType = (type: ConnectorType): boolean => RULES[type]?.credentialKind !== undefined;

/**
 * Reads a credential for a connector. A secret that its type must never hold is refused first, wherever it stands.
 * @throws {DomainError} validation_failed with param `kind`, `secret` or `secret.<field>`; what the type refuses
 */
export const readCredentialFor = (
  connector: LiveConnector,
  { kind, secret }: { readonly kind: string; readonly secret: JsonValue | undefined },
): Credential => {
  const { refuseSecret, checkCredential } = RULES[connector.type] ?? {};
  if (refuseSecret !== undefined) for (const text of textsIn(secret)) refuseSecret(text);
  const credential = readCredential(kind, secret);
  if (kind === credentialKindOf(connector)) checkCredential?.(connector.config, credential.values);
  return credential;
};

const textsIn = (value: JsonValue | undefined): readonly string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
};

export interface StoredConfig {
  readonly config: JsonObject;
  readonly configHash: Digest;
  readonly destinations: readonly string[];
  /** The field that leads there, for example `config.base_url`. */
  readonly addressParam: string;
}

/** @throws {DomainError} validation_failed with the field path in `param` */
export const readConfig = (type: ConnectorType, value: JsonValue, settings: ConnectorTypeSettings): StoredConfig => {
  const rules = RULES[requireServedType(type, settings)] as ConnectorTypeRules;
  const config = rules.readConfig(value, settings);
  const fault = settings.faultOf?.(type, config) ?? null;
  if (fault !== null) throw new DomainError('validation_failed', fault);
  const addressParam = `config.${rules.addressKey}`;
  return { config, configHash: digestOfJson(config), destinations: rules.destinationsOf(config), addressParam };
};
