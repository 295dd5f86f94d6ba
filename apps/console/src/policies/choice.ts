/** What may stand at a place of a policy. */
export interface Choice {
  readonly label: string;
  readonly detail: string;
  readonly kind: 'property' | 'enum' | 'variable' | 'function' | 'keyword';
  /** Put in instead of the label. */
  readonly insert?: string;
}
