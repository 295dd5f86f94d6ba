import type { Schemas } from '../kernel/client.ts';

export interface ToolProps {
  readonly policy: Schemas['Policy'];
  /** The text to judge: the one that the editor shows. */
  readonly source: string;
  /** Whether the source compiles; null while that is not known. */
  readonly isValid: boolean | null;
  /** Scrolls the editor to a rule. */
  readonly onRule: (id: string) => void;
}
