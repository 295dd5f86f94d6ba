import { createHash, randomBytes } from 'node:crypto';

export interface WireAnswer {
  readonly status: number;
  /** Undefined: none. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

type Body = Readonly<Record<string, unknown>>;
type Stored = Record<string, unknown>;

const sha1 = (bytes: Buffer | string): string => createHash('sha1').update(bytes).digest('hex');
const blobSha = (bytes: Buffer): string => sha1(Buffer.concat([Buffer.from(`blob ${bytes.byteLength}\0`), bytes]));

const ok = (body: unknown): WireAnswer => ({ status: 200, body });
const created = (body: unknown): WireAnswer => ({ status: 201, body });
const refused = (status: number, message: string): WireAnswer => ({
  status,
  body: { message, documentation_url: 'https://docs.github.com/rest', status: String(status) },
});
const invalid = (message: string): WireAnswer => refused(422, message);

/** One repository of the tests' GitHub: its files by commit, its branches, issues, comments and pull requests. */
export class CodeHostRepository {
  defaultBranch = 'main';
  isArchived = false;
  mayPush = true;
  readonly commits = new Map<string, ReadonlyMap<string, Buffer>>();
  readonly messages: string[] = [];
  readonly branches = new Map<string, string>();
  readonly issues = new Map<number, Stored>();
  readonly pulls = new Map<number, Stored>();
  readonly comments = new Map<number, Stored>();
  private numbers = 0;
  private commentIds = 1_000;

  constructor(
    readonly name: string,
    private readonly root: string,
  ) {
    this.branches.set('main', this.commit(new Map([['README.md', Buffer.from('# Shop\n')]]), 'First'));
  }

  /** @returns the sha of the branch */
  branch(name: string): string {
    const sha = this.branches.get('main') as string;
    this.branches.set(name, sha);
    return sha;
  }

  file(branch: string, path: string): string | null {
    return this.filesOf(branch)?.get(path)?.toString() ?? null;
  }

  /** Somebody else's commit. */
  write(branch: string, path: string, content: string): string {
    const bytes = Buffer.from(content);
    this.branches.set(branch, this.commit(new Map([...(this.filesOf(branch) ?? []), [path, bytes]]), 'By hand'));
    return blobSha(bytes);
  }

  /** Somebody else's commit that moves a file. */
  move(branch: string, from: string, to: string): void {
    const files = new Map(this.filesOf(branch));
    files.set(to, files.get(from) as Buffer);
    files.delete(from);
    this.branches.set(branch, this.commit(files, 'By hand'));
  }

  answer(method: string, path: readonly string[], query: URLSearchParams, body: Body): WireAnswer | null {
    const [kind, ...rest] = path;
    if (kind === undefined) return method === 'GET' ? ok(this.shown()) : null;
    if (kind === 'contents') return this.contents(method, rest.join('/'), query, body);
    if (kind === 'branches') return this.shownBranch(method, rest.join('/'));
    if (kind === 'git') return this.refs(method, rest, body);
    if (kind === 'issues' && rest[0] === 'comments') return this.commentAt(method, rest[1], query);
    if (kind === 'issues') return this.issuesAt(method, rest, query, body);
    return kind === 'pulls' ? this.pullsAt(method, rest, query, body) : null;
  }

  private shown(): Stored {
    const permissions = { admin: false, maintain: false, push: this.mayPush, triage: true, pull: true };
    return {
      id: 1,
      full_name: this.name,
      private: true,
      default_branch: this.defaultBranch,
      archived: this.isArchived,
      permissions,
    };
  }

  private commit(files: ReadonlyMap<string, Buffer>, message: string): string {
    const sha = sha1(randomBytes(16));
    this.commits.set(sha, files);
    this.messages.push(message);
    return sha;
  }

  private filesOf(ref: string): ReadonlyMap<string, Buffer> | undefined {
    return this.commits.get(this.branches.get(ref.replace(/^refs\/heads\//, '')) ?? ref);
  }

  private contents(method: string, path: string, query: URLSearchParams, body: Body): WireAnswer | null {
    const named = method === 'GET' ? query.get('ref') : textOf(body, 'branch');
    const branch = named ?? this.defaultBranch;
    const files = this.filesOf(branch);
    if (files === undefined)
      return refused(404, method === 'GET' ? `No commit found for the ref ${branch}` : `Branch ${branch} not found`);
    const there = files.get(path);
    if (method === 'GET') return there === undefined ? this.directory(files, path) : ok(this.shownFile(path, there));
    const sha = there === undefined ? undefined : blobSha(there);
    if (method === 'DELETE' && there === undefined) return null;
    // As the real one: a file that is there wants its sha, and another sha is a conflict.
    if (sha !== undefined && body['sha'] === undefined) return invalid('Invalid request.\n\n"sha" wasn\'t supplied.');
    if (sha !== undefined && body['sha'] !== sha) return refused(409, `${path} does not match ${String(body['sha'])}`);
    const changed = new Map(files);
    const content = Buffer.from(textOf(body, 'content') ?? '', 'base64');
    if (method === 'PUT') changed.set(path, content);
    else changed.delete(path);
    const commit = this.commit(changed, String(body['message']));
    this.branches.set(branch, commit);
    const said = { commit: { sha: commit, message: body['message'] } };
    if (method === 'DELETE') return ok({ content: null, ...said });
    const file = Object.entries(this.shownFile(path, content)).filter(([name]) => !/^(?:content|encoding)$/.test(name));
    return { status: there === undefined ? 201 : 200, body: { content: Object.fromEntries(file), ...said } };
  }

  private directory(files: ReadonlyMap<string, Buffer>, path: string): WireAnswer | null {
    const below = [...files.keys()].filter((name) => name.startsWith(`${path}/`));
    return below.length === 0 ? null : ok(below.map((name) => ({ type: 'file', path: name })));
  }

  private shownFile(path: string, bytes: Buffer): Stored {
    const url = `https://raw.example.com/${this.name}/${path}?token=SECRETLINK${sha1(bytes).toUpperCase()}`;
    // The real one breaks its base64 into lines.
    const content = bytes.toString('base64').replace(/(.{60})/g, '$1\n');
    return {
      type: 'file',
      encoding: 'base64',
      size: bytes.byteLength,
      path,
      content,
      sha: blobSha(bytes),
      download_url: url,
    };
  }

  private shownRef(name: string): Stored {
    return { ref: `refs/heads/${name}`, node_id: 'x', object: { type: 'commit', sha: this.branches.get(name) } };
  }

  private shownBranch(method: string, name: string): WireAnswer | null {
    if (method === 'GET' && name === '')
      return ok([...this.branches].map(([each, sha]) => ({ name: each, commit: { sha } })));
    const sha = this.branches.get(name);
    return method === 'GET' && sha !== undefined ? ok({ name, commit: { sha } }) : null;
  }

  private refs(method: string, [where, ...rest]: readonly string[], body: Body): WireAnswer | null {
    const name = rest.slice(1).join('/');
    if (method === 'POST' && where === 'refs' && rest.length === 0) return this.createRef(body);
    if (method === 'GET' && where === 'matching-refs') {
      return ok(
        [...this.branches.keys()].filter((branch) => branch.startsWith(name)).map((branch) => this.shownRef(branch)),
      );
    }
    const isThere = this.branches.has(name);
    if (method === 'GET' && where === 'ref') return isThere ? ok(this.shownRef(name)) : null;
    if (method !== 'DELETE' || where !== 'refs') return null;
    return this.branches.delete(name) ? { status: 204 } : invalid('Reference does not exist');
  }

  private createRef({ ref, sha }: Body): WireAnswer {
    const name = String(ref).replace(/^refs\/heads\//, '');
    if (!this.commits.has(String(sha))) return invalid('Object does not exist');
    if (this.branches.has(name)) return invalid('Reference already exists');
    this.branches.set(name, String(sha));
    return created(this.shownRef(name));
  }

  private issuesAt(
    method: string,
    [number, below]: readonly string[],
    query: URLSearchParams,
    body: Body,
  ): WireAnswer | null {
    if (number === undefined)
      return method === 'GET' ? ok(paged([...this.issues.values()].toReversed(), query)) : this.open(body);
    const issue = this.issues.get(Number(number));
    if (issue === undefined) return null;
    if (below === 'comments') {
      if (method === 'POST') return this.comment(Number(number), body);
      return ok(
        paged(
          [...this.comments.values()].filter((each) => String(each['issue_url']).endsWith(`/issues/${number}`)),
          query,
        ),
      );
    }
    if (method === 'PATCH') {
      Object.assign(issue, body);
      const pull = this.pulls.get(Number(number));
      if (pull !== undefined) Object.assign(pull, body);
    }
    return ok(issue);
  }

  private open(body: Body): WireAnswer {
    if (typeof body['title'] !== 'string' || body['title'].trim() === '') return invalid('Validation Failed');
    const number = (this.numbers += 1);
    const issue = {
      id: 5_000 + number,
      number,
      state: 'open',
      body: null,
      updated_at: now(),
      ...body,
      title: body['title'].trim(),
    };
    this.issues.set(number, issue);
    return created(issue);
  }

  private comment(number: number, { body }: Body): WireAnswer {
    const id = (this.commentIds += 1);
    const issue_url = `${this.root}/repos/${this.name}/issues/${number}`;
    const comment = { id, body, issue_url, created_at: now(), updated_at: now(), user: { login: 'octocat' } };
    this.comments.set(id, comment);
    return created(comment);
  }

  private commentAt(method: string, id: string | undefined, query: URLSearchParams): WireAnswer | null {
    const isNewestFirst = query.get('direction') === 'desc';
    const all = [...this.comments.values()];
    if (id === undefined) return ok(paged(isNewestFirst ? all.toReversed() : all, query));
    const comment = this.comments.get(Number(id));
    if (comment === undefined) return null;
    if (method === 'GET') return ok(comment);
    this.comments.delete(Number(id));
    return { status: 204 };
  }

  private pullsAt(
    method: string,
    [number, below]: readonly string[],
    query: URLSearchParams,
    body: Body,
  ): WireAnswer | null {
    if (number === undefined) return method === 'GET' ? this.listPulls(query) : this.propose(body);
    const pull = this.pulls.get(Number(number));
    if (pull === undefined) return null;
    if (below === 'files') return ok(paged(this.changedIn(pull), query));
    if (below === 'merge') return this.merge(pull, body);
    return ok({ ...pull, changed_files: this.changedIn(pull).length });
  }

  /** As the real one: a file that was moved is one entry with two names. */
  private changedIn(pull: Stored): readonly Stored[] {
    const before = this.filesOf(refOf(pull['base'])) ?? new Map<string, Buffer>();
    const after = this.filesOf(refOf(pull['head'])) ?? new Map<string, Buffer>();
    const gone = [...before.keys()].filter((name) => !after.has(name));
    const changed: Stored[] = [];
    for (const [filename, bytes] of after) {
      const there = before.get(filename);
      if (there?.equals(bytes) === true) continue;
      const from = there === undefined ? gone.findIndex((name) => before.get(name)?.equals(bytes)) : -1;
      const [previous] = from < 0 ? [] : gone.splice(from, 1);
      changed.push(
        previous === undefined
          ? { filename, status: there === undefined ? 'added' : 'modified' }
          : { filename, status: 'renamed', previous_filename: previous },
      );
    }
    return [...changed, ...gone.map((filename) => ({ filename, status: 'removed' }))];
  }

  private listPulls(query: URLSearchParams): WireAnswer {
    const [, head] = query.get('head')?.split(':') ?? [];
    const fitting = [...this.pulls.values()].filter((pull) => head === undefined || refOf(pull['head']) === head);
    // A list does not say whether they are merged.
    return ok(paged(fitting.toReversed(), query).map(({ merged: _, ...pull }) => pull));
  }

  private propose(body: Body): WireAnswer {
    const [head, base] = [String(body['head']), String(body['base'])];
    const [from, into] = [this.branches.get(head), this.branches.get(base)];
    if (from === undefined || into === undefined) return invalid('Validation Failed');
    if (from === into) return invalid(`Validation Failed: No commits between ${base} and ${head}`);
    const number = (this.numbers += 1);
    const { title, draft, body: text } = body;
    const shared = { number, state: 'open', title, body: text ?? null };
    const sides = { head: { ref: head, sha: from }, base: { ref: base, sha: into } };
    const pull = { id: 6_000 + number, ...shared, ...sides, draft: draft === true, merged: false, mergeable: true };
    this.pulls.set(number, pull);
    this.issues.set(number, { id: pull.id, ...shared, updated_at: now(), pull_request: { url: 'x' } });
    return created(pull);
  }

  private merge(pull: Stored, body: Body): WireAnswer {
    const { ref, sha } = pull['head'] as { readonly ref: string; readonly sha: string };
    if (pull['draft'] === true || pull['merged'] === true) return refused(405, 'Pull Request is not mergeable');
    if (body['sha'] !== sha) return refused(409, 'Head branch was modified. Review and try the merge again.');
    const commit = this.commit(this.filesOf(ref) ?? new Map(), `Merge ${ref}`);
    this.branches.set(refOf(pull['base']), commit);
    Object.assign(pull, { merged: true, state: 'closed', merge_commit_sha: commit });
    return ok({ sha: commit, merged: true, message: 'Pull Request successfully merged' });
  }
}

const textOf = (body: Body, name: string): string | null => {
  const value = body[name];
  return typeof value === 'string' ? value : null;
};
const now = (): string => new Date().toISOString().replace(/\.\d+Z$/, 'Z');
const refOf = (side: unknown): string => (side as { readonly ref: string }).ref;

const paged = (items: readonly Stored[], query: URLSearchParams): readonly Stored[] => {
  const since = query.get('since');
  const state = query.get('state');
  const size = Math.min(Number(query.get('per_page') ?? 30), 100);
  const first = (Number(query.get('page') ?? 1) - 1) * size;
  return items
    .filter((item) => since === null || String(item['updated_at']) >= since)
    .filter((item) => state === null || state === 'all' || item['state'] === state)
    .slice(first, first + size);
};
