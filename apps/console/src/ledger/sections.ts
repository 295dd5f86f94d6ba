import type { DeedBody, Section } from './body.ts';

/** One member of a section: its name in the format, and its label for people. */
export interface Line {
  readonly name: string;
  readonly label: string;
  readonly value: unknown;
}

export interface SectionOfDeed {
  readonly name: string;
  readonly title: string;
  readonly lines: readonly Line[];
  /** Labels of the members without a value. */
  readonly empty: readonly string[];
}

type Labels = readonly (readonly [member: string, label: string])[];

/** The sections and their known members, in reading order. Other members follow, under their names in the format. */
const SECTIONS: readonly (readonly [name: string, title: string, labels: Labels])[] = [
  [
    'who',
    'Who',
    [
      ['actor', 'By'],
      ['agent', 'Agent'],
      ['on_behalf_of', 'On behalf of'],
      ['session', 'Session'],
      ['key', 'API key'],
      ['intent_signed', 'Signed intent'],
      ['intent_hash', 'Digest of the signed intent'],
    ],
  ],
  [
    'admin',
    'Change',
    [
      ['action', 'Change'],
      ['target', 'Of'],
      ['reason', 'Reason'],
      ['data_digest', 'Digest of the change'],
    ],
  ],
  [
    'action',
    'Request',
    [
      ['tool', 'Tool'],
      ['tool_truncated', 'Tool name shortened'],
      ['id', 'Action'],
      ['connector', 'Connector'],
      ['created_at', 'Submitted at'],
      ['mode', 'Run by'],
      ['livemode', 'Key'],
      ['args_digest', 'Digest of the arguments'],
      ['request_digest', 'Digest of the request'],
      ['tool_digest', 'Digest of what is sent'],
      ['undo_of', 'Takes back'],
    ],
  ],
  [
    'policy',
    'Decision',
    [
      ['outcome', 'Decision'],
      ['source', 'Decided by'],
      ['rule_id', 'Rule'],
      ['reason', 'Reason'],
      ['code', 'Code'],
      ['message', 'Message to the agent'],
      ['policy', 'Enforced policy'],
      ['policy_version', 'Policy version'],
      ['decided_at', 'Decided at'],
      ['input_digest', 'Digest of the policy input'],
    ],
  ],
  [
    'approval',
    'Approval',
    [
      ['status', 'Outcome'],
      ['countersigned', 'Approved by'],
      ['decided_by', 'Decided by'],
      ['decided_at', 'Decided at'],
      ['required', 'Approvals required'],
      ['expires_at', 'Expiry'],
      ['id', 'Approval'],
      ['context_digest', 'Digest of the approval context'],
    ],
  ],
  [
    'execution',
    'Execution',
    [
      ['status', 'Outcome'],
      ['attempts', 'Attempts'],
      ['error_code', 'Error'],
      ['first_sent_at', 'First sent at'],
      ['started_at', 'Started at'],
      ['finished_at', 'Ended at'],
      ['result_digest', 'Digest of the result'],
      ['message', 'Digest of the error message'],
    ],
  ],
  [
    'witness',
    'Evidence',
    [
      ['verdict', 'Verdict'],
      ['level', 'Level'],
      ['method', 'Method'],
      ['reasons', 'Reasons'],
      ['evidence_digest', 'Digest of the evidence'],
    ],
  ],
  [
    'cost',
    'Cost',
    [
      ['amount', 'Amount (smallest unit)'],
      ['currency', 'Currency'],
    ],
  ],
  [
    'chain',
    'Chain',
    [
      ['seq', 'Sequence number'],
      ['issued_at', 'Issued at'],
      ['id', 'Deed'],
      ['kind', 'Kind'],
      ['prev_hash', 'Previous deed hash'],
      ['kid', 'Seal key'],
      ['org', 'Organization'],
      ['v', 'Format'],
    ],
  ],
  [
    'source',
    'Sealed event',
    [
      ['stream', 'Stream'],
      ['revision', 'Revision'],
      ['event_id', 'Event'],
    ],
  ],
];

const isNothing = (value: unknown): boolean =>
  value === null || value === '' || value === false || (Array.isArray(value) && value.length === 0);

const sectionOf = (name: string, title: string, labels: Labels, members: Section): SectionOfDeed => {
  const known = labels.filter(([member]) => Object.hasOwn(members, member));
  const others = Object.keys(members)
    .filter((member) => !labels.some(([labelled]) => labelled === member))
    .map((member) => [member, member] as const);
  const lines = [...known, ...others].map(([member, label]) => ({ name: member, label, value: members[member] }));
  // `livemode: false` is shown, because it tells of a test key; any other `false` counts as empty.
  const isEmpty = ({ name: member, value }: Line): boolean => isNothing(value) && member !== 'livemode';
  return {
    name,
    title,
    lines: lines.filter((line) => !isEmpty(line)),
    empty: lines.filter(isEmpty).map(({ label }) => label),
  };
};

const isSection = (value: unknown): value is Section =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** All members of a deed, in reading order, and the titles of the sections that are null. */
export const sectionsOf = (
  body: DeedBody,
): { readonly sections: readonly SectionOfDeed[]; readonly absent: readonly string[] } => {
  const all = body as unknown as Section;
  const own = Object.fromEntries(Object.entries(all).filter(([, value]) => !isSection(value) && value !== null));
  const known = SECTIONS.flatMap(([name, title, labels]) => {
    const members = all[name];
    if (!isSection(members)) return [];
    // The deed's top-level members are shown with the chain section, since they tell the deed's place in it.
    return [sectionOf(name, title, labels, name === 'chain' ? { ...own, ...members } : members)];
  });
  const unknown = Object.entries(all).flatMap(([name, value]) =>
    isSection(value) && !SECTIONS.some(([section]) => section === name) ? [sectionOf(name, name, [], value)] : [],
  );
  const absent = Object.keys(all).filter((name) => all[name] === null);
  const titleOf = (name: string): string => SECTIONS.find(([section]) => section === name)?.[1] ?? name;
  return { sections: [...known, ...unknown], absent: absent.map(titleOf) };
};
