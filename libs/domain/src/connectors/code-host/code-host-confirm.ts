import type { JsonObject, JsonValue } from '#libs/crypto';

import { isObject } from '../config-reader.js';
import type { ComparedValues, ReadBackTerms, ReadBackVerdict } from '../read-back.js';
import { textOf } from './code-host-arguments.js';
import { markedText, markerOf } from './code-host-marker.js';
import { memberAt } from './code-host-members.js';
import {
  commentPath,
  contentsPath,
  issuePath,
  type Parameter,
  pullPath,
  refPath,
  repositoryPath,
} from './code-host-request.js';
import { blobShaOf } from './git-blob.js';

/** The read that shows what a write did. */
export interface ConfirmingRead {
  readonly path: string;
  readonly query: readonly Parameter[];
  /**
   * `object`: what was written. `search`: a list, in which it is found by the mark of the action, for nobody knows its
   * number. `absence`: what was deleted.
   */
  readonly kind: 'object' | 'search' | 'absence';
  /**
   * Of an absence that is told by a 404: a read of the same permission that must succeed, because the host answers 404
   * to whoever may not see, too.
   */
  readonly control?: string;
}

export interface ConfirmedWrite {
  readonly toolName: string;
  readonly args: JsonObject;
  readonly action: string;
  /** What the write answered, `{status, headers, body}`; null where its outcome is not known. */
  readonly result: JsonObject | null;
}

/** Eventual: what was written may show a moment later. */
const CONFIRMATION = { attempts: 3, intervalMs: 1_000 } as const;

const TERMS: Readonly<Record<string, Pick<ReadBackTerms, 'tool' | 'sentence'>>> = {
  create_issue: {
    tool: 'get_issue',
    sentence: 'Reads the issue and compares title and text, with the action’s id in it.',
  },
  update_issue: { tool: 'get_issue', sentence: 'Reads the issue and compares what was changed.' },
  create_comment: {
    tool: 'list_comments',
    sentence: 'Reads the comment and compares its text, with the action’s id in it, and where it stands.',
  },
  create_branch: { tool: 'get_branch', sentence: 'Reads the branch and compares its commit.' },
  put_file: {
    tool: 'get_file',
    sentence: 'Reads the file on its branch and compares the SHA-1 that git gives its content.',
  },
  create_pull_request: {
    tool: 'get_pull_request',
    sentence: 'Reads the pull request and compares title, text, branches and whether it is a draft.',
  },
  delete_comment: { tool: 'list_comments', sentence: 'Looks whether the comment is gone.' },
  delete_file: { tool: 'get_file', sentence: 'Looks whether the file is gone from its branch.' },
  delete_branch: { tool: 'get_branch', sentence: 'Looks whether the branch is gone.' },
  merge_pull_request: {
    tool: 'get_pull_request',
    sentence:
      'Reads the pull request and looks whether it is merged, with the head and into the branch that were named.',
  },
};

/** Null for a tool that changes nothing. */
export const readBackTermsOf = (toolName: string): ReadBackTerms | null => {
  const known = Object.hasOwn(TERMS, toolName) ? TERMS[toolName] : undefined;
  return known === undefined ? null : { ...known, ...CONFIRMATION };
};

/** How many of a list are searched, and how far back: what was written a moment ago is among the newest. */
const SEARCHED = '100';
const SEARCHED_MS = 86_400_000;

/** @param nowMs from where a search looks back */
export const planConfirmation = (
  { toolName, args, result }: ConfirmedWrite,
  nowMs: number,
): ConfirmingRead | 'result_missing' => {
  const since: Parameter = ['since', `${new Date(nowMs - SEARCHED_MS).toISOString().slice(0, 19)}Z`];
  const object = (path: string, query: readonly Parameter[] = []): ConfirmingRead => ({ path, query, kind: 'object' });
  const search = (path: string, ...query: readonly Parameter[]): ConfirmingRead => ({
    path,
    query: [...query, ['per_page', SEARCHED]],
    kind: 'search',
  });
  const newest: readonly Parameter[] = [
    ['sort', 'created'],
    ['direction', 'desc'],
  ];
  const ofAnyState: readonly Parameter[] = [['state', 'all'], ...newest];
  const repository = repositoryPath(args);
  // Whole, because a tag may have the same name.
  const onBranch: readonly Parameter[] = [['ref', `refs/heads/${textOf(args, 'branch')}`]];
  switch (toolName) {
    case 'create_issue': {
      const number = idIn(result, 'number');
      return number === null
        ? search(`${repository}/issues`, ...ofAnyState, since)
        : object(`${repository}/issues/${number}`);
    }
    case 'create_comment': {
      const id = idIn(result, 'id');
      // Those of the whole repository: the list of one issue cannot be had newest first.
      return id === null ? search(`${repository}/issues/comments`, ...newest, since) : object(commentPath(args, id));
    }
    case 'create_pull_request': {
      const number = idIn(result, 'number');
      const [owner] = textOf(args, 'repository').split('/');
      const head: Parameter = ['head', `${owner}:${textOf(args, 'head')}`];
      return number === null
        ? search(`${repository}/pulls`, head, ...ofAnyState)
        : object(`${repository}/pulls/${number}`);
    }
    case 'update_issue':
      return object(issuePath(args));
    case 'create_branch':
      return object(refPath(args, 'ref'));
    case 'put_file':
      return object(contentsPath(args), onBranch);
    case 'merge_pull_request':
      return object(pullPath(args));
    case 'delete_comment':
      return {
        ...{ path: commentPath(args, textOf(args, 'comment')), query: [], kind: 'absence' },
        control: `${repository}/issues/comments`,
      };
    case 'delete_file':
      return { path: contentsPath(args), query: onBranch, kind: 'absence', control: refPath(args, 'ref') };
    case 'delete_branch':
      // A list is empty, and no 404, where nothing fits.
      return { path: refPath(args, 'matching-refs'), query: [], kind: 'absence' };
    default:
      return 'result_missing';
  }
};

const idIn = (result: JsonObject | null, name: 'id' | 'number'): string | null => {
  const body = result?.['body'];
  const id = isObject(body) ? body[name] : undefined;
  return typeof id === 'number' && Number.isSafeInteger(id) && id > 0 ? String(id) : null;
};

export type JudgedConfirmation = ReadBackVerdict & ComparedValues;

/** What a read says that found nothing, or did not come to an answer. */
export const unverifiable = (reason: string): JudgedConfirmation => ({
  verdict: 'UNVERIFIABLE',
  reasons: [reason],
  expected: {},
  observed: {},
  differs: [],
});

/** What is said where a 404 was answered, and the control read succeeded. */
export const absent = (): JudgedConfirmation => ({
  verdict: 'VERIFIED',
  reasons: [],
  expected: { present: false },
  observed: { present: false },
  differs: [],
});

/** What an answer says of the write that it is to confirm. */
export const judgeConfirmation = (
  { kind }: Pick<ConfirmingRead, 'kind'>,
  { toolName, args, action }: ConfirmedWrite,
  body: JsonValue | undefined,
): JudgedConfirmation => {
  if (kind === 'absence') return judgedAbsence(toolName, args, body);
  const judge = (object: JsonObject): JudgedConfirmation =>
    compared(EXPECTED[toolName]?.(args, action) ?? {}, SEEN[toolName]?.(object) ?? {});
  if (kind === 'object') return isObject(body) ? judge(body) : unverifiable('answer_not_kept');
  return Array.isArray(body) ? judgedFound(markedIn(body, action).map(judge)) : unverifiable('answer_not_kept');
};

/** Those whose text ends in the mark. More than one may: whoever read the mark can write it, too. */
const markedIn = (list: readonly JsonValue[], action: string): readonly JsonObject[] =>
  list.filter(isObject).filter(({ body }) => typeof body === 'string' && body.trimEnd().endsWith(markerOf(action)));

/** A stranger who repeats the mark makes nothing of what was written into something else. */
const judgedFound = (found: readonly JudgedConfirmation[]): JudgedConfirmation => {
  const [first, ...others] = found;
  if (first === undefined) return unverifiable('not_found');
  if (others.length === 0) return first;
  const [equal, ...equals] = found.filter(({ verdict }) => verdict === 'VERIFIED');
  return equal !== undefined && equals.length === 0 ? equal : unverifiable('several_found');
};

/**
 * Whether a read says what is there. A search looks at the newest alone, and a 404 may be told to whoever may not see: where
 * they find nothing, they do not.
 */
export const isAnswer = ({ verdict, reasons: [reason = ''] }: ReadBackVerdict): boolean =>
  verdict !== 'UNVERIFIABLE' || reason === 'changed_since' || reason === 'several_found';

const judgedAbsence = (toolName: string, args: JsonObject, body: JsonValue | undefined): JudgedConfirmation => {
  let there: JsonValue | undefined = body;
  if (toolName === 'delete_branch') {
    if (!Array.isArray(body)) return unverifiable('answer_not_kept');
    // The list has all that begin so.
    const name = `refs/heads/${textOf(args, 'branch')}`;
    there = body.filter(isObject).find(({ ref }) => ref === name);
    if (there === undefined) return absent();
  }
  if (there === undefined) return unverifiable('answer_not_kept');
  const sha = toolName === 'delete_branch' ? memberAt(there, 'object', 'sha') : memberAt(there, 'sha');
  const seen = { expected: { present: false }, observed: { present: true, sha }, differs: ['present'] };
  // Something else is there: it came later, and what became of the old one nobody sees any more.
  const isAnother = Object.hasOwn(args, 'sha') && typeof sha === 'string' && sha !== args['sha'];
  return isAnother
    ? { verdict: 'UNVERIFIABLE', reasons: ['changed_since'], ...seen }
    : { verdict: 'MISMATCH', reasons: ['present'], ...seen };
};

const compared = (expected: JsonObject, all: JsonObject): JudgedConfirmation => {
  const observed = Object.fromEntries(Object.keys(expected).map((name) => [name, all[name] ?? null]));
  const differs = Object.keys(expected).filter((name) => observed[name] !== expected[name]);
  return { verdict: differs.length === 0 ? 'VERIFIED' : 'MISMATCH', reasons: differs, expected, observed, differs };
};

/** The host may keep other line ends than were sent, and no blanks at the end. */
const plain = (text: JsonValue): JsonValue =>
  typeof text === 'string' ? text.replace(/\r\n?/g, '\n').trimEnd() : text;

const only = (args: JsonObject, ...names: readonly string[]): JsonObject =>
  Object.fromEntries(names.filter((name) => Object.hasOwn(args, name)).map((name) => [name, args[name] as JsonValue]));
const withMark = (args: JsonObject, action: string): JsonObject => ({
  body: plain(markedText(textOf(args, 'body'), action)),
});
const titleOf = (args: JsonObject): JsonObject =>
  // Blanks around a title are dropped by the host.
  Object.hasOwn(args, 'title') ? { title: textOf(args, 'title').trim() } : {};

const EXPECTED: Readonly<Record<string, (args: JsonObject, action: string) => JsonObject>> = {
  create_issue: (args, action) => ({ ...titleOf(args), ...withMark(args, action) }),
  update_issue: (args, action) => ({
    ...titleOf(args),
    ...only(args, 'state', 'number'),
    ...(Object.hasOwn(args, 'body') ? withMark(args, action) : {}),
  }),
  create_comment: (args, action) => ({ ...only(args, 'number'), ...withMark(args, action) }),
  create_branch: (args) => ({ ref: `refs/heads/${textOf(args, 'branch')}`, ...only(args, 'sha') }),
  put_file: (args) => ({ ...only(args, 'path'), sha: blobShaOf(textOf(args, 'content')) }),
  create_pull_request: (args, action) => ({
    ...titleOf(args),
    ...only(args, 'head', 'base'),
    draft: args['draft'] === true,
    ...withMark(args, action),
  }),
  merge_pull_request: (args) => ({ ...only(args, 'number', 'head_sha', 'base'), merged: true }),
};

const SEEN: Readonly<Record<string, (object: JsonObject) => JsonObject>> = {
  create_issue: (object) => seenText(object),
  update_issue: (object) => ({
    ...seenText(object),
    state: memberAt(object, 'state'),
    number: memberAt(object, 'number'),
  }),
  create_comment: (object) => ({ ...seenText(object), number: issueOf(object) }),
  create_branch: (object) => ({ ref: memberAt(object, 'ref'), sha: memberAt(object, 'object', 'sha') }),
  put_file: (object) => ({ path: memberAt(object, 'path'), sha: memberAt(object, 'sha') }),
  create_pull_request: (object) => ({
    ...seenText(object),
    head: memberAt(object, 'head', 'ref'),
    base: memberAt(object, 'base', 'ref'),
    // The host may leave it out where it is none.
    draft: memberAt(object, 'draft') ?? false,
  }),
  merge_pull_request: (object) => ({
    number: memberAt(object, 'number'),
    head_sha: memberAt(object, 'head', 'sha'),
    base: memberAt(object, 'base', 'ref'),
    merged: memberAt(object, 'merged'),
  }),
};

const seenText = (object: JsonObject): JsonObject => ({
  title: memberAt(object, 'title'),
  body: plain(memberAt(object, 'body')),
});

/** A comment names its issue by an address alone. */
const issueOf = (comment: JsonObject): JsonValue => {
  const url = memberAt(comment, 'issue_url');
  const number = typeof url === 'string' ? /\/issues\/([1-9]\d{0,9})$/.exec(url)?.[1] : undefined;
  return number === undefined ? null : Number(number);
};
