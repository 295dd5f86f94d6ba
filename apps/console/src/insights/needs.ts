import type { Schemas } from '../kernel/client.ts';

type Attention = Schemas['Attention'];

/** The approvals that wait for people, from the same query as the count in the navigation rail. */
export interface Waiting {
  readonly data: readonly Pick<Schemas['Approval'], 'id' | 'tool' | 'agent' | 'expires_at'>[];
  readonly has_more: boolean;
}

/** One line of what needs a person. */
export type Need =
  | { readonly is: 'told'; readonly item: Attention }
  /** An approval that expires within 30 minutes. */
  | { readonly is: 'expiring'; readonly approval: Waiting['data'][number] }
  /** All other approvals that wait, in one line. */
  | {
      readonly is: 'waiting';
      readonly count: string;
      readonly isOne: boolean;
      readonly firstEndsAt: string;
      readonly to: string;
    }
  /** Calls of one tool with the same finding of the witness, newest first. */
  | { readonly is: 'mismatches'; readonly items: readonly Attention[] };

const SOON_MS = 30 * 60_000;
const LINES_OF_APPROVALS = 3;

/**
 * What needs a person, in order of urgency: problems of the whole organization and a change log that is lost, then
 * waiting approvals, those that expire first on top, then witnesses that are behind, then mismatches, similar ones
 * grouped, then passkeys that may have been copied, budgets, connectors and held tools. Approvals come only from the query of the navigation rail, so that
 * the page never shows two different numbers.
 * @param attention the overview's list
 * @param pending the number of waiting approvals that the overview counted
 * @param waiting null while it is loading
 * @returns null while nothing is found, but the two reads do not yet agree that nothing waits
 */
export const needsOf = (
  { attention, pending }: { readonly attention: readonly Attention[]; readonly pending: number },
  waiting: Waiting | null,
  nowMs: number,
): readonly Need[] | null => {
  const told = (...kinds: readonly Attention['kind'][]): readonly Need[] =>
    attention.filter(({ kind }) => kinds.includes(kind)).map((item) => ({ is: 'told', item }));
  const needs = [
    ...told('chain_broken', 'ledger_inconsistent', 'org_stopped', 'slot_invalidated'),
    ...(waiting === null ? [] : waitingOf(waiting, nowMs)),
    ...told('slot_lagging'),
    ...grouped(attention.filter(({ kind }) => kind === 'mismatch')),
    ...told('connector_disabled', 'passkey_counter_fell'),
    ...told('budget_near', 'connector_failing', 'tools_held', 'witness_unknown_log', 'ledger_unwitnessed'),
  ];
  const isSure = waiting !== null && (waiting.data.length > 0 || pending === 0);
  return needs.length === 0 && !isSure ? null : needs;
};

const waitingOf = ({ data, has_more: hasMore }: Waiting, nowMs: number): readonly Need[] => {
  const byEnd = [...data].sort((one, other) => one.expires_at.localeCompare(other.expires_at));
  const soon = byEnd.filter(({ expires_at: end }) => Date.parse(end) - nowMs <= SOON_MS).slice(0, LINES_OF_APPROVALS);
  const [first, ...more] = byEnd.slice(soon.length);
  return [
    ...soon.map((approval) => ({ is: 'expiring', approval }) as const),
    ...(first === undefined
      ? []
      : [
          {
            is: 'waiting',
            count: hasMore ? 'More than 99' : String(1 + more.length),
            isOne: more.length === 0 && !hasMore,
            firstEndsAt: first.expires_at,
            to: more.length === 0 && !hasMore ? `/approvals/${first.id}` : '/approvals',
          } as const,
        ]),
  ];
};

const grouped = (mismatches: readonly Attention[]): readonly Need[] => {
  const groups = new Map<string, Attention[]>();
  for (const item of mismatches) {
    const key = JSON.stringify([item.tool, item.summary]);
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return [...groups.values()].map((items) => ({ is: 'mismatches', items }));
};
