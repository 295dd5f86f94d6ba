import { describe, expect, it } from 'vitest';
import { exampleCases, toolLeftOpen } from './case-file.ts';

describe('the case file to begin with', () => {
  it('calls a read tool of this organization', () =>
    expect(
      exampleCases([
        { name: 'pay.create_refund', side_effect: 'write' },
        { name: 'pay.get_refund', side_effect: 'read' },
      ]),
    ).toContain('tool: pay.get_refund\n  expect:'));

  it('declares its side effect as a read if no tool is one', () =>
    expect(exampleCases([{ name: 'pay.create_refund', side_effect: 'write' }])).toContain(
      'tool: crm.get_customer\n    side_effect: read\n',
    ));
});

describe('the tool that a case names', () => {
  const FILE = `# cases
- name: first
  input:
    tool: crm.get_customer
  expect:
    decision: allow
- name: second
  input:
    tool: "pay.refund" # later
    side_effect: write
- name: third
  input: {tool: crm.x}
`;
  it('is read from the lines of the case', () => expect(toolLeftOpen(FILE, 2)).toBe('crm.get_customer'));
  it('is null if the case declares the side effect', () => expect(toolLeftOpen(FILE, 7)).toBeNull());
  it('is null if the text is laid out in another way', () => expect(toolLeftOpen(FILE, 11)).toBeNull());
  it('is found after comments and quotes', () =>
    expect(toolLeftOpen(FILE.replace('    side_effect: write\n', ''), 7)).toBe('pay.refund'));
});
