// Compares the page of an action with the body of its deed (docs/deed-format.md).

/** A value that the page shows; or why it shows none: the body was removed, or there is none. */
export type Stands = { readonly value: unknown } | { readonly absent: 'removed' | 'none' };

/** The decision and the signatures of an approval, as the page shows them. */
export interface ShownApproval {
  readonly decided_at: string | null;
  readonly decided_by: { readonly type: string; readonly id: string | null } | null;
  readonly signed: readonly { readonly by: string; readonly at: string }[];
}

/** What the page of an action shows. */
export interface Shown {
  /** The action's id in the address. */
  readonly id: string;
  /** The action's id in the service's answer. */
  readonly action: string;
  readonly tool: string;
  readonly agent: string;
  readonly on_behalf_of: string | null;
  readonly session: string | null;
  readonly livemode: boolean;
  readonly mode: string;
  readonly created_at: string;
  readonly request_digest: string;
  readonly status: string;
  readonly decision: Section;
  readonly approval: { readonly id: string; readonly status: string } | null;
  /** Null while it is loading. */
  readonly people: ShownApproval | null;
  readonly execution: Section;
  readonly witness: Section;
  readonly args: Stands;
  readonly result: Stands;
  readonly evidence: Stands;
}

type Section = Readonly<Record<string, unknown>> | null;

/** The parts of a deed's body that a page shows. */
export interface Sealed {
  readonly v?: unknown;
  readonly who: { readonly agent: unknown; readonly on_behalf_of: unknown; readonly session: unknown };
  readonly action: Readonly<Record<string, unknown>> | null;
  readonly policy: Readonly<Record<string, unknown>> | null;
  readonly approval: Readonly<Record<string, unknown>> | null;
  readonly execution: Readonly<Record<string, unknown>> | null;
  readonly witness: Readonly<Record<string, unknown>> | null;
}

/** The action's status in one word, as its badge shows it. */
const statusIn = ({ policy, approval, execution }: Sealed): unknown => {
  if (policy?.['outcome'] === 'deny') return 'denied';
  if (approval !== null && approval['status'] !== 'approved') return approval['status'];
  if (execution === null) return null;
  return execution['status'] === 'failed' ? 'failed' : 'executed';
};

const membersOf = (section: Section, names: readonly string[]): unknown =>
  section === null ? null : names.map((name) => section[name] ?? null);

const DECISION = ['outcome', 'code', 'source', 'rule_id', 'message', 'policy', 'policy_version'];
const EXECUTION = ['status', 'attempts', 'error_code', 'started_at', 'finished_at'];
const EVIDENCE = ['level', 'verdict', 'method'];

type Signature = ShownApproval['signed'][number];

const inOrder = (signed: readonly Signature[]): readonly unknown[] =>
  signed.map(({ by, at }) => `${by} ${at}`).toSorted();

/**
 * The decision and signatures on the page and in the deed, in comparable form. The deed of an approved action holds
 * exactly the signatures that counted, so the page must show all of them. The deed of another holds all that were
 * given, of which the page may know fewer: only those that the page shows are compared.
 */
const people = ({ people: shown }: Shown, { approval }: Sealed): readonly [unknown, unknown] => {
  if (shown === null || approval === null) return [shown, approval === null ? null : shown];
  const by = approval['decided_by'] as ShownApproval['decided_by'];
  const sealed = approval['countersigned'] as readonly Signature[];
  const given =
    approval['status'] === 'approved'
      ? sealed
      : sealed.filter((one) => shown.signed.some(({ by: signer, at }) => signer === one.by && at === one.at));
  return [
    [shown.decided_at, shown.decided_by?.type, shown.decided_by?.id, inOrder(shown.signed)],
    [approval['decided_at'], by?.type, by?.id, inOrder(given)],
  ];
};

/**
 * What the page shows differently from what was sealed, in words; empty if nothing differs.
 * @param deed the deed of the action itself
 * @param newest its newest deed, whose verdict the page shows
 */
export const differences = (shown: Shown, deed: Sealed, newest: Sealed): readonly string[] => {
  const facts: readonly (readonly [name: string, page: unknown, sealed: unknown])[] = [
    ['the tool', shown.tool, deed.action?.['tool']],
    ['the agent', shown.agent, deed.who.agent],
    ['on behalf of', shown.on_behalf_of, deed.who.on_behalf_of],
    ['the session', shown.session, deed.who.session],
    ['live or test', shown.livemode, deed.action?.['livemode']],
    ['mode', shown.mode, deed.action?.['mode']],
    ['submission time', shown.created_at, deed.action?.['created_at']],
    // In the newer format a deed holds a commitment to the request, which is compared with its salt.
    ...(deed.v === 'service.deed/2'
      ? []
      : [['the request', shown.request_digest, deed.action?.['request_digest']] as const]),
    ['the status', shown.status, statusIn(deed)],
    ['the decision', membersOf(shown.decision, DECISION), membersOf(deed.policy, DECISION)],
    ['the approval', membersOf(shown.approval, ['id', 'status']), membersOf(deed.approval, ['id', 'status'])],
    ['who decided', ...people(shown, deed)],
    ['what ran', membersOf(shown.execution, EXECUTION), membersOf(deed.execution, EXECUTION)],
    ['the evidence', membersOf(shown.witness, EVIDENCE), membersOf(newest.witness, EVIDENCE)],
  ];
  return facts
    .filter(([, page, sealed]) => JSON.stringify(page ?? null) !== JSON.stringify(sealed ?? null))
    .map(([name]) => name);
};
