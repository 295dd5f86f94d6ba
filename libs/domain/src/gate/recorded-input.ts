import { parseStrictJson, RECORDED_INPUT_PROFILE } from '#libs/crypto';
import type { PayloadStore } from '../kernel/index.js';
import type { PolicyInput } from '../policies/index.js';
import type { Submission } from './action.events.js';

/**
 * What the policy judged, byte for byte by its digest: whoever sends a call later, or shows it to a person, takes the
 * arguments from here and from nowhere else. Null where it is stored no more.
 * @throws {DamagedPayload} it is not what was judged
 */
export const recordedInput = async (
  payloads: PayloadStore,
  { action, input_digest: digest }: Pick<Submission, 'action' | 'input_digest'>,
): Promise<PolicyInput | null> => {
  const document = await payloads.get(action, 'policy_input', digest);
  // The strict parser gives objects without a prototype: a member named like one of Object's is data.
  return document === null ? null : (parseStrictJson(Buffer.from(document), RECORDED_INPUT_PROFILE) as PolicyInput);
};
