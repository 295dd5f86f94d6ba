import type { JsonObject, JsonValue } from '#libs/crypto';

import type { ConnectorId, WitnessLevel } from '../kernel/index.js';
import type { ConfigSchema } from './config-schema.js';
import type { ConnectorType, CredentialKind } from './connector.events.js';
import type { ArgumentFault, SideEffect } from './connector-driver.port.js';
import type { CREDENTIAL_FIELDS } from './credential.js';

export interface ConnectorTypeSettings {
  readonly isProduction: boolean;
  /**
   * What the driver of a type finds wrong with a config that keeps to its type's rules: what it takes more than rules to
   * judge, such as a grammar. Absent where there are no drivers.
   */
  readonly faultOf?: (type: ConnectorType, config: JsonObject) => ArgumentFault | null;
}

/** What is known of a connector's type beside how its tools run, which is the driver's part. */
export interface ConnectorTypeRules {
  readonly catalogueEntry: CatalogueEntry;
  /** In production there is no such type. */
  readonly isDevelopmentOnly?: true;
  /** The config as stored, every default filled in. Throws validation_failed with the field path in `param`. */
  readonly readConfig: (config: JsonValue, settings: ConnectorTypeSettings) => JsonObject;
  /** The key of a config that says where its calls go: `config.<key>` is at fault where the egress rules forbid it. */
  readonly addressKey: string;
  /** Where its calls go: judged by the egress rules at creation and at every dial. */
  readonly destinationsOf: (config: JsonObject) => readonly string[];
  /**
   * The kind of credential that every connector of the type takes. Absent where the config says it in `auth.kind`, and for
   * a type that takes none.
   */
  readonly credentialKind?: CredentialKind;
  /**
   * Asked of every text in a credential as it was sent, whatever its kind and its field, before anything else of it is
   * judged: for types that must never hold certain secrets.
   * @throws {DomainError} a code of the type's own
   */
  readonly refuseSecret?: (text: string) => void;
  /**
   * Refuses a credential of the right kind that does not fit the type or the config, before anything of it is stored.
   * @throws {DomainError} validation_failed, param `secret.<field>`
   */
  readonly checkCredential?: (config: JsonObject, values: ReadonlyMap<string, string>) => void;
  /** The change log that witnesses the calls of a connector. Absent for a type whose systems have none. */
  readonly changeLogOf?: (connector: ConnectorId, config: JsonObject) => ChangeLogPlace;
}

/** Where the change log of a connector is, and what of it is read. */
export interface ChangeLogPlace {
  /** Whether the config asks for a witness. */
  readonly isWanted: boolean;
  /** As the egress door dials it. */
  readonly destination: string;
  readonly database: string;
  readonly slot: string;
  readonly publication: string;
  /** Whether changes past the service are told, and not only counted. */
  readonly watchBypass: boolean;
}

/** What a person who sets up a connector reads (rule CON-8). */
export type CatalogueEntry = {
  readonly object: 'connector_type';
  readonly type: ConnectorType;
  readonly title: string;
  readonly summary: string;
  readonly status: 'stable' | 'beta' | 'dev';
  /** Names an icon of the Console. */
  readonly icon: string;
  readonly modes: readonly ('sandbox_only' | 'drafts_only' | 'dev_only')[];
  /** In the order in which they are done. */
  readonly setup_steps: readonly string[];
  /** Sizes in bytes, times in milliseconds, as their names say. */
  readonly limits: Readonly<Record<string, number>>;
  /** What its config holds, for forms and editors. What more it must keep to is `readConfig`'s to say. */
  readonly config_schema: ConfigSchema;
  /** The tools come from each connector's own config or server. */
  readonly tools_dynamic: boolean;
  /** Who names them: the type itself, for all its connectors alike, each connector's config, or the server behind it. */
  readonly tools_from: 'type' | 'config' | 'server';
  /** The tools that every connector of the type has. */
  readonly tools: readonly CatalogueTool[];
  readonly credentials: readonly CatalogueCredential[];
  /** A policy to begin with, in which `{name}` stands for the connector's; null where its tools are each config's or server's own. */
  readonly starter_policy: string | null;
};

type CatalogueTool = {
  readonly name: string;
  readonly side_effect: SideEffect;
  readonly levels: readonly WitnessLevel[];
  readonly read_back: string | null;
};

type CatalogueCredential = {
  readonly kind: keyof typeof CREDENTIAL_FIELDS;
  readonly summary: string;
  readonly fields: readonly CatalogueField[];
};

export type CatalogueField = {
  readonly name: string;
  /** Hidden while it is typed. */
  readonly secret: boolean;
  readonly help: string;
  /** How such a value begins, where all of them begin alike. */
  readonly prefix_hint: string | null;
  /** May be left out, together with all others that may. */
  readonly optional?: true;
};
