import type { Decision, LivingAction } from '../action/index.js';
import type { ExpectedWitness } from './approval-review.js';
import type { ResolvedTool } from '../judgement/index.js';

/**
 * The evidence that the witness of a call would have, given its tool as it is now. Null if no connector provides the
 * tool any more.
 * @param resolved null if the tool is known to the agent only (proxy mode), or if it is gone
 */
export const expectedWitness = (
  { submission, decision }: Pick<LivingAction, 'submission' | 'decision'>,
  resolved: ResolvedTool | null,
): ExpectedWitness | null => {
  const asked = decision?.verify;
  if (submission.mode === 'proxy')
    return ownWord('The agent runs the tool itself: its own report is all there will be', asked);
  if (resolved === null) return null;
  const { readBack, changeLog } = resolved.tool;
  if (changeLog !== undefined) return { level: 'L2', sentence: IN_THE_LOG };
  if (readBack !== undefined) return { level: 'L1', sentence: readSentence(readBack.sentence, asked) };
  return ownWord('Nothing is read back: the tool’s own word is all there will be', asked);
};

const IN_THE_LOG = 'The database’s own change log shows which rows the call changes.';

const readSentence = (sentence: string, asked: Decision['verify']): string =>
  asked === 'L2' ? `${sentence} ${unmet(asked)}` : sentence;

const unmet = (level: string): string => `The rule asks for level ${level}, so the call will end as UNVERIFIABLE.`;

const ownWord = (sentence: string, asked: Decision['verify']): ExpectedWitness => ({
  level: 'L0',
  sentence: asked === undefined ? `${sentence}.` : `${sentence}. ${unmet(asked)}`,
});
