/**
 * Takes the secret out of an answer, before anything keeps the answer: what a change brought is remembered for its button.
 * @returns the secret, null where the answer is that to a repeated request; and the answer without it
 */
export const takeSecret = <Body extends { readonly secret?: string | null }>(
  body: Body,
): { readonly secret: string | null; readonly rest: Omit<Body, 'secret'> } => {
  const { secret = null, ...rest } = body;
  return { secret, rest };
};
