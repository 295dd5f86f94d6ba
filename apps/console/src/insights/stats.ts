import type { Schemas } from '../kernel/client.ts';
import type { ChartTone } from '../kit/chart.tsx';

export type Decisions = Schemas['DecisionStats'];
export type Verdicts = Schemas['VerdictStats'];
export type By = Decisions['by'];

interface Keyed {
  readonly day?: string;
  /** The instants at which the day begins and ends in the organization's time zone. */
  readonly from?: string;
  readonly to?: string;
  readonly rule_id?: string | null;
  readonly tool?: string;
  readonly agent?: string;
}

/** One line of counts, of decisions or of verdicts. */
export type Line = Keyed & Readonly<Record<string, unknown>> & { readonly total: number };

/** One part of a line's total. */
export interface Part {
  readonly name: string;
  readonly tone: ChartTone;
  readonly count: (line: Line) => number;
  /** The filters by which the list of actions shows this part; null if no filter can. */
  readonly finds: Readonly<Record<string, string>> | null;
}

const member = (name: string) => (line: Line) => Number(line[name] ?? 0);

export const DECISION_PARTS: readonly Part[] = [
  { name: 'Allowed', tone: 'accent', count: member('allowed'), finds: { decision: 'allow' } },
  { name: 'Approval required', tone: 'warn', count: member('asked'), finds: { decision: 'require_approval' } },
  { name: 'Denied', tone: 'bad', count: member('denied'), finds: { decision: 'deny' } },
];

export const VERDICT_PARTS: readonly Part[] = [
  {
    name: 'Confirmed',
    tone: 'ok',
    count: member('verified_independently'),
    finds: { verdict: 'VERIFIED', level: 'L1,L2' },
  },
  {
    name: 'Reported',
    tone: 'accent',
    count: (line) => Number(line['verified'] ?? 0) - Number(line['verified_independently'] ?? 0),
    finds: { verdict: 'VERIFIED', level: 'L0' },
  },
  { name: 'Unverifiable', tone: 'warn', count: member('unverifiable'), finds: { verdict: 'UNVERIFIABLE' } },
  { name: 'Mismatch', tone: 'bad', count: member('mismatch'), finds: { verdict: 'MISMATCH' } },
  { name: 'Not verified', tone: 'quiet', count: member('not_witnessed'), finds: null },
];

interface Span {
  readonly from: string;
  readonly to: string;
}

/** The filters that find the actions of a line; null if no filter can. */
const findsLine = (line: Line, { from, to }: Span): Readonly<Record<string, string>> | null => {
  const between = { 'created_at[gte]': from, 'created_at[lt]': to };
  if (line.from !== undefined && line.to !== undefined) {
    return { 'created_at[gte]': line.from, 'created_at[lt]': line.to };
  }
  if (line.agent !== undefined) return { agent: line.agent, ...between };
  if (typeof line.rule_id === 'string') return { rule_id: line.rule_id, ...between };
  // The filter would read a star as a pattern, and find other tools, too.
  if (line.tool !== undefined && !line.tool.includes('*')) return { tool: line.tool, ...between };
  return null;
};

/**
 * The address of the list of actions that a number counts.
 * @param part null for the whole line
 * @returns null if no list shows exactly these actions
 */
export const listOf = (line: Line, part: Part | null, span: Span): string | null => {
  const of = findsLine(line, span);
  if (of === null || part?.finds === null) return null;
  return `/actions?${new URLSearchParams({ ...of, ...part?.finds }).toString()}`;
};

/** The id, name or day that a line is about. */
export const keyOf = (line: Line): string => line.day ?? line.agent ?? line.tool ?? line.rule_id ?? '';
