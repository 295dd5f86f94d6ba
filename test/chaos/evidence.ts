import type { BundleVerdict } from '#libs/crypto';

/** All that is known of a run from outside of the service. The checker reads this and nothing else. */
export interface Evidence {
  readonly org: string;
  /** What a tool may do, by the word of whoever configured it: `once`, or up to three times (`repeatable`). */
  readonly tools: Readonly<Record<string, ToolTerms>>;
  /** In the order in which they were sent. */
  readonly calls: readonly ClientCall[];
  /** What reached the upstream whole, in its order. */
  readonly upstream: readonly UpstreamRequest[];
  /** The whole log, in its order. */
  readonly events: readonly LoggedEvent[];
  /** What the service told by itself of what happened. */
  readonly told: Told;
  readonly exports: readonly ExportedBundle[];
  /** What `GET /v1/ledger/check` said at the end. */
  readonly ledgerCheck: Members;
  /** Rows of each list, as the API gave them before and after its projection was made anew. */
  readonly rows: Readonly<Record<string, { readonly before: readonly Members[]; readonly after: readonly Members[] }>>;
  /** What making them anew said when it failed; null when it did not. */
  readonly rebuildFault: string | null;
  readonly rest: Rest;
  readonly accessLines: readonly AccessLine[];
  readonly processEnds: readonly ProcessEnd[];
  /** What belongs to nobody but the vault, its key file, an agent or an operator. */
  readonly canaries: readonly { readonly name: string; readonly text: string | Buffer }[];
  /** Where they must not be. */
  readonly places: readonly { readonly name: string; readonly bytes: Buffer }[];
}

export type Members = Readonly<Record<string, unknown>>;

export interface ToolTerms {
  readonly class: 'once' | 'repeatable';
  readonly isRead: boolean;
  /** Each request carries an `Idempotency-Key`, by which the upstream knows a repeated one. */
  readonly isKeyed: boolean;
}

export interface ClientCall {
  readonly number: number;
  readonly method: string;
  readonly path: string;
  /** Whose key it carried; null without one. */
  readonly caller: string | null;
  readonly idempotencyKey: string | null;
  /** The body as it was sent; empty without one. */
  readonly request: string;
  /** The tool of a submission. */
  readonly tool: string | null;
  /** Monotonic, of the client. */
  readonly beganMs: number;
  readonly endedMs: number;
  /** A fault may have been under way meanwhile. */
  readonly isUnderFault: boolean;
  /** Null: the connection was lost. */
  readonly answer: ClientAnswer | null;
}

export interface ClientAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The members of a JSON object; empty for anything else. */
  readonly json: Members;
}

export interface UpstreamRequest {
  /** Of the header that every connector call carries. */
  readonly action: string | null;
  /** What the client named the effect: part of the path. */
  readonly effect: string;
  /** Its `Idempotency-Key`; null without one. */
  readonly repeatKey: string | null;
  readonly isApplied: boolean;
  /** The status that it was answered with, whole; null where the connection was broken or is held. */
  readonly answered: number | null;
}

export interface LoggedEvent {
  readonly position: number;
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly data: Members;
  readonly metadata: Members;
}

export interface Told {
  /** In the order in which they were made. */
  readonly webhooks: readonly HeardWebhook[];
  /** What reached their receivers whole, in its order. */
  readonly arrivals: readonly Arrival[];
  /** Ids of public events, each list as one stream told it from a `hello` to the next `resync`, however often it broke. */
  readonly streams: readonly (readonly string[])[];
}

/** An endpoint for every type of event. */
export interface HeardWebhook {
  readonly id: string;
  readonly secret: string;
}

/** One attempt at a delivery. */
export interface Arrival {
  readonly path: string;
  /** Of the headers. */
  readonly webhook: string;
  readonly event: string;
  readonly signature: string;
  readonly body: string;
  readonly isUnderFault: boolean;
  /** The status that it was answered with, whole; null where the connection was broken or is held. */
  readonly answered: number | null;
}

export interface ExportedBundle {
  /** When it was asked for, as in `GET /v1/deeds/export (3)`. */
  readonly name: string;
  readonly bytes: Buffer;
  /** The connection ended before the export did. */
  readonly isCut: boolean;
  /** The last one, of the service at rest: it holds every deed. */
  readonly isLast: boolean;
  readonly verdict: BundleVerdict;
}

/** How the service came to rest when the faults had ended. */
export interface Rest {
  /** From when on nothing was wrong any more; what was accepted before may have waited for that. */
  readonly faultsEndedAt: string;
  readonly limitMs: number;
  /** From then until health was `ok` everywhere; longer than the limit where it did not come to that. */
  readonly wellAfterMs: number;
  /** Actions that had no deed when the limit had passed. */
  readonly unsealed: readonly string[];
  readonly health: Members;
}

export interface AccessLine {
  readonly requestId: string;
  readonly status: number;
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
  /** Somebody killed it, or ordered it to kill itself. */
  readonly isExpected: boolean;
}
