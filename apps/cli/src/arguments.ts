import { resolve } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { isDigest, type ChainHead } from '#libs/crypto';
import { holdsKeySecret, parseNamedKey, type NamedKey } from '#libs/domain/agents';
import { parseId, type Id, type IdPrefix } from '#libs/domain/kernel';
import { callerFolder } from '#libs/infra/config';

/** Readers of what is typed. Each throws what commander shows beside the argument's name. */

/** An id of one kind, whole. */
export const idArgument =
  <Prefix extends IdPrefix>(prefix: Prefix) =>
  (text: string): Id<Prefix> => {
    const id = parseId(prefix, text);
    if (id === null) throw new InvalidArgumentError(`An id that begins with ${prefix}_ is expected, copied whole.`);
    return id;
  };

const ANY_ID = /^[a-z]+_[0-9a-hjkmnp-tv-z]{26}$/;

const namedArgument =
  (prefix: IdPrefix, one: string, it: string) =>
  (text: string): string => {
    if (parseId(prefix, text) !== null || !ANY_ID.test(text)) return text;
    throw new InvalidArgumentError(
      `The id of ${one} begins with ${prefix}_. Give that, copied whole, or the name of the ${it}.`,
    );
  };

/** An agent: its id or its name. An id of something else names nobody. */
export const agentArgument = namedArgument('agt', 'an agent', 'agent');

/** A policy: its id or its name. An id of something else names none. */
export const policyArgument = namedArgument('pol', 'a policy', 'policy');

/** A key: its id, or how it begins. */
export const keyArgument = (text: string): NamedKey => {
  const key = parseNamedKey(text);
  if (key !== null) return key;
  throw new InvalidArgumentError(
    holdsKeySecret(text)
      ? 'Leave out the secret: what comes before the third underscore names the key.'
      : 'A key_ id is expected, copied whole, or how the key begins: svc_live_ and 8 characters, or these 8 alone.',
  );
};

/** In place of a path. A file of that name is `./-`. */
export const STANDARD_INPUT = '-';

/** Of package.json. */
const SCRIPT = 'ags';

/** A path, from where the command line was typed; standard input stays what it is. */
export const fileArgument = (text: string): string =>
  text === STANDARD_INPUT ? text : resolve(callerFolder(SCRIPT), text);

/** Where a service is, without the slash at the end. */
export const urlArgument = (text: string): string => {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text.replace(/\/+$/, '');
  throw new InvalidArgumentError('An http or https URL is expected, such as http://127.0.0.1:8080.');
};

const SECONDS_OF = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;
const DURATION = /^(\d{1,7})(s|m|h|d)$/;

/** `90s`, `30m`, `24h`, `7d`, or `0`: in seconds. */
export const durationArgument = (text: string): number => {
  if (text === '0') return 0;
  const [, amount, unit] = DURATION.exec(text) ?? [];
  if (amount === undefined || unit === undefined) {
    throw new InvalidArgumentError('A whole number with s, m, h or d is expected, such as 24h, or 0.');
  }
  return Number(amount) * SECONDS_OF[unit as keyof typeof SECONDS_OF];
};

/** `--overlap`: how long what is replaced goes on. Default: a day (rule KEY-5). */
export const overlapOption = (description: string): Option =>
  new Option('--overlap <time>', description).argParser(durationArgument).default(SECONDS_OF.d, '24h');

/** Comma separated words out of a closed list, each once. */
export const listArgument =
  <Word extends string>(words: readonly Word[]) =>
  (text: string): readonly Word[] => {
    const parts = [...new Set(text.split(',').map((part) => part.trim()))];
    const known = parts.filter((part): part is Word => (words as readonly string[]).includes(part));
    if (known.length < parts.length || known.length === 0) {
      throw new InvalidArgumentError(`Choose from ${words.join(', ')}, separated by commas.`);
    }
    return known;
  };

/** Names and values are the domain's to judge; here only a pair is read. */
const LABEL = /^([^=]+)=(.*)$/su;

/** `--label team=support --label tier=1`: collected over the options given. */
export const labelArgument = (
  text: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> => {
  const [, name, value] = LABEL.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw new InvalidArgumentError('name=value is expected, such as team=support.');
  }
  if (Object.hasOwn(before, name)) throw new InvalidArgumentError(`The label ${name} is given twice.`);
  return { ...before, [name]: value };
};

/** An option that may be repeated. */
export const collected =
  <Value>(read: (text: string) => Value) =>
  (text: string, before: readonly Value[] = []): readonly Value[] => [...before, read(text)];

const HEAD = /^([1-9]\d{0,15}):(.+)$/;

/** `42:sha256:...`: a deed of a ledger, as `GET /v1/ledger/check` and `verify` name the last one. */
export const headArgument = (text: string): ChainHead => {
  const [, seq, hash] = HEAD.exec(text) ?? [];
  if (seq !== undefined && isDigest(hash)) return { seq: Number(seq), body_hash: hash };
  throw new InvalidArgumentError('A head is the seq of a deed, a colon, and its body_hash: 42:sha256:...');
};
