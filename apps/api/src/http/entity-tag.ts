/**
 * Whether `If-None-Match` names the tag of what would be sent: weak comparison, a list of tags, or any (RFC 9110, section
 * 13.1.2). Our tags hold no comma.
 */
export const isTagKnown = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  header
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
    .some((tag) => tag === '*' || tag === etag);
