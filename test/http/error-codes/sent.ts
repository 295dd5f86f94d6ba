/** What a browser that is signed in sends. */
export interface Session {
  readonly cookie: string;
  readonly csrf: string;
}

/** In development over http the names are bare. */
export const headersOf = (method: string, { cookie, csrf }: Session): Record<string, string> => ({
  Cookie: cookie,
  ...(method === 'GET' ? {} : { 'Service-CSRF': csrf }),
});

export interface Sent {
  /** Null for none. Default: none. */
  readonly key?: string | null;
  readonly json?: unknown;
  /** The body as it is, with the Content-Type of JSON unless `headers` say another. */
  readonly text?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
  /** In whose session, with its token where something changes. */
  readonly as?: Session;
}
