import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Logger, type OrgId, StoreUnavailable } from '#libs/domain/kernel';
import { laterOf, type RememberedTree, RememberedTrees } from '#libs/domain/ledger';

export const signedTreesPath = (stateDir: string): string => join(stateDir, 'signed-trees');

/** `ORIGIN SIZE ROOT BEGUN`. */
const RECORD = /^(\S{1,400}) (0|[1-9]\d{0,15}) ([A-Za-z0-9+/]{43}=) (0|[1-9]\d{0,15})\r?\n?$/;

const lineOf = ({ origin, size, root, begun }: RememberedTree): string => `${origin} ${size} ${root} ${begun}\n`;

const isCode = (error: unknown, ...codes: readonly string[]): boolean =>
  codes.includes((error as NodeJS.ErrnoException | null)?.code ?? '');

/** What one file of such a folder says; null if there is none. For programs that only read. */
export const readSignedTree = async (folder: string, org: OrgId): Promise<RememberedTree | null> => {
  const path = join(folder, org);
  let content: string;
  try {
    content = await readFile(path, 'latin1');
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ENOTDIR')) return null;
    throw new StoreUnavailable(`${path}, which says what was signed last of the ledger, cannot be read`, {
      cause: error,
    });
  }
  const [, origin, size, root, begun] = RECORD.exec(content) ?? [];
  if (origin === undefined || root === undefined) {
    // To sign nothing is the safe side: what was in it may be what the database has forgotten.
    throw new StoreUnavailable(
      `${path}, which says what was signed last of the ledger, holds something else. Put back a copy, or remove it: ` +
        'then only the database says what was signed.',
    );
  }
  return { org, origin, size: Number(size), root, begun: Number(begun) };
};

/**
 * The folder `signed-trees` of a state directory: a file for each organization, replaced whole and flushed before the
 * checkpoint that it is of leaves. Processes of one machine share it. Two that write at the same moment may leave the older of
 * their trees; the one whose append the log refuses then looks again, and remembers what the log has.
 */
export class RememberedTreesFolder extends RememberedTrees {
  /** On a read-only file system, what this process signed is remembered in its memory alone. */
  private readonly unwritten = new Map<OrgId, RememberedTree>();
  private turn: Promise<unknown> = Promise.resolve();
  private isTold = false;

  constructor(
    private readonly path: string,
    private readonly logger: Logger,
  ) {
    super();
  }

  /** Read from the file each time: another process may have signed, or an operator decided. */
  override async of(org: OrgId): Promise<RememberedTree | null> {
    const kept = await readSignedTree(this.path, org);
    const unwritten = this.unwritten.get(org);
    return unwritten === undefined ? kept : laterOf(kept, unwritten);
  }

  override remember(tree: RememberedTree): Promise<void> {
    const done = this.turn.then(() => this.rememberNow(tree));
    this.turn = done.catch(() => undefined);
    return done;
  }

  private async rememberNow(tree: RememberedTree): Promise<void> {
    const known = await this.of(tree.org);
    const later = laterOf(known, tree);
    if (known !== null && lineOf(later) === lineOf(known)) return;
    try {
      await this.write(later);
    } catch (error) {
      if (!isCode(error, 'EROFS')) {
        throw new StoreUnavailable(`what was signed last cannot be kept in ${this.path}, so nothing is signed`, {
          cause: error,
        });
      }
      this.unwritten.set(tree.org, later);
      if (this.isTold) return;
      this.isTold = true;
      const message = 'what was signed last is not remembered outside of the database: the file system is read-only';
      this.logger.warn(message, { path: this.path });
    }
  }

  private async write(tree: RememberedTree): Promise<void> {
    const made = await mkdir(this.path, { recursive: true, mode: 0o700 });
    if (made !== undefined) await flushFolder(dirname(this.path));
    const path = join(this.path, tree.org);
    const written = `${path}.${randomUUID()}`;
    try {
      const file = await open(written, 'wx', 0o600);
      try {
        await file.writeFile(lineOf(tree), 'latin1');
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(written, path);
    } catch (error) {
      await rm(written, { force: true }).catch(() => undefined);
      throw error;
    }
    await flushFolder(this.path);
  }
}

const flushFolder = async (path: string): Promise<void> => {
  const folder = await open(path, 'r');
  await folder.sync().finally(() => folder.close());
};
