/** One completion that the editor offers. */
export interface Choice {
  readonly label: string;
  readonly detail: string;
  readonly kind: 'property' | 'enum' | 'variable' | 'function' | 'keyword';
  /** The text to insert, if it is not the label. */
  readonly insert?: string;
}
