import { canonicalize, digestOf, type JsonObject, type JsonValue } from '#libs/crypto';
import { Turns } from '#libs/domain/kernel';

import { RESULT_MAX_BYTES } from '../http-result.js';
import { OneAtATime } from '../one-at-a-time.js';
import type { Redactor } from '../redactor.js';
import { isDeeperThan, isObject, type RpcError } from './rpc-message.js';

/** What of a tool's answer decides how it is kept. */
export interface ToolAnswer {
  readonly result: JsonObject;
  /** Some of its numbers are not those that the server sent. */
  readonly hasLargeIntegers: boolean;
  /** Whether the tool's definition promises structured content: an agent's client refuses a success without it. */
  readonly hasOutputSchema: boolean;
}

/** The result itself counts as 1. */
const RESULT_DEPTH = 67;

const longResults = new OneAtATime();
const turns = new Turns();
/** Redacting and writing what is shorter takes a few milliseconds. */
const SHORT_ITEMS = 8;

/**
 * `{content, structuredContent, isError}` as it is recorded and given to the agent, in canonical form: redacted, at most
 * {@link RESULT_MAX_BYTES}. Null where it is no result of a tool.
 */
export const recordedToolResult = (answer: ToolAnswer, redactor: Redactor): Promise<string | null> => {
  const { content = [] } = answer.result;
  if (!Array.isArray(content)) return Promise.resolve(null);
  const isLong =
    content.length > SHORT_ITEMS || content.some(isLarge) || answer.result['structuredContent'] !== undefined;
  return isLong ? longResults.run(() => recorded(answer, content, redactor)) : recorded(answer, content, redactor);
};

const recorded = async (
  { result, hasLargeIntegers, hasOutputSchema }: ToolAnswer,
  sent: readonly JsonValue[],
  redactor: Redactor,
): Promise<string | null> => {
  if (isDeeperThan(result, RESULT_DEPTH)) return null;
  const content: JsonObject[] = [];
  for (const item of sent) {
    if (!isObject(item)) return null;
    if (content.length % SHORT_ITEMS === SHORT_ITEMS - 1 || isLarge(item)) await turns.next();
    content.push(redactor.json(item) as JsonObject);
  }
  const { structuredContent, isError } = result;
  if (structuredContent !== undefined) await turns.next();
  const isLost = hasLargeIntegers && structuredContent !== undefined;
  const structured = structuredContent === undefined || isLost ? undefined : redactor.json(structuredContent);
  const hasFailed = isError === true || (isLost && hasOutputSchema);
  await turns.next();
  return bounded({ content, structured, hasFailed, hasOutputSchema });
};

interface Kept {
  readonly content: readonly JsonObject[];
  readonly structured: JsonValue | undefined;
  readonly hasFailed: boolean;
  readonly hasOutputSchema: boolean;
}

const textOf = ({ content, structured, hasFailed }: Kept): string =>
  canonicalize({
    content: [...content],
    ...(structured === undefined ? {} : { structuredContent: structured }),
    ...(hasFailed ? { isError: true } : {}),
  });

/**
 * Over the bound, what people read least goes first: pictures and sounds, then the structured form, then text. To see how much
 * is left takes writing all of it, so others get a turn before that, and it is done where something is gone alone.
 */
const bounded = async (kept: Kept): Promise<string> => {
  let now = kept;
  let text = textOf(now);
  for (const lessened of [withoutBinaries, withoutStructure, withShortTexts]) {
    if (isWithin(text)) break;
    const less = lessened(now, Buffer.byteLength(text) - RESULT_MAX_BYTES);
    if (less === now) continue;
    await turns.next();
    now = less;
    text = textOf(now);
  }
  return text;
};

const withoutBinaries = (kept: Kept, excessBytes: number): Kept => {
  const content = [...kept.content];
  let excess = excessBytes;
  const largestFirst = content.map((item, index) => ({ index, bytes: binaryOf(item)?.data.length ?? 0 }));
  for (const { index, bytes } of largestFirst.sort((one, other) => other.bytes - one.bytes)) {
    if (bytes === 0 || excess <= 0) break;
    const note = noteOf(content[index] as JsonObject);
    excess -= bytes - canonicalize(note).length;
    content[index] = note;
  }
  return excess === excessBytes ? kept : { ...kept, content };
};

const withoutStructure = (kept: Kept): Kept =>
  kept.structured === undefined
    ? kept
    : { ...kept, structured: undefined, hasFailed: kept.hasFailed || kept.hasOutputSchema };

const withShortTexts = (kept: Kept, excessBytes: number): Kept => ({
  ...kept,
  content: cutTexts(kept.content, excessBytes) ?? [TOO_LARGE],
});

const isWithin = (text: string): boolean => Buffer.byteLength(text) <= RESULT_MAX_BYTES;

const TOO_LARGE: JsonObject = { type: 'text', text: '[the answer was too large, and is not kept]' };
const CUT = ' [cut here: the answer was too large to be kept whole]';

/** The longest texts are cut, as far as that takes; null where cutting all of them is not enough. */
const cutTexts = (content: readonly JsonObject[], excessBytes: number): JsonObject[] | null => {
  const cut = [...content];
  let excess = excessBytes;
  const longestFirst = cut.map((item, index) => ({ index, text: item['text'] }));
  for (const { index, text } of longestFirst.sort((one, other) => lengthOf(other.text) - lengthOf(one.text))) {
    // A shorter one would not get any shorter by it.
    if (excess <= 0 || typeof text !== 'string' || text.length <= CUT.length) break;
    const bytes = writtenBytes(text);
    const short = `${wholeCharacters(headOf(text, bytes - excess - CUT.length))}${CUT}`;
    excess -= bytes - writtenBytes(short);
    cut[index] = { ...(cut[index] as JsonObject), text: short };
  }
  return excess > 0 ? null : cut;
};

/** As canonical JSON has it between its quotes. */
const writtenBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

/** As much of a text as fits, found by halves: characters take from one byte to six, however they are spread. */
const headOf = (text: string, maxBytes: number): string => {
  let length = 0;
  let free = maxBytes;
  for (let step = text.length; step >= 1; step = step === 1 ? 0 : Math.ceil(step / 2)) {
    const bytes = writtenBytes(text.slice(length, length + step));
    if (bytes > free) continue;
    free -= bytes;
    length += step;
  }
  return text.slice(0, length);
};

const lengthOf = (text: JsonValue | undefined): number => (typeof text === 'string' ? text.length : 0);

/** Not ending within a character of two units. */
const wholeCharacters = (text: string): string => (/[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text);

/** Base64 in an item: of a picture, a sound, or a resource that is embedded. */
const binaryOf = (item: JsonObject): { readonly data: string; readonly type: string } | null => {
  const { data, resource, mimeType } = item;
  if (typeof data === 'string') return { data, type: nameOf(mimeType) };
  if (!isObject(resource) || typeof resource['blob'] !== 'string') return null;
  return { data: resource['blob'], type: nameOf(resource['mimeType']) };
};

const nameOf = (mimeType: JsonValue | undefined): string =>
  typeof mimeType === 'string' && /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/.test(mimeType) ? mimeType : 'data';

const noteOf = (item: JsonObject): JsonObject => {
  const { data, type } = binaryOf(item) ?? { data: '', type: 'data' };
  const bytes = Buffer.from(data, 'base64');
  return { type: 'text', text: `[${type}, ${bytes.byteLength} bytes, ${digestOf(bytes)} not kept]` };
};

const isLarge = (item: JsonValue): boolean =>
  isObject(item) &&
  Object.values(item).some((member) => (typeof member === 'string' ? member.length > 16_384 : isObject(member)));

const ERROR_TEXT_CHARACTERS = 16_384;
/** What of an error's words is looked through: the longest form of a credential that begins in what is kept ends in it. */
const ERROR_READ_CHARACTERS = 16 * ERROR_TEXT_CHARACTERS;

/** `{error}` of a JSON-RPC error, redacted; its data only where that is short. */
export const recordedRpcError = ({ code, message, data }: RpcError, redactor: Redactor): string => {
  // Cut afterwards: the head of a credential would not be known for one.
  const words = redactor.text(wholeCharacters(message.slice(0, ERROR_READ_CHARACTERS)));
  const short = wholeCharacters(words.slice(0, ERROR_TEXT_CHARACTERS));
  const kept = data === undefined ? undefined : redactor.json(data);
  const isShort = kept !== undefined && canonicalize(kept).length <= ERROR_TEXT_CHARACTERS;
  return canonicalize({ error: { code, message: short, ...(isShort ? { data: kept } : {}) } });
};
