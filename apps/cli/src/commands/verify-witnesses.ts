import { readFile } from 'node:fs/promises';
import { InvalidArgumentError } from 'commander';
import {
  parsePolicy,
  parseVkey,
  SIGNATURE_TYPE,
  type TlogPolicy,
  TlogPolicyError,
  type Vkey,
  VkeyError,
} from '#libs/crypto';
import { visible } from '#libs/evidence';
import { STANDARD_INPUT } from '../arguments.js';
import { CliError, explainFileError, usage } from '../cli-error.js';

const LOG_TYPES: readonly number[] = [SIGNATURE_TYPE.ed25519, SIGNATURE_TYPE.mlDsa44Cosignature];

const OTHER_KEY =
  'The 8 hex characters are not those of this name and this key, so one of the three was changed. Copy the whole line anew.';

/** A verifier key that checkpoints are signed with. */
export const checkpointKeyArgument = (text: string): Vkey => {
  try {
    const vkey = parseVkey(text);
    if (LOG_TYPES.includes(vkey.type)) return vkey;
  } catch (error) {
    if (!(error instanceof VkeyError)) throw error;
    if (error.reason === 'key_id') throw new InvalidArgumentError(OTHER_KEY);
  }
  throw new InvalidArgumentError(
    'The verifier key of a log is expected: its name, a plus, 8 hex characters, a plus, base64.',
  );
};

/** What is no policy ends the command: a verdict without it would look like one with it. */
export const readWitnesses = async (file: string, keys: readonly Vkey[]): Promise<TlogPolicy> => {
  if (file === STANDARD_INPUT) throw usage('Give --witnesses as a file.');
  const policy = policyIn(file, await bytesOf(file));
  if (keys.length === 0 && policy.logs.length === 0) {
    throw usage(
      'Give --checkpoint-key, or name the log in the policy: a witness says nothing of a log that nobody trusts.',
    );
  }
  return policy;
};

const bytesOf = async (file: string): Promise<Uint8Array> => {
  try {
    return await readFile(file);
  } catch (error) {
    const said = error instanceof Error ? explainFileError(error, file) : null;
    throw said === null ? error : new CliError('file_unusable', said.message);
  }
};

const policyIn = (file: string, bytes: Uint8Array): TlogPolicy => {
  try {
    return parsePolicy(bytes);
  } catch (error) {
    if (!(error instanceof TlogPolicyError)) throw error;
    const place = error.line === 0 ? '' : ` in line ${error.line}`;
    throw new CliError(
      'file_unusable',
      `${visible(file)} is no policy of witnesses (${error.reason}${place}). See c2sp.org/tlog-policy.`,
    );
  }
};
