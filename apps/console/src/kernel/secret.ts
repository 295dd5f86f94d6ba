/**
 * Takes the secret out of an answer before the answer is cached, since the cache outlives the dialog that shows the
 * secret.
 * @returns the secret, or null in the answer to a retry; and the answer without its secret
 */
export const takeSecret = <Body extends { readonly secret?: string | null }>(
  body: Body,
): { readonly secret: string | null; readonly rest: Omit<Body, 'secret'> } => {
  const { secret = null, ...rest } = body;
  return { secret, rest };
};
