/** How an opened credential joins the request: the last thing added, the first thing dropped. */
export interface AppliedCredential {
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** One encoded `name=value`; null when the credential is no query parameter. */
  readonly query: readonly [name: string, encodedValue: string] | null;
  /** Everything the answer must not repeat. */
  readonly secrets: readonly string[];
}

export const NO_CREDENTIAL: AppliedCredential = { headers: [], query: null, secrets: [] };
