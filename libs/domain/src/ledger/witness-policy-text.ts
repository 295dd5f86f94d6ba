import {
  encodePolicy,
  encodeVkey,
  NO_QUORUM,
  parsePolicy,
  parseVkey,
  type TlogPolicy,
  TlogPolicyError,
} from '#libs/crypto';
import { DomainError } from '../kernel/index.js';
import { ALL_WITNESSES, type WantedWitnessPolicy } from './witness-policy.js';
import type { WitnessPolicy } from './witness-policy.decider.js';

/** As whoever checks a checkpoint reads it: the quorum is a group of all witnesses. */
export const tlogPolicyOf = ({ quorum, witnesses }: WitnessPolicy): TlogPolicy => {
  const known = witnesses.map(({ name, vkey, url }) => ({ name, vkey: parseVkey(vkey), url }));
  const members = known.map(({ name }) => name);
  return quorum === 0
    ? { logs: [], witnesses: known, groups: [], quorum: NO_QUORUM }
    : {
        logs: [],
        witnesses: known,
        groups: [{ name: ALL_WITNESSES, threshold: quorum, members }],
        quorum: ALL_WITNESSES,
      };
};

/** The policy file (tlog-policy). It names no log: whom a reader trusts as the log, the log cannot tell him. */
export const textOfWitnessPolicy = (policy: WitnessPolicy): string =>
  Buffer.from(encodePolicy(tlogPolicyOf(policy))).toString();

/**
 * Reads a policy file (tlog-policy). Lines of logs are passed over: the log is the organization's own.
 * @throws {DomainError} validation_failed for what is no policy, and for one that is more than a quorum over all witnesses
 */
export const witnessPolicyOfText = (octets: Uint8Array): WantedWitnessPolicy => {
  const policy = policyIn(octets);
  const witnesses = policy.witnesses.map(({ name, vkey, url }) => {
    if (url !== null) return { name, vkey: encodeVkey(vkey), url };
    throw problem(`The witness ${name.toWellFormed()} has no URL. Write it behind its key: there the service asks it.`);
  });
  return { quorum: quorumIn(policy), witnesses };
};

const policyIn = (octets: Uint8Array): TlogPolicy => {
  try {
    return parsePolicy(octets);
  } catch (error) {
    if (!(error instanceof TlogPolicyError)) throw error;
    const place = error.line === 0 ? '' : ` in line ${error.line}`;
    const message = `This is no policy of witnesses (${error.reason}${place}). See c2sp.org/tlog-policy.`;
    throw new DomainError('validation_failed', { message, cause: error });
  }
};

/** The policy file can say more than the service asks for: one number of all witnesses. */
const quorumIn = ({ witnesses, groups, quorum }: TlogPolicy): number => {
  if (quorum === NO_QUORUM && groups.length === 0) return 0;
  if (witnesses.length === 1 && witnesses[0]?.name === quorum && groups.length === 0) return 1;
  const [group] = groups;
  if (groups.length === 1 && group?.name === quorum && witnesses.every(({ name }) => group.members.includes(name))) {
    return group.threshold;
  }
  throw problem(
    `The service asks for a number of all its witnesses. Write one group with all of them, such as: group ${ALL_WITNESSES} 2 w1 w2 w3, and quorum ${ALL_WITNESSES}.`,
  );
};

const problem = (message: string): DomainError => new DomainError('validation_failed', { message });
