import {
  digestOf,
  isSameKey,
  NO_QUORUM,
  parseVkey,
  SIGNATURE_TYPE,
  type Vkey,
  VkeyError,
  type VkeyReason,
} from '#libs/crypto';
import { DomainError, webUrlFault } from '../kernel/index.js';
import type { NamedWitness } from './witness-policy.events.js';

/** Each is asked about every checkpoint. */
export const WITNESSES_MAX = 8;

/** The group of all witnesses in a policy file, so no witness is called so. */
export const ALL_WITNESSES = 'witnesses';
/** A word of a policy file: printable, without spaces, and not the beginning of a comment. */
const NAME = /^(?!#)[\x21-\x7e]{1,64}$/;
const WITNESS_TYPES: readonly number[] = [SIGNATURE_TYPE.ed25519Cosignature, SIGNATURE_TYPE.mlDsa44Cosignature];

/** What is asked for, as it was sent. */
export interface WantedWitnessPolicy {
  readonly quorum: number;
  readonly witnesses: readonly { readonly name: string; readonly vkey: string; readonly url: string }[];
}

/** What may become the policy. */
export interface CheckedWitnessPolicy {
  readonly quorum: number;
  readonly witnesses: readonly NamedWitness[];
}

/**
 * @param isProduction takes https alone
 * @throws {DomainError} validation_failed naming the field
 */
export const checkedWitnessPolicy = (
  { quorum, witnesses }: WantedWitnessPolicy,
  isProduction: boolean,
): CheckedWitnessPolicy => {
  if (witnesses.length > WITNESSES_MAX) throw fault('witnesses', `must be at most ${WITNESSES_MAX}. Leave some out.`);
  const vkeys: Vkey[] = [];
  const checked = witnesses.map(({ name, vkey: text, url }, index) => {
    const place = `witnesses[${index}]`;
    const before = witnesses.slice(0, index);
    requireName(name, before, `${place}.name`);
    const vkey = checkedVkey(text, vkeys, `${place}.vkey`);
    vkeys.push(vkey);
    return { witness: digestOf(text), name, vkey: text, url: checkedUrl(url, before, isProduction, `${place}.url`) };
  });
  requireQuorum(quorum, checked.length);
  return { quorum, witnesses: checked };
};

const fault = (param: string, text: string): DomainError =>
  new DomainError('validation_failed', { param, message: `The field ${param} ${text}` });

const requireName = (name: string, before: WantedWitnessPolicy['witnesses'], param: string): void => {
  if (!NAME.test(name)) {
    throw fault(param, 'must be 1 to 64 printable ASCII characters without spaces, and must not begin with #.');
  }
  if (name === NO_QUORUM || name === ALL_WITNESSES)
    throw fault(param, `must not be ${name}, which means something in a policy.`);
  const other = before.findIndex((earlier) => earlier.name === name);
  if (other !== -1) throw fault(param, `is the name of witnesses[${other}], too. Give each a name of its own.`);
};

const VKEY_FAULTS: Readonly<Record<VkeyReason, string>> = {
  form: 'is no verifier key: its name, a plus, 8 lower-case hex characters, a plus, base64. Copy the whole line.',
  key_name: 'names its key with spaces or control characters. Ask its operator for another one.',
  signature_type:
    'is of a kind that is not supported. Take a line of `npm run ags -- witness key`, Ed25519 or ML-DSA-44.',
  public_key: 'holds no valid public key. Copy the whole line.',
  key_id: 'has another key id than its name and key give. Copy the whole line, unchanged.',
};

/** The one character of a key's name that no policy file can hold. */
const DELETE = '\x7f';

const checkedVkey = (text: string, before: readonly Vkey[], param: string): Vkey => {
  const vkey = parsedVkey(text, param);
  if (!WITNESS_TYPES.includes(vkey.type)) {
    throw fault(param, 'is the key of a log and not of a witness. Take a line of `npm run ags -- witness key`.');
  }
  if (vkey.keyName.includes(DELETE)) throw fault(param, VKEY_FAULTS.key_name);
  const same = before.findIndex((earlier) => isSameKey(earlier, vkey));
  if (same !== -1) throw fault(param, `is the key of witnesses[${same}], too: one key is one witness. Leave one out.`);
  const named = before.findIndex(({ keyName }) => keyName === vkey.keyName);
  if (named === -1) return vkey;
  throw fault(
    param,
    `is another key of the witness that witnesses[${named}] is: it would count twice. Leave one of its keys out.`,
  );
};

const parsedVkey = (text: string, param: string): Vkey => {
  try {
    return parseVkey(text);
  } catch (error) {
    if (error instanceof VkeyError) throw fault(param, VKEY_FAULTS[error.reason]);
    throw error;
  }
};

/** In one pass: an expression for them would begin anew at each slash of a text that somebody sent. */
const withoutEndSlashes = (text: string): string => {
  let end = text.length;
  while (end > 0 && text[end - 1] === '/') end -= 1;
  return text.slice(0, end);
};

/** What `/add-checkpoint` is appended to. */
const checkedUrl = (
  text: string,
  before: WantedWitnessPolicy['witnesses'],
  isProduction: boolean,
  param: string,
): string => {
  const url = withoutEndSlashes(text);
  const wrong = webUrlFault(url, { isProduction, whyNoUser: 'a witness knows a log by its signature' });
  if (wrong !== null) throw fault(param, wrong);
  if (url.includes('?')) throw fault(param, 'must have no query: /add-checkpoint is appended to it.');
  const same = before.findIndex((earlier) => withoutEndSlashes(earlier.url) === url);
  if (same !== -1) throw fault(param, `is the URL of witnesses[${same}], too: that is one witness. Leave one out.`);
  return url;
};

const requireQuorum = (quorum: number, witnesses: number): void => {
  if (quorum > witnesses) {
    throw fault('quorum', `must be at most the number of witnesses, ${witnesses}: so many must cosign.`);
  }
  if (quorum === 0 && witnesses > 0) {
    throw fault('quorum', `must be from 1 to ${witnesses}, the number of witnesses; it is 0 only with none.`);
  }
};
