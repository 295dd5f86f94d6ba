import { describe, expect, it } from 'vitest';
import type { DeedBody } from './body.ts';
import { bodyIn } from './body.ts';
import { sectionsOf } from './sections.ts';

const BODY = {
  ...{ v: 'service.deed/1', id: 'deed_1', org: 'org_1', seq: 7, kind: 'action', issued_at: '2026-10-01T12:00:00.000Z' },
  source: { stream: 'action-act_1', revision: 3, event_id: 'e' },
  chain: { kid: 'k', prev_hash: 'sha256:0' },
  who: { actor: { type: 'agent', id: 'agt_1' }, agent: 'agt_1', key: 'key_1', on_behalf_of: null, session: null },
  action: { id: 'act_1', tool: 'crm.x', tool_truncated: false, livemode: false, later: 'a member of a later format' },
  policy: { outcome: 'allow', code: null },
  ...{ approval: null, execution: { status: 'succeeded' }, witness: null, cost: null, admin: null },
} as unknown as DeedBody;

describe('the sections of a deed', () => {
  const { sections, absent } = sectionsOf(BODY);
  const labels = (name: string): readonly string[] =>
    sections.find((section) => section.name === name)?.lines.map(({ label }) => label) ?? [];

  it('stand in the order in which a deed is read', () => {
    expect(sections.map(({ title }) => title)).toEqual([
      ...['Who', 'Request', 'Decision', 'Execution', 'Chain', 'Sealed event'],
    ]);
    expect(absent).toEqual(['Approval', 'Evidence', 'Cost', 'Change']);
  });

  it('have labels, list the empty members, and leave nothing out', () => {
    expect(labels('who')).toEqual(['By', 'Agent', 'API key']);
    expect(sections[0]?.empty).toEqual(['On behalf of', 'Session']);
    // `livemode: false` is shown, because it tells of a test key; other values of `false` are listed as empty.
    expect(labels('action')).toEqual(['Tool', 'Action', 'Key', 'later']);
    expect(labels('chain')).toEqual([
      ...['Sequence number', 'Issued at', 'Deed', 'Kind', 'Previous deed hash', 'Seal key', 'Organization'],
      'Format',
    ]);
  });
});

describe('the body in bytes', () => {
  const read = (text: string) => bodyIn(new TextEncoder().encode(text));

  it('is parsed if it is a deed', () => expect(read(JSON.stringify(BODY))).toMatchObject({ seq: 7 }));

  it.each([
    '',
    'null',
    '[]',
    '{}',
    '{"who":{}}',
    JSON.stringify(BODY).slice(0, 90),
    JSON.stringify({ ...BODY, who: 1 }),
  ])('is none: %s', (text) => expect(read(text)).toBeNull());
});
