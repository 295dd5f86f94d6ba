import type { JsonObject, JsonValue } from '#libs/crypto';

import { isObject } from '../config-reader.js';
import { textOf } from './code-host-arguments.js';
import { memberAt } from './code-host-members.js';
import { isGoverning, pathFault } from './code-host-names.js';

/** What is read before a call is sent says whether it is sent. The sentences hold nothing of what was read. */

/** Why a branch is not deleted, by its ref as it was read; null where it is deleted. */
export const deletionFault = (args: JsonObject, ref: JsonValue | undefined): string | null => {
  if (memberAt(ref, 'ref') !== `refs/heads/${textOf(args, 'branch')}`) return ANOTHER_REF;
  return memberAt(ref, 'object', 'sha') === args['sha'] ? null : MOVED_ON;
};

/** Why a pull request is not merged, by what it is; null where nothing of it speaks against that. */
export const mergeFault = (args: JsonObject, pull: JsonValue | undefined): string | null => {
  if (memberAt(pull, 'head', 'sha') !== args['head_sha']) {
    return 'args.head_sha is not the commit at the head of the pull request, and nothing was sent. Look at it, and submit the call again.';
  }
  return memberAt(pull, 'base', 'ref') === args['base']
    ? null
    : 'args.base is not the branch that the pull request would be merged into, and nothing was sent. Look at it, and submit the call again.';
};

export const FILES_A_PAGE = 100;
/** The files of a pull request that are looked at: a longer list would take longer than a call may. */
const PAGES_MAX = 10;

/** What the pages of a pull request's files say so far. */
export type FilesLook =
  | { readonly kind: 'next_page' }
  | { readonly kind: 'none' }
  | { readonly kind: 'fault'; readonly message: string }
  | { readonly kind: 'unreadable' };

/**
 * Whether a merge brings what no tool may write there.
 * @param pages as they were read, the last of them last
 */
export const filesLookOf = (pull: JsonValue | undefined, pages: readonly (JsonValue | undefined)[]): FilesLook => {
  const count = memberAt(pull, 'changed_files');
  if (typeof count === 'number' && count > PAGES_MAX * FILES_A_PAGE) return { kind: 'fault', message: TOO_MANY };
  let listed = 0;
  let isWhole = false;
  for (const page of pages) {
    if (!Array.isArray(page)) return { kind: 'unreadable' };
    for (const file of page) {
      const names = namesOf(file);
      if (names === null) return { kind: 'unreadable' };
      if (names.some((name) => pathFault(name) !== null || isGoverning(name)))
        return { kind: 'fault', message: GOVERNED };
    }
    listed += page.length;
    isWhole = page.length < FILES_A_PAGE || listed === count;
  }
  if (!isWhole) return pages.length < PAGES_MAX ? { kind: 'next_page' } : { kind: 'fault', message: TOO_MANY };
  // The host says of the pull request how many there are.
  return typeof count === 'number' && listed < count ? { kind: 'unreadable' } : { kind: 'none' };
};

/** Of a file that was moved the one before, too. */
const namesOf = (file: JsonValue): readonly string[] | null => {
  if (!isObject(file) || typeof file['filename'] !== 'string') return null;
  const { filename, previous_filename: previous = null } = file;
  if (previous === null) return [filename];
  return typeof previous === 'string' ? [filename, previous] : null;
};

const ANOTHER_REF =
  'The code host answered with another ref than the branch that is named, and nothing was deleted. Look at it, and submit the call again.';
const MOVED_ON =
  'The branch is at another commit than args.sha, and nothing was deleted. Look at it, and submit the call again.';
const GOVERNED =
  'The pull request changes files that the connector’s config keeps agents from (.github/, CODEOWNERS, .git), and nothing was sent. A person can merge it on the host.';
const TOO_MANY = `The pull request changes more than ${PAGES_MAX * FILES_A_PAGE} files, which is more than are looked at, and nothing was sent. A person can merge it on the host.`;
