import { describe, expect, it } from 'vitest';
import { allowed, submission } from '../../../../../test/support/gate-fixtures.js';
import type { ActionMode } from '../action/index.js';
import { expectedWitness } from './expected-witness.js';
import type { ResolvedTool } from '../judgement/index.js';

const SENTENCE = 'Reads crm.get and compares the amount.';
const readBack = { tool: 'get', attempts: 1, intervalMs: 100, sentence: SENTENCE };
const provided = (tool: object): ResolvedTool => ({ tool }) as unknown as ResolvedTool;

const expected = (mode: ActionMode, resolved: ResolvedTool | null, verify?: 'L1') =>
  expectedWitness(
    { submission: { ...submission, mode }, decision: { ...allowed, ...(verify && { verify }) } },
    resolved,
  );

describe('how a call would be confirmed', () => {
  it('by a read, in the words of its tool', () =>
    expect(expected('gateway', provided({ readBack }), 'L1')).toEqual({ level: 'L1', sentence: SENTENCE }));

  it('by the word of its tool, or of the agent that runs it', () => {
    expect(expected('gateway', provided({}))).toMatchObject({
      level: 'L0',
      sentence: expect.stringMatching(/tool’s own/) as string,
    });
    for (const resolved of [null, provided({ readBack })]) {
      expect(expected('proxy', resolved)).toMatchObject({
        level: 'L0',
        sentence: expect.stringMatching(/own report/) as string,
      });
    }
  });

  it('with a note if that is less than the rule asks for', () => {
    for (const mode of ['gateway', 'proxy'] as const) {
      expect(expected(mode, provided({}))?.sentence).not.toContain('UNVERIFIABLE');
      expect(expected(mode, provided({}), 'L1')?.sentence).toMatch(
        /asks for level L1, so the call will end as UNVERIFIABLE\.$/,
      );
    }
  });

  it('is null if no connector provides the tool any more', () => expect(expected('gateway', null)).toBeNull());
});
