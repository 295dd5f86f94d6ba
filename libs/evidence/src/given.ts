import { type DeedBody, type JsonObject, type JsonValue, type PayloadLine, payloadValue } from '#libs/crypto';

/** What a bundle gives of a value that a deed only commits to. `not_given`: the bundle says nothing about it. */
export type Given = { readonly value: JsonValue } | { readonly absent: 'removed' | 'missing' | 'not_given' };

export const NOT_GIVEN: Given = { absent: 'not_given' };

/** A line about a member of a deed. */
export type MemberLine = Extract<PayloadLine, { readonly kind: 'opened' | 'taken' | 'document' }>;

/** What a line gives. Values are read when they are asked for: of a whole bundle most never are. */
export const givenBy = (line: Exclude<PayloadLine, { readonly kind: 'name' }>): Given => {
  if (line.kind === 'taken') return { absent: line.absent };
  const value = payloadValue(line.value);
  // A line that was verified has a value.
  return value === undefined ? { absent: 'missing' } : { value };
};

/** The values that a bundle opens, by deed and member. */
export class OpenedMembers {
  private readonly bySeq = new Map<number, Map<string, MemberLine>>();

  add(member: string, line: MemberLine): void {
    const members = this.bySeq.get(line.seq) ?? new Map<string, MemberLine>();
    members.set(member, line);
    this.bySeq.set(line.seq, members);
  }

  /** Null where the deed has no such member: there is nothing to give. */
  of(deed: Pick<DeedBody, 'seq'>, member: string, commitment: string | null | undefined): Given | null {
    if (!commitment) return null;
    const line = this.line(deed.seq, member);
    return line === null ? NOT_GIVEN : givenBy(line);
  }

  line(seq: number, member: string): MemberLine | null {
    return this.bySeq.get(seq)?.get(member) ?? null;
  }

  /** The data of a change, where they were opened. */
  dataOf(seq: number): JsonObject | null {
    const line = this.line(seq, 'admin.data_digest');
    const given = line === null ? NOT_GIVEN : givenBy(line);
    return 'value' in given ? objectOf(given.value) : null;
  }
}

export const objectOf = (value: JsonValue | undefined): JsonObject | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;

export const textOf = (value: JsonValue | undefined): string | null => (typeof value === 'string' ? value : null);
