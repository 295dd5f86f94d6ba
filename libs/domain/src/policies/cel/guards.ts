import { type Expression, pathOf } from './syntax-tree.js';
import type { CelType } from './types.js';

export interface Unguarded {
  readonly id: bigint;
  readonly message: string;
  readonly hint: string;
}

/**
 * Facts that some calls lack or have as null, and whether the condition looks before it reads them. One look anywhere in
 * the condition is taken as enough: what remains wrong is refused at run time.
 */
export class Guards {
  /** Ids of the nodes that read a fact some calls lack, with its path. */
  readonly optionalReads = new Map<bigint, string>();
  private readonly nullableUses = new Map<string, bigint>();
  private readonly guarded = new Set<string>();

  noteOptional(expression: Expression, path: string, isTest: boolean): void {
    if (isTest) this.guarded.add(path);
    else this.optionalReads.set(expression.id, path);
  }

  /** A comparison with null is a look. */
  noteNullTest(left: Expression, leftType: CelType, right: Expression, rightType: CelType): void {
    const path = rightType.kind === 'null' ? pathOf(left) : leftType.kind === 'null' ? pathOf(right) : null;
    if (path !== null) this.guarded.add(path);
  }

  /** A nullable where a value is needed. */
  noteUse(expression: Expression | undefined, type: CelType | undefined): void {
    if (type?.kind !== 'nullable' || expression === undefined) return;
    const path = pathOf(expression);
    if (path !== null && !this.nullableUses.has(path)) this.nullableUses.set(path, expression.id);
  }

  unguarded(): readonly Unguarded[] {
    const isOpen = ({ path }: { path: string }): boolean => !this.guarded.has(path);
    const lacking = [...this.optionalReads].map(([id, path]) => ({ id, path })).filter(isOpen);
    const nulls = [...this.nullableUses].map(([path, id]) => ({ id, path })).filter(isOpen);
    return [
      ...lacking.slice(0, 1).map(({ id, path }) => ({
        id,
        message: `Some calls have no ${path}: there an allow rule does not apply, and a deny rule refuses the call.`,
        hint: `Begin with "has(${path}) && ".`,
      })),
      ...nulls.map(({ id, path }) => ({
        id,
        message: `${path} is null for some calls: there the condition fails and the call is refused.`,
        hint: `Begin with "${path} != null && ".`,
      })),
    ];
  }
}
