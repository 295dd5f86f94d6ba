import type { Schemas } from '../kernel/client.ts';

export type Pattern = Schemas['EventSubscription'][number];

/** Types that the API names and nothing here tells of yet: they are offered once something does. */
type NotYet = Extract<Schemas['EventType'], `${'anomaly' | 'suggestion' | 'decoder'}.${string}`>;

/** A test is sent to whom it is about, whatever an endpoint is subscribed to. */
type Told = Exclude<Schemas['EventType'], 'webhook.test' | NotYet>;

/** When each is told, as the rest of a sentence that begins with 'When'. */
const WHEN: Readonly<Record<Told, string>> = {
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
};

const NAMES: Readonly<Record<string, string>> = {
  action: 'Actions',
  deed: 'Deeds',
  approval: 'Approvals',
  agent: 'Agents',
  org: 'Organization',
  policy: 'Policies',
};

interface EventGroup {
  readonly family: Pattern;
  readonly name: string;
  readonly types: readonly { readonly type: Pattern; readonly when: string }[];
}

const familyOf = (type: Pattern): Pattern => `${type.split('.')[0] ?? ''}.*` as Pattern;

/** All there are to choose from, by the object that they are about. */
export const GROUPS: readonly EventGroup[] = Object.keys(NAMES).map((object) => ({
  family: `${object}.*` as Pattern,
  name: NAMES[object] ?? object,
  types: Object.entries(WHEN)
    .filter(([type]) => type.startsWith(`${object}.`))
    .map(([type, when]) => ({ type: type as Pattern, when })),
}));

/** `by itself`: it is named. `by more`: what is named holds it, and it cannot be taken away alone. */
export const chosenBy = (chosen: readonly Pattern[], pattern: Pattern): 'by itself' | 'by more' | null => {
  if (pattern !== '*' && chosen.includes('*')) return 'by more';
  if (pattern !== '*' && !pattern.endsWith('.*') && chosen.includes(familyOf(pattern))) return 'by more';
  return chosen.includes(pattern) ? 'by itself' : null;
};

/** What is named once by a family, or by everything, is not named again by itself. */
export const toggled = (chosen: readonly Pattern[], pattern: Pattern): readonly Pattern[] => {
  if (chosen.includes(pattern)) return chosen.filter((other) => other !== pattern);
  if (pattern === '*') return ['*'];
  const rest = pattern.endsWith('.*') ? chosen.filter((other) => familyOf(other) !== pattern) : chosen;
  return [...rest, pattern];
};

/** `everything`, or the types as the API names them. */
export const inWords = (events: readonly Pattern[]): string =>
  events.includes('*') ? 'everything' : events.join(', ');
