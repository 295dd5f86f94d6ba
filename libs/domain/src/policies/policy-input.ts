import type { JsonObject } from '#libs/crypto';

import type { CallMode, SideEffect, Timestamp } from '../kernel/index.js';

/**
 * Everything a decision is made from, and nothing else: the gate stores it as one payload document, so that a dry run or
 * a replay judges what was judged. Snake case and plain JSON: the document is read by auditors and by other languages.
 */
export type PolicyInput = {
  /** Qualified, `<connector>.<tool>`. */
  readonly tool: string;
  readonly args: JsonObject;
  readonly agent: { readonly id: string; readonly name: string; readonly labels: Readonly<Record<string, string>> };
  /** Null when the call is on nobody's behalf. */
  readonly user: { readonly ref: string | null };
  readonly session: { readonly ref: string | null };
  readonly intent: { readonly signed: boolean };
  readonly mode: CallMode;
  readonly side_effect: SideEffect;
  readonly now: Timestamp;
  readonly request: PolicyRequestFacts;
};

/** What a statement of SQL does, as the connectors tell it (their SqlKind). */
export const STATEMENT_KINDS = ['select', 'insert', 'update', 'delete', 'merge', 'truncate'] as const;

/** Facts a connector supplies before anything is sent. One that it does not supply is absent, never empty. */
export type PolicyRequestFacts = {
  /** Absent when the arguments build no request (rule POLICY-5). */
  readonly http?: { readonly method: string; readonly path: string; readonly host: string };
  /** What the server of an MCP connector says of the tool; its hints are its own word. */
  readonly mcp?: {
    readonly protocol: string;
    readonly definition: string;
    readonly read_only: boolean;
    readonly destructive: boolean;
    readonly idempotent: boolean;
    readonly open_world: boolean;
  };
  /** What a statement does, by its own text. Absent when it is none that may be sent. */
  readonly sql?: {
    readonly kind: (typeof STATEMENT_KINDS)[number];
    readonly tables: string[];
    readonly statement_count: 1;
    readonly has_where: boolean;
    readonly is_parameterized: boolean;
    readonly functions: string[];
  };
  /** What the payments processor says of what the call would change. All but `enriched` may be null. */
  readonly payments?: {
    readonly enriched: boolean;
    readonly charge: string | null;
    readonly payment_intent: string | null;
    readonly customer: string | null;
    readonly currency: string | null;
    readonly charge_amount: number | null;
    readonly amount_refunded: number | null;
    readonly refundable: number | null;
    readonly disputed: boolean | null;
    readonly charge_age_days: number | null;
    readonly amount_display: string | null;
    readonly subscription: string | null;
    readonly status: string | null;
    readonly current_period_end: string | null;
    readonly amount_per_period: number | null;
    readonly interval: string | null;
  };
  /** What the call spends, for budgets; absent where the type cannot say. */
  readonly cost?: { readonly amount: number; readonly currency: string };
};
