import type { DeedBody } from '#libs/crypto';
import type { Named, Names } from './names.js';
import { namedText } from './page.js';

/** A deed in a list. */
export interface DeedRow {
  readonly object: 'deed_row';
  readonly seq: number;
  readonly deed: string;
  readonly at: string;
  readonly kind: DeedBody['kind'];
  /** The action, or null for a change. */
  readonly action: string | null;
  /** The tool, or what the change was. */
  readonly what: string;
  /** Who asked: the agent, or who made the change. Null: the operator, or the service itself, which have no id. */
  readonly who: Named | null;
  readonly actor: DeedBody['who']['actor']['type'];
  readonly outcome: string | null;
  readonly status: string | null;
  readonly verdict: string | null;
}

export const rowOf = (names: Names, deed: DeedBody): DeedRow => {
  const { action, admin, who } = deed;
  const asked = action === null ? who.actor.id : (who.agent ?? who.actor.id);
  return {
    object: 'deed_row',
    seq: deed.seq,
    deed: deed.id,
    at: deed.issued_at,
    kind: deed.kind,
    action: action?.id ?? null,
    what: action?.tool ?? admin?.action ?? '',
    who: asked === null ? null : names.of(asked),
    actor: who.actor.type,
    outcome: deed.policy?.outcome ?? null,
    status: deed.execution?.status ?? deed.approval?.status ?? null,
    verdict: deed.witness === null ? null : `${deed.witness.level} ${deed.witness.verdict}`,
  };
};

/** Who asked, for a column of a list. */
export const whoText = ({ who, actor }: DeedRow): string =>
  who === null ? `the ${actor.replace('_', ' ')}` : namedText(who);

/** What a list is narrowed to; each member narrows further. */
export interface DeedFilter {
  /** A tool by its whole name, or by its beginning with `*` behind it. */
  readonly tool?: string;
  /** Ids that stand for the agent that was named. */
  readonly agents?: ReadonlySet<string>;
  /** Ids that stand for the person that was named. */
  readonly people?: ReadonlySet<string>;
  /** Timestamps of RFC 3339 in UTC: from this one on, and before that one. */
  readonly from?: string;
  readonly to?: string;
  /** Deeds in whose values, or in which themselves, a text was found. */
  readonly seqs?: ReadonlySet<number>;
}

export const isMeant = (filter: DeedFilter, deed: DeedBody): boolean =>
  (filter.tool === undefined || isTool(filter.tool, deed.action?.tool ?? null)) &&
  (filter.agents === undefined || isAbout(filter.agents, deed.who.agent, agentOf(deed))) &&
  (filter.people === undefined || peopleIn(deed).some((id) => filter.people?.has(id))) &&
  (filter.from === undefined || deed.issued_at >= filter.from) &&
  (filter.to === undefined || deed.issued_at < filter.to) &&
  (filter.seqs === undefined || filter.seqs.has(deed.seq));

const isTool = (pattern: string, tool: string | null): boolean =>
  tool !== null && (pattern.endsWith('*') ? tool.startsWith(pattern.slice(0, -1)) : tool === pattern);

const isAbout = (sought: ReadonlySet<string>, ...ids: readonly (string | null)[]): boolean =>
  ids.some((id) => id !== null && sought.has(id));

const agentOf = ({ admin }: DeedBody): string | null => (admin?.target.type === 'agent' ? admin.target.id : null);

/** Everybody whom a deed names as having done something, or as whom it was done for. */
const peopleIn = ({ who, approval, admin }: DeedBody): readonly string[] =>
  [
    who.actor.id,
    who.on_behalf_of,
    ...(approval?.countersigned ?? []).map(({ by }) => by),
    approval?.decided_by?.id ?? null,
    admin?.target.id ?? null,
  ].filter((id) => id !== null);
