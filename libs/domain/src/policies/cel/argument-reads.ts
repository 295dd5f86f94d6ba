import { didYouMean } from '../did-you-mean.js';
import type { PolicyDiagnosticCode } from '../diagnostics.js';
import type { CelType } from './types.js';

type MapType = Extract<CelType, { kind: 'map' }>;

export interface ArgumentFinding {
  readonly code: Extract<PolicyDiagnosticCode, 'unknown_argument' | 'optional_argument'>;
  readonly id: bigint;
  readonly message: string;
  readonly hint: string;
}

/**
 * What a condition reads of a map whose members are declared: the arguments of the tools that a rule is about. A map
 * without declared members gives any value and no finding.
 */
export class ArgumentReads {
  private readonly unknown = new Map<string, ArgumentFinding>();
  /** Members that some calls lack, with the first read of each. */
  private readonly optional = new Map<string, bigint>();
  private readonly looked = new Set<string>();
  private asksTool = false;

  /** @param member null where only the call knows which one is read */
  memberOf({ value, members }: MapType, member: string | null, id: bigint, isTest: boolean): CelType {
    if (members === undefined || member === null) return value;
    const known = Object.hasOwn(members, member) ? members[member] : undefined;
    if (known === undefined) {
      this.noteUnknown(member, Object.keys(members), id);
      return value;
    }
    if (isTest) this.looked.add(member);
    else if (known.presence === 'optional' && !this.optional.has(member)) this.optional.set(member, id);
    return known.type;
  }

  /** `"note" in args`: a look as good as has(). */
  noteLook(container: CelType, member: string | null, id: bigint): void {
    if (container.kind === 'map' && member !== null) this.memberOf(container, member, id, true);
  }

  /** A condition that asks which tool is called tells the tools' arguments apart by itself. */
  noteFact(name: string): void {
    if (name === 'tool') this.asksTool = true;
  }

  findings(): readonly ArgumentFinding[] {
    const unguarded = this.asksTool ? [] : [...this.optional].filter(([member]) => !this.looked.has(member));
    return [
      ...this.unknown.values(),
      ...unguarded.map(([member, id]) => {
        const path = written(member);
        return {
          code: 'optional_argument' as const,
          id,
          message: `Calls may come without ${path}: there the condition has no answer, and the call is refused.`,
          hint: `Begin with "${lookAt(member)} && ".`,
        };
      }),
    ];
  }

  private noteUnknown(member: string, known: readonly string[], id: bigint): void {
    if (this.unknown.has(member)) return;
    const message = `No tool that the rule is about has an argument "${member}".`;
    const hint = known.length === 0 ? 'These tools take no arguments.' : didYouMean(member, known);
    this.unknown.set(member, { code: 'unknown_argument', id, message, hint });
  }
}

const NAME = /^[A-Za-z_]\w*$/;

const written = (member: string): string => (NAME.test(member) ? `args.${member}` : `args[${JSON.stringify(member)}]`);

const lookAt = (member: string): string =>
  NAME.test(member) ? `has(args.${member})` : `${JSON.stringify(member)} in args`;
