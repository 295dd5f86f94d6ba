/** How repositories, branches and paths may be written, and which of them no call writes to. */
import { CODE_HOST_LIMITS, type CodeHostConfig } from './code-host-config.js';

const OWNER = '[A-Za-z0-9](?:[A-Za-z0-9_-]{0,38})';
const NAME = '[A-Za-z0-9._-]{1,100}';
const REPOSITORY = new RegExp(`^${OWNER}/${NAME}$`);

/** `owner/name`, and nothing that a path would read as something else. */
export const isRepository = (text: string): boolean => {
  const name = text.slice(text.indexOf('/') + 1);
  return REPOSITORY.test(text) && name !== '.' && name !== '..' && !name.toLowerCase().endsWith('.git');
};

/** Letters that are one thing to every reader: nothing that is decoded, folded or invisible. */
export const BRANCH_CHARACTERS = /^[A-Za-z0-9._/+#-]+$/;

/** How the name of a branch breaks a rule, as the end of a sentence; null where it does not. */
export const branchFault = (branch: string): string | null => {
  if (!BRANCH_CHARACTERS.test(branch)) return 'must have letters, digits and . _ / + # - alone';
  if (branch.length > CODE_HOST_LIMITS.branchCharacters) {
    return `must have at most ${CODE_HOST_LIMITS.branchCharacters} characters`;
  }
  const segments = branch.split('/');
  if (/^(?:refs|heads|tags|remotes)$/i.test(segments[0] ?? '')) {
    return 'must be the name of a branch alone, without refs/ or heads/ before it';
  }
  if (/^head$/i.test(branch) || /^[0-9a-f]{40}$/i.test(branch)) {
    return 'must be the name of a branch, and neither HEAD nor a commit';
  }
  const isBroken = segments.some(
    (part) =>
      part === '' || part.startsWith('.') || part.startsWith('-') || part.endsWith('.') || /\.lock$/i.test(part),
  );
  return isBroken || branch.includes('..')
    ? 'must be a name that git takes for a branch: no part of it empty, and none that begins or ends with a dot'
    : null;
};

/**
 * Whether a branch is one that no tool writes to. The case of letters counts for nothing: a host whose disks do not tell
 * cases apart must not take `Main` for `main` behind this rule.
 */
export const isProtectedBranch = (
  { protected_branches }: Pick<CodeHostConfig, 'protected_branches'>,
  branch: string,
) => {
  const name = bareBranch(branch);
  return protected_branches.some((listed) => {
    const rule = listed.toLowerCase();
    return rule.endsWith('/*') ? name.startsWith(rule.slice(0, -1)) : name === rule;
  });
};

/** Without what spells the same branch otherwise, although `branchFault` refuses most of it before. */
const bareBranch = (branch: string): string => {
  let name = branch
    .normalize('NFKC')
    .replace(/[\p{Cf}\p{Cc}\s]/gu, '')
    .toLowerCase();
  for (;;) {
    const shorter = percentDecoded(name)
      .replace(/^\/+|[./]+$/g, '')
      .replace(/^(?:refs\/)?heads\//, '');
    if (shorter === name) return name;
    name = shorter;
  }
};

/** Each escape on its own: one that is broken keeps no other from being read. */
const percentDecoded = (text: string): string =>
  text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

const DECODINGS_MAX = 4;

/** A text, and what it reads as where somebody decodes it once more than they should. */
const spellingsOf = (text: string): readonly string[] => {
  const spellings = [text];
  for (let decoded = 0; decoded < DECODINGS_MAX; decoded += 1) {
    const last = spellings.at(-1) as string;
    const next = percentDecoded(last);
    if (next === last) break;
    spellings.push(next);
  }
  return spellings;
};

const NO_PATH = 'must be a path within the repository, such as docs/guide.md:';

/** How a path breaks a rule, as the end of a sentence; null where it does not. */
export const pathFault = (path: string): string | null => {
  if (path === '') return `${NO_PATH} it is empty`;
  for (const spelling of spellingsOf(path)) {
    if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(spelling)) return `${NO_PATH} no control or invisible characters`;
    if (spelling.includes('\\')) return `${NO_PATH} no backslash`;
    if (spelling.startsWith('/') || spelling.endsWith('/')) return `${NO_PATH} no slash at its beginning or end`;
    const segments = spelling.split('/');
    if (segments.includes('')) return `${NO_PATH} no two slashes side by side`;
    const plain = segments.map(plainSegment);
    // What is left of `.`, `..` and their like, without their dots.
    if (plain.includes('')) return `${NO_PATH} no part of it that is dots alone`;
    if (plain.some((segment) => segment === '.git' || segment === 'git~1')) return `${NO_PATH} nothing of .git`;
  }
  return null;
};

/** Whether the host runs or obeys what stands at a path. */
export const isGoverning = (path: string): boolean =>
  spellingsOf(path).some((spelling) => {
    const segments = spelling.split('/').map(plainSegment);
    return segments[0] === '.github' || segments[0] === 'github~1' || segments.at(-1) === 'codeowners';
  });

/** As a file system without cases, widths and trailing dots would read it. */
const plainSegment = (segment: string): string =>
  segment
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .toLowerCase()
    .replace(/^\s+|[\s.]+$/g, '');

/** For a path of a URL: slashes stay. */
export const encodedPath = (path: string): string => path.split('/').map(encodeURIComponent).join('/');
