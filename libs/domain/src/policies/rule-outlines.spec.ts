import { describe, expect, it } from 'vitest';
import { outlineRulesInTurns } from './rule-outlines.js';
import { STARTER_POLICY } from './starter-policy.js';

describe('the rules of a version', () => {
  it('are told in their order, each with the line that its id stands in', async () => {
    const source = [
      'version: 1',
      'default: deny',
      'rules:',
      '  - id: read-crm',
      '    description: >',
      '      Whoever supports',
      '      may read.',
      '    match:',
      '      tools:',
      '        - crm.get_*',
      '    decision: allow',
      '  # No exception.',
      '  - decision: deny',
      '    id: no-deletes',
    ].join('\r\n');
    expect(await outlineRulesInTurns(source)).toEqual([
      { id: 'read-crm', decision: 'allow', description: 'Whoever supports may read.', line: 4 },
      { id: 'no-deletes', decision: 'deny', description: null, line: 14 },
    ]);
  });

  it('are none where a policy has a default alone', async () => {
    expect(await outlineRulesInTurns('version: 1\ndefault: deny\n')).toEqual([]);
  });

  it('are told of the policy that a new organization gets', async () => {
    const lines = STARTER_POLICY.split('\n');
    for (const { id, line } of (await outlineRulesInTurns(STARTER_POLICY)) ?? []) {
      expect(lines[line - 1]).toContain(id);
    }
  });

  it.each([
    '',
    '\0',
    'version: 1\nrules: [',
    'version: 1\ndefault: deny\nrules:\n  - id: A\n    decision: deny\n',
    '- a',
  ])('of %j are not known', async (source) => {
    expect(await outlineRulesInTurns(source)).toBeNull();
  });
});
