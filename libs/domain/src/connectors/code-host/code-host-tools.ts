import type { FixedArgument, FixedTool } from '../fixed-tool.js';
import { CODE_HOST_LIMITS, MERGE_METHODS } from './code-host-config.js';
import { BRANCH_CHARACTERS } from './code-host-names.js';

const ID_MAX = Number.MAX_SAFE_INTEGER;
const NUMBER_MAX = 2_147_483_647;

const required = (argument: FixedArgument): FixedArgument => ({ ...argument, required: true });
const text = (description: string, maxCharacters: number): FixedArgument => ({
  type: 'text',
  description,
  maxCharacters,
});
const sha = (description: string): FixedArgument => ({
  type: 'text',
  description: `${description} 40 hexadecimal digits, in lower case.`,
  maxCharacters: 40,
  pattern: { of: /^[0-9a-f]{40}$/, rule: '40 hexadecimal digits, in lower case' },
});
const branch = (description: string): FixedArgument => ({
  type: 'text',
  description,
  maxCharacters: CODE_HOST_LIMITS.branchCharacters,
  pattern: { of: BRANCH_CHARACTERS, rule: 'the name of a branch: letters, digits and . _ / + # -' },
});
const number = (what: string): FixedArgument =>
  required({ type: 'integer', description: `The number of ${what}.`, min: 1, max: NUMBER_MAX });

const REPOSITORY = required(
  text(
    'Which of the connector’s repositories, as owner/name, letter for letter.',
    CODE_HOST_LIMITS.repositoryCharacters,
  ),
);
const PATH = required(text('The path of a file, from the root of the repository.', CODE_HOST_LIMITS.pathCharacters));
const TITLE = text('The title, on one line.', CODE_HOST_LIMITS.titleCharacters);
const BODY = text(
  'The text, in Markdown. The id of the action is put under it, invisibly.',
  CODE_HOST_LIMITS.textCharacters,
);
const MESSAGE = required(text('What the commit says.', CODE_HOST_LIMITS.textCharacters));
const BRANCH = required(branch('The branch that is written to. It is there already, and is none that is protected.'));
const PAGE: Readonly<Record<string, FixedArgument>> = {
  limit: { type: 'integer', description: 'How many at most.', min: 1, max: CODE_HOST_LIMITS.listMax },
  page: { type: 'integer', description: 'Which page, from 1.', min: 1, max: 1_000 },
};
const LISTED_STATE: FixedArgument = {
  type: 'text',
  description: 'Only those of this state. Default open.',
  maxCharacters: 8,
  enum: ['open', 'closed', 'all'],
};

const READS: readonly FixedTool[] = [
  {
    name: 'get_file',
    title: 'read a file of a repository',
    description: 'Reads one file, in base64 and with its sha, or the names in a directory.',
    sideEffect: 'read',
    args: {
      repository: REPOSITORY,
      path: PATH,
      ref: text('A branch, a tag or a commit; the default branch unless said.', CODE_HOST_LIMITS.branchCharacters),
    },
  },
  {
    name: 'get_branch',
    title: 'read a branch',
    description: 'Reads one branch, with the commit that it is at.',
    sideEffect: 'read',
    args: { repository: REPOSITORY, branch: required(branch('The branch.')) },
  },
  {
    name: 'list_issues',
    title: 'list issues',
    description: 'Lists the newest issues, at most 25 at once. Pull requests are among them, as the host has it.',
    sideEffect: 'read',
    args: { repository: REPOSITORY, state: LISTED_STATE, ...PAGE },
  },
  {
    name: 'get_issue',
    title: 'read an issue',
    description: 'Reads one issue.',
    sideEffect: 'read',
    args: { repository: REPOSITORY, number: number('the issue') },
  },
  {
    name: 'list_comments',
    title: 'list the comments of an issue',
    description: 'Lists the comments of one issue or pull request, oldest first, at most 25 at once.',
    sideEffect: 'read',
    args: { repository: REPOSITORY, number: number('the issue or pull request'), ...PAGE },
  },
  {
    name: 'list_pull_requests',
    title: 'list pull requests',
    description: 'Lists the newest pull requests, at most 25 at once.',
    sideEffect: 'read',
    args: { repository: REPOSITORY, state: LISTED_STATE, base: branch('Only those into this branch.'), ...PAGE },
  },
  {
    name: 'get_pull_request',
    title: 'read a pull request',
    description: 'Reads one pull request: its branches, the commit at its head, whether it can be merged.',
    sideEffect: 'read',
    args: { repository: REPOSITORY, number: number('the pull request') },
  },
];

const WRITES: readonly FixedTool[] = [
  {
    name: 'create_issue',
    title: 'open an issue',
    description: 'Opens an issue.',
    sideEffect: 'write',
    args: { repository: REPOSITORY, title: required(TITLE), body: BODY },
  },
  {
    name: 'update_issue',
    title: 'change an issue',
    description: 'Changes title, text or state of an issue or a pull request. What is left out stays as it is.',
    sideEffect: 'write',
    args: {
      repository: REPOSITORY,
      number: number('the issue or pull request'),
      title: TITLE,
      body: BODY,
      state: { type: 'text', description: 'Whether it is open.', maxCharacters: 8, enum: ['open', 'closed'] },
    },
  },
  {
    name: 'create_comment',
    title: 'comment on an issue',
    description: 'Comments on an issue or a pull request.',
    sideEffect: 'write',
    args: { repository: REPOSITORY, number: number('the issue or pull request'), body: required(BODY) },
  },
  {
    name: 'create_branch',
    title: 'create a branch',
    description: 'Creates a branch at a commit.',
    sideEffect: 'write',
    args: {
      repository: REPOSITORY,
      branch: required(branch('The name of the new branch.')),
      sha: required(sha('The commit that it begins at, for example of another branch, as get_branch says it.')),
    },
  },
  {
    name: 'put_file',
    title: 'write a file of a repository',
    description: 'Commits one file to a branch: a new one, or another content of one whose sha is given.',
    sideEffect: 'write',
    args: {
      repository: REPOSITORY,
      branch: BRANCH,
      path: PATH,
      content: required(text('The whole content, as text.', CODE_HOST_LIMITS.fileBytesMax)),
      message: MESSAGE,
      sha: sha('Of the content that is replaced, as get_file says it; left out for a new file.'),
    },
  },
  {
    name: 'create_pull_request',
    title: 'open a pull request',
    description: 'Proposes to merge one branch of the repository into another.',
    sideEffect: 'write',
    args: {
      repository: REPOSITORY,
      head: required(branch('The branch with the changes.')),
      base: required(branch('The branch that they are to reach.')),
      title: required(TITLE),
      body: BODY,
      draft: {
        type: 'flag',
        description: 'Default false. A draft cannot be merged until a person marks it ready on the host.',
      },
    },
  },
  {
    name: 'delete_comment',
    title: 'delete a comment',
    description: 'Deletes one comment of an issue or a pull request.',
    sideEffect: 'destructive',
    args: {
      repository: REPOSITORY,
      comment: { type: 'integer', description: 'The id of the comment.', required: true, min: 1, max: ID_MAX },
    },
  },
  {
    name: 'delete_file',
    title: 'delete a file of a repository',
    description: 'Commits the removal of one file to a branch.',
    sideEffect: 'destructive',
    args: {
      repository: REPOSITORY,
      branch: BRANCH,
      path: PATH,
      sha: required(sha('Of the content that is deleted, as get_file says it.')),
      message: MESSAGE,
    },
  },
  {
    name: 'delete_branch',
    title: 'delete a branch',
    description: 'Deletes a branch, if it is still at the commit that is named.',
    sideEffect: 'destructive',
    args: {
      repository: REPOSITORY,
      branch: required(branch('The branch. It is none that is protected.')),
      sha: required(sha('The commit that it is at, as get_branch says it.')),
    },
  },
  {
    name: 'merge_pull_request',
    title: 'merge a pull request',
    description:
      'Merges a pull request, if its head is still the commit and its base the branch that are named. This is how changes reach a protected branch.',
    sideEffect: 'destructive',
    args: {
      repository: REPOSITORY,
      number: number('the pull request'),
      head_sha: required(sha('The commit at the head, as it was looked at.')),
      base: required(branch('The branch that it is merged into, as it was looked at.')),
      method: { type: 'text', description: 'How it is merged.', required: true, maxCharacters: 8, enum: MERGE_METHODS },
    },
  },
];

export const CODE_HOST_TOOLS: readonly FixedTool[] = [...READS, ...WRITES];

const BY_NAME: ReadonlyMap<string, FixedTool> = new Map(CODE_HOST_TOOLS.map((tool) => [tool.name, tool]));

export const codeHostToolNamed = (name: string): FixedTool | null => BY_NAME.get(name) ?? null;
