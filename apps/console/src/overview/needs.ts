import type { Schemas } from '../kernel/client.ts';

type Attention = Schemas['Attention'];

/** What waits for people, as the rail counts it. */
export interface Waiting {
  readonly data: readonly Pick<Schemas['Approval'], 'id' | 'tool' | 'agent' | 'expires_at'>[];
  readonly has_more: boolean;
}

/** One line of what needs a person. */
export type Need =
  | { readonly is: 'told'; readonly item: Attention }
  /** It runs out soon. */
  | { readonly is: 'expiring'; readonly approval: Waiting['data'][number] }
  /** All others that wait. */
  | {
      readonly is: 'waiting';
      readonly count: string;
      readonly isOne: boolean;
      readonly firstEndsAt: string;
      readonly to: string;
    }
  /** Calls of one tool of which the witness says the same, newest first. */
  | { readonly is: 'mismatches'; readonly items: readonly Attention[] };

const SOON_MS = 30 * 60_000;
const LINES_OF_APPROVALS = 3;

/**
 * What needs a person: what is wrong with the whole first, then what runs out, what runs out first on top, then what was found,
 * equal ones together. What waits is told by the read of the rail alone, so that no page says two numbers.
 * @param attention as the overview tells it
 * @param pending how many wait, as the overview counts them
 * @param waiting null until it is read
 * @returns null where the two reads do not agree yet that nothing needs anybody
 */
export const needsOf = (
  { attention, pending }: { readonly attention: readonly Attention[]; readonly pending: number },
  waiting: Waiting | null,
  nowMs: number,
): readonly Need[] | null => {
  const told = (...kinds: readonly Attention['kind'][]): readonly Need[] =>
    attention.filter(({ kind }) => kinds.includes(kind)).map((item) => ({ is: 'told', item }));
  const needs = [
    ...told('chain_broken', 'org_stopped'),
    ...(waiting === null ? [] : waitingOf(waiting, nowMs)),
    ...grouped(attention.filter(({ kind }) => kind === 'mismatch')),
    ...told('budget_near', 'connector_failing'),
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
