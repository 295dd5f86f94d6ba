import { parseStrictJson, RECORDED_INPUT_PROFILE } from '#libs/crypto';
import type { PayloadStore } from '../../kernel/index.js';
import type { PolicyInput } from '../../policies/index.js';
import type { Submission } from '../action/index.js';

/**
 * The policy input of an action, verified by its digest. A call that is sent or shown later takes its arguments from
 * here only. Null if the input is no longer stored.
 * @throws {DamagedPayload} if the stored bytes do not have the recorded digest
 */
export const recordedInput = async (
  payloads: PayloadStore,
  { action, input_digest: digest }: Pick<Submission, 'action' | 'input_digest'>,
): Promise<PolicyInput | null> => {
  const document = await payloads.get(action, 'policy_input', digest);
  // The strict parser creates objects without a prototype, so a member such as `constructor` is plain data.
  return document === null ? null : (parseStrictJson(Buffer.from(document), RECORDED_INPUT_PROFILE) as PolicyInput);
};
