import type { LivingAction } from '../action/index.js';
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
  const isUnmet = decision?.verify !== undefined;
  if (submission.mode === 'proxy')
    return ownWord('The agent runs the tool itself: its own report is all there will be', isUnmet);
  if (resolved === null) return null;
  const { readBack } = resolved.tool;
  if (readBack !== undefined) return { level: 'L1', sentence: readBack.sentence };
  return ownWord('Nothing is read back: the tool’s own word is all there will be', isUnmet);
};

const ownWord = (sentence: string, isUnmet: boolean): ExpectedWitness => ({
  level: 'L0',
  sentence: isUnmet ? `${sentence}. The rule asks for level L1, so the call will end as UNVERIFIABLE.` : `${sentence}.`,
});
