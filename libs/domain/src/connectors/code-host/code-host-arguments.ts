import type { JsonObject } from '#libs/crypto';

import type { ArgumentFault } from '../connector-driver.port.js';
import { argumentsFaultOfFixed } from '../fixed-tool.js';
import type { CodeHostConfig } from './code-host-config.js';
import { holdsMarker, withoutLastMark } from './code-host-marker.js';
import { branchFault, isGoverning, isProtectedBranch, pathFault } from './code-host-names.js';
import { codeHostToolNamed } from './code-host-tools.js';

type Rule = (config: CodeHostConfig, args: JsonObject) => ArgumentFault | null;

const at = (name: string, rule: string): ArgumentFault => ({ param: `args.${name}`, message: `args.${name} ${rule}.` });
/** An argument whose shape was checked, as text. */
export const textOf = (args: JsonObject, name: string): string => {
  const value = Object.hasOwn(args, name) ? args[name] : undefined;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
};
const textIn = (args: JsonObject, name: string): string | null => {
  const value = Object.hasOwn(args, name) ? args[name] : undefined;
  return typeof value === 'string' ? value : null;
};

/**
 * What of a call is wrong, whatever a policy says: nothing of it is sent. The shape of the arguments first, then which
 * repository, path and branch they name, then what would be written there.
 */
export const codeHostArgumentsFault = (
  config: CodeHostConfig,
  toolName: string,
  args: JsonObject,
): ArgumentFault | null => {
  const tool = codeHostToolNamed(toolName);
  if (tool === null) return { param: 'tool', message: 'The connector has no such tool.' };
  const shape = argumentsFaultOfFixed(tool, args);
  if (shape !== null) return shape;
  for (const rule of [wholeFault, repositoryFault, refFault, pathRule, textsFault, ...(OF_TOOL[toolName] ?? [])]) {
    const fault = rule(config, args);
    if (fault !== null) return fault;
  }
  return null;
};

/** Half of a character has no bytes: it would be sent as another one than was judged, or not at all. */
const wholeFault: Rule = (_, args) => {
  const broken = Object.keys(args).find((name) => textIn(args, name)?.isWellFormed() === false);
  return broken === undefined ? null : at(broken, 'must be text without halves of characters');
};

/** Letter for letter, so that a rule of a policy on the argument means what it says. */
const repositoryFault: Rule = ({ repositories }, { repository }) =>
  repositories.some((allowed) => allowed === repository)
    ? null
    : at('repository', 'must be one of the connector’s repositories, as its config spells it');

const BRANCHES = ['branch', 'head', 'base'] as const;

const refFault: Rule = (_, args) => {
  for (const name of BRANCHES) {
    const branch = textIn(args, name);
    const fault = branch === null ? null : branchFault(branch);
    if (fault !== null) return at(name, fault);
  }
  const ref = textIn(args, 'ref');
  if (ref === null || /^[0-9a-f]{40}$/.test(ref)) return null;
  const fault = branchFault(ref);
  return fault === null ? null : at('ref', 'must be the name of a branch or a tag, or a whole commit');
};

const pathRule: Rule = (_, args) => {
  const path = textIn(args, 'path');
  const fault = path === null ? null : pathFault(path);
  return fault === null ? null : at('path', fault);
};

/** Between the parts of an emoji, where it joins them and hides nothing. */
const JOINED = /(?<=\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?)\u200d(?=\p{Extended_Pictographic})/gu;
/** What turns a line around, or is not seen in it: whoever looks at it would read another one. */
const HIDING = /[\p{Cf}\u2028\u2029]/u;
const isHiding = (text: string): boolean => HIDING.test(text.replace(JOINED, ''));
const isBlank = (text: string): boolean => /^[\s\p{Cf}]*$/u.test(text);

const textsFault: Rule = (_, args) => {
  const title = textIn(args, 'title');
  if (title !== null && (isBlank(title) || /\p{Cc}/u.test(title) || isHiding(title))) {
    return at('title', 'must be one line of text, without control or invisible characters');
  }
  const message = textIn(args, 'message');
  if (message !== null && (/(?![\t\n\r])\p{Cc}/u.test(message) || isHiding(message))) {
    return at('message', 'must be text without control or invisible characters');
  }
  for (const name of ['title', 'body', 'message'] as const) {
    const text = textIn(args, name) ?? '';
    if (holdsMarker(name === 'body' ? withoutLastMark(text) : text))
      return at(name, 'must not hold the mark of an action, which is the service’s to set');
  }
  return message !== null && isBlank(message) ? at('message', 'must say something') : null;
};

/** A comment that says nothing would be a mark alone. */
const commentFault: Rule = (_, args) =>
  isBlank(withoutLastMark(textOf(args, 'body'))) ? at('body', 'must say something') : null;

const protectedFault: Rule = (config, args) =>
  isProtectedBranch(config, textOf(args, 'branch'))
    ? at('branch', 'is a protected branch of the connector, which no tool writes to. Open a pull request into it')
    : null;

const governingFault: Rule = ({ allow_workflows: isAllowed }, args) =>
  !isAllowed && isGoverning(textOf(args, 'path'))
    ? at(
        'path',
        'is one that the host runs or obeys (.github/ and CODEOWNERS), and the connector’s config keeps agents from it',
      )
    : null;

const sizeFault: Rule = ({ max_file_bytes: most }, args) =>
  Buffer.byteLength(textOf(args, 'content')) <= most ? null : at('content', `must have at most ${most} bytes`);

const changeFault: Rule = (_, args) =>
  ['title', 'body', 'state'].some((name) => Object.hasOwn(args, name))
    ? null
    : { param: 'args', message: 'args must have title, body or state: what is to change.' };

const methodFault: Rule = ({ merge_methods: allowed }, args) => {
  if (allowed.some((method) => method === args['method'])) return null;
  return at(
    'method',
    allowed.length === 0 ? 'cannot be: the connector merges nothing' : `must be one of ${allowed.join(', ')}`,
  );
};

const sameFault: Rule = (_, { head, base }) =>
  head === base ? at('head', 'must be another branch than args.base') : null;

const OF_TOOL: Readonly<Record<string, readonly Rule[]>> = {
  update_issue: [changeFault],
  create_comment: [commentFault],
  create_branch: [protectedFault],
  put_file: [protectedFault, governingFault, sizeFault],
  delete_file: [protectedFault, governingFault],
  delete_branch: [protectedFault],
  create_pull_request: [sameFault],
  merge_pull_request: [methodFault],
};
