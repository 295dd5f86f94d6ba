import type { Schemas } from '../kernel/client.ts';
import type { ToldType } from '../kernel/live-events.ts';

export type Pattern = Schemas['EventSubscription'][number];

/** When an event of each type is sent, as the rest of a sentence that begins with "When". */
const WHEN: Readonly<Record<ToldType, string>> = {
  'action.created': 'an agent submits a call',
  'action.decided': 'a call is allowed, denied or held for approval',
  'action.executed': 'the outcome of a call is known, or will never be known',
  'action.witnessed': 'a call is verified, or verified again',
  'deed.sealed': 'a deed is sealed',
  'approval.requested': 'a call waits for approval',
  'approval.countersigned': 'one of several approvers approved',
  'approval.decided': 'an approval is approved, denied, cancelled or expired',
  'agent.stopped': 'an agent was stopped',
  'agent.resumed': 'an agent is resumed',
  'agent.suspended': 'an agent was suspended',
  'org.stopped': 'all agents were stopped',
  'org.started': 'all agents are started again',
  'policy.activated': 'a policy version is enforced or starts in shadow',
  'connector.tools_changed': 'a server changes its tools, or an admin accepts such a change',
  'decoder.degraded': 'the witness of a database falls behind or loses its log',
  'decoder.recovered': 'the witness of a database is well again',
  'decoder.alert': 'a watched database is changed past the service, or a mark is forged',
};

const NAMES: Readonly<Record<string, string>> = {
  action: 'Actions',
  deed: 'Deeds',
  approval: 'Approvals',
  agent: 'Agents',
  org: 'Organization',
  policy: 'Policies',
  connector: 'Connectors',
  decoder: 'Witnesses of databases',
};

interface EventGroup {
  readonly family: Pattern;
  readonly name: string;
  readonly types: readonly { readonly type: Pattern; readonly when: string }[];
}

const familyOf = (type: Pattern): Pattern => `${type.split('.')[0] ?? ''}.*` as Pattern;

/** All types to choose from, grouped by their object. */
export const GROUPS: readonly EventGroup[] = Object.keys(NAMES).map((object) => ({
  family: `${object}.*` as Pattern,
  name: NAMES[object] ?? object,
  types: Object.entries(WHEN)
    .filter(([type]) => type.startsWith(`${object}.`))
    .map(([type, when]) => ({ type: type as Pattern, when })),
}));

/**
 * How a pattern is chosen: `by itself` if it is in the list, `by more` if a wider pattern of the list includes it, so
 * that it cannot be removed alone; null if it is not chosen.
 */
export const chosenBy = (chosen: readonly Pattern[], pattern: Pattern): 'by itself' | 'by more' | null => {
  if (pattern !== '*' && chosen.includes('*')) return 'by more';
  if (pattern !== '*' && !pattern.endsWith('.*') && chosen.includes(familyOf(pattern))) return 'by more';
  return chosen.includes(pattern) ? 'by itself' : null;
};

/**
 * The list after a press on a pattern: removes it or adds it. A family or `*` replaces the patterns that it includes.
 */
export const toggled = (chosen: readonly Pattern[], pattern: Pattern): readonly Pattern[] => {
  if (chosen.includes(pattern)) return chosen.filter((other) => other !== pattern);
  if (pattern === '*') return ['*'];
  const rest = pattern.endsWith('.*') ? chosen.filter((other) => familyOf(other) !== pattern) : chosen;
  return [...rest, pattern];
};

/** The chosen patterns in words: `everything`, or the API's names. */
export const inWords = (events: readonly Pattern[]): string =>
  events.includes('*') ? 'everything' : events.join(', ');
