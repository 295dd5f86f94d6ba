import { dossierOf, type Dossier } from './dossier.js';
import type { Evidence } from './evidence.js';
import { approvalsHold } from './invariants/approvals.js';
import { budgetsHold } from './invariants/budgets.js';
import { acceptedIsDurable, comesToRest, readsOwnWrites, terminalStaysTerminal } from './invariants/durability.js';
import { answersAreWhole, inputCausesNoFault, secretsStaySecret } from './invariants/edge.js';
import { atMostOnce, keysAreIdempotent, outcomesAreTrue } from './invariants/effects.js';
import { chainIsGapless, oneDeedEach, sealsVerify } from './invariants/ledger.js';
import { rowsAreTheLog } from './invariants/projections.js';
import { streamsTellTheLog, webhooksArrive } from './invariants/told.js';

interface Invariant {
  readonly title: string;
  /** What breaks it, one sentence each, with the ids concerned. */
  readonly faultsIn: (dossier: Dossier) => readonly string[];
}

const INVARIANTS = {
  'INV-01': { title: 'what was accepted is durable', faultsIn: acceptedIsDurable },
  'INV-02': { title: 'at most once, or an honest word', faultsIn: atMostOnce },
  'INV-03': { title: 'no outcome is invented', faultsIn: outcomesAreTrue },
  'INV-04': { title: 'no deed is lost, none is made twice', faultsIn: oneDeedEach },
  'INV-05': { title: 'the chain has no gap', faultsIn: chainIsGapless },
  'INV-06': { title: 'every seal verifies', faultsIn: sealsVerify },
  'INV-07': { title: 'one key, one action', faultsIn: keysAreIdempotent },
  'INV-08': { title: 'a stream tells the log', faultsIn: streamsTellTheLog },
  'INV-09': { title: 'no webhook is lost', faultsIn: webhooksArrive },
  'INV-10': { title: 'rows are what the log says', faultsIn: rowsAreTheLog },
  'INV-11': { title: 'no budget is passed', faultsIn: budgetsHold },
  'INV-13': { title: 'an approval is decided once, and nothing runs without it', faultsIn: approvalsHold },
  'INV-15': { title: 'secrets stay secret', faultsIn: secretsStaySecret },
  'INV-16': { title: 'all comes to rest by itself', faultsIn: comesToRest },
  'INV-17': { title: 'whoever writes reads what was written', faultsIn: readsOwnWrites },
  'INV-18': { title: 'an end is the end', faultsIn: terminalStaysTerminal },
  'INV-19': { title: 'no input causes a fault', faultsIn: inputCausesNoFault },
  'INV-20': { title: 'every answer is whole', faultsIn: answersAreWhole },
} as const satisfies Record<string, Invariant>;

export type InvariantId = keyof typeof INVARIANTS;

/** Invariants of the same catalogue that are not computed, and why: what they speak of does not exist, or not here. */
export const NOT_COMPUTED: Readonly<Record<string, string>> = {
  'INV-12': 'the agents of these runs sign nothing; test/gate/signed-intents.spec.ts holds each nonce to one action',
  'INV-14': 'nobody is stopped in these runs; test/gate/send-barrier.spec.ts holds a Stop against the last byte',
};

export interface Violation {
  readonly invariant: InvariantId;
  readonly title: string;
  readonly message: string;
}

/** Everything that the evidence shows to be wrong, by invariant. A pure function: it asks nobody and reads no clock. */
export const violationsIn = (evidence: Evidence): readonly Violation[] => {
  const dossier = dossierOf(evidence);
  return Object.entries<Invariant>(INVARIANTS).flatMap(([invariant, { title, faultsIn }]) =>
    faultsIn(dossier).map((message) => ({ invariant: invariant as InvariantId, title, message })),
  );
};

export const INVARIANT_IDS = Object.keys(INVARIANTS) as readonly InvariantId[];
