const MAX_BYTES = 2_048;

/**
 * The page of the Console that was wanted before signing in; null for anything that a browser could take for another
 * place, now or after one decoding (rule PEOPLE-11).
 */
export const nextPath = (text: string | undefined): string | null => {
  if (text === undefined || Buffer.byteLength(text) > MAX_BYTES) return null;
  // What a path, a query and a fragment are written with (RFC 3986, section 3.3).
  if (!/^[A-Za-z0-9\-._~!$&'()*+,;=:@/?#%[\]]*$/.test(text)) return null;
  const decoded = decodedOnce(text);
  return decoded !== null && isOfConsole(text) && isOfConsole(decoded) ? text : null;
};

/** Dots are what browsers resolve, also where they are written as `%2e`. */
const isOfConsole = (text: string): boolean =>
  /^\/app(?:$|[/?])/.test(text) && !/\/\/|\\|\.\.|[\u0000-\u001f\u007f-\u009f]/.test(text);

/** Null where it is not the encoding of any text. */
const decodedOnce = (text: string): string | null => {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
};
