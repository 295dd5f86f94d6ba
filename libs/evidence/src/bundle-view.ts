import { type BundlePart, type DeedBody, parseDeedBody, type PayloadLine } from '#libs/crypto';
import { accountOfAction } from './action-account.js';
import { pageOfAction } from './action-page.js';
import { BundleEvidence } from './bundle-evidence.js';
import { accountOfChange } from './change-account.js';
import { pageOfChange } from './change-page.js';
import { idsNamedBy } from './named-ids.js';
import type { Page } from './page.js';
import { ReadSignatures } from './read-signatures.js';

/** An account for a program, and the same as a page to be read. */
export interface Account {
  readonly account: object;
  readonly page: Page;
}

/** The changes that say what other deeds name by an id alone. */
const TELLING: ReadonlySet<string> = new Set([
  ...['org.created', 'agent.created', 'connector.created', 'policy.created', 'policy.version_added'],
  ...['passkey.registered', 'passkey.removed', 'intent_key.added', 'intent_key.removed'],
]);

/** What was created may have another name or configuration since. */
const CHANGED: ReadonlySet<string> = new Set(['connector.updated', 'org.updated']);

const isTold = (action: string): boolean => TELLING.has(action) || CHANGED.has(action);

/** Deeds of a bundle with what it gives of them, in memory. */
export class BundleView {
  private constructor(
    readonly evidence: BundleEvidence,
    readonly deeds: readonly DeedBody[],
    /** Deeds in whose values the text stands that was sought. */
    readonly found: ReadonlySet<number>,
  ) {}

  /**
   * Reads a verified bundle front to back.
   * @param keeps which deeds to hold, with what is given of them; the changes that give things their names come besides
   * @param isSought called with each given value as its bytes, of whatever deed: true puts the deed into `found`
   */
  static async read(
    bundle: AsyncIterable<BundlePart>,
    keeps: (deed: DeedBody) => boolean,
    isSought?: (line: PayloadLine) => boolean,
  ): Promise<BundleView> {
    const evidence = new BundleEvidence();
    const signatures = new ReadSignatures(evidence);
    const [deeds, telling, wanted, found] = [[] as DeedBody[], [] as DeedBody[], new Set<number>(), new Set<number>()];
    // A bundle may tell names of whomever it likes: of those that no deed names, nothing is kept.
    const named = new Set<string>();
    for await (const part of bundle) {
      if (part.part === 'deed') {
        const deed = parseDeedBody(part.deed.body);
        for (const id of idsNamedBy(deed)) named.add(id);
        const isTelling = deed.admin !== null && isTold(deed.admin.action);
        if (isTelling) telling.push(deed);
        const isKept = keeps(deed);
        if (isKept) deeds.push(deed);
        if (isKept || isTelling) wanted.add(deed.seq);
        if (isKept || isTelling) signatures.meet(deed);
      } else if (part.part === 'payload') {
        const { line } = part;
        if ('seq' in line ? wanted.has(line.seq) : named.has(line.id)) evidence.take(line);
        signatures.take(line);
        if ('seq' in line && isSought?.(line) === true) found.add(line.seq);
      }
    }
    for (const deed of telling) evidence.learn(deed);
    return new BundleView(evidence, deeds, found);
  }

  /** The account of an action by its id, that of its approval, or that of a deed; null: the view has none. */
  account(id: string): Account | null {
    const deed = this.deeds.find((one) => isCalled(one, id));
    if (deed === undefined) return null;
    const change = accountOfChange(this.evidence, deed);
    if (change !== null) return { account: change, page: pageOfChange(change) };
    const all = this.deeds.filter(({ action }) => action !== null && action.id === deed.action?.id);
    const account = accountOfAction(this.evidence, all);
    return account === null ? null : { account, page: pageOfAction(account) };
  }
}

/** Whether the id is that of the deed, of its action, or of its approval. */
export const isCalled = ({ id, action, approval }: DeedBody, sought: string): boolean =>
  id === sought || action?.id === sought || approval?.id === sought;
