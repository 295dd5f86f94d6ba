import type { Digest } from '#libs/crypto';

import type { SqlKind } from './change-log.js';

/** What the policy may know about the request before anything is sent. A member is present only where the type supplies it. */
export interface RequestFacts {
  readonly http?: {
    readonly method: string;
    /** Path as it will be sent, without the query. */
    readonly path: string;
    /** Host in its dialled spelling, with the port when it is not the scheme's own. */
    readonly host: string;
  };
  /** Of one statement of SQL, by the database's own grammar. Absent where the text is no such statement. */
  readonly sql?: SqlFacts;
  /** Of a tool of an MCP server: what its server says of it. Its hints are its own word, and nothing checks them. */
  readonly mcp?: {
    readonly protocol: string;
    readonly definition: Digest;
    readonly read_only: boolean;
    readonly destructive: boolean;
    readonly idempotent: boolean;
    readonly open_world: boolean;
  };
  /** What the payments processor says of what the call would change. */
  readonly payments?: PaymentsFacts;
  /** What the call spends, in the smallest unit of its currency (ISO 4217, lower case). Absent where the type cannot say. */
  readonly cost?: CallCost;
}

export interface SqlFacts {
  readonly kind: SqlKind;
  /** Every table that is read or changed, `schema.table`, sorted; names of common table expressions are none. */
  readonly tables: string[];
  readonly statement_count: 1;
  /** Of an UPDATE or DELETE: whether it has a WHERE. False for any other kind of statement. */
  readonly has_where: boolean;
  readonly is_parameterized: boolean;
  /** Names of the functions called, `schema.name` where the text names a schema, sorted. */
  readonly functions: string[];
}

/** What the processor says of what a call would change, as policies read it. Absent members are null. */
export type PaymentsFacts = {
  /** Whether the processor could be read. All else is null where it could not. */
  readonly enriched: boolean;
  readonly charge: string | null;
  readonly payment_intent: string | null;
  readonly customer: string | null;
  readonly currency: string | null;
  /** In minor units. */
  readonly charge_amount: number | null;
  readonly amount_refunded: number | null;
  /** `charge_amount` minus `amount_refunded`. */
  readonly refundable: number | null;
  readonly disputed: boolean | null;
  /** Whole days since the charge, when it was first judged. */
  readonly charge_age_days: number | null;
  /** `refundable` as people read it. */
  readonly amount_display: string | null;
  readonly subscription: string | null;
  readonly status: string | null;
  readonly current_period_end: string | null;
  /** In minor units; null where a price has tiers. */
  readonly amount_per_period: number | null;
  readonly interval: string | null;
};

/** In the smallest unit of its currency, whose ISO 4217 code stands in lower case. */
export interface CallCost {
  readonly amount: number;
  readonly currency: string;
}
