import type { TableName } from '../../../database-set-up/index.js';

/** What a readiness report is held against: read off the config and the credential by whoever has both. */
export interface ReadinessTerms {
  readonly database: string;
  readonly ssl: 'disable' | 'require' | 'verify-full';
  readonly schemas: readonly string[];
  /** Null where the connector has no witness. */
  readonly witness: { readonly slot: string; readonly publication: string } | null;
  /** Tables that the config names, in its statements or as side effects. */
  readonly namedTables: readonly TableName[];
}
