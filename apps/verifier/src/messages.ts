import type { BundleVerdict, ChainHead } from '#libs/crypto';
import type { DeedRow, Page } from '#libs/evidence';

/** A bundle, and what its reader knows beside it, as texts and files: a thread is sent nothing else. */
export interface Given {
  readonly bundle: Blob;
  readonly org: string;
  readonly pins: readonly string[];
  readonly heads: readonly ChainHead[];
  /** The published key set, or null: then the bundle's own counts. */
  readonly keySet: Blob | null;
  /** As the service publishes them, a line each. */
  readonly checkpointKeys: readonly string[];
  /** A tlog-policy file with the witnesses that are asked for. */
  readonly policy: Blob | null;
}

/** What the page asks of the thread that judges. */
export type Question =
  | { readonly ask: 'verdict'; readonly given: Given }
  /** Of the bundle that was judged: what it is of. */
  | { readonly ask: 'rows' }
  | { readonly ask: 'account'; readonly id: string };

/** What the thread says. `failure` ends the question before it. */
export type Answer =
  | { readonly said: 'progress'; readonly deeds: number; readonly total: number }
  /** `beginning`: what the file begins with. */
  | { readonly said: 'verdict'; readonly verdict: BundleVerdict; readonly beginning: Uint8Array }
  | { readonly said: 'rows'; readonly rows: readonly DeedRow[] }
  | { readonly said: 'account'; readonly page: Page | null }
  | { readonly said: 'failure'; readonly message: string };
