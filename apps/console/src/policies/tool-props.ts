import type { Schemas } from '../kernel/client.ts';

/** What each tool beside the editor is given. */
export interface ToolProps {
  readonly policy: Schemas['Policy'];
  /** What is judged: the text that the editor shows. */
  readonly source: string;
  /** Null while nobody knows. */
  readonly isValid: boolean | null;
  /** Goes to a rule of the text. */
  readonly onRule: (id: string) => void;
}
