import { type ActionId, parseId, type Timestamp } from '#libs/domain/kernel';
import type { DeedKind } from '#libs/domain/ledger';
import { queryProblem } from '../http/query-string.js';
import { commaList, instantAtOrAfter } from '../lists/filter-values.js';

const KINDS = ['action', 'amendment', 'admin'] as const satisfies readonly DeedKind[];

/** The parsed filters of GET /v1/deeds; null for a filter that was not sent. */
export interface DeedFilters {
  readonly kinds: readonly DeedKind[] | null;
  readonly action: ActionId | null;
  readonly issuedFrom: Timestamp | null;
  readonly issuedBefore: Timestamp | null;
  readonly seqFrom: number | null;
  readonly seqBefore: number | null;
  /** The order by `seq`: ascending as the chain grew, or the newest deed first. */
  readonly order: 'asc' | 'desc';
}

/** The filters by their names in the query; other parameters are ignored here. */
export interface DeedFilterParameters {
  readonly kind?: string;
  readonly action?: string;
  readonly 'issued_at[gte]'?: string;
  readonly 'issued_at[lt]'?: string;
  readonly 'seq[gte]'?: number;
  readonly 'seq[lt]'?: number;
  readonly order?: string;
}

/** @throws {DomainError} `validation_failed` with `param` the first invalid parameter, in the order below */
export const parseDeedFilters = (sent: DeedFilterParameters): DeedFilters => ({
  kinds: commaList('kind', sent.kind, KINDS),
  action: sent.action === undefined ? null : actionId(sent.action),
  issuedFrom: instantAtOrAfter('issued_at[gte]', sent['issued_at[gte]']),
  issuedBefore: instantAtOrAfter('issued_at[lt]', sent['issued_at[lt]']),
  seqFrom: sent['seq[gte]'] ?? null,
  seqBefore: sent['seq[lt]'] ?? null,
  order: orderOf(sent.order ?? 'asc'),
});

const actionId = (text: string): ActionId => {
  const id = parseId('act', text);
  if (!id) throw queryProblem('action', 'must be the id of an action, act_ and 26 characters');
  return id;
};

const orderOf = (text: string): 'asc' | 'desc' => {
  if (text !== 'asc' && text !== 'desc') throw queryProblem('order', 'must be asc or desc');
  return text;
};
