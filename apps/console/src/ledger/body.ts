import type { Schemas } from '../kernel/client.ts';

export type Section = Readonly<Record<string, unknown>>;

/** The parts of a deed's body (docs/deed-format.md) that a page uses. Other members are kept, and shown too. */
export interface DeedBody {
  readonly id: string;
  readonly seq: number;
  readonly kind: Schemas['DeedKind'];
  readonly issued_at: string;
  readonly source: Section;
  readonly chain: Section;
  readonly who: Section & { readonly actor: Schemas['Actor']; readonly agent: string | null };
  readonly action: (Section & { readonly id: string; readonly tool: string }) | null;
  readonly policy: (Section & { readonly outcome: string }) | null;
  readonly approval: (Section & { readonly status: string }) | null;
  readonly execution: (Section & { readonly status: string }) | null;
  readonly witness: (Section & Pick<Schemas['Witness'], 'level' | 'verdict'>) | null;
  readonly cost: Section | null;
  readonly admin: Change | null;
}

export interface Change extends Section {
  readonly action: string;
  readonly target: { readonly type: string; readonly id: string };
  readonly reason: string | null;
}

const isObject = (value: unknown): value is Section =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const SECTIONS = ['action', 'policy', 'approval', 'execution', 'witness', 'cost', 'admin'];

/** Parses a deed's bytes to show them; null if they are no deed. Does not verify anything: checkDeed does. */
export const bodyIn = (bytes: Uint8Array): DeedBody | null => {
  try {
    const body: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (!isObject(body)) return null;
    const { who, chain, source, admin } = body;
    const isDeed =
      isObject(who) &&
      isObject(who['actor']) &&
      isObject(chain) &&
      isObject(source) &&
      SECTIONS.every((name) => body[name] === null || isObject(body[name])) &&
      (admin === null || (isObject(admin) && isObject(admin['target'])));
    return isDeed ? (body as unknown as DeedBody) : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
};
